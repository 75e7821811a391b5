"""Add the demo's EBS volumes: oversized settings, unused or nearly empty volumes, and volumes at their limits."""

from typing import Any

import numpy as np

from slackwater_simulator.instance_types import EbsLimit
from slackwater_simulator.mechanisms import let_through
from slackwater_simulator.resources import KIB, MIB, Activity, Disk, Flow, Instance, given, rfc3339
from slackwater_simulator.series import DAY, Floats
from slackwater_simulator.shapes import MINUTES, noise

from .builder import Builder
from .demo_parts import cpu, io, server, tags, volume_on, work

_EVERY_DAY = range(35)


def bought_throughput(build: Builder) -> None:
    """Add volumes with provisioned throughput."""
    database = server(build, "orders-db", "m6i.2xlarge", "orders", 210, (20, 0), (40, 1), cpu(build, top=60))
    volume_on(build, database, "orders-db-data", 800, throughput=1000, iops=6000, activity=io(build, "office", 30, 24))
    search = server(build, "search-1", "r6i.xlarge", "search", 180, (12, 0), (30, 2), cpu(build, top=70, variant=2))
    volume_on(build, search, "search-index", 400, throughput=500, activity=io(build, "bursty", 50, 10))
    worker = server(build, "ingest-worker", "c5.large", "data", 130, (10, 0), (5, 3), cpu(build, top=55, variant=3))
    volume_on(build, worker, "ingest-spool", 300, throughput=1000, iops=4000, activity=io(build, "trickle", 8, 32))

    fast = {"throughput": 500, "iops": 4000}
    backup = server(build, "backup-server", "m6i.2xlarge", "platform", 260, (30, 0), (6, 4), cpu(build, "nightly", 70))
    dump = io(build, "nightly", 30, 466, size=256 * KIB)
    volume_on(build, backup, "nightly-dump", 1000, activity=dump, **fast)
    media = server(build, "media-cache-1", "m6i.2xlarge", "video", 140, (60, 0), (220, 1), cpu(build, "bursty", 70))
    cached = io(build, "bursty", 300, 170, size=256 * KIB)
    volume_on(build, media, "media-cache", 600, activity=cached, **fast)
    queue = server(build, "queue-1", "m6i.xlarge", "orders", 190, (15, 0), (15, 2), cpu(build, top=40, variant=4))
    checks = np.zeros(MINUTES)
    checks[build.shapes.random("checks").integers(0, MINUTES, 900)] = 1.0
    exceeded = {"VolumeThroughputExceededCheck": given(build.shapes.signal(checks), digits=0)}
    journal = io(build, "steady", 2, 30, size=64 * KIB)
    volume_on(build, queue, "queue-journal", 200, throughput=400, activity=journal, telemetry=exceeded)


def unattached(build: Builder) -> None:
    """Add volumes without an instance."""

    def left(
        name: str, size: int, days: float, own: dict[str, str], event: str = "", age: float = 200, **more: Any
    ) -> None:
        """Add a volume that was detached `days` days ago or never attached, or whose instance was terminated then."""
        at, gone = build.ago(days), build.id("i", f"gone-{name}")
        used = ((build.ago(age), at),) if event != "never" else ()
        more |= {"created": build.ago(age), "used": used, "activity": io(build, "office", 12, 8), "tags": own}
        volume = build.volume(name, size, **more)
        match event:
            case "terminated":
                build.terminated(gone, at)
            case "never":
                build.created(volume)
            case _:
                build.detached(volume.id, gone, at)

    left("encode-scratch-01", 500, 40, tags("video"))
    left("encode-scratch-02", 500, 33, tags("video"), throughput=250)
    left("orders-replica-old", 200, 55, tags("orders"), "terminated", type="gp2")
    left("analytics-io1", 300, 20, tags("data"), type="io1", iops=3000)
    left("legacy-home", 150, 130, tags("platform"), age=500)
    left("golden-image-build", 80, 0, tags("platform", "staging"), "never", age=45)
    left("audit-evidence", 100, 60, tags("finance", keep="true"))
    left("migration-source", 400, 25, tags("orders", **{"keep-until": rfc3339(build.now + 60 * DAY)}))
    left("debug-copy", 60, 2, tags("web", "staging"))

    nights = [(days, build.ago(days), build.ago(days - 0.3)) for days in (118.5, 90.5, 55.5, 27.5)]
    more: dict[str, Any] = {"created": build.ago(400), "used": tuple(night[1:] for night in nights)}
    copy = build.volume("offsite-copy", 600, activity=io(build, "steady", 2, 60), tags=tags("platform"), **more)
    for days, start, end in nights[1:]:  # the first is before CloudTrail's history begins
        host = build.id("i", f"copy-{days}")
        build.attached(copy.id, host, start)
        build.detached(copy.id, host, end)


