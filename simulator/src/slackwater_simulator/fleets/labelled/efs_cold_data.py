"""File systems that keep in Standard what nobody touches, and others that need what they keep there.

A trouble touches less than 40 % of what it stores in 36 days, each byte once. A file system that reads the same files again and
again is innocent here, as nothing that it publishes says how few they are. Left out, because even the truth is in doubt: 40 to
65 %, and a few huge files of which a part is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, TIB, Activity, ElasticFileSystem, Flow, Replication, given
from slackwater_simulator.series import DAY, Signal
from slackwater_simulator.shapes import MINUTES

from .rhythms import (
    Random,
    chance,
    daily,
    first_weekday,
    monthly,
    published,
    runs,
    spread,
    tags,
    without_days,
    wobble,
    working_days,
)
from .scenario import Scenario, each

_WINDOW = 36 * DAY
_SHAPES = ("steady", "office", "nightly", "bursty", "trickle")
_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)
_BACK = (("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS"),)


def _made(
    random: Random, build: Builder, name: str, shape: Signal, *, read: float, written: float, **more: Any
) -> ElasticFileSystem:
    """A file system that reads and writes these parts of what it stores in 36 days."""
    stored = more.pop("standard_bytes", None) or int(spread(random, 120, 900) * GIB)
    per_s = stored / _WINDOW / max(1e-9, float(shape.stats.total.mean()))
    settings: dict[str, Any] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.3) else None,
        "days": random.uniform(45, 900),
        "standard_bytes": stored,
        "activity": Activity(
            shape=shape,
            read=read * per_s,
            write=written * per_s,
            read_size=spread(random, 32, 1_024) * KIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=spread(random, 1, 20) * KIB,
        ),
        "clients": Flow(published(random, build, np.ones(MINUTES)), int(random.integers(4, 20))),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})


def _any_shape(random: Random, build: Builder) -> Signal:
    return build.shapes.shape(_SHAPES[int(random.integers(5))], int(random.integers(6)))


def _library(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    read, written = spread(random, 0.001, 0.3), spread(random, 0.001, 0.05)
    return _made(random, build, name, _any_shape(random, build), read=read, written=written)


def _growing(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    read, written = random.uniform(0.01, 0.1), random.uniform(0.05, 0.28)
    shape = published(
        random, build, runs(build, daily(random, build), random.uniform(60, 300), 0.8, 0.01) * wobble(random)
    )
    return _made(random, build, name, shape, read=read, written=written)


def _homes(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    shape = published(random, build, working_days(random, build))
    return _made(random, build, name, shape, read=random.uniform(0.05, 0.28), written=random.uniform(0.01, 0.1))


def _untouched(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, published(random, build, np.zeros(MINUTES)), read=0.0, written=0.0)


def _only_back(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A policy that brings files back, and none that ever moves them away."""
    return _made(random, build, name, _any_shape(random, build), read=0.1, written=0.02, lifecycle=_BACK)


