"""Regional file systems that can be mounted in one zone, and others that look like them on paper.

Where the clients of a single mount target are is known to nobody, so the truth here is the configuration: what a person should
be asked about. Left out: mount targets that came or went within the last days.
"""

from __future__ import annotations

from typing import Any

from slackwater_simulator.resources import GIB, TIB, ElasticFileSystem, Flow

from .draw import Draw
from .scenario import Rows
from .shared_files import COLD, daily_use, file_system, replicated


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system in daily use by a few clients."""
    stored_gib, activity = d.spread(5, 1_500), daily_use(d, 1)
    usual: dict[str, Any] = {"days": d.uniform(40, 900), "standard_bytes": int(stored_gib * GIB), "lifecycle": COLD}
    usual |= {"ia_bytes": int(stored_gib * d.uniform(0.2, 3) * GIB) if d.chance(0.4) else 0, "activity": activity()}
    return file_system(d, more, clients=Flow(d.shape("steady"), d.integer(4, 30)), tags=d.tags(), **usual)


def _in_one(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system with a mount target in one zone."""
    return _made(d, zones=d.pick(*"acd"), **more)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    source = _in_one(d.named("source"))
    return source, replicated(d, source, _in_one(d.named("replica"), replica=True, activity=None, ia_bytes=0))


def _archive(d: Draw) -> ElasticFileSystem:
    """One Zone has no Archive: its Infrequent Access costs more than that."""
    archive = int(d.spread(3, 20) * TIB)
    stored = {"standard_bytes": d.gib(2, 20), "ia_bytes": 0, "archive_bytes": archive}
    return _in_one(d, mode="elastic", **stored)


EFS_SINGLE_ZONE_USE_ISSUES: Rows = {
    "one-target: Its only mount target is in one zone.": _in_one,
    "two-weeks: The same, and no month old.": lambda d: _made(d, zones=d.pick(*"acd"), days=d.uniform(8, 20)),
}
EFS_SINGLE_ZONE_USE_CONTROLS: Rows = {
    "several-zones: Mount targets in two or three zones.": lambda d: _made(d, zones="acd" if d.chance(0.6) else "ac"),
    "one-zone: One Zone already.": lambda d: _made(d, one_zone=d.pick(*"acd")),
    "young: Made days ago: its other mount targets are to come.": lambda d: _made(
        d, zones=d.pick(*"acd"), days=d.uniform(0.05, 6)
    ),
    "replication-source: The source of a replication.": lambda d: _replicated(d)[0],
    "replica: A replica.": lambda d: _replicated(d)[1],
    "archive: Mostly in Archive, which would cost more in One Zone.": _archive,
}
