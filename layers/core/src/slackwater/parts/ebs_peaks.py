"""A volume's busiest minute: how CloudWatch is asked for it, and when the answer counts.

On Nitro CloudWatch has the busiest minute of every day. Those of reads and of writes added are never too low, but may lie hours
apart: where that matters, the busiest minute of every five minutes looks closer. On Xen there are no maxima, and bytes have no
point while there are none (Amazon EBS User Guide, "Amazon CloudWatch metrics for Amazon EBS"): five-minute sums stand in, and
the operations, which always have a point, show that CloudWatch was watching.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import batched
from math import isnan
from typing import Final

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Confidence, Evidence, Fine, Unknown

IOPS_EXCEEDED: Final = Metric("AWS/EBS", "VolumeIOPSExceededCheck", "Maximum", "0 or 1")
THROUGHPUT_EXCEEDED: Final = Metric("AWS/EBS", "VolumeThroughputExceededCheck", "Maximum", "0 or 1")

LOST, LATE = 1 / 200, 3
"""The share of five-minute points that CloudWatch loses, and how many it has not yet, while it is watching all the same."""


class PeakLimits(Limits):
    """How long the busiest minute is looked for, and what is kept above it."""

    window_days: int = limit(
        35, unit="days", ge=7, le=60, why="longer than a month, for a monthly job; five-minute points are kept 63 days"
    )
    least_days: int = limit(
        14, unit="days", ge=7, le=60, why="two weekly rhythms; days that are missing before them lower the confidence"
    )
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")


@dataclass(frozen=True, slots=True)
class Part:
    """Reads or writes, in operations or bytes; so many of them make one of the measure's unit."""

    name: str
    points: str
    per: float

    @property
    def peak(self) -> Metric:
        """The busiest minute, on Nitro."""
        return Metric("AWS/EBS", self.name, "Maximum", f"{self.points} a minute")

    @property
    def total(self) -> Metric:
        """All of them."""
        return Metric("AWS/EBS", self.name, "Sum", self.points)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a volume does in a second: its unit, and what adds up to it."""

    unit: str
    parts: tuple[Part, ...]


READ_BYTES: Final = Part("VolumeReadBytes", "bytes", MIB)
WRITTEN_BYTES: Final = Part("VolumeWriteBytes", "bytes", MIB)
READS: Final = Part("VolumeReadOps", "operations", 1)
WRITES: Final = Part("VolumeWriteOps", "operations", 1)

BYTES: Final = Measure("MiB/s", (READ_BYTES, WRITTEN_BYTES))
OPERATIONS: Final = Measure("IOPS", (READS, WRITES))
CONSUMED: Final = Measure("IOPS", (READS, WRITES, *(replace(part, per=256 * KIB) for part in (READ_BYTES, WRITTEN_BYTES))))
"""Operations as EBS counts them, a large one once for each 256 KiB of it: operations and 256 KiB units are never too few."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """A measure of a volume over the window: what to ask for, and what the answers say."""

    volume: Volume
    measure: Measure
    seen: Seen
    limits: PeakLimits
    xen: bool
    closer: bool = False

    @property
    def needs(self) -> tuple[Need, ...]:
        """What has to be answered before anything below is asked."""
        if self.xen:
            witnesses = (READS, WRITES)
            metrics = dict.fromkeys(part.total for part in (*self.measure.parts, *witnesses))
            return tuple(self._need(metric, FIVE_MINUTES_S) for metric in metrics)
        periods = (DAY_S, FIVE_MINUTES_S) if self.closer else (DAY_S,)
        return tuple(self._need(part.peak, period_s) for period_s in periods for part in self.measure.parts)

    def nearer(self) -> Look:
        """The same by five minutes."""
        return replace(self, closer=not self.xen)

    def _need(self, metric: Metric, period_s: int) -> Need:
        return metric.need(("VolumeId", self.volume.id), period_s=period_s, days=self.limits.window_days)

    @property
    def doubt(self) -> Unknown | None:
        """Why the answer does not count: CloudWatch did not watch all of the newest days since it was attached."""
        return self._doubt_on_xen if self.xen else self._doubt

    @property
    def least(self) -> float:
        """What its busiest minute had at least: that of reads alone, or of writes; looked at closer, of both together."""
        if self.xen:
            return self.most
        if self.closer:
            return max(self._added(self._by_five_minutes).present, default=0)
        return max(self._rate(point, part, MINUTE_S) for part, series in self._by_day for point in (*series.present, 0.0))

    @property
    def most(self) -> float:
        """What its busiest minute had at most; on Xen the mean of its busiest five minutes."""
        return max(self.together.present, default=0)

    @cached_property
    def together(self) -> Series:
        """All parts added, a second; one without a point counts as nothing, all without one as missing."""
        if self.xen:
            return self._added([(part, self.seen[self._need(part.total, FIVE_MINUTES_S)]) for part in self.measure.parts])
        if not self.closer:
            return self._added(self._by_day)
        closer = zip(self._by_five_minutes, self._by_day, strict=True)
        return self._added([(part, _bounded(series, day)) for (part, series), (_, day) in closer])

    @property
    def lost(self) -> Unknown:
        """That points are missing which would tell between `least` and `most`."""
        missing = max(series.missing for _, series in self._by_five_minutes)
        return Unknown(f"{self._names} lacks {missing:,} five-minute points, and may have needed more in one of them")

    @property
    def days(self) -> int:
        """How many whole days CloudWatch watched."""
        if self.xen:
            return int((self.seen.now - max(self._attached_at, self._start)) / timedelta(days=1))
        return min(len(self.seen.finished(series, self._attached_at).present) for _, series in self._by_day)

    def confidence(self, *, checked: bool) -> Confidence:
        """Low on Xen, and high where nothing is missing; `checked` is whether the exceeded checks were there too."""
        if self.xen:
            return "low"
        return "high" if checked and self.days >= self.limits.window_days else "medium"

    @property
    def span(self) -> str:
        """`minute of 35 days`: what was the busiest."""
        return f"{'five minutes' if self.xen else 'minute'} of {self.days} days"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the measure cannot see."""
        return ("Five-minute means hide shorter peaks.",) if self.xen else ()

    def evidence(self, scale: float) -> Evidence:
        """The busiest of every day, against what `scale` is."""
        return Evidence(
            label=f"Busiest {self.span}",
            value=round(self.most, 1),
            unit=self.measure.unit,
            series=_daily(self.together),
            scale=scale,
        )

    @property
    def _by_day(self) -> list[tuple[Part, Series]]:
        return [(part, self.seen[self._need(part.peak, DAY_S)]) for part in self.measure.parts]

    @property
    def _by_five_minutes(self) -> list[tuple[Part, Series]]:
        return [(part, self.seen[self._need(part.peak, FIVE_MINUTES_S)]) for part in self.measure.parts]

    @property
    def _attached_at(self) -> datetime:
        return max([self.volume.created_at, *(one.attached_at for one in self.volume.attachments if one.attached_at)])

    @property
    def _start(self) -> datetime:
        return self.seen.now - timedelta(days=self.limits.window_days)

    @property
    def _demanded(self) -> int:
        return min(self.limits.least_days, self.limits.window_days)

    @property
    def _doubt(self) -> Unknown | None:
        days = [self.seen.finished(series, self._attached_at) for _, series in self._by_day]
        had = min(len(one.since(one.end_s - self._demanded * DAY_S).present) for one in days)
        return None if had >= self._demanded else Unknown(f"{self._names} has {had} of {self._demanded} days")

    @property
    def _doubt_on_xen(self) -> Unknown | None:
        since = self.seen.now - timedelta(days=self._demanded)
        if self._attached_at > since:
            return Unknown(f"it was attached less than {self._demanded} days ago")
        reads, writes = (self._newest(part, since) for part in (READS, WRITES))
        lost = max(reads.missing, writes.missing)
        for part in self.measure.parts:
            operations = reads if part.name == READ_BYTES.name else writes
            moved = self._newest(part, since)
            lost = max(lost, sum(isnan(m) and o > 0 for m, o in zip(moved.values, operations.values, strict=True)))
        if lost <= LOST * len(reads) + LATE:
            return None
        return Unknown(f"{self._names} lacks {lost:,} of {len(reads):,} five-minute points")

    @property
    def _names(self) -> str:
        return " or ".join(dict.fromkeys(need.metric.name for need in self.needs))

    def _newest(self, part: Part, since: datetime) -> Series:
        return self.seen[self._need(part.total, FIVE_MINUTES_S)].since(since.timestamp())

    def _rate(self, value: float, part: Part, per_s: int) -> float:
        return value * self._each / per_s / part.per

    @property
    def _each(self) -> int:
        """The maximum of a Multi-Attach volume may be that of one instance."""
        return len(self.volume.attachments) if self.volume.multi_attach else 1

    def _added(self, parts: list[tuple[Part, Series]]) -> Series:
        per_s = FIVE_MINUTES_S if self.xen else MINUTE_S
        first = parts[0][1]
        each = self._each
        columns = ([value * each / per_s / part.per for value in series.values] for part, series in parts)
        return Series.of(first.start_s, first.period_s, map(_total, zip(*columns, strict=True)))


