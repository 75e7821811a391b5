"""EFS: data in the wrong class, zone or service."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import Signal
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .builder import Builder
from .demo_parts import tags

_LATENCY = "report “The speed of EFS at small capacity” (2021-07-26)"
_REPLACE = "report “Can Amazon EFS replace EBS?” (2025-02-19)"


def placement(build: Builder) -> None:
    """Issues and their look-alikes."""
    _cold(build)
    _one_target(build)
    _one_client(build)
    _waiting_writers(build)


def _made(
    build: Builder, name: str, gib: float, work: Activity, *, clients: Signal | int = 6, **more: object
) -> ElasticFileSystem:
    """A file system of the web team with so many clients."""
    connected = clients if isinstance(clients, Signal) else build.shapes.signal(np.full(MINUTES, float(clients)))
    settings: dict[str, object] = {"days": 320, "tags": tags("web"), **more}
    return build.file_system(name, standard_bytes=int(gib * GIB), activity=work, clients=Flow(connected), **settings)  # type: ignore[arg-type]


def _cold(build: Builder) -> None:
    shapes = build.shapes
    work = Activity(
        shape=shapes.shape("office", 1), read=0.06 * MIB, write=0.02 * MIB, write_size=512 * KIB, metadata=20.0 * KIB
    )
    _made(build, "rushes-2023", 940, work, days=830, tags=tags("video"))
    night = shapes.signal(shapes.blocks([(14, 1.0, 5.0, 1.0)], rest=0.0005))
    _made(
        build,
        "subtitle-corpus",
        420,
        Activity(shape=night, read=25.0 * MIB, write=0.1 * MIB, write_size=256 * KIB, metadata=20.0 * KIB),
        tags=tags("search"),
    )


def _one_target(build: Builder) -> None:
    work = Activity(
        shape=build.shapes.shape("office", 2),
        read=2.0 * MIB,
        write=0.6 * MIB,
        write_size=256 * KIB,
        metadata=20.0 * KIB,
    )
    _made(build, "lecture-uploads", 88, work, zones="c")
    ledger = _made(build, "rights-ledger", 22, work, zones="a", tags=tags("legal"))
    replica = build.file_system(
        "rights-ledger-replica", days=200, standard_bytes=22 * GIB, mount_targets=(), replica=True, tags=tags("legal")
    )
    build.replicate(ledger, replica)


def _one_client(build: Builder) -> None:
    shapes = build.shapes
    work = Activity(
        shape=shapes.shape("office", 3), read=1.5 * MIB, write=0.4 * MIB, write_size=256 * KIB, metadata=20.0 * KIB
    )
    _made(build, "wiki-attachments", 64, work, clients=1)
    minute = np.arange(MINUTES) % DAY_MINUTES
    nightly = np.where((minute >= 17 * 60) & (minute < 17 * 60 + 25), 2.0, 1.0)
    _made(build, "build-cache", 48, work, clients=shapes.signal(nightly), tags=tags("platform"))


def _waiting_writers(build: Builder) -> None:
    """An answer takes 2.7 ms, and one writer waits for each."""
    shapes = build.shapes
    random = shapes.random("session-import")
    minute = np.arange(MINUTES) % DAY_MINUTES
    wanted = np.where((minute >= 16 * 60) & (minute < 18 * 60), 500.0, 1.0) * noise(random, 0.1)
    done = nfs_writes(wanted, acknowledgement_s=0.0027, writers=1, jitter=noise(random, 0.03))
    peak = float(done.max())
    _made(
        build,
        "session-import",
        72,
        Activity(
            shape=shapes.signal(done / peak),
            write=peak * 6 * KIB,
            write_size=6.0 * KIB,
            read=0.05 * MIB,
            metadata=10.0 * KIB,
        ),
    )
    _made(
        build,
        "comment-drafts",
        36,
        Activity(
            shape=shapes.shape("office", 4),
            write=400 * 4.0 * KIB,
            write_size=4.0 * KIB,
            read=0.3 * MIB,
            metadata=10.0 * KIB,
        ),
        clients=12,
    )
