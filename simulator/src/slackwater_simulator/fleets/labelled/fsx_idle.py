"""Plant FSx file systems that nobody uses any more, and quiet ones that somebody needs.

Not drawn, because the truth is in doubt: file systems unused for 8 to 37 days (a monthly job may still run), jobs more
than a month apart, file systems of 5 to 14 days that nobody has used yet, replicas whose source hardly changes, and
clients of ONTAP and small Windows file systems that are mounted but never request anything.
"""

from typing import Any, Literal

import numpy as np

from slackwater_simulator.fsx_metrics import WORK
from slackwater_simulator.resources import GIB, FsxFileSystem, given
from slackwater_simulator.series import Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw, Rate
from .scenario import Rows, quiet

type Kind = Literal["OPENZFS", "ONTAP", "WINDOWS", "LUSTRE"]

_KINDS: tuple[Kind, ...] = ("OPENZFS", "OPENZFS", "ONTAP", "WINDOWS", "LUSTRE")
_WITH_CLIENTS: tuple[Kind, ...] = ("OPENZFS", "OPENZFS", "WINDOWS", "LUSTRE")
"""Types that publish the number of connected clients. Windows does from 32 MB/s on."""
_SMALLEST = {
    "OPENZFS": (("SINGLE_AZ_1", 64), ("MULTI_AZ_1", 160)),
    "ONTAP": (("SINGLE_AZ_1", 128), ("MULTI_AZ_1", 128)),
    "WINDOWS": (("SINGLE_AZ_2", 32), ("MULTI_AZ_1", 64)),
    "LUSTRE": (("PERSISTENT_2", 250), ("SCRATCH_2", 200)),
}
_GIB = {"ONTAP": (1_024, 8_192), "WINDOWS": (32, 8_000), "LUSTRE": (1_200, 24_000)}
_METRICS = (*WORK, "ClientConnections")


def _made(d: Draw, kinds: tuple[Kind, ...] = _KINDS, ontap_type: str = "RW", **more: Any) -> FsxFileSystem:
    """Plant a file system of any type and size on the smallest file server, a quarter to nine tenths full."""
    kind = d.pick(*kinds)
    deployment, throughput = d.pick(*_SMALLEST[kind])
    usual: dict[str, Any] = {"throughput": throughput, "days": d.uniform(60, 900), "used": d.uniform(0.25, 0.9)}
    settings = {**usual, "backup_days": d.integer(0, 31), "tags": d.tags(), **more}
    if kind == "ONTAP":
        metrics = more.get("telemetry", {})
        settings["telemetry"] = {metric: metrics[metric] for metric in metrics if metric != "ClientConnections"}
    if kind == "OPENZFS":
        settings.setdefault("storage_gib", d.whole(64, 8_000))
        return d.build.openzfs(d.name, deployment=deployment, **settings)
    settings |= {"storage_gib": d.whole(*_GIB[kind]), "volumes": ("home", "projects", "archive")[: d.integer(1, 4)]}
    return d.build.server(d.name, kind, deployment, ontap_type=ontap_type, **settings)


def _used(
    d: Draw, values: Floats, clients: int, *, kinds: tuple[Kind, ...] = _KINDS, read: bool = True, write: bool = True
) -> FsxFileSystem:
    """Plant reads, writes and metadata in some rhythm, with clients during that time."""
    rates: tuple[Rate, Rate] = ((0.05, 20) if read else 0.0, (0.02, 10) if write else 0.0)
    work = d.work(d.published(values), *rates, (4, 1_024), (100, 1_024), (1, 100))
    return _made(d, kinds, activity=work, telemetry={"ClientConnections": _connected(d, values, clients)})


def _connected(d: Draw, values: Floats, clients: int) -> Track:
    return given(d.published(np.ceil(np.minimum(values, 1.0))), scale=clients)


