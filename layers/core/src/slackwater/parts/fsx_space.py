"""How full an FSx file system's SSD was, day by day, by the metric that its type publishes.

Amazon FSx user guides: OpenZFS, "FSx for OpenZFS metrics and dimensions"; NetApp ONTAP, "File system metrics"; Windows File
Server, "CloudWatch metrics and dimensions". All are bytes, one point a minute, and snapshots count as used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import DAY_S, GIB

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
