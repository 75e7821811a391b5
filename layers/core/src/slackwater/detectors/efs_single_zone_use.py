"""Regional EFS file systems that clients mount in a single zone.

## What it finds
A Regional file system, at least a week old, whose only mount target is in one Availability Zone. The configuration
alone decides. A file system with a replication is left out.

## Why it matters
Regional keeps the data in at least three zones and costs nearly twice as much as One Zone. Every write waits until more
than one zone has it: about 2.7 ms instead of 1.6 ms ("The speed of EFS at small capacity", 2021-07-26, measured half
the time for small files). If all clients are in one zone, they stop with that zone anyway.

## When it is wrong
- It is often wrong, so the confidence is low: the data may have to survive the zone, even if the service does not.
- One mount target can serve clients in every zone of its VPC and in other networks. A scan cannot see where they are.
- The file system may be unused. `efs-idle` checks that.

## What to do
Ask where the clients are, and what the loss of the zone may cost. Then replicate it to a One Zone file system, or
restore a backup to one, and mount that. EFS cannot change the type of a file system.
"""

from dataclasses import replace

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.money import size_class
from slackwater.model.resources import EfsFileSystem, EfsMountTarget, EfsReplication
from slackwater.model.units import GIB
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs as formulas
from slackwater.rules import efs, examples
from slackwater.rules.examples import Cases, days_ago


class SingleZoneUseLimits(Limits):
    """When a single mount target counts."""

    minimum_age_days: int = limit(7, unit="days", ge=1, why="the mount targets of other zones may still come")


def judge(file_system: EfsFileSystem, seen: Seen, limits: SingleZoneUseLimits) -> Verdict:
    """Flag a Regional file system whose only mount target is in one zone."""
    unless_decided(efs.exempt(file_system, seen, limits.minimum_age_days))
    if file_system.availability_zone:
        return Fine("it is One Zone")
    if file_system.mount_targets != 1:
        return Fine(f"mount targets: {file_system.mount_targets}")
    targets = [one for one in seen.fleet.all(EfsMountTarget) if one.file_system_id == file_system.id]
    if len(targets) > 1:
        return Fine(f"mount targets: {len(targets)}")
    if not targets:
        return Unknown("its mount target was deleted during the scan")
    (only,) = targets
    if only.state != "available":
        return Fine(f"its mount target is {only.state}")
    if only.availability_zone is None:
        return Unknown("EFS did not return the zone of its mount target")
    return _flag(file_system, only.availability_zone)


def _flag(file_system: EfsFileSystem, zone: str) -> Flagged:
    regional, one_zone = (formulas.limits("bursting", one_zone=one) for one in (False, True))
    move, most = efs.to_one_zone(file_system, zone), one_zone.operations
    if file_system.throughput_mode != "bursting" or file_system.performance_mode != "generalPurpose":
        slower = f"at most {most.read:,.0f} reads or {most.write:,.0f} writes a second, and has no Max I/O mode."
        move = replace(move, risk=f"{move.risk} It carries {slower}")
    stored_gib = file_system.total_bytes / GIB
    return Flagged(
        summary=f"{stored_gib:,.1f} GiB in at least three zones, but the only mount target is in {zone}",
        confidence="low",
        evidence=(
            Evidence("Zone of its only mount target", zone, ""),
            efs.gib("Stored", file_system.total_bytes, digits=3),
            Evidence("Time of a write", regional.write_ms, "ms"),
            Evidence("Time of a write to One Zone", one_zone.write_ms, "ms"),
        ),
        advice=(move,),
        fingerprint_inputs=(zone, size_class(file_system.total_bytes)),
        caveats=(
            "One mount target can serve clients in other zones. Ask where they are.",
            efs.one_way_caveat("efs-single-zone-use"),
        ),
    )


CACHE = examples.efs(id="fs-0c3d4e5f607182930", availability_zone=None, stored_bytes={"Standard": 400 * GIB})
ONLY = EfsMountTarget(
    id="fsmt-0", file_system_id=CACHE.id, availability_zone="ap-northeast-1c", subnet_id="subnet-0", state="available"
)
NO_ZONE = replace(ONLY, availability_zone=None)
SECOND = replace(ONLY, id="fsmt-1", availability_zone="ap-northeast-1a")

mounted = Cases(CACHE, records=(ONLY,))

DETECTOR = Detector(
    title="Regional EFS file system that is mounted in one zone",
    kind="waste",
    resource=EfsFileSystem,
    limits=SingleZoneUseLimits,
    reads=(EfsReplication, EfsMountTarget),
    judge=judge,
    cases=(
        mounted("its only mount target is in one zone", Flagged, "the only mount target is in ap-northeast-1c"),
        mounted("a mount target in each of three zones", Fine, "mount targets: 3", mount_targets=3, records=()),
        mounted("One Zone", Fine, "it is One Zone", availability_zone="ap-northeast-1c", records=()),
        mounted("no mount target", Fine, "mount targets: 0", mount_targets=0, records=()),
        mounted("another mount target was made since", Fine, "mount targets: 2", records=(ONLY, SECOND)),
        mounted("its mount target is being made", Fine, "creating", records=(replace(ONLY, state="creating"),)),
        mounted("its mount target is gone", Unknown, "was deleted", records=()),
        mounted("in a zone that EFS does not name", Unknown, "did not return the zone", records=(NO_ZONE,)),
        mounted("four days old", Fine, "younger than 7 days", created_at=days_ago(4)),
        *examples.exempt_efs(mounted),
        mounted("targets could not be read", Unknown, "denied", records=(), unreadable={EfsMountTarget: "denied"}),
    ),
)
