"""EC2 instances that used up their network credits and fell to their network baseline.

## What it finds
An instance whose type can burst: its network peak is above its baseline. In one direction, all of this holds:

- Plateau: the traffic stayed at the baseline for an hour in total, in periods of half an hour or more. Each is flat,
  with a mean of 94 to 103 % of the baseline, and all have the same rate.
- Budget: within half an hour after a burst, the credits were used up. The bytes above the baseline equal the credits
  for 5 to 60 minutes at the peak, or all credits earned since the previous plateau.
- After a plateau, the traffic exceeds the baseline only by the credits earned in the meantime.

If only the budget does not fit, the check is inconclusive. If the CloudWatch agent publishes the ENA counters
(ethtool_bw_*_allowance_exceeded), the counters decide. Without them the confidence is at most medium.

## Why it matters
AWS has no metric for network credits. A t3.micro proxy moves 350 MB/s, then 8 MB/s, while its CPU credits are full and
its disks are idle ("Your network I/O credits are zero!", 2023-12-06).

## When it is wrong
- A rate limit in the application, at the peer or of a single flow (5 Gbps) may happen to equal the baseline.
- If the credits are used up for the whole window, the check is inconclusive, unless ENA counters decide.

## What to do
A nightly transfer that ends in time needs no change. If the slow hours hurt, take the smallest type whose baseline
carries the load, or let the traffic bypass the instance through a VPC endpoint.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import Any, Final, NamedTuple

from slackwater.model.detector import Case, Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import AgentMetric, Instance, InstanceType
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import network, network_credits
from slackwater.performance.network_credits import Budget, Plateau
from slackwater.rules import ec2, ec2_network, examples
from slackwater.rules.ec2_network import DIRECTIONS, IN, OUT, QUARTER_HOUR_S, Direction
from slackwater.rules.examples import Cases, Metrics, a_day, and_hourly, days_ago

CREDIT_BALANCE = Metric("AWS/EC2", "CPUCreditBalance", "Minimum", "credits")
SURPLUS_BALANCE = Metric("AWS/EC2", "CPUSurplusCreditBalance", "Maximum", "credits")


class ThrottledLimits(Limits):
    """When traffic counts as stuck to the baseline."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weekly rhythms; five-minute points last 63 days")
    plateau_minutes: int = limit(30, unit="minutes", ge=15, le=1440, why="shorter ones do no harm and may be chance")
    plateau_spread_percent: float = limit(2, unit="percent", gt=0, le=20, why="of the mean; real traffic varies more")
    after_burst_minutes: int = limit(30, unit="minutes", ge=5, le=240, why="the burst causes the plateau after it")
    screen_percent: float = limit(25, unit="percent", gt=0, le=27, why="of an hour at baseline; any plateau exceeds it")

    @property
    def least_points(self) -> int:
        """The number of points of the shortest plateau."""
        return self.plateau_minutes * MINUTE_S // FIVE_MINUTES_S


NEVER_STUCK: Final = "it never stuck to its baseline after a burst"
NOT_HELD_BACK: Final = "its ENA driver held nothing back while it was slow: the limit is elsewhere"


class Stuck(NamedTuple):
    """A plateau in one direction."""

    direction: Direction
    traffic: Series
    plateau: Plateau

    @property
    def span(self) -> tuple[int, int]:
        """Its first and last moment, in epoch seconds."""
        first, end = (self.traffic.start_s + i * FIVE_MINUTES_S for i in (self.plateau.first, self.plateau.end))
        return first, end

    def overlaps(self, other: "Stuck") -> bool:
        """Return whether both have the same direction and share a point."""
        mine, its = self.plateau, other.plateau
        return self.direction is other.direction and mine.first < its.end and its.first < mine.end


