"""Volumes of instances that nobody started again, and of those that somebody will.

Left out, because even the truth is in doubt: instances stopped 26 to 32 days ago, and machines that are started once a year.
Of one stopped instance one volume is labelled; where that is not the root volume, the root volume is tagged `keep`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.resources import MIB, Activity, Attachment, Instance, Tags, Volume
from slackwater_simulator.series import DAY, FOREVER

from .draw import Draw
from .scenario import control, issue

_KINDS = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "c6i.2xlarge")
_TYPES = ("gp3", "gp3", "gp2", "st1", "io1")


def _host(d: Draw, *, keep_root: bool = True, **more: object) -> Instance:
    """An instance; its root volume is of no concern."""
    more.setdefault("tags", d.tags())
    kind = d.pick(*_KINDS)
    host = d.build.instance(d.name, kind, cpu=d.cpu(), **more)  # type: ignore[arg-type]
    if keep_root:
        root = d.build.volumes.pop()
        d.build.volumes.append(replace(root, tags={**root.tags, "keep": "true"}))
    return host


def _stopped(d: Draw, days: float, *, keep_root: bool = True, **more: object) -> Instance:
    launched = d.ago(days + d.uniform(5, 300))
    stopped = d.ago(days)
    return _host(d, keep_root=keep_root, launched=launched, state="stopped", stopped=stopped, **more)


def _volume(d: Draw, on: Instance, kind: str = "gp3", **more: object) -> Volume:
    """A data volume that was at work while its instance was."""
    more.setdefault("tags", d.tags())
    size = int(d.spread(125 if kind == "st1" else 20, 2_000))
    values = d.working_days() if d.chance(0.5) else d.wobble() / 2
    work = Activity(shape=d.published(values), read=d.spread(0.5, 10) * MIB, write=d.spread(0.5, 10) * MIB)
    more.setdefault("used", on.intervals)
    more.setdefault("iops", min(3_000, size * 10) if kind == "io1" else None)
    return d.build.volume(d.name, size, on=on, type=kind, activity=work, **more)  # type: ignore[arg-type]


def _long(d: Draw) -> float:
    return d.spread(33, 900)


def _data(d: Draw) -> Volume:
    kind = d.pick(*_TYPES)
    return _volume(d, _stopped(d.named("host"), _long(d)), kind)


def _root(d: Draw) -> Volume:
    _stopped(d, _long(d), keep_root=False)
    return d.build.volumes[-1]


def _bought(d: Draw) -> Volume:
    """With throughput and IOPS paid for."""
    host = _stopped(d.named("host"), _long(d))
    return _volume(d, host, throughput=d.integer(200, 1_000), iops=8_000)


def _both(d: Draw, volume: Volume, one: Instance, other: Instance) -> Volume:
    """The same, shared by two instances."""
    d.build.volumes.remove(volume)
    since = max(one.launched, other.launched)
    both = tuple(Attachment(instance_id=host.id, since=since) for host in (one, other))
    until = max(end for host in (one, other) for _, end in host.intervals)
    d.build.volumes.append(shared := replace(volume, created=since, attachments=both, used=((since, until),)))
    return shared


def _shared(d: Draw) -> Volume:
    days = _long(d)
    one, other = (_stopped(d.named(f"host-{letter}"), days + d.uniform(0, 3)) for letter in "ab")
    volume = _volume(d, one, "io2", iops=1_000, multi_attach=True)
    return _both(d, volume, one, other)


def _half_shared(d: Draw) -> Volume:
    """Of two instances that share it one runs. It is used as its IOPS are meant to be."""
    one = _stopped(d.named("host-a"), _long(d))
    other = _host(d.named("host-b"), days=d.uniform(60, 300))
    volume = _volume(d, other, "io2", iops=1_000, multi_attach=True)
    shape = d.published(np.clip(0.7 * d.wobble(), 0, 0.95))
    d.build.volumes.remove(volume)
    work = Activity(shape=shape, read=8 * MIB, write=8 * MIB, read_size=16_384, write_size=16_384)
    d.build.volumes.append(volume := replace(volume, activity=work))
    return _both(d, volume, one, other)


def _started_again(d: Draw) -> Volume:
    """Stopped for months, and running again."""
    host = _host(d.named("host"), days=d.uniform(150, 400))
    started = d.ago(d.uniform(0.5, 20))
    spans = ((host.launched, int(started - d.uniform(35, 100) * DAY)), (started, FOREVER))
    d.build.instances.remove(host)
    d.build.instances.append(replace(host, launched=started, running=spans))
    root = d.build.volumes.pop()
    d.build.volumes.append(replace(root, used=spans))
    return _volume(d, host, used=spans)


def _lately_attached(d: Draw) -> Volume:
    """Somebody has put it on an instance that has long been stopped."""
    host = _stopped(d.named("host"), _long(d))
    return _volume(d, host, created=d.ago(d.uniform(0.1, 20)), used=((0, 1),))


def _warm_pool(d: Draw) -> Volume:
    pool: Tags = {"aws:autoscaling:groupName": "render", "Owner": "video"}
    return _volume(d, _stopped(d.named("host"), _long(d), tags=pool))


def _kept(d: Draw) -> Volume:
    kept: Tags = {"keep": "true"}
    return _volume(d, _stopped(d.named("host"), _long(d)), tags=kept)


def _nobody_says(d: Draw) -> Volume:
    """EC2 gives no time of the stop."""
    host = _stopped(d.named("host"), _long(d))
    d.build.instances.remove(host)
    d.build.instances.append(silent := replace(host, stopped=None, running=host.intervals))
    return _volume(d, silent)


SCENARIOS = (
    issue("data", "Its instance was stopped a month ago or longer.", _data),
    issue("root", "The root volume of such an instance.", _root),
    issue("bought", "With throughput and IOPS paid for.", _bought),
    issue("shared", "Two instances share it, both stopped.", _shared),
    control("half-shared", "Of two that share it, one runs.", _half_shared),
    control(
        "of-late",
        "Its instance was stopped within 25 days.",
        lambda d: _volume(d, _stopped(d.named("host"), d.uniform(0.02, 25))),
    ),
    control("running", "Its instance runs.", lambda d: _volume(d, _host(d.named("host"), days=d.uniform(60, 400)))),
    control("started-again", "Its instance was stopped for months, and runs.", _started_again),
    control("lately-attached", "Attached of late to a stopped instance.", _lately_attached),
    control("warm-pool", "In an Auto Scaling group's warm pool.", _warm_pool),
    control("kept", "Tagged keep.", _kept),
    control("nobody-says", "EC2 does not say since when.", _nobody_says, full=False),
)
