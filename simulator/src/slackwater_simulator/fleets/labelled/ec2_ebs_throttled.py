"""Instances whose volumes want more than the instance lets through, and instances that take their half hour and no more.

Left out, because even the truth is in doubt: 30 to 100 minutes a day at the limit, which a batch may well wait for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES, EbsLimit
from slackwater_simulator.mechanisms import bursting, instance_allowance, let_through
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Telemetry, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .rhythms import Random, chance, cpu, daily, published, runs, spread, tags, wobble, working_days
from .scenario import Scenario, each

_BURSTING = (
    *("t3.micro", "t3.small", "t3.medium", "t3.large", "t3.xlarge", "t4g.small", "t4g.large", "t3a.medium"),
    *(
        "m5.large",
        "m5.xlarge",
        "c5.large",
        "m6i.large",
        "m6i.xlarge",
        "c6i.large",
        "m7g.large",
        "r6i.large",
        "m8g.large",
    ),
)
_FLAT = ("m5.4xlarge", "c5.4xlarge", "r5.4xlarge")
_A_VOLUME_MIB, _A_VOLUME_IOPS = 100.0, 2_400.0
"""Below what every gp3 has."""
_CHECKS = ("InstanceEBSThroughputExceededCheck", "InstanceEBSIOPSExceededCheck")


@dataclass(frozen=True, slots=True)
class _Limit:
    """What a type lets through of one kind, bytes or operations a second, and how large an operation is then."""

    baseline: float
    most: float
    size: float

    def lasts(self, rate: float) -> float:
        """Minutes until the burst is gone, of work at this rate."""
        return 30 * (self.most - self.baseline) / (rate - self.baseline)

    def between(self, share: float) -> float:
        """A rate above the baseline, by that share of the burst."""
        return self.baseline + share * (self.most - self.baseline)


def _limit(random: Random, kind: str) -> _Limit:
    """Throughput with large I/O, or operations with small ones: only one of the two is near its limit."""
    ebs = TYPES[kind].ebs or EbsLimit(0, 0, 0, 0)
    if chance(random, 0.6):
        return _Limit(ebs.baseline_mbps * 125_000, ebs.maximum_mbps * 125_000, 256 * KIB)
    size = min(ebs.baseline_mbps / ebs.baseline_iops, ebs.maximum_mbps / ebs.maximum_iops) * 125_000 / 3
    return _Limit(ebs.baseline_iops * size, ebs.maximum_iops * size, size)


def _host(random: Random, build: Builder, name: str, kind: str, **more: Any) -> Instance:
    more.setdefault("days", random.uniform(40, 400))
    return build.instance(name, kind, cpu=cpu(random, build), tags=dict(tags(random)), **more)


def _working(
    random: Random, build: Builder, name: str, kind: str, limit: _Limit, wanted: Floats, **more: Any
) -> Instance:
    """An instance whose volumes, as many as it takes, want so many bytes a second together, and do what it lets through."""
    host, top = _host(random, build, name, kind, **more), float(wanted.max())
    share, (asked, samples, *_) = random.uniform(0, 1), published(random, build, wanted / top).stats
    # After the gaps: to what publishes the balances they are no work either.
    carried = let_through(asked * top, limit.baseline, limit.most) / top
    shape = build.shapes.signal(np.where(samples > 0, carried, np.nan))
    count = int(np.ceil(max(top / MIB / _A_VOLUME_MIB, top / limit.size / _A_VOLUME_IOPS)))
    for number in range(count):
        activity = Activity(
            shape=shape,
            read=share * top / count,
            write=(1 - share) * top / count,
            read_size=limit.size,
            write_size=limit.size,
        )
        build.volume(
            f"{name}-{number}",
            int(spread(random, 50, 2_000)),
            on=host,
            device=f"/dev/sd{chr(ord('f') + number)}",
            activity=activity,
            tags=dict(tags(random)),
        )
    return host


def _pick(random: Random, *choices: str) -> str:
    return choices[int(random.integers(len(choices)))]


def _long_batch(random: Random, build: Builder, name: str, every: int = 0, **more: Any) -> Instance:
    """It goes on for two hours to six after the burst is gone."""
    kind = _pick(random, *_BURSTING)
    limit = _limit(random, kind)
    rate = limit.between(spread(random, 0.05, 0.33))
    minutes = limit.lasts(rate) + random.uniform(120, 360)
    starts = daily(random, build, every or int(random.integers(1, 3)))
    wanted = runs(build, starts, minutes, rate, limit.baseline * 0.02) * (1 + random.normal(0, 0.03, MINUTES))
    return _working(random, build, name, kind, limit, np.maximum(wanted, 0), **more)


def _weekly(random: Random, build: Builder, name: str) -> Instance:
    return _long_batch(random, build, name, 7)


def _always_more(random: Random, build: Builder, name: str) -> Instance:
    """Working days that want more than the baseline for most of the day."""
    kind = _pick(random, *_BURSTING)
    limit = _limit(random, kind)
    day = np.minimum(working_days(random, build) * 1.5, 1.0)  # its rhythm's top is at two thirds
    wanted = limit.baseline * 0.1 + day * limit.between(random.uniform(0.35, 0.6))
    return _working(random, build, name, kind, limit, wanted)


def _flat(random: Random, build: Builder, name: str) -> Instance:
    """A type without burst, at its limit for hours."""
    kind = _pick(random, *_FLAT)
    limit = _limit(random, kind)
    minutes, rate = random.uniform(150, 600), limit.most * random.uniform(1.05, 1.3)
    wanted = runs(build, daily(random, build), minutes, rate, limit.baseline * 0.02)
    return _working(random, build, name, kind, limit, wanted)


def _restarted(random: Random, build: Builder, name: str) -> Instance:
    """Stopped and started this week, and throttled every day."""
    started = build.ago(random.uniform(2, 6))
    running = ((build.ago(200), started - 600), (started, FOREVER))
    return _long_batch(random, build, name, 1, launched=started, running=running)


def _in_time(random: Random, build: Builder, name: str) -> Instance:
    """A batch that takes a tenth to eight tenths of the burst, and leaves a day to earn it back."""
    kind = _pick(random, *_BURSTING)
    limit = _limit(random, kind)
    rate = limit.between(spread(random, 0.2, 1.0))
    minutes = max(1, int(limit.lasts(rate) * random.uniform(0.1, 0.8)))
    wanted = runs(build, daily(random, build), min(minutes, 180), rate, limit.baseline * 0.02)
    return _working(random, build, name, kind, limit, wanted)


def _half_hour(random: Random, build: Builder, name: str) -> Instance:
    """All but the last of the burst every night: it is low for an hour then, and nothing waits."""
    kind = _pick(random, "t3.medium", "t3.large", "m5.large", "c5.large", "t4g.large")
    limit = _limit(random, kind)
    wanted = runs(build, daily(random, build), 28, limit.most * 0.995, limit.baseline * 0.02)
    return _working(random, build, name, kind, limit, wanted)


def _below(random: Random, build: Builder, name: str) -> Instance:
    kind = _pick(random, *_BURSTING, *_FLAT)
    limit = _limit(random, kind)
    rhythm = working_days(random, build) if chance(random, 0.5) else np.minimum(0.7 * wobble(random), 1.0)
    return _working(random, build, name, kind, limit, rhythm * limit.baseline * random.uniform(0.1, 0.85))


def _volume_bound(random: Random, build: Builder, name: str) -> Instance:
    """Its one volume is at the 125 MiB/s that every gp3 has; the instance carries more."""
    host = _host(random, build, name, _pick(random, "m5.2xlarge", "m6i.2xlarge", "c5.4xlarge", "m7g.2xlarge"))
    minutes = random.uniform(150, 700)
    shape = published(random, build, runs(build, daily(random, build), minutes, 1.0, 0.01))
    activity = Activity(shape=shape, read=125.0 * MIB, read_size=256 * KIB, write_size=256 * KIB)
    build.volume(f"{name}-data", int(spread(random, 50, 2_000)), on=host, activity=activity, tags=dict(tags(random)))
    return host


def _minutes(random: Random, build: Builder, name: str) -> Instance:
    """A minute or two at the limit, several times a day."""
    kind = _pick(random, *_FLAT)
    limit = _limit(random, kind)
    starts = [start for _ in range(int(random.integers(1, 6))) for start in daily(random, build)]
    wanted = runs(build, starts, 1, limit.most, limit.baseline * 0.05)
    return _working(random, build, name, kind, limit, wanted)


def _resized(random: Random, build: Builder, name: str) -> Instance:
    """Throttled, until it was given a type that carries it all."""
    small, large = _pick(random, "m5.large", "c5.large", "m6i.large", "t3.large"), "m6i.8xlarge"
    ebs = TYPES[small].ebs or EbsLimit(0, 0, 0, 0)
    limit = _Limit(ebs.baseline_mbps * 125_000, ebs.maximum_mbps * 125_000, 256 * KIB)
    rate = limit.between(random.uniform(0.1, 0.33))
    wanted = runs(
        build, daily(random, build), limit.lasts(rate) + random.uniform(120, 300), rate, limit.baseline * 0.02
    )
    started = build.ago(random.uniform(0.5, 5))
    credit = bursting(wanted, *instance_allowance(limit.baseline, limit.most))
    old = {
        _CHECKS[0]: (wanted >= credit.permitted * 0.96).astype(np.float64),
        "EBSByteBalance%": 100 * credit.balance / ((limit.most - limit.baseline) * 1_800),
    }
    telemetry = _until(build, old, started, {_CHECKS[0]: 0.0})
    running = ((build.ago(200), started - 600), (started, FOREVER))
    restart, ebs = (started - build.shapes.origin) // MINUTE, TYPES[large].ebs or ebs
    done = np.where(np.arange(MINUTES) < restart, credit.done / MINUTE, wanted)
    limit = _Limit(ebs.baseline_mbps * 125_000, ebs.maximum_mbps * 125_000, 256 * KIB)
    return _working(random, build, name, large, limit, done, launched=started, running=running, telemetry=telemetry)


def _until(build: Builder, old: Mapping[str, Floats], moment: int, then: Mapping[str, float]) -> Telemetry:
    """Metrics of an instance's former type; later the new type's, constant, where it publishes them."""
    ones = build.shapes.signal(np.ones(MINUTES))
    before = {name: given(build.shapes.signal(values), until=moment - 600) for name, values in old.items()}
    after = {name: given(ones, scale=value, since=moment) for name, value in then.items()}
    return {name: (*before[name], *after.get(name, ())) for name in before}


def _xen(random: Random, build: Builder, name: str) -> Instance:
    """At its limit for hours, on Xen: CloudWatch has nothing that would say so."""
    host = _host(random, build, name, _pick(random, "m4.large", "c4.large", "m4.xlarge"))
    shape = published(random, build, runs(build, daily(random, build), random.uniform(150, 600), 1.0, 0.01))
    activity = Activity(shape=shape, read=100.0 * MIB, read_size=128 * KIB, write_size=128 * KIB)
    build.volume(f"{name}-data", int(spread(random, 50, 2_000)), on=host, activity=activity, tags=dict(tags(random)))
    return host


def _holes(random: Random, build: Builder, name: str) -> Instance:
    """It has little to do, and CloudWatch has two to five days of seven at most."""
    kind = _pick(random, *_BURSTING)
    values = np.zeros(MINUTES)
    for day in random.choice(np.arange(1, 7), int(random.integers(2, 6)), replace=False).tolist():
        values[build.shapes.minute(day) : build.shapes.minute(day) + DAY // MINUTE] = np.nan
    checks = {check: given(build.shapes.signal(values), digits=0) for check in _CHECKS}
    limit = _limit(random, kind)
    return _working(
        random, build, name, kind, limit, limit.baseline * 0.3 * np.minimum(wobble(random), 2), telemetry=checks
    )


SCENARIOS = (
    Scenario(name="long-batch", story="A batch that outlasts the burst.", plant=each(_long_batch), trouble=True),
    Scenario(name="weekly", story="The same once a week.", plant=each(_weekly), trouble=True),
    Scenario(name="working-days", story="Its users want too much all day.", plant=each(_always_more), trouble=True),
    Scenario(name="no-burst", story="A type without burst, at its limit for hours.", plant=each(_flat), trouble=True),
    Scenario(name="restarted", story="Throttled, restarted, throttled.", plant=each(_restarted), trouble=True),
    Scenario(name="in-time", story="A batch that the burst carries.", plant=each(_in_time)),
    Scenario(name="half-hour", story="A batch that takes the whole half hour.", plant=each(_half_hour)),
    Scenario(name="below", story="Less than the baseline.", plant=each(_below)),
    Scenario(name="volume-bound", story="Its volume is the limit.", plant=each(_volume_bound)),
    Scenario(name="minutes", story="Minutes at the limit, here and there.", plant=each(_minutes)),
    Scenario(name="resized", story="Throttled, until it was made larger.", plant=each(_resized)),
    Scenario(name="xen", story="On Xen, where nothing tells.", plant=each(_xen), full=False),
    Scenario(name="holes", story="Days without metrics.", plant=each(_holes), full=False),
)
