"""What an account holds, as far as a detector looks. Sizes in GiB unless the name says otherwise, times in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final, Literal

from slackwater.model.ownership import managed_by


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
    """Something with an ARN, an owner and a bill. `tags` is None when they could not be read.

    `manager` is the service or program that manages it, where not its tags' names but EC2 or the policy says so.
    """

    arn: str
    target: Target
    tags: Mapping[str, str] | None
    manager: str | None = None

    @property
    def name(self) -> str:
        """The Name tag, or the id."""
        return (self.tags or {}).get("Name") or self.id

    @property
    def managed_by(self) -> str | None:
        """The service or program that manages it: it has to be changed there. None where none is known to."""
        return managed_by(self.tags) or self.manager

    @property
    def resource_group(self) -> str:
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
    def resource_group(self) -> str:
        """A volume lives with the (first) instance that carries it."""
        return self.attachments[0].instance_id if self.attachments else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance(Resource):
    """An EC2 instance. `launched_at` is the last start, `stopped_at` the last stop where EC2 says it.

    `lifecycle` is EC2's word ("spot", "scheduled", "capacity-block"), None for On-Demand.
    """

    KIND: ClassVar[str] = "ec2-instance"
    instance_type: str
    state: str
    launched_at: datetime
    stopped_at: datetime | None
    detailed_monitoring: bool
    root_device: str
    bandwidth_weighting: str = "default"
    lifecycle: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerEnrollment(Record):
    """That AWS Compute Optimizer looks at an account. `id` is the account's; there is no record where it does not."""

    KIND: ClassVar[str] = "compute-optimizer-enrollment"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRecommendation(Record):
    """What AWS Compute Optimizer says of the resource with this `id`: its finding in its own words, and when it looked.

    `monthly_savings_usd` is before discounts, to the cent; None where it is not said, or not in USD.
    """

    finding: str
    monthly_savings_usd: Decimal | None
    look_back_days: float
    refreshed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeOption:
    """The configuration that Compute Optimizer would choose first. `performance_risk` is 0 (none) to 4."""

    volume_type: str
    size_gib: int
    iops: int | None
    throughput_mib_s: int | None
    performance_risk: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRecommendation(OptimizerRecommendation):
    """How an attached EBS volume is configured: `Optimized`, or `NotOptimized`, which may mean too slow as well as too dear."""

    KIND: ClassVar[str] = "compute-optimizer-volume"
    option: VolumeOption | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecommendation(OptimizerRecommendation):
    """That an EC2 instance is `Idle`, or an EBS volume `Idle` or `Unattached`."""

    KIND: ClassVar[str] = "compute-optimizer-idle"


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
    """An FSx file system of any of the four types. Throughput in MB/s as FSx states it.

    `automatic_backup_days` is how long FSx keeps its daily backups, 0 if it takes none; `root_volume_id` is set for OpenZFS.
    """

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
    automatic_backup_days: int | None = None
    root_volume_id: str | None = None


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
    """An FSx volume (OpenZFS or ONTAP). `nfs_export` is empty where the volume exports nothing of its own.

    `ontap_volume_type` is "RW", "DP" (data protection: written by replication alone) or "LS" (load sharing), ONTAP only.
    """

    KIND: ClassVar[str] = "fsx-volume"
    file_system_id: str
    volume_type: str
    state: str
    created_at: datetime
    path: str
    nfs_export: tuple[NfsClients, ...] = ()
    ontap_volume_type: str | None = None

    @property
    def resource_group(self) -> str:
        """Volumes share their file system's metrics."""
        return self.file_system_id


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsLifecycle(Record):
    """When an EFS file system moves files between storage classes, in EFS's words (`AFTER_30_DAYS`). `id` is the file system's.

    EFS answers it one file system at a time, so it is read only where at least `LEAST_STANDARD_GIB` are in Standard.
    """

    KIND: ClassVar[str] = "efs-lifecycle"
    LEAST_STANDARD_GIB: ClassVar[int] = 100
    transition_to_ia: str | None
    transition_to_archive: str | None
    transition_to_primary: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsMountTarget(Record):
    """Where an EFS file system can be mounted.

    EFS answers it one file system at a time, so it is read only of a Regional one that has a single mount target.
    """

    KIND: ClassVar[str] = "efs-mount-target"
    file_system_id: str
    availability_zone: str | None
    subnet_id: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskMetric(AgentMetric):
    """How full a file system is (percent), as the CloudWatch agent of its instance says."""

    KIND: ClassVar[str] = "cloudwatch-agent-disk"

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return dict(self.dimensions).get("path", "")

    @property
    def volume_id(self) -> str | None:
        """The EBS volume that it is on, where the agent is told to append it; it writes `aws://ZONE/vol-…`."""
        named = dict(self.dimensions)
        id_ = (named.get("VolumeId") or named.get("DiskId") or "").rpartition("/")[2]
        return id_ if id_.startswith("vol-") else None


RESOURCE_KINDS: Final[tuple[type[Resource], ...]] = (Volume, Instance, EfsFileSystem, FsxFileSystem, FsxVolume)