def quiet(build: Builder) -> None:
    """Add unused volumes and nearly empty volumes."""
    shapes = build.shapes
    subtitles = server(build, "subtitles-1", "m6i.large", "video", 230, (6, 1), (9, 2), cpu(build, top=50, variant=1))
    volume_on(build, subtitles, "subtitle-index-old", 300)
    statements = work(shapes.signal(shapes.blocks([(23, 15.0, 3.0, 1.0)])), 10, 15)
    more: dict[str, Any] = {"device": "/dev/sdg", "activity": statements, "tags": tags("finance")}
    build.volume("royalty-statements", 200, on=subtitles, **more)

    # A workstation that is off between two films. `qa-windows` is the one that nobody starts again.
    off: dict[str, Any] = {"state": "stopped", "stopped": build.ago(12), "tags": tags("video")}
    grading = build.instance("grading-1", "m6i.2xlarge", days=160, cpu=cpu(build, top=70), **off)
    stills = io(build, "office", 20, 10)
    volume_on(build, grading, "grading-stills", 800, activity=stills)

    proxies = server(build, "proxies-1", "m6i.xlarge", "video", 250, (10, 3), (20, 4), cpu(build, top=55, variant=3))
    disk = Disk(path="/proxies", device="nvme1n1", used=Flow(shapes.shape("steady", 1), 9.0))
    volume_on(build, proxies, "proxy-footage", 2000, activity=io(build, "office", 12, 6), disk=disk)
    exported = shapes.signal(np.maximum(shapes.blocks([(19, 14.0, 9.0, 88.0)]), 11.0))
    disk, activity = Disk(path="/masters", device="nvme2n1", used=Flow(exported)), io(build, "office", 6, 6, variant=2)
    volume_on(build, proxies, "master-exports", 500, device="/dev/sdg", activity=activity, disk=disk)


def _server(
    build: Builder, name: str, kind: str, owner: str, days: float = 150, mb: tuple[int, int] = (3, 6), top: int = 55
) -> Instance:
    """Add a server with ordinary work: at most `mb` megabytes a second in and out, and `top` percent of CPU."""
    number = len(build.instances)
    traffic = (mb[0], number), (mb[1], number + 1)
    return server(build, name, kind, owner, days, *traffic, cpu(build, top=top, variant=number))


def settings(build: Builder) -> None:
    """Add volume types and settings that cost more than the work needs, and their look-alikes."""
    rights = _server(build, "rights-db", "r6i.2xlarge", "finance", 240, (8, 14), 60)
    ledger = io(build, "office", 3, 2, size=8 * KIB)
    volume_on(build, rights, "rights-ledger", 400, type="io2", iops=8000, activity=ledger)
    month_end = build.shapes.signal(build.shapes.blocks([(16, 15.0, 4.0, 1.0)], rest=0.03))
    runs = work(month_end, 60, 8, read_size=8 * KIB, write_size=8 * KIB)
    volume_on(build, rights, "royalty-runs", 300, device="/dev/sdg", iops=9000, activity=runs)

    catalogue = _server(build, "catalogue-1", "m6i.xlarge", "web", 420, (8, 14), 60)
    for name, size, device, activity, more in (
        ("catalogue-db", 250, "f", io(build, "office", 12, 6, size=16 * KIB), {"type": "io1", "iops": 3000}),
        ("covers", 600, "g", io(build, "bursty", 30, 12, variant=1), {"type": "gp2"}),
        ("feeds-export", 220, "h", io(build, "nightly", 245, 1, variant=2, size=256 * KIB), {"type": "gp2"}),
    ):
        volume_on(build, catalogue, name, size, device=f"/dev/sd{device}", activity=activity, **more)


