"""Attached volumes that nothing reads or writes, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: volumes that were used until 1 to 35 days ago, jobs that run less often than once
a month, and spares that stand by on purpose (swap space, a RAID's).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Tags, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import control, issue

_NITRO = tuple(name for name, kind in TYPES.items() if kind.nitro and kind.ebs and kind.ebs.maximum_mbps > 4_000)
_XEN = ("m4.large", "m4.2xlarge", "c4.4xlarge")
_METRICS = ("VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes")


def _host(d: Draw, kinds: tuple[str, ...] = _NITRO, **more: object) -> Instance:
    more.setdefault("days", d.uniform(60, 400))
    more.setdefault("tags", d.tags())
    return d.build.instance(d.name, d.pick(*kinds), cpu=d.cpu(), **more)  # type: ignore[arg-type]


def _volume(d: Draw, on: Instance | None = None, **more: object) -> Volume:
    """A data volume of a running instance; without an activity it does nothing."""
    more.setdefault("tags", d.tags())
    size = int(d.spread(20, 4_000))
    return d.build.volume(d.name, size, on=on or _host(d.named("host")), **more)  # type: ignore[arg-type]


def _work(d: Draw, values: Floats, *, write: float = 1.0) -> Activity:
    """Reads and writes of any size; `write` 0 leaves only reads."""
    size = d.spread(4, 256) * KIB
    peak = min(2_000 * size, d.spread(0.5, 40) * MIB)
    return Activity(shape=d.published(values), read=peak / 2, write=peak / 2 * write, read_size=size, write_size=size)


def _gappy(d: Draw) -> Volume:
    """Zeros, of which CloudWatch lost some hours of a day: a job may have run then."""
    values = np.zeros(MINUTES)
    last = d.now_minute - int(d.uniform(1, 12) * DAY_MINUTES)
    values[max(0, last - d.integer(10, 600)) : last] = np.nan
    return _volume(d, telemetry=dict.fromkeys(_METRICS, given(d.signal(values))))


def _on_xen(d: Draw) -> Volume:
    """Operations are published all the time; bytes and times only while there are some."""
    nothing = given(d.signal(np.full(MINUTES, np.nan)))
    return _volume(d, _host(d.named("host"), _XEN), telemetry={"VolumeReadBytes": nothing, "VolumeWriteBytes": nothing})


def _done_with(d: Draw) -> Volume:
    """In use until more than five weeks ago."""
    left = d.ago(d.uniform(37, 200))
    busy, zeros = d.published(d.working_days()), d.signal(np.zeros(MINUTES))
    scale = d.spread(100, 30_000)
    track: Track = (*given(busy, scale=scale, digits=0, until=left), *given(zeros, since=left))
    host = _host(d.named("host"), days=d.uniform(210, 500))
    return _volume(d, host, telemetry=dict.fromkeys(_METRICS, track))


def _looked_at(d: Draw) -> Volume:
    """Somebody listed the instance's devices, once or twice: a few reads of each."""
    starts = [d.ago(d.uniform(0.5, 34)) for _ in range(d.integer(1, 3))]
    reads = given(d.signal(d.runs(starts, 1, float(d.integer(3, 9)))), digits=0)
    volume = _volume(d)
    d.build.volumes.remove(volume)
    d.build.volumes.append(volume := replace(volume, telemetry={"VolumeReadOps": reads}))
    return volume


def _stopped_between(d: Draw, stopped: int, started: int) -> tuple[Instance, Volume]:
    """An idle volume of an instance that was stopped for a while."""
    host = _host(d.named("host"))
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.instances.remove(host)
    d.build.instances.append(again := replace(host, launched=started, running=spans))
    volume = _volume(d, host, used=spans)
    return again, volume


def _restarted(d: Draw) -> Volume:
    stopped = d.ago(d.uniform(0.5, 30))
    return _stopped_between(d, stopped, stopped + int(d.uniform(3, 300)) * MINUTE)[1]


def _stopped_for_days(d: Draw) -> Volume:
    """Stopped for days, and running again for more than two weeks."""
    started = d.ago(d.uniform(16, 28))
    return _stopped_between(d, int(started - d.uniform(1, 12) * DAY), started)[1]


def _shared(d: Draw, activity: Activity | None = None, iops: int = 100) -> Volume:
    """A Multi-Attach volume of two instances."""
    one, other = (_host(d.named(f"host-{letter}")) for letter in "ab")
    volume = _volume(d, one, type="io2", iops=iops, multi_attach=True, activity=activity, created=other.launched)
    d.build.volumes.remove(volume)
    since = max(one.launched, other.launched)
    both = tuple(replace(volume.attachments[0], instance_id=host.id, since=since) for host in (one, other))
    d.build.volumes.append(volume := replace(volume, attachments=both, created=since, used=((since, FOREVER),)))
    return volume


