"""EFS: file systems that a killed job left behind, and quiet ones that are needed."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, Flow, instant
from slackwater_simulator.series import HOUR, MINUTE
from slackwater_simulator.shapes import MINUTES

from .builder import Builder
from .demo_parts import tags

_ENCODE = "report “Can Amazon EFS replace EBS?” (2025-02-19)"


def encode_leftovers(build: Builder) -> None:
    """File systems of killed jobs."""
    encoding = Activity(
        shape=build.shapes.shape("steady"),
        read=150.0 * MIB,
        write=40.0 * MIB,
        read_size=MIB,
        write_size=512 * KIB,
        metadata=40.0 * KIB,
    )
    for day, voice in (("20260912", "zeros"), ("20260927", "absent"), ("20261003", "zeros"), ("20261008", "absent")):
        created = instant(f"{day[:4]}-{day[4:6]}-{day[6:]}T02:10:00Z")
        created = min(created, build.ago(38))
        system = build.file_system(
            f"encode-job-{day}",
            one_zone="a",
            created=created,
            standard_bytes=int(30.12 * GIB),
            activity=encoding,
            active=(created, created + 50 * MINUTE),
            voice=voice,
            tags=tags("video", Job="encode"),
        )
        said = "publishes real zeros" if voice == "zeros" else "publishes no I/O metrics at all"
        build.plant(
            system,
            f"The spot instance of an encode job was killed and left its file system behind; {_ENCODE}.",
            "efs-idle",
            why=f"Silent since; {said}.",
        )
    reports = build.file_system(
        "reports-2024", days=400, standard_bytes=84 * GIB, ia_bytes=0, voice="zeros", tags=tags("finance")
    )
    build.plant(
        reports, "A Regional file system whose users moved to object storage.", "efs-idle", why="Zeros for months."
    )
    _transcode_jobs(build, encoding)
    _without_mount_targets(build)


def _transcode_jobs(build: Builder, work: Activity) -> None:
    """A file system for each job of the night; the policy names their tag."""
    job = tags("video", Job="transcode-nightly")
    size = int(18.4 * GIB)
    for name, killed, voice, why in (
        ("transcode-1115", 40.0, "zeros", "No client for six hours; publishes real zeros."),
        ("transcode-1116", 16.0, "absent", "No client for six hours; publishes no I/O metrics at all."),
    ):
        end = int(build.now - killed * HOUR)
        system = build.file_system(
            name,
            one_zone="a",
            created=end - 40 * MINUTE,
            standard_bytes=size,
            activity=work,
            active=(end - 40 * MINUTE, end),
            voice=voice,
            tags=job,
        )
        build.plant(
            system,
            f"The spot instance of a transcode job was killed within the last two days; {_ENCODE}.",
            "efs-abandoned",
            why=why,
        )
    ended = build.now - HOUR
    waiting = build.file_system(
        "transcode-1116-b",
        one_zone="c",
        created=ended - 5 * HOUR,
        standard_bytes=size,
        activity=work,
        active=(ended - HOUR, ended),
        tags=job,
    )
    build.plant(
        waiting,
        "Its job waits for a spot instance for the second pass.",
        twin_of="efs-abandoned",
        why="A client left it an hour ago.",
    )
    nothing = Activity(shape=build.shapes.signal(np.zeros(MINUTES)))
    mounted = build.file_system(
        "transcode-1114", one_zone="a", days=2.1, standard_bytes=size, activity=nothing, tags=job
    )
    build.plant(
        mounted,
        "Its job computes for hours between reading and writing.",
        twin_of="efs-abandoned",
        why="Mounted, though nothing moves: a client is connected.",
    )


def _without_mount_targets(build: Builder) -> None:
    """What nothing can mount, and what need not be mounted yet."""
    created = build.ago(620)
    archive = build.file_system(
        "press-archive",
        created=created,
        standard_bytes=48 * GIB,
        mount_targets=(),
        access_points=2,
        activity=Activity(shape=build.shapes.shape("office", 4), read=2.0 * MIB, write=0.5 * MIB, write_size=256 * KIB),
        active=(created, build.ago(20)),
        tags=tags("web"),
    )
    build.plant(
        archive,
        "Its mount targets went with the old VPC, three weeks ago, and the data stayed.",
        "efs-orphaned",
        why="No mount target; access points do not matter.",
    )
    stack = {"aws:cloudformation:stack-name": "live-clips"}
    new = build.file_system("live-clips", days=2, standard_bytes=9 * GIB, mount_targets=(), tags=tags("video", **stack))
    build.plant(
        new,
        "Restored two days ago; its stack is still being rolled out.",
        twin_of="efs-orphaned",
        why="Younger than seven days.",
    )
    masters = build.file_system("masters", days=410, standard_bytes=64 * GIB, tags=tags("video"))
    replica = build.file_system(
        "masters-replica", days=400, standard_bytes=64 * GIB, mount_targets=(), replica=True, tags=tags("video")
    )
    build.replicate(masters, replica)
    build.plant(
        replica,
        "A replica, to be mounted when it is needed.",
        twin_of="efs-orphaned",
        why="The destination of a replication.",
    )


def file_system_twins(build: Builder) -> None:
    """Innocent file systems."""
    shapes = build.shapes
    twin = "efs-idle"
    night = shapes.signal(shapes.blocks([(17, 16.0, 3.0, 0.8)]))
    monthly = build.file_system(
        "billing-close",
        days=300,
        standard_bytes=22 * GIB,
        activity=Activity(shape=night, read=30.0 * MIB, write=8.0 * MIB, metadata=30.0 * KIB),
        clients=Flow(shapes.signal(np.ceil(night.stats.total)), 2.0),
        tags=tags("finance"),
    )
    build.plant(
        monthly,
        "The monthly closing runs one night and no other.",
        twin_of=twin,
        why="Three hours of use within the last thirty days.",
    )
    dark = build.file_system("partner-exchange", days=250, standard_bytes=5 * GIB, voice="dark", tags=tags("sales"))
    build.plant(dark, "Its metrics are missing altogether.", twin_of=twin, why="No telemetry proves nothing.")
    young = build.file_system(
        "encode-job-20261113", one_zone="c", days=3, standard_bytes=6 * GIB, tags=tags("video", Job="encode")
    )
    build.plant(young, "Three days old and not used yet.", twin_of=twin, why="Younger than seven days.")
    source = build.file_system("contracts", days=350, standard_bytes=12 * GIB, tags=tags("legal"))
    replica = build.file_system(
        "contracts-replica", days=120, standard_bytes=12 * GIB, replica=True, tags=tags("legal")
    )
    build.replicate(source, replica)
    build.plant(source, "Quiet, but the source of a replication.", twin_of=twin, why="A member of a replication.")
    build.plant(
        replica,
        "A replica, written by replication alone.",
        twin_of=twin,
        why="ReplicationOverwriteProtection is REPLICATING.",
    )
    work = Activity(
        shape=shapes.shape("office"),
        read=9.0 * MIB,
        write=3.0 * MIB,
        read_size=128 * KIB,
        write_size=32 * KIB,
        metadata=64.0 * KIB,
    )
    busy = build.file_system(
        "web-content",
        days=500,
        standard_bytes=240 * GIB,
        ia_bytes=700 * GIB,
        activity=work,
        lifecycle=(("TransitionToIA", "AFTER_30_DAYS"),),
        tags=tags("web"),
    )
    build.plant(busy, "Web content, read all day.", twin_of=twin, why="Busy every day.")
    homes = build.file_system(
        "home-directories",
        days=700,
        standard_bytes=510 * GIB,
        mode="provisioned",
        provisioned_mibps=64.0,
        activity=work,
        backup=True,
        access_points=3,
        clients=Flow(shapes.signal(np.full(MINUTES, 14.0))),
        tags=tags("platform"),
    )
    build.plant(
        homes,
        "Somebody provisioned throughput on a slow Monday, years ago.",
        "efs-throughput-mismatch",
        why="What it stores earns three times what it ever used, and half of its burst carries its peaks.",
    )
