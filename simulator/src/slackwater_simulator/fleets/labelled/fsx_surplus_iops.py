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
from .scenario import control, in_full, issue

_SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}


def _disks(d: Draw, values: Floats, percent: float, **more: Any) -> FsxFileSystem:
    """A file system with IOPS of its own; `values` reach 1, where its disks are so busy."""
    deployment = tuple(_SMALLEST)[d.integer(3)]
    gib = int(d.spread(64, 2_000))
    size = d.spread(8, 256) * KIB
    more.setdefault("iops", int(3 * gib * d.uniform(2, 12)) + 500)
    more.setdefault("days", d.uniform(45, 400))
    return d.build.openzfs(
        d.name,
        storage_gib=gib,
        throughput=_SMALLEST[deployment],
        deployment=deployment,
        activity=Activity(
            shape=d.published(values),
            read=d.spread(0.5, 30) * MIB,
            write=d.spread(0.5, 30) * MIB,
            read_size=size,
            write_size=size,
            metadata=d.spread(1, 300),
        ),
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


def _nightly_little(d: Draw) -> FsxFileSystem:
    values = d.runs(d.daily(), d.uniform(5, 200), 1.0, 0.02)
    return _disks(d, values, _little(d))


def _in_runs(d: Draw, starts: list[int], minutes: float) -> FsxFileSystem:
    return _disks(d, d.runs(starts, minutes, 1.0, 0.01), _much(d))


SCENARIOS = (
    issue("rarely-much", "A third of them is used at most.", lambda d: _disks(d, d.full(d.demand()), _little(d))),
    issue("hoped-for", "Bought for users who are few.", lambda d: _disks(d, d.full(d.working_days()), _little(d))),
    issue("nightly-little", "A nightly job that hardly shows.", _nightly_little),
    *in_full(_in_runs, nightly=(3, 120), weekly=(3, 300), monthly=(30, 600)),
    control("steady", "Used always.", lambda d: _disks(d, d.full(np.clip(0.8 * d.wobble(), 0, 1)), _much(d))),
    control("by-day", "Used by day.", lambda d: _disks(d, d.full(d.working_days()), _much(d))),
    control(
        "automatic", "As many as its size includes.", lambda d: _disks(d, d.full(d.demand()), _little(d), iops=None)
    ),
    control(
        "new",
        "Made within two weeks: nobody knows yet.",
        lambda d: _disks(d, d.full(d.demand()), _little(d), days=d.uniform(0.5, 12)),
        full=False,
    ),
    control(
        "holes",
        "Days without metrics: nobody knows.",
        lambda d: _disks(d, d.without_days(d.full(d.demand())), _little(d)),
        full=False,
    ),
)
