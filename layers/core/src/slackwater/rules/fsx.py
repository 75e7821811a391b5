"""FSx: metrics, utilization and commands that several detectors share.

Sources: Amazon FSx for OpenZFS User Guide, "FSx for OpenZFS metrics and dimensions"; Amazon FSx for NetApp ONTAP User Guide,
"File system metrics"; Amazon FSx for Windows File Server User Guide, "CloudWatch metrics and dimensions". Metrics have one
point a minute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import DAY_S, GIB
from slackwater.model.verdicts import Ask, Fine, Unknown
from slackwater.rules.series import gaps


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


NAMES: Final[Mapping[str, str]] = {
    "OPENZFS": "FSx for OpenZFS",
    "ONTAP": "FSx for NetApp ONTAP",
    "WINDOWS": "FSx for Windows File Server",
    "LUSTRE": "FSx for Lustre",
}
USED: Final = Metric("AWS/FSx", "UsedStorageCapacity", "Maximum", "bytes")
FREE: Final = Metric("AWS/FSx", "FreeStorageCapacity", "Minimum", "bytes")
ON_SSD: Final = Metric("AWS/FSx", "StorageUsed", "Maximum", "bytes")
IN_THE_POOL: Final = Metric("AWS/FSx", "StorageUsed", "Average", "bytes")
"""A capacity pool fills slowly: a day's mean is as good as its most."""


def used_by_day(file_system: FsxFileSystem, days: float) -> Need | None:
    """What settles how full it was at its fullest; None of Lustre, which publishes its space by disk."""
    of = ("FileSystemId", file_system.id)
    match file_system.file_system_type:
        case "OPENZFS":
            return USED.need(of, period_s=DAY_S, days=days)
        case "ONTAP":
            return ON_SSD.need(of, ("StorageTier", "SSD"), ("DataType", "All"), period_s=DAY_S, days=days)
        case "WINDOWS":
            return FREE.need(of, period_s=DAY_S, days=days)
    return None


def pooled_by_day(file_system: FsxFileSystem, days: float) -> Need:
    """What lies in ONTAP's capacity pool."""
    tier = ("StorageTier", "StandardCapacityPool"), ("DataType", "All")
    return IN_THE_POOL.need(("FileSystemId", file_system.id), *tier, period_s=DAY_S, days=days)


def used_bytes(file_system: FsxFileSystem, series: Series) -> Series:
    """The answer to `used_by_day` as bytes used: Windows tells what is free."""
    if file_system.file_system_type != "WINDOWS":
        return series
    whole = file_system.storage_gib * GIB
    return Series.of(series.start_s, series.period_s, [None if v is None else max(0.0, whole - v) for v in series.optional()])


OPTIONS: Final[Mapping[str, str]] = {"OPENZFS": "--open-zfs-configuration", "ONTAP": "--ontap-configuration"}
"""Where `aws fsx update-file-system` takes the settings of a type."""


def update(file_system: FsxFileSystem, setting: str) -> str:
    """Sets `setting`, as the option takes it: `ThroughputCapacity=160`, or JSON in quotes."""
    return (
        f"aws fsx update-file-system --region {file_system.target.region} --file-system-id {file_system.id}"
        f" {OPTIONS[file_system.file_system_type]} {setting}"
    )
