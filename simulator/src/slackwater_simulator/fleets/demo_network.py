"""EC2: a proxy whose network credits run dry, and traffic that only looks like it."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import cpu_credits, network_buckets
from slackwater_simulator.resources import Flow, given
from slackwater_simulator.series import MINUTE, Floats, Signal, Track
from slackwater_simulator.shapes import MINUTES, noise

from .builder import Builder
from .demo_parts import MB, cpu, server, tags


def _through_buckets(build: Builder, name: str, kind: str, demand: Floats, minutes: float) -> tuple[Flow, Signal]:
    """Traffic as the network credits of an instance let it through, and the agent's cumulative counter."""
    facts = TYPES[kind]
    baseline, peak = np.array([facts.baseline_bytes]), np.array([facts.peak_bytes])
    shaped = network_buckets(demand[None, :], baseline, peak, np.array([minutes * 60.0]))
    measured = shaped.passed[0] * np.clip(noise(build.shapes.random(name, "meter"), 0.006), 0.98, 1.02) * 0.995
    return Flow(build.shapes.signal(np.round(measured))), build.shapes.signal(np.cumsum(shaped.held[0]))


def _transfers(
    build: Builder, name: str, days: list[int], hour: float, hours: float, rate: float, rest: float
) -> Floats:
    shaped = build.shapes.blocks([(day, hour, hours, rate) for day in days], rest)
    return shaped * noise(build.shapes.random(name), 0.03)


def _counters(rx: Signal, tx: Signal) -> dict[str, Track]:
    """What the agent publishes: cumulative since the driver was loaded."""
    quiet = given(Signal.sampled(rx.origin, MINUTE, np.zeros(MINUTES)))
    return {
        "ethtool_bw_in_allowance_exceeded": given(rx, digits=0),
        "ethtool_bw_out_allowance_exceeded": given(tx, digits=0),
        "ethtool_pps_allowance_exceeded": quiet,
        "ethtool_conntrack_allowance_exceeded": quiet,
        "ethtool_linklocal_allowance_exceeded": quiet,
    }


def networks(build: Builder) -> None:
    """The proxies and their look-alikes."""
    for name, agent, days in (("s3-proxy", "typed", [0, 2, 4, 6, 9, 11, 13]), ("s3-proxy-b", "", [1, 3, 5, 8, 10, 12])):
        demand = _transfers(build, name, days, 1.0, 5.5, 350 * MB, 0.4 * MB)
        flow, held = _through_buckets(build, name, "t3.micro", demand, 12)
        server(
            build,
            name,
            "t3.micro",
            "platform",
            60,
            flow,
            flow,
            cpu(build, top=22.0),
            agent=agent,
            telemetry=_counters(held, held) if agent else {},
        )
    _look_alikes(build)
    _on_credits(build)


def _look_alikes(build: Builder) -> None:
    shapes = build.shapes
    steady = shapes.signal(np.round(0.99 * 16 * MB * 60 * noise(shapes.random("shaped"), 0.004)))
    build.instance(
        "mirror-shaped",
        "t3.small",
        net_out=Flow(steady),
        net_in=Flow(steady, 0.02),
        cpu=cpu(build, top=20),
        tags=tags("web"),
    )

    wanted = _transfers(build, "thumbnailer", [1, 4, 8, 11], 0.0, 9.0, 0.85, 0.02)
    work = cpu_credits(np.minimum(wanted, 1.0), vcpus=2, an_hour=24, start=300)
    flow = Flow(shapes.signal(work.used), 155 * MB * 60)
    build.instance(
        "thumbnailer",
        "t3.medium",
        net_in=flow,
        net_out=Flow(flow.signal, flow.scale * 0.1),
        cpu=Flow(flow.signal, 100.0),
        tags=tags("web"),
        telemetry={"CPUCreditBalance": given(shapes.signal(work.balance).coarsened(300))},
    )

    flow, _ = _through_buckets(
        build,
        "warehouse",
        "m6i.4xlarge",
        _transfers(build, "warehouse", list(range(13)), 2.0, 4.0, 625 * MB, 3 * MB),
        30,
    )
    build.instance(
        "warehouse-loader",
        "m6i.4xlarge",
        net_in=flow,
        net_out=Flow(flow.signal, 0.01),
        cpu=cpu(build),
        tags=tags("data"),
    )

    flow, _ = _through_buckets(
        build, "relay", "m6i.8xlarge", _transfers(build, "relay", list(range(14)), 22.0, 2.0, 1500 * MB, 60 * MB), 5
    )
    build.instance(
        "relay-large", "m6i.8xlarge", net_in=flow, net_out=flow, cpu=cpu(build, "steady", 60), tags=tags("platform")
    )

    demand = np.full(MINUTES, 1.0 * MB)
    for minute in range(3):
        demand[minute::60] = 200 * MB
    flow, _ = _through_buckets(build, "cron", "t3.small", demand * noise(shapes.random("cron"), 0.04), 30)
    build.instance(
        "cron-runner",
        "t3.small",
        net_out=flow,
        net_in=Flow(flow.signal, 0.1),
        cpu=cpu(build, "bursty", 50),
        tags=tags("platform"),
    )

    values = 4 * MB * 60 * noise(shapes.random("gaps"), 0.2)
    values[shapes.minute(5, 3) : shapes.minute(5, 3) + 25] = 180 * MB * 60
    for days_ago, hour, hours in ((9, 2, 31), (5, 3.5, 20), (2, 6, 5)):
        values[shapes.minute(days_ago, hour) : shapes.minute(days_ago, hour + hours)] = np.nan
    build.instance(
        "edge-cache",
        "t3.medium",
        net_out=Flow(shapes.signal(values)),
        net_in=Flow(shapes.signal(values), 0.3),
        cpu=cpu(build),
        tags=tags("web"),
    )

    old = _transfers(build, "resized", [6, 8, 10, 12], 1.0, 6.0, 300 * MB, 0.5 * MB)
    change = shapes.minute(4, 3)
    old[change:] = 20 * MB * noise(shapes.random("resized", "after"), 0.1, MINUTES - change)
    flow, _ = _through_buckets(build, "resized", "t3.micro", np.where(np.arange(MINUTES) < change, old, 0.0), 10)
    before = flow.signal.stats.total
    joined = shapes.signal(np.where(np.arange(MINUTES) < change, before, old * 60))
    at = shapes.origin + change * MINUTE
    build.instance(
        "upload-gateway",
        "t3.medium",
        launched=at,
        running=((build.ago(80), at - 600), (at, 1 << 40)),
        net_in=Flow(joined),
        net_out=Flow(joined),
        cpu=cpu(build),
        tags=tags("web"),
    )


def _on_credits(build: Builder) -> None:
    """Uploads that are faster than the baseline, and end before the credits are gone."""
    for name, days, hours in (("rushes-upload", list(range(14)), 1.0), ("partner-delivery", [3, 10], 3.0)):
        demand = _transfers(build, name, days, 12.0, hours, 250 * MB, 2 * MB)
        flow, _ = _through_buckets(build, name, "m6i.large", demand, 30)
        server(build, name, "m6i.large", "video", 140, Flow(flow.signal, 0.05), flow, cpu(build, top=35))
