"""Instances whose network credits run out, and instances that are slow, or flat, for another reason.

Left out, because even the truth is in doubt: demand of 1 to 1.5 times the baseline, which gets most of what it wants, and
credits that are gone for less than an hour. Without the driver's counters nobody can tell a peer's limit at just the
baseline from throttling: such peers have an agent here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import cpu_credits
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import FOREVER, MINUTE
from slackwater_simulator.shapes import MINUTES

from .guests import BURSTING, FLAT, SMALL, Guest, agent, pick, through_buckets, way
from .rhythms import Random, chance, cpu, daily, runs, spread, tags, wobble, working_days
from .scenario import Scenario, each

_CREDITS_AN_HOUR = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t4g.small": 24, "t3a.medium": 24}


def _starts(random: Random, build: Builder) -> list[int]:
    """Every day, every other day, every week, or once."""
    every = pick(random, 1, 2, 7, 0)
    return daily(random, build, every) if every else [build.ago(random.uniform(1.5, 12))]


def _overdrawn(random: Random, build: Builder, kind: str = "", **more: Any) -> Guest:
    """A transfer at 1.5 to 40 times the baseline that goes on for an hour to six after the credits are gone."""
    kind = kind or pick(random, *BURSTING)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    rate = base * spread(random, 1.5, min(40, peak / base))
    burst = spread(random, 5, 60)
    lasts = burst * (peak - base) / (rate - base)
    minutes = min(lasts + random.uniform(60, 360), 20 * 60) if lasts < 15 * 60 else lasts + 120
    starts = _starts(random, build)
    if minutes > 12 * 60:
        starts = [min(build.ago(1.2) - int(minutes) * MINUTE, build.ago(random.uniform(3, 11)))]
    wants = runs(build, starts, minutes, rate, base * random.uniform(0.001, 0.1)) * wobble(random)
    return Guest(kind=kind, wants=wants, burst_minutes=burst, way=way(random), **{"agent": agent(random), **more})


def _always_more(random: Random, build: Builder) -> Guest:
    """Working days whose busy hours want several times the baseline."""
    kind = pick(random, *SMALL)
    base = TYPES[kind].baseline_bytes
    wants = working_days(random, build) * base * spread(random, 6, 20)
    return Guest(kind=kind, wants=wants, burst_minutes=spread(random, 5, 20), way=way(random), agent=agent(random))


def _counted(random: Random, build: Builder) -> Guest:
    return _overdrawn(random, build, agent=pick(random, "plain", "typed"))


def _since_a_restart(random: Random, build: Builder) -> Guest:
    """Stopped and started last week, and throttled every day."""
    guest = _overdrawn(random, build, pick(random, *SMALL))
    base, peak = TYPES[guest.kind].baseline_bytes, TYPES[guest.kind].peak_bytes
    rate, burst = min(base * 20, peak), spread(random, 5, 20)
    minutes = burst * (peak - base) / (rate - base) + random.uniform(60, 240)
    wants = runs(build, daily(random, build), min(minutes, 1_000), rate, base * 0.02) * wobble(random)
    started = build.ago(random.uniform(3, 8))
    more = {"launched": started, "running": ((build.ago(200), started - 600), (started, FOREVER))}
    return Guest(kind=guest.kind, wants=wants, burst_minutes=burst, more=more)


def _in_time(random: Random, build: Builder) -> Guest:
    """Bursts that end before half of the credits are gone, and leave time to earn them back."""
    kind = pick(random, *BURSTING)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    rate, burst = base * spread(random, 1.5, peak / base), spread(random, 5, 60)
    minutes = min(burst * (peak - base) / (rate - base) * random.uniform(0.05, 0.5), 6 * 60)
    refill = minutes * (rate - base) / base / 60 / 24
    every = max(1, int(np.ceil(refill * 1.5 + minutes / 1_440)))
    starts = daily(random, build, every) if every < 30 else [build.ago(random.uniform(1, 12))]
    if every < 4:  # longer ones so often live on credits, and are another detector's trouble
        minutes = min(minutes, 20)
    wants = runs(build, starts, max(minutes, 1), rate, base * random.uniform(0.001, 0.1)) * np.minimum(
        wobble(random), 1.3
    )
    return Guest(kind=kind, wants=wants, burst_minutes=burst, way=way(random), agent=agent(random))


def _settles_below(random: Random, build: Builder) -> Guest:
    """A short burst, and then for hours a rate of the application's own, below the baseline and as uneven as demand is."""
    kind = pick(random, *BURSTING)
    base = TYPES[kind].baseline_bytes
    starts = daily(random, build, int(random.integers(1, 8)))
    head = runs(build, starts, random.uniform(2, 5), min(base * 3, TYPES[kind].peak_bytes))
    tail = runs(build, starts, random.uniform(60, 500), base * spread(random, 0.1, 0.95), base * 0.01) * wobble(random)
    return Guest(kind=kind, wants=np.maximum(head, tail), burst_minutes=30, way=way(random), agent=agent(random))


