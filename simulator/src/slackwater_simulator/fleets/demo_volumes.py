"""EBS: throughput that nobody uses, volumes that nobody carries, reads or fills, and their twins."""

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
    trouble = "ebs-surplus-throughput"
    database = server(build, "orders-db", "m6i.2xlarge", "orders", 210, (20, 0), (40, 1), cpu(build, top=60))
    data = volume_on(
        build, database, "orders-db-data", 800, throughput=1000, iops=6000, activity=io(build, "office", 30, 24)
    )
    build.plant(
        data,
        "A thousand MiB/s and 6,000 IOPS bought for a migration that ended in spring.",
        trouble,
        "ebs-surplus-iops",
        why="At most 54 MiB/s and 432 IOPS in any minute.",
    )
    search = server(build, "search-1", "r6i.xlarge", "search", 180, (12, 0), (30, 2), cpu(build, top=70, variant=2))
    index = volume_on(build, search, "search-index", 400, throughput=500, activity=io(build, "bursty", 50, 10))
    build.plant(
        index, "Half a gigabyte a second, in case of reindexing.", trouble, why="At most 60 MiB/s in any minute."
    )
    worker = server(build, "ingest-worker", "c5.large", "data", 130, (10, 0), (5, 3), cpu(build, top=55, variant=3))
    volume_on(build, worker, "ingest-spool", 300, throughput=1000, iops=4000, activity=io(build, "trickle", 8, 32))
    build.plant(
        worker,
        "Its spool is faster than what carries it: a c5.large ends at 593 MB/s.",
        "ebs-instance-bound",
        why="1,000 MiB/s are paid for on ingest-spool, and 566 can be used at most.",
    )

    backup = server(build, "backup-server", "m6i.2xlarge", "platform", 260, (30, 0), (6, 4), cpu(build, "nightly", 70))
    nightly = volume_on(
        build,
        backup,
        "nightly-dump",
        1000,
        throughput=500,
        iops=4000,
        activity=io(build, "nightly", 30, 466, size=256 * KIB),
    )
    build.plant(
        nightly,
        "A ten-minute dump every night at full throughput.",
        twin_of=trouble,
        why="A percentile would miss it; the greatest minute does not.",
    )
    media = server(build, "media-cache-1", "m6i.2xlarge", "video", 140, (60, 0), (220, 1), cpu(build, "bursty", 70))
    cache = volume_on(
        build,
        media,
        "media-cache",
        600,
        throughput=500,
        iops=4000,
        activity=io(build, "bursty", 300, 170, size=256 * KIB),
    )
    build.plant(cache, "Busy, near what was bought.", twin_of=trouble, why="Minutes at 470 MiB/s.")
    queue = server(build, "queue-1", "m6i.xlarge", "orders", 190, (15, 0), (15, 2), cpu(build, top=40, variant=4))
    checks = np.zeros(MINUTES)
    checks[build.shapes.random("checks").integers(0, MINUTES, 900)] = 1.0
    journal = volume_on(
        build,
        queue,
        "queue-journal",
        200,
        throughput=400,
        activity=io(build, "steady", 2, 30, size=64 * KIB),
        telemetry={"VolumeThroughputExceededCheck": given(build.shapes.signal(checks), digits=0)},
    )
    build.plant(
        journal,
        "Bursts of a second that a minute's sum hides.",
        twin_of=trouble,
        why="Its throughput exceeded check was 1.",
    )