def _large(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    shape = build.shapes.shape(("steady", "office")[int(random.integers(2))], int(random.integers(6)))
    size = int(spread(random, 1.2, 8) * TIB)
    return _made(random, build, name, shape, read=random.uniform(0.01, 0.2), written=0.02, standard_bytes=size)


def _tiered(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    cold = int(spread(random, 100, 2_000) * GIB)
    return _made(random, build, name, _any_shape(random, build), read=0.1, written=0.02, lifecycle=_COLD, ia_bytes=cold)


def _all_at_once(random: Random, build: Builder, name: str, starts: list[int], every: float) -> ElasticFileSystem:
    """Read from end to end by a job that runs so many times in 36 days."""
    shape = published(random, build, runs(build, starts, random.uniform(150, 600)))
    size = int(spread(random, 120, 600) * GIB)
    return _made(random, build, name, shape, read=random.uniform(0.97, 1.2) * every, written=0.02, standard_bytes=size)


def _monthly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    starts = monthly(random, build) if chance(random, 0.5) else first_weekday(random, build)
    return _all_at_once(random, build, name, starts, len(starts) * 36 / 35)


def _weekly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _all_at_once(random, build, name, daily(random, build, 7), 5)


def _busy(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    shape = build.shapes.shape("office" if chance(random, 0.5) else "steady", int(random.integers(6)))
    return _made(random, build, name, shape, read=spread(random, 1.5, 12), written=random.uniform(0.02, 0.5))


def _rewritten(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    shape = published(
        random, build, runs(build, daily(random, build), random.uniform(120, 300), 0.8, 0.01) * wobble(random)
    )
    return _made(random, build, name, shape, read=0.1, written=random.uniform(0.75, 3))


def _small(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    size = int(spread(random, 10, 97) * GIB)
    return _made(random, build, name, _any_shape(random, build), read=0.05, written=0.01, standard_bytes=size)


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, _any_shape(random, build), read=0.05, written=0.01, days=random.uniform(1, 29))


def _replica(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    made = _made(random, build, f"{name}-source", _any_shape(random, build), read=0.1, written=0.02, lifecycle=_COLD)
    replica = build.file_system(
        name, standard_bytes=made.standard_bytes, days=random.uniform(45, 400), replica=True, tags=dict(tags(random))
    )
    build.replications.append(
        Replication(
            source_id=made.id,
            source_region=build.region,
            destination_id=replica.id,
            destination_region=build.region,
            created=replica.created,
        )
    )
    return replica


def _on_credits(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its clients list directories all day: 1.4 MiB/s and more of metadata, within what its size earns and beyond the least."""
    size = int(spread(random, 200, 900) * GIB)
    earned = 50 * KIB * size / GIB
    shape = published(random, build, working_days(random, build) if chance(random, 0.5) else 0.6 * wobble(random))
    metadata = min(spread(random, 1.4 * MIB, 0.6 * earned) / float(shape.stats.total.mean()), 50.0 * MIB)
    work = Activity(shape=shape, read=0.01 * MIB, write=0.005 * MIB, write_size=256 * KIB, metadata=metadata)
    return _made(random, build, name, shape, read=0.0, written=0.0, standard_bytes=size, activity=work)


def _large_bursts(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Above 1 TiB a burst goes by the size: once a week it writes faster than a small file system may."""
    size = int(spread(random, 4, 9) * TIB)
    minutes, rate = random.uniform(10, 20), random.uniform(150, 300) * MIB
    shape = published(random, build, runs(build, daily(random, build, 7), minutes, 1.0, 0.0005))
    work = Activity(shape=shape, read=MIB, write=rate, write_size=MIB, metadata=KIB)
    return _made(random, build, name, shape, read=0.0, written=0.0, standard_bytes=size, activity=work)


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    shape = build.shapes.shape("office", 0)
    return _made(random, build, name, shape, read=0.1, written=0.02, voice="dark", activity=None, clients=None)


def _half_dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """On some days nobody knows what was read."""
    read = given(build.shapes.signal(without_days(random, build, np.ones(MINUTES))), scale=1_000.0)
    return _made(
        random,
        build,
        name,
        build.shapes.shape("office", 0),
        read=0.1,
        written=0.02,
        telemetry={"DataReadIOBytes": read},
    )


SCENARIOS = (
    Scenario(name="library", story="Kept for years, and hardly read.", plant=each(_library), trouble=True),
    Scenario(
        name="growing", story="New files come every night; the old ones rest.", plant=each(_growing), trouble=True
    ),
    Scenario(name="homes", story="Home directories: everybody works on a few files.", plant=each(_homes), trouble=True),
    Scenario(name="untouched", story="Mounted, and nothing is read.", plant=each(_untouched), trouble=True),
    Scenario(name="only-back", story="A policy that only brings files back.", plant=each(_only_back), trouble=True),
    Scenario(name="large", story="Terabytes that are hardly read.", plant=each(_large), trouble=True),
    Scenario(name="tiered", story="A policy moves what is cold.", plant=each(_tiered)),
    Scenario(name="monthly", story="Read from end to end once a month.", plant=each(_monthly)),
    Scenario(name="weekly", story="Read from end to end every week.", plant=each(_weekly)),
    Scenario(name="busy", story="Reads far more than it stores.", plant=each(_busy)),
    Scenario(name="rewritten", story="Written anew every month or faster.", plant=each(_rewritten)),
    Scenario(name="small", story="Cold, and below 100 GiB.", plant=each(_small)),
    Scenario(name="young", story="Cold, and not a month old.", plant=each(_young)),
    Scenario(name="replica", story="A replica, which nobody reads.", plant=each(_replica)),
    Scenario(name="on-credits", story="It lives on the credits that its size earns.", plant=each(_on_credits)),
    Scenario(
        name="large-bursts", story="Once a week it needs the burst that its size gives it.", plant=each(_large_bursts)
    ),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="half-dark", story="Days on which nobody knows what was read.", plant=each(_half_dark), full=False),
)
