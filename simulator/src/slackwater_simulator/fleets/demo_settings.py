"""EBS: volume types and settings that cost more than the work needs."""

from __future__ import annotations

from slackwater_simulator.resources import KIB, Activity, Instance

from .builder import Builder
from .demo_parts import cpu, io, server, volume_on


def settings(build: Builder) -> None:
    """Issues and their look-alikes."""
    _iops(build)
    _types(build)


def _server(build: Builder, name: str, kind: str, owner: str, days: float) -> Instance:
    number = len(build.instances)
    return server(build, name, kind, owner, days, (8, number), (14, number + 1), cpu(build, top=60, variant=number))


def _iops(build: Builder) -> None:
    server = _server(build, "rights-db", "r6i.2xlarge", "finance", 240)
    volume_on(
        build, server, "rights-ledger", 400, type="io2", iops=8000, activity=io(build, "office", 3, 2, size=8 * KIB)
    )
    month_end = build.shapes.signal(build.shapes.blocks([(16, 15.0, 4.0, 1.0)], rest=0.03))
    volume_on(
        build,
        server,
        "royalty-runs",
        300,
        device="/dev/sdg",
        iops=9000,
        activity=Activity(shape=month_end, read=60.0 * 2**20, write=8.0 * 2**20, read_size=8 * KIB, write_size=8 * KIB),
    )


def _types(build: Builder) -> None:
    server = _server(build, "catalogue-1", "m6i.xlarge", "web", 420)

    for name, size, device, activity, more in (
        ("catalogue-db", 250, "f", io(build, "office", 12, 6, size=16 * KIB), {"type": "io1", "iops": 3000}),
        ("covers", 600, "g", io(build, "bursty", 30, 12, variant=1), {"type": "gp2"}),
        ("feeds-export", 220, "h", io(build, "nightly", 245, 1, variant=2, size=256 * KIB), {"type": "gp2"}),
    ):
        volume_on(build, server, name, size, device=f"/dev/sd{device}", activity=activity, **more)
