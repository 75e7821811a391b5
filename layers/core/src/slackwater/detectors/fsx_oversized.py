"""FSx file systems whose SSD is far larger than what lies on it.

## What it finds
An OpenZFS, ONTAP or Windows file system on SSD that was less than 20 % full at its fullest, on each of the last 14 days (the
last 36, where there are points), and that does not grow towards it. A smaller one must be possible: OpenZFS starts at 64 GiB,
Windows at 32. ONTAP starts at 1,024 GiB for each pair of file servers: there it is the smaller service that saves, unless the
capacity pool fills what the SSD does not.

## Why it matters
FSx bills the storage that is provisioned, not what lies on it. ONTAP's minimum is sixteen times that of OpenZFS ("Sharing
WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
Space may be bought for what is still to come: what grew in the last two weeks, and goes on growing in the last one, is carried
on for `growth_days`, and nothing is said where it would fill up. One step that is most of the rise, data that was copied there
once, is no growth; a load that is planned for next month does not show. SSD also brings 3 IOPS with each GiB: the
smaller file system is priced with twice the IOPS that the disks needed at most. ONTAP counts what is left after deduplication
and compression, and may serve SMB or iSCSI, which EFS and OpenZFS do not speak. The size of Lustre is its throughput, and
Intelligent-Tiering provisions no storage: both are left alone.

## What to do
SSD can only grow, but for ONTAP of the second generation, which shrinks in place. Everywhere else: make a smaller file system,
or one of the smaller service, copy while the old one is in use, switch the clients, copy the rest, back up and delete the old
one. It grows online when more is needed, so there is no need to buy ahead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from math import ceil
from statistics import correlation, linear_regression
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, difference, size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import FsxFileSystem, Target
from slackwater.model.units import DAY_S, GIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import fsx
from slackwater.rules.fsx import FREE, IN_THE_POOL, NAMES, ON_SSD, USED, pooled_by_day, used_by_day, used_bytes
from slackwater.rules.series import gaps

DISK_IOPS = Metric("AWS/FSx", "DiskIopsUtilization", "Maximum", "percent")
READ = Metric("AWS/FSx", "DataReadBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/FSx", "DataWriteBytes", "Sum", "bytes")
READ_PEAK = Metric("AWS/FSx", "DataReadBytes", "Maximum", "bytes a minute")
WRITE_PEAK = Metric("AWS/FSx", "DataWriteBytes", "Maximum", "bytes a minute")
WORK: Final = (DISK_IOPS, READ, WRITTEN, READ_PEAK, WRITE_PEAK)

SURE_DAYS: Final = 30
"""A monthly job, which may fill it for a night, needs this long to show."""
HEADROOM: Final = 2
"""What a smaller one carries, in terms of the busiest minute: AWS advises to stay below half of what is provisioned."""
MONTH_DAYS: Final = 30
TREND: Final = 0.7
"""Correlation with time: half of what varies from day to day is growth."""
WEEK: Final = 8
"""Days, with seven changes between them."""
LEAST_GIB: Final[Mapping[str, int]] = {"OPENZFS": 64, "ONTAP": 1_024, "WINDOWS": 32}
"""Of SSD, for ONTAP for each pair of file servers (Amazon FSx API Reference, "CreateFileSystem", StorageCapacity)."""
LEAST_PAIR_MB_S: Final = 1_536
"""What a pair of ONTAP SINGLE_AZ_2 has at least, the only type with several pairs; how many there are is not read."""
MOST_IOPS_PER_GIB: Final = 50
"""For ONTAP everywhere, for OpenZFS in some Regions; 1,000 in the others."""
LEAST_SHRINK: Final = 0.09
SHRINKS: Final = ("SINGLE_AZ_2", "MULTI_AZ_2")
"""ONTAP deployment types of the second generation, whose SSD may shrink by 9 % or more, from 1,126 GiB a pair on."""


class OversizedLimits(Limits):
    """How empty a file system must be, and what a smaller one would have."""

    used_percent: float = limit(20, unit="percent", gt=0, lt=50, why="of the SSD, at its fullest: a fifth leaves no doubt")
    least_days: int = limit(14, unit="days", ge=4, le=450, why="two weekly rhythms; each of these days must have points")
    window_days: int = limit(36, unit="days", ge=4, le=450, why="by the calendar a monthly job's runs lie up to 35 days apart")
    growth_days: int = limit(90, unit="days", ge=0, le=730, why="space may be bought for the next quarter's data")
    fill_percent: float = limit(50, unit="percent", gt=0, le=80, why="of the smaller one; AWS advises to stay below 80 %")
    least_surplus_gib: int = limit(
        100, unit="GiB", ge=1, why="nobody copies a file system for less: about 10 to 20 USD a month"
    )


def judge(file_system: FsxFileSystem, seen: Seen, limits: OversizedLimits) -> Verdict:
    """Flag a file system that was never a fifth full, where something smaller would do."""
    kind, window = file_system.file_system_type, max(limits.least_days, limits.window_days)
    space = used_by_day(file_system, window)
    if space is None:
        return Fine(f"the size of {NAMES.get(kind, kind)} is its throughput")
    if file_system.storage_type != "SSD":
        return Fine(f"it is on {file_system.storage_type}, not on SSD")
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    least_gib = _least_gib(file_system)
    if kind != "ONTAP" and file_system.storage_gib - least_gib < limits.least_surplus_gib:
        return Fine(f"it is about as small as it can be, which is {least_gib} GiB")
    if seen.age(file_system.created_at) < timedelta(days=limits.least_days + 1):
        return Fine(f"it is younger than {limits.least_days + 1} days")

    if lacking := seen.lacking([space]):
        return Ask(lacking)
    used = used_bytes(file_system, seen[space])
    if settled := _settled(file_system, used, seen, limits):
        return settled

    needs = _needs(file_system, window)
    if lacking := seen.lacking(needs.values()):
        return Ask(lacking)
    pool = seen[needs[IN_THE_POOL]].present if IN_THE_POOL in needs else [0.0]
    if not pool:
        return Unknown("StorageUsed of its capacity pool has no point: how much it holds in all is not known")
    load = _load(
        file_system, {metric: seen.finished(seen[need], file_system.created_at) for metric, need in needs.items()}, limits
    )
    holds = _Holds(fullest=max(used.present), pooled=max(pool), used=used)
    smaller = _smaller(file_system, holds, load, limits)
    if smaller is None and (
        file_system.file_system_type != "ONTAP" or _percent(file_system, holds.total) >= limits.used_percent
    ):
        pooled = f", and {size_words(holds.pooled)} in its capacity pool" if holds.pooled else ""
        return Fine(f"it can hardly be smaller: {size_words(holds.fullest)} on SSD{pooled}")
    if smaller is None and load.peak_bytes_per_s is None:
        return Unknown("what its clients moved is not known, and so not which smaller service would carry it")
    return _flag(file_system, holds, load, smaller, seen, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holds:
    """What lies in it at most, bytes."""

    used: Series
    fullest: float
    pooled: float

    @property
    def total(self) -> float:
        """On SSD and in ONTAP's capacity pool."""
        return self.fullest + self.pooled


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """What its clients and disks do; None where that is not known."""

    disk_iops: float | None = None
    """At most, in any minute."""
    peak_bytes_per_s: float | None = None
    """Reads and writes at their own busiest minutes, together: an upper bound."""
    read_per_month: float = 0.0
    written_per_month: float = 0.0


