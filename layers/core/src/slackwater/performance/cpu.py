"""CPU credits of the T types. Amazon EC2 User Guide, "Key concepts for burstable performance instances".

A credit is one vCPU at 100 % for a minute. An instance earns credits all the time and keeps a day's earnings. In `unlimited`
mode it also borrows a day's earnings; what it uses beyond that is charged by the vCPU-hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slackwater.performance.unpublished import UnpublishedError

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


EARNED_BY_FAMILY: Final[Mapping[str, Mapping[str, float]]] = {
    "t2": EARNED_PER_HOUR_T2,
    "t3": EARNED_PER_HOUR,
    "t3a": EARNED_PER_HOUR,
    "t4g": EARNED_PER_HOUR,
}


def earned_per_hour(instance_type: str) -> float:
    """CPU credits that a type earns an hour.

    Raises:
        UnpublishedError: the table has no such type: it is newer (T8i), or has no CPU credits.
    """
    family, _, size = instance_type.partition(".")
    earned = EARNED_BY_FAMILY.get(family, {}).get(size)
    if earned is None:
        raise UnpublishedError(f"the CPU credits that {instance_type} earns are not in the table of the EC2 User Guide")
    return earned


def used_per_hour(percent: float, vcpus: int) -> float:
    """CPU credits that a CPU utilisation (percent of all vCPUs) uses up in an hour."""
    return percent / 100 * vcpus * CREDITS_PER_VCPU_HOUR


def saved_by_earning(charged_by_day: Iterable[float], more_per_hour: float) -> float:
    """Charged credits that another size would not be charged, which earns so many more an hour: a day's at most each day.

    The larger stock of credits that it may keep is left out, so it is not too much.
    """
    return sum(min(charged, 24 * more_per_hour) for charged in charged_by_day)
