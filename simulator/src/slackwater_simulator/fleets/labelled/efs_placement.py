"""Plant EFS data in the wrong class or in too many zones, or used by a single client, and look-alikes.

- `efs-cold-data`: an issue reads or writes less than 40 % of its data in 36 days, each byte once. A file system that
  reads the same files again and again is a control, because no metric shows how few they are. Not drawn, because the
  truth is in doubt: 40 to 65 %, and a few huge files of which a part is read.
- `efs-single-client`: not drawn are clients that are connected for 85 to 93 % of the time, a second one for less than
  five minutes, and clients that take turns, which look like one.
- `efs-single-zone-use`: the zones of the clients of a single mount target are unknown. The truth is therefore the
  configuration, which a person should be asked about. Not drawn are mount targets that came or went in the last 10
  days.
"""

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, TIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import DAY, Floats, Signal, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw, Range, Rate
from .scenario import Rows
from .shared_files import IA_AFTER_30_DAYS, daily_use, file_system, replicated

_WINDOW = 36 * DAY
_BACK = (("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS"),)


def _touched(d: Draw, shape: Signal, read: Rate, written: Rate, **more: Any) -> ElasticFileSystem:
    """Plant a file system that reads and writes these fractions of its data in 36 days."""
    read, written = (d.uniform(*part) if isinstance(part, tuple) else part for part in (read, written))
    stored = more.pop("standard_bytes", None) or d.gib(120, 900)
    per_s = stored / _WINDOW / max(1e-9, float(shape.stats.total.mean())) / MIB
    place = {"one_zone": d.zone(0.3), "days": d.uniform(45, 900), "standard_bytes": stored}
    work = d.work(shape, read * per_s, written * per_s, (32, 1_024), (100, 1_024), (1, 20), KIB)
    return file_system(d, more, activity=work, clients=Flow(d.always(), d.integer(4, 20)), tags=d.tags(), **place)


def _nightly(d: Draw, minutes: Range) -> Signal:
    return d.published(d.runs(d.daily(), d.uniform(*minutes), 0.8, 0.01) * d.wobble())


def _all_at_once(d: Draw, starts: list[int], every: float) -> ElasticFileSystem:
    """Plant a file system that a job reads completely, `every` times in 36 days."""
    shape = d.published(d.runs(starts, d.uniform(150, 600)))
    size = d.gib(120, 600)
    return _touched(d, shape, d.uniform(0.97, 1.2) * every, 0.02, standard_bytes=size)


def _replica(d: Draw) -> ElasticFileSystem:
    made = _touched(d.named("source"), d.shape(), 0.1, 0.02, lifecycle=IA_AFTER_30_DAYS)
    own = {"standard_bytes": made.standard_bytes, "days": d.uniform(45, 400), "replica": True, "tags": d.tags()}
    return replicated(d, made, file_system(d, own))


def _on_credits(d: Draw) -> ElasticFileSystem:
    """Plant a file system whose clients list directories all day: 1.4 MiB/s of metadata or more, below baseline."""
    size = d.gib(200, 900)
    earned = 50 * KIB * size / GIB
    shape = d.published(d.working_days() if d.chance(0.5) else 0.6 * d.wobble())
    metadata = min(d.spread(1.4 * MIB, 0.6 * earned) / float(shape.stats.total.mean()), 50.0 * MIB)
    work = Activity(shape=shape, read=0.01 * MIB, write=0.005 * MIB, write_size=256 * KIB, metadata=metadata)
    return _touched(d, shape, 0.0, 0.0, standard_bytes=size, activity=work)


def _large_bursts(d: Draw) -> ElasticFileSystem:
    """Plant a file system above 1 TiB, whose size gives it a higher burst than small file systems have."""
    size = int(d.spread(4, 9) * TIB)
    minutes, rate = d.uniform(10, 20), d.uniform(150, 300) * MIB
    shape = d.published(d.runs(d.daily(7), minutes, 1.0, 0.0005))
    work = Activity(shape=shape, read=MIB, write=rate, write_size=MIB, metadata=KIB)
    return _touched(d, shape, 0.0, 0.0, standard_bytes=size, activity=work)


def _unseen(d: Draw) -> Track:
    """Return a metric with whole days missing."""
    return given(d.signal(d.without_days(np.ones(MINUTES))), scale=1_000.0)


