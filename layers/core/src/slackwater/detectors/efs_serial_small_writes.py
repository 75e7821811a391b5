"""EFS file systems whose writers wait for every small write.

## What it finds
In the last 14 days, half an hour or more with 50 small writes a second or more (64 KiB or less on average) at one rate,
far from the limits on throughput and operations. Either a job reached it within minutes and never exceeded it for more
than ten, or it never varies. At least half a writer must wait on average: the operations a second, times the documented
2.7 ms of an answer (Little's law).

## Why it matters
EFS answers a write when more than one zone has stored it. A writer that waits each time makes a few hundred writes a
second, whatever throughput you pay for. 1.1 GB of small files took 26 minutes, and 11 with four parallel writers ("The
speed of EFS at small capacity", 2021-07-26).

## When it is wrong
- A program that chooses to send so many writes looks the same: the confidence is medium, or low if it never varies.
- Sizes, throughput and metadata are averages of the hour. A rate that rises and falls over hours is not flagged.

## What to do
Use parallel writers, larger writes and fewer fsyncs. Or use a storage that answers sooner: One Zone, FSx for OpenZFS,
an EBS volume. More throughput does not help.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import batched
from math import ceil, exp, inf, isnan, sqrt
from statistics import fmean, median
from typing import Final, NamedTuple

from slackwater.model.detector import Case, Detector, Limits, Seen, limit, unless_decided
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import difference
from slackwater.model.quantities import duration_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import ebs, fsx, nfs
from slackwater.performance import efs as formulas
from slackwater.rules import efs, efs_throughput, examples
from slackwater.rules.efs_throughput import LEAST_PERMITTED, METADATA_OPERATIONS, WRITES, Writes
from slackwater.rules.examples import Cases, Points

IO_LIMIT = Metric("AWS/EFS", "PercentIOLimit", "Maximum", "percent")

ROOM: Final = 1.5  # how many times as large as its data a volume is, because it cannot shrink
OPTIONS: Final = ("more-workers", "efs-one-zone", "openzfs-sync", "ebs-gp3")  # of the estimate, least effort first
MOST: Final = 0.5  # the share of points at half of the rate or more that must be in flat runs
AT_REST, USUAL, REST_POINTS, BEGINS = 0.5, 1.5, 3, 2
"""Before a job, 3 points are not busy or at most 1.5 times the median, and below half of its rate. While it begins,
up to 2 more points may follow these."""
FASTER_POINTS: Final = 2  # ten minutes may be faster: another program, or data from memory
SCATTERED, HOURS_ALIKE = 0.01, 0.15
"""For a rate that never varies: the share of points or hours that may be missing or slower, and how much the average
of an hour may differ from the average of all."""
AN_HOUR, A_QUARTER = HOUR_S // FIVE_MINUTES_S, 3  # in points
NO_RUN: Final = "no small writes began at once and stayed at one rate"


class SerialSmallWritesLimits(Limits):
    """What small writes at one rate mean that someone waits."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weeks; CloudWatch keeps five-minute points 63 days")
    busy_writes_per_s: float = limit(50, unit="writes/s", gt=0, why="fewer do not wait: 87 a second were measured")
    small_write_kib: float = limit(64, unit="KiB", gt=0, why="throughput limits larger writes, not the wait")
    flat_minutes: int = limit(30, unit="minutes", ge=15, le=1440, why="six points; a deployment is shorter")
    flat_percent: float = limit(25, unit="percent", gt=0, lt=100, why="deviation; waits are alike, work is not")
    permitted_percent: float = limit(20, unit="percent", gt=0, le=100, why="above it, throughput may be the limit")
    io_percent: float = limit(50, unit="percent", gt=0, le=100, why="PercentIOLimit; above, operations limit it")
    most_writers: float = limit(16, unit="writers", ge=1, why="more are parallel already")
    least_writers: float = limit(0.5, unit="writers", ge=0, le=16, why="waiting on average; fewer do something else")

    @property
    def flat_points(self) -> int:
        """`flat_minutes` in five-minute points."""
        return self.flat_minutes * MINUTE_S // FIVE_MINUTES_S


class Waits(NamedTuple):
    """Points of small writes at one rate, the longest run of them, and the highest percent of each limit used."""

    points: Sequence[int]
    longest: int
    permitted: float
    io: float


