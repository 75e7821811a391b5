"""File systems that keep in Standard what nobody touches, and others that need what they keep there.

An issue touches less than 40 % of what it stores in 36 days, each byte once. A file system that reads the same files again and
again is a control, as nothing that it publishes says how few they are. Left out, because even the truth is in doubt: 40 to
65 %, and a few huge files of which a part is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, TIB, Activity, ElasticFileSystem, Flow, given
from slackwater_simulator.series import DAY, Signal, Track
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows
from .shared_files import COLD, file_system, replicated

_WINDOW = 36 * DAY
_BACK = (("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS"),)


def _made(d: Draw, shape: Signal, read: float, written: float, **more: Any) -> ElasticFileSystem:
    """A file system that reads and writes these parts of what it stores in 36 days."""
    stored = more.pop("standard_bytes", None) or d.gib(120, 900)
    per_s = stored / _WINDOW / max(1e-9, float(shape.stats.total.mean())) / MIB
    place = {"one_zone": d.zone(0.3), "days": d.uniform(45, 900), "standard_bytes": stored}
    work = d.work(shape, read * per_s, written * per_s, (32, 1_024), (100, 1_024), (1, 20), KIB)
    return file_system(d, more, activity=work, clients=Flow(d.always(), d.integer(4, 20)), tags=d.tags(), **place)


def _growing(d: Draw) -> ElasticFileSystem:
    read, written = d.uniform(0.01, 0.1), d.uniform(0.05, 0.28)
    return _made(d, d.published(d.runs(d.daily(), d.uniform(60, 300), 0.8, 0.01) * d.wobble()), read, written)


def _large(d: Draw) -> ElasticFileSystem:
    shape, size = d.shape("steady", "office"), d.gib(1.2 * 1_024, 8 * 1_024)
    return _made(d, shape, d.uniform(0.01, 0.2), 0.02, standard_bytes=size)


def _all_at_once(d: Draw, starts: list[int], every: float) -> ElasticFileSystem:
    """Read from end to end by a job that runs so many times in 36 days."""
    shape = d.published(d.runs(starts, d.uniform(150, 600)))
    size = d.gib(120, 600)
    return _made(d, shape, d.uniform(0.97, 1.2) * every, 0.02, standard_bytes=size)


def _replica(d: Draw) -> ElasticFileSystem:
    made = _made(d.named("source"), d.shape(), 0.1, 0.02, lifecycle=COLD)
    own = {"standard_bytes": made.standard_bytes, "days": d.uniform(45, 400), "replica": True, "tags": d.tags()}
    return replicated(d, made, file_system(d, own))


def _on_credits(d: Draw) -> ElasticFileSystem:
    """Its clients list directories all day: 1.4 MiB/s and more of metadata, within what its size earns and beyond the least."""
    size = d.gib(200, 900)
    earned = 50 * KIB * size / GIB
    shape = d.published(d.working_days() if d.chance(0.5) else 0.6 * d.wobble())
    metadata = min(d.spread(1.4 * MIB, 0.6 * earned) / float(shape.stats.total.mean()), 50.0 * MIB)
    work = Activity(shape=shape, read=0.01 * MIB, write=0.005 * MIB, write_size=256 * KIB, metadata=metadata)
    return _made(d, shape, 0.0, 0.0, standard_bytes=size, activity=work)


def _large_bursts(d: Draw) -> ElasticFileSystem:
    """Above 1 TiB a burst goes by the size: it writes faster than a small file system may."""
    size = int(d.spread(4, 9) * TIB)
    minutes, rate = d.uniform(10, 20), d.uniform(150, 300) * MIB
    shape = d.published(d.runs(d.daily(7), minutes, 1.0, 0.0005))
    work = Activity(shape=shape, read=MIB, write=rate, write_size=MIB, metadata=KIB)
    return _made(d, shape, 0.0, 0.0, standard_bytes=size, activity=work)


def _unseen(d: Draw) -> Track:
    """A metric that misses whole days."""
    return given(d.signal(d.without_days(np.ones(MINUTES))), scale=1_000.0)


EFS_COLD_DATA_ISSUES: Rows = {
    "library: Kept for years, and hardly read.": lambda d: _made(
        d, read=d.spread(0.001, 0.3), written=d.spread(0.001, 0.05), shape=d.shape()
    ),
    "growing: New files come every night; the old ones rest.": _growing,
    "homes: Home directories: everybody works on a few files.": lambda d: _made(
        d, d.published(d.working_days()), d.uniform(0.05, 0.28), d.uniform(0.01, 0.1)
    ),
    "untouched: Mounted, and nothing is read.": lambda d: _made(d, d.never(), 0.0, 0.0),
    "only-back: A policy that only brings files back.": lambda d: _made(d, d.shape(), 0.1, 0.02, lifecycle=_BACK),
    "large: Terabytes that are hardly read.": _large,
}
EFS_COLD_DATA_CONTROLS: Rows = {
    "tiered: A policy moves what is cold.": lambda d: _made(
        d, ia_bytes=d.gib(100, 2_000), shape=d.shape(), read=0.1, written=0.02, lifecycle=COLD
    ),
    "monthly: Read from end to end once a month.": lambda d: _all_at_once(
        d, starts := d.once_a_month(), len(starts) * 36 / 35
    ),
    "weekly: Read from end to end every week.": lambda d: _all_at_once(d, d.daily(7), 5),
    "busy: Reads far more than it stores.": lambda d: _made(
        d, d.shape("office" if d.chance(0.5) else "steady"), d.spread(1.5, 12), d.uniform(0.02, 0.5)
    ),
    "rewritten: Written anew every month or faster.": lambda d: _made(
        d, d.published(d.runs(d.daily(), d.uniform(120, 300), 0.8, 0.01) * d.wobble()), 0.1, d.uniform(0.75, 3)
    ),
    "small: Cold, and below 100 GiB.": lambda d: _made(
        d, standard_bytes=d.gib(10, 97), shape=d.shape(), read=0.05, written=0.01
    ),
    "young: Cold, and not a month old.": lambda d: _made(d, d.shape(), 0.05, 0.01, days=d.uniform(1, 29)),
    "replica: A replica, which nobody reads.": _replica,
    "on-credits: It lives on the credits that its size earns.": _on_credits,
    "large-bursts: Once a week it needs the burst that its size gives it.": _large_bursts,
}
EFS_COLD_DATA_UNKNOWN: Rows = {
    "dark: No metric at all.": lambda d: _made(
        d, d.build.shapes.shape("office"), 0.1, 0.02, voice="dark", activity=None, clients=None
    ),
    "half-dark: Days on which nobody knows what was read.": lambda d: _made(
        d, telemetry={"DataReadIOBytes": _unseen(d)}, shape=d.build.shapes.shape("office"), read=0.1, written=0.02
    ),
}