def judge(instance: Instance, seen: Seen, limits: ThrottledLimits) -> Verdict:
    """Flag an instance that burst and then stuck to its baseline."""
    screen = ec2_network.traffic(instance, seen, days=limits.window_days, screen_percent=limits.screen_percent)
    found = unless_decided(screen)
    kind, least = found.instance_type, limits.least_points
    counters = {way: _counters(instance, way, seen, limits) for way in found.near}
    cpu = (CREDIT_BALANCE, SURPLUS_BALANCE) if network.has_cpu_credits(kind.id) else ()
    balances = ec2.needs(instance, FIVE_MINUTES_S, limits.window_days, *cpu)
    ways: Sequence[Direction] = found.near
    for period_s in (HOUR_S, QUARTER_HOUR_S) if found.calm else (HOUR_S,):
        room = {way: _room(one, kind, seen, limits) for way, one in found.read(period_s, ways).items()}
        enough = sum(room.values()) >= 2 * least or any(room[way] for way in room if counters[way])
        ways = [way for way in room if room[way] and enough]
    if ways and found.calm:  # the next round is the last: read all that may be needed
        traffic = ec2.needs(instance, FIVE_MINUTES_S, limits.window_days, *(way.traffic for way in ways))
        seen.read(*traffic, *balances, *(need for way in ways for need in counters[way]))
    closer = found.read(FIVE_MINUTES_S, ways)
    near, stuck = list[Stuck](), list[Stuck]()
    for way, one in closer.items():
        level = network_credits.near_baseline(one, network.baseline(kind), min_points=least) if counters[way] else ()
        near += [Stuck(way, one, plateau) for plateau in level]
        stuck += [Stuck(way, one, plateau) for plateau in _plateaus(kind, one, limits)]
    counted = [need for one in near for need in counters[one.direction]]
    seen.read(*counted, *(balances if near or _proven(stuck, limits) else ()))  # in one round: it is the last
    held = [(one, _held_back(one, seen.read(*counters[one.direction]))) for one in near]
    free = [one for one, packets in held if packets is False]
    stuck = [one for one in stuck if not any(one.overlaps(other) for other in free)]
    confirmed = [one for one, packets in held if packets]
    if not stuck and not confirmed:
        return Fine(NOT_HELD_BACK if free else NEVER_STUCK)
    if balances and (confirmed or _proven(stuck, limits)):
        able = unless_decided(_with_cpu_credits([*confirmed, *stuck], *seen.read(*balances)))
        confirmed, stuck = ([one for one in ones if one in able] for ones in (confirmed, stuck))
    if confirmed:
        with_budgets = [next((other for other in stuck if one.overlaps(other)), one) for one in confirmed]
        return _flag(instance, kind, with_budgets, confirmed=True)
    if sure := _proven(stuck, limits):
        return _flag(instance, kind, sure, confirmed=False)
    return _unproven(stuck, limits)


def _room(sums: Series, kind: InstanceType, seen: Seen, limits: ThrottledLimits) -> int:
    """Return the most five-minute points that can be at the baseline."""
    before_s = sums.period_s if len(sums) * sums.period_s < limits.window_days * DAY_S else 0
    around = before_s // FIVE_MINUTES_S, int(seen.now.timestamp() - sums.end_s) // FIVE_MINUTES_S
    return network.most_near_baseline(sums, network.baseline(kind), limits.least_points, around)


def _plateaus(kind: InstanceType, traffic: Series, limits: ThrottledLimits) -> list[Plateau]:
    """Return the plateaus that the bucket of credits explains. The bucket is full when the instance starts."""
    shape = network_credits.Shape(
        min_points=limits.least_points,
        max_spread=limits.plateau_spread_percent / 100,
        max_gap_points=limits.after_burst_minutes * MINUTE_S // FIVE_MINUTES_S,
    )
    full_at_start = len(traffic) < limits.window_days * DAY_S // FIVE_MINUTES_S
    baseline, peak = network.baseline(kind), network.peak(kind)
    return network_credits.plateaus(traffic, baseline, peak, shape, full_at_start=full_at_start)


def _proven(stuck: Sequence[Stuck], limits: ThrottledLimits) -> list[Stuck]:
    """Return all plateaus of a direction in which enough plateaus have a budget and follow a burst."""
    least, spread = 2 * limits.least_points, limits.plateau_spread_percent / 100
    found = {way: [one.plateau for one in stuck if one.direction is way] for way in DIRECTIONS}
    ways = [way for way in found if network_credits.proven(found[way], min_points=least, max_spread=spread)]
    return [one for way in ways for one in stuck if one.direction is way]


def _unproven(stuck: Sequence[Stuck], limits: ThrottledLimits) -> Fine | Unknown:
    """Return the verdict on plateaus whose cause is unknown."""
    slow = sum(one.plateau.points for one in stuck) * FIVE_MINUTES_S / HOUR_S
    if slow * HOUR_S < 2 * limits.plateau_minutes * MINUTE_S:
        return Fine("it hardly ever stuck to its baseline, and no burst had used up its credits")
    return Unknown(
        f"it was at its network baseline for {slow:,.1f} hours, but its credits before that are unknown: a rate limit"
        " of the same speed looks the same. The CloudWatch agent's ENA counters would tell them apart"
    )


