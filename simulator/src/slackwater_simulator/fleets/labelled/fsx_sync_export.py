"""OpenZFS exports whose writers wait for each acknowledgement, and exports that are slow, or quiet, for another reason.

A trouble is an hour or more in which writers had more to write than their acknowledgements let through. Left out, because
even the truth is in doubt: waits of 20 to 60 minutes in two weeks, disks between 45 and 60 % busy, and many writers that
go on at the same pace for hours, whose sum looks like a wait.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import KIB, MIB, Activity, Export, FsxVolume, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import noise

from .rhythms import Random, daily, published, runs, spread, tags, wobble, working_days
from .scenario import Scenario, each

_SYNC = (("rw", "crossmnt"), ("rw", "crossmnt", "sync"), ("rw", "crossmnt", "no_root_squash"))
_ASYNC = ("rw", "crossmnt", "async")
_SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}


def _sync(random: Random) -> Export:
    return Export(f"10.{int(random.integers(256))}.0.0/16", _SYNC[int(random.integers(len(_SYNC)))])


def _served(
    random: Random, build: Builder, name: str, activity: Activity, *exports: Export, disk: float, **more: object
) -> FsxVolume:
    """A file system with one child volume, on the smallest file server there is."""
    deployment = tuple(_SMALLEST)[int(random.integers(3))]
    system = build.openzfs(
        f"{name}-server",
        storage_gib=int(spread(random, 64, 4_000)),
        throughput=_SMALLEST[deployment],
        deployment=deployment,
        days=random.uniform(40, 400),
        activity=activity,
        clients=float(random.integers(1, 20)),
        disk_iops_peak=disk,
        tags=dict(tags(random)),
        **more,
    )
    return build.export(system, "data", *exports, activity=activity, tags={**tags(random), "Name": name})


def _waiting(
    random: Random, build: Builder, starts: list[int], minutes: float, *, offered: float, size: float, writers: int = 1
) -> Activity:
    """So much more than one acknowledgement after the other allows, in runs. An acknowledgement takes 1.5 to 7 ms."""
    ack = spread(random, 0.0015, 0.007)
    return _writing(random, build, _let_through(random, build, starts, minutes, ack, offered, writers), size)


def _let_through(
    random: Random, build: Builder, starts: list[int], minutes: float, ack: float, offered: float, writers: int
) -> Floats:
    """Writes a second, of those offered in runs, that so many writers get done."""
    jitter = np.clip(noise(random, random.uniform(0.005, 0.03)), 0.9, 1.1)
    wanted = runs(build, starts, minutes, offered * writers / ack, 0.5) * wobble(random)
    return nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=jitter)


def _writing(random: Random, build: Builder, per_s: Floats, size: float) -> Activity:
    peak = float(per_s.max())
    return Activity(
        shape=published(random, build, per_s / peak),
        write=peak * size,
        write_size=size,
        read=spread(random, 0.01, 5) * MIB,
        metadata=spread(random, 1, 300),
    )


def _small(random: Random) -> float:
    return spread(random, 1, 40) * KIB


def _starts(random: Random, build: Builder) -> list[int]:
    """Every day, every week, or once."""
    every = (1, 3, 7, 0)[int(random.integers(4))]
    return daily(random, build, every) if every else [build.ago(random.uniform(1, 12))]


def _one_writer(random: Random, build: Builder, name: str) -> FsxVolume:
    work = _waiting(
        random,
        build,
        _starts(random, build),
        random.uniform(75, 360),
        offered=random.uniform(1.1, 3),
        size=_small(random),
    )
    return _served(random, build, name, work, _sync(random), disk=random.uniform(2, 40))


def _several_writers(random: Random, build: Builder, name: str) -> FsxVolume:
    work = _waiting(
        random,
        build,
        _starts(random, build),
        random.uniform(75, 360),
        offered=random.uniform(1.1, 2),
        size=_small(random),
        writers=int(random.integers(2, 9)),
    )
    return _served(random, build, name, work, _sync(random), disk=random.uniform(5, 45))


def _fewer_writers(random: Random, build: Builder, name: str) -> FsxVolume:
    """Writers begin together, and some of them have less to write."""
    starts, ack, minutes = _starts(random, build), spread(random, 0.0015, 0.005), random.uniform(120, 360)
    done = _let_through(random, build, starts, minutes, ack, random.uniform(1.1, 1.3), int(random.integers(1, 3)))
    less = random.uniform(0.15, 0.5) * minutes
    done = done + _let_through(random, build, starts, less, ack, random.uniform(1.1, 1.3), int(random.integers(1, 3)))
    work = _writing(random, build, done, _small(random))
    return _served(random, build, name, work, _sync(random), disk=random.uniform(2, 40))


def _one_of_several(random: Random, build: Builder, name: str) -> FsxVolume:
    work = _waiting(
        random,
        build,
        _starts(random, build),
        random.uniform(75, 360),
        offered=random.uniform(1.1, 3),
        size=_small(random),
    )
    others = (Export("*", ("ro", "crossmnt", "async")), Export("10.9.0.0/16", _ASYNC))
    return _served(random, build, name, work, others[0], _sync(random), others[1], disk=random.uniform(2, 40))


def _more_iops(random: Random, build: Builder, name: str) -> FsxVolume:
    """IOPS were bought, and changed nothing."""
    work = _waiting(random, build, daily(random, build), random.uniform(75, 360), offered=2.0, size=_small(random))
    return _served(
        random, build, name, work, _sync(random), disk=random.uniform(0.5, 5), iops=int(random.integers(5, 40)) * 1_000
    )


def _hardly(random: Random, build: Builder, name: str) -> FsxVolume:
    writes = working_days(random, build) * spread(random, 0.1, 50)
    return _served(
        random, build, name, _writing(random, build, writes, _small(random)), _sync(random), disk=random.uniform(1, 20)
    )


def _deployment(random: Random, build: Builder, name: str) -> FsxVolume:
    once = [build.ago(random.uniform(1, 12))]
    work = _waiting(random, build, once, random.uniform(2, 10), offered=random.uniform(1.1, 1.8), size=_small(random))
    return _served(random, build, name, work, _sync(random), disk=random.uniform(2, 30))


def _busy_disk(random: Random, build: Builder, name: str) -> FsxVolume:
    work = _waiting(
        random,
        build,
        _starts(random, build),
        random.uniform(75, 360),
        offered=random.uniform(1.1, 3),
        size=_small(random),
    )
    return _served(random, build, name, work, _sync(random), disk=random.uniform(80, 99.5))


def _neighbour(random: Random, build: Builder, name: str) -> FsxVolume:
    """Another volume keeps the disks busy, all the time."""
    work = _waiting(random, build, daily(random, build), random.uniform(75, 360), offered=1.5, size=_small(random))
    busy = build.shapes.signal(np.clip(0.9 * noise(random, 0.05), 0.7, 1.0))
    disks = {metric: given(busy, scale=99.0) for metric in ("DiskIopsUtilization", "FileServerDiskIopsUtilization")}
    return _served(random, build, name, work, _sync(random), disk=20.0, telemetry=disks)


def _large(random: Random, build: Builder, name: str) -> FsxVolume:
    starts, minutes = _starts(random, build), random.uniform(75, 360)
    work = _waiting(random, build, starts, minutes, offered=1.2, size=spread(random, 128, 1024) * KIB)
    return _served(random, build, name, work, _sync(random), disk=random.uniform(10, 45))


def _async(random: Random, build: Builder, name: str) -> FsxVolume:
    writes = runs(build, _starts(random, build), random.uniform(75, 360), spread(random, 200, 4_000), 1.0) * wobble(
        random
    )
    work = _writing(random, build, writes, _small(random))
    return _served(random, build, name, work, Export("*", _ASYNC), disk=random.uniform(5, 45))


def _reads(random: Random, build: Builder, name: str) -> FsxVolume:
    shape = published(random, build, working_days(random, build))
    work = Activity(shape=shape, read=spread(random, 5, 300) * MIB, write=0.01 * MIB, metadata=500.0)
    return _served(random, build, name, work, _sync(random), disk=random.uniform(5, 45))


def _paced(random: Random, build: Builder, name: str) -> FsxVolume:
    """Many writers at their own pace, by day: together at most half of what their acknowledgements would let through."""
    writers, ack = int(random.integers(5, 40)), spread(random, 0.0015, 0.005)
    level = min(spread(random, 200, 1_000), 0.5 * writers / ack)
    wanted = np.minimum(level * working_days(random, build), 0.8 * writers / ack)
    done = nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=np.ones_like(wanted))
    return _served(
        random, build, name, _writing(random, build, done, _small(random)), _sync(random), disk=random.uniform(5, 40)
    )


def _no_disks(random: Random, build: Builder, name: str) -> FsxVolume:
    """Nobody knows what the disks did while it wrote."""
    work = _waiting(random, build, daily(random, build), random.uniform(75, 360), offered=1.5, size=_small(random))
    names = ("DiskIopsUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")
    nothing = build.shapes.signal(np.full_like(work.shape.stats.total, np.nan))
    return _served(
        random, build, name, work, _sync(random), disk=5.0, telemetry={metric: given(nothing) for metric in names}
    )


SCENARIOS = (
    Scenario(name="one-writer", story="One writer waits for each write.", plant=each(_one_writer), trouble=True),
    Scenario(name="several-writers", story="Several writers wait.", plant=each(_several_writers), trouble=True),
    Scenario(name="fewer-writers", story="Several writers wait, then fewer.", plant=each(_fewer_writers), trouble=True),
    Scenario(
        name="one-of-several", story="Of three client entries one is sync.", plant=each(_one_of_several), trouble=True
    ),
    Scenario(name="more-iops", story="IOPS were bought, in vain.", plant=each(_more_iops), trouble=True),
    Scenario(name="hardly-written", story="Hardly written.", plant=each(_hardly)),
    Scenario(name="one-deployment", story="A few minutes of waiting, once.", plant=each(_deployment)),
    Scenario(name="busy-disk", story="Its disks are the limit.", plant=each(_busy_disk)),
    Scenario(name="busy-neighbour", story="Another volume keeps the disks busy.", plant=each(_neighbour)),
    Scenario(name="large-writes", story="Large writes.", plant=each(_large)),
    Scenario(name="async", story="Acknowledged at once.", plant=each(_async)),
    Scenario(name="read-only", story="Read, not written.", plant=each(_reads)),
    Scenario(name="paced", story="Many writers, each at its own pace.", plant=each(_paced)),
    Scenario(name="disks-unknown", story="Nobody knows what its disks did.", plant=each(_no_disks), full=False),
)
