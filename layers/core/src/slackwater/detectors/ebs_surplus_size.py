"""EBS volumes far larger than what is on them.

## What it finds
A data volume whose file system stayed below 40 % full, as the CloudWatch agent on its instance says (`disk_used_percent`). The
fullest moment of every one of the last 35 days counts, so a monthly export is seen; the last 14 days must be whole, and every
day since the agent, the volume or the instance began. The agent tells which volume a file system is on if it is told to append
`VolumeId`; a device that has another name since a reboot is the same disk. Without that it is known only where the instance has
a single data volume: what is on the disk of `/` does not count, and nothing is said where a file system is of a kind that may
span disks (zfs), or on a device that does not name its disk (LVM, RAID).

A file system that fills up is given half a year to grow: at the pace of the window, but at most at twice that of the last week.
A single copy is no growth. A volume that no agent looks into is left alone.

## Why it matters
A volume is billed for its size, however empty it is. EFS bills what is used: One Zone costs about what a volume of twice the
used size does ("Can Amazon EFS replace EBS?", 2025-02-19).

## When it is wrong
Room may be kept for a restore or a migration to come: tag the volume `keep`. An export that comes less often than once a month
is not seen. A file system is not larger than its volume, so what is used is never told too low; but what lies on the volume
outside of a file system is not seen. Where the agent names no volume, the file system may be on a local disk of the instance:
the confidence is medium at most.

## What to do
A volume cannot shrink. Make a smaller one, copy what is there, swap the two, and delete the old one after a week. The smaller
one keeps the IOPS and the throughput of the old: where they come with the size, as with gp2, it is a gp3. Or move to EFS One
Zone, where what is there suits a shared file system.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from math import ceil, isnan, nan
from statistics import median
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.fleet import Fleet, is_root
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, amount, difference, efs_storage, size_class
from slackwater.model.resources import Attachment, DiskMetric, Instance, Target, Volume
from slackwater.model.units import DAY_S, MIB
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.rules.series import hole_words

FILE_SYSTEMS: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs"})
"""Those that are on one device."""
ELSEWHERE: Final = frozenset(
    {"cifs", "devtmpfs", "efivarfs", "iso9660", "lustre", "nfs", "nfs4", "overlay", "ramfs", "smb3", "squashfs", "tmpfs"}
)
"""Those that are on no disk, or on none that is written: memory, network, stacked, packed. Others may span several disks."""
DISK: Final = re.compile(r"(?P<disk>nvme\d+n\d+|(?:xv|s|h)d[a-z]+)(?:p?\d+)?")
"""A device that names its disk, and the partition: `nvme0n1p1`, `xvdf`. `dm-0`, `mapper/data` and `md0` do not."""
USUAL_ROOT_DISKS: Final = frozenset({"nvme0n1", "xvda", "sda"})
SYSTEM_PATHS: Final = ("/", "/boot")
WEEK: Final = 7


class SurplusSizeLimits(Limits):
    """How empty a volume must be, and what a smaller one must hold."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=14, le=450, why="two weekly rhythms without a gap are needed to judge at all")
    used_percent: float = limit(40, unit="percent", gt=0, lt=100, why="twice as much still fits")
    headroom_percent: float = limit(40, unit="percent", ge=0, le=400, why="a file system gets slow when it is nearly full")
    growth_days: int = limit(180, unit="days", ge=0, le=3_650, why="nobody wants to copy it again within half a year")
    least_gib: int = limit(8, unit="GiB", ge=1, le=16_384, why="the size of a usual root volume: below, it is cents")


