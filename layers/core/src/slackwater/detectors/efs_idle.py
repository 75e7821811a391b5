"""EFS file systems that no client reads or writes.

## What it finds
A file system that has stood for at least a week, and whose last 30 days (or all its life, if that is shorter) show no
connected client and no data read or written. CloudWatch must prove that it was watching: `StorageBytes` is published for
every file system, used or not, so a day without it makes the answer unknown, not idle.

## Why it matters
EFS bills what is stored, for ever. Jobs that make a file system each and delete it at their end leave it behind when
their spot instance is killed ("Can Amazon EFS replace EBS?", 2025-02-19); nothing in AWS says so.

## When it is wrong
Data that is kept on purpose and read once a year looks the same: tag it `keep`. A job that runs less often than
`quiet_days` is not seen. Bytes that move without any client are a backup, a replication or a lifecycle transition, and are
not use; where they were written and no connection was published at all, the answer is unknown. CloudWatch may publish nothing
instead of zeros while no client is connected: that counts as quiet if it is so all the time, with less confidence.

## What to do
Ask the owner. Then back up, delete the mount targets, and delete the file system; or keep the data, in a colder class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import difference, size_class
from slackwater.model.ownership import managed_by
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import DAY_S, GIB, MIB
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs

METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
STORED = Metric("AWS/EFS", "StorageBytes", "Average", "bytes")
CLIENTS = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes")
READ = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")

SURELY_USED_BYTES: Final = GIB
"""More than this, beyond two full reads of what is stored, is no backup: such a file system is settled by one metric."""

SURE_DAYS: Final = 30
"""Shorter silence is never of high confidence, whatever the policy says: a monthly job needs this long to show."""


class IdleLimits(Limits):
    """When silence counts."""

    quiet_days: int = limit(30, unit="days", ge=7, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")


def judge(file_system: EfsFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system without clients and without data I/O, if CloudWatch was watching all the time."""
    age = seen.age(file_system.created_at)
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if age < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")

    metered = _need(file_system, METERED, limits)
    if lacking := seen.lacking([metered]):
        return Ask(lacking)
    if sum(seen[metered].present) > 2 * file_system.total_bytes / 3 + SURELY_USED_BYTES:
        return Fine("it moved more than a backup would")

    stored = _need(file_system, STORED, limits, ("StorageClass", "Total"))
    clients, read, written = (_need(file_system, metric, limits) for metric in (CLIENTS, READ, WRITTEN))
    if lacking := seen.lacking([stored, clients, read, written]):
        return Ask(lacking)
    days = seen.finished(seen[stored], file_system.created_at)
    if not len(days):
        return Unknown("CloudWatch has not watched it for a whole day yet")
    if days.missing:
        return Unknown(f"StorageBytes has no point on {days.missing} of {len(days)} days: CloudWatch was not watching")
    if connected := sum(seen[clients].present):
        return Fine(f"clients were connected for {connected:.0f} minutes in {limits.quiet_days} days")
    bytes_read, bytes_written = sum(seen[read].present), sum(seen[written].present)
    watched = seen.finished(seen[clients], file_system.created_at)
    if watched.present and watched.missing:
        return Unknown(f"ClientConnections has zeros, but no point on {watched.missing} of {len(watched)} days")
    if bytes_written and not watched.present:
        return Unknown("data was written while ClientConnections was not published: nobody knows by whom")
    zeros_are_real = not any(
        seen.finished(seen[need], file_system.created_at).missing for need in (metered, clients, read, written)
    )
    return _flag(
        file_system,
        quiet_days=len(days),
        metered=seen[metered],
        moved_bytes=bytes_read + bytes_written,
        zeros_are_real=zeros_are_real,
        confidence="high" if len(days) >= SURE_DAYS and zeros_are_real and not bytes_read + bytes_written else "medium",
    )


def _need(file_system: EfsFileSystem, metric: Metric, limits: IdleLimits, *dimensions: tuple[str, str]) -> Need:
    return metric.need(("FileSystemId", file_system.id), *dimensions, period_s=DAY_S, days=limits.quiet_days)


def _flag(
    file_system: EfsFileSystem,
    *,
    quiet_days: int,
    metered: Series,
    moved_bytes: float,
    zeros_are_real: bool,
    confidence: Confidence,
) -> Flagged:
    zone = f"One Zone in {file_system.availability_zone}" if file_system.availability_zone else "Regional"
    stored_gib = file_system.total_bytes / GIB
    owner = managed_by(file_system.tags)
    caveats = []
    if moved_bytes:
        caveats.append(
            f"{moved_bytes / MIB:,.1f} MiB moved without any client: probably AWS Backup, replication or a lifecycle"
            " transition."
        )
    if not zeros_are_real:
        caveats.append("CloudWatch published nothing instead of zeros; StorageBytes shows that it was watching.")
    if owner:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=f"{stored_gib:,.1f} GiB ({zone}) and not one client in {quiet_days} days",
        confidence=confidence,
        evidence=(
            Evidence(label="Days without a client or data I/O", value=quiet_days, unit="days"),
            Evidence(label="Stored", value=round(stored_gib, 3), unit="GiB"),
            Evidence(label="Mount targets", value=file_system.mount_targets, unit="count"),
            Evidence(
                label="Metered I/O by day",
                value=sum(metered.present) if metered.present else "no points published",
                unit="bytes" if metered.present else "words",
                series=metered,
            ),
            Evidence(label="Created", value=f"{file_system.created_at:%Y-%m-%d}", unit="date"),
        ),
        advice=_advice(file_system),
        gist=(file_system.mount_targets > 0, size_class(file_system.total_bytes)),
        caveats=tuple(caveats),
    )


