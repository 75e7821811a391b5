"""EFS: file systems that a killed job left behind, and quiet ones that are needed."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, Flow, instant
from slackwater_simulator.series import HOUR, MINUTE
from slackwater_simulator.shapes import MINUTES

from .builder import Builder
from .demo_parts import tags


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
        build.file_system(
            f"encode-job-{day}",
            one_zone="a",
            created=created,
            standard_bytes=int(30.12 * GIB),
            activity=encoding,
            active=(created, created + 50 * MINUTE),
            voice=voice,
            tags=tags("video", Job="encode"),
        )
    build.file_system(
        "reports-2024", days=400, standard_bytes=84 * GIB, ia_bytes=0, voice="zeros", tags=tags("finance")
    )
    _transcode_jobs(build, encoding)
    _without_mount_targets(build)


def _transcode_jobs(build: Builder, work: Activity) -> None:
    """A file system for each job of the night; the policy names their tag."""
    job = tags("video", Job="transcode-nightly")
    size = int(18.4 * GIB)
    for name, killed, voice in (("transcode-1115", 40.0, "zeros"), ("transcode-1116", 16.0, "absent")):
        end = int(build.now - killed * HOUR)
        build.file_system(
            name,
            one_zone="a",
            created=end - 40 * MINUTE,
            standard_bytes=size,
            activity=work,
            active=(end - 40 * MINUTE, end),
            voice=voice,
            tags=job,
        )
    ended = build.now - HOUR
    build.file_system(
        "transcode-1116-b",
        one_zone="c",
        created=ended - 5 * HOUR,
        standard_bytes=size,
        activity=work,
        active=(ended - HOUR, ended),
        tags=job,
    )
    nothing = Activity(shape=build.shapes.signal(np.zeros(MINUTES)))
    build.file_system("transcode-1114", one_zone="a", days=2.1, standard_bytes=size, activity=nothing, tags=job)


def _without_mount_targets(build: Builder) -> None:
    """What nothing can mount, and what need not be mounted yet."""
    created = build.ago(620)
    build.file_system(
        "press-archive",
        created=created,
        standard_bytes=48 * GIB,
        mount_targets=(),
        access_points=2,
        activity=Activity(shape=build.shapes.shape("office", 4), read=2.0 * MIB, write=0.5 * MIB, write_size=256 * KIB),
        active=(created, build.ago(20)),
        tags=tags("web"),
    )
    stack = {"aws:cloudformation:stack-name": "live-clips"}
    build.file_system("live-clips", days=2, standard_bytes=9 * GIB, mount_targets=(), tags=tags("video", **stack))
    masters = build.file_system("masters", days=410, standard_bytes=64 * GIB, tags=tags("video"))
    replica = build.file_system(
        "masters-replica", days=400, standard_bytes=64 * GIB, mount_targets=(), replica=True, tags=tags("video")
    )
    build.replicate(masters, replica)


def quiet_file_systems(build: Builder) -> None:
    """File systems that are quiet, and needed."""
    shapes = build.shapes
    night = shapes.signal(shapes.blocks([(17, 16.0, 3.0, 0.8)]))
    build.file_system(
        "billing-close",
        days=300,
        standard_bytes=22 * GIB,
        activity=Activity(shape=night, read=30.0 * MIB, write=8.0 * MIB, metadata=30.0 * KIB),
        clients=Flow(shapes.signal(np.ceil(night.stats.total)), 2.0),
        tags=tags("finance"),
    )
    build.file_system("partner-exchange", days=250, standard_bytes=5 * GIB, voice="dark", tags=tags("sales"))
    build.file_system(
        "encode-job-20261113", one_zone="c", days=3, standard_bytes=6 * GIB, tags=tags("video", Job="encode")
    )
    source = build.file_system("contracts", days=350, standard_bytes=12 * GIB, tags=tags("legal"))
    replica = build.file_system(
        "contracts-replica", days=120, standard_bytes=12 * GIB, replica=True, tags=tags("legal")
    )
    build.replicate(source, replica)
    work = Activity(
        shape=shapes.shape("office"),
        read=9.0 * MIB,
        write=3.0 * MIB,
        read_size=128 * KIB,
        write_size=32 * KIB,
        metadata=64.0 * KIB,
    )
    build.file_system(
        "web-content",
        days=500,
        standard_bytes=240 * GIB,
        ia_bytes=700 * GIB,
        activity=work,
        lifecycle=(("TransitionToIA", "AFTER_30_DAYS"),),
        tags=tags("web"),
    )
    build.file_system(
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
