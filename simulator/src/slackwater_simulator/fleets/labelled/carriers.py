"""Plant instances for volumes, with nothing to report about them, and create the volumes' work."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Telemetry, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from .draw import Draw
from .scenario import One

_EBS = {name: kind.ebs for name, kind in TYPES.items() if kind.nitro and kind.ebs}
NITRO = tuple(name for name, ebs in _EBS.items() if ebs.baseline_mbps == ebs.maximum_mbps > 9_000)
"""These types always carry any one volume."""
FAST = tuple(name for name, ebs in _EBS.items() if ebs.maximum_mbps > 4_000)
XEN = "c4.4xlarge"
"""2,000 Mbps and 16,000 operations a second."""


def host(d: Draw, *kinds: str, name: str = "", **more: Any) -> Instance:
    """Plant an instance of one of these types, or one that carries any one volume."""
    more.setdefault("days", d.uniform(40, 400))
    return d.build.instance(name or f"{d.name}-host", d.pick(*kinds or NITRO), cpu=d.cpu(), tags=d.tags(), **more)


def work(d: Draw, values: Floats, mib: float, size_kib: float) -> Activity:
    """Return reads and writes in a random proportion. Together they move `values` (0 to 1) times `mib` MiB/s."""
    share, size = d.uniform(0, 1), size_kib * KIB
    read, write = mib * share * MIB, mib * (1 - share) * MIB
    return Activity(shape=d.published(values), read=read, write=write, read_size=size, write_size=size)


def by_turns(d: Draw, mib: float, size_kib: float) -> Telemetry:
    """Return metrics of a volume that writes by night and reads by day, never both, each at `mib` MiB/s at its peak."""
    hour = d.integer(DAY)
    metrics = {}
    for kind, shift in (("Read", 0), ("Write", 8 * 3_600)):
        starts = [d.now // DAY * DAY + (hour + shift) % DAY - day * DAY for day in range(34)]
        shape = d.published(d.runs(starts, d.uniform(10, 300), 0.95, 0.01))
        metrics[f"Volume{kind}Bytes"] = given(shape, scale=mib * MIB * MINUTE, digits=0)
        metrics[f"Volume{kind}Ops"] = given(shape, scale=mib * 1024 / size_kib * MINUTE, digits=0)
    return metrics


def bursts(d: Draw, metric: str) -> tuple[Floats, Telemetry]:
    """Return seconds at a limit, several times a day. One-minute averages hide them; the exceeded check shows them."""
    at_limit = np.where(d.random.random(MINUTES) < d.uniform(0.002, 0.02), 1.0, 0.0)
    check = {metric: given(d.signal(at_limit), digits=0)}
    return np.clip(0.1 * d.wobble() + 0.2 * at_limit, 0, 1), check


def restarted(d: Draw, volume: Volume) -> Volume:
    """Stop the newest instance, which has this volume, for minutes to hours, as for a resize."""
    stopped = d.ago(d.uniform(0.5, 12))
    return _stopped(d, volume, stopped, stopped + int(d.uniform(3, 180)) * MINUTE)


def stopped_once(d: Draw, volume: Volume) -> Volume:
    """Stop the newest instance, which has this volume, for days. It started again more than two weeks ago."""
    started = d.ago(d.uniform(16, 25))
    return _stopped(d, volume, started - int(d.uniform(1, 8) * DAY), started)


def _stopped(d: Draw, volume: Volume, stopped: int, started: int) -> Volume:
    instance = d.build.instances[-1]
    d.build.change(instance, launched=started, running=((instance.launched, stopped), (started, FOREVER)))
    return d.build.change(volume, used=((volume.attachments[0].since, stopped), (started, FOREVER)))


def shared(d: Draw, volume: Volume) -> Volume:
    """Attach a Multi-Attach volume to a second instance."""
    other, first = host(d.named("2")), volume.attachments[0]
    second = replace(first, instance_id=other.id, since=max(first.since, other.launched))
    return d.build.change(volume, attachments=(first, second), used=((first.since, FOREVER),))


def stopped_host(d: Draw) -> Instance:
    """Plant an instance that was stopped within the last 25 days."""
    return host(d, days=120, **d.off())


def interrupted(use: Callable[..., Volume], much: Callable[[Draw], float]) -> dict[str, One]:
    """Return issues: little-used volumes that were attached late, or whose instance was stopped for a while."""

    def attached_weeks_ago(d: Draw) -> Volume:
        created = d.ago(d.uniform(15.1, 30))
        return use(d, d.demand(), much(d), created=created)

    return {
        "attached-weeks-ago: Attached two to four weeks ago.": attached_weeks_ago,
        "stopped-once: Its instance was stopped for days, weeks ago.": lambda d: stopped_once(
            d, use(d, d.demand(), much(d))
        ),
    }


def without_data(use: Callable[..., Volume], much: Callable[[Draw], float]) -> dict[str, One]:
    """Return negative controls: little-used volumes that are too new to judge, or whose metrics lack whole days."""
    return {
        "new: Attached within ten days: too early to say.": lambda d: use(
            d, d.demand(), much(d), created=d.ago(d.uniform(0.1, 10))
        ),
        "holes: Days without metrics: inconclusive.": lambda d: use(d, d.without_days(d.demand()), much(d)),
        "old-holes: Days without metrics, weeks ago.": lambda d: use(d, d.old_holes(d.demand()), much(d)),
    }