def judge(volume: Volume, seen: Seen, limits: SurplusSizeLimits) -> Verdict:
    """Flag a data volume whose file system has long been nearly empty, and does not fill up."""
    if not volume.attachments:
        return Fine("it is on no instance")
    if len(volume.attachments) > 1:
        return Fine("several instances share it")
    if volume.size_gib <= limits.least_gib:
        return Fine(f"it has {volume.size_gib} GiB")
    if volume.volume_type not in ebs.VOLUME_TYPES:
        return Fine(f"its type {volume.volume_type} is not known")
    instance = seen.fleet.get(Instance, volume.attachments[0].instance_id)
    if instance is None:
        return Unknown(f"its instance {volume.attachments[0].instance_id} is not in the inventory")
    if instance.state != "running":
        return Fine(f"its instance is {instance.state}: no agent looks into it")
    if is_root(volume, seen.fleet) is not False:
        return Fine("its instance starts from it, or may do so")
    disks = _disks(volume, seen.fleet)
    if isinstance(disks, Fine):
        return disks
    if not disks:
        if reason := seen.fleet.unreadable.get(DiskMetric):
            return Unknown(f"whether an agent looks into it could not be read: {reason}")
        return Fine("no agent says how full it is")

    needs = [_need(disk, limits) for disk in disks]
    if lacking := seen.lacking(needs):
        return Ask(lacking)
    attached = max([volume.created_at, *(one.attached_at for one in volume.attachments if one.attached_at)])
    if seen.age(attached) < timedelta(days=limits.least_days + 1):
        return Fine(f"it was attached less than {limits.least_days} whole days ago")
    fullest = _fullest((disk.path, seen[need]) for disk, need in zip(disks, needs, strict=True))
    if fullest.present and max(fullest.present) >= limits.used_percent:
        return Fine(f"it was {max(fullest.present):.0f} % full")
    finished = seen.finished(fullest, fullest.start)
    if words := hole_words(finished, limits.least_days, max(attached, instance.launched_at)):
        return Unknown(f"disk_used_percent {words}")
    return _judge_use(volume, instance, disks, fullest, finished, limits)


def _need(disk: DiskMetric, limits: SurplusSizeLimits) -> Need:
    metric = Metric(disk.namespace, disk.name, "Maximum", "percent", optional=True)
    return metric.need(*disk.dimensions, period_s=DAY_S, days=max(limits.window_days, limits.least_days))


def _disks(volume: Volume, fleet: Fleet) -> Sequence[DiskMetric] | Fine:
    """What tells how full a volume is: what names it, or all that must be on the instance's only data volume."""
    instance_id = volume.attachments[0].instance_id
    disks = fleet.disks_of(instance_id)
    named = [disk for disk in disks if disk.volume_id == volume.id]
    others = [one for one in fleet.volumes_of(instance_id) if one.id != volume.id and is_root(one, fleet) is not True]
    if named or others or any(disk.volume_id for disk in disks):
        return named
    return _on_no_root(disks)


def _on_no_root(disks: Sequence[DiskMetric]) -> Sequence[DiskMetric] | Fine:
    """The file systems on disks that the instance does not start from; Fine where one may be on any disk."""
    system = [_disk_name(disk) for disk in disks if _is_system(disk)]
    root = {name for name in system if name} or USUAL_ROOT_DISKS
    data = []
    for disk in disks:
        kind = dict(disk.dimensions).get("fstype", "").lower()
        if _is_system(disk) or kind in ELSEWHERE:
            continue
        if kind not in FILE_SYSTEMS:
            return Fine(f"what is at {disk.path or 'a path without a name'} ({kind or 'of no kind'}) may be on it too")
        name = _disk_name(disk)
        if not name:
            return Fine(f"the device of {disk.path or 'a path without a name'} does not say which disk it is on")
        if name not in root:
            data.append(disk)
    return data


def _is_system(disk: DiskMetric) -> bool:
    return disk.path in SYSTEM_PATHS or disk.path.startswith("/boot/")


def _disk_name(disk: DiskMetric) -> str | None:
    """The disk of its device, without the partition."""
    found = DISK.fullmatch(dict(disk.dimensions).get("device", ""))
    return found and found["disk"]


def _fullest(told: Iterable[tuple[str, Series]]) -> Series:
    """The fullest of several file systems by day, which is never too low a share of the volume; missing where one is.

    What is told of one path is one file system: its device has another name since a reboot, and its metric with it.
    """
    by_path: defaultdict[str, list[Series]] = defaultdict(list)
    for path, series in told:
        by_path[path].append(series)
    first = next(iter(by_path.values()))[0]
    paths = [[_most(values) for values in zip(*(one.values for one in same), strict=True)] for same in by_path.values()]
    days = zip(*paths, strict=True)
    return Series.of(first.start_s, DAY_S, [nan if any(map(isnan, values)) else max(values) for values in days])


def _most(values: Sequence[float]) -> float:
    """The greatest of those that are there."""
    return max((value for value in values if not isnan(value)), default=nan)


def _pace(percents: Sequence[float]) -> float:
    """Percent a day, by the middles of the first and of the last week: no single day decides."""
    return (median(percents[-WEEK:]) - median(percents[:WEEK])) / max(1, len(percents) - WEEK)


