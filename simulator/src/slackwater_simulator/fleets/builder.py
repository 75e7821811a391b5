"""Collecting a fleet, resource by resource."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
_TYPES = {
    Volume: "ebs-volume",
    Instance: "ec2-instance",
    ElasticFileSystem: "efs-file-system",
    FsxFileSystem: "fsx-file-system",
    FsxVolume: "fsx-volume",
}


@dataclass
class Builder:
    """A fleet in the making."""

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
        """A moment that many days before now."""
        return int(self.now - days * DAY)

    def id(self, prefix: str, name: str) -> str:
        """A stable id."""
        return f"{prefix}-{hexadecimal(f'{self.seed}/{self.region}/{prefix}/{name}')}"

    def zone(self, letter: str = "a") -> str:
        """A zone of the Region."""
        return self.region + letter

    def plant(self, resource: Resource, story: str, *troubles: str, twin_of: str | None = None, **more: Any) -> None:
        """Say what a resource is there for; `more` is of `Planted`."""
        name = resource.tags.get("Name", resource.name if isinstance(resource, FsxVolume) else "")
        self.planted.append(
            Planted(
                resource_id=resource.id,
                type=_TYPES[type(resource)],
                name=name,
                region=resource.region,
                story=story,
                troubles=troubles,
                twin_of=twin_of,
                **more,
            )
        )

    def change[T: (Volume, Instance)](self, resource: T, **parts: Any) -> T:
        """Put a changed resource in the place of one that was collected."""
        held: list[Any] = self.volumes if isinstance(resource, Volume) else self.instances
        changed = replace(resource, **parts)
        held[next(place for place, each in enumerate(held) if each is resource)] = changed
        return changed

    def volume(
        self, name: str, size_gib: int, *, on: Instance | None = None, device: str = "/dev/sdf", **more: Any
    ) -> Volume:
        """A volume, attached to an instance when one is named."""
        created = more.pop("created", on.launched if on else self.ago(90))
        az = more.pop("az", on.az if on else self.zone())
        if on is not None:
            more.setdefault("nitro", on.kind.nitro)
            more["attachments"] = (
                Attachment(
                    instance_id=on.id,
                    since=max(created, on.launched),
                    device=device,
                    delete_on_termination=device == "/dev/xvda",
                ),
            )
        tags = {"Name": name, **more.pop("tags", {})}
        volume = Volume(id=self.id("vol", name), az=az, created=created, size_gib=size_gib, tags=tags, **more)
        self.volumes.append(volume)
        return volume

    def instance(
        self, name: str, kind: str, *, days: float = 120, root_gib: int = 30, zone: str = "a", **more: Any
    ) -> Instance:
        """An instance and its root volume."""
        tags = {"Name": name, **more.pop("tags", {})}
        launched = more.pop("launched", self.ago(days))
        instance = Instance(id=self.id("i", name), type=kind, az=self.zone(zone), launched=launched, tags=tags, **more)
        self.instances.append(instance)
        root = Activity(
            shape=self.shapes.shape("trickle", len(self.instances)),
            read=2.0 * MIB,
            write=6.0 * MIB,
            read_size=32768,
            write_size=16384,
        )
        quiet = instance.state == "stopped"
        spans = {"used": instance.intervals} if quiet or instance.running else {}
        if instance.state != "terminated":
            self.volume(
                f"{name}-root",
                root_gib,
                on=instance,
                device="/dev/xvda",
                activity=root,
                tags={"Owner": tags.get("Owner", "platform")},
                **spans,
            )
        return instance

    def targets(self, name: str, zones: str) -> tuple[MountTarget, ...]:
        """A mount target in each zone."""
        return tuple(MountTarget(id=self.id("fsmt", name + letter), az=self.zone(letter)) for letter in zones)

    def file_system(
        self, name: str, *, zones: str = "acd", one_zone: str | None = None, days: float = 200, **more: Any
    ) -> ElasticFileSystem:
        """An EFS file system with mount targets."""
        place = self.zone(one_zone) if one_zone else None
        tags = {"Name": name, **more.pop("tags", {})}
        created = more.pop("created", self.ago(days))
        more.setdefault("mount_targets", self.targets(name, one_zone or zones))
        system = ElasticFileSystem(
            id=self.id("fs", name),
            region=self.region,
            created=created,
            one_zone=place,
            tags=tags,
            **more,
        )
        self.efs.append(system)
        return system

    def replicate(self, source: ElasticFileSystem, replica: ElasticFileSystem) -> None:
        """Say that an EFS file system replicates to another."""
        self.replications.append(
            Replication(
                source_id=source.id,
                source_region=self.region,
                destination_id=replica.id,
                destination_region=self.region,
                created=replica.created,
            )
        )

    def event(
        self,
        name: str,
        at: int,
        request: dict[str, object],
        response: dict[str, object],
        resources: Sequence[tuple[str, str]],
        user: str = "operations",
    ) -> None:
        """A management event."""
        self.events.append(
            TrailEvent(
                name=name,
                at=at,
                region=self.region,
                user=user,
                resources=tuple(resources),
                request=request,
                response=response,
            )
        )

    def detached(self, volume_id: str, instance_id: str, at: int) -> None:
        """A DetachVolume event."""
        request: dict[str, object] = {"volumeId": volume_id, "force": False}
        response: dict[str, object] = {
            "volumeId": volume_id,
            "instanceId": instance_id,
            "device": "/dev/sdf",
            "status": "detaching",
        }
        self.event(
            "DetachVolume",
            at,
            request,
            response,
            [("AWS::EC2::Volume", volume_id), ("AWS::EC2::Instance", instance_id)],
        )

    def attached(self, volume_id: str, instance_id: str, at: int) -> None:
        """An AttachVolume event."""
        request: dict[str, object] = {"volumeId": volume_id, "instanceId": instance_id, "device": "/dev/sdf"}
        self.event(
            "AttachVolume",
            at,
            request,
            {**request, "status": "attaching"},
            [("AWS::EC2::Volume", volume_id), ("AWS::EC2::Instance", instance_id)],
        )

    def terminated(self, instance_id: str, at: int) -> None:
        """A TerminateInstances event; AWS names the instance in it, not the volumes that it leaves behind."""
        request: dict[str, object] = {"instancesSet": {"items": [{"instanceId": instance_id}]}}
        states = {
            "currentState": {"code": 32, "name": "shutting-down"},
            "previousState": {"code": 16, "name": "running"},
        }
        response: dict[str, object] = {"instancesSet": {"items": [{"instanceId": instance_id, **states}]}}
        self.event("TerminateInstances", at, request, response, [("AWS::EC2::Instance", instance_id)])

    def created(self, volume: Volume) -> None:
        """A CreateVolume event."""
        request: dict[str, object] = {"size": str(volume.size_gib), "zone": volume.az, "volumeType": volume.type}
        response: dict[str, object] = {
            "volumeId": volume.id,
            "size": str(volume.size_gib),
            "status": "creating",
            "availabilityZone": volume.az,
        }
        self.event("CreateVolume", volume.created, request, response, [("AWS::EC2::Volume", volume.id)])

    def openzfs(
        self,
        name: str,
        *,
        storage_gib: int = 64,
        throughput: int = 160,
        days: float = 150,
        activity: Activity | None = None,
        **more: Any,
    ) -> FsxFileSystem:
        """An OpenZFS file system; its root volume keeps the default export and does no work of its own."""
        tags = {"Name": name, **more.pop("tags", {})}
        system = FsxFileSystem(
            id=self.id("fs", "zfs" + name),
            region=self.region,
            created=self.ago(days),
            kind="OPENZFS",
            deployment=more.pop("deployment", "MULTI_AZ_1"),
            storage_gib=storage_gib,
            throughput=throughput,
            activity=activity,
            tags=tags,
            **more,
        )
        self.fsx.append(system)
        root = (Export("*", ("rw", "crossmnt")),)
        self.fsx_volumes.append(
            FsxVolume(
                id=system.root_volume_id,
                file_system_id=system.id,
                region=self.region,
                created=system.created,
                name="fsx",
                exports=root,
            )
        )
        return system

    def server(
        self,
        name: str,
        kind: Literal["ONTAP", "WINDOWS", "LUSTRE"],
        deployment: str,
        *,
        storage_gib: int,
        throughput: int,
        days: float = 220,
        volumes: Sequence[str] = (),
        ontap_type: str = "RW",
        **more: Any,
    ) -> FsxFileSystem:
        """An FSx file system of another type than OpenZFS; ONTAP's volumes do the work that its file system does."""
        system = FsxFileSystem(
            id=self.id("fs", "fsx" + name),
            region=self.region,
            created=self.ago(days),
            kind=kind,
            deployment=deployment,
            storage_gib=storage_gib,
            throughput=throughput,
            tags={"Name": name, **more.pop("tags", {})},
            **more,
        )
        self.fsx.append(system)
        if kind == "ONTAP":
            svm = StorageVirtualMachine(
                id=self.id("svm", name),
                file_system_id=system.id,
                region=self.region,
                created=system.created,
                name="svm1",
            )
            self.svms.append(svm)
            for volume in volumes:
                self.fsx_volumes.append(
                    FsxVolume(
                        id=self.id("fsvol", name + volume),
                        file_system_id=system.id,
                        region=self.region,
                        created=system.created,
                        name=volume,
                        kind="ONTAP",
                        path=f"/{volume}",
                        svm_id=svm.id,
                        ontap_type=ontap_type,
                        size_gib=max(1, storage_gib // len(volumes)),
                        activity=system.activity,
                    )
                )
        return system

    def export(
        self,
        system: FsxFileSystem,
        name: str,
        *exports: Export,
        activity: Activity | None = None,
        tags: dict[str, str] | None = None,
    ) -> FsxVolume:
        """A child volume with its NFS export."""
        volume = FsxVolume(
            id=self.id("fsvol", system.tags["Name"] + name),
            file_system_id=system.id,
            region=self.region,
            created=system.created + HOUR,
            name=name,
            path=f"/fsx/{name}",
            parent=system.root_volume_id,
            exports=exports,
            activity=activity,
            tags=tags or {},
        )
        self.fsx_volumes.append(volume)
        return volume

    def fleet(self, account: str, roles: Sequence[Role] = (), regions: tuple[str, ...] | None = None) -> Fleet:
        """What was collected."""
        return Fleet(
            now=self.now,
            account=account,
            regions=regions or (self.region,),
            volumes=self.volumes,
            instances=self.instances,
            efs=self.efs,
            fsx=self.fsx,
            fsx_volumes=self.fsx_volumes,
            svms=self.svms,
            replications=self.replications,
            events=self.events,
            roles=roles,
            planted=self.planted,
        )