def _least_gib(file_system: FsxFileSystem) -> int:
    """The least SSD with the throughput that it has."""
    least = LEAST_GIB[file_system.file_system_type]
    if file_system.file_system_type == "ONTAP" and file_system.deployment_type == "SINGLE_AZ_2":
        return least * max(1, (file_system.throughput_mb_s or 0) // LEAST_PAIR_MB_S)
    server = fsx.file_server(file_system)
    return max(least, server.least_gib) if server else least


def _percent(file_system: FsxFileSystem, size_bytes: float) -> float:
    return 100 * size_bytes / (file_system.storage_gib * GIB)


def _settled(file_system: FsxFileSystem, used: Series, seen: Seen, limits: OversizedLimits) -> Verdict | None:
    """That it is full enough, will be, or that nobody knows."""
    if used.present and (percent := _percent(file_system, max(used.present))) >= limits.used_percent:
        return Fine(f"it was {percent:.0f} % full")
    days = seen.finished(used, file_system.created_at)
    holes, before = gaps(days, limits.least_days)
    if holes:
        return Unknown(f"its space has no point on {holes} of {len(days) - before} days")
    newest = days.present[-limits.least_days :]
    a_day = _pace(newest)
    if _percent(file_system, max(newest) + a_day * limits.growth_days) >= limits.used_percent:
        return Fine(f"it grows by {size_words(a_day)} a day")
    return None


def _pace(days: Sequence[float]) -> float:
    """By how many bytes a day it grows, and still does; 0 where it rather comes and goes. One step does not count."""
    step, at = max((after - before, at) for at, (before, after) in enumerate(pairwise(days), 1))
    if step > (days[-1] - days[0]) / 2:
        days = [used - step if i >= at else used for i, used in enumerate(days)]
    if min(days) == max(days) or correlation(range(len(days)), days) < TREND:
        return 0.0
    return max(0.0, min(_slope(days), _slope(days[-WEEK:])))


def _slope(days: Sequence[float]) -> float:
    return linear_regression(range(len(days)), days).slope


def _needs(file_system: FsxFileSystem, window: int) -> dict[Metric, Need]:
    """What a smaller one has to carry and hold. Nothing is priced for Windows, so nothing is asked."""
    if file_system.file_system_type == "WINDOWS":
        return {}
    of = ("FileSystemId", file_system.id)
    needs = {metric: metric.need(of, period_s=DAY_S, days=window) for metric in WORK}
    if file_system.file_system_type == "ONTAP":
        needs[IN_THE_POOL] = pooled_by_day(file_system, window)
    return needs


def _load(file_system: FsxFileSystem, days: Mapping[Metric, Series], limits: OversizedLimits) -> _Load:
    """From finished days; a metric with a gap in the newest ones says nothing."""
    told = {metric: one.present for metric, one in days.items() if not gaps(one, limits.least_days).holes}
    busiest = max(told.get(DISK_IOPS, ()), default=None)
    disk_iops = None if busiest is None or file_system.iops is None else busiest / 100 * file_system.iops
    if not all(told.get(metric) for metric in (READ, WRITTEN, READ_PEAK, WRITE_PEAK)):
        return _Load(disk_iops=disk_iops)
    month = {metric: told[metric][-MONTH_DAYS:] for metric in (READ, WRITTEN)}
    return _Load(
        disk_iops=disk_iops,
        peak_bytes_per_s=(max(told[READ_PEAK]) + max(told[WRITE_PEAK])) / MINUTE_S,
        read_per_month=sum(month[READ]) / len(month[READ]) * MONTH_DAYS,
        written_per_month=sum(month[WRITTEN]) / len(month[WRITTEN]) * MONTH_DAYS,
    )


def _wanted_iops(file_system: FsxFileSystem, load: _Load) -> int:
    """Of the disks of whatever takes its place; all that it has where nobody knows what it needs."""
    return (file_system.iops or 0) if load.disk_iops is None else ceil(HEADROOM * load.disk_iops)


def _smaller(file_system: FsxFileSystem, holds: _Holds, load: _Load, limits: OversizedLimits) -> FsxFileSystem | None:
    """The same with less SSD; None where it would save too little to copy it."""
    iops = _wanted_iops(file_system, load)
    gib = max(
        _least_gib(file_system),
        ceil(holds.fullest / GIB / (limits.fill_percent / 100)),
        ceil(iops / MOST_IOPS_PER_GIB),
    )
    if file_system.storage_gib - gib < max(limits.least_surplus_gib, LEAST_SHRINK * file_system.storage_gib):
        return None
    server = fsx.file_server(file_system)
    least_iops = max(fsx.INCLUDED_IOPS_PER_GIB * gib, server.least_iops if server else 0)
    return replace(file_system, storage_gib=gib, iops=max(iops, least_iops) if file_system.iops is not None else None)


def _flag(
    file_system: FsxFileSystem,
    holds: _Holds,
    load: _Load,
    smaller: FsxFileSystem | None,
    seen: Seen,
    limits: OversizedLimits,
) -> Flagged:
    days = seen.finished(holds.used, file_system.created_at)
    watched = len(days) - days.missing
    owner = file_system.managed_by
    name = NAMES[file_system.file_system_type]
    evidence = [
        Evidence(
            label="On SSD at most",
            value=round(holds.fullest / GIB, 1),
            unit="GiB",
            series=holds.used.over(GIB),
            scale=file_system.storage_gib,
            lines=(
                Line("Provisioned", file_system.storage_gib),
                *(() if smaller is None else (Line("Proposed", smaller.storage_gib),)),
            ),
        ),
        Evidence(label="SSD provisioned", value=file_system.storage_gib, unit="GiB"),
        Evidence(label="Days that its space was seen", value=watched, unit="days"),
        Evidence(label="Deployment", value=f"{name}, {file_system.deployment_type}", unit="words"),
    ]
    if file_system.file_system_type == "ONTAP":
        evidence.append(Evidence(label="In the capacity pool at most", value=round(holds.pooled / GIB, 1), unit="GiB"))
    if load.disk_iops is not None:
        evidence.append(Evidence(label="Disk IOPS at most", value=round(load.disk_iops), unit="IOPS"))
    if load.peak_bytes_per_s is not None:
        evidence.append(Evidence(label="Clients move at most", value=round(load.peak_bytes_per_s / fsx.MB, 1), unit="MB/s"))
    caveats = ["Nobody knows from metrics what the space was bought for: ask whether more data is to come."]
    if days.missing:
        caveats.append(f"CloudWatch began to watch {days.missing} days later: it may have been fuller before.")
    if load.disk_iops is None and file_system.iops:
        caveats.append("What its disks do is not known: a smaller one gets all the IOPS that this one has.")
    if file_system.file_system_type == "ONTAP":
        caveats.append("ONTAP counts what is left after deduplication and compression: elsewhere the same may take more.")
    if file_system.file_system_type == "ONTAP" and smaller:
        caveats.append(
            "Above half full, volumes that tier by AUTO or SNAPSHOT_ONLY begin to move cold data to the capacity pool, which is"
            " slower and billed by what it holds and by request: look at their policies, or leave more room."
        )
    if holds.pooled:
        caveats.append("What lies in its capacity pool is billed as well; where everything moves, that is saved too.")
    if owner:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=(
            f"{name} with {file_system.storage_gib:,} GiB of SSD, of which {size_words(holds.fullest)}"
            f" ({_percent(file_system, holds.fullest):.1f} %) were used at most in {watched} days"
        ),
        confidence="high" if watched >= SURE_DAYS and not days.missing else "medium",
        evidence=tuple(evidence),
        advice=() if smaller is None else (_shrink(file_system, smaller),),
        gist=(file_system.storage_gib, size_class(holds.total)),
        caveats=tuple(caveats),
        remedies=_elsewhere(file_system, holds, load, limits),
        cheapest_first=True,
    )


