"""EBS volumes that no instance has had for a week.

## What it finds
A volume in state `available` that has been on no instance for at least a week, as far as two witnesses can tell: CloudTrail's
last `DetachVolume` or `AttachVolume` of it, read once for the whole region, and the last day on which it published
`VolumeIdleTime`, which it does only on a running instance. The later of the two counts: a volume can leave its instance
without an event of its own, when the instance is terminated. `TerminateInstances` names no volumes, and is not read.

A volume that is attached again and again for hours or days, as for a weekly copy or a monthly restore test, is in use. The
same 90 days of `VolumeIdleTime` show it. It counts once this pause is clearly longer than the longest one before.

## Why it matters
A volume is billed for its size, its provisioned IOPS and its throughput whether or not anything can reach it.

## When it is wrong
A volume may wait on purpose: for a restore test that comes less often than once a month, as somebody's backup, between two
lives of a Kubernetes claim. Tag it `keep`. Where neither CloudTrail nor CloudWatch can say since when (more than 90 days ago,
never attached, or attached only to an instance that did not run), only that it is loose now is known: the confidence is low.
Where CloudWatch alone can say, its instance may have been stopped that day, and terminated long after, yesterday even: the
confidence is medium, and the finding says since when the volume was on no *running* instance. No command deletes it in either
case, nor below `deletable_days`, what another program manages, and what was in rotation before: a `DetachVolume` must be the
last that is known of it.

## What to do
Ask the owner; take a snapshot, wait until it is complete, delete the volume. What Kubernetes or CloudFormation made, delete
there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Attachment, AttachmentEvent, Target, Volume
from slackwater.model.units import DAY_S, HOUR_S
from slackwater.model.verdicts import Ask, Confidence, Evidence, Fine, Flagged, Verdict
from slackwater.rules import ebs as ebs_removal

IDLE_TIME = Metric("AWS/EBS", "VolumeIdleTime", "Sum", "seconds")

WATCHED_DAYS: Final = 90
"""As far back as CloudTrail's event history goes (AWS CloudTrail User Guide, "Working with CloudTrail event history")."""


class UnattachedLimits(Limits):
    """When a loose volume counts as forgotten."""

    unattached_days: int = limit(7, unit="days", ge=1, le=90, why="a volume may be on its way to another instance")
    deletable_days: int = limit(32, unit="days", ge=7, why="AWS Compute Optimizer calls a volume unattached after 32 days")
    rotation_days: int = limit(14, unit="days", ge=1, le=90, why="a volume attached for weeks on end is in no rotation")
    pause_percent: float = limit(
        150, unit="percent", ge=100, le=1_000, why="of the longest pause before; 28 or 35 days lie between first Mondays"
    )


@dataclass(frozen=True, slots=True)
class _Loose:
    """Since when a volume is loose, how that is known, and the last instance that had it, where that is known too.

    Only an event is a witness that it left its instance; a metric that ends says that the instance ran no more.
    """

    since: datetime
    confidence: Confidence
    how: str
    instance_id: str | None = None
    witness: Literal["event", "metric"] | None = None


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
    loose = _witnessed(volume, seen, event, seen[last_use])
    pause_days = _longest_pause_days(seen[last_use], limits)
    if seen.age(loose.since) < timedelta(days=limits.unattached_days):
        return Fine(f"loose for less than {limits.unattached_days} days: {loose.how}")
    if pause_days and seen.age(loose.since) < _patience(pause_days, limits):
        return Fine(f"it is attached again and again, with pauses of up to {pause_days} days")
    return _flag(volume, seen, limits, loose, pause_days, seen[last_use])


def _witnessed(volume: Volume, seen: Seen, event: AttachmentEvent | None, idle_time: Series) -> _Loose:
    """Since when it is loose: the later of CloudTrail's last event and the last day that it published a metric."""
    days_with_points = _published(idle_time)
    published_until = min(seen.now, days_with_points[-1] + timedelta(days=1)) if days_with_points else None
    if (
        event
        and event.event_name == "DetachVolume"
        and (not published_until or published_until <= event.at + timedelta(days=1))
    ):
        source = f" from {event.instance_id}" if event.instance_id else ""
        read_to_the_end = AttachmentEvent not in seen.fleet.unreadable
        confidence: Confidence = "high" if read_to_the_end else "medium"
        return _Loose(event.at, confidence, f"detached{source} (DetachVolume, CloudTrail)", event.instance_id, "event")
    attached_to = event.instance_id if event and event.event_name == "AttachVolume" else None
    if published_until and (not event or event.at < published_until):
        last = f" (last attached to {attached_to})" if attached_to else ""
        how = f"on no running instance since {published_until:%Y-%m-%d}, when its VolumeIdleTime ended{last}"
        return _Loose(published_until, "medium", how, attached_to, "metric")
    since = max(volume.created_at, idle_time.start, event.at if event else volume.created_at)
    if event:
        how = f"attached to {event.instance_id or 'an instance'} then, and gone from it since"
        return _Loose(since, "low", how, event.instance_id)
    denied = AttachmentEvent in seen.fleet.unreadable
    trail = "CloudTrail could not be read" if denied else "no event in CloudTrail"
    return _Loose(since, "low", f"no sign of an instance since ({trail}, no metric)")


def _published(idle_time: Series) -> list[datetime]:
    """The days with a point: those on which it was attached to a running instance."""
    return [time for time, value in idle_time.points() if value is not None]


