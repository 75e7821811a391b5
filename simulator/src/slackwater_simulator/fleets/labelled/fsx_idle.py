"""FSx file systems that nobody uses any more, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: file systems left 8 to 37 days ago (a monthly job of theirs may be still to come),
jobs that run less often than a month apart, file systems of 5 to 14 days that nobody has used yet, replicas whose source
hardly changes, and clients of ONTAP and small Windows file systems that are mounted and never ask for anything.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import DAY, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .rhythms import (
    Random,
    chance,
    daily,
    first_weekday,
    monthly,
    published,
    runs,
    spread,
    tags,
    without_days,
    wobble,
    working_days,
)
from .scenario import Scenario, each

type Kind = Literal["OPENZFS", "ONTAP", "WINDOWS", "LUSTRE"]

_KINDS: tuple[Kind, ...] = ("OPENZFS", "OPENZFS", "ONTAP", "WINDOWS", "LUSTRE")
_WITH_CLIENTS: tuple[Kind, ...] = ("OPENZFS", "OPENZFS", "WINDOWS", "LUSTRE")
"""Types that publish how many clients are connected, Windows from 32 MB/s on."""
_SMALLEST = {
    "OPENZFS": (("SINGLE_AZ_1", 64), ("MULTI_AZ_1", 160)),
    "ONTAP": (("SINGLE_AZ_1", 128), ("MULTI_AZ_1", 128)),
    "WINDOWS": (("SINGLE_AZ_2", 32), ("MULTI_AZ_1", 64)),
    "LUSTRE": (("PERSISTENT_2", 250), ("SCRATCH_2", 200)),
}
_METRICS = (
    "DataReadBytes",
    "DataWriteBytes",
    "DataReadOperations",
    "DataWriteOperations",
    "MetadataOperations",
    "ClientConnections",
)


def _made(
    random: Random, build: Builder, name: str, kinds: tuple[Kind, ...] = _KINDS, ontap_type: str = "RW", **more: Any
) -> FsxFileSystem:
    """A file system of any type and size, on the smallest file server; a quarter to nine tenths full."""
    kind = kinds[int(random.integers(len(kinds)))]
    deployment, throughput = _SMALLEST[kind][int(random.integers(2))]
    settings: dict[str, Any] = {
        "days": random.uniform(60, 900),
        "used": random.uniform(0.25, 0.9),
        "backup_days": int(random.integers(0, 31)),
        "tags": dict(tags(random)),
        **more,
    }
    if kind == "ONTAP":
        settings["telemetry"] = {
            name: track for name, track in more.get("telemetry", {}).items() if name != "ClientConnections"
        }
    if kind == "OPENZFS":
        settings.setdefault("storage_gib", int(spread(random, 64, 8_000)))
        return build.openzfs(name, deployment=deployment, throughput=throughput, **settings)
    sizes = {"ONTAP": (1_024, 8_192), "WINDOWS": (32, 8_000), "LUSTRE": (1_200, 24_000)}
    return build.server(
        name,
        kind,
        deployment,
        throughput=throughput,
        storage_gib=int(spread(random, *sizes[kind])),
        volumes=("home", "projects", "archive")[: int(random.integers(1, 4))],
        ontap_type=ontap_type,
        **settings,
    )


def _work(
    random: Random, build: Builder, values: Floats, *, clients: int, read: bool = True, write: bool = True
) -> dict[str, Any]:
    """Reads, writes and metadata in some rhythm, and the clients that are there meanwhile."""
    return {
        "activity": Activity(
            shape=published(random, build, values),
            read=spread(random, 0.05, 20) * MIB if read else 0.0,
            write=spread(random, 0.02, 10) * MIB if write else 0.0,
            read_size=spread(random, 4, 1_024) * KIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=spread(random, 1, 100),
        ),
        "telemetry": {"ClientConnections": _connected(random, build, values, clients)},
    }


def _connected(random: Random, build: Builder, values: Floats, clients: int) -> Track:
    return given(published(random, build, np.ceil(np.minimum(values, 1.0))), scale=clients)


def _few(random: Random) -> int:
    return int(random.integers(1, 9))


def _never(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _made(random, build, name, days=spread(random, 14, 400), used=random.uniform(0.0, 0.02))


def _moved_away(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Busy until its users moved; zeros since."""
    left = build.ago(random.uniform(38, 250))
    work = published(random, build, working_days(random, build))
    rates = {metric: spread(random, 10, 1e4) for metric in _METRICS}
    nothing = build.shapes.signal(np.zeros(MINUTES))
    telemetry = {
        metric: (*given(work, scale=rate, digits=0, until=left), *given(nothing, since=left))
        for metric, rate in rates.items()
    }
    return _made(random, build, name, days=random.uniform(300, 900), telemetry=telemetry)


def _gappy_zeros(random: Random, build: Builder, name: str) -> FsxFileSystem:
    zeros: dict[str, Track] = {metric: given(published(random, build, np.zeros(MINUTES))) for metric in _METRICS}
    return _made(random, build, name, telemetry=zeros)


