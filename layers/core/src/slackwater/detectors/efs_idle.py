"""EFS file systems that no client uses.

## What it finds
A file system that has stood for at least a week, and that no client was connected to for all of its life, or for as long as a
job by the calendar may be silent: the last 36 days. CloudWatch must prove that it was watching: `StorageBytes` is published for
every file system, used or not, so one of the last 30 days without it makes the answer unknown, not idle. A client on any of the
36 days is use; what CloudWatch lost before the last 30 only lowers the confidence.

## Why it matters
EFS bills what is stored, for ever. Jobs that make a file system each and delete it at their end leave it behind when
their spot instance is killed ("Can Amazon EFS replace EBS?", 2025-02-19); nothing in AWS says so.

## When it is wrong
Data that is kept on purpose and read once a year looks the same: tag it `keep`. A job that runs less often than
`look_back_days` is not seen, and neither is the first run of a file system younger than that: the confidence is high only
after a silence of 36 whole days. Bytes that move without any client, however many, are a backup, a replication, a lifecycle
transition or AWS Transfer Family: they are not use, but they lower the confidence. Where bytes moved and no connection was
published at all, nobody knows whose they were, and the answer is unknown. CloudWatch may publish nothing instead of zeros while
no client is connected: that counts as quiet if it is so all the time and no byte moved, with less confidence.

## What to do
Ask the owner. Then back up, delete the mount targets, and delete the file system; or keep the data, in a colder class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import takewhile
from math import isnan
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import DAY_S, GIB, MIB
from slackwater.model.verdicts import Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules.efs import SEE_THE_SAME, left, left_words, protecting_caveats, ways_out

METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
STORED = Metric("AWS/EFS", "StorageBytes", "Average", "bytes")
CLIENTS = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes")
READ = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")

SURE_DAYS: Final = 36
"""Shorter silence is never of high confidence, whatever the policy says: "the first Monday of the month" comes up to 35 days
after the last, and its job may start late."""


class _Moved(NamedTuple):
    """What moved without any client: data, and what was metered, metadata too."""

    data_bytes: float
    metered_bytes: float


class IdleLimits(Limits):
    """When silence counts."""

    quiet_days: int = limit(30, unit="days", ge=7, le=450, why="watched without a gap; CloudWatch keeps 455 days")
    look_back_days: int = limit(
        36, unit="days", ge=7, le=450, why="any use counts: 35 days lie between two first Mondays, and a job may start late"
    )
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")


def judge(file_system: EfsFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system without clients, if CloudWatch was watching all the time."""
    age = seen.age(file_system.created_at)
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if age < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")

    clients = _need(file_system, CLIENTS, limits)
    if lacking := seen.lacking([clients]):
        return Ask(lacking)
    if connected := sum(seen[clients].present):
        return Fine(f"clients were connected for {connected:,.0f} minutes in {_look_back_days(limits)} days")

    stored = _need(file_system, STORED, limits, ("StorageClass", "Total"))
    metered, read, written = (_need(file_system, metric, limits) for metric in (METERED, READ, WRITTEN))
    if lacking := seen.lacking([stored, metered, read, written]):
        return Ask(lacking)
    return _unused(file_system, seen, limits, stored, clients, metered, read, written)


def _unused(file_system: EfsFileSystem, seen: Seen, limits: IdleLimits, *needs: Need) -> Verdict:
    """Whether nobody was there because nobody was seen, or because nobody was watching."""
    stored, clients, *moving = (seen.finished(seen[need], file_system.created_at) for need in needs)
    if not len(stored):
        return Unknown("CloudWatch has not watched it for a whole day yet")
    recent = stored.since(stored.end_s - limits.quiet_days * DAY_S)
    if recent.missing:
        return Unknown(f"StorageBytes has no point on {recent.missing} of {len(recent)} days: CloudWatch was not watching")
    watched = clients.since(recent.start_s)
    if watched.present and watched.missing:
        return Unknown(f"ClientConnections has zeros, but no point on {watched.missing} of {len(watched)} days")
    metered, read, written = (seen[need] for need in needs[2:])
    moved = _Moved(sum(read.present) + sum(written.present), sum(metered.present))
    if any(moved) and not watched.present:
        return Unknown("data moved while ClientConnections was not published: nobody knows by whom")
    quiet_days = sum(1 for _ in takewhile(lambda value: not isnan(value), reversed(stored.values)))
    quiet_since_s = stored.end_s - quiet_days * DAY_S
    zeros_are_real = not any(series.since(quiet_since_s).missing for series in (clients, *moving))
    return _flag(
        file_system,
        quiet_days=quiet_days,
        lost_days=stored.missing,
        metered=metered,
        moved=moved,
        zeros_are_real=zeros_are_real,
        confidence="high" if quiet_days >= SURE_DAYS and zeros_are_real and not any(moved) else "medium",
    )


