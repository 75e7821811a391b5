"""Instances whose network credits run out, and instances that are slow, or flat, for another reason.

Left out, because even the truth is in doubt: demand of 1 to 1.5 times the baseline, which gets most of what it wants, and
credits that are gone for less than an hour. Without the driver's counters nobody can tell a peer's limit at just the
baseline from throttling: such peers have an agent here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import cpu_credits
from slackwater_simulator.resources import given
from slackwater_simulator.series import FOREVER, MINUTE
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .guests import BURSTING, FLAT, SMALL, Guest, agent, guest, hours_dark, through_buckets, way
from .scenario import Rows

_CREDITS_AN_HOUR = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t4g.small": 24, "t3a.medium": 24}


def _starts(d: Draw) -> list[int]:
    return d.starts(1, 2, 7, since=1.5)


def _overdrawn(d: Draw, kind: str = "", **more: Any) -> Guest:
    """A transfer at 1.5 to 40 times the baseline that goes on for an hour to six after the credits are gone."""
    kind = kind or d.pick(*BURSTING)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    rate = base * d.spread(1.5, min(40, peak / base))
    burst = d.spread(5, 60)
    lasts = burst * (peak - base) / (rate - base)
    minutes = min(lasts + d.uniform(60, 360), 20 * 60) if lasts < 15 * 60 else lasts + 120
    starts = _starts(d)
    if minutes > 12 * 60:
        starts = [min(d.ago(1.2) - int(minutes) * MINUTE, d.ago(d.uniform(3, 11)))]
    wants = d.runs(starts, minutes, rate, base * d.uniform(0.001, 0.1)) * d.wobble()
    return guest(d, kind, wants, burst, **more)


def _since_a_restart(d: Draw) -> Guest:
    """Stopped and started last week, and throttled every day."""
    kind = _overdrawn(d, d.pick(*SMALL)).kind
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    rate, burst = min(base * 20, peak), d.spread(5, 20)
    minutes = burst * (peak - base) / (rate - base) + d.uniform(60, 240)
    wants = d.runs(d.daily(), min(minutes, 1_000), rate, base * 0.02) * d.wobble()
    started = d.ago(d.uniform(3, 8))
    more = {"launched": started, "running": ((d.ago(200), started - 600), (started, FOREVER))}
    return Guest(kind=kind, wants=wants, burst_minutes=burst, more=more)


def _in_time(d: Draw) -> Guest:
    """Bursts that end before half of the credits are gone, and leave time to earn them back."""
    kind = d.pick(*BURSTING)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    rate, burst = base * d.spread(1.5, peak / base), d.spread(5, 60)
    minutes = min(burst * (peak - base) / (rate - base) * d.uniform(0.05, 0.5), 6 * 60)
    refill = minutes * (rate - base) / base / 60 / 24
    every = max(1, int(np.ceil(refill * 1.5 + minutes / 1_440)))
    starts = d.daily(every) if every < 30 else [d.ago(d.uniform(1, 12))]
    if every < 4:  # longer ones so often live on credits, which another detector reports
        minutes = min(minutes, 20)
    wants = d.runs(starts, max(minutes, 1), rate, base * d.uniform(0.001, 0.1)) * np.minimum(d.wobble(), 1.3)
    return guest(d, kind, wants, burst)


def _settles_below(d: Draw) -> Guest:
    """A short burst, and then for hours a rate of the application's own, below the baseline and as uneven as demand is."""
    kind = d.pick(*BURSTING)
    base = TYPES[kind].baseline_bytes
    starts = d.daily(d.integer(1, 8))
    head = d.runs(starts, d.uniform(2, 5), min(base * 3, TYPES[kind].peak_bytes))
    tail = d.runs(starts, d.uniform(60, 500), base * d.spread(0.1, 0.95), base * 0.01) * d.wobble()
    return guest(d, kind, np.maximum(head, tail), 30)


def _peer(d: Draw, share: float, **more: Any) -> Guest:
    """A peer that grants a burst and then holds to a rate of its own, flat."""
    kind = d.pick(*SMALL)
    base = TYPES[kind].baseline_bytes
    starts = d.daily(d.integer(1, 4))
    head = d.runs(starts, 6, base * 3)
    tail = d.runs(starts, d.uniform(60, 500), base * share, base * 0.01) * (1 + d.random.normal(0, 0.01, MINUTES))
    return Guest(kind=kind, wants=np.maximum(head, tail), burst_minutes=60, way=way(d), **more)


def _shaper(d: Draw) -> Guest:
    """All day or in long runs, it never lets a burst through."""
    kind = d.pick(*BURSTING)
    flat = TYPES[kind].baseline_bytes * d.uniform(0.9, 0.99) * (1 + d.random.normal(0, 0.005, MINUTES))
    on = d.runs(d.daily(), d.uniform(120, 1_300), 1.0, 0.02) if d.chance(0.5) else 1.0
    return guest(d, kind, flat * on, 30)