def unattached(build: Builder) -> None:
    """Volumes without an instance."""
    trouble = "ebs-unattached"

    def left(
        name: str,
        size: int,
        days: float,
        *,
        event: str = "detached",
        age: float = 200,
        story: str,
        twin: str = "",
        why: str,
        **more: Any,
    ) -> None:
        at, gone = build.ago(days), build.id("i", f"gone-{name}")
        used = ((build.ago(age), at),) if event != "never" else ()
        volume = build.volume(
            name, size, created=build.ago(age), used=used, activity=io(build, "office", 12, 8), **more
        )
        if event == "detached":
            build.detached(volume.id, gone, at)
        elif event == "terminated":
            build.terminated(gone, at)
        else:
            build.created(volume)
        build.plant(volume, story, *([] if twin else [trouble]), twin_of=twin or None, why=why)

    left(
        "encode-scratch-01",
        500,
        40,
        story="Scratch space of an encoder that was replaced.",
        why="Detached forty days ago.",
        tags=tags("video"),
    )
    left(
        "encode-scratch-02",
        500,
        33,
        story="Its twin on the same encoder.",
        why="Detached 33 days ago.",
        throughput=250,
        tags=tags("video"),
    )
    left(
        "orders-replica-old",
        200,
        55,
        event="terminated",
        story="Outlived its instance.",
        why="The instance was terminated 55 days ago.",
        type="gp2",
        tags=tags("orders"),
    )
    left(
        "analytics-io1",
        300,
        20,
        story="Fast storage for a report nobody runs.",
        why="Detached twenty days ago.",
        type="io1",
        iops=3000,
        tags=tags("data"),
    )
    left(
        "legacy-home",
        150,
        130,
        age=500,
        story="Kept from an old server.",
        why="Detached 130 days ago, before CloudTrail's ninety days.",
        tags=tags("platform"),
    )
    left(
        "golden-image-build",
        80,
        0,
        event="never",
        age=45,
        story="Made for a build that failed.",
        why="Never attached.",
        tags=tags("platform", "staging"),
    )
    left(
        "audit-evidence",
        100,
        60,
        story="Held for the auditors.",
        twin=trouble,
        why="Tagged keep.",
        tags=tags("finance", keep="true"),
    )
    until = rfc3339(build.now + 60 * DAY)
    left(
        "migration-source",
        400,
        25,
        story="Kept until the migration is signed off.",
        twin=trouble,
        why="keep-until lies in the future.",
        tags=tags("orders", **{"keep-until": until}),
    )
    left(
        "debug-copy",
        60,
        2,
        story="Detached the day before yesterday.",
        twin=trouble,
        why="Two days are not seven.",
        tags=tags("web", "staging"),
    )
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
    build.plant(
        copy,
        "Attached for a night every few weeks, for the copy that goes to another building.",
        twin_of=trouble,
        why="It came back after five weeks before; four have passed.",
    )


def quiet(build: Builder) -> None:
    """Volumes that nothing uses, and volumes that are nearly empty."""
    _idle(build)
    _stopped(build)
    _nearly_empty(build)


def _idle(build: Builder) -> None:
    trouble = "ebs-idle"
    subtitles = server(build, "subtitles-1", "m6i.large", "video", 230, (6, 1), (9, 2), cpu(build, top=50, variant=1))
    index = volume_on(build, subtitles, "subtitle-index-old", 300)
    build.plant(
        index,
        "Its index moved to the search server in spring; it stayed mounted.",
        trouble,
        why="Not one operation in weeks.",
    )
    night = build.shapes.signal(build.shapes.blocks([(23, 15.0, 3.0, 1.0)]))
    royalties = build.volume(
        "royalty-statements",
        200,
        on=subtitles,
        device="/dev/sdg",
        activity=Activity(shape=night, read=10.0 * MIB, write=15.0 * MIB),
        tags=tags("finance"),
    )
    build.plant(royalties, "Written one night a month.", twin_of=trouble, why="Three hours at 400 operations a second.")


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
    stills = volume_on(
        build,
        workstation,
        "grading-stills",
        800,
        used=((workstation.launched, stopped),),
        activity=io(build, "office", 20, 10),
    )
    build.plant(
        stills,
        "Its workstation rests between two films.",
        twin_of="ebs-on-stopped-instance",
        why="Stopped twelve days ago.",
    )


def _nearly_empty(build: Builder) -> None:
    trouble = "ebs-surplus-size"
    proxy_server = server(
        build, "proxies-1", "m6i.xlarge", "video", 250, (10, 3), (20, 4), cpu(build, top=55, variant=3)
    )
    proxies = volume_on(
        build,
        proxy_server,
        "proxy-footage",
        2000,
        activity=io(build, "office", 12, 6),
        disk=Disk(path="/proxies", device="nvme1n1", used=Flow(build.shapes.shape("steady", 1), 9.0)),
    )
    build.plant(
        proxies, "Proxies are a twentieth of what was expected when it was ordered.", trouble, why="At most 9 % full."
    )
    exported = build.shapes.signal(np.maximum(build.shapes.blocks([(19, 14.0, 9.0, 88.0)]), 11.0))
    masters = volume_on(
        build,
        proxy_server,
        "master-exports",
        500,
        device="/dev/sdg",
        activity=io(build, "office", 6, 6, variant=2),
        disk=Disk(path="/masters", device="nvme2n1", used=Flow(exported)),
    )
    build.plant(
        masters,
        "Nearly empty, but for the night in which the masters go out.",
        twin_of=trouble,
        why="88 % full that night.",
    )
