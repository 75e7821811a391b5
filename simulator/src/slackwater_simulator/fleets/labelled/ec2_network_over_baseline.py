"""Instances that are above their network baseline for long, day after day, on credits that last; and those that are not.

Left out, because even the truth is in doubt: rates within half of the baseline above it, which noise hides; times of 20 to 45
minutes; and a job of every second or third day, which may have run on five days of a fortnight or not.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import Flow, Instance
from slackwater_simulator.series import DAY, FOREVER, MINUTE
from slackwater_simulator.shapes import MINUTES

from .guests import BURSTING, FLAT, SMALL, Guest, agent, pick, through_buckets, way
from .rhythms import Random, chance, cpu, daily, runs, spread, tags, wobble, working_days
from .scenario import Scenario, each


def _within_credits(random: Random, kind: str, burst_minutes: float, minutes: float) -> float:
    """A rate, bytes a second, that uses at most half of a full bucket in so many minutes and lets it fill within the day."""
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    most = min(
        0.5 * burst_minutes * (peak - base) / minutes, 0.7 * base * (1_440 - minutes) / minutes, 0.8 * (peak - base)
    )
    return base + max(0.5 * base, min(most, base * spread(random, 0.5, 20)))


def _every_day(random: Random, build: Builder, starts: list[int] | None = None, kind: str = "") -> Guest:
    """A transfer of 45 to 200 minutes every day, a few minutes late."""
    kind, burst, minutes = kind or pick(random, *SMALL), random.uniform(20, 60), random.uniform(45, 200)
    rate = _within_credits(random, kind, burst, minutes)
    rest = TYPES[kind].baseline_bytes * random.uniform(0.001, 0.1)
    wants = runs(build, daily(random, build) if starts is None else starts, minutes, rate, rest) * wobble(random)
    return Guest(kind=kind, wants=wants, burst_minutes=burst, way=way(random), agent=agent(random))


def _weekdays(random: Random, build: Builder) -> Guest:
    """The same from Monday to Friday."""
    return _every_day(random, build, [start for start in daily(random, build) if (start // DAY + 3) % 7 < 5])


def _working_days(random: Random, build: Builder) -> Guest:
    """Users who want up to twice the baseline in their busy hours; the nights and weekends pay it back."""
    kind = pick(
        random, "t3.micro", "t3.small", "t3.medium", "t4g.small", "t3a.medium", "m5.large", "m6i.large", "c6i.large"
    )
    wants = working_days(random, build) * TYPES[kind].baseline_bytes * random.uniform(2.8, 3.4)
    return Guest(kind=kind, wants=wants, burst_minutes=random.uniform(40, 60), way=way(random), agent=agent(random))


def _since_a_restart(random: Random, build: Builder) -> Guest:
    """Stopped and started eight days ago or more, and above its baseline every day."""
    guest, started = _every_day(random, build), build.ago(random.uniform(8, 13))
    guest.more.update(launched=started, running=((build.ago(200), started - 600), (started, FOREVER)))
    return guest


def _weekly(random: Random, build: Builder) -> Guest:
    """The same transfer every fifth to seventh day."""
    return _every_day(random, build, daily(random, build, int(random.integers(5, 8))))


def _once(random: Random, build: Builder) -> Guest:
    """A migration on one to three days in a row."""
    first = build.ago(random.uniform(4, 12))
    return _every_day(random, build, [first + day * DAY for day in range(int(random.integers(1, 4)))])


def _short(random: Random, build: Builder) -> Guest:
    """Bursts of 2 to 15 minutes, once a day to once an hour, at up to the peak."""
    kind, minutes = pick(random, *BURSTING), random.uniform(2, 15)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    gap = int(random.integers(1, 24)) * 60
    most = base * (gap - minutes) / minutes * 0.8
    starts = [start + gap * 60 * turn for start in daily(random, build) for turn in range(1_440 // gap)]
    rate = base + max(0.5 * base, min(most, (peak - base) * random.uniform(0.1, 0.9)))
    wants = runs(build, starts, minutes, rate, base * random.uniform(0.001, 0.1)) * wobble(random)
    return Guest(kind=kind, wants=wants, burst_minutes=60, way=way(random), agent=agent(random))


def _below(random: Random, build: Builder) -> Guest:
    """Much traffic, by day or at all times, and never more than its baseline."""
    kind = pick(random, *BURSTING)
    demand = working_days(random, build) if chance(random, 0.5) else wobble(random)
    wants = np.minimum(demand * random.uniform(0.3, 0.8), 0.97) * TYPES[kind].baseline_bytes
    return Guest(kind=kind, wants=wants, burst_minutes=30, way=way(random), agent=agent(random))


def _both_ways(random: Random, build: Builder) -> Guest:
    """A proxy at six to nine tenths of its baseline for hours, in and out: together more than it."""
    kind, share = pick(random, *SMALL), random.uniform(0.6, 0.9)
    busy = runs(build, daily(random, build), random.uniform(60, 1_200), share, 0.05)
    wants = TYPES[kind].baseline_bytes * busy * (1 + random.normal(0, 0.02, MINUTES))
    return Guest(kind=kind, wants=wants, burst_minutes=30)


def _resized(random: Random, build: Builder) -> Guest:
    """Above its baseline every day, until it was given a larger type within the window."""
    started = build.ago(random.uniform(1, 10))
    guest = _every_day(random, build, kind=pick(random, "t3.micro", "t3.small", "t4g.small"))
    larger = pick(random, "m6i.8xlarge", "c6i.8xlarge", "c6gn.4xlarge", "m6i.4xlarge")
    more = {"launched": started, "running": ((build.ago(300), started - 900), (started, FOREVER))}
    return Guest(
        kind=guest.kind, wants=guest.wants, burst_minutes=guest.burst_minutes, resized=(started, larger), more=more
    )


def _new(random: Random, build: Builder) -> Guest:
    """Started within the last four days: whether this is its life nobody knows."""
    guest = _every_day(random, build)
    guest.more["days"] = random.uniform(0.5, 3.9)
    return guest


def _flat(random: Random, build: Builder) -> Guest:
    """Peak equals baseline: it has no credits to live on."""
    kind = pick(random, *FLAT)
    wants = runs(build, daily(random, build), random.uniform(60, 600), TYPES[kind].peak_bytes * 2, 1e6) * wobble(random)
    return Guest(kind=kind, wants=wants, burst_minutes=0, way=way(random))


def _holes(random: Random, build: Builder, name: str) -> Instance:
    """Telemetry that stops for hours, again and again, of an instance that moves less than its baseline."""
    kind = pick(random, *SMALL)
    values = TYPES[kind].baseline_bytes * MINUTE * spread(random, 0.3, 0.7) * np.minimum(wobble(random), 1.4)
    for hour in random.integers(0, MINUTES // 60 - 12, int(random.integers(5, 60))).tolist():
        values[hour * 60 : (hour + int(random.integers(1, 12))) * 60] = np.nan
    flow = Flow(build.shapes.signal(values).coarsened(300))
    return build.instance(
        name, kind, days=90, net_in=flow, net_out=flow, cpu=cpu(random, build), tags=dict(tags(random))
    )


SCENARIOS = (
    Scenario(
        name="every-day", story="An hour or more above it, every day.", plant=through_buckets(_every_day), trouble=True
    ),
    Scenario(name="weekdays", story="The same on weekdays.", plant=through_buckets(_weekdays), trouble=True),
    Scenario(
        name="working-days",
        story="Its users live on credits by day.",
        plant=through_buckets(_working_days),
        trouble=True,
    ),
    Scenario(
        name="restarted", story="Above it since a restart.", plant=through_buckets(_since_a_restart), trouble=True
    ),
    Scenario(name="weekly", story="A long transfer once a week.", plant=through_buckets(_weekly)),
    Scenario(name="once", story="A migration of one to three days.", plant=through_buckets(_once)),
    Scenario(name="short", story="Short bursts, often.", plant=through_buckets(_short)),
    Scenario(name="below", story="Much traffic below its baseline.", plant=through_buckets(_below)),
    Scenario(name="both-ways", story="In and out, each below it.", plant=through_buckets(_both_ways)),
    Scenario(name="resized", story="Above it until it was made larger.", plant=through_buckets(_resized)),
    Scenario(name="new", story="Started a few days ago.", plant=through_buckets(_new)),
    Scenario(name="no-burst", story="A type without burst.", plant=through_buckets(_flat)),
    Scenario(name="holes", story="Hours without metrics.", plant=each(_holes), full=False),
)
