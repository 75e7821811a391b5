"""FSx file systems whose SSD is far too large, and large ones that are needed.

What lies on them is drawn as data that stays, comes and goes, or grows. Left out, because even the truth is in doubt: file
systems between 15 and 25 % full, those that would be so within a quarter, and fills that are more than a month apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .rhythms import Random, chance, daily, demand, monthly, published, runs, spread, tags, without_days
from .scenario import Scenario, each

_ZFS = (("SINGLE_AZ_1", 64), ("MULTI_AZ_1", 160))
"""Deployments on their smallest file server, of which nothing else is to be said."""
_ONTAP = (("SINGLE_AZ_1", 128), ("MULTI_AZ_1", 128))
_WINDOWS = (("SINGLE_AZ_2", 32), ("MULTI_AZ_1", 64), ("SINGLE_AZ_1", 16))


def _pick[T](random: Random, ones: tuple[T, ...]) -> T:
    return ones[int(random.integers(len(ones)))]


def _common(random: Random, build: Builder, **more: Any) -> dict[str, Any]:
    """Some clients at some work, far from any limit."""
    return {
        "days": random.uniform(45, 900),
        "activity": Activity(
            shape=published(random, build, demand(random, build)),
            read=spread(random, 0.1, 10) * MIB,
            write=spread(random, 0.05, 4) * MIB,
            read_size=spread(random, 16, 512) * KIB,
            write_size=spread(random, 100, 512) * KIB,
            metadata=spread(random, 1, 100),
        ),
        "clients": float(random.integers(2, 30)),
        "disk_iops_peak": random.uniform(2, 30),
        "tags": dict(tags(random)),
        **more,
    }


def _space(random: Random, build: Builder, gib: int, share: Floats, metric: str) -> dict[str, Track]:
    """A metric of the space over time, as CloudWatch gets it; `share` is what is used, of `gib`."""
    left = 1 - share if metric == "FreeStorageCapacity" else share
    return {metric: given(published(random, build, left), scale=gib * GIB, digits=0)}


def _zfs(
    random: Random, build: Builder, name: str, share: Floats, low: int = 400, high: int = 20_000, **more: Any
) -> FsxFileSystem:
    deployment, throughput = _pick(random, _ZFS)
    gib = int(spread(random, low, high))
    space = _space(random, build, gib, share, "UsedStorageCapacity")
    return build.openzfs(
        name,
        storage_gib=gib,
        throughput=throughput,
        deployment=deployment,
        telemetry=space,
        **_common(random, build, **more),
    )


def _ontap(random: Random, build: Builder, name: str, share: Floats, gib: int = 1_024, **more: Any) -> FsxFileSystem:
    deployment, throughput = _pick(random, _ONTAP)
    return build.server(
        name,
        "ONTAP",
        deployment,
        storage_gib=gib,
        throughput=throughput,
        volumes=("home", "projects"),
        telemetry=_space(random, build, gib, share, "StorageUsed"),
        **_common(random, build, **more),
    )


def _windows(random: Random, build: Builder, name: str, share: Floats) -> FsxFileSystem:
    deployment, throughput = _pick(random, _WINDOWS)
    gib = int(spread(random, 400, 10_000))
    space = _space(random, build, gib, share, "FreeStorageCapacity")
    return build.server(
        name, "WINDOWS", deployment, storage_gib=gib, throughput=throughput, telemetry=space, **_common(random, build)
    )


def _still(random: Random, low: float, high: float) -> Floats:
    """Data that stays, give or take a percent of itself."""
    wave = 0.01 * np.sin(np.arange(MINUTES) * 2 * np.pi / DAY_MINUTES / random.uniform(1, 9))
    return random.uniform(low, high) * (1 + wave)


def _empty(random: Random) -> Floats:
    return _still(random, 0.005, 0.14)


def _come_and_gone(random: Random, most: float) -> Floats:
    """Scratch data: it piles up through the day, and is cleared every night."""
    stays, since = random.uniform(0.01, 0.03), np.arange(MINUTES) % DAY_MINUTES / DAY_MINUTES
    busy = np.repeat(random.uniform(0.1, 1.0, MINUTES // DAY_MINUTES), DAY_MINUTES)
    return stays + (most - stays) * since * busy


def _zfs_empty(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _zfs(random, build, name, _empty(random))


def _zfs_scratch(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _zfs(random, build, name, _come_and_gone(random, random.uniform(0.05, 0.14)))


def _copied_once(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Data was copied there within the last weeks, in hours, and nothing came since."""
    before, after = random.uniform(0.01, 0.05), random.uniform(0.07, 0.14)
    first = build.shapes.minute(random.uniform(2, 30))
    filling = np.clip((np.arange(MINUTES) - first) / random.uniform(10, 600), 0.0, 1.0)
    return _zfs(random, build, name, before + (after - before) * filling)


