"""Plant unused running instances, T instances that pay for surplus CPU credits, and instances that only seem so.

- `ec2-idle`: not drawn, because the truth is in doubt, are systems whose own tasks take 4 to 8 % of the CPU or 4 to 8
  MB a day, and test machines that a schedule stops every evening.
- `ec2-cpu-credits-surcharged`: the simulator's own bucket computes the credits. Public prices (Tokyo, Linux, on demand)
  decide whether another type costs less: a t3.large above a mean of 45 %, a t3.xlarge or t3.2xlarge above 55 %. Not
  drawn are means within ten points of that, surcharges of 12 to 30 vCPU-hours a month, and types without a known price.
"""

from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import DAY, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import Rows

_TYPES = (
    *("t3.micro", "t3.medium", "t3.large", "t4g.small", "m5.large", "m6i.large", "m6i.2xlarge", "c6i.4xlarge"),
    "r6i.xlarge",
)
_MB = 1e6


def _chores(d: Draw) -> Floats:
    """Return the percent of CPU that an empty system uses in each minute: almost nothing, plus its own timers."""
    base = d.spread(0.05, 0.8) * d.wobble()
    nightly = d.runs(d.daily(), d.uniform(1, 15), d.uniform(0.3, 2.5))
    hourly = np.where(np.arange(MINUTES) % 60 == d.integer(60), d.uniform(0.1, 1.5), 0.0)
    return np.minimum(base + nightly + hourly, 4.0)


def _heartbeat(d: Draw, most_mb: float = 3.9) -> Floats:
    """Return bytes a minute of time servers, updates and the like, unevenly spread: at most `most_mb` MB a day."""
    mb_a_day = d.spread(0.02, most_mb)
    by_day = d.random.gamma(0.3, 1.0, MINUTES).reshape(-1, DAY_MINUTES)
    return (by_day / by_day.sum(1, keepdims=True)).ravel() * mb_a_day * _MB


def _instance(d: Draw, percent: Floats, moved: Floats, **more: Any) -> Instance:
    """Plant an instance with `percent` CPU and `moved` bytes in each minute, shared between in and out."""
    more.setdefault("days", d.uniform(60, 700))
    share, kind = d.uniform(0.2, 0.8), d.pick(*_TYPES)
    traffic = d.published(moved, together=5)
    cpu = Flow(d.published(percent, together=5))
    flows: dict[str, Any] = {"cpu": cpu, "net_in": Flow(traffic, share), "net_out": Flow(traffic, 1 - share)}
    more["detailed"] = d.chance(0.2)
    return d.build.instance(d.name, kind, **flows, **{**more, "tags": {**d.tags(), **more.get("tags", {})}})


def _forgotten(d: Draw, **more: Any) -> Instance:
    moved = _heartbeat(d)
    return _instance(d, _chores(d), moved, **more)


def _in_a_group(d: Draw) -> Instance:
    """Plant an instance of a group. For a cluster of EKS Auto Mode, only EC2's operator shows it."""
    number = d.integer(100)
    if d.chance(0.5):
        return _forgotten(d, tags={"aws:autoscaling:groupName": f"workers-{number}"})
    if number < 50:
        return _forgotten(d, operator="eks.amazonaws.com")
    cluster = {"kubernetes.io/cluster/batch": "owned", "aws:autoscaling:groupName": "eks-nodes"}
    return _forgotten(d, tags=cluster)


def _working(d: Draw, starts: list[int]) -> Instance:
    """Plant an instance that is idle except for a job of minutes to hours, which uses CPU and perhaps the network."""
    work = d.runs(starts, d.spread(5, 300), 1.0)
    percent = _chores(d) + work * d.uniform(15, 95) * np.minimum(d.wobble(), 1.05)
    moved = _heartbeat(d) + work * (d.spread(0.01, 50) * _MB if d.chance(0.5) else 0)
    return _instance(d, np.minimum(percent, 100), moved)


def _copies(d: Draw) -> Instance:
    minutes = d.uniform(1, 30)
    copied = d.runs(d.daily(1 if d.chance(0.5) else 7), minutes, d.spread(15, 5_000) * _MB / minutes)
    percent = _chores(d)
    return _instance(d, percent, copied + _heartbeat(d, 3))


def _holes(d: Draw) -> Instance:
    percent, moved = _chores(d), _heartbeat(d)
    dark = np.isnan(d.without_days(percent))
    return _instance(d, np.where(dark, np.nan, percent), np.where(dark, np.nan, moved))


