"""Finds when an instance had no network credits. The bucket's size, and its level at the start, are unknown.

Source: EC2 User Guide, "Amazon EC2 instance network bandwidth". A bucket of C bytes earns credits while the rate is
below the baseline b, and spends them while it is above, up to the peak p. A burst lasts "typically from 5 to 60
minutes, depending on the instance size", so 5 min * (p - b) <= C <= 60 min * (p - b). If it is empty, the rate is b.

Let n(s, t) be the bytes above b less those below it, from s to t. Plateaus at b are times without credits only if:

- No more is used than was earned: n(v, u) <= 0 from a plateau's end v to any later u, until the next plateau.
- No credits are left: before a plateau that begins at t, either everything earned since the last plateau was used
  (n(v, t) = 0, a cycle), or the bucket was full at some time s and n(s, t) = C (a whole bucket).
- C is the same each time.

A constant rate that is not this limit breaks one of these rules sooner or later. Before the first plateau, the level
is unknown: the bucket may have been full, half full or empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from math import isnan
from statistics import fmean, median, pstdev
from typing import Final, NamedTuple

from slackwater.model.metrics import Series
from slackwater.performance.network import BRIDGED_POINTS, BURST_MINUTES, BURST_RATIO, PLATEAU_RATIOS, runs_within

LEVEL_RATIOS: Final = (0.94, 1.03)
"""A plateau's mean in multiples of the baseline. Metrics may omit frame headers (5% of 1,500 B); hosts differ by 1%."""
SAME_LEVEL: Final = 0.015  # how much the means of two plateaus at one limit may differ, as a fraction
BUDGET_ERROR: Final = 0.25  # as a fraction of the bucket, because AWS says only "typically"
EDGE_ERROR: Final = 0.5
"""In points at the baseline: the first and last point of a plateau are only partly at the baseline."""
FLOW_ERROR: Final = 0.01  # as a fraction of the earned and used credits: the noise of the metrics
SMALLEST_CYCLE: Final = 3.0  # in points at the baseline: fewer may be earned and used by chance


class Budget(Enum):
    """What the bytes before a plateau say about its credits."""

    WHOLE = "a whole bucket"
    CYCLE = "all that came back since the last plateau"
    UNKNOWN = "unknown: the level before is not known"


@dataclass(frozen=True, slots=True)
class Plateau:
    """A run of points at the baseline without credits, as indexes of the series. `end` is exclusive."""

    first: int
    end: int
    mean_bytes_per_s: float
    spread: float  # standard deviation, as a fraction of the mean
    burst: int  # the index of the last point of the burst before it; its own first point if there is none
    burst_bytes_per_s: float = 0  # the highest rate since the plateau before it; 0 if there is none
    budget: Budget = Budget.UNKNOWN
    spent_bytes: float = 0  # bytes above the baseline less those below it, since the bucket was fullest

    @property
    def points(self) -> int:
        """The number of points."""
        return self.end - self.first


class Shape(NamedTuple):
    """Which runs of points count as plateaus.

    `max_spread` is how much the rate of a plateau may vary (standard deviation), or drift from the first third to the
    last, as a fraction of the mean. The shortest plateau may vary half as much.
    """

    min_points: int
    max_spread: float
    max_gap_points: int  # between a burst and its plateau


class _Flow(NamedTuple):
    """What happened between two plateaus, in points at the baseline."""

    earned: float  # the most credits at any time, from an empty bucket without a maximum
    left: float  # the credits at the end
    used: float  # the credits used since the bucket was fullest
    largest: float  # the largest fall of the balance, at any time
    overdrawn: bool  # whether more was used than earned
    error: float
    unseen: float  # points without data, in which it may have been idle or not
    unseen_since: float  # the same since the bucket was fullest


def plateaus(
    sums: Series, baseline_bytes_per_s: float, peak_bytes_per_s: float, shape: Shape, *, full_at_start: bool
) -> list[Plateau]:
    """Return the plateaus at the baseline that a bucket of credits explains; none if most contradict it.

    `sums` are bytes per period in one direction. In a missing point, credits may have been earned or not. The rate of
    the plateaus replaces the published baseline, because metrics omit headers. `full_at_start` is for a new instance.
    """
    rates = [value / sums.period_s / baseline_bytes_per_s for value in sums.values]
    flat = [flat for run in runs_within(rates, *PLATEAU_RATIOS) if (flat := _flat(rates, run, shape))]
    if not flat:
        return []
    level = median(run.mean_bytes_per_s for run in flat for _ in range(run.points))
    runs = [run for run in flat if abs(run.mean_bytes_per_s / level - 1) <= SAME_LEVEL]
    rates = [rate / level for rate in rates]
    full = (peak_bytes_per_s / baseline_bytes_per_s - 1) * 60 / sums.period_s  # a minute at the peak
    shortest, most = BURST_MINUTES[0] * full * (1 - BUDGET_ERROR), BURST_MINUTES[1] * full * (1 + BUDGET_ERROR)
    runs, flows = _consistent(rates, runs, shortest, full_at_start=full_at_start)
    largest = max((flow.largest for flow in flows), default=0.0)
    if 2 * sum(run.points for run in runs) < sum(run.points for run in flat) or largest > most:
        return []
    least = max(shortest, largest * (1 - BUDGET_ERROR))
    scale = level * baseline_bytes_per_s
    return [
        replace(
            one,
            mean_bytes_per_s=one.mean_bytes_per_s * baseline_bytes_per_s,
            burst_bytes_per_s=one.burst_bytes_per_s * scale,
            spent_bytes=one.spent_bytes * scale * sums.period_s,
        )
        for one in _with_budgets(rates, runs, flows, least, shape.max_gap_points)
    ]