def _counters(instance: Instance, direction: Direction, seen: Seen, limits: ThrottledLimits) -> list[Need]:
    """Return the ENA counters that the agent publishes; empty if one is unreadable, because the rest prove nothing."""
    if seen.fleet.broken_of(instance, {AgentMetric}):
        return []
    return [
        _counter(one.namespace, direction).need(*one.dimensions, period_s=FIVE_MINUTES_S, days=limits.window_days)
        for one in seen.fleet.all(AgentMetric)
        if (one.instance_id, one.name) == (instance.id, direction.shaped)
    ]


def _counter(namespace: str, direction: Direction) -> Metric:
    return Metric(namespace, direction.shaped, "Maximum", "packets since the driver was loaded", optional=True)


def _with_cpu_credits(slow: Sequence[Stuck], balance: Series, surplus: Series) -> list[Stuck] | Fine | Unknown:
    """Return the plateaus during which the CPU mostly had or borrowed credits; the verdict if there is none."""
    able, unknown = [], False
    for one in slow:
        left, lent = (series.between(*one.span).values for series in (balance, surplus))
        known = [pair for pair in zip(left, lent, strict=True) if not isnan(pair[0])]
        empty = sum(has < 1 and not borrowed > 0 for has, borrowed in known)  # NaN (nothing borrowed) is not above 0
        if len(known) < one.plateau.points / 2:
            unknown = True
        elif empty <= len(known) / 2:
            able.append(one)
    if not able and unknown:
        return Unknown("CPUCreditBalance has no data while it was slow, so the CPU may have been the limit")
    return able or Fine("it had no CPU credits while it was slow: the CPU was the limit")


def _held_back(stuck: Stuck, counters: Sequence[Series]) -> bool | None:
    """Return whether the ENA driver held back packets at half of a plateau's points; None if most lack a count.

    The counters only grow. A fall is a reset, and that pair of points says nothing.
    """
    points, (start_s, end_s) = stuck.plateau.points, stuck.span
    rose, known = [False] * points, [False] * points
    for counter in counters:
        values = counter.between(start_s - FIVE_MINUTES_S, end_s).values
        for i, (before, after) in enumerate(pairwise(values)):
            known[i] |= after >= before  # False for NaN, a missing point
            rose[i] |= after > before
    return None if sum(known) < points / 2 else sum(rose) >= points / 2


def _flag(instance: Instance, kind: InstanceType, stuck: Sequence[Stuck], *, confirmed: bool) -> Flagged:
    by_way = {one.direction: [other for other in stuck if other.direction is one.direction] for one in stuck}
    worst = max(by_way.values(), key=lambda ones: sum(one.plateau.points for one in ones))
    longest = max(worst, key=lambda one: one.plateau.points)
    traffic, plateau = longest.traffic, longest.plateau
    budget = max((one.plateau for one in worst), key=lambda one: (one.budget is not Budget.UNKNOWN, one.spent_bytes))
    burst_mb_s, stuck_mb_s = budget.burst_bytes_per_s / 1e6, plateau.mean_bytes_per_s / 1e6
    (least, most), full = network.BURST_MINUTES, network.peak(kind) - network.baseline(kind)
    slow_hours = sum(one.plateau.points for one in worst) * FIVE_MINUTES_S / HOUR_S
    after = f", after a burst at {burst_mb_s:,.0f} MB/s" if burst_mb_s else ""
    near_one_flow = abs((kind.network_baseline_gbps or 0) / network.SINGLE_FLOW_GBPS - 1) < 0.1
    ambiguous = not confirmed and (ec2_network.may_differ(instance, kind) or near_one_flow)
    counted = "The ENA driver held packets back meanwhile." if confirmed else "No ENA counter confirms it."
    same = "A rate limit of the same speed looks the same. The CloudWatch agent's ENA counters would tell them apart."
    differs = (
        f"{kind.id} has several network cards, a changed bandwidth weighting, or a baseline near the 5 Gbps of a single"
        " flow, so something else may be the limit."
    )
    more = "The burst shows what the load could use. It may need more."
    span = traffic.start_s + plateau.burst * FIVE_MINUTES_S, longest.span[1]
    label = f"Network {longest.direction.word} around the longest plateau"
    as_burst = f"Budget, as a burst at its peak (usually {least} to {most} minutes)"
    needed = max(budget.burst_bytes_per_s, plateau.mean_bytes_per_s)
    return Flagged(
        summary=(
            f"{slow_hours:,.1f} hours at {stuck_mb_s:,.1f} MB/s ({' and '.join(way.word for way in by_way)}), its"
            f" network baseline{after}: its network credits were used up"
        ),
        severity="high" if confirmed and slow_hours >= 1 else "medium",
        confidence="high" if confirmed else "low" if ambiguous else "medium",
        evidence=(
            ec2_network.chart(label, round(stuck_mb_s, 2), traffic, span, kind),
            ec2_network.baseline_of(kind),
            Evidence("Burst before it", round(burst_mb_s, 1), "MB/s"),
            Evidence("Budget: credits used before it", round(budget.spent_bytes / 1e9, 1), "GB"),
            Evidence(as_burst, round(budget.spent_bytes / full / MINUTE_S, 1), "minutes"),
            Evidence("Budget, in words", budget.budget.value, "words"),
            Evidence("Time at the baseline", round(slow_hours, 2), "hours"),
            Evidence("Variation at the baseline", round(plateau.spread * 100, 2), "percent"),
            Evidence("Other causes", f"Not CPU credits or EBS, which has its own limit. {counted}", "words"),
        ),
        advice=(),
        fingerprint_inputs=(kind.id, confirmed),
        caveats=(more,) if confirmed else (same, differs if ambiguous else more),
        remedies=(ec2_network.options(instance, traffic, needed, "If the slow hours hurt"),),
    )


