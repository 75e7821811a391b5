"""Volumes that are nearly empty, and those that are so only now and then.

Left out, because even the truth is in doubt: file systems that are between a third and a half full at most, and those that will
be within half a year to two years. Copies of the last nine days too: whether more is to come, nobody knows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import MIB, Activity, Disk, Flow, Instance, Tags, Volume
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import control, issue

_NITRO = tuple(name for name, kind in TYPES.items() if kind.nitro and kind.ebs and kind.ebs.maximum_mbps > 4_000)
_KEYS = ("VolumeId", "VolumeId", "VolumeId", "DiskId")


def _host(d: Draw, **more: object) -> Instance:
    """An instance whose agent tells of its root volume too, by path alone."""
    more.setdefault("days", d.uniform(60, 400))
    kind = d.pick(*_NITRO)
    agent = "typed" if d.chance(0.3) else ""
    host = d.build.instance(d.name, kind, cpu=d.cpu(), tags=d.tags(), agent=agent, **more)  # type: ignore[arg-type]
    root = d.build.volumes.pop()
    used = Flow(d.shape("steady"), d.uniform(20, 60))
    d.build.volumes.append(replace(root, disk=Disk(path="/", device="nvme0n1p1", used=used, volume_key="")))
    return host


def _level(d: Draw, percent: float) -> Floats:
    """Much the same all the time: logs and temporary files come and go."""
    return np.clip(percent * (1 + 0.02 * (d.wobble() - 1)), 0, 100)


def _disk(d: Draw, percents: Floats, key: str | None = None) -> Disk:
    """The agent's answer; it names the volume in one of the ways that agents do, unless told otherwise."""
    name = d.pick(*_KEYS) if key is None else key
    return Disk(used=Flow(d.published(np.clip(percents, 0, 100))), volume_key=name)  # type: ignore[arg-type]


def _volume(d: Draw, disk: Disk | None, on: Instance | None = None, **more: object) -> Volume:
    """A data volume at ordinary work."""
    more.setdefault("tags", d.tags())
    size = more.pop("size", None) or int(d.spread(60, 8_000))
    work = Activity(shape=d.published(d.working_days()), read=d.spread(0.5, 12) * MIB, write=d.spread(0.5, 12) * MIB)
    host = on or _host(d.named("host"))
    return d.build.volume(d.name, size, on=host, activity=work, disk=disk, **more)  # type: ignore[arg-type]


def _little(d: Draw) -> float:
    return d.spread(1, 33)


def _temporary(d: Draw) -> Volume:
    """Every night or week files come and go, and it is a third full at most."""
    starts = d.daily(7 if d.chance(0.5) else 1)
    values = d.runs(starts, d.uniform(10, 300), d.uniform(15, 33), d.uniform(1, 12))
    return _volume(d, _disk(d, values))


def _slow(d: Draw) -> Volume:
    """It takes years to fill."""
    now, years = d.uniform(3, 15), d.uniform(4, 15)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 / years / 365)
    return _volume(d, _disk(d, grown))


def _one_copy(d: Draw) -> Volume:
    """Somebody copied something to it, once, more than a week ago."""
    before, after = d.uniform(1, 15), d.uniform(16, 32)
    copied = MINUTES - int(d.uniform(10, 30) * DAY_MINUTES)
    values = np.where(np.arange(MINUTES) < copied, before, after) * (1 + 0.01 * (d.wobble() - 1))
    return _volume(d, _disk(d, values))


def _restarted(d: Draw) -> Volume:
    """Its instance was stopped for minutes to hours, to be resized."""
    host = _host(d.named("host"))
    d.build.instances.remove(host)
    stopped = d.ago(d.uniform(0.5, 30))
    started = stopped + int(d.uniform(3, 300)) * MINUTE
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.instances.append(replace(host, launched=started, running=spans))
    disk = _disk(d, _level(d, _little(d)))
    return _volume(d, disk, host, used=spans)


def _since_weeks(d: Draw) -> Volume:
    disk = _disk(d, _level(d, _little(d)))
    return _volume(d, disk, created=d.ago(d.uniform(17, 34)))


def _now_and_then(d: Draw, starts: list[int]) -> Volume:
    """Nearly empty, and full while a job puts its files there."""
    values = d.runs(starts, d.uniform(10, 600), d.uniform(55, 98), d.uniform(1, 25))
    return _volume(d, _disk(d, values))


def _filling(d: Draw) -> Volume:
    """It will be full within five months."""
    now, left = d.uniform(12, 38), d.uniform(40, 150)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 - now) / left
    return _volume(d, _disk(d, np.maximum(grown, 0.5)))


