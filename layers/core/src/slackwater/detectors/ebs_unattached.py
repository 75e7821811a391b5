"""EBS volumes that no instance has had for a week.

## What it finds
A volume in state `available` that has been on no instance for at least a week. Since when is taken from CloudTrail's last
`DetachVolume` or `AttachVolume` of it, read once for the whole region, and from the last day on which it published
`VolumeIdleTime`, which it does only on a running instance. The later of the two counts: a volume can leave its instance
without an event of its own, when the instance is terminated.

## Why it matters
A volume is billed for its size, its provisioned IOPS and its throughput whether or not anything can reach it.

## When it is wrong
A volume may wait on purpose: for a monthly restore test, as somebody's backup, between two lives of a Kubernetes claim. Tag
it `keep`. Where neither CloudTrail nor CloudWatch can say since when (more than 90 days ago, never attached, or attached only
to an instance that did not run), only that it is loose now is known: the confidence is low, and no command deletes it. The
same holds below `deletable_days`, and for what another program manages.

## What to do
Ask the owner; take a snapshot, wait until it is complete, delete the volume. What Kubernetes or CloudFormation made, delete
there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change
from slackwater.model.ownership import managed_by
from slackwater.model.resources import Attachment, AttachmentEvent, Target, Volume
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Verdict
from slackwater.performance import ebs

IDLE_TIME = Metric("AWS/EBS", "VolumeIdleTime", "Sum", "seconds")

WATCHED_DAYS: Final = 90
"""As far back as CloudTrail's event history goes (AWS CloudTrail User Guide, "Working with CloudTrail event history")."""


class UnattachedLimits(Limits):
    """When a loose volume counts as forgotten."""

    unattached_days: int = limit(7, unit="days", ge=1, le=90, why="a volume may be on its way to another instance")
    deletable_days: int = limit(32, unit="days", ge=7, why="AWS Compute Optimizer calls a volume unattached after 32 days")


def judge(volume: Volume, seen: Seen, limits: UnattachedLimits) -> Verdict:
    """Flag an available volume that has been loose for long enough."""
    if volume.state != "available":
        return Fine(f"it is {volume.state}")
    if seen.age(volume.created_at) < timedelta(days=limits.unattached_days):
        return Fine(f"it was made less than {limits.unattached_days} days ago")

    event = seen.fleet.get(AttachmentEvent, volume.id)
    if event and seen.age(event.at) < timedelta(days=limits.unattached_days):
        return Fine(f"{event.event_name} less than {limits.unattached_days} days ago")

    last_use = IDLE_TIME.need(("VolumeId", volume.id), period_s=DAY_S, days=WATCHED_DAYS)
    if lacking := seen.lacking([last_use]):
        return Ask(lacking)
    return _witnessed(volume, seen, limits, event, seen[last_use])


def _witnessed(
    volume: Volume, seen: Seen, limits: UnattachedLimits, event: AttachmentEvent | None, idle_time: Series
) -> Verdict:
    """Since when it is loose: the later of CloudTrail's last event and the last day that it published a metric."""
    days_with_points = [time for time, value in idle_time.points() if value is not None]
    published_until = min(seen.now, days_with_points[-1] + timedelta(days=1)) if days_with_points else None
    if (
        event
        and event.event_name == "DetachVolume"
        and (not published_until or published_until <= event.at + timedelta(days=1))
    ):
        source = f" from {event.instance_id}" if event.instance_id else ""
        read_to_the_end = AttachmentEvent not in seen.fleet.unreadable
        confidence: Confidence = "high" if read_to_the_end else "medium"
        return _since(volume, seen, limits, event.at, confidence, f"detached{source} (DetachVolume, CloudTrail)")
    if published_until and (not event or event.at < published_until):
        return _since(volume, seen, limits, published_until, "medium", "detached on the day it last published VolumeIdleTime")
    since = max(volume.created_at, idle_time.start, event.at if event else volume.created_at)
    if event:
        return _since(volume, seen, limits, since, "low", f"attached to {event.instance_id} then, and gone from it since")
    denied = AttachmentEvent in seen.fleet.unreadable
    trail = "CloudTrail could not be read" if denied else "no event in CloudTrail"
    return _since(volume, seen, limits, since, "low", f"no sign of an instance since ({trail}, no metric)")


