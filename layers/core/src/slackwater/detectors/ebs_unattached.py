"""EBS volumes that no instance has had for a week.

## What it finds
A volume in state `available` that came off its instance at least a week ago, or was never on one. When it came off is
taken from CloudTrail's `DetachVolume` events, read once for the whole region, and checked against the last day on which the
volume published `VolumeIdleTime`, which it does only while it is attached: a volume can leave its instance without an event
of its own, when the instance is terminated. The later of the two counts.

## Why it matters
A volume is billed for its size, its provisioned IOPS and its throughput whether or not anything can reach it.

## When it is wrong
A volume may wait on purpose: for a monthly restore test, as somebody's backup, between two lives of a Kubernetes claim. Tag
it `keep`. Where neither CloudTrail nor CloudWatch can say since when, only the age of the volume is known and the finding
says so: never delete on that alone.

## What to do
Ask the owner; take a snapshot, wait until it is complete, delete the volume. What Kubernetes or CloudFormation made, delete
there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric
from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change
from slackwater.model.ownership import managed_by
from slackwater.model.resources import Attachment, Detachment, Target, Volume
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Verdict
from slackwater.performance import ebs

IDLE_TIME = Metric("AWS/EBS", "VolumeIdleTime", "Sum", "seconds")

WATCHED_DAYS: Final = 90
"""As far back as CloudTrail's event history goes (AWS CloudTrail User Guide, "Working with CloudTrail event history")."""


class UnattachedLimits(Limits):
    """When a loose volume counts as forgotten."""

    unattached_days: int = limit(7, unit="days", ge=1, le=90, why="a volume may be on its way to another instance")


def judge(volume: Volume, seen: Seen, limits: UnattachedLimits) -> Verdict:
    """Flag an available volume that has been loose for long enough."""
    if volume.state != "available":
        return Fine(f"it is {volume.state}")
    if seen.age(volume.created_at) < timedelta(days=limits.unattached_days):
        return Fine(f"it was made less than {limits.unattached_days} days ago")

    detached = seen.fleet.get(Detachment, volume.id)
    if detached and seen.age(detached.at) < timedelta(days=limits.unattached_days):
        return Fine(f"detached less than {limits.unattached_days} days ago")

    last_use = IDLE_TIME.need(("VolumeId", volume.id), period_s=DAY_S, days=WATCHED_DAYS)
    if lacking := seen.lacking([last_use]):
        return Ask(lacking)
    days_with_points = [time for time, value in seen[last_use].points() if value is not None]
    attached_until = min(seen.now, days_with_points[-1] + timedelta(days=1)) if days_with_points else None
    # A volume that was attached again, and whose instance was then terminated, has an old DetachVolume and newer points.
    if detached and (attached_until is None or attached_until <= detached.at + timedelta(days=1)):
        from_instance = f" from {detached.instance_id}" if detached.instance_id else ""
        how = f"detached{from_instance} ({detached.event_name}, CloudTrail)"
        return _since(volume, seen, limits, detached.at, "high", how)
    if attached_until:
        how = "detached on the day it last published VolumeIdleTime"
        return _since(volume, seen, limits, attached_until, "medium", how)
    window_start = seen[last_use].start
    unseen_since = max(volume.created_at, window_start)
    if Detachment in seen.fleet.unreadable:
        return _since(volume, seen, limits, unseen_since, "low", "published nothing; CloudTrail could not be read")
    never = volume.created_at >= window_start
    how = "never attached" if never else f"not attached in the last {WATCHED_DAYS} days"
    return _since(volume, seen, limits, unseen_since, "medium", how)


def _since(volume: Volume, seen: Seen, limits: UnattachedLimits, since: datetime, confidence: Confidence, how: str) -> Verdict:
    loose = seen.age(since)
    if loose < timedelta(days=limits.unattached_days):
        return Fine(f"loose for less than {limits.unattached_days} days: {how}")
    owner = managed_by(volume.tags)
    caveats = []
    if owner:
        caveats.append(f"It is managed by {owner}: delete it there, never behind its back.")
    if confidence == "low":
        caveats.append("Since when it is loose is not known: only that it is loose now. Never delete on that alone.")
    return Flagged(
        summary=f"{volume.size_gib:,} GiB {volume.volume_type} on no instance for {loose.days} days: {how}",
        confidence=confidence,
        evidence=(
            Evidence(label="On no instance for", value=loose.days, unit="days"),
            Evidence(label="How that is known", value=how, unit="words"),
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
            Evidence(label="Created", value=f"{volume.created_at:%Y-%m-%d}", unit="date"),
        ),
        advice=_advice(volume, may_delete=confidence != "low" and not owner),
        gist=(volume.volume_type, volume.size_gib, owner or ""),
        caveats=tuple(caveats),
    )


