"""EFS file systems that nothing can mount.

## What it finds
A file system that is at least a week old and has no mount target, and that no client was connected to for a week. A file
system of a replication is left out: a replica has no mount target until it is needed.

Slackwater deletes it only if CloudWatch watched it for the last 36 days (or for all its life, if that is shorter) and no byte
moved in them. `StorageBytes` shows that CloudWatch was watching.

## Why it matters
Without a mount target no instance, container or function can reach the data, and it is billed as before. A program that makes a
file system for each job deletes the mount target, waits, and deletes the file system ("Can Amazon EFS replace EBS?",
2025-02-19): where it ends in between, this is what stays. `efs-abandoned` and `efs-idle` would tell of it too, and are silent
then.

## When it is wrong
EFS does not say since when the last mount target is gone: a file system that is moving to another VPC has none for as long as
that takes. AWS Backup and AWS Transfer Family need no mount target: bytes that moved are theirs, or a client's before. Data may
also lie there on purpose: tag it `keep`. So the confidence is medium. An empty file system costs nothing; it is counted, not
listed.

## What to do
Ask the owner. Then back up, and delete the file system; or keep the data, in a colder class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import DAY_S, GIB, KIB, MIB
from slackwater.model.verdicts import Ask, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import advice, efs
from slackwater.rules.efs import TOTAL

CLIENTS: Final = efs.CLIENTS.optionally()
METERED: Final = efs.METERED.optionally()
STORED: Final = efs.STORED.optionally()


class OrphanedLimits(Limits):
    """When a file system without a mount target counts."""

    minimum_age_days: int = limit(7, unit="days", ge=1, why="whoever makes a file system makes its mount targets afterwards")
    quiet_days: int = limit(7, unit="days", ge=1, le=450, why="a file system that moves to another VPC had clients before")
    look_back_days: int = limit(
        36, unit="days", ge=7, le=450, why="a service may come once a month; 35 days lie between two first Mondays"
    )


def judge(file_system: EfsFileSystem, seen: Seen, limits: OrphanedLimits) -> Verdict:
    """Flag a file system without a mount target that is none of a replication's, and that no client used lately."""
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.mount_targets:
        return Fine(f"its mount targets: {file_system.mount_targets}")
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if seen.age(file_system.created_at) < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    clients, metered = (_need(file_system, metric, limits) for metric in (CLIENTS, METERED))
    stored = _need(file_system, STORED, limits, TOTAL)
    if lacking := seen.lacking([clients, metered, stored]):
        return Ask(lacking)
    newest = seen[clients].since(seen.now.timestamp() - limits.quiet_days * DAY_S)
    if connected := sum(newest.present):
        return Fine(f"clients were connected for {connected:,.0f} minutes in {limits.quiet_days} days: it had a mount target")
    moved = seen[metered]
    doubt = _doubt(file_system, seen, moved, seen[stored])
    return Flagged(
        summary=f"{efs.describe(file_system)} that nothing can mount: it has no mount target",
        confidence="medium",
        evidence=(
            *efs.facts(file_system),
            Evidence(
                label="Metered I/O by day",
                value=sum(moved.present) if moved.present else "no points published",
                unit="bytes" if moved.present else "words",
                series=moved,
            ),
        ),
        advice=efs.removal(file_system, sure=not doubt),
        gist=(size_class(file_system.total_bytes),),
        caveats=(
            "EFS does not say since when it has no mount target: it may be moving to another VPC.",
            "AWS Transfer Family may reach it without one: see that no server uses it.",
            *((doubt,) if doubt else ()),
            *advice.protection(file_system),
        ),
    )


def _need(file_system: EfsFileSystem, metric: Metric, limits: OrphanedLimits, *dimensions: tuple[str, str]) -> Need:
    days = max(limits.look_back_days, limits.quiet_days)
    return metric.need(("FileSystemId", file_system.id), *dimensions, period_s=DAY_S, days=days)


def _doubt(file_system: EfsFileSystem, seen: Seen, metered: Series, stored: Series) -> str | None:
    """Why a service that needs no mount target may use it; None where nothing says so."""
    watched = seen.finished(stored, file_system.created_at)
    if moved := sum(metered.present):
        words = f"{size_words(moved)} of I/O were metered in {len(metered)} days: a service may use it, or AWS Backup reads it"
    elif watched.missing or not len(watched):
        words = f"CloudWatch was not watching: StorageBytes has no point on {watched.missing} of {len(watched)} days"
    else:
        return None
    return f"{words}. Slackwater does not delete it."


