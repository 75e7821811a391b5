"""Instances that run and do nothing, and instances that seem to, for most of the time.

Left out, because even the truth is in doubt: systems whose own chores take 4 to 8 % of the CPU or 4 to 8 MB a day, and test
machines that a schedule stops every evening.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Flow, Instance
from slackwater_simulator.series import DAY, FOREVER, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .rhythms import Random, chance, daily, first_weekday, monthly, published, runs, spread, tags, without_days, wobble
from .scenario import Scenario, each

_TYPES = (
    "t3.micro",
    "t3.medium",
    "t3.large",
    "t4g.small",
    "m5.large",
    "m6i.large",
    "m6i.2xlarge",
    "c6i.4xlarge",
    "r6i.xlarge",
)
_MB = 1e6


def _chores(random: Random, build: Builder) -> Floats:
    """Percent of the CPU that an empty system takes by the minute: next to nothing, and its own timers."""
    base = spread(random, 0.05, 0.8) * wobble(random)
    nightly = runs(build, daily(random, build), random.uniform(1, 15), random.uniform(0.3, 2.5))
    minute = np.arange(MINUTES)
    hourly = np.where(minute % 60 == int(random.integers(60)), random.uniform(0.1, 1.5), 0.0)
    return np.minimum(base + nightly + hourly, 4.0)


def _heartbeat(random: Random, mb_a_day: float) -> Floats:
    """Bytes a minute of time servers, updates and the like: so many MB a day, unevenly."""
    beats = random.gamma(0.3, 1.0, MINUTES)
    by_day = beats.reshape(-1, DAY_MINUTES)
    return (by_day / by_day.sum(1, keepdims=True)).ravel() * mb_a_day * _MB


def _instance(random: Random, build: Builder, name: str, percent: Floats, moved: Floats, **more: Any) -> Instance:
    """`percent` of the CPU and bytes `moved` in a minute, of which some come in and the others go out."""
    more.setdefault("days", random.uniform(60, 700))
    share, kind = random.uniform(0.2, 0.8), _TYPES[int(random.integers(len(_TYPES)))]
    traffic = published(random, build, moved, together=5)
    return build.instance(
        name,
        more.pop("kind", kind),
        cpu=Flow(published(random, build, percent, together=5)),
        net_in=Flow(traffic, share),
        net_out=Flow(traffic, 1 - share),
        detailed=chance(random, 0.2),
        tags={**tags(random), **more.pop("tags", {})},
        **more,
    )


def _forgotten(random: Random, build: Builder, name: str, **more: Any) -> Instance:
    moved = _heartbeat(random, spread(random, 0.02, 3.9))
    return _instance(random, build, name, _chores(random, build), moved, **more)


def _restarted(random: Random, build: Builder, name: str) -> Instance:
    """Stopped and started two to five weeks ago, and as idle before as after."""
    started = build.ago(random.uniform(16, 34))
    spans = ((build.ago(300), started - int(random.uniform(600, 5 * DAY))), (started, FOREVER))
    return _forgotten(random, build, name, launched=started, running=spans)


def _in_a_group(random: Random, build: Builder, name: str) -> Instance:
    """Or in a cluster, of which EC2 alone says so where it is one of EKS Auto Mode."""
    number = int(random.integers(100))
    group = {"aws:autoscaling:groupName": f"workers-{number}"}
    cluster = {"kubernetes.io/cluster/batch": "owned", "aws:autoscaling:groupName": "eks-nodes"}
    if chance(random, 0.5):
        return _forgotten(random, build, name, tags=group)
    if number < 50:
        return _forgotten(random, build, name, operator="eks.amazonaws.com")
    return _forgotten(random, build, name, tags=cluster)


def _spot(random: Random, build: Builder, name: str) -> Instance:
    return _forgotten(random, build, name, spot=True)


def _working(random: Random, build: Builder, name: str, starts: list[int]) -> Instance:
    """Idle but for its job, which takes the CPU for minutes to hours, and moves something or nothing."""
    work = runs(build, starts, spread(random, 5, 300), 1.0)
    percent = _chores(random, build) + work * random.uniform(15, 95) * np.minimum(wobble(random), 1.05)
    moved = _heartbeat(random, spread(random, 0.02, 3.9)) + work * (
        spread(random, 0.01, 50) * _MB if chance(random, 0.5) else 0
    )
    return _instance(random, build, name, np.minimum(percent, 100), moved)


def _nightly(random: Random, build: Builder, name: str) -> Instance:
    return _working(random, build, name, daily(random, build))


def _weekly(random: Random, build: Builder, name: str) -> Instance:
    return _working(random, build, name, daily(random, build, 7))


def _monthly(random: Random, build: Builder, name: str) -> Instance:
    return _working(random, build, name, (monthly if chance(random, 0.5) else first_weekday)(random, build))


def _logged_in(random: Random, build: Builder, name: str) -> Instance:
    """A bastion that somebody came through once, some time in the last month."""
    return _working(random, build, name, [build.ago(random.uniform(0.02, 33))])


def _relay(random: Random, build: Builder, name: str) -> Instance:
    """A gateway, a name server, a standby that follows its primary: hardly any CPU, and always some traffic."""
    moved = spread(random, 12, 50_000) * _MB / DAY_MINUTES * wobble(random)
    return _instance(random, build, name, _chores(random, build), moved)


def _copies(random: Random, build: Builder, name: str) -> Instance:
    """A copy of some megabytes by day or by week, for which it needs no CPU to speak of."""
    minutes = random.uniform(1, 30)
    copied = runs(
        build, daily(random, build, 1 if chance(random, 0.5) else 7), minutes, spread(random, 15, 5_000) * _MB / minutes
    )
    return _instance(random, build, name, _chores(random, build), copied + _heartbeat(random, spread(random, 0.02, 3)))


def _young(random: Random, build: Builder, name: str) -> Instance:
    return _forgotten(random, build, name, days=random.uniform(0.05, 13.5))


def _stopped(random: Random, build: Builder, name: str) -> Instance:
    stopped = build.ago(random.uniform(1, 25))
    return _forgotten(random, build, name, state="stopped", stopped=stopped)


def _kept(random: Random, build: Builder, name: str) -> Instance:
    return _forgotten(random, build, name, tags={"keep": "licence server"})


def _holes(random: Random, build: Builder, name: str) -> Instance:
    """Whole days without metrics: nobody knows what it did on them."""
    percent, moved = _chores(random, build), _heartbeat(random, spread(random, 0.02, 3.9))
    dark = np.isnan(without_days(random, build, percent))
    return _instance(random, build, name, np.where(dark, np.nan, percent), np.where(dark, np.nan, moved))


SCENARIOS = (
    Scenario(name="forgotten", story="Chores and heartbeats, and nothing else.", plant=each(_forgotten), trouble=True),
    Scenario(name="restarted", story="Restarted weeks ago, and idle.", plant=each(_restarted), trouble=True),
    Scenario(name="in-a-group", story="Idle in a group or a cluster.", plant=each(_in_a_group), trouble=True),
    Scenario(name="spot", story="Idle, and on Spot.", plant=each(_spot), trouble=True),
    Scenario(name="nightly", story="Works every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Works once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Works once a month.", plant=each(_monthly)),
    Scenario(name="logged-in", story="Somebody logged in once.", plant=each(_logged_in)),
    Scenario(name="relay", story="No CPU, and always some traffic.", plant=each(_relay)),
    Scenario(name="copies", story="A copy by day or week, and no CPU.", plant=each(_copies)),
    Scenario(name="young", story="Started less than two weeks ago.", plant=each(_young)),
    Scenario(name="stopped", story="Stopped.", plant=each(_stopped)),
    Scenario(name="kept", story="Idle on purpose, and tagged keep.", plant=each(_kept)),
    Scenario(name="holes", story="Whole days without metrics.", plant=each(_holes), full=False),
)
