"""Volumes that are nearly empty, and those that are so only now and then.

Left out, because even the truth is in doubt: file systems that are between a third and a half full at most, and those that will
be within half a year to two years. Copies of the last nine days too: whether more is to come, nobody knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.resources import MIB, Activity, Disk, Flow, Instance, Volume
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .carriers import FAST
from .draw import Draw
from .scenario import Rows

_KEYS = ("VolumeId", "VolumeId", "VolumeId", "DiskId")


def _host(d: Draw, **more: Any) -> Instance:
    """An instance whose agent reports its root volume too, by path alone."""
    more.setdefault("days", d.uniform(60, 400))
    kind = d.pick(*FAST)
    agent: Any = "typed" if d.chance(0.3) else ""
    host = d.build.instance(d.name, kind, cpu=d.cpu(), tags=d.tags(), agent=agent, **more)
    used = Flow(d.shape("steady"), d.uniform(20, 60))
    d.build.change(d.build.volumes[-1], disk=Disk(path="/", device="nvme0n1p1", used=used, volume_key=""))
    return host


def _level(d: Draw, percent: float) -> Floats:
    """Much the same all the time: logs and temporary files come and go."""
    return np.clip(percent * (1 + 0.02 * (d.wobble() - 1)), 0, 100)


def _little(d: Draw) -> Floats:
    return _level(d, d.spread(1, 33))


def _filled(d: Draw) -> Floats:
    return _level(d, d.uniform(50, 95))


def _disk(d: Draw, percents: Floats, key: Any = None) -> Disk:
    """The agent's answer; it names the volume in one of the ways that agents do, unless `key` says how."""
    name: Any = d.pick(*_KEYS) if key is None else key
    return Disk(used=Flow(d.published(np.clip(percents, 0, 100))), volume_key=name)


def _volume(d: Draw, disk: Disk | None, on: Instance | None = None, **more: Any) -> Volume:
    """A data volume at ordinary work."""
    more.setdefault("tags", d.tags())
    size = more.pop("size", None) or int(d.spread(60, 8_000))
    work = Activity(shape=d.published(d.working_days()), read=d.spread(0.5, 12) * MIB, write=d.spread(0.5, 12) * MIB)
    return d.build.volume(d.name, size, on=on or _host(d.named("host")), activity=work, disk=disk, **more)


def _used(d: Draw, percents: Floats, key: str | None = None) -> Volume:
    return _volume(d, _disk(d, percents, key))


def _one_copy(d: Draw) -> Volume:
    before, after = d.uniform(1, 15), d.uniform(16, 32)
    copied = MINUTES - int(d.uniform(10, 30) * DAY_MINUTES)
    return _used(d, np.where(np.arange(MINUTES) < copied, before, after) * (1 + 0.01 * (d.wobble() - 1)))


def _restarted(d: Draw) -> Volume:
    """Its instance was stopped for minutes to hours, to be resized."""
    host = _host(d.named("host"))
    stopped = d.ago(d.uniform(0.5, 30))
    started = stopped + int(d.uniform(3, 300)) * MINUTE
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    return _volume(d, _disk(d, _little(d)), host, used=spans)


def _now_and_then(d: Draw, starts: list[int]) -> Volume:
    """Nearly empty, and full while a job puts its files there."""
    return _used(d, d.runs(starts, d.uniform(10, 600), d.uniform(55, 98), d.uniform(1, 25)))


def _filling(d: Draw) -> Volume:
    now, left = d.uniform(12, 38), d.uniform(40, 150)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 - now) / left
    return _used(d, np.maximum(grown, 0.5))


def _which_one(d: Draw) -> Volume:
    """One of them is nearly full."""
    host = _host(d.named("host"))
    other = replace(_disk(d, _filled(d), ""), path="/other", device="nvme2n1")
    _volume(d.named("other"), other, host, device="/dev/sdg")
    return _volume(d, _disk(d, _little(d), ""), host)


