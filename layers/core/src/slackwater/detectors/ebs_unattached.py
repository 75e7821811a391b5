"""EBS volumes that no instance has had for a week.

## What it finds
A volume in state `available` that has been on no instance for at least a week. The date is that of CloudTrail's last
`DetachVolume` or `AttachVolume`, or the last day of the volume's metric `VolumeIdleTime`, which EBS publishes only on a
running instance. The later one counts. If someone attaches a volume again and again, as for a weekly copy, it is
flagged only once it has been detached clearly longer than ever in the last 90 days.

## Why it matters
AWS bills the size, the provisioned IOPS and the throughput of a volume whether or not an instance has it.

## When it is wrong
- A volume may wait on purpose: for a restore test, as a backup, or for its Kubernetes claim. Tag it `keep`.
- If neither source has the volume, the time is unknown and the confidence is low.
- If only CloudWatch has it, a stopped instance may have had it until yesterday. The confidence is medium.

## What to do
Ask the owner. Take a snapshot, wait until it is complete, and delete the volume. Slackwater deletes it only if
CloudTrail has a `DetachVolume` of `deletable_days` to 90 days ago, no program manages it, and it was not in rotation.
"""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Attachment, AttachmentEvent, Volume
from slackwater.model.units import HOUR_S
from slackwater.model.verdicts import Confidence, Evidence, Fine, Flagged, Verdict
from slackwater.rules import advice, ebs, examples
from slackwater.rules.examples import Cases, Metrics, days_ago

IDLE_TIME = Metric("AWS/EBS", "VolumeIdleTime", "Sum", "seconds")

WATCHED_DAYS: Final = 90
"""CloudTrail's event history covers 90 days (AWS CloudTrail User Guide, "Working with CloudTrail event history")."""

STEPS: Final = "Ask the owner. Take a snapshot, wait until it is complete, and delete the volume."


class UnattachedLimits(Limits):
    """When an unattached volume counts as forgotten."""

    unattached_days: int = limit(7, unit="days", ge=1, le=90, why="a volume may be on its way to another instance")
    deletable_days: int = limit(32, unit="days", ge=7, why="as Compute Optimizer; with 90 or more, never deletes")
    rotation_days: int = limit(14, unit="days", ge=1, le=90, why="a volume attached for weeks is in no rotation")
    pause_percent: float = limit(150, unit="percent", ge=100, le=1_000, why="first Mondays are 28 or 35 days apart")


class Left(NamedTuple):
    """When a volume left its last instance, and how Slackwater knows that.

    With low confidence, `at` is the oldest possible time and `source` is None. A metric shows only running instances.
    """

    at: datetime
    confidence: Confidence
    how: str
    instance_id: str | None = None
    source: Literal["event", "metric"] | None = None


