"""EFS: file systems that a killed job left behind, and quiet ones that are needed."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import (
    GIB,
    KIB,
    MIB,
    Activity,
    Flow,
    Replication,
    instant,
)
from slackwater_simulator.series import MINUTE
from slackwater_simulator.shapes import MINUTES

from .builder import Builder
from .demo_parts import REGION, tags

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
        created = min(created, build.ago(35))
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
    build.plant(reports, "A Regional file system whose users moved to object storage.", "efs-idle", why="Zeros for months.")


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
    replica = build.file_system("contracts-replica", days=120, standard_bytes=12 * GIB, replica=True, tags=tags("legal"))
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region=REGION,
            destination_id=replica.id,
            destination_region=REGION,
            created=replica.created,
        )
    )
    build.plant(source, "Quiet, but the source of a replication.", twin_of=twin, why="A member of a replication.")
    build.plant(
        replica, "A replica, written by replication alone.", twin_of=twin, why="ReplicationOverwriteProtection is REPLICATING."
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
        mode="elastic",
        activity=work,
        lifecycle=(("TransitionToIA", "AFTER_30_DAYS"),),
        tags=tags("web"),
    )
    build.plant(busy, "Web content, read all day.", twin_of=twin, why="Busy every day.")
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
