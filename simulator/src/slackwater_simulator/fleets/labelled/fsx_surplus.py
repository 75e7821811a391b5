"""Plant FSx file servers and SSDs that are much too large, unused IOPS, and ones that are needed now and then.

A server's utilization is its traffic divided by its throughput. `disk_iops_peak` is the share of the provisioned IOPS
in the busiest minute. Data on an SSD is drawn as constant, temporary or growing. Not drawn, because the truth is in
doubt:
- migrations that ended within the last weeks, and fills that are more than a month apart;
- peaks between 33 and 50 % of the IOPS, and peaks that would fill between 40 and 60 % of the next smaller server;
- file systems between 15 and 25 % full, and those that would be so within a quarter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, MIB, FsxFileSystem, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw, Range
from .scenario import One, Rows, in_full

type Use = Callable[..., FsxFileSystem]
type Share = Callable[[Draw], float]

SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}
"""MB/s of the smallest file server, by deployment."""


def full(d: Draw) -> Floats:
    """Draw any ordinary curve with a peak of 1."""
    return d.full(d.demand())


def _served(d: Draw, other_peak: str, settings: dict[str, Any]) -> FsxFileSystem:
    """Plant an OpenZFS file system with some clients. Draw the other peak, of its file server or its disks."""
    settings |= {"clients": float(d.integer(2, 30)), other_peak: d.uniform(5, 60), "used": d.uniform(0.35, 0.75)}
    return d.build.openzfs(d.name, tags=d.tags(), **settings)


def nightly_little(use: Use, little: Share) -> One:
    """Return a function that plants file systems that a nightly job uses a little."""
    return lambda d: use(d, d.runs(d.daily(), d.uniform(5, 200), 1.0, 0.02), little(d))


def in_runs(use: Use, much: Share) -> dict[str, One]:
    """Return negative controls that a job uses fully."""

    def one(d: Draw, starts: list[int], minutes: float) -> FsxFileSystem:
        return use(d, d.runs(starts, minutes, 1.0, 0.01), much(d))

    return in_full(one, (3, 120), (3, 300), (30, 600))


def without_data(use: Use, little: Share) -> dict[str, One]:
    """Return negative controls that are too new to judge or lack whole days."""
    return {
        "new: Made within two weeks: too early to say.": lambda d: use(d, full(d), little(d), days=d.uniform(0.5, 12)),
        "holes: Days without metrics: inconclusive.": lambda d: use(d, d.without_days(full(d)), little(d)),
    }


def _disks(d: Draw, values: Floats, percent: float, **more: Any) -> FsxFileSystem:
    """Plant a file system with provisioned IOPS. Its disks are `percent` busy where `values` are 1."""
    deployment, gib, size = d.pick(*SMALLEST), d.whole(64, 2_000), d.spread(8, 256)
    more.setdefault("iops", int(3 * gib * d.uniform(2, 12)) + 500)
    more.setdefault("days", d.uniform(45, 400))
    work = d.work(d.published(values), (0.5, 30), (0.5, 30), size, size, (1, 300))
    more |= {"storage_gib": gib, "throughput": SMALLEST[deployment], "deployment": deployment, "activity": work}
    return _served(d, "server_peak", {**more, "disk_iops_peak": percent})


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


# --- fsx-surplus-throughput -------------------------------------------------------------------------------------------
type Sizes = dict[str, tuple[int, ...]]

_LARGER = (320, 640, 1_280, 2_560)
_SIZES: Sizes = {"SINGLE_AZ_1": (128, 256, 512, 1_024, 2_048), "SINGLE_AZ_2": _LARGER, "MULTI_AZ_1": _LARGER}
_LEAST: Sizes = {deployment: (size,) for deployment, size in SMALLEST.items()}
_WITH_BURST: Sizes = {deployment: sizes[:3] for deployment, sizes in _SIZES.items()}


def _server(d: Draw, values: Floats, share: float, sizes: Sizes = _SIZES, **more: Any) -> FsxFileSystem:
    """Plant a file system whose busiest minute moves `share` of its throughput capacity. `values` reach 1."""
    deployment = d.pick(*sizes)
    mb_s, written, size = d.pick(*sizes[deployment]), d.uniform(0.05, 0.9), d.spread(64, 1_024)
    more.setdefault("days", d.uniform(45, 400))
    gib, moved = d.whole(500, 20_000), share * mb_s * 1e6
    work = d.work(d.published(values), moved * (1 - written) / MIB, moved * written / MIB, size, size, (1, 300))
    more |= {"storage_gib": gib, "throughput": mb_s, "deployment": deployment, "activity": work}
    return _served(d, "disk_iops_peak", {**more, "server_peak": 100 * share})


def _little(d: Draw) -> float:
    """Return a share that keeps the next smaller server below 40 %."""
    return d.spread(0.005, 0.18)


def _processors(d: Draw) -> FsxFileSystem:
    """Plant a server with little traffic but busy CPUs, because of compression."""
    values = np.clip(d.uniform(40, 90) * d.noise(0.05) * d.full(d.working_days()), 0.0, 100.0)
    busy = {"CPUUtilization": given(d.signal(values), digits=2)}
    return _server(d, full(d), _little(d), telemetry=busy)


def _credits(d: Draw) -> FsxFileSystem:
    """Plant small operations for hours a day, faster than the file server's disk baseline."""
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