def _probed(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Something in FSx asks for metadata now and then, and no client is connected."""
    asked = runs(build, daily(random, build), random.uniform(1, 10), 1.0)
    probes = given(published(random, build, asked), scale=spread(random, 1, 20), digits=0)
    return _made(random, build, name, _WITH_CLIENTS, telemetry={"MetadataOperations": probes})


def _emptied(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """ONTAP tiers the data of a file system that nobody uses to its capacity pool: its SSD empties."""
    return _made(
        random, build, name, ("ONTAP",), used=random.uniform(0.02, 0.3), pool_gib=int(spread(random, 100, 20_000))
    )


def _calendar(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, monthly(random, build), random.uniform(10, 300))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _weekday(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, first_weekday(random, build), random.uniform(10, 300))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _weekly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, daily(random, build, 7), random.uniform(2, 120))
    return _made(random, build, name, **_work(random, build, values, clients=_few(random)))


def _nightly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, daily(random, build), random.uniform(1, 15))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _now_and_then(random: Random, build: Builder, name: str) -> FsxFileSystem:
    visits = [build.ago(random.uniform(0.01, 29))]
    while visits[-1] > build.ago(29):
        visits.append(int(visits[-1] - random.exponential(10) * DAY))
    values = runs(build, [visit for visit in visits if visit > build.ago(33)], random.uniform(1, 30))
    return _made(random, build, name, **_work(random, build, values, clients=1, write=chance(random, 0.5)))


def _backup_target(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Written by a backup every night or week, and never read: nobody wants to."""
    values = runs(build, daily(random, build, (1, 7)[int(random.integers(2))]), random.uniform(10, 200))
    return _made(random, build, name, **_work(random, build, values, clients=_few(random), read=False))


def _mounted(random: Random, build: Builder, name: str) -> FsxFileSystem:
    connected = {"ClientConnections": _connected(random, build, np.ones(MINUTES), _few(random))}
    return _made(random, build, name, _WITH_CLIENTS, telemetry=connected)


def _listed(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Clients that look for new files and find none, where connections are not published."""
    values = runs(build, daily(random, build, (1, 7)[int(random.integers(2))]), random.uniform(1, 60))
    work = _work(random, build, values, clients=1, read=False, write=False)
    return _made(random, build, name, ("ONTAP",), **work)


def _ontap_replica(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _made(random, build, name, ("ONTAP",), ontap_type="DP")


def _openzfs_replica(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Snapshots are copied to it, every day or week, and no client is needed for that."""
    gib = int(spread(random, 64, 8_000))
    every = (1, 7)[int(random.integers(2))]
    copied = np.cumsum(runs(build, daily(random, build, every), 1)) * every * spread(random, 0.002, 0.1) / 35
    space = given(build.shapes.signal(random.uniform(0.3, 0.9) * (1 + copied)), scale=gib * GIB, digits=0)
    return _made(random, build, name, ("OPENZFS",), storage_gib=gib, telemetry={"UsedStorageCapacity": space})


def _back_today(random: Random, build: Builder, name: str) -> FsxFileSystem:
    since = int(random.uniform(0.02, 2) * DAY)
    values = runs(build, [build.now - since], since / MINUTE)
    return _made(random, build, name, **_work(random, build, values, clients=_few(random)))


def _young(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _made(random, build, name, days=random.uniform(0.05, 5))


def _dark(random: Random, build: Builder, name: str) -> FsxFileSystem:
    nothing = given(build.shapes.signal(np.full(MINUTES, np.nan)))
    return _made(random, build, name, telemetry=dict.fromkeys((*_METRICS, "UsedStorageCapacity"), nothing))


def _half_dark(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """CloudWatch has no point for some days, and zeros before and after."""
    zeros = given(build.shapes.signal(without_days(random, build, np.zeros(MINUTES))))
    return _made(random, build, name, telemetry=dict.fromkeys(_METRICS, zeros))


def _kept(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _made(random, build, name, tags={"keep": "true"})


SCENARIOS = (
    Scenario(name="never-used", story="Made, and never mounted.", plant=each(_never), trouble=True),
    Scenario(name="moved-away", story="Used for months, until its users moved.", plant=each(_moved_away), trouble=True),
    Scenario(name="gappy-zeros", story="Zeros, with missing and late points.", plant=each(_gappy_zeros), trouble=True),
    Scenario(name="probed", story="Metadata is asked for, and no client is there.", plant=each(_probed), trouble=True),
    Scenario(
        name="tiered-away", story="ONTAP that nobody uses, its data in the pool.", plant=each(_emptied), trouble=True
    ),
    Scenario(name="monthly-by-date", story="Used for minutes on one day of the month.", plant=each(_calendar)),
    Scenario(name="monthly-by-weekday", story="Used on the first Monday, say, of the month.", plant=each(_weekday)),
    Scenario(name="weekly", story="Used for minutes once a week.", plant=each(_weekly)),
    Scenario(name="nightly", story="Used for minutes every night.", plant=each(_nightly)),
    Scenario(
        name="now-and-then", story="Somebody looks something up, every ten days or so.", plant=each(_now_and_then)
    ),
    Scenario(name="backup-target", story="Written by a backup, and never read.", plant=each(_backup_target)),
    Scenario(name="mounted", story="Mounted, and not read for a month.", plant=each(_mounted)),
    Scenario(name="listed", story="ONTAP whose files are listed, and not read.", plant=each(_listed)),
    Scenario(name="ontap-replica", story="ONTAP that replication writes.", plant=each(_ontap_replica)),
    Scenario(name="openzfs-replica", story="OpenZFS that snapshots are copied to.", plant=each(_openzfs_replica)),
    Scenario(name="back-today", story="Quiet for weeks, and in use again.", plant=each(_back_today)),
    Scenario(name="young", story="Made days ago, and not used yet.", plant=each(_young)),
    Scenario(name="kept", story="Idle, and its owner says so: tagged keep.", plant=each(_kept)),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="half-dark", story="Days without any metric.", plant=each(_half_dark), full=False),
)
