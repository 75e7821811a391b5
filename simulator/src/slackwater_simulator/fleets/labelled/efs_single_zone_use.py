"""Regional file systems that can be mounted in one zone, and others that look like them on paper.

Where the clients of a single mount target are is known to nobody, so the truth here is the configuration: what a person should
be asked about. Left out: mount targets that came or went within the last days.
"""

from __future__ import annotations

from typing import Any

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, TIB, Activity, ElasticFileSystem, Flow, Replication

from .rhythms import Random, chance, published, spread, tags, wobble, working_days
from .scenario import Scenario, each

_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def _made(random: Random, build: Builder, name: str, **more: Any) -> ElasticFileSystem:
    """A file system in daily use by a few clients."""
    stored_gib = spread(random, 5, 1_500)
    shape = published(random, build, working_days(random, build) if chance(random, 0.5) else 0.6 * wobble(random))
    settings: dict[str, Any] = {
        "days": random.uniform(40, 900),
        "standard_bytes": int(stored_gib * GIB),
        "ia_bytes": int(stored_gib * random.uniform(0.2, 3) * GIB) if chance(random, 0.4) else 0,
        "lifecycle": _COLD,
        "activity": Activity(
            shape=shape,
            read=spread(random, 0.01, 1) * MIB,
            write=spread(random, 0.01, 0.3) * MIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=spread(random, 1, 20) * KIB,
        ),
        "clients": Flow(build.shapes.shape("steady", int(random.integers(6))), int(random.integers(4, 30))),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})


def _zone(random: Random) -> str:
    return "acd"[int(random.integers(3))]


def _one_target(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, zones=_zone(random))


def _two_weeks(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, zones=_zone(random), days=random.uniform(8, 20))


def _several(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, zones="acd" if chance(random, 0.6) else "ac")


def _one_zone(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, one_zone=_zone(random))


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, zones=_zone(random), days=random.uniform(0.05, 6))


def _replicated(random: Random, build: Builder, name: str, *, label_source: bool) -> ElasticFileSystem:
    source = _made(random, build, f"{name}-source", zones=_zone(random))
    replica = _made(random, build, f"{name}-replica", zones=_zone(random), replica=True, activity=None, ia_bytes=0)
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region=build.region,
            destination_id=replica.id,
            destination_region=build.region,
            created=replica.created,
        )
    )
    return source if label_source else replica


def _source(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _replicated(random, build, name, label_source=True)


def _replica(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _replicated(random, build, name, label_source=False)


def _archive(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Mostly in Archive, which One Zone has not: its Infrequent Access costs more than that."""
    archive = int(spread(random, 3, 20) * TIB)
    stored = {"standard_bytes": int(spread(random, 2, 20) * GIB), "ia_bytes": 0, "archive_bytes": archive}
    return _made(random, build, name, zones=_zone(random), mode="elastic", **stored)


SCENARIOS = (
    Scenario(name="one-target", story="Its only mount target is in one zone.", plant=each(_one_target), trouble=True),
    Scenario(name="two-weeks", story="The same, and no month old.", plant=each(_two_weeks), trouble=True),
    Scenario(name="several-zones", story="Mount targets in two or three zones.", plant=each(_several)),
    Scenario(name="one-zone", story="One Zone already.", plant=each(_one_zone)),
    Scenario(name="young", story="Made days ago: its other mount targets are to come.", plant=each(_young)),
    Scenario(name="replication-source", story="The source of a replication.", plant=each(_source)),
    Scenario(name="replica", story="A replica.", plant=each(_replica)),
    Scenario(name="archive", story="Mostly in Archive, which would cost more in One Zone.", plant=each(_archive)),
)