def _single_flow(d: Draw) -> Guest:
    """The instance could carry more."""
    kind = d.pick(*(name for name, kind in TYPES.items() if kind.bursts and kind.baseline_gbps > 5.5))
    rate = min(625e6, TYPES[kind].baseline_bytes * 0.9)
    starts = d.daily(d.integer(1, 8))
    wants = d.runs(starts, d.uniform(60, 500), rate, 2e6) * (1 + d.random.normal(0, 0.01, MINUTES))
    return Guest(kind=kind, wants=wants, burst_minutes=30, way=way(d))


def _resized(d: Draw) -> Guest:
    """It was given a larger type within the window."""
    started = d.ago(d.uniform(1, 10))
    kind = d.pick("m6i.8xlarge", "c6i.8xlarge", "c6gn.4xlarge", "m6i.4xlarge")
    more = {"launched": started, "running": ((d.ago(300), started - 900), (started, FOREVER))}
    made = _overdrawn(d, d.pick("t3.micro", "t3.small", "t4g.small"), agent="")
    return replace(made, resized=(started, kind), more=more)


def _cpu_bound(d: Draw) -> Guest:
    """In standard mode its CPU credits run out, and traffic that was above its baseline falls with the processor."""
    kind = d.pick(*_CREDITS_AN_HOUR)
    hour = _CREDITS_AN_HOUR[kind]
    load = d.runs(d.daily(), d.uniform(300, 900), d.uniform(0.6, 0.95), 0.02)
    work = cpu_credits(np.clip(load * d.wobble(), 0, 1), vcpus=TYPES[kind].vcpus, an_hour=hour, start=10 * hour)
    pinned = hour / 60 / TYPES[kind].vcpus
    full = TYPES[kind].baseline_bytes * d.uniform(0.55, 0.99) / pinned
    balance = given(d.signal(work.balance).coarsened(300))
    return Guest(kind=kind, wants=work.used * full, burst_minutes=60, more={"telemetry": {"CPUCreditBalance": balance}})


def _plain(d: Draw) -> Guest:
    kind = d.pick(*BURSTING)
    return guest(d, kind, d.working_days() * TYPES[kind].baseline_bytes * d.spread(0.01, 0.8), 30)


def _flat(d: Draw) -> Guest:
    """Peak equals baseline: it has no credits to lose."""
    kind = d.pick(*FLAT)
    wants = d.runs(_starts(d), d.uniform(60, 600), TYPES[kind].peak_bytes * 2, 1e6) * d.wobble()
    return Guest(kind=kind, wants=wants, burst_minutes=0, way=way(d))


EC2_NETWORK_THROTTLED_ISSUES: Rows = {
    "overdrawn: Transfers outlast the credits.": through_buckets(_overdrawn),
    "counted: The same, and an agent counts it.": through_buckets(
        lambda d: _overdrawn(d, agent=d.pick("plain", "typed"))
    ),
    # Working days whose busy hours want several times the baseline.
    "working-days: Its users want too much all day.": through_buckets(
        lambda d: guest(
            d, kind := d.pick(*SMALL), d.working_days() * TYPES[kind].baseline_bytes * d.spread(6, 20), d.spread(5, 20)
        )
    ),
    "restarted: Throttled, restarted, throttled.": through_buckets(_since_a_restart),
}
EC2_NETWORK_THROTTLED_CONTROLS: Rows = {
    "in-time: Bursts that the credits carry.": through_buckets(_in_time),
    "settles-below: A burst, then its own lower rate.": through_buckets(_settles_below),
    "peer-elsewhere: A peer's limit below the baseline.": through_buckets(
        lambda d: _peer(d, d.spread(0.1, 0.85), agent=agent(d))
    ),
    "peer-at-baseline: A peer's limit; no packet held.": through_buckets(
        lambda d: _peer(d, d.uniform(0.92, 0.99), agent=d.pick("plain", "typed"))
    ),
    "shaper: A shaper at the baseline, without bursts.": through_buckets(_shaper),
    "single-flow: One flow at 5 Gbps.": through_buckets(_single_flow),
    "resized: Throttled, until it was made larger.": through_buckets(_resized),
    "cpu-bound: Its CPU credits are gone.": through_buckets(_cpu_bound),
    "plain: Traffic below the baseline.": through_buckets(_plain),
    "no-burst: A type without burst, at its limit.": through_buckets(_flat),
}
EC2_NETWORK_THROTTLED_UNKNOWN: Rows = {"holes: Hours without metrics.": lambda d: hours_dark(d, (0.05, 0.6), 30)}
EC2_NETWORK_THROTTLED_ALSO = {"cpu-bound": ("ec2-network-over-baseline",)}
