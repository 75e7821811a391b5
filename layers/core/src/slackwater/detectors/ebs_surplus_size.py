"""Volumes that are far larger than the data on them.

## What it finds
A data volume with a file system that was less than 40 % full on each of the last 35 days, as the CloudWatch agent on
its instance reports (`disk_used_percent`). The agent must have reported each of the last 14 days, and must append
`VolumeId`, or the volume must be the only data volume of its instance, on a device that names its disk.

## Why it matters
AWS bills the size of a volume, however empty it is. EFS One Zone bills what is stored, at about twice the price.

## When it is wrong
- Someone keeps the space for a restore or a migration. Tag the volume `keep`.
- An export that is rarer than once a month does not show, nor does data outside of a file system.
- If the agent names no volume, the file system may be on a local disk of the instance. The confidence is medium then.

## What to do
You cannot shrink a volume. Create a smaller one that is as fast, copy the data, swap the two, and delete the old one
after a week. Name the encryption key and the tags, or the new one has neither. Or move to EFS One Zone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil, isnan, nan
from statistics import median
from typing import Final, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.fleet import Fleet, is_root
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, amount, difference, efs_storage, size_class
from slackwater.model.resources import DiskMetric, Instance, Volume
from slackwater.model.units import DAY_S, MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import ebs, examples
from slackwater.rules.advice import caveats
from slackwater.rules.examples import Cases, days, days_ago
from slackwater.rules.series import greatest, hole_words

FILE_SYSTEMS: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs"})  # these use one device
NETWORKED: Final = frozenset({"cifs", "lustre", "nfs", "nfs4", "smb3"})
ELSEWHERE: Final = NETWORKED | {"devtmpfs", "efivarfs", "iso9660", "overlay", "ramfs", "squashfs", "tmpfs"}
"""File systems on no disk or a read-only one: memory, network, overlay, packed. Others may span several disks."""
DISK: Final = re.compile(r"(?P<disk>nvme\d+n\d+|(?:xv|s|h)d[a-z]+)(?:p?\d+)?")
"""Matches a device that names its disk: `nvme0n1p1`, `xvdf`. The names `dm-0`, `mapper/data` and `md0` do not."""
WEEK: Final = 7


class SurplusSizeLimits(Limits):
    """How empty a volume must be, and what a smaller one must hold."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=14, le=450, why="two weekly rhythms without a missing day")
    used_percent: float = limit(40, unit="percent", gt=0, lt=100, why="twice as much still fits")
    headroom_percent: float = limit(40, unit="percent", ge=0, le=400, why="a nearly full file system is slow")
    growth_days: int = limit(180, unit="days", ge=0, le=3_650, why="half a year until you copy it again")
    least_gib: int = limit(8, unit="GiB", ge=1, le=16_384, why="the size of a usual root volume; less costs cents")


def judge(volume: Volume, seen: Seen, limits: SurplusSizeLimits) -> Verdict:
    """Flag a data volume whose file system has long been nearly empty and does not fill up."""
    unless_decided(_exempt(volume, limits))
    running = unless_decided(ebs.running(volume, seen))
    if is_root(volume, seen.fleet) is not False:
        return Fine("its instance boots from it, or may do so")
    disks = unless_decided(_disks(volume, seen.fleet))
    attached, reported = ebs.attached_at(volume), seen.read(*(_need(disk, limits) for disk in disks))
    if seen.is_younger(attached, days=limits.least_days + 1):
        return Fine(f"it was attached less than {limits.least_days} whole days ago")
    fullest = _fullest(zip((disk.path for disk in disks), reported, strict=True))
    if fullest.present and max(fullest.present) >= limits.used_percent:
        return Fine(f"it was {max(fullest.present):.0f} % full")
    finished = seen.finished(fullest, fullest.start)
    if words := hole_words(finished, limits.least_days, max(attached, running[0].launched_at)):
        return Unknown(f"disk_used_percent {words}")
    use = _use(fullest, finished, limits.growth_days)
    if use.peak + use.growth >= limits.used_percent:
        then = f"{use.peak + use.growth:.0f} % in {limits.growth_days} days"
        return Fine(f"it was {use.peak:.0f} % full and fills up: {then}")
    wanted = formulas.with_headroom((use.peak + use.growth) / 100 * volume.size_gib, limits.headroom_percent)
    smaller = _smaller(volume, max(wanted, limits.least_gib))
    if smaller.size_gib >= volume.size_gib:
        return Fine("a volume with what it needs is as large")
    found = _flag(volume, smaller, use, disks, limits)
    return found if volume.managed_by else replace(found, caveats=(*found.caveats, *ebs.managed_instances(running)))


