"""Instances that carry volumes, with nothing to be said of them, and the work that their volumes do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Telemetry, Volume, given
from slackwater_simulator.series import DAY, FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES

from .rhythms import Random, cpu, published, runs, tags

NITRO = tuple(
    name
    for name, kind in TYPES.items()
    if kind.nitro and kind.ebs and kind.ebs.baseline_mbps == kind.ebs.maximum_mbps > 9_000
)
"""They carry any one volume, always."""
XEN = "c4.4xlarge"
"""2,000 Mbps and 16,000 operations a second."""


def host(random: Random, build: Builder, name: str, kind: str = "", **more: object) -> Instance:
    """An instance that carries any one volume, or of this type."""
    more.setdefault("days", random.uniform(40, 400))
    kind = kind or NITRO[int(random.integers(len(NITRO)))]
    return build.instance(f"{name}-host", kind, cpu=cpu(random, build), tags=tags(random), **more)  # type: ignore[arg-type]


def work(random: Random, build: Builder, values: Floats, mib: float, size_kib: float) -> Activity:
    """Reads and writes in any proportion; `values` (0 to 1) times the peak is what both move together."""
    share, size = random.uniform(0, 1), size_kib * KIB
    return Activity(
        shape=published(random, build, values),
        read=mib * share * MIB,
        write=mib * (1 - share) * MIB,
        read_size=size,
        write_size=size,
    )


def by_turns(random: Random, build: Builder, mib: float, size_kib: float) -> Telemetry:
    """It writes by night and reads by day, never both; each at this rate at its peak."""
    hour = int(random.integers(DAY))
    metrics = {}
    for kind, shift in (("Read", 0), ("Write", 8 * 3_600)):
        starts = [build.now // DAY * DAY + (hour + shift) % DAY - day * DAY for day in range(34)]
        shape = published(random, build, runs(build, starts, random.uniform(10, 300), 0.95, 0.01))
        metrics[f"Volume{kind}Bytes"] = given(shape, scale=mib * MIB * MINUTE, digits=0)
        metrics[f"Volume{kind}Ops"] = given(shape, scale=mib * 1024 / size_kib * MINUTE, digits=0)
    return metrics


def restarted(random: Random, build: Builder, volume: Volume, instance: Instance) -> Volume:
    """The same volume on the same instance, which was stopped for minutes to hours, to be resized."""
    stopped = build.ago(random.uniform(0.5, 12))
    return _stopped(build, volume, instance, stopped, stopped + int(random.uniform(3, 180)) * MINUTE)


def stopped_once(random: Random, build: Builder, volume: Volume, instance: Instance) -> Volume:
    """The same volume on the same instance, which was stopped for days, and started again more than two weeks ago."""
    started = build.ago(random.uniform(16, 25))
    return _stopped(build, volume, instance, started - int(random.uniform(1, 8) * DAY), started)


def _stopped(build: Builder, volume: Volume, instance: Instance, stopped: int, started: int) -> Volume:
    again = replace(instance, launched=started, running=((instance.launched, stopped), (started, FOREVER)))
    build.instances[build.instances.index(instance)] = again
    used = replace(volume, used=((volume.attachments[0].since, stopped), (started, FOREVER)))
    build.volumes[build.volumes.index(volume)] = used
    return used


def old_holes(random: Random, build: Builder, values: Floats) -> Floats:
    """One to five whole days are missing, all of them more than two weeks ago."""
    values = values.copy()
    for day in random.choice(np.arange(16, 33), int(random.integers(1, 6)), replace=False).tolist():
        first = build.shapes.minute(day)
        values[first : first + DAY_MINUTES] = np.nan
    return values
