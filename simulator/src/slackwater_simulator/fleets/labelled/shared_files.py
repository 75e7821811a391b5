"""EFS file systems that several clients use, from several zones, and whose cold files leave Standard, and the work on them."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import Floats

from .draw import Draw

_COLD_FROM_GIB = 100
_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def made(d: Draw, stored_gib: float, activity: Activity, **more: object) -> ElasticFileSystem:
    """A file system that holds so much in Standard."""
    cold = stored_gib >= _COLD_FROM_GIB
    settings: dict[str, object] = {
        "days": d.uniform(60, 900),
        "standard_bytes": int(stored_gib * GIB),
        "ia_bytes": int(stored_gib * d.uniform(0.5, 3) * GIB) if cold else 0,
        "lifecycle": _COLD if cold else (),
        "activity": activity,
        "clients": Flow(d.shape("steady"), d.integer(4, 30)),
        "tags": d.tags(),
    }
    return d.build.file_system(d.name, **{**settings, **more})  # type: ignore[arg-type]


def work(d: Draw, metered_mib: Floats, *, together: int = 1) -> Activity:
    """Reads, writes and a little metadata, metered as so many MiB/s by the minute; of what is read a third is metered."""
    peak, written = float(np.nanmax(metered_mib)) * MIB, d.uniform(0.05, 0.6)
    return Activity(
        shape=d.published(metered_mib * MIB / peak, together=together),
        read=peak * (0.98 - written) * 3,
        write=peak * written,
        read_size=d.spread(32, 1_024) * KIB,
        write_size=d.spread(100, 1_024) * KIB,
        metadata=peak * 0.02,
    )