def carrier(volume: Volume, seen: Seen) -> InstanceType | Fine | Unknown:
    """The type of the running instance that a volume is on; the answer where there is none to judge by."""
    if not volume.attachments:
        return Fine("it is on no instance")
    found = [(one.instance_id, seen.fleet.get(Instance, one.instance_id)) for one in volume.attachments]
    for id_, instance in found:
        if instance is None:
            return Unknown(f"its instance {id_} is not in the inventory")
    instances = [instance for _, instance in found if instance]
    running = [instance for instance in instances if instance.state == "running"]
    if not running:
        return Fine(f"its instance is {instances[0].state}: there is no I/O to judge by")
    kind = seen.fleet.get(InstanceType, running[0].instance_type)
    return kind or Unknown(f"its instance's type {running[0].instance_type} is not in the inventory")


def checks(volume: Volume, limits: PeakLimits, *metrics: Metric, xen: bool) -> tuple[Need, ...]:
    """CloudWatch's own exceeded checks, on each instance; Multi-Attach volumes and Xen have none."""
    if volume.multi_attach or xen:
        return ()
    return tuple(
        metric.need(("InstanceId", one.instance_id), ("VolumeId", volume.id), period_s=DAY_S, days=limits.window_days)
        for metric in metrics
        for one in volume.attachments
    )