def _ontap_least(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _ontap(random, build, name, _empty(random))


def _ontap_large(random: Random, build: Builder, name: str) -> FsxFileSystem:
    pool = int(spread(random, 100, 50_000)) if chance(random, 0.5) else 0
    return _ontap(random, build, name, _empty(random), gib=int(spread(random, 3_000, 60_000)), pool_gib=pool)


def _windows_empty(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _windows(random, build, name, _empty(random))


def _filled(random: Random, build: Builder, name: str) -> FsxFileSystem:
    share = _still(random, 0.26, 0.9)
    match int(random.integers(3)):
        case 0:
            return _zfs(random, build, name, share)
        case 1:
            return _windows(random, build, name, share)
    return _ontap(random, build, name, share, gib=int(spread(random, 1_024, 60_000)))


def _ontap_least_filled(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _ontap(random, build, name, _still(random, 0.26, 0.85))


def _ontap_pool(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Nothing in ONTAP is smaller, and its data lies in the capacity pool, which is cheap."""
    return _ontap(random, build, name, _still(random, 0.02, 0.14), pool_gib=int(spread(random, 600, 100_000)))


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], hours: float) -> FsxFileSystem:
    share = _empty(random) + runs(build, starts, 60 * hours, random.uniform(0.25, 0.8))
    return _zfs(random, build, name, share)


def _for_a_night(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, monthly(random, build), random.uniform(2, 20))


def _weekly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, daily(random, build, 7), random.uniform(2, 20))


def _growing(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Data comes every day, and none goes: in a quarter it is more than a quarter full."""
    now, a_day = random.uniform(0.06, 0.14), random.uniform(0.0025, 0.01)
    days = np.arange(MINUTES) / DAY_MINUTES
    return _zfs(random, build, name, np.maximum(0.001, now + a_day * (days - days[-1])))


def _smallest(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _zfs(random, build, name, _empty(random), 64, 100)


def _lustre(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Its throughput comes with its size."""
    work = _common(random, build, used=random.uniform(0.01, 0.15))
    return build.server(
        name, "LUSTRE", "PERSISTENT_2", storage_gib=int(random.integers(1, 20)) * 2_400, throughput=250, **work
    )


def _young(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _zfs(random, build, name, _empty(random), days=random.uniform(0.1, 12))


def _kept(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _zfs(random, build, name, _empty(random), tags={"keep": "true"})


def _half_dark(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Days on which nobody saw its space."""
    return _zfs(random, build, name, without_days(random, build, _empty(random)))


SCENARIOS = (
    Scenario(name="openzfs", story="OpenZFS with a little data.", plant=each(_zfs_empty), trouble=True),
    Scenario(name="scratch", story="Scratch data that never fills it.", plant=each(_zfs_scratch), trouble=True),
    Scenario(name="copied-once", story="A little data, copied there once.", plant=each(_copied_once), trouble=True),
    Scenario(name="ontap-least", story="ONTAP's minimum for a little data.", plant=each(_ontap_least), trouble=True),
    Scenario(
        name="ontap-large", story="ONTAP with far more SSD than its minimum.", plant=each(_ontap_large), trouble=True
    ),
    Scenario(name="windows", story="Windows with a little data.", plant=each(_windows_empty), trouble=True),
    Scenario(name="filled", story="A quarter to nine tenths full.", plant=each(_filled)),
    Scenario(name="ontap-least-filled", story="ONTAP's minimum, well filled.", plant=each(_ontap_least_filled)),
    Scenario(name="ontap-pool", story="ONTAP's minimum, before a large capacity pool.", plant=each(_ontap_pool)),
    Scenario(name="for-a-night", story="Filled for a night once a month.", plant=each(_for_a_night)),
    Scenario(name="weekly", story="Filled for hours once a week.", plant=each(_weekly)),
    Scenario(name="growing", story="It fills up, day by day.", plant=each(_growing)),
    Scenario(name="smallest", story="OpenZFS about as small as it can be.", plant=each(_smallest)),
    Scenario(name="lustre", story="Lustre, bought for its throughput.", plant=each(_lustre)),
    Scenario(name="young", story="Made within two weeks, and hardly filled.", plant=each(_young)),
    Scenario(name="kept", story="Far too large, and its owner says why: tagged keep.", plant=each(_kept)),
    Scenario(name="half-dark", story="Days on which nobody saw its space.", plant=each(_half_dark), full=False),
)
