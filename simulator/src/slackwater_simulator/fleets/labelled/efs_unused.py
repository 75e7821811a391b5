"""Plant EFS file systems that nobody uses any more or that nothing can mount, and quiet ones that somebody needs.

The score's policy says that a job's file system has the tag `Job`. Not drawn, because the truth is in doubt:
- `efs-idle`: file systems unused for 8 to 37 days (35 days lie between two first Mondays of a month, so a late next run
  is possible), jobs that run less often than that, and file systems of 5 to 14 days that nobody has used yet;
- `efs-orphaned`: file systems of 5 to 9 days, and old ones whose last mount target was deleted within days, as in a
  move to another VPC. EFS does not show when it was deleted;
- `efs-abandoned`: jobs that pause for 4 to 7 hours, and clients of the last half hour, which CloudWatch may not show
  yet.
"""

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import CYCLE, DAY, HOUR, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows, quiet
from .shared_files import IA_AFTER_30_DAYS, file_system, no_clients, replicated, zeros


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    usual: dict[str, Any] = {
        "one_zone": d.zone(0.4),
        "standard_bytes": d.gib(0.5, 2_000),
        "lifecycle": IA_AFTER_30_DAYS,
    }
    usual |= {"ia_bytes": d.gib(1, 2_000) if d.chance(0.3) else 0, "mode": "elastic" if d.chance(0.4) else "bursting"}
    return file_system(d, more, days=d.uniform(60, 700), tags=d.tags(), **usual)


def _used(d: Draw, values: Floats, clients: int, **more: Any) -> ElasticFileSystem:
    """Plant reads, writes and metadata in some rhythm, within burst credits, with clients during that time."""
    shape = d.published(values)
    work = d.work(shape, (0.05, 60), (0.02, 20), (4, 1024), (100, 512), (1, 200), KIB)
    connected = Flow(d.published(np.ceil(np.minimum(values, 1.0))), clients)
    return _made(d, mode="bursting", activity=work, clients=connected, **more)


def _left(d: Draw, days: float) -> dict[str, Any]:
    """Return the times of a file system that has been unused for at least `days` days."""
    created = d.ago(d.uniform(300, 900))
    return {"created": created, "active": (created, d.ago(d.uniform(days, 250)))}


def _killed(d: Draw) -> ElasticFileSystem:
    created = d.ago(d.uniform(38, 300))
    life: dict[str, Any] = {"active": (created, created + int(d.uniform(10, 240)) * MINUTE), "voice": d.voice()}
    return _used(d, d.wobble(), 1, created=created, **life)


def _walked(d: Draw, stored_gib: float, file_bytes: float) -> ElasticFileSystem:
    """Plant a file system that AWS Backup reads. AWS Backup is no client. A stat is 4 KiB of metadata."""
    stored, minutes = int(stored_gib * GIB), d.uniform(10, 120)
    walk = 4 * KIB * stored / file_bytes / (minutes * MINUTE)
    activity = Activity(shape=d.published(d.runs(d.daily(), minutes)), read=walk / 4, metadata=walk)
    return _made(d, standard_bytes=stored, activity=activity, clients=no_clients(d), backup=True)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    source = _made(d.named("source"))
    replica = _made(d.named("replica"), standard_bytes=source.standard_bytes, ia_bytes=0, replica=True)
    return source, replicated(d, source, replica)


def _stored(d: Draw, *, holes: bool = False) -> Track:
    """Return a constant size metric. With `holes`, some days are missing."""
    size = d.signal(d.without_days(np.ones(MINUTES))) if holes else d.always()
    return given(size, scale=d.spread(1, 500) * GIB)


def _by_whom(d: Draw) -> ElasticFileSystem:
    """Plant reads by unknown clients: CloudWatch has no connections, not even zeros."""
    stored, read = _stored(d), d.published(d.runs(d.daily(), d.uniform(5, 60)))
    moved = {metric: given(read, scale=100 * MIB) for metric in ("DataReadIOBytes", "MeteredIOBytes")}
    return _made(d, voice="dark", telemetry={"StorageBytes": stored, **moved})


