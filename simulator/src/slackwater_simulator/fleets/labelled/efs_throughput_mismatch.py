"""Throughput modes that another one beats, or that hold the load back, and modes that suit it.

Left out, because even the truth is in doubt: a load that bursting would carry but for a little, prices of two modes within a
third of each other, a limit that is reached for half an hour to an hour and a half a day or on one to four days of 14, and a
migration that ended within five weeks, which looks like a job that runs once a month.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, ElasticFileSystem
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows
from .shared_files import made, replicated, work

_INCLUDED_GIB = 20
"""Provisioned throughput includes a MiB/s for so much in Standard."""


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _burst(gib: float) -> float:
    return efs_allowance(gib * GIB).burst / MIB


def _provisioned(d: Draw, gib: float, mibps: float, wanted: Floats, **more: Any) -> ElasticFileSystem:
    return made(d, gib, work(d, wanted), mode="provisioned", provisioned_mibps=float(round(mibps)), **more)


def _elastic(d: Draw, gib: float, wanted: Floats, **more: Any) -> ElasticFileSystem:
    return made(d, gib, work(d, wanted), mode="elastic", **more)


def _bursting(d: Draw, gib: float, wanted: Floats) -> ElasticFileSystem:
    return made(d, gib, work(d, wanted))


def _flat(d: Draw, level: float) -> Floats:
    """A steady load, with the noise that many clients together have."""
    return np.clip(level * (1 + (d.wobble() - 1) / 4), 0, 1.15 * level)


def _bought(d: Draw, gib: float) -> float:
    """MiB/s, most of them paid for."""
    return max(d.spread(48, 512), 4 * gib / _INCLUDED_GIB)


def _batch(d: Draw, minutes: float, rate: float, rest: float, every: int = 1) -> Floats:
    """A job at nearly the same rate each time."""
    level = np.clip(1 + (d.wobble() - 1) / 8, 0.9, 1.05) / 1.05
    return np.asarray(d.runs(d.daily(every), minutes, rate, rest) * level)


def _for_minutes(d: Draw) -> ElasticFileSystem:
    """Most of what is provisioned, more than a burst."""
    gib = d.spread(5, 200)
    bought = d.spread(200, 600)
    return _provisioned(d, gib, bought, _batch(d, d.uniform(2, 8), bought * d.uniform(0.65, 0.88), 0.002 * bought))


def _calm(d: Draw, gib: float, least: float) -> Floats:
    """A load that its size earns twice over."""
    shape = d.demand()
    return shape * min(_baseline(gib) * d.uniform(least, 0.5) / float(shape.mean()), 0.6 * _burst(gib))


def _at_its_amount(d: Draw) -> ElasticFileSystem:
    """It wants more."""
    gib = d.spread(5, 200)
    bought = max(2 * _baseline(gib), d.spread(20, 256))
    return _provisioned(d, gib, bought, _batch(d, d.uniform(150, 700), bought * d.uniform(1.3, 4), 0.05 * bought))


def _at_its_burst(d: Draw) -> ElasticFileSystem:
    """Within the credits that its size earns."""
    gib = d.spread(400, 3_000)
    hours = d.uniform(2, 20 * _baseline(gib) / _burst(gib))
    return _bursting(d, gib, _batch(d, hours * 60, _burst(gib) * d.uniform(1.3, 4), 0.1 * _baseline(gib)))


def _well_used(d: Draw) -> ElasticFileSystem:
    """Far above what its size earns."""
    gib = d.spread(5, 200)
    bought = max(3 * _baseline(gib), d.spread(20, 400))
    return _provisioned(d, gib, bought, np.clip(_flat(d, 0.85 * bought), 0, 0.92 * bought))


def _by_day(d: Draw) -> ElasticFileSystem:
    """More than its size earns."""
    gib = d.spread(5, 100)
    shape = d.working_days()
    shape = shape / float(np.quantile(shape, 0.999))
    bought = max(1.3 * _baseline(gib) / float(shape.mean()), d.spread(40, 300))
    return _provisioned(d, gib, bought, np.clip(shape, 0, 1) * 0.92 * bought)


def _nightly(d: Draw) -> ElasticFileSystem:
    """More than a burst, and more than its size earns."""
    gib = d.spread(5, 60)
    bought, hours = d.spread(130, 512), d.uniform(2.5, 6)
    return _provisioned(d, gib, bought, _batch(d, hours * 60, 0.92 * bought, 0.02 * bought))


def _closing(d: Draw) -> ElasticFileSystem:
    """For hours, and above what its size earns at other times."""
    gib = d.spread(5, 60)
    bought = d.spread(130, 512)
    rest = max(0.12 * bought, 1.5 * _baseline(gib))
    often = d.runs(d.monthly(), d.uniform(240, 900), 0.92 * bought, rest)
    return _provisioned(d, gib, bought, often * np.clip(d.wobble(), 0.9, 1.0))


def _below_its_size(d: Draw) -> ElasticFileSystem:
    """Nothing is paid for it, and it bursts."""
    gib = d.spread(200, 3_000)
    wanted = _calm(d, gib, 0.1)
    return _provisioned(d, gib, max(1, _baseline(gib) * d.uniform(0.1, 0.9)), wanted)


def _in_bursts(d: Draw) -> ElasticFileSystem:
    """Within what it earns."""
    gib = d.spread(30, 3_000)
    hours = d.uniform(0.2, 0.7 * 24 * _baseline(gib) / _burst(gib))
    return _bursting(d, gib, _batch(d, hours * 60, _burst(gib) * d.uniform(0.5, 0.85), 0.1 * _baseline(gib)))


def _at_burst(d: Draw, least_gib: float, minutes: tuple[float, float], most: float, every: int) -> ElasticFileSystem:
    gib = d.spread(least_gib, 3_000)
    rate = d.uniform(*minutes), _burst(gib) * d.uniform(1.2, most)
    return _bursting(d, gib, _batch(d, *rate, 0.1 * _baseline(gib), every))


def _elastic_spikes(d: Draw) -> ElasticFileSystem:
    """What Elastic is for."""
    gib = d.spread(5, 1_000)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, _batch(d, d.uniform(10, 20), rate, 0.0005 * rate))


def _elastic_monthly(d: Draw) -> ElasticFileSystem:
    """For an hour or more, at other times next to nothing."""
    gib = d.spread(5, 300)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, d.runs(d.monthly(), d.uniform(60, 240), rate, 0.0005 * rate))


def _elastic_trickle(d: Draw) -> ElasticFileSystem:
    wanted = d.demand()
    return _elastic(d, d.spread(1, 500), wanted * d.uniform(0.1, 0.8) * 0.0015 / float(wanted.mean()))


def _archive(d: Draw) -> ElasticFileSystem:
    """It is calm."""
    gib = d.spread(30, 1_000)
    wanted = d.demand() * 0.3 * _baseline(gib)
    cold = (("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToArchive", "AFTER_90_DAYS"))
    archive = int(d.spread(1, 1_000) * GIB)
    return _elastic(d, gib, wanted, archive_bytes=archive, ia_bytes=10 * GIB, lifecycle=cold)


def _replica(d: Draw) -> ElasticFileSystem:
    """As its source is."""
    gib = d.spread(5, 99)
    source = _well_used(d.named("source"))
    replica = _provisioned(d, gib, source.provisioned_mibps or 64, 0.5 * d.wobble(), replica=True)
    return replicated(d, source, replica)


EFS_THROUGHPUT_MISMATCH_ISSUES: Rows = {
    "hardly-used: A sixth of what is provisioned at most.": lambda d: _provisioned(
        d, gib := d.spread(5, 400), bought := _bought(d, gib), d.demand() * bought * d.spread(0.01, 0.17)
    ),
    # It uses far more than its size earns.
    "bought-for-more: Steady at half of what is provisioned, or less.": lambda d: _provisioned(
        d, d.spread(5, 100), bought := d.spread(100, 512), _flat(d, bought * d.uniform(0.1, 0.5))
    ),
    "for-minutes: Provisioned for minutes a day.": _for_minutes,
    "elastic-calm: Elastic, where bursting would do.": lambda d: _elastic(
        d, gib := d.spread(30, 2_000), _calm(d, gib, 0.15)
    ),
    # Several times what its size earns.
    "elastic-always: Elastic, and a steady load.": lambda d: _elastic(
        d, gib := d.spread(5, 300), _flat(d, max(10, _baseline(gib) * d.uniform(1.5, 10)))
    ),
    "at-its-amount: Hours a day at all that is provisioned.": _at_its_amount,
    "at-its-burst: Hours a day at all that a burst is.": _at_its_burst,
}
EFS_THROUGHPUT_MISMATCH_CONTROLS: Rows = {
    "well-used: Steady near what is provisioned.": _well_used,
    "by-day: Working days near what is provisioned.": _by_day,
    "nightly: Hours a night near what is provisioned.": _nightly,
    "closing: Near what is provisioned once a month.": _closing,
    # Nobody knows what it would do with more, or with less.
    "briefly: At all that is provisioned for minutes a night.": lambda d: _provisioned(
        d, gib := d.spread(5, 200), bought := _bought(d, gib), _batch(d, d.uniform(12, 30), bought * 1.3, 0.02 * bought)
    ),
    "below-its-size: Less provisioned than its size earns, for nothing.": _below_its_size,
    "in-bursts: Bursting, below its limits.": _in_bursts,
    "short-bursts: At the limit of a burst for minutes a night.": lambda d: _at_burst(d, 150, (3, 28), 3, 1),
    "weekly-burst: At the limit of a burst once a week.": lambda d: _at_burst(d, 300, (60, 300), 2, 7),
    "elastic-spikes: Elastic, faster than a burst for minutes a day.": _elastic_spikes,
    "elastic-monthly: Elastic, faster than a burst once a month.": _elastic_monthly,
    "elastic-trickle: Elastic, and next to nothing moves.": _elastic_trickle,
    "archive: Elastic, with data in Archive.": _archive,
    "replica: Provisioned, and written by replication alone.": _replica,
}
EFS_THROUGHPUT_MISMATCH_UNKNOWN: Rows = {
    "holes: Days without metrics: nobody knows.": lambda d: _provisioned(
        d, gib := d.spread(5, 200), bought := _bought(d, gib), d.without_days(_flat(d, 0.05 * bought))
    ),
    "dark: No metric at all.": lambda d: _provisioned(d, 50, 64, np.ones(MINUTES), voice="dark"),
    "young: Made within two weeks.": lambda d: _provisioned(
        d, 20, bought := d.spread(48, 512), _flat(d, 0.05 * bought), days=d.uniform(0.2, 12)
    ),
}
