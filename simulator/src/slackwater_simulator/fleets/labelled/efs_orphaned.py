"""File systems that nothing can mount, and others that have no mount target, or no client.

Left out, because even the truth is in doubt: file systems of 5 to 9 days, and old ones whose last mount target went within
days, as when one moves to another VPC: EFS does not say since when there is none.
"""

from __future__ import annotations

from typing import Any

from slackwater_simulator.resources import KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import DAY, HOUR, MINUTE

from .draw import Draw
from .scenario import Rows
from .shared_files import COLD, file_system, nobody, replicated


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system of any size, class and mode; what is large has a lifecycle policy."""
    large = d.chance(0.4)
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "standard_bytes": d.gib(0.5, 90)}
    usual |= {"ia_bytes": d.gib(90, 4_000), "lifecycle": COLD} if large else {"ia_bytes": 0, "lifecycle": ()}
    usual |= {"mode": "elastic" if d.chance(0.4) else "bursting", "days": d.spread(9, 700)}
    return file_system(d, more, access_points=d.integer(4), tags=d.tags(), **usual)


def _orphan(d: Draw, **more: Any) -> ElasticFileSystem:
    return _made(d, mount_targets=(), **more)


def _work(d: Draw, clients: int) -> dict[str, Any]:
    """A working day's reads and writes, and the clients that are there meanwhile."""
    shape = d.published(d.working_days())
    work = d.work(shape, (0.05, 3), (0.02, 1), (100, 1_024), (100, 512), (1, 20), KIB)
    return {"activity": work, "clients": Flow(d.always(), clients)}


def _torn_down(d: Draw) -> ElasticFileSystem:
    created, left = d.ago(d.uniform(300, 900)), d.ago(d.uniform(9, 250))
    return _orphan(d, created=created, active=(created, left), **_work(d, 4))


def _half_deleted(d: Draw) -> ElasticFileSystem:
    """A job deleted its mount target, and was killed before it deleted the file system."""
    created = d.ago(d.uniform(9, 300))
    life: dict[str, Any] = {"active": (created, created + int(d.uniform(10, 240)) * MINUTE), "voice": d.voice()}
    work = Activity(shape=d.published(d.wobble() / 2), read=60 * MIB, write=20 * MIB, write_size=MIB)
    return _orphan(d, created=created, one_zone="a", mode="bursting", activity=work, **life)


def _backed_up(d: Draw) -> ElasticFileSystem:
    """AWS Backup needs no mount target."""
    shape = d.published(d.runs(d.daily(), d.uniform(10, 90)))
    walk = d.spread(4, 400) * KIB
    work = Activity(shape=shape, read=walk / 4, metadata=walk)
    return _orphan(d, activity=work, clients=nobody(d), backup=True)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    """A source and its replica; neither has a mount target."""
    source = _orphan(d.named("source"), days=d.uniform(40, 600))
    created = int(source.created + d.uniform(1, 20) * DAY)
    replica = _orphan(d.named("replica"), standard_bytes=source.standard_bytes, created=created, replica=True)
    return source, replicated(d, source, replica)


EFS_ORPHANED_ISSUES: Rows = {
    "torn-down: Its mount targets went with their subnets.": _torn_down,
    "half-deleted: A job's deletion ended half way.": _half_deleted,
    # Made by hand or by a script that broke off; there is no file in it.
    "never-mounted: Made, and never given a mount target.": lambda d: _orphan(
        d, standard_bytes=6 * KIB, ia_bytes=0, lifecycle=()
    ),
    # Nobody ever mounted it.
    "promoted: A replica whose replication was deleted.": lambda d: _orphan(d, days=d.uniform(40, 600)),
    "paid-for: Throughput is provisioned for it.": lambda d: _orphan(
        d, mode="provisioned", provisioned_mibps=float(d.integer(16, 300))
    ),
    "backed-up: AWS Backup walks it every night.": _backed_up,
    # What has no mount target needs no metric to show it.
    "dark: No metric at all, and no mount target.": lambda d: _orphan(d, voice="dark"),
}
EFS_ORPHANED_CONTROLS: Rows = {
    "in-use: Mounted and in use.": lambda d: _made(
        d, **_work(d, d.integer(2, 9)), days=d.uniform(40, 700), mode="bursting"
    ),
    # Its clients left; they could come back.
    "idle: Nobody uses it, but it can be mounted.": lambda d: _made(d, days=d.uniform(60, 700)),
    # Made by a stack or a script whose next step is its mount targets.
    "new: Made within five days; its mount targets are to come.": lambda d: _orphan(
        d, created=int(d.now - d.spread(0.05, 5 * 24) * HOUR)
    ),
    "replication-source: The source of a replication.": lambda d: _replicated(d)[0],
    "replica: A replica, which has none until it is needed.": lambda d: _replicated(d)[1],
    "kept: Its owner keeps it: tagged keep.": lambda d: _orphan(d, tags={"keep": "true"}),
}
EFS_ORPHANED_ALSO = {"idle": ("efs-idle",)}
