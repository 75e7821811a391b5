"""Compute the metrics of FSx file systems and volumes."""

from . import mechanisms
from .resources import GIB, Activity, FsxFileSystem, FsxVolume
from .series import FIVE, FOREVER, MINUTE, MINUTELY, Signal, Track, alive

WORK = ("DataReadBytes", "DataWriteBytes", "DataReadOperations", "DataWriteOperations", "MetadataOperations")
_FSX_SERVER = (
    *("NetworkThroughputUtilization", "CPUUtilization"),
    *("FileServerDiskThroughputUtilization", "FileServerDiskIopsUtilization"),
)
_BALANCES = ("FileServerDiskThroughputBalance", "FileServerDiskIopsBalance")
_OF_KIND = {
    "OPENZFS": (*_FSX_SERVER, "DiskIopsUtilization", "ClientConnections", "StorageCapacity", "UsedStorageCapacity"),
    "ONTAP": (*_FSX_SERVER, "DiskIopsUtilization"),
    "WINDOWS": (*_FSX_SERVER, "DiskIopsUtilization", "ClientConnections", "FreeStorageCapacity"),
    "LUSTRE": ("ClientConnections",),
}
TIERS = {
    "SSD": ("StorageCapacity", "StorageUsed", "StorageCapacityUtilization"),
    "StandardCapacityPool": ("StorageUsed",),
}
"""ONTAP metrics of a storage tier, with the dimensions FileSystemId, StorageTier and DataType."""
_SMALL_WINDOWS = (*WORK, "FreeStorageCapacity")
"""The only metrics that Windows below 32 MB/s publishes."""
_OPERATIONS_PER_MB = 39.0625
"""Disk operations a second for each MB/s of throughput capacity: 2,500 at 64 (FSx for OpenZFS performance)."""


def fsx_names(system: FsxFileSystem) -> tuple[str, ...]:
    """Return the metrics that have only the dimension FileSystemId."""
    if system.kind == "WINDOWS" and system.throughput < 32:
        return _SMALL_WINDOWS
    return (*WORK, *_OF_KIND[system.kind], *(_BALANCES if _disks(system, "FileServerDiskIopsBalance") else ()))


def _disks(system: FsxFileSystem, metric: str) -> mechanisms.Allowance | None:
    """Return the allowance of the server's disks, in bytes or operations a second. None means that they do not burst.

    The simulator uses OpenZFS's tables for ONTAP, which publishes its balances below 512 MB/s, and for Windows.
    """
    slow = system.kind != "OPENZFS" or system.deployment in ("SINGLE_AZ_1", "SINGLE_AZ_HA_1")
    burst_mb, burst_operations = (1_024.0, 40_000.0) if slow else (3_125.0, 100_000.0)
    operations = system.throughput * _OPERATIONS_PER_MB
    large = system.kind == "ONTAP" and system.throughput >= 512
    if system.kind == "LUSTRE" or large or operations >= burst_operations:
        return None
    if metric == "FileServerDiskIopsBalance":
        return mechanisms.instance_allowance(operations, burst_operations)
    return mechanisms.instance_allowance(system.throughput * 1e6, burst_mb * 1e6)


def _balance(system: FsxFileSystem, metric: str) -> Track:
    allowance, activity, since = _disks(system, metric), system.activity, ((system.created, FOREVER),)
    step = 300 if system.kind == "WINDOWS" else MINUTE
    if allowance is None or activity is None:
        return alive(since, MINUTELY if step == MINUTE else FIVE, 100.0)
    peak = activity.read + activity.write
    if metric == "FileServerDiskIopsBalance":
        peak = activity.read / activity.read_size + activity.write / activity.write_size
    credit = mechanisms.bursting(activity.shape.stats.total * peak, *allowance)
    left = Signal.sampled(activity.shape.origin, MINUTE, 100 * credit.balance / allowance.most)
    return alive(since, left if step == MINUTE else left.coarsened(step), 1.0, digits=4)


def fsx_space(system: FsxFileSystem, metric: str, tier: str) -> Track | None:
    """Return ONTAP's space in a tier, for all types of data together."""
    if system.kind != "ONTAP" or metric not in TIERS.get(tier, ()):
        return None
    if metric in system.telemetry and tier == "SSD":
        return system.telemetry[metric]
    values = {
        "StorageCapacity": float(system.storage_gib * GIB),
        "StorageUsed": system.used * system.storage_gib * GIB if tier == "SSD" else float(system.pool_gib * GIB),
        "StorageCapacityUtilization": 100 * system.used,
    }
    return alive(((system.created, FOREVER),), MINUTELY, values[metric], digits=2)


def fsx_work(activity: Activity | None, metric: str, created: int) -> Track | None:
    """Return an I/O metric, which file systems and volumes share."""
    if metric not in WORK:
        return None
    since = ((created, FOREVER),)
    if activity is None:
        return alive(since, MINUTELY, 0.0)
    rate = {
        "DataReadBytes": activity.read,
        "DataWriteBytes": activity.write,
        "DataReadOperations": activity.read / activity.read_size,
        "DataWriteOperations": activity.write / activity.write_size,
        "MetadataOperations": activity.metadata,
    }[metric]
    return alive(since, activity.shape, rate * 60)


def fsx_volume_track(volume: FsxVolume, metric: str) -> Track | None:
    """Return a volume's metric. Volumes have only I/O metrics."""
    return volume.telemetry.get(metric) or fsx_work(volume.activity, metric, volume.created)


def fsx_track(system: FsxFileSystem, metric: str) -> Track | None:
    """Return a file system's metric: I/O, server, disks or space."""
    if metric in system.telemetry or metric not in fsx_names(system):
        return system.telemetry.get(metric)
    if metric in WORK:
        return fsx_work(system.activity, metric, system.created)
    if metric in _BALANCES:
        return _balance(system, metric)
    since, size = ((system.created, FOREVER),), system.storage_gib * GIB
    constant = {
        "ClientConnections": system.clients,
        "StorageCapacity": float(size),
        "UsedStorageCapacity": system.used * system.storage_gib * GIB,
        "FreeStorageCapacity": (1 - system.used) * system.storage_gib * GIB,
    }
    if metric in constant:
        return alive(since, MINUTELY, constant[metric])
    if system.activity is None:
        return alive(since, MINUTELY, 0.2, digits=2)
    peak = system.disk_iops_peak if metric == "DiskIopsUtilization" else system.server_peak
    return alive(since, system.activity.shape, peak, offset=0.2, digits=4)
