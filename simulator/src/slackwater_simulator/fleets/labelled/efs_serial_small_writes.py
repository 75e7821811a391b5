"""File systems whose small writes wait for each other, and others that are written at a rate of their own.

A trouble is an hour or more in which writers had more to write than the answers let through, or two weeks of it. Left out,
because even the truth is in doubt: writers that keep a steady pace of their own, which look the same, jobs of 20 to 60 minutes,
40 to 65 writes a second, and demand that is cut off by the wait but rises and falls on either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import MINUTE, Floats
from slackwater_simulator.shapes import MINUTES, noise

from .rhythms import Random, chance, daily, published, runs, spread, tags, wobble
from .scenario import Scenario, each

_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)
_MOST = 12 * MIB
"""Bytes a second, well below a fifth of the 100 MiB/s that a file system below 1 TiB may burst to."""


def _made(random: Random, build: Builder, name: str, per_s: Floats, size: float, **more: Any) -> ElasticFileSystem:
    """A file system into which so many writes of `size` go; large enough that it earns more credits than they take."""
    peak, metadata = float(per_s.max()), more.pop("metadata", spread(random, 1, 50) * KIB)
    earned = 2.5 * (float(per_s.mean()) * size + metadata) / (50 * KIB)
    settings: dict[str, Any] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.4) else None,
        "days": random.uniform(40, 900),
        "standard_bytes": int(max(25, earned * random.uniform(1, 3)) * GIB),
        "lifecycle": _COLD,
        "activity": Activity(
            shape=published(random, build, per_s / peak),
            write=peak * size,
            write_size=size,
            read=spread(random, 0.01, 1) * MIB,
            metadata=metadata,
        ),
        "clients": Flow(build.shapes.shape("steady", int(random.integers(6))), int(random.integers(3, 20))),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})


def _answer_s(random: Random, zone: str | None) -> float:
    """How long a write waits: 2.7 ms as documented, 1.6 ms on One Zone; sooner or later in practice."""
    return spread(random, 0.0012, 0.0025) if zone else spread(random, 0.002, 0.0045)


def _starts(random: Random, build: Builder) -> list[int]:
    """Every day, every third, every week, or once."""
    every = (1, 3, 7, 0)[int(random.integers(4))]
    return daily(random, build, every) if every else [build.ago(random.uniform(1, 12))]


def _jitter(random: Random) -> Floats:
    """Answers take longer in some minutes, and in some quarters of an hour."""
    slow = noise(random, random.uniform(0.01, 0.07), MINUTES // 15).repeat(15)
    return np.clip(noise(random, random.uniform(0.005, 0.05)) * slow, 0.75, 1.25)


def _waiting(
    random: Random,
    build: Builder,
    name: str,
    starts: list[int],
    minutes: float,
    writers: int,
    *,
    offered: float = 3,
    **more: Any,
) -> ElasticFileSystem:
    """Jobs with more to write than so many writers get through, one answer after the other: up to `offered` times as much."""
    zone = "acd"[int(random.integers(3))] if chance(random, 0.4) else None
    answer = _answer_s(random, zone)
    per_s = random.uniform(1.1, offered) * writers / answer
    wanted = runs(build, starts, minutes, per_s, random.uniform(0.1, 5)) * wobble(random)
    done = nfs_writes(wanted, acknowledgement_s=answer, writers=writers, jitter=_jitter(random))
    size = min(spread(random, 1, 48) * KIB, _MOST / (writers / answer))
    return _made(random, build, name, done, size, one_zone=zone, **more)


def _one_writer(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _waiting(random, build, name, _starts(random, build), random.uniform(75, 360), 1)


def _several_writers(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _waiting(random, build, name, _starts(random, build), random.uniform(75, 360), int(random.integers(2, 7)))


def _small_files(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Workers copy small files: about fourteen operations each, one of which writes the data."""
    operations, workers = int(random.integers(12, 17)), int(random.integers(5, 8))
    a_file = min(operations * spread(random, 0.0027, 0.0045), workers / 75)
    wanted = runs(build, _starts(random, build), random.uniform(75, 360), 2 * workers / a_file, 0.5) * wobble(random)
    done = nfs_writes(wanted, acknowledgement_s=a_file, writers=workers, jitter=_jitter(random))
    metadata = workers / a_file * operations * 4 * KIB
    return _made(random, build, name, done, spread(random, 4, 24) * KIB, one_zone=None, metadata=metadata)


