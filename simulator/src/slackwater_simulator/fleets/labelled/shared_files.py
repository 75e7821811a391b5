"""EFS file systems that several clients use, from several zones, and whose cold files leave Standard, and the work on them."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import Floats

from .rhythms import Random, published, spread, tags

_COLD_FROM_GIB = 100
_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def made(
    random: Random, build: Builder, name: str, stored_gib: float, activity: Activity, **more: object
) -> ElasticFileSystem:
    """A file system that holds so much in Standard."""
    cold = stored_gib >= _COLD_FROM_GIB
    settings: dict[str, object] = {
        "days": random.uniform(60, 900),
        "standard_bytes": int(stored_gib * GIB),
        "ia_bytes": int(stored_gib * random.uniform(0.5, 3) * GIB) if cold else 0,
        "lifecycle": _COLD if cold else (),
        "activity": activity,
        "clients": Flow(build.shapes.shape("steady", int(random.integers(6))), int(random.integers(4, 30))),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})  # type: ignore[arg-type]


def work(random: Random, build: Builder, metered_mib: Floats, *, together: int = 1) -> Activity:
    """Reads, writes and a little metadata, metered as so many MiB/s by the minute; of what is read a third is metered."""
    peak, written = float(np.nanmax(metered_mib)) * MIB, random.uniform(0.05, 0.6)
    return Activity(
        shape=published(random, build, metered_mib * MIB / peak, together=together),
        read=peak * (0.98 - written) * 3,
        write=peak * written,
        read_size=spread(random, 32, 1_024) * KIB,
        write_size=spread(random, 100, 1_024) * KIB,
        metadata=peak * 0.02,
    )
