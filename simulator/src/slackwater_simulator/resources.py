"""Define a simulated account's resources as frozen values. Times are epoch seconds; names of sizes have the unit."""

import calendar
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, Literal

from .instance_types import TYPES, InstanceType
from .series import FOREVER, Series, Signal, Spans, Track

type Tags = Mapping[str, str]
type Telemetry = Mapping[str, Track]
"""Given metrics by name. They replace the metrics that the resource would publish."""

ACCOUNT = "123456789012"
KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40


def instant(text: str) -> int:
    """Return the epoch seconds of an RFC 3339 time in UTC."""
    return calendar.timegm(time.strptime(text.strip().upper().removesuffix("Z").partition(".")[0], "%Y-%m-%dT%H:%M:%S"))


def rfc3339(epoch_s: int, fraction: str = "") -> str:
    """Return a time in the format that AWS uses."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch_s)) + fraction + "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Work over time: `shape` (fraction of the peak, a sample a minute) times the rates at the peak, bytes a second."""

    shape: Signal
    read: float = 0.0
    write: float = 0.0
    read_size: float = 64 * KIB
    write_size: float = 64 * KIB
    metadata: float = 0.0
    """Bytes of metadata a second at the peak (EFS) or operations a second (FSx)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An attachment of a volume to an instance."""

    instance_id: str
    since: int
    device: str = "/dev/sdf"
    delete_on_termination: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes through an interface: `scale` × the signal's values, a sample a minute or a statistic set every five."""

    signal: Signal
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A file system that an instance's CloudWatch agent reports. `volume_key` names the volume's dimension, if any."""

    path: str = "/data"
    device: str = "nvme1n1"
    fstype: str = "xfs"
    used: Flow
    """Percent."""
    volume_key: Literal["", "VolumeId", "DiskId"] = "VolumeId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """An EBS volume. `used` has the intervals in which it was attached and published metrics."""

    id: str
    az: str
    created: int
    size_gib: int
    type: str = "gp3"
    iops: int | None = None
    throughput: int | None = None
    attachments: tuple[Attachment, ...] = ()
    used: Spans = ()
    activity: Activity | None = None
    nitro: bool = True
    tags: Tags = field(default_factory=dict)
    encrypted: bool = True
    snapshot_id: str = ""
    multi_attach: bool = False
    disk: Disk | None = None
    """What the instance's agent reports about the volume. None means no report."""
    telemetry: Telemetry = field(default_factory=dict)
    phase: str = ""
    """`creating` or `deleting`. If it is empty, the attachments give the state."""
    kms_key: str = ""
    """ARN. If it is empty, the account's storage key is used."""
    operator: str = ""
    """The principal of the AWS service that manages the volume, such as `eks.amazonaws.com`. Empty if there is none."""

    @property
    def region(self) -> str:
        return self.az[:-1]

    @property
    def state(self) -> str:
        """`in-use` or `available`, or the life cycle's phase."""
        return self.phase or ("in-use" if self.attachments else "available")

    @property
    def iops_limit(self) -> int | None:
        """IOPS as DescribeVolumes shows them: provisioned, gp2's baseline, or gp3's included 3,000."""
        if self.type == "gp2":
            return min(16_000, max(100, 3 * self.size_gib))
        return self.iops or (3_000 if self.type == "gp3" else None)

    @property
    def throughput_limit(self) -> int | None:
        """Provisioned MiB/s, gp3 only."""
        return (self.throughput or 125) if self.type == "gp3" else None

    @property
    def intervals(self) -> Spans:
        return self.used or tuple((attachment.since, FOREVER) for attachment in self.attachments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An EC2 instance. `running` has the intervals in which it ran; empty means since launch."""

    id: str
    type: str
    az: str
    launched: int
    state: Literal["running", "stopped", "terminated"] = "running"
    stopped: int | None = None
    detailed: bool = False
    tags: Tags = field(default_factory=dict)
    net_in: Flow | None = None
    net_out: Flow | None = None
    cpu: Flow | None = None
    running: Spans = ()
    agent: Literal["", "plain", "typed"] = ""
    """The CloudWatch agent's ENA counters: none, with the required dimensions, or with InstanceType appended."""
    spot: bool = False
    unlimited: bool = False
    """T types: CPU credits are spent, borrowed and charged. Without it, there are always enough."""
    telemetry: Telemetry = field(default_factory=dict)
    operator: str = ""
    """The principal of the AWS service that manages the instance. Empty if there is none."""

    @property
    def region(self) -> str:
        return self.az[:-1]

    @property
    def kind(self) -> InstanceType:
        return TYPES[self.type]

    @property
    def intervals(self) -> Spans:
        return self.running or ((self.launched, self.stopped or FOREVER),)


@dataclass(frozen=True, slots=True, kw_only=True)
class MountTarget:
    """An EFS mount target. By default it is in its zone's subnet and its Region's security group."""

    id: str
    az: str
    subnet: str = ""
    address: str = ""
    security_groups: tuple[str, ...] = ()
    phase: str = "available"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPoint:
    """An access point of an EFS file system. `user` and `root` have the API's PosixUser and RootDirectory."""

    id: str
    token: str
    user: Mapping[str, Any] | None = None
    root: Mapping[str, Any] = field(default_factory=lambda: {"Path": "/"})
    tags: Tags = field(default_factory=dict)
    phase: str = "available"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """An EFS replication, from the source's side."""

    source_id: str
    source_region: str
    destination_id: str
    destination_region: str
    created: int


type Voice = Literal["zeros", "absent", "dark"]
"""What an EFS file system publishes while nobody uses it: zeros, only StorageBytes, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticFileSystem:
    """An EFS file system. `one_zone` is its zone; None means Regional."""

    id: str
    region: str
    created: int
    one_zone: str | None = None
    mode: Literal["bursting", "provisioned", "elastic"] = "bursting"
    provisioned_mibps: float | None = None
    standard_bytes: int = 6 * KIB
    ia_bytes: int = 0
    archive_bytes: int = 0
    mount_targets: tuple[MountTarget, ...] = ()
    activity: Activity | None = None
    active: tuple[int, int] | None = None
    """The interval of the activity. The file system is silent outside it. None means always active."""
    clients: Flow | None = None
    voice: Voice = "zeros"
    tags: Tags = field(default_factory=dict)
    lifecycle: tuple[tuple[str, str], ...] = ()
    replica: bool = False
    backup: bool = False
    access_points: int = 0
    """The number of access points besides `given_points`."""
    given_points: tuple[AccessPoint, ...] = ()
    telemetry: Telemetry = field(default_factory=dict)
    phase: str = "available"
    token: str = ""
    """The CreationToken. If it is empty, it follows from the id."""
    performance: str = "generalPurpose"
    encrypted: bool = True
    kms_key: str = ""
    protected: bool = True
    """Whether it is protected from being overwritten by a replication."""

    @property
    def points(self) -> tuple[AccessPoint, ...]:
        return (*self.given_points, *map(self._point, range(self.access_points)))

    def with_points(self, points: Iterable[AccessPoint]) -> "ElasticFileSystem":
        """Return the file system with other access points."""
        return replace(self, access_points=0, given_points=tuple(points))

    def _point(self, number: int) -> AccessPoint:
        point = "fsap-" + blake2b(f"{self.id}/{number}".encode(), digest_size=16).hexdigest()[:17]
        named = {"Name": f"point-{number}"}
        return AccessPoint(id=point, token=point, root={"Path": f"/point-{number}"}, tags=named)


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxFileSystem:
    """An FSx file system. Utilisations are percent at the activity's peak."""

    id: str
    region: str
    created: int
    kind: Literal["OPENZFS", "ONTAP", "WINDOWS", "LUSTRE"]
    deployment: str
    storage_gib: int
    throughput: int
    iops: int | None = None
    activity: Activity | None = None
    clients: float = 0.0
    disk_iops_peak: float = 5.0
    server_peak: float = 5.0
    used: float = 0.4
    """The used fraction of `storage_gib`. For ONTAP, of the SSD tier."""
    pool_gib: int = 0
    """ONTAP: GiB in the capacity pool."""
    backup_days: int = 7
    tags: Tags = field(default_factory=dict)
    telemetry: Telemetry = field(default_factory=dict)
    phase: str = "AVAILABLE"
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Further data, used by FSx only."""

    @property
    def root_volume_id(self) -> str:
        """OpenZFS: the id of the volume that every file system starts with."""
        return "fsvol-" + self.id.removeprefix("fs-")


@dataclass(frozen=True, slots=True)
class Export:
    """One client entry of an NFS export."""

    clients: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxVolume:
    """A volume of an OpenZFS or ONTAP file system."""

    id: str
    file_system_id: str
    region: str
    created: int
    name: str
    kind: Literal["OPENZFS", "ONTAP"] = "OPENZFS"
    path: str = "/fsx"
    parent: str | None = None
    exports: tuple[Export, ...] = ()
    svm_id: str | None = None
    ontap_type: str = "RW"
    size_gib: int = 64
    activity: Activity | None = None
    tags: Tags = field(default_factory=dict)
    telemetry: Telemetry = field(default_factory=dict)
    phase: str = ""
    """If it is empty, the volume has the usual state of its kind."""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageVirtualMachine:
    """An ONTAP storage virtual machine."""

    id: str
    file_system_id: str
    region: str
    created: int
    name: str
    tags: Tags = field(default_factory=dict)
    phase: str = "CREATED"
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A snapshot, a recovery point (`id` is its ARN) or an FSx backup of the resource `of`, started at `made`.

    `contents` stands for the data at that time. `detail` has data that only its service uses.
    """

    id: str
    kind: Literal["snapshot", "recovery-point", "fsx-backup"]
    of: str
    region: str
    made: int
    state: str
    tags: Tags = field(default_factory=dict)
    bytes: int = 0
    contents: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailEvent:
    """A management event; `resources` has (type, name) pairs."""

    name: str
    at: int
    region: str
    user: str
    resources: tuple[tuple[str, str], ...]
    request: Mapping[str, object]
    response: Mapping[str, object]


type Enrollment = Literal["Active", "Inactive", "Pending", "Failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeOption:
    """A configuration that Compute Optimizer recommends for a volume."""

    type: str
    size_gib: int
    iops: int
    throughput: int
    risk: float = 0.0
    saves: float | None = None
    """USD a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRecommendation:
    """Compute Optimizer's recommendation for a volume's configuration, with its options, the best first."""

    volume_id: str
    region: str
    finding: Literal["Optimized", "NotOptimized"]
    refreshed: int
    look_back_days: float = 14.0
    options: tuple[VolumeOption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecommendation:
    """Compute Optimizer's finding that a resource is idle."""

    resource_id: str
    region: str
    refreshed: int
    type: str = "EBSVolume"
    finding: Literal["Idle", "Unattached", "Unused"] = "Idle"
    look_back_days: float = 14.0
    saves: float | None = None
    """USD a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role that other accounts can assume with its external id. If `trusts` is not empty, only those accounts can."""

    name: str
    external_id: str | None = None
    trusts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A planted case: an issue with the detectors that should report it, or a negative control of one detector."""

    resource_id: str
    type: str
    name: str
    region: str
    story: str
    issues: tuple[str, ...] = ()
    control_of: str | None = None
    why: str = ""
    scenario: str = ""
    """In a labelled fleet: the scenario that drew it."""
    full: bool = True
    """Whether CloudWatch has all its data, except for scattered missing points and late ones."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """One account at one time."""

    now: int
    account: str = ACCOUNT
    regions: tuple[str, ...] = ("ap-northeast-1",)
    enabled: tuple[str, ...] = ()
    """Regions that can be used. If it is empty, all that need no opt-in."""
    volumes: Sequence[Volume] = ()
    instances: Sequence[Instance] = ()
    efs: Sequence[ElasticFileSystem] = ()
    fsx: Sequence[FsxFileSystem] = ()
    fsx_volumes: Sequence[FsxVolume] = ()
    svms: Sequence[StorageVirtualMachine] = ()
    replications: Sequence[Replication] = ()
    events: Sequence[TrailEvent] = ()
    roles: Sequence[Role] = ()
    enrollment: Enrollment = "Inactive"
    """The enrollment in Compute Optimizer. It recommends nothing unless it is "Active"."""
    volume_recommendations: Sequence[VolumeRecommendation] = ()
    idle_recommendations: Sequence[IdleRecommendation] = ()
    planted: Sequence[Planted] = ()

    @cached_property
    def by_region(self) -> dict[tuple[type, str], list[Any]]:
        """Resources by type and Region."""
        found: dict[tuple[type, str], list[Any]] = defaultdict(list)
        for name in LISTS.values():
            for item in getattr(self, name):
                found[type(item), item.region].append(item)
        return found

    @cached_property
    def by_id(self) -> "dict[str, Resource]":
        """Resources by id."""
        return {item.id: item for held in self.by_region.values() for item in held}

    @cached_property
    def volumes_of(self) -> dict[str, list[Volume]]:
        """Volumes by the instance that they are attached to."""
        found: dict[str, list[Volume]] = {}
        for volume in self.volumes:
            for attachment in volume.attachments:
                found.setdefault(attachment.instance_id, []).append(volume)
        return found


type Resource = Volume | Instance | ElasticFileSystem | FsxFileSystem | FsxVolume | StorageVirtualMachine
LISTS: Final[Mapping[type, str]] = {
    Volume: "volumes",
    Instance: "instances",
    ElasticFileSystem: "efs",
    FsxFileSystem: "fsx",
    FsxVolume: "fsx_volumes",
    StorageVirtualMachine: "svms",
}
"""The fleet's field that holds the resources of each type."""


def given(signal: Signal, *, scale: float = 1.0, digits: int = 4, since: int = 0, until: int = FOREVER) -> Track:
    """Return a metric with given values."""
    return (Series(signal, scale=scale, digits=digits, since=since, until=until),)