def _uneven_workers(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Workers share out directories of unequal size: first all of them, then half, then one."""
    answer, workers = _answer_s(random, None), int(random.integers(3, 7))
    starts, done = daily(random, build), np.full(MINUTES, 0.5)
    for busy, most_minutes in ((workers, 150), (workers / 2, 60), (1, 120)):
        minutes = int(random.uniform(most_minutes / 2, most_minutes))
        done = np.maximum(done, runs(build, starts, minutes, busy / answer) * _jitter(random))
        starts = [start + minutes * MINUTE for start in starts]
    return _made(random, build, name, done, min(spread(random, 1, 48) * KIB, _MOST / (workers / answer)), one_zone=None)


def _never_done(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """There is always more to write."""
    answer, writers = _answer_s(random, None), int(random.integers(1, 4))
    done = writers / answer * _jitter(random)
    return _made(
        random, build, name, done, min(spread(random, 1, 24) * KIB, _MOST / 2 / (writers / answer)), one_zone=None
    )


def _large(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Each write waits, too, and longer: it has more to carry."""
    size = spread(random, 128, 1_024) * KIB
    answer = 0.003 + size / (100 * MIB)
    wanted = runs(build, _starts(random, build), random.uniform(75, 300), 1.5 / answer, 0.1) * wobble(random)
    done = nfs_writes(wanted, acknowledgement_s=answer, writers=1, jitter=_jitter(random))
    return _made(random, build, name, done, size)


def _few(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    per_s = runs(build, _starts(random, build), random.uniform(75, 360), spread(random, 5, 40), 0.5) * wobble(random)
    return _made(random, build, name, np.minimum(per_s, 44), spread(random, 1, 48) * KIB)


def _deployment(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    starts = [
        build.ago(day + random.uniform(0, 0.9)) for day in random.choice(13, int(random.integers(1, 9)), replace=False)
    ]
    return _waiting(random, build, name, starts, random.uniform(2, 10), int(random.integers(1, 4)), offered=1.8)


def _by_day(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Many clients, each of which writes when somebody does something."""
    shape = build.shapes.shape("office", int(random.integers(6))).stats.total
    per_s = spread(random, 80, 900) * np.roll(shape, int(random.integers(MINUTES))) * wobble(random)
    return _made(random, build, name, per_s, min(spread(random, 1, 48) * KIB, _MOST / 1_500))


def _bursts(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Now and then somebody saves a lot, for minutes."""
    most = spread(random, 100, 1_500)
    per_s = most * random.uniform(0.001, 0.05) * wobble(random)
    minute = int(random.integers(60))
    while minute < MINUTES - 30:
        length = int(random.integers(2, 19))
        per_s[minute : minute + length] += most * random.uniform(0.2, 0.9)
        minute += length + int(random.uniform(15, 400))
    return _made(random, build, name, per_s, min(spread(random, 1, 32) * KIB, _MOST / 1_500))


def _varied(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job that computes and writes in turn: its rate goes with its work, from one five minutes to the next."""
    busy = runs(build, daily(random, build), random.uniform(90, 400))
    steps = np.exp(random.normal(0, random.uniform(0.6, 1.0), MINUTES // 5)).repeat(5)
    per_s = np.minimum(busy * steps * spread(random, 60, 300), 2_000) * wobble(random)
    return _made(random, build, name, per_s, min(spread(random, 1, 32) * KIB, _MOST / 2_000))


def _near_permitted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Many writers, as fast as the network brings it: throughput counts, not the wait."""
    size = spread(random, 24, 60) * KIB
    per_s = random.uniform(30, 70) * MIB / size
    done = runs(build, daily(random, build), random.uniform(60, 150), per_s, 0.5) * np.clip(
        noise(random, 0.02), 0.9, 1.1
    )
    return _made(random, build, name, done, size, one_zone=None)


def _near_operations(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its metadata operations are at the limit of General Purpose."""
    answer, writers = _answer_s(random, None), int(random.integers(2, 6))
    busy = runs(build, daily(random, build), random.uniform(75, 300), 1.0, 0.01)
    limit = given(build.shapes.signal(busy * np.clip(noise(random, 0.03), 0.9, 1.0)), scale=98.0)
    done = busy * writers / answer * _jitter(random)
    size = min(spread(random, 1, 32) * KIB, _MOST / (writers / answer))
    return _made(random, build, name, done, size, one_zone=None, telemetry={"PercentIOLimit": limit})


def _limits_unknown(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    nothing = given(build.shapes.signal(np.full(MINUTES, np.nan)))
    starts, minutes = daily(random, build), random.uniform(75, 360)
    return _waiting(random, build, name, starts, minutes, 1, telemetry={"PermittedThroughput": nothing})


SCENARIOS = (
    Scenario(name="one-writer", story="One writer waits for each answer.", plant=each(_one_writer), trouble=True),
    Scenario(name="several-writers", story="Several writers wait.", plant=each(_several_writers), trouble=True),
    Scenario(
        name="small-files",
        story="Workers copy small files, operation by operation.",
        plant=each(_small_files),
        trouble=True,
    ),
    Scenario(
        name="uneven-workers",
        story="Workers, of whom fewer and fewer have work.",
        plant=each(_uneven_workers),
        trouble=True,
    ),
    Scenario(name="never-done", story="There is always more to write.", plant=each(_never_done), trouble=True),
    Scenario(name="large-writes", story="Large writes.", plant=each(_large)),
    Scenario(name="few-writes", story="Fewer than fifty a second.", plant=each(_few)),
    Scenario(name="deployments", story="Minutes of waiting, now and then.", plant=each(_deployment)),
    Scenario(name="by-day", story="Many clients, whose day rises and falls.", plant=each(_by_day)),
    Scenario(name="bursts", story="Somebody saves a lot, for minutes.", plant=each(_bursts)),
    Scenario(name="varied", story="A job whose rate goes with its work.", plant=each(_varied)),
    Scenario(name="near-permitted", story="Throughput is what it uses.", plant=each(_near_permitted)),
    Scenario(name="near-operations", story="Operations are what it uses.", plant=each(_near_operations)),
    Scenario(name="limits-unknown", story="Nobody knows what was permitted.", plant=each(_limits_unknown), full=False),
)