EFS_COLD_DATA_ISSUES: Rows = {
    "library: Kept for years, and hardly read.": lambda d: _touched(
        d, read=d.spread(0.001, 0.3), written=d.spread(0.001, 0.05), shape=d.shape()
    ),
    "growing: New files come every night; the old ones rest.": lambda d: _touched(
        d, read=d.uniform(0.01, 0.1), written=d.uniform(0.05, 0.28), shape=_nightly(d, (60, 300))
    ),
    "homes: Home directories: everybody works on a few files.": lambda d: _touched(
        d, d.published(d.working_days()), (0.05, 0.28), (0.01, 0.1)
    ),
    "untouched: Mounted, and nothing is read.": lambda d: _touched(d, d.never(), 0.0, 0.0),
    "only-back: A policy that only brings files back.": lambda d: _touched(d, d.shape(), 0.1, 0.02, lifecycle=_BACK),
    "large: Terabytes that are hardly read.": lambda d: _touched(
        d, d.shape("steady", "office"), standard_bytes=d.gib(1_228.8, 8_192), read=d.uniform(0.01, 0.2), written=0.02
    ),
}
EFS_COLD_DATA_CONTROLS: Rows = {
    "tiered: A policy moves what is cold.": lambda d: _touched(
        d, ia_bytes=d.gib(100, 2_000), shape=d.shape(), read=0.1, written=0.02, lifecycle=IA_AFTER_30_DAYS
    ),
    "monthly: Read from end to end once a month.": lambda d: _all_at_once(
        d, starts := d.once_a_month(), len(starts) * 36 / 35
    ),
    "weekly: Read from end to end every week.": lambda d: _all_at_once(d, d.daily(7), 5),
    "busy: Reads far more than it stores.": lambda d: _touched(
        d, d.shape("office" if d.chance(0.5) else "steady"), d.spread(1.5, 12), (0.02, 0.5)
    ),
    "rewritten: Written anew every month or faster.": lambda d: _touched(d, _nightly(d, (120, 300)), 0.1, (0.75, 3)),
    "small: Cold, and below 100 GiB.": lambda d: _touched(
        d, standard_bytes=d.gib(10, 97), shape=d.shape(), read=0.05, written=0.01
    ),
    "young: Cold, and not a month old.": lambda d: _touched(d, d.shape(), 0.05, 0.01, days=d.uniform(1, 29)),
    "replica: A replica, which nobody reads.": _replica,
    "on-credits: It lives on the credits that its size earns.": _on_credits,
    "large-bursts: Once a week it needs the burst that its size gives it.": _large_bursts,
}
EFS_COLD_DATA_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _touched(
        d, d.build.shapes.shape("office"), 0.1, 0.02, voice="dark", activity=None, clients=None
    ),
    "half-dark: Days without metrics of reads.": lambda d: _touched(
        d, telemetry={"DataReadIOBytes": _unseen(d)}, shape=d.build.shapes.shape("office"), read=0.1, written=0.02
    ),
}


# --- efs-single-client ------------------------------------------------------------------------------------------------
_AFTER_90_DAYS = (("TransitionToIA", "AFTER_90_DAYS"),)


def _connected(d: Draw, connected: Floats, **more: Any) -> ElasticFileSystem:
    """Plant a file system of 10 to 1,000 GiB with this number of clients in each minute."""
    activity = daily_use(d, 2)
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "days": d.uniform(45, 900), "standard_bytes": d.gib(10, 1_000)}
    usual |= {"lifecycle": _AFTER_90_DAYS, "activity": activity(), "clients": Flow(d.published(connected))}
    return file_system(d, more, tags=d.tags(), **usual)


def _one(d: Draw, **more: Any) -> ElasticFileSystem:
    return _connected(d, np.ones(MINUTES), **more)


def _away(d: Draw, starts: list[int], minutes: Range) -> ElasticFileSystem:
    """Plant a file system with one client that is away for some minutes from each start."""
    return _connected(d, 1.0 - d.runs(starts, d.uniform(*minutes)))


def _more_at(d: Draw, starts: list[int], minutes: Range) -> ElasticFileSystem:
    return _connected(d, 1.0 + d.runs(starts, d.uniform(*minutes), float(d.integer(1, 4))))


def _in_gaps(d: Draw) -> ElasticFileSystem:
    """Plant a file system with at most one client on average."""
    together = d.integer(20, 30)
    minute = (np.arange(MINUTES) + d.integer(60)) % 60
    alone = np.where(minute < 60 - 2 * together, 1.0, 0.0)
    return _connected(d, np.where(minute >= 60 - together, 2.0, alone))


def _source(d: Draw) -> ElasticFileSystem:
    source = _one(d)
    size, days = source.standard_bytes, d.uniform(45, 300)
    d.build.replicate(source, d.build.file_system(f"{d.name}-replica", standard_bytes=size, days=days, replica=True))
    return source


