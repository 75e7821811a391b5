"""Throughput modes that another one beats, or that hold the load back, and modes that suit it.

Left out, because even the truth is in doubt: a load that bursting would carry but for a little, prices of two modes within a
third of each other, a limit that is reached for half an hour to an hour and a half a day or on one to four days of 14, and a
migration that ended within five weeks, which looks like a job that runs once a month.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, ElasticFileSystem, Replication
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import MINUTES

from .rhythms import Random, daily, demand, monthly, runs, spread, without_days, wobble, working_days
from .scenario import Scenario, each
from .shared_files import made, work

_INCLUDED_GIB = 20
"""Provisioned throughput includes a MiB/s for so much in Standard."""


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _burst(gib: float) -> float:
    return efs_allowance(gib * GIB).burst / MIB


def _provisioned(
    random: Random, build: Builder, name: str, gib: float, mibps: float, wanted: Floats, **more: object
) -> ElasticFileSystem:
    activity = work(random, build, wanted)
    return made(random, build, name, gib, activity, mode="provisioned", provisioned_mibps=float(round(mibps)), **more)


def _elastic(
    random: Random, build: Builder, name: str, gib: float, wanted: Floats, **more: object
) -> ElasticFileSystem:
    return made(random, build, name, gib, work(random, build, wanted), mode="elastic", **more)


def _bursting(random: Random, build: Builder, name: str, gib: float, wanted: Floats) -> ElasticFileSystem:
    return made(random, build, name, gib, work(random, build, wanted))


def _flat(random: Random, level: float) -> Floats:
    """A steady load, with the noise that many clients together have."""
    return np.clip(level * (1 + (wobble(random) - 1) / 4), 0, 1.15 * level)


def _bought(random: Random, gib: float) -> float:
    """MiB/s, most of them paid for."""
    return max(spread(random, 48, 512), 4 * gib / _INCLUDED_GIB)


def _batch(random: Random, build: Builder, minutes: float, rate: float, rest: float, every: int = 1) -> Floats:
    """A job at nearly the same rate each time."""
    level = np.clip(1 + (wobble(random) - 1) / 8, 0.9, 1.05) / 1.05
    return np.asarray(runs(build, daily(random, build, every), minutes, rate, rest) * level)


# Troubles


def _hardly_used(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A sixth of what is provisioned at most."""
    gib = spread(random, 5, 400)
    bought = _bought(random, gib)
    return _provisioned(random, build, name, gib, bought, demand(random, build) * bought * spread(random, 0.01, 0.17))