def _pace_of_late(percents: Sequence[float]) -> float:
    """The same over the last week: the newest three days against those a week before, which have the same weekdays."""
    return (median(percents[-3:]) - median(percents[-WEEK - 3 : -WEEK])) / WEEK


def _judge_use(
    volume: Volume,
    instance: Instance,
    disks: Sequence[DiskMetric],
    fullest: Series,
    finished: Series,
    limits: SurplusSizeLimits,
) -> Verdict:
    peak = max(fullest.present)
    pace = _pace(finished.present)
    growth = max(0.0, min(pace, 2 * _pace_of_late(finished.present))) * limits.growth_days
    if peak + growth >= limits.used_percent:
        return Fine(
            f"it was {peak:.0f} % full, and fills up, last week too: {peak + growth:.0f} % in {limits.growth_days} days"
        )
    wanted = ebs.with_headroom((peak + growth) / 100 * volume.size_gib, limits.headroom_percent)
    smaller = _smaller(volume, max(wanted, limits.least_gib))
    if smaller.size_gib >= volume.size_gib:
        return Fine("a volume of what it needs is as large")
    used_gib = peak / 100 * volume.size_gib
    named = bool(disks[0].volume_id)
    confidence: Confidence = "high" if named and not finished.missing else "medium"
    owner = volume.managed_by or instance.managed_by
    caveats = ["A new volume is not encrypted with the old one's key, and has none of its tags, unless you name them."]
    if not named:
        caveats.append("The agent names no volume: this is the only data volume of its instance, so it is taken to be it.")
    if finished.missing:
        seen_days = len(finished) - finished.missing
        caveats.append(f"Only {seen_days} of the last {len(finished)} days were seen: a monthly job may be missing.")
    if peak + pace * limits.growth_days >= limits.used_percent:
        rise = pace * max(1, len(finished.present) - WEEK)
        caveats.append(
            f"It rose by {rise:.0f} % of the volume in these days, and hardly in the last week: taken for a copy, not growth."
        )
    if owner:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=(
            f"{volume.size_gib:,} GiB {volume.volume_type}, and at most {used_gib:,.1f} GiB ({peak:.0f} %) of it used in"
            f" {len(finished) - finished.missing} days: {smaller.size_gib:,} GiB would do"
        ),
        confidence=confidence,
        evidence=(
            Evidence(
                label="Fullest of a day",
                value=round(peak, 1),
                unit="percent",
                series=fullest,
                scale=100,
                lines=(
                    Line(f"Provisioned ({volume.size_gib:,} GiB)", 100),
                    Line(f"Proposed ({smaller.size_gib:,} GiB)", round(smaller.size_gib / volume.size_gib * 100, 2)),
                ),
            ),
            Evidence(label="Used at most", value=round(used_gib, 1), unit="GiB"),
            Evidence(label=f"Growth in {limits.growth_days} days", value=round(growth, 1), unit="percent"),
            Evidence(label="Mounted at", value=", ".join(dict.fromkeys(disk.path for disk in disks)), unit="words"),
            Evidence(label="Instance", value=instance.id, unit="words"),
        ),
        advice=(_copy(volume, smaller), _efs(volume, used_gib)),
        gist=(volume.size_gib, size_class(smaller.size_gib)),
        caveats=tuple(caveats),
    )


def _smaller(volume: Volume, gib: int) -> Volume:
    """The volume in a smaller size that is as fast: a gp3 where speed comes with the size, and as many GiB as its IOPS need."""
    kind, iops, mib_s = volume.volume_type, volume.iops, volume.throughput_mib_s
    if sized := ebs.sized_limits(kind, volume.size_gib):
        iops, mib_s = ceil(sized.iops), ceil(sized.bytes_per_s / MIB)
    if sized or kind == "standard":
        kind = "gp3"
    if kind == "gp3":
        iops, mib_s = max(iops or 0, ebs.GP3_INCLUDED_IOPS), max(mib_s or 0, ebs.GP3_INCLUDED_MIB_S)
    limits = ebs.VOLUME_TYPES[kind]
    paid_iops = iops if iops and not (kind == "gp3" and iops <= ebs.GP3_INCLUDED_IOPS) else 0
    least = max(limits.gib[0], ceil(paid_iops / limits.iops_per_gib) if limits.iops_per_gib else 0)
    return replace(volume, volume_type=kind, size_gib=max(gib, least), iops=iops, throughput_mib_s=mib_s)


