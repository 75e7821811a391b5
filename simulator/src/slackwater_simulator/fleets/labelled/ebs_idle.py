"""Attached volumes that nothing reads or writes, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: volumes that were used until 1 to 35 days ago, jobs that run less often than once
a month, and spares that stand by on purpose (swap space, a RAID's).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Tags, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .rhythms import (
    Random,
    cpu,
    daily,
    first_weekday,
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

_NITRO = tuple(name for name, kind in TYPES.items() if kind.nitro and kind.ebs and kind.ebs.maximum_mbps > 4_000)
_XEN = ("m4.large", "m4.2xlarge", "c4.4xlarge")
_METRICS = ("VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes")


def _host(random: Random, build: Builder, name: str, kinds: tuple[str, ...] = _NITRO, **more: object) -> Instance:
    more.setdefault("days", random.uniform(60, 400))
    more.setdefault("tags", tags(random))
    return build.instance(name, kinds[int(random.integers(len(kinds)))], cpu=cpu(random, build), **more)  # type: ignore[arg-type]


def _volume(random: Random, build: Builder, name: str, on: Instance | None = None, **more: object) -> Volume:
    """A data volume of a running instance; without an activity it does nothing."""
    more.setdefault("tags", dict(tags(random)))
    size = int(spread(random, 20, 4_000))
    return build.volume(name, size, on=on or _host(random, build, f"{name}-host"), **more)  # type: ignore[arg-type]


def _work(random: Random, build: Builder, values: Floats, *, write: float = 1.0) -> Activity:
    """Reads and writes of any size; `write` 0 leaves only reads."""
    size = spread(random, 4, 256) * KIB
    peak = min(2_000 * size, spread(random, 0.5, 40) * MIB)
    return Activity(
        shape=published(random, build, values), read=peak / 2, write=peak / 2 * write, read_size=size, write_size=size
    )


def _never(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name)


def _gappy(random: Random, build: Builder, name: str) -> Volume:
    """Zeros, of which CloudWatch lost some hours of a day: a job may have run then."""
    values = np.zeros(MINUTES)
    last = (build.now - build.shapes.origin) // MINUTE - int(random.uniform(1, 12) * DAY_MINUTES)
    values[max(0, last - int(random.integers(10, 600))) : last] = np.nan
    return _volume(random, build, name, telemetry=dict.fromkeys(_METRICS, given(build.shapes.signal(values))))


def _on_xen(random: Random, build: Builder, name: str) -> Volume:
    """Operations are published all the time; bytes and times only while there are some."""
    nothing = given(build.shapes.signal(np.full(MINUTES, np.nan)))
    return _volume(
        random,
        build,
        name,
        _host(random, build, f"{name}-host", _XEN),
        telemetry={"VolumeReadBytes": nothing, "VolumeWriteBytes": nothing},
    )


def _done_with(random: Random, build: Builder, name: str) -> Volume:
    """In use until more than five weeks ago."""
    left = build.ago(random.uniform(37, 200))
    busy, zeros = published(random, build, working_days(random, build)), build.shapes.signal(np.zeros(MINUTES))
    scale = spread(random, 100, 30_000)
    track: Track = (*given(busy, scale=scale, digits=0, until=left), *given(zeros, since=left))
    host = _host(random, build, f"{name}-host", days=random.uniform(210, 500))
    return _volume(random, build, name, host, telemetry=dict.fromkeys(_METRICS, track))


def _looked_at(random: Random, build: Builder, name: str) -> Volume:
    """Somebody listed the instance's devices, once or twice: a few reads of each."""
    starts = [build.ago(random.uniform(0.5, 34)) for _ in range(int(random.integers(1, 3)))]
    reads = given(build.shapes.signal(runs(build, starts, 1, float(random.integers(3, 9)))), digits=0)
    volume = _volume(random, build, name)
    build.volumes.remove(volume)
    build.volumes.append(volume := replace(volume, telemetry={"VolumeReadOps": reads}))
    return volume


def _stopped_between(random: Random, build: Builder, name: str, stopped: int, started: int) -> tuple[Instance, Volume]:
    """An idle volume of an instance that was stopped for a while."""
    host = _host(random, build, f"{name}-host")
    spans = ((host.launched, stopped), (started, FOREVER))
    build.instances.remove(host)
    build.instances.append(again := replace(host, launched=started, running=spans))
    volume = _volume(random, build, name, host, used=spans)
    return again, volume


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(0.5, 30))
    return _stopped_between(random, build, name, stopped, stopped + int(random.uniform(3, 300)) * MINUTE)[1]


def _stopped_for_days(random: Random, build: Builder, name: str) -> Volume:
    """Stopped for days, and running again for more than two weeks."""
    started = build.ago(random.uniform(16, 28))
    return _stopped_between(random, build, name, int(started - random.uniform(1, 12) * DAY), started)[1]


def _since_weeks(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, created=build.ago(random.uniform(17, 34)))


def _shared(random: Random, build: Builder, name: str, activity: Activity | None = None, iops: int = 100) -> Volume:
    """A Multi-Attach volume of two instances."""
    one, other = (_host(random, build, f"{name}-host-{letter}") for letter in "ab")
    volume = _volume(
        random, build, name, one, type="io2", iops=iops, multi_attach=True, activity=activity, created=other.launched
    )
    build.volumes.remove(volume)
    since = max(one.launched, other.launched)
    both = tuple(replace(volume.attachments[0], instance_id=host.id, since=since) for host in (one, other))
    build.volumes.append(volume := replace(volume, attachments=both, created=since, used=((since, FOREVER),)))
    return volume


def _shared_by_none(random: Random, build: Builder, name: str) -> Volume:
    return _shared(random, build, name)


