"""FSx: exports whose writers wait, and exports that wait for something else."""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import KIB, MIB, Activity, Export, FsxVolume
from slackwater_simulator.shapes import noise

from .builder import Builder
from .demo_parts import tags

_WORDPRESS = "report “Sharing WordPress content on FSx for OpenZFS” (2025-03)"


def _writes(
    build: Builder,
    name: str,
    hours: float,
    offered: float,
    *,
    ack: float,
    writers: float,
    size: float,
    read_mib: float = 1.0,
) -> Activity:
    """Writes that wait for their acknowledgement, in a daily publishing run."""
    shapes = build.shapes
    wanted = shapes.blocks([(day, 3.0, hours, offered) for day in range(35)], offered * 0.004) * noise(
        shapes.random(name, "offered"), 0.2
    )
    done = nfs_writes(
        wanted,
        acknowledgement_s=ack,
        writers=writers,
        jitter=np.clip(noise(shapes.random(name, "ack"), 0.015), 0.95, 1.05),
    )
    peak = float(done.max())
    return Activity(
        shape=shapes.signal(done / peak),
        write=peak * size,
        write_size=size,
        read=read_mib * MIB,
        read_size=64 * KIB,
        metadata=120.0,
    )


def exports(build: Builder) -> None:
    """NFS exports."""
    sync, fast = ("rw", "crossmnt"), ("rw", "crossmnt", "async")

    def serve(
        name: str, volume: str, exports: tuple[Export, ...], activity: Activity, owner: str, **more: Any
    ) -> FsxVolume:
        system = build.openzfs(name, activity=activity, clients=3.0, tags=tags(owner), **more)
        return build.export(system, volume, *exports, activity=activity, tags=tags(owner, Name=f"{name}-{volume}"))

    slow = _writes(build, "wordpress", 2.0, 420, ack=0.0029, writers=1, size=8 * KIB)
    serve("wordpress-content", "wordpress", (Export("10.0.0.0/16", sync),), slow, "web", disk_iops_peak=14.0)
    slow = _writes(build, "staging", 1.5, 500, ack=0.0031, writers=1, size=12 * KIB)
    mixed = (Export("10.0.1.0/24", fast), Export("10.0.2.0/24", sync), Export("*", ("ro", "crossmnt", "async")))
    serve("wordpress-staging", "wordpress", mixed, slow, "web", disk_iops_peak=12.0, iops=960, throughput=320)

    rare = _writes(build, "docs", 0.3, 6, ack=0.0029, writers=1, size=16 * KIB)
    serve("docs-share", "docs", (Export("*", sync),), rare, "legal", deployment="SINGLE_AZ_2")
    disk = _writes(build, "builds", 4.0, 430, ack=0.0029, writers=1, size=16 * KIB)
    serve("build-cache", "cache", (Export("*", sync),), disk, "platform", deployment="SINGLE_AZ_2", disk_iops_peak=99.5)
    quick = _writes(build, "render", 6.0, 3400, ack=0.00027, writers=1, size=8 * KIB)
    serve(
        "render-scratch",
        "frames",
        (Export("*", fast),),
        quick,
        "video",
        throughput=320,
        iops=6000,
        storage_gib=512,
        disk_iops_peak=48.0,
        server_peak=45.0,
    )
    _bought(build)
    large = _writes(build, "ingest", 5.0, 85, ack=0.0115, writers=1, size=MIB)
    serve(
        "video-ingest",
        "raw",
        (Export("*", sync),),
        large,
        "video",
        throughput=320,
        storage_gib=1024,
        disk_iops_peak=20.0,
        server_peak=38.0,
    )


def _bought(build: Builder) -> None:
    """File servers and IOPS that were bought for a day that is over, or that are needed one night a month."""
    shapes = build.shapes

    def work(variant: int, mib: float) -> Activity:
        return Activity(shape=shapes.shape("office", variant), read=mib * MIB, write=mib / 4 * MIB, metadata=150.0)

    build.openzfs(
        "footage-archive",
        storage_gib=4096,
        throughput=1280,
        activity=work(1, 60),
        clients=9.0,
        server_peak=7.0,
        disk_iops_peak=8.0,
        used=0.7,
        tags=tags("video"),
    )
    build.openzfs(
        "print-proofs",
        storage_gib=600,
        iops=12_000,
        activity=work(2, 12),
        clients=6.0,
        server_peak=30.0,
        disk_iops_peak=11.0,
        used=0.55,
        tags=tags("web"),
    )
    night = shapes.signal(np.maximum(shapes.blocks([(12, 15.0, 5.0, 1.0)]), 0.02))
    build.openzfs(
        "month-end",
        storage_gib=800,
        throughput=640,
        iops=9_000,
        activity=Activity(shape=night, read=280.0 * MIB, write=90.0 * MIB, metadata=200.0),
        clients=4.0,
        server_peak=72.0,
        disk_iops_peak=81.0,
        used=0.6,
        tags=tags("finance"),
    )
