"""The least number of calls that can settle a fleet, computed from the fleet's truth, without the engine.

    floor = 1 (who am I) + Σ ⌈resources ÷ page⌉ + Σ per round and window ⌈max(queries ÷ 500, points ÷ 100,800)⌉

Nothing of `slackwater` is imported: what a resource costs is decided here again, from the simulated account's own series. It
takes as given which metrics settle a question, by which period and over how many days, and the thresholds of the screens:
those are the detectors' pages. Prices are cached by a scan before, and count nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from slackwater_simulator import mixed_fleet
from slackwater_simulator.account import Account
from slackwater_simulator.resources import ElasticFileSystem, Fleet, FsxVolume, Instance, Volume
from slackwater_simulator.series import statistic
from slackwater_simulator.telemetry import agent_dimensions

MIB, GIB, DAY, HOUR, FIVE = 2**20, 2**30, 86_400, 3_600, 300
PAGES = {
    "ec2:volumes": 1_000,
    "ec2:instances": 1_000,
    "ec2:types": 100,
    "efs": 100,
    "fsx": 50,
    "cloudtrail": 50,
    "metrics": 500,
}
QUERIES, POINTS = 500, 100_800


@dataclass
class Asked:
    """Queries by round and window; a window is a period and a span in days."""

    queries: Counter[tuple[int, int, int]] = field(default_factory=Counter)

    def add(self, round_: int, period_s: int, days: int, count: int = 1) -> None:
        """`count` metrics more."""
        self.queries[round_, period_s, days] += count

    def calls(self) -> int:
        """GetMetricData calls, each as full as its limits allow."""
        return sum(
            ceil(max(n / QUERIES, n * points(period_s, days) / POINTS)) for (_, period_s, days), n in self.queries.items()
        )


def points(period_s: int, days: int) -> int:
    """Points of one query; windows of days take in today."""
    return days + 1 if period_s == DAY else days * DAY // period_s


class Truth:
    """The fleet's series, by the same grid that CloudWatch has."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.telemetry = Account(fleet).telemetry

    def values(self, region: str, metric: str, stat: str, period_s: int, days: int, *dimensions: tuple[str, str]) -> np.ndarray:
        """Published points only; empty when there is none."""
        namespace, name = metric.split(":")
        track = self.telemetry.track(region, namespace, name, tuple(sorted(dimensions)))
        if track is None:
            return np.empty(0)
        now = self.fleet.now
        end = -(-now // period_s) * period_s if period_s == DAY else now // period_s * period_s
        start = (now - days * DAY) // DAY * DAY if period_s == DAY else end - days * DAY
        return statistic(track, stat, start, end, period_s)[1]


def floor(fleet: Fleet) -> dict[str, int]:
    """Calls by what they are for."""
    truth, calls, asked = Truth(fleet), Counter[str](), Asked()
    calls["sts"] = 1
    for region in fleet.regions:
        for name, count, page in inventory(fleet, region):
            calls[name] += max(1, ceil(count / page))  # an empty list is one page too
        for question in (efs_idle, ebs_unattached, ebs_surplus_throughput, ec2_network_throttled, fsx_sync_export):
            question(truth, region, asked)
    calls["metrics"] = asked.calls()
    return dict(calls)


def inventory(fleet: Fleet, region: str) -> Iterator[tuple[str, int, int]]:
    """What must be listed: name, how many, how many a page."""
    instances = [i for i in fleet.instances if i.region == region]
    loose = [v for v in fleet.volumes if v.region == region and not v.attachments]
    yield "ec2:volumes", sum(v.region == region for v in fleet.volumes), PAGES["ec2:volumes"]
    yield "ec2:instances", len(instances), PAGES["ec2:instances"]
    yield "ec2:types", len({i.type for i in instances}), PAGES["ec2:types"]
    if any(v.region == region for v in fleet.volumes):
        yield "compute-optimizer:enrollment", 1, 1
    yield "efs", sum(e.region == region for e in fleet.efs), PAGES["efs"]
    yield "efs:replications", sum(r.source_region == region for r in fleet.replications), PAGES["efs"]
    yield "fsx:systems", sum(f.region == region for f in fleet.fsx), PAGES["fsx"]
    yield "fsx:volumes", sum(f.region == region for f in fleet.fsx_volumes), PAGES["fsx"]
    if loose:
        since = max(fleet.now - 90 * DAY, min(v.created for v in loose))
        for name in ("DetachVolume", "AttachVolume"):
            events = sum(e.region == region and e.name == name and e.at >= since for e in fleet.events)
            yield f"cloudtrail:{name}", events, PAGES["cloudtrail"]
    agents = sum(bool(i.agent) for i in instances)
    yield "cloudwatch:in", agents, PAGES["metrics"]
    yield "cloudwatch:out", agents, PAGES["metrics"]


def efs_idle(truth: Truth, region: str, asked: Asked) -> None:
    """One metric by the day for each candidate; four more where a backup could explain the bytes."""
    members = {r.source_id for r in truth.fleet.replications} | {r.destination_id for r in truth.fleet.replications}
    for system in _here(truth.fleet.efs, region):
        if system.replica or system.id in members or truth.fleet.now - system.created < 7 * DAY:
            continue
        asked.add(1, DAY, 30)
        moved = truth.values(region, "AWS/EFS:MeteredIOBytes", "Sum", DAY, 30, ("FileSystemId", system.id)).sum()
        if moved <= 2 * _stored(system) / 3 + GIB:
            asked.add(2, DAY, 30, 4)


def _stored(system: ElasticFileSystem) -> int:
    return system.standard_bytes + system.ia_bytes + system.archive_bytes


def ebs_unattached(truth: Truth, region: str, asked: Asked) -> None:
    """One metric by the day for each loose volume that no recent event explains."""
    events: dict[str, int] = {}
    for event in truth.fleet.events:
        for _, name in event.resources:
            if event.name in {"DetachVolume", "AttachVolume"} and event.at >= truth.fleet.now - 90 * DAY:
                events[name] = max(events.get(name, 0), event.at)
    for volume in _here(truth.fleet.volumes, region):
        week_ago = truth.fleet.now - 7 * DAY
        if not volume.attachments and volume.created <= week_ago and events.get(volume.id, 0) <= week_ago:
            asked.add(1, DAY, 90)


def ebs_surplus_throughput(truth: Truth, region: str, asked: Asked) -> None:
    """Two daily peaks for each volume that pays; the exceeded check where they are low; closer where only their sum is high."""
    running = {i.id for i in truth.fleet.instances if i.state == "running"}
    for volume in _here(truth.fleet.volumes, region):
        bought = volume.throughput_limit or 0
        if volume.type != "gp3" or bought <= 125 or not volume.attachments or volume.attachments[0].instance_id not in running:
            continue
        if not volume.nitro:
            asked.add(1, FIVE, 14, 2)
            continue
        asked.add(1, DAY, 14, 2)
        id_ = ("VolumeId", volume.id)
        read, written = (
            truth.values(region, f"AWS/EBS:{name}", "Maximum", DAY, 14, id_) / 60 / MIB
            for name in ("VolumeReadBytes", "VolumeWriteBytes")
        )
        ceiling = 0.4 * bought
        if len(read) < 15 or len(written) < 15 or max(read.max(), written.max()) >= ceiling:
            continue
        asked.add(2, DAY, 14, len(volume.attachments))
        if (read + written).max() >= ceiling:
            asked.add(2, FIVE, 14, 2)


def ec2_network_throttled(truth: Truth, region: str, asked: Asked) -> None:
    """In and out by the hour; by five minutes where an hour came near; CPU credits and counters where it was pinned."""
    pinned = {p.resource_id for p in truth.fleet.planted if "ec2-network-throttled" in (*p.troubles, p.twin_of)}
    for instance in _here(truth.fleet.instances, region):
        if instance.state != "running" or not instance.kind.bursts:
            continue
        asked.add(1, HOUR, 14, 2)
        ways = [way for way in ("NetworkIn", "NetworkOut") if _came_near(truth, instance, way)]
        asked.add(2, FIVE, 14, len(ways))
        stuck = [way for way in ways if instance.id in pinned and _stuck(truth, instance, way)]
        if stuck:
            asked.add(
                3,
                FIVE,
                14,
                2 * instance.type.startswith("t") + (len(stuck) if instance.agent and agent_dimensions(instance) else 0),
            )


def _baseline(instance: Instance) -> float:
    return instance.kind.baseline_gbps * 1e9 / 8


def _traffic(truth: Truth, instance: Instance, way: str, period_s: int) -> np.ndarray:
    return truth.values(instance.region, f"AWS/EC2:{way}", "Sum", period_s, 14, ("InstanceId", instance.id)) / period_s


def _came_near(truth: Truth, instance: Instance, way: str) -> bool:
    by_hour = _traffic(truth, instance, way, HOUR)
    return bool(len(by_hour)) and by_hour.max() >= 0.25 * _baseline(instance)


def _stuck(truth: Truth, instance: Instance, way: str) -> bool:
    """Six five-minute points in a row near the baseline, somewhere after a burst."""
    ratio = _traffic(truth, instance, way, FIVE) / _baseline(instance)
    near = (ratio >= 0.9) & (ratio <= 1.05)
    runs = np.convolve(near, np.ones(6), "valid") >= 6
    burst = np.flatnonzero(ratio >= 1.3)
    return bool(len(burst)) and bool(runs[burst[0] :].any())


def fsx_sync_export(truth: Truth, region: str, asked: Asked) -> None:
    """Writes by the hour for each sync export; writes, bytes and the disks by five minutes where there are many."""
    systems = defaultdict[str, int](int)
    for volume in _here(truth.fleet.fsx_volumes, region):
        if volume.kind != "OPENZFS" or all("async" in export.options for export in volume.exports):
            continue
        asked.add(1, HOUR, 14)
        by_hour = _writes(truth, volume)
        if by_hour[by_hour >= 30_000].sum() >= 180_000:
            asked.add(2, FIVE, 14, 2)
            systems[volume.file_system_id] += 1
    asked.add(2, FIVE, 14, 3 * len(systems))


def _writes(truth: Truth, volume: FsxVolume) -> np.ndarray:
    dimensions = (("FileSystemId", volume.file_system_id), ("VolumeId", volume.id))
    return truth.values(volume.region, "AWS/FSx:DataWriteOperations", "Sum", HOUR, 14, *dimensions)


def _here[T: (Volume, Instance, ElasticFileSystem, FsxVolume)](resources: Iterable[T], region: str) -> Iterator[T]:
    return (resource for resource in resources if resource.region == region)


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(floor(mixed_fleet(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000))))
