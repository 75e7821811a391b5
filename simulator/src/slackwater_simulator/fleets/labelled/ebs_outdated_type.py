"""Volumes of an earlier type, and those that do not get better or cheaper with another.

Left out, because even the truth is in doubt: gp2 volumes of 171 to 300 GiB that move between 100 and 210 MiB/s, where gp3
costs as much; magnetic volumes near their limit, or at it on few days; and gp2 volumes out of credits, of which nobody knows
what they need.
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

_MIB = 100
"""With headroom, no more than gp3 includes."""


def _volume(
    random: Random, build: Builder, name: str, type_: str, gib: int, on: Instance | None = None, **more: object
) -> Volume:
    more.setdefault("tags", dict(tags(random)))
    return build.volume(name, gib, on=on or carriers.host(random, build, name), type=type_, **more)  # type: ignore[arg-type]


def _gp2(
    random: Random,
    build: Builder,
    name: str,
    values: Floats,
    gib: int,
    most_mib: float = _MIB,
    on: Instance | None = None,
    **more: object,
) -> Volume:
    """A gp2 volume that is never faster than its baseline."""
    baseline, size = max(100, 3 * gib), spread(random, 16, 256)
    mib = min(most_mib, baseline * size / 1024) * random.uniform(0.1, 0.9)
    return _volume(
        random, build, name, "gp2", gib, on, activity=carriers.work(random, build, values, mib, size), **more
    )


def _gib(random: Random) -> int:
    return int(spread(random, 20, 990))


def _small(random: Random, build: Builder, name: str) -> Volume:
    return _gp2(random, build, name, demand(random, build), _gib(random))


def _large(random: Random, build: Builder, name: str) -> Volume:
    """IOPS beyond the 3,000 that gp3 includes, some of them used."""
    gib = int(spread(random, 1_010, 6_000))
    size = spread(random, 4, 16)
    iops = min(16_000, 3 * gib) * random.uniform(0.05, 0.9)
    activity = carriers.work(random, build, demand(random, build), iops * size / 1024, size)
    return _volume(random, build, name, "gp2", gib, activity=activity)


def _fast(random: Random, build: Builder, name: str) -> Volume:
    """Large enough that gp3 with 250 MiB/s costs less too; once a month it moves all of them."""
    gib, starts = int(spread(random, 350, 990)), monthly(random, build)
    values = np.clip(runs(build, starts, random.uniform(30, 600), 1.0, 0.05) * wobble(random), 0, 1)
    activity = carriers.work(random, build, values, random.uniform(215, 245), 256)
    return _volume(random, build, name, "gp2", gib, activity=activity)


def _io1(random: Random, build: Builder, name: str) -> Volume:
    """Any share of its IOPS."""
    gib = int(spread(random, 50, 4_000))
    iops = int(min(20_000, 50 * gib, spread(random, 500, 20_000)))
    used = iops * spread(random, 0.05, 0.95)
    size = spread(random, 4, max(4.0, min(32.0, _MIB * 1024 / used)))
    activity = carriers.work(random, build, demand(random, build), used * size / 1024, size)
    return _volume(random, build, name, "io1", gib, iops=iops, activity=activity)


def _magnetic(random: Random, build: Builder, name: str) -> Volume:
    """So many I/O requests that they cost more than gp3 does, and no minute at its limit."""
    return _requests(random, build, name, random.uniform(60, 150), int(spread(random, 10, 40)))


def _magnetic_quiet(random: Random, build: Builder, name: str) -> Volume:
    """So few I/O requests, for its size, that gp3 costs more."""
    return _requests(random, build, name, random.uniform(1, 10), int(spread(random, 250, 1_000)))


def _requests(random: Random, build: Builder, name: str, iops: float, gib: int) -> Volume:
    values = working_days(random, build) if chance(random, 0.5) else np.clip(0.6 * wobble(random), 0, 1)
    size = spread(random, 4, 64)
    activity = carriers.work(random, build, values, iops * size / 1024, size)
    return _volume(random, build, name, "standard", gib, activity=activity)


def _magnetic_slow(random: Random, build: Builder, name: str) -> Volume:
    """A job wants more every night than the 200 IOPS, or 90 MiB/s, that there are, and gets those."""
    wanted = runs(build, daily(random, build), random.uniform(30, 300), random.uniform(1.3, 4), 0.05) * wobble(random)
    values = np.clip(wanted, 0, 1)
    size = spread(random, 4, 64) if chance(random, 0.7) else 1_024.0
    activity = carriers.work(random, build, values, min(90.0, 200 * size / 1024), size)
    return _volume(random, build, name, "standard", int(spread(random, 10, 1_000)), activity=activity)


def _on_xen(random: Random, build: Builder, name: str) -> Volume:
    on = carriers.host(random, build, name, carriers.XEN)
    return _gp2(random, build, name, demand(random, build), _gib(random), on=on)


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    volume = _small(random, build, name)
    return carriers.restarted(random, build, volume, build.instances[-1])


def _attached_weeks_ago(random: Random, build: Builder, name: str) -> Volume:
    created = build.ago(random.uniform(15.1, 30))
    return _gp2(random, build, name, demand(random, build), _gib(random), created=created)


def _stopped_once(random: Random, build: Builder, name: str) -> Volume:
    volume = _small(random, build, name)
    return carriers.stopped_once(random, build, volume, build.instances[-1])


def _old_holes(random: Random, build: Builder, name: str) -> Volume:
    return _gp2(random, build, name, carriers.old_holes(random, build, demand(random, build)), _gib(random))


def _needs_250(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> Volume:
    """A gp2 volume of a size at which gp3 with as many MiB/s costs more; its credits last for the job."""
    values = np.clip(runs(build, starts, minutes, 1.0, 0.05) * wobble(random), 0, 1)
    activity = carriers.work(random, build, values, random.uniform(215, 245), 256)
    return _volume(random, build, name, "gp2", int(random.integers(175, 236)), activity=activity)


def _nightly(random: Random, build: Builder, name: str) -> Volume:
    return _needs_250(random, build, name, daily(random, build), random.uniform(5, 60))


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _needs_250(random, build, name, daily(random, build, 7), random.uniform(5, 120))


def _monthly(random: Random, build: Builder, name: str) -> Volume:
    return _needs_250(random, build, name, monthly(random, build), random.uniform(30, 120))


def _first_weekday(random: Random, build: Builder, name: str) -> Volume:
    return _needs_250(random, build, name, first_weekday(random, build), random.uniform(30, 120))


def _seconds(random: Random, build: Builder, name: str) -> Volume:
    """Seconds at 250 MiB/s, several times a day: minutes hide them, and the exceeded check does not."""
    bursts = np.where(random.random(MINUTES) < random.uniform(0.002, 0.02), 1.0, 0.0)
    check = {"VolumeThroughputExceededCheck": given(build.shapes.signal(bursts), digits=0)}
    values = np.clip(0.1 * wobble(random) + 0.2 * bursts, 0, 1)
    activity = carriers.work(random, build, values, random.uniform(100, 250), 256)
    gib = int(random.integers(175, 236))
    return _volume(random, build, name, "gp2", gib, activity=activity, telemetry=check)


def _shared(random: Random, build: Builder, name: str) -> Volume:
    """io1 on two instances: not for gp3, and io2 costs the same."""
    iops = int(spread(random, 500, 20_000))
    activity = carriers.work(random, build, demand(random, build), iops * random.uniform(0.7, 0.95) * 4 / 1024, 4)
    volume = _volume(random, build, name, "io1", 1_000, iops=iops, activity=activity, multi_attach=True)
    other = carriers.host(random, build, f"{name}-2")
    since = max(volume.attachments[0].since, other.launched)
    attachments = (*volume.attachments, replace(volume.attachments[0], instance_id=other.id, since=since))
    shared = replace(volume, attachments=attachments, used=((volume.attachments[0].since, 1 << 40),))
    build.volumes[build.volumes.index(volume)] = shared
    return shared


def _present(random: Random, build: Builder, name: str) -> Volume:
    """gp3, io2 or a hard disk, well used."""
    values, gib = demand(random, build), int(spread(random, 500, 4_000))
    match int(random.integers(4)):
        case 0:
            activity = carriers.work(random, build, values, spread(random, 1, 100), 64)
            return _volume(random, build, name, "gp3", gib, activity=activity)
        case 1:
            activity = carriers.work(random, build, np.maximum(values, 0.7), 2_000 * 0.9 * 8 / 1024, 8)
            return _volume(random, build, name, "io2", gib, iops=2_000, activity=activity)
        case 2:
            activity = carriers.work(random, build, values, 30 * gib / 1024, 1_024)
            return _volume(random, build, name, "st1", gib, activity=activity)
        case _:
            activity = carriers.work(random, build, values, 9 * gib / 1024, 1_024)
            return _volume(random, build, name, "sc1", gib, activity=activity)


def _stopped(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = carriers.host(random, build, name, days=120, state="stopped", stopped=stopped)
    return _volume(random, build, name, "gp2", _gib(random), host, used=((host.launched, stopped),))


def _new(random: Random, build: Builder, name: str) -> Volume:
    return _gp2(random, build, name, demand(random, build), _gib(random), created=build.ago(random.uniform(0.1, 10)))


def _holes(random: Random, build: Builder, name: str) -> Volume:
    return _gp2(random, build, name, without_days(random, build, demand(random, build)), _gib(random))


SCENARIOS = (
    Scenario(name="gp2", story="gp2, and less is used than gp3 includes.", plant=each(_small), trouble=True),
    Scenario(name="gp2-large", story="gp2 with more IOPS than gp3 includes.", plant=each(_large), trouble=True),
    Scenario(name="gp2-fast", story="gp2 that needs its 250 MiB/s, and large.", plant=each(_fast), trouble=True),
    Scenario(name="io1", story="io1, and gp3 would carry it.", plant=each(_io1), trouble=True),
    Scenario(
        name="magnetic-slow", story="Magnetic, and at its limit every night.", plant=each(_magnetic_slow), trouble=True
    ),
    Scenario(name="magnetic", story="Magnetic, with many I/O requests.", plant=each(_magnetic), trouble=True),
    Scenario(name="on-xen", story="gp2 on a Xen instance.", plant=each(_on_xen), trouble=True),
    Scenario(
        name="restarted", story="gp2 whose instance was stopped and started.", plant=each(_restarted), trouble=True
    ),
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
    Scenario(name="magnetic-quiet", story="Magnetic, with few I/O requests a month.", plant=each(_magnetic_quiet)),
    Scenario(name="nightly", story="gp2 of 200 GiB that needs 250 MiB/s every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="The same once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="The same once a month.", plant=each(_monthly)),
    Scenario(
        name="first-weekday", story="The same on the first Monday of the month, or so.", plant=each(_first_weekday)
    ),
    Scenario(name="seconds", story="The same for seconds, which minutes hide.", plant=each(_seconds)),
    Scenario(name="shared", story="io1 shared by two instances.", plant=each(_shared)),
    Scenario(name="present", story="gp3, io2, st1 and sc1.", plant=each(_present)),
    Scenario(name="stopped", story="On an instance that was stopped of late.", plant=each(_stopped)),
    Scenario(name="new", story="Attached within ten days: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
    Scenario(name="old-holes", story="The same weeks ago.", plant=each(_old_holes), full=False),
)
