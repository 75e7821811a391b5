"""Volumes that run out of burst credits, again and again or within a day.

## What it finds
An attached gp2, st1 or sc1 volume whose BurstBalance was gone for an hour or more on at least three of seven days, or
has been gone for nine hours, or will be gone within 24 hours. The projection uses the same hours of the two days
before, or a fall of half a day without a break (with low confidence).

## Why it matters
Without credits it falls to its baseline: a 100 GiB gp2 from 3,000 IOPS to 300, a 1 TiB st1 from 250 MiB/s to 40.

## When it is wrong
- Work that ends earlier than the projection leaves credits. Without eight days of points a weekly rhythm does not show.
- Without credits a volume does what its baseline allows, not what the work wants. The proposal has all of its burst.

## What to do
Change gp2 to gp3 online: it has 3,000 IOPS without credits and mostly costs less. For st1 and sc1 compare gp3 with a
larger or faster disk volume, or use larger I/O: small I/O costs a credit of 1 MiB each.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise, takewhile
from math import ceil, isnan, nan
from typing import Final, Literal, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import size_class
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Advice, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import ebs, ebs_peaks, examples
from slackwater.rules.ebs import BALANCE
from slackwater.rules.ebs_peaks import READS, WRITES
from slackwater.rules.examples import ON_NITRO, ON_XEN, Cases, Metrics, Points, days_ago, peaks
from slackwater.rules.series import FEW, baseline_and_burst, filled

MEAN = Metric("AWS/EBS", "BurstBalance", "Average", "percent")

A_DAY: Final = 24
A_WEEK: Final = 7 * A_DAY


class BurstLimits(Limits):
    """When credits count as gone, and as draining."""

    window_days: int = limit(8, unit="days", ge=8, le=60, why="a week, and the day before it to compare with")
    empty_percent: float = limit(1, unit="percent", gt=0, le=20, why="the smallest gp2 earns that in nine idle minutes")
    empty_minutes: int = limit(60, unit="minutes", ge=5, le=1440, why="of a day; fewer are the end of a batch")
    empty_days: int = limit(3, unit="days", ge=1, le=7, why="of seven; fewer are a weekly batch, or happened once")
    gone_hours: int = limit(9, unit="hours", ge=1, le=168, why="without a break until now; nightly batches wait less")
    fall_hours: int = limit(12, unit="hours", ge=6, le=168, why="until now; a batch uses full credits in up to ten")
    fall_percent: float = limit(3, unit="percent", gt=0, le=50, why="from day to day; less is noise")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")
    missing_hours: int = limit(24, unit="hours", ge=0, le=192, why="a missing day may be the one without credits")


class Shortage(NamedTuple):
    """Credits that are gone often, now or soon."""

    kind: Literal["often", "now", "soon"]
    headline: str
    hours: float  # how long they were gone, or how long they will last
    uncertainty: str = ""  # why they may last longer
    ahead: Sequence[float] = ()  # the projected balance by the hour, after the newest point


def _soon(hours: float, uncertainty: str, ahead: Sequence[float]) -> Shortage:
    return Shortage("soon", f"Burst credits last for about {hours:.0f} more hours", hours, uncertainty, ahead)


def judge(volume: Volume, seen: Seen, limits: BurstLimits) -> Verdict:
    """Flag a volume whose burst credits are gone or will be soon."""
    has_bucket = volume.volume_type in {"gp2", "st1", "sc1"}
    if not has_bucket or not formulas.volume_limits(volume.volume_type, volume.size_gib).credits:
        return Fine("it has no burst credits, or needs none")
    kind = unless_decided(ebs.carrier(volume, seen))
    attached = ebs.attached_at(volume)
    instances = (seen.fleet.get(Instance, one.instance_id) for one in volume.attachments)
    started = max([attached, *(instance.launched_at for instance in instances if instance)])  # before, it was stopped
    if seen.is_younger(started, hours=2):
        return Fine("it has been in use for less than two hours")

    (by_hour,) = seen.read(*ebs.needs(volume, HOUR_S, limits.window_days, BALANCE))
    least = by_hour.since(attached.timestamp())
    low, since = _low(least, limits), least.since(started.timestamp())
    on_days = len({hours_ago // A_DAY for hours_ago, is_low in enumerate(low) if is_low})
    often = on_days >= limits.empty_days or sum(takewhile(bool, low)) >= limits.gone_hours
    means = ebs.needs(volume, FIVE_MINUTES_S, limits.window_days, MEAN) if often else []
    maybe_missing = since.missing > limits.missing_hours or all(map(isnan, least.values[-6:]))
    done = ebs.needs(volume, HOUR_S, limits.window_days, READS.total, WRITES.total) if maybe_missing else []
    seen.read(*means, *done)
    active = _in_use(since, seen.read(*done)) if done else since
    if not least.present:
        return Unknown("BurstBalance has no data since it was attached") if active.missing else Fine("it had no I/O")

    few_missing = active.missing <= limits.missing_hours  # a projection from fewer points may miss a rhythm
    shortage = (_draining(least, limits) or _falling(least, limits)) if few_missing else None
    if often:
        shortage = _gone(seen.read(*means)[0].since(attached.timestamp()), limits) or shortage
    if shortage:
        look = ebs_peaks.Look(volume, ebs_peaks.BYTES, seen, ebs_peaks.PeakLimits(), kind)
        seen.read(*look.needs)
        return _flag(volume, least, shortage, look, limits)
    if not few_missing or all(map(isnan, active.values[-6:])):
        return Unknown(f"BurstBalance has no data in {active.missing} hours")
    return Fine("its credits ran out for too short, or come back")


def _in_use(balance: Series, done: Sequence[Series]) -> Series:
    """Return the balance, with 100 instead of missing in hours without I/O, when EBS does not publish it."""
    both = zip(*(one.between(balance.start_s, balance.end_s).values for one in done), strict=True)
    quiet = (sum(row) == 0 for row in both)  # False for a missing point
    known = [100.0 if isnan(left) and idle else left for left, idle in zip(balance.values, quiet, strict=True)]
    return Series.of(balance.start_s, HOUR_S, known)


def _low(series: Series, limits: BurstLimits) -> list[bool]:
    """Return for each point of seven days, newest first, whether credits were gone. Longer gaps count as not gone."""
    points = A_WEEK * HOUR_S // series.period_s
    return [value < limits.empty_percent for value in reversed(filled(series).values[-points:])]


def _gone(mean: Series, limits: BurstLimits) -> Shortage | None:
    """Return credits that were gone for long on enough of the last seven days, or have long been gone now; or None."""
    low = _low(mean, limits)
    points = Counter(points_ago * FIVE_MINUTES_S // DAY_S for points_ago, is_low in enumerate(low) if is_low)
    days = sum(count * FIVE_MINUTES_S >= limits.empty_minutes * MINUTE_S for count in points.values())
    if days >= limits.empty_days:
        hours = points.total() * FIVE_MINUTES_S / HOUR_S
        return Shortage("often", f"No burst credits for {hours:,.1f} hours on {days} of 7 days", hours)
    hours = sum(takewhile(bool, low)) * FIVE_MINUTES_S / HOUR_S
    gone = Shortage("now", f"No burst credits for the last {hours:,.1f} hours", hours)
    return gone if hours >= limits.gone_hours else None


def _draining(least: Series, limits: BurstLimits) -> Shortage | None:
    """Return credits that are gone within a day if they fall by the least fall of the last two days; or None.

    Both the same hour and the lowest of the day must have fallen, on two days. The newest points may be late.
    """
    values = filled(least).values
    ends = range(len(values), max(len(values) - 3, 3 * A_DAY - 1), -1)
    end = next((end for end in ends if not isnan(least.values[end - 1])), None)
    if end is None:
        return None
    days = [values[end - n * A_DAY : end - (n - 1) * A_DAY] for n in (3, 2, 1)]
    falls = [older[-1] - newer[-1] for older, newer in pairwise(days)]
    lowest = [min((value for value in day if not isnan(value)), default=nan) for day in days]
    falls += [older - newer for older, newer in pairwise(lowest)]
    fall = min(falls)
    until = next((hour for hour, level in enumerate(days[-1], 1) if level <= fall), None)
    if any(map(isnan, falls)) or fall < limits.fall_percent or until is None or _is_weekly(values, end, limits):
        return None
    unknown = end <= A_WEEK or isnan(values[end - 1 - A_WEEK])
    uncertainty = "The balance of a week ago is unknown: it may be a rhythm." if unknown else ""
    return _soon(until, uncertainty, [level - fall for level in days[-1][:until]])


def _falling(least: Series, limits: BurstLimits) -> Shortage | None:
    """Return credits that fell every hour for long, are lower than a day ago, and are gone within a day; or None."""
    known = [(hour, value) for hour, value in enumerate(least.values, 1) if not isnan(value)]
    end, last = known[-1]
    values = filled(least).values
    falling = takewhile(lambda pair: pair[1][1] > pair[0][1], pairwise(reversed(known)))
    start, first = next(iter(deque((older for _, older in falling), maxlen=1)), (end, last))
    if end - start < limits.fall_hours or len(values) - end > FEW or end <= A_DAY or _is_weekly(values, end, limits):
        return None
    until = last * (end - start) / (first - last)
    if until > A_DAY or not values[end - 1 - A_DAY] >= last + limits.fall_percent:  # False for a missing point
        return None
    ahead = [last - last * hour / until for hour in range(1, ceil(until) + 1)]
    return _soon(until, f"It has fallen for {end - start} hours, and may stop.", ahead)


def _is_weekly(values: Sequence[float], end: int, limits: BurstLimits) -> bool:
    """Return whether the balance was as low a week ago, so that it recovers each week; False if that is unknown."""
    return end > A_WEEK and values[end - 1 - A_WEEK] <= values[end - 1] + limits.fall_percent


def _flag(volume: Volume, least: Series, shortage: Shortage, look: ebs_peaks.Look, limits: BurstLimits) -> Flagged:
    has = formulas.volume_limits(volume.volume_type, volume.size_gib)
    unit = "IOPS" if volume.volume_type == "gp2" else "MiB/s"
    without, with_credits = (f"{allowance.of(unit):,.0f} {unit}" for allowance in (has.baseline, has.burst))
    soon, unknown = shortage.kind == "soon", look.unknown
    levels, label = baseline_and_burst(has.baseline.mib_s, has.burst.mib_s), "Burst balance, each hour's least"
    late = len(list(takewhile(isnan, reversed(least.values))))  # the projection begins where the series ends
    ahead = [max(left, 0.0) for left in shortage.ahead[late:]] or [0.0]
    forecast = Series.of(least.end_s, HOUR_S, ahead) if shortage.ahead else None
    confidence: Confidence = "low" if shortage.uncertainty else "medium" if soon or unknown else "high"
    after = () if unknown else look.lowering_caveats if look.xen else look.holes
    unseen = f"Its throughput is unknown ({unknown.reason}). The proposal has all of its burst." if unknown else ""
    return Flagged(
        summary=f"{shortage.headline}: {'then ' if soon else ''}{without} instead of {with_credits}",
        kind="risk" if soon else None,
        severity="high" if shortage.hours >= A_DAY and not soon else "medium",
        confidence=confidence,
        evidence=(
            Evidence(label, round(min(least.present), 1), "percent", least, 100, forecast=forecast),
            Evidence("Limit without and with credits", f"{without}, {with_credits}", "words"),
            *(() if unknown else (look.evidence(has.burst.mib_s, *levels),)),
        ),
        advice=_options(volume, has, look.most if soon and not unknown else None, limits),
        fingerprint_inputs=(volume.volume_type, size_class(volume.size_gib), shortage.kind),
        caveats=(*filter(None, (shortage.uncertainty, unseen)), *after),
        cheapest_first=True,
    )


def _options(
    volume: Volume, has: formulas.VolumeLimits, busiest_mib_s: float | None, limits: BurstLimits
) -> tuple[Advice, ...]:
    """Recommend all the performance that it has with credits, and less throughput if its busiest minute used far less.

    `busiest_mib_s` is None if the busiest minute proves nothing, because without credits the volume was limited.
    """
    needed = most = has.burst.mib_s
    if busiest_mib_s is not None:
        needed = min(most, formulas.with_headroom(busiest_mib_s, limits.headroom_percent))
    settings = (formulas.gp3_for(volume.size_gib, has.burst.iops, mib_s) for mib_s in (needed, most))
    found = [_gp3(volume, setting) for setting in dict.fromkeys(settings) if setting]
    if volume.volume_type == "sc1":
        found.append(_disk(volume, volume.size_gib, "with more than three times the baseline"))
    if volume.volume_type == "st1" and (size_gib := formulas.st1_gib_for(needed)) > volume.size_gib:
        found.append(_disk(volume, size_gib, f"with a baseline of {needed:,.0f} MiB/s"))
    return tuple(replace(one, setting=None) for one in found)  # a person chooses one


def _gp3(volume: Volume, to: formulas.Gp3) -> Advice:
    summary = f"gp3 with {to.iops:,} IOPS and {to.mib_s:,} MiB/s, which needs no credits."
    risk = "Work that wants more stays limited until you raise the setting."
    return ebs.modify(volume, ebs.gp3(volume, to.iops, to.mib_s), "move-to-gp3", summary, risk)


def _disk(volume: Volume, size_gib: int, what: str) -> Advice:
    """Recommend an st1 volume of the same size or larger."""
    to = replace(volume, volume_type="st1", size_gib=size_gib, iops=None, throughput_mib_s=None)
    summary = f"st1 of {size_gib:,} GiB, {what}."
    if size_gib > volume.size_gib:
        return ebs.modify(volume, to, "grow-st1", summary, "You cannot shrink a volume again.")
    return ebs.modify(volume, to, "move-to-st1", summary, "It has burst credits too, but more of them.")


FULL: Final = [100.0] * A_DAY


def dip(low: float, hours: int) -> list[float]:
    """Return a day at `low` for some hours that is full again at its end."""
    return [100.0] * 6 + [low] * hours + [100.0] * (18 - hours)


def down(start: float, end: float) -> list[float]:
    """Return a day of an even fall."""
    return [start + (end - start) * hour / A_DAY for hour in range(1, A_DAY + 1)]


def balance(*days: Points) -> Metrics:
    """Return days by the hour, the last of which ends now, and a full balance before. The volume moves 80 MiB/s."""
    hours = [*FULL * (8 - len(days)), *chain.from_iterable(days)]
    by_five_minutes = [level for level in hours for _ in range(12)]
    return {(BALANCE, HOUR_S): hours, (MEAN, FIVE_MINUTES_S): by_five_minutes, **peaks(read_mib_s=40, written_mib_s=40)}


def by_five_minutes(*runs: tuple[float | None, int]) -> Metrics:
    """Return runs, each of a level and its number of points."""
    return {(MEAN, FIVE_MINUTES_S): [level for level, points in runs for _ in range(points)]}


GP2 = examples.volume(examples.instance(), volume_type="gp2", size_gib=100, iops=300, throughput_mib_s=None)
HOUR_OLD, FOUR_DAYS = (replace(GP2.attachments[0], attached_at=days_ago(age)) for age in (1 / 24, 4))
UNSEEN: Final[list[float | None]] = [None] * A_DAY
NIGHTLY, DOWN = [dip(0, 2)] * 7, (down(100, 70), down(70, 40), down(40, 10))
SCANS, DRAINING = balance(*[dip(0.2, 5)] * 4), balance(*DOWN)
LATE = {
    **balance([100.0] * 13 + [0.0] * 4 + [None] + [0.0] * 4 + [None] * 2),
    **by_five_minutes((100.0, 2_172), (0.0, 50), (None, 3), (0.0, 76), (None, 3)),
}
ENDS_EMPTY = {**balance(*[dip(0, 1)] * 8), **by_five_minutes(*[(100.0, 80), (0.0, 2), (50.0, 206)] * 8)}
LOST_HOUR: Final[list[Points]] = [[*FULL[1:], None], *[FULL] * 4, *DOWN]
SEVEN_DAYS: Final[list[Points]] = [UNSEEN, *[FULL] * 4, *DOWN]
WEEKDAYS = (down(40, 20), FULL, FULL, FULL, down(100, 80), down(80, 60), down(60, 40), down(40, 20))
NO_WORK = [9.0] * 72 + [0.0] * 48 + [9.0] * 72
DARK_DAYS = balance(UNSEEN, UNSEEN, *[dip(60, 3)] * 3)
IDLE_DAYS = {**DARK_DAYS, (READS.total, HOUR_S): NO_WORK, (WRITES.total, HOUR_S): NO_WORK}
TWO_DAYS = ([0.0] * 20 + [100.0] * 4, FULL, [0.0] * 20 + [100.0] * 4, FULL)

gp2 = Cases(GP2, records=ON_NITRO)
young = Cases(replace(GP2, attachments=(FOUR_DAYS,)), records=ON_NITRO)
st1 = Cases(replace(GP2, volume_type="st1", size_gib=1_024, iops=None), records=ON_NITRO)

DETECTOR = Detector(
    title="EBS volume that runs out of burst credits",
    kind="performance",
    resource=Volume,
    limits=BurstLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    outranks=("ebs-outdated-type",),
    cases=(
        gp2("gone for two hours every night", Flagged, "14.0 hours on 7 of 7 days: 300", metrics=balance(*NIGHTLY)),
        st1("an st1 whose scans last longer than its credits", Flagged, "40 MiB/s instead of 250 MiB/s", metrics=SCANS),
        gp2("gone since yesterday", Flagged, "last 20.0 hours", metrics=balance(dip(80, 2), [100.0] * 4 + [0.0] * 20)),
        gp2("gone for eleven hours, with lost and late points", Flagged, "the last 11.0 hours", metrics=LATE),
        gp2("gone for 20 hours on two of the seven days", Fine, "too short", metrics=balance(*TWO_DAYS)),
        gp2("it has fallen to 9 % in a day", Flagged, "about 2 more hours", metrics=balance(down(100, 9))),
        gp2("a little less every day, without an hour of last week", Flagged, "about 8", metrics=balance(*LOST_HOUR)),
        gp2("a little less every day, of which seven are known", Flagged, "about 8 more", metrics=balance(*SEVEN_DAYS)),
        gp2("a little less every day", Flagged, "about 8 more hours", metrics=DRAINING),
        young("a little less every day since it was attached four days ago", Flagged, "8 more", metrics=DRAINING),
        gp2("on a Xen instance", Flagged, records=ON_XEN, metrics=balance(*NIGHTLY)),
        gp2("a nightly batch that takes four tenths of them", Fine, "come back", metrics=balance(*[dip(60, 3)] * 8)),
        gp2("a nightly batch whose last ten minutes have none", Fine, "too short", metrics=ENDS_EMPTY),
        gp2("gone for six hours once a week", Fine, "too short", metrics=balance(dip(0, 6), *[FULL] * 6)),
        gp2("less from day to day in the working week, and full after it", Fine, metrics=balance(*WEEKDAYS)),
        gp2("a batch that has just begun", Fine, metrics=balance([100.0] * 22 + [60.0, 20.0])),
        gp2("two days without I/O and metrics", Fine, "come back", metrics=IDLE_DAYS),
        gp2("two days without metrics", Unknown, "in 48 hours", metrics=DARK_DAYS),
        gp2("no metrics", Unknown, "no data"),
        gp2("a gp2 of 1,000 GiB, whose baseline is its burst", Fine, "needs none", size_gib=1_000, iops=3_000),
        gp2("gp3", Fine, "no burst credits", volume_type="gp3", iops=3_000, throughput_mib_s=125),
        gp2("attached an hour ago", Fine, "two hours", attachments=(HOUR_OLD,)),
        *examples.without_io(gp2),
    ),
)