def _advice(volume: Volume, *, may_delete: bool) -> tuple[Advice, ...]:
    """What to do; the command ends with the snapshot where a person must look first."""
    region = f"--region {volume.target.region}"
    snapshot = f"aws ec2 create-snapshot {region} --volume-id {volume.id}"
    command = (
        f"id=$({snapshot} --query SnapshotId --output text)"
        f' && aws ec2 wait snapshot-completed {region} --snapshot-ids "$id"'
        f" && aws ec2 delete-volume {region} --volume-id {volume.id}"
        if may_delete
        else snapshot
    )
    freed = ebs.monthly_units(volume)
    return (
        Advice(
            action="snapshot-and-delete",
            summary="Take a snapshot, wait until it is completed, delete the volume; let the snapshot go in its time.",
            changes=freed,
            risk="As long as it is kept the snapshot is billed for the blocks in use; a volume made from it has a new id.",
            reversible=True,
            command=command,
        ),
        Advice(
            action="keep-as-snapshot",
            summary="The same, but keep the snapshot for good (priced as if every block were in use).",
            changes=(*freed, Change(EBS_SNAPSHOT_STORAGE, Decimal(-volume.size_gib))),
            risk="A restored volume reads slowly until its blocks are fetched.",
            reversible=True,
            command=command,
        ),
    )


_LOOSE = Volume(
    id="vol-0123456789abcdef0",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0123456789abcdef0",
    target=Target("123456789012", "us-east-1"),
    tags={"Name": "old-database"},
    volume_type="gp3",
    size_gib=500,
    iops=3000,
    throughput_mib_s=125,
    state="available",
    created_at=CASE_NOW - timedelta(days=400),
    availability_zone="us-east-1a",
    multi_attach=False,
)
_ATTACHMENT = Attachment(instance_id="i-0aaaaaaaaaaaaaaaa", device="/dev/sdf", attached_at=None)


def _detached(days: float, event: str = "DetachVolume") -> tuple[Detachment, ...]:
    at = CASE_NOW - timedelta(days=days)
    return (Detachment(id=_LOOSE.id, at=at, instance_id=_ATTACHMENT.instance_id, event_name=event),)


def _idle_until(days_ago: int) -> dict[tuple[Metric, int], list[float | None]]:
    return {(IDLE_TIME, DAY_S): [86_000.0] * 60 + [None] * days_ago}


DETECTOR = Detector(
    title="EBS volume on no instance",
    kind="waste",
    resource=Volume,
    limits=UnattachedLimits,
    reads_if_allowed=(Detachment,),
    judge=judge,
    cases=(
        Case(
            title="detached three weeks ago",
            resource=_LOOSE,
            records=_detached(21),
            expect=Flagged,
            says="for 21 days: detached from i-0aaaaaaaaaaaaaaaa",
        ),
        Case(
            title="its instance was terminated",
            resource=_LOOSE,
            records=_detached(40, "TerminateInstances"),
            expect=Flagged,
            says="TerminateInstances",
        ),
        Case(
            title="detached, attached again, and then its instance was terminated three days ago",
            resource=_LOOSE,
            records=_detached(60),
            metrics=_idle_until(3),
            expect=Fine,
            says="less than 7 days",
        ),
        Case(title="detached two days ago", resource=_LOOSE, records=_detached(2), expect=Fine, says="less than 7 days"),
        Case(
            title="no event; it last published a month ago",
            resource=_LOOSE,
            metrics=_idle_until(30),
            expect=Flagged,
            says="last published",
        ),
        Case(
            title="no event, because its instance was terminated; it published until three days ago",
            resource=_LOOSE,
            metrics=_idle_until(3),
            expect=Fine,
            says="less than 7 days",
        ),
        Case(title="neither event nor point in 90 days", resource=_LOOSE, expect=Flagged, says="in the last 90 days"),
        Case(
            title="made 20 days ago, never attached",
            resource=replace(_LOOSE, created_at=CASE_NOW - timedelta(days=20)),
            expect=Flagged,
            says="never attached",
        ),
        Case(
            title="CloudTrail denied, and no point",
            resource=_LOOSE,
            unreadable={Detachment: "AccessDenied"},
            expect=Flagged,
            says="CloudTrail could not be read",
        ),
        Case(
            title="made yesterday",
            resource=replace(_LOOSE, created_at=CASE_NOW - timedelta(days=1)),
            expect=Fine,
            says="made less than",
        ),
        Case(
            title="attached",
            resource=replace(_LOOSE, state="in-use", attachments=(_ATTACHMENT,)),
            expect=Fine,
            says="in-use",
        ),
    ),
)