def _shrink(file_system: FsxFileSystem, smaller: FsxFileSystem) -> Advice:
    """In place where SSD shrinks; otherwise by a copy."""
    before, after = fsx.monthly_units(file_system), fsx.monthly_units(smaller)
    changes = None if before is None or after is None else difference(before, after)
    size = f"{smaller.storage_gib:,} GiB of SSD"
    if smaller.iops:
        size += f" and {smaller.iops:,} IOPS"
    if file_system.file_system_type == "ONTAP" and file_system.deployment_type in SHRINKS:
        return Advice(
            action="shrink-ssd",
            summary=f"Shrink it in place to {size}, while it is in use.",
            changes=changes,
            risk="FSx moves every volume to new disks, which takes hours to days and file-server time; it can grow again.",
            reversible=True,
            command=_shrink_command(file_system, smaller),
        )
    return Advice(
        action="move-to-smaller",
        summary=(
            f"SSD cannot shrink here. Make a new file system of the same type with {size} and the same throughput,"
            f" {COPY[file_system.file_system_type]}, switch the clients, copy the rest; back up the old one and delete it."
        ),
        changes=changes,
        risk="Both are billed while the copy runs; clients mount another address; snapshots and backups stay with the old one.",
        reversible=True,
    )


COPY: Final[Mapping[str, str]] = {
    "OPENZFS": "copy to it with AWS DataSync, or volume by volume with copy-snapshot-and-update-volume",
    "ONTAP": "copy to it with SnapMirror",
    "WINDOWS": "copy to it with AWS DataSync, or robocopy with its access lists",
}


