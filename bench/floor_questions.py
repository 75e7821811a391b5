"""Decide from the simulated account's own series which metrics each detector must request. One function per detector.

The metrics, periods, windows and thresholds are taken from the detectors' pages. Each function adds the minimum that
its detector needs. Final requests that hardly any resource leads to are left out. Some detectors have no function:
ebs-instance-bound and ec2-network-over-baseline, which request only what others request too, and those that need only
the inventory. A metric counts once for each resource and period, with the longest window that any detector needs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from slackwater_simulator.account import Account
from slackwater_simulator.resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume
from slackwater_simulator.series import Floats, statistic
from slackwater_simulator.telemetry import agent_dimensions, disk_dimensions

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40
DAY, HOUR, QUARTER, FIVE = 86_400, 3_600, 900, 300
QUERIES, POINTS = 500, 100_800

BYTES = ("VolumeReadBytes", "VolumeWriteBytes")
OPERATIONS = ("VolumeReadOps", "VolumeWriteOps")
type Question = Callable[[Truth, str, Asked], None]
"""A function that adds the metrics that a detector needs in a region."""

type Resource = Volume | Instance | ElasticFileSystem | FsxFileSystem | FsxVolume


@dataclass
class Asked:
    """How many days back each statistic of a resource's metric is requested, by resource, statistic and period.

    `lifecycles` are the ids of EFS file systems of which the lifecycle is requested.
    """

    days: dict[tuple[str, str, int], int] = field(default_factory=dict)
    lifecycles: set[str] = field(default_factory=set)

    def add(self, resource: Resource, period_s: int, days: int, *names: str) -> None:
        """Add metrics of a resource. A name is a metric and its statistic, separated by a space."""
        for name in names:
            key = resource.id, name, period_s
            self.days[key] = max(days, self.days.get(key, 0))

    def calls(self) -> int:
        """Return the number of GetMetricData calls, each as full as its limits allow.

        A call has one time range. Metrics share one if their windows are equal; windows of days end at midnight.
        """
        queries, needed = defaultdict[tuple[bool, int], int](int), defaultdict[tuple[bool, int], int](int)
        for (_, _, period_s), days in self.days.items():
            window = period_s == DAY, days
            queries[window] += 1
            needed[window] += points(period_s, days)
        return sum(ceil(max(count / QUERIES, needed[window] / POINTS)) for window, count in queries.items())


def points(period_s: int, days: int) -> int:
    """Return the number of points of one query. A window of days includes today."""
    return days + 1 if period_s == DAY else days * DAY // period_s


@dataclass(frozen=True)
class Windows:
    """How many days back most questions look. The defaults are those of the detectors."""

    ebs_days: int = 35
    """Days for EBS and EC2, and for surplus capacity of FSx."""
    files_days: int = 36
    """Days for EFS and FSx."""


class Truth:
    """The fleet's series, aligned to the same periods as in CloudWatch, and how far back to look."""

    def __init__(self, fleet: Fleet, windows: Windows) -> None:
        self.fleet = fleet
        self.ebs_days = windows.ebs_days
        self.files_days = windows.files_days
        self.telemetry = Account(fleet).telemetry
        self.instances = {i.id: i for i in fleet.instances}
        self.members = {i for r in fleet.replications for i in (r.source_id, r.destination_id)}

    def days_old(self, since: int) -> float:
        """Return the days from then to now."""
        return (self.fleet.now - since) / DAY

    def values(self, resource: Resource, name: str, period_s: int, days: int) -> Floats:
        """Return the published points; empty if there are none."""
        metric, stat = name.split()
        namespace, dimensions = _dimensions(resource)
        track = self.telemetry.track(resource.region, namespace, metric, dimensions)
        if track is None:
            return np.empty(0)
        now = self.fleet.now
        end = -(-now // period_s) * period_s if period_s == DAY else now // period_s * period_s
        start = (now - days * DAY) // DAY * DAY if period_s == DAY else end - days * DAY
        return statistic(track, stat, start, end, period_s)[1]

    def total(self, resource: Resource, name: str, period_s: int, days: int) -> float:
        """Return the sum of all points."""
        return float(self.values(resource, name, period_s, days).sum())

    def running(self, region: str) -> Iterator[Instance]:
        """Return the running instances."""
        return (i for i in _here(self.fleet.instances, region) if i.state == "running")

    def attached(self, region: str) -> Iterator[Volume]:
        """Yield the volumes that are attached to running instances."""
        for volume in _here(self.fleet.volumes, region):
            if any(self.instances[one.instance_id].state == "running" for one in volume.attachments):
                yield volume


def _dimensions(resource: Resource) -> tuple[str, tuple[tuple[str, str], ...]]:
    match resource:
        case Volume():
            return "AWS/EBS", (("VolumeId", resource.id),)
        case Instance():
            return "AWS/EC2", (("InstanceId", resource.id),)
        case ElasticFileSystem():
            return "AWS/EFS", (("FileSystemId", resource.id),)
        case FsxFileSystem():
            return "AWS/FSx", (("FileSystemId", resource.id),)
        case FsxVolume():
            return "AWS/FSx", (("FileSystemId", resource.file_system_id), ("VolumeId", resource.id))


def _here[T: (Volume, Instance, ElasticFileSystem, FsxFileSystem, FsxVolume)](
    resources: Iterable[T], region: str
) -> Iterator[T]:
    return (resource for resource in resources if resource.region == region)


def _as(stat: str, names: Iterable[str]) -> list[str]:
    return [f"{name} {stat}" for name in names]


# EBS


@dataclass(frozen=True)
class _Peaks:
    """Bounds of a volume's busiest minute, per second.

    The lower bound is the highest daily peak of a single metric. The upper bound is the highest sum of the peaks of one
    day, of `by_day`.
    """

    least: float
    most: float
    by_day: Floats

    def days_since(self, rate: float) -> int:
        """Return how many days back the newest day is whose sum is at least `rate`; 0 if there is none."""
        days = np.flatnonzero(self.by_day >= rate)
        return len(self.by_day) - int(days[-1]) if len(days) else 0


def _peaks(truth: Truth, volume: Volume, asked: Asked, parts: Sequence[tuple[str, float]]) -> _Peaks | None:
    """Request the metrics of `parts` (a metric, and how much of it makes one unit), and return their peaks.

    None if they do not decide. Volumes on Xen instances have no peaks, so five-minute sums are requested instead. A
    volume younger than two weeks has too few.
    """
    if not volume.nitro:
        asked.add(volume, FIVE, truth.ebs_days, *_as("Sum", dict.fromkeys([*(name for name, _ in parts), *OPERATIONS])))
        return None
    names = _as("Maximum", [name for name, _ in parts])
    asked.add(volume, DAY, truth.ebs_days, *names)
    by_day = [
        truth.values(volume, name, DAY, truth.ebs_days) / 60 / per for name, (_, per) in zip(names, parts, strict=True)
    ]
    if min(map(len, by_day)) < 15 or len(set(map(len, by_day))) > 1:
        return None
    sums = np.sum(by_day, axis=0)
    return _Peaks(max(float(part.max()) for part in by_day), float(sums.max()), sums)


def _checks(truth: Truth, volume: Volume, asked: Asked, *words: str) -> None:
    """Request the daily limit checks that EBS publishes. Multi-Attach volumes and Xen instances have none."""
    if volume.nitro and not volume.multi_attach:
        asked.add(volume, DAY, truth.ebs_days, *(f"Volume{word}ExceededCheck Maximum" for word in words))


_MOVED = [(name, MIB) for name in BYTES]
_DONE = [(name, 1.0) for name in OPERATIONS]
_CONSUMED = [*_DONE, *((name, 256.0 * KIB) for name in BYTES)]


def ebs_unattached(truth: Truth, region: str, asked: Asked) -> None:
    """Request one daily metric for each unattached volume without a recent attach or detach event."""
    events: dict[str, int] = {}
    for event in truth.fleet.events:
        for _, name in event.resources:
            if event.name in {"DetachVolume", "AttachVolume"} and event.at >= truth.fleet.now - 90 * DAY:
                events[name] = max(events.get(name, 0), event.at)
    week_ago = truth.fleet.now - 7 * DAY
    for volume in _here(truth.fleet.volumes, region):
        if not volume.attachments and volume.created <= week_ago and events.get(volume.id, 0) <= week_ago:
            asked.add(volume, DAY, 90, "VolumeIdleTime Sum")


def ebs_idle(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily writes of each data volume, and daily reads if it has hardly any writes."""
    for volume in truth.attached(region):
        if volume.attachments[0].device == "/dev/xvda" or truth.days_old(_attached(volume)) < 15:
            continue
        asked.add(volume, DAY, truth.ebs_days, "VolumeWriteOps Sum")
        writes = truth.values(volume, "VolumeWriteOps Sum", DAY, truth.ebs_days)
        if writes.sum() < max(1, len(writes)):
            asked.add(volume, DAY, truth.ebs_days, "VolumeReadOps Sum")
            reads = truth.values(volume, "VolumeReadOps Sum", DAY, truth.ebs_days)
            if len(writes) and writes.sum() + reads.sum() < len(writes):
                asked.add(volume, DAY, truth.ebs_days, "VolumeWriteOps SampleCount")


def _attached(volume: Volume) -> int:
    return max([volume.created, *(one.since for one in volume.attachments)])


def ebs_surplus_throughput(truth: Truth, region: str, asked: Asked) -> None:
    """Request two daily peaks for each gp3 with paid throughput.

    If they are low, also request the limit check. If only their sum is high, also request hourly peaks.
    """
    for volume in truth.attached(region):
        bought = volume.throughput_limit or 0
        if volume.type != "gp3" or bought <= 125 or not (peaks := _peaks(truth, volume, asked, _MOVED)):
            continue
        if peaks.least >= 0.4 * bought:
            continue
        _checks(truth, volume, asked, "Throughput")
        if peaks.most >= 0.4 * bought:
            asked.add(volume, HOUR, truth.ebs_days, *_as("Maximum", BYTES))


def ebs_surplus_iops(truth: Truth, region: str, asked: Asked) -> None:
    """Request two daily peaks for each volume with paid IOPS; for io1 and io2 also peaks of bytes.

    Limit checks and peaks of shorter periods follow as for throughput: of io1 and io2, the newest day that may decide.
    """
    for volume in truth.attached(region):
        bought, by_iops = volume.iops_limit or 0, volume.type in {"io1", "io2"}
        least = 100 if by_iops else max(3_000, (volume.throughput_limit or 0) * 4)
        if not (by_iops or volume.type == "gp3") or bought <= least:
            continue
        peaks = _peaks(truth, volume, asked, _DONE)
        if not peaks or peaks.least >= 0.4 * bought:
            continue
        if by_iops:
            _checks(truth, volume, asked, "IOPS", "Throughput")
            peaks = _peaks(truth, volume, asked, _CONSUMED)
            if not peaks or peaks.least >= 0.4 * bought:
                continue
        if peaks.most >= 0.4 * bought:
            names = _as("Maximum", (*OPERATIONS, *(BYTES if by_iops else ())))
            newest = peaks.days_since(0.4 * bought)  # its five minutes may show that reads and writes came together
            asked.add(volume, FIVE if by_iops else HOUR, newest if by_iops else truth.ebs_days, *names)
        _checks(truth, volume, asked, "IOPS")


def ebs_outdated_type(truth: Truth, region: str, asked: Asked) -> None:
    """Request two daily peaks for each gp2 and io1 volume, or four if it has more IOPS than a gp3 includes.

    Limit checks, the credits of gp2, and hourly peaks follow.
    """
    for volume in truth.attached(region):
        if volume.type not in {"gp2", "io1"} or volume.multi_attach:
            continue
        has = _most_of(volume)
        above = has.iops > 3_000
        moved = _peaks(truth, volume, asked, _MOVED)
        done = _peaks(truth, volume, asked, _CONSUMED) if above else None
        if volume.nitro and (not moved or (above and not done)):
            continue
        _checks(truth, volume, asked, "Throughput", *(["IOPS"] if above else []))
        if volume.type == "gp2" and volume.size_gib < 1_000:
            asked.add(volume, DAY, truth.ebs_days, "BurstBalance Minimum")
        if moved and moved.most * 1.2 > 125 and moved.least * 1.2 < has.mib_s:
            asked.add(volume, HOUR, truth.ebs_days, *_as("Maximum", BYTES))
        if done and done.most * 1.2 > 3_000 and done.least * 1.2 < has.iops:
            asked.add(volume, HOUR, truth.ebs_days, *_as("Maximum", (*OPERATIONS, *BYTES)))


@dataclass(frozen=True)
class _Most:
    mib_s: float
    iops: float


def _most_of(volume: Volume) -> _Most:
    """Return the highest throughput and IOPS of a volume, bursts included."""
    tib = volume.size_gib / 1024
    match volume.type:
        case "gp2":
            return _Most(128 if volume.size_gib <= 170 else 250, max(3_000, volume.iops_limit or 0))
        case "st1":
            return _Most(min(500, 250 * tib), min(500, 250 * tib))
        case "sc1":
            return _Most(min(250, 80 * tib), min(250, 80 * tib))
        case "gp3":
            return _Most(volume.throughput_limit or 125, volume.iops_limit or 3_000)
        case _:
            iops = volume.iops_limit or 0
            return _Most(min(500, iops / 4), iops)


def ebs_burst_draining(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily credits of volumes that have them, then hourly ones if they ran low.

    If they often ran out, also request five-minute credits and then daily peaks.
    """
    for volume in truth.attached(region):
        if not (volume.type in {"st1", "sc1"} or (volume.type == "gp2" and volume.size_gib < 1_000)):
            continue
        asked.add(volume, DAY, truth.ebs_days, "BurstBalance Minimum")
        by_day = truth.values(volume, "BurstBalance Minimum", DAY, truth.ebs_days)[-9:]
        if len(by_day) == 9 and by_day.min() >= 1 and by_day[-3:].min() > 100 * 24 / 36:
            continue
        asked.add(volume, HOUR, 8, "BurstBalance Minimum")
        by_hour = truth.values(volume, "BurstBalance Minimum", HOUR, 8)[-7 * 24 :]
        if len(by_hour) < 7 * 24 or _days(by_hour < 1, 24, 1) < 3:
            continue
        asked.add(volume, FIVE, 8, "BurstBalance Average")
        closer = truth.values(volume, "BurstBalance Average", FIVE, 8)[-7 * 288 :]
        if len(closer) == 7 * 288 and _days(closer < 1, 288, 12) >= 3:
            _peaks(truth, volume, asked, _MOVED)


def _days(true: np.ndarray, a_day: int, least: int) -> int:
    """Return the number of days with at least `least` true values. A day has `a_day` values."""
    return int((true.reshape(-1, a_day).sum(axis=1) >= least).sum())


def ebs_surplus_size(truth: Truth, region: str, asked: Asked) -> None:
    """Request the daily disk use that the CloudWatch agent reports for each data volume."""
    for volume in truth.attached(region):
        host = truth.instances[volume.attachments[0].instance_id]
        if volume.disk and volume.attachments[0].device != "/dev/xvda" and disk_dimensions(host, volume):
            asked.add(volume, DAY, truth.ebs_days, "disk_used_percent Maximum")


# EC2


def ec2_idle(truth: Truth, region: str, asked: Asked) -> None:
    """Request the daily CPU peak, and the daily network traffic if that peak is low."""
    for instance in truth.running(region):
        if truth.days_old(instance.launched) < 14:
            continue
        asked.add(instance, DAY, truth.ebs_days, "CPUUtilization Maximum")
        if truth.values(instance, "CPUUtilization Maximum", DAY, truth.ebs_days).max(initial=0) < 5:
            asked.add(instance, DAY, truth.ebs_days, "NetworkIn Sum", "NetworkOut Sum")


def ec2_cpu_credits_surcharged(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily surcharged credits, and the balance if none are published.

    The mean CPU of instances that are charged regularly is left out.
    """
    for instance in truth.running(region):
        if not instance.kind.cpu_credits or truth.days_old(instance.launched) < 14:
            continue
        asked.add(instance, DAY, truth.ebs_days, "CPUSurplusCreditsCharged Sum")
        if not len(truth.values(instance, "CPUSurplusCreditsCharged Sum", DAY, truth.ebs_days)):
            asked.add(instance, DAY, truth.ebs_days, "CPUCreditBalance Minimum")


def ec2_ebs_throttled(truth: Truth, region: str, asked: Asked) -> None:
    """Request the hourly check of each limit that the volumes can reach.

    If the instance was throttled, also request hourly traffic and up to two five-minute burst balances of one day.
    Five-minute traffic, which decides between two larger sizes, is left out, and so are other days of the balances.
    """
    used = _as("Sum", ("EBSReadBytes", "EBSWriteBytes", "EBSReadOps", "EBSWriteOps"))
    checks = (
        ("InstanceEBSIOPSExceededCheck Average", "EBSIOBalance% Minimum"),
        ("InstanceEBSThroughputExceededCheck Average", "EBSByteBalance% Minimum"),
    )
    for instance in truth.running(region):
        if not instance.kind.nitro or truth.days_old(instance.launched) < 1:
            continue
        for reachable, (check, balance) in zip(_can_reach(truth, instance), checks, strict=True):
            if not reachable:
                continue
            asked.add(instance, HOUR, 8, check)
            shares = truth.values(instance, check, HOUR, 8)
            if len(shares) == 8 * 24 and _days(shares >= 0.05, 24, 3):
                asked.add(instance, HOUR, 8, *used)
                if instance.kind.ebs and instance.kind.ebs.baseline_mbps < instance.kind.ebs.maximum_mbps:
                    asked.add(instance, FIVE, 1, balance)


def _can_reach(truth: Truth, instance: Instance) -> tuple[bool, bool]:
    """Return whether all volumes together can reach the instance's baseline of IOPS, and of throughput."""
    limit = instance.kind.ebs
    most = [_most_of(volume) for volume in truth.fleet.volumes_of.get(instance.id, ())]
    return (
        limit is None or sum(one.iops for one in most) > limit.baseline_iops,
        limit is None or sum(one.mib_s for one in most) * MIB > limit.baseline_mbps * 1e6 / 8,
    )


def ec2_network_throttled(truth: Truth, region: str, asked: Asked) -> None:
    """Request hourly traffic in and out.

    Also request five-minute traffic if the hourly sums allow an hour at the baseline, or half an hour if ENA counters
    can confirm it. If no hour was at the baseline, the sums of quarter hours must allow it too. If traffic was stuck at
    the baseline, also request hourly CPU credits and the counters.
    """
    pinned = {p.resource_id for p in truth.fleet.planted if "ec2-network-throttled" in (*p.issues, p.control_of)}
    for instance in truth.running(region):
        if not instance.kind.bursts:
            continue
        asked.add(instance, HOUR, 14, "NetworkIn Sum", "NetworkOut Sum")
        most = {way: _busiest_hour(truth, instance, way) for way in ("NetworkIn Sum", "NetworkOut Sum")}
        counted = bool(instance.agent and agent_dimensions(instance))
        ways = _with_room(truth, instance, [way for way in most if most[way] >= 0.25], HOUR, counted=counted)
        if max(most.values()) < 0.9:
            asked.add(instance, QUARTER, 14, *ways)
            ways = _with_room(truth, instance, ways, QUARTER, counted=counted)
        asked.add(instance, FIVE, 14, *ways)
        stuck = [way for way in ways if instance.id in pinned and _stuck(truth, instance, way)]
        if stuck and instance.kind.cpu_credits:
            asked.add(instance, HOUR, 14, "CPUCreditBalance Minimum", "CPUCreditBalance SampleCount")
        if counted:
            asked.add(instance, FIVE, 14, *(f"shaped {way}" for way in stuck))


def _traffic(truth: Truth, instance: Instance, way: str, period_s: int) -> Floats:
    """Return traffic as a fraction of the baseline."""
    return truth.values(instance, way, period_s, 14) / period_s / instance.kind.baseline_bytes


def _busiest_hour(truth: Truth, instance: Instance, way: str) -> float:
    return float(_traffic(truth, instance, way, HOUR).max(initial=0))


def _with_room(truth: Truth, instance: Instance, ways: Sequence[str], period_s: int, *, counted: bool) -> list[str]:
    """Return the directions that can have half an hour at the baseline, or an hour together if nothing is counted."""
    room = {way: _room(truth, instance, way, period_s) for way in ways}
    return [way for way in ways if room[way] and (counted or sum(room.values()) >= 12)]


def _room(truth: Truth, instance: Instance, way: str, period_s: int) -> int:
    """Return the highest possible number of five-minute points at 90 % of the baseline or more.

    Only periods count that allow six such points in a row together with their neighbours: two hours, or three quarter
    hours with all points of the one between at the baseline.
    """
    size, ratio = period_s // FIVE, _traffic(truth, instance, way, period_s)
    most = np.minimum(size, np.floor(ratio * size / 0.9 + 1e-6))
    width = 2 if period_s == HOUR else 3
    if len(most) < width:
        return 0
    enough = np.convolve(most, np.ones(width), "valid") >= 6
    if period_s == QUARTER:
        enough &= ((most == size) & (ratio <= 1.05))[1:-1]
    return int(most[np.convolve(enough, np.ones(width)) > 0].sum())


def _stuck(truth: Truth, instance: Instance, way: str) -> bool:
    """Return whether six five-minute points in a row are near the baseline, at any time after a burst."""
    ratio = _traffic(truth, instance, way, FIVE)
    near = (ratio >= 0.9) & (ratio <= 1.05)
    runs = np.convolve(near, np.ones(6), "valid") >= 6
    burst = np.flatnonzero(ratio >= 1.3)
    return bool(len(burst)) and bool(runs[burst[0] :].any())


# EFS

_MONTH = (
    "DataReadIOBytes Sum",
    "DataReadIOBytes SampleCount",
    "DataWriteIOBytes Sum",
    "DataWriteIOBytes SampleCount",
    "MetadataIOBytes Sum",
    "MetadataIOBytes SampleCount",
    "MetadataReadIOBytes Sum",
)


def efs_idle(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily connections for each candidate, and four more metrics if there were none."""
    for system in _here(truth.fleet.efs, region):
        if system.replica or system.id in truth.members or truth.days_old(system.created) < 7:
            continue
        asked.add(system, DAY, truth.files_days, "ClientConnections Sum")
        if not truth.total(system, "ClientConnections Sum", DAY, truth.files_days):
            more = ("StorageBytes Average", "MeteredIOBytes Sum", "DataReadIOBytes Sum", "DataWriteIOBytes Sum")
            asked.add(system, DAY, truth.files_days, *more)


def efs_cold_data(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily reads if much data is in Standard, writes if reads are few, and the lifecycle if writes are, too.

    If nobody read it, request the lifecycle first. If no lifecycle policy moves its files, request the other metrics.
    """
    for system in _here(truth.fleet.efs, region):
        replica = system.replica or any(system.id == r.destination_id for r in truth.fleet.replications)
        if replica or system.standard_bytes < 100 * GIB or truth.days_old(system.created) < 30:
            continue
        warm = system.standard_bytes * 3 / 4
        asked.add(system, DAY, truth.files_days, "DataReadIOBytes Sum")
        read = truth.values(system, "DataReadIOBytes Sum", DAY, truth.files_days)
        if read.sum() > warm:
            continue
        if not read.any():
            asked.lifecycles.add(system.id)
            if system.lifecycle:
                continue
        asked.add(
            system, DAY, truth.files_days, "DataWriteIOBytes Sum", *([] if len(read) else ["StorageBytes Average"])
        )
        if read.sum() + truth.total(system, "DataWriteIOBytes Sum", DAY, truth.files_days) > warm:
            continue
        asked.lifecycles.add(system.id)
        if system.mode == "bursting" and not system.lifecycle:
            asked.add(system, FIVE if system.standard_bytes > TIB else DAY, truth.files_days, "MeteredIOBytes Sum")


def efs_credits_draining(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily credits for each file system in bursting mode, and hourly ones if it did not always have all."""
    for system in _here(truth.fleet.efs, region):
        if system.mode == "bursting":
            balance = "BurstCreditBalance Minimum"
            asked.add(system, DAY, 16, balance)
            lowest = truth.values(system, balance, DAY, 16).min(initial=0)
            if lowest < 0.99 * 2.1 * TIB * max(1.0, system.standard_bytes / TIB):
                asked.add(system, HOUR, 16, balance)


def efs_serial_small_writes(truth: Truth, region: str, asked: Asked) -> None:
    """Request hourly writes. If two hours had 90,000, also request hourly bytes, or hourly metadata.

    Metadata and quarters of an hour are enough if no run in them may keep half a writer waiting, at 185 operations a
    second or 313 on One Zone: a point of a run is at most 1.56 times the average, and a quarter 0.75 times. If hours
    are too busy for that, five-minute writes are needed.
    """
    for system in _here(truth.fleet.efs, region):
        if system.replica:
            continue
        asked.add(system, HOUR, 14, "DataWriteIOBytes SampleCount")
        by_hour = truth.values(system, "DataWriteIOBytes SampleCount", HOUR, 14)
        two = (by_hour[1:] + by_hour[:-1]).max() if len(by_hour) > 1 else 0
        if two < 90_000:
            continue
        least = 500 / (1.6 if system.one_zone else 2.7)
        if by_hour.max() / HOUR * 1.56 >= 0.75 * least:
            asked.add(system, FIVE, 14, "DataWriteIOBytes SampleCount")
            asked.add(system, HOUR, 14, "DataWriteIOBytes Sum")
            continue
        asked.add(system, HOUR, 14, "MetadataIOBytes SampleCount")
        if two / 1_800 * 1.56 >= least:
            asked.add(system, 3 * FIVE, 14, "DataWriteIOBytes SampleCount")


def efs_single_client(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily connections if all data is in Standard.

    If one client was connected almost all the time, also request five-minute connections, reads and writes.
    """
    for system in _here(truth.fleet.efs, region):
        colder = system.ia_bytes or system.archive_bytes
        if colder or system.replica or system.id in truth.members or not system.mount_targets:
            continue
        if truth.days_old(system.created) < 30:
            continue
        asked.add(system, DAY, truth.files_days, "ClientConnections Sum")
        days = truth.values(system, "ClientConnections Sum", DAY, truth.files_days)
        if len(days) == truth.files_days + 1 and days.max() <= 1440 and days[-31:-1].sum() >= 0.9 * 1440 * 30:
            asked.add(
                system, FIVE, truth.files_days, "ClientConnections Sum", "DataReadIOBytes Sum", "DataWriteIOBytes Sum"
            )


def efs_throughput_mismatch(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily metered bytes, and the month's mix of operations if bursting mode may be enough.

    If throughput is paid for, also request hourly values. Five-minute values follow, unless bursting carries every hour
    even if its traffic falls into one minute. Bursting mode is free, so it is checked only if many days were busy
    enough to reach the limit, which no fleet here has.
    """
    for system in _here(truth.fleet.efs, region):
        if system.replica or system.archive_bytes or truth.days_old(system.created) < 14:
            continue
        asked.add(system, DAY, truth.files_days, "MeteredIOBytes Sum")
        by_day = truth.values(system, "MeteredIOBytes Sum", DAY, truth.files_days)
        paid = system.mode == "elastic" or (system.provisioned_mibps or 0) > system.standard_bytes / GIB / 20
        if system.mode == "bursting" or not paid or len(by_day) < 15:
            continue
        month = by_day[:-1].mean() * 365 / 12
        if system.mode == "elastic" and month < 10 * GIB:
            continue
        busier = len(by_day) > 15 and by_day[:-15].max() > 1.2 * by_day[-15:-1].max()
        days = truth.files_days if busier else 15
        hours = max(16, days)
        asked.add(system, HOUR, hours, "MeteredIOBytes Sum", "PermittedThroughput Minimum")
        by_hour = truth.values(system, "MeteredIOBytes Sum", HOUR, hours)
        if by_hour.max() / 60 * 1.2 > 100 * MIB * max(1.0, system.standard_bytes / TIB):
            asked.add(system, FIVE, days, "MeteredIOBytes Sum")
        bursting = _bursting_carries(system, month, truth.values(system, "MeteredIOBytes Sum", FIVE, days))
        paid_mib_s = (system.provisioned_mibps or 0) - system.standard_bytes / GIB / 20
        if bursting or (system.mode == "provisioned" and month / GIB < 125 * paid_mib_s):
            asked.add(system, DAY, truth.files_days, *_MONTH)
        if bursting and system.mode == "provisioned":
            asked.add(system, DAY, truth.files_days, "BurstCreditBalance Minimum")


def _bursting_carries(system: ElasticFileSystem, month: float, metered: Floats) -> bool:
    """Return whether bursts carry its busiest five minutes plus 20 %, and a quarter of the credits always remains."""
    large = max(1.0, system.standard_bytes / TIB)
    earned = 50 * KIB * system.standard_bytes / GIB
    if metered.max(initial=0) / FIVE * 1.2 > 100 * MIB * large or month * 1.2 > earned * 365 / 12 * DAY:
        return False
    full = 2.1 * TIB * large
    balance = lowest = full
    for used in metered:
        balance = min(full, balance + earned * FIVE - 1.2 * used)
        lowest = min(lowest, balance)
    return lowest >= full / 4


# FSx


def fsx_idle(truth: Truth, region: str, asked: Asked) -> None:
    """Request daily reads. The further requests for file systems without reads are left out."""
    for system in _here(truth.fleet.fsx, region):
        if truth.days_old(system.created) >= 7:
            asked.add(system, DAY, truth.files_days, "DataReadOperations Sum")


def fsx_oversized(truth: Truth, region: str, asked: Asked) -> None:
    """Request the daily SSD use of ONTAP. The fleet's OpenZFS file systems already have the minimum size."""
    for system in _here(truth.fleet.fsx, region):
        if system.kind == "ONTAP" and truth.days_old(system.created) >= 15:
            asked.add(system, DAY, truth.files_days, "StorageUsed Maximum")


def fsx_surplus(truth: Truth, region: str, asked: Asked) -> None:
    """Request disk use if IOPS are bought, and network use if a smaller file server exists.

    If network use is low, also request the file server's CPU and disk use.
    """
    server = ("CPUUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")
    for system in _here(truth.fleet.fsx, region):
        if truth.days_old(system.created) < 14:
            continue
        if system.kind in {"ONTAP", "OPENZFS"} and (system.iops or 0) > 3 * system.storage_gib:
            asked.add(system, DAY, truth.ebs_days, "DiskIopsUtilization Maximum")
        if system.kind == "ONTAP" and system.throughput > 128:
            network = "NetworkThroughputUtilization Maximum"
            asked.add(system, DAY, truth.ebs_days, network)
            if truth.values(system, network, DAY, truth.ebs_days).max(initial=0) * 2 < 50:
                asked.add(system, DAY, truth.ebs_days, *_as("Maximum", server))


def fsx_sync_export(truth: Truth, region: str, asked: Asked) -> None:
    """Request hourly writes for each sync export; if there are many, also five-minute writes.

    If six of them are 100 a second or more, also request bytes and disk use.
    """
    systems = {system.id: system for system in truth.fleet.fsx}
    for volume in _here(truth.fleet.fsx_volumes, region):
        if volume.kind != "OPENZFS" or all("async" in export.options for export in volume.exports):
            continue
        asked.add(volume, HOUR, 14, "DataWriteOperations Sum")
        by_hour = truth.values(volume, "DataWriteOperations Sum", HOUR, 14)
        if by_hour[by_hour >= 30_000].sum() < 180_000:
            continue
        asked.add(volume, FIVE, 14, "DataWriteOperations Sum")
        if (truth.values(volume, "DataWriteOperations Sum", FIVE, 14) >= 30_000).sum() >= 6:
            asked.add(volume, FIVE, 14, "DataWriteBytes Sum")
            disks = ("DiskIopsUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")
            asked.add(systems[volume.file_system_id], FIVE, 14, *_as("Maximum", disks))


QUESTIONS: tuple[Question, ...] = (
    ebs_unattached,
    ebs_idle,
    ebs_surplus_throughput,
    ebs_surplus_iops,
    ebs_outdated_type,
    ebs_burst_draining,
    ebs_surplus_size,
    ec2_idle,
    ec2_cpu_credits_surcharged,
    ec2_ebs_throttled,
    ec2_network_throttled,
    efs_idle,
    efs_cold_data,
    efs_credits_draining,
    efs_serial_small_writes,
    efs_single_client,
    efs_throughput_mismatch,
    fsx_idle,
    fsx_oversized,
    fsx_surplus,
    fsx_sync_export,
)

SEVEN: tuple[Question, ...] = (
    ebs_unattached,
    ebs_idle,
    ebs_outdated_type,
    ec2_idle,
    efs_idle,
    fsx_idle,
    fsx_sync_export,
)
"""The questions that the benchmark also asks Cloud Custodian."""
