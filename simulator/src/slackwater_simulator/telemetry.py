"""Find all metrics of an account by their exact dimensions, and list them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .ebs_metrics import CHECKS, disk_track, ebs_check, ebs_names, ebs_track
from .ec2_metrics import ec2_names, ec2_track
from .efs_metrics import LIMITS, STORAGE_CLASSES, efs_names, efs_storage, efs_track
from .fsx_metrics import TIERS, WORK, fsx_names, fsx_space, fsx_track, fsx_volume_track
from .resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume
from .series import Track

DISK = "disk_used_percent"
type Dimensions = tuple[tuple[str, str], ...]
"""Dimension (name, value) pairs, sorted."""
type MetricListing = Iterator[tuple[str, str, Dimensions]]
"""Metrics by namespace, name and dimensions."""


@dataclass(slots=True)
class Telemetry:
    """All metrics of one account, found by Region, namespace, name and exact dimensions."""

    fleet: Fleet
    _kept: dict[tuple[str, str, str, Dimensions], Track | None] = field(default_factory=dict)

    def track(self, region: str, namespace: str, metric: str, dimensions: Dimensions) -> Track | None:
        """Return the metric with exactly these dimensions, or None if it was never published."""
        key = region, namespace, metric, dimensions
        if metric in LIMITS:
            return self._find(*key)
        if key not in self._kept:
            if len(self._kept) > 2_000:  # some have a large signal of their own
                self._kept.clear()
            self._kept[key] = self._find(*key)
        return self._kept[key]

    def _find(self, region: str, namespace: str, metric: str, dimensions: Dimensions) -> Track | None:
        named = dict(dimensions)
        if (key := (namespace, *named) if namespace != "CWAgent" else (namespace,)) not in _FOUND:
            return None
        owner, kind, find = _FOUND[key]
        resource: Any = self.fleet.by_id.get(named.get(owner, ""))
        if not isinstance(resource, kind) or resource.region != region:
            return None
        return find(self.fleet, resource, metric, named)

    def listing(self, region: str, namespace: str | None, since: int) -> MetricListing:
        """Yield namespace, name and dimensions of a Region's metrics with data after `since`, in a stable order."""
        tables: tuple[tuple[tuple[str, ...], type, Callable[[Any, int], MetricListing]], ...] = (
            (("AWS/EBS",), Volume, _of_volume),
            (("AWS/EC2", "CWAgent"), Instance, self._listed),
            (("AWS/EFS",), ElasticFileSystem, _of_efs),
            (("AWS/FSx",), FsxFileSystem, _of_fsx),
            (("AWS/FSx",), FsxVolume, _of_export),
        )
        for spaces, kind, listed in tables:
            if namespace is None or namespace in spaces:
                for resource in self.fleet.by_region.get((kind, region), ()):
                    yield from (each for each in listed(resource, since) if namespace in (None, each[0]))

    def _listed(self, instance: Instance, since: int) -> MetricListing:
        if _recent(instance.intervals, since):
            for name in ec2_names(instance):
                yield "AWS/EC2", name, (("InstanceId", instance.id),)
            for name in instance.telemetry if instance.agent else ():
                if name.startswith("ethtool_"):
                    yield "CWAgent", name, agent_dimensions(instance)
            for volume in self.fleet.volumes_of.get(instance.id, []):
                if dimensions := disk_dimensions(instance, volume):
                    yield "CWAgent", DISK, dimensions


def _volumes(_: Fleet, volume: Volume, metric: str, named: dict[str, str]) -> Track | None:
    if "InstanceId" not in named:
        return ebs_track(volume, metric) if metric not in CHECKS else None
    carried = any(each.instance_id == named["InstanceId"] for each in volume.attachments)
    return ebs_check(volume, metric) if carried else None


def _instances(fleet: Fleet, instance: Instance, metric: str, _: dict[str, str]) -> Track | None:
    if metric.startswith("ethtool_"):
        return None
    return ec2_track(instance, metric, fleet.volumes_of.get(instance.id, []))


def _file_systems(_: Fleet, system: ElasticFileSystem, metric: str, named: dict[str, str]) -> Track | None:
    if "StorageClass" in named:
        return efs_storage(system, named["StorageClass"]) if metric == "StorageBytes" else None
    return efs_track(system, metric)


def _served(_: Fleet, system: FsxFileSystem, metric: str, named: dict[str, str]) -> Track | None:
    if "StorageTier" in named:
        return fsx_space(system, metric, named["StorageTier"]) if named["DataType"] == "All" else None
    return fsx_track(system, metric)


