"""File systems that a job made and left behind, and those of jobs that go on.

The policy of the score says that a job's file system carries the tag `Job`. Left out, because even the truth is in doubt: jobs
that pause for 4 to 7 hours, and clients that came within the last half hour, which CloudWatch may not show yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import CYCLE, DAY, HOUR, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows
from .shared_files import file_system, nobody, zeros

_JOBS = ("encode", "transcode", "render", "training", "reindex")
_POINT = 5
"""Minutes: in a point that CloudWatch lost or has not published yet."""
_QUARTER = 15 * MINUTE
"""How often StorageBytes comes."""


def _made(d: Draw, **more: Any) -> ElasticFileSystem:
    """A job's file system: where its instance is, as large as its input."""
    zone, size = d.zone(0.7), d.gib(0.5, 90)
    return file_system(d, more, one_zone=zone, standard_bytes=size, tags={**d.tags(), "Job": d.pick(*_JOBS)})


def _step(d: Draw, values: Floats, *, fastest: float = 2.0) -> dict[str, Any]:
    """What a step of a job moves, MiB/s written, and its clients, which are there as long as the shape is above zero."""
    shape = d.published(values * d.wobble() / 2, together=_POINT)
    activity = d.work(shape, (0.1, 4 * fastest), (0.05, fastest), 1_024, (128, 1_024), (1, 40), KIB)
    connected = d.published(np.ceil(np.minimum(values, 1.0)), together=_POINT)
    return {"activity": activity, "clients": Flow(connected, d.integer(1, 4))}


def _from(d: Draw, start: int) -> Floats:
    """At work from one moment to now."""
    return d.runs([start], (d.now + HOUR - start) / MINUTE)


def _hours_ago(d: Draw, low: float, high: float) -> int:
    return int(d.now - d.spread(low, high) * HOUR)


def _killed_after(d: Draw, hours: float, **more: Any) -> ElasticFileSystem:
    """It worked for a while and was killed so many hours ago."""
    killed = int(d.now - hours * HOUR)
    created = int(killed - d.spread(0.2, 12) * HOUR)
    work = _step(d, np.ones(MINUTES))
    return _made(d, created=created, active=(created, killed), voice=d.voice(), **work, **more)


def _empty(d: Draw, low: float, high: float) -> ElasticFileSystem:
    """Made so many hours ago, and never mounted."""
    return _made(d, created=_hours_ago(d, low, high), standard_bytes=6 * KIB, voice=d.voice())


