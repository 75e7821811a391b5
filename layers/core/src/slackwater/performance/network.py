"""EC2 network bandwidth with burst. Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth".

An instance whose peak is above its baseline bursts with network I/O credits, with one bucket for each direction. No
metric shows these credits. Visible is a rate above the baseline, followed by a rate that stays at the baseline.
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
"""The limit of one flow outside a cluster placement group, and of all flows of a small instance through an internet
gateway.
"""

BURST_MINUTES: Final = (5, 60)
"""How long a burst usually lasts, by the instance's size. AWS does not publish the sizes of the buckets."""

BURST_RATIO: Final = 1.30
"""A rate this far above the baseline must be a burst; measurement noise is less than 30%."""
BRIDGED_POINTS: Final = 2
"""So many missing or low points do not end a time above the baseline."""
PLATEAU_RATIOS: Final = (0.90, 1.05)
"""A point of a throttled rate is the baseline less protocol overhead. Above 1.05, it still uses credits."""
LEVEL_RATIOS: Final = (0.94, 1.02)
"""The mean of a throttled rate. The metrics may leave out frame headers: 5% of a frame of 1,500 bytes."""
BUDGET_ERROR: Final = 0.25
"""As a fraction of the bucket. AWS says only "typically", and metered bytes may lack headers."""
BALANCE_ERROR: Final = 0.25
"""As a fraction of a point at the baseline. The first and last point of a plateau are only partly at the baseline."""


@dataclass(frozen=True, slots=True)
class Plateau:
    """A run of points at the baseline after a burst, as indexes of the series. `end` is exclusive."""

    first: int
    end: int
    mean_bytes_per_s: float
    spread: float
    """Standard deviation, as a fraction of the mean."""
    burst_bytes_per_s: float
    """The highest rate of the burst before it."""
    burst: int
    """The index of the last point of that burst."""
    spent_bytes: float
    """Credits used when it begins: bytes above the baseline since the bucket was last full, less the credits that came back."""

    @property
    def points(self) -> int:
        """The number of points."""
        return self.end - self.first


def can_burst(instance_type: InstanceType) -> bool:
    """Whether the peak is above the baseline. For dozens of types, the text "Up to" contradicts these numbers."""
    baseline, peak = instance_type.network_baseline_gbps, instance_type.network_peak_gbps
    return baseline is not None and peak is not None and peak > baseline


