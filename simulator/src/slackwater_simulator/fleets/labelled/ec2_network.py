"""Plant instances whose network credits run out or are used every day, and instances that are slow for other reasons.

Not drawn, because the truth is in doubt:
- `ec2-network-throttled`: demand of 1 to 1.5 times the baseline, which gets most of what it requests, and credits that
  are gone for less than an hour. Without the driver's counters, a peer's limit at the baseline looks like throttling,
  so such peers have an agent here;
- `ec2-network-over-baseline`: rates up to 1.5 times the baseline, which noise hides; times of 20 to 45 minutes; and a
  job every second or third day, which may or may not run on five days of a fortnight.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import cpu_credits, network_buckets
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import DAY, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows

BURSTING = tuple(name for name, kind in TYPES.items() if kind.peak_gbps >= 2 * kind.baseline_gbps)
FLAT = tuple(name for name, kind in TYPES.items() if not kind.bursts)
_OFFICE = ("t3.micro", "t3.small", "t3.medium", "t4g.small", "t3a.medium", "m5.large", "m6i.large", "c6i.large")
_SMALLER = ("t3.micro", "t3.small", "t4g.small")
_LARGER = ("m6i.8xlarge", "c6i.8xlarge", "c6gn.4xlarge", "m6i.4xlarge")
SMALL = (
    *("t3.micro", "t3.small", "t3.medium", "t3.large", "t4g.small", "t3a.medium", "m5.large", "c6i.large"),
    "r6i.large",
)

type Way = Literal["in", "out", "both"]
type Agent = Literal["", "plain", "typed"]


def _base(kind: str) -> float:
    """Return the bytes a second that a type can always move."""
    return TYPES[kind].baseline_bytes


def _instance(
    d: Draw,
    kind: str,
    demand: Floats,
    burst_minutes: float,
    *,
    way: Way = "both",
    agent: Agent = "",
    then: Callable[[], dict[str, Any]] = dict,
    **more: Any,
) -> Instance:
    """Plant an instance that tries to move these bytes a second in each minute, as its network credits allow.

    `then` draws more settings. One of them, `resized`, is when it was started as another type that carries everything.
    """
    passed, held = network_buckets(demand, _base(kind), TYPES[kind].peak_bytes, burst_minutes)
    more |= then()
    if resized := more.pop("resized", None):
        started, larger = resized
        carried = np.minimum(demand, 0.9 * _base(larger)) * MINUTE
        passed = np.where(np.arange(MINUTES) * MINUTE + d.origin < started, passed, carried)
        kind, more = larger, more | d.started(started, days=300, off_s=900)
    metered = np.round(passed * np.clip(d.random.normal(0.992, d.uniform(0.001, 0.008), MINUTES), 0.95, 1.02))
    flow = Flow(d.published(metered, together=5).coarsened(300))
    rest = Flow(flow.signal, d.spread(0.01, 0.3))
    counted = given(d.signal(np.cumsum(held)), digits=0)
    counters = {f"ethtool_bw_{way}_allowance_exceeded": counted for way in ("in", "out")} if agent else {}
    more.setdefault("days", d.uniform(40, 400))
    into, out = (rest if way == other else flow for other in ("out", "in"))
    seen: dict[str, Any] = {"agent": agent, "telemetry": more.pop("telemetry", {}) | counters}
    return d.build.instance(d.name, kind, net_in=into, net_out=out, cpu=d.cpu(), tags=d.tags(), **seen, **more)


def _way(d: Draw) -> Way:
    """Draw a direction. A proxy moves every byte twice."""
    ways: tuple[Way, ...] = ("in", "out", "both")
    return d.pick(*ways)


def _agent(d: Draw) -> Agent:
    """Draw a CloudWatch agent. Half of the instances have none."""
    agents: tuple[Agent, ...] = ("", "", "plain", "typed")
    return d.pick(*agents)


def _any_way(d: Draw, kind: str, demand: Floats, burst_minutes: float, **more: Any) -> Instance:
    """Plant an instance with traffic in one direction or both, with or without an agent."""
    return _instance(d, kind, demand, burst_minutes, **{"way": _way(d), "agent": _agent(d), **more})


def _gaps(d: Draw, share: tuple[float, float], most_times: int, most: float = np.inf) -> Instance:
    """Plant an instance that moves less than its baseline. Its telemetry repeatedly stops for hours."""
    kind = d.pick(*SMALL)
    values = _base(kind) * MINUTE * d.spread(*share) * np.minimum(d.wobble(), most)
    for hour in d.random.integers(0, MINUTES // 60 - 12, d.integer(5, most_times)).tolist():
        values[hour * 60 : (hour + d.integer(1, 12)) * 60] = np.nan
    flow = Flow(d.signal(values).coarsened(300))
    return d.build.instance(d.name, kind, days=90, net_in=flow, net_out=flow, cpu=d.cpu(), tags=d.tags())


_CREDITS_AN_HOUR = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t4g.small": 24, "t3a.medium": 24}


def _starts(d: Draw) -> list[int]:
    return d.starts(1, 2, 7, since=1.5)


def _transfer(d: Draw, kind: str = "") -> tuple[str, Floats, float]:
    """Draw a transfer (type, demand, burst) that goes on for hours without credits, at 1.5 to 40 times baseline."""
    kind = kind or d.pick(*BURSTING)
    base, peak = _base(kind), TYPES[kind].peak_bytes
    rate = base * d.spread(1.5, min(40, peak / base))
    burst = d.spread(5, 60)
    lasts = burst * (peak - base) / (rate - base)
    minutes = min(lasts + d.uniform(60, 360), 20 * 60) if lasts < 15 * 60 else lasts + 120
    starts = _starts(d)
    if minutes > 12 * 60:
        starts = [min(d.ago(1.2) - int(minutes) * MINUTE, d.ago(d.uniform(3, 11)))]
    demand = d.runs(starts, minutes, rate, base * d.uniform(0.001, 0.1)) * d.wobble()
    return kind, demand, burst


def _overdrawn(d: Draw, kind: str = "", **more: Any) -> Instance:
    return _any_way(d, *_transfer(d, kind), **more)


def _throttled_since(d: Draw) -> Instance:
    kind, _, _ = _transfer(d, d.pick(*SMALL))
    _way(d)
    _agent(d)  # Only the drawn type is used. The other draws stay: they are part of the fleet.
    base, peak = _base(kind), TYPES[kind].peak_bytes
    rate, burst = min(base * 20, peak), d.spread(5, 20)
    minutes = burst * (peak - base) / (rate - base) + d.uniform(60, 240)
    demand = d.runs(d.daily(), min(minutes, 1_000), rate, base * 0.02) * d.wobble()
    return _instance(d, kind, demand, burst, **d.started(d.ago(d.uniform(3, 8))))


def _in_time(d: Draw) -> Instance:
    """Plant bursts that use at most half of the credits, and leave time to refill them."""
    kind = d.pick(*BURSTING)
    base, peak = _base(kind), TYPES[kind].peak_bytes
    rate, burst = base * d.spread(1.5, peak / base), d.spread(5, 60)
    minutes = min(burst * (peak - base) / (rate - base) * d.uniform(0.05, 0.5), 6 * 60)
    refill = minutes * (rate - base) / base / 60 / 24
    every = max(1, int(np.ceil(refill * 1.5 + minutes / 1_440)))
    starts = d.daily(every) if every < 30 else [d.ago(d.uniform(1, 12))]
    if every < 4:  # longer ones would use credits so often that another detector reports them
        minutes = min(minutes, 20)
    demand = d.runs(starts, max(minutes, 1), rate, base * d.uniform(0.001, 0.1)) * np.minimum(d.wobble(), 1.3)
    return _any_way(d, kind, demand, burst)


def _drops_below(d: Draw) -> Instance:
    kind = d.pick(*BURSTING)
    base = _base(kind)
    starts = d.daily(d.integer(1, 8))
    head = d.runs(starts, d.uniform(2, 5), min(base * 3, TYPES[kind].peak_bytes))
    tail = d.runs(starts, d.uniform(60, 500), base * d.spread(0.1, 0.95), base * 0.01) * d.wobble()
    return _any_way(d, kind, np.maximum(head, tail), 30)


def _peer(d: Draw, share: float, **more: Any) -> Instance:
    """Plant a peer that allows a burst and then limits to a constant rate of its own."""
    kind = d.pick(*SMALL)
    base = _base(kind)
    starts = d.daily(d.integer(1, 4))
    head = d.runs(starts, 6, base * 3)
    tail = d.runs(starts, d.uniform(60, 500), base * share, base * 0.01) * d.around(0.01)
    return _instance(d, kind, np.maximum(head, tail), 60, way=_way(d), **more)


def _shaper(d: Draw) -> Instance:
    """Plant a shaper that never allows a burst, all day or in long runs."""
    kind = d.pick(*BURSTING)
    flat = _base(kind) * d.uniform(0.9, 0.99) * d.around(0.005)
    on = d.runs(d.daily(), d.uniform(120, 1_300), 1.0, 0.02) if d.chance(0.5) else 1.0
    return _any_way(d, kind, flat * on, 30)


def _single_flow(d: Draw) -> Instance:
    """Plant a single flow at its limit. The instance could carry more."""
    kind = d.pick(*(name for name, kind in TYPES.items() if kind.bursts and kind.baseline_gbps > 5.5))
    rate = min(625e6, _base(kind) * 0.9)
    starts = d.daily(d.integer(1, 8))
    demand = d.runs(starts, d.uniform(60, 500), rate, 2e6) * d.around(0.01)
    return _instance(d, kind, demand, 30, way=_way(d))


def _cpu_bound(d: Draw) -> Instance:
    """Plant a standard-mode instance. When its CPU credits are gone, its traffic falls below the baseline too."""
    kind = d.pick(*_CREDITS_AN_HOUR)
    hour = _CREDITS_AN_HOUR[kind]
    load = d.runs(d.daily(), d.uniform(300, 900), d.uniform(0.6, 0.95), 0.02)
    work = cpu_credits(np.clip(load * d.wobble(), 0, 1), vcpus=TYPES[kind].vcpus, an_hour=hour, start=10 * hour)
    pinned = hour / 60 / TYPES[kind].vcpus
    full = _base(kind) * d.uniform(0.55, 0.99) / pinned
    balance = given(d.signal(work.balance).coarsened(300))
    return _instance(d, kind, work.used * full, 60, telemetry={"CPUCreditBalance": balance})


def _without_burst(d: Draw, starts: Callable[[Draw], list[int]]) -> Instance:
    """Plant an instance whose peak equals its baseline, so it has no network credits."""
    kind = d.pick(*FLAT)
    demand = d.runs(starts(d), d.uniform(60, 600), TYPES[kind].peak_bytes * 2, 1e6) * d.wobble()
    return _instance(d, kind, demand, 0, way=_way(d))


EC2_NETWORK_THROTTLED_ISSUES: Rows = {
    "overdrawn: Transfers outlast the credits.": _overdrawn,
    "counted: Overdrawn, and an agent counts it.": lambda d: _overdrawn(d, agent=d.pick("plain", "typed")),
    "working-days: Its users want too much all day.": lambda d: _any_way(
        d, kind := d.pick(*SMALL), d.working_days() * _base(kind) * d.spread(6, 20), d.spread(5, 20)
    ),
    "restarted: Throttled, restarted, throttled.": _throttled_since,
}
EC2_NETWORK_THROTTLED_CONTROLS: Rows = {
    "in-time: Bursts that the credits carry.": _in_time,
    "settles-below: A burst, then its own lower rate.": _drops_below,
    "peer-elsewhere: A peer's limit below the baseline.": lambda d: _peer(d, d.spread(0.1, 0.85), agent=_agent(d)),
    "peer-at-baseline: A peer's limit; no packet held.": lambda d: _peer(
        d, d.uniform(0.92, 0.99), agent=d.pick("plain", "typed")
    ),
    "shaper: A shaper at the baseline, without bursts.": _shaper,
    "single-flow: One flow at 5 Gbps.": _single_flow,
    "resized: Throttled, until it was made larger.": lambda d: _overdrawn(
        d, resized=(d.ago(d.uniform(1, 10)), d.pick(*_LARGER)), kind=d.pick(*_SMALLER), agent=""
    ),
    "cpu-bound: Its CPU credits are gone.": _cpu_bound,
    "plain: Traffic below the baseline.": lambda d: _any_way(
        d, kind := d.pick(*BURSTING), d.working_days() * _base(kind) * d.spread(0.01, 0.8), 30
    ),
    "no-burst: A type without burst, at its limit.": lambda d: _without_burst(d, _starts),
}
EC2_NETWORK_THROTTLED_UNKNOWN: Rows = {"holes: Hours without metrics.": lambda d: _gaps(d, (0.05, 0.6), 30)}
EC2_NETWORK_THROTTLED_ALSO = {"cpu-bound": ("ec2-network-over-baseline",)}


# --- ec2-network-over-baseline ----------------------------------------------------------------------------------------
def _within_credits(d: Draw, kind: str, burst_minutes: float, minutes: float) -> float:
    """Return a rate in bytes a second that uses at most half of a full bucket, which refills within the day."""
    base, day = _base(kind), 1_440
    spare = TYPES[kind].peak_bytes - base
    most = min(0.5 * burst_minutes * spare / minutes, 0.7 * base * (day - minutes) / minutes, 0.8 * spare)
    return base + max(0.5 * base, min(most, base * d.spread(0.5, 20)))


def _every_day(d: Draw, starts: list[int] | None = None, kind: str = "", **more: Any) -> Instance:
    """Plant a transfer of 45 to 200 minutes every day, up to ten minutes late."""
    kind, burst, minutes = kind or d.pick(*SMALL), d.uniform(20, 60), d.uniform(45, 200)
    rate = _within_credits(d, kind, burst, minutes)
    rest = _base(kind) * d.uniform(0.001, 0.1)
    demand = d.runs(d.daily() if starts is None else starts, minutes, rate, rest) * d.wobble()
    return _any_way(d, kind, demand, burst, **more)


def _once(d: Draw) -> Instance:
    first = d.ago(d.uniform(4, 12))
    return _every_day(d, [first + day * DAY for day in range(d.integer(1, 4))])


def _short(d: Draw) -> Instance:
    """Plant bursts of 2 to 15 minutes, once a day to once an hour, at up to the peak."""
    kind, minutes = d.pick(*BURSTING), d.uniform(2, 15)
    base, peak = _base(kind), TYPES[kind].peak_bytes
    gap = d.integer(1, 24) * 60
    most = base * (gap - minutes) / minutes * 0.8
    starts = [start + gap * 60 * turn for start in d.daily() for turn in range(1_440 // gap)]
    rate = base + max(0.5 * base, min(most, (peak - base) * d.uniform(0.1, 0.9)))
    return _any_way(d, kind, d.runs(starts, minutes, rate, base * d.uniform(0.001, 0.1)) * d.wobble(), 60)


def _both_ways(d: Draw) -> Instance:
    """Plant a proxy at 0.6 to 0.9 of its baseline for hours in each direction. Both together are above it."""
    kind, share = d.pick(*SMALL), d.uniform(0.6, 0.9)
    busy = d.runs(d.daily(), d.uniform(60, 1_200), share, 0.05)
    demand = _base(kind) * busy * d.around(0.02)
    return _instance(d, kind, demand, 30)


def _resized(d: Draw) -> Instance:
    started, kind = d.ago(d.uniform(1, 10)), d.pick(*_SMALLER)
    return _every_day(d, kind=kind, way="both", agent="", then=lambda: {"resized": (started, d.pick(*_LARGER))})


EC2_NETWORK_OVER_BASELINE_ISSUES: Rows = {
    "every-day: An hour or more above it, every day.": _every_day,
    "weekdays: Above it every weekday.": lambda d: _every_day(d, [at for at in d.daily() if (at // DAY + 3) % 7 < 5]),
    # They use up to twice the baseline in busy hours. Nights and weekends refill the credits.
    "working-days: Its users live on credits by day.": lambda d: _any_way(
        d, kind := d.pick(*_OFFICE), d.working_days() * _base(kind) * d.uniform(2.8, 3.4), d.uniform(40, 60)
    ),
    "restarted: Above it since a restart.": lambda d: _every_day(d, then=lambda: d.started(d.ago(d.uniform(8, 13)))),
}
EC2_NETWORK_OVER_BASELINE_CONTROLS: Rows = {
    "weekly: A long transfer once a week.": lambda d: _every_day(d, d.daily(d.integer(5, 8))),
    "once: A migration of one to three days.": _once,
    "short: Short bursts, often.": _short,
    "below: Much traffic below its baseline.": lambda d: _any_way(
        d,
        kind := d.pick(*BURSTING),
        np.minimum((d.working_days() if d.chance(0.5) else d.wobble()) * d.uniform(0.3, 0.8), 0.97) * _base(kind),
        30,
    ),
    "both-ways: In and out, each below it.": _both_ways,
    "resized: Above it until it was made larger.": _resized,
    "new: Started a few days ago.": lambda d: _every_day(d, then=lambda: {"days": d.uniform(0.5, 3.9)}),
    "no-burst: A type without burst.": lambda d: _without_burst(d, Draw.daily),
}
EC2_NETWORK_OVER_BASELINE_UNKNOWN: Rows = {"holes: Hours without metrics.": lambda d: _gaps(d, (0.3, 0.7), 60, 1.4)}
