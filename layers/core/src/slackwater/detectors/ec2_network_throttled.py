"""Instances whose network credits are gone: they burst, and then stick to their baseline.

## What it finds
An instance of a type that bursts (peak above baseline), whose traffic in one direction went well above its baseline and then,
within half an hour, stuck to it for at least six five-minute points, flat. With the CloudWatch agent's ENA counters the
finding is confirmed, or taken back; without them it is at most medium, because a shaper set to just that rate looks the same.

## Why it matters
There is no metric for network credits. A t3.micro proxy moves 350 MB/s, then 8, and the CPU credits are full and the disks
idle ("Your network I/O credits are zero!", 2023-12-06). Nothing in AWS tells.

## When it is wrong
A rate limit in the application, at the peer or on the link that happens to equal the baseline; an upstream file system at its
own permitted rate; a single flow, which carries at most 5 Gbps. A plateau without a burst before it is not evidence and is
not flagged; nor is one while the CPU credits were gone, nor points from before the last start (the type may have been
another). A demand that falls slowly through the baseline sticks to nothing: a plateau must not drift, and the shorter it is,
the flatter it must be.

## What to do
First ask whether the slow hours hurt: a nightly transfer that ends in time needs nothing. Otherwise take the smallest type
whose baseline carries the load, or a type without burst; or take the traffic off the instance (an interface endpoint, or a
gateway endpoint for clients inside the VPC).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from math import isnan

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import AgentMetric, Instance, InstanceType, Target
from slackwater.model.units import FIVE_MINUTES_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import network
from slackwater.performance.network import Plateau
from slackwater.rules import ec2_network
from slackwater.rules.ec2_network import IN, OUT, Direction, Traffic

CREDIT_BALANCE = Metric("AWS/EC2", "CPUCreditBalance", "Minimum", "credits")
SURPLUS_BALANCE = Metric("AWS/EC2", "CPUSurplusCreditBalance", "Maximum", "credits")


class ThrottledLimits(Limits):
    """What counts as stuck to the baseline."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weekly rhythms; five-minute points are kept 63 days")
    plateau_minutes: int = limit(30, unit="minutes", ge=15, le=1440, why="shorter ones hurt nobody and may be chance")
    plateau_spread_percent: float = limit(
        5,
        unit="percent",
        gt=0,
        le=20,
        why="standard deviation, or drift, over mean: a shaper is flat, demand is not; the shortest plateau has half of it",
    )
    after_burst_minutes: int = limit(30, unit="minutes", ge=5, le=240, why="the plateau follows from the burst before it")
    screen_percent: float = limit(
        25, unit="percent", gt=0, le=27, why="of an hour at baseline; a burst and a plateau leave more in one of two hours"
    )


@dataclass(frozen=True, slots=True)
class Stuck:
    """One direction's plateaus."""

    direction: Direction
    traffic: Series
    plateaus: list[Plateau]

    @property
    def longest(self) -> Plateau:
        """The longest plateau."""
        return max(self.plateaus, key=lambda plateau: plateau.points)

    @property
    def seconds(self) -> int:
        """All of them together."""
        return network.seconds_of(self.plateaus, self.traffic.period_s)


