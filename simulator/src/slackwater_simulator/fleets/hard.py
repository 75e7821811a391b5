"""Build a large account that quick checks cannot decide: noisy loads with peaks near a limit, and missing data.

Most peaks lie within 25 % of a threshold, the noise has a coefficient of variation of 0.5 to 2, a third of the volumes
are gp2, every second EFS file system is busy, and a quarter of the loads have missing data. Nothing is planted: the
fleet is for measuring costs.
"""

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import ACCOUNT, GIB, KIB, MIB, Activity, Export, Fleet, Flow, Instance, instant
from slackwater_simulator.series import Floats, Signal
from slackwater_simulator.shapes import MINUTES, Shapes

from .builder import Builder, joined
from .demo_parts import NOW, REGION

NEAR = 0.25
"""How far from a threshold a near peak can be, as a fraction of the threshold."""
_NEAR_SHARE = 0.7
_VARIANTS, _SPREAD = 24, (0.6, 1.9)
_LEVEL_MINUTES = 30
_FIVE_MINUTES_S = 300
_KINDS = (
    *("t3.micro", "t3.medium", "t3.large", "t4g.small", "m5.large", "m6i.xlarge", "c6i.large", "c7g.xlarge"),
    "r6i.large",
)
_GP3_MIB_S, _GP3_IOPS = 125, 3_000
_USED = 0.4
"""Volumes that use less than this fraction of their provisioned performance are oversized."""
_SMALL = 64 * KIB


