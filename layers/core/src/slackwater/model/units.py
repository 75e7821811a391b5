"""Units. KiB, MiB, GiB, TiB and PiB are powers of 1024; Mbps and Gbps are decimal bits a second."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024**2
GIB: Final = 1024**3
TIB: Final = 1024**4
PIB: Final = 1024**5

MINUTE_S: Final = 60
FIVE_MINUTES_S: Final = 300
HOUR_S: Final = 3_600
DAY_S: Final = 86_400

HOURS_PER_MONTH: Final = 730
"""The hours in a month that AWS uses for prices: 8,760 hours a year, divided by 12."""
DAYS_PER_MONTH: Final = HOURS_PER_MONTH / 24


def bytes_per_s_of_gbps(gbps: float) -> float:
    """Convert Gbps (decimal bits, as EC2 states bandwidth) to bytes a second."""
    return gbps * 1e9 / 8