_LOOSE = EfsFileSystem(
    id="fs-0b2c3d4e5f6071829",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0b2c3d4e5f6071829",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "press-archive"},
    state="available",
    created_at=CASE_NOW - timedelta(days=400),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone=None,
    stored_bytes={"Standard": 48 * GIB, "IA": 0, "Archive": 0},
    mount_targets=0,
    is_replica=False,
)


def _made(days_ago: float) -> EfsFileSystem:
    return replace(_LOOSE, created_at=CASE_NOW - timedelta(days=days_ago))


_DAYS: Final = 37
"""36 days that are over, and today."""
_WATCHED: Mapping[tuple[Metric, int], Sequence[float | None]] = {(STORED, DAY_S): [48.0 * GIB] * _DAYS}
_SILENT: Final = {**_WATCHED, **{(metric, DAY_S): [0.0] * _DAYS for metric in (CLIENTS, METERED)}}


def _on(days_ago: int, value: float | None, rest: float = 0.0) -> list[float | None]:
    """By day, the newest last; one of them differs."""
    return [value if day == days_ago else rest for day in reversed(range(_DAYS))]


DETECTOR = Detector(
    title="EFS file system that nothing can mount",
    kind="waste",
    resource=EfsFileSystem,
    limits=OrphanedLimits,
    reads=(EfsReplication,),
    judge=judge,
    outranks=("efs-abandoned", "efs-idle", *efs.SAVERS),
    cases=(
        Case(
            title="no mount target",
            resource=_LOOSE,
            metrics=_SILENT,
            expect=Flagged,
            says="48.0 GiB (Regional) that nothing can mount",
        ),
        Case(title="CloudWatch was watching, and published no zeros", resource=_LOOSE, metrics=_WATCHED, expect=Flagged),
        Case(title="no metric at all: nothing deletes it", resource=_LOOSE, expect=Flagged),
        Case(
            title="a day on which nobody watched: nothing deletes it",
            resource=_LOOSE,
            metrics={**_SILENT, (STORED, DAY_S): _on(30, None, rest=48.0 * GIB)},
            expect=Flagged,
        ),
        Case(
            title="AWS Transfer Family comes once a month: nothing deletes it",
            resource=_LOOSE,
            metrics={**_SILENT, (METERED, DAY_S): _on(35, 90.0 * MIB)},
            expect=Flagged,
        ),
        Case(
            title="it lost its mount target this week",
            resource=_LOOSE,
            metrics={**_SILENT, (CLIENTS, DAY_S): _on(3, 90.0), (METERED, DAY_S): _on(3, 90.0 * MIB)},
            expect=Fine,
            says="clients were connected for 90 minutes",
        ),
        Case(
            title="a mount target was there and gone again this morning",
            resource=_LOOSE,
            metrics={**_SILENT, (CLIENTS, DAY_S): _on(0, 1.0)},
            expect=Fine,
        ),
        Case(
            title="no mount target, and no file",
            resource=replace(_LOOSE, stored_bytes={"Standard": 6 * KIB, "IA": 0, "Archive": 0}),
            expect=Flagged,
            says="No file",
        ),
        Case(title="eight days old", resource=_made(8), expect=Flagged),
        Case(title="one mount target", resource=replace(_LOOSE, mount_targets=1), expect=Fine, says="its mount targets: 1"),
        Case(title="six days old", resource=_made(6), expect=Fine, says="younger than 7 days"),
        Case(title="still being made", resource=replace(_LOOSE, state="creating"), expect=Fine, says="creating"),
        Case(title="being deleted", resource=replace(_LOOSE, state="deleting"), expect=Fine, says="deleting"),
        Case(title="a replica", resource=replace(_LOOSE, is_replica=True), expect=Fine, says="destination of a replication"),
        Case(
            title="the source of a replication",
            resource=_LOOSE,
            records=(EfsReplication(id=_LOOSE.id, role="source", status="ENABLED"),),
            expect=Fine,
            says="source of a replication",
        ),
        Case(
            title="replications could not be read",
            resource=_LOOSE,
            unreadable={EfsReplication: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
