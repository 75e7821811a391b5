"""All metrics of an account, found by their exact dimensions, and listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .ebs_metrics import CHECKS, disk_track, ebs_check, ebs_names, ebs_track
from .ec2_metrics import ec2_names, ec2_track
from .efs_metrics import LIMITS, STORAGE_CLASSES, efs_names, efs_storage, efs_track
from .fsx_metrics import TIERS, WORK, fsx_names, fsx_space, fsx_track, fsx_work
from .resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume
from .series import Track

DISK = "disk_used_percent"
type Dimensions = tuple[tuple[str, str], ...]
"""Dimension (name, value) pairs, sorted."""


@dataclass(slots=True)
class Telemetry:
    """All metrics of one account, found by Region, namespace, name and exact dimensions."""

    fleet: Fleet
    volumes: dict[str, Volume] = field(init=False)
    instances: dict[str, Instance] = field(init=False)
    efs: dict[str, ElasticFileSystem] = field(init=False)
    fsx: dict[str, FsxFileSystem] = field(init=False)
    fsx_volumes: dict[str, FsxVolume] = field(init=False)
    _kept: dict[tuple[str, str, str, Dimensions], Track | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.volumes = {volume.id: volume for volume in self.fleet.volumes}
        self.instances = {instance.id: instance for instance in self.fleet.instances}
        self.efs = {system.id: system for system in self.fleet.efs}
        self.fsx = {system.id: system for system in self.fleet.fsx}
        self.fsx_volumes = {volume.id: volume for volume in self.fleet.fsx_volumes}

    def track(self, region: str, namespace: str, metric: str, dimensions: Dimensions) -> Track | None:
        """The metric with exactly these dimensions, or None when it was never published."""
        key = region, namespace, metric, dimensions
        if metric in LIMITS:
            return self._find(*key)
        if key not in self._kept:
            if len(self._kept) > 2_000:  # some hold a signal of their own
                self._kept.clear()
            self._kept[key] = self._find(*key)
        return self._kept[key]

    def _find(self, region: str, namespace: str, metric: str, dimensions: Dimensions) -> Track | None:
        named = dict(dimensions)
        match namespace, tuple(named):
            case "AWS/EBS", ("VolumeId",):
                volume = self.volumes.get(named["VolumeId"])
                return (
                    ebs_track(volume, metric) if volume and volume.region == region and metric not in CHECKS else None
                )
            case "AWS/EBS", ("InstanceId", "VolumeId"):
                volume = self.volumes.get(named["VolumeId"])
                carried = volume and any(a.instance_id == named["InstanceId"] for a in volume.attachments)
                return ebs_check(volume, metric) if volume and carried and volume.region == region else None
            case "AWS/EC2", ("InstanceId",):
                instance = self.instances.get(named["InstanceId"])
                if instance is None or instance.region != region or metric.startswith("ethtool_"):
                    return None
                return ec2_track(instance, metric, self.fleet.volumes_of.get(instance.id, []))
            case "AWS/EFS", ("FileSystemId",):
                system = self.efs.get(named["FileSystemId"])
                return efs_track(system, metric) if system and system.region == region else None
            case "AWS/EFS", ("FileSystemId", "StorageClass"):
                system = self.efs.get(named["FileSystemId"])
                wanted = system and system.region == region and metric == "StorageBytes"
                return efs_storage(system, named["StorageClass"]) if system and wanted else None
            case "AWS/FSx", ("FileSystemId",):
                served = self.fsx.get(named["FileSystemId"])
                return fsx_track(served, metric) if served and served.region == region else None
            case "AWS/FSx", ("DataType", "FileSystemId", "StorageTier"):
                tiered = self.fsx.get(named["FileSystemId"])
                if tiered is None or tiered.region != region or named["DataType"] != "All":
                    return None
                return fsx_space(tiered, metric, named["StorageTier"])
            case "AWS/FSx", ("FileSystemId", "VolumeId"):
                exported = self.fsx_volumes.get(named["VolumeId"])
                if exported is None or exported.region != region or exported.file_system_id != named["FileSystemId"]:
                    return None
                return exported.telemetry.get(metric) or fsx_work(exported.activity, metric, exported.created)
            case "CWAgent", _:
                agent = self.instances.get(named.get("InstanceId", ""))
                if agent is None or agent.region != region:
                    return None
                if metric == DISK:
                    volumes = self.fleet.volumes_of.get(agent.id, [])
                    found = (volume for volume in volumes if disk_dimensions(agent, volume) == dimensions)
                    return next((disk_track(volume, agent.intervals) for volume in found), None)
                if not agent.agent or dimensions != agent_dimensions(agent):
                    return None
                return agent.telemetry.get(metric) if metric.startswith("ethtool_") else None
        return None

    def listing(self, region: str, namespace: str | None, since: int) -> Iterator[tuple[str, str, Dimensions]]:
        """Namespace, name and dimensions of every metric of a Region that had data after `since`, in a stable order."""
        if namespace in (None, "AWS/EBS"):
            for volume in self.fleet.volumes:
                if volume.region == region and _recent(volume.intervals, since):
                    for name in ebs_names(volume):
                        yield "AWS/EBS", name, (("VolumeId", volume.id),)
                    for attachment in volume.attachments if volume.nitro else ():
                        for name in CHECKS:
                            yield "AWS/EBS", name, (("InstanceId", attachment.instance_id), ("VolumeId", volume.id))
        if namespace in (None, "AWS/EC2", "CWAgent"):
            for instance in self.fleet.instances:
                if instance.region != region or not _recent(instance.intervals, since):
                    continue
                if namespace != "CWAgent":
                    for name in ec2_names(instance):
                        yield "AWS/EC2", name, (("InstanceId", instance.id),)
                if namespace != "AWS/EC2" and instance.agent:
                    for name in instance.telemetry:
                        if name.startswith("ethtool_"):
                            yield "CWAgent", name, agent_dimensions(instance)
                for volume in self.fleet.volumes_of.get(instance.id, []) if namespace != "AWS/EC2" else ():
                    if dimensions := disk_dimensions(instance, volume):
                        yield "CWAgent", DISK, dimensions
        if namespace in (None, "AWS/EFS"):
            for system in self.fleet.efs:
                if system.region == region:
                    gone = system.voice == "absent" and system.active is not None and system.active[1] < since
                    for name in system.telemetry if gone else efs_names(system):
                        yield "AWS/EFS", name, (("FileSystemId", system.id),)
                    if system.voice != "dark":
                        for storage in STORAGE_CLASSES:
                            yield "AWS/EFS", "StorageBytes", (("FileSystemId", system.id), ("StorageClass", storage))
        if namespace in (None, "AWS/FSx"):
            for served in self.fleet.fsx:
                if served.region == region:
                    for name in fsx_names(served):
                        yield "AWS/FSx", name, (("FileSystemId", served.id),)
                    for tier, names in TIERS.items() if served.kind == "ONTAP" else ():
                        for name in names:
                            yield (
                                "AWS/FSx",
                                name,
                                (("DataType", "All"), ("FileSystemId", served.id), ("StorageTier", tier)),
                            )
            for exported in self.fleet.fsx_volumes:
                if exported.region == region:
                    for name in WORK:
                        yield "AWS/FSx", name, (("FileSystemId", exported.file_system_id), ("VolumeId", exported.id))


def _recent(intervals: tuple[tuple[int, int], ...], since: int) -> bool:
    return any(until > since for _, until in intervals)


def agent_dimensions(instance: Instance) -> Dimensions:
    """What the CloudWatch agent of this instance sends with the ENA counters."""
    return (*_appended(instance), ("driver", "ena"), ("interface", "ens5"))


def disk_dimensions(instance: Instance, volume: Volume) -> Dimensions | None:
    """What the agent of this instance sends with `disk_used_percent`; None where it says nothing of the volume.

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
