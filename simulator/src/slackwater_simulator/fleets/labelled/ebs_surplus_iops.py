"""IOPS that nobody needs, and IOPS that are needed for minutes a night, a week or a month, or for the throughput they bring.

Left out, because even the truth is in doubt: a busiest minute between a third and a half of what is provisioned, large
operations at such a rate, and a migration that ended within five weeks, which looks like a job that runs once a month. An io1
volume is another detector's: its type is the larger waste.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import Instance, Volume
from slackwater_simulator.series import Floats

from . import carriers
from .draw import Draw
from .scenario import Rows, in_full

_GP3 = (4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 16_000, 20_000)
_IO2 = (500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000)
_MIB = 100
"""Of the 125 MiB/s that a gp3 volume includes, what small operations move at most."""


def _kind(d: Draw) -> tuple[str, int]:
    """A type and its IOPS."""
    return ("gp3", d.pick(*_GP3)) if d.chance(0.6) else ("io2", d.pick(*_IO2))


def _volume(d: Draw, kind: tuple[str, int], on: Instance | None = None, **more: Any) -> Volume:
    more.setdefault("tags", d.tags())
    on = on or carriers.host(d)
    return d.build.volume(d.name, int(d.spread(50, 8_000)), on=on, type=kind[0], iops=kind[1], **more)


def _size_kib(d: Draw, iops: float) -> float:
    """Pages of a database."""
    return d.spread(4, max(4.0, min(32.0, _MIB * 1024 / iops)))


def _with(d: Draw, values: Floats, used: float, kind: tuple[str, int] | None = None, **more: Any) -> Volume:
    """A volume that uses this share of its IOPS at its peak, with small operations."""
    kind = kind or _kind(d)
    iops = kind[1] * used
    size = _size_kib(d, iops)
    return _volume(d, kind, activity=carriers.work(d, values, iops * size / 1024, size), **more)


def _little(d: Draw) -> float:
    return d.spread(0.02, 0.33)


def _rarely_many(d: Draw) -> Volume:
    return _with(d, d.demand(), _little(d))


def _on_xen(d: Draw) -> Volume:
    kind, iops = _kind(d)
    on = carriers.host(d, carriers.XEN)
    return _with(d, d.demand(), _little(d), (kind, min(iops, 12_000)), on=on)


def _by_turns(d: Draw) -> Volume:
    kind = _kind(d)
    iops = kind[1] * d.uniform(0.2, 0.33)
    size = _size_kib(d, iops)
    return _volume(d, kind, telemetry=carriers.by_turns(d, iops * size / 1024, size))


def _shared(d: Draw) -> Volume:
    """On two instances, each of which does its part."""
    kind = ("io2", d.pick(*_IO2))
    return carriers.shared(d, _with(d, d.demand(), d.spread(0.02, 0.15), kind, multi_attach=True))


def _in_runs(d: Draw, starts: list[int], minutes: float) -> Volume:
    """Nearly all that is provisioned while a job runs; little at other times."""
    return _with(d, np.clip(d.runs(starts, minutes, d.uniform(0.7, 1.0), 0.02) * d.wobble(), 0, 1), 1.0)


def _seconds(d: Draw) -> Volume:
    values, check = carriers.bursts(d, "VolumeIOPSExceededCheck")
    return _with(d, values, d.uniform(0.6, 1.0), telemetry=check)


def _large(d: Draw) -> Volume:
    """Few operations of a MiB each, at most of the throughput that io2 has for its IOPS."""
    iops = d.pick(500, 1_000, 2_000, 3_000, 4_000)
    values = np.clip(d.runs(d.daily(), d.uniform(5, 300), 1.0, 0.02) * d.wobble(), 0, 1)
    return _volume(d, ("io2", iops), activity=carriers.work(d, values, 0.256 * iops * d.uniform(0.7, 1.0), 1_024))


def _for_throughput(d: Draw) -> Volume:
    """No more IOPS than its throughput must have, which is used in full at night, with operations of a MiB."""
    bought = d.pick(800, 900)
    values = np.clip(d.runs(d.daily(), d.uniform(5, 60), 0.95, 0.02) * d.wobble(), 0, 1)
    activity = carriers.work(d, values, float(bought), 1_024)
    return _volume(d, ("gp3", 4 * bought), throughput=bought, activity=activity)


def _stopped(d: Draw) -> Volume:
    host = carriers.stopped_host(d)
    return _volume(d, _kind(d), host, used=host.intervals)


EBS_SURPLUS_IOPS_ISSUES: Rows = {
    "rarely-many: A third of them is used at most.": _rarely_many,
    "on-xen: The same on a Xen instance.": _on_xen,
    "by-turns: Reads by day, writes by night.": _by_turns,
    "restarted: Its instance was stopped and started.": lambda d: carriers.restarted(d, _rarely_many(d)),
    **carriers.interrupted(_with, _little),
    "shared: Shared by two instances.": _shared,
}
EBS_SURPLUS_IOPS_CONTROLS: Rows = {
    **in_full(_in_runs, nightly=(3, 60), weekly=(3, 240), monthly=(30, 600), first_weekday=(30, 600)),
    "by-day: Used by day.": lambda d: _with(d, np.clip(d.working_days() * 1.3, 0, 1), d.uniform(0.7, 1.0)),
    "steady: Used always.": lambda d: _with(d, np.clip(0.8 * d.wobble(), 0, 1), d.uniform(0.6, 1.0)),
    "seconds: Seconds at the limit, which minutes hide.": _seconds,
    "large-operations: Few operations, each of which counts four times.": _large,
    "for-throughput: The IOPS that its throughput must have.": _for_throughput,
    "stopped: On an instance that was stopped of late.": _stopped,
    "included: The IOPS that every gp3 includes.": lambda d: _with(d, d.demand(), d.uniform(0.01, 1), ("gp3", 3_000)),
}
EBS_SURPLUS_IOPS_UNKNOWN: Rows = carriers.without_data(_with, _little)
