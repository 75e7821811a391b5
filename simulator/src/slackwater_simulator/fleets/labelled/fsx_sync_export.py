"""OpenZFS exports whose writers wait for each acknowledgement, and exports that are slow, or quiet, for another reason.

An issue is an hour or more in which writers had more to write than their acknowledgements let through. Not drawn,
because the truth is in doubt: waits of 20 to 60 minutes in two weeks, disks between 45 and 60 % busy, and many writers
that go on at the same pace for hours, whose sum looks like a wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import KIB, MIB, Activity, Export, FsxVolume, given
from slackwater_simulator.series import Floats

from .draw import Draw
from .fsx_surplus import SMALLEST
from .scenario import Rows

_SYNC = (("rw", "crossmnt"), ("rw", "crossmnt", "sync"), ("rw", "crossmnt", "no_root_squash"))
_ASYNC = ("rw", "crossmnt", "async")
_UTILIZATION = ("DiskIopsUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")


def _sync(d: Draw) -> Export:
    return Export(f"10.{d.integer(256)}.0.0/16", d.pick(*_SYNC))


def _served(d: Draw, activity: Activity, *exports: Export, disk: float, **more: Any) -> FsxVolume:
    """A file system with one child volume, on the smallest file server there is; its disks are so busy, percent."""
    deployment = d.pick(*SMALLEST)
    size: dict[str, Any] = {"storage_gib": d.whole(64, 4_000), "throughput": SMALLEST[deployment]}
    usual: dict[str, Any] = {"days": d.uniform(40, 400), "clients": float(d.integer(1, 20)), "tags": d.tags()}
    work: dict[str, Any] = {"deployment": deployment, "activity": activity, "disk_iops_peak": disk}
    system = d.build.openzfs(f"{d.name}-server", **size, **usual, **work, **more)
    return d.build.export(system, "data", *exports, activity=activity, tags={**d.tags(), "Name": d.name})


def _sync_served(d: Draw, activity: Activity, disk: tuple[float, float]) -> FsxVolume:
    """The same with one sync export, and disks that are so busy, percent."""
    return _served(d, activity, _sync(d), disk=d.uniform(*disk))


def _waiting(d: Draw, starts: list[int], minutes: float, *, offered: float, size: float, writers: int = 1) -> Activity:
    """So much more than one acknowledgement after the other allows, in runs. An acknowledgement takes 1.5 to 7 ms."""
    ack = d.spread(0.0015, 0.007)
    return _writing(d, _let_through(d, starts, minutes, ack, offered, writers), size)


def _let_through(d: Draw, starts: list[int], minutes: float, ack: float, offered: float, writers: int) -> Floats:
    """Writes a second, of those offered in runs, that so many writers get done."""
    jitter = np.clip(d.noise(d.uniform(0.005, 0.03)), 0.9, 1.1)
    wanted = d.runs(starts, minutes, offered * writers / ack, 0.5) * d.wobble()
    return nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=jitter)


def _writing(d: Draw, per_s: Floats, size: float) -> Activity:
    peak = float(per_s.max())
    shape, write = d.published(per_s / peak), peak * size / MIB
    return d.work(shape, (0.01, 5), write, 64, size / KIB, (1, 300))


def _small(d: Draw) -> float:
    return d.spread(1, 40) * KIB


def _drawn(d: Draw) -> Activity:
    """A writer that waits every day, every week, or once."""
    return _waiting(d, d.starts(1, 3, 7), d.uniform(75, 360), offered=d.uniform(1.1, 3), size=_small(d))


def _several_writers(d: Draw) -> FsxVolume:
    starts, minutes, offered = d.starts(1, 3, 7), d.uniform(75, 360), d.uniform(1.1, 2)
    return _sync_served(
        d, _waiting(d, starts, minutes, offered=offered, size=_small(d), writers=d.integer(2, 9)), (5, 45)
    )


def _fewer_writers(d: Draw) -> FsxVolume:
    """They begin together, and some of them have less to write."""
    starts, ack, minutes = d.starts(1, 3, 7), d.spread(0.0015, 0.005), d.uniform(120, 360)
    done = _let_through(d, starts, minutes, ack, d.uniform(1.1, 1.3), d.integer(1, 3))
    less = d.uniform(0.15, 0.5) * minutes
    done = done + _let_through(d, starts, less, ack, d.uniform(1.1, 1.3), d.integer(1, 3))
    return _sync_served(d, _writing(d, done, _small(d)), (2, 40))


def _one_of_several(d: Draw) -> FsxVolume:
    work, readers, others = _drawn(d), Export("*", ("ro", "crossmnt", "async")), Export("10.9.0.0/16", _ASYNC)
    return _served(d, work, readers, _sync(d), others, disk=d.uniform(2, 40))


def _daily(d: Draw, offered: float) -> Activity:
    return _waiting(d, d.daily(), d.uniform(75, 360), offered=offered, size=_small(d))


def _neighbour(d: Draw) -> FsxVolume:
    """All the time."""
    work = _daily(d, 1.5)
    busy = d.signal(np.clip(0.9 * d.noise(0.05), 0.7, 1.0))
    disks = {metric: given(busy, scale=99.0) for metric in _UTILIZATION[:2]}
    return _served(d, work, _sync(d), disk=20.0, telemetry=disks)


def _async(d: Draw) -> FsxVolume:
    writes = d.runs(d.starts(1, 3, 7), d.uniform(75, 360), d.spread(200, 4_000), 1.0) * d.wobble()
    return _served(d, _writing(d, writes, _small(d)), Export("*", _ASYNC), disk=d.uniform(5, 45))


def _paced(d: Draw) -> FsxVolume:
    """By day: together at most half of what their acknowledgements would let through."""
    writers, ack = d.integer(5, 40), d.spread(0.0015, 0.005)
    level = min(d.spread(200, 1_000), 0.5 * writers / ack)
    wanted = np.minimum(level * d.working_days(), 0.8 * writers / ack)
    done = nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=np.ones_like(wanted))
    return _sync_served(d, _writing(d, done, _small(d)), (5, 40))


FSX_SYNC_EXPORT_ISSUES: Rows = {
    "one-writer: One writer waits for each write.": lambda d: _sync_served(d, _drawn(d), (2, 40)),
    "several-writers: Several writers wait.": _several_writers,
    "fewer-writers: Several writers wait, then fewer.": _fewer_writers,
    "one-of-several: Of three client entries one is sync.": _one_of_several,
    "more-iops: IOPS were bought, in vain.": lambda d: _served(
        d, _daily(d, 2.0), _sync(d), disk=d.uniform(0.5, 5), iops=d.integer(5, 40) * 1_000
    ),
}
FSX_SYNC_EXPORT_CONTROLS: Rows = {
    "hardly-written: Hardly written.": lambda d: _sync_served(
        d, _writing(d, d.working_days() * d.spread(0.1, 50), _small(d)), (1, 20)
    ),
    "one-deployment: A few minutes of waiting, once.": lambda d: _sync_served(
        d,
        _waiting(d, [d.ago(d.uniform(1, 12))], d.uniform(2, 10), offered=d.uniform(1.1, 1.8), size=_small(d)),
        (2, 30),
    ),
    "busy-disk: Its disks are the limit.": lambda d: _sync_served(d, _drawn(d), (80, 99.5)),
    "busy-neighbour: Another volume keeps the disks busy.": _neighbour,
    "large-writes: Large writes.": lambda d: _sync_served(
        d, _waiting(d, d.starts(1, 3, 7), d.uniform(75, 360), offered=1.2, size=d.spread(128, 1024) * KIB), (10, 45)
    ),
    "async: Acknowledged at once.": _async,
    "read-only: Read, not written.": lambda d: _sync_served(
        d,
        Activity(shape=d.published(d.working_days()), read=d.spread(5, 300) * MIB, write=0.01 * MIB, metadata=500.0),
        (5, 45),
    ),
    "paced: Many writers, each at its own pace.": _paced,
}
FSX_SYNC_EXPORT_UNKNOWN: Rows = {
    "disks-unknown: Nobody knows what its disks did.": lambda d: _served(
        d, _daily(d, 1.5), _sync(d), disk=5.0, telemetry=dict.fromkeys(_UTILIZATION, d.silent())
    ),
}