class Use(NamedTuple):
    """How full a volume is: by day (with and without today) and at most, in percent, and how much that rises.

    `rise` is between the medians of the first and the last week, so no single day decides. `later` is the rise in the
    next `growth_days` at the same rate. `growth` is `later`, but at most twice the rise at the last week's rate.
    """

    fullest: Series
    finished: Series
    peak: float
    rise: float
    later: float
    growth: float


def _use(fullest: Series, finished: Series, growth_days: int) -> Use:
    percents = finished.present
    rise = median(percents[-WEEK:]) - median(percents[:WEEK])
    later = rise / max(1, len(percents) - WEEK) * growth_days
    last_week = (median(percents[-3:]) - median(percents[-WEEK - 3 : -WEEK])) / WEEK
    growth = max(0.0, min(later, 2 * last_week * growth_days))
    return Use(fullest, finished, max(fullest.present), rise, later, growth)


def _flag(volume: Volume, smaller: Volume, use: Use, disks: Sequence[DiskMetric], limits: SurplusSizeLimits) -> Flagged:
    rose = f"It rose by {use.rise:.0f} % of the volume, but hardly in the last week, as after a copy."
    unnamed = "The agent names no volume. Slackwater assumes this one, the only data volume of its instance."
    few = f"Only {len(use.finished.present)} of {len(use.finished)} days have a point. A monthly job may be missing."
    rises = use.peak + use.later >= limits.used_percent
    found = ((unnamed, not disks[0].volume_id), (few, use.finished.missing), (rose, rises))
    used_gib, gib = use.peak / 100 * volume.size_gib, smaller.size_gib
    proposed = Line(f"Proposed ({gib:,} GiB)", round(gib / volume.size_gib * 100, 2))
    lines = (Line(f"Provisioned ({volume.size_gib:,} GiB)", 100), proposed)
    return Flagged(
        summary=(
            f"{volume.size_gib:,} GiB {volume.volume_type}, at most {used_gib:,.1f} GiB ({use.peak:.0f} %) used in"
            f" {len(use.finished.present)} days: {gib:,} GiB are enough"
        ),
        confidence="high" if disks[0].volume_id and not use.finished.missing else "medium",
        evidence=(
            Evidence("Highest use of each day", round(use.peak, 1), "percent", use.fullest, 100, lines),
            Evidence("Highest use", round(used_gib, 1), "GiB"),
            Evidence(f"Growth in {limits.growth_days} days", round(use.growth, 1), "percent"),
            Evidence("Mounted at", ", ".join(dict.fromkeys(disk.path for disk in disks)), "words"),
            Evidence("Instance", volume.attachments[0].instance_id, "words"),
        ),
        advice=(_copy(volume, smaller), _efs(volume, used_gib)),
        fingerprint_inputs=(volume.size_gib, size_class(gib)),
        caveats=caveats(*found),
    )


def _exempt(volume: Volume, limits: SurplusSizeLimits) -> Fine | None:
    """Return the verdict on a volume that is not judged whatever is on it; None if it is judged."""
    if not volume.attachments:
        return Fine("it is not attached")
    if len(volume.attachments) > 1:
        return Fine("several instances share it")
    if volume.size_gib <= limits.least_gib:
        return Fine(f"it has {volume.size_gib} GiB")
    return None if volume.volume_type in formulas.VOLUME_TYPES else Fine(f"its type {volume.volume_type} is unknown")


def _need(disk: DiskMetric, limits: SurplusSizeLimits) -> Need:
    metric = Metric(disk.namespace, disk.name, "Maximum", "percent", optional=True)
    return metric.need(*disk.dimensions, period_s=DAY_S, days=max(limits.window_days, limits.least_days))


def _disks(volume: Volume, fleet: Fleet) -> Sequence[DiskMetric] | Fine | Unknown:
    """Return the metrics that name the volume or must be of the instance's only data volume; the verdict if none do."""
    instance_id = volume.attachments[0].instance_id
    disks = fleet.disks_of(instance_id)
    named = [disk for disk in disks if disk.volume_id == volume.id]
    others = [one for one in fleet.volumes_of(instance_id) if one.id != volume.id and is_root(one, fleet) is not True]
    if not (named or others or any(disk.volume_id for disk in disks)):
        named = unless_decided(_on_data_disks(disks))
    if denied := None if named else fleet.unreadable.get(DiskMetric):
        return Unknown(f"the agent's metrics could not be listed: {denied}")
    return named or Fine("no agent reports how full it is")


