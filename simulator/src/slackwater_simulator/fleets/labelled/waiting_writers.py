"""Plant EFS file systems and OpenZFS exports whose small writes wait for each other, and ones that are slow or quiet.

In an issue, writers have more to write than acknowledgements allow, for at least an hour or for two weeks. Not drawn,
because the truth is in doubt:
- `efs-serial-small-writes`: writers with a constant rate of their own, which look the same, jobs of 20 to 60 minutes,
  40 to 65 writes a second, and demand that the wait limits but that rises and falls before and after;
- `fsx-sync-export`: waits of 20 to 60 minutes in two weeks, disks between 45 and 60 % busy, and many writers with the
  same constant rate for hours, whose sum looks like a wait.
"""

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Export, Flow, FsxVolume, given
from slackwater_simulator.series import MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw, Range
from .fsx_surplus import SMALLEST
from .scenario import Rows
from .shared_files import IA_AFTER_30_DAYS, file_system

_MOST = 12 * MIB
"""Bytes a second, far below a fifth of the 100 MiB/s burst of file systems below 1 TiB."""


def _made(d: Draw, per_s: Floats, size: float, **more: Any) -> ElasticFileSystem:
    """Plant a file system with these writes of `size` bytes a second. It earns more credits than they use."""
    peak, metadata = float(per_s.max()), more.pop("metadata", d.spread(1, 50) * KIB)
    earned = 2.5 * (float(per_s.mean()) * size + metadata) / (50 * KIB)
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "days": d.uniform(40, 900), "lifecycle": IA_AFTER_30_DAYS}
    usual["standard_bytes"] = int(max(25, earned * d.uniform(1, 3)) * GIB)
    work = d.work(d.published(per_s / peak), (0.01, 1), peak * size / MIB, 64, size / KIB, metadata)
    usual |= {"activity": work, "clients": Flow(d.shape("steady"), d.integer(3, 20)), "tags": d.tags()}
    return file_system(d, more, **usual)


def _answer_s(d: Draw, zone: str | None = None) -> float:
    """Draw a write's latency: documented as 2.7 ms, and 1.6 ms on One Zone. It varies in practice."""
    return d.spread(0.0012, 0.0025) if zone else d.spread(0.002, 0.0045)


def _starts(d: Draw) -> list[int]:
    return d.starts(1, 3, 7)


