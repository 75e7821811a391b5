"""File systems that a job made and left behind, and those of jobs that go on.

The policy of the score says that a job's file system carries the tag `Job`. Left out, because even the truth is in doubt: jobs
that pause for 4 to 7 hours, and clients that came within the last half hour, which CloudWatch may not show yet.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, Replication, Voice, given
from slackwater_simulator.series import CYCLE, DAY, HOUR, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .rhythms import Random, chance, published, runs, spread, tags, wobble
from .scenario import Scenario, each

_JOBS = ("encode", "transcode", "render", "training", "reindex")
_POINT = 5
"""Minutes: in a point that CloudWatch lost or has not published yet."""
_QUARTER = 15 * MINUTE
"""How often StorageBytes comes."""


def _made(random: Random, build: Builder, name: str, **more: object) -> ElasticFileSystem:
    """A job's file system: where its instance is, as large as its input."""
    settings: dict[str, object] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.7) else None,
        "standard_bytes": int(spread(random, 0.5, 90) * GIB),
        "tags": {**tags(random), "Job": _JOBS[int(random.integers(len(_JOBS)))]},
    }
    return build.file_system(name, **{**settings, **more})  # type: ignore[arg-type]


def _step(random: Random, build: Builder, values: Floats, *, fastest: float = 2.0) -> dict[str, object]:
    """What a step of a job moves, MiB/s written, and its clients, which are there as long as the shape is above zero."""
    return {
        "activity": Activity(
            shape=published(random, build, values * wobble(random) / 2, together=_POINT),
            read=spread(random, 0.1, 4 * fastest) * MIB,
            write=spread(random, 0.05, fastest) * MIB,
            read_size=MIB,
            write_size=spread(random, 128, 1_024) * KIB,
            metadata=spread(random, 1, 40) * KIB,
        ),
        "clients": Flow(
            published(random, build, np.ceil(np.minimum(values, 1.0)), together=_POINT), int(random.integers(1, 4))
        ),
    }


def _from(build: Builder, start: int, end: int | None = None) -> Floats:
    """At work from one moment to another, or to now."""
    return runs(build, [start], ((end or build.now + HOUR) - start) / MINUTE)


def _silence(random: Random) -> Voice:
    return "absent" if chance(random, 0.4) else "zeros"


def _killed_after(random: Random, build: Builder, name: str, hours: float, **more: object) -> ElasticFileSystem:
    """It worked for a while and was killed so many hours ago."""
    killed = int(build.now - hours * HOUR)
    created = int(killed - spread(random, 0.2, 12) * HOUR)
    work = _step(random, build, np.ones(MINUTES))
    return _made(random, build, name, created=created, active=(created, killed), voice=_silence(random), **work, **more)


