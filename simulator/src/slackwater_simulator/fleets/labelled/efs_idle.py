"""File systems that nobody uses any more, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: file systems left 8 to 37 days ago (35 days lie between two first Mondays of a
month, so the next run may be still to come, and late), jobs that run less often than that, and file systems of 5 to 14 days
that nobody has used yet.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, Replication, given
from slackwater_simulator.series import DAY, MINUTE, Floats, Track
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


def _made(random: Random, build: Builder, name: str, **more: object) -> ElasticFileSystem:
    """A file system of any size, class and mode."""
    settings: dict[str, object] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.4) else None,
        "standard_bytes": int(spread(random, 0.5, 2_000) * GIB),
        "ia_bytes": int(spread(random, 1, 2_000) * GIB) if chance(random, 0.3) else 0,
        "lifecycle": (("TransitionToIA", "AFTER_30_DAYS"),),
        "mode": "elastic" if chance(random, 0.4) else "bursting",
        "days": random.uniform(60, 700),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})  # type: ignore[arg-type]


def _work(random: Random, build: Builder, values: Floats, *, clients: int) -> dict[str, object]:
    """Reads, writes and metadata in some rhythm, within burst credits, and the clients that are there meanwhile."""
    return {
        "mode": "bursting",
        "activity": Activity(
            shape=published(random, build, values),
            read=spread(random, 0.05, 60) * MIB,
            write=spread(random, 0.02, 20) * MIB,
            read_size=spread(random, 4, 1024) * KIB,
            write_size=spread(random, 100, 512) * KIB,
            metadata=spread(random, 1, 200) * KIB,
        ),
        "clients": Flow(published(random, build, np.ceil(np.minimum(values, 1.0))), clients),
    }


def _few(random: Random) -> int:
    return int(random.integers(1, 9))


def _killed(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    created = build.ago(random.uniform(38, 300))
    return _made(
        random,
        build,
        name,
        created=created,
        active=(created, created + int(random.uniform(10, 240)) * MINUTE),
        voice="absent" if chance(random, 0.4) else "zeros",
        **_work(random, build, wobble(random), clients=1),
    )


def _moved_away(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    created, left = build.ago(random.uniform(300, 900)), build.ago(random.uniform(38, 250))
    return _made(
        random,
        build,
        name,
        created=created,
        active=(created, left),
        **_work(random, build, working_days(random, build), clients=4),
    )


def _never(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    voice = "absent" if chance(random, 0.3) else "zeros"
    return _made(random, build, name, days=spread(random, 14, 400), standard_bytes=6 * KIB, voice=voice)


def _gappy_zeros(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    names = (
        "MeteredIOBytes",
        "TotalIOBytes",
        "DataReadIOBytes",
        "DataWriteIOBytes",
        "MetadataIOBytes",
        "ClientConnections",
    )
    zeros: dict[str, Track] = {metric: given(published(random, build, np.zeros(MINUTES))) for metric in names}
    return _made(random, build, name, telemetry=zeros)


def _backed_up(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _walked(random, build, name, spread(random, 1, 1_000), file_bytes=spread(random, 1, 64) * MIB)


def _small_files(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """In five weeks the walks add up to more than is stored."""
    return _walked(random, build, name, spread(random, 4, 60), file_bytes=spread(random, 32, 128) * KIB)


def _walked(random: Random, build: Builder, name: str, stored_gib: float, *, file_bytes: float) -> ElasticFileSystem:
    """AWS Backup walks the tree every night; it is no client. A stat is 4 KiB of metadata."""
    stored, minutes = int(stored_gib * GIB), random.uniform(10, 120)
    walk = 4 * KIB * stored / file_bytes / (minutes * MINUTE)
    shape = published(random, build, runs(build, daily(random, build), minutes))
    nobody = Flow(build.shapes.signal(np.zeros(MINUTES)))
    activity = Activity(shape=shape, read=walk / 4, metadata=walk)
    return _made(random, build, name, standard_bytes=stored, activity=activity, clients=nobody, backup=True)


def _calendar(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    values = runs(build, monthly(random, build), random.uniform(10, 300))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _weekday(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    values = runs(build, first_weekday(random, build), random.uniform(10, 300))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _weekly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    values = runs(build, daily(random, build, 7), random.uniform(2, 120))
    return _made(random, build, name, **_work(random, build, values, clients=_few(random)))


def _nightly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    values = runs(build, daily(random, build), random.uniform(1, 15))
    return _made(random, build, name, **_work(random, build, values * wobble(random), clients=_few(random)))


def _now_and_then(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    visits = [build.ago(random.uniform(0.01, 29))]
    while visits[-1] > build.ago(29):
        visits.append(int(visits[-1] - random.exponential(10) * DAY))
    values = runs(build, [visit for visit in visits if visit > build.ago(33)], random.uniform(1, 30))
    return _made(random, build, name, **_work(random, build, values, clients=1))


def _mounted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    connected = Flow(published(random, build, np.ones(MINUTES)), 1 + _few(random))
    nothing = Activity(shape=published(random, build, np.zeros(MINUTES)))
    return _made(random, build, name, activity=nothing, clients=connected)


def _back_today(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    since = int(random.uniform(0.02, 0.5) * DAY)
    values = runs(build, [build.now - since], since / MINUTE)
    return _made(random, build, name, **_work(random, build, values, clients=_few(random)))


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, days=random.uniform(0.05, 5), standard_bytes=6 * KIB)


def _replicated(random: Random, build: Builder, name: str, *, label_source: bool) -> ElasticFileSystem:
    source = _made(random, build, f"{name}-source")
    replica = _made(random, build, f"{name}-replica", standard_bytes=source.standard_bytes, ia_bytes=0, replica=True)
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


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, voice="dark")


def _half_dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """CloudWatch has no point of anything for some days, and zeros before and after."""
    stored = given(
        build.shapes.signal(without_days(random, build, np.ones(MINUTES))), scale=spread(random, 1, 500) * GIB
    )
    zeros = given(build.shapes.signal(without_days(random, build, np.zeros(MINUTES))))
    return _made(random, build, name, voice="dark", telemetry={"StorageBytes": stored, "MeteredIOBytes": zeros})


def _by_whom(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Read every night, and nobody knows by whom: CloudWatch has no connections of it, not even zeros."""
    stored = given(published(random, build, np.ones(MINUTES)), scale=spread(random, 1, 500) * GIB)
    read = published(random, build, runs(build, daily(random, build), random.uniform(5, 60)))
    moved: dict[str, Track] = {metric: given(read, scale=100 * MIB) for metric in ("DataReadIOBytes", "MeteredIOBytes")}
    return _made(random, build, name, voice="dark", telemetry={"StorageBytes": stored, **moved})


