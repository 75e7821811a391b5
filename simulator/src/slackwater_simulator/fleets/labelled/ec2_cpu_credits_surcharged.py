"""T instances that pay for surplus CPU credits, and T instances that only borrow, or pay once, or could not do it for less.

The credits are those of the simulator's own bucket. Whether another type would cost less is a matter of public prices (Tokyo,
Linux, on demand): a t3.large above a mean of 45 %, a t3.xlarge or t3.2xlarge above 55 %. Left out, because even the truth is in
doubt: means within ten points of that, surcharges of 12 to 30 vCPU-hours a month, and types whose price nobody has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .guests import pick
from .rhythms import Random, chance, daily, published, runs, spread, tags, without_days, wobble
from .scenario import Scenario, each

_EARNED = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t3.large": 36, "t3.xlarge": 96, "t3.2xlarge": 192}


def _baseline(kind: str) -> float:
    """Percent of all vCPUs."""
    return _EARNED[kind] / 60 / TYPES[kind].vcpus * 100


def _instance(random: Random, build: Builder, name: str, kind: str, percent: Floats, **more: Any) -> Instance:
    more.setdefault("days", random.uniform(60, 400))
    more.setdefault("unlimited", True)
    used = published(random, build, np.clip(percent, 0, 100), together=5)
    return build.instance(name, kind, cpu=Flow(used), tags=dict(tags(random)), **more)


def _light(random: Random, kind: str) -> Floats:
    """A load that earns more than it uses."""
    return _baseline(kind) * random.uniform(0.1, 0.4) * wobble(random)


def _hot_load(random: Random, build: Builder, mean: float) -> Floats:
    """A mean load, percent: steady, or in long shifts every day."""
    if chance(random, 0.5):
        return mean * np.minimum(wobble(random), 2)
    level = random.uniform(max(mean + 2, 85), 98)
    minutes = 1_440 * mean / level
    return runs(build, daily(random, build), minutes, level, 1.0)


def _hot(random: Random, build: Builder, name: str, **more: Any) -> Instance:
    """So busy that a fixed processor would cost less."""
    kind = pick(random, "t3.large", "t3.xlarge", "t3.2xlarge")
    mean = random.uniform(56 if kind == "t3.large" else 66, 92)
    return _instance(random, build, name, kind, _hot_load(random, build, mean), **more)


def _hot_for_weeks(random: Random, build: Builder, name: str) -> Instance:
    """The same, launched three to five weeks ago."""
    return _hot(random, build, name, days=random.uniform(22, 34))


def _weekly_batch(random: Random, build: Builder, name: str) -> Instance:
    """A batch once a week that runs far beyond a day's earnings; the week together stays well below the baseline."""
    kind = pick(random, *_EARNED)
    earned, level = _EARNED[kind], random.uniform(80, 99)
    an_hour = level / 100 * TYPES[kind].vcpus * 60 - earned
    hours = (48 * earned + random.uniform(430, 700)) / an_hour
    rest = _baseline(kind) * random.uniform(0.02, 0.1)
    return _instance(random, build, name, kind, runs(build, daily(random, build, 7), hours * 60, level, rest))


def _pays_back(random: Random, build: Builder, name: str) -> Instance:
    """Bursts every day, within what it earns in a day."""
    kind = pick(random, *_EARNED)
    level = random.uniform(60, 99)
    minutes = min(1_440 * _baseline(kind) / level * random.uniform(0.2, 0.6), 24 * _EARNED[kind] / TYPES[kind].vcpus)
    load = runs(build, daily(random, build), minutes, level)
    return _instance(random, build, name, kind, np.maximum(load, _light(random, kind)))


def _standard(random: Random, build: Builder, name: str) -> Instance:
    """In standard mode nothing is borrowed, and surplus may not even be published."""
    kind = pick(random, *_EARNED)
    silent = given(build.shapes.signal(np.full(MINUTES, np.nan)))
    names = ("CPUSurplusCreditBalance", "CPUSurplusCreditsCharged") if chance(random, 0.5) else ()
    telemetry = dict.fromkeys(names, silent)
    load = _baseline(kind) * np.minimum(wobble(random), 1.3)
    return _instance(random, build, name, kind, load, unlimited=False, telemetry=telemetry)


def _incident(random: Random, build: Builder, name: str) -> Instance:
    """A process ran away for one to three and a half days, once."""
    kind = pick(random, *_EARNED)
    hours = random.uniform(24, 84)
    load = runs(build, [build.ago(random.uniform(hours / 24, 33))], hours * 60, random.uniform(85, 100))
    return _instance(random, build, name, kind, np.maximum(load, _light(random, kind)))


def _launch(random: Random, build: Builder, name: str) -> Instance:
    """Launched two to five weeks ago, and busy for a day or two to set itself up."""
    kind, days = pick(random, *_EARNED), random.uniform(16, 33)
    load = runs(build, [build.ago(days)], random.uniform(12, 40) * 60, random.uniform(85, 100))
    return _instance(random, build, name, kind, np.maximum(load, _light(random, kind)), days=days)


