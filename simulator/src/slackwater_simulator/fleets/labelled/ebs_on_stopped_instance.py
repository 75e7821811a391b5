"""Volumes of instances that nobody started again, and of those that somebody will.

Left out, because even the truth is in doubt: instances stopped 26 to 32 days ago, and machines that are started once a year.
Of one stopped instance one volume is labelled; where that is not the root volume, the root volume is tagged `keep`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.resources import MIB, Activity, Attachment, Instance, Volume
from slackwater_simulator.series import DAY, FOREVER

from .draw import Draw
from .scenario import Rows

_KINDS = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "c6i.2xlarge")
_TYPES = ("gp3", "gp3", "gp2", "st1", "io1")


def _host(d: Draw, *, keep_root: bool = True, **more: Any) -> Instance:
    """An instance; its root volume is of no concern."""
    more.setdefault("tags", d.tags())
    host = d.build.instance(d.name, d.pick(*_KINDS), cpu=d.cpu(), **more)
    if keep_root:
        root = d.build.volumes[-1]
        d.build.change(root, tags={**root.tags, "keep": "true"})
    return host


def _stopped(d: Draw, days: float, **more: Any) -> Instance:
    launched = d.ago(days + d.uniform(5, 300))
    return _host(d, launched=launched, state="stopped", stopped=d.ago(days), **more)


def _long(d: Draw, host: str = "host", **more: Any) -> Instance:
    return _stopped(d.named(host), d.spread(33, 900), **more)


def _volume(d: Draw, on: Instance, kind: str = "gp3", **more: Any) -> Volume:
    """A data volume that was at work while its instance was."""
    more.setdefault("tags", d.tags())
    size = int(d.spread(125 if kind == "st1" else 20, 2_000))
    values = d.working_days() if d.chance(0.5) else d.wobble() / 2
    work = Activity(shape=d.published(values), read=d.spread(0.5, 10) * MIB, write=d.spread(0.5, 10) * MIB)
    more.setdefault("used", on.intervals)
    more.setdefault("iops", min(3_000, size * 10) if kind == "io1" else None)
    return d.build.volume(d.name, size, on=on, type=kind, activity=work, **more)


def _root(d: Draw) -> Volume:
    _stopped(d, d.spread(33, 900), keep_root=False)
    return d.build.volumes[-1]


def _both(d: Draw, volume: Volume, one: Instance, other: Instance) -> Volume:
    """The same, shared by two instances."""
    since = max(one.launched, other.launched)
    both = tuple(Attachment(instance_id=host.id, since=since) for host in (one, other))
    until = max(end for host in (one, other) for _, end in host.intervals)
    return d.build.change(volume, created=since, attachments=both, used=((since, until),))


def _shared(d: Draw) -> Volume:
    days = d.spread(33, 900)
    one, other = (_stopped(d.named(f"host-{letter}"), days + d.uniform(0, 3)) for letter in "ab")
    return _both(d, _volume(d, one, "io2", iops=1_000, multi_attach=True), one, other)


def _half_shared(d: Draw) -> Volume:
    """It is used as its IOPS are meant to be."""
    one = _long(d, "host-a")
    other = _host(d.named("host-b"), days=d.uniform(60, 300))
    volume = _volume(d, other, "io2", iops=1_000, multi_attach=True)
    shape = d.published(np.clip(0.7 * d.wobble(), 0, 0.95))
    work = Activity(shape=shape, read=8 * MIB, write=8 * MIB, read_size=16_384, write_size=16_384)
    return _both(d, d.build.change(volume, activity=work), one, other)


def _started_again(d: Draw) -> Volume:
    host = _host(d.named("host"), days=d.uniform(150, 400))
    started = d.ago(d.uniform(0.5, 20))
    spans = ((host.launched, int(started - d.uniform(35, 100) * DAY)), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    d.build.change(d.build.volumes[-1], used=spans)
    return _volume(d, host, used=spans)


def _nobody_says(d: Draw) -> Volume:
    host = _long(d)
    return _volume(d, d.build.change(host, stopped=None, running=host.intervals))


EBS_ON_STOPPED_INSTANCE_ISSUES: Rows = {
    "data: Its instance was stopped a month ago or longer.": lambda d: _volume(d, kind=d.pick(*_TYPES), on=_long(d)),
    "root: The root volume of such an instance.": _root,
    "bought: With throughput and IOPS paid for.": lambda d: _volume(
        d, _long(d), throughput=d.integer(200, 1_000), iops=8_000
    ),
    "shared: Two instances share it, both stopped.": _shared,
}
EBS_ON_STOPPED_INSTANCE_CONTROLS: Rows = {
    "half-shared: Of two that share it, one runs.": _half_shared,
    "of-late: Its instance was stopped within 25 days.": lambda d: _volume(
        d, _stopped(d.named("host"), d.uniform(0.02, 25))
    ),
    "running: Its instance runs.": lambda d: _volume(d, _host(d.named("host"), days=d.uniform(60, 400))),
    "started-again: Its instance was stopped for months, and runs.": _started_again,
    "lately-attached: Attached of late to a stopped instance.": lambda d: _volume(
        d, _long(d), created=d.ago(d.uniform(0.1, 20)), used=((0, 1),)
    ),
    "warm-pool: In an Auto Scaling group's warm pool.": lambda d: _volume(
        d, _long(d, tags={"aws:autoscaling:groupName": "render", "Owner": "video"})
    ),
    "kept: Tagged keep.": lambda d: _volume(d, _long(d), tags={"keep": "true"}),
}
EBS_ON_STOPPED_INSTANCE_UNKNOWN: Rows = {"nobody-says: EC2 does not say since when.": _nobody_says}
