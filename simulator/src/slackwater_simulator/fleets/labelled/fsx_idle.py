"""FSx file systems that nobody uses any more, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: file systems left 8 to 37 days ago (a monthly job of theirs may be still to come),
jobs that run less often than a month apart, file systems of 5 to 14 days that nobody has used yet, replicas whose source
hardly changes, and clients of ONTAP and small Windows file systems that are mounted and never ask for anything.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import DAY, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import control, issue

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


def _made(d: Draw, kinds: tuple[Kind, ...] = _KINDS, ontap_type: str = "RW", **more: Any) -> FsxFileSystem:
    """A file system of any type and size, on the smallest file server; a quarter to nine tenths full."""
    kind = d.pick(*kinds)
    deployment, throughput = _SMALLEST[kind][d.integer(2)]
    settings: dict[str, Any] = {
        "days": d.uniform(60, 900),
        "used": d.uniform(0.25, 0.9),
        "backup_days": d.integer(0, 31),
        "tags": d.tags(),
        **more,
    }
    if kind == "ONTAP":
        settings["telemetry"] = {
            metric: track for metric, track in more.get("telemetry", {}).items() if metric != "ClientConnections"
        }
    if kind == "OPENZFS":
        settings.setdefault("storage_gib", int(d.spread(64, 8_000)))
        return d.build.openzfs(d.name, deployment=deployment, throughput=throughput, **settings)
    sizes = {"ONTAP": (1_024, 8_192), "WINDOWS": (32, 8_000), "LUSTRE": (1_200, 24_000)}
    return d.build.server(
        d.name,
        kind,
        deployment,
        throughput=throughput,
        storage_gib=int(d.spread(*sizes[kind])),
        volumes=("home", "projects", "archive")[: d.integer(1, 4)],
        ontap_type=ontap_type,
        **settings,
    )


def _work(d: Draw, values: Floats, *, clients: int, read: bool = True, write: bool = True) -> dict[str, Any]:
    """Reads, writes and metadata in some rhythm, and the clients that are there meanwhile."""
    return {
        "activity": Activity(
            shape=d.published(values),
            read=d.spread(0.05, 20) * MIB if read else 0.0,
            write=d.spread(0.02, 10) * MIB if write else 0.0,
            read_size=d.spread(4, 1_024) * KIB,
            write_size=d.spread(100, 1_024) * KIB,
            metadata=d.spread(1, 100),
        ),
        "telemetry": {"ClientConnections": _connected(d, values, clients)},
    }


def _connected(d: Draw, values: Floats, clients: int) -> Track:
    return given(d.published(np.ceil(np.minimum(values, 1.0))), scale=clients)


def _moved_away(d: Draw) -> FsxFileSystem:
    """Busy until its users moved; zeros since."""
    left = d.ago(d.uniform(38, 250))
    work = d.published(d.working_days())
    rates = {metric: d.spread(10, 1e4) for metric in _METRICS}
    nothing = d.signal(np.zeros(MINUTES))
    telemetry = {
        metric: (*given(work, scale=rate, digits=0, until=left), *given(nothing, since=left))
        for metric, rate in rates.items()
    }
    return _made(d, days=d.uniform(300, 900), telemetry=telemetry)


def _gappy_zeros(d: Draw) -> FsxFileSystem:
    zeros: dict[str, Track] = {metric: given(d.published(np.zeros(MINUTES))) for metric in _METRICS}
    return _made(d, telemetry=zeros)


def _probed(d: Draw) -> FsxFileSystem:
    """Something in FSx asks for metadata now and then, and no client is connected."""
    asked = d.runs(d.daily(), d.uniform(1, 10), 1.0)
    probes = given(d.published(asked), scale=d.spread(1, 20), digits=0)
    return _made(d, _WITH_CLIENTS, telemetry={"MetadataOperations": probes})


def _used(d: Draw, starts: list[int], least_minutes: float, most_minutes: float) -> FsxFileSystem:
    """A job uses it from these moments on."""
    values = d.runs(starts, d.uniform(least_minutes, most_minutes))
    return _made(d, **_work(d, values * d.wobble(), clients=d.integer(1, 9)))


def _weekly(d: Draw) -> FsxFileSystem:
    values = d.runs(d.daily(7), d.uniform(2, 120))
    return _made(d, **_work(d, values, clients=d.integer(1, 9)))


def _now_and_then(d: Draw) -> FsxFileSystem:
    values = d.runs(d.visits(), d.uniform(1, 30))
    return _made(d, **_work(d, values, clients=1, write=d.chance(0.5)))


def _backup_target(d: Draw) -> FsxFileSystem:
    """Written by a backup every night or week, and never read: nobody wants to."""
    values = d.runs(d.daily((1, 7)[d.integer(2)]), d.uniform(10, 200))
    return _made(d, **_work(d, values, clients=d.integer(1, 9), read=False))


def _mounted(d: Draw) -> FsxFileSystem:
    connected = {"ClientConnections": _connected(d, np.ones(MINUTES), d.integer(1, 9))}
    return _made(d, _WITH_CLIENTS, telemetry=connected)


def _listed(d: Draw) -> FsxFileSystem:
    """Clients that look for new files and find none, where connections are not published."""
    values = d.runs(d.daily((1, 7)[d.integer(2)]), d.uniform(1, 60))
    work = _work(d, values, clients=1, read=False, write=False)
    return _made(d, ("ONTAP",), **work)


def _openzfs_replica(d: Draw) -> FsxFileSystem:
    """Snapshots are copied to it, every day or week, and no client is needed for that."""
    gib = int(d.spread(64, 8_000))
    every = (1, 7)[d.integer(2)]
    copied = np.cumsum(d.runs(d.daily(every), 1)) * every * d.spread(0.002, 0.1) / 35
    space = given(d.signal(d.uniform(0.3, 0.9) * (1 + copied)), scale=gib * GIB, digits=0)
    return _made(d, ("OPENZFS",), storage_gib=gib, telemetry={"UsedStorageCapacity": space})


def _back_today(d: Draw) -> FsxFileSystem:
    since = int(d.uniform(0.02, 2) * DAY)
    values = d.runs([d.now - since], since / MINUTE)
    return _made(d, **_work(d, values, clients=d.integer(1, 9)))


def _dark(d: Draw) -> FsxFileSystem:
    nothing = given(d.signal(np.full(MINUTES, np.nan)))
    return _made(d, telemetry=dict.fromkeys((*_METRICS, "UsedStorageCapacity"), nothing))


def _half_dark(d: Draw) -> FsxFileSystem:
    """CloudWatch has no point for some days, and zeros before and after."""
    zeros = given(d.signal(d.without_days(np.zeros(MINUTES))))
    return _made(d, telemetry=dict.fromkeys(_METRICS, zeros))


SCENARIOS = (
    issue(
        "never-used", "Made, and never mounted.", lambda d: _made(d, days=d.spread(14, 400), used=d.uniform(0.0, 0.02))
    ),
    issue("moved-away", "Used for months, until its users moved.", _moved_away),
    issue("gappy-zeros", "Zeros, with missing and late points.", _gappy_zeros),
    issue("probed", "Metadata is asked for, and no client is there.", _probed),
    # ONTAP tiers the data of a file system that nobody uses to its capacity pool: its SSD empties.
    issue(
        "tiered-away",
        "ONTAP that nobody uses, its data in the pool.",
        lambda d: _made(d, ("ONTAP",), used=d.uniform(0.02, 0.3), pool_gib=int(d.spread(100, 20_000))),
    ),
    control("monthly-by-date", "Used for minutes on one day of the month.", lambda d: _used(d, d.monthly(), 10, 300)),
    control(
        "monthly-by-weekday",
        "Used on the first Monday, say, of the month.",
        lambda d: _used(d, d.first_weekday(), 10, 300),
    ),
    control("weekly", "Used for minutes once a week.", _weekly),
    control("nightly", "Used for minutes every night.", lambda d: _used(d, d.daily(), 1, 15)),
    control("now-and-then", "Somebody looks something up, every ten days or so.", _now_and_then),
    control("backup-target", "Written by a backup, and never read.", _backup_target),
    control("mounted", "Mounted, and not read for a month.", _mounted),
    control("listed", "ONTAP whose files are listed, and not read.", _listed),
    control("ontap-replica", "ONTAP that replication writes.", lambda d: _made(d, ("ONTAP",), ontap_type="DP")),
    control("openzfs-replica", "OpenZFS that snapshots are copied to.", _openzfs_replica),
    control("back-today", "Quiet for weeks, and in use again.", _back_today),
    control("young", "Made days ago, and not used yet.", lambda d: _made(d, days=d.uniform(0.05, 5))),
    control("kept", "Idle, and its owner says so: tagged keep.", lambda d: _made(d, tags={"keep": "true"})),
    control("dark", "No metric at all.", _dark, full=False),
    control("half-dark", "Days without any metric.", _half_dark, full=False),
)