def _shared_by_one(d: Draw) -> Volume:
    """The other instance stands by."""
    iops = d.integer(1, 3) * 1_000
    shape = d.published(np.clip(0.8 * d.wobble(), 0, 1))
    rate = iops * d.uniform(0.7, 0.9) * 16 * KIB / 2
    work = Activity(shape=shape, read=rate, write=rate, read_size=16 * KIB, write_size=16 * KIB)
    return _shared(d, work, iops)


def _in_runs(d: Draw, starts: list[int]) -> Volume:
    values = d.runs(starts, d.uniform(2, 300)) * d.wobble()
    return _volume(d, activity=_work(d, values))


def _heartbeat(d: Draw) -> Volume:
    """A small file is written every few minutes or hours, and nothing else."""
    every = d.integer(5, 360)
    values = np.where(np.arange(MINUTES) % every == 0, 1.0, 0.0)
    size = 4 * KIB
    work = Activity(shape=d.published(values), write=size * d.random.integers(1, 9) / MINUTE, write_size=size)
    return _volume(d, activity=work)


def _back_today(d: Draw) -> Volume:
    values = np.zeros(MINUTES)
    now = d.now_minute
    values[now - d.integer(10, 600) : now + 1] = 1.0
    return _volume(d, activity=_work(d, values))


def _off(d: Draw) -> Volume:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d.named("host"), days=120, state="stopped", stopped=stopped)
    return _volume(d, host, used=((host.launched, stopped),))


def _root(d: Draw) -> Volume:
    """An instance that has all it needs in memory."""
    _host(d)
    root = d.build.volumes.pop()
    d.build.volumes.append(root := replace(root, activity=None))
    return root


def _kept(d: Draw) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(d, tags=kept)


def _dark(d: Draw) -> Volume:
    """Nothing is published of it, as on Xen without activity."""
    nothing = given(d.signal(np.full(MINUTES, np.nan)))
    return _volume(d, telemetry=dict.fromkeys(_METRICS, nothing))


def _holes(d: Draw) -> Volume:
    zeros = given(d.signal(d.without_days(np.zeros(MINUTES))))
    return _volume(d, telemetry=dict.fromkeys(_METRICS, zeros))


def _hidden(d: Draw) -> Volume:
    """The day of the monthly job is among those that CloudWatch lost."""
    start = d.ago(d.uniform(16, 33))
    values = d.runs([start], d.uniform(10, 200)) * d.wobble()
    first = d.build.shapes.minute(d.now // DAY - start // DAY)
    values[first : first + 2 * DAY // MINUTE] = np.nan
    return _volume(d, activity=_work(d, values))


SCENARIOS = (
    issue("never-used", "Attached, and never used.", _volume),
    issue("on-xen", "The same on a Xen instance.", _on_xen),
    issue("done-with", "Used until more than five weeks ago.", _done_with),
    issue("looked-at", "Somebody listed the devices.", _looked_at),
    issue("restarted", "Its instance was stopped for minutes.", _restarted),
    issue("stopped-for-days", "Its instance was stopped for days.", _stopped_for_days),
    issue("since-weeks", "Attached weeks ago, and idle since.", lambda d: _volume(d, created=d.ago(d.uniform(17, 34)))),
    issue("shared", "Two instances share it, none uses it.", _shared),
    control("shared-by-one", "Of two that share it, one uses it.", _shared_by_one),
    control("nightly", "Used every night.", lambda d: _in_runs(d, d.daily())),
    control("weekly", "Used once a week.", lambda d: _in_runs(d, d.daily(7))),
    control("monthly-by-date", "Used on one date of the month.", lambda d: _in_runs(d, d.monthly())),
    control("monthly-by-weekday", "Used on the first of a weekday.", lambda d: _in_runs(d, d.first_weekday())),
    control("heartbeat", "A small write every few minutes or hours.", _heartbeat),
    control(
        "read-only", "Read, and never written.", lambda d: _volume(d, activity=_work(d, d.working_days(), write=0.0))
    ),
    control("back-today", "In use since today.", _back_today),
    control("new", "Attached within two weeks.", lambda d: _volume(d, created=d.ago(d.uniform(0.02, 13)))),
    control("instance-stopped", "On an instance that was stopped of late.", _off),
    control("root", "A root volume that nothing reads.", _root),
    control("kept", "Tagged keep.", _kept),
    control("dark", "No metrics: nobody knows.", _dark, full=False),
    control("holes", "Days without metrics: nobody knows.", _holes, full=False),
    control("gappy-zeros", "Zeros, with hours of a day lost.", _gappy, full=False),
    control("hidden", "A monthly job on days that CloudWatch lost.", _hidden, full=False),
)
