"""EBS: throughput that nobody uses, volumes that nobody carries, reads or fills, and their look-alikes."""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, MIB, Activity, Disk, Flow, given, rfc3339
from slackwater_simulator.series import DAY
from slackwater_simulator.shapes import MINUTES

from .builder import Builder
from .demo_parts import cpu, io, server, tags, volume_on


def bought_throughput(build: Builder) -> None:
    """Volumes with throughput bought."""
    database = server(build, "orders-db", "m6i.2xlarge", "orders", 210, (20, 0), (40, 1), cpu(build, top=60))
    volume_on(build, database, "orders-db-data", 800, throughput=1000, iops=6000, activity=io(build, "office", 30, 24))
    search = server(build, "search-1", "r6i.xlarge", "search", 180, (12, 0), (30, 2), cpu(build, top=70, variant=2))
    volume_on(build, search, "search-index", 400, throughput=500, activity=io(build, "bursty", 50, 10))
    worker = server(build, "ingest-worker", "c5.large", "data", 130, (10, 0), (5, 3), cpu(build, top=55, variant=3))
    volume_on(build, worker, "ingest-spool", 300, throughput=1000, iops=4000, activity=io(build, "trickle", 8, 32))

    backup = server(build, "backup-server", "m6i.2xlarge", "platform", 260, (30, 0), (6, 4), cpu(build, "nightly", 70))
    volume_on(
        build,
        backup,
        "nightly-dump",
        1000,
        throughput=500,
        iops=4000,
        activity=io(build, "nightly", 30, 466, size=256 * KIB),
    )
    media = server(build, "media-cache-1", "m6i.2xlarge", "video", 140, (60, 0), (220, 1), cpu(build, "bursty", 70))
    volume_on(
        build,
        media,
        "media-cache",
        600,
        throughput=500,
        iops=4000,
        activity=io(build, "bursty", 300, 170, size=256 * KIB),
    )
    queue = server(build, "queue-1", "m6i.xlarge", "orders", 190, (15, 0), (15, 2), cpu(build, top=40, variant=4))
    checks = np.zeros(MINUTES)
    checks[build.shapes.random("checks").integers(0, MINUTES, 900)] = 1.0
    volume_on(
        build,
        queue,
        "queue-journal",
        200,
        throughput=400,
        activity=io(build, "steady", 2, 30, size=64 * KIB),
        telemetry={"VolumeThroughputExceededCheck": given(build.shapes.signal(checks), digits=0)},
    )


def unattached(build: Builder) -> None:
    """Volumes without an instance."""

    def left(
        name: str,
        size: int,
        days: float,
        *,
        event: str = "detached",
        age: float = 200,
        own: dict[str, str],
        **more: Any,
    ) -> None:
        at, gone = build.ago(days), build.id("i", f"gone-{name}")
        used = ((build.ago(age), at),) if event != "never" else ()
        more |= {"created": build.ago(age), "used": used, "activity": io(build, "office", 12, 8), "tags": own}
        volume = build.volume(name, size, **more)
        if event == "detached":
            build.detached(volume.id, gone, at)
        elif event == "terminated":
            build.terminated(gone, at)
        else:
            build.created(volume)

    left("encode-scratch-01", 500, 40, own=tags("video"))
    left("encode-scratch-02", 500, 33, throughput=250, own=tags("video"))
    left("orders-replica-old", 200, 55, event="terminated", type="gp2", own=tags("orders"))
    left("analytics-io1", 300, 20, type="io1", iops=3000, own=tags("data"))
    left("legacy-home", 150, 130, age=500, own=tags("platform"))
    left("golden-image-build", 80, 0, event="never", age=45, own=tags("platform", "staging"))
    left("audit-evidence", 100, 60, own=tags("finance", keep="true"))
    until = rfc3339(build.now + 60 * DAY)
    left("migration-source", 400, 25, own=tags("orders", **{"keep-until": until}))
    left("debug-copy", 60, 2, own=tags("web", "staging"))
    copy = build.volume(
        "offsite-copy",
        600,
        created=build.ago(400),
        used=tuple((build.ago(days), build.ago(days - 0.3)) for days in (118.5, 90.5, 55.5, 27.5)),
        activity=io(build, "steady", 2, 60),
        tags=tags("platform"),
    )
    for days in (90.5, 55.5, 27.5):
        host = build.id("i", f"copy-{days}")
        build.attached(copy.id, host, build.ago(days))
        build.detached(copy.id, host, build.ago(days - 0.3))


def quiet(build: Builder) -> None:
    """Volumes that nothing uses, and volumes that are nearly empty."""
    _idle(build)
    _stopped(build)
    _nearly_empty(build)


def _idle(build: Builder) -> None:
    subtitles = server(build, "subtitles-1", "m6i.large", "video", 230, (6, 1), (9, 2), cpu(build, top=50, variant=1))
    volume_on(build, subtitles, "subtitle-index-old", 300)
    night = build.shapes.signal(build.shapes.blocks([(23, 15.0, 3.0, 1.0)]))
    build.volume(
        "royalty-statements",
        200,
        on=subtitles,
        device="/dev/sdg",
        activity=Activity(shape=night, read=10.0 * MIB, write=15.0 * MIB),
        tags=tags("finance"),
    )


def _stopped(build: Builder) -> None:
    """A workstation that rests between two films; `qa-windows` is the one that nobody starts again."""
    stopped = build.ago(12)
    workstation = build.instance(
        "grading-1",
        "m6i.2xlarge",
        days=160,
        state="stopped",
        stopped=stopped,
        cpu=cpu(build, top=70),
        tags=tags("video"),
    )
    volume_on(
        build,
        workstation,
        "grading-stills",
        800,
        used=((workstation.launched, stopped),),
        activity=io(build, "office", 20, 10),
    )


def _nearly_empty(build: Builder) -> None:
    proxy_server = server(
        build, "proxies-1", "m6i.xlarge", "video", 250, (10, 3), (20, 4), cpu(build, top=55, variant=3)
    )
    volume_on(
        build,
        proxy_server,
        "proxy-footage",
        2000,
        activity=io(build, "office", 12, 6),
        disk=Disk(path="/proxies", device="nvme1n1", used=Flow(build.shapes.shape("steady", 1), 9.0)),
    )
    exported = build.shapes.signal(np.maximum(build.shapes.blocks([(19, 14.0, 9.0, 88.0)]), 11.0))
    volume_on(
        build,
        proxy_server,
        "master-exports",
        500,
        device="/dev/sdg",
        activity=io(build, "office", 6, 6, variant=2),
        disk=Disk(path="/masters", device="nvme2n1", used=Flow(exported)),
    )
