"""EFS file systems whose writers wait for every small write.

## What it finds
Half an hour or more of the last 14 days in which at least 50 small writes a second (64 KiB or less on average) went in at a
rate that hardly varied, at less than a fifth of the throughput that was permitted, and far from the limit on operations. The
rate came within minutes, to twice or more of what went before, stayed, and was not higher later for more than ten minutes: such
is a job that has more to write than its turns allow, and each of its writes waits for the answer to the one before. Or it never
varied, not from hour to hour either.

## Why it matters
EFS answers a write when more than one zone has it: about 2.7 ms, 1.6 ms on One Zone. A writer that waits each time makes some
hundreds of writes a second whatever throughput is paid for: 1.1 GB of small files took 26 minutes, and 11 with four writers
side by side ("The speed of EFS at small capacity", 2021-07-26).

## When it is wrong
A program that sends so many writes a second of its own accord looks exactly the same, so the confidence is never high: ask
whether anybody waits for it. It is low where the rate never varies, for what never varies mostly keeps its own pace. A rate
that rises and falls over hours is demand, of many clients, and is left out, even where it ends in a limit.

## What to do
Several writers side by side, larger writes, fewer fsyncs. Then a storage that answers sooner: One Zone, FSx for OpenZFS, an EBS
volume. More throughput changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from math import ceil, exp, isnan, nan, pi, sin
from statistics import fmean, median
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, difference
from slackwater.model.quantities import duration_words
from slackwater.model.resources import EfsFileSystem, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import ebs, efs, fsx, nfs
from slackwater.rules.efs import to_one_zone

WRITES = Metric("AWS/EFS", "DataWriteIOBytes", "SampleCount", "operations")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")
METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
PERMITTED = Metric("AWS/EFS", "PermittedThroughput", "Minimum", "bytes/s")
IO_LIMIT = Metric("AWS/EFS", "PercentIOLimit", "Maximum", "percent")

A_DAY_OF_WAITING_HOURS: Final = 24
ROOM: Final = 1.5
"""A volume is larger than what is on it: it cannot shrink, and grows only when told."""

WAYS_OUT: Final = ("more-workers", "efs-one-zone", "openzfs-sync", "ebs-gp3")
"""Alternatives of the estimate, in the order of what they take."""

MOST: Final = 0.5
"""Of the time that is written at half of that rate or more, so much is at one rate."""
AT_REST: Final = 0.5
REST_POINTS: Final = 3
BEGINS: Final = 2
USUAL: Final = 1.5
"""What came at once comes after so many points that were not busy, or not busier than usual by so much, and at less than this
share of it; so many more points below that share may lie between, while the job begins."""

BRIDGED: Final = 2
"""Missing points in a row that are taken to lie between their neighbours."""

FASTER_POINTS: Final = 2
"""Ten minutes that may be faster: another program, or a part of the work that is read from memory."""

SCATTERED: Final = 0.01
"""The share of points, or hours, that may be missing or slower where a rate "never varies"."""

HOURS_ALIKE: Final = 0.15
"""How far the mean of an hour may lie from the mean of all where a rate "never varies": waits come to much less in an hour."""


class SerialSmallWritesLimits(Limits):
    """What small writes at one rate mean that somebody waits."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weekly rhythms; five-minute points are kept 63 days")
    busy_writes_per_s: float = limit(50, unit="writes/s", gt=0, why="below that nobody waits: 87 a second were measured")
    small_write_kib: float = limit(64, unit="KiB", gt=0, why="larger writes are bound by throughput, not by the wait")
    flat_minutes: int = limit(30, unit="minutes", ge=15, le=1440, why="six five-minute points: not one deployment")
    flat_percent: float = limit(25, unit="percent", gt=0, lt=100, why="stdev of mean: waits are alike, and work is not")
    permitted_percent: float = limit(20, unit="percent", gt=0, le=100, why="above, throughput may be the limit")
    io_percent: float = limit(50, unit="percent", gt=0, le=100, why="PercentIOLimit: above, operations may be the limit")
    most_writers: float = limit(16, unit="writers", ge=1, why="more than so many are side by side already")


class _Writes(NamedTuple):
    """By five minutes: writes a second and their mean size, NaN where nobody knows."""

    per_s: Sequence[float]
    mean_bytes: Sequence[float]
    start_s: int


