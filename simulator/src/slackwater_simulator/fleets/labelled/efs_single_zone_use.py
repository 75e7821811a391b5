"""Regional file systems that can be mounted in one zone, and others that look like them on paper.

Where the clients of a single mount target are is known to nobody, so the truth here is the configuration: what a person should
be asked about. Left out: mount targets that came or went within the last days.
"""

from __future__ import annotations

from typing import Any

from slackwater_simulator.resources import GIB, KIB, MIB, TIB, Activity, ElasticFileSystem, Flow

from .draw import Draw
from .scenario import control, issue

_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system in daily use by a few clients."""
    stored_gib = d.spread(5, 1_500)
    shape = d.published(d.working_days() if d.chance(0.5) else 0.6 * d.wobble())
    settings: dict[str, Any] = {
        "days": d.uniform(40, 900),
        "standard_bytes": int(stored_gib * GIB),
        "ia_bytes": int(stored_gib * d.uniform(0.2, 3) * GIB) if d.chance(0.4) else 0,
        "lifecycle": _COLD,
        "activity": Activity(
            shape=shape,
            read=d.spread(0.01, 1) * MIB,
            write=d.spread(0.01, 0.3) * MIB,
            write_size=d.spread(100, 1_024) * KIB,
            metadata=d.spread(1, 20) * KIB,
        ),
        "clients": Flow(d.shape("steady"), d.integer(4, 30)),
        "tags": d.tags(),
    }
    return d.build.file_system(d.name, **{**settings, **more})


def _replicated(d: Draw, *, label_source: bool) -> ElasticFileSystem:
    source = _made(d.named("source"), zones=d.pick(*"acd"))
    replica = _made(d.named("replica"), zones=d.pick(*"acd"), replica=True, activity=None, ia_bytes=0)
    d.build.replicate(source, replica)
    return source if label_source else replica


def _archive(d: Draw) -> ElasticFileSystem:
    """Mostly in Archive, which One Zone has not: its Infrequent Access costs more than that."""
    archive = int(d.spread(3, 20) * TIB)
    stored = {"standard_bytes": int(d.spread(2, 20) * GIB), "ia_bytes": 0, "archive_bytes": archive}
    return _made(d, zones=d.pick(*"acd"), mode="elastic", **stored)


SCENARIOS = (
    issue("one-target", "Its only mount target is in one zone.", lambda d: _made(d, zones=d.pick(*"acd"))),
    issue("two-weeks", "The same, and no month old.", lambda d: _made(d, zones=d.pick(*"acd"), days=d.uniform(8, 20))),
    control(
        "several-zones",
        "Mount targets in two or three zones.",
        lambda d: _made(d, zones="acd" if d.chance(0.6) else "ac"),
    ),
    control("one-zone", "One Zone already.", lambda d: _made(d, one_zone=d.pick(*"acd"))),
    control(
        "young",
        "Made days ago: its other mount targets are to come.",
        lambda d: _made(d, zones=d.pick(*"acd"), days=d.uniform(0.05, 6)),
    ),
    control("replication-source", "The source of a replication.", lambda d: _replicated(d, label_source=True)),
    control("replica", "A replica.", lambda d: _replicated(d, label_source=False)),
    control("archive", "Mostly in Archive, which would cost more in One Zone.", _archive),
)