def _killed(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _killed_after(random, build, name, spread(random, 7, 6 * 24))


def _long_ago(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Weeks ago: efs-idle would tell of it too."""
    return _killed_after(random, build, name, random.uniform(38, 200) * 24)


def _half_deleted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _killed_after(random, build, name, spread(random, 7, 5 * 24), mount_targets=())


def _orphaned(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """So long ago that efs-orphaned speaks alone."""
    return _killed_after(random, build, name, random.uniform(9, 30) * 24, mount_targets=())


def _never(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """The instance that should have mounted it did not start."""
    created = int(build.now - spread(random, 10, 6 * 24) * HOUR)
    return _made(random, build, name, created=created, standard_bytes=6 * KIB, voice=_silence(random))


def _gappy_zeros(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Zeros and StorageBytes, some points of which are lost or late."""
    names = (
        "MeteredIOBytes",
        "TotalIOBytes",
        "DataReadIOBytes",
        "DataWriteIOBytes",
        "MetadataIOBytes",
        "ClientConnections",
    )
    telemetry: dict[str, Track] = {
        metric: given(published(random, build, np.zeros(MINUTES), together=_POINT)) for metric in names
    }
    created = int(build.now - spread(random, 12, 6 * 24) * HOUR)
    size = int(spread(random, 0.5, 90) * GIB)
    stored = np.ones(CYCLE // _QUARTER)
    stored[random.random(len(stored)) < random.uniform(0, 0.005)] = np.nan
    newest = (build.now - build.shapes.origin) // _QUARTER
    stored[newest + 1 - int(random.integers(3)) : newest + 1] = np.nan
    telemetry["StorageBytes"] = given(build.shapes.signal(stored, _QUARTER), scale=size, since=created)
    return _made(random, build, name, created=created, standard_bytes=size, voice="dark", telemetry=telemetry)


def _backed_up(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """AWS Backup reads it within the hours that count; it is no client."""
    minutes = random.uniform(5, 60)
    start = int(build.now - random.uniform(0.5, 5) * HOUR)
    shape = published(random, build, runs(build, [start], minutes), together=_POINT)
    nobody = Flow(build.shapes.signal(np.zeros(MINUTES)))
    activity = Activity(shape=shape, read=spread(random, 1, 60) * MIB, metadata=spread(random, 1, 40) * KIB)
    days = random.uniform(1, 6)
    return _made(random, build, name, days=days, activity=activity, clients=nobody, backup=True)


def _at_work(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    created = int(build.now - spread(random, 0.5, 18) * HOUR)
    return _made(random, build, name, created=created, **_step(random, build, _from(build, created), fastest=20))


def _mounted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its client computes, and has not touched a file for hours."""
    created = int(build.now - spread(random, 8, 6 * 24) * HOUR)
    connected = Flow(published(random, build, np.ones(MINUTES), together=_POINT), int(random.integers(1, 4)))
    nothing = Activity(shape=published(random, build, np.zeros(MINUTES), together=_POINT))
    return _made(random, build, name, created=created, activity=nothing, clients=connected)


def _waiting(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its last step is over, and the next has not begun: for minutes, or for some hours."""
    return _killed_after(random, build, name, spread(random, 0.3, 4))


def _back(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """After a day of waiting for a spot instance it goes on."""
    created = int(build.now - random.uniform(1, 6) * DAY)
    since = int(build.now - spread(random, 0.6, 8) * HOUR)
    return _made(random, build, name, created=created, **_step(random, build, _from(build, since)))


def _hourly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job that mounts it for minutes, again and again."""
    first, every = int(build.now - random.uniform(0.5, 3.5) * HOUR), random.uniform(1, 4)
    starts = [int(first - every * HOUR * number) for number in range(int(30 * 24 / every))]
    return _made(
        random,
        build,
        name,
        days=random.uniform(1, 25),
        **_step(random, build, runs(build, starts, random.uniform(6, 40))),
    )


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Made, and its job waits for an instance."""
    created = int(build.now - spread(random, 0.05, 5) * HOUR)
    return _made(random, build, name, created=created, standard_bytes=6 * KIB, voice=_silence(random))


def _no_jobs(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Not made for a job: used for minutes every night, and by nobody for hours."""
    start = build.now - int(random.uniform(7, 20) * HOUR)
    starts = [start - day * DAY for day in range(30)]
    work = _step(random, build, runs(build, starts, random.uniform(6, 60)))
    return _made(
        random, build, name, days=random.uniform(40, 300), tags=dict(tags(random)), zones="ac", one_zone=None, **work
    )


def _kept(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job's result, which somebody keeps."""
    return _killed_after(random, build, name, spread(random, 7, 6 * 24), tags={"Job": "encode", "keep": "true"})


def _source(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job's result, which is being replicated."""
    source = _killed_after(random, build, name, spread(random, 7, 6 * 24))
    replica = _made(random, build, f"{name}-replica", created=source.created + HOUR, replica=True)
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


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _made(random, build, name, days=random.uniform(0.5, 6), voice="dark")


def _gone_dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """It works; for hours CloudWatch has had no point of anything."""
    lost = int(build.now - random.uniform(6.5, 12) * HOUR)
    hidden = (lost - build.shapes.origin) // MINUTE

    def until_lost(values: Floats) -> Floats:
        values = values.copy()
        values[hidden:] = np.nan
        return values

    telemetry: dict[str, Track] = {
        "StorageBytes": given(build.shapes.signal(until_lost(np.ones(MINUTES))), scale=spread(random, 1, 90) * GIB),
        "ClientConnections": given(build.shapes.signal(until_lost(np.ones(MINUTES)))),
        "MeteredIOBytes": given(build.shapes.signal(until_lost(wobble(random))), scale=100 * MIB),
    }
    return _made(random, build, name, days=random.uniform(1, 6), voice="dark", telemetry=telemetry)


SCENARIOS = (
    Scenario(name="killed", story="Its job was killed hours or days ago.", plant=each(_killed), trouble=True),
    Scenario(name="killed-long-ago", story="Its job was killed weeks ago.", plant=each(_long_ago), trouble=True),
    Scenario(name="never-mounted", story="Its job never came.", plant=each(_never), trouble=True),
    Scenario(name="gappy-zeros", story="Zeros, with missing and late points.", plant=each(_gappy_zeros), trouble=True),
    Scenario(name="backed-up", story="AWS Backup reads it, and nobody else.", plant=each(_backed_up), trouble=True),
    Scenario(
        name="mount-target-gone",
        story="Its job deleted the mount target within days, and no more.",
        plant=each(_half_deleted),
        trouble=True,
    ),
    Scenario(
        name="mount-target-long-gone",
        story="Its job deleted the mount target weeks ago, and no more.",
        plant=each(_orphaned),
        also=("efs-orphaned",),
    ),
    Scenario(name="at-work", story="Its job works.", plant=each(_at_work)),
    Scenario(name="mounted", story="Mounted, and not read for hours.", plant=each(_mounted)),
    Scenario(name="waiting", story="Its job waits between two steps.", plant=each(_waiting)),
    Scenario(name="back", story="Its job waited for a day, and goes on.", plant=each(_back)),
    Scenario(name="again-and-again", story="Mounted for minutes every few hours.", plant=each(_hourly)),
    Scenario(name="young", story="Made within five hours, and not mounted yet.", plant=each(_young)),
    Scenario(name="not-a-job", story="Quiet for hours, and made for no job.", plant=each(_no_jobs)),
    Scenario(name="kept", story="A result that somebody keeps: tagged keep.", plant=each(_kept)),
    Scenario(name="replication-source", story="A result that is being replicated.", plant=each(_source)),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="gone-dark", story="At work, and no metric for hours.", plant=each(_gone_dark), full=False),
)