class _Waits(NamedTuple):
    """Points at which small writes went at one rate and nothing else was the limit, and whether that never stopped."""

    points: Sequence[int]
    longest: int
    always: bool


def judge(file_system: EfsFileSystem, seen: Seen, limits: SerialSmallWritesLimits) -> Verdict:
    """Flag a file system into which small writes go at one rate, far from every limit."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica:
        return Fine("it is written by replication alone")
    by_hour = _need(file_system, WRITES, HOUR_S, limits)
    if lacking := seen.lacking([by_hour]):
        return Ask(lacking)
    if not seen[by_hour].present:
        return Unknown(f"DataWriteIOBytes has no point in {limits.window_days} days")
    if not _is_busy(seen[by_hour], limits):
        return Fine("it is never written so often for so long")

    count, size = (_need(file_system, metric, FIVE_MINUTES_S, limits) for metric in (WRITES, WRITTEN))
    if lacking := seen.lacking([count, size]):
        return Ask(lacking)
    writes = _writes(seen[count], seen[size])
    always = _never_varies(writes, limits)
    runs = [always] if always else _runs(writes, limits)
    if not runs:
        return Fine("no small writes came at once and stayed at one rate")

    metrics = (PERMITTED, METERED, IO_LIMIT)[: 3 if file_system.performance_mode == "generalPurpose" else 2]
    needs = [_need(file_system, metric, FIVE_MINUTES_S, limits) for metric in metrics]
    if lacking := seen.lacking(needs):
        return Ask(lacking)
    permitted, metered, *io_limits = (seen[need] for need in needs)
    waits, unseen = list[Sequence[int]](), 0
    points = list[int]()
    for run in runs:
        known = [i for i in run if not any(isnan(series.values[i]) for series in (permitted, metered, *io_limits))]
        far = [i for i in known if _is_far(i, permitted, metered, io_limits, limits)]
        if len(far) >= _points(limits):
            waits.append(run)
            points += far
        unseen += len(run) - len(known) >= _points(limits)
    if not waits:
        return (
            Unknown("PermittedThroughput, MeteredIOBytes or PercentIOLimit has no point while it was written so")
            if unseen
            else Fine("throughput or operations may have been the limit")
        )
    found = _Waits(points, max(map(len, waits)), bool(always))
    rate = fmean(writes.per_s[i] for i in points)
    if nfs.waiting_writers(rate, one_zone=file_system.availability_zone is not None) > limits.most_writers:
        return Fine(f"{rate:,.0f} writes a second are of many writers side by side already")
    return _flag(file_system, writes, found, [permitted, metered, *io_limits])


def _need(file_system: EfsFileSystem, metric: Metric, period_s: int, limits: SerialSmallWritesLimits) -> Need:
    return metric.need(("FileSystemId", file_system.id), period_s=period_s, days=limits.window_days)


def _points(limits: SerialSmallWritesLimits) -> int:
    return limits.flat_minutes * MINUTE_S // FIVE_MINUTES_S


def _is_busy(by_hour: Series, limits: SerialSmallWritesLimits) -> bool:
    """Whether there were as many writes in as few hours as a run may touch."""
    hours = ceil(limits.flat_minutes * MINUTE_S / HOUR_S) + 1
    values = [0.0 if isnan(value) else value for value in by_hour.values]
    least = limits.busy_writes_per_s * _points(limits) * FIVE_MINUTES_S
    return any(sum(values[i : i + hours]) >= least for i in range(len(values)))


def _writes(count: Series, size: Series) -> _Writes:
    per_s = [one / FIVE_MINUTES_S for one in count.values]
    mean_bytes = [both / one if one else nan for one, both in zip(count.values, size.values, strict=True)]
    known = [i for i, rate in enumerate(per_s) if not isnan(rate)]
    for before, after in pairwise(known):
        if 1 < after - before <= BRIDGED + 1:
            for i in range(before + 1, after):
                share = (i - before) / (after - before)
                for values in (per_s, mean_bytes):
                    values[i] = values[before] * (1 - share) + values[after] * share
    return _Writes(per_s, mean_bytes, count.start_s)


def _rested(per_s: Sequence[float], i: int, rest: float) -> bool:
    """Whether what comes at this point comes after a rest. The point before may be half and half; a missing one is no rest."""
    half, before = AT_REST * per_s[i + 1], i - 1
    least = max(REST_POINTS, before - BEGINS)
    while before > least and rest <= per_s[before - 1] < half:
        before -= 1
    return all(rate < min(rest, half) for rate in per_s[before - REST_POINTS : before])


def _is_flat(writes: _Writes, run: Sequence[int], limits: SerialSmallWritesLimits) -> bool:
    """Whether small writes went at one rate at these points; NaN is neither."""
    if not all(
        writes.per_s[i] >= limits.busy_writes_per_s and writes.mean_bytes[i] <= limits.small_write_kib * KIB for i in run
    ):
        return False
    rates = [writes.per_s[i] for i in run]
    mean = fmean(rates)
    return fmean((rate - mean) ** 2 for rate in rates) < (limits.flat_percent / 100 * mean) ** 2


def _runs(writes: _Writes, limits: SerialSmallWritesLimits) -> list[Sequence[int]]:
    """What came at once after a rest and is flat, six points after six points, to its end; and was not faster for long."""
    per_s, wanted, runs, i = writes.per_s, _points(limits), list[Sequence[int]](), REST_POINTS + 1
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
    return runs if _are_the_rule(per_s, runs) else []


def _are_the_rule(per_s: Sequence[float], runs: Sequence[Sequence[int]]) -> bool:
    """Whether most of the writing is like that: what varies is flat for half an hour now and then, too."""
    flat = [i for run in runs for i in run]
    least = AT_REST * min((fmean(per_s[i] for i in run) for run in runs), default=0)
    return len(flat) >= MOST * sum(rate >= least for rate in per_s)


def _never_varies(writes: _Writes, limits: SerialSmallWritesLimits) -> Sequence[int]:
    """All of it, but for a few points, if it is one flat run."""
    usual = [i for i, rate in enumerate(writes.per_s) if rate >= limits.busy_writes_per_s]
    if len(usual) < (1 - SCATTERED) * len(writes.per_s) or not _is_flat(writes, usual, limits):
        return ()
    mean, an_hour = fmean(writes.per_s[i] for i in usual), HOUR_S // FIVE_MINUTES_S
    hours = [fmean(writes.per_s[i] for i in usual[first : first + an_hour]) for first in range(0, len(usual), an_hour)]
    faster = any(rate > mean * (1 + HOURS_ALIKE) for rate in hours)
    slower = sum(rate < mean * (1 - HOURS_ALIKE) for rate in hours)
    return () if faster or slower > SCATTERED * len(hours) else usual


def _is_far(i: int, permitted: Series, metered: Series, io_limits: Sequence[Series], limits: SerialSmallWritesLimits) -> bool:
    """Whether neither throughput nor operations were near their limit."""
    used = metered.values[i] / FIVE_MINUTES_S
    return used < limits.permitted_percent / 100 * permitted.values[i] and all(
        series.values[i] < limits.io_percent for series in io_limits
    )


def _flag(file_system: EfsFileSystem, writes: _Writes, waits: _Waits, others: Sequence[Series]) -> Flagged:
    one_zone = file_system.availability_zone is not None
    points = waits.points
    rate = fmean(writes.per_s[i] for i in points)
    kib = sum(writes.per_s[i] * writes.mean_bytes[i] for i in points) / sum(writes.per_s[i] for i in points) / KIB
    permitted, metered, *io_limits = others
    used = max(metered.values[i] / FIVE_MINUTES_S / permitted.values[i] for i in points)
    writers = nfs.waiting_writers(rate, one_zone=one_zone)
    hours = len(points) * FIVE_MINUTES_S / HOUR_S
    longest_s = waits.longest * FIVE_MINUTES_S
    evidence = [
        Evidence(
            label="Writes by five minutes",
            value=round(rate),
            unit="writes/s",
            series=_around(writes, points),
            lines=(Line("One writer that waits for each answer", round(rate / writers, 1)),),
        ),
        Evidence(label="Mean size of a write", value=round(kib, 1), unit="KiB"),
        Evidence(label="So for", value=round(hours, 1), unit="hours"),
        Evidence(label="Longest", value=round(longest_s / HOUR_S, 1), unit="hours"),
        Evidence(label="Of the permitted throughput at most", value=round(100 * used, 1), unit="percent"),
        Evidence(label="Writers that wait in turn for each answer", value=round(writers, 1), unit="writers"),
    ]
    if io_limits:
        busiest = max(series.values[i] for series in io_limits for i in points)
        evidence.append(Evidence(label="Of its limit on operations at most", value=round(busiest, 1), unit="percent"))
    stays = "all the time" if waits.always else f"for up to {duration_words(longest_s)} on end"
    return Flagged(
        summary=(
            f"{rate:,.0f} writes a second of {kib:,.0f} KiB {stays}, at a rate that hardly varies and at most {used:.1%} of the"
            " permitted throughput: each write seems to wait for the one before"
        ),
        severity="medium" if hours >= A_DAY_OF_WAITING_HOURS else "low",
        confidence="low" if waits.always else "medium",
        evidence=tuple(evidence),
        advice=(),
        gist=(one_zone, waits.always),
        caveats=(
            "A program that sends so many writes a second of its own accord looks the same: ask whether anybody waits for it.",
            "More throughput will not help.",
        ),
        remedies=tuple(
            Remedy(
                kind="small-files",
                inputs={  # each write as a file of its own: only how much faster it gets is used
                    "files": max(1, round(rate * longest_s)),
                    "bytes": f"{kib * rate * longest_s:.0f}KiB",
                    "workers": max(1, round(writers)),
                    "storage": "efs-one-zone" if one_zone else "efs-regional",
                },
                advise=partial(_advice, file_system, wanted),
            )
            for wanted in WAYS_OUT
        ),
    )


def _around(writes: _Writes, points: Sequence[int]) -> Series:
    """Writes a second over the day of the first of these points."""
    half = DAY_S // FIVE_MINUTES_S // 2
    first = max(0, points[0] - half)
    part = writes.per_s[first : points[0] + half]
    start_s = writes.start_s + first * FIVE_MINUTES_S
    return Series.of(start_s, FIVE_MINUTES_S, [None if isnan(rate) else rate for rate in part])


def _advice(file_system: EfsFileSystem, wanted: str, way: Alternative) -> Advice | None:
    """The one that is wanted, if the estimate finds it faster, with what all that is stored would cost there."""
    if way.id != wanted or not way.solves:
        return None
    match wanted:
        case "more-workers":
            return Advice(
                action="write-in-parallel",
                summary=(
                    f"At the clients, without risk: {way.summary}, for small files, if the work can be shared out. Also larger"
                    " writes, and fewer fsyncs."
                ),
                changes=(),
                risk="None for the data, as long as no two of them write the same file.",
                reversible=True,
            )
        case "efs-one-zone":
            move = to_one_zone(file_system, None)
            return replace(move, summary=f"{way.summary}, for small files. {move.summary}")
        case "openzfs-sync":
            return _to_openzfs(file_system, way)
        case _:
            return _to_gp3(file_system, way)


def _to_openzfs(file_system: EfsFileSystem, way: Alternative) -> Advice | None:
    server = fsx.smallest(fsx.OPENZFS["MULTI_AZ_1"], stored_bytes=file_system.total_bytes)
    if server is None:
        return None
    return Advice(
        action="move-to-openzfs",
        summary=(
            f"FSx for OpenZFS, Multi-AZ, {server.storage_gib:,} GiB with {server.throughput_mb_s} MB/s: {way.summary}, for"
            " small files, by what two reports measured. An `async` export is far faster, where the last seconds may be lost."
        ),
        changes=_instead(file_system, server.monthly_units),
        risk="A copy to another service, which bills what is provisioned and does not grow by itself.",
        reversible=True,
    )


def _to_gp3(file_system: EfsFileSystem, way: Alternative) -> Advice | None:
    least, most = ebs.VOLUME_TYPES["gp3"].gib
    gib = max(least, ceil(file_system.total_bytes / GIB * ROOM))
    if gib > most:
        return None
    return Advice(
        action="move-to-gp3",
        summary=f"If one instance alone needs it: {way.summary} (order of magnitude), here with {gib:,} GiB.",
        changes=_instead(file_system, ebs.units("gp3", gib, ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S)),
        risk="No other instance can read it then, nor any other zone; it needs snapshots, and is grown by hand.",
        reversible=True,
    )


def _instead(file_system: EfsFileSystem, units: tuple[Change, ...]) -> tuple[Change, ...] | None:
    """What it costs elsewhere; nobody knows that where EFS bills what moves."""
    return None if file_system.throughput_mode == "elastic" else difference(efs.monthly_units(file_system), units)


_SHARED = EfsFileSystem(
    id="fs-0f60718293a4b5c6d",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0f60718293a4b5c6d",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "web-sessions"},
    state="available",
    created_at=CASE_NOW - timedelta(days=250),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone=None,
    stored_bytes={"Standard": 60 * GIB, "IA": 0, "Archive": 0},
    mount_targets=3,
    is_replica=False,
)
_DAYS: Final = 14

type _Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def _writing(
    rates: Sequence[float], kib: float = 8, *, metered_mib_s: float = 0, permitted_mib_s: float = 100, io: float | None = 3
) -> _Metrics:
    """Writes a second by five minutes; `metered_mib_s` besides."""
    counts = [rate * FIVE_MINUTES_S for rate in rates]
    return {
        (WRITES, HOUR_S): [sum(counts[i : i + 12]) for i in range(0, len(counts), 12)],
        (WRITES, FIVE_MINUTES_S): counts,
        (WRITTEN, FIVE_MINUTES_S): [count * kib * KIB for count in counts],
        (PERMITTED, FIVE_MINUTES_S): [permitted_mib_s * MIB] * len(counts),
        (METERED, FIVE_MINUTES_S): [count * kib * KIB + metered_mib_s * MIB * FIVE_MINUTES_S for count in counts],
        (IO_LIMIT, FIVE_MINUTES_S): [io] * len(counts),
    }


def _nightly(rate: float, points: int = 24, rest: float = 2) -> list[float]:
    """A job every night, which takes so many points."""
    return ([rest] * 36 + [rate] * points + [rest] * (252 - points)) * _DAYS


def _with_holes(metrics: _Metrics, first: int) -> _Metrics:
    """Two five-minute points of each day without writes known."""
    return {
        (metric, period): [
            None if period == FIVE_MINUTES_S and metric in (WRITES, WRITTEN) and first <= i % 288 < first + 2 else value
            for i, value in enumerate(values)
        ]
        for (metric, period), values in metrics.items()
    }


_BY_DAY: Final = [20 + 180 * exp(-(((i % 288) / 12 - 10) ** 2) / 18) for i in range(288 * _DAYS)]
_AT_NOON: Final = ([20.0] * 60 + [20 + 15.0 * n for n in range(12)] + [200.0] * 72 + [20.0] * 144) * _DAYS
_UNEVEN: Final = [300 * (1 + i % 3) if 36 <= i % 288 < 60 else 2.0 for i in range(288 * _DAYS)]

DETECTOR = Detector(
    title="EFS file system whose small writes wait for each other",
    kind="performance",
    resource=EfsFileSystem,
    limits=SerialSmallWritesLimits,
    judge=judge,
    cases=(
        Case(
            title="two hours of 8 KiB writes every night, one after the other",
            resource=_SHARED,
            metrics=_writing(_nightly(340)),
            expect=Flagged,
            says="340 writes a second of 8 KiB for up to 2 h on end",
        ),
        Case(
            title="on One Zone",
            resource=replace(_SHARED, availability_zone="ap-northeast-1a"),
            metrics=_writing(_nightly(580)),
            expect=Flagged,
        ),
        Case(
            title="all day and all night",
            resource=_SHARED,
            metrics=_writing([340.0] * 288 * _DAYS),
            expect=Flagged,
            says="all the time",
        ),
        Case(
            title="a job on top of sixty writes a second",
            resource=_SHARED,
            metrics=_writing(_nightly(340, rest=60)),
            expect=Flagged,
            says="for up to 2 h on end",
        ),
        Case(
            title="a job that takes a quarter of an hour to begin, and is faster for its last ten minutes",
            resource=_SHARED,
            metrics=_writing(([2.0] * 36 + [57.0, 170.0, 283.0] + [340.0] * 24 + [600.0] * 2 + [2.0] * 223) * _DAYS),
            expect=Flagged,
        ),
        Case(
            title="a job whose rate varies, and is the same for half an hour by chance",
            resource=_SHARED,
            metrics=_writing(([2.0] * 36 + [340.0] * 6 + [120.0, 380.0, 90.0, 400.0] * 6 + [2.0] * 222) * _DAYS),
            expect=Fine,
            says="no small writes came at once and stayed at one rate",
        ),
        Case(
            title="two points missing in each job",
            resource=_SHARED,
            metrics=_with_holes(_writing(_nightly(340, points=8)), 40),
            expect=Flagged,
        ),
        Case(
            title="two points missing just before each job",
            resource=_SHARED,
            metrics=_with_holes(_writing(_nightly(340, points=8)), 34),
            expect=Flagged,
        ),
        Case(
            title="a rate that swings by day",
            resource=_SHARED,
            metrics=_writing([340 * (1 + 0.3 * sin(2 * pi * i / 288)) for i in range(288 * _DAYS)]),
            expect=Fine,
            says="came at once",
        ),
        Case(
            title="200 writes a second by night, and 300 by day",
            resource=_SHARED,
            metrics=_writing(([200.0] * 144 + [300.0] * 144) * _DAYS),
            expect=Fine,
            says="came at once",
        ),
        Case(
            title="the same all day, and faster for an hour",
            resource=_SHARED,
            metrics=_writing(([340.0] * 132 + [600.0] * 12 + [340.0] * 144) * _DAYS),
            expect=Fine,
            says="came at once",
        ),
        Case(title="large writes", resource=_SHARED, metrics=_writing(_nightly(340), 256), expect=Fine, says="no small writes"),
        Case(title="forty writes a second", resource=_SHARED, metrics=_writing(_nightly(40)), expect=Fine, says="no small"),
        Case(
            title="a deployment of ten minutes",
            resource=_SHARED,
            metrics=_writing(_nightly(340, points=2)),
            expect=Fine,
            says="stayed at one rate",
        ),
        Case(title="hardly written", resource=_SHARED, metrics=_writing(_nightly(10)), expect=Fine, says="never written so"),
        Case(
            title="25 minutes, and much in the same hour",
            resource=_SHARED,
            metrics=_writing(_nightly(340, points=5)),
            expect=Fine,
            says="stayed at one rate",
        ),
        Case(
            title="many clients, whose day rises and falls",
            resource=_SHARED,
            metrics=_writing(_BY_DAY),
            expect=Fine,
            says="came at once",
        ),
        Case(
            title="many clients, who come within an hour and are held up until noon",
            resource=_SHARED,
            metrics=_writing(_AT_NOON),
            expect=Fine,
            says="came at once",
        ),
        Case(
            title="a job whose rate varies with its work",
            resource=_SHARED,
            metrics=_writing(_UNEVEN),
            expect=Fine,
            says="stayed at one rate",
        ),
        Case(
            title="a job that goes faster in its second hour",
            resource=_SHARED,
            metrics=_writing(([2.0] * 36 + [300.0] * 12 + [700.0] * 12 + [2.0] * 228) * _DAYS),
            expect=Fine,
            says="stayed at one rate",
        ),
        Case(
            title="readers use up what is permitted",
            resource=_SHARED,
            metrics=_writing(_nightly(340), metered_mib_s=60),
            expect=Fine,
            says="may have been the limit",
        ),
        Case(
            title="out of burst credits",
            resource=_SHARED,
            metrics=_writing(_nightly(340), permitted_mib_s=3),
            expect=Fine,
            says="may have been the limit",
        ),
        Case(
            title="near the limit on operations",
            resource=_SHARED,
            metrics=_writing(_nightly(340), io=90),
            expect=Fine,
            says="operations may have been",
        ),
        Case(
            title="many writers side by side already",
            resource=_SHARED,
            metrics=_writing(_nightly(6_400), 2),
            expect=Fine,
            says="side by side already",
        ),
        Case(
            title="nobody knows what was permitted",
            resource=_SHARED,
            metrics={key: value for key, value in _writing(_nightly(340)).items() if key[0] != PERMITTED},
            expect=Unknown,
            says="PermittedThroughput",
        ),
        Case(title="no metrics", resource=_SHARED, expect=Unknown, says="no point in 14 days"),
        Case(title="a replica", resource=replace(_SHARED, is_replica=True), expect=Fine, says="replication"),
        Case(title="being deleted", resource=replace(_SHARED, state="deleting"), expect=Fine, says="deleting"),
    ),
)
