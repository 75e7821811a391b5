"""EFS file systems whose writers wait for every small write.

## What it finds
In the last 14 days, half an hour or more with at least 50 small writes a second (64 KiB or less on average) at a rate
that hardly varied. They used less than a fifth of the permitted throughput and were far from the limit on operations.
One of two patterns must fit:
- A job: the rate came within minutes, to twice or more of the rate before, stayed, and was not higher later for more
  than ten minutes. It has more to write than it can, because each write waits for the answer to the one before.
- A rate that never varies, not from hour to hour either.

And at least half a writer must be waiting on average: writes and metadata operations a second, times the documented
2.7 ms of an answer (Little's law). With fewer, nobody waits for EFS for most of the time.

## Why it matters
EFS answers a write when more than one zone has stored it, after about 2.7 ms (1.6 ms on One Zone). A writer that waits
each time makes a few hundred writes a second, whatever throughput you pay for. 1.1 GB of small files took 26 minutes,
and 11 with four parallel writers ("The speed of EFS at small capacity", 2021-07-26).

## When it is wrong
- A program that chooses to send so many writes a second looks the same, so the confidence is never high. It is low if
  the rate never varies: that mostly is a program's own rate.
- Sizes, throughput and metadata are averages of the hour. A rate that rises and falls over hours is not flagged.

## What to do
Use parallel writers, larger writes and fewer fsyncs. Or use a storage that answers sooner: One Zone, FSx for OpenZFS,
an EBS volume. More throughput does not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import ceil, exp, inf, isnan, nan, pi, sin
from statistics import fmean, median
from typing import Final, NamedTuple

from slackwater.model.detector import Case, Detector, Limits, Seen, limit
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, difference
from slackwater.model.quantities import duration_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import ebs, fsx, nfs
from slackwater.performance import efs as formulas
from slackwater.rules import efs, examples
from slackwater.rules.efs import METERED, WRITTEN
from slackwater.rules.efs_throughput import GENERAL_PURPOSE, LEAST_PERMITTED, METADATA_OPERATIONS, WRITES
from slackwater.rules.examples import Cases, Metrics, Points

IO_LIMIT = Metric("AWS/EFS", "PercentIOLimit", "Maximum", "percent")

A_DAY_OF_WAITING_HOURS: Final = 24
ROOM: Final = 1.5
"""How much larger a volume is than its data: it cannot shrink."""
OPTIONS: Final = ("more-workers", "efs-one-zone", "openzfs-sync", "ebs-gp3")
"""Alternatives of the estimate, the least effort first."""

MOST: Final = 0.5
"""The part of the points at half of that rate or more that must be at one rate."""
AT_REST, USUAL = 0.5, 1.5
REST_POINTS, BEGINS = 3, 2
"""A job comes after 3 points that are not busy, or at most 1.5 times the median, and below half of its rate. Up to 2 more
may lie between, while it begins."""
BRIDGED: Final = 2
"""So many points missing in a row are assumed to lie between their neighbors."""
FASTER_POINTS: Final = 2
"""Ten minutes that may be faster: another program, or work that is read from memory."""
SCATTERED, HOURS_ALIKE = 0.01, 0.15
"""For a rate that never varies: the part of points or hours that may be missing or slower, and how far the average of
an hour may be from the whole. Waits vary much less within an hour."""
AN_HOUR: Final = HOUR_S // FIVE_MINUTES_S
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


class Writes(NamedTuple):
    """By five minutes: writes a second and, by the hour, their average size and the hour's place. NaN if missing."""

    per_s: Sequence[float]
    mean_bytes: Sequence[float]
    hours: Sequence[int]
    start_s: int