# --- fsx-oversized ----------------------------------------------------------------------------------------------------
_LEAST_SERVERS = {
    "OPENZFS": (("SINGLE_AZ_1", 64), ("MULTI_AZ_1", 160)),
    "ONTAP": (("SINGLE_AZ_1", 128), ("MULTI_AZ_1", 128)),
    "WINDOWS": (("SINGLE_AZ_2", 32), ("MULTI_AZ_1", 64), ("SINGLE_AZ_1", 16)),
}
"""Deployments on their smallest file server, about which there is nothing else to report."""
_SPACE = {"OPENZFS": "UsedStorageCapacity", "ONTAP": "StorageUsed", "WINDOWS": "FreeStorageCapacity"}


def _common(d: Draw, **more: Any) -> dict[str, Any]:
    """Return settings for some clients and work, far from any limit."""
    days, shape = d.uniform(45, 900), d.published(d.demand())
    usual = {"days": days, "activity": d.work(shape, (0.1, 10), (0.05, 4), (16, 512), (100, 512), (1, 100))}
    usual |= {"clients": float(d.integer(2, 30)), "disk_iops_peak": d.uniform(2, 30), "tags": d.tags()}
    return {**usual, **more}


def _holding(d: Draw, kind: Any, share: Floats, gib: Range | int, **more: Any) -> FsxFileSystem:
    """Plant a file system of this size. `share` is its used fraction over time, as CloudWatch has it."""
    deployment, throughput = d.pick(*_LEAST_SERVERS[kind])
    size = gib if isinstance(gib, int) else d.whole(*gib)
    space = given(d.published(1 - share if kind == "WINDOWS" else share), scale=size * GIB, digits=0)
    settings: dict[str, Any] = {"storage_gib": size, "throughput": throughput, "telemetry": {_SPACE[kind]: space}}
    settings |= _common(d, **more)
    if kind == "OPENZFS":
        return d.build.openzfs(d.name, deployment=deployment, **settings)
    return d.build.server(d.name, kind, deployment, volumes=("home", "projects"), **settings)


def _zfs(d: Draw, share: Floats, gib: Range = (400, 20_000), **more: Any) -> FsxFileSystem:
    return _holding(d, "OPENZFS", share, gib, **more)


def _ontap(d: Draw, share: Floats, gib: int = 1_024, **more: Any) -> FsxFileSystem:
    return _holding(d, "ONTAP", share, gib, **more)


def _windows(d: Draw, share: Floats) -> FsxFileSystem:
    return _holding(d, "WINDOWS", share, (400, 10_000))


def _still(d: Draw, low: float, high: float) -> Floats:
    """Return constant data, give or take a percent of itself."""
    wave = 0.01 * np.sin(np.arange(MINUTES) * 2 * np.pi / DAY_MINUTES / d.uniform(1, 9))
    return d.uniform(low, high) * (1 + wave)


def _empty(d: Draw) -> Floats:
    return _still(d, 0.005, 0.14)