WINDOW = 14
PROXY = examples.instance(tags={"Name": "s3-proxy"}, instance_type="t3.micro", launched_at=days_ago(100))
ENS5 = (("InstanceId", PROXY.id), ("driver", "ena"), ("interface", "ens5"))
COUNTERS = tuple(
    AgentMetric(id=way.shaped, namespace="CWAgent", name=way.shaped, instance_id=PROXY.id, dimensions=ENS5)
    for way in DIRECTIONS
)
IN_SHAPED, OUT_SHAPED = (_counter("CWAgent", way) for way in DIRECTIONS)
ROSE = [float(n) for n in range(WINDOW * 288)]


def moved(*rates: tuple[float | None, int], way: Direction = OUT) -> Metrics:
    """Return two weeks of almost no traffic, with the (MB/s, minutes) in this order on the last day."""
    levels = ((None if mb_s is None else mb_s * 1e6 * FIVE_MINUTES_S, minutes) for mb_s, minutes in rates)
    return and_hourly(way.traffic, [1e6] * (WINDOW - 1) * 288 + a_day(1e6, *levels), 3)


def always(mb_s: float) -> Metrics:
    """Return the same rate for two weeks."""
    return and_hourly(OUT.traffic, [mb_s * 1e6 * FIVE_MINUTES_S] * WINDOW * 288)


PINNED, BURST = ((350, 30), (100, 5), (7.9, 540)), (350, 30)
DIP, SHORT = (BURST, (7.9, 35), (6.5, 5), (7.9, 500)), ((550, 10), (253, 30), (0, 20))
FALLING = [(8 * ratio, 5) for ratio in (1.9, 1.4, 1.2, 1.12, 1.08, 1.04, 1.01, 0.98, 0.96, 0.94, 0.92, 0.91, 0.8, 0.6)]
INWARD = moved(*PINNED, way=IN)
HALF_EACH_WAY = {**moved(BURST, (4, 540)), **moved(BURST, (4, 540), way=IN)}
RECOVERED = (BURST, (7.9, 300), (0.1, 120), (15, 60))
GONE_AT_FIRST = [144.0] * (WINDOW - 1) * 288 + a_day(144.0, (0.0, 330))
BOTH = {**moved(BURST, (7.9, 300), (0, 240), (39, 60), (7.9, 240)), CREDIT_BALANCE: GONE_AT_FIRST}
BORROWED = {CREDIT_BALANCE: 0, SURPLUS_BALANCE: 40}
NINE_HOURS = "9.0 hours at 7.9 MB/s (out), its network baseline, after a burst"
BASE = {CREDIT_BALANCE: 144, SURPLUS_BALANCE: 0, **moved(*PINNED)}

