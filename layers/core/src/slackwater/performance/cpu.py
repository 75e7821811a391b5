"""CPU credits of the T types. Amazon EC2 User Guide, "Key concepts for burstable performance instances".

A credit is one vCPU at 100 % for a minute. An instance earns credits all the time and keeps a day's earnings. In `unlimited`
mode it also borrows a day's earnings; what it uses beyond that is charged by the vCPU-hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

CREDITS_PER_VCPU_HOUR: Final = 60

EARNED_PER_HOUR: Final[Mapping[str, float]] = {
    "nano": 6,
    "micro": 12,
    "small": 24,
    "medium": 24,
    "large": 36,
    "xlarge": 96,
    "2xlarge": 192,
}
"""CPU credits that a T3, T3a or T4g instance earns, by its size."""

EARNED_PER_HOUR_T2: Final[Mapping[str, float]] = {
    "nano": 3,
    "micro": 6,
    "small": 12,
    "medium": 24,
    "large": 36,
    "xlarge": 54,
    "2xlarge": 81.6,
}


def earned_per_hour(instance_type: str) -> float:
    """CPU credits that a type earns an hour; 0 where it has none, or nobody says."""
    family, _, size = instance_type.partition(".")
    if family in {"t3", "t3a", "t4g"}:
        return EARNED_PER_HOUR.get(size, 0)
    return EARNED_PER_HOUR_T2.get(size, 0) if family == "t2" else 0


def used_per_hour(percent: float, vcpus: int) -> float:
    """CPU credits that a CPU utilisation (percent of all vCPUs) uses up in an hour."""
    return percent / 100 * vcpus * CREDITS_PER_VCPU_HOUR


def saved_by_earning(charged_by_day: Iterable[float], more_per_hour: float) -> float:
    """Charged credits that another size would not be charged, which earns so many more an hour: a day's at most each day.

    The larger stock of credits that it may keep is left out, so it is not too much.
    """
    return sum(min(charged, 24 * more_per_hour) for charged in charged_by_day)
