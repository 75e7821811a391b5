"""Add the demo's FSx file systems: exports whose writers wait, and unused or oversized file servers."""

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, Export, given
from slackwater_simulator.shapes import noise

from .builder import Builder
from .demo_parts import io, tags, work

_SYNC, _ASYNC = ("rw", "crossmnt"), ("rw", "crossmnt", "async")
_OURS, _ANYBODY = "10.0.0.0/16", "*"
_LEAST_ONTAP: dict[str, Any] = {"storage_gib": 1_024, "throughput": 128}


def _writes(build: Builder, name: str, hours: float, offered: float, size: float, ack: float = 0.0029) -> Activity:
    """Return writes that wait for their acknowledgement, in a daily publishing run."""
    shapes = build.shapes
    runs = shapes.blocks([(day, 3.0, hours, offered) for day in range(35)], offered * 0.004)
    wanted = runs * noise(shapes.random(name, "offered"), 0.2)
    jitter = np.clip(noise(shapes.random(name, "ack"), 0.015), 0.95, 1.05)
    done = nfs_writes(wanted, acknowledgement_s=ack, writers=1, jitter=jitter)
    peak = float(done.max())
    return work(shapes.signal(done / peak), 1.0, peak * size / MIB, write_size=size, metadata=120)


def _served(
    build: Builder, name: str, owner: str, volume: str, *exports: Export, its: Activity | None = None, **more: Any
) -> None:
    """Add an OpenZFS file system with one exported volume. `its` is the volume's own activity."""
    system = build.openzfs(name, tags=tags(owner), **more)
    build.export(system, volume, *exports, activity=its, tags=tags(owner, Name=f"{name}-{volume}"))


def exports(build: Builder) -> None:
    """Add NFS exports whose writers wait, or seem to."""

    def serve(name: str, owner: str, volume: str, *exports: Export, activity: Activity, **more: Any) -> None:
        _served(build, name, owner, volume, *exports, its=activity, activity=activity, clients=3.0, **more)

    slow = _writes(build, "wordpress", 2.0, 420, 8 * KIB)
    serve("wordpress-content", "web", "wordpress", Export(_OURS, _SYNC), activity=slow, disk_iops_peak=14.0)
    slow = _writes(build, "staging", 1.5, 500, 12 * KIB, 0.0031)
    mixed = Export("10.0.1.0/24", _ASYNC), Export("10.0.2.0/24", _SYNC), Export(_ANYBODY, ("ro", "crossmnt", "async"))
    bought: dict[str, Any] = {"disk_iops_peak": 12.0, "iops": 960, "throughput": 320}
    serve("wordpress-staging", "web", "wordpress", *mixed, activity=slow, **bought)

    sync, one_zone = Export(_ANYBODY, _SYNC), "SINGLE_AZ_2"
    rare = _writes(build, "docs", 0.3, 6, 16 * KIB)
    serve("docs-share", "legal", "docs", sync, activity=rare, deployment=one_zone)
    disk = _writes(build, "builds", 4.0, 430, 16 * KIB)
    serve("build-cache", "platform", "cache", sync, activity=disk, deployment=one_zone, disk_iops_peak=99.5)
    quick = _writes(build, "render", 6.0, 3400, 8 * KIB, 0.00027)
    bought = {"throughput": 320, "iops": 6000, "storage_gib": 512, "disk_iops_peak": 48.0, "server_peak": 45.0}
    serve("render-scratch", "video", "frames", Export(_ANYBODY, _ASYNC), activity=quick, **bought)
    _bought(build)
    large = _writes(build, "ingest", 5.0, 85, MIB, 0.0115)
    bought = {"throughput": 320, "storage_gib": 1024, "disk_iops_peak": 20.0, "server_peak": 38.0}
    serve("video-ingest", "video", "raw", sync, activity=large, **bought)