def judge(file_system: EfsFileSystem, seen: Seen, limits: SerialSmallWritesLimits) -> Verdict:
    """Flag a file system that is written in small writes at one rate, far from every limit."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica:
        return Fine("only a replication writes it")
    days, needs = limits.window_days, partial(efs.needs, file_system)
    io_limit = [IO_LIMIT] if file_system.performance_mode == efs_throughput.GENERAL_PURPOSE else []
    limiting = needs(HOUR_S, max(days, efs_throughput.HOURLY_DAYS), LEAST_PERMITTED, efs.METERED)
    hourly = needs(HOUR_S, days, efs.WRITTEN, METADATA_OPERATIONS, *io_limit)
    last = *needs(FIVE_MINUTES_S, days, WRITES), *limiting, *hourly
    by_hour, written = unless_decided(_busy_hours(file_system, seen, limits, last))
    counts, allowed, metered, _, metadata, *io = (one.newest(days) for one in seen.read(*last))
    if not counts.present:  # the only hour with points may have begun before the window
        return Unknown(f"DataWriteIOBytes has no data in {days} days")
    writes = efs_throughput.five_minute_writes(by_hour, written, counts)
    always = _never_varies(writes, limits)
    if not (runs := [always] if always else _runs(writes, limits)):
        return Fine(NO_RUN)

    use = {i: writes.used(i, written, allowed, metered, *io) for run in runs for i in run}
    waits = unless_decided(_far_from_limits(runs, use, limits))
    rate = fmean(writes.per_s[i] for i in waits.points)
    operations = rate + fmean(metadata.values[writes.hours[i]] for i in waits.points) / HOUR_S  # they wait too
    one_zone = file_system.availability_zone is not None
    waiting, at_most = (nfs.waiting_writers(per_s, one_zone=one_zone) for per_s in (rate, operations))
    if waiting > limits.most_writers:
        return Fine(f"{rate:,.0f} writes a second come from many parallel writers already")
    if waiting < limits.least_writers and isnan(operations):
        return Unknown("MetadataIOBytes has no data during these writes, which alone keep no writer waiting")
    if max(waiting, at_most) < limits.least_writers:
        return Fine(f"{operations:,.0f} operations a second keep no writer waiting for most of its time")
    return _flag(file_system, writes, waits, rate, always=bool(always))


def _far_from_limits(
    runs: Sequence[Sequence[int]], use: Mapping[int, tuple[float, float]], limits: SerialSmallWritesLimits
) -> Waits | Fine | Unknown:
    """Return the points of runs that are far from every limit, or the verdict if there are too few."""
    far = {i for i, (used, io) in use.items() if used < limits.permitted_percent and io < limits.io_percent}
    if waits := [run for run in runs if len(far.intersection(run)) >= limits.flat_points]:
        points = [i for run in waits for i in run if i in far]
        return Waits(points, max(map(len, waits)), *map(max, zip(*(use[i] for i in points), strict=True)))
    if any(sum(isnan(sum(use[i])) for i in run) >= limits.flat_points for run in runs):
        return Unknown("PermittedThroughput, MeteredIOBytes or PercentIOLimit has no data during these writes")
    return Fine("throughput or operations may have been the limit")


def _busy_hours(
    fs: EfsFileSystem, seen: Seen, limits: SerialSmallWritesLimits, last: Sequence[Need]
) -> tuple[Series, Series] | Fine | Unknown:
    """Return the writes and bytes by the hour, or the verdict. Reads `last` in the third round at the latest.

    If enough writers wait, a point has the `least` operations a second. Its run is flat: that is at most `peak` times
    the average, and quarters of an hour have `low` times that. Two hours of them show a run in the present hour.
    """
    days, points, share = limits.window_days, limits.flat_points, limits.flat_percent / 100
    (by_hour,) = seen.read(*efs.needs(fs, HOUR_S, days, WRITES))
    if not by_hour.present:
        return Unknown(f"DataWriteIOBytes has no data in {days} days")
    if (most := _most_of_a_run(by_hour.values, limits)) < limits.busy_writes_per_s:
        return Fine(NO_RUN)
    least = limits.least_writers / nfs.waiting_writers(1, one_zone=fs.availability_zone is not None)
    peak, low = 1 + share * sqrt(points - 1), 1 - share * sqrt(max(0, points / A_QUARTER - 1))
    # A shorter run may have no whole quarter, and some quarter has at least as many writes as its hour.
    if points >= 2 * A_QUARTER - 1 and len(by_hour.present) > 1 and max(by_hour.present) / HOUR_S * peak < least * low:
        few = most * peak < least
        (quarter,) = efs.needs(fs, A_QUARTER * FIVE_MINUTES_S, 2 * HOUR_S / DAY_S if few else days, WRITES)
        metadata, quarters = seen.read(*efs.needs(fs, HOUR_S, days, METADATA_OPERATIONS), quarter)
        pairs = zip(by_hour.values, metadata.values, strict=True)
        more = max(inf if isnan(operations) else operations / HOUR_S for count, operations in pairs if not isnan(count))
        in_quarter = max(quarters.present, default=0) / quarter.period_s / low
        if max(in_quarter, most if few else 0) * peak + more < least:
            return Fine("its operations keep no writer waiting for most of its time")
        seen.read(*last)
    (written,) = seen.read(*efs.needs(fs, HOUR_S, days, efs.WRITTEN))
    most_bytes, both = limits.small_write_kib * KIB, zip(by_hour.values, written.values, strict=True)
    small = [count if size <= most_bytes * count else 0.0 for count, size in both]
    small[-1] = inf if small[-1] else 0.0  # the present hour may be like the newest one
    return (by_hour, written) if _most_of_a_run(small, limits) >= limits.busy_writes_per_s else Fine(NO_RUN)


def _most_of_a_run(counts: Iterable[float], limits: SerialSmallWritesLimits) -> float:
    """Return the writes a second of a run that makes all writes of the hours that it touches."""
    each, hours = [0.0 if isnan(n) else n for n in counts], ceil(limits.flat_minutes * MINUTE_S / HOUR_S) + 1
    return max(sum(each[i : i + hours]) for i in range(len(each))) / (limits.flat_points * FIVE_MINUTES_S)


def _rested(per_s: Sequence[float], i: int, rest: float) -> bool:
    """Return whether this point follows a rest. The point before may belong to both; a missing point is no rest."""
    half, before = AT_REST * per_s[i + 1], i - 1
    least = max(REST_POINTS, before - BEGINS)
    while before > least and rest <= per_s[before - 1] < half:
        before -= 1
    return all(rate < min(rest, half) for rate in per_s[before - REST_POINTS : before])


def _is_flat(writes: Writes, run: Sequence[int], limits: SerialSmallWritesLimits) -> bool:
    """Return whether small writes had one rate at these points; False if a point is NaN."""
    rates, most_bytes = [writes.per_s[i] for i in run], limits.small_write_kib * KIB
    if not all(writes.per_s[i] >= limits.busy_writes_per_s and writes.mean_bytes[i] <= most_bytes for i in run):
        return False
    mean = fmean(rates)
    return fmean((rate - mean) ** 2 for rate in rates) < (limits.flat_percent / 100 * mean) ** 2


def _runs(writes: Writes, limits: SerialSmallWritesLimits) -> list[range]:
    """Return the runs that began at once after a rest, are flat to their end, and were not faster for long after."""
    per_s, wanted, runs, i = writes.per_s, limits.flat_points, list[range](), REST_POINTS + 1
    busy = limits.busy_writes_per_s
    rest = max(busy, USUAL * median(rate for rate in per_s if not isnan(rate)))
    while i + wanted <= len(per_s):
        if per_s[i] < busy or not _rested(per_s, i, rest) or not _is_flat(writes, range(i, i + wanted), limits):
            i += 1
            continue
        end = i + wanted
        while end < len(per_s) and _is_flat(writes, range(end + 1 - wanted, end + 1), limits):
            end += 1
        mean, share, after = fmean(per_s[i:end]), limits.flat_percent / 100, end
        while after < len(per_s) and not per_s[after] < AT_REST * mean:
            after += 1
        at_once = fmean(per_s[i : i + wanted]) >= mean * (1 - share)
        faster = sum(rate > mean * (1 + share) for rate in per_s[i : max(after, end + wanted)])
        if at_once and faster <= FASTER_POINTS:
            runs.append(range(i, end))
        i = after
    flat = [rate for run in runs for rate in per_s[run.start : run.stop]]
    least = AT_REST * min((fmean(per_s[run.start : run.stop]) for run in runs), default=0)
    # A varying rate may be flat for half an hour by chance, so most points must be in such runs.
    return runs if len(flat) >= MOST * sum(rate >= least for rate in per_s) else []


def _never_varies(writes: Writes, limits: SerialSmallWritesLimits) -> Sequence[int]:
    """Return all points except a few if they are one flat run; else nothing."""
    usual = [i for i, rate in enumerate(writes.per_s) if rate >= limits.busy_writes_per_s]
    if len(usual) < (1 - SCATTERED) * len(writes.per_s) or not _is_flat(writes, usual, limits):
        return ()
    mean = fmean(writes.per_s[i] for i in usual)
    hours = [fmean(writes.per_s[i] for i in usual[first : first + AN_HOUR]) for first in range(0, len(usual), AN_HOUR)]
    faster = any(rate > mean * (1 + HOURS_ALIKE) for rate in hours)
    slower = sum(rate < mean * (1 - HOURS_ALIKE) for rate in hours)
    return () if faster or slower > SCATTERED * len(hours) else usual


def _flag(fs: EfsFileSystem, writes: Writes, waits: Waits, rate: float, *, always: bool) -> Flagged:
    points, one_zone = waits.points, fs.availability_zone is not None
    kib = fmean(writes.per_s[i] * writes.mean_bytes[i] for i in points) / rate / KIB
    writers = nfs.waiting_writers(rate, one_zone=one_zone)
    hours, longest_s = len(points) * FIVE_MINUTES_S / HOUR_S, waits.longest * FIVE_MINUTES_S
    line = Line("One writer that waits for each answer", round(rate / writers, 1))
    first_s = writes.start_s + points[0] * FIVE_MINUTES_S
    around = Series.of(writes.start_s, FIVE_MINUTES_S, writes.per_s).between(first_s - DAY_S / 2, first_s + DAY_S / 2)
    lasts = "all the time" if always else f"for up to {duration_words(longest_s)} in a row"
    io_used = Evidence("Most of the I/O limit used", round(waits.io, 1), "percent")
    inputs = {  # only the ratio of the speeds is used
        "files": max(1, round(rate * longest_s)),
        "bytes": f"{kib * rate * longest_s:.0f}KiB",
        "workers": max(1, round(writers)),
        "storage": "efs-one-zone" if one_zone else "efs-regional",
    }
    return Flagged(
        summary=(
            f"{rate:,.0f} writes a second of {kib:,.0f} KiB {lasts}, at a rate that hardly varies and at most"
            f" {waits.permitted:.1f}% of the permitted throughput: each write seems to wait for the one before"
        ),
        severity="medium" if hours >= DAY_S / HOUR_S else "low",
        confidence="low" if always else "medium",
        evidence=(
            Evidence("Writes by five minutes", round(rate), "writes/s", around, lines=(line,)),
            Evidence("Average size of a write", round(kib, 1), "KiB"),
            Evidence("Time at this rate", round(hours, 1), "hours"),
            Evidence("Longest time in a row", round(longest_s / HOUR_S, 1), "hours"),
            Evidence("Most of the permitted throughput used, by the hour", round(waits.permitted, 1), "percent"),
            Evidence("Writers that wait in turn for each answer", round(writers, 1), "writers"),
            *([io_used] if fs.performance_mode == efs_throughput.GENERAL_PURPOSE else []),
        ),
        advice=(),
        fingerprint_inputs=(one_zone, always),
        caveats=("A program that chooses to send so many writes looks the same. Ask whether anyone waits for it.",),
        remedies=tuple(Remedy(kind="small-files", inputs=inputs, advise=partial(_advice, fs, o)) for o in OPTIONS),
    )


def _advice(file_system: EfsFileSystem, option: str, found: Alternative) -> Advice | None:
    """Return the option, if the estimate finds it faster, with the price of all stored data there; else None."""
    if found.id != option or not found.solves:
        return None
    faster, (least, most) = f"{found.summary}, for small files", ebs.VOLUME_TYPES["gp3"].gib
    if option == "more-workers":
        summary = f"Divide the work: {faster}. Larger writes and fewer fsyncs help too."
        risk = "None for the data, if no two writers write the same file."
        return Advice(action="write-in-parallel", summary=summary, changes=(), risk=risk, reversible=True)
    if option == "efs-one-zone":
        move = efs.to_one_zone(file_system, None)
        return replace(move, summary=f"{faster}. {move.summary}")
    if option == "openzfs-sync":
        if not (server := fsx.smallest(fsx.OPENZFS["MULTI_AZ_1"], stored_bytes=file_system.total_bytes)):
            return None
        action, units = "move-to-openzfs", server.monthly_units
        summary = (
            f"Move to FSx for OpenZFS, Multi-AZ, {server.storage_gib:,} GiB with {server.throughput_mb_s} MB/s:"
            f" {faster}, as two reports measured. An `async` export is much faster, but may lose the last seconds."
        )
        risk = "You copy the data to another service. It bills what is provisioned, and does not grow by itself."
    else:
        if (gib := max(least, ceil(file_system.total_bytes / GIB * ROOM))) > most:
            return None
        action, units = "move-to-gp3", ebs.units("gp3", gib, ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S)
        summary = f"If only one instance needs it, move to a gp3 volume of {gib:,} GiB: {found.summary} (roughly)."
        risk = "No other instance or zone can read it. It needs snapshots, and you grow it yourself."
    elastic = file_system.throughput_mode == "elastic"  # it also bills moved bytes, which are unknown here
    changes = None if elastic else difference(formulas.monthly_units(file_system), units)
    return Advice(action=action, summary=summary, changes=changes, risk=risk, reversible=True)


def writing(rates: Sequence[float], kib: float = 8, **other: float) -> dict[tuple[Metric, int], Points]:
    """Return writes a second by five minutes, and other hourly metrics."""
    other = {"metered_mib_s": 0, "permitted_mib_s": 100, "io": 3, "metadata_per_s": 10, **other}
    counts = [rate * FIVE_MINUTES_S for rate in rates]
    quarters, hours = ([sum(few) for few in batched(counts, points)] for points in (A_QUARTER, AN_HOUR))
    by_hour = {
        WRITES: hours,
        efs.WRITTEN: [count * kib * KIB for count in hours],
        METADATA_OPERATIONS: [other["metadata_per_s"] * HOUR_S] * len(hours),
        LEAST_PERMITTED: [other["permitted_mib_s"] * MIB] * len(hours),
        efs.METERED: [count * kib * KIB + other["metered_mib_s"] * MIB * HOUR_S for count in hours],
        IO_LIMIT: [other["io"]] * len(hours),
    }
    each = {(WRITES, FIVE_MINUTES_S): counts, (WRITES, A_QUARTER * FIVE_MINUTES_S): quarters}
    return {**each, **{(metric, HOUR_S): values for metric, values in by_hour.items()}}


def nightly(*rates: float, rest: float = 2) -> list[float]:
    """Return a job that makes this many writes a second every night, by five minutes."""
    return [*[rest] * 36, *rates, *[rest] * (252 - len(rates))] * 14


SHARED = Cases(examples.efs(availability_zone=None, stored_bytes={"Standard": 60 * GIB}))
ALL_DAY = writing([340.0] * 288 * 14)


def case(title: str, expect: type[Verdict], says: str, rates: Sequence[float], **more: float) -> Case:
    """Return a case with these writes a second, by five minutes."""
    return SHARED(title, expect, says, metrics=writing(rates, **more))


BY_DAY = [20 + 180 * exp(-(((i % 288) / 12 - 10) ** 2) / 18) for i in range(288 * 14)]
AT_NOON = ([20.0] * 60 + [20 + 15.0 * n for n in range(12)] + [200.0] * 72 + [20.0] * 144) * 14
SIXTY, TWO_HOURS = nightly(*[60] * 24), nightly(*[340] * 24)
NIGHTLY = "two hours of 8 KiB writes every night, one after the other"

DETECTOR = Detector(
    title="EFS file system whose small writes wait for each other",
    kind="performance",
    resource=EfsFileSystem,
    limits=SerialSmallWritesLimits,
    judge=judge,
    cases=(
        case(NIGHTLY, Flagged, "340 writes a second of 8 KiB for up to 2 h in a row", TWO_HOURS),
        SHARED("on One Zone", Flagged, metrics=writing(nightly(*[580] * 24)), availability_zone="ap-northeast-1a"),
        SHARED("all day and all night", Flagged, "all the time", metrics=ALL_DAY),
        case("a job on top of sixty writes a second", Flagged, "for up to 2 h in a row", nightly(*[340] * 24, rest=60)),
        case("a job of 25 minutes", Fine, NO_RUN, nightly(*[340] * 5)),
        case("many clients, whose day rises and falls", Fine, NO_RUN, BY_DAY),
        case("many clients, who come within an hour and wait until noon", Fine, NO_RUN, AT_NOON),
        case("60 writes a second: nobody waits for most of the time", Fine, "keep no writer waiting", SIXTY),
        case("60 files a second, of many operations each", Flagged, "60 writes", SIXTY, metadata_per_s=400),
        case("large writes", Fine, NO_RUN, TWO_HOURS, kib=256),
        case("hardly written", Fine, NO_RUN, nightly(*[10] * 24)),
        case("readers use all that is permitted", Fine, "may have been the limit", TWO_HOURS, metered_mib_s=60),
        case("out of burst credits", Fine, "may have been the limit", TWO_HOURS, permitted_mib_s=3),
        case("many parallel writers already", Fine, "parallel writers already", nightly(*[6_400] * 24), kib=2),
        SHARED(
            "no PermittedThroughput",
            Unknown,
            "PermittedThroughput",
            metrics={**ALL_DAY, (LEAST_PERMITTED, HOUR_S): None},
        ),
        SHARED("no metrics", Unknown, "no data in 14 days"),
        SHARED("a replica", Fine, "replication", is_replica=True),
        SHARED("being deleted", Fine, "deleting", state="deleting"),
    ),
)