def _unnamed(d: Draw, disk: Disk | None) -> Volume:
    """The agent names no volume, and reports a nearly empty /home, which is on the disk that the instance starts from."""
    host = _host(d.named("host"))
    home = Disk(path="/home", device="nvme0n1p3", used=Flow(d.published(_little(d))), volume_key="")
    d.build.change(d.build.volumes[-1], disk=home)
    return _volume(d, disk, host)


def _root(d: Draw) -> Volume:
    """The agent names it."""
    _host(d)
    disk = replace(_disk(d, _little(d), "VolumeId"), path="/", device="nvme0n1p1")
    return d.build.change(d.build.volumes[-1], disk=disk, size_gib=int(d.spread(60, 1_000)))


def _off(d: Draw) -> Volume:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d.named("host"), days=120, state="stopped", stopped=stopped)
    return _volume(d, _disk(d, _little(d)), host, used=((host.launched, stopped),))


EBS_SURPLUS_SIZE_ISSUES: Rows = {
    "nearly-empty: A third full at most, always.": lambda d: _used(d, _little(d)),
    "only-one: The only data volume; the agent names none.": lambda d: _used(d, _little(d), ""),
    # Every night or week files come and go.
    "temporary: Files come and go; a third full at most.": lambda d: _used(
        d, d.runs(d.daily(7 if d.chance(0.5) else 1), d.uniform(10, 300), d.uniform(15, 33), d.uniform(1, 12))
    ),
    "slow-growth: It takes years to fill.": lambda d: _used(
        d, d.uniform(3, 15) + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 / d.uniform(4, 15) / 365)
    ),
    "one-copy: One copy weeks ago, and no more.": _one_copy,
    "restarted: Its instance was stopped and started.": _restarted,
    "since-weeks: Attached weeks ago.": lambda d: _volume(d, _disk(d, _little(d)), created=d.ago(d.uniform(17, 34))),
}
EBS_SURPLUS_SIZE_CONTROLS: Rows = {
    "full: More than half full.": lambda d: _used(d, _filled(d)),
    "nightly: Filled every night.": lambda d: _now_and_then(d, d.daily()),
    "weekly: Filled once a week.": lambda d: _now_and_then(d, d.daily(7)),
    "monthly-by-date: Filled on one date of the month.": lambda d: _now_and_then(d, d.monthly()),
    "monthly-by-weekday: Filled on the first of a weekday.": lambda d: _now_and_then(d, d.first_weekday()),
    "filling: Full within five months.": _filling,
    "unseen: No agent looks into it.": lambda d: _volume(d, None),
    "which-one: Two data volumes; the agent names none.": _which_one,
    "pool: In a zfs pool, well filled; the agent names none.": lambda d: _unnamed(
        d, replace(_disk(d, _filled(d), ""), path="/tank", device="tank", fstype="zfs")
    ),
    "lvm: In a volume group, well filled; the agent names none.": lambda d: _unnamed(
        d, replace(_disk(d, _filled(d), ""), device="mapper/data-all")
    ),
    # A database keeps its pages on it without a file system.
    "raw: Without a file system; the agent tells of the root disk.": lambda d: _unnamed(d, None),
    "root: A root volume, nearly empty.": _root,
    "new: Attached within two weeks.": lambda d: _volume(d, _disk(d, _little(d)), created=d.ago(d.uniform(0.1, 13))),
    "small: As small as a volume gets.": lambda d: _volume(d, _disk(d, _little(d)), size=d.integer(1, 9)),
    "instance-stopped: On an instance that was stopped of late.": _off,
    "kept: Tagged keep.": lambda d: _volume(d, _disk(d, _little(d)), tags={"keep": "true"}),
}
EBS_SURPLUS_SIZE_UNKNOWN: Rows = {
    "holes: Days without the agent: nobody knows.": lambda d: _used(d, d.without_days(_little(d)))
}
