"""CPU credits of the T types. Amazon EC2 User Guide, "Key concepts for burstable performance instances".

A credit is one vCPU at 100 % for a minute. An instance earns credits all the time and keeps a day's earnings. In
`unlimited` mode it also borrows a day's earnings. AWS charges what it uses beyond that by the vCPU-hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slackwater.performance.unpublished import UnpublishedError

CREDITS_PER_VCPU_HOUR: Final = 60
DAYS_PER_MONTH: Final = 365 / 12

EARNED_PER_HOUR: Final[Mapping[str, float]] = {
    "nano": 6,
    "micro": 12,
    "small": 24,
    "medium": 24,
    "large": 36,
    "xlarge": 96,
    "2xlarge": 192,
}
"""CPU credits that a T3, T3a or T4g instance earns an hour, by its size."""

EARNED_PER_HOUR_T2: Final[Mapping[str, float]] = {
    "nano": 3,
    "micro": 6,
    "small": 12,
    "medium": 24,
    "large": 36,
    "xlarge": 54,
    "2xlarge": 81.6,
}
"""CPU credits that a T2 instance earns an hour, by its size."""


EARNED_BY_FAMILY: Final[Mapping[str, Mapping[str, float]]] = {
    "t2": EARNED_PER_HOUR_T2,
    "t3": EARNED_PER_HOUR,
    "t3a": EARNED_PER_HOUR,
    "t4g": EARNED_PER_HOUR,
}


def is_published(instance_type: str) -> bool:
    """Whether the table has the CPU credits that a type earns."""
    family, _, size = instance_type.partition(".")
    return size in EARNED_BY_FAMILY.get(family, {})


def earned_per_hour(instance_type: str) -> float:
    """CPU credits that a type earns per hour.

    Raises:
        UnpublishedError: The table has no such type: it is newer (T8i), or has no CPU credits.
    """
    if not is_published(instance_type):
        raise UnpublishedError(f"the CPU credits that {instance_type} earns are not in the table of the EC2 User Guide")
    family, _, size = instance_type.partition(".")
    return EARNED_BY_FAMILY[family][size]


def used_per_hour(percent: float, vcpus: int) -> float:
    """CPU credits that a CPU utilization (percent of all vCPUs) uses per hour."""
    return percent / 100 * vcpus * CREDITS_PER_VCPU_HOUR


def baseline_percent(earned: float, vcpus: int) -> float:
    """The CPU utilization (percent of all vCPUs) that uses as many credits as an instance earns per hour."""
    return earned / vcpus / CREDITS_PER_VCPU_HOUR * 100


def vcpu_hours_per_month(charged: float, days: int) -> float:
    """Credits that were charged in some days, as vCPU-hours per month."""
    return charged / CREDITS_PER_VCPU_HOUR / days * DAYS_PER_MONTH


def saved_by_earning(charged_by_day: Iterable[float], more_per_hour: float) -> float:
    """Charged credits that a size which earns `more_per_hour` would save: at most what it earns more in each day.

    The size may also keep more credits. That is left out, so the result is never too high.
    """
    return sum(min(charged, 24 * more_per_hour) for charged in charged_by_day)
