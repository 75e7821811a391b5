"""Compute metric series as CloudWatch stores them: one statistic set (sum, count, minimum, maximum) per step.

A `Signal` holds statistic sets for one cycle of whole days and repeats into the past, so that any window can be
requested. A `Series` is a signal as one resource's metric: scaled, and published from one time to another. Every longer
period is an exact aggregate of the same steps, computed once and cached.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Ints = NDArray[np.int64]

MINUTE = 60
HOUR = 3_600
DAY = 86_400
CYCLE = 35 * DAY
"""Length of a signal in seconds: five whole weeks, so that each repetition starts on the same weekday."""
FOREVER = 1 << 40


class Stats(NamedTuple):
    """Statistic sets of consecutive periods. A period without samples has no data."""

    total: Floats
    samples: Floats
    low: Floats
    high: Floats


class Points(NamedTuple):
    """Periods that have data: their starts (epoch seconds, ascending) and statistics."""

    starts: Ints
    stats: Stats


NO_POINTS = Points(np.empty(0, np.int64), Stats(*(np.empty(0) for _ in range(4))))


@cache
def _ones(size: int) -> Floats:
    ones = np.ones(size)
    ones.flags.writeable = False
    return ones


@dataclass(eq=False, slots=True)
class Signal:
    """Statistic sets every `step` seconds from `origin` (a UTC midnight, epoch seconds), repeated every cycle."""

    origin: int
    step: int
    _held: Stats | Floats
    """Plain samples stay an array, to save memory: a labelled fleet has thousands. NaN is a missing sample."""
    _coarser: dict[int, Stats] = field(default_factory=dict)
    _slower: "dict[int, Signal]" = field(default_factory=dict)

    @classmethod
    def sampled(cls, origin: int, step: int, values: Floats) -> "Signal":
        """Return a signal with one sample a step. NaN is a missing point."""
        return cls(origin, step, values)

    @property
    def stats(self) -> Stats:
        """The statistic set of each step."""
        if isinstance(self._held, Stats):
            return self._held
        values = self._held
        missing = np.isnan(values)
        if not missing.any():
            return Stats(values, _ones(len(values)), values, values)
        low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
        return Stats(np.where(missing, 0.0, values), np.where(missing, 0.0, 1.0), low, high)

    def at(self, period: int) -> Stats:
        """Return the whole cycle in periods of `period` seconds, a multiple of the step that divides the cycle."""
        if period == self.step:
            return self.stats
        if period not in self._coarser:
            width = period // self.step
            total, count, low, high = (column.reshape(-1, width) for column in self.stats)
            self._coarser[period] = Stats(total.sum(1), count.sum(1), low.min(1), high.max(1))
        return self._coarser[period]

    def coarsened(self, step: int) -> "Signal":
        """Return the same measurements as one statistic set every `step` seconds (basic monitoring)."""
        if step not in self._slower:
            self._slower[step] = Signal(self.origin, step, self.at(step))
        return self._slower[step]

    def window(self, start: int, end: int, period: int) -> Stats:
        """Return the periods from `start` to `end`, both multiples of `period`."""
        whole = self.at(period)
        size = len(whole.total)
        first = (start - self.origin) // period % size
        length = (end - start) // period
        if first + length <= size:
            return Stats(*(column[first : first + length] for column in whole))
        rows = np.arange(first, first + length) % size
        return Stats(*(column[rows] for column in whole))


def constant(step: int) -> Signal:
    """Return a signal that is 1 every `step` seconds."""
    return Signal.sampled(0, step, np.ones(DAY // step))


MINUTELY, FIVE, QUARTER = constant(MINUTE), constant(300), constant(900)


@dataclass(frozen=True, slots=True)
class Series:
    """A signal as a metric: value = offset + scale × signal, published from `since` until `until` (epoch seconds).

    With `op_size`, SampleCount is the number of operations (Sum ÷ op_size). Minimum and Maximum are the size of one.
    """

    signal: Signal
    scale: float = 1.0
    offset: float = 0.0
    since: int = 0
    until: int = FOREVER
    op_size: float | None = None
    digits: int = 0

    def points(self, start: int, end: int, period: int) -> Points:
        """Return the periods on the clock's grid that start in [start, end), with the data before `end`."""
        step = self.signal.step
        since = -(-max(self.since, start) // step) * step
        until = min(self.until, end) // step * step
        period = max(period, step)
        first = max(-(-start // period), since // period) * period
        since = max(since, first)
        if until <= since:
            return NO_POINTS
        last = -(-until // period) * period
        starts = np.arange(first, last, period, dtype=np.int64)
        if DAY % period or period % step:
            stats = self._uneven(starts, since, until, period)
        else:
            stats = self._trimmed(starts, since, until, period)
        if not stats.samples.all():
            has = stats.samples > 0
            starts, stats = starts[has], Stats(*(column[has] for column in stats))
        return Points(starts, self._measured(stats))

    def _trimmed(self, starts: Ints, since: int, until: int, period: int) -> Stats:
        """Return the periods, which fit the cycle. The first and the last contain only what was published."""
        first, last = int(starts[0]), int(starts[-1]) + period
        stats = self.signal.window(first, last, period)
        edges = []
        if since > first:
            edges.append((0, since, min(first + period, until)))
        if until < last and (last - period > first or not edges):
            edges.append((-1, max(last - period, since), until))
        if not edges:
            return stats
        stats = Stats(*(column.copy() for column in stats))
        for row, start, end in edges:
            part = self.signal.window(start, end, self.signal.step)
            for column, value in zip(stats, _whole(part), strict=True):
                column[row] = value
        return stats

    def _uneven(self, starts: Ints, since: int, until: int, period: int) -> Stats:
        """Return the periods, which do not fit the cycle, each summed from the steps."""
        step = self.signal.step
        rows = []
        for start in starts.tolist():
            low, high = -(-max(start, since) // step) * step, -(-min(start + period, until) // step) * step
            rows.append(_whole(self.signal.window(low, max(low, high), step)))
        return Stats(*np.array(rows).T.copy())

    def _measured(self, stats: Stats) -> Stats:
        total = np.round(stats.total * self.scale + stats.samples * self.offset, self.digits)
        if self.op_size is not None:
            moved = total > 0
            size = np.where(moved, self.op_size, 0.0)
            count = np.where(moved, np.maximum(np.rint(total / self.op_size), 1.0), stats.samples)
            return Stats(total, count, size, size)
        low = np.round(stats.low * self.scale + self.offset, self.digits)
        high = np.round(stats.high * self.scale + self.offset, self.digits)
        return Stats(total, stats.samples, low, high) if self.scale >= 0 else Stats(total, stats.samples, high, low)


type Track = tuple[Series, ...]
"""What one metric published: one series, or several in sequence (a stop, a change, a silent time between)."""
type Spans = tuple[tuple[int, int], ...]
"""Intervals from one time to another (epoch seconds)."""


def alive(spans: Spans, signal: Signal, scale: float, **measured: Any) -> Track:
    """Return a metric that is published in some intervals. `measured` has further fields of its `Series`."""
    return tuple(Series(signal, scale, since=since, until=until, **measured) for since, until in spans)


def _whole(stats: Stats) -> tuple[float, float, float, float]:
    if not len(stats.total):
        return 0.0, 0.0, np.inf, -np.inf
    return float(stats.total.sum()), float(stats.samples.sum()), float(stats.low.min()), float(stats.high.max())


@lru_cache(maxsize=256)
def track_points(track: Track, start: int, end: int, period: int) -> Points:
    """Return the points of a metric in a window. Periods that two of its series share are merged."""
    if len(track) == 1:
        return track[0].points(start, end, period)
    return _merged([series.points(start, end, period) for series in track])


def _merged(parts: Sequence[Points]) -> Points:
    parts = [part for part in parts if len(part.starts)]
    if not parts:
        return NO_POINTS
    starts = np.concatenate([part.starts for part in parts])
    columns = [np.concatenate([part.stats[column] for part in parts]) for column in range(4)]
    order = np.argsort(starts, kind="stable")
    unique, firsts = np.unique(starts[order], return_index=True)
    joins = (np.add, np.add, np.minimum, np.maximum)
    merged = (join.reduceat(column[order], firsts) for join, column in zip(joins, columns, strict=True))
    return Points(unique, Stats(*merged))


def statistic(track: Track, name: str, start: int, end: int, period: int) -> tuple[Ints, Floats]:
    """Return the starts and values of one statistic: Sum, Average, Minimum, Maximum, SampleCount or pNN."""
    if name[0] == "p":
        return _percentile(track, float(name[1:]), start, end, period)
    starts, (total, count, low, high) = track_points(track, start, end, period)
    mean = total / np.maximum(count, 1e-300)
    values = {"Sum": total, "Average": mean, "Minimum": low, "Maximum": high, "SampleCount": count}
    return starts, values[name]


def _percentile(track: Track, rank: float, start: int, end: int, period: int) -> tuple[Ints, Floats]:
    """Return a percentile of the steps' means in each period, linear between neighbours."""
    step = track[0].signal.step
    starts, stats = track_points(track, start - start % -period, end, step)
    if not len(starts):
        return starts, stats.total
    means = stats.total / stats.samples
    buckets, rows = np.unique(starts // period * period, return_inverse=True)
    places = np.arange(len(starts)) - np.searchsorted(rows, rows)
    table = np.full((len(buckets), int(places.max()) + 1), np.inf)
    table[rows, places] = means
    table.sort(axis=1)
    ranks = (np.bincount(rows) - 1) * rank / 100
    below = ranks.astype(np.int64)
    above = np.minimum(below + 1, np.bincount(rows) - 1)
    lines = np.arange(len(buckets))
    value = table[lines, below] + (table[lines, above] - table[lines, below]) * (ranks - below)
    return buckets, value


def added(signals: Iterable[tuple[Signal, float]], step: int = MINUTE) -> Signal:
    """Return the sum of signals with the same step and cycle, each times its factor."""
    parts = list(signals)
    total = np.zeros(CYCLE // step)
    origin = parts[0][0].origin if parts else 0
    for signal, factor in parts:
        total += signal.window(origin, origin + CYCLE, step).total * factor
    return Signal.sampled(origin, step, total)
