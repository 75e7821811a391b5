"""gp3 throughput that nobody needs, and throughput that is needed for minutes a night, a week or a month.

Left out, because even the truth is in doubt: a busiest minute between a third and a half of what is bought, and a restore
or migration that ended within the last 14 days.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .rhythms import (
    Random,
    cpu,
    daily,
    demand,
    monthly,
    published,
    runs,
    spread,
    tags,
    without_days,
    wobble,
    working_days,
)
from .scenario import Scenario, each

_BOUGHT = (200, 250, 300, 400, 500, 600, 750, 1000)
_NITRO = tuple(name for name, kind in TYPES.items() if kind.nitro and kind.ebs and kind.ebs.maximum_mbps > 9_000)
_XEN = ("m4.large", "m4.2xlarge", "c4.4xlarge", "i3.2xlarge", "t2.large")


def _host(random: Random, build: Builder, name: str, kinds: tuple[str, ...] = _NITRO, **more: object) -> Instance:
    more.setdefault("days", random.uniform(40, 400))
    kind = kinds[int(random.integers(len(kinds)))]
    return build.instance(f"{name}-host", kind, cpu=cpu(random, build), tags=tags(random), **more)  # type: ignore[arg-type]


def _bought(random: Random) -> int:
    return _BOUGHT[int(random.integers(len(_BOUGHT)))]


def _busy(random: Random, build: Builder, values: Floats, peak_mib: float) -> Activity:
    """Reads and writes in any proportion; `values` (0 to 1) times the peak is what both move together."""
    share = random.uniform(0, 1)
    size = spread(random, 16, 256) * KIB
    return Activity(
        shape=published(random, build, values),
        read=peak_mib * share * MIB,
        write=peak_mib * (1 - share) * MIB,
        read_size=size,
        write_size=size,
    )


def _volume(random: Random, build: Builder, name: str, bought: int, on: Instance | None = None, **more: object) -> Volume:
    more.setdefault("tags", dict(tags(random)))
    iops = int(random.integers(4, 17)) * 1_000  # at least 4 operations a second for each MiB/s
    return build.volume(
        name,
        int(spread(random, 50, 8_000)),
        on=on or _host(random, build, name),
        throughput=bought,
        iops=iops,
        **more,  # type: ignore[arg-type]
    )


def _rarely_much(random: Random, build: Builder, name: str, kinds: tuple[str, ...] = _NITRO) -> Volume:
    bought = _bought(random)
    activity = _busy(random, build, demand(random, build), bought * spread(random, 0.02, 0.33))
    return _volume(random, build, name, bought, _host(random, build, name, kinds), activity=activity)


def _on_xen(random: Random, build: Builder, name: str) -> Volume:
    return _rarely_much(random, build, name, _XEN)


def _idle(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _bought(random))


def _after_a_restore(random: Random, build: Builder, name: str) -> Volume:
    """Full speed for hours, more than two weeks ago."""
    bought = _bought(random)
    restore = runs(build, [build.ago(random.uniform(17, 33))], random.uniform(30, 600))
    values = np.maximum(restore, demand(random, build) * spread(random, 0.02, 0.33))
    return _volume(random, build, name, bought, activity=_busy(random, build, values, bought))


def _cannot_carry(random: Random, build: Builder, name: str) -> Volume:
    """The instance carries a third of it at most."""
    host = _host(random, build, name, ("t3.micro", "t3.medium", "t3.large", "t3a.xlarge", "t4g.2xlarge"))
    carries = (host.kind.ebs.maximum_mbps if host.kind.ebs else 0) * 1e6 / 8 / MIB
    bought = (750, 1000)[int(random.integers(2))]
    top = min(carries, bought * 0.33)
    values = np.minimum(runs(build, daily(random, build), random.uniform(20, 400), 1.5, 0.02) * wobble(random), 1.0)
    return _volume(random, build, name, bought, host, activity=_busy(random, build, values, top))


def _by_turns(random: Random, build: Builder, name: str) -> Volume:
    """It writes by night and reads by day, never both."""
    bought, hour = _bought(random), int(random.integers(DAY))
    night, day = ([build.now // DAY * DAY + (hour + shift) % DAY - n * DAY for n in range(34)] for shift in (0, 8 * 3_600))
    top = bought * random.uniform(0.2, 0.33) * MIB * MINUTE
    reads, writes = (
        given(published(random, build, runs(build, starts, random.uniform(10, 300), 0.95, 0.01)), scale=top, digits=0)
        for starts in (day, night)
    )
    return _volume(random, build, name, bought, telemetry={"VolumeReadBytes": reads, "VolumeWriteBytes": writes})


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    """Its instance was stopped for minutes to hours, to be resized."""
    host = _host(random, build, name)
    build.instances.remove(host)
    stopped = build.ago(random.uniform(0.5, 12))
    started = stopped + int(random.uniform(3, 180)) * MINUTE
    host = replace(host, launched=started, running=((host.launched, stopped), (started, FOREVER)))
    build.instances.append(host)
    bought, created = _bought(random), build.ago(random.uniform(60, 300))
    activity = _busy(random, build, demand(random, build), bought * spread(random, 0.02, 0.33))
    volume = _volume(random, build, name, bought, host, created=created, activity=activity)
    build.volumes.remove(volume)
    since = tuple(replace(attachment, since=created) for attachment in volume.attachments)
    volume = replace(volume, attachments=since, used=((created, stopped), (started, FOREVER)))
    build.volumes.append(volume)
    return volume


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> Volume:
    """Nearly all that was bought while a job runs; little at other times."""
    bought = _bought(random)
    values = np.clip(runs(build, starts, minutes, random.uniform(0.7, 1.0), 0.02) * wobble(random), 0, 1)
    return _volume(random, build, name, bought, activity=_busy(random, build, values, bought))


def _nightly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build), random.uniform(3, 60))


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build, 7), random.uniform(3, 240))


def _monthly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, monthly(random, build), random.uniform(30, 600))


def _by_day(random: Random, build: Builder, name: str) -> Volume:
    bought = _bought(random)
    values = np.clip(working_days(random, build) * 1.3, 0, 1)
    return _volume(random, build, name, bought, activity=_busy(random, build, values, bought * random.uniform(0.7, 1.0)))


def _steady(random: Random, build: Builder, name: str) -> Volume:
    bought = _bought(random)
    values = np.clip(0.8 * wobble(random), 0, 1)
    return _volume(random, build, name, bought, activity=_busy(random, build, values, bought * random.uniform(0.6, 1.0)))


def _seconds(random: Random, build: Builder, name: str) -> Volume:
    """Seconds at the limit, several times a day: minutes hide them, and the exceeded check does not."""
    bought = _bought(random)
    bursts = np.where(random.random(MINUTES) < random.uniform(0.002, 0.02), 1.0, 0.0)
    activity = _busy(random, build, np.clip(0.1 * wobble(random) + 0.2 * bursts, 0, 1), bought * random.uniform(0.6, 1.0))
    check = {"VolumeThroughputExceededCheck": given(build.shapes.signal(bursts), digits=0)}
    return _volume(random, build, name, bought, activity=activity, telemetry=check)


def _stopped(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 100))
    host = _host(random, build, name, days=120, state="stopped", stopped=stopped)
    return _volume(random, build, name, _bought(random), host, used=((host.launched, stopped),))


def _new(random: Random, build: Builder, name: str) -> Volume:
    bought = _bought(random)
    activity = _busy(random, build, demand(random, build), bought * spread(random, 0.02, 0.33))
    return _volume(random, build, name, bought, created=build.ago(random.uniform(0.1, 10)), activity=activity)


def _holes(random: Random, build: Builder, name: str) -> Volume:
    bought = _bought(random)
    activity = _busy(random, build, without_days(random, build, demand(random, build)), bought * spread(random, 0.02, 0.33))
    return _volume(random, build, name, bought, activity=activity)


def _included(random: Random, build: Builder, name: str) -> Volume:
    size, host = int(spread(random, 8, 2_000)), _host(random, build, name)
    activity = _busy(random, build, demand(random, build), spread(random, 0.1, 125))
    return build.volume(name, size, on=host, activity=activity, tags=dict(tags(random)))


SCENARIOS = (
    Scenario(name="rarely-much", story="A third of it is used at most.", plant=each(_rarely_much), trouble=True),
    Scenario(name="on-xen", story="The same on a Xen instance.", plant=each(_on_xen), trouble=True),
    Scenario(name="idle", story="Attached, and idle.", plant=each(_idle), trouble=True),
    Scenario(name="after-a-restore", story="Bought for a restore, which is over.", plant=each(_after_a_restore), trouble=True),
    Scenario(name="cannot-carry", story="Its instance cannot carry it.", plant=each(_cannot_carry), trouble=True),
    Scenario(name="by-turns", story="Reads by day, writes by night.", plant=each(_by_turns), trouble=True),
    Scenario(name="restarted", story="Its instance was stopped and started.", plant=each(_restarted), trouble=True),
    Scenario(name="nightly", story="Used in full for minutes every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used in full once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Used in full for an hour or more once a month.", plant=each(_monthly)),
    Scenario(name="by-day", story="Used by day.", plant=each(_by_day)),
    Scenario(name="steady", story="Used always.", plant=each(_steady)),
    Scenario(name="seconds", story="Seconds at the limit, which minutes hide.", plant=each(_seconds)),
    Scenario(name="stopped", story="On an instance that is stopped.", plant=each(_stopped)),
    Scenario(name="included", story="The throughput that every gp3 includes.", plant=each(_included)),
    Scenario(name="new", story="Attached within ten days: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
)