def _moved_away(d: Draw) -> FsxFileSystem:
    left = d.ago(d.uniform(38, 250))
    work = d.published(d.working_days())
    rates = {metric: d.spread(10, 1e4) for metric in _METRICS}
    nothing = given(d.signal(np.zeros(MINUTES)), since=left)
    telemetry = {name: (*given(work, scale=rate, digits=0, until=left), *nothing) for name, rate in rates.items()}
    return _made(d, days=d.uniform(300, 900), telemetry=telemetry)


def _probed(d: Draw) -> FsxFileSystem:
    asked = d.runs(d.daily(), d.uniform(1, 10), 1.0)
    checks = given(d.published(asked), scale=d.spread(1, 20), digits=0)
    return _made(d, _WITH_CLIENTS, telemetry={"MetadataOperations": checks})


def _openzfs_replica(d: Draw) -> FsxFileSystem:
    """Plant a replica that receives data every day or week, which needs no client."""
    gib = d.whole(64, 8_000)
    every = d.pick(1, 7)
    copied = np.cumsum(d.runs(d.daily(every), 1)) * every * d.spread(0.002, 0.1) / 35
    space = given(d.signal(d.uniform(0.3, 0.9) * (1 + copied)), scale=gib * GIB, digits=0)
    return _made(d, ("OPENZFS",), storage_gib=gib, telemetry={"UsedStorageCapacity": space})


FSX_IDLE_ISSUES: Rows = {
    "never-used: Made, and never mounted.": lambda d: _made(d, days=d.spread(14, 400), used=d.uniform(0.0, 0.02)),
    "moved-away: Used for months, until its users moved.": _moved_away,
    "gappy-zeros: Zeros, with missing and late points.": lambda d: _made(
        d, telemetry={metric: given(d.never()) for metric in _METRICS}
    ),
    "probed: Metadata is asked for, and no client is there.": _probed,
    # If nobody uses the file system, ONTAP moves its data to the capacity pool, and its SSD empties.
    "tiered-away: ONTAP that nobody uses, its data in the pool.": lambda d: _made(
        d, ("ONTAP",), used=d.uniform(0.02, 0.3), pool_gib=d.whole(100, 20_000)
    ),
}
FSX_IDLE_CONTROLS: Rows = {
    **quiet(_used),
    "now-and-then: Somebody looks something up, every ten days or so.": lambda d: _used(
        d, d.runs(d.visits(), d.uniform(1, 30)), 1, write=d.chance(0.5)
    ),
    "backup-target: Written by a backup, and never read.": lambda d: _used(
        d, d.runs(d.daily(d.pick(1, 7)), d.uniform(10, 200)), d.integer(1, 9), read=False
    ),
    "mounted: Mounted, and not read for a month.": lambda d: _made(
        d, _WITH_CLIENTS, telemetry={"ClientConnections": _connected(d, np.ones(MINUTES), d.integer(1, 9))}
    ),
    # Clients look for new files and find none. Connections are not published.
    "listed: ONTAP whose files are listed, and not read.": lambda d: _used(
        d, d.runs(d.daily(d.pick(1, 7)), d.uniform(1, 60)), 1, kinds=("ONTAP",), read=False, write=False
    ),
    "ontap-replica: ONTAP that replication writes.": lambda d: _made(d, ("ONTAP",), ontap_type="DP"),
    "openzfs-replica: OpenZFS that snapshots are copied to.": _openzfs_replica,
    "back-today: Quiet for weeks, and in use again.": lambda d: _used(d, d.back(2), d.integer(1, 9)),
    "young: Made days ago, and not used yet.": lambda d: _made(d, days=d.uniform(0.05, 5)),
    "kept: Idle, and its owner says so: tagged keep.": lambda d: _made(d, tags={"keep": "true"}),
}
FSX_IDLE_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _made(
        d, telemetry=dict.fromkeys((*_METRICS, "UsedStorageCapacity"), d.silent())
    ),
    "half-dark: Days without any metric.": lambda d: _made(d, telemetry=dict.fromkeys(_METRICS, d.zeros(holes=True))),
}