def _scratch(d: Draw) -> FsxFileSystem:
    """Plant data that grows through the day and is deleted every night."""
    most = d.uniform(0.05, 0.14)
    stays, since = d.uniform(0.01, 0.03), np.arange(MINUTES) % DAY_MINUTES / DAY_MINUTES
    busy = np.repeat(d.random.uniform(0.1, 1.0, MINUTES // DAY_MINUTES), DAY_MINUTES)
    return _zfs(d, stays + (most - stays) * since * busy)


def _copied_once(d: Draw) -> FsxFileSystem:
    """Plant data that was copied once within the last weeks, in hours. Nothing was added since."""
    before, after = d.uniform(0.01, 0.05), d.uniform(0.07, 0.14)
    first = d.build.shapes.minute(d.uniform(2, 30))
    filling = np.clip((np.arange(MINUTES) - first) / d.uniform(10, 600), 0.0, 1.0)
    return _zfs(d, before + (after - before) * filling)


def _filled(d: Draw) -> FsxFileSystem:
    share = _still(d, 0.26, 0.9)
    match d.integer(3):
        case 0:
            return _zfs(d, share)
        case 1:
            return _windows(d, share)
    return _ontap(d, share, gib=d.whole(1_024, 60_000))


def _filled_in_runs(d: Draw, starts: list[int], hours: float) -> FsxFileSystem:
    return _zfs(d, _empty(d) + d.runs(starts, 60 * hours, d.uniform(0.25, 0.8)))


def _growing(d: Draw) -> FsxFileSystem:
    """Plant a file system that will be more than a quarter full within a quarter of a year."""
    now, a_day = d.uniform(0.06, 0.14), d.uniform(0.0025, 0.01)
    days = np.arange(MINUTES) / DAY_MINUTES
    return _zfs(d, np.maximum(0.001, now + a_day * (days - days[-1])))


def _lustre(d: Draw) -> FsxFileSystem:
    """Plant a Lustre file system. Its throughput depends on its size."""
    work = _common(d, used=d.uniform(0.01, 0.15))
    size = d.integer(1, 20) * 2_400
    return d.build.server(d.name, "LUSTRE", "PERSISTENT_2", storage_gib=size, throughput=250, **work)


FSX_OVERSIZED_ISSUES: Rows = {
    "openzfs: OpenZFS with a little data.": lambda d: _zfs(d, _empty(d)),
    "scratch: Scratch data that never fills it.": _scratch,
    "copied-once: A little data, copied there once.": _copied_once,
    "ontap-least: ONTAP's minimum for a little data.": lambda d: _ontap(d, _empty(d)),
    "ontap-large: ONTAP with far more SSD than its minimum.": lambda d: _ontap(
        d, pool_gib=d.whole(100, 50_000) if d.chance(0.5) else 0, share=_empty(d), gib=d.whole(3_000, 60_000)
    ),
    "windows: Windows with a little data.": lambda d: _windows(d, _empty(d)),
}
FSX_OVERSIZED_CONTROLS: Rows = {
    "filled: A quarter to nine tenths full.": _filled,
    "ontap-least-filled: ONTAP's minimum, well filled.": lambda d: _ontap(d, _still(d, 0.26, 0.85)),
    # It has ONTAP's minimum size, and its data is in the capacity pool, which costs little.
    "ontap-pool: ONTAP's minimum, before a large capacity pool.": lambda d: _ontap(
        d, _still(d, 0.02, 0.14), pool_gib=d.whole(600, 100_000)
    ),
    "for-a-night: Filled for a night once a month.": lambda d: _filled_in_runs(d, d.monthly(), d.uniform(2, 20)),
    "weekly: Filled for hours once a week.": lambda d: _filled_in_runs(d, d.daily(7), d.uniform(2, 20)),
    "growing: It fills up, day by day.": _growing,
    "smallest: OpenZFS about as small as it can be.": lambda d: _zfs(d, _empty(d), (64, 100)),
    "lustre: Lustre, bought for its throughput.": _lustre,
    "young: Made within two weeks, and hardly filled.": lambda d: _zfs(d, _empty(d), days=d.uniform(0.1, 12)),
    "kept: Far too large, and its owner says why: tagged keep.": lambda d: _zfs(d, _empty(d), tags={"keep": "true"}),
}
FSX_OVERSIZED_UNKNOWN: Rows = {
    "half-dark: Days on which nobody saw its space.": lambda d: _zfs(d, d.without_days(_empty(d))),
}
