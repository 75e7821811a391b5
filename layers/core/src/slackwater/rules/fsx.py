"""FSx: metrics, utilization and commands that several detectors share.

Sources: Amazon FSx for OpenZFS User Guide, "FSx for OpenZFS metrics and dimensions"; Amazon FSx for NetApp ONTAP User
Guide, "File system metrics"; Amazon FSx for Windows File Server User Guide, "CloudWatch metrics and dimensions".
Metrics have one point a minute.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan
from typing import Final, NamedTuple

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, difference
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import DAY_S, GIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, JointChange, Line, Unknown
from slackwater.performance import fsx
from slackwater.rules.series import LONGEST_HOLE_S, MOST_MISSING, Reader, gaps

DAY_MINUTES: Final = DAY_S // MINUTE_S
SURE_DAYS: Final = 30  # with fewer recorded days the confidence is never high: they may lack a monthly job
READS, WRITES, METADATA = (
    Metric("AWS/FSx", f"{name}Operations", "Sum", "operations") for name in ("DataRead", "DataWrite", "Metadata")
)
READ, WRITTEN = (Metric("AWS/FSx", f"Data{way}Bytes", "Sum", "bytes") for way in ("Read", "Write"))
NETWORK, CPU, DISK_IOPS, SERVER_DISK_IOPS, SERVER_DISK_THROUGHPUT = (
    Metric("AWS/FSx", f"{name}Utilization", "Maximum", "percent")
    for name in ("NetworkThroughput", "CPU", "DiskIops", "FileServerDiskIops", "FileServerDiskThroughput")
)
USED: Final = Metric("AWS/FSx", "UsedStorageCapacity", "Maximum", "bytes")
FREE: Final = Metric("AWS/FSx", "FreeStorageCapacity", "Minimum", "bytes")
ON_SSD: Final = Metric("AWS/FSx", "StorageUsed", "Maximum", "bytes")
IN_POOL: Final = Metric("AWS/FSx", "StorageUsed", "Average", "bytes")
"""The bytes in ONTAP's capacity pool. It fills slowly, so a daily average is exact enough."""
_TIERS: Final = {"Maximum": "SSD", "SampleCount": "SSD", "Average": "StandardCapacityPool"}
"""The storage tier of which StorageUsed is read, by its statistic."""
daily = Reader(
    "FileSystemId",
    {("StorageUsed", stat): (("StorageTier", tier), ("DataType", "All")) for stat, tier in _TIERS.items()},
).daily


def samples(metric: Metric) -> Metric:
    """Return the metric that counts a metric's points."""
    return replace(metric, stat="SampleCount", unit="points")


class UtilizationLimits(Limits):
    """How long CloudWatch must have recorded a file system, and how busy it may become."""

    window_days: int = limit(35, unit="days", ge=7, le=450, why="covers a monthly job, for the same number of metrics")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="each of them must have points; two weekly rhythms")
    busy_percent: float = limit(
        50, unit="percent", gt=0, lt=100, why="the busiest minute stays below it, as AWS advises"
    )


class Utilization(NamedTuple):
    """The busiest minute of each day, in percent of what is provisioned, by metric."""

    series: tuple[Series, ...]
    days: int  # whole days that CloudWatch recorded for all metrics
    whole: bool  # whether these are the whole window


def utilization(
    file_system: FsxFileSystem, seen: Seen, limits: UtilizationLimits, *metrics: Metric
) -> Utilization | Fine | Unknown:
    """Return these metrics by day, or the verdict if the file system is too young or days are missing."""
    if seen.is_younger(file_system.created_at, days=limits.least_days + 1):  # its first day is not whole
        return Fine(f"it is younger than {limits.least_days + 1} days")
    window = max(limits.window_days, limits.least_days)
    found = seen.read(*daily(file_system, window, *metrics))
    recorded = window
    for metric, series in zip(metrics, found, strict=True):
        days = seen.finished(series, file_system.created_at)
        if unknown := hole(metric.name, days, limits.least_days):
            return unknown
        recorded = min(recorded, len(days) - gaps(days, limits.least_days).before)
    return Utilization(found, recorded, recorded == window)


def hole(name: str, days: Series, least_days: int) -> Unknown | None:
    """Return the verdict if a metric has no data on one of the newest `least_days`, or on a day after its first."""
    holes, before = gaps(days, least_days)
    if not len(days):
        return Unknown("CloudWatch has not recorded a whole day yet")
    return Unknown(f"{name} has no data on {holes} of {len(days) - before} days") if holes else None


def lost_minutes(recorded: Series, samples: Series) -> float | Unknown:
    """Return how many minutes of a metric are missing in total, or the verdict if that is too much for advice.

    Args:
        recorded: The metric by day. If its first days are missing, the first present day may have begun late.
        samples: The number of points of each day. A whole day has one a minute, or as many as the fullest day.
    """
    whole = min(max(samples.present, default=0), DAY_MINUTES) or 1
    known = [n or 0 for value, n in zip(recorded.optional(), samples.optional(), strict=True) if value is not None]
    late = len(recorded) > 0 and isnan(recorded.values[0])
    minutes = [DAY_MINUTES * max(0.0, 1 - points / whole) for points in known[late:]]
    lost = sum(minutes)
    if max(minutes, default=0) * MINUTE_S > LONGEST_HOLE_S or lost > MOST_MISSING * DAY_MINUTES * len(minutes):
        return Unknown(f"CloudWatch did not record it for {lost:,.0f} minutes in {len(minutes)} days")
    return lost