def _since(volume: Volume, seen: Seen, limits: UnattachedLimits, since: datetime, confidence: Confidence, how: str) -> Verdict:
    loose = seen.age(since)
    if loose < timedelta(days=limits.unattached_days):
        return Fine(f"loose for less than {limits.unattached_days} days: {how}")
    owner = managed_by(volume.tags)
    caveats = []
    if owner:
        caveats.append(f"It is managed by {owner}: delete it there, never behind its back.")
    if volume.tags is None:
        caveats.append("Its tags could not be read: it may be protected.")
    if confidence == "low":
        caveats.append("Since when it is loose is not known: only that it is loose now. Never delete on that alone.")
    may_delete = (
        confidence != "low" and loose >= timedelta(days=limits.deletable_days) and not owner and volume.tags is not None
    )
    known = confidence != "low"
    age = f"for {loose.days} days" if known else f"now, since when is not known (made {volume.created_at:%Y-%m-%d})"
    return Flagged(
        summary=f"{_size(volume)} on no instance {age}: {how}",
        severity=None if known else "low",
        confidence=confidence,
        evidence=(
            Evidence(label="On no instance for", value=loose.days if known else "not known", unit="days" if known else "words"),
            Evidence(label="How that is known", value=how, unit="words"),
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
            Evidence(label="Created", value=f"{volume.created_at:%Y-%m-%d}", unit="date"),
        ),
        advice=_advice(volume, may_delete=may_delete),
        # A volume that was in use in between is another case; without a witness its start moves with the window.
        gist=(volume.volume_type, volume.size_gib, owner or "", "" if confidence == "low" else f"{since:%Y-%m-%d}"),
        caveats=tuple(caveats),
    )


def _size(volume: Volume) -> str:
    """`500 GiB gp3 with 4,000 IOPS and 250 MiB/s`: what it is billed for."""
    extras = [f"{unit.quantity:,} {unit.item.unit.removesuffix('-month')}" for unit in ebs.monthly_units(volume)[1:]]
    paid = f" with {' and '.join(extras)} paid for" if extras else ""
    return f"{volume.size_gib:,} GiB {volume.volume_type}{paid}"


def _advice(volume: Volume, *, may_delete: bool) -> tuple[Advice, ...]:
    """What to do; without `may_delete` the command ends with the snapshot, because a person must look first."""
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
            summary="Ask the owner; take a snapshot, wait until it is completed, delete the volume.",
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


def _event(days: float, name: Literal["AttachVolume", "DetachVolume"] = "DetachVolume") -> tuple[AttachmentEvent, ...]:
    at = CASE_NOW - timedelta(days=days)
    return (AttachmentEvent(id=_LOOSE.id, at=at, instance_id=_ATTACHMENT.instance_id, event_name=name),)


def _idle_until(days_ago: int) -> dict[tuple[Metric, int], list[float | None]]:
    return {(IDLE_TIME, DAY_S): [86_000.0] * 60 + [None] * days_ago}


DETECTOR = Detector(
    title="EBS volume on no instance",
    kind="waste",
    resource=Volume,
    limits=UnattachedLimits,
    reads_if_allowed=(AttachmentEvent,),
    judge=judge,
    outranks=("ebs-surplus-throughput",),
    cases=(
        Case(
            title="detached three weeks ago",
            resource=_LOOSE,
            records=_event(21),
            expect=Flagged,
            says="for 21 days: detached from i-0aaaaaaaaaaaaaaaa",
        ),
        Case(
            title="attached by hand, and its instance was terminated: it published until a month ago",
            resource=_LOOSE,
            records=_event(50, "AttachVolume"),
            metrics=_idle_until(30),
            expect=Flagged,
            says="last published",
        ),
        Case(
            title="attached by hand to an instance that never ran, and gone from it",
            resource=_LOOSE,
            records=_event(40, "AttachVolume"),
            expect=Flagged,
            says="attached to i-0aaaaaaaaaaaaaaaa then",
        ),
        Case(
            title="detached, attached again, and then its instance was terminated three days ago",
            resource=_LOOSE,
            records=_event(60),
            metrics=_idle_until(3),
            expect=Fine,
            says="less than 7 days",
        ),
        Case(
            title="detached two days ago", resource=_LOOSE, records=_event(2), expect=Fine, says="DetachVolume less than 7 days"
        ),
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
        Case(title="neither event nor point in 90 days", resource=_LOOSE, expect=Flagged, says="no sign of an instance"),
        Case(
            title="made 20 days ago, and no sign of an instance",
            resource=replace(_LOOSE, created_at=CASE_NOW - timedelta(days=20)),
            expect=Flagged,
            says="no sign of an instance",
        ),
        Case(
            title="CloudTrail denied, and no point",
            resource=_LOOSE,
            unreadable={AttachmentEvent: "AccessDenied"},
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