def _longest_pause_days(idle_time: Series, limits: UnattachedLimits) -> int | None:
    """Days between two attachments at most, where all of them were short; None where it was attached once, or for weeks."""
    days = _published(idle_time)
    steps = [(after - before).days for before, after in pairwise(days)]
    ends = [place for place, step in enumerate(steps, start=1) if step > 1]
    attached = [end - start for start, end in pairwise([0, *ends, len(days)])]
    return max(steps) if ends and max(attached) <= limits.rotation_days else None


def _patience(pause_days: int, limits: UnattachedLimits) -> timedelta:
    """How long the present pause may be: one that is left out, or slides with the calendar, is no end."""
    longest = pause_days + 1  # counted in days with a point, it may have been nearly a day longer
    return timedelta(days=max(longest * limits.pause_percent / 100, longest + limits.unattached_days))


def _attached(idle_time: Series) -> tuple[Evidence, ...]:
    """The days on which it was on a running instance, and did how little; none before the first that is known."""
    days = _published(idle_time)
    if not days:
        return ()
    hours = idle_time.since(days[0].timestamp()).over(HOUR_S)
    return (
        Evidence(label="Idle on a running instance, by day", value=round(hours.present[-1], 1), unit="hours", series=hours),
    )


def _flag(
    volume: Volume, seen: Seen, limits: UnattachedLimits, loose: _Loose, pause_days: int | None, idle_time: Series
) -> Flagged:
    days, known = seen.age(loose.since).days, loose.confidence != "low"
    owner = volume.managed_by
    caveats = [*ebs_removal.protecting_caveats(volume)]
    if not known:
        caveats.append("Since when it is loose is not known: only that it is loose now. Never delete on that alone.")
    if loose.witness == "metric":
        caveats.append("It may have been on a stopped instance until later, yesterday even: no event says when it left it.")
    if pause_days:
        caveats.append(f"It was attached again and again before, with pauses of up to {pause_days} days: is that over?")
    left = loose.witness == "event" and days >= limits.deletable_days
    may_delete = left and not ebs_removal.protecting_caveats(volume) and not pause_days
    unsure = "now" if known else f"now, since when is not known (made {volume.created_at:%Y-%m-%d})"
    age = f"for {days} days" if loose.witness == "event" else unsure
    where = "On no running instance for" if loose.witness == "metric" else "On no instance for"
    return Flagged(
        summary=f"{ebs_removal.billed_words(volume)} on no instance {age}: {loose.how}",
        severity=None if known else "low",
        confidence=loose.confidence,
        evidence=(
            Evidence(label=where, value=days if known else "not known", unit="days" if known else "words"),
            Evidence(label="How that is known", value=loose.how, unit="words"),
            Evidence(label="Last instance", value=loose.instance_id or "not known", unit="words"),
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
            Evidence(label="Created", value=f"{volume.created_at:%Y-%m-%d}", unit="date"),
            *_attached(idle_time),
        ),
        advice=(
            ebs_removal.snapshot_and_delete(
                volume,
                "Ask the owner; take a snapshot, wait until it is completed, delete the volume.",
                may_delete=may_delete,
            ),
            ebs_removal.keep_as_snapshot(volume),
        ),
        # A volume that was in use in between is another case; without a witness its start moves with the window.
        gist=(volume.volume_type, volume.size_gib, owner or "", f"{loose.since:%Y-%m-%d}" if known else ""),
        caveats=tuple(caveats),
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


def _attached_for(*spans: tuple[int, int]) -> dict[tuple[Metric, int], list[float | None]]:
    """VolumeIdleTime on so many days, each time followed by so many days without."""
    days = [value for attached, loose in spans for value in [86_000.0] * attached + [None] * loose]
    return {(IDLE_TIME, DAY_S): days}


def _idle_until(days_ago: int) -> dict[tuple[Metric, int], list[float | None]]:
    return {(IDLE_TIME, DAY_S): [86_000.0] * 60 + [None] * days_ago}


DETECTOR = Detector(
    title="EBS volume on no instance",
    kind="waste",
    resource=Volume,
    limits=UnattachedLimits,
    reads_if_allowed=(AttachmentEvent,),
    judge=judge,
    outranks=("ebs-idle", "ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
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
            says="on no running instance since",
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
            says="on no running instance since",
        ),
        Case(
            title="its instance was stopped two months ago and terminated yesterday, which no event of the volume tells",
            resource=_LOOSE,
            metrics=_attached_for((30, 60)),
            expect=Flagged,
            says="on no instance now: on no running instance since 2026-09-18",
        ),
        Case(
            title="no event, because its instance was terminated; it published until three days ago",
            resource=_LOOSE,
            metrics=_idle_until(3),
            expect=Fine,
            says="less than 7 days",
        ),
        Case(
            title="attached for a day every month; the last time five weeks ago, as the calendar will have it",
            resource=_LOOSE,
            records=_event(34.5),
            metrics=_attached_for((1, 27), (1, 35)),
            expect=Fine,
            says="again and again, with pauses of up to 28 days",
        ),
        Case(
            title="attached for a night every week, and left out for a holiday",
            resource=_LOOSE,
            records=_event(11.5),
            metrics=_attached_for(*[(2, 5)] * 8, (2, 12)),
            expect=Fine,
            says="again and again",
        ),
        Case(
            title="attached for a night every week, until two months ago",
            resource=_LOOSE,
            records=_event(59.5),
            metrics=_attached_for((1, 6), (1, 6), (1, 60)),
            expect=Flagged,
            says="for 59 days",
        ),
        Case(
            title="attached for weeks, looked at once more after a month, and loose since",
            resource=_LOOSE,
            records=_event(14.5),
            metrics=_attached_for((30, 30), (1, 15)),
            expect=Flagged,
            says="for 14 days",
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