def _on_data_disks(disks: Sequence[DiskMetric]) -> list[DiskMetric] | Fine:
    """Return the file systems on disks that the instance does not boot from; Fine if one may be on any disk."""
    system = [_disk_name(disk) for disk in disks if _is_system(disk)]
    root = {name for name in system if name} or {"nvme0n1", "xvda", "sda"}
    data = []
    for disk in disks:
        type_, where = dict(disk.dimensions).get("fstype", "").lower(), disk.path or "a path without a name"
        if _is_system(disk) or type_ in ELSEWHERE:
            continue
        if type_ not in FILE_SYSTEMS:
            return Fine(f"the file system at {where} ({type_ or 'of unknown type'}) may be on it too")
        name = _disk_name(disk)
        if not name:
            return Fine(f"the device of {where} does not name its disk")
        if name not in root:
            data.append(disk)
    return data


def _is_system(disk: DiskMetric) -> bool:
    return disk.path in {"/", "/boot"} or disk.path.startswith("/boot/")


def _disk_name(disk: DiskMetric) -> str | None:
    """Return the disk of its device, without the partition; None if the device does not name its disk."""
    found = DISK.fullmatch(dict(disk.dimensions).get("device", ""))
    return found and found["disk"]


def _fullest(reported: Iterable[tuple[str, Series]]) -> Series:
    """Return the highest use of several file systems by day. A day is missing if one of them lacks it.

    Series of one path are one file system, because a reboot can rename the device and so the metric.
    """
    by_path: defaultdict[str, list[Series]] = defaultdict(list)
    for path, series in reported:
        by_path[path].append(series)
    paths = [greatest(same) for same in by_path.values()]
    by_day = zip(*(one.values for one in paths), strict=True)
    return Series.of(paths[0].start_s, DAY_S, [nan if any(map(isnan, row)) else max(row) for row in by_day])


def _smaller(volume: Volume, gib: int) -> Volume:
    """Return a smaller volume that is as fast: gp3 if size decides the speed, and the GiB that its IOPS require."""
    type_, iops, mib_s = volume.volume_type, volume.iops, volume.throughput_mib_s
    if sized := formulas.sized_limits(type_, volume.size_gib):
        iops, mib_s = ceil(sized.iops), ceil(sized.bytes_per_s / MIB)
    if sized or type_ == "standard":
        type_ = "gp3"
    if type_ == "gp3":
        iops, mib_s = max(iops or 0, formulas.GP3_INCLUDED_IOPS), max(mib_s or 0, formulas.GP3_INCLUDED_MIB_S)
    limits = formulas.VOLUME_TYPES[type_]
    paid_iops = iops if iops and not (type_ == "gp3" and iops <= formulas.GP3_INCLUDED_IOPS) else 0
    least = max(limits.gib[0], ceil(paid_iops / limits.iops_per_gib) if limits.iops_per_gib else 0)
    return replace(volume, volume_type=type_, size_gib=max(gib, least), iops=iops, throughput_mib_s=mib_s)


def _copy(volume: Volume, smaller: Volume) -> Advice:
    speed = f" --iops {smaller.iops}" if smaller.iops else ""
    speed += f" --throughput {smaller.throughput_mib_s}" if smaller.throughput_mib_s else ""
    return Advice(
        action="move-to-smaller-volume",
        summary=(
            f"Create a {smaller.volume_type} volume of {smaller.size_gib:,} GiB that is as fast, and attach it. Copy"
            " the data, then stop what uses the old one, copy the rest and mount the new one instead. Take a snapshot"
            " of the old one, and delete it after a week."
        ),
        changes=difference(formulas.monthly_units(volume), formulas.monthly_units(smaller)),
        risk=(
            "Its programs stop during the second copy. Unless you name them, the new volume has neither the tags nor"
            " the encryption key of the old one."
        ),
        reversible=True,
        command=(
            f"aws ec2 create-volume --region {volume.target.region} --availability-zone {volume.availability_zone}"
            f" --volume-type {smaller.volume_type} --size {smaller.size_gib}{speed}"
        ),
    )


def _efs(volume: Volume, used_gib: float) -> Advice:
    storage = Change(efs_storage("Standard", one_zone=True, elastic=False), amount(used_gib))
    return Advice(
        action="move-to-efs-one-zone",
        summary=f"Or copy the data to EFS One Zone, which bills only what is stored ({used_gib:,.1f} GiB).",
        changes=difference(formulas.monthly_units(volume), (storage,)),
        risk="Every small write waits for the network, so it does not suit databases. It starts with burst credits.",
        reversible=True,
    )


