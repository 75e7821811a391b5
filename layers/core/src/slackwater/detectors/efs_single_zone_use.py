"""Regional EFS file systems that can be mounted in one zone only.

## What it finds
A Regional file system, at least a week old, whose only mount target is in one Availability Zone. It is asked of the
configuration alone. A file system of a replication is left out.

## Why it matters
Regional keeps the data in three zones or more and costs nearly twice as much as One Zone, and every write waits until more than
one zone has it: about 2.7 ms against 1.6 ms ("The speed of EFS at small capacity", 2021-07-26, measured half the time for small
files). Where all clients are in one zone, they stop with that zone all the same.

## When it is wrong
Often, so the confidence is low. The data may be what has to outlive the zone, not the service. One mount target can serve
clients of every zone of its VPC, and of other networks: nothing that a scan reads says where they are. Whether somebody uses
the file system at all is `efs-idle`'s question.

## What to do
Ask where the clients are, and what the loss of the zone may cost. Then replicate to a One Zone file system, or restore a
backup to one, and mount that. There is no way to turn one into the other in place.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.money import size_class
from slackwater.model.resources import EfsFileSystem, EfsMountTarget, EfsReplication, Target
from slackwater.model.units import GIB
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs
from slackwater.rules.efs import one_way_caveat, to_one_zone


class SingleZoneUseLimits(Limits):
    """When a single mount target counts."""

    minimum_age_days: int = limit(7, unit="days", ge=1, why="the mount targets of its other zones may be still to come")


def judge(file_system: EfsFileSystem, seen: Seen, limits: SingleZoneUseLimits) -> Verdict:
    """Flag a Regional file system whose only mount target is in one zone."""
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.availability_zone:
        return Fine("it is One Zone")
    if file_system.mount_targets != 1:
        return Fine(f"its mount targets: {file_system.mount_targets}")
    if file_system.is_replica or replication:
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if seen.age(file_system.created_at) < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    targets = [one for one in seen.fleet.all(EfsMountTarget) if one.file_system_id == file_system.id]
    if len(targets) > 1:
        return Fine(f"its mount targets: {len(targets)}")
    if not targets:
        return Unknown("its mount target is gone since it was counted")
    (only,) = targets
    if only.state != "available":
        return Fine(f"its mount target is {only.state}")
    if only.availability_zone is None:
        return Unknown("EFS did not say in which zone its mount target is")
    return _flag(file_system, only.availability_zone)


def _flag(file_system: EfsFileSystem, zone: str) -> Flagged:
    stored_gib = file_system.total_bytes / GIB
    regional, one_zone = (efs.limits("bursting", one_zone=one) for one in (False, True))
    caveats = [
        "One mount target can serve clients of other zones: ask where they are.",
        one_way_caveat("efs-single-zone-use"),
    ]
    if file_system.throughput_mode != "bursting" or file_system.performance_mode != "generalPurpose":
        most = one_zone.operations
        caveats.append(
            f"One Zone carries at most {most.read:,.0f} reads or {most.write:,.0f} writes a second, and has no Max I/O mode."
        )
    if owner := file_system.managed_by:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=f"{stored_gib:,.1f} GiB are kept in three zones or more, and can be mounted in {zone} alone",
        confidence="low",
        evidence=(
            Evidence(label="Zone of its only mount target", value=zone, unit=""),
            Evidence(label="Stored", value=round(stored_gib, 3), unit="GiB"),
            Evidence(label="A write takes about", value=regional.write_ms, unit="ms"),
            Evidence(label="A write to One Zone takes about", value=one_zone.write_ms, unit="ms"),
        ),
        advice=(to_one_zone(file_system, zone),),
        gist=(zone, size_class(file_system.total_bytes)),
        caveats=tuple(caveats),
    )


_REGIONAL = EfsFileSystem(
    id="fs-0c3d4e5f607182930",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0c3d4e5f607182930",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "render-cache"},
    state="available",
    created_at=CASE_NOW - timedelta(days=180),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone=None,
    stored_bytes={"Standard": 400 * GIB, "IA": 0, "Archive": 0},
    mount_targets=1,
    is_replica=False,
)
_TARGET = EfsMountTarget(
    id="fsmt-0c3d4e5f607182930",
    file_system_id=_REGIONAL.id,
    availability_zone="ap-northeast-1c",
    subnet_id="subnet-0c3d4e5f607182930",
    state="available",
)

DETECTOR = Detector(
    title="Regional EFS file system that is mounted in one zone",
    kind="waste",
    resource=EfsFileSystem,
    limits=SingleZoneUseLimits,
    reads=(EfsReplication, EfsMountTarget),
    judge=judge,
    cases=(
        Case(
            title="its only mount target is in one zone",
            resource=_REGIONAL,
            records=(_TARGET,),
            expect=Flagged,
            says="can be mounted in ap-northeast-1c alone",
        ),
        Case(
            title="a mount target in each of three zones",
            resource=replace(_REGIONAL, mount_targets=3),
            expect=Fine,
            says="its mount targets: 3",
        ),
        Case(
            title="One Zone",
            resource=replace(_REGIONAL, availability_zone="ap-northeast-1c"),
            expect=Fine,
            says="it is One Zone",
        ),
        Case(title="no mount target", resource=replace(_REGIONAL, mount_targets=0), expect=Fine, says="its mount targets: 0"),
        Case(
            title="another mount target was made since",
            resource=_REGIONAL,
            records=(_TARGET, replace(_TARGET, id="fsmt-1", availability_zone="ap-northeast-1a")),
            expect=Fine,
            says="its mount targets: 2",
        ),
        Case(
            title="its mount target is being made",
            resource=_REGIONAL,
            records=(replace(_TARGET, state="creating"),),
            expect=Fine,
            says="creating",
        ),
        Case(title="its mount target is gone", resource=_REGIONAL, expect=Unknown, says="gone since"),
        Case(
            title="in a zone that EFS does not name",
            resource=_REGIONAL,
            records=(replace(_TARGET, availability_zone=None),),
            expect=Unknown,
            says="in which zone",
        ),
        Case(
            title="four days old",
            resource=replace(_REGIONAL, created_at=CASE_NOW - timedelta(days=4)),
            records=(_TARGET,),
            expect=Fine,
            says="younger than 7 days",
        ),
        Case(
            title="a replica",
            resource=replace(_REGIONAL, is_replica=True),
            records=(_TARGET,),
            expect=Fine,
            says="destination of a replication",
        ),
        Case(
            title="the source of a replication",
            resource=_REGIONAL,
            records=(_TARGET, EfsReplication(id=_REGIONAL.id, role="source", status="ENABLED")),
            expect=Fine,
            says="source of a replication",
        ),
        Case(
            title="being made",
            resource=replace(_REGIONAL, state="creating"),
            records=(_TARGET,),
            expect=Fine,
            says="creating",
        ),
        Case(
            title="mount targets could not be read",
            resource=_REGIONAL,
            unreadable={EfsMountTarget: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