EC2_IDLE_ISSUES: Rows = {
    "forgotten: Chores and heartbeats, and nothing else.": _forgotten,
    "restarted: Restarted weeks ago, and idle.": lambda d: _forgotten(
        d, **d.started(d.ago(d.uniform(16, 34)), days=300, off_s=int(d.uniform(600, 5 * DAY)))
    ),
    "in-a-group: Idle in a group or a cluster.": _in_a_group,
    "spot: Idle, and on Spot.": lambda d: _forgotten(d, spot=True),
}
EC2_IDLE_CONTROLS: Rows = {
    "nightly: Works every night.": lambda d: _working(d, d.daily()),
    "weekly: Works once a week.": lambda d: _working(d, d.daily(7)),
    "monthly: Works once a month.": lambda d: _working(d, d.monthly() if d.chance(0.5) else d.first_weekday()),
    # A bastion that somebody used once in the last month.
    "logged-in: Somebody logged in once.": lambda d: _working(d, [d.ago(d.uniform(0.02, 33))]),
    # A gateway, a name server, or a standby that follows its primary.
    "relay: No CPU, and always some traffic.": lambda d: _instance(
        d, moved=d.spread(12, 50_000) * _MB / DAY_MINUTES * d.wobble(), percent=_chores(d)
    ),
    "copies: A copy by day or week, and no CPU.": _copies,
    "young: Started less than two weeks ago.": lambda d: _forgotten(d, days=d.uniform(0.05, 13.5)),
    "stopped: Stopped.": lambda d: _forgotten(d, state="stopped", stopped=d.ago(d.uniform(1, 25))),
    "kept: Idle on purpose, and tagged keep.": lambda d: _forgotten(d, tags={"keep": "licence server"}),
}
EC2_IDLE_UNKNOWN: Rows = {"holes: Whole days without metrics.": _holes}


# --- ec2-cpu-credits-surcharged ---------------------------------------------------------------------------------------
_EARNED = {"t3.micro": 12, "t3.small": 24, "t3.medium": 24, "t3.large": 36, "t3.xlarge": 96, "t3.2xlarge": 192}


def _baseline(kind: str) -> float:
    """Return the baseline in percent of all vCPUs."""
    return _EARNED[kind] / 60 / TYPES[kind].vcpus * 100


def _bursting(d: Draw, kind: str, percent: Floats, **more: Any) -> Instance:
    more.setdefault("days", d.uniform(60, 400))
    more.setdefault("unlimited", True)
    used = d.published(np.clip(percent, 0, 100), together=5)
    return d.build.instance(d.name, kind, cpu=Flow(used), tags=d.tags(), **more)


def _light(d: Draw, kind: str) -> Floats:
    """Return a load that earns more credits than it uses."""
    return _baseline(kind) * d.uniform(0.1, 0.4) * d.wobble()


def _beside(d: Draw, kind: str, load: Floats, **more: Any) -> Instance:
    """Plant an instance with this load, in addition to a light one."""
    return _bursting(d, kind, np.maximum(load, _light(d, kind)), **more)


def _hot_load(d: Draw, mean: float) -> Floats:
    """Return a load with this mean percent: steady, or in long shifts every day."""
    if d.chance(0.5):
        return mean * np.minimum(d.wobble(), 2)
    level = d.uniform(max(mean + 2, 85), 98)
    return d.runs(d.daily(), 1_440 * mean / level, level, 1.0)


def _hot(d: Draw, **more: Any) -> Instance:
    kind = d.pick("t3.large", "t3.xlarge", "t3.2xlarge")
    mean = d.uniform(56 if kind == "t3.large" else 66, 92)
    return _bursting(d, kind, _hot_load(d, mean), **more)


def _an_hour(kind: str, level: float) -> float:
    """Return the credits that an hour at this level uses beyond those it earns."""
    return level / 100 * TYPES[kind].vcpus * 60 - _EARNED[kind]


def _weekly_batch(d: Draw) -> Instance:
    """Plant a batch that uses far more than a day's earnings. The week's mean is far below the baseline."""
    kind = d.pick(*_EARNED)
    level = d.uniform(80, 99)
    hours = (48 * _EARNED[kind] + d.uniform(430, 700)) / _an_hour(kind, level)
    rest = _baseline(kind) * d.uniform(0.02, 0.1)
    return _bursting(d, kind, d.runs(d.daily(7), hours * 60, level, rest))


def _pays_back(d: Draw) -> Instance:
    kind = d.pick(*_EARNED)
    level = d.uniform(60, 99)
    minutes = min(1_440 * _baseline(kind) / level * d.uniform(0.2, 0.6), 24 * _EARNED[kind] / TYPES[kind].vcpus)
    return _beside(d, kind, d.runs(d.daily(), minutes, level))


