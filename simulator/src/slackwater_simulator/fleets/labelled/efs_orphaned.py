"""File systems that nothing can mount, and others that have no mount target, or no client.

Left out, because even the truth is in doubt: file systems of 5 to 9 days, and old ones whose last mount target went within
days, as when one moves to another VPC: EFS does not say since when there is none.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow
from slackwater_simulator.series import DAY, HOUR, MINUTE
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import control, issue


def _made(d: Draw, **more: object) -> ElasticFileSystem:
    """A file system of any size, class and mode; what is large has a lifecycle policy."""
    large = d.chance(0.4)
    settings: dict[str, object] = {
        "one_zone": d.pick(*"acd") if d.chance(0.4) else None,
        "standard_bytes": int(d.spread(0.5, 90) * GIB),
        "ia_bytes": int(d.spread(90, 4_000) * GIB) if large else 0,
        "lifecycle": (("TransitionToIA", "AFTER_30_DAYS"),) if large else (),
        "mode": "elastic" if d.chance(0.4) else "bursting",
        "days": d.spread(9, 700),
        "access_points": d.integer(4),
        "tags": d.tags(),
    }
    return d.build.file_system(d.name, **{**settings, **more})  # type: ignore[arg-type]


def _loose(d: Draw, **more: object) -> ElasticFileSystem:
    return _made(d, mount_targets=(), **more)


def _work(d: Draw, *, clients: int) -> dict[str, object]:
    """A working day's reads and writes, and the clients that are there meanwhile."""
    values = d.working_days()
    return {
        "activity": Activity(
            shape=d.published(values),
            read=d.spread(0.05, 3) * MIB,
            write=d.spread(0.02, 1) * MIB,
            read_size=d.spread(100, 1_024) * KIB,
            write_size=d.spread(100, 512) * KIB,
            metadata=d.spread(1, 20) * KIB,
        ),
        "clients": Flow(d.published(np.ones(MINUTES)), clients),
    }


def _torn_down(d: Draw) -> ElasticFileSystem:
    """Its servers, its subnets and with them its mount targets were taken down."""
    created, left = d.ago(d.uniform(300, 900)), d.ago(d.uniform(9, 250))
    return _loose(d, created=created, active=(created, left), **_work(d, clients=4))


def _half_deleted(d: Draw) -> ElasticFileSystem:
    """A job deleted its mount target, and was killed before it deleted the file system."""
    created = d.ago(d.uniform(9, 300))
    return _loose(
        d,
        created=created,
        one_zone="a",
        mode="bursting",
        active=(created, created + int(d.uniform(10, 240)) * MINUTE),
        voice="absent" if d.chance(0.4) else "zeros",
        activity=Activity(shape=d.published(d.wobble() / 2), read=60 * MIB, write=20 * MIB, write_size=MIB),
    )


def _paid_for(d: Draw) -> ElasticFileSystem:
    bought = float(d.integer(16, 300))
    return _loose(d, mode="provisioned", provisioned_mibps=bought)


def _backed_up(d: Draw) -> ElasticFileSystem:
    """AWS Backup needs no mount target."""
    shape = d.published(d.runs(d.daily(), d.uniform(10, 90)))
    walk = d.spread(4, 400) * KIB
    nobody = Flow(d.signal(np.zeros(MINUTES)))
    return _loose(d, activity=Activity(shape=shape, read=walk / 4, metadata=walk), clients=nobody, backup=True)


def _in_use(d: Draw) -> ElasticFileSystem:
    work = _work(d, clients=d.integer(2, 9))
    return _made(d, days=d.uniform(40, 700), mode="bursting", **work)


def _replicated(d: Draw) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    """A source and its replica; neither has a mount target."""
    source = _loose(d.named("source"), days=d.uniform(40, 600))
    replica = _loose(
        d.named("replica"),
        standard_bytes=source.standard_bytes,
        created=int(source.created + d.uniform(1, 20) * DAY),
        replica=True,
    )
    d.build.replicate(source, replica)
    return source, replica


SCENARIOS = (
    issue("torn-down", "Its mount targets went with their subnets.", _torn_down),
    issue("half-deleted", "A job's deletion ended half way.", _half_deleted),
    # Made by hand or by a script that broke off; there is no file in it.
    issue(
        "never-mounted",
        "Made, and never given a mount target.",
        lambda d: _loose(d, standard_bytes=6 * KIB, ia_bytes=0, lifecycle=()),
    ),
    # A replica whose replication was deleted, and that nobody ever mounted.
    issue("promoted", "A replica whose replication was deleted.", lambda d: _loose(d, days=d.uniform(40, 600))),
    issue("paid-for", "Throughput is provisioned for it.", _paid_for),
    issue("backed-up", "AWS Backup walks it every night.", _backed_up),
    # What has no mount target needs no metric to show it.
    issue("dark", "No metric at all, and no mount target.", lambda d: _loose(d, voice="dark")),
    control("in-use", "Mounted and in use.", _in_use),
    # Its clients left; they could come back.
    control("idle", "Nobody uses it, but it can be mounted.", lambda d: _made(d, days=d.uniform(60, 700)), "efs-idle"),
    # Made by a stack or a script whose next step is its mount targets.
    control(
        "new",
        "Made within five days; its mount targets are to come.",
        lambda d: _loose(d, created=int(d.now - d.spread(0.05, 5 * 24) * HOUR)),
    ),
    control("replication-source", "The source of a replication.", lambda d: _replicated(d)[0]),
    control("replica", "A replica, which has none until it is needed.", lambda d: _replicated(d)[1]),
    control("kept", "Its owner keeps it: tagged keep.", lambda d: _loose(d, tags={"keep": "true"})),
)
