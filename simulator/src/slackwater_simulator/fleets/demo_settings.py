"""EBS: volume types and settings that cost more than the work needs."""

from __future__ import annotations

from typing import Any

from slackwater_simulator.resources import KIB, Activity, Instance

from .builder import Builder
from .demo_parts import cpu, io, server, volume_on


def settings(build: Builder) -> None:
    """Troubles and their innocent twins."""
    _iops(build)
    _types(build)


def _server(build: Builder, name: str, kind: str, owner: str, days: float) -> Instance:
    number = len(build.instances)
    return server(build, name, kind, owner, days, (8, number), (14, number + 1), cpu(build, top=60, variant=number))


def _iops(build: Builder) -> None:
    trouble = "ebs-surplus-iops"
    server = _server(build, "rights-db", "r6i.2xlarge", "finance", 240)
    ledger = volume_on(
        build, server, "rights-ledger", 400, type="io2", iops=8000, activity=io(build, "office", 3, 2, size=8 * KIB)
    )
    build.plant(
        ledger,
        "Eight thousand IOPS, because the vendor's manual said so.",
        trouble,
        why="At most 640 operations of 8 KiB a second.",
    )
    month_end = build.shapes.signal(build.shapes.blocks([(16, 15.0, 4.0, 1.0)], rest=0.03))
    royalties = volume_on(
        build,
        server,
        "royalty-runs",
        300,
        device="/dev/sdg",
        iops=9000,
        activity=Activity(shape=month_end, read=60.0 * 2**20, write=8.0 * 2**20, read_size=8 * KIB, write_size=8 * KIB),
    )
    build.plant(
        royalties,
        "At rest, but for the night in which royalties are computed.",
        twin_of=trouble,
        why="8,700 IOPS once a month.",
    )


def _types(build: Builder) -> None:
    trouble = "ebs-outdated-type"
    server = _server(build, "catalogue-1", "m6i.xlarge", "web", 420)

    def volume(name: str, size: int, device: str, story: str, activity: Activity, *, why: str, **more: Any) -> None:
        twin = more.pop("twin", False)
        made = volume_on(build, server, name, size, device=device, activity=activity, **more)
        build.plant(made, story, *([] if twin else [trouble]), twin_of=trouble if twin else None, why=why)

    volume(
        "catalogue-db",
        250,
        "/dev/sdf",
        "io1, as the template of 2019 had it.",
        io(build, "office", 12, 6, size=16 * KIB),
        type="io1",
        iops=3000,
        why="1,150 IOPS and 18 MiB/s at most: less than every gp3 includes.",
    )
    volume(
        "covers",
        600,
        "/dev/sdg",
        "gp2, made before there was gp3.",
        io(build, "bursty", 30, 12, variant=1),
        type="gp2",
        why="At most 42 MiB/s in any minute.",
    )
    volume(
        "feeds-export",
        220,
        "/dev/sdh",
        "gp2 that is read out at full speed every night.",
        io(build, "nightly", 245, 1, variant=2, size=256 * KIB),
        type="gp2",
        twin=True,
        why="gp3 with its 250 MiB/s would cost more at this size.",
    )
