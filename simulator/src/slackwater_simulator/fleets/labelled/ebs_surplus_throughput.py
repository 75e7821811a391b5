"""gp3 throughput that nobody needs, and throughput that is needed for minutes a night, a week or a month.

Left out, because even the truth is in doubt: a busiest minute between a third and a half of what is bought, and a restore or a
migration that ended within five weeks, which looks like a job that runs once a month.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Instance, Volume, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from . import carriers
from .rhythms import (
    Random,
    daily,
    demand,
    first_weekday,
    monthly,
    runs,
    spread,
    tags,
    without_days,
    wobble,
    working_days,
)
from .scenario import Scenario, each

_BOUGHT = (200, 250, 300, 400, 500, 600, 750, 1000)
_ON_XEN = (160, 180, 200, 225)
"""MiB/s that a Xen instance carries."""


def _bought(random: Random, choices: tuple[int, ...] = _BOUGHT) -> int:
    return choices[int(random.integers(len(choices)))]


def _iops(bought: int) -> int:
    """The fewest with which so much throughput may be provisioned."""
    return max(3_000, 4 * bought)


def _size_kib(random: Random, bought: int, peak_mib: float) -> float:
    """Of an operation, so that the IOPS carry them."""
    return spread(random, min(256, max(16, peak_mib * 1024 / _iops(bought))), 256)


def _volume(
    random: Random, build: Builder, name: str, bought: int, on: Instance | None = None, **more: object
) -> Volume:
    more.setdefault("tags", dict(tags(random)))
    on = on or carriers.host(random, build, name)
    return build.volume(name, int(spread(random, 50, 8_000)), on=on, throughput=bought, iops=_iops(bought), **more)  # type: ignore[arg-type]


def _with(
    random: Random,
    build: Builder,
    name: str,
    values: Floats,
    used: float,
    choices: tuple[int, ...] = _BOUGHT,
    kind: str = "",
    **more: object,
) -> Volume:
    """A volume that does its work at this share of what is bought, at its peak."""
    bought = _bought(random, choices)
    activity = carriers.work(random, build, values, bought * used, _size_kib(random, bought, bought * used))
    return _volume(random, build, name, bought, carriers.host(random, build, name, kind), activity=activity, **more)


def _little(random: Random) -> float:
    return spread(random, 0.02, 0.33)


def _rarely_much(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, demand(random, build), _little(random))


def _on_xen(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, demand(random, build), _little(random), _ON_XEN, carriers.XEN)


def _idle(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _bought(random))


def _by_turns(random: Random, build: Builder, name: str) -> Volume:
    bought = _bought(random)
    peak = bought * random.uniform(0.2, 0.33)
    metrics = carriers.by_turns(random, build, peak, _size_kib(random, bought, peak))
    return _volume(random, build, name, bought, telemetry=metrics)


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    volume = _with(random, build, name, demand(random, build), _little(random))
    return carriers.restarted(random, build, volume, build.instances[-1])


def _attached_weeks_ago(random: Random, build: Builder, name: str) -> Volume:
    created = build.ago(random.uniform(15.1, 30))
    return _with(random, build, name, demand(random, build), _little(random), created=created)


def _stopped_once(random: Random, build: Builder, name: str) -> Volume:
    volume = _rarely_much(random, build, name)
    return carriers.stopped_once(random, build, volume, build.instances[-1])


def _old_holes(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, carriers.old_holes(random, build, demand(random, build)), _little(random))


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> Volume:
    """Nearly all that was bought while a job runs; little at other times."""
    values = np.clip(runs(build, starts, minutes, random.uniform(0.7, 1.0), 0.02) * wobble(random), 0, 1)
    return _with(random, build, name, values, 1.0)


def _nightly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build), random.uniform(3, 60))


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build, 7), random.uniform(3, 240))


def _monthly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, monthly(random, build), random.uniform(30, 600))


def _first_weekday(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, first_weekday(random, build), random.uniform(30, 600))


def _by_day(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, np.clip(working_days(random, build) * 1.3, 0, 1), random.uniform(0.7, 1.0))


def _steady(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, np.clip(0.8 * wobble(random), 0, 1), random.uniform(0.6, 1.0))


def _seconds(random: Random, build: Builder, name: str) -> Volume:
    """Seconds at the limit, several times a day: minutes hide them, and the exceeded check does not."""
    bursts = np.where(random.random(MINUTES) < random.uniform(0.002, 0.02), 1.0, 0.0)
    check = {"VolumeThroughputExceededCheck": given(build.shapes.signal(bursts), digits=0)}
    values = np.clip(0.1 * wobble(random) + 0.2 * bursts, 0, 1)
    return _with(random, build, name, values, random.uniform(0.6, 1.0), telemetry=check)


def _stopped(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = carriers.host(random, build, name, days=120, state="stopped", stopped=stopped)
    return _volume(random, build, name, _bought(random), host, used=((host.launched, stopped),))


def _new(random: Random, build: Builder, name: str) -> Volume:
    return _with(
        random, build, name, demand(random, build), _little(random), created=build.ago(random.uniform(0.1, 10))
    )


def _holes(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, without_days(random, build, demand(random, build)), _little(random))


def _included(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, demand(random, build), random.uniform(0.01, 1), (125,))


SCENARIOS = (
    Scenario(name="rarely-much", story="A third of it is used at most.", plant=each(_rarely_much), trouble=True),
    Scenario(name="on-xen", story="The same on a Xen instance.", plant=each(_on_xen), trouble=True),
    Scenario(name="by-turns", story="Reads by day, writes by night.", plant=each(_by_turns), trouble=True),
    Scenario(name="restarted", story="Its instance was stopped and started.", plant=each(_restarted), trouble=True),
    Scenario(
        name="attached-weeks-ago",
        story="Attached two to four weeks ago.",
        plant=each(_attached_weeks_ago),
        trouble=True,
    ),
    Scenario(
        name="stopped-once",
        story="Its instance was stopped for days, weeks ago.",
        plant=each(_stopped_once),
        trouble=True,
    ),
    Scenario(name="idle", story="Attached, and idle: that says more.", plant=each(_idle), also=("ebs-idle",)),
    Scenario(name="nightly", story="Used in full for minutes every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used in full once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Used in full for half an hour or more once a month.", plant=each(_monthly)),
    Scenario(
        name="first-weekday", story="The same on the first Monday of the month, or so.", plant=each(_first_weekday)
    ),
    Scenario(name="by-day", story="Used by day.", plant=each(_by_day)),
    Scenario(name="steady", story="Used always.", plant=each(_steady)),
    Scenario(name="seconds", story="Seconds at the limit, which minutes hide.", plant=each(_seconds)),
    Scenario(name="stopped", story="On an instance that was stopped of late.", plant=each(_stopped)),
    Scenario(name="included", story="The throughput that every gp3 includes.", plant=each(_included)),
    Scenario(name="new", story="Attached within ten days: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
    Scenario(name="old-holes", story="The same weeks ago.", plant=each(_old_holes), full=False),
)