def utilization_chart(label: str, series: Series, provisioned: str, proposed: str, proposed_percent: float) -> Evidence:
    """Return evidence: the busiest minute of each day, in percent of what is provisioned, and the new limit."""
    limit = Line(f"Limit at {proposed}, on today's scale", round(proposed_percent, 2))
    lines = Line(f"Provisioned ({provisioned})", 100), limit
    return Evidence(label, round(max(series.present), 1), "percent", series, scale=100, lines=lines)


def saved(before: FsxFileSystem, after: FsxFileSystem) -> tuple[Change, ...] | None:
    """Return what AWS no longer bills after a change; None if the bill before or after it is unknown."""
    units, remaining = fsx.monthly_units(before), fsx.monthly_units(after)
    return None if units is None or remaining is None else difference(units, remaining)


NAMES: Final[Mapping[str, str]] = {
    "OPENZFS": "FSx for OpenZFS",
    "ONTAP": "FSx for NetApp ONTAP",
    "WINDOWS": "FSx for Windows File Server",
    "LUSTRE": "FSx for Lustre",
}


def deployment(file_system: FsxFileSystem) -> Evidence:
    """Return evidence: the type and the deployment type."""
    kind = file_system.file_system_type
    return Evidence("Deployment", f"{NAMES.get(kind, kind)}, {file_system.deployment_type}", "words")


def describe(file_system: FsxFileSystem) -> str:
    """Return `FSx for OpenZFS, 1,024 GiB and 320 MB/s`. Clean-up recognizes ONTAP by the name at the start."""
    kind = file_system.file_system_type
    storage = f"{file_system.storage_gib:,} GiB" if file_system.storage_gib else "Intelligent-Tiering"
    throughput = f" and {file_system.throughput_mb_s:,} MB/s" if file_system.throughput_mb_s else ""
    return f"{NAMES.get(kind, kind)}, {storage}{throughput}"


SPACE: Final[Mapping[str, Metric]] = {"OPENZFS": USED, "ONTAP": ON_SSD, "WINDOWS": FREE}
"""The metric of the SSD space, by type. Snapshots count as used. Lustre publishes its space only for single disks."""


def used_bytes(file_system: FsxFileSystem, space: Series) -> Series:
    """Return the used SSD space from the metric that `SPACE` names. Windows publishes the free space."""
    if file_system.file_system_type != "WINDOWS":
        return space
    whole, free = file_system.storage_gib * GIB, space.optional()
    return Series.of(space.start_s, space.period_s, [None if v is None else max(0.0, whole - v) for v in free])


OPTIONS: Final[Mapping[str, str]] = {"OPENZFS": "--open-zfs-configuration", "ONTAP": "--ontap-configuration"}
"""The option of `aws fsx update-file-system` for the settings of a type."""


def update(file_system: FsxFileSystem, setting: str) -> str:
    """Return the command that changes a setting of an OpenZFS or ONTAP file system. Other settings stay.

    `setting` is the option's value for the AWS CLI: `ThroughputCapacity=160`, or JSON in quotes.
    """
    return (
        f"aws fsx update-file-system --region {file_system.target.region} --file-system-id {file_system.id}"
        f" {OPTIONS[file_system.file_system_type]} {setting}"
    )


def joint(file_system: FsxFileSystem, settings: Mapping[str, object]) -> JointChange | None:
    """Return an ONTAP change that must share a command with others, as changes need 6 hours between them; else None."""
    return JointChange(update(file_system, "").rstrip(), settings) if file_system.file_system_type == "ONTAP" else None


def update_storage(file_system: FsxFileSystem, to: FsxFileSystem) -> str:
    """Return the command that sets ONTAP's SSD, and its IOPS if known: AWS would keep and bill the larger SSD's."""
    command = (
        f"aws fsx update-file-system --region {file_system.target.region} --file-system-id {file_system.id}"
        f" --storage-capacity {to.storage_gib}"
    )
    if to.iops is None:
        return command
    included = to.iops == fsx.INCLUDED_IOPS_PER_GIB * to.storage_gib
    iops = "Mode=AUTOMATIC" if included else f"Mode=USER_PROVISIONED,Iops={to.iops}"
    return f"{command} --ontap-configuration 'DiskIopsConfiguration={{{iops}}}'"


ONTAP_INTERVAL: Final = (
    "FSx for ONTAP needs at least 6 hours between any two changes of SSD storage, IOPS or throughput, in a single"
    " Availability Zone too."
)
"""Source: FSx for ONTAP User Guide, "File system storage capacity and IOPS"."""


def set_throughput(file_system: FsxFileSystem, mb_s: int, *, action: str, summary: str, risk: str) -> Advice:
    """Recommend a throughput capacity. The text says first what the change does to clients, and then `risk`."""
    # Of the types that `update` knows, only OpenZFS in a single zone can lack a standby.
    kind, without_standby = file_system.deployment_type, {"SINGLE_AZ_1", "SINGLE_AZ_2"}
    is_alone = file_system.file_system_type == "OPENZFS" and kind in without_standby
    return Advice(
        action=action,
        summary=summary,
        changes=saved(file_system, replace(file_system, throughput_mb_s=mb_s)),
        risk=f"{'It is down for minutes' if is_alone else 'It fails over'} while it changes. {risk}",
        reversible=True,
        new_value=f"{mb_s:,} MB/s",
        command=update(file_system, f"ThroughputCapacity={mb_s}"),
    )
