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
    """Troubles and their innocent twins."""
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
    shared = _made(build, "encode-shared", 30, _daily(build, 0.0, 20.0, 25.0, 0.5, days=20), one_zone="a", clients=4)
    build.plant(
        shared,
        f"Encode jobs that used to make a file system each now share one; {_REPLACE}.",
        "efs-credits-draining",
        why="Its 2.1 TiB of credits went in two days, and since then everything waits for 1.5 MiB/s.",
    )
    scans = _made(build, "press-scans", 60, np.full(MINUTES, 3.61) * noise(build.shapes.random("scans"), 0.1))
    build.plant(
        scans,
        "Newspapers are scanned day and night, and nothing is slow yet.",
        "efs-credits-draining",
        why="Two thirds of a MiB/s more than it earns, for weeks: the last credits go within days.",
    )
    proxies = _made(build, "daily-proxies", 400, _daily(build, 13.0, 5.0, 85.0, 1.0))
    build.plant(
        proxies,
        "Every night proxies of the day's footage are made.",
        twin_of="efs-credits-draining",
        why="Half of the credits go each night, and are back by the next.",
    )


def _modes(build: Builder) -> None:
    ingest = _made(
        build,
        "broadcast-ingest",
        40,
        _daily(build, 9.5, 4.0, 170.0, 2.0),
        written=0.8,
        mode="provisioned",
        provisioned_mibps=96.0,
    )
    build.plant(
        ingest,
        "Recordings of the day come in every evening, as fast as they may.",
        "efs-throughput-mismatch",
        why="At all that is provisioned for hours, every evening; how much it wants nobody can see.",
    )
    steady = 0.8 * noise(build.shapes.random("previews"), 0.05)
    previews = _made(build, "preview-cache", 60, 8.0 * steady, written=0.1, mode="elastic")
    build.plant(
        previews,
        "Previews are read day and night, on Elastic throughput.",
        "efs-throughput-mismatch",
        why="A steady load is billed by the GiB, where a small provisioned amount would carry it.",
    )
    premieres = _made(build, "premiere-uploads", 90, _daily(build, 11.0, 0.3, 230.0, 0.05), written=0.9, mode="elastic")
    build.plant(
        premieres,
        "Festival copies arrive in a quarter of an hour a day.",
        twin_of="efs-throughput-mismatch",
        why="Faster than any burst, and minutes a day: to provision it would cost several times as much.",
    )
    edit = _made(build, "edit-bay", 50, 85.0 * steady, mode="provisioned", provisioned_mibps=80.0)
    build.plant(
        edit,
        "Editors work on it around the clock.",
        twin_of="efs-throughput-mismatch",
        why="Near what is provisioned, always, and far above what its size earns.",
    )
