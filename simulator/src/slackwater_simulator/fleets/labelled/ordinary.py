"""What most of an account is: resources at ordinary work, of which nothing is to be said.

They share a few shapes, because there are many of them.
"""

from __future__ import annotations

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import KIB, MIB, Activity, ElasticFileSystem, Flow

from .rhythms import Random, cpu, spread, tags

_SHAPES = ("steady", "office", "nightly", "bursty", "trickle")


def file_system(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A file system that clients use."""
    shape = build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6)))
    return build.file_system(
        name,
        days=random.uniform(10, 900),
        standard_bytes=int(spread(random, 0.1, 2_000) * 2**30),
        mode=("bursting", "elastic")[int(random.integers(2))],
        activity=Activity(
            shape=shape,
            read=spread(random, 0.01, 30) * MIB,
            write=spread(random, 0.01, 10) * MIB,
            metadata=spread(random, 1, 100) * KIB,
        ),
        clients=Flow(build.shapes.shape("steady", int(random.integers(6))), int(random.integers(1, 30))),
        tags=dict(tags(random)),
    )


def volumes(random: Random, build: Builder, name: str, count: int) -> None:
    """Volumes with the settings that every gp3 or gp2 has, all of one instance."""
    host = build.instance(
        f"{name}-host", "m6i.xlarge", days=random.uniform(20, 400), cpu=cpu(random, build), tags=dict(tags(random))
    )
    for number in range(count):
        shape = build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6)))
        build.volume(
            f"{name}-{number}",
            int(spread(random, 8, 2_000)),
            on=host,
            type=("gp3", "gp2")[int(random.integers(2))],
            activity=Activity(shape=shape, read=spread(random, 0.01, 60) * MIB, write=spread(random, 0.01, 60) * MIB),
            tags=dict(tags(random)),
        )
