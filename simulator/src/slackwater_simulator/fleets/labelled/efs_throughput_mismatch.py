"""Throughput modes that another one beats, or that hold the load back, and modes that suit it.

Left out, because even the truth is in doubt: a load that bursting would carry but for a little, prices of two modes within a
third of each other, a limit that is reached for half an hour to an hour and a half a day or on one to four days of 14, and a
migration that ended within five weeks, which looks like a job that runs once a month.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, ElasticFileSystem
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import control, issue
from .shared_files import made, work

_INCLUDED_GIB = 20
"""Provisioned throughput includes a MiB/s for so much in Standard."""


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _burst(gib: float) -> float:
    return efs_allowance(gib * GIB).burst / MIB


def _provisioned(d: Draw, gib: float, mibps: float, wanted: Floats, **more: object) -> ElasticFileSystem:
    activity = work(d, wanted)
    return made(d, gib, activity, mode="provisioned", provisioned_mibps=float(round(mibps)), **more)


def _elastic(d: Draw, gib: float, wanted: Floats, **more: object) -> ElasticFileSystem:
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


# Troubles


def _hardly_used(d: Draw) -> ElasticFileSystem:
    """A sixth of what is provisioned at most."""
    gib = d.spread(5, 400)
    bought = _bought(d, gib)
    return _provisioned(d, gib, bought, d.demand() * bought * d.spread(0.01, 0.17))


def _bought_for_more(d: Draw) -> ElasticFileSystem:
    """Steady at a tenth to a half of what is provisioned, and far more than its size earns."""
    gib = d.spread(5, 100)
    bought = d.spread(100, 512)
    return _provisioned(d, gib, bought, _flat(d, bought * d.uniform(0.1, 0.5)))


def _for_minutes(d: Draw) -> ElasticFileSystem:
    """Most of what is provisioned, more than a burst, for minutes a day."""
    gib = d.spread(5, 200)
    bought = d.spread(200, 600)
    wanted = _batch(d, d.uniform(2, 8), bought * d.uniform(0.65, 0.88), 0.002 * bought)
    return _provisioned(d, gib, bought, wanted)


def _elastic_calm(d: Draw) -> ElasticFileSystem:
    """A load that its size earns twice over, on Elastic."""
    gib = d.spread(30, 2_000)
    shape = d.demand()
    level = min(_baseline(gib) * d.uniform(0.15, 0.5) / float(shape.mean()), 0.6 * _burst(gib))
    return _elastic(d, gib, shape * level)


def _elastic_always(d: Draw) -> ElasticFileSystem:
    """A steady load on Elastic, several times what its size earns."""
    gib = d.spread(5, 300)
    return _elastic(d, gib, _flat(d, max(10, _baseline(gib) * d.uniform(1.5, 10))))


def _at_its_amount(d: Draw) -> ElasticFileSystem:
    """Hours a day at all that is provisioned; it wants more."""
    gib = d.spread(5, 200)
    bought = max(2 * _baseline(gib), d.spread(20, 256))
    wanted = _batch(d, d.uniform(150, 700), bought * d.uniform(1.3, 4), 0.05 * bought)
    return _provisioned(d, gib, bought, wanted)


def _at_its_burst(d: Draw) -> ElasticFileSystem:
    """Hours a day at all that a burst is, within the credits that its size earns."""
    gib = d.spread(400, 3_000)
    hours = d.uniform(2, 20 * _baseline(gib) / _burst(gib))
    wanted = _batch(d, hours * 60, _burst(gib) * d.uniform(1.3, 4), 0.1 * _baseline(gib))
    return _bursting(d, gib, wanted)


# Twins


def _well_used(d: Draw) -> ElasticFileSystem:
    """Steady near what is provisioned, and far above what its size earns."""
    gib = d.spread(5, 200)
    bought = max(3 * _baseline(gib), d.spread(20, 400))
    return _provisioned(d, gib, bought, np.clip(_flat(d, 0.85 * bought), 0, 0.92 * bought))


def _by_day(d: Draw) -> ElasticFileSystem:
    """Working days near what is provisioned, more than its size earns."""
    gib = d.spread(5, 100)
    shape = d.working_days()
    shape = shape / float(np.quantile(shape, 0.999))
    bought = max(1.3 * _baseline(gib) / float(shape.mean()), d.spread(40, 300))
    return _provisioned(d, gib, bought, np.clip(shape, 0, 1) * 0.92 * bought)


def _nightly(d: Draw) -> ElasticFileSystem:
    """Hours a night near what is provisioned: more than a burst, and more than its size earns."""
    gib = d.spread(5, 60)
    bought, hours = d.spread(130, 512), d.uniform(2.5, 6)
    wanted = _batch(d, hours * 60, 0.92 * bought, 0.02 * bought)
    return _provisioned(d, gib, bought, wanted)


def _closing(d: Draw) -> ElasticFileSystem:
    """Once a month for hours near what is provisioned, and above what its size earns at other times."""
    gib = d.spread(5, 60)
    bought = d.spread(130, 512)
    rest = max(0.12 * bought, 1.5 * _baseline(gib))
    often = d.runs(d.monthly(), d.uniform(240, 900), 0.92 * bought, rest)
    return _provisioned(d, gib, bought, often * np.clip(d.wobble(), 0.9, 1.0))


def _briefly(d: Draw) -> ElasticFileSystem:
    """At all that is provisioned for minutes a night: nobody knows what it would do with more, or with less."""
    gib = d.spread(5, 200)
    bought = _bought(d, gib)
    wanted = _batch(d, d.uniform(12, 30), bought * 1.3, 0.02 * bought)
    return _provisioned(d, gib, bought, wanted)


def _below_its_size(d: Draw) -> ElasticFileSystem:
    """Less provisioned than its size earns: nothing is paid for it, and it bursts."""
    gib = d.spread(200, 3_000)
    shape = d.demand()
    level = min(_baseline(gib) * d.uniform(0.1, 0.5) / float(shape.mean()), 0.6 * _burst(gib))
    return _provisioned(d, gib, max(1, _baseline(gib) * d.uniform(0.1, 0.9)), shape * level)


def _in_bursts(d: Draw) -> ElasticFileSystem:
    """Bursting, below its limit, within what it earns."""
    gib = d.spread(30, 3_000)
    hours = d.uniform(0.2, 0.7 * 24 * _baseline(gib) / _burst(gib))
    wanted = _batch(d, hours * 60, _burst(gib) * d.uniform(0.5, 0.85), 0.1 * _baseline(gib))
    return _bursting(d, gib, wanted)


def _short_bursts(d: Draw) -> ElasticFileSystem:
    """At the limit of a burst for minutes a night."""
    gib = d.spread(150, 3_000)
    wanted = _batch(d, d.uniform(3, 28), _burst(gib) * d.uniform(1.2, 3), 0.1 * _baseline(gib))
    return _bursting(d, gib, wanted)


def _weekly_burst(d: Draw) -> ElasticFileSystem:
    """At the limit of a burst for hours, once a week."""
    gib = d.spread(300, 3_000)
    wanted = _batch(d, d.uniform(60, 300), _burst(gib) * d.uniform(1.2, 2), 0.1 * _baseline(gib), 7)
    return _bursting(d, gib, wanted)


def _elastic_spikes(d: Draw) -> ElasticFileSystem:
    """Faster than a burst for minutes a day: what Elastic is for."""
    gib = d.spread(5, 1_000)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, _batch(d, d.uniform(10, 20), rate, 0.0005 * rate))


def _elastic_monthly(d: Draw) -> ElasticFileSystem:
    """Faster than a burst for an hour or more once a month, at other times next to nothing."""
    gib = d.spread(5, 300)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, d.runs(d.monthly(), d.uniform(60, 240), rate, 0.0005 * rate))


def _elastic_trickle(d: Draw) -> ElasticFileSystem:
    """Next to nothing on Elastic."""
    wanted = d.demand()
    return _elastic(d, d.spread(1, 500), wanted * d.uniform(0.1, 0.8) * 0.0015 / float(wanted.mean()))


def _archive(d: Draw) -> ElasticFileSystem:
    """Calm, but it has data in Archive."""
    gib = d.spread(30, 1_000)
    wanted = d.demand() * 0.3 * _baseline(gib)
    cold = (("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToArchive", "AFTER_90_DAYS"))
    archive = int(d.spread(1, 1_000) * GIB)
    return _elastic(d, gib, wanted, archive_bytes=archive, ia_bytes=10 * GIB, lifecycle=cold)


def _replica(d: Draw) -> ElasticFileSystem:
    """Provisioned as its source is, and written by replication."""
    gib = d.spread(5, 99)
    source = _well_used(d.named("source"))
    replica = _provisioned(d, gib, source.provisioned_mibps or 64, 0.5 * d.wobble(), replica=True)
    d.build.replicate(source, replica)
    return replica


def _holes(d: Draw) -> ElasticFileSystem:
    """Days without a point, and nobody knows what they were like."""
    gib = d.spread(5, 200)
    bought = _bought(d, gib)
    return _provisioned(d, gib, bought, d.without_days(_flat(d, 0.05 * bought)))


def _young(d: Draw) -> ElasticFileSystem:
    bought = d.spread(48, 512)
    return _provisioned(d, 20, bought, _flat(d, 0.05 * bought), days=d.uniform(0.2, 12))


SCENARIOS = (
    issue("hardly-used", "A sixth of what is provisioned at most.", _hardly_used),
    issue("bought-for-more", "Steady at half of what is provisioned, or less.", _bought_for_more),
    issue("for-minutes", "Provisioned for minutes a day.", _for_minutes),
    issue("elastic-calm", "Elastic, where bursting would do.", _elastic_calm),
    issue("elastic-always", "Elastic, and a steady load.", _elastic_always),
    issue("at-its-amount", "Hours a day at all that is provisioned.", _at_its_amount),
    issue("at-its-burst", "Hours a day at all that a burst is.", _at_its_burst),
    control("well-used", "Steady near what is provisioned.", _well_used),
    control("by-day", "Working days near what is provisioned.", _by_day),
    control("nightly", "Hours a night near what is provisioned.", _nightly),
    control("closing", "Near what is provisioned once a month.", _closing),
    control("briefly", "At all that is provisioned for minutes a night.", _briefly),
    control("below-its-size", "Less provisioned than its size earns, for nothing.", _below_its_size),
    control("in-bursts", "Bursting, below its limits.", _in_bursts),
    control("short-bursts", "At the limit of a burst for minutes a night.", _short_bursts),
    control("weekly-burst", "At the limit of a burst once a week.", _weekly_burst),
    control("elastic-spikes", "Elastic, faster than a burst for minutes a day.", _elastic_spikes),
    control("elastic-monthly", "Elastic, faster than a burst once a month.", _elastic_monthly),
    control("elastic-trickle", "Elastic, and next to nothing moves.", _elastic_trickle),
    control("archive", "Elastic, with data in Archive.", _archive),
    control("replica", "Provisioned, and written by replication alone.", _replica),
    control("holes", "Days without metrics: nobody knows.", _holes, full=False),
    control("dark", "No metric at all.", lambda d: _provisioned(d, 50, 64, np.ones(MINUTES), voice="dark"), full=False),
    control("young", "Made within two weeks.", _young, full=False),
)
