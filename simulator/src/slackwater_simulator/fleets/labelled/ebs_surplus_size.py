"""Volumes that are nearly empty, and those that are so only now and then.

Left out, because even the truth is in doubt: file systems that are between a third and a half full at most, and those that will
be within half a year to two years. Copies of the last nine days too: whether more is to come, nobody knows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import MIB, Activity, Disk, Flow, Instance, Tags, Volume
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .rhythms import (
    Random,
    chance,
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
_KEYS = ("VolumeId", "VolumeId", "VolumeId", "DiskId")


def _host(random: Random, build: Builder, name: str, **more: object) -> Instance:
    """An instance whose agent tells of its root volume too, by path alone."""
    more.setdefault("days", random.uniform(60, 400))
    kind = _NITRO[int(random.integers(len(_NITRO)))]
    agent = "typed" if chance(random, 0.3) else ""
    host = build.instance(name, kind, cpu=cpu(random, build), tags=tags(random), agent=agent, **more)  # type: ignore[arg-type]
    root = build.volumes.pop()
    used = Flow(build.shapes.shape("steady", int(random.integers(6))), random.uniform(20, 60))
    build.volumes.append(replace(root, disk=Disk(path="/", device="nvme0n1p1", used=used, volume_key="")))
    return host


def _level(random: Random, percent: float) -> Floats:
    """Much the same all the time: logs and temporary files come and go."""
    return np.clip(percent * (1 + 0.02 * (wobble(random) - 1)), 0, 100)


def _disk(random: Random, build: Builder, percents: Floats, key: str | None = None) -> Disk:
    """The agent's answer; it names the volume in one of the ways that agents do, unless told otherwise."""
    name = _KEYS[int(random.integers(len(_KEYS)))] if key is None else key
    return Disk(used=Flow(published(random, build, np.clip(percents, 0, 100))), volume_key=name)  # type: ignore[arg-type]


def _volume(
    random: Random, build: Builder, name: str, disk: Disk | None, on: Instance | None = None, **more: object
) -> Volume:
    """A data volume at ordinary work."""
    more.setdefault("tags", dict(tags(random)))
    size = more.pop("size", None) or int(spread(random, 60, 8_000))
    work = Activity(
        shape=published(random, build, working_days(random, build)),
        read=spread(random, 0.5, 12) * MIB,
        write=spread(random, 0.5, 12) * MIB,
    )
    host = on or _host(random, build, f"{name}-host")
    return build.volume(name, size, on=host, activity=work, disk=disk, **more)  # type: ignore[arg-type]


def _little(random: Random) -> float:
    return spread(random, 1, 33)


def _nearly_empty(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _disk(random, build, _level(random, _little(random))))


def _only_one(random: Random, build: Builder, name: str) -> Volume:
    """The agent names no volume, and the instance has no other data volume."""
    return _volume(random, build, name, _disk(random, build, _level(random, _little(random)), ""))


def _temporary(random: Random, build: Builder, name: str) -> Volume:
    """Every night or week files come and go, and it is a third full at most."""
    starts = daily(random, build, 7 if chance(random, 0.5) else 1)
    values = runs(build, starts, random.uniform(10, 300), random.uniform(15, 33), random.uniform(1, 12))
    return _volume(random, build, name, _disk(random, build, values))


def _slow(random: Random, build: Builder, name: str) -> Volume:
    """It takes years to fill."""
    now, years = random.uniform(3, 15), random.uniform(4, 15)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 / years / 365)
    return _volume(random, build, name, _disk(random, build, grown))


def _one_copy(random: Random, build: Builder, name: str) -> Volume:
    """Somebody copied something to it, once, more than a week ago."""
    before, after = random.uniform(1, 15), random.uniform(16, 32)
    copied = MINUTES - int(random.uniform(10, 30) * DAY_MINUTES)
    values = np.where(np.arange(MINUTES) < copied, before, after) * (1 + 0.01 * (wobble(random) - 1))
    return _volume(random, build, name, _disk(random, build, values))


def _restarted(random: Random, build: Builder, name: str) -> Volume:
    """Its instance was stopped for minutes to hours, to be resized."""
    host = _host(random, build, f"{name}-host")
    build.instances.remove(host)
    stopped = build.ago(random.uniform(0.5, 30))
    started = stopped + int(random.uniform(3, 300)) * MINUTE
    spans = ((host.launched, stopped), (started, FOREVER))
    build.instances.append(replace(host, launched=started, running=spans))
    disk = _disk(random, build, _level(random, _little(random)))
    return _volume(random, build, name, disk, host, used=spans)


def _since_weeks(random: Random, build: Builder, name: str) -> Volume:
    disk = _disk(random, build, _level(random, _little(random)))
    return _volume(random, build, name, disk, created=build.ago(random.uniform(17, 34)))


def _full(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _disk(random, build, _level(random, random.uniform(50, 95))))


def _now_and_then(random: Random, build: Builder, name: str, starts: list[int]) -> Volume:
    """Nearly empty, and full while a job puts its files there."""
    values = runs(build, starts, random.uniform(10, 600), random.uniform(55, 98), random.uniform(1, 25))
    return _volume(random, build, name, _disk(random, build, values))


def _nightly(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, daily(random, build))


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, daily(random, build, 7))


def _by_date(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, monthly(random, build))


def _by_weekday(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, first_weekday(random, build))


def _filling(random: Random, build: Builder, name: str) -> Volume:
    """It will be full within five months."""
    now, left = random.uniform(12, 38), random.uniform(40, 150)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 - now) / left
    return _volume(random, build, name, _disk(random, build, np.maximum(grown, 0.5)))