def _copy(volume: Volume, smaller: Volume) -> Advice:
    target = volume.target
    speed = f" --iops {smaller.iops}" if smaller.iops else ""
    speed += f" --throughput {smaller.throughput_mib_s}" if smaller.throughput_mib_s else ""
    return Advice(
        action="move-to-smaller-volume",
        summary=(
            f"Make a {smaller.volume_type} of {smaller.size_gib:,} GiB that is as fast, attach it and copy: first while all"
            " runs, then the rest with nothing running on the old one; mount the new one in its place. Take a snapshot of the"
            " old one, and delete it after a week."
        ),
        changes=difference(ebs.monthly_units(volume), ebs.monthly_units(smaller)),
        risk="What runs on it stops for the second copy. The new one can grow at any time; none can shrink.",
        reversible=True,
        command=(
            f"aws ec2 create-volume --region {target.region} --availability-zone {volume.availability_zone}"
            f" --volume-type {smaller.volume_type} --size {smaller.size_gib}{speed}"
        ),
    )


def _efs(volume: Volume, used_gib: float) -> Advice:
    storage = Change(efs_storage("Standard", one_zone=True, elastic=False), amount(used_gib))
    return Advice(
        action="move-to-efs-one-zone",
        summary=f"Or copy it to EFS One Zone, which bills the {used_gib:,.1f} GiB that are used and follows them.",
        changes=difference(ebs.monthly_units(volume), (storage,)),
        risk="Every small write waits for the network: not for databases. It starts with burst credits; watch them.",
        reversible=True,
    )


_TARGET = Target("123456789012", "us-east-1")
_HOST = Instance(
    id="i-0123454321234543a",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0123454321234543a",
    target=_TARGET,
    tags={"Name": "archive"},
    instance_type="m6i.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=200),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_VOLUME = Volume(
    id="vol-0abcabcabcabcabca",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0abcabcabcabcabca",
    target=_TARGET,
    tags={"Name": "archive-data"},
    volume_type="gp3",
    size_gib=1_000,
    iops=3000,
    throughput_mib_s=125,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=200),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_HOST.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=200)),),
)
_SECOND = replace(_VOLUME, id="vol-0bcdbcdbcdbcdbcdb")
_USED = Metric("CWAgent", "disk_used_percent", "Maximum", "percent", optional=True)


def _disk(path: str = "/data", volume_id: str = "", fstype: str = "xfs", device: str = "nvme1n1") -> DiskMetric:
    named = (("VolumeId", f"aws://us-east-1a/{volume_id}"),) if volume_id else ()
    dimensions = (("InstanceId", _HOST.id), *named, ("device", device), ("fstype", fstype), ("path", path))
    return DiskMetric(
        id=f"disk_used_percent/{path}/{volume_id}/{device}",
        namespace="CWAgent",
        name="disk_used_percent",
        instance_id=_HOST.id,
        dimensions=dimensions,
    )


def _percents(values: Sequence[float | None]) -> dict[tuple[Metric, int], Sequence[float | None]]:
    return {(_USED, DAY_S): values}


_SYSTEM: Final = (_disk("/", device="nvme0n1p1"), _disk("/boot/efi", fstype="vfat", device="nvme0n1p128"))
_NAMED: Final = (_HOST, _disk(volume_id=_VOLUME.id))
_TENTH: Final = _percents([10.0] * 36)

