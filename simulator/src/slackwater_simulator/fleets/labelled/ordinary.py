"""What most of an account is: resources at ordinary work, of which nothing is to be said.

They share a few shapes, because there are many of them.
"""

from __future__ import annotations

from typing import Any

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, FsxFileSystem
from slackwater_simulator.series import Signal

from .rhythms import Random, chance, cpu, daily, runs, spread, tags

_SHAPES = ("steady", "office", "nightly", "bursty", "trickle")
_FULL_BURST_MIB = 60
"""Well below the 100 MiB/s that every bursting file system has while there are credits."""
_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def file_system(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A file system that several clients use, in several zones, in the throughput mode that suits it."""
    stored_gib = spread(random, 0.1, 2_000)
    if chance(random, 0.1):
        mode, shape, metered = (
            "elastic",
            _batches(random, build),
            random.uniform(130, 300) * max(1.0, stored_gib / 1_024),
        )
    else:
        mode, shape = "bursting", build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6)))
        earned = max(1.0, 50 * stored_gib / 1024) / float(shape.stats.total.mean())
        metered = min(_FULL_BURST_MIB, earned * spread(random, 0.02, 0.5))
    written = random.uniform(0.05, 0.6)
    return build.file_system(
        name,
        days=random.uniform(10, 900),
        standard_bytes=int(stored_gib * GIB),
        ia_bytes=int(stored_gib * random.uniform(0.5, 3) * GIB) if stored_gib >= 100 else 0,
        lifecycle=_COLD if stored_gib >= 100 else (),
        mode=mode,
        activity=Activity(
            shape=shape,
            read=metered * (1 - written) * 3 * 0.95 * MIB,
            write=metered * written * 0.95 * MIB,
            read_size=spread(random, 32, 1_024) * KIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=metered * 0.02 * MIB,
        ),
        clients=Flow(build.shapes.shape("steady", int(random.integers(6))), int(random.integers(4, 30))),
        tags=dict(tags(random)),
    )


def _batches(random: Random, build: Builder) -> Signal:
    """Faster than a burst, for minutes a day: what Elastic throughput is for."""
    return build.shapes.signal(runs(build, daily(random, build), random.uniform(10, 15), 1.0, 0.001))


def volumes(random: Random, build: Builder, name: str, count: int) -> None:
    """Volumes with the settings that every gp3 has, all of one instance that carries them."""
    host = build.instance(
        f"{name}-host", "m6i.8xlarge", days=random.uniform(40, 400), cpu=cpu(random, build), tags=dict(tags(random))
    )
    for number in range(count):
        shape = build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6)))
        build.volume(
            f"{name}-{number}",
            int(spread(random, 8, 2_000)),
            on=host,
            activity=Activity(shape=shape, read=spread(random, 0.1, 40) * MIB, write=spread(random, 0.1, 40) * MIB),
            tags=dict(tags(random)),
        )


def server(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """An FSx file system of any type that is well filled, and whose busiest minutes need more than half of its file server."""
    work = spread(random, 5, 200)
    written = random.uniform(0.05, 0.6)
    settings: dict[str, Any] = {
        "days": random.uniform(10, 900),
        "activity": Activity(
            shape=build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6))),
            read=work * (1 - written) * MIB,
            write=work * written * MIB,
            read_size=spread(random, 32, 1_024) * KIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=spread(random, 1, 300),
        ),
        "clients": float(random.integers(2, 30)),
        "disk_iops_peak": random.uniform(20, 90),
        "server_peak": random.uniform(55, 95),
        "used": random.uniform(0.25, 0.9),
        "tags": dict(tags(random)),
    }
    match int(random.integers(4)):
        case 0:
            return build.openzfs(name, storage_gib=int(spread(random, 64, 16_000)), **settings)
        case 1:
            size = int(spread(random, 1_024, 20_000))
            volumes = ("home", "projects")[: int(random.integers(1, 3))]
            return build.server(
                name, "ONTAP", "MULTI_AZ_1", storage_gib=size, throughput=512, volumes=volumes, **settings
            )
        case 2:
            return build.server(
                name, "WINDOWS", "MULTI_AZ_1", storage_gib=int(spread(random, 32, 8_000)), throughput=64, **settings
            )
    size = int(random.integers(1, 20)) * 2_400
    return build.server(name, "LUSTRE", "PERSISTENT_2", storage_gib=size, throughput=250, **settings)
