"""How busy an FSx file system was at its busiest, day by day, in percent of what is provisioned.

Amazon FSx for OpenZFS User Guide, "FSx for OpenZFS metrics and dimensions"; Amazon FSx for NetApp ONTAP User Guide, "File
system metrics". A point a minute; AWS advises to stay below 50 % on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Ask, Fine, Unknown
from slackwater.parts.whole_days import gaps


class UtilizationLimits(Limits):
    """How long a file system must have been watched, and how busy it may become."""

    window_days: int = limit(35, unit="days", ge=7, le=450, why="covers a monthly job, for the same number of metrics")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="every one of them must have points: two weekly rhythms")
    busy_percent: float = limit(50, unit="percent", gt=0, lt=100, why="the busiest minute stays below it, as AWS advises")


class Watched(NamedTuple):
    """The answers, a series for each metric, and how many whole days all of them were seen."""

    series: tuple[Series, ...]
    days: int
    whole: bool
    """Whether that is the whole window."""


def watched(
    file_system: FsxFileSystem, metrics: Sequence[Metric], seen: Seen, limits: UtilizationLimits
) -> Watched | Ask | Fine | Unknown:
    """These metrics of the window by the day; what there is to say instead where they are not there yet, or have holes."""
    if seen.age(file_system.created_at) < timedelta(days=limits.least_days + 1):  # the day it was made is no whole one
        return Fine(f"it is younger than {limits.least_days + 1} days")
    window = max(limits.window_days, limits.least_days)
    needs = [metric.need(("FileSystemId", file_system.id), period_s=DAY_S, days=window) for metric in metrics]
    if lacking := seen.lacking(needs):
        return Ask(lacking)
    watched_days = window
    for metric, need in zip(metrics, needs, strict=True):
        days = seen.finished(seen[need], file_system.created_at)
        missing = gaps(days, limits.least_days)
        if missing.holes:
            return Unknown(f"{metric.name} has no point on {missing.holes} of {len(days) - missing.before} days")
        watched_days = min(watched_days, len(days) - missing.before)
    return Watched(tuple(seen[need] for need in needs), watched_days, watched_days == window)


def peak(series: Series) -> float:
    """The busiest minute, in percent."""
    return max(series.present)
