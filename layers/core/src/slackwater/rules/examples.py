"""Example resources and metrics for the detectors' cases, so that a case states only its differences.

All examples are in one account, at `CASE_NOW`. A builder takes the fields that differ: `efs(mount_targets=0)`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import batched
from typing import Any, Final

from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.metrics import Metric
from slackwater.model.resources import (
    Attachment,
    EfsFileSystem,
    EfsReplication,
    FsxFileSystem,
    FsxVolume,
    Instance,
    InstanceType,
    Record,
    Resource,
    Target,
    Volume,
)
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, MIB, MINUTE_S
from slackwater.model.verdicts import Fine, Unknown, Verdict
from slackwater.rules.ebs_peaks import READ_BYTES, READS, WRITES, WRITTEN_BYTES

HERE: Final = Target("123456789012", "ap-northeast-1")

DAYS: Final = 37  # how many days of metrics cases have: 36 whole days and today

type Points = Sequence[float | None]
type Metrics = Mapping[Any, float | Points | None]
"""Values by metric, or by (metric, period in seconds). A number is the value of every point; None means no points."""


def days_ago(days: float) -> datetime:
    """Return the time this many days before `CASE_NOW`."""
    return CASE_NOW - timedelta(days=days)


def days(rest: float | None, different: Mapping[int | range, float | None], count: int = DAYS) -> Points:
    """Return one point a day, newest last: `rest`, except on `different` days, which count back from today (0)."""
    found = {day: value for key, value in different.items() for day in ([key] if isinstance(key, int) else key)}
    return [found.get(day, rest) for day in reversed(range(count))]


def every_day(rest: float | None, different: Mapping[range, float | None], period_s: int, count: int = DAYS) -> Points:
    """Return the same points every day from 09:00 UTC: `rest`, except in the `different` ranges of points."""
    found = {point: value for points, value in different.items() for point in points}
    return [found.get(point, rest) for point in range(DAY_S // period_s)] * count


def peaks(points: range | None = None, /, **rates: float) -> Metrics:
    """Return a volume's busiest minute of each day, per second: `reads`, `writes`, `read_mib_s`, `written_mib_s`.

    With `points`, return that of each hour and five minutes: the rate in this range of each day, 0 elsewhere.
    """
    parts = {"reads": READS, "writes": WRITES, "read_mib_s": READ_BYTES, "written_mib_s": WRITTEN_BYTES}
    values = {parts[name].peak: rate * parts[name].per * MINUTE_S for name, rate in rates.items()}
    if points is None:
        return values
    hours = range(points.start // 12, -(-points.stop // 12))
    return {
        (metric, period_s): every_day(0.0, {span: value}, period_s)
        for period_s, span in ((HOUR_S, hours), (FIVE_MINUTES_S, points))
        for metric, value in values.items()
    }


def in_turns(reading: range, writing: range, **rates: float) -> Metrics:
    """Return such peaks, with reads in one range of five-minute points of each day, and writes in another."""
    reads = {name: rate for name, rate in rates.items() if name.startswith("read")}
    writes = {name: rate for name, rate in rates.items() if name not in reads}
    return {**peaks(**rates), **peaks(reading, **reads), **peaks(writing, **writes)}


def a_day(rest: float | None, *levels: tuple[float | None, int], period_s: int = FIVE_MINUTES_S) -> list[float | None]:
    """Return the points of one day: the (value, minutes) in this order, then `rest`."""
    points = [value for value, minutes in levels for _ in range(minutes * MINUTE_S // period_s)]
    return [*points, *[rest] * (DAY_S // period_s - len(points))]


def and_hourly(metric: Metric, points: Points, *more: int) -> dict[tuple[Metric, int], Points]:
    """Return the sums of 1, 12 and `more` five-minute points of a metric. A period without a point has no sum."""
    known = {n: ([v for v in part if v is not None] for part in batched(points, n)) for n in (12, *more)}
    sums = {(metric, n * FIVE_MINUTES_S): [sum(part) if part else None for part in known[n]] for n in known}
    return {(metric, FIVE_MINUTES_S): points, **sums}


@dataclass(frozen=True, slots=True)
class Cases:
    """Makes cases that differ from one situation. Call it with a title, the expected verdict and the differences."""

    resource: Resource
    metrics: Metrics = field(default_factory=dict)
    records: tuple[Record, ...] = ()  # the rest of the fleet
    limits: Mapping[str, Any] = field(default_factory=dict)  # set by the policy
    period_s: int = DAY_S  # of metrics that name no period
    days: int = DAYS  # how many days a number in `metrics` stands for

    def __call__(
        self, title: str, expect: type[Verdict], says: str = "", *, metrics: Metrics | None = None, **differs: Any
    ) -> Case:
        """Make a case. `says` is a part of the verdict's summary or reason. `metrics` replace those of the same name.

        `differs` may have `records` (all others of the fleet), `limits`, `unreadable` and `unpublished`, as in `Case`.
        All other names are fields of the resource.
        """
        given: dict[str, Any] = {"title": title, "expect": expect, "says": says, "records": self.records}
        given |= {name: differs.pop(name) for name in ("records", "unreadable", "unpublished") if name in differs}
        limits = {**self.limits, **differs.pop("limits", {})}
        points = self._points(self.metrics) | self._points(metrics or {})
        published = {key: values for key, values in points.items() if values is not None}
        return Case(resource=replace(self.resource, **differs), metrics=published, limits=limits, **given)

    def _points(self, metrics: Metrics) -> dict[tuple[Metric, int], Points | None]:
        found: dict[tuple[Metric, int], Points | None] = {}
        for key, values in metrics.items():
            metric, period_s = (key, self.period_s) if isinstance(key, Metric) else key
            count = self.days * DAY_S // period_s
            found[metric, period_s] = _same(values, count) if isinstance(values, int | float) else values
        return found


@cache  # cases share it
def _same(value: float, count: int) -> Points:
    return (value,) * count


def replicated(file_system: Resource) -> EfsReplication:
    """Return the record of a replication from this file system."""
    return EfsReplication(id=file_system.id, role="source", status="ENABLED")


def exempt_efs(cases: Cases) -> tuple[Case, ...]:
    """Return cases of the file systems that `rules.efs.exempt` leaves out, except young ones."""
    records = (*cases.records, replicated(cases.resource))
    denied: dict[type[Record], str] = {EfsReplication: "AccessDenied"}
    return (
        cases("being deleted", Fine, "deleting", state="deleting"),
        cases("a replica", Fine, "destination of a replication", is_replica=True),
        cases("the source of a replication", Fine, "source of a replication", records=records),
        cases("replications could not be read", Unknown, "AccessDenied", unreadable=denied),
    )


def without_io(bare: Cases) -> tuple[Case, ...]:
    """Return the cases of a volume without I/O to judge."""
    stopped = tuple(replace(one, state="stopped") if isinstance(one, Instance) else one for one in bare.records)
    return (
        bare("on a stopped instance", Fine, "is stopped", records=stopped),
        bare("on no instance", Fine, "not attached", state="available", attachments=()),
        bare("its instance is being terminated", Unknown, "not in the inventory", records=()),
        bare("its instance could not be read", Unknown, "denied", records=(), unreadable={Instance: "denied"}),
    )


def instance_type(
    name: str,
    *,
    network_gbps: tuple[float | None, float | None] = (None, None),
    ebs_mbps: tuple[float | None, float | None] = (None, None),
    ebs_iops: tuple[int | None, int | None] = (None, None),
    **fields: Any,
) -> InstanceType:
    """Return a Nitro instance type. Pairs are the baseline and the burst; None means that EC2 publishes no value."""
    usual: dict[str, Any] = {"vcpus": 2, "hypervisor": "nitro", "network_cards": 1, "source": "an example"}
    return InstanceType(
        id=name,
        network_baseline_gbps=network_gbps[0],
        network_peak_gbps=network_gbps[1],
        ebs_baseline_mbps=ebs_mbps[0],
        ebs_maximum_mbps=ebs_mbps[1],
        ebs_baseline_iops=ebs_iops[0],
        ebs_maximum_iops=ebs_iops[1],
        **usual | fields,
    )


def ebs_types(*rows: tuple[str, tuple[float, float], tuple[int, int]]) -> tuple[InstanceType, ...]:
    """Return types from their names, EBS bandwidth in Mbps and EBS IOPS, the latter two as baseline and burst."""
    return tuple(instance_type(name, ebs_mbps=mbps, ebs_iops=iops) for name, mbps, iops in rows)


def _builder[R: Resource](make: type[R], in_arn: str, **usual: Any) -> Callable[..., R]:
    """Return a function that makes a resource with its ARN and the usual fields, except for those that differ."""
    service, _, path = in_arn.partition("/")

    def build(**fields: Any) -> R:
        made = make(**{"arn": "", "target": HERE, **usual, **fields})
        target = made.target
        arn = f"arn:{target.partition}:{service}:{target.region}:{target.account}:{path.format(made)}/{made.id}"
        return replace(made, arn=arn)

    return build


efs: Final = _builder(
    EfsFileSystem,
    "elasticfilesystem/file-system",
    id="fs-0a1b2c3d4e5f60718",
    tags={"Name": "encode-job-4711"},
    state="available",
    created_at=days_ago(65),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone="ap-northeast-1a",
    stored_bytes={"Standard": 32 * GIB, "IA": 0, "Archive": 0},
    mount_targets=1,
    is_replica=False,
)
"""A One Zone file system in bursting mode with 32 GiB in Standard, created 65 days ago."""
fsx: Final = _builder(
    FsxFileSystem,
    "fsx/file-system",
    id="fs-0123456789abcdef0",
    tags={"Name": "renders"},
    file_system_type="OPENZFS",
    deployment_type="MULTI_AZ_1",
    state="AVAILABLE",
    created_at=days_ago(250),
    storage_type="SSD",
    storage_gib=1_000,
    throughput_mb_s=160,
    iops=3_000,
    iops_mode="AUTOMATIC",
)
"""A Multi-AZ OpenZFS file system with 1,000 GiB of SSD, 160 MB/s and the 3,000 IOPS that are included."""
fsx_volume: Final = _builder(
    FsxVolume,
    "fsx/volume/{0.file_system_id}",
    id="fsvol-0123456789abcdef0",
    tags={"Name": "wordpress-content"},
    file_system_id="fs-0123456789abcdef0",
    volume_type="OPENZFS",
    state="AVAILABLE",
    created_at=days_ago(250),
    path="/fsx/wordpress",
)
"""A volume of the file system of `fsx`, created at the same time. It has no export."""
instance: Final = _builder(
    Instance,
    "ec2/instance",
    id="i-0bbbbbbbbbbbbbbbb",
    tags={"Name": "warehouse"},
    instance_type="m5.large",
    state="running",
    launched_at=days_ago(300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
"""A running m5.large, launched 300 days ago."""
_unattached: Final = _builder(
    Volume,
    "ec2/volume",
    id="vol-0fedcba9876543210",
    tags={"Name": "warehouse-data"},
    volume_type="gp3",
    size_gib=500,
    iops=3_000,
    throughput_mib_s=125,
    state="available",
    created_at=days_ago(200),
    availability_zone="ap-northeast-1a",
    multi_attach=False,
)


def volume(on: Instance | None = None, *, device: str = "/dev/sdf", **fields: Any) -> Volume:
    """Return a gp3 volume of 500 GiB with nothing provisioned, created 200 days ago and attached to `on` since then."""
    made = _unattached(**fields)
    if on is None:
        return made
    there = Attachment(instance_id=on.id, device=device, attached_at=made.created_at)
    return replace(made, state="in-use", attachments=(there,))


M5_LARGE: Final = instance_type("m5.large", ebs_mbps=(650, 4_750), ebs_iops=(3_600, 18_750))
ON_NITRO: Final = (instance(), M5_LARGE)
ON_XEN: Final = (instance(), replace(M5_LARGE, hypervisor="xen"))
"""The instance of `instance()` and its type."""
READING_ON_XEN: Final[Mapping[tuple[Metric, int], float]] = {
    (READ_BYTES.total, FIVE_MINUTES_S): 30.0 * MIB * FIVE_MINUTES_S,
    (READS.total, FIVE_MINUTES_S): 120.0 * FIVE_MINUTES_S,
    (WRITES.total, FIVE_MINUTES_S): 0.0,
}
"""Reads of 30 MiB/s, by five minutes."""

BURSTING: Final = (
    instance_type("t3.micro", network_gbps=(0.064, 5)),
    instance_type("t3.2xlarge", vcpus=8, network_gbps=(2.048, 5)),
    instance_type("m5.large", network_gbps=(0.75, 10)),
    instance_type("m5.2xlarge", vcpus=8, network_gbps=(2.5, 10)),
    instance_type("m6i.2xlarge", vcpus=8, network_gbps=(3.125, 12.5)),
    instance_type("m6i.8xlarge", vcpus=32, network_gbps=(12.5, 12.5)),
)
"""Types whose network bursts, except m6i.8xlarge."""
