"""File systems that nobody uses any more, and quiet ones that somebody needs.

Left out, because even the truth is in doubt: file systems left 8 to 37 days ago (35 days lie between two first Mondays of a
month, so the next run may be still to come, and late), jobs that run less often than that, and file systems of 5 to 14 days
that nobody has used yet.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import DAY, MINUTE, Floats, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import control, issue


def _made(d: Draw, **more: object) -> ElasticFileSystem:
    """A file system of any size, class and mode."""
    settings: dict[str, object] = {
        "one_zone": d.pick(*"acd") if d.chance(0.4) else None,
        "standard_bytes": int(d.spread(0.5, 2_000) * GIB),
        "ia_bytes": int(d.spread(1, 2_000) * GIB) if d.chance(0.3) else 0,
        "lifecycle": (("TransitionToIA", "AFTER_30_DAYS"),),
        "mode": "elastic" if d.chance(0.4) else "bursting",
        "days": d.uniform(60, 700),
        "tags": d.tags(),
    }
    return d.build.file_system(d.name, **{**settings, **more})  # type: ignore[arg-type]


def _work(d: Draw, values: Floats, *, clients: int) -> dict[str, object]:
    """Reads, writes and metadata in some rhythm, within burst credits, and the clients that are there meanwhile."""
    return {
        "mode": "bursting",
        "activity": Activity(
            shape=d.published(values),
            read=d.spread(0.05, 60) * MIB,
            write=d.spread(0.02, 20) * MIB,
            read_size=d.spread(4, 1024) * KIB,
            write_size=d.spread(100, 512) * KIB,
            metadata=d.spread(1, 200) * KIB,
        ),
        "clients": Flow(d.published(np.ceil(np.minimum(values, 1.0))), clients),
    }


def _killed(d: Draw) -> ElasticFileSystem:
    created = d.ago(d.uniform(38, 300))
    return _made(
        d,
        created=created,
        active=(created, created + int(d.uniform(10, 240)) * MINUTE),
        voice="absent" if d.chance(0.4) else "zeros",
        **_work(d, d.wobble(), clients=1),
    )


def _moved_away(d: Draw) -> ElasticFileSystem:
    created, left = d.ago(d.uniform(300, 900)), d.ago(d.uniform(38, 250))
    return _made(d, created=created, active=(created, left), **_work(d, d.working_days(), clients=4))


def _never(d: Draw) -> ElasticFileSystem:
    voice = "absent" if d.chance(0.3) else "zeros"
    return _made(d, days=d.spread(14, 400), standard_bytes=6 * KIB, voice=voice)


def _gappy_zeros(d: Draw) -> ElasticFileSystem:
    names = (
        "MeteredIOBytes",
        "TotalIOBytes",
        "DataReadIOBytes",
        "DataWriteIOBytes",
        "MetadataIOBytes",
        "ClientConnections",
    )
    zeros: dict[str, Track] = {metric: given(d.published(np.zeros(MINUTES))) for metric in names}
    return _made(d, telemetry=zeros)


def _walked(d: Draw, stored_gib: float, *, file_bytes: float) -> ElasticFileSystem:
    """AWS Backup walks the tree every night; it is no client. A stat is 4 KiB of metadata."""
    stored, minutes = int(stored_gib * GIB), d.uniform(10, 120)
    walk = 4 * KIB * stored / file_bytes / (minutes * MINUTE)
    shape = d.published(d.runs(d.daily(), minutes))
    nobody = Flow(d.signal(np.zeros(MINUTES)))
    activity = Activity(shape=shape, read=walk / 4, metadata=walk)
    return _made(d, standard_bytes=stored, activity=activity, clients=nobody, backup=True)


def _used(d: Draw, starts: list[int], least_minutes: float, most_minutes: float) -> ElasticFileSystem:
    """A job uses it from these moments on."""
    values = d.runs(starts, d.uniform(least_minutes, most_minutes))
    return _made(d, **_work(d, values * d.wobble(), clients=d.integer(1, 9)))


def _weekly(d: Draw) -> ElasticFileSystem:
    values = d.runs(d.daily(7), d.uniform(2, 120))
    return _made(d, **_work(d, values, clients=d.integer(1, 9)))


def _now_and_then(d: Draw) -> ElasticFileSystem:
    values = d.runs(d.visits(), d.uniform(1, 30))
    return _made(d, **_work(d, values, clients=1))


def _mounted(d: Draw) -> ElasticFileSystem:
    connected = Flow(d.published(np.ones(MINUTES)), 1 + d.integer(1, 9))
    nothing = Activity(shape=d.published(np.zeros(MINUTES)))
    return _made(d, activity=nothing, clients=connected)


def _back_today(d: Draw) -> ElasticFileSystem:
    since = int(d.uniform(0.02, 0.5) * DAY)
    values = d.runs([d.now - since], since / MINUTE)
    return _made(d, **_work(d, values, clients=d.integer(1, 9)))


def _replicated(d: Draw, *, label_source: bool) -> ElasticFileSystem:
    source = _made(d.named("source"))
    replica = _made(d.named("replica"), standard_bytes=source.standard_bytes, ia_bytes=0, replica=True)
    d.build.replicate(source, replica)
    return source if label_source else replica


def _half_dark(d: Draw) -> ElasticFileSystem:
    """CloudWatch has no point of anything for some days, and zeros before and after."""
    stored = given(d.signal(d.without_days(np.ones(MINUTES))), scale=d.spread(1, 500) * GIB)
    zeros = given(d.signal(d.without_days(np.zeros(MINUTES))))
    return _made(d, voice="dark", telemetry={"StorageBytes": stored, "MeteredIOBytes": zeros})


def _by_whom(d: Draw) -> ElasticFileSystem:
    """Read every night, and nobody knows by whom: CloudWatch has no connections of it, not even zeros."""
    stored = given(d.published(np.ones(MINUTES)), scale=d.spread(1, 500) * GIB)
    read = d.published(d.runs(d.daily(), d.uniform(5, 60)))
    moved: dict[str, Track] = {metric: given(read, scale=100 * MIB) for metric in ("DataReadIOBytes", "MeteredIOBytes")}
    return _made(d, voice="dark", telemetry={"StorageBytes": stored, **moved})


SCENARIOS = (
    issue("killed-job", "A job made it, worked for an hour, and was killed.", _killed),
    issue("moved-away", "Used for months, until its users moved.", _moved_away),
    issue("never-used", "Made, and never mounted.", _never),
    issue("gappy-zeros", "Zeros, with missing and late points.", _gappy_zeros),
    issue(
        "backup-only",
        "AWS Backup walks it every night, and nobody else.",
        lambda d: _walked(d, d.spread(1, 1_000), file_bytes=d.spread(1, 64) * MIB),
    ),
    # In five weeks the walks add up to more than is stored.
    issue(
        "small-files",
        "AWS Backup walks its many small files every night.",
        lambda d: _walked(d, d.spread(4, 60), file_bytes=d.spread(32, 128) * KIB),
    ),
    control("monthly-by-date", "Used for minutes on one day of the month.", lambda d: _used(d, d.monthly(), 10, 300)),
    control(
        "monthly-by-weekday",
        "Used on the first Monday, say, of the month.",
        lambda d: _used(d, d.first_weekday(), 10, 300),
    ),
    control("weekly", "Used for minutes once a week.", _weekly),
    control("nightly", "Used for minutes every night.", lambda d: _used(d, d.daily(), 1, 15)),
    control("now-and-then", "Somebody looks something up, every ten days or so.", _now_and_then),
    control("mounted", "Mounted, and not read for a month.", _mounted),
    control("back-today", "Quiet for weeks, and in use again.", _back_today),
    control(
        "young", "Made days ago, and not used yet.", lambda d: _made(d, days=d.uniform(0.05, 5), standard_bytes=6 * KIB)
    ),
    control(
        "replication-source", "Quiet, and the source of a replication.", lambda d: _replicated(d, label_source=True)
    ),
    control("replica", "Written by replication alone.", lambda d: _replicated(d, label_source=False)),
    control("kept", "Idle, and its owner says so: tagged keep.", lambda d: _made(d, tags={"keep": "true"})),
    control("dark", "No metric at all.", lambda d: _made(d, voice="dark"), full=False),
    control("half-dark", "Days without any metric.", _half_dark, full=False),
    control("by-whom", "Read every night, and no connections published.", _by_whom, full=False),
)
