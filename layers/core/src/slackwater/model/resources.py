"""The resources of an account, with the properties that detectors need.

Sizes are in GiB unless the name has another unit. Times are in UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final, Literal

from slackwater.model.ownership import managed_by


@dataclass(frozen=True, slots=True)
class Target:
    """One account in one Region. A target is complete or incomplete as a whole."""

    account: str
    region: str
    partition: str = "aws"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Anything that the inventory reads, with an id that is unique within its kind."""

    KIND: ClassVar[str]
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Record):
    """Something with an ARN, an owner and a bill.

    Attributes:
        tags: None if they could not be read.
        manager: The service or program that manages it according to EC2 or the policy. Its tags may name another one.
    """

    arn: str
    target: Target
    tags: Mapping[str, str] | None
    manager: str | None = None

    @property
    def name(self) -> str:
        """The Name tag; the id if there is no Name tag."""
        return (self.tags or {}).get("Name") or self.id

    @property
    def managed_by(self) -> str | None:
        """The service or program that manages it, in which you must change it; None if none is known."""
        return managed_by(self.tags) or self.manager

    @property
    def resource_group(self) -> str:
        """Resources with the same value share metrics, so that each metric is requested once."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A volume's attachment to an instance."""

    instance_id: str
    device: str
    attached_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume(Resource):
    """An EBS volume. EC2 returns `throughput_mib_s` for gp3 only."""

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
        """The group of the (first) instance that the volume is attached to."""
        return self.attachments[0].instance_id if self.attachments else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance(Resource):
    """An EC2 instance.

    Attributes:
        launched_at: The last start.
        stopped_at: The last stop; None if EC2 does not return it.
        lifecycle: "spot", "scheduled" or "capacity-block"; None for On-Demand.
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
    """What EC2 publishes about an instance type. A bandwidth is None if EC2 does not publish it."""

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
        """The part before the dot: `t3` of `t3.micro`."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentEvent(Record):
    """The last attachment or detachment of a volume that CloudTrail recorded. `id` is the volume's."""

    KIND: ClassVar[str] = "ebs-attachment-event"
    at: datetime
    instance_id: str | None
    event_name: Literal["AttachVolume", "DetachVolume"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMetric(Record):
    """A metric of the CloudWatch agent. `id` has its name and the exact dimensions that the agent uses."""

    KIND: ClassVar[str] = "cloudwatch-agent-metric"
    namespace: str
    name: str
    instance_id: str
    dimensions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerEnrollment(Record):
    """The enrollment of the account (`id`) in AWS Compute Optimizer. Without enrollment there is no record."""

    KIND: ClassVar[str] = "compute-optimizer-enrollment"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRecommendation(Record):
    """What AWS Compute Optimizer says about the resource with this `id`, and when.

    Attributes:
        finding: In Compute Optimizer's own words.
        monthly_savings_usd: Before discounts, to the cent; None if it is missing or not in USD.
    """

    finding: str
    monthly_savings_usd: Decimal | None
    look_back_days: float
    refreshed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeOption:
    """The configuration that Compute Optimizer recommends first. `performance_risk` is 0 (none) to 4."""

    volume_type: str
    size_gib: int
    iops: int | None
    throughput_mib_s: int | None
    performance_risk: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRecommendation(OptimizerRecommendation):
    """What it says about an attached EBS volume: `Optimized`, or `NotOptimized` (too slow or too expensive)."""

    KIND: ClassVar[str] = "compute-optimizer-volume"
    option: VolumeOption | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecommendation(OptimizerRecommendation):
    """What it says about an EC2 instance (`Idle`) or an EBS volume (`Idle` or `Unattached`)."""

    KIND: ClassVar[str] = "compute-optimizer-idle"


type EfsStorageClass = Literal["Standard", "IA", "Archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsFileSystem(Resource):
    """An EFS file system. `stored_bytes` is by storage class; `availability_zone` is set only for One Zone."""

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
        """The bytes in all storage classes."""
        return sum(self.stored_bytes.values())

    @property
    def standard_bytes(self) -> int:
        """The bytes in Standard, the only class that earns throughput."""
        return self.stored_bytes.get("Standard", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsReplication(Record):
    """An EFS file system that takes part in a replication. `id` is the file system's."""

    KIND: ClassVar[str] = "efs-replication"
    role: Literal["source", "destination"]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxFileSystem(Resource):
    """An FSx file system of any of the four types.

    Attributes:
        throughput_mb_s: In MB/s, as FSx states it.
        automatic_backup_days: How long FSx keeps its daily backups; 0 if it takes none.
        root_volume_id: Set for OpenZFS only.
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
    """One entry of an OpenZFS export: which clients may mount, and with which options."""

    clients: str
    options: tuple[str, ...]

    @property
    def is_sync(self) -> bool:
        """Whether the export is `sync`, which is FSx's default unless `async` is set."""
        return "async" not in self.options


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxVolume(Resource):
    """An FSx volume (OpenZFS or ONTAP).

    Attributes:
        nfs_export: Empty if the volume has no export of its own.
        ontap_volume_type: "RW", "DP" (data protection: only replication writes to it) or "LS" (load sharing); ONTAP
            only.
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
        """The group of the volume's file system."""
        return self.file_system_id


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsLifecycle(Record):
    """When an EFS file system moves files between storage classes, in EFS's words (`AFTER_30_DAYS`).

    `id` is the file system's. Each call returns it for only one file system, so Slackwater reads it on demand, and only
    if at least `LEAST_STANDARD_GIB` are in Standard.
    """

    KIND: ClassVar[str] = "efs-lifecycle"
    LEAST_STANDARD_GIB: ClassVar[int] = 100
    transition_to_ia: str | None
    transition_to_archive: str | None
    transition_to_primary: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsMountTarget(Record):
    """Where an EFS file system can be mounted.

    Each call returns it for only one file system, so Slackwater reads it only for Regional file systems with a single
    mount target.
    """

    KIND: ClassVar[str] = "efs-mount-target"
    file_system_id: str
    availability_zone: str | None
    subnet_id: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskMetric(AgentMetric):
    """How full a file system is (percent), as reported by the CloudWatch agent of its instance."""

    KIND: ClassVar[str] = "cloudwatch-agent-disk"

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return dict(self.dimensions).get("path", "")

    @property
    def volume_id(self) -> str | None:
        """The EBS volume that it is on; None unless the agent is configured to append it (as `aws://ZONE/vol-…`)."""
        named = dict(self.dimensions)
        id_ = (named.get("VolumeId") or named.get("DiskId") or "").rpartition("/")[2]
        return id_ if id_.startswith("vol-") else None


RESOURCE_KINDS: Final[tuple[type[Resource], ...]] = (Volume, Instance, EfsFileSystem, FsxFileSystem, FsxVolume)
