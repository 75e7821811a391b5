"""Instances that are slow to their volumes because their own EBS limit is reached.

## What it finds
A running Nitro instance whose volumes together ask for more than it lets through. CloudWatch's exceeded check, 1 in a minute at
the limit, was raised in at least 5 % of the minutes of three or more hours in a day, or for more than 45 minutes of a day. IOPS
and throughput have each their own. Where the type bursts, EBSIOBalance% or EBSByteBalance% below 10 in at least six five-minute
points of a day, and not rising, confirms it; where there are no checks, they decide alone. Where both agree on three days or
more, an hour of each with the check raised in 5 % of its minutes is enough. An instance whose baseline is as fast as all its
volumes at their fastest needs no metric.

## Why it matters
A volume is only as fast as its instance ("The performance of EBS-optimised instances", 2017-07-10). Most smaller instances hold
their maximum for half an hour a day and then fall to a baseline that may be a fifteenth of it; a faster volume changes nothing.

## When it is wrong
A nightly batch within the half hour that AWS grants is not slowed, and is not flagged; nor is a balance that is low and comes
back. A batch that is slowed and still ends in time needs nothing. Points from before the last start are left out: the type may
have been another. The balances exist for some types only, and their absence proves nothing; Xen publishes neither, and is not
judged.

## What to do
If the slow hours hurt, take the smallest size of the family whose baseline carries what was seen, or move volumes to another
instance; where the type supports it, shift bandwidth from the network to EBS. Else start the work earlier, or spread it out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import batched, chain, pairwise
from math import isnan
from re import match
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.performance.ebs import Allowance, InstanceLimits
from slackwater.rules import ec2 as larger_instance
from slackwater.rules.ec2 import local_data, not_by_command, restart
from slackwater.rules.series import baseline_and_burst

MINUTES_AN_HOUR: Final = 60
NOTHING: Final = Series.of(0, FIVE_MINUTES_S, ())


@dataclass(frozen=True, slots=True)
class Way:
    """IOPS and throughput have a limit, a balance and a check of their own."""

    word: str
    check: Metric
    balance: Metric
    used: tuple[Metric, Metric]


THROUGHPUT = Way(
    "throughput",
    Metric("AWS/EC2", "InstanceEBSThroughputExceededCheck", "Average", "share of the minutes"),
    Metric("AWS/EC2", "EBSByteBalance%", "Minimum", "percent"),
    (Metric("AWS/EC2", "EBSReadBytes", "Sum", "bytes"), Metric("AWS/EC2", "EBSWriteBytes", "Sum", "bytes")),
)
IOPS = Way(
    "IOPS",
    Metric("AWS/EC2", "InstanceEBSIOPSExceededCheck", "Average", "share of the minutes"),
    Metric("AWS/EC2", "EBSIOBalance%", "Minimum", "percent"),
    (Metric("AWS/EC2", "EBSReadOps", "Sum", "operations"), Metric("AWS/EC2", "EBSWriteOps", "Sum", "operations")),
)
WAYS: Final = (THROUGHPUT, IOPS)


class EbsThrottledLimits(Limits):
    """What counts as throttled."""

    window_days: int = limit(
        8,
        unit="days",
        ge=2,
        le=60,
        why="a week, and a day so that a weekly batch is whole; five-minute points are kept 63 days",
    )
    raised_percent: float = limit(5, unit="percent", gt=0, le=100, why="of an hour's minutes at the limit; fewer hurt nobody")
    raised_hours: int = limit(3, unit="hours", ge=1, le=24, why="of a day; a nightly batch of minutes touches two at most")
    batch_minutes: int = limit(
        45, unit="minutes", ge=30, le=1440, why="of a day at the limit; AWS grants 30, and what ends soon after is done"
    )
    low_percent: float = limit(10, unit="percent", gt=0, le=50, why="of the burst left: three of its thirty minutes")
    low_points: int = limit(6, unit="points", ge=1, le=288, why="half an hour of five-minute points")
    agreed_days: int = limit(
        3, unit="days", ge=1, le=60, why="on which check and balance agree: so often, fewer minutes are no chance"
    )
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="above the limit it met: it may have wanted more")
    missing_hours: int = limit(24, unit="hours", ge=0, le=192, why="a day that nobody saw may have been the slow one")


@dataclass(frozen=True, slots=True)
class Slow:
    """One limit that was met: the share of each hour's minutes at it, and what was left of the burst by five minutes."""

    way: Way
    checks: Series
    balance: Series
    minutes: float
    """At the limit, on the days that count; by the balance where there is no check."""
    days: int
    low_points: int
    """Of a day at most, in which next to nothing was left of the burst, and it did not come back."""
    agreed: bool = False
    """Whether only check and balance together say so, neither of them alone."""