def _shrink_command(file_system: FsxFileSystem, smaller: FsxFileSystem) -> str:
    """The mode of the IOPS is named if they are known: what was provisioned for the larger SSD would stay, and stay billed."""
    command = (
        f"aws fsx update-file-system --region {file_system.target.region} --file-system-id {file_system.id}"
        f" --storage-capacity {smaller.storage_gib}"
    )
    if smaller.iops is None:
        return command
    included = smaller.iops == fsx.INCLUDED_IOPS_PER_GIB * smaller.storage_gib
    iops = "Mode=AUTOMATIC" if included else f"Mode=USER_PROVISIONED,Iops={smaller.iops}"
    return f"{command} --ontap-configuration 'DiskIopsConfiguration={{{iops}}}'"


def _elsewhere(file_system: FsxFileSystem, holds: _Holds, load: _Load, limits: OversizedLimits) -> tuple[Remedy, ...]:
    """The smaller services, for what is held and moved. OpenZFS provisions room to grow, EFS bills what is there."""
    before = fsx.monthly_units(file_system)
    if before is None or load.peak_bytes_per_s is None:
        return ()
    inputs = {
        "throughput": f"{HEADROOM * load.peak_bytes_per_s:.0f}B/s",
        "iops": _wanted_iops(file_system, load),
        "multi_az": file_system.deployment_type.startswith("MULTI_AZ"),
        "read_per_month": f"{load.read_per_month:.0f}B",
        "write_per_month": f"{load.written_per_month:.0f}B",
    }
    room = {"openzfs": holds.total / (limits.fill_percent / 100), "efs": holds.total}
    services = ("openzfs", "efs") if file_system.file_system_type == "ONTAP" else ("efs",)
    return tuple(
        Remedy(
            kind="shared-storage",
            inputs={**inputs, "capacity": f"{max(GIB, room[service]):.0f}B"},
            advise=partial(_move, service, before),
        )
        for service in services
    )


