"""FSx file systems whose SSD is far too large, and large ones that are needed.

What lies on them is drawn as data that stays, comes and goes, or grows. Left out, because even the truth is in doubt: file
systems between 15 and 25 % full, those that would be so within a quarter, and fills that are more than a month apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, FsxFileSystem, given
from slackwater_simulator.series import Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import Rows

_ZFS = (("SINGLE_AZ_1", 64), ("MULTI_AZ_1", 160))
"""Deployments on their smallest file server, about which there is nothing else to report."""
_ONTAP = (("SINGLE_AZ_1", 128), ("MULTI_AZ_1", 128))
_WINDOWS = (("SINGLE_AZ_2", 32), ("MULTI_AZ_1", 64), ("SINGLE_AZ_1", 16))


def _common(d: Draw, **more: Any) -> dict[str, Any]:
    """Some clients at some work, far from any limit."""
    days, shape = d.uniform(45, 900), d.published(d.demand())
    return {
        "days": days,
        "activity": d.work(shape, (0.1, 10), (0.05, 4), (16, 512), (100, 512), (1, 100)),
        "clients": float(d.integer(2, 30)),
        "disk_iops_peak": d.uniform(2, 30),
        "tags": d.tags(),
        **more,
    }


def _space(d: Draw, gib: int, share: Floats, metric: str) -> dict[str, Track]:
    """A metric of the space over time, as CloudWatch gets it; `share` is what is used, of `gib`."""
    left = 1 - share if metric == "FreeStorageCapacity" else share
    return {metric: given(d.published(left), scale=gib * GIB, digits=0)}


def _zfs(d: Draw, share: Floats, low: int = 400, high: int = 20_000, **more: Any) -> FsxFileSystem:
    deployment, throughput = d.pick(*_ZFS)
    gib = int(d.spread(low, high))
    space = _space(d, gib, share, "UsedStorageCapacity")
    size: dict[str, Any] = {"storage_gib": gib, "throughput": throughput, "deployment": deployment}
    return d.build.openzfs(d.name, telemetry=space, **size, **_common(d, **more))


def _ontap(d: Draw, share: Floats, gib: int = 1_024, **more: Any) -> FsxFileSystem:
    deployment, throughput = d.pick(*_ONTAP)
    size: dict[str, Any] = {"storage_gib": gib, "throughput": throughput, "volumes": ("home", "projects")}
    space = _space(d, gib, share, "StorageUsed")
    return d.build.server(d.name, "ONTAP", deployment, telemetry=space, **size, **_common(d, **more))


def _windows(d: Draw, share: Floats) -> FsxFileSystem:
    deployment, throughput = d.pick(*_WINDOWS)
    size: dict[str, Any] = {"storage_gib": int(d.spread(400, 10_000)), "throughput": throughput}
    space = _space(d, size["storage_gib"], share, "FreeStorageCapacity")
    return d.build.server(d.name, "WINDOWS", deployment, telemetry=space, **size, **_common(d))


def _still(d: Draw, low: float, high: float) -> Floats:
    """Data that stays, give or take a percent of itself."""
    wave = 0.01 * np.sin(np.arange(MINUTES) * 2 * np.pi / DAY_MINUTES / d.uniform(1, 9))
    return d.uniform(low, high) * (1 + wave)


def _empty(d: Draw) -> Floats:
    return _still(d, 0.005, 0.14)


def _scratch(d: Draw) -> FsxFileSystem:
    """It piles up through the day, and is cleared every night."""
    most = d.uniform(0.05, 0.14)
    stays, since = d.uniform(0.01, 0.03), np.arange(MINUTES) % DAY_MINUTES / DAY_MINUTES
    busy = np.repeat(d.random.uniform(0.1, 1.0, MINUTES // DAY_MINUTES), DAY_MINUTES)
    return _zfs(d, stays + (most - stays) * since * busy)


def _copied_once(d: Draw) -> FsxFileSystem:
    """Within the last weeks, in hours, and nothing came since."""
    before, after = d.uniform(0.01, 0.05), d.uniform(0.07, 0.14)
    first = d.build.shapes.minute(d.uniform(2, 30))
    filling = np.clip((np.arange(MINUTES) - first) / d.uniform(10, 600), 0.0, 1.0)
    return _zfs(d, before + (after - before) * filling)


def _ontap_large(d: Draw) -> FsxFileSystem:
    pool = int(d.spread(100, 50_000)) if d.chance(0.5) else 0
    return _ontap(d, _empty(d), gib=int(d.spread(3_000, 60_000)), pool_gib=pool)


def _filled(d: Draw) -> FsxFileSystem:
    share = _still(d, 0.26, 0.9)
    match d.integer(3):
        case 0:
            return _zfs(d, share)
        case 1:
            return _windows(d, share)
    return _ontap(d, share, gib=int(d.spread(1_024, 60_000)))


def _in_runs(d: Draw, starts: list[int], hours: float) -> FsxFileSystem:
    return _zfs(d, _empty(d) + d.runs(starts, 60 * hours, d.uniform(0.25, 0.8)))


def _growing(d: Draw) -> FsxFileSystem:
    """In a quarter it is more than a quarter full."""
    now, a_day = d.uniform(0.06, 0.14), d.uniform(0.0025, 0.01)
    days = np.arange(MINUTES) / DAY_MINUTES
    return _zfs(d, np.maximum(0.001, now + a_day * (days - days[-1])))


def _lustre(d: Draw) -> FsxFileSystem:
    """Its throughput comes with its size."""
    work = _common(d, used=d.uniform(0.01, 0.15))
    size = d.integer(1, 20) * 2_400
    return d.build.server(d.name, "LUSTRE", "PERSISTENT_2", storage_gib=size, throughput=250, **work)


FSX_OVERSIZED_ISSUES: Rows = {
    "openzfs: OpenZFS with a little data.": lambda d: _zfs(d, _empty(d)),
    "scratch: Scratch data that never fills it.": _scratch,
    "copied-once: A little data, copied there once.": _copied_once,
    "ontap-least: ONTAP's minimum for a little data.": lambda d: _ontap(d, _empty(d)),
    "ontap-large: ONTAP with far more SSD than its minimum.": _ontap_large,
    "windows: Windows with a little data.": lambda d: _windows(d, _empty(d)),
}
FSX_OVERSIZED_CONTROLS: Rows = {
    "filled: A quarter to nine tenths full.": _filled,
    "ontap-least-filled: ONTAP's minimum, well filled.": lambda d: _ontap(d, _still(d, 0.26, 0.85)),
    # Nothing in ONTAP is smaller, and its data lies in the capacity pool, which is cheap.
    "ontap-pool: ONTAP's minimum, before a large capacity pool.": lambda d: _ontap(
        d, _still(d, 0.02, 0.14), pool_gib=int(d.spread(600, 100_000))
    ),
    "for-a-night: Filled for a night once a month.": lambda d: _in_runs(d, d.monthly(), d.uniform(2, 20)),
    "weekly: Filled for hours once a week.": lambda d: _in_runs(d, d.daily(7), d.uniform(2, 20)),
    "growing: It fills up, day by day.": _growing,
    "smallest: OpenZFS about as small as it can be.": lambda d: _zfs(d, _empty(d), 64, 100),
    "lustre: Lustre, bought for its throughput.": _lustre,
    "young: Made within two weeks, and hardly filled.": lambda d: _zfs(d, _empty(d), days=d.uniform(0.1, 12)),
    "kept: Far too large, and its owner says why: tagged keep.": lambda d: _zfs(d, _empty(d), tags={"keep": "true"}),
}
FSX_OVERSIZED_UNKNOWN: Rows = {
    "half-dark: Days on which nobody saw its space.": lambda d: _zfs(d, d.without_days(_empty(d))),
}