def _peer(random: Random, build: Builder, share: float, **more: Any) -> Guest:
    """A peer that grants a burst and then holds to a rate of its own, flat."""
    kind = pick(random, *SMALL)
    base = TYPES[kind].baseline_bytes
    starts = daily(random, build, int(random.integers(1, 4)))
    head = runs(build, starts, 6, base * 3)
    tail = runs(build, starts, random.uniform(60, 500), base * share, base * 0.01) * (
        1 + random.normal(0, 0.01, MINUTES)
    )
    return Guest(kind=kind, wants=np.maximum(head, tail), burst_minutes=60, way=way(random), **more)


def _peer_elsewhere(random: Random, build: Builder) -> Guest:
    return _peer(random, build, spread(random, 0.1, 0.85), agent=agent(random))


def _peer_at_baseline(random: Random, build: Builder) -> Guest:
    return _peer(random, build, random.uniform(0.92, 0.99), agent=pick(random, "plain", "typed"))


def _shaper(random: Random, build: Builder) -> Guest:
    """A shaper at the baseline, all day or in long runs, that never lets a burst through."""
    kind = pick(random, *BURSTING)
    base = TYPES[kind].baseline_bytes
    flat = base * random.uniform(0.9, 0.99) * (1 + random.normal(0, 0.005, MINUTES))
    on = runs(build, daily(random, build), random.uniform(120, 1_300), 1.0, 0.02) if chance(random, 0.5) else 1.0
    return Guest(kind=kind, wants=flat * on, burst_minutes=30, way=way(random), agent=agent(random))


def _single_flow(random: Random, build: Builder) -> Guest:
    """One flow carries 5 Gbps; the instance could carry more."""
    kind = pick(random, *(name for name, kind in TYPES.items() if kind.bursts and kind.baseline_gbps > 5.5))
    rate = min(625e6, TYPES[kind].baseline_bytes * 0.9)
    starts = daily(random, build, int(random.integers(1, 8)))
    wants = runs(build, starts, random.uniform(60, 500), rate, 2e6) * (1 + random.normal(0, 0.01, MINUTES))
    return Guest(kind=kind, wants=wants, burst_minutes=30, way=way(random))


def _resized(random: Random, build: Builder) -> Guest:
    """Throttled until it was given a larger type, which happened within the window."""
    started = build.ago(random.uniform(1, 10))
    kind = pick(random, "m6i.8xlarge", "c6i.8xlarge", "c6gn.4xlarge", "m6i.4xlarge")
    more = {"launched": started, "running": ((build.ago(300), started - 900), (started, FOREVER))}
    return replace(
        _overdrawn(random, build, pick(random, "t3.micro", "t3.small", "t4g.small"), agent=""),
        resized=(started, kind),
        more=more,
    )