def _which_one(d: Draw) -> Volume:
    """Two data volumes, one of them nearly full, and an agent that names none."""
    host = _host(d.named("host"))
    other = replace(_disk(d, _level(d, d.uniform(50, 95)), ""), path="/other", device="nvme2n1")
    _volume(d.named("other"), other, host, device="/dev/sdg")
    return _volume(d, _disk(d, _level(d, _little(d)), ""), host)


def _unnamed(d: Draw, disk: Disk | None) -> Volume:
    """The agent names no volume, and tells of a nearly empty /home, which is on the disk that the instance starts from."""
    host = _host(d.named("host"))
    root = d.build.volumes.pop()
    home = Disk(path="/home", device="nvme0n1p3", used=Flow(d.published(_level(d, _little(d)))))
    d.build.volumes.append(replace(root, disk=replace(home, volume_key="")))
    return _volume(d, disk, host)


def _pool(d: Draw) -> Volume:
    """It is a pool's, and well filled."""
    filled = _disk(d, _level(d, d.uniform(50, 95)), "")
    return _unnamed(d, replace(filled, path="/tank", device="tank", fstype="zfs"))


def _on_lvm(d: Draw) -> Volume:
    """It is one of a volume group's, and well filled."""
    filled = _disk(d, _level(d, d.uniform(50, 95)), "")
    return _unnamed(d, replace(filled, device="mapper/data-all"))


def _root(d: Draw) -> Volume:
    """The agent names it, and it is nearly empty."""
    _host(d)
    root = d.build.volumes.pop()
    disk = replace(_disk(d, _level(d, _little(d)), "VolumeId"), path="/", device="nvme0n1p1")
    d.build.volumes.append(root := replace(root, disk=disk, size_gib=int(d.spread(60, 1_000))))
    return root


def _new(d: Draw) -> Volume:
    disk = _disk(d, _level(d, _little(d)))
    return _volume(d, disk, created=d.ago(d.uniform(0.1, 13)))


def _small(d: Draw) -> Volume:
    disk = _disk(d, _level(d, _little(d)))
    return _volume(d, disk, size=d.integer(1, 9))


def _off(d: Draw) -> Volume:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d.named("host"), days=120, state="stopped", stopped=stopped)
    disk = _disk(d, _level(d, _little(d)))
    return _volume(d, disk, host, used=((host.launched, stopped),))


def _kept(d: Draw) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(d, _disk(d, _level(d, _little(d))), tags=kept)


def _holes(d: Draw) -> Volume:
    values = d.without_days(_level(d, _little(d)))
    return _volume(d, _disk(d, values))


SCENARIOS = (
    issue("nearly-empty", "A third full at most, always.", lambda d: _volume(d, _disk(d, _level(d, _little(d))))),
    # The agent names no volume, and the instance has no other data volume.
    issue(
        "only-one",
        "The only data volume; the agent names none.",
        lambda d: _volume(d, _disk(d, _level(d, _little(d)), "")),
    ),
    issue("temporary", "Files come and go; a third full at most.", _temporary),
    issue("slow-growth", "It takes years to fill.", _slow),
    issue("one-copy", "One copy weeks ago, and no more.", _one_copy),
    issue("restarted", "Its instance was stopped and started.", _restarted),
    issue("since-weeks", "Attached weeks ago.", _since_weeks),
    control("full", "More than half full.", lambda d: _volume(d, _disk(d, _level(d, d.uniform(50, 95))))),
    control("nightly", "Filled every night.", lambda d: _now_and_then(d, d.daily())),
    control("weekly", "Filled once a week.", lambda d: _now_and_then(d, d.daily(7))),
    control("monthly-by-date", "Filled on one date of the month.", lambda d: _now_and_then(d, d.monthly())),
    control("monthly-by-weekday", "Filled on the first of a weekday.", lambda d: _now_and_then(d, d.first_weekday())),
    control("filling", "Full within five months.", _filling),
    control("unseen", "No agent looks into it.", lambda d: _volume(d, None)),
    control("which-one", "Two data volumes; the agent names none.", _which_one),
    control("pool", "In a zfs pool, well filled; the agent names none.", _pool),
    control("lvm", "In a volume group, well filled; the agent names none.", _on_lvm),
    # A database keeps its pages on it without a file system.
    control("raw", "Without a file system; the agent tells of the root disk.", lambda d: _unnamed(d, None)),
    control("root", "A root volume, nearly empty.", _root),
    control("new", "Attached within two weeks.", _new),
    control("small", "As small as a volume gets.", _small),
    control("instance-stopped", "On an instance that was stopped of late.", _off),
    control("kept", "Tagged keep.", _kept),
    control("holes", "Days without the agent: nobody knows.", _holes, full=False),
)
