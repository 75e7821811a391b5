"""Instances whose traffic goes through network credits, for the scenarios that tell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import batched
from typing import Any, Literal

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import network_buckets
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .rhythms import Random, cpu, published, spread, tags
from .scenario import Plant

_AT_ONCE = 64
BURSTING = tuple(name for name, kind in TYPES.items() if kind.peak_gbps >= 2 * kind.baseline_gbps)
FLAT = tuple(name for name, kind in TYPES.items() if not kind.bursts)
SMALL = (
    "t3.micro",
    "t3.small",
    "t3.medium",
    "t3.large",
    "t4g.small",
    "t3a.medium",
    "m5.large",
    "c6i.large",
    "r6i.large",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """What an instance wants to move, bytes a second by the minute, and how it came to be."""

    kind: str
    wants: Floats
    burst_minutes: float
    way: Literal["in", "out", "both"] = "both"
    agent: Literal["", "plain", "typed"] = ""
    resized: tuple[int, str] | None = None
    """When it was started as another type that carries it all."""
    more: dict[str, Any] = field(default_factory=dict)


type Draw = Callable[[Random, Builder], Guest]


def through_buckets(draw: Draw) -> Plant:
    """Instances whose traffic goes through their credits; many at once, because time is stepped."""

    def plant(build: Builder, randoms: Mapping[str, Random]) -> Iterator[Instance]:
        for some in batched(randoms.items(), _AT_ONCE):
            guests = [draw(random, build) for _, random in some]
            baseline, peak = (
                np.array([getattr(TYPES[g.kind], rate) for g in guests]) for rate in ("baseline_bytes", "peak_bytes")
            )
            burst = np.array([guest.burst_minutes * MINUTE for guest in guests])
            shaped = network_buckets(np.stack([guest.wants for guest in guests]), baseline, peak, burst)
            for (name, random), guest, passed, held in zip(some, guests, shaped.passed, shaped.held, strict=True):
                yield _instance(random, build, name, guest, passed, held)

    return plant


def _instance(random: Random, build: Builder, name: str, guest: Guest, passed: Floats, held: Floats) -> Instance:
    kind = guest.kind
    if guest.resized:
        started, kind = guest.resized
        carried = np.minimum(guest.wants, 0.9 * TYPES[kind].baseline_bytes) * MINUTE
        passed = np.where(np.arange(MINUTES) * MINUTE + build.shapes.origin < started, passed, carried)
    metered = np.round(passed * np.clip(random.normal(0.992, random.uniform(0.001, 0.008), MINUTES), 0.95, 1.02))
    flow = Flow(published(random, build, metered, together=5).coarsened(300))
    rest = Flow(flow.signal, spread(random, 0.01, 0.3))
    counted = given(build.shapes.signal(np.cumsum(held)), digits=0)
    telemetry = {f"ethtool_bw_{way}_allowance_exceeded": counted for way in ("in", "out")} if guest.agent else {}
    guest.more.setdefault("days", random.uniform(40, 400))
    return build.instance(
        name,
        kind,
        net_in=flow if guest.way != "out" else rest,
        net_out=flow if guest.way != "in" else rest,
        cpu=cpu(random, build),
        agent=guest.agent,
        telemetry=guest.more.pop("telemetry", {}) | telemetry,
        tags=dict(tags(random)),
        **guest.more,
    )


def pick[T](random: Random, *choices: T) -> T:
    """One of them."""
    return choices[int(random.integers(len(choices)))]


def way(random: Random) -> Literal["in", "out", "both"]:
    """Which way it moves: a proxy moves every byte twice."""
    ways: tuple[Literal["in", "out", "both"], ...] = ("in", "out", "both")
    return pick(random, *ways)


def agent(random: Random) -> Literal["", "plain", "typed"]:
    """The CloudWatch agent; half of the instances have none."""
    agents: tuple[Literal["", "plain", "typed"], ...] = ("", "", "plain", "typed")
    return pick(random, *agents)