def _exported(_: Fleet, volume: FsxVolume, metric: str, named: dict[str, str]) -> Track | None:
    return fsx_volume_track(volume, metric) if volume.file_system_id == named["FileSystemId"] else None


def _agents(fleet: Fleet, instance: Instance, metric: str, named: dict[str, str]) -> Track | None:
    dimensions = tuple(named.items())
    if metric == DISK:
        volumes = fleet.volumes_of.get(instance.id, [])
        found = (volume for volume in volumes if disk_dimensions(instance, volume) == dimensions)
        return next((disk_track(volume, instance.intervals) for volume in found), None)
    if not instance.agent or dimensions != agent_dimensions(instance) or not metric.startswith("ethtool_"):
        return None
    return instance.telemetry.get(metric)


_FOUND: dict[tuple[str, ...], tuple[str, type[Any], Callable[[Fleet, Any, str, dict[str, str]], Track | None]]] = {
    ("AWS/EBS", "VolumeId"): ("VolumeId", Volume, _volumes),
    ("AWS/EBS", "InstanceId", "VolumeId"): ("VolumeId", Volume, _volumes),
    ("AWS/EC2", "InstanceId"): ("InstanceId", Instance, _instances),
    ("AWS/EFS", "FileSystemId"): ("FileSystemId", ElasticFileSystem, _file_systems),
    ("AWS/EFS", "FileSystemId", "StorageClass"): ("FileSystemId", ElasticFileSystem, _file_systems),
    ("AWS/FSx", "FileSystemId"): ("FileSystemId", FsxFileSystem, _served),
    ("AWS/FSx", "DataType", "FileSystemId", "StorageTier"): ("FileSystemId", FsxFileSystem, _served),
    ("AWS/FSx", "FileSystemId", "VolumeId"): ("VolumeId", FsxVolume, _exported),
    ("CWAgent",): ("InstanceId", Instance, _agents),
}
"""Namespace and dimensions, with the dimension that names the resource, its type, and the function of its metrics."""


def _of_volume(volume: Volume, since: int) -> MetricListing:
    if _recent(volume.intervals, since):
        for name in ebs_names(volume):
            yield "AWS/EBS", name, (("VolumeId", volume.id),)
        for attachment in volume.attachments if volume.nitro else ():
            for name in CHECKS:
                yield "AWS/EBS", name, (("InstanceId", attachment.instance_id), ("VolumeId", volume.id))


def _of_efs(system: ElasticFileSystem, since: int) -> MetricListing:
    gone = system.voice == "absent" and system.active is not None and system.active[1] < since
    for name in system.telemetry if gone else efs_names(system):
        yield "AWS/EFS", name, (("FileSystemId", system.id),)
    for storage in STORAGE_CLASSES if system.voice != "dark" else ():
        yield "AWS/EFS", "StorageBytes", (("FileSystemId", system.id), ("StorageClass", storage))


def _of_fsx(system: FsxFileSystem, _: int) -> MetricListing:
    for name in fsx_names(system):
        yield "AWS/FSx", name, (("FileSystemId", system.id),)
    for tier, names in TIERS.items() if system.kind == "ONTAP" else ():
        for name in names:
            yield "AWS/FSx", name, (("DataType", "All"), ("FileSystemId", system.id), ("StorageTier", tier))


def _of_export(volume: FsxVolume, _: int) -> MetricListing:
    for name in WORK:
        yield "AWS/FSx", name, (("FileSystemId", volume.file_system_id), ("VolumeId", volume.id))


def _recent(intervals: tuple[tuple[int, int], ...], since: int) -> bool:
    return any(until > since for _, until in intervals)


def agent_dimensions(instance: Instance) -> Dimensions:
    """Return the dimensions that this instance's CloudWatch agent sends with the ENA counters."""
    return (*_appended(instance), ("driver", "ena"), ("interface", "ens5"))


def disk_dimensions(instance: Instance, volume: Volume) -> Dimensions | None:
    """Return the dimensions that this instance's agent sends with `disk_used_percent`. None if it does not report it.

    A volume is named as `aws://ZONE/VOLUME` (ec2tagger in the agent's source).
    """
    disk = volume.disk
    if disk is None:
        return None
    named = [(disk.volume_key, f"aws://{volume.az}/{volume.id}")] if disk.volume_key else []
    own = [("path", disk.path), ("device", disk.device), ("fstype", disk.fstype)]
    return tuple(sorted([*_appended(instance), *named, *own]))


def _appended(instance: Instance) -> Dimensions:
    typed = (("InstanceType", instance.type),) if instance.agent == "typed" else ()
    return (("InstanceId", instance.id), *typed)
