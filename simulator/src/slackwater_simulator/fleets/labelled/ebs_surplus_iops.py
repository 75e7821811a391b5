"""IOPS that nobody needs, and IOPS that are needed for minutes a night, a week or a month, or for the throughput they bring.

Left out, because even the truth is in doubt: a busiest minute between a third and a half of what is provisioned, large
operations at such a rate, and a migration that ended within five weeks, which looks like a job that runs once a month. An io1
volume is another detector's: its type is the larger waste.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Instance, Volume, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from . import carriers
from .rhythms import (
    Random,
    chance,
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

_GP3 = (4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 16_000, 20_000)
_IO2 = (500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000)
_MIB = 100
"""Of the 125 MiB/s that a gp3 volume includes, what small operations move at most."""


def _one(random: Random, choices: tuple[int, ...]) -> int:
    return choices[int(random.integers(len(choices)))]


def _kind(random: Random) -> tuple[str, int]:
    """A type and its IOPS."""
    return ("gp3", _one(random, _GP3)) if chance(random, 0.6) else ("io2", _one(random, _IO2))


def _volume(
    random: Random, build: Builder, name: str, kind: tuple[str, int], on: Instance | None = None, **more: object
) -> Volume:
    more.setdefault("tags", dict(tags(random)))
    on = on or carriers.host(random, build, name)
    return build.volume(name, int(spread(random, 50, 8_000)), on=on, type=kind[0], iops=kind[1], **more)  # type: ignore[arg-type]


def _size_kib(random: Random, iops: float) -> float:
    """Pages of a database."""
    return spread(random, 4, max(4.0, min(32.0, _MIB * 1024 / iops)))


def _with(
    random: Random,
    build: Builder,
    name: str,
    values: Floats,
    used: float,
    kind: tuple[str, int] | None = None,
    on: Instance | None = None,
    **more: object,
) -> Volume:
    """A volume that uses this share of its IOPS at its peak, with small operations."""
    kind = kind or _kind(random)
    iops = kind[1] * used
    size = _size_kib(random, iops)
    activity = carriers.work(random, build, values, iops * size / 1024, size)
    return _volume(random, build, name, kind, on, activity=activity, **more)


def _little(random: Random) -> float:
    return spread(random, 0.02, 0.33)


def _rarely_many(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, demand(random, build), _little(random))


def _on_xen(random: Random, build: Builder, name: str) -> Volume:
    kind, iops = _kind(random)
    on = carriers.host(random, build, name, carriers.XEN)
    return _with(random, build, name, demand(random, build), _little(random), (kind, min(iops, 12_000)), on)


def _by_turns(random: Random, build: Builder, name: str) -> Volume:
    kind = _kind(random)
    iops = kind[1] * random.uniform(0.2, 0.33)
    size = _size_kib(random, iops)
    return _volume(random, build, name, kind, telemetry=carriers.by_turns(random, build, iops * size / 1024, size))


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    volume = _with(random, build, name, demand(random, build), _little(random))
    return carriers.restarted(random, build, volume, build.instances[-1])


def _attached_weeks_ago(random: Random, build: Builder, name: str) -> Volume:
    created = build.ago(random.uniform(15.1, 30))
    return _with(random, build, name, demand(random, build), _little(random), created=created)


def _stopped_once(random: Random, build: Builder, name: str) -> Volume:
    volume = _rarely_many(random, build, name)
    return carriers.stopped_once(random, build, volume, build.instances[-1])


def _old_holes(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, carriers.old_holes(random, build, demand(random, build)), _little(random))


def _shared(random: Random, build: Builder, name: str) -> Volume:
    """On two instances, each of which does its part."""
    kind = ("io2", _one(random, _IO2))
    volume = _with(random, build, name, demand(random, build), spread(random, 0.02, 0.15), kind, multi_attach=True)
    other = carriers.host(random, build, f"{name}-2")
    since = max(volume.attachments[0].since, other.launched)
    attachments = (*volume.attachments, replace(volume.attachments[0], instance_id=other.id, since=since))
    shared = replace(volume, attachments=attachments, used=((volume.attachments[0].since, 1 << 40),))
    build.volumes[build.volumes.index(volume)] = shared
    return shared


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> Volume:
    """Nearly all that is provisioned while a job runs; little at other times."""
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
    check = {"VolumeIOPSExceededCheck": given(build.shapes.signal(bursts), digits=0)}
    values = np.clip(0.1 * wobble(random) + 0.2 * bursts, 0, 1)
    return _with(random, build, name, values, random.uniform(0.6, 1.0), telemetry=check)


def _large(random: Random, build: Builder, name: str) -> Volume:
    """Few operations of a MiB each, at most of the throughput that io2 has for its IOPS."""
    iops = _one(random, (500, 1_000, 2_000, 3_000, 4_000))
    values = np.clip(runs(build, daily(random, build), random.uniform(5, 300), 1.0, 0.02) * wobble(random), 0, 1)
    activity = carriers.work(random, build, values, 0.256 * iops * random.uniform(0.7, 1.0), 1_024)
    return _volume(random, build, name, ("io2", iops), activity=activity)


def _for_throughput(random: Random, build: Builder, name: str) -> Volume:
    """No more IOPS than its throughput must have, which is used in full at night, with operations of a MiB."""
    bought = _one(random, (800, 900))
    values = np.clip(runs(build, daily(random, build), random.uniform(5, 60), 0.95, 0.02) * wobble(random), 0, 1)
    activity = carriers.work(random, build, values, float(bought), 1_024)
    return _volume(random, build, name, ("gp3", 4 * bought), throughput=bought, activity=activity)


def _stopped(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = carriers.host(random, build, name, days=120, state="stopped", stopped=stopped)
    return _volume(random, build, name, _kind(random), host, used=((host.launched, stopped),))


def _new(random: Random, build: Builder, name: str) -> Volume:
    return _with(
        random, build, name, demand(random, build), _little(random), created=build.ago(random.uniform(0.1, 10))
    )


def _holes(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, without_days(random, build, demand(random, build)), _little(random))


def _included(random: Random, build: Builder, name: str) -> Volume:
    return _with(random, build, name, demand(random, build), random.uniform(0.01, 1), ("gp3", 3_000))


SCENARIOS = (
    Scenario(name="rarely-many", story="A third of them is used at most.", plant=each(_rarely_many), trouble=True),
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
    Scenario(name="shared", story="Shared by two instances.", plant=each(_shared), trouble=True),
    Scenario(name="nightly", story="Used in full for minutes every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used in full once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Used in full for half an hour or more once a month.", plant=each(_monthly)),
    Scenario(
        name="first-weekday", story="The same on the first Monday of the month, or so.", plant=each(_first_weekday)
    ),
    Scenario(name="by-day", story="Used by day.", plant=each(_by_day)),
    Scenario(name="steady", story="Used always.", plant=each(_steady)),
    Scenario(name="seconds", story="Seconds at the limit, which minutes hide.", plant=each(_seconds)),
    Scenario(name="large-operations", story="Few operations, each of which counts four times.", plant=each(_large)),
    Scenario(name="for-throughput", story="The IOPS that its throughput must have.", plant=each(_for_throughput)),
    Scenario(name="stopped", story="On an instance that was stopped of late.", plant=each(_stopped)),
    Scenario(name="included", story="The IOPS that every gp3 includes.", plant=each(_included)),
    Scenario(name="new", story="Attached within ten days: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
    Scenario(name="old-holes", story="The same weeks ago.", plant=each(_old_holes), full=False),
)