def judge(instance: Instance, seen: Seen, limits: EbsThrottledLimits) -> Verdict:
    """Flag an instance that is at its own EBS limit for longer than a batch within its half hour."""
    instance_type = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if instance_type is None:
        return Unknown(f"its type {instance.instance_type} is not in the inventory")
    if instance_type.hypervisor == "xen":
        return Fine("it runs on Xen, which publishes neither balances nor checks")
    if seen.age(instance.launched_at) < timedelta(hours=2):
        return Fine("it was started less than two hours ago")

    if _carries_all(instance, instance_type, seen):
        return Fine("all its volumes together are slower than it is")

    needs = {way: _need(instance, way.check, HOUR_S, limits) for way in WAYS}
    if lacking := seen.lacking(needs.values()):
        return Ask(lacking)
    checks = {way: _since_start(instance, seen[need]) for way, need in needs.items()}
    bursts = ebs.can_burst(instance_type)
    suspects = [
        way
        for way in WAYS
        if _days_at_limit(checks[way], limits) or (bursts and len(_raised(checks[way], limits)) >= limits.agreed_days)
    ]
    unchecked = [way for way in WAYS if not checks[way].present]
    if unchecked and bursts:
        by_day = {way: _need(instance, way.balance, DAY_S, limits) for way in unchecked}
        if lacking := seen.lacking(by_day.values()):
            return Ask(lacking)
        left = {way: seen[need].since(instance.launched_at.timestamp() - DAY_S) for way, need in by_day.items()}
        suspects += [way for way in unchecked if min(left[way].present, default=100) < limits.low_percent]
        unchecked = [way for way in unchecked if not left[way].present]
    if suspects:
        closer = {way: _need(instance, way.balance, FIVE_MINUTES_S, limits) for way in suspects if bursts}
        used = {way: [_need(instance, metric, FIVE_MINUTES_S, limits) for metric in way.used] for way in WAYS}
        if lacking := seen.lacking([*closer.values(), *chain.from_iterable(used.values())]):
            return Ask(lacking)
        balances = {way: _since_start(instance, seen[need]) for way, need in closer.items()}
        slow = [_slow(way, checks[way], balances.get(way, NOTHING), limits) for way in suspects]
        if throttled := [one for one in slow if one.days]:
            rates = {way: _rate(*(_since_start(instance, seen[need]) for need in pair)) for way, pair in used.items()}
            return _flag(instance, instance_type, throttled, rates, seen, limits)
    if unchecked:
        return Unknown("CloudWatch has neither EBS balances nor exceeded checks of it since it was started")
    missing = max(checks[way].missing if checks[way].present else 0 for way in WAYS)
    if missing > limits.missing_hours:
        return Unknown(f"its exceeded checks lack {missing} hours")
    return Fine(_short(checks, limits))


def _short(checks: dict[Way, Series], limits: EbsThrottledLimits) -> str:
    """How long it was at its limit on the worst day, which is not long enough."""
    if not any(one.present for one in checks.values()):
        return "its EBS burst was never used up for long"
    worst = max(sum(minutes) for one in checks.values() for minutes in [*_raised(one, limits).values(), [0.0]])
    if not worst:
        return f"in no hour it was at its EBS limit for {limits.raised_percent:g} % of the minutes"
    return f"it was at its EBS limit for {worst:,.0f} minutes of a day at most, as a batch is"


