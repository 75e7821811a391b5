"""File systems that nobody uses any more, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: file systems left 8 to 37 days ago (35 days lie between two first Mondays of a
month, so the next run may be still to come, and late), jobs that run less often than that, and file systems of 5 to 14 days
that nobody has used yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows, quiet
from .shared_files import COLD, file_system, nobody, replicated, zeros


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system of any size, class and mode."""
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "standard_bytes": d.gib(0.5, 2_000), "lifecycle": COLD}
    usual |= {"ia_bytes": d.gib(1, 2_000) if d.chance(0.3) else 0, "mode": "elastic" if d.chance(0.4) else "bursting"}
    return file_system(d, more, days=d.uniform(60, 700), tags=d.tags(), **usual)


def _used(d: Draw, values: Floats, clients: int, **more: Any) -> ElasticFileSystem:
    """Reads, writes and metadata in some rhythm, within burst credits, and the clients that are there meanwhile."""
    shape = d.published(values)
    work = d.work(shape, (0.05, 60), (0.02, 20), (4, 1024), (100, 512), (1, 200), KIB)
    connected = Flow(d.published(np.ceil(np.minimum(values, 1.0))), clients)
    return _made(d, mode="bursting", activity=work, clients=connected, **more)


def _killed(d: Draw) -> ElasticFileSystem:
    created = d.ago(d.uniform(38, 300))
    life: dict[str, Any] = {"active": (created, created + int(d.uniform(10, 240)) * MINUTE), "voice": d.voice()}
    return _used(d, d.wobble(), 1, created=created, **life)


def _moved_away(d: Draw) -> ElasticFileSystem:
    created, left = d.ago(d.uniform(300, 900)), d.ago(d.uniform(38, 250))
    return _used(d, d.working_days(), 4, created=created, active=(created, left))


def _walked(d: Draw, stored_gib: float, file_bytes: float) -> ElasticFileSystem:
    """AWS Backup is no client. A stat is 4 KiB of metadata."""
    stored, minutes = int(stored_gib * GIB), d.uniform(10, 120)
    walk = 4 * KIB * stored / file_bytes / (minutes * MINUTE)
    activity = Activity(shape=d.published(d.runs(d.daily(), minutes)), read=walk / 4, metadata=walk)
    return _made(d, standard_bytes=stored, activity=activity, clients=nobody(d), backup=True)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    source = _made(d.named("source"))
    replica = _made(d.named("replica"), standard_bytes=source.standard_bytes, ia_bytes=0, replica=True)
    return source, replicated(d, source, replica)


def _stored(d: Draw, *, holes: bool = False) -> Track:
    """The metric of a size that stays; with `holes`, but for some days."""
    size = d.signal(d.without_days(np.ones(MINUTES))) if holes else d.always()
    return given(size, scale=d.spread(1, 500) * GIB)


def _by_whom(d: Draw) -> ElasticFileSystem:
    """Nobody knows by whom: CloudWatch has no connections of it, not even zeros."""
    stored, read = _stored(d), d.published(d.runs(d.daily(), d.uniform(5, 60)))
    moved = {metric: given(read, scale=100 * MIB) for metric in ("DataReadIOBytes", "MeteredIOBytes")}
    return _made(d, voice="dark", telemetry={"StorageBytes": stored, **moved})


EFS_IDLE_ISSUES: Rows = {
    "killed-job: A job made it, worked for an hour, and was killed.": _killed,
    "moved-away: Used for months, until its users moved.": _moved_away,
    "never-used: Made, and never mounted.": lambda d: _made(
        d, voice=d.voice(0.3), days=d.spread(14, 400), standard_bytes=6 * KIB
    ),
    "gappy-zeros: Zeros, with missing and late points.": lambda d: _made(d, telemetry=zeros(d)),
    "backup-only: AWS Backup walks it every night, and nobody else.": lambda d: _walked(
        d, d.spread(1, 1_000), d.spread(1, 64) * MIB
    ),
    # In five weeks the walks add up to more than is stored.
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
    # CloudWatch has no point of anything for some days, and zeros before and after.
    "half-dark: Days without any metric.": lambda d: _made(
        d, voice="dark", telemetry={"StorageBytes": _stored(d, holes=True), "MeteredIOBytes": d.zeros(holes=True)}
    ),
    "by-whom: Read every night, and no connections published.": _by_whom,
}