def _standard(d: Draw) -> Instance:
    """Plant a standard-mode instance. It borrows nothing, and may not even publish the surplus metrics."""
    kind = d.pick(*_EARNED)
    names = ("CPUSurplusCreditBalance", "CPUSurplusCreditsCharged") if d.chance(0.5) else ()
    load = _baseline(kind) * np.minimum(d.wobble(), 1.3)
    return _bursting(d, kind, load, unlimited=False, telemetry=dict.fromkeys(names, d.silent()))


def _incident(d: Draw) -> Instance:
    kind = d.pick(*_EARNED)
    hours = d.uniform(24, 84)
    return _beside(d, kind, d.runs([d.ago(d.uniform(hours / 24, 33))], hours * 60, d.uniform(85, 100)))


def _fixed_since(d: Draw) -> Instance:
    kind = d.pick("t3.large", "t3.xlarge", "t3.2xlarge")
    load = _hot_load(d, d.uniform(60, 92))
    since = (d.ago(d.uniform(9, 14)) - d.origin) // MINUTE
    return _bursting(d, kind, np.where(np.arange(MINUTES) < since, load, _light(d, kind)))


def _resized(d: Draw) -> Instance:
    kind, started = d.pick("t3.xlarge", "t3.2xlarge"), d.ago(d.uniform(15, 30))
    before = np.arange(MINUTES) * MINUTE + d.origin < started
    load = np.where(before, 95.0, _baseline(kind) * 0.5) * d.wobble()
    charged = np.where(before, d.uniform(0.5, 3), 0.0)
    telemetry = {"CPUSurplusCreditsCharged": given(d.signal(charged).coarsened(300))}
    return _bursting(d, kind, load, telemetry=telemetry, **d.started(started, off_s=900))


def _cheapest(d: Draw) -> Instance:
    kind, low, high = d.pick(
        ("t3.micro", 25, 80), ("t3.small", 30, 75), ("t3.medium", 30, 70), ("t3.large", 34, 37), ("t3.xlarge", 43, 47)
    )
    return _bursting(d, kind, d.uniform(low, high) * np.minimum(d.wobble(), 2))


def _few(d: Draw) -> Instance:
    kind = d.pick(*_EARNED)
    earned, level = _EARNED[kind], d.uniform(80, 99)
    hours = (48 * earned - 24 * earned * 0.1 + d.spread(10, 100)) / _an_hour(kind, level)
    return _beside(d, kind, d.runs(d.daily(7), hours * 60, level))


def _charges_unseen(d: Draw) -> Instance:
    """Plant an instance with days without data. On the other days nothing was charged."""
    kind = d.pick(*_EARNED)
    charged = d.without_days(np.zeros(MINUTES))
    telemetry = {"CPUSurplusCreditsCharged": given(d.signal(charged).coarsened(300))}
    return _bursting(d, kind, _light(d, kind) + 8, telemetry=telemetry)


EC2_CPU_CREDITS_SURCHARGED_ISSUES: Rows = {
    "hot: So busy that a fixed processor costs less.": _hot,
    "hot-for-weeks: As busy for three to five weeks only.": lambda d: _hot(d, days=d.uniform(22, 34)),
    "weekly-batch: A batch a week far beyond its credits.": _weekly_batch,
}
EC2_CPU_CREDITS_SURCHARGED_CONTROLS: Rows = {
    "pays-back: Borrows, and pays back.": _pays_back,
    "standard: Standard mode.": _standard,
    "incident: One runaway process, for days.": _incident,
    "launch: Busy days after its launch.": lambda d: _beside(
        d,
        d.pick(*_EARNED),
        days=(days := d.uniform(16, 33)),
        load=d.runs([d.ago(days)], d.uniform(12, 40) * 60, d.uniform(85, 100)),
    ),
    "new: Hot, and not two weeks old.": lambda d: _hot(d, days=d.uniform(1, 13.5)),
    "repaired: Hot until it was repaired.": _fixed_since,
    "resized: Hot until it was made larger.": _resized,
    "cheapest: Charged, and the cheapest way to run it.": _cheapest,
    "few: A few credits a week.": _few,
    "fixed: A fixed processor.": lambda d: _bursting(
        d, d.pick("m6i.large", "c6i.xlarge", "m7g.large"), d.uniform(60, 95) * d.wobble(), unlimited=False
    ),
    "stopped: Stopped.": lambda d: _hot(d, state="stopped", stopped=d.ago(d.uniform(1, 20))),
}
EC2_CPU_CREDITS_SURCHARGED_UNKNOWN: Rows = {"holes: Whole days without metrics.": _charges_unseen}
