"""EC2 network bandwidth with burst. Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth".

An instance whose peak is above its baseline bursts with network I/O credits. It has a bucket for each direction. No
metric shows these credits. Metrics only show a rate above the baseline, and then a rate that stays at the baseline.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from math import inf, isnan
from typing import Final

from slackwater.model.metrics import Series
from slackwater.model.resources import InstanceType
from slackwater.model.units import FIVE_MINUTES_S, bytes_per_s_of_gbps
from slackwater.performance import UnpublishedError

SINGLE_FLOW_GBPS: Final = 5.0
"""The limit of one flow outside a cluster placement group, and of a small instance through an internet gateway."""

BURST_MINUTES: Final = (5, 60)
"""How long a burst usually lasts, depending on the instance's size. AWS does not publish the sizes of the buckets."""

BURST_RATIO: Final = 1.30  # times the baseline: such a rate must be a burst, because noise is less than 30%
BRIDGED_POINTS: Final = 2  # up to this many missing or low points do not end a time above the baseline
PLATEAU_RATIOS: Final = (0.90, 1.05)
"""A throttled rate in multiples of the baseline: 1 less protocol overhead. Above 1.05, it still uses credits."""


def can_burst(instance_type: InstanceType) -> bool:
    """Return whether the peak is above the baseline. For dozens of types, EC2's "Up to" contradicts these numbers."""
    return is_published(instance_type) and peak(instance_type) > baseline(instance_type)


def transfer_s(size_bytes: float, baseline_bytes_per_s: float, burst_bytes_per_s: float, burst_s: float) -> float:
    """Return the seconds of a transfer that bursts for at most `burst_s` seconds and then runs at the baseline."""
    in_burst = burst_bytes_per_s * burst_s
    if size_bytes <= in_burst:
        return size_bytes / burst_bytes_per_s
    return burst_s + (size_bytes - in_burst) / baseline_bytes_per_s


def runs_above(sums: Series, baseline_gbps: float, *, min_points: int) -> list[range]:
    """Return the runs whose rate needs credits, as indexes. Each has at least `min_points` points above the baseline.

    `sums` are bytes per period in one direction. One or two missing or low points do not end a run, and do not count.
    """
    rates = [value / sums.period_s for value in sums.values]
    above = PLATEAU_RATIOS[1] * bytes_per_s_of_gbps(baseline_gbps)
    bridged: list[range] = []
    for run in runs_within(rates, above, inf):
        if bridged and run.start - bridged[-1].stop <= BRIDGED_POINTS:
            bridged[-1] = range(bridged[-1].start, run.stop)
        else:
            bridged.append(run)
    return [run for run in bridged if sum(rates[i] >= above for i in run) >= min_points]


def touched(most: Sequence[int], continues: Sequence[bool], width: int, least: int) -> Iterator[range]:
    """Yield, for each period in which a run of `least` points may begin, the periods that it may touch.

    `most` is how many points of a run each period may have, and `continues` whether a run may go on through it.
    """
    until = [0, *accumulate(most)]
    for first in range(len(most)):
        stop = min(first + width, len(most))
        if until[stop] - until[first] >= least:  # most periods fail here
            end = min(first + 2, stop)
            while end < stop and continues[end - 1]:
                end += 1
            if until[end] - until[first] >= least:
                yield range(first, end)


def most_near_baseline(sums: Series, baseline_bytes_per_s: float, min_points: int, around: tuple[int, int]) -> int:
    """Return the most five-minute points that runs near the baseline can have; 0 if there can be no run.

    `sums` are bytes per hour or quarter hour in one direction. A missing period has no data. `around` is how many
    points there are before and after. Between the first and the last period of a run, all are near the baseline.
    """
    size = sums.period_s // FIVE_MINUTES_S
    low, high = (ratio * baseline_bytes_per_s * FIVE_MINUTES_S for ratio in PLATEAU_RATIOS)
    inside = [0 if isnan(value) else min(size, int(value / low + 1e-6)) for value in sums.values]
    full = [points == size and value / high <= size + 1e-6 for points, value in zip(inside, sums.values, strict=True)]
    most, continues = [around[0], *inside, around[1]], [False, *full, False]
    width = 2 + (min_points - 2) // size  # how many periods the shortest run touches
    held = {i for run in touched(most, continues, width, min_points) if most[run.start] for i in run}
    return sum(most[i] for i in held)


