"""EFS file systems of jobs that are over.

## What it finds
A file system that was made for one job, and that no client has been connected to for the last six hours. Which file systems are
made for a job only their makers know: the policy names the tag that they carry, and until it does this detector is off.

```toml
[detectors.efs-abandoned]
tag = "Job"          # or "Job=encode", where other jobs keep theirs
```

CloudWatch must prove that it was watching: `StorageBytes` comes every 15 minutes for every file system, used or not, and three
of its points missing in a row make the answer unknown. Of `ClientConnections`, three points of five minutes may.

## Why it matters
A job that makes a file system, works, and deletes it again leaves it behind when its spot instance is killed ("Can Amazon EFS
replace EBS?", 2025-02-19). Nothing else in AWS says so, and `efs-idle` takes more than a month to be sure.

## When it is wrong
A job that waits for longer than `quiet_hours` without mounting its file system looks the same: for a spot instance that nobody
offers, or for a person. A client that is mounted is connected, whatever it does. Who came in the last quarter of an hour may
not be published yet: look again before anything is deleted. Bytes that move while nobody is connected are a backup or a
lifecycle transition, and lower the confidence. Where connections were not published at all, any byte makes the answer unknown,
because a job is connected while it writes; without a byte it is quiet, with less confidence. What nothing can mount for a week
is `efs-orphaned`'s.

## What to do
See that the job is over, and keep what it made. Then back up, delete the mount targets, and delete the file system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from math import isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import size_class
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import FIVE_MINUTES_S, GIB, MIB, MINUTE_S
from slackwater.model.verdicts import Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import advice, efs

CLIENTS = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes")
STORED = Metric("AWS/EFS", "StorageBytes", "Average", "bytes")
METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")

LONGEST_GAP: Final[Mapping[Metric, int]] = {CLIENTS: 3, STORED: 8}
"""Points of five minutes that may be missing in a row. `StorageBytes` has one in three: with 8, two of its own are missing."""


class AbandonedLimits(Limits):
    """Which file systems are made for a job, and when the job is over."""

    tag: str | None = limit(
        None,
        unit="tag",
        min_length=1,
        max_length=385,  # AWS: a key of 128 characters, "=", a value of 256
        pattern=r"^[^\s=]",
        examples=["Job", "Job=encode"],
        why="only who makes file systems for a job knows how they are marked: a key, or key=value",
    )
    quiet_hours: int = limit(6, unit="hours", ge=1, le=336, why="a job waits between two steps, or for its next spot instance")
    minimum_age_hours: int = limit(6, unit="hours", ge=1, why="a new file system waits for its job to start")

    @property
    def lacks(self) -> str | None:
        """Without a tag it would ask nothing."""
        return None if self.tag else "tag"


def judge(file_system: EfsFileSystem, seen: Seen, limits: AbandonedLimits) -> Verdict:
    """Flag a job's file system that had no client for hours, if CloudWatch was watching all the time."""
    if limits.tag is None:
        return Fine("the policy names no tag of the file systems that jobs make: detectors.efs-abandoned.tag")
    if file_system.tags is None:
        return Unknown(f"its tags could not be read: nobody knows whether it has {limits.tag}")
    if not _has(file_system.tags, limits.tag):
        return Fine(f"it is not a job's: it has no tag {limits.tag}")
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    least_hours = max(limits.minimum_age_hours, limits.quiet_hours)
    if seen.age(file_system.created_at) < timedelta(hours=least_hours):
        return Fine(f"it is younger than {least_hours} hours")
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if EfsReplication in seen.fleet.unreadable:
        return Unknown(f"replications could not be read: {seen.fleet.unreadable[EfsReplication]}")
    return _quiet(file_system, seen, limits)


def _has(tags: Mapping[str, str], tag: str) -> bool:
    """`Job` is a key with any value, `Job=encode` a key with this one."""
    key, equals, value = tag.partition("=")
    return key in tags and (not equals or tags[key] == value)