def proven(found: Sequence[Plateau], *, min_points: int, max_spread: float) -> bool:
    """Return whether the plateaus with a known budget have at least `min_points` points together.

    A single plateau may be chance, so it may vary only half as much as several.
    """
    known = [one for one in found if one.budget is not Budget.UNKNOWN]
    calm = len(known) > 1 or all(one.spread <= max_spread / 2 for one in known)
    return calm and sum(one.points for one in known) >= min_points


def near_baseline(sums: Series, baseline_bytes_per_s: float, *, min_points: int) -> list[Plateau]:
    """Return every run near the baseline, whatever its shape and budget: ENA counters show what limits it."""
    rates = [value / sums.period_s / baseline_bytes_per_s for value in sums.values]
    return [
        Plateau(run.start, run.stop, mean * baseline_bytes_per_s, pstdev(values) / mean, run.start)
        for run in runs_within(rates, *PLATEAU_RATIOS)
        if len(run) >= min_points and (mean := fmean(values := rates[run.start : run.stop]))
    ]


def _consistent(
    rates: Sequence[float], runs: list[Plateau], shortest: float, *, full_at_start: bool
) -> tuple[list[Plateau], list[_Flow]]:
    """Return the plateaus that had no credits left before, and after which no more was used than earned.

    Also return the flows before and after each of them.
    """
    while True:
        edges = pairwise([(0, 0), *((run.first, run.end) for run in runs), (len(rates), len(rates))])
        before = [rates[start:end] for (_, start), (end, _) in edges]
        flows = [_flow(part) for part in before]
        consistent = [
            run
            for i, run in enumerate(runs)
            if not flows[i + 1].overdrawn
            and not (full_at_start and i == 0 and flows[i].used < shortest)
            and not _came_back(before[i], shortest)
        ]
        if len(consistent) == len(runs):
            return runs, flows
        runs = consistent


def _came_back(rates: Sequence[float], shortest: float) -> bool:
    """Return whether earned credits were left at the end, and less than the smallest bucket was used after them."""
    left = least = gross = 0.0
    for rate in reversed(rates):
        if isnan(rate):
            return False
        left += 1 - rate
        gross += 1 + rate
        least = min(least, left)
        if -least >= shortest:
            return False
        if left > EDGE_ERROR + FLOW_ERROR * gross:
            return True
    return False


def _flow(rates: Sequence[float]) -> _Flow:
    has = most = largest = gross = unseen = unseen_since = 0.0
    overdrawn = False
    for rate in rates:
        if isnan(rate):
            unseen += 1
            unseen_since += 1
            continue
        has += 1 - rate
        gross += 1 + rate
        if has > most:
            most, unseen_since = has, 0.0
        largest = max(largest, most - has)
        overdrawn |= has + unseen < -EDGE_ERROR - FLOW_ERROR * gross
    return _Flow(most, has, most - has, largest, overdrawn, EDGE_ERROR + FLOW_ERROR * gross, unseen, unseen_since)


def _with_budgets(
    rates: Sequence[float], runs: Sequence[Plateau], flows: Sequence[_Flow], least: float, max_gap_points: int
) -> list[Plateau]:
    """Return the plateaus with the burst and budget before each. Plateaus on both sides of a short pause become one."""
    found: list[Plateau] = []
    for run, flow in zip(runs, flows, strict=False):
        before = found[-1] if found else None
        start = before.end if before else 0
        if before and run.first - start <= BRIDGED_POINTS and flow.earned < SMALLEST_CYCLE:
            mean, spread = run.mean_bytes_per_s, run.spread
            found.append(replace(before, first=run.first, end=run.end, mean_bytes_per_s=mean, spread=spread))
            continue
        bursts = [i for i in range(start, run.first) if rates[i] >= BURST_RATIO]
        soon = bool(bursts) and run.first - bursts[-1] - 1 <= max_gap_points
        cycle = before and flow.earned >= SMALLEST_CYCLE and not flow.unseen and abs(flow.left) <= flow.error
        around = rates[max(start, run.first - max_gap_points) : run.end + max_gap_points]
        seen = soon and not flow.unseen_since and not any(map(isnan, around))  # a gap may hide earned credits
        budget = Budget.UNKNOWN
        if seen and (flow.used >= least or cycle):
            budget = Budget.WHOLE if flow.used >= least else Budget.CYCLE
        burst, top = (bursts[-1], max(rates[i] for i in bursts)) if bursts else (run.first, 0.0)
        found.append(replace(run, burst=burst, burst_bytes_per_s=top, budget=budget, spent_bytes=flow.used))
    return found


def _flat(rates: Sequence[float], run: range, shape: Shape) -> Plateau | None:
    """Return a run, in multiples of the baseline, if it is long, flat and at the baseline; else None."""
    if len(run) < shape.min_points:
        return None
    trim = 1 if len(run) >= shape.min_points + 2 else 0
    inner = rates[run.start + trim : run.stop - trim]
    mean, limit = fmean(inner), shape.max_spread * min(1, len(run) / (2 * shape.min_points))
    third, (low, high) = max(1, len(inner) // 3), LEVEL_RATIOS
    spread, drift = pstdev(inner) / mean, abs(fmean(inner[-third:]) - fmean(inner[:third])) / mean
    is_flat = low <= mean <= high and max(spread, drift) < limit
    return Plateau(run.start, run.stop, mean, spread, run.start) if is_flat else None