def _bought_for_more(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Steady at a tenth to a half of what is provisioned, and far more than its size earns."""
    gib = spread(random, 5, 100)
    bought = spread(random, 100, 512)
    return _provisioned(random, build, name, gib, bought, _flat(random, bought * random.uniform(0.1, 0.5)))


def _for_minutes(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Most of what is provisioned, more than a burst, for minutes a day."""
    gib = spread(random, 5, 200)
    bought = spread(random, 200, 600)
    wanted = _batch(random, build, random.uniform(2, 8), bought * random.uniform(0.65, 0.88), 0.002 * bought)
    return _provisioned(random, build, name, gib, bought, wanted)


def _elastic_calm(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A load that its size earns twice over, on Elastic."""
    gib = spread(random, 30, 2_000)
    shape = demand(random, build)
    level = min(_baseline(gib) * random.uniform(0.15, 0.5) / float(shape.mean()), 0.6 * _burst(gib))
    return _elastic(random, build, name, gib, shape * level)


def _elastic_always(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A steady load on Elastic, several times what its size earns."""
    gib = spread(random, 5, 300)
    return _elastic(random, build, name, gib, _flat(random, max(10, _baseline(gib) * random.uniform(1.5, 10))))


def _at_its_amount(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Hours a day at all that is provisioned; it wants more."""
    gib = spread(random, 5, 200)
    bought = max(2 * _baseline(gib), spread(random, 20, 256))
    wanted = _batch(random, build, random.uniform(150, 700), bought * random.uniform(1.3, 4), 0.05 * bought)
    return _provisioned(random, build, name, gib, bought, wanted)


def _at_its_burst(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Hours a day at all that a burst is, within the credits that its size earns."""
    gib = spread(random, 400, 3_000)
    hours = random.uniform(2, 20 * _baseline(gib) / _burst(gib))
    wanted = _batch(random, build, hours * 60, _burst(gib) * random.uniform(1.3, 4), 0.1 * _baseline(gib))
    return _bursting(random, build, name, gib, wanted)


# Twins


def _well_used(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Steady near what is provisioned, and far above what its size earns."""
    gib = spread(random, 5, 200)
    bought = max(3 * _baseline(gib), spread(random, 20, 400))
    return _provisioned(random, build, name, gib, bought, np.clip(_flat(random, 0.85 * bought), 0, 0.92 * bought))


def _by_day(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Working days near what is provisioned, more than its size earns."""
    gib = spread(random, 5, 100)
    shape = working_days(random, build)
    shape = shape / float(np.quantile(shape, 0.999))
    bought = max(1.3 * _baseline(gib) / float(shape.mean()), spread(random, 40, 300))
    return _provisioned(random, build, name, gib, bought, np.clip(shape, 0, 1) * 0.92 * bought)


def _nightly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Hours a night near what is provisioned: more than a burst, and more than its size earns."""
    gib = spread(random, 5, 60)
    bought, hours = spread(random, 130, 512), random.uniform(2.5, 6)
    wanted = _batch(random, build, hours * 60, 0.92 * bought, 0.02 * bought)
    return _provisioned(random, build, name, gib, bought, wanted)


def _closing(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Once a month for hours near what is provisioned, and above what its size earns at other times."""
    gib = spread(random, 5, 60)
    bought = spread(random, 130, 512)
    rest = max(0.12 * bought, 1.5 * _baseline(gib))
    often = runs(build, monthly(random, build), random.uniform(240, 900), 0.92 * bought, rest)
    return _provisioned(random, build, name, gib, bought, often * np.clip(wobble(random), 0.9, 1.0))


def _briefly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """At all that is provisioned for minutes a night: nobody knows what it would do with more, or with less."""
    gib = spread(random, 5, 200)
    bought = _bought(random, gib)
    wanted = _batch(random, build, random.uniform(12, 30), bought * 1.3, 0.02 * bought)
    return _provisioned(random, build, name, gib, bought, wanted)


def _below_its_size(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Less provisioned than its size earns: nothing is paid for it, and it bursts."""
    gib = spread(random, 200, 3_000)
    shape = demand(random, build)
    level = min(_baseline(gib) * random.uniform(0.1, 0.5) / float(shape.mean()), 0.6 * _burst(gib))
    return _provisioned(random, build, name, gib, max(1, _baseline(gib) * random.uniform(0.1, 0.9)), shape * level)


def _in_bursts(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Bursting, below its limit, within what it earns."""
    gib = spread(random, 30, 3_000)
    hours = random.uniform(0.2, 0.7 * 24 * _baseline(gib) / _burst(gib))
    wanted = _batch(random, build, hours * 60, _burst(gib) * random.uniform(0.5, 0.85), 0.1 * _baseline(gib))
    return _bursting(random, build, name, gib, wanted)


def _short_bursts(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """At the limit of a burst for minutes a night."""
    gib = spread(random, 150, 3_000)
    wanted = _batch(random, build, random.uniform(3, 28), _burst(gib) * random.uniform(1.2, 3), 0.1 * _baseline(gib))
    return _bursting(random, build, name, gib, wanted)


def _weekly_burst(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """At the limit of a burst for hours, once a week."""
    gib = spread(random, 300, 3_000)
    wanted = _batch(
        random, build, random.uniform(60, 300), _burst(gib) * random.uniform(1.2, 2), 0.1 * _baseline(gib), 7
    )
    return _bursting(random, build, name, gib, wanted)


def _elastic_spikes(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Faster than a burst for minutes a day: what Elastic is for."""
    gib = spread(random, 5, 1_000)
    rate = _burst(gib) * random.uniform(1.4, 4)
    return _elastic(random, build, name, gib, _batch(random, build, random.uniform(10, 20), rate, 0.0005 * rate))


def _elastic_monthly(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Faster than a burst for an hour or more once a month, at other times next to nothing."""
    gib = spread(random, 5, 300)
    rate = _burst(gib) * random.uniform(1.4, 4)
    return _elastic(
        random, build, name, gib, runs(build, monthly(random, build), random.uniform(60, 240), rate, 0.0005 * rate)
    )


def _elastic_trickle(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Next to nothing on Elastic."""
    wanted = demand(random, build)
    return _elastic(
        random, build, name, spread(random, 1, 500), wanted * random.uniform(0.1, 0.8) * 0.0015 / float(wanted.mean())
    )


def _archive(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Calm, but it has data in Archive."""
    gib = spread(random, 30, 1_000)
    wanted = demand(random, build) * 0.3 * _baseline(gib)
    cold = (("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToArchive", "AFTER_90_DAYS"))
    archive = int(spread(random, 1, 1_000) * GIB)
    return _elastic(random, build, name, gib, wanted, archive_bytes=archive, ia_bytes=10 * GIB, lifecycle=cold)


def _replica(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Provisioned as its source is, and written by replication."""
    gib = spread(random, 5, 99)
    source = _well_used(random, build, f"{name}-source")
    replica = _provisioned(random, build, name, gib, source.provisioned_mibps or 64, 0.5 * wobble(random), replica=True)
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region=build.region,
            destination_id=replica.id,
            destination_region=build.region,
            created=replica.created,
        )
    )
    return replica


def _holes(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Days without a point, and nobody knows what they were like."""
    gib = spread(random, 5, 200)
    bought = _bought(random, gib)
    return _provisioned(random, build, name, gib, bought, without_days(random, build, _flat(random, 0.05 * bought)))


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _provisioned(random, build, name, 50, 64, np.ones(MINUTES), voice="dark")


def _young(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    bought = spread(random, 48, 512)
    return _provisioned(random, build, name, 20, bought, _flat(random, 0.05 * bought), days=random.uniform(0.2, 12))


SCENARIOS = (
    Scenario(
        name="hardly-used", story="A sixth of what is provisioned at most.", plant=each(_hardly_used), trouble=True
    ),
    Scenario(
        name="bought-for-more",
        story="Steady at half of what is provisioned, or less.",
        plant=each(_bought_for_more),
        trouble=True,
    ),
    Scenario(name="for-minutes", story="Provisioned for minutes a day.", plant=each(_for_minutes), trouble=True),
    Scenario(name="elastic-calm", story="Elastic, where bursting would do.", plant=each(_elastic_calm), trouble=True),
    Scenario(name="elastic-always", story="Elastic, and a steady load.", plant=each(_elastic_always), trouble=True),
    Scenario(
        name="at-its-amount", story="Hours a day at all that is provisioned.", plant=each(_at_its_amount), trouble=True
    ),
    Scenario(name="at-its-burst", story="Hours a day at all that a burst is.", plant=each(_at_its_burst), trouble=True),
    Scenario(name="well-used", story="Steady near what is provisioned.", plant=each(_well_used)),
    Scenario(name="by-day", story="Working days near what is provisioned.", plant=each(_by_day)),
    Scenario(name="nightly", story="Hours a night near what is provisioned.", plant=each(_nightly)),
    Scenario(name="closing", story="Near what is provisioned once a month.", plant=each(_closing)),
    Scenario(name="briefly", story="At all that is provisioned for minutes a night.", plant=each(_briefly)),
    Scenario(
        name="below-its-size", story="Less provisioned than its size earns, for nothing.", plant=each(_below_its_size)
    ),
    Scenario(name="in-bursts", story="Bursting, below its limits.", plant=each(_in_bursts)),
    Scenario(name="short-bursts", story="At the limit of a burst for minutes a night.", plant=each(_short_bursts)),
    Scenario(name="weekly-burst", story="At the limit of a burst once a week.", plant=each(_weekly_burst)),
    Scenario(
        name="elastic-spikes", story="Elastic, faster than a burst for minutes a day.", plant=each(_elastic_spikes)
    ),
    Scenario(name="elastic-monthly", story="Elastic, faster than a burst once a month.", plant=each(_elastic_monthly)),
    Scenario(name="elastic-trickle", story="Elastic, and next to nothing moves.", plant=each(_elastic_trickle)),
    Scenario(name="archive", story="Elastic, with data in Archive.", plant=each(_archive)),
    Scenario(name="replica", story="Provisioned, and written by replication alone.", plant=each(_replica)),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="young", story="Made within two weeks.", plant=each(_young), full=False),
)