def _job(build: Builder, name: str, hour: float, hours: float) -> Floats:
    """Return full speed from this hour (UTC) for some hours every day, and almost nothing otherwise."""
    values = build.shapes.blocks([(day, hour, hours, 0.97) for day in _EVERY_DAY], 0.01)
    return np.minimum(1.0, values * noise(build.shapes.random(name), 0.01))


def _moved(build: Builder, values: Floats, read: float, write: float, size: float = 256 * KIB) -> Activity:
    """Return reads and writes, MiB/s at the peak."""
    return work(build.shapes.signal(values), read, write, read_size=size, write_size=size)


def bound(build: Builder) -> None:
    """Add instances that limit their volumes, and look-alikes. `ingest-worker` is another case."""
    tickets = _server(build, "tickets-db", "t3.large", "platform")
    volume_on(build, tickets, "tickets-data", 500, iops=40_000, activity=io(build, "office", 4, 3, size=8 * KIB))
    trailers = _server(build, "trailers", "m6i.large", "video")
    cuts = _moved(build, _job(build, "trailers", 2.5, 0.25), 300, 180)
    volume_on(build, trailers, "trailers-cuts", 400, throughput=500, activity=cuts)
    wiki = _server(build, "wiki", "t3.small", "platform")
    for letter, name in zip("fgh", ("wiki-pages", "wiki-uploads", "wiki-search"), strict=True):
        volume_on(build, wiki, name, 60, device=f"/dev/sd{letter}", activity=io(build, "office", 1.5, 1))


def credits_spent(build: Builder) -> None:
    """Add volumes limited by their burst credits, and one that is not."""
    builds = _server(build, "builds", "m6i.2xlarge", "platform", 260)
    cache = _moved(build, _job(build, "builds", 13.0, 4.0), 18, 9, 16 * KIB)
    volume_on(build, builds, "builds-cache", 120, type="gp2", activity=cache)
    logs = _server(build, "logs", "m6i.2xlarge", "web", 260)
    archive = _moved(build, _job(build, "archive", 14.0, 5.0), 180, 20, MIB)
    volume_on(build, logs, "logs-archive", 1_000, type="st1", activity=archive)
    today = _moved(build, _job(build, "store", 14.0, 0.75), 20, 380, MIB)
    volume_on(build, logs, "logs-today", 2_000, device="/dev/sdg", type="st1", activity=today)


def throttled(build: Builder) -> None:
    """Add an instance limited by its EBS burst, and one that is not."""
    renders = _server(build, "subtitle-renders", "m6i.large", "video")
    carried = _carried(build, renders, 220 * MIB * _job(build, "renders", 12.5, 8.0)) / (220 * MIB)
    posters = _job(build, "posters", 15.0, 0.4)
    for letter, name, read, write in (("f", "renders-in", 110, 0), ("g", "renders-out", 0, 110)):
        activity = _moved(build, carried, read, write)
        volume_on(build, renders, name, 500, device=f"/dev/sd{letter}", activity=activity)
    host = _server(build, "posters", "m5.large", "video")
    for letter, name in (("f", "posters-in"), ("g", "posters-out")):
        volume_on(build, host, name, 300, device=f"/dev/sd{letter}", activity=_moved(build, posters, 60, 55))


def _carried(build: Builder, instance: Instance, wanted: Floats) -> Floats:
    """Return how much of `wanted` bytes a second the instance allows, besides the work of its present volumes."""
    limit, others = instance.kind.ebs or EbsLimit(0, 0, 0, 0), np.zeros_like(wanted)
    for volume in build.volumes:
        if volume.activity and instance.id in {attachment.instance_id for attachment in volume.attachments}:
            others += volume.activity.shape.stats.total * (volume.activity.read + volume.activity.write)
    passed = let_through(wanted + others, limit.baseline_mbps * 125_000, limit.maximum_mbps * 125_000)
    return np.maximum(0.0, passed - others)
