"""Add the demo's EC2 instances: healthy ones, unused ones, and ones whose network or CPU credits run out."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import cpu_credits, network_buckets
from slackwater_simulator.resources import Flow, given
from slackwater_simulator.series import FOREVER, MINUTE, Floats, Signal, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .builder import Builder
from .demo_fsx import other_file_servers
from .demo_parts import MB, cpu, io, server, tags, volume_on

_SERVERS = (
    *(("web-1", "m6i.large"), ("web-2", "m6i.large"), ("web-3", "m7g.large"), ("api-1", "c6i.large")),
    *(("api-2", "c6i.large"), ("batch-1", "c7g.xlarge"), ("jenkins", "t3.large"), ("bastion", "t3.nano")),
    *(("monitoring", "t3a.medium"), ("legacy-erp", "m4.large"), ("vpn", "t4g.small"), ("analytics", "r6i.2xlarge")),
)


def background(build: Builder) -> None:
    """Add servers and file systems without issues."""
    for number, (name, kind) in enumerate(_SERVERS):
        share, owner = TYPES[kind].baseline_bytes * 0.22 / MB, "web" if number < 5 else "platform"
        traffic, use = ((share, number), (share * 0.7, number + 1)), cpu(build, top=30 + 4 * number, variant=number)
        zone, detailed = "acd"[number % 3], number % 4 == 0
        instance = server(build, name, kind, owner, 60 + 17 * number, *traffic, use, zone=zone, detailed=detailed)
        if number % 3 == 0:
            activity, type_ = io(build, "office", 15, 9, variant=number), "gp2" if number == 9 else "gp3"
            own: dict[str, Any] = {"on": instance, "type": type_, "activity": activity, "tags": tags("web")}
            build.volume(f"{name}-data", 100 + 40 * number, **own)
    off: dict[str, Any] = {"state": "stopped", "stopped": build.ago(76), "tags": tags("web", "staging")}
    old = build.instance("qa-windows", "m5.large", days=300, cpu=cpu(build), **off)
    volume_on(build, old, "qa-data", 120, activity=io(build, "office", 5, 5))
    other_file_servers(build)


def _through_buckets(build: Builder, name: str, kind: str, demand: Floats, minutes: float) -> tuple[Flow, Signal]:
    """Return traffic as limited by an instance's network credits, and the agent's cumulative counter."""
    facts = TYPES[kind]
    passed, held = network_buckets(demand, facts.baseline_bytes, facts.peak_bytes, minutes)
    measured = passed * np.clip(noise(build.shapes.random(name, "meter"), 0.006), 0.98, 1.02) * 0.995
    return Flow(build.shapes.signal(np.round(measured))), build.shapes.signal(np.cumsum(held))


def _transfers(
    build: Builder, name: str, days: Iterable[int], hour: float, hours: float, rate: float, rest: float
) -> Floats:
    """Return transfers at this rate on some days, counted back from now, from an hour (UTC) on."""
    shaped = build.shapes.blocks([(day, hour, hours, rate) for day in days], rest)
    return shaped * noise(build.shapes.random(name), 0.03)


def networks(build: Builder) -> None:
    """Add proxies whose network credits run out, and traffic that only looks like that."""
    for name, agent, days in (("s3-proxy", "typed", [0, 2, 4, 6, 9, 11, 13]), ("s3-proxy-b", "", [1, 3, 5, 8, 10, 12])):
        demand = _transfers(build, name, days, 1.0, 5.5, 350 * MB, 0.4 * MB)
        flow, held = _through_buckets(build, name, "t3.micro", demand, 12)
        seen = {"agent": agent, "telemetry": _counters(held) if agent else {}}
        server(build, name, "t3.micro", "platform", 60, flow, flow, cpu(build, top=22.0), **seen)
    _steady_traffic(build)
    _bursts(build)
    _resized(build)
    # Uploads faster than the baseline that end before the credits are used up.
    for name, days, hours in (("rushes-upload", list(range(14)), 1.0), ("partner-delivery", [3, 10], 3.0)):
        demand = _transfers(build, name, days, 12.0, hours, 250 * MB, 2 * MB)
        flow, _ = _through_buckets(build, name, "m6i.large", demand, 30)
        server(build, name, "m6i.large", "video", 140, Flow(flow.signal, 0.05), flow, cpu(build, top=35))


def _counters(held: Signal) -> dict[str, Track]:
    """Return the metrics that the agent publishes, cumulative since the driver was loaded."""
    quiet = given(Signal.sampled(held.origin, MINUTE, np.zeros(MINUTES)))
    both = {f"ethtool_bw_{way}_allowance_exceeded": given(held, digits=0) for way in ("in", "out")}
    return both | {f"ethtool_{what}_allowance_exceeded": quiet for what in ("pps", "conntrack", "linklocal")}


def _steady_traffic(build: Builder) -> None:
    """Add traffic limited by a shaper, the CPU, a single flow or the instance type, not by network credits."""
    shapes, random = build.shapes, build.shapes.random
    steady = shapes.signal(np.round(0.99 * 16 * MB * 60 * noise(random("shaped"), 0.004)))
    server(build, "mirror-shaped", "t3.small", "web", 120, Flow(steady, 0.02), Flow(steady), cpu(build, top=20))

    wanted = _transfers(build, "thumbnailer", [1, 4, 8, 11], 0.0, 9.0, 0.85, 0.02)
    spent = cpu_credits(np.minimum(wanted, 1.0), vcpus=2, an_hour=24, start=300)
    used = shapes.signal(spent.used)
    traffic = Flow(used, 155 * MB * 60), Flow(used, 155 * MB * 60 * 0.1)
    balance = {"CPUCreditBalance": given(shapes.signal(spent.balance).coarsened(300))}
    server(build, "thumbnailer", "t3.medium", "web", 120, *traffic, Flow(used, 100.0), telemetry=balance)

    demand = _transfers(build, "warehouse", range(13), 2.0, 4.0, 625 * MB, 3 * MB)
    flow, _ = _through_buckets(build, "warehouse", "m6i.4xlarge", demand, 30)
    server(build, "warehouse-loader", "m6i.4xlarge", "data", 120, flow, Flow(flow.signal, 0.01), cpu(build))

    demand = _transfers(build, "relay", range(14), 22.0, 2.0, 1500 * MB, 60 * MB)
    flow, _ = _through_buckets(build, "relay", "m6i.8xlarge", demand, 5)
    server(build, "relay-large", "m6i.8xlarge", "platform", 120, flow, flow, cpu(build, "steady", 60))


def _bursts(build: Builder) -> None:
    """Add bursts that end by themselves, and a burst before missing telemetry."""
    shapes, random = build.shapes, build.shapes.random
    demand = np.full(MINUTES, 1.0 * MB)
    for minute in range(3):
        demand[minute::60] = 200 * MB
    flow, _ = _through_buckets(build, "cron", "t3.small", demand * noise(random("cron"), 0.04), 30)
    server(build, "cron-runner", "t3.small", "platform", 120, Flow(flow.signal, 0.1), flow, cpu(build, "bursty", 50))

    values = 4 * MB * 60 * noise(random("gaps"), 0.2)
    values[shapes.minute(5, 3) : shapes.minute(5, 3) + 25] = 180 * MB * 60
    for days_ago, hour, hours in ((9, 2, 31), (5, 3.5, 20), (2, 6, 5)):
        values[shapes.minute(days_ago, hour) : shapes.minute(days_ago, hour + hours)] = np.nan
    seen = shapes.signal(values)
    server(build, "edge-cache", "t3.medium", "web", 120, Flow(seen, 0.3), Flow(seen), cpu(build))


def _resized(build: Builder) -> None:
    """Add an instance that was throttled as a t3.micro until it was restarted as a t3.medium that is large enough."""
    shapes = build.shapes
    load = _transfers(build, "resized", [6, 8, 10, 12], 1.0, 6.0, 300 * MB, 0.5 * MB)
    change = shapes.minute(4, 3)
    load[change:] = 20 * MB * noise(shapes.random("resized", "after"), 0.1, MINUTES - change)
    small = np.arange(MINUTES) < change
    flow, _ = _through_buckets(build, "resized", "t3.micro", np.where(small, load, 0.0), 10)
    joined = Flow(shapes.signal(np.where(small, flow.signal.stats.total, load * 60)))
    at = shapes.origin + change * MINUTE
    life: dict[str, Any] = {"launched": at, "running": ((build.ago(80), at - 600), (at, FOREVER))}
    server(build, "upload-gateway", "t3.medium", "web", 120, joined, joined, cpu(build), **life)


def _chores(build: Builder, name: str) -> Floats:
    """Return the percent of CPU that an empty system uses for its hourly timers."""
    values = 0.3 * noise(build.shapes.random(name, "cpu"), 0.2)
    values[17::60] = 1.8
    return values


def _heartbeat(build: Builder, name: str, mb_a_day: float) -> Flow:
    return Flow(build.shapes.signal(mb_a_day * MB / DAY_MINUTES * noise(build.shapes.random(name, "network"), 0.5)))


def idle(build: Builder) -> None:
    """Add servers that nobody needs any more, and look-alikes."""
    busy = _chores(build, "audience-report")
    busy[build.shapes.minute(26, 2) : build.shapes.minute(26, 5)] = 74.0
    licence = tags("platform", keep="licence server")
    for name, kind, days, mb_in, mb_out, own, percent in (
        ("codec-trial", "c6i.4xlarge", 210, 1.1, 0.7, tags("video", "staging"), _chores(build, "codec-trial")),
        ("book-fair-site", "t3.large", 75, 1.1, 0.7, tags("web", "staging"), _chores(build, "book-fair-site")),
        ("audience-report", "m6i.large", 400, 1.5, 1.0, tags("finance"), busy),
        ("font-licences", "t3.small", 500, 0.4, 0.4, licence, _chores(build, "font-licences")),
    ):
        net_in, net_out = _heartbeat(build, name, mb_in), _heartbeat(build, f"{name}-out", mb_out)
        used = Flow(build.shapes.signal(percent))
        build.instance(name, kind, days=days, cpu=used, net_in=net_in, net_out=net_out, tags=own)


def surcharged(build: Builder) -> None:
    """Add T instances that pay for surplus CPU credits, and look-alikes."""
    shapes = build.shapes
    sundays = shapes.blocks([(day, 0.0, 22.0, 92.0) for day in range(34) if day % 7 == 1], 1.5)
    looped = np.where(shapes.blocks([(19, 3.0, 50.0, 1.0)]) > 0, 98.0, 6.0)
    for name, kind, percent, owner, days in (
        ("caption-queue", "t3.xlarge", np.full(MINUTES, 84.0), "video", 190),
        ("sales-cubes", "t3.medium", sundays, "finance", 320),
        ("preview-web", "t3.small", np.full(MINUTES, 38.0), "web", 150),
        ("mail-relay", "t3.medium", looped, "platform", 260),
    ):
        used = Flow(shapes.signal(np.clip(percent * noise(shapes.random(name, "cpu"), 0.06), 0, 100)))
        build.instance(name, kind, days=days, unlimited=True, cpu=used, tags=tags(owner))