EFS_IDLE_ISSUES: Rows = {
    "killed-job: A job made it, worked for an hour, and was killed.": _killed,
    "moved-away: Used for months, until its users moved.": lambda d: _used(
        d, **_left(d, 38), values=d.working_days(), clients=4
    ),
    "never-used: Made, and never mounted.": lambda d: _made(
        d, voice=d.voice(0.3), days=d.spread(14, 400), standard_bytes=6 * KIB
    ),
    "gappy-zeros: Zeros, with missing and late points.": lambda d: _made(d, telemetry=zeros(d)),
    "backup-only: AWS Backup walks it every night, and nobody else.": lambda d: _walked(
        d, d.spread(1, 1_000), d.spread(1, 64) * MIB
    ),
    # In five weeks the walks together read more than is stored.
    "small-files: AWS Backup walks its many small files every night.": lambda d: _walked(
        d, d.spread(4, 60), d.spread(32, 128) * KIB
    ),
}
EFS_IDLE_CONTROLS: Rows = {
    **quiet(_used),
    "now-and-then: Somebody looks something up, every ten days or so.": lambda d: _used(
        d, d.runs(d.visits(), d.uniform(1, 30)), 1
    ),
    "mounted: Mounted, and not read for a month.": lambda d: _made(
        d, clients=Flow(d.always(), 1 + d.integer(1, 9)), activity=Activity(shape=d.never())
    ),
    "back-today: Quiet for weeks, and in use again.": lambda d: _used(d, d.back(0.5), d.integer(1, 9)),
    "young: Made days ago, and not used yet.": lambda d: _made(d, days=d.uniform(0.05, 5), standard_bytes=6 * KIB),
    "replication-source: Quiet, and the source of a replication.": lambda d: _replicated(d)[0],
    "replica: Written by replication alone.": lambda d: _replicated(d)[1],
    "kept: Idle, and its owner says so: tagged keep.": lambda d: _made(d, tags={"keep": "true"}),
}
EFS_IDLE_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _made(d, voice="dark"),
    # CloudWatch has no data at all for some days, and zeros before and after.
    "half-dark: Days without any metric.": lambda d: _made(
        d, voice="dark", telemetry={"StorageBytes": _stored(d, holes=True), "MeteredIOBytes": d.zeros(holes=True)}
    ),
    "by-whom: Read every night, and no connections published.": _by_whom,
}


# --- efs-orphaned -----------------------------------------------------------------------------------------------------
def _any(d: Draw, **more: Any) -> ElasticFileSystem:
    """Plant a file system of any size, class and mode. Large ones have a lifecycle policy."""
    large = d.chance(0.4)
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "standard_bytes": d.gib(0.5, 90)}
    usual |= (
        {"ia_bytes": d.gib(90, 4_000), "lifecycle": IA_AFTER_30_DAYS} if large else {"ia_bytes": 0, "lifecycle": ()}
    )
    usual |= {"mode": "elastic" if d.chance(0.4) else "bursting", "days": d.spread(9, 700)}
    return file_system(d, more, access_points=d.integer(4), tags=d.tags(), **usual)


def _orphan(d: Draw, **more: Any) -> ElasticFileSystem:
    return _any(d, mount_targets=(), **more)


def _work(d: Draw, *clients: int) -> dict[str, Any]:
    """Return a working day's reads and writes, with clients in `range(*clients)`."""
    connected = d.integer(*clients)
    shape = d.published(d.working_days())
    work = d.work(shape, (0.05, 3), (0.02, 1), (100, 1_024), (100, 512), (1, 20), KIB)
    return {"activity": work, "clients": Flow(d.always(), connected)}


def _half_deleted(d: Draw) -> ElasticFileSystem:
    """Plant a leftover of a job that was killed after it deleted the mount target, before the file system."""
    created = d.ago(d.uniform(9, 300))
    life: dict[str, Any] = {"active": (created, created + int(d.uniform(10, 240)) * MINUTE), "voice": d.voice()}
    work = Activity(shape=d.published(d.wobble() / 2), read=60 * MIB, write=20 * MIB, write_size=MIB)
    return _orphan(d, created=created, one_zone="a", mode="bursting", activity=work, **life)


def _backed_up(d: Draw) -> ElasticFileSystem:
    """Plant a file system that AWS Backup reads. AWS Backup needs no mount target."""
    shape = d.published(d.runs(d.daily(), d.uniform(10, 90)))
    walk = d.spread(4, 400) * KIB
    work = Activity(shape=shape, read=walk / 4, metadata=walk)
    return _orphan(d, activity=work, clients=no_clients(d), backup=True)


