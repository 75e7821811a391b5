"""Attached volumes that nothing reads or writes, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: volumes that were used until 1 to 35 days ago, jobs that run less often than once
a month, and spares that stand by on purpose (swap space, a RAID's).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .carriers import FAST
from .draw import Draw
from .scenario import Rows

_XEN = ("m4.large", "m4.2xlarge", "c4.4xlarge")
_METRICS = ("VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes")


def _host(d: Draw, kinds: tuple[str, ...] = FAST, **more: Any) -> Instance:
    more.setdefault("days", d.uniform(60, 400))
    more.setdefault("tags", d.tags())
    return d.build.instance(d.name, d.pick(*kinds), cpu=d.cpu(), **more)


def _volume(d: Draw, on: Instance | None = None, **more: Any) -> Volume:
    """A data volume of a running instance; without an activity it does nothing."""
    more.setdefault("tags", d.tags())
    return d.build.volume(d.name, int(d.spread(20, 4_000)), on=on or _host(d.named("host")), **more)


def _work(d: Draw, values: Floats, *, write: float = 1.0) -> Activity:
    """Reads and writes of any size; `write` 0 leaves only reads."""
    size = d.spread(4, 256) * KIB
    peak = min(2_000 * size, d.spread(0.5, 40) * MIB)
    return Activity(shape=d.published(values), read=peak / 2, write=peak / 2 * write, read_size=size, write_size=size)


def _done_with(d: Draw) -> Volume:
    left = d.ago(d.uniform(37, 200))
    busy, zeros = d.published(d.working_days()), d.signal(np.zeros(MINUTES))
    track: Track = (*given(busy, scale=d.spread(100, 30_000), digits=0, until=left), *given(zeros, since=left))
    host = _host(d.named("host"), days=d.uniform(210, 500))
    return _volume(d, host, telemetry=dict.fromkeys(_METRICS, track))


def _looked_at(d: Draw) -> Volume:
    """Once or twice: a few reads of each."""
    starts = [d.ago(d.uniform(0.5, 34)) for _ in range(d.integer(1, 3))]
    reads = given(d.signal(d.runs(starts, 1, float(d.integer(3, 9)))), digits=0)
    return _volume(d, telemetry={"VolumeReadOps": reads})


def _stopped_between(d: Draw, stopped: int, started: int) -> Volume:
    host = _host(d.named("host"))
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    return _volume(d, host, used=spans)


def _stopped_for_days(d: Draw) -> Volume:
    """It has been running again for more than two weeks."""
    started = d.ago(d.uniform(16, 28))
    return _stopped_between(d, int(started - d.uniform(1, 12) * DAY), started)


def _shared(d: Draw, activity: Activity | None = None, iops: int = 100) -> Volume:
    """A Multi-Attach volume of two instances."""
    one, other = (_host(d.named(f"host-{letter}")) for letter in "ab")
    volume = _volume(d, one, type="io2", iops=iops, multi_attach=True, activity=activity, created=other.launched)
    since = max(one.launched, other.launched)
    both = tuple(replace(volume.attachments[0], instance_id=host.id, since=since) for host in (one, other))
    return d.build.change(volume, attachments=both, created=since, used=((since, FOREVER),))


def _shared_by_one(d: Draw) -> Volume:
    """The other instance stands by."""
    iops = d.integer(1, 3) * 1_000
    shape = d.published(np.clip(0.8 * d.wobble(), 0, 1))
    rate = iops * d.uniform(0.7, 0.9) * 16 * KIB / 2
    return _shared(d, Activity(shape=shape, read=rate, write=rate, read_size=16 * KIB, write_size=16 * KIB), iops)


def _in_runs(d: Draw, starts: list[int]) -> Volume:
    return _volume(d, activity=_work(d, d.runs(starts, d.uniform(2, 300)) * d.wobble()))


def _heartbeat(d: Draw) -> Volume:
    values = np.where(np.arange(MINUTES) % d.integer(5, 360) == 0, 1.0, 0.0)
    shape, size = d.published(values), 4 * KIB
    return _volume(d, activity=Activity(shape=shape, write=size * d.random.integers(1, 9) / MINUTE, write_size=size))


def _back_today(d: Draw) -> Volume:
    values = np.zeros(MINUTES)
    values[d.now_minute - d.integer(10, 600) : d.now_minute + 1] = 1.0
    return _volume(d, activity=_work(d, values))


def _off(d: Draw) -> Volume:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d.named("host"), days=120, state="stopped", stopped=stopped)
    return _volume(d, host, used=((host.launched, stopped),))


def _root(d: Draw) -> Volume:
    """An instance that has all it needs in memory."""
    _host(d)
    return d.build.change(d.build.volumes[-1], activity=None)


def _gappy(d: Draw) -> Volume:
    """A job may have run in those hours."""
    values = np.zeros(MINUTES)
    last = d.now_minute - int(d.uniform(1, 12) * DAY_MINUTES)
    values[max(0, last - d.integer(10, 600)) : last] = np.nan
    return _volume(d, telemetry=dict.fromkeys(_METRICS, given(d.signal(values))))


def _hidden(d: Draw) -> Volume:
    start = d.ago(d.uniform(16, 33))
    values = d.runs([start], d.uniform(10, 200)) * d.wobble()
    first = d.build.shapes.minute(d.now // DAY - start // DAY)
    values[first : first + 2 * DAY // MINUTE] = np.nan
    return _volume(d, activity=_work(d, values))


EBS_IDLE_ISSUES: Rows = {
    "never-used: Attached, and never used.": _volume,
    # Operations are published all the time; bytes and times only while there are some.
    "on-xen: The same on a Xen instance.": lambda d: _volume(
        d, telemetry=dict.fromkeys(("VolumeReadBytes", "VolumeWriteBytes"), d.silent()), on=_host(d.named("host"), _XEN)
    ),
    "done-with: Used until more than five weeks ago.": _done_with,
    "looked-at: Somebody listed the devices.": _looked_at,
    "restarted: Its instance was stopped for minutes.": lambda d: _stopped_between(
        d, stopped := d.ago(d.uniform(0.5, 30)), stopped + int(d.uniform(3, 300)) * MINUTE
    ),
    "stopped-for-days: Its instance was stopped for days.": _stopped_for_days,
    "since-weeks: Attached weeks ago, and idle since.": lambda d: _volume(d, created=d.ago(d.uniform(17, 34))),
    "shared: Two instances share it, none uses it.": _shared,
}
EBS_IDLE_CONTROLS: Rows = {
    "shared-by-one: Of two that share it, one uses it.": _shared_by_one,
    "nightly: Used every night.": lambda d: _in_runs(d, d.daily()),
    "weekly: Used once a week.": lambda d: _in_runs(d, d.daily(7)),
    "monthly-by-date: Used on one date of the month.": lambda d: _in_runs(d, d.monthly()),
    "monthly-by-weekday: Used on the first of a weekday.": lambda d: _in_runs(d, d.first_weekday()),
    "heartbeat: A small write every few minutes or hours.": _heartbeat,
    "read-only: Read, and never written.": lambda d: _volume(d, activity=_work(d, d.working_days(), write=0.0)),
    "back-today: In use since today.": _back_today,
    "new: Attached within two weeks.": lambda d: _volume(d, created=d.ago(d.uniform(0.02, 13))),
    "instance-stopped: On an instance that was stopped of late.": _off,
    "root: A root volume that nothing reads.": _root,
    "kept: Tagged keep.": lambda d: _volume(d, tags={"keep": "true"}),
}
EBS_IDLE_UNKNOWN: Rows = {
    "dark: No metrics: nobody knows.": lambda d: _volume(d, telemetry=dict.fromkeys(_METRICS, d.silent())),
    "holes: Days without metrics: nobody knows.": lambda d: _volume(
        d, telemetry=dict.fromkeys(_METRICS, d.zeros(holes=True))
    ),
    "gappy-zeros: Zeros, with hours of a day lost.": _gappy,
    "hidden: A monthly job on days that CloudWatch lost.": _hidden,
}