def _kept(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, tags={"keep": "true"})


SCENARIOS = (
    Scenario(
        name="killed-job", story="A job made it, worked for an hour, and was killed.", plant=each(_killed), trouble=True
    ),
    Scenario(name="moved-away", story="Used for months, until its users moved.", plant=each(_moved_away), trouble=True),
    Scenario(name="never-used", story="Made, and never mounted.", plant=each(_never), trouble=True),
    Scenario(name="gappy-zeros", story="Zeros, with missing and late points.", plant=each(_gappy_zeros), trouble=True),
    Scenario(
        name="backup-only",
        story="AWS Backup walks it every night, and nobody else.",
        plant=each(_backed_up),
        trouble=True,
    ),
    Scenario(
        name="small-files",
        story="AWS Backup walks its many small files every night.",
        plant=each(_small_files),
        trouble=True,
    ),
    Scenario(name="monthly-by-date", story="Used for minutes on one day of the month.", plant=each(_calendar)),
    Scenario(name="monthly-by-weekday", story="Used on the first Monday, say, of the month.", plant=each(_weekday)),
    Scenario(name="weekly", story="Used for minutes once a week.", plant=each(_weekly)),
    Scenario(name="nightly", story="Used for minutes every night.", plant=each(_nightly)),
    Scenario(
        name="now-and-then", story="Somebody looks something up, every ten days or so.", plant=each(_now_and_then)
    ),
    Scenario(name="mounted", story="Mounted, and not read for a month.", plant=each(_mounted)),
    Scenario(name="back-today", story="Quiet for weeks, and in use again.", plant=each(_back_today)),
    Scenario(name="young", story="Made days ago, and not used yet.", plant=each(_young)),
    Scenario(name="replication-source", story="Quiet, and the source of a replication.", plant=each(_source)),
    Scenario(name="replica", story="Written by replication alone.", plant=each(_replica)),
    Scenario(name="kept", story="Idle, and its owner says so: tagged keep.", plant=each(_kept)),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="half-dark", story="Days without any metric.", plant=each(_half_dark), full=False),
    Scenario(name="by-whom", story="Read every night, and no connections published.", plant=each(_by_whom), full=False),
)