def _carries_all(instance: Instance, instance_type: InstanceType, seen: Seen) -> bool:
    """Whether its baseline is as fast as all its volumes at their fastest; not where either is not known."""
    limits = ebs.instance_limits(instance_type, "gp3")
    if limits is None or instance.bandwidth_weighting != "default" or Volume in seen.fleet.unreadable:
        return False
    volumes = [ebs.most_of(volume) for volume in seen.fleet.volumes_of(instance.id)]
    wanted = Allowance(sum(one.bytes_per_s for one in volumes), sum(one.iops for one in volumes))
    return wanted.within(limits.baseline) == wanted


def _need(instance: Instance, metric: Metric, period_s: int, limits: EbsThrottledLimits) -> Need:
    return metric.need(("InstanceId", instance.id), period_s=period_s, days=limits.window_days)


def _since_start(instance: Instance, series: Series) -> Series:
    return series.since(instance.launched_at.timestamp())


def _raised(checks: Series, limits: EbsThrottledLimits) -> dict[int, list[float]]:
    """Minutes at the limit, of each hour that has enough of them; by day back from now."""
    days: defaultdict[int, list[float]] = defaultdict(list)
    for hours_ago, share in enumerate(reversed(checks.values)):
        if share >= limits.raised_percent / 100:  # NaN, a missing point, is not
            days[hours_ago // 24].append(share * MINUTES_AN_HOUR)
    return days


def _days_at_limit(checks: Series, limits: EbsThrottledLimits) -> list[float]:
    """Minutes at the limit, of each day that has too many of them, or too many hours with some."""
    days = _raised(checks, limits).values()
    return [sum(minutes) for minutes in days if len(minutes) >= limits.raised_hours or sum(minutes) > limits.batch_minutes]


def _slow(way: Way, checks: Series, balance: Series, limits: EbsThrottledLimits) -> Slow:
    """What the checks say, or what both say on enough days; where there are no checks, what the balance does."""
    stuck = _stuck_points(balance, limits)
    most = max(stuck.values(), default=0)
    low = {day: points for day, points in stuck.items() if points >= limits.low_points}
    at_limit = _days_at_limit(checks, limits)
    if not checks.present:
        at_limit = [points * FIVE_MINUTES_S / MINUTE_S for points in low.values()]
    if not at_limit:
        both = [sum(minutes) for day, minutes in _raised(checks, limits).items() if day in low]
        if len(both) >= limits.agreed_days:
            return Slow(way, checks, balance, sum(both), len(both), most, agreed=True)
    return Slow(way, checks, balance, sum(at_limit), len(at_limit), most)


def _stuck_points(balance: Series, limits: EbsThrottledLimits) -> Counter[int]:
    """Points at which a balance is low, and does not rise; by day back from now."""
    days: Counter[int] = Counter()
    for points_ago, (after, before) in enumerate(pairwise(reversed(balance.values))):
        if after < limits.low_percent and after <= before:  # NaN, a missing point, is neither
            days[points_ago * FIVE_MINUTES_S // DAY_S] += 1
    return days


def _rate(read: Series, written: Series) -> Series:
    """Reads and writes together, a second; missing where either is."""
    return Series.of(
        read.start_s, FIVE_MINUTES_S, [(r + w) / FIVE_MINUTES_S for r, w in zip(read.values, written.values, strict=True)]
    )


def _flag(
    instance: Instance,
    instance_type: InstanceType,
    throttled: list[Slow],
    rates: dict[Way, Series],
    seen: Seen,
    limits: EbsThrottledLimits,
) -> Flagged:
    worst = max(throttled, key=lambda one: one.minutes)
    checked = any(one.checks.present and not one.agreed for one in throttled)
    confirmed = any(one.checks.present and not one.agreed and one.low_points >= limits.low_points for one in throttled)
    confidence: Confidence = "high" if checked else "medium"
    words = " and ".join(one.way.word for one in throttled)
    hours, slow = worst.minutes / MINUTES_AN_HOUR, {one.way for one in throttled}
    carries = ebs.instance_limits(instance_type, "gp3")
    return Flagged(
        summary=(
            f"Its volumes wanted more {words} than {instance_type.id} lets through: {hours:,.1f} hours at its EBS limit on"
            f" {worst.days} of {limits.window_days} days"
        ),
        severity="high" if confirmed else "medium",
        confidence=confidence,
        evidence=(
            *(evidence for one in throttled for evidence in _seen_of(one, limits)),
            *(_peak(way, rates[way], carries, drawn=way in slow) for way in WAYS if rates[way].present),
            *(_carried(carries) if carries else ()),
        ),
        advice=_ways_out(instance, instance_type, throttled, rates, seen, limits),
        gist=(instance_type.id, words, confirmed),
        caveats=_caveats(instance, throttled),
    )


def _by_hour(points: Series, pick: Callable[[Sequence[float]], float]) -> Series:
    """One point of each hour, for the picture: every finding carries its series."""
    hours = batched(points.values, HOUR_S // points.period_s, strict=False)
    known = ([value for value in hour if not isnan(value)] for hour in hours)
    return Series.of(points.start_s, HOUR_S, [pick(hour) if hour else None for hour in known])


def _seen_of(slow: Slow, limits: EbsThrottledLimits) -> list[Evidence]:
    found = []
    if slow.checks.present:
        share = slow.checks.over(1 / MINUTES_AN_HOUR)
        found.append(
            Evidence(
                label=f"At its {slow.way.word} limit, by the hour",
                value=round(slow.minutes),
                unit="minutes",
                series=share,
                scale=MINUTES_AN_HOUR,
                lines=(Line("Hurts from", limits.raised_percent / 100 * MINUTES_AN_HOUR),),
            )
        )
    if slow.balance.present:
        found.append(
            Evidence(
                label=f"What was left of its {slow.way.word} burst, by the hour",
                value=round(min(slow.balance.present), 1),
                unit="percent",
                series=_by_hour(slow.balance, min),
                scale=100,
                lines=(Line("Next to nothing", limits.low_percent),),
            )
        )
    return found


def _peak(way: Way, rate: Series, carries: InstanceLimits | None, *, drawn: bool) -> Evidence:
    per, digits, unit = (1, None, "IOPS") if way is IOPS else (MIB, 1, "MiB/s")
    peak = Evidence(label="Busiest five minutes", value=round(max(rate.present) / per, digits), unit=unit)
    if not drawn:
        return peak
    levels = (
        [one.iops if way is IOPS else one.bytes_per_s / MIB for one in (carries.baseline, carries.burst)] if carries else []
    )
    by_hour = _by_hour(rate.over(per), lambda hour: round(max(hour), 2))
    return replace(peak, series=by_hour, lines=baseline_and_burst(*levels) if levels else ())


def _carried(carries: InstanceLimits) -> tuple[Evidence, ...]:
    """What the type lets through for good, and in its half hour."""
    steady, burst = carries.baseline, carries.burst
    words = f"{steady.bytes_per_s / MIB:,.0f} MiB/s and {steady.iops:,.0f} IOPS for good"
    if burst != steady:
        words += f", {burst.bytes_per_s / MIB:,.0f} MiB/s and {burst.iops:,.0f} IOPS for half an hour a day"
    return (Evidence(label="What it carries", value=words, unit="words"),)


def _caveats(instance: Instance, throttled: list[Slow]) -> tuple[str, ...]:
    caveats = [
        "What was seen is what came through: the work may have wanted more.",
        "A batch that still ends in time needs nothing.",
    ]
    if not any(one.checks.present for one in throttled):
        caveats.append("No exceeded check was published; the balance alone, which stays low, says it.")
    if instance.bandwidth_weighting != "default":
        caveats.append(
            f"Its bandwidth weighting is {instance.bandwidth_weighting}: its throughput is not quite what is published."
        )
    return tuple(caveats)


def _ways_out(
    instance: Instance,
    instance_type: InstanceType,
    throttled: list[Slow],
    rates: dict[Way, Series],
    seen: Seen,
    limits: EbsThrottledLimits,
) -> tuple[Advice, ...]:
    slow, found = {one.way for one in throttled}, []
    if THROUGHPUT in slow and _may_weight(instance_type) and instance.bandwidth_weighting != "ebs-1":
        found.append(
            Advice(
                action="shift-bandwidth-to-ebs",
                summary=(
                    "Give EBS a quarter more of baseline bandwidth, taken from the network (bandwidth weighting ebs-1, if"
                    f" {instance_type.id} has it); IOPS stay as they are.{not_by_command(instance)}"
                ),
                changes=(),
                risk=f"The network has as much less; a stop and a start.{local_data(instance)}",
                reversible=True,
                command=restart(
                    instance,
                    f"aws ec2 modify-instance-network-performance-options --region {instance.target.region}"
                    f" --instance-id {instance.id} --bandwidth-weighting ebs-1",
                ),
            )
        )
    needed = _needed(instance_type, slow, rates, limits)
    what = f"{needed.bytes_per_s / MIB:,.0f} MiB/s and {needed.iops:,.0f} IOPS, what was seen or more"
    if way := larger_instance.larger(instance, instance_type, needed, seen, when="If the slow hours hurt", what=what):
        found.append(way)
    found.append(
        Advice(
            action="spread-the-load",
            summary="Start the work earlier, or spread it over more hours or over volumes of another instance.",
            changes=None,
            risk="What runs at the same time may have to wait.",
            reversible=True,
        )
    )
    return tuple(found)


def _needed(instance_type: InstanceType, slow: set[Way], rates: dict[Way, Series], limits: EbsThrottledLimits) -> Allowance:
    """The busiest five minutes; where they met the limit, that and some more at least."""
    peak = {way: max(rates[way].present, default=0.0) for way in WAYS}
    if carries := ebs.instance_limits(instance_type, "gp3"):
        met = {THROUGHPUT: carries.baseline.bytes_per_s, IOPS: carries.baseline.iops}
        for way in slow:
            peak[way] = max(peak[way], met[way] * (1 + limits.headroom_percent / 100))
    return Allowance(peak[THROUGHPUT], peak[IOPS])


def _may_weight(instance_type: InstanceType) -> bool:
    """Families of the eighth generation, many of which have a bandwidth weighting; no API says which."""
    return match(r"[cmrx]8", instance_type.family) is not None


_TARGET = Target("123456789012", "us-east-1")
_SERVER = Instance(
    id="i-0dddddddddddddddd",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0dddddddddddddddd",
    target=_TARGET,
    tags={"Name": "transcoder"},
    instance_type="m6i.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=100),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)


def _type(name: str, mbps: tuple[float, float] | None, iops: tuple[int, int] | None = None) -> InstanceType:
    return InstanceType(
        id=name,
        vcpus=2,
        hypervisor="nitro",
        network_baseline_gbps=None,
        network_peak_gbps=None,
        network_cards=1,
        ebs_baseline_mbps=mbps[0] if mbps else None,
        ebs_maximum_mbps=mbps[1] if mbps else None,
        ebs_baseline_iops=iops[0] if iops else None,
        ebs_maximum_iops=iops[1] if iops else None,
        source="a worked example",
    )


_VOLUME = Volume(
    id="vol-0ddddddddddddddd0",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0ddddddddddddddd0",
    target=_TARGET,
    tags={"Name": "transcoder-data"},
    volume_type="gp3",
    size_gib=1_000,
    iops=20_000,
    throughput_mib_s=1_000,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=100),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_SERVER.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=100)),),
)
_RECORDS = (
    _VOLUME,
    _type("m6i.large", (650, 10_000), (3_600, 40_000)),
    _type("m6i.xlarge", (1_250, 10_000), (6_000, 40_000)),
    _type("m6i.2xlarge", (2_500, 10_000), (12_000, 40_000)),
    _type("m6i.8xlarge", (10_000, 10_000), (40_000, 40_000)),
    _type("m5.4xlarge", (4_750, 4_750), (18_750, 18_750)),
    _type("m5.8xlarge", (6_800, 6_800), (30_000, 30_000)),
    _type("m8g.large", (630, 10_000), (3_600, 40_000)),
    replace(_type("u-1.metal", None), hypervisor="other"),
)


