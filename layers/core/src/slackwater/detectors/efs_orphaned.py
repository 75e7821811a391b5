"""EFS file systems that nothing can mount.

## What it finds
A file system that is at least a week old, has no mount target, and had no client for a week. A file system in a
replication is not judged: a replica has no mount target until it is needed.

Slackwater deletes it only if CloudWatch recorded `StorageBytes` for the last 36 days (or its whole life if that is
shorter) and no byte moved in that time.

## Why it matters
Without a mount target no instance, container or function can reach the data, and AWS bills it as before. If a program
deletes its job's mount target and then stops, the file system is left behind ("Can Amazon EFS replace EBS?",
2025-02-19). `efs-abandoned` and `efs-idle` are then suppressed.

## When it is wrong
- EFS does not report when the last mount target was deleted. A file system that moves to another VPC has none then.
- AWS Backup and AWS Transfer Family need no mount target. Bytes that moved are theirs, or those of an earlier client.
- Someone may keep the data on purpose. Tag it `keep`. For these reasons the confidence is medium.

An empty file system costs nothing: it is counted, not listed.

## What to do
Ask the owner. Then back up and delete the file system, or move its data to a colder storage class.
"""

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Series
from slackwater.model.money import size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import EfsFileSystem, EfsReplication
from slackwater.model.units import DAY_S, GIB, KIB, MIB
from slackwater.model.verdicts import Fine, Flagged, Verdict
from slackwater.rules import efs, examples
from slackwater.rules.advice import caveats, protection
from slackwater.rules.examples import Cases, days, days_ago

CLIENTS, METERED, STORED, SAMPLES = OPTIONAL = tuple(
    metric.optionally() for metric in (efs.CLIENTS, efs.METERED, efs.STORED, efs.SAMPLES)
)


class OrphanedLimits(Limits):
    """When a file system without a mount target counts."""

    minimum_age_days: int = limit(7, unit="days", ge=1, why="a file system is created before its mount targets")
    quiet_days: int = limit(7, unit="days", ge=1, le=450, why="one that moves to another VPC had clients before")
    look_back_days: int = limit(36, unit="days", ge=7, le=450, why="a monthly service can pause for 35 days")


def judge(file_system: EfsFileSystem, seen: Seen, limits: OrphanedLimits) -> Verdict:
    """Flag a file system without a mount target and without a recent client."""
    if file_system.mount_targets:
        return Fine(f"its mount targets: {file_system.mount_targets}")
    unless_decided(efs.exempt(file_system, seen, limits.minimum_age_days))
    window = max(limits.look_back_days, limits.quiet_days)
    needs = efs.daily(file_system, window, *OPTIONAL)
    clients, metered, stored, samples = seen.read(*needs)
    newest = clients.since(seen.now.timestamp() - limits.quiet_days * DAY_S)
    if minutes := sum(newest.present):
        connected = f"{minutes:,.0f} minutes in {limits.quiet_days} days"
        return Fine(f"clients were connected for {connected}, so it had a mount target")
    unread = "CloudWatch did not return all of its metrics" if seen.could_not_read(*needs) else None
    unsure = _unsure(metered, efs.recorded(file_system, seen, stored, samples)) or unread
    moving = (
        "EFS does not report when the last mount target was deleted. The file system may be moving to another VPC, or"
        " AWS Transfer Family may use it."
    )
    return Flagged(
        summary=f"{efs.describe(file_system)} that nothing can mount: it has no mount target",
        confidence="medium",
        evidence=(*efs.facts(file_system), efs.sum_of("Metered I/O per day", metered, "bytes")),
        advice=efs.removal(file_system, sure=not unsure),
        fingerprint_inputs=(size_class(file_system.total_bytes),),
        caveats=(moving, *caveats((f"{unsure}. Slackwater does not delete it.", unsure)), *protection(file_system)),
    )


def _unsure(metered: Series, recorded: Series) -> str | None:
    """Return why a service that needs no mount target may use it; None if there is no sign of that."""
    if moved := sum(metered.present):
        return f"{size_words(moved)} of I/O were metered in {len(metered)} days, by AWS Backup or another service"
    if recorded.missing or not len(recorded):
        return f"CloudWatch was not recording: StorageBytes lacks points on {recorded.missing} of {len(recorded)} days"
    return None


UNUSED = examples.efs(availability_zone=None, stored_bytes={"Standard": 48 * GIB}, mount_targets=0)
orphan = Cases(UNUSED, {STORED: 48.0 * GIB, SAMPLES: 96.0, CLIENTS: 0.0, METERED: 0.0})
bare = Cases(UNUSED)
THIS_WEEK = {CLIENTS: days(0.0, {3: 90.0}), METERED: days(0.0, {3: 90.0 * MIB})}
A_LOST_DAY, IN_PART = {STORED: days(48.0 * GIB, {30: None})}, {SAMPLES: days(96.0, {9: 80.0})}
MONTHLY = {METERED: days(0.0, {35: 90.0 * MIB})}

DETECTOR = Detector(
    title="EFS file system that nothing can mount",
    kind="waste",
    resource=EfsFileSystem,
    limits=OrphanedLimits,
    reads=(EfsReplication,),
    judge=judge,
    outranks=("efs-abandoned", "efs-idle", *efs.SAVERS),
    cases=(
        orphan("no mount target", Flagged, "48.0 GiB (Regional) that nothing can mount"),
        orphan("CloudWatch was recording, and published no zeros", Flagged, metrics={CLIENTS: None, METERED: None}),
        bare("no metric at all: nothing deletes it", Flagged),
        orphan("a day that CloudWatch did not record: nothing deletes it", Flagged, metrics=A_LOST_DAY),
        orphan("a day recorded in part: nothing deletes it", Flagged, "nothing can mount", metrics=IN_PART),
        orphan("AWS Transfer Family comes once a month: nothing deletes it", Flagged, metrics=MONTHLY),
        orphan("it lost its mount target this week", Fine, "clients were connected for 90 minutes", metrics=THIS_WEEK),
        orphan("its mount target was deleted this morning", Fine, metrics={CLIENTS: days(0.0, {0: 1.0})}),
        bare("no mount target, and no file", Flagged, "No file", stored_bytes={"Standard": 6 * KIB}),
        bare("eight days old", Flagged, created_at=days_ago(8)),
        bare("one mount target", Fine, "its mount targets: 1", mount_targets=1),
        bare("six days old", Fine, "younger than 7 days", created_at=days_ago(6)),
        *examples.exempt_efs(bare),
    ),
)