def judge(volume: Volume, seen: Seen, limits: UnattachedLimits) -> Verdict:
    """Flag an available volume that has been unattached for long enough."""
    minimum_age = timedelta(days=limits.unattached_days)
    if volume.state != "available":
        return Fine(f"it is {volume.state}")
    if seen.age(volume.created_at) < minimum_age:
        return Fine(f"it was created less than {limits.unattached_days} days ago")
    event = seen.fleet.get(AttachmentEvent, volume.id)
    if event and seen.age(event.at) < minimum_age:
        return Fine(f"{event.event_name} less than {limits.unattached_days} days ago")

    (idle_time,) = seen.read(*ebs.daily(volume, WATCHED_DAYS, IDLE_TIME))
    attached_days = [time for time, value in idle_time.points() if value is not None]
    left = _left(volume, seen, event, idle_time, attached_days)
    if seen.age(left.at) < minimum_age:
        return Fine(f"unattached for less than {limits.unattached_days} days: {left.how}")
    pause_days = _longest_pause_days(attached_days, limits)
    if pause_days and seen.age(left.at) < _longest_wait(pause_days, limits):
        return Fine(f"it is attached again and again, with pauses of up to {pause_days} days")

    days, known, by_event = seen.age(left.at).days, left.confidence != "low", left.source == "event"
    may_delete = by_event and days >= limits.deletable_days and not advice.is_protected(volume) and not pause_days
    unknown = f"for an unknown time (created {volume.created_at:%Y-%m-%d})"
    since = f"for {days} days" if by_event else "now" if known else unknown
    unknown_date = "The detach date is unknown. Do not delete the volume for this reason alone."
    stopped = "It may have been on a stopped instance until later, even yesterday. No event shows when it left."
    again = f"It was attached again and again before, with pauses of up to {pause_days} days. Is that over?"
    caveats = advice.caveats((unknown_date, not known), (stopped, left.source == "metric"), (again, pause_days))
    chart = []
    if attached_days:  # from the first known day
        hours = idle_time.since(attached_days[0].timestamp()).over(HOUR_S)
        chart = [Evidence("Idle on a running instance, per day", round(hours.present[-1], 1), "hours", hours)]
    left_on = f"{left.at:%Y-%m-%d}" if known else ""
    running = "running " if left.source == "metric" else ""
    return Flagged(
        summary=f"{ebs.billed_words(volume)} on no instance {since}: {left.how}",
        severity=None if known else "low",
        confidence=left.confidence,
        evidence=(
            Evidence(f"On no {running}instance for", *((days, "days") if known else ("unknown", "words"))),
            Evidence("Source", left.how, "words"),
            Evidence("Last instance", left.instance_id or "unknown", "words"),
            Evidence("Size", volume.size_gib, "GiB"),
            Evidence("Created", f"{volume.created_at:%Y-%m-%d}", "date"),
            *chart,
        ),
        advice=(ebs.snapshot_and_delete(volume, STEPS, may_delete=may_delete), ebs.keep_as_snapshot(volume)),
        # If it was used in between, that is another finding. An unknown time moves with the window, so it is left out.
        fingerprint_inputs=(volume.volume_type, volume.size_gib, volume.managed_by or "", left_on),
        caveats=(*advice.protection(volume), *caveats),
    )


def _left(volume: Volume, seen: Seen, event: AttachmentEvent | None, idle: Series, on_days: list[datetime]) -> Left:
    """Return when it left its last instance: the later of CloudTrail's last event and the last day with a point."""
    day, unreadable = timedelta(days=1), AttachmentEvent in seen.fleet.unreadable
    until = min(seen.now, on_days[-1] + day) if on_days else None
    detached = event is not None and event.event_name == "DetachVolume"
    if event and detached and (not until or until <= event.at + day):
        source = f" from {event.instance_id}" if event.instance_id else ""
        how = f"detached{source} (DetachVolume, CloudTrail)"
        return Left(event.at, "medium" if unreadable else "high", how, event.instance_id, "event")
    if until and (not event or event.at < until):
        attached_to = event.instance_id if event and not detached else None
        last = f" (last attached to {attached_to})" if attached_to else ""
        how = f"on no running instance since {until:%Y-%m-%d}, when its VolumeIdleTime ended{last}"
        return Left(until, "medium", how, attached_to, "metric")
    oldest = max(volume.created_at, idle.start)
    if event:
        attached = f"attached to {event.instance_id or 'an instance'} on {event.at:%Y-%m-%d}"
        return Left(max(oldest, event.at), "low", f"{attached}, and detached at an unknown time", event.instance_id)
    trail = "CloudTrail could not be read" if unreadable else "no event in CloudTrail"
    return Left(oldest, "low", f"no sign of an instance ({trail}, no metric)")


def _longest_pause_days(attached_days: list[datetime], limits: UnattachedLimits) -> int | None:
    """Return the most days between two short attachments; None if it was attached only once, or for weeks."""
    steps = [(after - before).days for before, after in pairwise(attached_days)]
    ends = [place for place, step in enumerate(steps, start=1) if step > 1]
    attached = [end - start for start, end in pairwise([0, *ends, len(attached_days)])]
    return max(steps) if ends and max(attached) <= limits.rotation_days else None


