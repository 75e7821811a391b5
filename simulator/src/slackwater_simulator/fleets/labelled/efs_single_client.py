"""File systems that one client has for itself, and others that several share, at least now and then.

Left out, because even the truth is in doubt: clients that are there for 85 to 93 % of the time, a second one for less than five
minutes, and clients that take turns, which look like one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, Replication
from slackwater_simulator.series import Floats
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

_COLD = (("TransitionToIA", "AFTER_90_DAYS"),)


def _made(random: Random, build: Builder, name: str, connected: Floats, **more: Any) -> ElasticFileSystem:
    """A file system of 10 to 1,000 GiB with so many clients by the minute."""
    shape = published(random, build, working_days(random, build) if chance(random, 0.5) else 0.6 * wobble(random))
    settings: dict[str, Any] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.4) else None,
        "days": random.uniform(45, 900),
        "standard_bytes": int(spread(random, 10, 1_000) * GIB),
        "lifecycle": _COLD,
        "activity": Activity(
            shape=shape,
            read=spread(random, 0.01, 2) * MIB,
            write=spread(random, 0.01, 0.3) * MIB,
            write_size=spread(random, 100, 1_024) * KIB,
            metadata=spread(random, 1, 20) * KIB,
        ),
        "clients": Flow(published(random, build, connected)),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})


def _away(build: Builder, starts: list[int], minutes: float) -> Floats:
    """One client but for some minutes from each start."""
    return 1.0 - runs(build, starts, minutes)


def _always(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, np.ones(MINUTES))


def _restarts(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    every = (1, 7, 10)[int(random.integers(3))]
    return _made(random, build, name, _away(build, daily(random, build, every), random.uniform(1, 15)))


def _maintained(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, _away(build, daily(random, build), random.uniform(30, 90)))


def _replaced(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Instances of a group of one: each comes when the one before is gone."""
    starts = [build.ago(day) for day in sorted(random.uniform(0.1, 34, int(random.integers(1, 8))).tolist())]
    return _made(random, build, name, _away(build, starts, random.uniform(3, 20)))


def _several(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, np.full(MINUTES, float(random.integers(2, 10))))


def _more_at(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> ElasticFileSystem:
    return _made(random, build, name, 1.0 + runs(build, starts, minutes, float(random.integers(1, 4))))


def _nightly_second(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _more_at(random, build, name, daily(random, build), random.uniform(6, 90))


def _monthly_second(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    starts = monthly(random, build) if chance(random, 0.5) else first_weekday(random, build)
    return _more_at(random, build, name, starts, random.uniform(10, 300))


def _overlap(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """An instance was replaced, and both were there for a while."""
    return _more_at(random, build, name, [build.ago(random.uniform(0.1, 34))], random.uniform(6, 40))


def _part_time(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, runs(build, daily(random, build), random.uniform(180, 1_150)))


def _in_gaps(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Two clients for some minutes of every hour and none for the others: on average not more than one."""
    together = int(random.integers(20, 30))
    minute = (np.arange(MINUTES) + int(random.integers(60))) % 60
    alone = np.where(minute < 60 - 2 * together, 1.0, 0.0)
    return _made(random, build, name, np.where(minute >= 60 - together, 2.0, alone))


def _swarm(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Functions that come and go, about one at a time."""
    level = random.uniform(0.7, 1.2)
    return _made(random, build, name, random.poisson(level, MINUTES // 5).repeat(5).astype(float))


def _cold(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, np.ones(MINUTES), ia_bytes=int(spread(random, 0.1, 2_000) * GIB))


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, np.ones(MINUTES), days=random.uniform(1, 29))


def _source(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    source = _made(random, build, name, np.ones(MINUTES))
    replica = build.file_system(
        f"{name}-replica", standard_bytes=source.standard_bytes, days=random.uniform(45, 300), replica=True
    )
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region=build.region,
            destination_id=replica.id,
            destination_region=build.region,
            created=replica.created,
        )
    )
    return source


def _half_dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, without_days(random, build, np.ones(MINUTES)))


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, np.ones(MINUTES), voice="dark", activity=None, clients=None)


SCENARIOS = (
    Scenario(name="always", story="One client, always.", plant=each(_always), trouble=True),
    Scenario(name="restarts", story="One client, which restarts now and then.", plant=each(_restarts), trouble=True),
    Scenario(
        name="maintained", story="One client, away for an hour every night.", plant=each(_maintained), trouble=True
    ),
    Scenario(
        name="replaced", story="A group of one: each comes when the last is gone.", plant=each(_replaced), trouble=True
    ),
    Scenario(name="several", story="Several clients.", plant=each(_several)),
    Scenario(name="nightly-second", story="More clients for minutes every night.", plant=each(_nightly_second)),
    Scenario(name="monthly-second", story="More clients on one day of the month.", plant=each(_monthly_second)),
    Scenario(name="overlap", story="Replaced once, with both there for a while.", plant=each(_overlap)),
    Scenario(name="part-time", story="One client for a part of the day.", plant=each(_part_time)),
    Scenario(name="in-gaps", story="Two clients for a part of every hour, and then none.", plant=each(_in_gaps)),
    Scenario(name="swarm", story="Clients come and go, about one at a time.", plant=each(_swarm)),
    Scenario(name="cold", story="One client, and data in Infrequent Access.", plant=each(_cold)),
    Scenario(name="young", story="One client, and not a month old.", plant=each(_young)),
    Scenario(name="replication-source", story="One client, and a replica elsewhere.", plant=each(_source)),
    Scenario(name="half-dark", story="Days on which nobody knows who was there.", plant=each(_half_dark), full=False),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
)
