"""gp3 throughput that nobody needs, and throughput that is needed for minutes a night, a week or a month.

Left out, because even the truth is in doubt: a busiest minute between a third and a half of what is bought, and a restore or a
migration that ended within five weeks, which looks like a job that runs once a month.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import Instance, Volume
from slackwater_simulator.series import Floats

from . import carriers
from .draw import Draw
from .scenario import Rows, in_full

_BOUGHT = (200, 250, 300, 400, 500, 600, 750, 1000)
_ON_XEN = (160, 180, 200, 225)
"""MiB/s that a Xen instance carries."""


def _iops(bought: int) -> int:
    """The fewest with which so much throughput may be provisioned."""
    return max(3_000, 4 * bought)


def _size_kib(d: Draw, bought: int, peak_mib: float) -> float:
    """Of an operation, so that the IOPS carry them."""
    return d.spread(min(256, max(16, peak_mib * 1024 / _iops(bought))), 256)


def _volume(d: Draw, bought: int, on: Instance | None = None, **more: Any) -> Volume:
    more.setdefault("tags", d.tags())
    on = on or carriers.host(d)
    return d.build.volume(d.name, int(d.spread(50, 8_000)), on=on, throughput=bought, iops=_iops(bought), **more)


def _with(
    d: Draw, values: Floats, used: float, choices: tuple[int, ...] = _BOUGHT, kinds: tuple[str, ...] = (), **more: Any
) -> Volume:
    """A volume that does its work at this share of what is bought, at its peak."""
    bought = d.pick(*choices)
    activity = carriers.work(d, values, bought * used, _size_kib(d, bought, bought * used))
    return _volume(d, bought, carriers.host(d, *kinds), activity=activity, **more)


def _little(d: Draw) -> float:
    return d.spread(0.02, 0.33)


def _rarely_much(d: Draw) -> Volume:
    return _with(d, d.demand(), _little(d))


def _by_turns(d: Draw) -> Volume:
    bought = d.pick(*_BOUGHT)
    peak = bought * d.uniform(0.2, 0.33)
    return _volume(d, bought, telemetry=carriers.by_turns(d, peak, _size_kib(d, bought, peak)))


def _in_runs(d: Draw, starts: list[int], minutes: float) -> Volume:
    """Nearly all that was bought while a job runs; little at other times."""
    return _with(d, np.clip(d.runs(starts, minutes, d.uniform(0.7, 1.0), 0.02) * d.wobble(), 0, 1), 1.0)


def _seconds(d: Draw) -> Volume:
    values, check = carriers.bursts(d, "VolumeThroughputExceededCheck")
    return _with(d, values, d.uniform(0.6, 1.0), telemetry=check)


def _stopped(d: Draw) -> Volume:
    host = carriers.stopped_host(d)
    return _volume(d, d.pick(*_BOUGHT), host, used=host.intervals)


EBS_SURPLUS_THROUGHPUT_ISSUES: Rows = {
    "rarely-much: A third of it is used at most.": _rarely_much,
    "on-xen: The same on a Xen instance.": lambda d: _with(d, d.demand(), _little(d), _ON_XEN, (carriers.XEN,)),
    "by-turns: Reads by day, writes by night.": _by_turns,
    "restarted: Its instance was stopped and started.": lambda d: carriers.restarted(d, _rarely_much(d)),
    **carriers.interrupted(_with, _little),
}
EBS_SURPLUS_THROUGHPUT_CONTROLS: Rows = {
    "idle: Attached, and idle: that says more.": lambda d: _volume(d, d.pick(*_BOUGHT)),
    **in_full(_in_runs, nightly=(3, 60), weekly=(3, 240), monthly=(30, 600), first_weekday=(30, 600)),
    "by-day: Used by day.": lambda d: _with(d, np.clip(d.working_days() * 1.3, 0, 1), d.uniform(0.7, 1.0)),
    "steady: Used always.": lambda d: _with(d, np.clip(0.8 * d.wobble(), 0, 1), d.uniform(0.6, 1.0)),
    "seconds: Seconds at the limit, which minutes hide.": _seconds,
    "stopped: On an instance that was stopped of late.": _stopped,
    "included: The throughput that every gp3 includes.": lambda d: _with(d, d.demand(), d.uniform(0.01, 1), (125,)),
}
EBS_SURPLUS_THROUGHPUT_UNKNOWN: Rows = carriers.without_data(_with, _little)
EBS_SURPLUS_THROUGHPUT_ALSO = {"idle": ("ebs-idle",)}