def _move(service: str, before: tuple[Change, ...], way: Alternative) -> Advice | None:
    if way.id != service or not way.solves:
        return None
    after = None if way.changes is None else tuple(Change(one.item, -one.quantity) for one in way.changes)
    trial = "; try it with your own writes first, because small ones wait longer there" if service == "efs" else ""
    return Advice(
        action=f"move-to-{service}",
        summary=(
            f"{way.summary}{trial}. Copy to it with AWS DataSync, switch the clients, copy the rest; then back up the old one"
            " and delete it."
        ),
        changes=None if after is None else difference(before, after),
        risk="Only for clients that speak NFS as it does; they mount another address, and both are billed while the copy runs.",
        reversible=True,
    )


_TARGET = Target("123456789012", "ap-northeast-1")
_ZFS = FsxFileSystem(
    id="fs-0b1c2d3e4f5a60718",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:file-system/fs-0b1c2d3e4f5a60718",
    target=_TARGET,
    tags={"Name": "wordpress"},
    file_system_type="OPENZFS",
    deployment_type="MULTI_AZ_1",
    state="AVAILABLE",
    created_at=CASE_NOW - timedelta(days=200),
    storage_type="SSD",
    storage_gib=2_000,
    throughput_mb_s=160,
    iops=6_000,
    iops_mode="AUTOMATIC",
    root_volume_id="fsvol-0b1c2d3e4f5a60718",
)
_ONTAP = replace(_ZFS, file_system_type="ONTAP", storage_gib=1_024, throughput_mb_s=128, iops=3_072, root_volume_id=None)
_WINDOWS = replace(_ZFS, file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2", iops=None, iops_mode=None)
type _Given = Mapping[tuple[Metric, int], Sequence[float | None]]
_QUIET: _Given = {
    (DISK_IOPS, DAY_S): [8.0] * 37,
    (READ, DAY_S): [2.0 * GIB] * 37,
    (WRITTEN, DAY_S): [0.5 * GIB] * 37,
    (READ_PEAK, DAY_S): [300e6] * 37,
    (WRITE_PEAK, DAY_S): [60e6] * 37,
}


def _holding(gib: float, pool_gib: float = 0, day: int = 0, then_gib: float = 0) -> _Given:
    """So much on SSD at most every day, and on one day, counted from the newest, something else."""
    days = [gib * GIB] * 37
    if day:
        days[-day] = then_gib * GIB
    space: _Given = {(metric, DAY_S): days for metric in (USED, ON_SSD)}
    return {**_QUIET, **space, (IN_THE_POOL, DAY_S): [pool_gib * GIB] * 37}


DETECTOR = Detector(
    title="FSx file system whose SSD is far too large",
    kind="waste",
    resource=FsxFileSystem,
    limits=OversizedLimits,
    judge=judge,
    cases=(
        Case(
            title="2,000 GiB of OpenZFS, 150 used",
            resource=_ZFS,
            metrics=_holding(150),
            expect=Flagged,
            says="2,000 GiB of SSD, of which 150 GiB (7.5 %)",
        ),
        Case(
            title="ONTAP at its minimum, 90 GiB used",
            resource=_ONTAP,
            metrics=_holding(90),
            expect=Flagged,
            says="of which 90 GiB (8.8 %)",
        ),
        Case(
            title="ONTAP of the second generation, which shrinks",
            resource=replace(_ONTAP, deployment_type="MULTI_AZ_2", storage_gib=8_192, throughput_mb_s=384, iops=24_576),
            metrics=_holding(700, 9_000),
            expect=Flagged,
        ),
        Case(
            title="2,000 GiB of Windows, 1,900 free",
            resource=_WINDOWS,
            metrics={(FREE, DAY_S): [1_900.0 * GIB] * 37},
            expect=Flagged,
            says="of which 100 GiB (5.0 %)",
        ),
        Case(title="a fifth full", resource=_ZFS, metrics=_holding(400), expect=Fine, says="20 % full"),
        Case(
            title="ONTAP's minimum, well filled",
            resource=_ONTAP,
            metrics=_holding(620),
            expect=Fine,
            says="61 % full",
        ),
        Case(
            title="ONTAP at its minimum, with its data in the capacity pool",
            resource=_ONTAP,
            metrics=_holding(90, 4_000),
            expect=Fine,
            says="in its capacity pool",
        ),
        Case(
            title="filled for a night each month, for a render",
            resource=_ZFS,
            metrics=_holding(150, day=33, then_gib=1_700),
            expect=Fine,
            says="85 % full",
        ),
        Case(
            title="being filled",
            resource=_ZFS,
            metrics={(USED, DAY_S): [(50 + 4.0 * day) * GIB for day in range(37)]},
            expect=Fine,
            says="grows by 4 GiB a day",
        ),
        Case(
            title="data copied there once, six days ago",
            resource=_ZFS,
            metrics={(USED, DAY_S): [100.0 * GIB] * 30 + [300.0 * GIB] * 7},
            expect=Flagged,
            says="of which 300 GiB (15.0 %)",
        ),
        Case(title="64 GiB, the least there is", resource=replace(_ZFS, storage_gib=64), expect=Fine, says="64 GiB"),
        Case(
            title="a minimum that its IOPS demand",
            resource=replace(_ZFS, storage_gib=400, iops=20_000, iops_mode="USER_PROVISIONED"),
            metrics={**_holding(50), (DISK_IOPS, DAY_S): [45.0] * 37},
            expect=Fine,
            says="hardly be smaller",
        ),
        Case(
            title="a week in which nobody saw its space",
            resource=_ZFS,
            metrics={(USED, DAY_S): [150.0 * GIB] * 25 + [None] * 7 + [150.0 * GIB] * 5},
            expect=Unknown,
            says="no point on 7 of 36 days",
        ),
        Case(title="no metric at all", resource=_ZFS, expect=Unknown, says="14 of 14 days"),
        Case(
            title="ONTAP, and nobody knows what its pool holds",
            resource=_ONTAP,
            metrics={(ON_SSD, DAY_S): [90.0 * GIB] * 37},
            expect=Unknown,
            says="capacity pool",
        ),
        Case(
            title="ONTAP at its minimum, and nobody knows what its clients move",
            resource=_ONTAP,
            metrics={**_holding(90), (READ_PEAK, DAY_S): []},
            expect=Unknown,
            says="which smaller service",
        ),
        Case(
            title="ten days old",
            resource=replace(_ZFS, created_at=CASE_NOW - timedelta(days=10)),
            expect=Fine,
            says="younger than 15 days",
        ),
        Case(
            title="Intelligent-Tiering",
            resource=replace(_ZFS, storage_type="INTELLIGENT_TIERING", storage_gib=0),
            expect=Fine,
            says="INTELLIGENT_TIERING",
        ),
        Case(
            title="Lustre",
            resource=replace(_WINDOWS, file_system_type="LUSTRE", deployment_type="PERSISTENT_2"),
            expect=Fine,
            says="is its throughput",
        ),
        Case(title="being made", resource=replace(_ZFS, state="CREATING"), expect=Fine, says="creating"),
    ),
)
