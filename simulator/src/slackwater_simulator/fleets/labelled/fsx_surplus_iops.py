"""SSD IOPS that an FSx file system never used, and IOPS that are used for minutes a night, a week or a month.

`disk_iops_peak` is what the busiest minute takes of those that are provisioned. Left out, because even the truth is in doubt:
peaks between 33 and 50 %, and migrations that ended within the last weeks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, MIB, Activity, FsxFileSystem
from slackwater_simulator.series import Floats

from .draw import Draw
from .file_servers import SMALLEST, full, in_runs, nightly_little, without_data
from .scenario import Rows


def _disks(d: Draw, values: Floats, percent: float, **more: Any) -> FsxFileSystem:
    """A file system with IOPS of its own; `values` reach 1, where its disks are so busy."""
    deployment = d.pick(*SMALLEST)
    gib = int(d.spread(64, 2_000))
    size = d.spread(8, 256) * KIB
    more.setdefault("iops", int(3 * gib * d.uniform(2, 12)) + 500)
    more.setdefault("days", d.uniform(45, 400))
    shape, read, write = d.published(values), d.spread(0.5, 30) * MIB, d.spread(0.5, 30) * MIB
    metadata = d.spread(1, 300)
    return d.build.openzfs(
        d.name,
        storage_gib=gib,
        throughput=SMALLEST[deployment],
        deployment=deployment,
        activity=Activity(shape=shape, read=read, write=write, read_size=size, write_size=size, metadata=metadata),
        clients=float(d.integer(2, 30)),
        server_peak=d.uniform(5, 60),
        disk_iops_peak=percent,
        used=d.uniform(0.35, 0.75),
        tags=d.tags(),
        **more,
    )


def _little(d: Draw) -> float:
    return d.spread(0.5, 33)


def _much(d: Draw) -> float:
    return d.uniform(50, 99)


FSX_SURPLUS_IOPS_ISSUES: Rows = {
    "rarely-much: A third of them is used at most.": lambda d: _disks(d, full(d), _little(d)),
    "hoped-for: Bought for users who are few.": lambda d: _disks(d, d.full(d.working_days()), _little(d)),
    "nightly-little: A nightly job that hardly shows.": nightly_little(_disks, _little),
}
FSX_SURPLUS_IOPS_CONTROLS: Rows = {
    **in_runs(_disks, _much),
    "steady: Used always.": lambda d: _disks(d, d.full(np.clip(0.8 * d.wobble(), 0, 1)), _much(d)),
    "by-day: Used by day.": lambda d: _disks(d, d.full(d.working_days()), _much(d)),
    "automatic: As many as its size includes.": lambda d: _disks(d, full(d), _little(d), iops=None),
}
FSX_SURPLUS_IOPS_UNKNOWN: Rows = without_data(_disks, _little)