DETECTOR = Detector(
    title="EBS volume far larger than what is on it",
    kind="waste",
    resource=Volume,
    limits=SurplusSizeLimits,
    reads=(Instance,),
    reads_if_allowed=(DiskMetric,),
    judge=judge,
    cases=(
        Case(
            title="a tenth of it is used",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_TENTH,
            expect=Flagged,
            says="at most 100.0 GiB (10 %) of it used in 35 days: 140 GiB would do",
        ),
        Case(
            title="the only data volume, and an agent that names none",
            resource=_VOLUME,
            records=(_HOST, _disk(), _disk("/run", fstype="tmpfs", device="tmpfs"), *_SYSTEM),
            metrics=_TENTH,
            expect=Flagged,
            says="140 GiB would do",
        ),
        Case(
            title="an agent that names no volume, and tells of another partition of the disk of /",
            resource=_VOLUME,
            records=(_HOST, *_SYSTEM, _disk("/home", device="nvme0n1p3")),
            metrics=_TENTH,
            expect=Fine,
            says="no agent says",
        ),
        Case(
            title="an agent that names no volume, and a file system that may span disks",
            resource=_VOLUME,
            records=(_HOST, *_SYSTEM, _disk(), _disk("/tank", fstype="zfs", device="tank")),
            metrics=_TENTH,
            expect=Fine,
            says="what is at /tank (zfs) may be on it too",
        ),
        Case(
            title="an agent that names no volume, and LVM",
            resource=_VOLUME,
            records=(_HOST, *_SYSTEM, _disk(device="mapper/data-home")),
            metrics=_TENTH,
            expect=Fine,
            says="does not say which disk",
        ),
        Case(
            title="one of two data volumes, and an agent that names none",
            resource=_VOLUME,
            records=(_HOST, _SECOND, _disk(), _disk("/scratch")),
            metrics=_TENTH,
            expect=Fine,
            says="no agent says",
        ),
        Case(
            title="an agent that names another volume only",
            resource=_VOLUME,
            records=(_HOST, _disk(volume_id=_SECOND.id)),
            metrics=_TENTH,
            expect=Fine,
            says="no agent says",
        ),
        Case(
            title="an agent was installed three weeks ago",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([10.0] * 21),
            expect=Flagged,
            says="in 20 days",
        ),
        Case(
            title="an export that fills it once a month",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([10.0] * 12 + [85.0] + [10.0] * 23),
            expect=Fine,
            says="85 % full",
        ),
        Case(
            title="a single copy twelve days ago, and no more since",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([10.0] * 23 + [30.0] * 13),
            expect=Flagged,
            says="at most 300.0 GiB (30 %) of it used in 35 days: 420 GiB would do",
        ),
        Case(
            title="it fills up on one day of every week",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([20.0 + 3 * (day // 7) for day in range(36)]),
            expect=Fine,
            says="fills up, last week too",
        ),
        Case(
            title="it fills up: a tenth a month",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([20 + day / 3 for day in range(36)]),
            expect=Fine,
            says="fills up",
        ),
        Case(
            title="half of it is used",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([50.0] * 36),
            expect=Fine,
            says="50 % full",
        ),
        Case(
            title="a day without the agent",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([10.0] * 28 + [None] + [10.0] * 7),
            expect=Unknown,
            says="no point on 1 of the last 14 days",
        ),
        Case(
            title="a day without the agent four weeks ago",
            resource=_VOLUME,
            records=_NAMED,
            metrics=_percents([10.0] * 7 + [None] + [10.0] * 28),
            expect=Unknown,
            says="no point on 1 of the 35 days since 2026-10-12",
        ),
        Case(
            title="attached ten days ago",
            resource=replace(
                _VOLUME, attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(days=10)),)
            ),
            records=_NAMED,
            metrics=_percents([10.0] * 11),
            expect=Fine,
            says="attached less than 14 whole days ago",
        ),
        Case(title="no agent", resource=_VOLUME, records=(_HOST,), expect=Fine, says="no agent says"),
        Case(
            title="nobody may list the agent's metrics",
            resource=_VOLUME,
            records=(_HOST,),
            unreadable={DiskMetric: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(
            title="a root volume",
            resource=replace(_VOLUME, attachments=(replace(_VOLUME.attachments[0], device="/dev/xvda"),)),
            records=(_HOST, _disk("/", _VOLUME.id)),
            metrics=_TENTH,
            expect=Fine,
            says="starts from it",
        ),
        Case(
            title="on a stopped instance",
            resource=_VOLUME,
            records=(replace(_HOST, state="stopped"), _disk(volume_id=_VOLUME.id)),
            expect=Fine,
            says="is stopped",
        ),
        Case(
            title="as small as a root volume",
            resource=replace(_VOLUME, size_gib=8),
            records=_NAMED,
            metrics=_TENTH,
            expect=Fine,
            says="8 GiB",
        ),
        Case(
            title="IOPS that need its size",
            resource=replace(_VOLUME, volume_type="io1", iops=50_000),
            records=_NAMED,
            metrics=_TENTH,
            expect=Fine,
            says="as large",
        ),
        Case(
            title="on no instance",
            resource=replace(_VOLUME, state="available", attachments=()),
            expect=Fine,
            says="on no instance",
        ),
        Case(title="its instance is being terminated", resource=_VOLUME, expect=Unknown, says="not in the inventory"),
        Case(
            title="instances could not be read",
            resource=_VOLUME,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