def _cpu_bound(random: Random, build: Builder) -> Guest:
    """In standard mode its CPU credits run out, and traffic that was above its baseline falls with the processor."""
    kind = pick(random, *_CREDITS_AN_HOUR)
    hour = _CREDITS_AN_HOUR[kind]
    load = runs(build, daily(random, build), random.uniform(300, 900), random.uniform(0.6, 0.95), 0.02)
    work = cpu_credits(np.clip(load * wobble(random), 0, 1), vcpus=TYPES[kind].vcpus, an_hour=hour, start=10 * hour)
    pinned = hour / 60 / TYPES[kind].vcpus
    full = TYPES[kind].baseline_bytes * random.uniform(0.55, 0.99) / pinned
    balance = given(build.shapes.signal(work.balance).coarsened(300))
    return Guest(kind=kind, wants=work.used * full, burst_minutes=60, more={"telemetry": {"CPUCreditBalance": balance}})


def _plain(random: Random, build: Builder) -> Guest:
    kind = pick(random, *BURSTING)
    wants = working_days(random, build) * TYPES[kind].baseline_bytes * spread(random, 0.01, 0.8)
    return Guest(kind=kind, wants=wants, burst_minutes=30, way=way(random), agent=agent(random))


def _flat(random: Random, build: Builder) -> Guest:
    """Peak equals baseline: it is at its limit, and has no credits to lose."""
    kind = pick(random, *FLAT)
    wants = runs(build, _starts(random, build), random.uniform(60, 600), TYPES[kind].peak_bytes * 2, 1e6) * wobble(
        random
    )
    return Guest(kind=kind, wants=wants, burst_minutes=0, way=way(random))


def _holes(random: Random, build: Builder, name: str) -> Instance:
    """Telemetry that stops for hours, again and again, of an instance with little to do."""
    kind = pick(random, *SMALL)
    values = TYPES[kind].baseline_bytes * MINUTE * spread(random, 0.05, 0.6) * wobble(random)
    for hour in random.integers(0, MINUTES // 60 - 12, int(random.integers(5, 30))).tolist():
        values[hour * 60 : (hour + int(random.integers(1, 12))) * 60] = np.nan
    flow = Flow(build.shapes.signal(values).coarsened(300))
    return build.instance(
        name, kind, days=90, net_in=flow, net_out=flow, cpu=cpu(random, build), tags=dict(tags(random))
    )


SCENARIOS = (
    Scenario(name="overdrawn", story="Transfers outlast the credits.", plant=through_buckets(_overdrawn), trouble=True),
    Scenario(name="counted", story="The same, and an agent counts it.", plant=through_buckets(_counted), trouble=True),
    Scenario(
        name="working-days", story="Its users want too much all day.", plant=through_buckets(_always_more), trouble=True
    ),
    Scenario(
        name="restarted",
        story="Throttled, restarted, throttled.",
        plant=through_buckets(_since_a_restart),
        trouble=True,
    ),
    Scenario(name="in-time", story="Bursts that the credits carry.", plant=through_buckets(_in_time)),
    Scenario(name="settles-below", story="A burst, then its own lower rate.", plant=through_buckets(_settles_below)),
    Scenario(name="peer-elsewhere", story="A peer's limit below the baseline.", plant=through_buckets(_peer_elsewhere)),
    Scenario(
        name="peer-at-baseline", story="A peer's limit; no packet held.", plant=through_buckets(_peer_at_baseline)
    ),
    Scenario(name="shaper", story="A shaper at the baseline, without bursts.", plant=through_buckets(_shaper)),
    Scenario(name="single-flow", story="One flow at 5 Gbps.", plant=through_buckets(_single_flow)),
    Scenario(name="resized", story="Throttled, until it was made larger.", plant=through_buckets(_resized)),
    Scenario(
        name="cpu-bound",
        story="Its CPU credits are gone.",
        plant=through_buckets(_cpu_bound),
        also=("ec2-network-over-baseline",),
    ),
    Scenario(name="plain", story="Traffic below the baseline.", plant=through_buckets(_plain)),
    Scenario(name="no-burst", story="A type without burst, at its limit.", plant=through_buckets(_flat)),
    Scenario(name="holes", story="Hours without metrics.", plant=each(_holes), full=False),
)
