"""EFS: throughput modes and credits that do not suit the work."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES, noise

from .builder import Builder
from .demo_parts import tags

_REPLACE = "report “Can Amazon EFS replace EBS?” (2025-02-19)"
_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def throughput(build: Builder) -> None:
    """Issues and their look-alikes."""
    _credits(build)
    _modes(build)


def _made(
    build: Builder, name: str, gib: int, metered: Floats, *, written: float = 0.3, clients: int = 6, **more: object
) -> ElasticFileSystem:
    """A file system on which so many MiB/s are metered by the minute, of reads a third."""
    peak = float(metered.max()) * MIB
    settings: dict[str, object] = {
        "days": 280,
        "tags": tags("video"),
        "lifecycle": _COLD if gib >= 100 else (),
        "ia_bytes": 2 * gib * GIB if gib >= 100 else 0,
        **more,
    }
    return build.file_system(
        name,
        standard_bytes=gib * GIB,
        activity=Activity(
            shape=build.shapes.signal(metered * MIB / peak),
            read=peak * (0.98 - written) * 3,
            write=peak * written,
            read_size=512.0 * KIB,
            write_size=512.0 * KIB,
            metadata=peak * 0.02,
        ),
        clients=Flow(build.shapes.signal(np.full(MINUTES, float(clients)))),
        **settings,  # type: ignore[arg-type]
    )


def _daily(build: Builder, hour: float, hours: float, level: float, rest: float, days: int = 34) -> Floats:
    """Every day for so many hours from an hour UTC on."""
    values = build.shapes.blocks([(day, hour, hours, level) for day in range(days)], rest)
    return values * noise(build.shapes.random("daily", hour, level), 0.03)


def _credits(build: Builder) -> None:
    _made(build, "encode-shared", 30, _daily(build, 0.0, 20.0, 25.0, 0.5, days=20), one_zone="a", clients=4)
    _made(build, "press-scans", 60, np.full(MINUTES, 3.61) * noise(build.shapes.random("scans"), 0.1))
    _made(build, "daily-proxies", 400, _daily(build, 13.0, 5.0, 85.0, 1.0))


def _modes(build: Builder) -> None:
    _made(
        build,
        "broadcast-ingest",
        40,
        _daily(build, 9.5, 4.0, 170.0, 2.0),
        written=0.8,
        mode="provisioned",
        provisioned_mibps=96.0,
    )
    steady = 0.8 * noise(build.shapes.random("previews"), 0.05)
    _made(build, "preview-cache", 60, 8.0 * steady, written=0.1, mode="elastic")
    _made(build, "premiere-uploads", 90, _daily(build, 11.0, 0.3, 230.0, 0.05), written=0.9, mode="elastic")
    _made(build, "edit-bay", 50, 85.0 * steady, mode="provisioned", provisioned_mibps=80.0)