def _bought(build: Builder) -> None:
    """Add file servers and IOPS that are no longer needed, or that are needed one night a month."""
    shapes = build.shapes
    night = shapes.signal(np.maximum(shapes.blocks([(12, 15.0, 5.0, 1.0)]), 0.02))

    def buy(name: str, owner: str, activity: Activity, clients: float, server: float, disk: float, **more: Any) -> None:
        """Add an OpenZFS file system with these peaks of its file server and its disks, in percent."""
        peaks: dict[str, Any] = {"server_peak": server, "disk_iops_peak": disk}
        build.openzfs(name, activity=activity, clients=clients, tags=tags(owner), **peaks, **more)

    viewed = work(shapes.shape("office", 1), 60, 15, metadata=150)
    buy("footage-archive", "video", viewed, 9.0, 7.0, 8.0, storage_gib=4096, throughput=1280, used=0.7)
    edited = work(shapes.shape("office", 2), 12, 3, metadata=150)
    buy("print-proofs", "web", edited, 6.0, 30.0, 11.0, storage_gib=600, iops=12_000, used=0.55)
    closed = work(night, 280, 90, metadata=200)
    buy("month-end", "finance", closed, 4.0, 72.0, 81.0, storage_gib=800, throughput=640, iops=9_000, used=0.6)


def servers(build: Builder) -> None:
    """Add file servers that nobody uses, and look-alikes."""
    ours = Export(_OURS, _ASYNC)
    _served(build, "render-farm", "video", "frames", ours, storage_gib=1_024, throughput=320, days=410, used=0.62)
    sold: dict[str, Any] = {"storage_gib": 2_048, "throughput": 256, "days": 500, "volumes": ("projects", "sound")}
    build.server("studio-b-shares", "ONTAP", "MULTI_AZ_1", used=0.45, tags=tags("video"), **sold)

    month = build.shapes.signal(build.shapes.blocks([(14, 0.5, 5.0, 1.0)]))
    clients = {"ClientConnections": given(month, scale=2, digits=0)}
    books = work(month, 8, 2, metadata=40)
    build.openzfs("month-end-books", activity=books, telemetry=clients, tags=tags("legal"))
    standby: dict[str, Any] = {"volumes": ("documents",), "ontap_type": "DP", "used": 0.4}
    build.server("erp-standby", "ONTAP", "SINGLE_AZ_1", tags=tags("platform"), **standby, **_LEAST_ONTAP)


def oversized(build: Builder) -> None:
    """Add file servers that are much too large, and look-alikes."""
    blog = io(build, "office", 6, 1, variant=3)
    small: dict[str, Any] = {"volumes": ("wordpress",), "clients": 3.0, "disk_iops_peak": 8.0, "used": 0.055}
    build.server("blog-content", "ONTAP", "MULTI_AZ_1", activity=blog, tags=tags("web"), **small, **_LEAST_ONTAP)

    cut, ours = io(build, "office", 20, 5, variant=4), Export(_OURS, _ASYNC)
    small = {"storage_gib": 6_000, "clients": 6.0, "disk_iops_peak": 6.0, "used": 0.05}
    _served(build, "feature-film", "video", "cut", ours, activity=cut, **small)
    filled = build.shapes.signal(build.shapes.blocks([(9, 14.0, 9.0, 0.72)], 0.06))
    space = {"UsedStorageCapacity": given(filled, scale=4_000 * GIB, digits=0)}
    reels = io(build, "nightly", 60, 30, variant=2)
    small = {"storage_gib": 4_000, "clients": 4.0, "disk_iops_peak": 35.0, "telemetry": space}
    _served(build, "colour-grading", "video", "reels", ours, activity=reels, **small)

    films = io(build, "office", 4, 1, variant=5)
    pool: dict[str, Any] = {"volumes": ("films",), "clients": 2.0, "used": 0.12, "pool_gib": 18_000}
    build.server("film-archive", "ONTAP", "SINGLE_AZ_1", activity=films, tags=tags("video"), **pool, **_LEAST_ONTAP)


def other_file_servers(build: Builder) -> None:
    """Add file servers without issues."""
    busy = work(build.shapes.shape("office", 2), 40, 12, metadata=200)
    usual: dict[str, Any] = {"activity": busy, "clients": 12.0, "disk_iops_peak": 30.0, "server_peak": 25.0}
    for name, kind, deployment, storage_gib, throughput in (
        ("erp-shares", "ONTAP", "MULTI_AZ_1", 2048, 512),
        ("training-data", "LUSTRE", "PERSISTENT_2", 4800, 250),
        ("office-files", "WINDOWS", "SINGLE_AZ_2", 1000, 64),
    ):
        size = {"storage_gib": storage_gib, "throughput": throughput}
        system = build.served(name, name, kind, deployment, days=220, tags=tags("platform"), **size, **usual)
        if kind == "ONTAP":
            svm = build.machine(system, name, "erp")
            for volume in ("documents", "scans"):
                build.ontap(svm, volume, volume, size_gib=800, activity=busy, tags=tags("platform"))