def _quiet(file_system: EfsFileSystem, seen: Seen, limits: AbandonedLimits) -> Verdict:
    """The cheap question first: a client that is connected settles it."""
    connections = _need(file_system, CLIENTS, limits)
    if lacking := seen.lacking([connections]):
        return Ask(lacking)
    clients = seen.finished(seen[connections], file_system.created_at)
    if connected := sum(clients.present):
        return Fine(f"clients were connected for {connected:,.0f} minutes in {limits.quiet_hours} hours")
    if clients.present and (gap := _gap(clients)) > LONGEST_GAP[CLIENTS]:
        return Unknown(f"ClientConnections has zeros, but no point for {_minutes(gap)} minutes: a client may have been there")

    stored, metered = _need(file_system, STORED, limits, ("StorageClass", "Total")), _need(file_system, METERED, limits)
    if lacking := seen.lacking([stored, metered]):
        return Ask(lacking)
    if (gap := _gap(seen.finished(seen[stored], file_system.created_at))) > LONGEST_GAP[STORED]:
        return Unknown(f"StorageBytes has no point for {_minutes(gap)} minutes: CloudWatch was not watching")
    moved_bytes = sum(seen[metered].present)
    if moved_bytes and not clients.present:
        return Unknown("data moved while ClientConnections was not published: nobody knows by whom")
    zeros_are_real = bool(clients.present)
    return _flag(
        file_system,
        limits,
        clients=clients,
        moved_bytes=moved_bytes,
        confidence="high" if zeros_are_real and not moved_bytes else "medium",
    )


def _need(file_system: EfsFileSystem, metric: Metric, limits: AbandonedLimits, *dimensions: tuple[str, str]) -> Need:
    window_days = limits.quiet_hours / 24
    return metric.need(("FileSystemId", file_system.id), *dimensions, period_s=FIVE_MINUTES_S, days=window_days)


def _gap(series: Series) -> int:
    """The longest run of points that are missing, the last ones too."""
    return max((sum(1 for _ in run) for missing, run in groupby(series.values, isnan) if missing), default=0)


def _minutes(points: int) -> int:
    return points * FIVE_MINUTES_S // MINUTE_S


def _flag(
    file_system: EfsFileSystem,
    limits: AbandonedLimits,
    *,
    clients: Series,
    moved_bytes: float,
    confidence: Confidence,
) -> Flagged:
    caveats = [f"A job that waits for longer than {limits.quiet_hours} hours looks the same: see that it is over."]
    if moved_bytes:
        caveats.append(f"{moved_bytes / MIB:,.1f} MiB moved without any client: probably AWS Backup or a lifecycle transition.")
    if not clients.present:
        caveats.append("CloudWatch published nothing instead of zeros; StorageBytes shows that it was watching.")
    key = str(limits.tag).partition("=")[0]
    tag = f"{key}={(file_system.tags or {}).get(key, '')}"
    return Flagged(
        summary=f"{efs.describe(file_system)} of a job ({tag}), and not one client in {limits.quiet_hours} hours",
        confidence=confidence,
        evidence=(
            Evidence(label="Hours without a client", value=limits.quiet_hours, unit="hours"),
            Evidence(label="Made for a job", value=tag, unit="words"),
            Evidence(
                label="Clients connected, by five minutes",
                value=sum(clients.present) if clients.present else "no points published",
                unit="connection-minutes" if clients.present else "words",
                series=clients,
            ),
            *efs.facts(file_system),
        ),
        advice=efs.removal(file_system, sure=confidence == "high"),
        gist=(tag, file_system.mount_targets > 0, size_class(file_system.total_bytes)),
        caveats=(*caveats, *advice.protection(file_system)),
    )


_LEFT = EfsFileSystem(
    id="fs-0c3d4e5f607182930",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0c3d4e5f607182930",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "encode-job-4711", "Job": "encode"},
    state="available",
    created_at=CASE_NOW - timedelta(hours=31),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone="ap-northeast-1a",
    stored_bytes={"Standard": 32 * GIB, "IA": 0, "Archive": 0},
    mount_targets=1,
    is_replica=False,
)
_JOBS: Final = {"tag": "Job"}
_NOBODY: Final = [0.0] * 72
_EVERY_15_MINUTES: Final[list[float | None]] = [None, None, 32.0 * GIB] * 24
_WATCHED: Mapping[tuple[Metric, int], Sequence[float | None]] = {(STORED, FIVE_MINUTES_S): _EVERY_15_MINUTES}
_SILENT: Final = {**_WATCHED, (CLIENTS, FIVE_MINUTES_S): _NOBODY, (METERED, FIVE_MINUTES_S): _NOBODY}


def _clients(*values: float | None) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """The last values of an otherwise silent window."""
    return {**_SILENT, (CLIENTS, FIVE_MINUTES_S): [*_NOBODY[len(values) :], *values]}


