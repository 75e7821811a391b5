"""Volumes that pay for more than their instance can carry, and volumes that look like it.

Left out, because even the truth is in doubt: settings up to a fifth above what the instance carries, and several volumes whose
busiest minutes together come near it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.instance_types import EbsLimit
from slackwater_simulator.resources import KIB, MIB, Activity, Attachment, Instance, Volume
from slackwater_simulator.series import DAY

from . import carriers
from .draw import Draw
from .scenario import Rows

_T3 = ("t3.micro", "t3.small", "t3.medium", "t3.large", "t3a.xlarge", "t4g.small", "t4g.2xlarge")
_M5 = ("m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "r5.large", "c6g.large")
_M6 = ("m6i.large", "m6i.xlarge", "m7g.large", "r6i.large", "c6i.large", "m8g.large")
_XEN = ("m4.large", "m4.2xlarge", "c4.large", "c4.4xlarge", "i3.2xlarge")


def _host(d: Draw, kinds: tuple[str, ...], **more: Any) -> Instance:
    return carriers.host(d, *kinds, name=d.name, **more)


def _limit(host: Instance) -> EbsLimit:
    return host.kind.ebs or EbsLimit(0, 0, 0, 0)


def _most_mib(host: Instance) -> float:
    return _limit(host).maximum_mbps * 1e6 / 8 / MIB


def _busy(d: Draw, mib_s: float, starts: list[int] | None = None, size_kib: int = 128) -> Activity:
    """So much for minutes a day, within the half hour that an instance has its maximum."""
    values = d.runs(starts or d.daily(), d.uniform(4, 10), 1.0, 0.002) * np.minimum(d.wobble(), 1.0)
    return carriers.work(d, values, mib_s, size_kib)


def _volume(d: Draw, name: str, host: Instance, letter: str = "f", **more: Any) -> Volume:
    size_gib = int(d.spread(max(50, (more.get("iops") or 0) / 100), 4_000))
    device = f"/dev/sd{letter}"
    return d.build.volume(f"{d.name}-{name}", size_gib, on=host, device=device, tags=d.tags(), **more)


def _fast(d: Draw, name: str, host: Instance, bought: int, activity: Activity, letter: str = "f") -> None:
    _volume(d, name, host, letter, throughput=bought, iops=max(3_000, 4 * bought), activity=activity)


def _throughput(d: Draw, kinds: tuple[str, ...] = (*_T3, *_M5)) -> Instance:
    """One volume with a fifth more than the instance carries, or several times as much."""
    host = _host(d, kinds)
    most = _most_mib(host)
    bought = int(min(2_000, max(most, 125) * d.spread(1.25, 4)))
    _fast(d, "data", host, bought, _busy(d, min(most * 0.9, bought * d.spread(0.05, 0.9))))
    return host


def _cannot_carry(d: Draw) -> Instance:
    """A thousand MiB/s, of which the instance carries a third, and next to nothing is used."""
    host = _host(d, _T3)
    _fast(d, "data", host, 1_000, _busy(d, d.spread(5, 60)))
    return host


def _operations(d: Draw) -> Instance:
    """gp3 or io2; it is near its limit for minutes a day."""
    host = _host(d, (*_T3, *_M5))
    most = _limit(host).maximum_iops
    bought = int(most * d.spread(1.25, 3))
    activity = _busy(d, most * d.uniform(0.1, 0.9) * 4 * KIB / MIB, size_kib=4)
    _volume(d, "data", host, iops=bought, type=d.pick("gp3", "io2"), activity=activity)
    return host


def _together(d: Draw) -> Instance:
    """Two to four volumes, each within what the instance carries, and far more together."""
    host, count = _host(d, (*_T3, *_M5, *_M6)), d.integer(2, 5)
    most = _most_mib(host)
    bought = int(min(0.95 * most, max(150, most * d.uniform(1.4, 2.0) / count)))
    for number in range(count):
        activity = _busy(d, min(0.3 * bought, most * 0.25 / count))
        _fast(d, f"{number}", host, bought, activity, chr(ord("f") + number))
    return host


def _included(d: Draw) -> Instance:
    """On an instance that carries one or two of them."""
    host = _host(d, (*_T3, "m4.large", "c4.large"))
    for number in range(d.integer(2, 9)):
        _volume(d, f"{number}", host, chr(ord("f") + number), activity=_busy(d, d.spread(1, 20)))
    return host


def _carried(d: Draw) -> Instance:
    """Used for minutes a day."""
    host = _host(d, (*_M5, *_M6))
    bought = int(min(750, d.uniform(0.35, 0.9) * _most_mib(host)))
    _volume(d, "data", host, throughput=bought, activity=_busy(d, bought * d.uniform(0.7, 1.0)))
    for number in range(d.integer(0, 4)):
        _volume(d, f"{number}", host, chr(ord("g") + number), activity=_busy(d, 5))
    return host


def _by_turns(d: Draw) -> Instance:
    """Two volumes that are used in full, one by day and one by night."""
    host = _host(d, (*_M5, *_M6))
    bought = int(min(d.uniform(0.7, 0.95) * _most_mib(host), 750))
    if 2 * bought < 1.2 * _most_mib(host):
        bought = int(0.7 * _most_mib(host))
    morning = d.daily()
    for letter, starts in (("f", morning), ("g", [start - DAY // 2 for start in morning])):
        _fast(d, letter, host, bought, _busy(d, bought * d.uniform(0.85, 1.0), starts), letter)
    return host


def _disks(d: Draw) -> Instance:
    """Large st1 volumes burst far above what the instance carries."""
    host = _host(d, _T3)
    for letter in "fg"[: d.integer(1, 3)]:
        size_gib, activity = int(d.spread(2_000, 8_000)), _busy(d, d.spread(5, 60), size_kib=1_024)
        more: dict[str, Any] = {"device": f"/dev/sd{letter}", "type": "st1", "activity": activity}
        d.build.volume(f"{d.name}-{letter}", size_gib, on=host, **more)
    return host


def _stopped(d: Draw) -> Instance:
    stopped = d.ago(d.uniform(1, 25))
    host = _host(d, _T3, days=120, state="stopped", stopped=stopped)
    _volume(d, "data", host, throughput=1_000, iops=4_000, used=((host.launched, stopped),))
    return host


def _shared(d: Draw) -> Instance:
    """An io2 of two instances (Multi-Attach), which carry it between them."""
    host, other = (_host(each, ("m5.large",), days=100) for each in (d, d.named("other")))
    activity = _busy(d, 16_000 * d.uniform(0.6, 0.9) * 4 * KIB / MIB, size_kib=4)
    volume = _volume(d, "data", host, type="io2", iops=24_000, multi_attach=True, activity=activity)
    both = (*volume.attachments, Attachment(instance_id=other.id, since=other.launched))
    d.build.change(volume, attachments=both, used=((host.launched, d.now + DAY),))
    return host


def _unpublished(d: Draw) -> Instance:
    """A T2, of which EC2 publishes no EBS limits."""
    host = _host(d, ("t2.small", "t2.medium", "t2.large"))
    shape = d.published(np.minimum(0.8 * d.wobble(), 1.0))
    activity = Activity(shape=shape, read=230.0 * MIB, read_size=256 * KIB, write_size=256 * KIB)
    _volume(d, "data", host, throughput=250, activity=activity)
    return host


EBS_INSTANCE_BOUND_ISSUES: Rows = {
    "throughput: More MiB/s than the instance carries.": _throughput,
    "cannot-carry: Three times what it carries, unused.": _cannot_carry,
    "on-xen: The same on Xen.": lambda d: _throughput(d, _XEN),
    "operations: More IOPS than the instance carries.": _operations,
    "together: Several volumes at rest, too fast together.": _together,
}
EBS_INSTANCE_BOUND_CONTROLS: Rows = {
    "included: What every gp3 has, several times.": _included,
    "carried: Above its baseline, below its maximum.": _carried,
    "by-turns: Two volumes that take turns.": _by_turns,
    "disks: Disks, which pay for their size.": _disks,
    "stopped: Stopped for less than a month.": _stopped,
    "shared: A volume of two instances.": _shared,
}
EBS_INSTANCE_BOUND_UNKNOWN: Rows = {"unpublished: A type without published limits.": _unpublished}
