"""FSx file servers that are far too large, and servers that are needed for minutes a night, a week or a month.

What a server does is given by what it moves: its utilisations are that over its throughput. Left out, because even the truth is
in doubt: peaks that would fill between 40 and 60 % of the next smaller server, and migrations that ended within the last weeks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import KIB, Activity, FsxFileSystem, given
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import noise

from .rhythms import Random, daily, demand, monthly, published, runs, spread, tags, without_days, wobble, working_days
from .scenario import Scenario, each

type Sizes = dict[str, tuple[int, ...]]

_SIZES: Sizes = {
    "SINGLE_AZ_1": (128, 256, 512, 1_024, 2_048),
    "SINGLE_AZ_2": (320, 640, 1_280, 2_560),
    "MULTI_AZ_1": (320, 640, 1_280, 2_560),
}
_SMALLEST: Sizes = {"SINGLE_AZ_1": (64,), "SINGLE_AZ_2": (160,), "MULTI_AZ_1": (160,)}
_WITH_BURST: Sizes = {"SINGLE_AZ_1": (128, 256, 512), "SINGLE_AZ_2": (320, 640, 1_280), "MULTI_AZ_1": (320, 640, 1_280)}


def _server(
    random: Random, build: Builder, name: str, values: Floats, share: float, sizes: Sizes = _SIZES, **more: Any
) -> FsxFileSystem:
    """A file system whose busiest minute moves `share` of its throughput capacity; `values` reach 1."""
    deployment = tuple(sizes)[int(random.integers(len(sizes)))]
    mb_s = sizes[deployment][int(random.integers(len(sizes[deployment])))]
    written = random.uniform(0.05, 0.9)
    size = spread(random, 64, 1_024) * KIB
    more.setdefault("days", random.uniform(45, 400))
    return build.openzfs(
        name,
        storage_gib=int(spread(random, 500, 20_000)),
        throughput=mb_s,
        deployment=deployment,
        activity=Activity(
            shape=published(random, build, values),
            read=share * mb_s * 1e6 * (1 - written),
            write=share * mb_s * 1e6 * written,
            read_size=size,
            write_size=size,
            metadata=spread(random, 1, 300),
        ),
        clients=float(random.integers(2, 30)),
        server_peak=100 * share,
        disk_iops_peak=random.uniform(5, 60),
        used=random.uniform(0.35, 0.75),
        tags=dict(tags(random)),
        **more,
    )


def _full(values: Floats) -> Floats:
    return np.clip(values / values.max(), 0.0, 1.0)


def _little(random: Random) -> float:
    """What keeps the next smaller server below 40 %."""
    return spread(random, 0.005, 0.18)


def _much(random: Random) -> float:
    return random.uniform(0.35, 0.95)


def _rarely_much(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(demand(random, build)), _little(random))


def _nightly_little(random: Random, build: Builder, name: str) -> FsxFileSystem:
    values = runs(build, daily(random, build), random.uniform(5, 200), 1.0, 0.02)
    return _server(random, build, name, values, _little(random))


def _sized_for_days(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(working_days(random, build)), _little(random))


def _in_runs(random: Random, build: Builder, name: str, starts: list[int], minutes: float) -> FsxFileSystem:
    return _server(random, build, name, runs(build, starts, minutes, 1.0, 0.01), _much(random))


def _nightly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, daily(random, build), random.uniform(3, 120))


def _weekly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, daily(random, build, 7), random.uniform(3, 300))


def _monthly(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _in_runs(random, build, name, monthly(random, build), random.uniform(30, 600))


def _by_day(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(working_days(random, build)), _much(random))


def _steady(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(np.clip(0.8 * wobble(random), 0, 1)), _much(random))


def _smallest(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(demand(random, build)), _little(random), _SMALLEST)


def _processors(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Little goes over the network; compression keeps the processors busy."""
    values = np.clip(random.uniform(40, 90) * noise(random, 0.05) * _full(working_days(random, build)), 0.0, 100.0)
    busy = {"CPUUtilization": given(build.shapes.signal(values), digits=2)}
    return _server(random, build, name, _full(demand(random, build)), _little(random), telemetry=busy)


def _credits(random: Random, build: Builder, name: str) -> FsxFileSystem:
    """Small operations for hours a day: the disks are faster than their file server is for good, on credits."""
    values = _full(demand(random, build))
    left = np.clip(100.0 - 60.0 * runs(build, daily(random, build), random.uniform(60, 300), 1.0), 0.0, 100.0)
    spent = {"FileServerDiskIopsBalance": given(build.shapes.signal(left), digits=2)}
    return _server(random, build, name, values, _little(random), _WITH_BURST, telemetry=spent)


def _new(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, _full(demand(random, build)), _little(random), days=random.uniform(0.5, 12))


def _holes(random: Random, build: Builder, name: str) -> FsxFileSystem:
    return _server(random, build, name, without_days(random, build, _full(demand(random, build))), _little(random))


SCENARIOS = (
    Scenario(name="rarely-much", story="A fifth of it is moved at most.", plant=each(_rarely_much), trouble=True),
    Scenario(
        name="nightly-little", story="A nightly job that hardly shows.", plant=each(_nightly_little), trouble=True
    ),
    Scenario(name="hoped-for", story="Bought for users who are few.", plant=each(_sized_for_days), trouble=True),
    Scenario(name="nightly", story="Used in full for minutes every night.", plant=each(_nightly)),
    Scenario(name="weekly", story="Used in full once a week.", plant=each(_weekly)),
    Scenario(name="monthly", story="Used in full for an hour or more once a month.", plant=each(_monthly)),
    Scenario(name="by-day", story="Used by day.", plant=each(_by_day)),
    Scenario(name="steady", story="Used always.", plant=each(_steady)),
    Scenario(name="smallest", story="Hardly used, and the smallest there is.", plant=each(_smallest)),
    Scenario(name="processors", story="Its processors are what is busy.", plant=each(_processors)),
    Scenario(name="credits", story="It lives on burst credits.", plant=each(_credits)),
    Scenario(name="new", story="Made within two weeks: nobody knows yet.", plant=each(_new), full=False),
    Scenario(name="holes", story="Days without metrics: nobody knows.", plant=each(_holes), full=False),
)