def _week(*shares: tuple[float | None, int], rest: float | None = 0.0) -> list[float | None]:
    """Hours of eight days: (share of the minutes, hours) one after the other on the last whole one, `rest` otherwise."""
    day = [share for share, hours in shares for _ in range(hours)]
    return [rest] * (8 * 24 - 9 - 24) + day + [rest] * (24 - len(day) + 9)


def _points(*levels: tuple[float | None, int], rest: float | None = 100.0) -> list[float | None]:
    """Five-minute points of eight days: (value, minutes) one after the other on the last whole one, `rest` otherwise."""
    day = [level for level, minutes in levels for _ in range(minutes // 5)]
    return [rest] * (8 * 288 - 9 * 12 - 288) + day + [rest] * (288 - len(day) + 9 * 12)


_QUIET: Final = {(THROUGHPUT.check, HOUR_S): _week(), (IOPS.check, HOUR_S): _week()}
_MOVED: Final = {
    (THROUGHPUT.used[0], FIVE_MINUTES_S): _points((150 * MIB * 300.0, 400), rest=0.0),
    (THROUGHPUT.used[1], FIVE_MINUTES_S): _points(rest=0.0),
    (IOPS.used[0], FIVE_MINUTES_S): _points((1_200 * 300.0, 400), rest=0.0),
    (IOPS.used[1], FIVE_MINUTES_S): _points(rest=0.0),
}
_SLOW: Final = {**_QUIET, **_MOVED, (THROUGHPUT.check, HOUR_S): _week((0.5, 1), (1.0, 5), (0.1, 1))}
_EMPTY: Final = {(THROUGHPUT.balance, FIVE_MINUTES_S): _points((50, 10), (20, 10), (0, 330))}
_BACK: Final = [(left / 2, 5) for left in range(100)]


def _every_day(day: list[float | None]) -> list[float | None]:
    """The same on each of the eight days."""
    return day * 8


_FORTY_MINUTES: Final[dict[tuple[Metric, int], list[float | None]]] = {
    **_QUIET,
    **_MOVED,
    (THROUGHPUT.check, HOUR_S): _every_day([0.4, 0.25, *[0.0] * 22]),
}

DETECTOR = Detector(
    title="EC2 instance at its own EBS limit",
    kind="performance",
    resource=Instance,
    limits=EbsThrottledLimits,
    reads=(InstanceType,),
    reads_if_allowed=(Volume,),
    judge=judge,
    cases=(
        Case(
            title="a batch of six hours on a burst of half an hour",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_SLOW, **_EMPTY},
            expect=Flagged,
            says="wanted more throughput than m6i.large lets through: 5.6 hours at its EBS limit on 1 of 8 days",
        ),
        Case(
            title="the same, and the balances are not published",
            resource=_SERVER,
            records=_RECORDS,
            metrics=_SLOW,
            expect=Flagged,
            says="5.6 hours",
        ),
        Case(
            title="the same, and the checks are not published",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_MOVED, **_EMPTY, (THROUGHPUT.balance, DAY_S): [100] * 7 + [0, 100], (IOPS.balance, DAY_S): [100] * 9},
            expect=Flagged,
            says="5.5 hours",
        ),
        Case(
            title="small I/O: the IOPS are at their limit",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_QUIET, **_MOVED, (IOPS.check, HOUR_S): _week((1.0, 4))},
            expect=Flagged,
            says="more IOPS than",
        ),
        Case(
            title="a few minutes in every hour of the day",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_QUIET, **_MOVED, (IOPS.check, HOUR_S): _week((0.1, 8))},
            expect=Flagged,
            says="0.8 hours",
        ),
        Case(
            title="a type without burst, at its limit for hours",
            resource=replace(_SERVER, instance_type="m5.4xlarge"),
            records=_RECORDS,
            metrics=_SLOW,
            expect=Flagged,
            says="m5.4xlarge",
        ),
        Case(
            title="40 minutes every day, with nothing left of the burst",
            resource=_SERVER,
            records=_RECORDS,
            metrics={
                **_FORTY_MINUTES,
                (THROUGHPUT.balance, FIVE_MINUTES_S): _every_day([50.0, *[0.0] * 8, *[20.0 + i / 4 for i in range(279)]]),
            },
            expect=Flagged,
            says="5.2 hours at its EBS limit on 8 of 8 days",
        ),
        Case(
            title="40 minutes every day, and the burst comes back at once",
            resource=_SERVER,
            records=_RECORDS,
            metrics={
                **_FORTY_MINUTES,
                (THROUGHPUT.balance, FIVE_MINUTES_S): _every_day([50.0, 20.0, *[2.0 + i / 3 for i in range(286)]]),
            },
            expect=Fine,
            says="39 minutes of a day at most",
        ),
        Case(
            title="a nightly batch within its half hour, across an hour's end",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_QUIET, (THROUGHPUT.check, HOUR_S): _week((0.25, 1), (0.2, 1))},
            expect=Fine,
            says="27 minutes of a day at most",
        ),
        Case(
            title="every night the burst is all but used up, and comes back; the checks are not published",
            resource=_SERVER,
            records=_RECORDS,
            metrics={
                **_MOVED,
                (THROUGHPUT.balance, FIVE_MINUTES_S): _points((60, 5), (30, 5), (4, 5), (2, 5), *_BACK),
                (THROUGHPUT.balance, DAY_S): [100] * 7 + [0, 100],
                (IOPS.balance, DAY_S): [100] * 9,
            },
            expect=Fine,
        ),
        Case(
            title="a volume that is slower than the instance: settled by the configuration",
            resource=replace(_SERVER, instance_type="m6i.2xlarge"),
            records=(*_RECORDS, replace(_VOLUME, iops=3_000, throughput_mib_s=125)),
            expect=Fine,
            says="slower than it is",
        ),
        Case(
            title="never at its limit",
            resource=_SERVER,
            records=_RECORDS,
            metrics=_QUIET,
            expect=Fine,
            says="in no hour",
        ),
        Case(
            title="a minute now and then",
            resource=_SERVER,
            records=_RECORDS,
            metrics={(THROUGHPUT.check, HOUR_S): [1 / 60] * 192, (IOPS.check, HOUR_S): [0.0] * 192},
            expect=Fine,
        ),
        Case(
            title="slow until it was given a larger type yesterday",
            resource=replace(_SERVER, launched_at=CASE_NOW - timedelta(hours=9)),
            records=_RECORDS,
            metrics={**_SLOW, **_EMPTY},
            expect=Fine,
        ),
        Case(
            title="two days without metrics",
            resource=_SERVER,
            records=_RECORDS,
            metrics={**_QUIET, (IOPS.check, HOUR_S): [None] * 48 + [0.0] * 144},
            expect=Unknown,
            says="lack 48 hours",
        ),
        Case(title="no metrics", resource=_SERVER, records=_RECORDS, expect=Unknown, says="neither"),
        Case(
            title="bare metal without metrics",
            resource=replace(_SERVER, instance_type="u-1.metal"),
            records=_RECORDS,
            expect=Unknown,
            says="neither",
        ),
        Case(
            title="its balances are full, and the checks are not published",
            resource=_SERVER,
            records=_RECORDS,
            metrics={(THROUGHPUT.balance, DAY_S): [100] * 9, (IOPS.balance, DAY_S): [100] * 9},
            expect=Fine,
        ),
        Case(
            title="on Xen",
            resource=replace(_SERVER, instance_type="m4.large"),
            records=(replace(_type("m4.large", (450, 450), (3_600, 3_600)), hypervisor="xen"),),
            expect=Fine,
            says="Xen",
        ),
        Case(
            title="started an hour ago",
            resource=replace(_SERVER, launched_at=CASE_NOW - timedelta(hours=1)),
            records=_RECORDS,
            expect=Fine,
            says="two hours",
        ),
        Case(
            title="its type could not be read",
            resource=_SERVER,
            unreadable={InstanceType: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(title="stopped", resource=replace(_SERVER, state="stopped"), records=_RECORDS, expect=Fine, says="stopped"),
    ),
)
