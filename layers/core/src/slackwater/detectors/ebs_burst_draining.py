"""Volumes whose burst credits are gone again and again, or will be within a day.

## What it finds
An attached gp2, st1 or sc1 volume that lives on burst credits and has none left: its BurstBalance was gone for an hour or more
on at least three of seven days, or has been gone for nine hours and still is; or it will be gone within 24 hours. That is
projected from the same hours of the two days before, or, with low confidence, from a fall of half a day without a break.

## Why it matters
Without credits a volume falls from its burst to its baseline: a 100 GiB gp2 from 3,000 IOPS to 300, a 1 TiB st1 from 250 MiB/s
to 40. Nothing fails; everything waits.

## When it is wrong
A nightly batch that uses half of the credits and gives them time to come back is innocent, and so is one that uses all of them
once a week. A rhythm of the week is known only from eight days of points: without them a projection has little confidence. What
was moved while there were no credits is the limit, not what the work wanted: such a volume is given all that its burst has.

## What to do
Change gp2 to gp3: 3,000 IOPS for good, online, and mostly for less. For st1 and sc1 compare a gp3 as fast as their burst and a
larger or faster disk volume, whose baseline grows with its size.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, pairwise, takewhile
from math import ceil, isnan, nan
from typing import Final, Literal

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import difference, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.performance.ebs import Allowance, VolumeLimits
from slackwater.rules.ebs import ONLINE, gp3, managed_caveats, modify_command
from slackwater.rules.ebs_peaks import BYTES, Look, PeakLimits, carrier
from slackwater.rules.series import FEW, baseline_and_burst, filled

LEAST = Metric("AWS/EBS", "BurstBalance", "Minimum", "percent")
MEAN = Metric("AWS/EBS", "BurstBalance", "Average", "percent")

A_DAY: Final = 24
A_WEEK: Final = 7 * A_DAY


class BurstLimits(Limits):
    """When credits count as gone, and as draining."""

    window_days: int = limit(8, unit="days", ge=8, le=60, why="a week, and the day before it to compare with")
    empty_percent: float = limit(1, unit="percent", gt=0, le=20, why="the smallest gp2 earns that in nine minutes at rest")
    empty_minutes: int = limit(60, unit="minutes", ge=5, le=1440, why="of a day; fewer are the end of a batch")
    empty_days: int = limit(3, unit="days", ge=1, le=7, why="of seven; fewer are a weekly batch, or happened once")
    gone_hours: int = limit(9, unit="hours", ge=1, le=168, why="without a break until now; no nightly batch waits as long")
    fall_hours: int = limit(12, unit="hours", ge=6, le=168, why="without a break until now; full credits last a batch for ten")
    fall_percent: float = limit(3, unit="percent", gt=0, le=50, why="from day to day; less is noise")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")
    missing_hours: int = limit(
        24, unit="hours", ge=0, le=192, why="a day that nobody saw may have been the one without credits"
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    """Credits are gone again and again, gone now, or gone soon."""

    kind: Literal["often", "now", "soon"]
    hours: float
    """How long they were gone; or until they will be."""
    days: int = 0
    doubt: str = ""
    """Why it may not come so."""
    ahead: Sequence[float] = ()
    """Percent left by the hour, from the newest one that is known until they are gone."""


def judge(volume: Volume, seen: Seen, limits: BurstLimits) -> Verdict:
    """Flag a volume whose burst credits are gone, or soon are."""
    if volume.volume_type not in {"gp2", "st1", "sc1"}:
        return Fine(f"{volume.volume_type} has no burst credits")
    if not ebs.volume_limits(volume.volume_type, volume.size_gib).credits:
        return Fine("its baseline is as high as its burst: it needs no credits")
    instance_type = carrier(volume, seen)
    if not isinstance(instance_type, InstanceType):
        return instance_type
    attached, started = _attached_and_started(volume, seen)
    if seen.age(started) < timedelta(hours=2):
        return Fine("it has been in use for less than two hours")

    by_hour = _need(volume, LEAST, HOUR_S, limits)
    if lacking := seen.lacking([by_hour]):
        return Ask(lacking)
    least = seen[by_hour].since(attached.timestamp())
    if not least.present:
        return Unknown("BurstBalance has no point since it was attached")
    trouble = _draining(least, limits) or _falling(least, limits)
    if _may_be_gone(least, limits):
        by_five_minutes = _need(volume, MEAN, FIVE_MINUTES_S, limits)
        if lacking := seen.lacking([by_five_minutes]):
            return Ask(lacking)
        trouble = _gone(seen[by_five_minutes].since(attached.timestamp()), limits) or trouble
    if trouble:
        look = Look(volume=volume, measure=BYTES, seen=seen, limits=PeakLimits(), xen=instance_type.hypervisor == "xen")
        if lacking := seen.lacking(look.needs):
            return Ask(lacking)
        return _flag(volume, least, trouble, look, limits)
    missing = least.since(started.timestamp()).missing
    if missing > limits.missing_hours or all(map(isnan, least.values[-6:])):
        return Unknown(f"BurstBalance lacks {missing} hours")
    return Fine(_rarely_gone(least, limits))


def _attached_and_started(volume: Volume, seen: Seen) -> tuple[datetime, datetime]:
    """Since when it has been on its instance, and since when that has been running: before, silence is a stop."""
    attached = max([volume.created_at, *(one.attached_at for one in volume.attachments if one.attached_at)])
    instances = (seen.fleet.get(Instance, one.instance_id) for one in volume.attachments)
    return attached, max([attached, *(instance.launched_at for instance in instances if instance)])


def _need(volume: Volume, metric: Metric, period_s: int, limits: BurstLimits) -> Need:
    return metric.need(("VolumeId", volume.id), period_s=period_s, days=limits.window_days)


def _low(series: Series, limits: BurstLimits) -> list[bool]:
    """Whether credits were gone, back from now through seven days; a few lost or late points are as the one before them."""
    points = A_WEEK * HOUR_S // series.period_s
    return [value < limits.empty_percent for value in reversed(filled(series).values[-points:])]  # NaN, a missing point, is not


def _may_be_gone(least: Series, limits: BurstLimits) -> bool:
    """Whether enough hours touched the bottom to look closer: by the hour nobody sees for how long."""
    low = _low(least, limits)
    days = {hours_ago // A_DAY for hours_ago, is_low in enumerate(low) if is_low}
    return len(days) >= limits.empty_days or sum(takewhile(bool, low)) >= limits.gone_hours


def _rarely_gone(least: Series, limits: BurstLimits) -> str:
    """In how many hours they were gone at all."""
    low = _low(least, limits)
    if not any(low):
        return "its credits last, and come back"
    days = len({hours_ago // A_DAY for hours_ago, is_low in enumerate(low) if is_low})
    words = f"its credits touched the bottom in {sum(low)} hours of seven days, on {days} of them"
    if until_now := sum(takewhile(bool, low)):
        return f"{words}, now for {until_now} hours at most"
    if days >= limits.empty_days:
        return f"{words}, and not for {limits.empty_minutes} minutes on {limits.empty_days}"
    return f"{words}, and came back"


def _gone(mean: Series, limits: BurstLimits) -> Trouble | None:
    """Whether they were gone for long on enough of the last seven days, or have been for long and still are."""
    low = _low(mean, limits)
    points = Counter(points_ago * FIVE_MINUTES_S // DAY_S for points_ago, is_low in enumerate(low) if is_low)
    days = sum(count * FIVE_MINUTES_S >= limits.empty_minutes * MINUTE_S for count in points.values())
    if days >= limits.empty_days:
        return Trouble("often", points.total() * FIVE_MINUTES_S / HOUR_S, days)
    until_now = sum(takewhile(bool, low)) * FIVE_MINUTES_S / HOUR_S
    return Trouble("now", until_now) if until_now >= limits.gone_hours else None


def _draining(least: Series, limits: BurstLimits) -> Trouble | None:
    """Whether the next day ends without credits, if it falls by as much as it did from day to day at least.

    Both the same hour and the day's lowest have to fall, on two days.
    """
    values = filled(least).values
    for end in range(len(values), max(len(values) - 3, 3 * A_DAY - 1), -1):
        if isnan(least.values[end - 1]):
            continue  # a late point: the hour before has one
        days = [values[end - n * A_DAY : end - (n - 1) * A_DAY] for n in (3, 2, 1)]
        falls = [older[-1] - newer[-1] for older, newer in pairwise(days)]
        falls += [_lowest(older) - _lowest(newer) for older, newer in pairwise(days)]
        if any(map(isnan, falls)):
            return None
        fall = min(falls)
        until = next((hour for hour, level in enumerate(days[-1], 1) if level <= fall), None)
        if fall < limits.fall_percent or until is None or _is_weekly(values, end, limits):
            return None
        return Trouble("soon", until, doubt=_young(values, end), ahead=[level - fall for level in days[-1][:until]])
    return None


def _falling(least: Series, limits: BurstLimits) -> Trouble | None:
    """Whether it has fallen hour by hour for long, to less than a day ago, and will be gone within a day at that rate."""
    there = [(hour, value) for hour, value in enumerate(least.values, 1) if not isnan(value)]
    end, last = there[-1]
    values = filled(least).values
    falling = takewhile(lambda pair: pair[1][1] > pair[0][1], pairwise(reversed(there)))
    start, first = next(iter(deque((older for _, older in falling), maxlen=1)), (end, last))
    if end - start < limits.fall_hours or len(values) - end > FEW or end <= A_DAY or _is_weekly(values, end, limits):
        return None
    until = last * (end - start) / (first - last)
    if until > A_DAY or not values[end - 1 - A_DAY] >= last + limits.fall_percent:  # NaN, a missing point, is not
        return None
    return Trouble(
        "soon",
        until,
        doubt=f"It has fallen for {end - start} hours: nobody knows yet whether that goes on.",
        ahead=[last - last * hour / until for hour in range(1, ceil(until) + 1)],
    )


def _is_weekly(values: Sequence[float], end: int, limits: BurstLimits) -> bool:
    """Whether it was as low a week ago, and came back: a rhythm."""
    return end > A_WEEK and values[end - 1 - A_WEEK] <= values[end - 1] + limits.fall_percent  # NaN, a missing point, is not


def _young(values: Sequence[float], end: int) -> str:
    if end > A_WEEK and not isnan(values[end - 1 - A_WEEK]):
        return ""
    return "Its balance of a week ago is not known: nobody knows yet whether its weeks have a rhythm."


def _lowest(day: Sequence[float]) -> float:
    return min((value for value in day if not isnan(value)), default=nan)


def _flag(volume: Volume, least: Series, trouble: Trouble, look: Look, limits: BurstLimits) -> Flagged:
    has = ebs.volume_limits(volume.volume_type, volume.size_gib)
    without, with_credits = (_words(volume, allowance) for allowance in (has.baseline, has.burst))
    falls = f"{without} in place of {with_credits}"
    soon = trouble.kind == "soon"
    match trouble.kind:
        case "often":
            said = f"were gone for {trouble.hours:,.1f} hours in seven days, on {trouble.days} of them: {falls}"
        case "now":
            said = f"have been gone for {trouble.hours:,.1f} hours: {falls}"
        case "soon":
            said = f"will be gone in about {trouble.hours:.0f} hours: then it has {falls}"
    doubt = look.doubt
    confidence: Confidence = "low" if trouble.doubt else "medium" if soon or doubt else "high"
    caveats = ["What was moved without credits is its limit, not what the work wanted."]
    if soon:
        caveats.append("It is projected from the last days; work that ends before leaves some.")
    if trouble.doubt:
        caveats.append(trouble.doubt)
    if doubt:
        caveats.append(f"How much it moves is not known ({doubt.reason}): it is given all that it had at its burst.")
    if volume.volume_type != "gp2":
        caveats.append("Small I/O that cannot be merged costs a credit of 1 MiB each: larger I/O makes them last.")
    return Flagged(
        summary=f"Its burst credits {said}",
        kind="risk" if soon else None,
        severity="high" if trouble.hours >= A_DAY and not soon else "medium",
        confidence=confidence,
        evidence=(
            Evidence(
                label="Burst balance, each hour's least",
                value=round(min(least.present), 1),
                unit="percent",
                series=least,
                scale=100,
                forecast=_forecast(least, trouble),
            ),
            Evidence(label="What it has without credits, and with them", value=f"{without}, {with_credits}", unit="words"),
            *(() if doubt else (look.evidence(has.burst.bytes_per_s / MIB, *_levels(has)),)),
        ),
        advice=_ways_out(volume, has, look.most if soon and not doubt else None, limits),
        gist=(volume.volume_type, size_class(volume.size_gib), trouble.kind),
        caveats=(*caveats, *look.caveats, *managed_caveats(volume)),
        cheapest_first=True,
    )


def _forecast(least: Series, trouble: Trouble) -> Series | None:
    """What is projected, from where the series ends: its newest points may be late."""
    if not trouble.ahead:
        return None
    late = sum(1 for _ in takewhile(isnan, reversed(least.values)))
    return Series.of(least.end_s, HOUR_S, [max(left, 0.0) for left in trouble.ahead[late:]] or [0.0])


def _levels(has: VolumeLimits) -> tuple[Line, ...]:
    return baseline_and_burst(has.baseline.bytes_per_s / MIB, has.burst.bytes_per_s / MIB)


def _words(volume: Volume, allowance: Allowance) -> str:
    return f"{allowance.iops:,.0f} IOPS" if volume.volume_type == "gp2" else f"{allowance.bytes_per_s / MIB:,.0f} MiB/s"


def _ways_out(volume: Volume, has: VolumeLimits, busiest: float | None, limits: BurstLimits) -> tuple[Advice, ...]:
    """All that it has with credits, for good; or less throughput, where its busiest minute (MiB/s) was far below that.

    None where that minute says nothing: out of credits it did no more than it could.
    """
    most = has.burst.bytes_per_s / MIB
    needed = most if busiest is None else min(most, ebs.with_headroom(busiest, limits.headroom_percent))
    settings = (ebs.gp3_for(volume.size_gib, has.burst.iops, mib_s) for mib_s in (needed, most))
    found = [_gp3(volume, setting) for setting in dict.fromkeys(settings) if setting]
    if volume.volume_type == "sc1":
        found.append(_disk(volume, volume.size_gib, "with more than three times the baseline"))
    if volume.volume_type == "st1" and (size_gib := ebs.st1_gib_for(needed)) > volume.size_gib:
        found.append(_disk(volume, size_gib, f"whose baseline carries {needed:,.0f} MiB/s"))
    return tuple(found)


def _gp3(volume: Volume, to: ebs.Gp3) -> Advice:
    return Advice(
        action="move-to-gp3",
        summary=f"gp3 with {to.iops:,} IOPS and {to.mib_s:,} MiB/s, which need no credits.",
        changes=difference(ebs.monthly_units(volume), ebs.units("gp3", volume.size_gib, to.iops, to.mib_s)),
        risk=f"Work that wants more stays limited: raise the setting then. {ONLINE}",
        reversible=True,
        command=modify_command(volume, gp3(to.iops, to.mib_s)),
    )


def _disk(volume: Volume, size_gib: int, what: str) -> Advice:
    """An st1 volume in its place, of its size or larger."""
    grows = size_gib > volume.size_gib
    risk = "A volume never shrinks again." if grows else "It lives on credits as well, though on more of them."
    return Advice(
        action="grow-st1" if grows else "move-to-st1",
        summary=f"st1 of {size_gib:,} GiB, {what}.",
        changes=difference(ebs.monthly_units(volume), ebs.units("st1", size_gib, 0, 0)),
        risk=f"{risk} {ONLINE}",
        reversible=not grows,
        command=(
            f"aws ec2 modify-volume --volume-id {volume.id} --region {volume.target.region} --volume-type st1"
            + (f" --size {size_gib}" if grows else "")
        ),
    )


_TARGET = Target("123456789012", "us-east-1")
_SERVER = Instance(
    id="i-0eeeeeeeeeeeeeeee",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0eeeeeeeeeeeeeeee",
    target=_TARGET,
    tags={"Name": "builds"},
    instance_type="m5.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_M5_LARGE = InstanceType(
    id="m5.large",
    vcpus=2,
    hypervisor="nitro",
    network_baseline_gbps=0.75,
    network_peak_gbps=10,
    network_cards=1,
    ebs_baseline_mbps=650,
    ebs_maximum_mbps=4750,
    ebs_baseline_iops=3600,
    ebs_maximum_iops=18750,
    source="a worked example",
)
_HOST = (_SERVER, _M5_LARGE)
_GP2 = Volume(
    id="vol-0123456789abcdef1",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0123456789abcdef1",
    target=_TARGET,
    tags={"Name": "builds-data"},
    volume_type="gp2",
    size_gib=100,
    iops=300,
    throughput_mib_s=None,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=200),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_SERVER.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=200)),),
)
_ST1 = replace(_GP2, volume_type="st1", size_gib=1_024, iops=None)


def _attached(ago: timedelta) -> Volume:
    return replace(_GP2, attachments=(replace(_GP2.attachments[0], attached_at=CASE_NOW - ago),))


_FULL: Final = [100.0] * A_DAY


def _dip(low: float, hours: int) -> list[float]:
    """A day on which it is at `low` for some hours, and full again at its end."""
    return [100.0] * 6 + [low] * hours + [100.0] * (18 - hours)


def _fall(start: float, end: float) -> list[float]:
    """A day on which it falls evenly."""
    return [start + (end - start) * hour / A_DAY for hour in range(1, A_DAY + 1)]


def _balance(*days: Sequence[float | None]) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """Days by the hour, the last of which ends now; it was full before them."""
    hours = [*_FULL * (8 - len(days)), *chain.from_iterable(days)]
    return {(LEAST, HOUR_S): hours, (MEAN, FIVE_MINUTES_S): [level for level in hours for _ in range(12)]}


_BUSY: Final = {(part.peak, DAY_S): [40.0 * MIB * MINUTE_S] * 36 for part in BYTES.parts}
_DOWN: Final = (_fall(100, 70), _fall(70, 40), _fall(40, 10))

DETECTOR = Detector(
    title="EBS volume that runs out of burst credits",
    kind="performance",
    resource=Volume,
    limits=BurstLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    outranks=("ebs-outdated-type",),
    cases=(
        Case(
            title="gone for two hours every night",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance(*[_dip(0, 2)] * 7), **_BUSY},
            expect=Flagged,
            says="gone for 14.0 hours in seven days, on 7 of them: 300 IOPS in place of 3,000 IOPS",
        ),
        Case(
            title="an st1 whose scans last longer than its credits",
            resource=_ST1,
            records=_HOST,
            metrics={**_balance(*[_dip(0.2, 5)] * 4), **_BUSY},
            expect=Flagged,
            says="40 MiB/s in place of 250 MiB/s",
        ),
        Case(
            title="gone since yesterday",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance(_dip(80, 2), [100.0] * 4 + [0.0] * 20), **_BUSY},
            expect=Flagged,
            says="have been gone for 20.0 hours",
        ),
        Case(
            title="gone for eleven hours, of which a few points are lost and the last are late",
            resource=_GP2,
            records=_HOST,
            metrics={
                **_balance([100.0] * 13 + [0.0] * 4 + [None] + [0.0] * 4 + [None] * 2),
                (MEAN, FIVE_MINUTES_S): [*[100.0] * 2_172, *[0.0] * 50, *[None] * 3, *[0.0] * 76, *[None] * 3],
                **_BUSY,
            },
            expect=Flagged,
            says="have been gone for 11.0 hours",
        ),
        Case(
            title="gone for 20 hours on two of the seven days",
            resource=_GP2,
            records=_HOST,
            metrics=_balance([0.0] * 20 + [100.0] * 4, _FULL, [0.0] * 20 + [100.0] * 4, _FULL),
            expect=Fine,
            says="in 40 hours of seven days, on 2 of them, and came back",
        ),
        Case(
            title="it has fallen to 9 % in a day",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance(_fall(100, 9)), **_BUSY},
            expect=Flagged,
            says="will be gone in about 2 hours",
        ),
        Case(
            title="a little less every day, and the hour of a week ago is lost",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance([*_FULL[1:], None], *[_FULL] * 4, *_DOWN), **_BUSY},
            expect=Flagged,
            says="will be gone in about 8 hours",
        ),
        Case(
            title="a little less every day, and CloudWatch has seven days",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance([None] * A_DAY, *[_FULL] * 4, *_DOWN), **_BUSY},
            expect=Flagged,
            says="will be gone in about 8 hours",
        ),
        Case(
            title="a little less every day",
            resource=_GP2,
            records=_HOST,
            metrics={**_balance(*_DOWN), **_BUSY},
            expect=Flagged,
            says="will be gone in about 8 hours",
        ),
        Case(
            title="a little less every day since it was attached four days ago",
            resource=_attached(timedelta(days=4)),
            records=_HOST,
            metrics={**_balance(*_DOWN), **_BUSY},
            expect=Flagged,
            says="will be gone in about 8 hours",
        ),
        Case(
            title="on a Xen instance",
            resource=_GP2,
            records=(_SERVER, replace(_M5_LARGE, hypervisor="xen")),
            metrics=_balance(*[_dip(0, 2)] * 7),
            expect=Flagged,
        ),
        Case(
            title="a nightly batch that takes four tenths of them",
            resource=_GP2,
            records=_HOST,
            metrics=_balance(*[_dip(60, 3)] * 8),
            expect=Fine,
            says="come back",
        ),
        Case(
            title="a nightly batch whose last ten minutes have none",
            resource=_GP2,
            records=_HOST,
            metrics={
                **_balance(*[_dip(0, 1)] * 8),
                (MEAN, FIVE_MINUTES_S): [*[100.0] * 80, *[0.0] * 2, *[50.0] * 206] * 8,
            },
            expect=Fine,
            says="in 7 hours of seven days, on 7 of them, and not for 60 minutes",
        ),
        Case(
            title="gone for six hours once a week",
            resource=_GP2,
            records=_HOST,
            metrics=_balance(_dip(0, 6), *[_FULL] * 6),
            expect=Fine,
            says="in 6 hours of seven days, on 1 of them, and came back",
        ),
        Case(
            title="less from day to day in the working week, and full after the weekend",
            resource=_GP2,
            records=_HOST,
            metrics=_balance(_fall(40, 20), _FULL, _FULL, _FULL, _fall(100, 80), _fall(80, 60), _fall(60, 40), _fall(40, 20)),
            expect=Fine,
        ),
        Case(
            title="a batch that has just begun",
            resource=_GP2,
            records=_HOST,
            metrics=_balance([100.0] * 22 + [60.0, 20.0]),
            expect=Fine,
        ),
        Case(
            title="two days without metrics",
            resource=_GP2,
            records=_HOST,
            metrics=_balance([None] * A_DAY, [None] * A_DAY, *[_dip(60, 3)] * 3),
            expect=Unknown,
            says="lacks 48 hours",
        ),
        Case(title="no metrics", resource=_GP2, records=_HOST, expect=Unknown, says="no point"),
        Case(
            title="a gp2 of 1,000 GiB, whose baseline is its burst",
            resource=replace(_GP2, size_gib=1_000, iops=3_000),
            records=_HOST,
            expect=Fine,
            says="needs no credits",
        ),
        Case(
            title="gp3",
            resource=replace(_GP2, volume_type="gp3", iops=3_000, throughput_mib_s=125),
            records=_HOST,
            expect=Fine,
            says="no burst credits",
        ),
        Case(
            title="attached an hour ago", resource=_attached(timedelta(hours=1)), records=_HOST, expect=Fine, says="two hours"
        ),
        Case(
            title="on a stopped instance",
            resource=_GP2,
            records=(replace(_SERVER, state="stopped"), _M5_LARGE),
            expect=Fine,
            says="stopped",
        ),
        Case(title="on no instance", resource=replace(_GP2, attachments=()), records=_HOST, expect=Fine, says="not attached"),
        Case(
            title="its instance could not be read",
            resource=_GP2,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