def _replicated_orphans(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    """Plant a source and its replica, both without mount targets."""
    source = _orphan(d.named("source"), days=d.uniform(40, 600))
    created = int(source.created + d.uniform(1, 20) * DAY)
    replica = _orphan(d.named("replica"), standard_bytes=source.standard_bytes, created=created, replica=True)
    return source, replicated(d, source, replica)


EFS_ORPHANED_ISSUES: Rows = {
    "torn-down: Its mount targets went with their subnets.": lambda d: _orphan(d, **_left(d, 9), **_work(d, 4, 5)),
    "half-deleted: A job's deletion ended half way.": _half_deleted,
    # Made by hand or by a script that failed. It contains no file.
    "never-mounted: Made, and never given a mount target.": lambda d: _orphan(
        d, standard_bytes=6 * KIB, ia_bytes=0, lifecycle=()
    ),
    "promoted: A replica whose replication was deleted.": lambda d: _orphan(d, days=d.uniform(40, 600)),
    "paid-for: Throughput is provisioned for it.": lambda d: _orphan(
        d, mode="provisioned", provisioned_mibps=float(d.integer(16, 300))
    ),
    "backed-up: AWS Backup walks it every night.": _backed_up,
    # No metric is needed to show that it has no mount target.
    "dark: No metric at all, and no mount target.": lambda d: _orphan(d, voice="dark"),
}
EFS_ORPHANED_CONTROLS: Rows = {
    "in-use: Mounted and in use.": lambda d: _any(d, **_work(d, 2, 9), days=d.uniform(40, 700), mode="bursting"),
    "idle: Nobody uses it, but it can be mounted.": lambda d: _any(d, days=d.uniform(60, 700)),
    # Made by a stack or a script that creates its mount targets next.
    "new: Made within five days; its mount targets are to come.": lambda d: _orphan(
        d, created=int(d.now - d.spread(0.05, 5 * 24) * HOUR)
    ),
    "replication-source: The source of a replication.": lambda d: _replicated_orphans(d)[0],
    "replica: A replica, which has none until it is needed.": lambda d: _replicated_orphans(d)[1],
    "kept: Its owner keeps it: tagged keep.": lambda d: _orphan(d, tags={"keep": "true"}),
}
EFS_ORPHANED_ALSO = {"idle": ("efs-idle",)}


# --- efs-abandoned ----------------------------------------------------------------------------------------------------
_JOBS = ("encode", "transcode", "render", "training", "reindex")
_POINT = 5
"""Minutes in a point that CloudWatch lost or has not published yet."""
_QUARTER = 15 * MINUTE
"""Seconds between points of StorageBytes."""


def _of_job(d: Draw, **more: Any) -> ElasticFileSystem:
    """Plant a job's file system, in its instance's zone and as large as its input."""
    zone, size = d.zone(0.7), d.gib(0.5, 90)
    return file_system(d, more, one_zone=zone, standard_bytes=size, tags={**d.tags(), "Job": d.pick(*_JOBS)})


def _step(d: Draw, values: Floats, *, fastest: float = 2.0) -> dict[str, Any]:
    """Return a step's activity, and its clients, which are connected while the shape is above zero."""
    shape = d.published(values * d.wobble() / 2, together=_POINT)
    activity = d.work(shape, (0.1, 4 * fastest), (0.05, fastest), 1_024, (128, 1_024), (1, 40), KIB)
    connected = d.published(np.ceil(np.minimum(values, 1.0)), together=_POINT)
    return {"activity": activity, "clients": Flow(connected, d.integer(1, 4))}


def _from(d: Draw, start: int) -> Floats:
    """Return a curve that is 1 from a start to now."""
    return d.runs([start], (d.now + HOUR - start) / MINUTE)


def _hours_ago(d: Draw, low: float, high: float) -> int:
    return int(d.now - d.spread(low, high) * HOUR)


def _killed_after(d: Draw, hours: float, **more: Any) -> ElasticFileSystem:
    """Plant a file system whose job was killed `hours` hours ago."""
    killed = int(d.now - hours * HOUR)
    created = int(killed - d.spread(0.2, 12) * HOUR)
    work = _step(d, np.ones(MINUTES))
    return _of_job(d, created=created, active=(created, killed), voice=d.voice(), **work, **more)


def _empty(d: Draw, low: float, high: float) -> ElasticFileSystem:
    """Plant a file system, made between `low` and `high` hours ago, that was never mounted."""
    return _of_job(d, created=_hours_ago(d, low, high), standard_bytes=6 * KIB, voice=d.voice())


def _gappy_zeros(d: Draw) -> ElasticFileSystem:
    telemetry = dict(zeros(d, together=_POINT))
    created, size = _hours_ago(d, 12, 6 * 24), d.gib(0.5, 90)
    stored = np.ones(CYCLE // _QUARTER)
    stored[d.random.random(len(stored)) < d.uniform(0, 0.005)] = np.nan
    newest = (d.now - d.origin) // _QUARTER
    stored[newest + 1 - d.integer(3) : newest + 1] = np.nan
    telemetry["StorageBytes"] = given(d.signal(stored, _QUARTER), scale=size, since=created)
    return _of_job(d, created=created, standard_bytes=size, voice="dark", telemetry=telemetry)


def _read_by_backup(d: Draw) -> ElasticFileSystem:
    """Plant a file system that AWS Backup, which is no client, read within the hours that count."""
    minutes, start = d.uniform(5, 60), int(d.now - d.uniform(0.5, 5) * HOUR)
    shape = d.published(d.runs([start], minutes), together=_POINT)
    activity = Activity(shape=shape, read=d.spread(1, 60) * MIB, metadata=d.spread(1, 40) * KIB)
    return _of_job(d, days=d.uniform(1, 6), activity=activity, clients=no_clients(d), backup=True)


def _hourly(d: Draw) -> ElasticFileSystem:
    first, every = int(d.now - d.uniform(0.5, 3.5) * HOUR), d.uniform(1, 4)
    starts = [int(first - every * HOUR * number) for number in range(int(30 * 24 / every))]
    return _of_job(d, days=d.uniform(1, 25), **_step(d, d.runs(starts, d.uniform(6, 40))))


def _no_jobs(d: Draw) -> ElasticFileSystem:
    start = d.now - int(d.uniform(7, 20) * HOUR)
    work = _step(d, d.runs([start - day * DAY for day in range(30)], d.uniform(6, 60)))
    return _of_job(d, days=d.uniform(40, 300), tags=d.tags(), zones="ac", one_zone=None, **work)


def _source(d: Draw) -> ElasticFileSystem:
    source = _killed_after(d, d.spread(7, 6 * 24))
    d.build.replicate(source, _of_job(d.named("replica"), created=source.created + HOUR, replica=True))
    return source


def _gone_dark(d: Draw) -> ElasticFileSystem:
    hidden = np.arange(MINUTES) >= (int(d.now - d.uniform(6.5, 12) * HOUR) - d.origin) // MINUTE

    def until_lost(values: Floats, scale: float = 1.0) -> Track:
        return given(d.signal(np.where(hidden, np.nan, values)), scale=scale)

    telemetry = {
        "StorageBytes": until_lost(np.ones(MINUTES), d.spread(1, 90) * GIB),
        "ClientConnections": until_lost(np.ones(MINUTES)),
        "MeteredIOBytes": until_lost(d.wobble(), 100 * MIB),
    }
    return _of_job(d, days=d.uniform(1, 6), voice="dark", telemetry=telemetry)


EFS_ABANDONED_ISSUES: Rows = {
    "killed: Its job was killed hours or days ago.": lambda d: _killed_after(d, d.spread(7, 6 * 24)),
    "killed-long-ago: Its job was killed weeks ago.": lambda d: _killed_after(d, d.uniform(38, 200) * 24),
    "never-mounted: Its job never came.": lambda d: _empty(d, 10, 6 * 24),
    "gappy-zeros: Zeros, with missing and late points.": _gappy_zeros,
    "backed-up: AWS Backup reads it, and nobody else.": _read_by_backup,
    "mount-target-gone: Its job deleted the mount target within days, and nothing else.": lambda d: _killed_after(
        d, d.spread(7, 5 * 24), mount_targets=()
    ),
}
EFS_ABANDONED_CONTROLS: Rows = {
    # So long ago that only efs-orphaned reports it.
    "mount-target-long-gone: Its job deleted the mount target weeks ago, and nothing else.": lambda d: _killed_after(
        d, d.uniform(9, 30) * 24, mount_targets=()
    ),
    "at-work: Its job works.": lambda d: _of_job(
        d, created=(created := _hours_ago(d, 0.5, 18)), **_step(d, _from(d, created), fastest=20)
    ),
    "mounted: Mounted, and not read for hours.": lambda d: _of_job(
        d,
        created=_hours_ago(d, 8, 6 * 24),
        clients=Flow(d.always(together=_POINT), d.integer(1, 4)),
        activity=Activity(shape=d.never(together=_POINT)),
    ),
    "waiting: Its job waits between two steps.": lambda d: _killed_after(d, d.spread(0.3, 4)),
    # It waited for a Spot Instance.
    "back: Its job waited for a day, and goes on.": lambda d: _of_job(
        d, created=int(d.now - d.uniform(1, 6) * DAY), **_step(d, _from(d, _hours_ago(d, 0.6, 8)))
    ),
    "again-and-again: Mounted for minutes every few hours.": _hourly,
    "young: Made within five hours, and not mounted yet.": lambda d: _empty(d, 0.05, 5),
    "not-a-job: Quiet for hours, and made for no job.": _no_jobs,
    "kept: A result that somebody keeps: tagged keep.": lambda d: _killed_after(
        d, d.spread(7, 6 * 24), tags={"Job": "encode", "keep": "true"}
    ),
    "replication-source: A result that is being replicated.": _source,
}
EFS_ABANDONED_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _of_job(d, days=d.uniform(0.5, 6), voice="dark"),
    "gone-dark: At work, and no metric for hours.": _gone_dark,
}
EFS_ABANDONED_ALSO = {"mount-target-long-gone": ("efs-orphaned",)}