HOST = examples.instance(launched_at=days_ago(200))
ARCHIVE = examples.volume(HOST, size_gib=1_000)
SECOND = replace(ARCHIVE, id="vol-0bcdbcdbcdbcdbcdb")
USED = Metric("CWAgent", "disk_used_percent", "Maximum", "percent", optional=True)


def disk(path: str = "/data", volume_id: str = "", fstype: str = "xfs", device: str = "nvme1n1") -> DiskMetric:
    """Return the agent's metric of a file system."""
    named = (("VolumeId", f"aws://ap-northeast-1a/{volume_id}"),) if volume_id else ()
    return DiskMetric(
        id=f"disk_used_percent/{path}/{volume_id}/{device}",
        namespace="CWAgent",
        name="disk_used_percent",
        instance_id=HOST.id,
        dimensions=(("InstanceId", HOST.id), *named, ("device", device), ("fstype", fstype), ("path", path)),
    )


ATTACHED = ARCHIVE.attachments[0]
TEN_DAYS_AGO, AS_ROOT = replace(ATTACHED, attached_at=days_ago(10)), replace(ATTACHED, device="/dev/xvda")
NAMED, NAMED_OTHER = disk(volume_id=ARCHIVE.id), disk(volume_id=SECOND.id)
SYSTEM = (HOST, disk("/", device="nvme0n1p1"), disk("/boot/efi", fstype="vfat", device="nvme0n1p128"))
DATA, HOME, LVM = disk(), disk("/home", device="nvme0n1p3"), disk(device="mapper/data-home")
MEMORY, ZFS = disk("/run", fstype="tmpfs", device="tmpfs"), disk("/tank", fstype="zfs", device="tank")
TWO = (HOST, SECOND, DATA, disk("/scratch"))
COPY, LOST = {USED: days(10.0, {range(13): 30.0})}, {USED: days(10.0, {28: None})}
WEEKLY, STEADY = [20.0 + 3 * (day // 7) for day in range(36)], [20 + day / 3 for day in range(36)]

empty = Cases(ARCHIVE, {USED: 10.0}, records=(HOST, NAMED))
bare = Cases(ARCHIVE, records=(HOST,))

DETECTOR = Detector(
    title="EBS volume far larger than what is on it",
    kind="waste",
    resource=Volume,
    limits=SurplusSizeLimits,
    reads=(Instance,),
    reads_if_allowed=(DiskMetric,),
    judge=judge,
    cases=(
        empty("a tenth of it is used", Flagged, "at most 100.0 GiB (10 %) used in 35 days: 140 GiB are enough"),
        empty("the only data volume, and an agent that names none", Flagged, "140", records=(*SYSTEM, DATA, MEMORY)),
        empty("an agent that names no volume, and /home on the disk of /", Fine, "no agent", records=(*SYSTEM, HOME)),
        empty("an agent that names no volume, and zfs", Fine, "/tank (zfs) may be on it", records=(*SYSTEM, DATA, ZFS)),
        empty("an agent that names no volume, and LVM", Fine, "does not name its disk", records=(*SYSTEM, LVM)),
        empty("one of two data volumes, and an agent that names none", Fine, "no agent", records=TWO),
        empty("an agent that names another volume only", Fine, "no agent", records=(HOST, NAMED_OTHER)),
        empty("an agent was installed three weeks ago", Flagged, "in 20 days", metrics={USED: [10.0] * 21}),
        empty("an export that fills it once a month", Fine, "85 % full", metrics={USED: days(10.0, {23: 85.0})}),
        empty("a single copy twelve days ago", Flagged, "300.0 GiB (30 %) used in 35 days: 420 GiB are", metrics=COPY),
        empty("it fills up on one day of every week", Fine, "fills up", metrics={USED: WEEKLY}),
        empty("it fills up: a tenth a month", Fine, "fills up", metrics={USED: STEADY}),
        empty("a day without the agent", Unknown, "1 of the last 14 days", metrics={USED: days(10.0, {7: None})}),
        empty("a day without the agent four weeks ago", Unknown, "1 of the 35 days since 2026-10-12", metrics=LOST),
        empty("attached ten days ago", Fine, "less than 14 whole days ago", attachments=(TEN_DAYS_AGO,)),
        bare("no agent", Fine, "no agent"),
        bare("the agent's metrics could not be listed", Unknown, "denied", unreadable={DiskMetric: "denied"}),
        empty("a root volume", Fine, "boots from it", attachments=(AS_ROOT,), records=(HOST, disk("/", ARCHIVE.id))),
        empty("as small as a root volume", Fine, "8 GiB", size_gib=8),
        empty("IOPS that need its size", Fine, "as large", volume_type="io1", iops=50_000),
        *examples.without_io(bare),
    ),
)
