"""EFS file systems that nothing can mount.

## What it finds
A file system that is at least a week old and has no mount target. It is asked of the configuration alone. A file system of a
replication is left out: a replica has no mount target until it is needed.

## Why it matters
Without a mount target no instance, container or function can reach the data, and it is billed as before. A program that makes a
file system for each job deletes the mount target, waits, and deletes the file system ("Can Amazon EFS replace EBS?",
2025-02-19): where it ends in between, this is what stays. `efs-abandoned` and `efs-idle` would tell of it too, and are silent
then.

## When it is wrong
EFS does not say since when the last mount target is gone: a file system that is moving to another VPC has none for as long as
that takes. AWS Backup needs none, and AWS Transfer Family does not ask for one. Data may also lie there on purpose: tag it
`keep`. So the confidence is medium. An empty file system costs nothing; it is counted, not listed.

## What to do
Ask the owner. Then back up, and delete the file system; or keep the data, in a colder class.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.money import size_class
from slackwater.model.resources import EfsFileSystem, EfsReplication, Target
from slackwater.model.units import GIB, KIB
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.parts.efs_removal import SEE_THE_SAME, left, left_words, protecting_caveats, ways_out


class OrphanedLimits(Limits):
    """When a file system without a mount target counts."""

    minimum_age_days: int = limit(7, unit="days", ge=1, why="whoever makes a file system makes its mount targets afterwards")


def judge(file_system: EfsFileSystem, seen: Seen, limits: OrphanedLimits) -> Verdict:
    """Flag a file system without a mount target that is none of a replication's."""
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.mount_targets:
        return Fine(f"its mount targets: {file_system.mount_targets}")
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if seen.age(file_system.created_at) < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    return Flagged(
        summary=f"{left_words(file_system)} that nothing can mount: it has no mount target",
        confidence="medium",
        evidence=left(file_system),
        advice=ways_out(file_system, sure=True),
        gist=(size_class(file_system.total_bytes),),
        caveats=(
            "EFS does not say since when it has no mount target: it may be moving to another VPC.",
            "AWS Transfer Family may reach it without one: see that no server uses it.",
            *protecting_caveats(file_system),
        ),
    )


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


DETECTOR = Detector(
    title="EFS file system that nothing can mount",
    kind="waste",
    resource=EfsFileSystem,
    limits=OrphanedLimits,
    reads=(EfsReplication,),
    judge=judge,
    outranks=("efs-abandoned", "efs-idle", *SEE_THE_SAME),
    cases=(
        Case(title="no mount target", resource=_LOOSE, expect=Flagged, says="48.0 GiB (Regional) that nothing can mount"),
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
