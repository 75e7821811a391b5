"""EC2 network bandwidth with burst. Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth".

An instance whose peak is above its baseline bursts on network I/O credits, a bucket for each direction. No metric shows the
credits; what shows is a rate above the baseline, and then a rate that sticks to the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf, isnan
from statistics import fmean, pstdev
from typing import Final

from slackwater.model.metrics import Series
from slackwater.model.resources import InstanceType
from slackwater.model.units import bytes_per_s_of_gbps
from slackwater.performance.unpublished import UnpublishedError

SINGLE_FLOW_GBPS: Final = 5.0
"""What one flow outside a cluster placement group, or all flows through an internet gateway of a small instance, may carry."""

BURST_MINUTES: Final = (5, 60)
"""How long a burst usually lasts, by the instance's size. The sizes of the buckets are not published."""

BURST_RATIO: Final = 1.30
"""A rate this far above the baseline can only be burst; measurement noise is not 30 %."""
BRIDGED_POINTS: Final = 2
"""So many points that are lost, or dip, do not end a time above the baseline."""
PLATEAU_RATIOS: Final = (0.90, 1.05)
"""A point of a pinned rate is the baseline less protocol overhead; above 1.05 credits are still being spent."""
LEVEL_RATIOS: Final = (0.94, 1.02)
"""The mean of a pinned rate: the metrics may leave out the headers of frames, 5 % of those of 1,500 bytes."""
BUDGET_ERROR: Final = 0.25
"""As a share of the bucket. AWS says only "typically", and metered bytes lack headers."""
BALANCE_ERROR: Final = 0.25
"""As a share of what a point carries at the baseline. The first and last point of a plateau are only part of it."""


@dataclass(frozen=True, slots=True)
class Plateau:
    """A run of points that stick to the baseline after a burst. Indexes into the series, end exclusive."""

    first: int
    end: int
    mean_bytes_per_s: float
    spread: float
    """Standard deviation over mean."""
    burst_bytes_per_s: float
    """The highest rate of the burst before it."""
    burst: int
    """Index of the last point of that burst."""
    spent_bytes: float
    """Credits gone when it begins: bytes above the baseline since the bucket was last full, less those that came back."""

    @property
    def points(self) -> int:
        """How many points it lasts."""
        return self.end - self.first


def can_burst(instance_type: InstanceType) -> bool:
    """True when the peak is above the baseline; the text "Up to" disagrees with the numbers for dozens of types."""
    baseline, peak = instance_type.network_baseline_gbps, instance_type.network_peak_gbps
    return baseline is not None and peak is not None and peak > baseline


def transfer_s(size_bytes: float, baseline_bytes_per_s: float, burst_bytes_per_s: float, burst_s: float) -> float:
    """Seconds for a transfer that bursts first, for `burst_s` at most, and then has the baseline."""
    in_burst = burst_bytes_per_s * burst_s
    if size_bytes <= in_burst:
        return size_bytes / burst_bytes_per_s
    return burst_s + (size_bytes - in_burst) / baseline_bytes_per_s


