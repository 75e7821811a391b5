"""EBS and EC2: where the instance, or a bucket of credits, is the limit."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.instance_types import EbsLimit
from slackwater_simulator.mechanisms import let_through
from slackwater_simulator.resources import KIB, MIB, Activity, Instance
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import noise

from .builder import Builder
from .demo_parts import cpu, io, server, volume_on

_EVERY_DAY = range(35)
_REPORT = "report “The performance of EBS-optimised instances” (2017-07-10)"


def limits(build: Builder) -> None:
    """Issues and their look-alikes."""
    _bound(build)
    _credits(build)
    _throttled(build)


def _server(build: Builder, name: str, kind: str, owner: str, days: float = 150) -> Instance:
    number = len(build.instances)
    return server(build, name, kind, owner, days, (3, number), (6, number + 1), cpu(build, top=55, variant=number))


def _job(build: Builder, name: str, hour: float, hours: float, days: range = _EVERY_DAY, rest: float = 0.01) -> Floats:
    """Full speed from this hour (UTC) for so many hours, and next to nothing else."""
    values = build.shapes.blocks([(day, hour, hours, 0.97) for day in days], rest)
    return np.minimum(1.0, values * noise(build.shapes.random(name), 0.01))


def _work(build: Builder, values: Floats, read: float, write: float, size: float = 256 * KIB) -> Activity:
    """Reads and writes, MiB/s at the peak."""
    return Activity(
        shape=build.shapes.signal(values), read=read * MIB, write=write * MIB, read_size=size, write_size=size
    )


def _carried(build: Builder, instance: Instance, wanted: Floats) -> Floats:
    """Of so many bytes a second that work wants, what the instance lets through beside what its volumes do already."""
    limit, others = instance.kind.ebs or EbsLimit(0, 0, 0, 0), np.zeros_like(wanted)
    for volume in build.volumes:
        if volume.activity and instance.id in {attachment.instance_id for attachment in volume.attachments}:
            others += volume.activity.shape.stats.total * (volume.activity.read + volume.activity.write)
    passed = let_through(wanted + others, limit.baseline_mbps * 125_000, limit.maximum_mbps * 125_000)
    return np.maximum(0.0, passed - others)


def _bound(build: Builder) -> None:
    """`ingest-worker` is another case of it."""
    tickets = _server(build, "tickets-db", "t3.large", "platform")
    volume_on(build, tickets, "tickets-data", 500, iops=40_000, activity=io(build, "office", 4, 3, size=8 * KIB))
    trailers = _server(build, "trailers", "m6i.large", "video")
    volume_on(
        build,
        trailers,
        "trailers-cuts",
        400,
        throughput=500,
        activity=_work(build, _job(build, "trailers", 2.5, 0.25), 300, 180),
    )
    wiki = _server(build, "wiki", "t3.small", "platform")
    for device, name in (("/dev/sdf", "wiki-pages"), ("/dev/sdg", "wiki-uploads"), ("/dev/sdh", "wiki-search")):
        volume_on(build, wiki, name, 60, device=device, activity=io(build, "office", 1.5, 1))


def _credits(build: Builder) -> None:
    builds = _server(build, "builds", "m6i.2xlarge", "platform", 260)
    volume_on(
        build,
        builds,
        "builds-cache",
        120,
        type="gp2",
        activity=_work(build, _job(build, "builds", 13.0, 4.0), 18, 9, 16 * KIB),
    )
    logs = _server(build, "logs", "m6i.2xlarge", "web", 260)
    volume_on(
        build,
        logs,
        "logs-archive",
        1_000,
        type="st1",
        activity=_work(build, _job(build, "archive", 14.0, 5.0), 180, 20, MIB),
    )
    volume_on(
        build,
        logs,
        "logs-today",
        2_000,
        device="/dev/sdg",
        type="st1",
        activity=_work(build, _job(build, "store", 14.0, 0.75), 20, 380, MIB),
    )


def _throttled(build: Builder) -> None:
    renders = _server(build, "subtitle-renders", "m6i.large", "video")
    carried = _carried(build, renders, 220 * MIB * _job(build, "renders", 12.5, 8.0)) / (220 * MIB)
    for device, name, seed in (("/dev/sdf", "renders-in", 0), ("/dev/sdg", "renders-out", 1)):
        activity = _work(build, carried, 110 * (1 - seed), 110 * seed)
        volume_on(build, renders, name, 500, device=device, activity=activity)
    posters = _server(build, "posters", "m5.large", "video")
    for device, name in (("/dev/sdf", "posters-in"), ("/dev/sdg", "posters-out")):
        activity = _work(build, _job(build, "posters", 15.0, 0.4), 60, 55)
        volume_on(build, posters, name, 300, device=device, activity=activity)