def transfer_s(size_bytes: float, baseline_bytes_per_s: float, burst_bytes_per_s: float, burst_s: float) -> float:
    """Return the seconds of a transfer that bursts for at most `burst_s` seconds, and then has the baseline."""
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
    """Return where the rate stays at the baseline because a burst used up the credits.

    A bucket of C bytes pays for what is above the baseline b, up to the peak p, and fills below it. A burst lasts
    "typically from 5 to 60 minutes, depending on the instance size" (EC2 User Guide, "Amazon EC2 instance network
    bandwidth"). Let spent(t) be the bytes above b, less those below it, since the bucket was last full. The bucket is
    empty at t only if all of this holds:

    - 5 min * (p - b) <= spent(t) = C <= 60 min * (p - b), and no other time has more than C spent (within
      `BUDGET_ERROR`).
    - From t on, the rate is b (flat, and within `LEVEL_RATIOS`). No credits came back between the burst and t, because
      they would have been used first.
    - From the plateau's end v until any later u, at most b * (u - v) bytes pass (within `BALANCE_ERROR`). More would
      use credits that are not there.

    A demand that slowly passes through the baseline looks flat for a while. So the shortest run must be twice as flat
    as `max_spread`; a run of twice `min_points` only that flat. The first and last point of a run are only partly at
    the baseline, and are left out if the run is long enough.

    Args:
        sums: Bytes per period in one direction. A missing point counts as idle in the budget. After a plateau, no credits
            come back in it.
        baseline_bytes_per_s: The rate without credits.
        peak_bytes_per_s: The rate with credits.
        min_points: The shortest run.
        max_spread: How much the rate may vary (standard deviation), or drift from the first third to the last, as a
            fraction of the mean.
        max_gap_s: The longest time, in seconds, between a burst and its plateau.
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
            burst = last_burst  # one low or missing point does not end the plateau
        if burst is None or _came_back(rates[since:first]) > BALANCE_ERROR:
            continue
        if end - first >= min_points // 2:  # fewer may be a rate on its way through the baseline
            last_end, last_burst = end, burst
        is_empty = least <= spent[first] <= most and highest_from[end] - balance[end] <= BALANCE_ERROR
        if pinned and is_empty:
            (mean, spread), top = pinned, max(_run_back(rates, burst, BURST_RATIO))
            mean, top, used = (ratio * baseline_bytes_per_s for ratio in (mean, top, spent[first] * sums.period_s))
            found.append(Plateau(first, end, mean, spread, top, burst, used))
    return found


def _pinned(
    rates: Sequence[float], first: int, end: int, min_points: int, max_spread: float
) -> tuple[float, float] | None:
    """Return the mean of a run and its standard deviation over the mean; None unless it is long, flat and at the baseline."""
    if end - first < min_points:
        return None
    trim = 1 if end - first >= min_points + 2 else 0
    inner = rates[first + trim : end - trim]
    mean, flat = fmean(inner), max_spread * min(1, (end - first) / (2 * min_points))
    spread = pstdev(inner) / mean
    low, high = LEVEL_RATIOS
    return (mean, spread) if low <= mean <= high and max(spread, _drift(inner)) < flat else None


def _spent(net: Iterable[float]) -> list[float]:
    """Return the credits used before each period and after the last one, of a bucket that is full at the start."""
    return list(accumulate(net, lambda gone, used: max(0.0, gone + used), initial=0.0))


def _came_back(rates: Iterable[float]) -> float:
    return sum(1 - rate for rate in rates if not isnan(rate))


def _drift(rates: Sequence[float]) -> float:
    """Return the difference between the last and the first third of a run, as a fraction of its mean."""
    third = max(1, len(rates) // 3)
    return abs(fmean(rates[-third:]) - fmean(rates[:third])) / fmean(rates)


def runs_above(sums: Series, baseline_gbps: float, *, min_points: int) -> list[range]:
    """Return the runs whose rate needs credits, as indexes of `sums`, with at least `min_points` points above the
    baseline.

    One or two missing or low points do not end a run, and do not count.

    Args:
        sums: Bytes per period in one direction.
        baseline_gbps: The instance's baseline, in Gbps.
        min_points: The smallest number of points.
    """
    """Return the runs whose rate needs credits, as indexes of `sums`, with at least `min_points` points above the
    baseline.

    One or two missing or low points do not end a run, and do not count.

    Args:
        sums: Bytes per period in one direction.
        baseline_gbps: The instance's baseline, in Gbps.
        min_points: The smallest number of points.
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
    """Return the largest number of credits that were used up, as seconds of a burst at the peak.

    Assumes a full bucket at the start, which fills at the baseline less what is used. A missing point counts as idle.
    Compare the result with `BURST_MINUTES`, because AWS publishes no sizes of buckets.

    Args:
        sums: Bytes per period in one direction.
        baseline_bytes_per_s: The instance's baseline.
        peak_bytes_per_s: The instance's peak.
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
    """Return the total duration of plateaus, in seconds."""
    return sum(plateau.points for plateau in points) * period_s


GENERAL_FAMILIES: Final = {False: "m6i", True: "m7g"}
"""A current general-purpose family, by whether it is Graviton. Its larger sizes do not depend on network burst."""


def general_family(instance_type: str) -> str | None:
    """Return the general-purpose family that an instance can move to; None if there is none.

    Only burstable, general and compute types have one, of the same architecture. Other types were chosen for something
    that it lacks: memory, local disks, a GPU. Graviton types have a `g` after the generation (`t4g`, `m7gd`).
    """
    found = re.match(r"([tmc])\d+(g?)", instance_type)
    return GENERAL_FAMILIES[bool(found[2])] if found else None


def has_cpu_credits(instance_type: str) -> bool:
    """Whether it is a T type; only these have CPU credits."""
    return re.match(r"t\d", instance_type) is not None


def is_published(instance_type: InstanceType) -> bool:
    """Whether EC2 publishes the network bandwidth of a type."""
    return instance_type.network_baseline_gbps is not None and instance_type.network_peak_gbps is not None


def baseline(instance_type: InstanceType) -> float:
    """Return the bytes a second without credits.

    Raises:
        UnpublishedError: EC2 publishes none.
    """
    return _whole_bytes_per_s(instance_type, instance_type.network_baseline_gbps)


def peak(instance_type: InstanceType) -> float:
    """Return the bytes a second while there are credits.

    Raises:
        UnpublishedError: EC2 publishes none.
    """
    return _whole_bytes_per_s(instance_type, instance_type.network_peak_gbps)


def _whole_bytes_per_s(instance_type: InstanceType, gbps: float | None) -> float:
    if gbps is None:
        raise UnpublishedError(f"EC2 publishes no network bandwidth for {instance_type.id}")
    return float(round(bytes_per_s_of_gbps(gbps)))  # 4.1 Gbps are 512,500,000, and not a hair less


def smallest_that_carries(types: Iterable[InstanceType], bytes_per_s: float) -> InstanceType | None:
    """Return the type with the lowest published baseline that carries a rate without credits; None if none does."""
    return min((one for one in types if is_published(one) and baseline(one) >= bytes_per_s), key=_size, default=None)


def largest(types: Iterable[InstanceType]) -> InstanceType | None:
    """Return the type with the highest published baseline, and the smallest of several; None if there is none."""
    return min(filter(is_published, types), key=lambda one: (-baseline(one), _size(one)), default=None)


def _size(instance_type: InstanceType) -> tuple[float, int, str]:
    return baseline(instance_type), instance_type.vcpus, instance_type.id
