"""File systems that nothing can mount, and others that have no mount target, or no client.

Left out, because even the truth is in doubt: file systems of 5 to 9 days, and old ones whose last mount target went within
days, as when one moves to another VPC: EFS does not say since when there is none.
"""

from __future__ import annotations

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, Replication
from slackwater_simulator.series import DAY, HOUR, MINUTE
from slackwater_simulator.shapes import MINUTES

from .rhythms import Random, chance, daily, published, runs, spread, tags, wobble, working_days
from .scenario import Scenario, each


def _made(random: Random, build: Builder, name: str, **more: object) -> ElasticFileSystem:
    """A file system of any size, class and mode; what is large has a lifecycle policy."""
    large = chance(random, 0.4)
    settings: dict[str, object] = {
        "one_zone": "acd"[int(random.integers(3))] if chance(random, 0.4) else None,
        "standard_bytes": int(spread(random, 0.5, 90) * GIB),
        "ia_bytes": int(spread(random, 90, 4_000) * GIB) if large else 0,
        "lifecycle": (("TransitionToIA", "AFTER_30_DAYS"),) if large else (),
        "mode": "elastic" if chance(random, 0.4) else "bursting",
        "days": spread(random, 9, 700),
        "access_points": int(random.integers(4)),
        "tags": dict(tags(random)),
    }
    return build.file_system(name, **{**settings, **more})  # type: ignore[arg-type]


def _loose(random: Random, build: Builder, name: str, **more: object) -> ElasticFileSystem:
    return _made(random, build, name, mount_targets=(), **more)


def _work(random: Random, build: Builder, *, clients: int) -> dict[str, object]:
    """A working day's reads and writes, and the clients that are there meanwhile."""
    values = working_days(random, build)
    return {
        "activity": Activity(
            shape=published(random, build, values),
            read=spread(random, 0.05, 3) * MIB,
            write=spread(random, 0.02, 1) * MIB,
            read_size=spread(random, 100, 1_024) * KIB,
            write_size=spread(random, 100, 512) * KIB,
            metadata=spread(random, 1, 20) * KIB,
        ),
        "clients": Flow(published(random, build, np.ones(MINUTES)), clients),
    }


def _torn_down(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its servers, its subnets and with them its mount targets were taken down."""
    created, left = build.ago(random.uniform(300, 900)), build.ago(random.uniform(9, 250))
    return _loose(random, build, name, created=created, active=(created, left), **_work(random, build, clients=4))


def _half_deleted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job deleted its mount target, and was killed before it deleted the file system."""
    created = build.ago(random.uniform(9, 300))
    return _loose(
        random,
        build,
        name,
        created=created,
        one_zone="a",
        mode="bursting",
        active=(created, created + int(random.uniform(10, 240)) * MINUTE),
        voice="absent" if chance(random, 0.4) else "zeros",
        activity=Activity(
            shape=published(random, build, wobble(random) / 2), read=60 * MIB, write=20 * MIB, write_size=MIB
        ),
    )


def _never(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Made by hand or by a script that broke off; there is no file in it."""
    return _loose(random, build, name, standard_bytes=6 * KIB, ia_bytes=0, lifecycle=())


def _promoted(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A replica whose replication was deleted, and that nobody ever mounted."""
    return _loose(random, build, name, days=random.uniform(40, 600))


def _paid_for(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    bought = float(random.integers(16, 300))
    return _loose(random, build, name, mode="provisioned", provisioned_mibps=bought)


def _backed_up(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """AWS Backup needs no mount target."""
    shape = published(random, build, runs(build, daily(random, build), random.uniform(10, 90)))
    walk = spread(random, 4, 400) * KIB
    nobody = Flow(build.shapes.signal(np.zeros(MINUTES)))
    return _loose(
        random, build, name, activity=Activity(shape=shape, read=walk / 4, metadata=walk), clients=nobody, backup=True
    )


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """What has no mount target needs no metric to show it."""
    return _loose(random, build, name, voice="dark")


def _in_use(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    work = _work(random, build, clients=int(random.integers(2, 9)))
    return _made(random, build, name, days=random.uniform(40, 700), mode="bursting", **work)


def _idle(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Its clients left; they could come back."""
    return _made(random, build, name, days=random.uniform(60, 700))


def _new(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Made by a stack or a script whose next step is its mount targets."""
    return _loose(random, build, name, created=int(build.now - spread(random, 0.05, 5 * 24) * HOUR))


def _replicated(random: Random, build: Builder, name: str) -> tuple[ElasticFileSystem, ElasticFileSystem]:
    """A source and its replica; neither has a mount target."""
    source = _loose(random, build, f"{name}-source", days=random.uniform(40, 600))
    replica = _loose(
        random,
        build,
        f"{name}-replica",
        standard_bytes=source.standard_bytes,
        created=int(source.created + random.uniform(1, 20) * DAY),
        replica=True,
    )
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region=build.region,
            destination_id=replica.id,
            destination_region=build.region,
            created=replica.created,
        )
    )
    return source, replica


def _source(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _replicated(random, build, name)[0]


def _replica(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _replicated(random, build, name)[1]


def _kept(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _loose(random, build, name, tags={"keep": "true"})


SCENARIOS = (
    Scenario(
        name="torn-down", story="Its mount targets went with their subnets.", plant=each(_torn_down), trouble=True
    ),
    Scenario(name="half-deleted", story="A job's deletion ended half way.", plant=each(_half_deleted), trouble=True),
    Scenario(name="never-mounted", story="Made, and never given a mount target.", plant=each(_never), trouble=True),
    Scenario(name="promoted", story="A replica whose replication was deleted.", plant=each(_promoted), trouble=True),
    Scenario(name="paid-for", story="Throughput is provisioned for it.", plant=each(_paid_for), trouble=True),
    Scenario(name="backed-up", story="AWS Backup walks it every night.", plant=each(_backed_up), trouble=True),
    Scenario(name="dark", story="No metric at all, and no mount target.", plant=each(_dark), trouble=True),
    Scenario(name="in-use", story="Mounted and in use.", plant=each(_in_use)),
    Scenario(name="idle", story="Nobody uses it, but it can be mounted.", plant=each(_idle), also=("efs-idle",)),
    Scenario(name="new", story="Made within five days; its mount targets are to come.", plant=each(_new)),
    Scenario(name="replication-source", story="The source of a replication.", plant=each(_source)),
    Scenario(name="replica", story="A replica, which has none until it is needed.", plant=each(_replica)),
    Scenario(name="kept", story="Its owner keeps it: tagged keep.", plant=each(_kept)),
)
