"""SSD IOPS that an FSx file system never used, and IOPS that are used for minutes a night, a week or a month.

`disk_iops_peak` is what the busiest minute takes of those that are provisioned. Left out, because even the truth is in doubt:
peaks between 33 and 50 %, and migrations that ended within the last weeks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import KIB, MIB, Activity, FsxFileSystem
from slackwater_simulator.series import Floats

from .rhythms import Random, daily, demand, monthly, published, runs, spread, tags, without_days, wobble, working_days
from .scenario import Scenario, each

_SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}


def _disks(random: Random, build: Builder, name: str, values: Floats, percent: float, **more: Any) -> FsxFileSystem:
    """A file system with IOPS of its own; `values` reach 1, where its disks are so busy."""
    deployment = tuple(_SMALLEST)[int(random.integers(3))]
    gib = int(spread(random, 64, 2_000))
    size = spread(random, 8, 256) * KIB
    more.setdefault("iops", int(3 * gib * random.uniform(2, 12)) + 500)
    more.setdefault("days", random.uniform(45, 400))
    return build.openzfs(
        name,
        storage_gib=gib,
        throughput=_SMALLEST[deployment],
        deployment=deployment,
        activity=Activity(
            shape=published(random, build, values),
            read=spread(random, 0.5, 30) * MIB,
            write=spread(random, 0.5, 30) * MIB,
            read_size=size,
            write_size=size,
            metadata=spread(random, 1, 300),
        ),
        clients=float(random.integers(2, 30)),
        server_peak=random.uniform(5, 60),
        disk_iops_peak=percent,
        used=random.uniform(0.35, 0.75),
        tags=dict(tags(random)),
        **more,
    )


def _full(values: Floats) -> Floats:
    return np.clip(values / values.max(), 0.0, 1.0)


def _little(random: Random) -> float:
    return spread(random, 0.5, 33)


def _much(random: Random) -> float:
    return random.uniform(50, 99)


def _rarely_much(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(demand(random, build)), _little(random))


def _hoped_for(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(working_days(random, build)), _little(random))


def _nightly_little(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, daily(random, build), random.uniform(5, 200), 1.0, 0.02)
    return _disks(random, build, name, values, _little(random))


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> FsxFileSystem:
    return _disks(random, build, name, runs(build, starts, minutes, 1.0, 0.01), _much(random))


def _nightly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, daily(random, build), random.uniform(3, 120))


def _weekly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, daily(random, build, 7), random.uniform(3, 300))


def _monthly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, monthly(random, build), random.uniform(30, 600))


def _steady(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(np.clip(0.8 * wobble(random), 0, 1)), _much(random))


def _by_day(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(working_days(random, build)), _much(random))


def _automatic(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(demand(random, build)), _little(random), iops=None)


def _new(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, _full(demand(random, build)), _little(random), days=random.uniform(0.5, 12))


def _holes(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _disks(random, build, name, without_days(random, build, _full(demand(random, build))), _little(random))


SCENARIOS = (
    Scenario(name="rarely-much", story="A third of them is used at most.", plant=each(_rarely_much), trouble=True),
    Scenario(name="hoped-for", story="Bought for users who are few.", plant=each(_hoped_for), trouble=True),
    Scenario(
        name="nightly-little", story="A nightly job that hardly shows.", plant=each(_nightly_little), trouble=True
    ),
    Scenario(name="nightly", story="Used in full for minutes every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used in full once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Used in full for an hour or more once a month.", plant=each(_monthly)),
    Scenario(name="steady", story="Used always.", plant=each(_steady)),
    Scenario(name="by-day", story="Used by day.", plant=each(_by_day)),
    Scenario(name="automatic", story="As many as its size includes.", plant=each(_automatic)),
    Scenario(name="new", story="Made within two weeks: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
)
