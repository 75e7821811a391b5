"""Instances that run and do nothing, and instances that seem to, for most of the time.

Left out, because even the truth is in doubt: systems whose own chores take 4 to 8 % of the CPU or 4 to 8 MB a day, and test
machines that a schedule stops every evening.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import Flow, Instance
from slackwater_simulator.series import DAY, FOREVER, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import Rows

_TYPES = (
    *("t3.micro", "t3.medium", "t3.large", "t4g.small", "m5.large", "m6i.large", "m6i.2xlarge", "c6i.4xlarge"),
    "r6i.xlarge",
)
_MB = 1e6


def _chores(d: Draw) -> Floats:
    """Percent of the CPU that an empty system takes by the minute: next to nothing, and its own timers."""
    base = d.spread(0.05, 0.8) * d.wobble()
    nightly = d.runs(d.daily(), d.uniform(1, 15), d.uniform(0.3, 2.5))
    hourly = np.where(np.arange(MINUTES) % 60 == d.integer(60), d.uniform(0.1, 1.5), 0.0)
    return np.minimum(base + nightly + hourly, 4.0)


def _heartbeat(d: Draw, most_mb: float = 3.9) -> Floats:
    """Bytes a minute of time servers, updates and the like: at most so many MB a day, unevenly."""
    mb_a_day = d.spread(0.02, most_mb)
    by_day = d.random.gamma(0.3, 1.0, MINUTES).reshape(-1, DAY_MINUTES)
    return (by_day / by_day.sum(1, keepdims=True)).ravel() * mb_a_day * _MB


def _instance(d: Draw, percent: Floats, moved: Floats, **more: Any) -> Instance:
    """`percent` of the CPU and bytes `moved` in a minute, of which some come in and the others go out."""
    more.setdefault("days", d.uniform(60, 700))
    share, kind = d.uniform(0.2, 0.8), d.pick(*_TYPES)
    traffic = d.published(moved, together=5)
    cpu = Flow(d.published(percent, together=5))
    flows: dict[str, Any] = {"cpu": cpu, "net_in": Flow(traffic, share), "net_out": Flow(traffic, 1 - share)}
    more["detailed"] = d.chance(0.2)
    return d.build.instance(d.name, kind, **flows, **{**more, "tags": {**d.tags(), **more.get("tags", {})}})


def _forgotten(d: Draw, **more: Any) -> Instance:
    moved = _heartbeat(d)
    return _instance(d, _chores(d), moved, **more)


def _restarted(d: Draw) -> Instance:
    """Two to five weeks ago."""
    started = d.ago(d.uniform(16, 34))
    spans = ((d.ago(300), started - int(d.uniform(600, 5 * DAY))), (started, FOREVER))
    return _forgotten(d, launched=started, running=spans)


def _in_a_group(d: Draw) -> Instance:
    """Of a cluster, EC2 alone says so where it is one of EKS Auto Mode."""
    number = d.integer(100)
    if d.chance(0.5):
        return _forgotten(d, tags={"aws:autoscaling:groupName": f"workers-{number}"})
    if number < 50:
        return _forgotten(d, operator="eks.amazonaws.com")
    cluster = {"kubernetes.io/cluster/batch": "owned", "aws:autoscaling:groupName": "eks-nodes"}
    return _forgotten(d, tags=cluster)


def _working(d: Draw, starts: list[int]) -> Instance:
    """Idle but for its job, which takes the CPU for minutes to hours, and moves something or nothing."""
    work = d.runs(starts, d.spread(5, 300), 1.0)
    percent = _chores(d) + work * d.uniform(15, 95) * np.minimum(d.wobble(), 1.05)
    moved = _heartbeat(d) + work * (d.spread(0.01, 50) * _MB if d.chance(0.5) else 0)
    return _instance(d, np.minimum(percent, 100), moved)


def _copies(d: Draw) -> Instance:
    minutes = d.uniform(1, 30)
    copied = d.runs(d.daily(1 if d.chance(0.5) else 7), minutes, d.spread(15, 5_000) * _MB / minutes)
    percent = _chores(d)
    return _instance(d, percent, copied + _heartbeat(d, 3))


def _holes(d: Draw) -> Instance:
    percent, moved = _chores(d), _heartbeat(d)
    dark = np.isnan(d.without_days(percent))
    return _instance(d, np.where(dark, np.nan, percent), np.where(dark, np.nan, moved))


EC2_IDLE_ISSUES: Rows = {
    "forgotten: Chores and heartbeats, and nothing else.": _forgotten,
    "restarted: Restarted weeks ago, and idle.": _restarted,
    "in-a-group: Idle in a group or a cluster.": _in_a_group,
    "spot: Idle, and on Spot.": lambda d: _forgotten(d, spot=True),
}
EC2_IDLE_CONTROLS: Rows = {
    "nightly: Works every night.": lambda d: _working(d, d.daily()),
    "weekly: Works once a week.": lambda d: _working(d, d.daily(7)),
    "monthly: Works once a month.": lambda d: _working(d, d.monthly() if d.chance(0.5) else d.first_weekday()),
    # A bastion that somebody came through once, some time in the last month.
    "logged-in: Somebody logged in once.": lambda d: _working(d, [d.ago(d.uniform(0.02, 33))]),
    # A gateway, a name server, a standby that follows its primary.
    "relay: No CPU, and always some traffic.": lambda d: _instance(
        d, moved=d.spread(12, 50_000) * _MB / DAY_MINUTES * d.wobble(), percent=_chores(d)
    ),
    "copies: A copy by day or week, and no CPU.": _copies,
    "young: Started less than two weeks ago.": lambda d: _forgotten(d, days=d.uniform(0.05, 13.5)),
    "stopped: Stopped.": lambda d: _forgotten(d, state="stopped", stopped=d.ago(d.uniform(1, 25))),
    "kept: Idle on purpose, and tagged keep.": lambda d: _forgotten(d, tags={"keep": "licence server"}),
}
EC2_IDLE_UNKNOWN: Rows = {"holes: Whole days without metrics.": _holes}
