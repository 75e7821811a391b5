"""Volumes that pay for more than their instance can carry, and volumes that look like it.

Left out, because even the truth is in doubt: settings up to a fifth above what the instance carries, and several volumes whose
busiest minutes together come near it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import EbsLimit
from slackwater_simulator.resources import KIB, MIB, Activity, Attachment, Instance, Volume
from slackwater_simulator.series import DAY

from .draw import Draw
from .scenario import control, issue

_T3 = ("t3.micro", "t3.small", "t3.medium", "t3.large", "t3a.xlarge", "t4g.small", "t4g.2xlarge")
_M5 = ("m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "r5.large", "c6g.large")
_M6 = ("m6i.large", "m6i.xlarge", "m7g.large", "r6i.large", "c6i.large", "m8g.large")
_XEN = ("m4.large", "m4.2xlarge", "c4.large", "c4.4xlarge", "i3.2xlarge")
_SIZE = 128 * KIB


def _pick[T](d: Draw, *choices: T) -> T:
    return d.pick(*choices)


def _host(d: Draw, kinds: tuple[str, ...], **more: Any) -> Instance:
    more.setdefault("days", d.uniform(40, 400))
    return d.build.instance(d.name, _pick(d, *kinds), cpu=d.cpu(), tags=d.tags(), **more)


def _limit(host: Instance) -> EbsLimit:
    return host.kind.ebs or EbsLimit(0, 0, 0, 0)


def _most_mib(host: Instance) -> float:
    return _limit(host).maximum_mbps * 1e6 / 8 / MIB


def _busy(d: Draw, mib_s: float, starts: list[int] | None = None, size: float = _SIZE) -> Activity:
    """So much for minutes a day, within the half hour that an instance has its maximum."""
    starts = starts or d.daily()
    values = d.runs(starts, d.uniform(4, 10), 1.0, 0.002) * np.minimum(d.wobble(), 1.0)
    share = d.uniform(0, 1)
    return Activity(
        shape=d.published(values),
        read=mib_s * share * MIB,
        write=mib_s * (1 - share) * MIB,
        read_size=size,
        write_size=size,
    )


def _volume(d: Draw, host: Instance, letter: str = "f", **more: Any) -> Volume:
    size_gib = int(d.spread(max(50, (more.get("iops") or 0) / 100), 4_000))
    return d.build.volume(d.name, size_gib, on=host, device=f"/dev/sd{letter}", tags=d.tags(), **more)


def _throughput(d: Draw, kinds: tuple[str, ...] = (*_T3, *_M5)) -> Instance:
    """One volume with a fifth more than the instance carries, or several times as much."""
    host = _host(d, kinds)
    most = _most_mib(host)
    bought = int(min(2_000, max(most, 125) * d.spread(1.25, 4)))
    activity = _busy(d, min(most * 0.9, bought * d.spread(0.05, 0.9)))
    _volume(d.named("data"), host, throughput=bought, iops=max(3_000, 4 * bought), activity=activity)
    return host


def _cannot_carry(d: Draw) -> Instance:
    """A thousand MiB/s, of which the instance carries a third, and next to nothing is used."""
    host = _host(d, _T3)
    activity = _busy(d, d.spread(5, 60))
    _volume(d.named("data"), host, throughput=1_000, iops=4_000, activity=activity)
    return host


def _operations(d: Draw) -> Instance:
    """More IOPS than the instance carries, gp3 or io2; it is near its limit for minutes a day."""
    host = _host(d, (*_T3, *_M5))
    most = _limit(host).maximum_iops
    bought = int(most * d.spread(1.25, 3))
    size = 4 * KIB
    activity = _busy(d, most * d.uniform(0.1, 0.9) * size / MIB, size=size)
    _volume(d.named("data"), host, iops=bought, type=_pick(d, "gp3", "io2"), activity=activity)
    return host


def _together(d: Draw) -> Instance:
    """Two to four volumes, each within what the instance carries, and far more together; all of them rest."""
    host, count = _host(d, (*_T3, *_M5, *_M6)), d.integer(2, 5)
    most = _most_mib(host)
    bought = int(min(0.95 * most, max(150, most * d.uniform(1.4, 2.0) / count)))
    for number in range(count):
        activity = _busy(d, min(0.3 * bought, most * 0.25 / count))
        iops = max(3_000, 4 * bought)
        _volume(d.named(f"{number}"), host, chr(ord("f") + number), throughput=bought, iops=iops, activity=activity)
    return host


def _included(d: Draw) -> Instance:
    """Several volumes with what every gp3 has, on an instance that carries one or two of them."""
    host = _host(d, (*_T3, "m4.large", "c4.large"))
    for number in range(d.integer(2, 9)):
        _volume(d.named(f"{number}"), host, chr(ord("f") + number), activity=_busy(d, d.spread(1, 20)))
    return host


def _carried(d: Draw) -> Instance:
    """Above what the instance carries for good, below what it carries for half an hour; used for minutes a day."""
    host = _host(d, (*_M5, *_M6))
    bought = int(min(750, d.uniform(0.35, 0.9) * _most_mib(host)))
    activity = _busy(d, bought * d.uniform(0.7, 1.0))
    _volume(d.named("data"), host, throughput=bought, activity=activity)
    for number in range(d.integer(0, 4)):
        _volume(d.named(f"{number}"), host, chr(ord("g") + number), activity=_busy(d, 5))
    return host


def _by_turns(d: Draw) -> Instance:
    """Two volumes that are used in full, one by day and one by night."""
    host = _host(d, (*_M5, *_M6))
    bought = int(min(d.uniform(0.7, 0.95) * _most_mib(host), 750))
    if 2 * bought < 1.2 * _most_mib(host):
        bought = int(0.7 * _most_mib(host))
    morning = d.daily()
    for letter, starts in (("f", morning), ("g", [start - DAY // 2 for start in morning])):
        activity = _busy(d, bought * d.uniform(0.85, 1.0), starts)
        _volume(d.named(f"{letter}"), host, letter, throughput=bought, iops=max(3_000, 4 * bought), activity=activity)
    return host


def _disks(d: Draw) -> Instance:
    """Large st1 volumes burst far above what the instance carries, and pay for their size alone."""
    host = _host(d, _T3)
    for letter in "fg"[: d.integer(1, 3)]:
        size_gib = int(d.spread(2_000, 8_000))
        activity = _busy(d, d.spread(5, 60), size=MIB)
        d.build.volume(
            f"{d.name}-{letter}", size_gib, on=host, device=f"/dev/sd{letter}", type="st1", activity=activity
        )
    return host


def _stopped(d: Draw) -> Instance:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d, _T3, days=120, state="stopped", stopped=stopped)
    _volume(d.named("data"), host, throughput=1_000, iops=4_000, used=((host.launched, stopped),))
    return host


def _shared(d: Draw) -> Instance:
    """An io2 of two instances (Multi-Attach), which carry it between them."""
    host, other = (_host(each, ("m5.large",), days=100) for each in (d, d.named("other")))
    operations = 16_000 * d.uniform(0.6, 0.9)
    activity = _busy(d, operations * 4 * KIB / MIB, size=4 * KIB)
    volume = _volume(d.named("data"), host, type="io2", iops=24_000, multi_attach=True, activity=activity)
    d.build.volumes.remove(volume)
    both = (*volume.attachments, Attachment(instance_id=other.id, since=other.launched))
    d.build.volumes.append(replace(volume, attachments=both, used=((host.launched, d.now + DAY),)))
    return host


def _unpublished(d: Draw) -> Instance:
    """A T2, of which EC2 publishes no EBS limits."""
    host = _host(d, ("t2.small", "t2.medium", "t2.large"))
    shape = d.published(np.minimum(0.8 * d.wobble(), 1.0))
    activity = Activity(shape=shape, read=230.0 * MIB, read_size=256 * KIB, write_size=256 * KIB)
    _volume(d.named("data"), host, throughput=250, activity=activity)
    return host


SCENARIOS = (
    issue("throughput", "More MiB/s than the instance carries.", _throughput),
    issue("cannot-carry", "Three times what it carries, unused.", _cannot_carry),
    issue("on-xen", "The same on Xen.", lambda d: _throughput(d, _XEN)),
    issue("operations", "More IOPS than the instance carries.", _operations),
    issue("together", "Several volumes at rest, too fast together.", _together),
    control("included", "What every gp3 has, several times.", _included),
    control("carried", "Above its baseline, below its maximum.", _carried),
    control("by-turns", "Two volumes that take turns.", _by_turns),
    control("disks", "Disks, which pay for their size.", _disks),
    control("stopped", "Stopped for less than a month.", _stopped),
    control("shared", "A volume of two instances.", _shared),
    control("unpublished", "A type without published limits.", _unpublished, full=False),
)