def raised(needs: Iterable[Need], seen: Seen) -> bool:
    """Whether one of them was 1, even once."""
    return any(max(seen[need].present, default=0) >= 1 for need in needs)


def answered(needs: tuple[Need, ...], seen: Seen) -> bool:
    """Whether there are any, and each has a point for every day."""
    return bool(needs) and not any(seen.finished(seen[need], seen[need].start).missing for need in needs)


def carried(kind: InstanceType) -> tuple[Evidence, ...]:
    """What an instance lets through at most, where EC2 publishes it."""
    if kind.ebs_maximum_mbps is None or kind.ebs_maximum_iops is None:
        return ()
    mib_s = kind.ebs_maximum_mbps * 1e6 / 8 / MIB
    return (
        Evidence(label=f"What {kind.id} carries at most", value=round(mib_s, 1), unit="MiB/s"),
        Evidence(label=f"What {kind.id} carries at most", value=kind.ebs_maximum_iops, unit="IOPS"),
    )


def _total(row: tuple[float, ...]) -> float | None:
    """The sum of what is there; None where nothing is. NaN in any makes NaN of all: few rows are looked at twice."""
    total = sum(row)
    if not isnan(total):
        return total
    there = [value for value in row if not isnan(value)]
    return sum(there) if there else None


def _bounded(five_minutes: Series, by_day: Series) -> Series:
    """Five-minute peaks; where more points are missing than usual, the peak of their day stands in, which is never too low."""
    if five_minutes.missing <= LOST * len(five_minutes) + LATE:
        return five_minutes
    days = [(five_minutes.start_s + i * FIVE_MINUTES_S - by_day.start_s) // DAY_S for i in range(len(five_minutes))]
    filled = (by_day.values[d] if isnan(v) else v for v, d in zip(five_minutes.values, days, strict=True))
    return Series.of(five_minutes.start_s, FIVE_MINUTES_S, filled)


def _daily(series: Series) -> Series:
    """The greatest of each day."""
    days = batched(series.values, DAY_S // series.period_s, strict=False)
    return Series.of(series.start_s, DAY_S, [max((value for value in day if not isnan(value)), default=None) for day in days])
