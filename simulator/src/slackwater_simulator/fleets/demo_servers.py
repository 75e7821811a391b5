"""FSx: file servers that nobody uses, or that are far too large."""

from __future__ import annotations

from slackwater_simulator.resources import GIB, MIB, Activity, Export, given

from .builder import Builder
from .demo_parts import io, tags

_ASYNC = ("rw", "crossmnt", "async")


def servers(build: Builder) -> None:
    """Issues and their look-alikes."""
    _idle(build)
    _oversized(build)


def _idle(build: Builder) -> None:
    farm = build.openzfs("render-farm", storage_gib=1_024, throughput=320, days=410, used=0.62, tags=tags("video"))
    build.export(farm, "frames", Export("10.0.0.0/16", _ASYNC), tags=tags("video", Name="render-farm-frames"))
    build.server(
        "studio-b-shares",
        "ONTAP",
        "MULTI_AZ_1",
        storage_gib=2_048,
        throughput=256,
        days=500,
        volumes=("projects", "sound"),
        used=0.45,
        tags=tags("video"),
    )

    month = build.shapes.signal(build.shapes.blocks([(14, 0.5, 5.0, 1.0)]))
    build.openzfs(
        "month-end-books",
        activity=Activity(shape=month, read=8.0 * MIB, write=2.0 * MIB, metadata=40.0),
        telemetry={"ClientConnections": given(month, scale=2, digits=0)},
        tags=tags("legal"),
    )
    build.server(
        "erp-standby",
        "ONTAP",
        "SINGLE_AZ_1",
        storage_gib=1_024,
        throughput=128,
        volumes=("documents",),
        ontap_type="DP",
        used=0.4,
        tags=tags("platform"),
    )


def _oversized(build: Builder) -> None:
    build.server(
        "blog-content",
        "ONTAP",
        "MULTI_AZ_1",
        storage_gib=1_024,
        throughput=128,
        volumes=("wordpress",),
        activity=io(build, "office", 6, 1, variant=3),
        clients=3.0,
        disk_iops_peak=8.0,
        used=0.055,
        tags=tags("web"),
    )
    film = build.openzfs(
        "feature-film",
        storage_gib=6_000,
        activity=io(build, "office", 20, 5, variant=4),
        clients=6.0,
        disk_iops_peak=6.0,
        used=0.05,
        tags=tags("video"),
    )
    build.export(film, "cut", Export("10.0.0.0/16", _ASYNC), tags=tags("video", Name="feature-film-cut"))

    nights = build.shapes.blocks([(9, 14.0, 9.0, 0.72)], 0.06)
    grading = build.openzfs(
        "colour-grading",
        storage_gib=4_000,
        activity=io(build, "nightly", 60, 30, variant=2),
        clients=4.0,
        disk_iops_peak=35.0,
        telemetry={"UsedStorageCapacity": given(build.shapes.signal(nights), scale=4_000 * GIB, digits=0)},
        tags=tags("video"),
    )
    build.export(grading, "reels", Export("10.0.0.0/16", _ASYNC), tags=tags("video", Name="colour-grading-reels"))
    build.server(
        "film-archive",
        "ONTAP",
        "SINGLE_AZ_1",
        storage_gib=1_024,
        throughput=128,
        volumes=("films",),
        activity=io(build, "office", 4, 1, variant=5),
        clients=2.0,
        used=0.12,
        pool_gib=18_000,
        tags=tags("video"),
    )
