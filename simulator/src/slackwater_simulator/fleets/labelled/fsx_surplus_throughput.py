"""FSx file servers that are far too large, and servers that are needed for minutes a night, a week or a month.

What a server does is given by what it moves: its utilisations are that over its throughput. Left out, because even the truth is
in doubt: peaks that would fill between 40 and 60 % of the next smaller server, and migrations that ended within the last weeks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import Floats

from .draw import Draw
from .scenario import control, in_full, issue

type Sizes = dict[str, tuple[int, ...]]

_SIZES: Sizes = {
    "SINGLE_AZ_1": (128, 256, 512, 1_024, 2_048),
    "SINGLE_AZ_2": (320, 640, 1_280, 2_560),
    "MULTI_AZ_1": (320, 640, 1_280, 2_560),
}
_SMALLEST: Sizes = {"SINGLE_AZ_1": (64,), "SINGLE_AZ_2": (160,), "MULTI_AZ_1": (160,)}
_WITH_BURST: Sizes = {"SINGLE_AZ_1": (128, 256, 512), "SINGLE_AZ_2": (320, 640, 1_280), "MULTI_AZ_1": (320, 640, 1_280)}


def _server(d: Draw, values: Floats, share: float, sizes: Sizes = _SIZES, **more: Any) -> FsxFileSystem:
    """A file system whose busiest minute moves `share` of its throughput capacity; `values` reach 1."""
    deployment = tuple(sizes)[d.integer(len(sizes))]
    mb_s = sizes[deployment][d.integer(len(sizes[deployment]))]
    written = d.uniform(0.05, 0.9)
    size = d.spread(64, 1_024) * KIB
    more.setdefault("days", d.uniform(45, 400))
    return d.build.openzfs(
        d.name,
        storage_gib=int(d.spread(500, 20_000)),
        throughput=mb_s,
        deployment=deployment,
        activity=Activity(
            shape=d.published(values),
            read=share * mb_s * 1e6 * (1 - written),
            write=share * mb_s * 1e6 * written,
            read_size=size,
            write_size=size,
            metadata=d.spread(1, 300),
        ),
        clients=float(d.integer(2, 30)),
        server_peak=100 * share,
        disk_iops_peak=d.uniform(5, 60),
        used=d.uniform(0.35, 0.75),
        tags=d.tags(),
        **more,
    )


def _little(d: Draw) -> float:
    """What keeps the next smaller server below 40 %."""
    return d.spread(0.005, 0.18)


def _much(d: Draw) -> float:
    return d.uniform(0.35, 0.95)


def _nightly_little(d: Draw) -> FsxFileSystem:
    values = d.runs(d.daily(), d.uniform(5, 200), 1.0, 0.02)
    return _server(d, values, _little(d))


def _in_runs(d: Draw, starts: list[int], minutes: float) -> FsxFileSystem:
    return _server(d, d.runs(starts, minutes, 1.0, 0.01), _much(d))


def _processors(d: Draw) -> FsxFileSystem:
    """Little goes over the network; compression keeps the processors busy."""
    values = np.clip(d.uniform(40, 90) * d.noise(0.05) * d.full(d.working_days()), 0.0, 100.0)
    busy = {"CPUUtilization": given(d.signal(values), digits=2)}
    return _server(d, d.full(d.demand()), _little(d), telemetry=busy)


def _credits(d: Draw) -> FsxFileSystem:
    """Small operations for hours a day: the disks are faster than their file server is for good, on credits."""
    values = d.full(d.demand())
    left = np.clip(100.0 - 60.0 * d.runs(d.daily(), d.uniform(60, 300), 1.0), 0.0, 100.0)
    spent = {"FileServerDiskIopsBalance": given(d.signal(left), digits=2)}
    return _server(d, values, _little(d), _WITH_BURST, telemetry=spent)


SCENARIOS = (
    issue("rarely-much", "A fifth of it is moved at most.", lambda d: _server(d, d.full(d.demand()), _little(d))),
    issue("nightly-little", "A nightly job that hardly shows.", _nightly_little),
    issue("hoped-for", "Bought for users who are few.", lambda d: _server(d, d.full(d.working_days()), _little(d))),
    *in_full(_in_runs, nightly=(3, 120), weekly=(3, 300), monthly=(30, 600)),
    control("by-day", "Used by day.", lambda d: _server(d, d.full(d.working_days()), _much(d))),
    control("steady", "Used always.", lambda d: _server(d, d.full(np.clip(0.8 * d.wobble(), 0, 1)), _much(d))),
    control(
        "smallest",
        "Hardly used, and the smallest there is.",
        lambda d: _server(d, d.full(d.demand()), _little(d), _SMALLEST),
    ),
    control("processors", "Its processors are what is busy.", _processors),
    control("credits", "It lives on burst credits.", _credits),
    control(
        "new",
        "Made within two weeks: nobody knows yet.",
        lambda d: _server(d, d.full(d.demand()), _little(d), days=d.uniform(0.5, 12)),
        full=False,
    ),
    control(
        "holes",
        "Days without metrics: nobody knows.",
        lambda d: _server(d, d.without_days(d.full(d.demand())), _little(d)),
        full=False,
    ),
)
