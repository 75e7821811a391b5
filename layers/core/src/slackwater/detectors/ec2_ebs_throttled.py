"""EC2 instances whose EBS limit slows down their volumes.

## What it finds
A running Nitro instance whose volumes together ask for more throughput or IOPS than its type allows. Two signs count.
The metric InstanceEBSThroughputExceededCheck or InstanceEBSIOPSExceededCheck is 1 for more than 45 minutes of a day, or
for 5 % of the minutes in each of three hours of it. Or the burst balance (EBSByteBalance% or EBSIOBalance%) is stuck:
six five-minute points of a day are below 10 % and do not rise. The balance confirms the check, or decides alone if
there is none. If both agree on three days, one such hour a day is enough.

## Why it matters
Most smaller types hold their maximum for half an hour a day, then fall to as little as a fifteenth of it.

## When it is wrong
- A batch that is slower and still ends in time needs no change.
- The metrics show what came through. The volumes may have asked for more.
- Points before the last start do not count: the instance may have had another type. Xen has neither metric.

## What to do
If the slow hours hurt, take the smallest size of the family whose baseline carries the load, move volumes to another
instance, or shift bandwidth from the network to EBS. Otherwise start the work earlier, or spread it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import batched, pairwise
from typing import Any, Final, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import ec2, examples
from slackwater.rules.examples import Cases, Points, a_day, days_ago
from slackwater.rules.series import baseline_and_burst, grouped

MINUTES_PER_HOUR: Final = 60


class Measure(NamedTuple):
    """Throughput or IOPS. One `unit` is `per` bytes or operations a second. Fingerprints contain the name."""

    name: str
    unit: str
    per: float
    check: Metric
    balance: Metric
    used: tuple[Metric, Metric]


def _measure(name: str, unit: str, per: float, balance: str, *used: str) -> Measure:
    """Return a measure with its exceeded check and burst balance."""
    check = Metric("AWS/EC2", f"InstanceEBS{name[0].upper()}{name[1:]}ExceededCheck", "Average", "share of the minutes")
    read, written = (Metric("AWS/EC2", one, "Sum", "operations" if per == 1 else "bytes") for one in used)
    return Measure(name, unit, per, check, Metric("AWS/EC2", balance, "Minimum", "percent"), (read, written))


THROUGHPUT = _measure("throughput", "MiB/s", MIB, "EBSByteBalance%", "EBSReadBytes", "EBSWriteBytes")
IOPS = _measure("IOPS", "IOPS", 1, "EBSIOBalance%", "EBSReadOps", "EBSWriteOps")
MEASURES: Final = (THROUGHPUT, IOPS)
USED: Final = (*THROUGHPUT.used, *IOPS.used)
HOURLY: Final = [one.optionally() for one in USED]  # without it, five minutes decide


class EbsThrottledLimits(Limits):
    """When an instance counts as throttled."""

    window_days: int = limit(8, unit="days", ge=2, le=60, why="a weekly batch; five-minute points last 63 days")
    raised_percent: float = limit(5, unit="percent", gt=0, le=100, why="of an hour's minutes; fewer do no harm")
    raised_hours: int = limit(3, unit="hours", ge=1, le=24, why="per day; a short nightly batch touches at most two")
    batch_minutes: int = limit(45, unit="minutes", ge=30, le=1440, why="per day at the limit; AWS grants 30")
    low_percent: float = limit(10, unit="percent", gt=0, le=50, why="of the burst left: three of its thirty minutes")
    low_points: int = limit(6, unit="points", ge=1, le=288, why="half an hour of five-minute points")
    agreed_days: int = limit(3, unit="days", ge=1, le=60, why="on which check and balance agree; not by chance")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="above the limit; the load may need more")
    missing_hours: int = limit(24, unit="hours", ge=0, le=192, why="a missing day may have been the slow one")


class Slow(NamedTuple):
    """A limit that the instance reached. Without checks, the balance shows it."""

    measure: Measure
    checks: Series
    balance: Series
    minutes: Sequence[float]  # at the limit, on each day that counts
    confirmed: bool = False  # whether the balance confirms the checks


class Load(NamedTuple):
    """An instance with its bytes and operations per second, by hour or five minutes."""

    instance: Instance
    kind: InstanceType
    rates: Mapping[Measure, Series]


def judge(instance: Instance, seen: Seen, limits: EbsThrottledLimits) -> Verdict:
    """Flag an instance that is at its own EBS limit for longer than a batch within its half hour."""
    (kind, measures), days = unless_decided(_to_check(instance, seen)), limits.window_days
    # Read the cheapest metrics first: checks by hour, then what can be slow, then the load by five minutes.
    hourly = partial(ec2.read_since_start, instance, seen, HOUR_S, days)
    checks = dict(zip(measures, hourly(*(m.check for m in measures)), strict=True))
    sure = [m for m in measures if _days_at_limit(checks[m], limits)]
    often = [m for m in measures if len(_raised(checks[m], limits)) >= limits.agreed_days and formulas.can_burst(kind)]
    suspects = [m for m in measures if m in sure or m in often]
    unknown = [m for m in measures if not checks[m].present]
    unchecked, raised = unknown if formulas.can_burst(kind) else [], bool(suspects)
    daily = ec2.daily(instance, days, *(m.balance for m in unchecked))
    closer = partial(ec2.read_since_start, instance, seen, FIVE_MINUTES_S)
    back = 1 if suspects == sure and formulas.can_burst(kind) and not daily else days  # one may confirm the checks
    if raised:
        balances = [m.balance for m in suspects if formulas.can_burst(kind)]
        by_five_minutes = ec2.needs(instance, FIVE_MINUTES_S, back, *balances)
        seen.read(*daily, *by_five_minutes, *ec2.needs(instance, HOUR_S, days, *HOURLY))
    if daily:
        since_s = instance.launched_at.timestamp() - DAY_S  # includes the day in which the instance started
        lowest = {m: one.since(since_s).present for m, one in zip(unchecked, seen.read(*daily), strict=True)}
        suspects += [one for one in unknown if min(lowest[one], default=100) < limits.low_percent]
        unknown = [one for one in unknown if not lowest[one]]
    if suspects:
        balances = [m.balance for m in suspects if formulas.can_burst(kind)]
        by_hour = _rates([one.newest(days - 1 / 24) for one in hourly(*HOURLY)]) if raised else {}
        load = Load(instance, kind, by_hour)
        if daily or (back == 1 and not any(_low_days(one, limits) for one in closer(back, *balances))):
            used = () if not daily and _is_too_large(load, suspects, seen, limits) else USED
            back = days
            closer(back, *balances, *used)  # all in one round, because it is the last
        left = closer(back, *balances) or [Series.of(0, FIVE_MINUTES_S, ())] * len(suspects)
        slow = [_slow(one, checks[one], series, limits) for one, series in zip(suspects, left, strict=True)]
        if throttled := [one for one in slow if one.minutes]:
            if not _is_too_large(load, [one.measure for one in throttled], seen, limits):
                load = load._replace(rates=_rates(closer(days, *USED)))
            return _flag(load, throttled, seen, limits)
    if unknown:
        return Unknown("CloudWatch has neither EBS balances nor exceeded checks since it was started")
    missing = max(one.missing if one.present else 0 for one in checks.values())
    if missing > limits.missing_hours:
        return Unknown(f"its exceeded checks have no data in {missing} hours")
    return Fine("it was not at its EBS limit for long")


def _is_too_large(load: Load, slow: Sequence[Measure], seen: Seen, limits: EbsThrottledLimits) -> bool:
    """Return whether no type of the family carries even the mean of the busiest hour; False if that is unknown."""
    family = [one for one in seen.fleet.all(InstanceType) if one.family == load.kind.family]
    known = load.rates and all(one.present for one in load.rates.values())
    needed = _needed(load, slow, limits) if known else None
    return needed is not None and not formulas.smallest_that_carries(family, needed)


def _rates(sums: Sequence[Series]) -> dict[Measure, Series]:
    """Return the bytes and operations per second."""
    both = [one.plus(other) for one, other in batched(sums, 2)]
    return {m: counted.over(counted.period_s) for m, counted in zip(MEASURES, both, strict=True)}


def _to_check(instance: Instance, seen: Seen) -> tuple[InstanceType, list[Measure]] | Fine | Unknown:
    """Return its type, and what its volumes can take to the limit; the verdict if the configuration decides."""
    kind = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if kind is None:
        return Unknown(f"its type {instance.instance_type} is not in the inventory")
    if kind.hypervisor == "xen":
        return Fine("it runs on Xen, which has neither balances nor checks")
    if seen.is_younger(instance.launched_at, hours=2):
        return Fine("it was started less than two hours ago")
    readable = Volume not in seen.fleet.unreadable and instance.bandwidth_weighting == "default"
    if not readable or not (allowed := formulas.instance_limits(kind, "gp3")):
        return kind, [*MEASURES]
    most = formulas.most_of_all(seen.fleet.volumes_of(instance.id))
    measures = [m for m in MEASURES if most.of(m.unit) > allowed.baseline.of(m.unit)]
    return (kind, measures) if measures else Fine("its baseline carries all its volumes at their fastest")


def _raised(checks: Series, limits: EbsThrottledLimits) -> dict[int, list[float]]:
    """Return the minutes at the limit of each hour that has enough of them, by the number of days before now."""
    days: defaultdict[int, list[float]] = defaultdict(list)
    for hours_ago, share in enumerate(reversed(checks.values)):
        if share >= limits.raised_percent / 100:  # False for NaN, a missing point
            days[hours_ago // 24].append(share * MINUTES_PER_HOUR)
    return days


def _days_at_limit(checks: Series, limits: EbsThrottledLimits) -> list[float]:
    """Return the minutes at the limit of each day that has too many of them, or too many such hours."""
    days = [(len(minutes), sum(minutes)) for minutes in _raised(checks, limits).values()]
    return [total for hours, total in days if hours >= limits.raised_hours or total > limits.batch_minutes]


def _slow(measure: Measure, checks: Series, balance: Series, limits: EbsThrottledLimits) -> Slow:
    """Return the minutes by the checks, or by checks and balance on enough days; without checks, by the balance."""
    low = _low_days(balance, limits)
    if not checks.present:
        return Slow(measure, checks, balance, [points * FIVE_MINUTES_S / MINUTE_S for points in low.values()])
    if minutes := _days_at_limit(checks, limits):
        return Slow(measure, checks, balance, minutes, confirmed=bool(low))
    agreed = [sum(minutes) for day, minutes in _raised(checks, limits).items() if day in low]
    return Slow(measure, checks, balance, agreed if len(agreed) >= limits.agreed_days else ())


def _low_days(balance: Series, limits: EbsThrottledLimits) -> dict[int, int]:
    """Return the points at which a balance is low and does not rise, if enough, by the number of days before now."""
    pairs = enumerate(pairwise(reversed(balance.values)))  # NaN, a missing point, is neither low nor risen
    stuck = (ago for ago, (after, before) in pairs if after < limits.low_percent and after <= before)
    days = Counter(points_ago * FIVE_MINUTES_S // DAY_S for points_ago in stuck)
    return {day: points for day, points in days.items() if points >= limits.low_points}


def _flag(load: Load, throttled: Sequence[Slow], seen: Seen, limits: EbsThrottledLimits) -> Flagged:
    kind, rates = load.kind, load.rates
    worst, slow = max(throttled, key=lambda one: sum(one.minutes)), [one.measure for one in throttled]
    caveat = "The metrics show what came through. The volumes may have asked for more."
    if (weighting := load.instance.bandwidth_weighting) != "default":
        caveat = f"Its bandwidth weighting is {weighting}, so its real limit differs a little."
    if not any(one.checks.present for one in throttled):
        caveat = "CloudWatch has no exceeded checks for it. The finding rests on its balance alone."
    confirmed, names = any(one.confirmed for one in throttled), " and ".join(one.name for one in slow)
    return Flagged(
        summary=(
            f"{sum(worst.minutes) / MINUTES_PER_HOUR:,.1f} hours at the EBS {names} limit of {kind.id}"
            f" on {len(worst.minutes)} of {limits.window_days} days"
        ),
        severity="high" if confirmed else "medium",
        confidence="high" if any(_days_at_limit(one.checks, limits) for one in throttled) else "medium",
        evidence=(
            *(evidence for one in throttled for evidence in _limit_evidence(one, limits)),
            *(_peak(one, rates[one], kind, drawn=one in slow) for one in MEASURES if rates[one].present),
            *_carried(kind),
        ),
        advice=_advice(load, slow, seen, limits),
        fingerprint_inputs=(kind.id, names, confirmed),
        caveats=(caveat, "A batch that still ends in time needs no change."),
    )


def _limit_evidence(slow: Slow, limits: EbsThrottledLimits) -> Iterator[Evidence]:
    name, balance = slow.measure.name, slow.balance
    if slow.checks.present:
        label, by_hour_ = f"Minutes at its {name} limit, per hour", slow.checks.over(1 / MINUTES_PER_HOUR)
        line = Line("Counts from", limits.raised_percent / 100 * MINUTES_PER_HOUR)
        yield Evidence(label, round(sum(slow.minutes)), "minutes", by_hour_, MINUTES_PER_HOUR, (line,))
    if balance.present:
        when = " of the last day" if len(balance) <= DAY_S // FIVE_MINUTES_S else ""
        label, line = f"Lowest {name} burst balance{when}, per hour", Line("Low below", limits.low_percent)
        yield Evidence(label, round(min(balance.present), 1), "percent", grouped(balance, HOUR_S, min), 100, (line,))


def _peak(measure: Measure, rate: Series, kind: InstanceType, *, drawn: bool) -> Evidence:
    highest = max(rate.present) / measure.per
    value = round(highest) if measure is IOPS else round(highest, 1)
    label = "Busiest five minutes" if rate.period_s == FIVE_MINUTES_S else "Busiest rate by the hour"
    if not drawn:
        return Evidence(label, value, measure.unit)
    series = grouped(rate.over(measure.per), HOUR_S, lambda hour: round(max(hour), 2))
    allowed = formulas.instance_limits(kind, "gp3")
    levels = allowed and baseline_and_burst(*(one.of(measure.unit) for one in (allowed.baseline, allowed.burst)))
    return Evidence(label, value, measure.unit, series, lines=levels or ())


def _carried(kind: InstanceType) -> tuple[Evidence, ...]:
    """Return evidence: what the type allows; empty if EC2 does not publish it."""
    if not (allowed := formulas.instance_limits(kind, "gp3")):
        return ()
    steady, burst = (f"{one.mib_s:,.0f} MiB/s and {one.iops:,.0f} IOPS" for one in (allowed.baseline, allowed.burst))
    more = f", {burst} for half an hour a day" if allowed.burst != allowed.baseline else ""
    return (Evidence("EBS limit of the instance", steady + more, "words"),)


def _advice(load: Load, slow: Sequence[Measure], seen: Seen, limits: EbsThrottledLimits) -> tuple[Advice, ...]:
    instance, kind, _ = load
    needed = _needed(load, slow, limits)
    what = f"{needed.mib_s:,.0f} MiB/s and {needed.iops:,.0f} IOPS"
    larger = ec2.larger(instance, needed, seen, when="If the slow hours hurt", what=what)
    weighs = instance.bandwidth_weighting != "ebs-1" and ec2.MAY_WEIGHT.match(kind.family)
    shift = ec2.shift_to_ebs(instance) if weighs and THROUGHPUT in slow else None
    spread = Advice(
        action="spread-the-load",
        summary="Start the work earlier, or spread it over more hours or over volumes of another instance.",
        changes=None,
        risk="Other work at the same time may have to wait.",
        reversible=True,
    )
    return tuple(one for one in (shift, larger, spread) if one)


def _needed(load: Load, slow: Sequence[Measure], limits: EbsThrottledLimits) -> formulas.Allowance:
    """Return what a size must carry. A reached limit counts with headroom: the load may need more."""
    needed = {one: max(load.rates[one].present, default=0.0) for one in MEASURES}
    if allowed := formulas.instance_limits(load.kind, "gp3"):
        reached = {THROUGHPUT: allowed.baseline.bytes_per_s, IOPS: allowed.baseline.iops}
        needed |= {one: max(needed[one], reached[one] * (1 + limits.headroom_percent / 100)) for one in slow}
    return formulas.Allowance(needed[THROUGHPUT], needed[IOPS])


def last_day(rest: float, *levels: tuple[float, int], period_s: int = FIVE_MINUTES_S) -> Points:
    """Return eight days at `rest`, with the (value, minutes) in this order on the last day."""
    return [rest] * 7 * (DAY_S // period_s) + a_day(rest, *levels, period_s=period_s)


SERVER = examples.instance(id="i-0dddddddddddddddd", tags={"Name": "transcoder"}, instance_type="m6i.large")
DATA = examples.volume(SERVER, id="vol-0ddddddddddddddd0", iops=20_000, throughput_mib_s=1_000)
TYPES = (
    *examples.ebs_types(
        ("m6i.large", (650, 10_000), (3_600, 40_000)),
        ("m6i.xlarge", (1_250, 10_000), (6_000, 40_000)),
        ("m6i.2xlarge", (2_500, 10_000), (12_000, 40_000)),
        ("m6i.8xlarge", (10_000, 10_000), (40_000, 40_000)),
        ("m5.4xlarge", (4_750, 4_750), (18_750, 18_750)),
        ("m5.8xlarge", (6_800, 6_800), (30_000, 30_000)),
        ("m8g.large", (630, 10_000), (3_600, 40_000)),
    ),
    examples.instance_type("m4.large", hypervisor="xen"),
    examples.instance_type("u-1.metal", hypervisor="other"),
)
BALANCE = (THROUGHPUT.balance, FIVE_MINUTES_S)
QUIET: Final = {THROUGHPUT.check: 0.0, IOPS.check: 0.0}
NO_CHECKS: Final = dict.fromkeys(QUIET)
MOVED: Final = {(metric, FIVE_MINUTES_S): 0.0 for one in MEASURES for metric in one.used} | {
    (THROUGHPUT.used[0], FIVE_MINUTES_S): last_day(0.0, (150 * MIB * 300.0, 400)),
    (IOPS.used[0], FIVE_MINUTES_S): last_day(0.0, (1_200 * 300.0, 400)),
}
SIX_HOURS = last_day(0.0, (0.5, 60), (1.0, 300), (0.1, 60), period_s=HOUR_S)
NIGHTLY = {THROUGHPUT.check: last_day(0.0, (0.25, 60), (0.2, 60), period_s=HOUR_S)}
FOUR_HOURS, A_LITTLE = (last_day(0.0, level, period_s=HOUR_S) for level in ((1.0, 240), (0.1, 480)))
EMPTY: Final = {BALANCE: last_day(100.0, (50, 10), (20, 10), (0, 330))}
FULL: Final = {(one.balance, DAY_S): [100] * 9 for one in MEASURES}
LOW_DAY: Final = FULL | {(THROUGHPUT.balance, DAY_S): [100] * 7 + [0, 100]}
RISING = last_day(100.0, (60, 5), (30, 5), (4, 5), (2, 5), *((i / 2, 5) for i in range(100)))
BACK_AGAIN: Final = NO_CHECKS | LOW_DAY | {BALANCE: RISING}
FORTY: Final = {THROUGHPUT.check: [0.4, 0.25, *[0.0] * 22] * 8}
STUCK: Final = FORTY | {BALANCE: [50.0, *[0.0] * 8, *(20.0 + i / 4 for i in range(279))] * 8}
AT_ONCE: Final = FORTY | {BALANCE: [50.0, 20.0, *(2.0 + i / 3 for i in range(286))] * 8}
SLOWER: Any = {"instance_type": "m6i.2xlarge", "records": (*TYPES, replace(DATA, iops=3_000, throughput_mib_s=125))}

quiet = Cases(SERVER, QUIET, records=(DATA, *TYPES), period_s=HOUR_S, days=8)
batch = replace(quiet, metrics={**QUIET, **MOVED, THROUGHPUT.check: SIX_HOURS})
small = replace(quiet, metrics={**QUIET, **MOVED, IOPS.check: FOUR_HOURS})
bare = Cases(SERVER, records=(DATA, *TYPES))

DETECTOR = Detector(
    title="EC2 instance at its own EBS limit",
    kind="performance",
    resource=Instance,
    limits=EbsThrottledLimits,
    reads=(InstanceType,),
    reads_if_allowed=(Volume,),
    judge=judge,
    cases=(
        batch("a batch of six hours on a burst of half an hour", Flagged, "large on 1 of 8 days", metrics=EMPTY),
        batch("the same, and the balances are not published", Flagged, "5.6 hours at the EBS throughput limit of m6i"),
        batch("the same, and the checks are not published", Flagged, "5.5 hours", metrics=NO_CHECKS | EMPTY | LOW_DAY),
        small("small I/O: the IOPS are at their limit", Flagged, "the EBS IOPS limit"),
        small("a few minutes in every hour of the day", Flagged, "0.8 hours", metrics={IOPS.check: A_LITTLE}),
        batch("a type without burst, at its limit for hours", Flagged, "m5.4xlarge", instance_type="m5.4xlarge"),
        batch("40 minutes every day, with nothing left of the burst", Flagged, "5.2 hours", metrics=STUCK),
        batch("40 minutes every day, and the burst comes back at once", Fine, "for long", metrics=AT_ONCE),
        quiet("a nightly batch within its half hour, across an hour's end", Fine, "for long", metrics=NIGHTLY),
        batch("the burst is nearly used up every night, and comes back; no checks", Fine, metrics=BACK_AGAIN),
        bare("a volume that is slower than the instance: settled by the configuration", Fine, "all its", **SLOWER),
        quiet("never at its limit", Fine, "for long"),
        quiet("a minute now and then", Fine, metrics={THROUGHPUT.check: 1 / 60}),
        batch("slow until it was given a larger type yesterday", Fine, launched_at=days_ago(9 / 24), metrics=EMPTY),
        quiet("two days without metrics", Unknown, "48 hours", metrics={IOPS.check: [None] * 48 + [0.0] * 144}),
        bare("no metrics", Unknown, "neither"),
        bare("bare metal without metrics", Unknown, "neither", instance_type="u-1.metal"),
        bare("its balances are full, and the checks are not published", Fine, metrics=FULL),
        bare("on Xen", Fine, "Xen", instance_type="m4.large"),
        bare("started an hour ago", Fine, "two hours", launched_at=days_ago(1 / 24)),
        bare("its type could not be read", Unknown, "denied", records=(), unreadable={InstanceType: "denied"}),
        bare("stopped", Fine, "stopped", state="stopped"),
    ),
)