def judge(instance: Instance, seen: Seen, limits: ThrottledLimits) -> Verdict:
    """Flag an instance that burst and then stuck to its baseline."""
    found = ec2_network.traffic(instance, seen, days=limits.window_days, screen_percent=limits.screen_percent)
    if not isinstance(found, Traffic):
        return found
    if not found.by_five_minutes:
        return Fine("no hour came near its baseline")
    instance_type = found.instance_type
    stuck = []
    for way, traffic in found.by_five_minutes.items():
        if plateaus := network.plateaus(
            traffic,
            found.baseline_gbps,
            min_points=limits.plateau_minutes * MINUTE_S // FIVE_MINUTES_S,
            max_spread=limits.plateau_spread_percent / 100,
            max_gap_s=limits.after_burst_minutes * MINUTE_S,
        ):
            stuck.append(Stuck(way, traffic, plateaus))
    if not stuck:
        return Fine("it never stuck to its baseline after a burst")

    credits_needs = [
        ec2_network.need(instance, metric, FIVE_MINUTES_S, limits.window_days)
        for metric in (CREDIT_BALANCE, SURPLUS_BALANCE)
        if network.has_cpu_credits(instance_type.id)
    ]
    counters = {one.direction: _counters(instance, one.direction, seen, limits) for one in stuck}
    if lacking := seen.lacking([*credits_needs, *(need for needs in counters.values() for need in needs)]):
        return Ask(lacking)
    if credits_needs:
        balance, surplus = (seen[need] for need in credits_needs)
        out = [_cpu_was_out_of_credits(one.traffic, plateau, balance, surplus) for one in stuck for plateau in one.plateaus]
        stuck = _only(stuck, lambda one, plateau: _cpu_was_out_of_credits(one.traffic, plateau, balance, surplus) is False)
        if not stuck and None in out:
            return Unknown("CPUCreditBalance has no points while it was slow: the CPU may have been the limit")
        if not stuck:
            return Fine("its CPU credits were gone while it was slow: the CPU was the limit")
    counted = {way: [seen[need] for need in needs] for way, needs in counters.items()}
    stuck = _only(stuck, lambda one, plateau: _held_back(one.traffic, plateau, counted[one.direction]) is not False)
    if not stuck:
        return Fine("its ENA driver held nothing back while it was slow: the limit is elsewhere")
    confirmed = _only(stuck, lambda one, plateau: _held_back(one.traffic, plateau, counted[one.direction]) is True)
    worst = max(confirmed or stuck, key=lambda one: one.seconds)
    return _flag(instance, instance_type, worst, stuck, confirmed=bool(confirmed))


def _only(stuck: list[Stuck], keep: Callable[[Stuck, Plateau], bool]) -> list[Stuck]:
    kept = [replace(one, plateaus=[plateau for plateau in one.plateaus if keep(one, plateau)]) for one in stuck]
    return [one for one in kept if one.plateaus]


def _counters(instance: Instance, direction: Direction, seen: Seen, limits: ThrottledLimits) -> list[Need]:
    return [
        _counter(found.namespace, found.name).need(*found.dimensions, period_s=FIVE_MINUTES_S, days=limits.window_days)
        for found in seen.fleet.all(AgentMetric)
        if found.instance_id == instance.id and found.name == direction.shaped
    ]


def _counter(namespace: str, name: str) -> Metric:
    return Metric(namespace, name, "Maximum", "packets since the driver was loaded", optional=True)


def _span(traffic: Series, plateau: Plateau) -> tuple[int, int]:
    return traffic.start_s + plateau.first * FIVE_MINUTES_S, traffic.start_s + plateau.end * FIVE_MINUTES_S


def _cpu_was_out_of_credits(traffic: Series, plateau: Plateau, balance: Series, surplus: Series) -> bool | None:
    """Whether the CPU had neither credits nor, in unlimited mode, surplus credits for most of a plateau.

    None where most of the plateau has no point.
    """
    left, lent = (series.between(*_span(traffic, plateau)) for series in (balance, surplus))
    empty = [
        credits_left < 1 and not (credits_lent > 0)  # NaN, nothing lent or not published, is not above zero
        for credits_left, credits_lent in zip(left.values, lent.values, strict=True)
        if not isnan(credits_left)
    ]
    return None if len(empty) < plateau.points / 2 else sum(empty) > len(empty) / 2


def _held_back(traffic: Series, plateau: Plateau, counters: list[Series]) -> bool | None:
    """Whether the ENA driver counted packets held back in at least half of a plateau's points; None where nobody counted.

    The counters only grow; a fall is a reset, and that pair says nothing.
    """
    start_s, end_s = _span(traffic, plateau)
    rose, known = [False] * plateau.points, [False] * plateau.points
    for counter in counters:
        values = counter.between(start_s - FIVE_MINUTES_S, end_s).values
        for i, (before, after) in enumerate(pairwise(values)):
            if not isnan(before) and not isnan(after) and after >= before:
                known[i] = True
                rose[i] |= after > before
    if sum(known) < plateau.points / 2:
        return None
    return sum(rose) >= plateau.points / 2