def _unseen(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, None)


def _which_one(random: Random, build: Builder, name: str) -> Volume:
    """Two data volumes, one of them nearly full, and an agent that names none."""
    host = _host(random, build, f"{name}-host")
    other = replace(_disk(random, build, _level(random, random.uniform(50, 95)), ""), path="/other", device="nvme2n1")
    _volume(random, build, f"{name}-other", other, host, device="/dev/sdg")
    return _volume(random, build, name, _disk(random, build, _level(random, _little(random)), ""), host)


def _unnamed(random: Random, build: Builder, disk: Disk | None, name: str) -> Volume:
    """The agent names no volume, and tells of a nearly empty /home, which is on the disk that the instance starts from."""
    host = _host(random, build, f"{name}-host")
    root = build.volumes.pop()
    home = Disk(path="/home", device="nvme0n1p3", used=Flow(published(random, build, _level(random, _little(random)))))
    build.volumes.append(replace(root, disk=replace(home, volume_key="")))
    return _volume(random, build, name, disk, host)


def _pool(random: Random, build: Builder, name: str) -> Volume:
    """It is a pool's, and well filled."""
    filled = _disk(random, build, _level(random, random.uniform(50, 95)), "")
    return _unnamed(random, build, replace(filled, path="/tank", device="tank", fstype="zfs"), name)


def _on_lvm(random: Random, build: Builder, name: str) -> Volume:
    """It is one of a volume group's, and well filled."""
    filled = _disk(random, build, _level(random, random.uniform(50, 95)), "")
    return _unnamed(random, build, replace(filled, device="mapper/data-all"), name)


def _raw(random: Random, build: Builder, name: str) -> Volume:
    """A database keeps its pages on it without a file system."""
    return _unnamed(random, build, None, name)


def _root(random: Random, build: Builder, name: str) -> Volume:
    """The agent names it, and it is nearly empty."""
    _host(random, build, name)
    root = build.volumes.pop()
    disk = replace(_disk(random, build, _level(random, _little(random)), "VolumeId"), path="/", device="nvme0n1p1")
    build.volumes.append(root := replace(root, disk=disk, size_gib=int(spread(random, 60, 1_000))))
    return root


def _new(random: Random, build: Builder, name: str) -> Volume:
    disk = _disk(random, build, _level(random, _little(random)))
    return _volume(random, build, name, disk, created=build.ago(random.uniform(0.1, 13)))


def _small(random: Random, build: Builder, name: str) -> Volume:
    disk = _disk(random, build, _level(random, _little(random)))
    return _volume(random, build, name, disk, size=int(random.integers(1, 9)))


def _off(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = _host(random, build, f"{name}-host", days=120, state="stopped", stopped=stopped)
    disk = _disk(random, build, _level(random, _little(random)))
    return _volume(random, build, name, disk, host, used=((host.launched, stopped),))


def _kept(random: Random, build: Builder, name: str) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(random, build, name, _disk(random, build, _level(random, _little(random))), tags=kept)


def _holes(random: Random, build: Builder, name: str) -> Volume:
    values = without_days(random, build, _level(random, _little(random)))
    return _volume(random, build, name, _disk(random, build, values))


SCENARIOS = (
    Scenario(name="nearly-empty", story="A third full at most, always.", plant=each(_nearly_empty), trouble=True),
    Scenario(name="only-one", story="The only data volume; the agent names none.", plant=each(_only_one), trouble=True),
    Scenario(name="temporary", story="Files come and go; a third full at most.", plant=each(_temporary), trouble=True),
    Scenario(name="slow-growth", story="It takes years to fill.", plant=each(_slow), trouble=True),
    Scenario(name="one-copy", story="One copy weeks ago, and no more.", plant=each(_one_copy), trouble=True),
    Scenario(name="restarted", story="Its instance was stopped and started.", plant=each(_restarted), trouble=True),
    Scenario(name="since-weeks", story="Attached weeks ago.", plant=each(_since_weeks), trouble=True),
    Scenario(name="full", story="More than half full.", plant=each(_full)),
    Scenario(name="nightly", story="Filled every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Filled once a week.", plant=each(_weekly)),
    Scenario(name="monthly-by-date", story="Filled on one date of the month.", plant=each(_by_date)),
    Scenario(name="monthly-by-weekday", story="Filled on the first of a weekday.", plant=each(_by_weekday)),
    Scenario(name="filling", story="Full within five months.", plant=each(_filling)),
    Scenario(name="unseen", story="No agent looks into it.", plant=each(_unseen)),
    Scenario(name="which-one", story="Two data volumes; the agent names none.", plant=each(_which_one)),
    Scenario(name="pool", story="In a zfs pool, well filled; the agent names none.", plant=each(_pool)),
    Scenario(name="lvm", story="In a volume group, well filled; the agent names none.", plant=each(_on_lvm)),
    Scenario(name="raw", story="Without a file system; the agent tells of the root disk.", plant=each(_raw)),
    Scenario(name="root", story="A root volume, nearly empty.", plant=each(_root)),
    Scenario(name="new", story="Attached within two weeks.", plant=each(_new)),
    Scenario(name="small", story="As small as a volume gets.", plant=each(_small)),
    Scenario(name="instance-stopped", story="On an instance that was stopped of late.", plant=each(_off)),
    Scenario(name="kept", story="Tagged keep.", plant=each(_kept)),
    Scenario(name="holes", story="Days without the agent: nobody knows.", plant=each(_holes), full=False),
)
