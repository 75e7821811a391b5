"""What an account holds, as far as a detector looks. Sizes in GiB unless the name says otherwise, times in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Literal


@dataclass(frozen=True, slots=True)
class Target:
    """One account in one region: the unit that is complete or not."""

    account: str
    region: str
    partition: str = "aws"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Anything the inventory reads, known by its id within its kind."""

    KIND: ClassVar[str]
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Record):
    """Something with an ARN, an owner and a bill. `tags` is None when they could not be read."""

    arn: str
    target: Target
    tags: Mapping[str, str] | None

    @property
    def name(self) -> str:
        """The Name tag, or the id."""
        return (self.tags or {}).get("Name") or self.id

    @property
    def household(self) -> str:
        """Resources of one household share their metrics, so that none is asked for twice."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A volume on an instance."""

    instance_id: str
    device: str
    attached_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume(Resource):
    """An EBS volume. `throughput_mib_s` is set for gp3 only, as EC2 answers it."""

    KIND: ClassVar[str] = "ebs-volume"
    volume_type: str
    size_gib: int
    iops: int | None
    throughput_mib_s: int | None
    state: str
    created_at: datetime
    availability_zone: str
    multi_attach: bool
    attachments: tuple[Attachment, ...] = ()

    @property
    def household(self) -> str:
        """A volume lives with the (first) instance that carries it."""
        return self.attachments[0].instance_id if self.attachments else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance(Resource):
    """An EC2 instance. `launched_at` is the last start, `stopped_at` the last stop where EC2 says it."""

    KIND: ClassVar[str] = "ec2-instance"
    instance_type: str
    state: str
    launched_at: datetime
    stopped_at: datetime | None
    detailed_monitoring: bool
    root_device: str
    bandwidth_weighting: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType(Record):
    """What EC2 allows one instance type. Bandwidths are None where EC2 publishes none."""

    KIND: ClassVar[str] = "ec2-instance-type"
    vcpus: int
    hypervisor: Literal["nitro", "xen", "other"]
    network_baseline_gbps: float | None
    network_peak_gbps: float | None
    network_cards: int
    ebs_baseline_mbps: float | None
    ebs_maximum_mbps: float | None
    ebs_baseline_iops: int | None
    ebs_maximum_iops: int | None
    source: str

    @property
    def family(self) -> str:
        """`t3` of `t3.micro`."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentEvent(Record):
    """The last time that CloudTrail saw a volume attached or detached. `id` is the volume's."""

    KIND: ClassVar[str] = "ebs-attachment-event"
    at: datetime
    instance_id: str | None
    event_name: Literal["AttachVolume", "DetachVolume"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMetric(Record):
    """A metric of the CloudWatch agent; `id` holds its name and the exact dimensions that the agent uses."""

    KIND: ClassVar[str] = "cloudwatch-agent-metric"
    namespace: str
    name: str
    instance_id: str
    dimensions: tuple[tuple[str, str], ...]


type EfsStorageClass = Literal["Standard", "IA", "Archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsFileSystem(Resource):
    """An EFS file system. `stored_bytes` by storage class; `availability_zone` is set on One Zone."""

    KIND: ClassVar[str] = "efs-file-system"
    state: str
    created_at: datetime
    throughput_mode: str
    provisioned_mib_s: float | None
    performance_mode: str
    availability_zone: str | None
    stored_bytes: Mapping[EfsStorageClass, int]
    mount_targets: int
    is_replica: bool

    @property
    def total_bytes(self) -> int:
        """All storage classes together."""
        return sum(self.stored_bytes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsReplication(Record):
    """A file system that takes part in a replication. `id` is the file system's."""

    KIND: ClassVar[str] = "efs-replication"
    role: Literal["source", "destination"]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxFileSystem(Resource):
    """An FSx file system of any of the four types. Throughput in MB/s as FSx states it."""

    KIND: ClassVar[str] = "fsx-file-system"
    file_system_type: str
    deployment_type: str
    state: str
    created_at: datetime
    storage_type: str
    storage_gib: int
    throughput_mb_s: int | None
    iops: int | None
    iops_mode: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NfsClients:
    """One entry of an OpenZFS export: who may mount, and with which options."""

    clients: str
    options: tuple[str, ...]

    @property
    def is_sync(self) -> bool:
        """FSx exports are `sync` unless `async` is listed."""
        return "async" not in self.options


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxVolume(Resource):
    """An FSx volume (OpenZFS or ONTAP). `nfs_export` is empty where the volume exports nothing of its own."""

    KIND: ClassVar[str] = "fsx-volume"
    file_system_id: str
    volume_type: str
    state: str
    created_at: datetime
    path: str
    nfs_export: tuple[NfsClients, ...] = ()

    @property
    def household(self) -> str:
        """Volumes share their file system's metrics."""
        return self.file_system_id


RESOURCE_KINDS: Final[tuple[type[Resource], ...]] = (Volume, Instance, EfsFileSystem, FsxFileSystem, FsxVolume)