def _look_back_days(limits: IdleLimits) -> int:
    return max(limits.look_back_days, limits.quiet_days)


def _need(file_system: EfsFileSystem, metric: Metric, limits: IdleLimits, *dimensions: tuple[str, str]) -> Need:
    return metric.need(("FileSystemId", file_system.id), *dimensions, period_s=DAY_S, days=_look_back_days(limits))


def _flag(
    file_system: EfsFileSystem,
    *,
    quiet_days: int,
    lost_days: int,
    metered: Series,
    moved: _Moved,
    zeros_are_real: bool,
    confidence: Confidence,
) -> Flagged:
    caveats = []
    if moved.data_bytes:
        caveats.append(
            f"{size_words(moved.data_bytes)} were read or written without any client: probably by AWS Backup, replication, a"
            " lifecycle transition or AWS Transfer Family."
        )
    elif moved.metered_bytes:
        caveats.append(
            f"{size_words(moved.metered_bytes)} were metered without any client, and no data was seen to move: probably"
            " metadata, as when AWS Backup looks for what has changed, or AWS Transfer Family lists files."
        )
    if not zeros_are_real:
        caveats.append("CloudWatch published nothing instead of zeros; StorageBytes shows that it was watching.")
    if lost_days:
        caveats.append(f"Before that CloudWatch has no point on {lost_days} days: a monthly job may have run then.")
    return Flagged(
        summary=f"{left_words(file_system)} and not one client in {quiet_days} days",
        confidence=confidence,
        evidence=(
            Evidence(label="Days without a client", value=quiet_days, unit="days"),
            Evidence(
                label="Metered I/O by day",
                value=sum(metered.present) if metered.present else "no points published",
                unit="bytes" if metered.present else "words",
                series=metered,
            ),
            *left(file_system),
        ),
        advice=ways_out(file_system, sure=confidence == "high"),
        gist=(file_system.mount_targets > 0, size_class(file_system.total_bytes)),
        caveats=(*caveats, *protecting_caveats(file_system)),
    )


_OLD = EfsFileSystem(
    id="fs-0a1b2c3d4e5f60718",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0a1b2c3d4e5f60718",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "encode-job-4711"},
    state="available",
    created_at=CASE_NOW - timedelta(days=65),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone="ap-northeast-1a",
    stored_bytes={"Standard": 32 * GIB, "IA": 0, "Archive": 0},
    mount_targets=1,
    is_replica=False,
)
_DAYS: Final = 37
"""36 days that are over, and today."""
_WATCHED: Mapping[tuple[Metric, int], Sequence[float | None]] = {(STORED, DAY_S): [32.0 * GIB] * _DAYS}
_SILENT: Final = {**_WATCHED, **{(metric, DAY_S): [0.0] * _DAYS for metric in (METERED, CLIENTS, READ, WRITTEN)}}


def _on(days_ago: int, value: float | None, rest: float = 0.0) -> list[float | None]:
    """A series that is different on one day."""
    return [value if day == days_ago else rest for day in reversed(range(_DAYS))]


def _used(days_ago: int) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """Three clients for half an hour, on one day."""
    return {**_SILENT, (CLIENTS, DAY_S): _on(days_ago, 90.0), (READ, DAY_S): _on(days_ago, 90.0 * MIB)}


