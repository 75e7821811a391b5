"""EFS file systems that one client has for itself.

## What it finds
A file system with everything in Standard that never had more than one client in the last 36 days, and one in at least 90 % of
the minutes. `ClientConnections` has no statistic but its sum: by the day it settles most file systems, and what is left is
looked at by five minutes, where five connection-minutes are one client. The volume that would do is sized by what is stored,
and by the bytes and operations of the busiest five minutes.

## Why it matters
What EFS is paid for is sharing, over zones and without a size. EBS bills what is allocated and EFS what is used: One Zone costs
about what an EBS volume of twice the used size costs ("Can Amazon EFS replace EBS?", 2025-02-19), Regional about four times.
Small files also take a volume a fraction of the time ("The speed of EFS at small capacity", 2021-07-26).

## When it is wrong
One client at a time need not be the same one: instances that take turns, a function or a Fargate task that comes again, have no
use for a volume. Two mounts on one host count as two clients, and such a host is not found. Two clients for two minutes, and
none for the rest of five, look like one. A stand-by that mounts when it takes over is not seen before. Data in Infrequent
Access or Archive has no cheaper place on a volume: such file systems are left out, and so are those of a replication. Five
minutes' means hide shorter peaks, and what metadata take of a volume is not known.

## What to do
If it stays with one instance: make a gp3 volume in the zone of that instance, which need not be the file system's, copy, and
mount that. It gives up access from other instances and zones, and growing by itself; a volume does not outlive its zone, so
that it needs snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from math import ceil, isnan
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, difference, size_class
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Remedy, Unknown, Verdict
from slackwater.performance import ebs, efs
from slackwater.rules.efs import one_way_caveat

CLIENTS = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes")
READ = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")
READS = Metric("AWS/EFS", "DataReadIOBytes", "SampleCount", "operations")
WRITES = Metric("AWS/EFS", "DataWriteIOBytes", "SampleCount", "operations")

DAYS_A_MONTH: Final = 365 / 12
A_DAY: Final = DAY_S // MINUTE_S
FIVE_MINUTES: Final = FIVE_MINUTES_S // MINUTE_S
"""What one client that is connected all the time adds up to."""

SCATTERED: Final = 0.01
"""The share of five-minute points that may be missing: CloudWatch loses some, and the last ones come late."""


class SingleClientLimits(Limits):
    """What one client, always, means; and how much larger than its data a volume has to be."""

    window_days: int = limit(
        36, unit="days", ge=31, le=60, why="a second client may come on the first Monday of a month; points are kept 63 days"
    )
    watched_days: int = limit(30, unit="days", ge=14, le=60, why="have to be seen without a hole: a month")
    connected_percent: float = limit(90, unit="percent", gt=0, le=100, why="an instance may restart, or be replaced")
    headroom_percent: float = limit(
        50, unit="percent", ge=0, le=900, why="a volume cannot shrink, and grows only when told; also kept above the throughput"
    )


class _Work(NamedTuple):
    """What moved: the busiest five minutes, None where nothing of it was published, and a month."""

    peak_mib_s: float | None
    peak_iops: float | None
    monthly_read_bytes: float
    monthly_written_bytes: float


class _Setting(NamedTuple):
    """Of a gp3 volume."""

    gib: int
    iops: int
    mib_s: int


def judge(file_system: EfsFileSystem, seen: Seen, limits: SingleClientLimits) -> Verdict:
    """Flag a file system that one client has had for itself all the time."""
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if not file_system.mount_targets:
        return Fine("nothing can mount it")
    if file_system.stored_bytes.get("IA", 0) or file_system.stored_bytes.get("Archive", 0):
        return Fine("it has data in a colder class, which a volume has not")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if seen.age(file_system.created_at) < timedelta(days=limits.watched_days):
        return Fine(f"it is younger than {limits.watched_days} days")

    by_day = _need(file_system, CLIENTS, DAY_S, limits)
    if lacking := seen.lacking([by_day]):
        return Ask(lacking)
    if max(seen[by_day].present, default=0) > A_DAY:
        return Fine("more than one client was connected")
    days = _newest(seen.finished(seen[by_day], file_system.created_at), limits)
    if sum(days.present) < A_DAY * limits.connected_percent / 100 * len(days.present):
        return Fine("no client was connected all the time")
    if days.missing or not len(days):
        return Unknown(f"ClientConnections has no point on {days.missing} of {limits.watched_days} days")

    clients, read, written = (_need(file_system, metric, FIVE_MINUTES_S, limits) for metric in (CLIENTS, READ, WRITTEN))
    if lacking := seen.lacking([clients, read, written]):
        return Ask(lacking)
    if max(seen[clients].present, default=0) > FIVE_MINUTES:
        return Fine("two clients were connected at once")
    whole = seen.finished(seen[clients], file_system.created_at)
    newest = _newest(whole, limits)
    if newest.missing > SCATTERED * len(newest):
        return Unknown(f"ClientConnections has no point in {newest.missing} of {len(newest)} five minutes")
    connected = sum(newest.present) / FIVE_MINUTES / len(newest.present)
    if connected < limits.connected_percent / 100:
        return Fine("no client was connected all the time")
    reads, writes = (_need(file_system, metric, FIVE_MINUTES_S, limits) for metric in (READS, WRITES))
    if lacking := seen.lacking([reads, writes]):
        return Ask(lacking)
    sure = len(whole) == len(seen[clients]) and whole.missing <= SCATTERED * len(whole)
    work = _work(*(seen.finished(seen[need], file_system.created_at) for need in (read, written, reads, writes)))
    return _flag(file_system, connected, days, work, limits, sure=sure)


def _need(file_system: EfsFileSystem, metric: Metric, period_s: int, limits: SingleClientLimits) -> Need:
    return metric.need(("FileSystemId", file_system.id), period_s=period_s, days=limits.window_days)


def _newest(series: Series, limits: SingleClientLimits) -> Series:
    """The days that have to be seen."""
    return series.since(series.end_s - limits.watched_days * DAY_S)


def _work(read: Series, written: Series, reads: Series, writes: Series) -> _Work:
    """A volume splits operations into parts of 256 KiB: at most as many as EFS counts, and one more for each whole part."""
    moved, done = _both(read, written), _both(reads, writes)
    largest = ebs.VOLUME_TYPES["gp3"].operation_bytes
    split = [size / largest + count for size, count in zip(moved, done, strict=True) if not isnan(count)]
    months = len(read) * FIVE_MINUTES_S / DAY_S / DAYS_A_MONTH  # a point that nobody published moved nothing that is known
    return _Work(
        peak_mib_s=_most_per_s(moved, MIB),
        peak_iops=_most_per_s(split, 1),
        monthly_read_bytes=sum(read.present) / months,
        monthly_written_bytes=sum(written.present) / months,
    )


def _both(reading: Series, writing: Series) -> list[float]:
    """The sum of what is there; NaN where nothing is."""
    return [w if isnan(r) else r if isnan(w) else r + w for r, w in zip(reading.values, writing.values, strict=True)]


def _most_per_s(points: Sequence[float], per: float) -> float | None:
    return max((point / FIVE_MINUTES_S / per for point in points if not isnan(point)), default=None)


def _setting(file_system: EfsFileSystem, work: _Work, limits: SingleClientLimits) -> _Setting | Fine:
    """The smallest gp3 with room for what is stored, and above its busiest five minutes."""
    gp3, room = ebs.VOLUME_TYPES["gp3"], limits.headroom_percent
    gib, largest = max(1, ebs.with_headroom(file_system.total_bytes / GIB, room)), gp3.gib[1]
    if gib > largest:
        return Fine("no gp3 volume is as large")
    speed = ebs.gp3_for(largest, ebs.with_headroom(work.peak_iops or 0, room), ebs.with_headroom(work.peak_mib_s or 0, room))
    if speed is None:
        return Fine("no gp3 volume is as fast")
    if speed.iops > gp3.most_iops(gib):
        gib = ceil(speed.iops / (gp3.iops_per_gib or 1))
    return _Setting(gib, speed.iops, speed.mib_s)


def _flag(
    file_system: EfsFileSystem, connected: float, clients: Series, work: _Work, limits: SingleClientLimits, *, sure: bool
) -> Verdict:
    used_bytes = file_system.total_bytes
    setting = _setting(file_system, work, limits)
    if isinstance(setting, Fine):
        return setting
    caveats = [
        "One client at a time: whether it was the same, nothing says. A function or a Fargate task has no use for a volume.",
        (
            "What it moved was not published: the volume has the throughput that every gp3 includes."
            if work.peak_mib_s is None
            else "Throughput and IOPS are of five minutes' means, which hide shorter peaks, and of data without metadata."
        ),
        one_way_caveat("efs-single-client"),
    ]
    if owner := file_system.managed_by:
        caveats.append(f"It is managed by {owner}: change it there.")
    zone = file_system.availability_zone
    return Flagged(
        summary=(
            f"{used_bytes / GIB:,.1f} GiB on EFS {'One Zone' if zone else 'Regional'} for one client, connected"
            f" {connected:.0%} of {limits.watched_days} days, and never a second: a gp3 volume of {setting.gib:,} GiB would do"
        ),
        confidence="medium" if sure else "low",
        evidence=(
            Evidence(label="Clients at most", value=1, unit="count"),
            Evidence(
                label="Connected", value=round(100 * connected, 1), unit="percent of the time", series=clients.over(A_DAY / 100)
            ),
            Evidence(label="Used", value=round(used_bytes / GIB, 3), unit="GiB"),
            *_busiest(work),
            Evidence(label="Mount targets", value=file_system.mount_targets, unit="count"),
        ),
        advice=(),
        gist=(zone is not None, size_class(used_bytes)),
        caveats=tuple(caveats),
        remedies=(
            Remedy(
                kind="efs-vs-ebs",
                inputs={
                    "used": f"{used_bytes / GIB:.9f}GiB",
                    "allocated": f"{setting.gib}GiB",
                    "efs": "one-zone" if zone else "regional",
                },
                advise=lambda way: _volume(file_system, way, setting, work),
            ),
        ),
    )


def _busiest(work: _Work) -> tuple[Evidence, ...]:
    peaks = ((work.peak_mib_s, 1, "MiB/s"), (work.peak_iops, None, "operations/s"))
    return tuple(
        Evidence(label="Busiest five minutes", value=round(peak, digits), unit=unit)
        for peak, digits, unit in peaks
        if peak is not None
    )


def _volume(file_system: EfsFileSystem, way: Alternative, setting: _Setting, work: _Work) -> Advice:
    gib, iops, mib_s = setting
    plain = ebs.units("gp3", gib, ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S)
    faster = difference(plain, ebs.units("gp3", gib, iops, mib_s))
    unseen = " How many operations it does was not published: watch the volume's." if work.peak_iops is None else ""
    return Advice(
        action="move-to-gp3",
        summary=(
            f"{way.summary}, with {iops:,} IOPS and {mib_s:,} MiB/s: `aws ec2 create-volume --region"
            f" {file_system.target.region} --volume-type gp3 --size {gib} --iops {iops} --throughput {mib_s} --encrypted"
            " --availability-zone` and the zone of the instance that mounts it. Attach it there, copy, stop the writers, copy"
            " what changed, and mount the volume; keep EFS until nobody misses it. Take snapshots of the volume."
        ),
        changes=way.changes and (*way.changes, *_throughput(file_system, work), *faster),
        risk=(
            "No other instance can read it then, nor any other zone: in another zone than the instance's, where the file system"
            " may be, it cannot be attached. A full volume has to be grown by hand. Copying reads all of it once. Both are"
            f" billed until the file system is deleted.{unseen}"
        ),
        reversible=True,
    )


def _throughput(file_system: EfsFileSystem, work: _Work) -> tuple[Change, ...]:
    """What EFS bills for throughput; of Elastic only the data, so that it is the least."""
    if file_system.throughput_mode == "elastic":
        units = efs.elastic_units(work.monthly_read_bytes, work.monthly_written_bytes)
    elif file_system.provisioned_mib_s:
        units = (efs.provisioned_units(file_system.provisioned_mib_s, file_system.stored_bytes.get("Standard", 0)),)
    else:
        units = ()
    return tuple(unit for unit in units if unit.quantity)


_MEDIA = EfsFileSystem(
    id="fs-0e5f60718293a4b5c",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0e5f60718293a4b5c",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "wiki-data"},
    state="available",
    created_at=CASE_NOW - timedelta(days=250),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone="ap-northeast-1a",
    stored_bytes={"Standard": 80 * GIB, "IA": 0, "Archive": 0},
    mount_targets=1,
    is_replica=False,
)
_POINTS: Final = 36 * 288

type _Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def _connected(by_five_minutes: Sequence[float | None], mib_s: float = 4, kib: float = 64) -> _Metrics:
    """36 days of connection-minutes, and what was read and written meanwhile; the day that is not over has 108 points.

    Read are so many MiB a second, in operations of `kib`.
    """
    points = [0.0 if value is None else value for value in by_five_minutes]
    ends = [len(points) - 108 - 288 * n for n in range(36)]
    days = [sum(points[max(0, end - 288) : end]) for end in reversed(ends)]
    return {
        (CLIENTS, DAY_S): [*days, sum(points[-108:])],
        (CLIENTS, FIVE_MINUTES_S): by_five_minutes,
        (READ, FIVE_MINUTES_S): [mib_s * MIB * FIVE_MINUTES_S] * _POINTS,
        (WRITTEN, FIVE_MINUTES_S): [0.5 * MIB * FIVE_MINUTES_S] * _POINTS,
        (READS, FIVE_MINUTES_S): [mib_s * MIB / KIB / kib * FIVE_MINUTES_S] * _POINTS,
        (WRITES, FIVE_MINUTES_S): [8.0 * FIVE_MINUTES_S] * _POINTS,
    }


def _now_and_then(mib_s: float) -> _Metrics:
    """One client always, which reads for the first hour of each 24 and publishes nothing of it meanwhile."""
    metrics = _connected([5.0] * _POINTS, mib_s)
    reading = (READ, READS, WRITTEN, WRITES)
    return {
        key: [value if point % 288 < 12 else None for point, value in enumerate(values)] if key[0] in reading else values
        for key, values in metrics.items()
    }


def _without(metrics: _Metrics, *unpublished: Metric) -> _Metrics:
    return {key: values for key, values in metrics.items() if key[0] not in unpublished}


_ALWAYS: Final = [5.0] * _POINTS
_REBOOTS: Final = ([5.0] * 2013 + [0.0] * 3) * 5 + [5.0] * 288
_NIGHTLY: Final = ([10.0] * 6 + [5.0] * 282) * 36
_HALF_HOURS: Final = [10.0] * 6 + [0.0] * 6

DETECTOR = Detector(
    title="EFS file system that one client has for itself",
    kind="waste",
    resource=EfsFileSystem,
    limits=SingleClientLimits,
    reads=(EfsReplication,),
    judge=judge,
    cases=(
        Case(
            title="one client, always",
            resource=_MEDIA,
            metrics=_connected(_ALWAYS),
            expect=Flagged,
            says="connected 100% of 30 days, and never a second: a gp3 volume of 120 GiB would do",
        ),
        Case(
            title="one client, which restarts every week",
            resource=replace(_MEDIA, availability_zone=None, mount_targets=3),
            metrics=_connected(_REBOOTS),
            expect=Flagged,
            says="EFS Regional",
        ),
        Case(
            title="one client, which reads for an hour a day",
            resource=_MEDIA,
            metrics=_now_and_then(40),
            expect=Flagged,
        ),
        Case(
            title="one client, and operations that are not published",
            resource=_MEDIA,
            metrics=_without(_connected(_ALWAYS), READS, WRITES),
            expect=Flagged,
        ),
        Case(
            title="one client that does more than a volume can",
            resource=_MEDIA,
            metrics=_connected(_ALWAYS, mib_s=400, kib=4),
            expect=Fine,
            says="no gp3 volume is as fast",
        ),
        Case(title="two clients", resource=_MEDIA, metrics=_connected([10.0] * _POINTS), expect=Fine, says="more than one"),
        Case(
            title="a second client for half an hour every night",
            resource=_MEDIA,
            metrics=_connected(_NIGHTLY),
            expect=Fine,
            says="more than one",
        ),
        Case(
            title="two clients for half of every hour, and none for the other",
            resource=_MEDIA,
            metrics=_connected(_HALF_HOURS * 864),
            expect=Fine,
            says="two clients were connected at once",
        ),
        Case(
            title="a second client five weeks ago",
            resource=_MEDIA,
            metrics=_connected([5.0] * 288 + [10.0] * 2 + [0.0] * 4 + [5.0] * (_POINTS - 294)),
            expect=Fine,
            says="two clients",
        ),
        Case(
            title="one client, by day only",
            resource=_MEDIA,
            metrics=_connected(([5.0] * 144 + [0.0] * 144) * 36),
            expect=Fine,
            says="no client was connected all the time",
        ),
        Case(title="nobody", resource=_MEDIA, metrics=_connected([0.0] * _POINTS), expect=Fine, says="no client was connected"),
        Case(
            title="scattered points are missing",
            resource=_MEDIA,
            metrics=_connected(([5.0] * 199 + [None]) * 51 + [5.0] * 168),
            expect=Flagged,
        ),
        Case(
            title="six hours that nobody watched",
            resource=_MEDIA,
            metrics={**_connected(_ALWAYS), (CLIENTS, FIVE_MINUTES_S): [5.0] * 9000 + [None] * 96 + [5.0] * 1272},
            expect=Unknown,
            says="96 of 8640 five minutes",
        ),
        Case(
            title="a day that nobody watched",
            resource=_MEDIA,
            metrics={**_connected(_ALWAYS), (CLIENTS, DAY_S): [1440.0] * 30 + [None] + [1440.0] * 6},
            expect=Unknown,
            says="1 of 30 days",
        ),
        Case(title="no metrics", resource=_MEDIA, expect=Unknown, says="30 of 30 days"),
        Case(
            title="data in Infrequent Access",
            resource=replace(_MEDIA, stored_bytes={"Standard": 80 * GIB, "IA": 4 * KIB, "Archive": 0}),
            expect=Fine,
            says="colder class",
        ),
        Case(title="no mount target", resource=replace(_MEDIA, mount_targets=0), expect=Fine, says="nothing can mount"),
        Case(
            title="two weeks old",
            resource=replace(_MEDIA, created_at=CASE_NOW - timedelta(days=14)),
            metrics=_connected(_ALWAYS),
            expect=Fine,
            says="younger than 30 days",
        ),
        Case(title="being made", resource=replace(_MEDIA, state="creating"), expect=Fine, says="creating"),
        Case(title="a replica", resource=replace(_MEDIA, is_replica=True), expect=Fine, says="destination of a replication"),
        Case(
            title="the source of a replication",
            resource=_MEDIA,
            records=(EfsReplication(id=_MEDIA.id, role="source", status="ENABLED"),),
            expect=Fine,
            says="source of a replication",
        ),
        Case(
            title="too large for a volume",
            resource=replace(_MEDIA, stored_bytes={"Standard": 60_000 * GIB, "IA": 0, "Archive": 0}),
            metrics=_connected(_ALWAYS),
            expect=Fine,
            says="no gp3 volume is as large",
        ),
        Case(
            title="replications could not be read",
            resource=_MEDIA,
            unreadable={EfsReplication: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