EFS_SINGLE_CLIENT_ISSUES: Rows = {
    "always: One client, always.": _one,
    "restarts: One client, which restarts now and then.": lambda d: _away(d, d.daily(d.pick(1, 7, 10)), (1, 15)),
    "maintained: One client, away for an hour every night.": lambda d: _away(d, d.daily(), (30, 90)),
    "replaced: A group of one: each comes when the last is gone.": lambda d: _away(
        d, [d.ago(day) for day in sorted(d.random.uniform(0.1, 34, d.integer(1, 8)).tolist())], (3, 20)
    ),
}
EFS_SINGLE_CLIENT_CONTROLS: Rows = {
    "several: Several clients.": lambda d: _connected(d, np.full(MINUTES, float(d.integer(2, 10)))),
    "nightly-second: More clients for minutes every night.": lambda d: _more_at(d, d.daily(), (6, 90)),
    "monthly-second: More clients on one day of the month.": lambda d: _more_at(d, d.once_a_month(), (10, 300)),
    "overlap: Replaced once, with both there for a while.": lambda d: _more_at(d, [d.ago(d.uniform(0.1, 34))], (6, 40)),
    "part-time: One client for a part of the day.": lambda d: _connected(d, d.runs(d.daily(), d.uniform(180, 1_150))),
    "in-gaps: Two clients for a part of every hour, and then none.": _in_gaps,
    "swarm: Clients come and go, about one at a time.": lambda d: _connected(
        d, d.random.poisson(d.uniform(0.7, 1.2), MINUTES // 5).repeat(5).astype(float)
    ),
    "cold: One client, and data in Infrequent Access.": lambda d: _one(d, ia_bytes=d.gib(0.1, 2_000)),
    "young: One client, and not a month old.": lambda d: _one(d, days=d.uniform(1, 29)),
    "replication-source: One client, and a replica elsewhere.": _source,
}
EFS_SINGLE_CLIENT_UNKNOWN: Rows = {
    "half-dark: Days without metrics of clients.": lambda d: _connected(d, d.without_days(np.ones(MINUTES))),
    "dark: No metric at all.": lambda d: _one(d, voice="dark", activity=None, clients=None),
}


# --- efs-single-zone-use ----------------------------------------------------------------------------------------------
def _placed(d: Draw, **more: Any) -> ElasticFileSystem:
    """Plant a file system that a few clients use every day."""
    stored_gib, activity = d.spread(5, 1_500), daily_use(d, 1)
    usual: dict[str, Any] = {
        "days": d.uniform(40, 900),
        "standard_bytes": int(stored_gib * GIB),
        "lifecycle": IA_AFTER_30_DAYS,
    }
    usual |= {"ia_bytes": int(stored_gib * d.uniform(0.2, 3) * GIB) if d.chance(0.4) else 0, "activity": activity()}
    return file_system(d, more, clients=Flow(d.shape("steady"), d.integer(4, 30)), tags=d.tags(), **usual)


def _in_one(d: Draw, **more: Any) -> ElasticFileSystem:
    """Plant a file system with a mount target in one zone."""
    return _placed(d, zones=d.pick(*"acd"), **more)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    source = _in_one(d.named("source"))
    return source, replicated(d, source, _in_one(d.named("replica"), replica=True, activity=None, ia_bytes=0))


def _archive(d: Draw) -> ElasticFileSystem:
    """Plant a file system with most data in Archive. One Zone has no Archive, and its Infrequent Access costs more."""
    archive = int(d.spread(3, 20) * TIB)
    stored = {"standard_bytes": d.gib(2, 20), "ia_bytes": 0, "archive_bytes": archive}
    return _in_one(d, mode="elastic", **stored)


EFS_SINGLE_ZONE_USE_ISSUES: Rows = {
    "one-target: Its only mount target is in one zone.": _in_one,
    "two-weeks: In one zone, and no month old.": lambda d: _placed(d, zones=d.pick(*"acd"), days=d.uniform(8, 20)),
}
EFS_SINGLE_ZONE_USE_CONTROLS: Rows = {
    "several-zones: Mount targets in two or three zones.": lambda d: _placed(d, zones="acd" if d.chance(0.6) else "ac"),
    "one-zone: One Zone already.": lambda d: _placed(d, one_zone=d.pick(*"acd")),
    "young: Made days ago: its other mount targets are to come.": lambda d: _placed(
        d, zones=d.pick(*"acd"), days=d.uniform(0.05, 6)
    ),
    "replication-source: The source of a replication.": lambda d: _replicated(d)[0],
    "replica: A replica.": lambda d: _replicated(d)[1],
    "archive: Mostly in Archive, which would cost more in One Zone.": _archive,
}