def judge(file_system: EfsFileSystem, seen: Seen, limits: SerialSmallWritesLimits) -> Verdict:
    """Flag a file system that is written in small writes at one rate, far from every limit."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica:
        return Fine("only a replication writes it")
    by_hour, written = seen.read(*efs.needs(file_system, HOUR_S, limits.window_days, WRITES, WRITTEN))
    if not by_hour.present:
        return Unknown(f"DataWriteIOBytes has no point in {limits.window_days} days")
    if not _is_busy(by_hour, limits):
        return Fine("it is never written so often for so long")
    if not _is_busy(_of_small(by_hour, written, limits), limits):
        return Fine(NO_RUN)

    (counts,) = seen.read(*efs.needs(file_system, FIVE_MINUTES_S, limits.window_days, WRITES))
    writes = _writes(by_hour, written, counts)
    always = _never_varies(writes, limits)
    runs = [always] if always else _runs(writes, limits)
    if not runs:
        return Fine(NO_RUN)

    metrics = (LEAST_PERMITTED, METERED, *((IO_LIMIT,) if file_system.performance_mode == GENERAL_PURPOSE else ()))
    metadata, *others = seen.read(*efs.needs(file_system, HOUR_S, limits.window_days, METADATA_OPERATIONS, *metrics))
    longest, unrecorded, points = 0, False, list[int]()
    for run in runs:
        known = [i for i in run if not any(isnan(series.values[writes.hours[i]]) for series in others)]
        far = [i for i in known if _is_far(writes, i, written, others, limits)]
        if len(far) >= limits.flat_points:
            longest, points = max(longest, len(run)), [*points, *far]
        unrecorded = unrecorded or len(run) - len(known) >= limits.flat_points
    if not points:
        if unrecorded:
            return Unknown("PermittedThroughput, MeteredIOBytes or PercentIOLimit has no point during these writes")
        return Fine("throughput or operations may have been the limit")
    rate, one_zone = fmean(writes.per_s[i] for i in points), file_system.availability_zone is not None
    operations = rate + fmean(metadata.values[writes.hours[i]] for i in points) / HOUR_S  # each waits for its answer
    waiting, at_most = (nfs.waiting_writers(per_s, one_zone=one_zone) for per_s in (rate, operations))
    if waiting > limits.most_writers:
        return Fine(f"{rate:,.0f} writes a second come from many parallel writers already")
    if waiting < limits.least_writers and isnan(operations):
        return Unknown("MetadataIOBytes has no point during these writes, which alone keep no writer waiting")
    if max(waiting, at_most) < limits.least_writers:
        return Fine(f"{operations:,.0f} operations a second keep no writer waiting for most of its time")
    return _flag(file_system, writes, points, longest, (written, *others), always=bool(always))


def _is_busy(by_hour: Series, limits: SerialSmallWritesLimits) -> bool:
    """Whether the hours that a run may touch have enough writes for it."""
    hours = ceil(limits.flat_minutes * MINUTE_S / HOUR_S) + 1
    values = [0.0 if isnan(value) else value for value in by_hour.values]
    least = limits.busy_writes_per_s * limits.flat_points * FIVE_MINUTES_S
    return any(sum(values[i : i + hours]) >= least for i in range(len(values)))


def _of_small(by_hour: Series, written: Series, limits: SerialSmallWritesLimits) -> Series:
    """The writes of the hours that may be part of a run: small on average. The newest hour stands for the present one too."""
    most = limits.small_write_kib * KIB
    small = [count if size <= most * count else 0.0 for count, size in zip(by_hour.values, written.values, strict=True)]
    if small[-1]:
        small[-1] = inf
    return Series.of(by_hour.start_s, HOUR_S, small)


def _writes(by_hour: Series, size: Series, count: Series) -> Writes:
    """Writes by five minutes, with the average size of their hour; the present hour is like the one before."""
    means = [both / one if one else nan for one, both in zip(by_hour.values, size.values, strict=True)]
    first = (count.start_s - by_hour.start_s) // FIVE_MINUTES_S
    hours = [min((first + i) // AN_HOUR, len(by_hour) - 1) for i in range(len(count))]
    per_s = [one / FIVE_MINUTES_S for one in count.values]
    for before, after in pairwise([i for i, rate in enumerate(per_s) if not isnan(rate)]):
        for i in range(before + 1, after if after - before <= BRIDGED + 1 else 0):
            share = (i - before) / (after - before)
            per_s[i] = per_s[before] * (1 - share) + per_s[after] * share
    return Writes(per_s, [means[hour] for hour in hours], hours, count.start_s)


def _rested(per_s: Sequence[float], i: int, rest: float) -> bool:
    """Whether this point comes after a rest. The point before may be part of both; a missing one is no rest."""
    half, before = AT_REST * per_s[i + 1], i - 1
    least = max(REST_POINTS, before - BEGINS)
    while before > least and rest <= per_s[before - 1] < half:
        before -= 1
    return all(rate < min(rest, half) for rate in per_s[before - REST_POINTS : before])


def _is_flat(writes: Writes, run: Sequence[int], limits: SerialSmallWritesLimits) -> bool:
    """Whether small writes had one rate at these points. NaN is neither."""
    rates, most_bytes = [writes.per_s[i] for i in run], limits.small_write_kib * KIB
    if not all(writes.per_s[i] >= limits.busy_writes_per_s and writes.mean_bytes[i] <= most_bytes for i in run):
        return False
    mean = fmean(rates)
    return fmean((rate - mean) ** 2 for rate in rates) < (limits.flat_percent / 100 * mean) ** 2


def _runs(writes: Writes, limits: SerialSmallWritesLimits) -> list[range]:
    """The runs that began at once after a rest, are flat to their end, and were not faster for long afterwards."""
    per_s, wanted, runs, i = writes.per_s, limits.flat_points, list[range](), REST_POINTS + 1
    rest = max(limits.busy_writes_per_s, USUAL * median(rate for rate in per_s if not isnan(rate)))
    while i + wanted <= len(per_s):
        if not _rested(per_s, i, rest) or not _is_flat(writes, range(i, i + wanted), limits):
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
    # A rate that varies is also flat for half an hour sometimes: most writes must be in such runs.
    return runs if len(flat) >= MOST * sum(rate >= least for rate in per_s) else []


def _never_varies(writes: Writes, limits: SerialSmallWritesLimits) -> Sequence[int]:
    """All points except a few, if they are one flat run."""
    usual = [i for i, rate in enumerate(writes.per_s) if rate >= limits.busy_writes_per_s]
    if len(usual) < (1 - SCATTERED) * len(writes.per_s) or not _is_flat(writes, usual, limits):
        return ()
    mean = fmean(writes.per_s[i] for i in usual)
    hours = [fmean(writes.per_s[i] for i in usual[first : first + AN_HOUR]) for first in range(0, len(usual), AN_HOUR)]
    faster = any(rate > mean * (1 + HOURS_ALIKE) for rate in hours)
    slower = sum(rate < mean * (1 - HOURS_ALIKE) for rate in hours)
    return () if faster or slower > SCATTERED * len(hours) else usual


def _used(writes: Writes, i: int, written: Series, metered: Series) -> float:
    """Metered bytes a second at a point: its writes, and the other I/O of its hour, as if that was even."""
    other_bytes = metered.values[writes.hours[i]] - written.values[writes.hours[i]]
    return writes.per_s[i] * writes.mean_bytes[i] + max(0.0, other_bytes) / HOUR_S


def _is_far(writes: Writes, i: int, written: Series, others: Sequence[Series], limits: SerialSmallWritesLimits) -> bool:
    """Whether neither throughput nor operations were near their limit."""
    permitted, metered, *io_limits = others
    hour, share = writes.hours[i], limits.permitted_percent / 100
    is_slow = _used(writes, i, written, metered) < share * permitted.values[hour]
    return is_slow and all(series.values[hour] < limits.io_percent for series in io_limits)


def _flag(
    fs: EfsFileSystem, writes: Writes, points: Sequence[int], longest: int, others: Sequence[Series], *, always: bool
) -> Flagged:
    """`points` had small writes at one rate and no other limit, up to `longest` in a row."""
    one_zone, (written, permitted, metered, *io_limits) = fs.availability_zone is not None, others
    rate = fmean(writes.per_s[i] for i in points)
    kib = sum(writes.per_s[i] * writes.mean_bytes[i] for i in points) / sum(writes.per_s[i] for i in points) / KIB
    used = max(_used(writes, i, written, metered) / permitted.values[writes.hours[i]] for i in points)
    writers = nfs.waiting_writers(rate, one_zone=one_zone)
    hours, longest_s = len(points) * FIVE_MINUTES_S / HOUR_S, longest * FIVE_MINUTES_S
    line = Line("One writer that waits for each answer", round(rate / writers, 1))
    around = max(0, points[0] - DAY_S // FIVE_MINUTES_S // 2), points[0] + DAY_S // FIVE_MINUTES_S // 2
    chart = Series.of(writes.start_s + around[0] * FIVE_MINUTES_S, FIVE_MINUTES_S, writes.per_s[slice(*around)])
    lasts = "all the time" if always else f"for up to {duration_words(longest_s)} in a row"
    storage = "efs-one-zone" if one_zone else "efs-regional"
    files, workers = max(1, round(rate * longest_s)), max(1, round(writers))  # only the ratio of the speeds is used
    inputs = {"files": files, "bytes": f"{kib * rate * longest_s:.0f}KiB", "workers": workers, "storage": storage}
    busiest = [max(series.values[writes.hours[i]] for i in points) for series in io_limits]
    return Flagged(
        summary=(
            f"{rate:,.0f} writes a second of {kib:,.0f} KiB {lasts}, at a rate that hardly varies and at most"
            f" {used:.1%} of the permitted throughput: each write seems to wait for the one before"
        ),
        severity="medium" if hours >= A_DAY_OF_WAITING_HOURS else "low",
        confidence="low" if always else "medium",
        evidence=(
            Evidence(label="Writes by five minutes", value=round(rate), unit="writes/s", series=chart, lines=(line,)),
            Evidence(label="Average size of a write", value=round(kib, 1), unit="KiB"),
            Evidence(label="Time at this rate", value=round(hours, 1), unit="hours"),
            Evidence(label="Longest time in a row", value=round(longest_s / HOUR_S, 1), unit="hours"),
            Evidence(
                label="Most of the permitted throughput used, by the hour", value=round(100 * used, 1), unit="percent"
            ),
            Evidence(label="Writers that wait in turn for each answer", value=round(writers, 1), unit="writers"),
            *(Evidence(label="Most of the I/O limit used", value=round(one, 1), unit="percent") for one in busiest),
        ),
        advice=(),
        gist=(one_zone, always),
        caveats=("A program that chooses to send so many writes looks the same. Ask whether anyone waits for it.",),
        remedies=tuple(Remedy(kind="small-files", inputs=inputs, advise=partial(_advice, fs, o)) for o in OPTIONS),
    )


def _advice(file_system: EfsFileSystem, option: str, found: Alternative) -> Advice | None:
    """The option, if the estimate finds it faster, with the price of all stored data there."""
    if found.id != option or not found.solves:
        return None
    if option == "more-workers":
        return Advice(
            action="write-in-parallel",
            summary=f"Divide the work: {found.summary}, for small files. Larger writes and fewer fsyncs help too.",
            changes=(),
            risk="None for the data, if no two writers write the same file.",
            reversible=True,
        )
    if option == "efs-one-zone":
        move = efs.to_one_zone(file_system, None)
        return replace(move, summary=f"{found.summary}, for small files. {move.summary}")
    if option == "openzfs-sync":
        server = fsx.smallest(fsx.OPENZFS["MULTI_AZ_1"], stored_bytes=file_system.total_bytes)
        if server is None:
            return None
        return _move(
            file_system,
            "move-to-openzfs",
            f"Move to FSx for OpenZFS, Multi-AZ, {server.storage_gib:,} GiB with {server.throughput_mb_s} MB/s:"
            f" {found.summary}, for small files, as two reports measured. An `async` export is much faster, but may"
            " lose the last seconds.",
            server.monthly_units,
            "You copy the data to another service. It bills what is provisioned, and does not grow by itself.",
        )
    least, most = ebs.VOLUME_TYPES["gp3"].gib
    gib = max(least, ceil(file_system.total_bytes / GIB * ROOM))
    if gib > most:
        return None
    return _move(
        file_system,
        "move-to-gp3",
        f"If only one instance needs it, move to a gp3 volume of {gib:,} GiB: {found.summary} (roughly).",
        ebs.units("gp3", gib, ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S),
        "No other instance or zone can read it. It needs snapshots, and you grow it yourself.",
    )


def _move(file_system: EfsFileSystem, action: str, summary: str, units: tuple[Change, ...], risk: str) -> Advice:
    """Recommend another storage. Its saving is unknown in Elastic mode, which also bills what moves."""
    elastic = file_system.throughput_mode == "elastic"
    changes = None if elastic else difference(formulas.monthly_units(file_system), units)
    return Advice(action=action, summary=summary, changes=changes, risk=risk, reversible=True)


def writing(rates: Sequence[float], kib: float = 8, **other: float) -> dict[tuple[Metric, int], Points]:
    """Writes a second by five minutes, and what else the hours have."""
    other = {"metered_mib_s": 0, "permitted_mib_s": 100, "io": 3, "metadata_per_s": 10, **other}
    counts = [rate * FIVE_MINUTES_S for rate in rates]
    hours = [sum(counts[i : i + AN_HOUR]) for i in range(0, len(counts), AN_HOUR)]
    return {
        (WRITES, HOUR_S): hours,
        (WRITES, FIVE_MINUTES_S): counts,
        (WRITTEN, HOUR_S): [count * kib * KIB for count in hours],
        (METADATA_OPERATIONS, HOUR_S): [other["metadata_per_s"] * HOUR_S] * len(hours),
        (LEAST_PERMITTED, HOUR_S): [other["permitted_mib_s"] * MIB] * len(hours),
        (METERED, HOUR_S): [count * kib * KIB + other["metered_mib_s"] * MIB * HOUR_S for count in hours],
        (IO_LIMIT, HOUR_S): [other["io"]] * len(hours),
    }


def nightly(rate: float, points: int = 24, rest: float = 2) -> list[float]:
    """A job every night that takes so many points."""
    return ([rest] * 36 + [rate] * points + [rest] * (252 - points)) * 14


def unrecorded(first: int) -> Metrics:
    """Two five-minute points of each day without writes."""
    all_ = writing(nightly(340, points=8))
    values = list(all_[WRITES, FIVE_MINUTES_S])
    for day in range(0, len(values), 288):
        values[day + first : day + first + 2] = [None, None]
    return {**all_, (WRITES, FIVE_MINUTES_S): values}


SHARED = Cases(examples.efs(availability_zone=None, stored_bytes={"Standard": 60 * GIB}), writing(nightly(340)))
unread = Cases(SHARED.resource)


def case(title: str, expect: type[Verdict], says: str, rates: Sequence[float], **more: float) -> Case:
    """A case of these writes a second, by five minutes."""
    return SHARED(title, expect, says, metrics=writing(rates, **more))


NIGHTLY = "two hours of 8 KiB writes every night, one after the other"
SWING = [340 * (1 + 0.3 * sin(2 * pi * i / 288)) for i in range(288 * 14)]
BY_DAY = [20 + 180 * exp(-(((i % 288) / 12 - 10) ** 2) / 18) for i in range(288 * 14)]
AT_NOON = ([20.0] * 60 + [20 + 15.0 * n for n in range(12)] + [200.0] * 72 + [20.0] * 144) * 14
UNEVEN = [300 * (1 + i % 3) if 36 <= i % 288 < 60 else 2.0 for i in range(288 * 14)]
SLOW = ([2.0] * 36 + [57.0, 170.0, 283.0] + [340.0] * 24 + [600.0] * 2 + [2.0] * 223) * 14
BY_CHANCE = ([2.0] * 36 + [340.0] * 6 + [120.0, 380.0, 90.0, 400.0] * 6 + [2.0] * 222) * 14
TWO_RATES, AN_HOUR_FASTER = ([200.0] * 144 + [300.0] * 144) * 14, ([340.0] * 132 + [600.0] * 12 + [340.0] * 144) * 14
SECOND_HOUR = ([2.0] * 36 + [300.0] * 12 + [700.0] * 12 + [2.0] * 228) * 14

DETECTOR = Detector(
    title="EFS file system whose small writes wait for each other",
    kind="performance",
    resource=EfsFileSystem,
    limits=SerialSmallWritesLimits,
    judge=judge,
    cases=(
        case(NIGHTLY, Flagged, "340 writes a second of 8 KiB for up to 2 h in a row", nightly(340)),
        SHARED("on One Zone", Flagged, metrics=writing(nightly(580)), availability_zone="ap-northeast-1a"),
        case("all day and all night", Flagged, "all the time", [340.0] * 288 * 14),
        case("a job on top of sixty writes a second", Flagged, "for up to 2 h in a row", nightly(340, rest=60)),
        case("a job that takes a quarter of an hour to begin, and is faster for ten minutes", Flagged, "", SLOW),
        case("a job whose rate varies, and is the same for half an hour by chance", Fine, "no small writes", BY_CHANCE),
        SHARED("two points missing in each job", Flagged, metrics=unrecorded(40)),
        SHARED("two points missing just before each job", Flagged, metrics=unrecorded(34)),
        case("a rate that swings by day", Fine, "began at once", SWING),
        case("200 writes a second by night, and 300 by day", Fine, "began at once", TWO_RATES),
        case("the same all day, and faster for an hour", Fine, "began at once", AN_HOUR_FASTER),
        case("60 writes a second: nobody waits for most of the time", Fine, "keep no writer waiting", nightly(60)),
        case("60 files a second, of many operations each", Flagged, "60 writes", nightly(60), metadata_per_s=400),
        case("large writes", Fine, "no small writes", nightly(340), kib=256),
        case("forty writes a second", Fine, "no small", nightly(40)),
        case("a deployment of ten minutes", Fine, "stayed at one rate", nightly(340, points=2)),
        case("hardly written", Fine, "never written so", nightly(10)),
        case("25 minutes, and much in the same hour", Fine, "stayed at one rate", nightly(340, points=5)),
        case("many clients, whose day rises and falls", Fine, "began at once", BY_DAY),
        case("many clients, who come within an hour and wait until noon", Fine, "began at once", AT_NOON),
        case("a job whose rate varies with its work", Fine, "stayed at one rate", UNEVEN),
        case("a job that goes faster in its second hour", Fine, "stayed at one rate", SECOND_HOUR),
        case("readers use all that is permitted", Fine, "may have been the limit", nightly(340), metered_mib_s=60),
        case("out of burst credits", Fine, "may have been the limit", nightly(340), permitted_mib_s=3),
        case("near the limit on operations", Fine, "operations may have been", nightly(340), io=90),
        case("many parallel writers already", Fine, "parallel writers already", nightly(6_400), kib=2),
        SHARED("no PermittedThroughput", Unknown, "PermittedThroughput", metrics={(LEAST_PERMITTED, HOUR_S): None}),
        unread("no metrics", Unknown, "no point in 14 days"),
        unread("a replica", Fine, "replication", is_replica=True),
        unread("being deleted", Fine, "deleting", state="deleting"),
    ),
)
