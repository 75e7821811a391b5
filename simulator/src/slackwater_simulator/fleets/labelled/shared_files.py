"""Plant EFS file systems with several clients, a lifecycle policy and activity."""

from collections.abc import Callable
from typing import Any

import numpy as np

from slackwater_simulator.efs_metrics import WORK
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, Telemetry, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw

IA_AFTER_30_DAYS = (("TransitionToIA", "AFTER_30_DAYS"),)
_COLD_FROM_GIB = 100
_METRICS = (*WORK, "ClientConnections")


def file_system(d: Draw, more: dict[str, Any], **usual: Any) -> ElasticFileSystem:
    """Plant a file system with the `usual` settings; settings in `more` override them."""
    return d.build.file_system(d.name, **{**usual, **more})


def sized_file_system(d: Draw, stored_gib: float, activity: Activity, **more: Any) -> ElasticFileSystem:
    """Plant a file system with `stored_gib` GiB in the Standard storage class."""
    days, cold = d.uniform(60, 900), stored_gib >= _COLD_FROM_GIB
    usual = {"lifecycle": IA_AFTER_30_DAYS, "ia_bytes": int(stored_gib * d.uniform(0.5, 3) * GIB)} if cold else {}
    usual |= {"days": days, "standard_bytes": int(stored_gib * GIB), "activity": activity}
    return file_system(d, more, clients=Flow(d.shape("steady"), d.integer(4, 30)), tags=d.tags(), **usual)


def work(d: Draw, metered_mib: Floats, *, together: int = 1) -> Activity:
    """Return an activity metered at `metered_mib` MiB/s in each minute. EFS meters a third of each read."""
    peak, written = float(np.nanmax(metered_mib)), d.uniform(0.05, 0.6)
    shape = d.published(metered_mib * MIB / (peak * MIB), together=together)
    return d.work(shape, peak * (0.98 - written) * 3, peak * written, (32, 1_024), (100, 1_024), peak * 0.02, MIB)


def daily_use(d: Draw, read_mib: float) -> Callable[[], Activity]:
    """Draw a usage pattern (working days or constant). Return a function that draws an activity with that pattern."""
    shape = d.published(d.working_days() if d.chance(0.5) else 0.6 * d.wobble())

    def draw_activity() -> Activity:
        return d.work(shape, (0.01, read_mib), (0.01, 0.3), 64, (100, 1_024), (1, 20), KIB)

    return draw_activity


def zeros(d: Draw, *, together: int = 1) -> Telemetry:
    """Return metrics that are always zero, with some missing and late points."""
    return {metric: given(d.never(together=together)) for metric in _METRICS}


def no_clients(d: Draw) -> Flow:
    """Return a client count that is always zero."""
    return Flow(d.signal(np.zeros(MINUTES)))


def replicated(d: Draw, source: ElasticFileSystem, replica: ElasticFileSystem) -> ElasticFileSystem:
    """Set up replication from `source` to `replica`, and return the replica."""
    d.build.replicate(source, replica)
    return replica