def _flag(
    instance: Instance,
    instance_type: InstanceType,
    worst: Stuck,
    stuck: list[Stuck],
    *,
    confirmed: bool,
) -> Flagged:
    plateau, baseline = worst.longest, instance_type.network_baseline_gbps or 0
    burst_mb_s, stuck_mb_s = plateau.burst_bytes_per_s / 1e6, plateau.mean_bytes_per_s / 1e6
    slow_hours = worst.seconds / HOUR_S
    ambiguous = not confirmed and (
        ec2_network.may_differ(instance, instance_type) or abs(baseline / network.SINGLE_FLOW_GBPS - 1) < 0.1
    )
    confidence: Confidence = "high" if confirmed else "low" if ambiguous else "medium"
    counted = "The ENA driver counted packets held back in those minutes."
    ruled_out = counted if confirmed else "No ENA counters were there to confirm it."
    return Flagged(
        summary=(
            f"{' and '.join(one.direction.word for one in stuck)}: burst at {burst_mb_s:,.0f} MB/s, then stuck at"
            f" {stuck_mb_s:,.1f} MB/s, its baseline, for {slow_hours:,.1f} hours: its network credits were gone"
        ),
        severity="high" if confirmed and slow_hours >= 1 else "medium",
        confidence=confidence,
        evidence=(
            ec2_network.picture(
                f"Network {worst.direction.word} around the longest plateau",
                round(stuck_mb_s, 2),
                worst.traffic,
                worst.traffic.start_s + plateau.burst * FIVE_MINUTES_S,
                worst.traffic.start_s + plateau.end * FIVE_MINUTES_S,
                instance_type,
            ),
            ec2_network.baseline_of(instance_type),
            Evidence(label="Burst before it", value=round(burst_mb_s, 1), unit="MB/s"),
            Evidence(label="Stuck", value=round(slow_hours, 2), unit="hours"),
            Evidence(label="Variation while stuck", value=round(plateau.spread * 100, 2), unit="percent"),
            Evidence(
                label="Ruled out",
                value=f"CPU credits were not gone; EBS has an allowance of its own. {ruled_out}",
                unit="words",
            ),
        ),
        advice=(),
        gist=(instance_type.id, confirmed),
        caveats=_caveats(instance_type, ambiguous=ambiguous, confirmed=confirmed),
        remedies=(ec2_network.ways_out(instance, worst.traffic, plateau.burst_bytes_per_s, "If the slow hours hurt"),),
    )


def _caveats(instance_type: InstanceType, *, ambiguous: bool, confirmed: bool) -> tuple[str, ...]:
    caveats = ["The burst shows what the load could use, not what it needs: it may have wanted more."]
    if not confirmed:
        caveats.append(
            "A shaper set to the baseline looks the same. The CloudWatch agent's ethtool_bw_*_allowance_exceeded would tell."
        )
    if ambiguous:
        caveats.append(
            f"{instance_type.id} has several network cards, a changed bandwidth weighting, or a baseline near the 5 Gbps of"
            " a single flow: look closer."
        )
    return tuple(caveats)


_TARGET = Target("123456789012", "ap-northeast-1")
_PROXY = Instance(
    id="i-0cccccccccccccccc",
    arn="arn:aws:ec2:ap-northeast-1:123456789012:instance/i-0cccccccccccccccc",
    target=_TARGET,
    tags={"Name": "s3-proxy"},
    instance_type="t3.micro",
    state="running",
    launched_at=CASE_NOW - timedelta(days=100),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)


def _type(name: str, vcpus: int, baseline_gbps: float, peak_gbps: float) -> InstanceType:
    return InstanceType(
        id=name,
        vcpus=vcpus,
        hypervisor="nitro",
        network_baseline_gbps=baseline_gbps,
        network_peak_gbps=peak_gbps,
        network_cards=1,
        ebs_baseline_mbps=None,
        ebs_maximum_mbps=None,
        ebs_baseline_iops=None,
        ebs_maximum_iops=None,
        source="a worked example",
    )