pinned = Cases(PROXY, BASE, records=examples.BURSTING, period_s=FIVE_MINUTES_S, days=WINDOW)
counted = replace(pinned, metrics={**BASE, IN_SHAPED: ROSE}, records=(*examples.BURSTING, *COUNTERS))
bare = Cases(PROXY, records=examples.BURSTING)


def last(title: str, expect: type[Verdict], *rates: tuple[float | None, int], says: str = "", **fields: Any) -> Case:
    """Return a case with the (MB/s, minutes) in this order on the last day."""
    return pinned(title, expect, says, metrics=moved(*rates), **fields)


DETECTOR = Detector(
    title="EC2 instance throttled to its network baseline",
    kind="performance",
    resource=Instance,
    limits=ThrottledLimits,
    reads=(InstanceType,),
    reads_if_allowed=(AgentMetric,),
    judge=judge,
    outranks=("ec2-network-over-baseline",),
    cases=(
        pinned("a t3.micro proxy at 350 MB/s, and then at 8 for nine hours", Flagged, f"{NINE_HOURS} at 350 MB/s"),
        pinned("the same, in and out: a proxy moves every byte twice", Flagged, "in and out", metrics=INWARD),
        counted("the ENA driver counted what it held back", Flagged, metrics={**INWARD, OUT_SHAPED: ROSE}),
        counted("the ENA driver held nothing back", Fine, "nothing back", metrics={IN_SHAPED: None, OUT_SHAPED: 7}),
        counted("the ENA driver held back in the other direction only", Fine, "nothing back", metrics={OUT_SHAPED: 0}),
        pinned("steady at its baseline, never a burst", Unknown, "credits before that are unknown", metrics=always(8)),
        last("a quarter above the baseline is no burst", Fine, (10, 60), (7.9, 540)),
        last("the burst was two hours before", Fine, BURST, (0, 120), (7.9, 540)),
        last("a peak of ten minutes spent too little: less than four minutes of credits", Fine, (220, 10), (7.9, 540)),
        last("five hours at 350 MB/s: no bucket holds so much", Fine, (350, 300), (7.9, 540)),
        last("credits came back before it", Fine, BURST, (0.1, 20), (7.9, 540)),
        last("level with 93 % of its baseline", Fine, BURST, (7.4, 540)),
        last("above its baseline again at once", Fine, BURST, (7.9, 500), (8.6, 60)),
        last("above it again with the credits of two hours", Flagged, *RECOVERED, says="5.0 h"),
        last("two half hours of it, each after ten minutes of burst", Flagged, *SHORT * 2, instance_type="t3.2xlarge"),
        bare("at its baseline every other five minutes", Fine, metrics=moved(*((8, 5), (2, 5)) * 50, way=IN)),
        last("short bursts that recover", Fine, *((200, 10), (0.1, 50)) * 12),
        last("demand that wanders about the baseline", Fine, BURST, *((7.3, 5), (8.3, 5)) * 50),
        last("a demand that falls slowly through the baseline", Fine, *FALLING, says="never stuck"),
        pinned("half the baseline each way: the directions do not add up", Fine, metrics=HALF_EACH_WAY),
        last("a single flow at 5 Gbps, far above the baseline", Fine, (900, 30), (625, 540), instance_type="m5.large"),
        pinned("the CPU credits were gone, and it may not borrow", Fine, "CPU", metrics={CREDIT_BALANCE: 0}),
        pinned("its CPU credits are unknown", Unknown, "CPUCreditBalance", metrics={CREDIT_BALANCE: None}),
        pinned("the CPU credits were gone, but it borrows (unlimited)", Flagged, metrics=BORROWED),
        pinned("started in the plateau: the burst may have been another type's", Fine, launched_at=days_ago(20 / 24)),
        pinned("out of CPU credits in one plateau, of network credits in the other", Flagged, "4.0 h", metrics=BOTH),
        last("a dip after half an hour does not end it", Flagged, *DIP, says="8.9 hours"),
        last("points missing in the plateau: no run is long enough", Fine, BURST, *((7.9, 20), (None, 5)) * 20),
        bare("a type without burst", Fine, "no burst", instance_type="m6i.8xlarge"),
        pinned("hardly any traffic: settled by the hour", Fine, "never stuck", metrics=always(1 / 300)),
        bare("no metrics", Unknown, "no data"),
    ),
)
