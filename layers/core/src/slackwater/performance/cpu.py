"""CPU credits of the T types. Amazon EC2 User Guide, "Key concepts for burstable performance instances".

A credit is one vCPU at 100% for a minute. An instance earns credits all the time, and can save the credits of one day.
In `unlimited` mode it can also borrow the credits of one day. AWS charges what it uses beyond that by the vCPU-hour.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from slackwater.model.units import DAYS_PER_MONTH
from slackwater.performance import UnpublishedError

CREDITS_PER_VCPU_HOUR: Final = 60

_SIZES: Final = ("nano", "micro", "small", "medium", "large", "xlarge", "2xlarge")
_T2: Final = (3, 6, 12, 24, 36, 54, 81.6)
_T3: Final = (6, 12, 24, 24, 36, 96, 192)
EARNED_PER_HOUR: Final[Mapping[str, float]] = {
    f"{family}.{size}": earned
    for family, row in {"t2": _T2, "t3": _T3, "t3a": _T3, "t4g": _T3}.items()
    for size, earned in zip(_SIZES, row, strict=True)
}
"""The CPU credits that an instance type earns an hour."""


def earned_per_hour(instance_type: str) -> float:
    """Return the CPU credits that an instance type earns an hour.

    Raises:
        UnpublishedError: The table does not have the type, because it is newer (T8i) or has no CPU credits.
    """
    if instance_type not in EARNED_PER_HOUR:
        raise UnpublishedError(f"the CPU credits that {instance_type} earns are not in the table of the EC2 User Guide")
    return EARNED_PER_HOUR[instance_type]


def used_per_hour(percent: float, vcpus: int) -> float:
    """Return the CPU credits that a CPU utilization (percent of all vCPUs) uses in an hour."""
    return percent / 100 * vcpus * CREDITS_PER_VCPU_HOUR


def baseline_percent(earned: float, vcpus: int) -> float:
    """Return the CPU utilization (percent of all vCPUs) that uses exactly the credits that an instance earns."""
    return earned / vcpus / CREDITS_PER_VCPU_HOUR * 100


def vcpu_hours_per_month(credits_by_day: Sequence[float]) -> float:
    """Convert the credits of these days to vCPU-hours a month."""
    return sum(credits_by_day) / CREDITS_PER_VCPU_HOUR / len(credits_by_day) * DAYS_PER_MONTH


def saved_by_earning(charged_by_day: Iterable[float], more_per_hour: float) -> list[float]:
    """Return how many of each day's charged credits a size would save that earns `more_per_hour` more credits.

    This counts at most a day's additional earnings. The real number may be higher: credits of other days count too.
    """
    return [min(charged, 24 * more_per_hour) for charged in charged_by_day]