def _gappy_zeros(d: Draw) -> ElasticFileSystem:
    """Zeros and StorageBytes, some points of which are lost or late."""
    telemetry = dict(zeros(d, together=_POINT))
    created, size = _hours_ago(d, 12, 6 * 24), d.gib(0.5, 90)
    stored = np.ones(CYCLE // _QUARTER)
    stored[d.random.random(len(stored)) < d.uniform(0, 0.005)] = np.nan
    newest = (d.now - d.origin) // _QUARTER
    stored[newest + 1 - d.integer(3) : newest + 1] = np.nan
    telemetry["StorageBytes"] = given(d.signal(stored, _QUARTER), scale=size, since=created)
    return _made(d, created=created, standard_bytes=size, voice="dark", telemetry=telemetry)


def _backed_up(d: Draw) -> ElasticFileSystem:
    """Within the hours that count; AWS Backup is no client."""
    minutes, start = d.uniform(5, 60), int(d.now - d.uniform(0.5, 5) * HOUR)
    shape = d.published(d.runs([start], minutes), together=_POINT)
    activity = Activity(shape=shape, read=d.spread(1, 60) * MIB, metadata=d.spread(1, 40) * KIB)
    return _made(d, days=d.uniform(1, 6), activity=activity, clients=nobody(d), backup=True)


def _at_work(d: Draw) -> ElasticFileSystem:
    created = _hours_ago(d, 0.5, 18)
    return _made(d, created=created, **_step(d, _from(d, created), fastest=20))


def _mounted(d: Draw) -> ElasticFileSystem:
    """Its client computes."""
    created, connected = _hours_ago(d, 8, 6 * 24), Flow(d.always(together=_POINT), d.integer(1, 4))
    return _made(d, created=created, activity=Activity(shape=d.never(together=_POINT)), clients=connected)


def _hourly(d: Draw) -> ElasticFileSystem:
    first, every = int(d.now - d.uniform(0.5, 3.5) * HOUR), d.uniform(1, 4)
    starts = [int(first - every * HOUR * number) for number in range(int(30 * 24 / every))]
    return _made(d, days=d.uniform(1, 25), **_step(d, d.runs(starts, d.uniform(6, 40))))


def _no_jobs(d: Draw) -> ElasticFileSystem:
    """Used for minutes every night, and by nobody for hours."""
    start = d.now - int(d.uniform(7, 20) * HOUR)
    work = _step(d, d.runs([start - day * DAY for day in range(30)], d.uniform(6, 60)))
    return _made(d, days=d.uniform(40, 300), tags=d.tags(), zones="ac", one_zone=None, **work)


def _source(d: Draw) -> ElasticFileSystem:
    source = _killed_after(d, d.spread(7, 6 * 24))
    d.build.replicate(source, _made(d.named("replica"), created=source.created + HOUR, replica=True))
    return source


def _gone_dark(d: Draw) -> ElasticFileSystem:
    hidden = np.arange(MINUTES) >= (int(d.now - d.uniform(6.5, 12) * HOUR) - d.origin) // MINUTE

    def until_lost(values: Floats, scale: float = 1.0) -> Track:
        return given(d.signal(np.where(hidden, np.nan, values)), scale=scale)

    telemetry = {
        "StorageBytes": until_lost(np.ones(MINUTES), d.spread(1, 90) * GIB),
        "ClientConnections": until_lost(np.ones(MINUTES)),
        "MeteredIOBytes": until_lost(d.wobble(), 100 * MIB),
    }
    return _made(d, days=d.uniform(1, 6), voice="dark", telemetry=telemetry)


EFS_ABANDONED_ISSUES: Rows = {
    "killed: Its job was killed hours or days ago.": lambda d: _killed_after(d, d.spread(7, 6 * 24)),
    "killed-long-ago: Its job was killed weeks ago.": lambda d: _killed_after(d, d.uniform(38, 200) * 24),
    "never-mounted: Its job never came.": lambda d: _empty(d, 10, 6 * 24),
    "gappy-zeros: Zeros, with missing and late points.": _gappy_zeros,
    "backed-up: AWS Backup reads it, and nobody else.": _backed_up,
    "mount-target-gone: Its job deleted the mount target within days, and no more.": lambda d: _killed_after(
        d, d.spread(7, 5 * 24), mount_targets=()
    ),
}
EFS_ABANDONED_CONTROLS: Rows = {
    # So long ago that only efs-orphaned reports it.
    "mount-target-long-gone: Its job deleted the mount target weeks ago, and no more.": lambda d: _killed_after(
        d, d.uniform(9, 30) * 24, mount_targets=()
    ),
    "at-work: Its job works.": _at_work,
    "mounted: Mounted, and not read for hours.": _mounted,
    "waiting: Its job waits between two steps.": lambda d: _killed_after(d, d.spread(0.3, 4)),
    # It waited for a spot instance.
    "back: Its job waited for a day, and goes on.": lambda d: _made(
        d, created=int(d.now - d.uniform(1, 6) * DAY), **_step(d, _from(d, _hours_ago(d, 0.6, 8)))
    ),
    "again-and-again: Mounted for minutes every few hours.": _hourly,
    "young: Made within five hours, and not mounted yet.": lambda d: _empty(d, 0.05, 5),
    "not-a-job: Quiet for hours, and made for no job.": _no_jobs,
    "kept: A result that somebody keeps: tagged keep.": lambda d: _killed_after(
        d, d.spread(7, 6 * 24), tags={"Job": "encode", "keep": "true"}
    ),
    "replication-source: A result that is being replicated.": _source,
}
EFS_ABANDONED_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _made(d, days=d.uniform(0.5, 6), voice="dark"),
    "gone-dark: At work, and no metric for hours.": _gone_dark,
}
EFS_ABANDONED_ALSO = {"mount-target-long-gone": ("efs-orphaned",)}