DETECTOR = Detector(
    title="EFS file system that nobody uses",
    kind="waste",
    resource=EfsFileSystem,
    limits=IdleLimits,
    reads=(EfsReplication,),
    judge=judge,
    outranks=SEE_THE_SAME,
    cases=(
        Case(title="a month of zeros", resource=_OLD, metrics=_SILENT, expect=Flagged, says="not one client in 36 days"),
        Case(title="a month of silence, while it was watched", resource=_OLD, metrics=_WATCHED, expect=Flagged),
        Case(
            title="a month of zeros, and before it a day on which nobody watched",
            resource=_OLD,
            metrics={**_SILENT, (STORED, DAY_S): _on(33, None, rest=32.0 * GIB)},
            expect=Flagged,
            says="in 32 days",
        ),
        Case(title="no metric at all", resource=_OLD, expect=Unknown, says="was not watching"),
        Case(
            title="a day on which nobody watched",
            resource=_OLD,
            metrics={**_SILENT, (STORED, DAY_S): _on(30, None, rest=32.0 * GIB)},
            expect=Unknown,
            says="1 of 30 days",
        ),
        Case(
            title="a job that runs once a month",
            resource=_OLD,
            metrics=_used(18),
            expect=Fine,
            says="clients were connected",
        ),
        Case(
            title="a job that runs on the first Monday of the month, and will again today",
            resource=_OLD,
            metrics=_used(35),
            expect=Fine,
            says="in 36 days",
        ),
        Case(
            title="the same, and it starts after midnight",
            resource=_OLD,
            metrics=_used(36),
            expect=Fine,
        ),
        Case(
            title="a client that came this morning",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): _on(0, 5.0)},
            expect=Fine,
        ),
        Case(
            title="a backup reads it every night, and nobody else",
            resource=_OLD,
            metrics={**_SILENT, (READ, DAY_S): [5.0 * MIB] * _DAYS, (METERED, DAY_S): [2.0 * MIB] * _DAYS},
            expect=Flagged,
        ),
        Case(
            title="a backup that reads far more in a month than there is, and nobody else",
            resource=_OLD,
            metrics={**_SILENT, (READ, DAY_S): [3.0 * GIB] * _DAYS, (METERED, DAY_S): [1.0 * GIB] * _DAYS},
            expect=Flagged,
            says="not one client in 36 days",
        ),
        *(
            Case(
                title=f"{what}, and connections are not published",
                resource=_OLD,
                metrics={**_WATCHED, (metric, DAY_S): [5.0 * MIB] * _DAYS},
                expect=Unknown,
                says="nobody knows by whom",
            )
            for what, metric in (("something writes", WRITTEN), ("something reads", READ), ("something is metered", METERED))
        ),
        Case(
            title="connections are zero, but for a day without a point",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): _on(18, None)},
            expect=Unknown,
            says="no point on 1 of 30 days",
        ),
        Case(
            title="three days old",
            resource=replace(_OLD, created_at=CASE_NOW - timedelta(days=3)),
            metrics=_SILENT,
            expect=Fine,
            says="younger than 7 days",
        ),
        Case(
            title="quiet since it was made, two weeks ago",
            resource=replace(_OLD, created_at=CASE_NOW - timedelta(days=14)),
            metrics=_SILENT,
            expect=Flagged,
            says="13 days",
        ),
        Case(
            title="used on the day it was made, five weeks ago",
            resource=replace(_OLD, created_at=CASE_NOW - timedelta(days=34)),
            metrics=_used(34),
            expect=Fine,
        ),
        Case(title="being deleted", resource=replace(_OLD, state="deleting"), metrics=_SILENT, expect=Fine, says="deleting"),
        Case(title="a replica", resource=replace(_OLD, is_replica=True), metrics=_SILENT, expect=Fine, says="replication"),
        Case(
            title="the source of a replication",
            resource=_OLD,
            metrics=_SILENT,
            records=(EfsReplication(id=_OLD.id, role="source", status="ENABLED"),),
            expect=Fine,
            says="source of a replication",
        ),
        Case(
            title="replications could not be read",
            resource=_OLD,
            metrics=_SILENT,
            unreadable={EfsReplication: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
