"""File systems that one client has for itself, and others that several share, at least now and then.

Left out, because even the truth is in doubt: clients that are there for 85 to 93 % of the time, a second one for less than five
minutes, and clients that take turns, which look like one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import ElasticFileSystem, Flow
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows
from .shared_files import daily_use, file_system

_COLD = (("TransitionToIA", "AFTER_90_DAYS"),)


def _made(d: Draw, connected: Floats, **more: Any) -> ElasticFileSystem:
    """A file system of 10 to 1,000 GiB with so many clients by the minute."""
    activity = daily_use(d, 2)
    usual: dict[str, Any] = {"one_zone": d.zone(0.4), "days": d.uniform(45, 900), "standard_bytes": d.gib(10, 1_000)}
    usual |= {"lifecycle": _COLD, "activity": activity(), "clients": Flow(d.published(connected)), "tags": d.tags()}
    return file_system(d, more, **usual)


def _one(d: Draw, **more: Any) -> ElasticFileSystem:
    """A file system with one client."""
    return _made(d, np.ones(MINUTES), **more)


def _away(d: Draw, starts: list[int], minutes: float) -> ElasticFileSystem:
    """One client but for some minutes from each start."""
    return _made(d, 1.0 - d.runs(starts, minutes))


def _more_at(d: Draw, starts: list[int], minutes: float) -> ElasticFileSystem:
    return _made(d, 1.0 + d.runs(starts, minutes, float(d.integer(1, 4))))


def _in_gaps(d: Draw) -> ElasticFileSystem:
    """On average not more than one."""
    together = d.integer(20, 30)
    minute = (np.arange(MINUTES) + d.integer(60)) % 60
    alone = np.where(minute < 60 - 2 * together, 1.0, 0.0)
    return _made(d, np.where(minute >= 60 - together, 2.0, alone))


def _swarm(d: Draw) -> ElasticFileSystem:
    level = d.uniform(0.7, 1.2)
    return _made(d, d.random.poisson(level, MINUTES // 5).repeat(5).astype(float))


def _source(d: Draw) -> ElasticFileSystem:
    source = _one(d)
    size, days = source.standard_bytes, d.uniform(45, 300)
    d.build.replicate(source, d.build.file_system(f"{d.name}-replica", standard_bytes=size, days=days, replica=True))
    return source


EFS_SINGLE_CLIENT_ISSUES: Rows = {
    "always: One client, always.": _one,
    "restarts: One client, which restarts now and then.": lambda d: _away(
        d, d.daily(d.pick(1, 7, 10)), d.uniform(1, 15)
    ),
    "maintained: One client, away for an hour every night.": lambda d: _away(d, d.daily(), d.uniform(30, 90)),
    "replaced: A group of one: each comes when the last is gone.": lambda d: _away(
        d, [d.ago(day) for day in sorted(d.random.uniform(0.1, 34, d.integer(1, 8)).tolist())], d.uniform(3, 20)
    ),
}
EFS_SINGLE_CLIENT_CONTROLS: Rows = {
    "several: Several clients.": lambda d: _made(d, np.full(MINUTES, float(d.integer(2, 10)))),
    "nightly-second: More clients for minutes every night.": lambda d: _more_at(d, d.daily(), d.uniform(6, 90)),
    "monthly-second: More clients on one day of the month.": lambda d: _more_at(
        d, d.once_a_month(), d.uniform(10, 300)
    ),
    "overlap: Replaced once, with both there for a while.": lambda d: _more_at(
        d, [d.ago(d.uniform(0.1, 34))], d.uniform(6, 40)
    ),
    "part-time: One client for a part of the day.": lambda d: _made(d, d.runs(d.daily(), d.uniform(180, 1_150))),
    "in-gaps: Two clients for a part of every hour, and then none.": _in_gaps,
    "swarm: Clients come and go, about one at a time.": _swarm,
    "cold: One client, and data in Infrequent Access.": lambda d: _one(d, ia_bytes=d.gib(0.1, 2_000)),
    "young: One client, and not a month old.": lambda d: _one(d, days=d.uniform(1, 29)),
    "replication-source: One client, and a replica elsewhere.": _source,
}
EFS_SINGLE_CLIENT_UNKNOWN: Rows = {
    "half-dark: Days on which nobody knows who was there.": lambda d: _made(d, d.without_days(np.ones(MINUTES))),
    "dark: No metric at all.": lambda d: _one(d, voice="dark", activity=None, clients=None),
}