def _advice(file_system: EfsFileSystem) -> tuple[Advice, ...]:
    target = file_system.target
    delete = Advice(
        action="back-up-and-delete",
        summary=(
            "Ask the owner. Take an AWS Backup recovery point; once it is completed delete the mount targets, wait until"
            " they are gone, and delete the file system."
        ),
        changes=efs.monthly_units(file_system),
        risk="The recovery point is billed until it expires; a restore gets a new file system id.",
        reversible=True,
        command=(
            f"aws backup start-backup-job --region {target.region} --backup-vault-name Default --resource-arn {file_system.arn}"
            f" --iam-role-arn arn:{target.partition}:iam::{target.account}:role/service-role/AWSBackupDefaultServiceRole"
        ),
    )
    stored = file_system.stored_bytes
    if not stored.get("Standard"):
        return (delete,)
    tiered = replace(file_system, stored_bytes={**stored, "Standard": 0, "IA": stored.get("IA", 0) + stored["Standard"]})
    colder = Advice(
        action="tier-to-infrequent-access",
        summary="Keep the data, and let files that nobody read for 30 days move to Infrequent Access.",
        changes=difference(efs.monthly_units(file_system), efs.monthly_units(tiered)),
        risk="Reading it back is charged by the GiB; a bursting file system's baseline shrinks with its Standard data.",
        reversible=True,
        command=(
            f"aws efs put-lifecycle-configuration --file-system-id {file_system.id} --region {target.region}"
            " --lifecycle-policies TransitionToIA=AFTER_30_DAYS"
        ),
    )
    return delete, colder


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
_WATCHED: Mapping[tuple[Metric, int], Sequence[float | None]] = {(STORED, DAY_S): [32.0 * GIB] * 31}
_SILENT: Final = {**_WATCHED, **{(metric, DAY_S): [0.0] * 31 for metric in (METERED, CLIENTS, READ, WRITTEN)}}
_ONE_NIGHT = [0.0] * 12 + [90.0] + [0.0] * 18

DETECTOR = Detector(
    title="EFS file system that nobody uses",
    kind="waste",
    resource=EfsFileSystem,
    limits=IdleLimits,
    reads=(EfsReplication,),
    judge=judge,
    cases=(
        Case(title="a month of zeros", resource=_OLD, metrics=_SILENT, expect=Flagged, says="not one client in 30 days"),
        Case(title="a month of silence, while it was watched", resource=_OLD, metrics=_WATCHED, expect=Flagged),
        Case(title="no metric at all", resource=_OLD, expect=Unknown, says="was not watching"),
        Case(
            title="a day on which nobody watched",
            resource=_OLD,
            metrics={**_SILENT, (STORED, DAY_S): [32.0 * GIB] * 20 + [None] + [32.0 * GIB] * 10},
            expect=Unknown,
            says="1 of 30 days",
        ),
        Case(
            title="a job that runs once a month",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): _ONE_NIGHT, (READ, DAY_S): [MIB * n for n in _ONE_NIGHT]},
            expect=Fine,
            says="clients were connected",
        ),
        Case(
            title="a client that came this morning",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): [0.0] * 30 + [5.0]},
            expect=Fine,
        ),
        Case(
            title="a backup reads it every night, and nobody else",
            resource=_OLD,
            metrics={**_SILENT, (READ, DAY_S): [5.0 * MIB] * 31, (METERED, DAY_S): [2.0 * MIB] * 31},
            expect=Flagged,
        ),
        Case(
            title="something writes, and connections are not published",
            resource=_OLD,
            metrics={**_WATCHED, (WRITTEN, DAY_S): [5.0 * MIB] * 31},
            expect=Unknown,
            says="nobody knows by whom",
        ),
        Case(
            title="connections are zero, but for a day without a point",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): [None if n else 0.0 for n in _ONE_NIGHT]},
            expect=Unknown,
            says="no point on 1 of 30 days",
        ),
        Case(
            title="far more traffic than a backup makes",
            resource=_OLD,
            metrics={**_WATCHED, (METERED, DAY_S): [100.0 * GIB] * 31},
            expect=Fine,
            says="more than a backup",
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