def plateaus(
    sums: Series,
    baseline_bytes_per_s: float,
    peak_bytes_per_s: float,
    *,
    min_points: int,
    max_spread: float,
    max_gap_s: int,
) -> list[Plateau]:
    """Where bytes by period stick to the baseline because a burst used up the credits.

    A bucket of C bytes pays for what is above the baseline b, up to the peak p, and fills below it. A burst lasts "typically
    from 5 to 60 minutes, depending on the instance size" (EC2 User Guide, "Amazon EC2 instance network bandwidth"). Let
    spent(t) be the bytes above b, less those below it, since the bucket was last full. The bucket is empty at t only if

    - 5 min * (p - b) <= spent(t) = C <= 60 min * (p - b), and nowhere is more than C spent (within `BUDGET_ERROR`);
    - the rate is b from t on (flat, and within `LEVEL_RATIOS`), and no credits came back between the burst and t: they would
      have been used first;
    - at most b * (u - v) bytes pass from its end v until any later u (within `BALANCE_ERROR`): more would take credits.

    Args:
        sums: Bytes a period in one direction. Missing points count against a plateau: as idle in the budget, and as a time in
            which no credits came back after it.
        baseline_bytes_per_s: What the type carries without credits.
        peak_bytes_per_s: What it carries with them.
        min_points: A shorter run is no plateau.
        max_spread: Of a plateau's rates: the standard deviation, and the drift from the first third to the last, over the mean.
            Demand that passes through the baseline slowly looks flat for a while. So the shortest run must be twice as flat,
            and one of twice `min_points` just that.
        max_gap_s: How long after the burst, or after a run that followed it, a plateau may begin.
    """
    rates = [value / sums.period_s / baseline_bytes_per_s for value in sums.values]
    runs = [(*run, _pinned(rates, *run, min_points, max_spread)) for run in _runs(rates, *PLATEAU_RATIOS)]
    net = [rate - 1 for rate in rates]
    for first, end, pinned in runs:
        if pinned:
            net[first:end] = [0.0] * (end - first)  # metered bytes lack headers; no credits come back here
    spent = _spent(-1 if isnan(used) else used for used in net)
    low, high = LEVEL_RATIOS
    balance = [0.0, *accumulate(0 if isnan(rate) or low <= rate <= high else rate - 1 for rate in rates)]
    highest_from = list(accumulate(reversed(balance), max))[::-1]
    full = (peak_bytes_per_s / baseline_bytes_per_s - 1) * 60 / sums.period_s  # a minute at the peak
    shortest, longest = (minutes * full for minutes in BURST_MINUTES)
    least, most = max(shortest, *spent) * (1 - BUDGET_ERROR), longest * (1 + BUDGET_ERROR)

    found: list[Plateau] = []
    last_end, last_burst, max_gap = -1, None, max_gap_s // sums.period_s
    for first, end, pinned in runs:
        burst = _burst_before(rates, first, BURST_RATIO, max_gap)
        since = last_end if burst is None else burst + 1
        if burst is None and last_burst is not None and first - last_end <= max_gap:
            burst = last_burst  # a blip, or a missing point, does not end what the burst began
        if burst is None or _came_back(rates[since:first]) > BALANCE_ERROR:
            continue
        if end - first >= min_points // 2:  # fewer may be a rate on its way through the baseline
            last_end, last_burst = end, burst
        if pinned and least <= spent[first] <= most and highest_from[end] - balance[end] <= BALANCE_ERROR:
            top = max(_run_back(rates, burst, BURST_RATIO))
            mean, spread = pinned
            in_bytes = baseline_bytes_per_s * sums.period_s
            found.append(
                Plateau(
                    first, end, mean * baseline_bytes_per_s, spread, top * baseline_bytes_per_s, burst, spent[first] * in_bytes
                )
            )
    return found


def _pinned(rates: Sequence[float], first: int, end: int, min_points: int, max_spread: float) -> tuple[float, float] | None:
    """The mean of a run that is long, flat and at the baseline, and its standard deviation over the mean; else None.

    The first and last point of a run are only part of it, and are left out if it is long enough.
    """
    if end - first < min_points:
        return None
    trim = 1 if end - first >= min_points + 2 else 0
    inner = rates[first + trim : end - trim]
    mean, flat = fmean(inner), max_spread * min(1, (end - first) / (2 * min_points))
    spread = pstdev(inner) / mean
    low, high = LEVEL_RATIOS
    return (mean, spread) if low <= mean <= high and max(spread, _drift(inner)) < flat else None


def _spent(net: Iterable[float]) -> list[float]:
    """Credits gone before each period and after the last, of a bucket that is full at first."""
    return list(accumulate(net, lambda gone, used: max(0.0, gone + used), initial=0.0))


def _came_back(rates: Iterable[float]) -> float:
    return sum(1 - rate for rate in rates if not isnan(rate))


