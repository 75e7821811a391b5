"""T instances that pay for surplus CPU credits, and T instances that only borrow, or pay once, or could not do it for less.

The credits are those of the simulator's own bucket. Whether another type would cost less is a matter of public prices (Tokyo,
Linux, on demand): a t3.large above a mean of 45 %, a t3.xlarge or t3.2xlarge above 55 %. Left out, because even the truth is in
doubt: means within ten points of that, surcharges of 12 to 30 vCPU-hours a month, and types whose price nobody has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Rows

_EARNED = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t3.large": 36, "t3.xlarge": 96, "t3.2xlarge": 192}


def _baseline(kind: str) -> float:
    """Percent of all vCPUs."""
    return _EARNED[kind] / 60 / TYPES[kind].vcpus * 100


def _instance(d: Draw, kind: str, percent: Floats, **more: Any) -> Instance:
    more.setdefault("days", d.uniform(60, 400))
    more.setdefault("unlimited", True)
    used = d.published(np.clip(percent, 0, 100), together=5)
    return d.build.instance(d.name, kind, cpu=Flow(used), tags=d.tags(), **more)


def _light(d: Draw, kind: str) -> Floats:
    """A load that earns more than it uses."""
    return _baseline(kind) * d.uniform(0.1, 0.4) * d.wobble()


def _beside(d: Draw, kind: str, load: Floats, **more: Any) -> Instance:
    """An instance under this load, beside a light one."""
    return _instance(d, kind, np.maximum(load, _light(d, kind)), **more)


def _hot_load(d: Draw, mean: float) -> Floats:
    """A mean load, percent: steady, or in long shifts every day."""
    if d.chance(0.5):
        return mean * np.minimum(d.wobble(), 2)
    level = d.uniform(max(mean + 2, 85), 98)
    return d.runs(d.daily(), 1_440 * mean / level, level, 1.0)


def _hot(d: Draw, **more: Any) -> Instance:
    kind = d.pick("t3.large", "t3.xlarge", "t3.2xlarge")
    mean = d.uniform(56 if kind == "t3.large" else 66, 92)
    return _instance(d, kind, _hot_load(d, mean), **more)


def _an_hour(kind: str, level: float) -> float:
    """Credits that an hour at this level uses beyond what is earned."""
    return level / 100 * TYPES[kind].vcpus * 60 - _EARNED[kind]


def _weekly_batch(d: Draw) -> Instance:
    """It runs far beyond a day's earnings; the week together stays well below the baseline."""
    kind = d.pick(*_EARNED)
    level = d.uniform(80, 99)
    hours = (48 * _EARNED[kind] + d.uniform(430, 700)) / _an_hour(kind, level)
    rest = _baseline(kind) * d.uniform(0.02, 0.1)
    return _instance(d, kind, d.runs(d.daily(7), hours * 60, level, rest))


def _pays_back(d: Draw) -> Instance:
    """Bursts every day, within what it earns in a day."""
    kind = d.pick(*_EARNED)
    level = d.uniform(60, 99)
    minutes = min(1_440 * _baseline(kind) / level * d.uniform(0.2, 0.6), 24 * _EARNED[kind] / TYPES[kind].vcpus)
    return _beside(d, kind, d.runs(d.daily(), minutes, level))


def _standard(d: Draw) -> Instance:
    """Nothing is borrowed, and surplus may not even be published."""
    kind = d.pick(*_EARNED)
    names = ("CPUSurplusCreditBalance", "CPUSurplusCreditsCharged") if d.chance(0.5) else ()
    load = _baseline(kind) * np.minimum(d.wobble(), 1.3)
    return _instance(d, kind, load, unlimited=False, telemetry=dict.fromkeys(names, d.silent()))


def _incident(d: Draw) -> Instance:
    """For one to three and a half days."""
    kind = d.pick(*_EARNED)
    hours = d.uniform(24, 84)
    return _beside(d, kind, d.runs([d.ago(d.uniform(hours / 24, 33))], hours * 60, d.uniform(85, 100)))


