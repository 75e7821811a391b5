"""FSx file systems' and volumes' metrics."""

from __future__ import annotations

from .published import MINUTELY, alive
from .resources import GIB, Activity, FsxFileSystem
from .series import FOREVER, Track

WORK = ("DataReadBytes", "DataWriteBytes", "DataReadOperations", "DataWriteOperations", "MetadataOperations")
_FSX_SERVER = (
    "NetworkThroughputUtilization",
    "CPUUtilization",
    "FileServerDiskThroughputUtilization",
    "FileServerDiskIopsUtilization",
)


def fsx_names(system: FsxFileSystem) -> tuple[str, ...]:
    """Metrics with the dimension FileSystemId alone."""
    names = (*WORK, *_FSX_SERVER, "DiskIopsUtilization")
    return names if system.kind == "ONTAP" else (*names, "ClientConnections", "StorageCapacity", "UsedStorageCapacity")


def fsx_work(activity: Activity | None, metric: str, created: int) -> Track | None:
    """The I/O metrics that file systems and volumes share."""
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


def fsx_track(system: FsxFileSystem, metric: str) -> Track | None:
    """File-system metrics: work, server, disks, space."""
    if metric in system.telemetry:
        return system.telemetry[metric]
    if metric not in fsx_names(system):
        return None
    if metric in WORK:
        return fsx_work(system.activity, metric, system.created)
    since = ((system.created, FOREVER),)
    if metric == "ClientConnections":
        return alive(since, MINUTELY, system.clients)
    if metric == "StorageCapacity":
        return alive(since, MINUTELY, float(system.storage_gib * GIB))
    if metric == "UsedStorageCapacity":
        return alive(since, MINUTELY, system.used * system.storage_gib * GIB)
    peak = system.disk_iops_peak if metric == "DiskIopsUtilization" else system.server_peak
    if system.activity is None:
        return alive(since, MINUTELY, 0.2, digits=2)
    return alive(since, system.activity.shape, peak, offset=0.2, digits=4)