def _jitter(d: Draw) -> Floats:
    """Return latency factors that are higher in some minutes and in some quarters of an hour."""
    slow = d.noise(d.uniform(0.01, 0.07), MINUTES // 15).repeat(15)
    return np.clip(d.noise(d.uniform(0.005, 0.05)) * slow, 0.75, 1.25)


def _size(d: Draw, most_kib: float, per_s: float) -> float:
    """Draw the bytes of a write, with at most `per_s` writes a second."""
    return min(d.spread(1, most_kib) * KIB, _MOST / per_s)


def _waiting(
    d: Draw, starts: list[int], minutes: float, writers: int, *, offered: float = 3, **more: Any
) -> ElasticFileSystem:
    """Plant jobs that want up to `offered` times the writes that writers can do, one acknowledgement after another."""
    zone = d.zone(0.4)
    answer = _answer_s(d, zone)
    per_s = d.uniform(1.1, offered) * writers / answer
    wanted = d.runs(starts, minutes, per_s, d.uniform(0.1, 5)) * d.wobble()
    done = nfs_writes(wanted, acknowledgement_s=answer, writers=writers, jitter=_jitter(d))
    return _made(d, done, _size(d, 48, writers / answer), one_zone=zone, **more)


def _small_files(d: Draw) -> ElasticFileSystem:
    """Plant copies of small files, with about fourteen operations each, one of which writes the data."""
    operations, workers = d.integer(12, 17), d.integer(5, 8)
    a_file = min(operations * d.spread(0.0027, 0.0045), workers / 75)
    wanted = d.runs(_starts(d), d.uniform(75, 360), 2 * workers / a_file, 0.5) * d.wobble()
    done = nfs_writes(wanted, acknowledgement_s=a_file, writers=workers, jitter=_jitter(d))
    metadata = workers / a_file * operations * 4 * KIB
    return _made(d, done, d.spread(4, 24) * KIB, one_zone=None, metadata=metadata)


def _uneven_workers(d: Draw) -> ElasticFileSystem:
    """Plant workers with directories of unequal size. First all of them write, then half, then one."""
    answer, workers = _answer_s(d), d.integer(3, 7)
    starts, done = d.daily(), np.full(MINUTES, 0.5)
    for busy, most_minutes in ((workers, 150), (workers / 2, 60), (1, 120)):
        minutes = int(d.uniform(most_minutes / 2, most_minutes))
        done = np.maximum(done, d.runs(starts, minutes, busy / answer) * _jitter(d))
        starts = [start + minutes * MINUTE for start in starts]
    return _made(d, done, _size(d, 48, workers / answer), one_zone=None)


def _never_done(d: Draw) -> ElasticFileSystem:
    answer, writers = _answer_s(d), d.integer(1, 4)
    per_s = writers / answer
    return _made(d, per_s * _jitter(d), min(d.spread(1, 24) * KIB, _MOST / 2 / per_s), one_zone=None)


def _large(d: Draw) -> ElasticFileSystem:
    """Plant large writes. Each waits too, and longer, because it has more data."""
    size = d.spread(128, 1_024) * KIB
    answer = 0.003 + size / (100 * MIB)
    wanted = d.runs(_starts(d), d.uniform(75, 300), 1.5 / answer, 0.1) * d.wobble()
    return _made(d, nfs_writes(wanted, acknowledgement_s=answer, writers=1, jitter=_jitter(d)), size)


def _by_day(d: Draw) -> ElasticFileSystem:
    """Plant many clients. Each writes when somebody works."""
    shape = d.shape("office").stats.total
    return _made(d, d.spread(80, 900) * np.roll(shape, d.integer(MINUTES)) * d.wobble(), _size(d, 48, 1_500))


def _bursts(d: Draw) -> ElasticFileSystem:
    most = d.spread(100, 1_500)
    per_s = most * d.uniform(0.001, 0.05) * d.wobble()
    minute = d.integer(60)
    while minute < MINUTES - 30:
        length = d.integer(2, 19)
        per_s[minute : minute + length] += most * d.uniform(0.2, 0.9)
        minute += length + int(d.uniform(15, 400))
    return _made(d, per_s, _size(d, 32, 1_500))


def _varied(d: Draw) -> ElasticFileSystem:
    """Plant a job that computes and writes in turn, at rates that change every five minutes."""
    busy = d.runs(d.daily(), d.uniform(90, 400))
    steps = np.exp(d.random.normal(0, d.uniform(0.6, 1.0), MINUTES // 5)).repeat(5)
    per_s = np.minimum(busy * steps * d.spread(60, 300), 2_000) * d.wobble()
    return _made(d, per_s, _size(d, 32, 2_000))


def _near_permitted(d: Draw) -> ElasticFileSystem:
    """Plant many writers limited by the network. Their limit is throughput, not the wait."""
    size = d.spread(24, 60) * KIB
    per_s = d.uniform(30, 70) * MIB / size
    done = d.runs(d.daily(), d.uniform(60, 150), per_s, 0.5) * np.clip(d.noise(0.02), 0.9, 1.1)
    return _made(d, done, size, one_zone=None)


def _near_operations(d: Draw) -> ElasticFileSystem:
    """Plant a file system whose metadata operations are at the limit of General Purpose."""
    answer, writers = _answer_s(d), d.integer(2, 6)
    busy = d.runs(d.daily(), d.uniform(75, 300), 1.0, 0.01)
    limit = given(d.signal(busy * np.clip(d.noise(0.03), 0.9, 1.0)), scale=98.0)
    done = busy * writers / answer * _jitter(d)
    return _made(d, done, _size(d, 32, writers / answer), one_zone=None, telemetry={"PercentIOLimit": limit})


EFS_SERIAL_SMALL_WRITES_ISSUES: Rows = {
    "one-writer: One writer waits for each answer.": lambda d: _waiting(d, _starts(d), d.uniform(75, 360), 1),
    "several-writers: Several writers wait.": lambda d: _waiting(d, _starts(d), d.uniform(75, 360), d.integer(2, 7)),
    "small-files: Workers copy small files, operation by operation.": _small_files,
    "uneven-workers: Workers, of whom fewer and fewer have work.": _uneven_workers,
    "never-done: There is always more to write.": _never_done,
}
EFS_SERIAL_SMALL_WRITES_CONTROLS: Rows = {
    "large-writes: Large writes.": _large,
    "few-writes: Fewer than fifty a second.": lambda d: _made(
        d,
        np.minimum(d.runs(_starts(d), d.uniform(75, 360), d.spread(5, 40), 0.5) * d.wobble(), 44),
        d.spread(1, 48) * KIB,
    ),
    "deployments: Minutes of waiting, now and then.": lambda d: _waiting(
        d,
        [d.ago(day + d.uniform(0, 0.9)) for day in d.random.choice(13, d.integer(1, 9), replace=False)],
        d.uniform(2, 10),
        d.integer(1, 4),
        offered=1.8,
    ),
    "by-day: Many clients, whose day rises and falls.": _by_day,
    "bursts: Somebody saves a lot, for minutes.": _bursts,
    "varied: A job whose rate goes with its work.": _varied,
    "near-permitted: Throughput is what it uses.": _near_permitted,
    "near-operations: Operations are what it uses.": _near_operations,
}
EFS_SERIAL_SMALL_WRITES_UNKNOWN: Rows = {
    "limits-unknown: Nobody knows what was permitted.": lambda d: _waiting(
        d, d.daily(), d.uniform(75, 360), 1, telemetry={"PermittedThroughput": d.silent()}
    ),
}


# --- fsx-sync-export --------------------------------------------------------------------------------------------------
_SYNC = (("rw", "crossmnt"), ("rw", "crossmnt", "sync"), ("rw", "crossmnt", "no_root_squash"))
_ASYNC = ("rw", "crossmnt", "async")
_UTILIZATION = ("DiskIopsUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")


def _sync(d: Draw) -> Export:
    return Export(f"10.{d.integer(256)}.0.0/16", d.pick(*_SYNC))


def _served(d: Draw, activity: Activity, *exports: Export, disk: float, **more: Any) -> FsxVolume:
    """Plant a file system with one child volume on the smallest file server. `disk` is the disks' peak in percent."""
    deployment = d.pick(*SMALLEST)
    size: dict[str, Any] = {"storage_gib": d.whole(64, 4_000), "throughput": SMALLEST[deployment]}
    usual: dict[str, Any] = {"days": d.uniform(40, 400), "clients": float(d.integer(1, 20)), "tags": d.tags()}
    work: dict[str, Any] = {"deployment": deployment, "activity": activity, "disk_iops_peak": disk}
    system = d.build.openzfs(f"{d.name}-server", **size, **usual, **work, **more)
    return d.build.export(system, "data", *exports, activity=activity, tags={**d.tags(), "Name": d.name})


def _sync_served(d: Draw, activity: Activity, disk: tuple[float, float]) -> FsxVolume:
    """Plant the same with one sync export. `disk` is the range of the disks' peak in percent."""
    return _served(d, activity, _sync(d), disk=d.uniform(*disk))


def _in_turn(d: Draw, starts: list[int], minutes: float, *, offered: float, size: float, writers: int = 1) -> Activity:
    """Return writes in runs, `offered` times what acknowledgements allow. An acknowledgement takes 1.5 to 7 ms."""
    ack = d.spread(0.0015, 0.007)
    return _writing(d, _let_through(d, starts, minutes, ack, offered, writers), size)


def _let_through(d: Draw, starts: list[int], minutes: float, ack: float, offered: float, writers: int) -> Floats:
    """Return how many of the offered writes a second the writers can do."""
    jitter = np.clip(d.noise(d.uniform(0.005, 0.03)), 0.9, 1.1)
    wanted = d.runs(starts, minutes, offered * writers / ack, 0.5) * d.wobble()
    return nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=jitter)


def _writing(d: Draw, per_s: Floats, size: float) -> Activity:
    peak = float(per_s.max())
    shape, write = d.published(per_s / peak), peak * size / MIB
    return d.work(shape, (0.01, 5), write, 64, size / KIB, (1, 300))


def _small(d: Draw) -> float:
    return d.spread(1, 40) * KIB


def _drawn(d: Draw, offered: Range = (1.1, 3), writers: tuple[int, int] = (1, 2)) -> Activity:
    """Draw writers that wait every day, every week, or once. `writers` is a range; by default one writes."""
    starts, minutes, more = _starts(d), d.uniform(75, 360), d.uniform(*offered)
    return _in_turn(d, starts, minutes, offered=more, size=_small(d), writers=d.integer(*writers))


def _fewer_writers(d: Draw) -> FsxVolume:
    """Plant writers that start together. Some of them have less to write."""
    starts, ack, minutes = _starts(d), d.spread(0.0015, 0.005), d.uniform(120, 360)
    done = _let_through(d, starts, minutes, ack, d.uniform(1.1, 1.3), d.integer(1, 3))
    less = d.uniform(0.15, 0.5) * minutes
    done = done + _let_through(d, starts, less, ack, d.uniform(1.1, 1.3), d.integer(1, 3))
    return _sync_served(d, _writing(d, done, _small(d)), (2, 40))


def _daily(d: Draw, offered: float) -> Activity:
    return _in_turn(d, d.daily(), d.uniform(75, 360), offered=offered, size=_small(d))


def _neighbour(d: Draw) -> FsxVolume:
    work = _daily(d, 1.5)
    busy = d.signal(np.clip(0.9 * d.noise(0.05), 0.7, 1.0))
    disks = {metric: given(busy, scale=99.0) for metric in _UTILIZATION[:2]}
    return _served(d, work, _sync(d), disk=20.0, telemetry=disks)


def _async(d: Draw) -> FsxVolume:
    writes = d.runs(_starts(d), d.uniform(75, 360), d.spread(200, 4_000), 1.0) * d.wobble()
    return _served(d, _writing(d, writes, _small(d)), Export("*", _ASYNC), disk=d.uniform(5, 45))


def _paced(d: Draw) -> FsxVolume:
    """Plant writers by day that together do at most half of what acknowledgements allow."""
    writers, ack = d.integer(5, 40), d.spread(0.0015, 0.005)
    level = min(d.spread(200, 1_000), 0.5 * writers / ack)
    wanted = np.minimum(level * d.working_days(), 0.8 * writers / ack)
    done = nfs_writes(wanted, acknowledgement_s=ack, writers=writers, jitter=np.ones_like(wanted))
    return _sync_served(d, _writing(d, done, _small(d)), (5, 40))


FSX_SYNC_EXPORT_ISSUES: Rows = {
    "one-writer: One writer waits for each write.": lambda d: _sync_served(d, _drawn(d), (2, 40)),
    "several-writers: Several writers wait.": lambda d: _sync_served(d, _drawn(d, (1.1, 2), (2, 9)), (5, 45)),
    "fewer-writers: Several writers wait, then fewer.": _fewer_writers,
    "one-of-several: Of three client entries one is sync.": lambda d: _served(
        d, _drawn(d), Export("*", ("ro", *_ASYNC[1:])), _sync(d), Export("10.9.0.0/16", _ASYNC), disk=d.uniform(2, 40)
    ),
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
        _in_turn(d, [d.ago(d.uniform(1, 12))], d.uniform(2, 10), offered=d.uniform(1.1, 1.8), size=_small(d)),
        (2, 30),
    ),
    "busy-disk: Its disks are the limit.": lambda d: _sync_served(d, _drawn(d), (80, 99.5)),
    "busy-neighbour: Another volume keeps the disks busy.": _neighbour,
    "large-writes: Large writes.": lambda d: _sync_served(
        d, _in_turn(d, _starts(d), d.uniform(75, 360), offered=1.2, size=d.spread(128, 1024) * KIB), (10, 45)
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
