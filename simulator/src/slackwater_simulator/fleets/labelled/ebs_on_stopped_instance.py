"""Volumes of instances that nobody started again, and of those that somebody will.

Left out, because even the truth is in doubt: instances stopped 26 to 32 days ago, and machines that are started once a year.
Of one stopped instance one volume is labelled; where that is not the root volume, the root volume is tagged `keep`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import MIB, Activity, Attachment, Instance, Tags, Volume
from slackwater_simulator.series import DAY, FOREVER

from .rhythms import Random, chance, cpu, published, spread, tags, wobble, working_days
from .scenario import Scenario, each

_KINDS = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "c6i.2xlarge")
_TYPES = ("gp3", "gp3", "gp2", "st1", "io1")


def _host(random: Random, build: Builder, name: str, *, keep_root: bool = True, **more: object) -> Instance:
    """An instance; its root volume is of no concern."""
    more.setdefault("tags", dict(tags(random)))
    kind = _KINDS[int(random.integers(len(_KINDS)))]
    host = build.instance(name, kind, cpu=cpu(random, build), **more)  # type: ignore[arg-type]
    if keep_root:
        root = build.volumes.pop()
        build.volumes.append(replace(root, tags={**root.tags, "keep": "true"}))
    return host


def _stopped(
    random: Random, build: Builder, name: str, days: float, *, keep_root: bool = True, **more: object
) -> Instance:
    launched = build.ago(days + random.uniform(5, 300))
    stopped = build.ago(days)
    return _host(random, build, name, keep_root=keep_root, launched=launched, state="stopped", stopped=stopped, **more)


def _volume(random: Random, build: Builder, name: str, on: Instance, kind: str = "gp3", **more: object) -> Volume:
    """A data volume that was at work while its instance was."""
    more.setdefault("tags", dict(tags(random)))
    size = int(spread(random, 125 if kind == "st1" else 20, 2_000))
    values = working_days(random, build) if chance(random, 0.5) else wobble(random) / 2
    work = Activity(
        shape=published(random, build, values), read=spread(random, 0.5, 10) * MIB, write=spread(random, 0.5, 10) * MIB
    )
    more.setdefault("used", on.intervals)
    more.setdefault("iops", min(3_000, size * 10) if kind == "io1" else None)
    return build.volume(name, size, on=on, type=kind, activity=work, **more)  # type: ignore[arg-type]


def _long(random: Random) -> float:
    return spread(random, 33, 900)


def _data(random: Random, build: Builder, name: str) -> Volume:
    kind = _TYPES[int(random.integers(len(_TYPES)))]
    return _volume(random, build, name, _stopped(random, build, f"{name}-host", _long(random)), kind)


def _root(random: Random, build: Builder, name: str) -> Volume:
    _stopped(random, build, name, _long(random), keep_root=False)
    return build.volumes[-1]


def _bought(random: Random, build: Builder, name: str) -> Volume:
    """With throughput and IOPS paid for."""
    host = _stopped(random, build, f"{name}-host", _long(random))
    return _volume(random, build, name, host, throughput=int(random.integers(200, 1_000)), iops=8_000)


def _both(build: Builder, volume: Volume, one: Instance, other: Instance) -> Volume:
    """The same, shared by two instances."""
    build.volumes.remove(volume)
    since = max(one.launched, other.launched)
    both = tuple(Attachment(instance_id=host.id, since=since) for host in (one, other))
    until = max(end for host in (one, other) for _, end in host.intervals)
    build.volumes.append(shared := replace(volume, created=since, attachments=both, used=((since, until),)))
    return shared


def _shared(random: Random, build: Builder, name: str) -> Volume:
    days = _long(random)
    one, other = (_stopped(random, build, f"{name}-host-{letter}", days + random.uniform(0, 3)) for letter in "ab")
    volume = _volume(random, build, name, one, "io2", iops=1_000, multi_attach=True)
    return _both(build, volume, one, other)


def _half_shared(random: Random, build: Builder, name: str) -> Volume:
    """Of two instances that share it one runs. It is used as its IOPS are meant to be."""
    one = _stopped(random, build, f"{name}-host-a", _long(random))
    other = _host(random, build, f"{name}-host-b", days=random.uniform(60, 300))
    volume = _volume(random, build, name, other, "io2", iops=1_000, multi_attach=True)
    shape = published(random, build, np.clip(0.7 * wobble(random), 0, 0.95))
    build.volumes.remove(volume)
    work = Activity(shape=shape, read=8 * MIB, write=8 * MIB, read_size=16_384, write_size=16_384)
    build.volumes.append(volume := replace(volume, activity=work))
    return _both(build, volume, one, other)


def _of_late(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _stopped(random, build, f"{name}-host", random.uniform(0.02, 25)))


def _running(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, _host(random, build, f"{name}-host", days=random.uniform(60, 400)))


def _started_again(random: Random, build: Builder, name: str) -> Volume:
    """Stopped for months, and running again."""
    host = _host(random, build, f"{name}-host", days=random.uniform(150, 400))
    started = build.ago(random.uniform(0.5, 20))
    spans = ((host.launched, int(started - random.uniform(35, 100) * DAY)), (started, FOREVER))
    build.instances.remove(host)
    build.instances.append(replace(host, launched=started, running=spans))
    root = build.volumes.pop()
    build.volumes.append(replace(root, used=spans))
    return _volume(random, build, name, host, used=spans)


def _lately_attached(random: Random, build: Builder, name: str) -> Volume:
    """Somebody has put it on an instance that has long been stopped."""
    host = _stopped(random, build, f"{name}-host", _long(random))
    return _volume(random, build, name, host, created=build.ago(random.uniform(0.1, 20)), used=((0, 1),))


def _warm_pool(random: Random, build: Builder, name: str) -> Volume:
    pool: Tags = {"aws:autoscaling:groupName": "render", "Owner": "video"}
    return _volume(random, build, name, _stopped(random, build, f"{name}-host", _long(random), tags=pool))


def _kept(random: Random, build: Builder, name: str) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(random, build, name, _stopped(random, build, f"{name}-host", _long(random)), tags=kept)


def _nobody_says(random: Random, build: Builder, name: str) -> Volume:
    """EC2 gives no time of the stop."""
    host = _stopped(random, build, f"{name}-host", _long(random))
    build.instances.remove(host)
    build.instances.append(silent := replace(host, stopped=None, running=host.intervals))
    return _volume(random, build, name, silent)


SCENARIOS = (
    Scenario(name="data", story="Its instance was stopped a month ago or longer.", plant=each(_data), trouble=True),
    Scenario(name="root", story="The root volume of such an instance.", plant=each(_root), trouble=True),
    Scenario(name="bought", story="With throughput and IOPS paid for.", plant=each(_bought), trouble=True),
    Scenario(name="shared", story="Two instances share it, both stopped.", plant=each(_shared), trouble=True),
    Scenario(name="half-shared", story="Of two that share it, one runs.", plant=each(_half_shared)),
    Scenario(name="of-late", story="Its instance was stopped within 25 days.", plant=each(_of_late)),
    Scenario(name="running", story="Its instance runs.", plant=each(_running)),
    Scenario(name="started-again", story="Its instance was stopped for months, and runs.", plant=each(_started_again)),
    Scenario(name="lately-attached", story="Attached of late to a stopped instance.", plant=each(_lately_attached)),
    Scenario(name="warm-pool", story="In an Auto Scaling group's warm pool.", plant=each(_warm_pool)),
    Scenario(name="kept", story="Tagged keep.", plant=each(_kept)),
    Scenario(name="nobody-says", story="EC2 does not say since when.", plant=each(_nobody_says), full=False),
)
