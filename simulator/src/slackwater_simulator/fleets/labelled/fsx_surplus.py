"""FSx file servers that are far too large, SSD IOPS that were never used, and those that are needed now and then.

What a server does is given by what it moves: its utilisations are that over its throughput. `disk_iops_peak` is what the
busiest minute takes of the IOPS that are provisioned. Not drawn, because the truth is in doubt: migrations that ended within
the last weeks, peaks between 33 and 50 % of the IOPS, and peaks that would fill between 40 and 60 % of the next smaller server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, MIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import Floats

from .draw import Draw
from .scenario import One, Rows, in_full

type Use = Callable[..., FsxFileSystem]
type Share = Callable[[Draw], float]

SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}
"""MB/s of the smallest file server, by deployment."""


def full(d: Draw) -> Floats:
    """Draw any ordinary curve with a peak of 1."""
    return d.full(d.demand())


def nightly_little(use: Use, little: Share) -> One:
    """Return what plants a file system in little use by a job of every night."""

    def one(d: Draw) -> FsxFileSystem:
        values = d.runs(d.daily(), d.uniform(5, 200), 1.0, 0.02)
        return use(d, values, little(d))

    return one


def in_runs(use: Use, much: Share) -> dict[str, One]:
    """Return negative controls that a job uses in full."""
    return in_full(
        lambda d, starts, minutes: use(d, d.runs(starts, minutes, 1.0, 0.01), much(d)),
        nightly=(3, 120),
        weekly=(3, 300),
        monthly=(30, 600),
    )


def without_data(use: Use, little: Share) -> dict[str, One]:
    """Return negative controls that are too new to judge, or miss whole days."""
    return {
        "new: Made within two weeks: nobody knows yet.": lambda d: use(d, full(d), little(d), days=d.uniform(0.5, 12)),
        "holes: Days without metrics: nobody knows.": lambda d: use(d, d.without_days(full(d)), little(d)),
    }


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


def _few_iops(d: Draw) -> float:
    return d.spread(0.5, 33)


def _many_iops(d: Draw) -> float:
    return d.uniform(50, 99)


FSX_SURPLUS_IOPS_ISSUES: Rows = {
    "rarely-much: A third of them is used at most.": lambda d: _disks(d, full(d), _few_iops(d)),
    "hoped-for: Bought for users who are few.": lambda d: _disks(d, d.full(d.working_days()), _few_iops(d)),
    "nightly-little: A nightly job that hardly shows.": nightly_little(_disks, _few_iops),
}
FSX_SURPLUS_IOPS_CONTROLS: Rows = {
    **in_runs(_disks, _many_iops),
    "steady: Used always.": lambda d: _disks(d, d.full(np.clip(0.8 * d.wobble(), 0, 1)), _many_iops(d)),
    "by-day: Used by day.": lambda d: _disks(d, d.full(d.working_days()), _many_iops(d)),
    "automatic: As many as its size includes.": lambda d: _disks(d, full(d), _few_iops(d), iops=None),
}
FSX_SURPLUS_IOPS_UNKNOWN: Rows = without_data(_disks, _few_iops)


type Sizes = dict[str, tuple[int, ...]]

_SIZES: Sizes = {
    "SINGLE_AZ_1": (128, 256, 512, 1_024, 2_048),
    "SINGLE_AZ_2": (320, 640, 1_280, 2_560),
    "MULTI_AZ_1": (320, 640, 1_280, 2_560),
}
_LEAST: Sizes = {deployment: (size,) for deployment, size in SMALLEST.items()}
_WITH_BURST: Sizes = {deployment: sizes[:3] for deployment, sizes in _SIZES.items()}


def _server(d: Draw, values: Floats, share: float, sizes: Sizes = _SIZES, **more: Any) -> FsxFileSystem:
    """A file system whose busiest minute moves `share` of its throughput capacity; `values` reach 1."""
    deployment = d.pick(*sizes)
    mb_s = d.pick(*sizes[deployment])
    written = d.uniform(0.05, 0.9)
    size = d.spread(64, 1_024) * KIB
    more.setdefault("days", d.uniform(45, 400))
    gib = int(d.spread(500, 20_000))
    read, write = share * mb_s * 1e6 * (1 - written), share * mb_s * 1e6 * written
    shape, metadata = d.published(values), d.spread(1, 300)
    return d.build.openzfs(
        d.name,
        storage_gib=gib,
        throughput=mb_s,
        deployment=deployment,
        activity=Activity(shape=shape, read=read, write=write, read_size=size, write_size=size, metadata=metadata),
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


def _processors(d: Draw) -> FsxFileSystem:
    """Little goes over the network; compression keeps the processors busy."""
    values = np.clip(d.uniform(40, 90) * d.noise(0.05) * d.full(d.working_days()), 0.0, 100.0)
    busy = {"CPUUtilization": given(d.signal(values), digits=2)}
    return _server(d, full(d), _little(d), telemetry=busy)


def _credits(d: Draw) -> FsxFileSystem:
    """Small operations for hours a day: the disks are faster than their file server is for good."""
    values = full(d)
    left = np.clip(100.0 - 60.0 * d.runs(d.daily(), d.uniform(60, 300), 1.0), 0.0, 100.0)
    spent = {"FileServerDiskIopsBalance": given(d.signal(left), digits=2)}
    return _server(d, values, _little(d), _WITH_BURST, telemetry=spent)


def _much(d: Draw) -> float:
    return d.uniform(0.35, 0.95)


FSX_SURPLUS_THROUGHPUT_ISSUES: Rows = {
    "rarely-much: A fifth of it is moved at most.": lambda d: _server(d, full(d), _little(d)),
    "nightly-little: A nightly job that hardly shows.": nightly_little(_server, _little),
    "hoped-for: Bought for users who are few.": lambda d: _server(d, d.full(d.working_days()), _little(d)),
}
FSX_SURPLUS_THROUGHPUT_CONTROLS: Rows = {
    **in_runs(_server, _much),
    "by-day: Used by day.": lambda d: _server(d, d.full(d.working_days()), _much(d)),
    "steady: Used always.": lambda d: _server(d, d.full(np.clip(0.8 * d.wobble(), 0, 1)), _much(d)),
    "smallest: Hardly used, and the smallest there is.": lambda d: _server(d, full(d), _little(d), _LEAST),
    "processors: Its processors are what is busy.": _processors,
    "credits: It lives on burst credits.": _credits,
}
FSX_SURPLUS_THROUGHPUT_UNKNOWN: Rows = without_data(_server, _little)
