"""Instances whose traffic goes through network credits, for the scenarios of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any, Literal

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import network_buckets
from slackwater_simulator.resources import Flow, Instance, given
from slackwater_simulator.series import MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import Together

_AT_ONCE = 64
BURSTING = tuple(name for name, kind in TYPES.items() if kind.peak_gbps >= 2 * kind.baseline_gbps)
FLAT = tuple(name for name, kind in TYPES.items() if not kind.bursts)
SMALL = (
    *("t3.micro", "t3.small", "t3.medium", "t3.large", "t4g.small", "t3a.medium", "m5.large", "c6i.large"),
    "r6i.large",
)

type Way = Literal["in", "out", "both"]
type Agent = Literal["", "plain", "typed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """What an instance wants to move, bytes a second by the minute, and how it came to be."""

    kind: str
    wants: Floats
    burst_minutes: float
    way: Way = "both"
    agent: Agent = ""
    resized: tuple[int, str] | None = None
    """When it was started as another type that carries it all."""
    more: dict[str, Any] = field(default_factory=dict)


def through_buckets(one: Callable[[Draw], Guest]) -> Together:
    """Plant instances whose traffic goes through their credits: many at once, because time is stepped."""

    def plant(draws: Sequence[Draw]) -> Iterator[Instance]:
        for some in batched(draws, _AT_ONCE):
            guests = [one(d) for d in some]
            baseline = np.array([TYPES[guest.kind].baseline_bytes for guest in guests])
            peak = np.array([TYPES[guest.kind].peak_bytes for guest in guests])
            burst = np.array([guest.burst_minutes * MINUTE for guest in guests])
            shaped = network_buckets(np.stack([guest.wants for guest in guests]), baseline, peak, burst)
            for d, guest, passed, held in zip(some, guests, shaped.passed, shaped.held, strict=True):
                yield _instance(d, guest, passed, held)

    return Together(plant)


def _instance(d: Draw, guest: Guest, passed: Floats, held: Floats) -> Instance:
    kind = guest.kind
    if guest.resized:
        started, kind = guest.resized
        carried = np.minimum(guest.wants, 0.9 * TYPES[kind].baseline_bytes) * MINUTE
        passed = np.where(np.arange(MINUTES) * MINUTE + d.origin < started, passed, carried)
    metered = np.round(passed * np.clip(d.random.normal(0.992, d.uniform(0.001, 0.008), MINUTES), 0.95, 1.02))
    flow = Flow(d.published(metered, together=5).coarsened(300))
    rest = Flow(flow.signal, d.spread(0.01, 0.3))
    counted = given(d.signal(np.cumsum(held)), digits=0)
    telemetry = {f"ethtool_bw_{way}_allowance_exceeded": counted for way in ("in", "out")} if guest.agent else {}
    guest.more.setdefault("days", d.uniform(40, 400))
    return d.build.instance(
        d.name,
        kind,
        net_in=flow if guest.way != "out" else rest,
        net_out=flow if guest.way != "in" else rest,
        cpu=d.cpu(),
        agent=guest.agent,
        telemetry=guest.more.pop("telemetry", {}) | telemetry,
        tags=d.tags(),
        **guest.more,
    )


def way(d: Draw) -> Way:
    """Draw a direction. A proxy moves every byte twice."""
    ways: tuple[Way, ...] = ("in", "out", "both")
    return d.pick(*ways)


def agent(d: Draw) -> Agent:
    """Draw a CloudWatch agent; half of the instances have none."""
    agents: tuple[Agent, ...] = ("", "", "plain", "typed")
    return d.pick(*agents)


def guest(d: Draw, kind: str, wants: Floats, burst_minutes: float, **more: Any) -> Guest:
    """Return a guest whose traffic goes one way or both, with or without an agent."""
    return Guest(kind=kind, wants=wants, burst_minutes=burst_minutes, way=way(d), **{"agent": agent(d), **more})


def hours_dark(d: Draw, share: tuple[float, float], most_times: int, most: float = np.inf) -> Instance:
    """Plant an instance that moves less than its baseline, and whose telemetry stops for hours, again and again."""
    kind = d.pick(*SMALL)
    values = TYPES[kind].baseline_bytes * MINUTE * d.spread(*share) * np.minimum(d.wobble(), most)
    for hour in d.random.integers(0, MINUTES // 60 - 12, d.integer(5, most_times)).tolist():
        values[hour * 60 : (hour + d.integer(1, 12)) * 60] = np.nan
    flow = Flow(d.signal(values).coarsened(300))
    return d.build.instance(d.name, kind, days=90, net_in=flow, net_out=flow, cpu=d.cpu(), tags=d.tags())