def _shared_by_one(random: Random, build: Builder, name: str) -> Volume:
    """The other instance stands by."""
    iops = int(random.integers(1, 3)) * 1_000
    shape = published(random, build, np.clip(0.8 * wobble(random), 0, 1))
    rate = iops * random.uniform(0.7, 0.9) * 16 * KIB / 2
    work = Activity(shape=shape, read=rate, write=rate, read_size=16 * KIB, write_size=16 * KIB)
    return _shared(random, build, name, work, iops)


def _in_runs(random: Random, build: Builder, name: str, starts: list[int]) -> Volume:
    values = runs(build, starts, random.uniform(2, 300)) * wobble(random)
    return _volume(random, build, name, activity=_work(random, build, values))


def _nightly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build))


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, daily(random, build, 7))


def _by_date(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, monthly(random, build))


def _by_weekday(random: Random, build: Builder, name: str) -> Volume:
    return _in_runs(random, build, name, first_weekday(random, build))


def _heartbeat(random: Random, build: Builder, name: str) -> Volume:
    """A small file is written every few minutes or hours, and nothing else."""
    every = int(random.integers(5, 360))
    values = np.where(np.arange(MINUTES) % every == 0, 1.0, 0.0)
    size = 4 * KIB
    work = Activity(
        shape=published(random, build, values), write=size * random.integers(1, 9) / MINUTE, write_size=size
    )
    return _volume(random, build, name, activity=work)


def _read_only(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, activity=_work(random, build, working_days(random, build), write=0.0))


def _back_today(random: Random, build: Builder, name: str) -> Volume:
    values = np.zeros(MINUTES)
    now = (build.now - build.shapes.origin) // MINUTE
    values[now - int(random.integers(10, 600)) : now + 1] = 1.0
    return _volume(random, build, name, activity=_work(random, build, values))


def _new(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, created=build.ago(random.uniform(0.02, 13)))


def _off(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = _host(random, build, f"{name}-host", days=120, state="stopped", stopped=stopped)
    return _volume(random, build, name, host, used=((host.launched, stopped),))


def _root(random: Random, build: Builder, name: str) -> Volume:
    """An instance that has all it needs in memory."""
    _host(random, build, name)
    root = build.volumes.pop()
    build.volumes.append(root := replace(root, activity=None))
    return root


def _kept(random: Random, build: Builder, name: str) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(random, build, name, tags=kept)


def _dark(random: Random, build: Builder, name: str) -> Volume:
    """Nothing is published of it, as on Xen without activity."""
    nothing = given(build.shapes.signal(np.full(MINUTES, np.nan)))
    return _volume(random, build, name, telemetry=dict.fromkeys(_METRICS, nothing))


def _holes(random: Random, build: Builder, name: str) -> Volume:
    zeros = given(build.shapes.signal(without_days(random, build, np.zeros(MINUTES))))
    return _volume(random, build, name, telemetry=dict.fromkeys(_METRICS, zeros))


def _hidden(random: Random, build: Builder, name: str) -> Volume:
    """The day of the monthly job is among those that CloudWatch lost."""
    start = build.ago(random.uniform(16, 33))
    values = runs(build, [start], random.uniform(10, 200)) * wobble(random)
    first = build.shapes.minute(build.now // DAY - start // DAY)
    values[first : first + 2 * DAY // MINUTE] = np.nan
    return _volume(random, build, name, activity=_work(random, build, values))


SCENARIOS = (
    Scenario(name="never-used", story="Attached, and never used.", plant=each(_never), trouble=True),
    Scenario(name="on-xen", story="The same on a Xen instance.", plant=each(_on_xen), trouble=True),
    Scenario(name="done-with", story="Used until more than five weeks ago.", plant=each(_done_with), trouble=True),
    Scenario(name="looked-at", story="Somebody listed the devices.", plant=each(_looked_at), trouble=True),
    Scenario(name="restarted", story="Its instance was stopped for minutes.", plant=each(_restarted), trouble=True),
    Scenario(
        name="stopped-for-days", story="Its instance was stopped for days.", plant=each(_stopped_for_days), trouble=True
    ),
    Scenario(name="since-weeks", story="Attached weeks ago, and idle since.", plant=each(_since_weeks), trouble=True),
    Scenario(name="shared", story="Two instances share it, none uses it.", plant=each(_shared_by_none), trouble=True),
    Scenario(name="shared-by-one", story="Of two that share it, one uses it.", plant=each(_shared_by_one)),
    Scenario(name="nightly", story="Used every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used once a week.", plant=each(_weekly)),
    Scenario(name="monthly-by-date", story="Used on one date of the month.", plant=each(_by_date)),
    Scenario(name="monthly-by-weekday", story="Used on the first of a weekday.", plant=each(_by_weekday)),
    Scenario(name="heartbeat", story="A small write every few minutes or hours.", plant=each(_heartbeat)),
    Scenario(name="read-only", story="Read, and never written.", plant=each(_read_only)),
    Scenario(name="back-today", story="In use since today.", plant=each(_back_today)),
    Scenario(name="new", story="Attached within two weeks.", plant=each(_new)),
    Scenario(name="instance-stopped", story="On an instance that was stopped of late.", plant=each(_off)),
    Scenario(name="root", story="A root volume that nothing reads.", plant=each(_root)),
    Scenario(name="kept", story="Tagged keep.", plant=each(_kept)),
    Scenario(name="dark", story="No metrics: nobody knows.", plant=each(_dark), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
    Scenario(name="gappy-zeros", story="Zeros, with hours of a day lost.", plant=each(_gappy), full=False),
    Scenario(name="hidden", story="A monthly job on days that CloudWatch lost.", plant=each(_hidden), full=False),
)