def _drift(rates: Sequence[float]) -> float:
    """How much the last third of a run differs from the first, over its mean."""
    third = max(1, len(rates) // 3)
    return abs(fmean(rates[-third:]) - fmean(rates[:third])) / fmean(rates)


def runs_above(sums: Series, baseline_gbps: float, *, min_points: int) -> list[range]:
    """Runs with at least `min_points` points whose rate can only come from credits, as indexes into bytes by period.

    One or two points that are missing, or dip, do not end a run; they do not count either.
    """
    rates = [value / sums.period_s for value in sums.values]
    above = PLATEAU_RATIOS[1] * bytes_per_s_of_gbps(baseline_gbps)
    bridged: list[range] = []
    for first, end in _runs(rates, above, inf):
        if bridged and first - bridged[-1].stop <= BRIDGED_POINTS:
            bridged[-1] = range(bridged[-1].start, end)
        else:
            bridged.append(range(first, end))
    return [run for run in bridged if sum(rates[i] >= above for i in run) >= min_points]


def drawn_s(sums: Series, baseline_bytes_per_s: float, peak_bytes_per_s: float) -> float:
    """The credits gone at the deepest point, as seconds that a burst at the peak would take to use as many.

    A full bucket at first, filled at the baseline less what is used; a missing point is taken for idleness. What bucket that
    needs is compared with `BURST_MINUTES`: no bucket's size is published.
    """
    net = ((0.0 if isnan(value) else value) - baseline_bytes_per_s * sums.period_s for value in sums.values)
    return max(_spent(net)) / (peak_bytes_per_s - baseline_bytes_per_s)


def _runs(rates: Sequence[float], low: float, high: float) -> Iterator[tuple[int, int]]:
    first = None
    for i, rate in enumerate(rates):
        inside = low <= rate <= high  # NaN, a missing point, is never inside
        if inside and first is None:
            first = i
        elif not inside and first is not None:
            yield first, i
            first = None
    if first is not None:
        yield first, len(rates)


def _burst_before(rates: Sequence[float], first: int, threshold: float, max_gap: int) -> int | None:
    return next((i for i in range(first - 1, max(-1, first - 2 - max_gap), -1) if rates[i] >= threshold), None)


def _run_back(rates: Sequence[float], last: int, threshold: float) -> list[float]:
    run = []
    for i in range(last, -1, -1):
        if isnan(rates[i]) or rates[i] < threshold:
            break
        run.append(rates[i])
    return run


def seconds_of(points: Iterable[Plateau], period_s: int) -> int:
    """How long plateaus last together."""
    return sum(plateau.points for plateau in points) * period_s


GENERAL_FAMILIES: Final = {False: "m6i", True: "m7g"}
"""A current general family, by whether it is Graviton: its larger sizes have no network burst that could run dry."""


def general_family(instance_type: str) -> str | None:
    """The general family that an instance could move to: for burstable, general and compute types of its own architecture.

    Others were chosen for what a general family lacks: memory, local disks, a GPU. Graviton types have a `g` after the
    generation (`t4g`, `m7gd`); they cannot run an x86 image, nor the reverse.
    """
    found = re.match(r"([tmc])\d+(g?)", instance_type)
    return GENERAL_FAMILIES[bool(found[2])] if found else None


def has_cpu_credits(instance_type: str) -> bool:
    """True for the T types, which alone have CPU credits."""
    return re.match(r"t\d", instance_type) is not None


def is_published(instance_type: InstanceType) -> bool:
    """Whether EC2 publishes the network bandwidth of a type."""
    return instance_type.network_baseline_gbps is not None and instance_type.network_peak_gbps is not None


def baseline(instance_type: InstanceType) -> float:
    """Bytes a second without credits.

    Raises:
        UnpublishedError: EC2 publishes none.
    """
    return _whole_bytes_per_s(instance_type, instance_type.network_baseline_gbps)


def peak(instance_type: InstanceType) -> float:
    """Bytes a second while there are credits.

    Raises:
        UnpublishedError: EC2 publishes none.
    """
    return _whole_bytes_per_s(instance_type, instance_type.network_peak_gbps)


def _whole_bytes_per_s(instance_type: InstanceType, gbps: float | None) -> float:
    if gbps is None:
        raise UnpublishedError(f"EC2 publishes no network bandwidth for {instance_type.id}")
    return float(round(bytes_per_s_of_gbps(gbps)))  # 4.1 Gbps are 512,500,000, and not a hair less


def smallest_that_carries(types: Iterable[InstanceType], bytes_per_s: float) -> InstanceType | None:
    """The type with the lowest published baseline that carries a rate without credits."""
    return min((one for one in types if is_published(one) and baseline(one) >= bytes_per_s), key=_size, default=None)


def largest(types: Iterable[InstanceType]) -> InstanceType | None:
    """The type with the highest published baseline; the smallest of several."""
    return min(filter(is_published, types), key=lambda one: (-baseline(one), _size(one)), default=None)


def _size(instance_type: InstanceType) -> tuple[float, int, str]:
    return baseline(instance_type), instance_type.vcpus, instance_type.id