_TYPES = (
    _type("t3.micro", 2, 0.064, 5),
    _type("t3.2xlarge", 8, 2.048, 5),
    _type("m5.large", 2, 0.75, 10),
    _type("m6i.2xlarge", 8, 3.125, 12.5),
    _type("m6i.8xlarge", 32, 12.5, 12.5),
)
_COUNTERS = tuple(
    AgentMetric(
        id=f"{_PROXY.id}/{way.shaped}/ens5",
        namespace="CWAgent",
        name=way.shaped,
        instance_id=_PROXY.id,
        dimensions=(("InstanceId", _PROXY.id), ("driver", "ena"), ("interface", "ens5")),
    )
    for way in (IN, OUT)
)
_IN_SHAPED, _OUT_SHAPED = (_counter("CWAgent", way.shaped) for way in (IN, OUT))


def _last_day(*rates: tuple[float | None, int]) -> list[float | None]:
    """13 quiet days, then (MB/s, minutes) one after the other, then quiet to the end of a day: bytes by five minutes."""
    day = [None if mb_s is None else mb_s * 1e6 * 300 for mb_s, minutes in rates for _ in range(minutes // 5)]
    return [1e6] * (14 * 288 - 288) + day + [1e6] * (288 - len(day))


def _traffic(way: Direction, by_five_minutes: list[float | None]) -> dict[tuple[Metric, int], list[float | None]]:
    by_hour = [sum(v or 0 for v in by_five_minutes[i : i + 12]) for i in range(0, len(by_five_minutes), 12)]
    return {(way.traffic, FIVE_MINUTES_S): by_five_minutes, (way.traffic, HOUR_S): [*by_hour]}


def _ever(value: float) -> list[float | None]:
    return [value] * (14 * 288)


_FALLING = (1.2, 1.12, 1.08, 1.04, 1.01, 0.98, 0.96, 0.94, 0.92, 0.91, 0.8, 0.6)
_CREDITS = {(CREDIT_BALANCE, FIVE_MINUTES_S): _ever(144), (SURPLUS_BALANCE, FIVE_MINUTES_S): _ever(0)}
_PINNED = {**_CREDITS, **_traffic(OUT, _last_day((350, 30), (100, 5), (7.9, 540)))}

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
        Case(
            title="a t3.micro proxy at 350 MB/s, and then at 8 for nine hours",
            resource=_PROXY,
            records=_TYPES,
            metrics=_PINNED,
            expect=Flagged,
            says="burst at 350 MB/s, then stuck at 7.9 MB/s, its baseline, for 9.0 hours",
        ),
        Case(
            title="the same, in and out: a proxy moves every byte twice",
            resource=_PROXY,
            records=_TYPES,
            metrics={**_PINNED, **_traffic(IN, _last_day((350, 30), (100, 5), (7.9, 540)))},
            expect=Flagged,
            says="in and out",
        ),
        Case(
            title="the ENA driver counted what it held back",
            resource=_PROXY,
            records=(*_TYPES, *_COUNTERS),
            metrics={
                **_PINNED,
                **_traffic(IN, _last_day((350, 30), (100, 5), (7.9, 540))),
                (_IN_SHAPED, FIVE_MINUTES_S): [float(n) for n in range(14 * 288)],
                (_OUT_SHAPED, FIVE_MINUTES_S): [float(n) for n in range(14 * 288)],
            },
            expect=Flagged,
        ),
        Case(
            title="the ENA driver held nothing back",
            resource=_PROXY,
            records=(*_TYPES, *_COUNTERS),
            metrics={**_PINNED, (_OUT_SHAPED, FIVE_MINUTES_S): _ever(7)},
            expect=Fine,
            says="held nothing back",
        ),
        Case(
            title="the ENA driver held back, but only in the other direction",
            resource=_PROXY,
            records=(*_TYPES, *_COUNTERS),
            metrics={
                **_PINNED,
                (_IN_SHAPED, FIVE_MINUTES_S): [float(n) for n in range(14 * 288)],
                (_OUT_SHAPED, FIVE_MINUTES_S): _ever(0),
            },
            expect=Fine,
            says="held nothing back",
        ),
        Case(
            title="steady at its baseline, never a burst",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _ever(8e6 * 300)),
            expect=Fine,
            says="never stuck to its baseline after a burst",
        ),
        Case(
            title="a quarter above the baseline is no burst",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((10, 60), (7.9, 540))),
            expect=Fine,
        ),
        Case(
            title="the burst was two hours before",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((350, 30), (0, 120), (7.9, 540))),
            expect=Fine,
        ),
        Case(
            title="short bursts that recover",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day(*((200, 10), (0.1, 50)) * 12)),
            expect=Fine,
        ),
        Case(
            title="demand that wanders about the baseline",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((350, 30), *((7.3, 5), (8.3, 5)) * 50)),
            expect=Fine,
        ),
        Case(
            title="a demand that falls slowly through the baseline",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day(*((8 * ratio, 5) for ratio in (1.9, 1.4, *_FALLING)))),
            expect=Fine,
            says="never stuck",
        ),
        Case(
            title="half the baseline each way: the directions do not add up",
            resource=_PROXY,
            records=_TYPES,
            metrics={
                **_traffic(OUT, _last_day((350, 30), (4, 540))),
                **_traffic(IN, _last_day((350, 30), (4, 540))),
            },
            expect=Fine,
        ),
        Case(
            title="a single flow at 5 Gbps, far above the baseline",
            resource=replace(_PROXY, instance_type="m5.large"),
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((900, 30), (625, 540))),
            expect=Fine,
        ),
        Case(
            title="the CPU credits were gone, and it may not borrow",
            resource=_PROXY,
            records=_TYPES,
            metrics={
                **_PINNED,
                (CREDIT_BALANCE, FIVE_MINUTES_S): _ever(0),
                (SURPLUS_BALANCE, FIVE_MINUTES_S): _ever(0),
            },
            expect=Fine,
            says="CPU",
        ),
        Case(
            title="nobody knows of its CPU credits",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((350, 30), (100, 5), (7.9, 540))),
            expect=Unknown,
            says="CPUCreditBalance",
        ),
        Case(
            title="the CPU credits were gone, but it borrows (unlimited)",
            resource=_PROXY,
            records=_TYPES,
            metrics={
                **_PINNED,
                (CREDIT_BALANCE, FIVE_MINUTES_S): _ever(0),
                (SURPLUS_BALANCE, FIVE_MINUTES_S): _ever(40),
            },
            expect=Flagged,
        ),
        Case(
            title="started in the plateau: the burst before may have been another type's",
            resource=replace(_PROXY, launched_at=CASE_NOW - timedelta(hours=20)),
            records=_TYPES,
            metrics=_PINNED,
            expect=Fine,
        ),
        Case(
            title="out of CPU credits in the longer plateau, of network credits in the other",
            resource=_PROXY,
            records=_TYPES,
            metrics={
                **_traffic(OUT, _last_day((350, 30), (7.9, 300), (0, 240), (350, 30), (7.9, 240))),
                (CREDIT_BALANCE, FIVE_MINUTES_S): _last_day((0, 330), (1, 1110)),
                (SURPLUS_BALANCE, FIVE_MINUTES_S): _ever(0),
            },
            expect=Flagged,
            says="for 4.0 hours",
        ),
        Case(
            title="a dip after half an hour does not end it",
            resource=_PROXY,
            records=_TYPES,
            metrics={**_CREDITS, **_traffic(OUT, _last_day((350, 30), (7.9, 35), (6.5, 5), (7.9, 500)))},
            expect=Flagged,
            says="for 8.9 hours",
        ),
        Case(
            title="points missing in the plateau: no run is long enough",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _last_day((350, 30), *((7.9, 20), (None, 5)) * 20)),
            expect=Fine,
        ),
        Case(
            title="a type without burst",
            resource=replace(_PROXY, instance_type="m6i.8xlarge"),
            records=_TYPES,
            expect=Fine,
            says="no burst",
        ),
        Case(
            title="hardly any traffic: settled by the hour",
            resource=_PROXY,
            records=_TYPES,
            metrics=_traffic(OUT, _ever(1e6)),
            expect=Fine,
            says="no hour",
        ),
        Case(title="no metrics", resource=_PROXY, records=_TYPES, expect=Unknown, says="no point"),
        Case(
            title="a type that EC2 says nothing about",
            resource=replace(_PROXY, instance_type="m1.small"),
            records=_TYPES,
            expect=Unknown,
            says="m1.small",
        ),
        Case(title="stopped", resource=replace(_PROXY, state="stopped"), records=_TYPES, expect=Fine, says="stopped"),
    ),
)