def hard_fleet(resources: int = 20_000, seed: int = 7, now: str = NOW, regions: tuple[str, ...] = (REGION,)) -> Fleet:
    """Return half volumes, three tenths instances, an eighth EFS, the rest FSx, spread evenly over the Regions."""
    made = (_Hard(Builder(instant(now), region, seed)).make(resources // len(regions)) for region in regions)
    return joined(list(made))


class _Hard:
    def __init__(self, build: Builder) -> None:
        self.build = build
        self.random = build.shapes.random("hard")
        spreads = np.linspace(*_SPREAD, _VARIANTS)
        self.shapes = [noisy(build.shapes, spread, variant) for variant, spread in enumerate(spreads)]

    def make(self, resources: int) -> Fleet:
        volumes, instances, files = resources // 2, resources * 3 // 10, resources // 8
        for number in range(instances):
            self._instance(number)
        for number in range(volumes - instances):
            self._volume(number, self.build.instances[number * 7 % instances])
        for number in range(files):
            self._files(number)
        for number in range((resources - volumes - instances - files) * 2 // 5):
            self._server(number)
        return self.build.fleet(ACCOUNT)

    def _between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def _peak(self, threshold: float) -> float:
        """Return a peak near this threshold, or far below it."""
        near = self.random.random() < _NEAR_SHARE
        return threshold * (self._between(1 - NEAR, 1 + NEAR) if near else self._between(0.02, 0.6))

    def _shape(self) -> Signal:
        return self.shapes[int(self.random.integers(_VARIANTS))]

    def _work(self, bytes_per_s: float, size: float, writes: float = 0.4) -> Activity:
        """Return an activity with these bytes a second in its busiest minute."""
        read, write = bytes_per_s * (1 - writes), bytes_per_s * writes
        return Activity(shape=self._shape(), read=read, write=write, read_size=size, write_size=size)

    def _instance(self, number: int) -> None:
        kind, shape = _KINDS[number % len(_KINDS)], self._shape()
        most = float(shape.at(_FIVE_MINUTES_S).total.max())
        flow = Flow(shape, self._peak(TYPES[kind].baseline_bytes) * _FIVE_MINUTES_S / most)
        days, net_in = self._between(20, 400), Flow(shape, flow.scale * self._between(0.2, 1))
        use: dict[str, Any] = {"net_in": net_in, "net_out": flow, "cpu": Flow(shape, self._between(4, 90))}
        self.build.instance(f"node-{number:05}", kind, root_gib=100, days=days, unlimited=number % 4 == 0, **use)
        self.build.volumes[-1] = replace(self.build.volumes[-1], **self._kind(number, 100))

    def _volume(self, number: int, host: Instance) -> None:
        size = int(self.random.integers(100, 1_500))
        if number % 20 == 7:  # detached about a week ago
            at, made = self.build.ago(self._peak(7)), self.build.ago(200)
            life: dict[str, Any] = {"created": made, "used": ((made, at),), **self._kind(number, size)}
            self.build.detached(self.build.volume(f"unattached-{number:05}", size, **life).id, host.id, at)
            return
        device = f"/dev/sd{chr(102 + number % 20)}"
        self.build.volume(f"data-{number:05}", size, on=host, device=device, **self._kind(number, size))

    def _kind(self, number: int, size_gib: int) -> dict[str, Any]:
        """Return a volume's type and activity: near gp2's baseline, or near the limits of advice about gp3 and io1."""
        match number % 6:
            case 0 | 1:
                operations = self._peak(min(16_000, max(100, 3 * size_gib)))
                return {"type": "gp2", "activity": self._work(operations * 16 * KIB, 16 * KIB)}
            case 2 | 3:
                return {"type": "gp3", "activity": self._work(self._peak(_GP3_MIB_S) * MIB, 64 * KIB)}
            case 4:
                mib_s = int(self.random.choice((250, 500, 1_000)))
                work = self._work(self._peak(_USED * mib_s) * MIB, 256 * KIB)
                return {"type": "gp3", "throughput": mib_s, "iops": 4_000, "activity": work}
        work = self._work(self._peak(_USED * _GP3_IOPS) * 16 * KIB, 16 * KIB)
        return {"type": "io1", "iops": _GP3_IOPS, "activity": work}

    def _files(self, number: int) -> None:
        """Add a file system. Every second one is near its throughput limit, the others near 50 writes a second."""
        stored, mode = self._between(30, 1_200), ("bursting", "elastic", "provisioned")[number // 2 % 3]
        size = _SMALL * self._between(1 - NEAR, 1 + NEAR)
        provisioned = float(self.random.choice((32, 64, 128))) if mode == "provisioned" else None
        if number % 2:
            work = self._work(self._peak(50) * 2.5 * size, size)
        else:
            metered = self._peak((provisioned or 100) * MIB)  # a read counts a third
            work = self._work(metered / (0.4 + 0.6 / 3), size)
        zones, one_zone = "a" if number % 10 == 3 else "acd", "a" if number % 4 == 1 else None
        more: dict[str, Any] = {"mode": mode, "provisioned_mibps": provisioned, "standard_bytes": int(stored * GIB)}
        more |= {"days": self._between(5, 700), "clients": Flow(work.shape, self._between(1, 30))}
        self.build.file_system(f"share-{number:05}", zones=zones, one_zone=one_zone, activity=work, **more)

    def _server(self, number: int) -> None:
        """Add a file server. Two of three are OpenZFS, half of them with a sync export near 100 writes a second."""
        throughput = (160, 320, 640)[number % 3]
        if number % 3 == 2:
            work = self._work(self._peak(throughput) * 1e6, 64 * KIB)
            kind, deployment = (("ONTAP", "MULTI_AZ_1"), ("WINDOWS", "SINGLE_AZ_2"))[number % 2]
            size: dict[str, Any] = {"storage_gib": 2_048, "throughput": 512, "volumes": ("vol0",), **self._near()}
            self.build.server(f"server-{number:05}", kind, deployment, activity=work, **size)  # type: ignore[arg-type]
            return
        written, sync = _SMALL * self._between(1 - NEAR, 1 + NEAR), number % 2 == 0
        moved = self._peak(100) * 2.5 * written if sync else self._peak(throughput) * 1e6
        work, deployment = self._work(moved, written), ("MULTI_AZ_1", "SINGLE_AZ_2")[number % 2]
        size = {"throughput": throughput, "deployment": deployment, **self._near()}
        system = self.build.openzfs(f"zfs-{number:05}", activity=work, clients=4.0, **size)
        options = ("rw", "crossmnt") if sync else ("rw", "crossmnt", "async")
        self.build.export(system, "share", Export("10.0.0.0/16", options), activity=work)

    def _near(self) -> dict[str, float]:
        """Return how busy the disks and the file server are at their peak, percent."""
        return {"disk_iops_peak": self._peak(50), "server_peak": self._peak(50)}


def noisy(shapes: Shapes, spread: float, variant: int) -> Signal:
    """Return noisy minutes with this coefficient of variation and half-hour levels. Every fourth variant has gaps.

    Its busiest minute is 1.
    """
    random = shapes.random("noisy", variant)
    of_each = sqrt(sqrt(1 + spread**2) - 1)  # the factors are independent: 1 + cv² is the product of theirs
    levels = np.repeat(_gamma(random, of_each, MINUTES // _LEVEL_MINUTES), _LEVEL_MINUTES)
    values = levels * _gamma(random, of_each, MINUTES)
    values = np.minimum(values, np.quantile(values, 0.9995))
    values /= values.max()
    if variant % 4 == 3:
        values[random.integers(0, MINUTES, MINUTES // 200)] = np.nan
        for start in random.integers(0, MINUTES - 600, 3):
            values[start : start + int(random.integers(30, 600))] = np.nan
    return shapes.signal(values)


def _gamma(random: np.random.Generator, spread: float, size: int) -> Floats:
    """Return positive noise with mean 1 and this coefficient of variation."""
    return random.gamma(spread**-2, spread**2, size)
