"""Volumes that pay for more than their instance can carry, and volumes that look like it.

Left out, because even the truth is in doubt: settings up to a fifth above what the instance carries, and several volumes whose
busiest minutes together come near it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import EbsLimit
from slackwater_simulator.resources import KIB, MIB, Activity, Attachment, Instance, Volume
from slackwater_simulator.series import DAY

from .rhythms import Random, cpu, daily, published, runs, spread, tags, wobble
from .scenario import Scenario, each

_T3 = ("t3.micro", "t3.small", "t3.medium", "t3.large", "t3a.xlarge", "t4g.small", "t4g.2xlarge")
_M5 = ("m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "r5.large", "c6g.large")
_M6 = ("m6i.large", "m6i.xlarge", "m7g.large", "r6i.large", "c6i.large", "m8g.large")
_XEN = ("m4.large", "m4.2xlarge", "c4.large", "c4.4xlarge", "i3.2xlarge")
_SIZE = 128 * KIB


def _pick[T](random: Random, *choices: T) -> T:
    return choices[int(random.integers(len(choices)))]


def _host(random: Random, build: Builder, name: str, kinds: tuple[str, ...], **more: Any) -> Instance:
    more.setdefault("days", random.uniform(40, 400))
    return build.instance(name, _pick(random, *kinds), cpu=cpu(random, build), tags=dict(tags(random)), **more)


def _limit(host: Instance) -> EbsLimit:
    return host.kind.ebs or EbsLimit(0, 0, 0, 0)


def _most_mib(host: Instance) -> float:
    return _limit(host).maximum_mbps * 1e6 / 8 / MIB


def _busy(
    random: Random, build: Builder, mib_s: float, starts: list[int] | None = None, size: float = _SIZE
) -> Activity:
    """So much for minutes a day, within the half hour that an instance has its maximum."""
    starts = starts or daily(random, build)
    values = runs(build, starts, random.uniform(4, 10), 1.0, 0.002) * np.minimum(wobble(random), 1.0)
    share = random.uniform(0, 1)
    return Activity(
        shape=published(random, build, values),
        read=mib_s * share * MIB,
        write=mib_s * (1 - share) * MIB,
        read_size=size,
        write_size=size,
    )


def _volume(random: Random, build: Builder, name: str, host: Instance, letter: str = "f", **more: Any) -> Volume:
    size_gib = int(spread(random, max(50, (more.get("iops") or 0) / 100), 4_000))
    return build.volume(name, size_gib, on=host, device=f"/dev/sd{letter}", tags=dict(tags(random)), **more)


def _throughput(random: Random, build: Builder, name: str, kinds: tuple[str, ...] = (*_T3, *_M5)) -> Instance:
    """One volume with a fifth more than the instance carries, or several times as much."""
    host = _host(random, build, name, kinds)
    most = _most_mib(host)
    bought = int(min(2_000, max(most, 125) * spread(random, 1.25, 4)))
    activity = _busy(random, build, min(most * 0.9, bought * spread(random, 0.05, 0.9)))
    _volume(random, build, f"{name}-data", host, throughput=bought, iops=max(3_000, 4 * bought), activity=activity)
    return host


def _on_xen(random: Random, build: Builder, name: str) -> Instance:
    return _throughput(random, build, name, _XEN)


def _cannot_carry(random: Random, build: Builder, name: str) -> Instance:
    """A thousand MiB/s, of which the instance carries a third, and next to nothing is used."""
    host = _host(random, build, name, _T3)
    activity = _busy(random, build, spread(random, 5, 60))
    _volume(random, build, f"{name}-data", host, throughput=1_000, iops=4_000, activity=activity)
    return host


def _operations(random: Random, build: Builder, name: str) -> Instance:
    """More IOPS than the instance carries, gp3 or io2; it is near its limit for minutes a day."""
    host = _host(random, build, name, (*_T3, *_M5))
    most = _limit(host).maximum_iops
    bought = int(most * spread(random, 1.25, 3))
    size = 4 * KIB
    activity = _busy(random, build, most * random.uniform(0.1, 0.9) * size / MIB, size=size)
    _volume(random, build, f"{name}-data", host, iops=bought, type=_pick(random, "gp3", "io2"), activity=activity)
    return host


def _together(random: Random, build: Builder, name: str) -> Instance:
    """Two to four volumes, each within what the instance carries, and far more together; all of them rest."""
    host, count = _host(random, build, name, (*_T3, *_M5, *_M6)), int(random.integers(2, 5))
    most = _most_mib(host)
    bought = int(min(0.95 * most, max(150, most * random.uniform(1.4, 2.0) / count)))
    for number in range(count):
        activity = _busy(random, build, min(0.3 * bought, most * 0.25 / count))
        iops = max(3_000, 4 * bought)
        _volume(
            random,
            build,
            f"{name}-{number}",
            host,
            chr(ord("f") + number),
            throughput=bought,
            iops=iops,
            activity=activity,
        )
    return host


def _included(random: Random, build: Builder, name: str) -> Instance:
    """Several volumes with what every gp3 has, on an instance that carries one or two of them."""
    host = _host(random, build, name, (*_T3, "m4.large", "c4.large"))
    for number in range(int(random.integers(2, 9))):
        _volume(
            random,
            build,
            f"{name}-{number}",
            host,
            chr(ord("f") + number),
            activity=_busy(random, build, spread(random, 1, 20)),
        )
    return host


def _carried(random: Random, build: Builder, name: str) -> Instance:
    """Above what the instance carries for good, below what it carries for half an hour; used for minutes a day."""
    host = _host(random, build, name, (*_M5, *_M6))
    bought = int(min(750, random.uniform(0.35, 0.9) * _most_mib(host)))
    activity = _busy(random, build, bought * random.uniform(0.7, 1.0))
    _volume(random, build, f"{name}-data", host, throughput=bought, activity=activity)
    for number in range(int(random.integers(0, 4))):
        _volume(random, build, f"{name}-{number}", host, chr(ord("g") + number), activity=_busy(random, build, 5))
    return host


def _by_turns(random: Random, build: Builder, name: str) -> Instance:
    """Two volumes that are used in full, one by day and one by night."""
    host = _host(random, build, name, (*_M5, *_M6))
    bought = int(min(random.uniform(0.7, 0.95) * _most_mib(host), 750))
    if 2 * bought < 1.2 * _most_mib(host):
        bought = int(0.7 * _most_mib(host))
    morning = daily(random, build)
    for letter, starts in (("f", morning), ("g", [start - DAY // 2 for start in morning])):
        activity = _busy(random, build, bought * random.uniform(0.85, 1.0), starts)
        _volume(
            random,
            build,
            f"{name}-{letter}",
            host,
            letter,
            throughput=bought,
            iops=max(3_000, 4 * bought),
            activity=activity,
        )
    return host


def _disks(random: Random, build: Builder, name: str) -> Instance:
    """Large st1 volumes burst far above what the instance carries, and pay for their size alone."""
    host = _host(random, build, name, _T3)
    for letter in "fg"[: int(random.integers(1, 3))]:
        size_gib = int(spread(random, 2_000, 8_000))
        activity = _busy(random, build, spread(random, 5, 60), size=MIB)
        build.volume(f"{name}-{letter}", size_gib, on=host, device=f"/dev/sd{letter}", type="st1", activity=activity)
    return host


def _stopped(random: Random, build: Builder, name: str) -> Instance:
    stopped = build.ago(random.uniform(1, 25))
    host = _host(random, build, name, _T3, days=120, state="stopped", stopped=stopped)
    _volume(random, build, f"{name}-data", host, throughput=1_000, iops=4_000, used=((host.launched, stopped),))
    return host


def _shared(random: Random, build: Builder, name: str) -> Instance:
    """An io2 of two instances (Multi-Attach), which carry it between them."""
    host, other = (_host(random, build, f"{name}{suffix}", ("m5.large",), days=100) for suffix in ("", "-other"))
    operations = 16_000 * random.uniform(0.6, 0.9)
    activity = _busy(random, build, operations * 4 * KIB / MIB, size=4 * KIB)
    volume = _volume(random, build, f"{name}-data", host, type="io2", iops=24_000, multi_attach=True, activity=activity)
    build.volumes.remove(volume)
    both = (*volume.attachments, Attachment(instance_id=other.id, since=other.launched))
    build.volumes.append(replace(volume, attachments=both, used=((host.launched, build.now + DAY),)))
    return host


def _unpublished(random: Random, build: Builder, name: str) -> Instance:
    """A T2, of which EC2 publishes no EBS limits."""
    host = _host(random, build, name, ("t2.small", "t2.medium", "t2.large"))
    shape = published(random, build, np.minimum(0.8 * wobble(random), 1.0))
    activity = Activity(shape=shape, read=230.0 * MIB, read_size=256 * KIB, write_size=256 * KIB)
    _volume(random, build, f"{name}-data", host, throughput=250, activity=activity)
    return host


SCENARIOS = (
    Scenario(name="throughput", story="More MiB/s than the instance carries.", plant=each(_throughput), trouble=True),
    Scenario(
        name="cannot-carry", story="Three times what it carries, unused.", plant=each(_cannot_carry), trouble=True
    ),
    Scenario(name="on-xen", story="The same on Xen.", plant=each(_on_xen), trouble=True),
    Scenario(name="operations", story="More IOPS than the instance carries.", plant=each(_operations), trouble=True),
    Scenario(name="together", story="Several volumes at rest, too fast together.", plant=each(_together), trouble=True),
    Scenario(name="included", story="What every gp3 has, several times.", plant=each(_included)),
    Scenario(name="carried", story="Above its baseline, below its maximum.", plant=each(_carried)),
    Scenario(name="by-turns", story="Two volumes that take turns.", plant=each(_by_turns)),
    Scenario(name="disks", story="Disks, which pay for their size.", plant=each(_disks)),
    Scenario(name="stopped", story="Stopped for less than a month.", plant=each(_stopped)),
    Scenario(name="shared", story="A volume of two instances.", plant=each(_shared)),
    Scenario(name="unpublished", story="A type without published limits.", plant=each(_unpublished), full=False),
)
