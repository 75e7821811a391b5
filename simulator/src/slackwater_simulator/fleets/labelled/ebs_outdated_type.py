"""Volumes of an earlier type, and those that do not get better or cheaper with another.

Left out, because even the truth is in doubt: gp2 volumes of 171 to 300 GiB that move between 100 and 210 MiB/s, where gp3
costs as much; magnetic volumes near their limit, or at it on few days; and gp2 volumes out of credits, of which nobody knows
what they need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import Instance, Volume
from slackwater_simulator.series import Floats

from . import carriers
from .draw import Draw
from .scenario import Rows

_MIB = 100
"""With headroom, no more than gp3 includes."""


def _volume(d: Draw, type_: str, gib: int, on: Instance | None = None, **more: Any) -> Volume:
    more.setdefault("tags", d.tags())
    return d.build.volume(d.name, gib, on=on or carriers.host(d), type=type_, **more)


def _gp2(d: Draw, values: Floats, gib: float, **more: Any) -> Volume:
    """A gp2 volume that is never faster than its baseline."""
    baseline, size = max(100, 3 * int(gib)), d.spread(16, 256)
    mib = min(_MIB, baseline * size / 1024) * d.uniform(0.1, 0.9)
    return _volume(d, "gp2", int(gib), activity=carriers.work(d, values, mib, size), **more)


def _gib(d: Draw) -> int:
    return int(d.spread(20, 990))


def _small(d: Draw) -> Volume:
    return _gp2(d, d.demand(), _gib(d))


def _large(d: Draw) -> Volume:
    """IOPS beyond the 3,000 that gp3 includes, some of them used."""
    gib = int(d.spread(1_010, 6_000))
    size = d.spread(4, 16)
    iops = min(16_000, 3 * gib) * d.uniform(0.05, 0.9)
    return _volume(d, "gp2", gib, activity=carriers.work(d, d.demand(), iops * size / 1024, size))


def _fast(d: Draw) -> Volume:
    """Large enough that gp3 with 250 MiB/s costs less too; once a month it moves all of them."""
    gib, starts = int(d.spread(350, 990)), d.monthly()
    values = np.clip(d.runs(starts, d.uniform(30, 600), 1.0, 0.05) * d.wobble(), 0, 1)
    return _volume(d, "gp2", gib, activity=carriers.work(d, values, d.uniform(215, 245), 256))


def _io1(d: Draw) -> Volume:
    """Any share of its IOPS."""
    gib = int(d.spread(50, 4_000))
    iops = int(min(20_000, 50 * gib, d.spread(500, 20_000)))
    used = iops * d.spread(0.05, 0.95)
    size = d.spread(4, max(4.0, min(32.0, _MIB * 1024 / used)))
    return _volume(d, "io1", gib, iops=iops, activity=carriers.work(d, d.demand(), used * size / 1024, size))


def _requests(d: Draw, iops: float, gib: int) -> Volume:
    values = d.working_days() if d.chance(0.5) else np.clip(0.6 * d.wobble(), 0, 1)
    size = d.spread(4, 64)
    return _volume(d, "standard", gib, activity=carriers.work(d, values, iops * size / 1024, size))


def _magnetic_slow(d: Draw) -> Volume:
    """A job wants more every night than the 200 IOPS, or 90 MiB/s, that there are, and gets those."""
    values = np.clip(d.runs(d.daily(), d.uniform(30, 300), d.uniform(1.3, 4), 0.05) * d.wobble(), 0, 1)
    size = d.spread(4, 64) if d.chance(0.7) else 1_024.0
    activity = carriers.work(d, values, min(90.0, 200 * size / 1024), size)
    return _volume(d, "standard", int(d.spread(10, 1_000)), activity=activity)


def _needs_250(d: Draw, starts: list[int], minutes: float) -> Volume:
    """A gp2 volume of a size at which gp3 with as many MiB/s costs more; its credits last for the job."""
    values = np.clip(d.runs(starts, minutes, 1.0, 0.05) * d.wobble(), 0, 1)
    activity = carriers.work(d, values, d.uniform(215, 245), 256)
    return _volume(d, "gp2", d.integer(175, 236), activity=activity)


def _seconds(d: Draw) -> Volume:
    """Seconds at 250 MiB/s."""
    values, check = carriers.bursts(d, "VolumeThroughputExceededCheck")
    activity = carriers.work(d, values, d.uniform(100, 250), 256)
    return _volume(d, "gp2", d.integer(175, 236), activity=activity, telemetry=check)


def _shared(d: Draw) -> Volume:
    """io1 on two instances: not for gp3, and io2 costs the same."""
    iops = int(d.spread(500, 20_000))
    activity = carriers.work(d, d.demand(), iops * d.uniform(0.7, 0.95) * 4 / 1024, 4)
    return carriers.shared(d, _volume(d, "io1", 1_000, iops=iops, activity=activity, multi_attach=True))


def _present(d: Draw) -> Volume:
    values, gib = d.demand(), int(d.spread(500, 4_000))
    match d.integer(4):
        case 0:
            return _volume(d, "gp3", gib, activity=carriers.work(d, values, d.spread(1, 100), 64))
        case 1:
            activity = carriers.work(d, np.maximum(values, 0.7), 2_000 * 0.9 * 8 / 1024, 8)
            return _volume(d, "io2", gib, iops=2_000, activity=activity)
        case 2:
            return _volume(d, "st1", gib, activity=carriers.work(d, values, 30 * gib / 1024, 1_024))
    return _volume(d, "sc1", gib, activity=carriers.work(d, values, 9 * gib / 1024, 1_024))


def _stopped(d: Draw) -> Volume:
    host = carriers.stopped_host(d)
    return _volume(d, "gp2", _gib(d), host, used=host.intervals)


EBS_OUTDATED_TYPE_ISSUES: Rows = {
    "gp2: gp2, and less is used than gp3 includes.": _small,
    "gp2-large: gp2 with more IOPS than gp3 includes.": _large,
    "gp2-fast: gp2 that needs its 250 MiB/s, and large.": _fast,
    "io1: io1, and gp3 would carry it.": _io1,
    "magnetic-slow: Magnetic, and at its limit every night.": _magnetic_slow,
    # So many I/O requests that they cost more than gp3 does, and no minute at its limit.
    "magnetic: Magnetic, with many I/O requests.": lambda d: _requests(d, d.uniform(60, 150), int(d.spread(10, 40))),
    "on-xen: gp2 on a Xen instance.": lambda d: _gp2(
        d, on=carriers.host(d, carriers.XEN), values=d.demand(), gib=_gib(d)
    ),
    "restarted: gp2 whose instance was stopped and started.": lambda d: carriers.restarted(d, _small(d)),
    **carriers.interrupted(_gp2, _gib),
}
EBS_OUTDATED_TYPE_CONTROLS: Rows = {
    # So few I/O requests, for its size, that gp3 costs more.
    "magnetic-quiet: Magnetic, with few I/O requests a month.": lambda d: _requests(
        d, d.uniform(1, 10), int(d.spread(250, 1_000))
    ),
    "nightly: gp2 of 200 GiB that needs 250 MiB/s every night.": lambda d: _needs_250(d, d.daily(), d.uniform(5, 60)),
    "weekly: The same once a week.": lambda d: _needs_250(d, d.daily(7), d.uniform(5, 120)),
    "monthly: The same once a month.": lambda d: _needs_250(d, d.monthly(), d.uniform(30, 120)),
    "first-weekday: The same on the first Monday of the month, or so.": lambda d: _needs_250(
        d, d.first_weekday(), d.uniform(30, 120)
    ),
    "seconds: The same for seconds, which minutes hide.": _seconds,
    "shared: io1 shared by two instances.": _shared,
    "present: gp3, io2, st1 and sc1.": _present,
    "stopped: On an instance that was stopped of late.": _stopped,
}
EBS_OUTDATED_TYPE_UNKNOWN: Rows = carriers.without_data(_gp2, _gib)
