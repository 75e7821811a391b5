"""Instances that are above their network baseline for long, day after day, on credits that last; and those that are not.

Left out, because even the truth is in doubt: rates within half of the baseline above it, which noise hides; times of 20 to 45
minutes; and a job of every second or third day, which may have run on five days of a fortnight or not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.series import DAY, FOREVER
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .guests import BURSTING, FLAT, SMALL, Guest, guest, hours_dark, through_buckets, way
from .scenario import Rows


def _within_credits(d: Draw, kind: str, burst_minutes: float, minutes: float) -> float:
    """A rate, bytes a second, that uses at most half of a full bucket in so many minutes and lets it fill within the day."""
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    most = min(
        0.5 * burst_minutes * (peak - base) / minutes, 0.7 * base * (1_440 - minutes) / minutes, 0.8 * (peak - base)
    )
    return base + max(0.5 * base, min(most, base * d.spread(0.5, 20)))


def _every_day(d: Draw, starts: list[int] | None = None, kind: str = "") -> Guest:
    """A transfer of 45 to 200 minutes every day, a few minutes late."""
    kind, burst, minutes = kind or d.pick(*SMALL), d.uniform(20, 60), d.uniform(45, 200)
    rate = _within_credits(d, kind, burst, minutes)
    rest = TYPES[kind].baseline_bytes * d.uniform(0.001, 0.1)
    wants = d.runs(d.daily() if starts is None else starts, minutes, rate, rest) * d.wobble()
    return guest(d, kind, wants, burst)


def _working_days(d: Draw) -> Guest:
    """Users who want up to twice the baseline in their busy hours; the nights and weekends pay it back."""
    kind = d.pick("t3.micro", "t3.small", "t3.medium", "t4g.small", "t3a.medium", "m5.large", "m6i.large", "c6i.large")
    wants = d.working_days() * TYPES[kind].baseline_bytes * d.uniform(2.8, 3.4)
    return guest(d, kind, wants, d.uniform(40, 60))


def _since_a_restart(d: Draw) -> Guest:
    """Stopped and started eight days ago or more, and above its baseline every day."""
    made, started = _every_day(d), d.ago(d.uniform(8, 13))
    made.more.update(launched=started, running=((d.ago(200), started - 600), (started, FOREVER)))
    return made


def _once(d: Draw) -> Guest:
    first = d.ago(d.uniform(4, 12))
    return _every_day(d, [first + day * DAY for day in range(d.integer(1, 4))])


def _short(d: Draw) -> Guest:
    """Bursts of 2 to 15 minutes, once a day to once an hour, at up to the peak."""
    kind, minutes = d.pick(*BURSTING), d.uniform(2, 15)
    base, peak = TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes
    gap = d.integer(1, 24) * 60
    most = base * (gap - minutes) / minutes * 0.8
    starts = [start + gap * 60 * turn for start in d.daily() for turn in range(1_440 // gap)]
    rate = base + max(0.5 * base, min(most, (peak - base) * d.uniform(0.1, 0.9)))
    return guest(d, kind, d.runs(starts, minutes, rate, base * d.uniform(0.001, 0.1)) * d.wobble(), 60)


def _below(d: Draw) -> Guest:
    """By day or at all times."""
    kind = d.pick(*BURSTING)
    demand = d.working_days() if d.chance(0.5) else d.wobble()
    return guest(d, kind, np.minimum(demand * d.uniform(0.3, 0.8), 0.97) * TYPES[kind].baseline_bytes, 30)


def _both_ways(d: Draw) -> Guest:
    """A proxy at six to nine tenths of its baseline for hours, in and out: together more than it."""
    kind, share = d.pick(*SMALL), d.uniform(0.6, 0.9)
    busy = d.runs(d.daily(), d.uniform(60, 1_200), share, 0.05)
    wants = TYPES[kind].baseline_bytes * busy * (1 + d.random.normal(0, 0.02, MINUTES))
    return Guest(kind=kind, wants=wants, burst_minutes=30)


def _resized(d: Draw) -> Guest:
    """It was given a larger type within the window."""
    started = d.ago(d.uniform(1, 10))
    made = _every_day(d, kind=d.pick("t3.micro", "t3.small", "t4g.small"))
    larger = d.pick("m6i.8xlarge", "c6i.8xlarge", "c6gn.4xlarge", "m6i.4xlarge")
    more = {"launched": started, "running": ((d.ago(300), started - 900), (started, FOREVER))}
    return replace(made, way="both", agent="", resized=(started, larger), more=more)


def _new(d: Draw) -> Guest:
    """Whether this is its life nobody knows."""
    made = _every_day(d)
    made.more["days"] = d.uniform(0.5, 3.9)
    return made


def _flat(d: Draw) -> Guest:
    """Peak equals baseline: it has no credits to live on."""
    kind = d.pick(*FLAT)
    wants = d.runs(d.daily(), d.uniform(60, 600), TYPES[kind].peak_bytes * 2, 1e6) * d.wobble()
    return Guest(kind=kind, wants=wants, burst_minutes=0, way=way(d))


EC2_NETWORK_OVER_BASELINE_ISSUES: Rows = {
    "every-day: An hour or more above it, every day.": through_buckets(_every_day),
    "weekdays: The same on weekdays.": through_buckets(
        lambda d: _every_day(d, [start for start in d.daily() if (start // DAY + 3) % 7 < 5])
    ),
    "working-days: Its users live on credits by day.": through_buckets(_working_days),
    "restarted: Above it since a restart.": through_buckets(_since_a_restart),
}
EC2_NETWORK_OVER_BASELINE_CONTROLS: Rows = {
    "weekly: A long transfer once a week.": through_buckets(lambda d: _every_day(d, d.daily(d.integer(5, 8)))),
    "once: A migration of one to three days.": through_buckets(_once),
    "short: Short bursts, often.": through_buckets(_short),
    "below: Much traffic below its baseline.": through_buckets(_below),
    "both-ways: In and out, each below it.": through_buckets(_both_ways),
    "resized: Above it until it was made larger.": through_buckets(_resized),
    "new: Started a few days ago.": through_buckets(_new),
    "no-burst: A type without burst.": through_buckets(_flat),
}
EC2_NETWORK_OVER_BASELINE_UNKNOWN: Rows = {
    "holes: Hours without metrics.": lambda d: hours_dark(d, (0.3, 0.7), 60, 1.4)
}
