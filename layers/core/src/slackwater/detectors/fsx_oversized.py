"""FSx file systems with far more SSD than they use.

## What it finds
An OpenZFS, ONTAP or Windows file system on SSD that was never 20 % full in the last 36 days, and does not grow towards
that. Each of the last 14 days must have a point. A smaller one must be possible: OpenZFS starts at 64 GiB, Windows at
32, ONTAP at 1,024 for each pair of file servers. ONTAP at its minimum is flagged too: a smaller service saves money.

## Why it matters
AWS bills the provisioned storage, not what it holds. ONTAP's minimum is sixteen times that of OpenZFS ("Sharing
WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
- The space may be for future data. Growth that goes on in the last week is continued for `growth_days`. Data copied
  once is not growth, and a load planned for next month is not visible.
- ONTAP counts space after deduplication and compression, so the data may take more space elsewhere. It may also serve
  SMB or iSCSI, which EFS and OpenZFS do not.
- Lustre and Intelligent-Tiering are not judged.

## What to do
Ask whether more data is planned. ONTAP of the second generation shrinks in place. Elsewhere, create a smaller file
system, copy the data, switch the clients, copy the rest, back up the old one and delete it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import ceil
from statistics import correlation, fmean, linear_regression
from typing import Final, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, difference, size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import GIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import fsx as formulas
from slackwater.rules import advice, examples, fsx
from slackwater.rules.examples import Cases, days, days_ago
from slackwater.rules.fsx import DISK_IOPS, FREE, IN_POOL, ON_SSD, READ, SURE_DAYS, USED, WRITTEN
from slackwater.rules.series import gaps

READ_PEAK, WRITE_PEAK = (Metric("AWS/FSx", f"Data{way}Bytes", "Maximum", "bytes a minute") for way in ("Read", "Write"))
TRAFFIC: Final = (READ, WRITTEN, READ_PEAK, WRITE_PEAK)

HEADROOM: Final = 2  # AWS advises to use less than half of the provisioned amount, even in the busiest minute
MONTH_DAYS, WEEK_POINTS = 30, 8
TIERING: Final = (
    "Above half full, volumes that tier by AUTO or SNAPSHOT_ONLY move cold data to the capacity pool, which is slower"
    " and billed by size and request. Check their policies, or leave more room."
)
TREND: Final = 0.7  # the correlation with time above which growth explains half of the variance


class OversizedLimits(Limits):
    """How empty a file system must be, and how large a smaller one is."""

    used_percent: float = limit(20, unit="percent", gt=0, lt=50, why="of the SSD at its fullest: a clear case")
    least_days: int = limit(14, unit="days", ge=4, le=450, why="each of them must have points; two weekly rhythms")
    window_days: int = limit(36, unit="days", ge=4, le=450, why="a monthly job can pause for 35 days")
    growth_days: int = limit(90, unit="days", ge=0, le=730, why="space may be for the data of the next quarter")
    fill_percent: float = limit(50, unit="percent", gt=0, le=80, why="of the smaller one; AWS advises 80 % at most")
    least_surplus_gib: int = limit(100, unit="GiB", ge=1, why="less saves only about $10 to $20 a month")


def judge(file_system: FsxFileSystem, seen: Seen, limits: OversizedLimits) -> Verdict:
    """Flag a file system that was never a fifth full, if something smaller is enough."""
    unless_decided(_exempt(file_system, seen, limits))
    kind, window = file_system.file_system_type, max(limits.least_days, limits.window_days)
    (points,) = seen.read(*fsx.daily(file_system, window, fsx.SPACE[kind]))
    used = fsx.used_bytes(file_system, points)
    if used.present and (percent := _percent(file_system, max(used.present))) >= limits.used_percent:
        return Fine(f"it was {percent:.0f} % full")
    recorded = seen.finished(used, file_system.created_at)
    unless_decided(fsx.hole("its space", recorded, limits.least_days))
    newest = recorded.present[-limits.least_days :]
    a_day = _growth(newest)
    if _percent(file_system, max(newest) + a_day * limits.growth_days) >= limits.used_percent:
        return Fine(f"it grows by {size_words(a_day)} a day")

    # Slackwater prices nothing for Windows, so it reads nothing else there.
    more = () if kind == "WINDOWS" else (DISK_IOPS, *TRAFFIC, *([IN_POOL] if kind == "ONTAP" else []))
    samples, *read = seen.read(*fsx.daily(file_system, window, fsx.samples(fsx.SPACE[kind]), *more))
    found = dict(zip(more, read, strict=True))
    pool = found[IN_POOL].present if IN_POOL in found else [0.0]
    if not pool:
        return Unknown("StorageUsed of its capacity pool has no data, so the size of its data is unknown")
    work = {metric: seen.finished(one, file_system.created_at) for metric, one in found.items()}
    use = _use(file_system, used, max(pool), work, limits)
    stored = use.fullest / (limits.fill_percent / 100)
    tight = formulas.with_least_ssd(file_system, stored_bytes=stored, iops=use.needed_iops)
    least = max(limits.least_surplus_gib, formulas.LEAST_SHRINK * file_system.storage_gib)  # less is not worth a copy
    smaller = tight if file_system.storage_gib - tight.storage_gib >= least else None
    if smaller is None and (kind != "ONTAP" or _percent(file_system, use.fullest + use.pooled) >= limits.used_percent):
        pooled = f", and {size_words(use.pooled)} in its capacity pool" if use.pooled else ""
        return Fine(f"it can hardly be smaller: {size_words(use.fullest)} on SSD{pooled}")
    if smaller is None and use.traffic is None:
        return Unknown("the throughput of its clients is unknown, and so is which smaller service is enough")
    lost_minutes = unless_decided(fsx.lost_minutes(recorded, seen.finished(samples, file_system.created_at)))
    return _flag(file_system, use._replace(lost_minutes=lost_minutes), smaller, recorded, limits)


def _exempt(file_system: FsxFileSystem, seen: Seen, limits: OversizedLimits) -> Fine | None:
    """Return the verdict on a file system that is not judged whatever it holds; None if it is judged."""
    kind = file_system.file_system_type
    if kind not in fsx.SPACE:
        return Fine(f"the size of {fsx.NAMES.get(kind, kind)} is its throughput")
    if file_system.storage_type != "SSD":
        return Fine(f"it is on {file_system.storage_type}, not on SSD")
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    least_gib = formulas.least_gib(file_system)
    if kind != "ONTAP" and file_system.storage_gib - least_gib < limits.least_surplus_gib:
        return Fine(f"it is close to the minimum of {least_gib} GiB")
    if seen.is_younger(file_system.created_at, days=limits.least_days + 1):  # its first day is not whole
        return Fine(f"it is younger than {limits.least_days + 1} days")
    return None


def _percent(file_system: FsxFileSystem, size_bytes: float) -> float:
    return 100 * size_bytes / (file_system.storage_gib * GIB)


def _growth(days: Sequence[float]) -> float:
    """Return the bytes a day by which it still grows; 0 if its data comes and goes. A single step does not count."""
    step, at = max((after - before, at) for at, (before, after) in enumerate(pairwise(days), 1))
    if step > (days[-1] - days[0]) / 2:
        days = [used - step if i >= at else used for i, used in enumerate(days)]
    if min(days) == max(days) or correlation(range(len(days)), days) < TREND:
        return 0.0
    slopes = (linear_regression(range(len(some)), some).slope for some in (days, days[-WEEK_POINTS:]))
    return max(0.0, min(slopes))


class Use(NamedTuple):
    """The bytes of a file system on SSD, by day and at most, and in its capacity pool. None means unknown.

    `traffic` are the most bytes a second, and the bytes that clients read and write in a month.
    """

    used: Series
    fullest: float
    pooled: float
    disk_iops: float | None
    needed_iops: int
    traffic: tuple[float, float, float] | None
    lost_minutes: float = 0.0  # in which CloudWatch did not record its space


def _use(
    file_system: FsxFileSystem, used: Series, pooled: float, work: Mapping[Metric, Series], limits: OversizedLimits
) -> Use:
    """Return the use from whole days. A metric without one of the newest days is unknown: then all IOPS are needed."""
    known = {metric: one.present for metric, one in work.items() if not gaps(one, limits.least_days).holes}
    iops, needed, traffic = None, file_system.iops or 0, None
    if file_system.iops is not None and known.get(DISK_IOPS):
        iops = max(known[DISK_IOPS]) / 100 * file_system.iops
        needed = ceil(HEADROOM * iops)
    if all(known.get(metric) for metric in TRAFFIC):
        read, written = (fmean(known[metric][-MONTH_DAYS:]) * MONTH_DAYS for metric in (READ, WRITTEN))
        # An upper bound: the busiest minutes of reads and writes may differ.
        traffic = (max(known[READ_PEAK]) + max(known[WRITE_PEAK])) / MINUTE_S, read, written
    return Use(used, max(used.present), pooled, iops, needed, traffic)


def _flag(
    file_system: FsxFileSystem, use: Use, smaller: FsxFileSystem | None, recorded: Series, limits: OversizedLimits
) -> Flagged:
    """Flag the file system. `recorded` is the used space of whole days."""
    provisioned, present = file_system.storage_gib, len(recorded.present)
    is_ontap, iops, traffic = file_system.file_system_type == "ONTAP", use.disk_iops, use.traffic
    pooled, mb_s = round(use.pooled / GIB, 1), round(traffic[0] / formulas.MB, 1) if traffic else 0
    lines = (Line("Provisioned", provisioned), *([Line("Option: smaller SSD", smaller.storage_gib)] if smaller else []))
    unknown = "The IOPS of its disks are unknown, so a smaller one keeps all of its IOPS."
    moved = "AWS also bills its capacity pool. If you move all data, you save that too."
    lost = f"CloudWatch did not record it for {use.lost_minutes:,.0f} minutes, when it may have been fuller."
    shrinks, moves = is_ontap and smaller, use.pooled and not (is_ontap and smaller)
    return Flagged(
        summary=(
            f"{fsx.NAMES[file_system.file_system_type]}: {provisioned:,} GiB of SSD provisioned, at most"
            f" {size_words(use.fullest)} ({_percent(file_system, use.fullest):.1f} %) used in {present} days"
        ),
        confidence="high" if present >= SURE_DAYS and not recorded.missing and not use.lost_minutes else "medium",
        evidence=(
            Evidence("Used SSD, per day", round(use.fullest / GIB, 1), "GiB", use.used.over(GIB), provisioned, lines),
            Evidence("Provisioned SSD", provisioned, "GiB"),
            Evidence("Recorded days", present, "days"),
            fsx.deployment(file_system),
            *([Evidence("In the capacity pool at most", pooled, "GiB")] if is_ontap else []),
            *([] if iops is None else [Evidence("Disk IOPS at most", round(iops), "IOPS")]),
            *([Evidence("Throughput of clients at most", mb_s, "MB/s")] if traffic else []),
        ),
        advice=(_shrink(file_system, smaller),) if smaller else (),
        fingerprint_inputs=(provisioned, size_class(use.fullest + use.pooled)),
        caveats=advice.caveats(
            (lost, use.lost_minutes), (unknown, iops is None and file_system.iops), (TIERING, shrinks), (moved, moves)
        ),
        remedies=_elsewhere(file_system, use, limits),
        cheapest_first=True,
    )


COPY: Final[Mapping[str, str]] = {
    "OPENZFS": "AWS DataSync, or volume by volume with copy-snapshot-and-update-volume",
    "ONTAP": "SnapMirror",
    "WINDOWS": "AWS DataSync, or robocopy with its access lists",
}
THEN: Final = "switch the clients, copy what changed since, then back up and delete this file system."


def _shrink(file_system: FsxFileSystem, smaller: FsxFileSystem) -> Advice:
    """Recommend a smaller SSD: in place if it can shrink, else by a copy."""
    kind, command = file_system.file_system_type, None
    size = f"{smaller.storage_gib:,} GiB of SSD" + (f" and {smaller.iops:,} IOPS" if smaller.iops else "")
    if kind == "ONTAP" and file_system.deployment_type in formulas.SHRINKS:
        how = f"shrink it in place to {size}, while it is in use."
        risk = "FSx moves all volumes to new disks, which takes hours to days of file server time. It can grow again."
        command = fsx.update_storage(file_system, smaller)
    else:
        how = (
            f"create a file system of the same type with {size} and the same throughput, as SSD cannot shrink here."
            f" Copy to it with {COPY[kind]}, {THEN}"
        )
        risk = "AWS bills both during the copy. Clients mount another address. Snapshots and backups do not move."
    return Advice(
        action="shrink-ssd" if command else "move-to-smaller",
        summary=f"Ask whether more data is planned. If not, {how}",
        changes=fsx.saved(file_system, smaller),
        risk=risk,
        reversible=True,
        command=command,
    )


def _elsewhere(file_system: FsxFileSystem, use: Use, limits: OversizedLimits) -> tuple[Remedy, ...]:
    """Return the lower-cost services that carry the load. OpenZFS needs room to grow; EFS bills what it stores."""
    before = formulas.monthly_units(file_system)
    if before is None or use.traffic is None:
        return ()
    bytes_per_s, read, written = use.traffic
    inputs = {
        "throughput": f"{HEADROOM * bytes_per_s:.0f}B/s",
        "iops": use.needed_iops,
        "multi_az": file_system.deployment_type.startswith("MULTI_AZ"),
        "read_per_month": f"{read:.0f}B",
        "write_per_month": f"{written:.0f}B",
    }
    stored = use.fullest + use.pooled
    room = {"openzfs": stored / (limits.fill_percent / 100)} if file_system.file_system_type == "ONTAP" else {}
    return tuple(
        Remedy(
            kind="shared-storage",
            inputs={**inputs, "capacity": f"{max(GIB, size):.0f}B"},
            advise=partial(_move, service, before),
        )
        for service, size in {**room, "efs": stored}.items()
    )


def _move(service: str, before: tuple[Change, ...], way: Alternative) -> Advice | None:
    if way.id != service or not way.solves:
        return None
    trial = " Test it with your writes first: small writes take longer there." if service == "efs" else ""
    return Advice(
        action=f"move-to-{service}",
        summary=f"Replace it with {way.summary}.{trial} Copy the data with AWS DataSync, {THEN}",
        changes=None if way.changes is None else difference((*before, *way.changes), ()),
        risk="Only for clients that speak NFS. They mount another address, and AWS bills both during the copy.",
        reversible=True,
    )


WHOLE_DAYS = {fsx.samples(metric): 1_440.0 for metric in fsx.SPACE.values()}
WORKING = WHOLE_DAYS | {DISK_IOPS: 8.0, READ: 2.0 * GIB, WRITTEN: 0.5 * GIB, READ_PEAK: 300e6, WRITE_PEAK: 60e6}
TWO_HOURS_LOST, FOUR_HOURS_LOST = ({fsx.samples(USED): days(1_440.0, {20: rest})} for rest in (1_320.0, 1_200.0))
LEAST = {"file_system_type": "ONTAP", "storage_gib": 1_024, "throughput_mb_s": 128}
SECOND = {"file_system_type": "ONTAP", "deployment_type": "MULTI_AZ_2", "storage_gib": 8_192, "throughput_mb_s": 384}
GROWING = [(50 + 4.0 * day) * GIB for day in range(37)]

openzfs = Cases(examples.fsx(storage_gib=2_000, iops=6_000), {**WORKING, USED: 150.0 * GIB})
tight = Cases(examples.fsx(storage_gib=400, iops=20_000), {**WORKING, USED: 50.0 * GIB, DISK_IOPS: 45.0})
ontap = Cases(examples.fsx(**LEAST, iops=3_072), {**WORKING, ON_SSD: 90.0 * GIB, IN_POOL: 0.0})
second = Cases(examples.fsx(**SECOND, iops=24_576), {**WORKING, ON_SSD: 700.0 * GIB, IN_POOL: 9_000.0 * GIB})
windows = Cases(
    examples.fsx(file_system_type="WINDOWS", storage_gib=2_000, iops=None), {**WHOLE_DAYS, FREE: 1_900.0 * GIB}
)
unread = Cases(openzfs.resource)

DETECTOR = Detector(
    title="FSx file system whose SSD is far too large",
    kind="waste",
    resource=FsxFileSystem,
    limits=OversizedLimits,
    judge=judge,
    cases=(
        openzfs("2,000 GiB of OpenZFS, 150 used", Flagged, "at most 150 GiB (7.5 %) used"),
        ontap("ONTAP at its minimum, 90 GiB used", Flagged, "at most 90 GiB (8.8 %) used"),
        second("ONTAP of the second generation, which shrinks", Flagged, "at most 700 GiB (8.5 %) used"),
        windows("2,000 GiB of Windows, 1,900 free", Flagged, "at most 100 GiB (5.0 %) used"),
        openzfs("data copied there six days ago", Flagged, metrics={USED: days(100.0 * GIB, {range(7): 300.0 * GIB})}),
        openzfs("a fifth full", Fine, "20 % full", metrics={USED: 400.0 * GIB}),
        ontap("ONTAP's minimum, well filled", Fine, "61 % full", metrics={ON_SSD: 620.0 * GIB}),
        ontap("ONTAP's minimum, with data in its pool", Fine, "capacity pool", metrics={IN_POOL: 4_000.0 * GIB}),
        openzfs("filled one night a month", Fine, "85 % full", metrics={USED: days(150.0 * GIB, {32: 1_700.0 * GIB})}),
        openzfs("being filled", Fine, "grows by 4 GiB a day", metrics={USED: GROWING}),
        unread("64 GiB, the least there is", Fine, "64 GiB", storage_gib=64),
        tight("a minimum that its IOPS require", Fine, "hardly be smaller"),
        tight("the same, and four hours without points", Fine, "smaller", metrics=FOUR_HOURS_LOST),
        openzfs("two hours without points", Flagged, metrics=TWO_HOURS_LOST),
        openzfs("four hours without points", Unknown, "240 minutes", metrics=FOUR_HOURS_LOST),
        openzfs("a week without points", Unknown, "7 of 36", metrics={USED: days(150.0 * GIB, {range(5, 12): None})}),
        unread("no metric at all", Unknown, "14 of 14 days"),
        ontap("ONTAP whose capacity pool is unknown", Unknown, "capacity pool", metrics={IN_POOL: None}),
        ontap("ONTAP at its minimum with unknown clients", Unknown, "which smaller service", metrics={READ_PEAK: None}),
        unread("ten days old", Fine, "younger than 15 days", created_at=days_ago(10)),
        unread("Intelligent-Tiering", Fine, "INTELLIGENT_TIERING", storage_type="INTELLIGENT_TIERING", storage_gib=0),
        unread("Lustre", Fine, "is its throughput", file_system_type="LUSTRE", deployment_type="PERSISTENT_2"),
        unread("being created", Fine, "creating", state="CREATING"),
    ),
)