def _launch(d: Draw) -> Instance:
    """Launched two to five weeks ago, and busy for a day or two to set itself up."""
    kind, days = d.pick(*_EARNED), d.uniform(16, 33)
    return _beside(d, kind, d.runs([d.ago(days)], d.uniform(12, 40) * 60, d.uniform(85, 100)), days=days)


def _fixed_since(d: Draw) -> Instance:
    """Nine to fourteen days ago."""
    kind = d.pick("t3.large", "t3.xlarge", "t3.2xlarge")
    load = _hot_load(d, d.uniform(60, 92))
    since = (d.ago(d.uniform(9, 14)) - d.origin) // MINUTE
    return _instance(d, kind, np.where(np.arange(MINUTES) < since, load, _light(d, kind)))


def _resized(d: Draw) -> Instance:
    """Hot as a smaller T type, until it was started as a larger one that carries it."""
    kind, started = d.pick("t3.xlarge", "t3.2xlarge"), d.ago(d.uniform(15, 30))
    before = np.arange(MINUTES) * MINUTE + d.origin < started
    load = np.where(before, 95.0, _baseline(kind) * 0.5) * d.wobble()
    charged = np.where(before, d.uniform(0.5, 3), 0.0)
    telemetry = {"CPUSurplusCreditsCharged": given(d.signal(charged).coarsened(300))}
    spans = ((d.ago(200), started - 900), (started, FOREVER))
    return _instance(d, kind, load, launched=started, running=spans, telemetry=telemetry)


def _cheapest(d: Draw) -> Instance:
    """Charged all the time, and every other type would cost more."""
    kind, low, high = d.pick(
        ("t3.micro", 25, 80), ("t3.small", 30, 75), ("t3.medium", 30, 70), ("t3.large", 34, 37), ("t3.xlarge", 43, 47)
    )
    return _instance(d, kind, d.uniform(low, high) * np.minimum(d.wobble(), 2))


def _few(d: Draw) -> Instance:
    """A weekly batch that is a few credits too long."""
    kind = d.pick(*_EARNED)
    earned, level = _EARNED[kind], d.uniform(80, 99)
    hours = (48 * earned - 24 * earned * 0.1 + d.spread(10, 100)) / _an_hour(kind, level)
    return _beside(d, kind, d.runs(d.daily(7), hours * 60, level))


def _holes(d: Draw) -> Instance:
    """On the other days nothing was charged."""
    kind = d.pick(*_EARNED)
    charged = d.without_days(np.zeros(MINUTES))
    telemetry = {"CPUSurplusCreditsCharged": given(d.signal(charged).coarsened(300))}
    return _instance(d, kind, _light(d, kind) + 8, telemetry=telemetry)


EC2_CPU_CREDITS_SURCHARGED_ISSUES: Rows = {
    "hot: So busy that a fixed processor costs less.": _hot,
    "hot-for-weeks: The same for three to five weeks.": lambda d: _hot(d, days=d.uniform(22, 34)),
    "weekly-batch: A batch a week far beyond its credits.": _weekly_batch,
}
EC2_CPU_CREDITS_SURCHARGED_CONTROLS: Rows = {
    "pays-back: Borrows, and pays back.": _pays_back,
    "standard: Standard mode.": _standard,
    "incident: One runaway process, for days.": _incident,
    "launch: Busy days after its launch.": _launch,
    "new: Hot, and not two weeks old.": lambda d: _hot(d, days=d.uniform(1, 13.5)),
    "mended: Hot until it was mended.": _fixed_since,
    "resized: Hot until it was made larger.": _resized,
    "cheapest: Charged, and the cheapest way to run it.": _cheapest,
    "few: A few credits a week.": _few,
    # It is busy.
    "fixed: A fixed processor.": lambda d: _instance(
        d, d.pick("m6i.large", "c6i.xlarge", "m7g.large"), d.uniform(60, 95) * d.wobble(), unlimited=False
    ),
    "stopped: Stopped.": lambda d: _hot(d, state="stopped", stopped=d.ago(d.uniform(1, 20))),
}
EC2_CPU_CREDITS_SURCHARGED_UNKNOWN: Rows = {"holes: Whole days without metrics.": _holes}