def _new(random: Random, build: Builder, name: str) -> Instance:
    """Hot, and not two weeks old."""
    return _hot(random, build, name, days=random.uniform(1, 13.5))


def _mended(random: Random, build: Builder, name: str) -> Instance:
    """Hot until somebody mended it nine to fourteen days ago."""
    kind = pick(random, "t3.large", "t3.xlarge", "t3.2xlarge")
    load = _hot_load(random, build, random.uniform(60, 92))
    mended = (build.ago(random.uniform(9, 14)) - build.shapes.origin) // MINUTE
    return _instance(random, build, name, kind, np.where(np.arange(MINUTES) < mended, load, _light(random, kind)))


def _resized(random: Random, build: Builder, name: str) -> Instance:
    """Hot as a smaller T type, until it was started as a larger one that carries it."""
    kind, started = pick(random, "t3.xlarge", "t3.2xlarge"), build.ago(random.uniform(15, 30))
    before = np.arange(MINUTES) * MINUTE + build.shapes.origin < started
    load = np.where(before, 95.0, _baseline(kind) * 0.5) * wobble(random)
    charged = np.where(before, random.uniform(0.5, 3), 0.0)
    telemetry = {"CPUSurplusCreditsCharged": given(build.shapes.signal(charged).coarsened(300))}
    spans = ((build.ago(200), started - 900), (started, FOREVER))
    return _instance(random, build, name, kind, load, launched=started, running=spans, telemetry=telemetry)


def _cheapest(random: Random, build: Builder, name: str) -> Instance:
    """Charged all the time, and every other type would cost more."""
    kind, low, high = pick(
        random,
        ("t3.micro", 25, 80),
        ("t3.small", 30, 75),
        ("t3.medium", 30, 70),
        ("t3.large", 34, 37),
        ("t3.xlarge", 43, 47),
    )
    return _instance(random, build, name, kind, random.uniform(low, high) * np.minimum(wobble(random), 2))


def _few(random: Random, build: Builder, name: str) -> Instance:
    """A weekly batch that is a few credits too long."""
    kind = pick(random, *_EARNED)
    earned, level = _EARNED[kind], random.uniform(80, 99)
    an_hour = level / 100 * TYPES[kind].vcpus * 60 - earned
    hours = (48 * earned - 24 * earned * 0.1 + spread(random, 10, 100)) / an_hour
    load = runs(build, daily(random, build, 7), hours * 60, level)
    return _instance(random, build, name, kind, np.maximum(load, _light(random, kind)))


def _fixed(random: Random, build: Builder, name: str) -> Instance:
    """A busy instance with a fixed processor."""
    kind = pick(random, "m6i.large", "c6i.xlarge", "m7g.large")
    return _instance(random, build, name, kind, random.uniform(60, 95) * wobble(random), unlimited=False)


def _stopped(random: Random, build: Builder, name: str) -> Instance:
    return _hot(random, build, name, state="stopped", stopped=build.ago(random.uniform(1, 20)))


def _holes(random: Random, build: Builder, name: str) -> Instance:
    """Whole days without metrics; on the others nothing was charged."""
    kind = pick(random, *_EARNED)
    charged = without_days(random, build, np.zeros(MINUTES))
    telemetry = {"CPUSurplusCreditsCharged": given(build.shapes.signal(charged).coarsened(300))}
    return _instance(random, build, name, kind, _light(random, kind) + 8, telemetry=telemetry)


SCENARIOS = (
    Scenario(name="hot", story="So busy that a fixed processor costs less.", plant=each(_hot), trouble=True),
    Scenario(name="hot-for-weeks", story="The same for three to five weeks.", plant=each(_hot_for_weeks), trouble=True),
    Scenario(
        name="weekly-batch", story="A batch a week far beyond its credits.", plant=each(_weekly_batch), trouble=True
    ),
    Scenario(name="pays-back", story="Borrows, and pays back.", plant=each(_pays_back)),
    Scenario(name="standard", story="Standard mode.", plant=each(_standard)),
    Scenario(name="incident", story="One runaway process, for days.", plant=each(_incident)),
    Scenario(name="launch", story="Busy days after its launch.", plant=each(_launch)),
    Scenario(name="new", story="Hot, and not two weeks old.", plant=each(_new)),
    Scenario(name="mended", story="Hot until it was mended.", plant=each(_mended)),
    Scenario(name="resized", story="Hot until it was made larger.", plant=each(_resized)),
    Scenario(name="cheapest", story="Charged, and the cheapest way to run it.", plant=each(_cheapest)),
    Scenario(name="few", story="A few credits a week.", plant=each(_few)),
    Scenario(name="fixed", story="A fixed processor.", plant=each(_fixed)),
    Scenario(name="stopped", story="Stopped.", plant=each(_stopped)),
    Scenario(name="holes", story="Whole days without metrics.", plant=each(_holes), full=False),
)