def drawn_s(sums: Series, baseline_bytes_per_s: float, peak_bytes_per_s: float) -> float:
    """Return the most credits that were missing from a full bucket at any time, as seconds of a burst at the peak.

    `sums` are bytes per period in one direction. The bucket starts full, and refills at the baseline less what is used.
    A missing point counts as idle. Compare with `BURST_MINUTES`, because AWS does not publish the sizes of buckets.
    """
    net = ((0.0 if isnan(value) else value) - baseline_bytes_per_s * sums.period_s for value in sums.values)
    gone = accumulate(net, lambda gone, used: max(0.0, gone + used), initial=0.0)
    return max(gone) / (peak_bytes_per_s - baseline_bytes_per_s)


def runs_within(rates: Sequence[float], low: float, high: float) -> list[range]:
    """Return the runs of rates from `low` to `high`, as indexes. A missing point (NaN) ends a run."""
    runs = ([*run] for inside, run in groupby(range(len(rates)), lambda i: low <= rates[i] <= high) if inside)
    return [range(run[0], run[-1] + 1) for run in runs]


GENERAL_FAMILIES: Final = {False: "m6i", True: "m7g"}
"""A current general-purpose family; the key says whether it is Graviton. Its larger sizes need no network burst."""


def general_family(instance_type: str) -> str | None:
    """Return the general-purpose family that an instance can move to; None if there is none.

    Only burstable, general and compute types have one, of the same architecture. People choose other types for memory,
    local disks or a GPU, which this family lacks. Graviton types have a `g` after the generation (`t4g`, `m7gd`).
    """
    found = re.match(r"([tmc])\d+(g?)", instance_type)
    return GENERAL_FAMILIES[bool(found[2])] if found else None


def has_cpu_credits(instance_type: str) -> bool:
    """Return whether it is a T type. Only T types have CPU credits."""
    return re.match(r"t\d", instance_type) is not None


def is_published(instance_type: InstanceType) -> bool:
    """Return whether EC2 publishes the network bandwidth of a type."""
    return instance_type.network_baseline_gbps is not None and instance_type.network_peak_gbps is not None


def baseline(instance_type: InstanceType) -> float:
    """Return the network bytes a second without credits.

    Raises:
        UnpublishedError: EC2 publishes none.
    """
    return _whole_bytes_per_s(instance_type, instance_type.network_baseline_gbps)


def peak(instance_type: InstanceType) -> float:
    """Return the network bytes a second with credits. Raises UnpublishedError like `baseline`."""
    return _whole_bytes_per_s(instance_type, instance_type.network_peak_gbps)


def _whole_bytes_per_s(instance_type: InstanceType, gbps: float | None) -> float:
    if gbps is None:
        raise UnpublishedError(f"EC2 publishes no network bandwidth for {instance_type.id}")
    return float(round(bytes_per_s_of_gbps(gbps)))  # removes float error: 4.1 Gbps are exactly 512,500,000


def smallest_that_carries(types: Iterable[InstanceType], bytes_per_s: float) -> InstanceType | None:
    """Return the type with the lowest published baseline that carries a rate without credits; None if none does."""
    return min((one for one in types if is_published(one) and baseline(one) >= bytes_per_s), key=_size, default=None)


def largest(types: Iterable[InstanceType]) -> InstanceType | None:
    """Return the type with the highest published baseline, and the smallest of several; None if there is none."""
    return min(filter(is_published, types), key=lambda one: (-baseline(one), _size(one)), default=None)


def _size(instance_type: InstanceType) -> tuple[float, int, str]:
    return baseline(instance_type), instance_type.vcpus, instance_type.id
