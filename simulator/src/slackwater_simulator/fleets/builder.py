"""Build a fleet, resource by resource."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from slackwater_simulator.ec2_query import hexadecimal
from slackwater_simulator.resources import (
    MIB,
    Activity,
    Attachment,
    ElasticFileSystem,
    Export,
    Fleet,
    FsxFileSystem,
    FsxVolume,
    Instance,
    MountTarget,
    Planted,
    Replication,
    Role,
    StorageVirtualMachine,
    TrailEvent,
    Volume,
)
from slackwater_simulator.series import DAY, HOUR
from slackwater_simulator.shapes import Shapes

type Resource = Volume | Instance | ElasticFileSystem | FsxFileSystem | FsxVolume
TYPES = {
    Volume: "ebs-volume",
    Instance: "ec2-instance",
    ElasticFileSystem: "efs-file-system",
    FsxFileSystem: "fsx-file-system",
    FsxVolume: "fsx-volume",
}
_LISTS = ("volumes", "instances", "efs", "fsx", "fsx_volumes", "svms", "replications", "events", "planted")


def name_of(resource: Resource) -> str:
    """Return the name that people use for a resource."""
    return resource.tags.get("Name", resource.name if isinstance(resource, FsxVolume) else "")


def joined(fleets: Sequence[Fleet]) -> Fleet:
    """Return an account that has the resources of all these fleets, each of one Region."""
    lists: dict[str, Any] = {name: [item for one in fleets for item in getattr(one, name)] for name in _LISTS}
    return replace(fleets[0], regions=tuple(one.regions[0] for one in fleets), **lists)


@dataclass
class Builder:
    """A fleet in construction."""

    now: int
    region: str
    seed: int = 0
    volumes: list[Volume] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    efs: list[ElasticFileSystem] = field(default_factory=list)
    fsx: list[FsxFileSystem] = field(default_factory=list)
    fsx_volumes: list[FsxVolume] = field(default_factory=list)
    svms: list[StorageVirtualMachine] = field(default_factory=list)
    replications: list[Replication] = field(default_factory=list)
    events: list[TrailEvent] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shapes = Shapes(self.now, self.seed)

    def ago(self, days: float) -> int:
        """Return the time `days` days before now."""
        return int(self.now - days * DAY)

    def id(self, prefix: str, name: str) -> str:
        return f"{prefix}-{hexadecimal(f'{self.seed}/{self.region}/{prefix}/{name}')}"

    def plant(self, resource: Resource, story: str, *issues: str, control_of: str | None = None, **more: Any) -> None:
        """Label a resource with the detectors that should report it, or as a negative control of one detector."""
        of: dict[str, Any] = {"resource_id": resource.id, "type": TYPES[type(resource)], "name": name_of(resource)}
        of |= {"region": resource.region, "story": story, "issues": issues, "control_of": control_of}
        self.planted.append(Planted(**of, **more))

    def change[T: (Volume, Instance)](self, resource: T, **parts: Any) -> T:
        """Replace a resource that was added by a changed one."""
        held: list[Any] = self.volumes if isinstance(resource, Volume) else self.instances
        changed = replace(resource, **parts)
        held[next(place for place, each in enumerate(held) if each is resource)] = changed
        return changed

    def volume(
        self, name: str, size_gib: int, *, on: Instance | None = None, device: str = "/dev/sdf", **more: Any
    ) -> Volume:
        """Add a volume, attached to `on` if given."""
        created = more.pop("created", on.launched if on else self.ago(90))
        az = more.pop("az", on.az if on else f"{self.region}a")
        if on is not None:
            more.setdefault("nitro", on.kind.nitro)
            since, root = max(created, on.launched), device == "/dev/xvda"
            attachment = Attachment(instance_id=on.id, since=since, device=device, delete_on_termination=root)
            more["attachments"] = (attachment,)
            if on.state == "stopped":
                more.setdefault("used", on.intervals)
        tags = {"Name": name, **more.pop("tags", {})}
        volume = Volume(id=self.id("vol", name), az=az, created=created, size_gib=size_gib, tags=tags, **more)
        self.volumes.append(volume)
        return volume

    def instance(
        self, name: str, kind: str, *, days: float = 120, root_gib: int = 30, zone: str = "a", **more: Any
    ) -> Instance:
        """Add an instance and its root volume."""
        tags = {"Name": name, **more.pop("tags", {})}
        launched = more.pop("launched", self.ago(days))
        instance = Instance(
            id=self.id("i", name), type=kind, az=self.region + zone, launched=launched, tags=tags, **more
        )
        self.instances.append(instance)
        shape = self.shapes.shape("trickle", len(self.instances))
        work = Activity(shape=shape, read=2.0 * MIB, write=6.0 * MIB, read_size=32768, write_size=16384)
        root: dict[str, Any] = {"activity": work, "tags": {"Owner": tags.get("Owner", "platform")}}
        if instance.running:
            root["used"] = instance.intervals
        if instance.state != "terminated":
            self.volume(f"{name}-root", root_gib, on=instance, device="/dev/xvda", **root)
        return instance

    def file_system(
        self, name: str, *, zones: str = "acd", one_zone: str | None = None, days: float = 200, **more: Any
    ) -> ElasticFileSystem:
        """Add an EFS file system with mount targets."""
        place = self.region + one_zone if one_zone else None
        tags = {"Name": name, **more.pop("tags", {})}
        created = more.pop("created", self.ago(days))
        targets = (MountTarget(id=self.id("fsmt", name + zone), az=self.region + zone) for zone in one_zone or zones)
        more.setdefault("mount_targets", tuple(targets))
        own = self.id("fs", name)
        system = ElasticFileSystem(id=own, region=self.region, created=created, one_zone=place, tags=tags, **more)
        self.efs.append(system)
        return system

    def replicate(self, source: ElasticFileSystem, replica: ElasticFileSystem) -> None:
        """Record that an EFS file system replicates to another."""
        where = {"source_region": self.region, "destination_region": self.region}
        ids = {"source_id": source.id, "destination_id": replica.id}
        self.replications.append(Replication(**ids, **where, created=replica.created))

    def event(
        self, name: str, at: int, request: Mapping[str, object], response: Mapping[str, object], *on: tuple[str, str]
    ) -> None:
        """Record a management event."""
        own: dict[str, Any] = {"region": self.region, "user": "operations", "resources": on}
        self.events.append(TrailEvent(name=name, at=at, request=request, response=response, **own))

    def detached(self, volume_id: str, instance_id: str, at: int) -> None:
        self._moved("Detach", at, volume_id, instance_id, {"volumeId": volume_id, "force": False})

    def attached(self, volume_id: str, instance_id: str, at: int) -> None:
        request = {"volumeId": volume_id, "instanceId": instance_id, "device": "/dev/sdf"}
        self._moved("Attach", at, volume_id, instance_id, request)

    def _moved(self, verb: str, at: int, volume_id: str, instance_id: str, request: Mapping[str, object]) -> None:
        of = {"volumeId": volume_id, "instanceId": instance_id, "device": "/dev/sdf", "status": f"{verb.lower()}ing"}
        both = ("AWS::EC2::Volume", volume_id), ("AWS::EC2::Instance", instance_id)
        self.event(f"{verb}Volume", at, request, of, *both)

    def terminated(self, instance_id: str, at: int) -> None:
        """Record a TerminateInstances event. AWS names the instance in it, but not the volumes that remain."""
        instance, after = {"instanceId": instance_id}, {"code": 32, "name": "shutting-down"}
        ended = {**instance, "currentState": after, "previousState": {"code": 16, "name": "running"}}
        request, response = ({"instancesSet": {"items": [item]}} for item in (instance, ended))
        self.event("TerminateInstances", at, request, response, ("AWS::EC2::Instance", instance_id))

    def created(self, volume: Volume) -> None:
        size = str(volume.size_gib)
        request = {"size": size, "zone": volume.az, "volumeType": volume.type}
        response = {"volumeId": volume.id, "size": size, "status": "creating", "availabilityZone": volume.az}
        self.event("CreateVolume", volume.created, request, response, ("AWS::EC2::Volume", volume.id))

    def openzfs(self, name: str, *, deployment: str = "MULTI_AZ_1", days: float = 150, **more: Any) -> FsxFileSystem:
        """Add an OpenZFS file system. Its root volume has the default export and no activity of its own."""
        settings: dict[str, Any] = {"storage_gib": 64, "throughput": 160, **more}
        system = self.served(f"zfs{name}", name, "OPENZFS", deployment, days=days, **settings)
        self.fsx_volume(system, system.root_volume_id, "fsx", exports=(Export("*", ("rw", "crossmnt")),))
        return system

    def server(
        self,
        name: str,
        kind: Literal["ONTAP", "WINDOWS", "LUSTRE"],
        deployment: str,
        *,
        days: float = 220,
        volumes: Sequence[str] = (),
        ontap_type: str = "RW",
        **more: Any,
    ) -> FsxFileSystem:
        """Add an FSx file system that is not OpenZFS. On ONTAP, each volume gets the file system's activity."""
        system = self.served(f"fsx{name}", name, kind, deployment, days=days, **more)
        if kind == "ONTAP":
            svm = self.machine(system, name)
            for volume in volumes:
                size = max(1, system.storage_gib // len(volumes))
                own: dict[str, Any] = {"size_gib": size, "activity": system.activity, "ontap_type": ontap_type}
                self.ontap(svm, name + volume, volume, **own)
        return system

    def served(self, key: str, name: str, kind: Any, deployment: str, *, days: float, **more: Any) -> FsxFileSystem:
        """Add an FSx file system without volumes. The key determines its id."""
        own: dict[str, Any] = {"id": self.id("fs", key), "region": self.region, "created": self.ago(days)}
        tags = {"Name": name, **more.pop("tags", {})}
        system = FsxFileSystem(kind=kind, deployment=deployment, tags=tags, **own, **more)
        self.fsx.append(system)
        return system

    def machine(self, system: FsxFileSystem, key: str, name: str = "svm1") -> StorageVirtualMachine:
        """Add a storage virtual machine to an ONTAP file system."""
        own: dict[str, Any] = {"file_system_id": system.id, "region": self.region, "created": system.created}
        svm = StorageVirtualMachine(id=self.id("svm", key), name=name, **own)
        self.svms.append(svm)
        return svm

    def ontap(self, svm: StorageVirtualMachine, key: str, name: str, **more: Any) -> None:
        own: dict[str, Any] = {"file_system_id": svm.file_system_id, "region": self.region, "created": svm.created}
        own |= {"kind": "ONTAP", "path": f"/{name}", "svm_id": svm.id, **more}
        self.fsx_volumes.append(FsxVolume(id=self.id("fsvol", key), name=name, **own))

    def fsx_volume(self, system: FsxFileSystem, volume_id: str, name: str, **more: Any) -> FsxVolume:
        own: dict[str, Any] = {"file_system_id": system.id, "region": self.region, "created": system.created, **more}
        self.fsx_volumes.append(volume := FsxVolume(id=volume_id, name=name, **own))
        return volume

    def export(self, system: FsxFileSystem, name: str, *exports: Export, **more: Any) -> FsxVolume:
        """Add a child volume with its NFS exports."""
        own: dict[str, Any] = {"path": f"/fsx/{name}", "parent": system.root_volume_id, "exports": exports}
        own["created"] = system.created + HOUR
        return self.fsx_volume(system, self.id("fsvol", system.tags["Name"] + name), name, **own, **more)

    def fleet(self, account: str, roles: Sequence[Role] = (), regions: tuple[str, ...] | None = None) -> Fleet:
        held: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)[3:]}
        return Fleet(now=self.now, account=account, regions=regions or (self.region,), roles=roles, **held)