def _longest_wait(pause_days: int, limits: UnattachedLimits) -> timedelta:
    """Return how long this pause may be. A skipped attachment, or one on a later date, does not end a rotation."""
    longest = pause_days + 1  # counted in days with a point, so it may be nearly a day longer
    return timedelta(days=max(longest * limits.pause_percent / 100, longest + limits.unattached_days))


OLD = examples.volume(id="vol-0123456789abcdef0", tags={"Name": "old-database"}, created_at=days_ago(400))
LAST = Attachment(instance_id="i-0aaaaaaaaaaaaaaaa", device="/dev/sdf", attached_at=None)


def event(days: float, name: Literal["AttachVolume", "DetachVolume"] = "DetachVolume") -> tuple[AttachmentEvent, ...]:
    """Return CloudTrail's last event."""
    return (AttachmentEvent(id=OLD.id, at=days_ago(days), instance_id=LAST.instance_id, event_name=name),)


def attached(*spans: tuple[int, int]) -> Metrics:
    """Return spans until today: days on a running instance, then days not on one, and so on."""
    return {IDLE_TIME: [value for on, off in spans for value in [86_000.0] * on + [None] * off]}


HOLIDAY, ONCE_MORE = attached(*[(2, 5)] * 8, (2, 12)), attached((30, 30), (1, 15))
MONTH_AGO, THREE_DAYS_AGO, CALENDAR = attached((60, 30)), attached((60, 3)), attached((1, 27), (1, 35))
WEEKLY, BY_HAND = attached((1, 6), (1, 6), (1, 60)), event(50, "AttachVolume")

old = Cases(OLD)

DETECTOR = Detector(
    title="EBS volume on no instance",
    kind="waste",
    resource=Volume,
    limits=UnattachedLimits,
    reads_if_allowed=(AttachmentEvent,),
    judge=judge,
    outranks=("ebs-idle", "ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
    cases=(
        old("detached three weeks ago", Flagged, "for 21 days: detached from i-0aaaaaaaaaaaaaaaa", records=event(21)),
        old("attached, and its instance was terminated", Flagged, "on no running", records=BY_HAND, metrics=MONTH_AGO),
        old("attached to an instance that never ran", Flagged, "aaaa on 2026-10-07", records=event(40, "AttachVolume")),
        old("attached again, and terminated three days ago", Fine, "7 days", records=event(60), metrics=THREE_DAYS_AGO),
        old("detached two days ago", Fine, "DetachVolume less than 7 days", records=event(2)),
        old("no event; it last published a month ago", Flagged, "on no running instance since", metrics=MONTH_AGO),
        old("its instance was stopped two months ago", Flagged, "now: on no running", metrics=attached((30, 60))),
        old("no event; it last published three days ago", Fine, "less than 7 days", metrics=THREE_DAYS_AGO),
        old("attached every month; last five weeks ago", Fine, "up to 28 days", records=event(34.5), metrics=CALENDAR),
        old("attached every week, except on a holiday", Fine, "again and again", records=event(11.5), metrics=HOLIDAY),
        old("attached every week, until two months ago", Flagged, "for 59 days", records=event(59.5), metrics=WEEKLY),
        old("attached for weeks, and once more for a day", Flagged, "14 days", records=event(14.5), metrics=ONCE_MORE),
        old("neither event nor point in 90 days", Flagged, "no sign of an instance"),
        old("created 20 days ago, and no sign of an instance", Flagged, "no sign", created_at=days_ago(20)),
        old("CloudTrail denied, and no data", Flagged, "could not be read", unreadable={AttachmentEvent: "denied"}),
        old("created yesterday", Fine, "created less than", created_at=days_ago(1)),
        old("attached", Fine, "in-use", state="in-use", attachments=(LAST,)),
    ),
)