DETECTOR = Detector(
    title="EFS file system of a job that is over",
    kind="waste",
    resource=EfsFileSystem,
    limits=AbandonedLimits,
    reads_if_allowed=(EfsReplication,),
    judge=judge,
    outranks=("efs-idle", *efs.SAVERS),
    cases=(
        Case(
            title="six hours of zeros",
            resource=_LEFT,
            metrics=_SILENT,
            limits=_JOBS,
            expect=Flagged,
            says="of a job (Job=encode), and not one client in 6 hours",
        ),
        Case(title="the key and its value", resource=_LEFT, metrics=_SILENT, limits={"tag": "Job=encode"}, expect=Flagged),
        Case(
            title="six hours of silence, while it was watched", resource=_LEFT, metrics=_WATCHED, limits=_JOBS, expect=Flagged
        ),
        Case(
            title="the last points are late",
            resource=_LEFT,
            metrics={
                **_clients(None, None, None),
                (STORED, FIVE_MINUTES_S): [*_EVERY_15_MINUTES[:66], *[None] * 6],
            },
            limits=_JOBS,
            expect=Flagged,
        ),
        Case(
            title="AWS Backup reads it, and nobody else",
            resource=_LEFT,
            metrics={**_SILENT, (METERED, FIVE_MINUTES_S): [*_NOBODY[:70], 5.0 * MIB, 9.0 * MIB]},
            limits=_JOBS,
            expect=Flagged,
        ),
        Case(title="no tag is named", resource=_LEFT, metrics=_SILENT, expect=Fine, says="the policy names no tag"),
        Case(
            title="another job's",
            resource=_LEFT,
            metrics=_SILENT,
            limits={"tag": "Job=report"},
            expect=Fine,
            says="no tag Job=report",
        ),
        Case(
            title="not a job's",
            resource=replace(_LEFT, tags={"Name": "home"}),
            metrics=_SILENT,
            limits=_JOBS,
            expect=Fine,
            says="not a job's",
        ),
        Case(
            title="tags that nobody could read",
            resource=replace(_LEFT, tags=None),
            metrics=_SILENT,
            limits=_JOBS,
            expect=Unknown,
            says="tags could not be read",
        ),
        Case(
            title="a client that is mounted, and does nothing",
            resource=_LEFT,
            metrics={**_SILENT, (CLIENTS, FIVE_MINUTES_S): [5.0] * 72},
            limits=_JOBS,
            expect=Fine,
            says="clients were connected",
        ),
        Case(
            title="a job that waits: its client left an hour ago",
            resource=_LEFT,
            metrics={**_SILENT, (CLIENTS, FIVE_MINUTES_S): [5.0] * 60 + [0.0] * 12},
            limits=_JOBS,
            expect=Fine,
        ),
        Case(title="a client that came this minute", resource=_LEFT, metrics=_clients(1.0), limits=_JOBS, expect=Fine),
        Case(
            title="made five hours ago",
            resource=replace(_LEFT, created_at=CASE_NOW - timedelta(hours=5)),
            metrics=_SILENT,
            limits=_JOBS,
            expect=Fine,
            says="younger than 6 hours",
        ),
        Case(
            title="being deleted",
            resource=replace(_LEFT, state="deleting"),
            metrics=_SILENT,
            limits=_JOBS,
            expect=Fine,
            says="deleting",
        ),
        Case(
            title="the source of a replication",
            resource=_LEFT,
            metrics=_SILENT,
            records=(EfsReplication(id=_LEFT.id, role="source", status="ENABLED"),),
            limits=_JOBS,
            expect=Fine,
            says="source of a replication",
        ),
        Case(
            title="replications could not be read",
            resource=_LEFT,
            metrics=_SILENT,
            unreadable={EfsReplication: "AccessDenied"},
            limits=_JOBS,
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(title="no metric at all", resource=_LEFT, limits=_JOBS, expect=Unknown, says="CloudWatch was not watching"),
        Case(
            title="zeros, and twenty minutes without a point",
            resource=_LEFT,
            metrics=_clients(*[None] * 4, *[0.0] * 40),
            limits=_JOBS,
            expect=Unknown,
            says="no point for 20 minutes",
        ),
        Case(
            title="an hour that nobody watched",
            resource=_LEFT,
            metrics={**_WATCHED, (STORED, FIVE_MINUTES_S): [*_EVERY_15_MINUTES[:24], *[None] * 12, *_EVERY_15_MINUTES[:36]]},
            limits=_JOBS,
            expect=Unknown,
            says="no point for 70 minutes",
        ),
        Case(
            title="something writes, and connections are not published",
            resource=_LEFT,
            metrics={**_WATCHED, (METERED, FIVE_MINUTES_S): [9.0 * MIB] * 72},
            limits=_JOBS,
            expect=Unknown,
            says="nobody knows by whom",
        ),
    ),
)
