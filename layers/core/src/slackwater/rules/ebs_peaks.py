"""A volume's busiest minute: how CloudWatch is asked for it, and when the answer counts.

On Nitro CloudWatch has the busiest minute of every day. Those of reads and of writes added are never too low, but may
lie hours apart: where that matters, the busiest minute of every five minutes looks closer. On Xen there are no maxima,
and bytes have no point while there are none (Amazon EBS User Guide, "Amazon CloudWatch metrics for Amazon EBS"):
five-minute sums stand in, and the operations, which always have a point, show that CloudWatch was watching.

EBS counts an operation once for each 256 KiB of it, and CloudWatch may count it once: what is consumed is no less than
the operations, and no less than the bytes in units of 256 KiB, and never more than both added.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import batched, chain, groupby
from math import isnan
from typing import Final

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Confidence, Evidence, Fine, Line, Unknown
from slackwater.rules.series import hole_words

IOPS_EXCEEDED: Final = Metric("AWS/EBS", "VolumeIOPSExceededCheck", "Maximum", "0 or 1")
THROUGHPUT_EXCEEDED: Final = Metric("AWS/EBS", "VolumeThroughputExceededCheck", "Maximum", "0 or 1")

SECONDS: Final = "One-minute averages hide shorter bursts above the proposed limit."

LOST, LATE = 1 / 200, 3
"""The share of five-minute points that CloudWatch loses, and how many it has not yet, while it is watching all the same."""


class PeakLimits(Limits):
    """How long the busiest minute is looked for, and what is kept above it."""

    window_days: int = limit(
        35, unit="days", ge=7, le=60, why="longer than a month, for a monthly job; five-minute points are kept 63 days"
    )
    least_days: int = limit(
        14, unit="days", ge=7, le=60, why="two weekly rhythms; with fewer than the window the confidence is medium"
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
    """What a volume does in a second: its unit, and the ways to count it, each of which adds reads and writes.

    No way counts too many; all of them added are never too few.
    """

    unit: str
    ways: tuple[tuple[Part, Part], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Reads and writes of all ways."""
        return tuple(chain.from_iterable(self.ways))


READ_BYTES: Final = Part("VolumeReadBytes", "bytes", MIB)
WRITTEN_BYTES: Final = Part("VolumeWriteBytes", "bytes", MIB)
READS: Final = Part("VolumeReadOps", "operations", 1)
WRITES: Final = Part("VolumeWriteOps", "operations", 1)

BYTES: Final = Measure("MiB/s", ((READ_BYTES, WRITTEN_BYTES),))
OPERATIONS: Final = Measure("IOPS", ((READS, WRITES),))
CONSUMED: Final = Measure(
    "IOPS", ((READS, WRITES), (replace(READ_BYTES, per=256 * KIB), replace(WRITTEN_BYTES, per=256 * KIB)))
)
"""Operations as EBS counts them, a large one once for each 256 KiB of it."""


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
        """What its busiest minute had at least."""
        return max(self._surely.present, default=0)

    @property
    def counted(self) -> float:
        """What its busiest minute had at most, counted the one way or the other and not both; what is consumed may be more."""
        if len(self.measure.ways) == 1:
            return self.most
        return max(max(self._together(way).present, default=0) for way in self.measure.ways)

    @property
    def most(self) -> float:
        """What its busiest minute had at most; on Xen the mean of its busiest five minutes."""
        return max(self.together.present, default=0)

    def days_at(self, rate: float) -> int:
        """On how many days its busiest minute surely had as much."""
        return sum(value >= rate for value in _daily(self._surely).present)

    @cached_property
    def together(self) -> Series:
        """All parts added, a second; one without a point counts as nothing, all without one as missing."""
        return self._together(self.measure.parts)

    @cached_property
    def _surely(self) -> Series:
        """What it had at least, a second: by the day that of reads alone, or of writes; closer, or on Xen, of both together.

        The maximum of a Multi-Attach volume may be that of all its instances.
        """
        if self.xen and len(self.measure.ways) == 1:
            return self.together
        if self.xen or self.closer:
            return _greatest([self._added([(part, self._by_five_minutes(part)) for part in way]) for way in self.measure.ways])
        return _greatest([self._added([(part, self._by_day(part))]) for part in self.measure.parts])

    def _together(self, parts: Sequence[Part]) -> Series:
        """These parts added, never too few: the maximum of a Multi-Attach volume may be that of one instance."""
        instances = len(self.volume.attachments) if self.volume.multi_attach else 1
        if self.xen:
            return self._added([(part, self._by_five_minutes(part)) for part in parts])
        if not self.closer:
            return self._added([(part, self._by_day(part)) for part in parts], instances)
        return self._added([(part, _bounded(self._by_five_minutes(part), self._by_day(part))) for part in parts], instances)

    @property
    def lost(self) -> Unknown:
        """Why nobody can tell between `least` and `counted`, looked at closer."""
        if self.volume.multi_attach:
            return Unknown(f"{self._names} may cover only one of its instances, and all together may have needed more")
        missing = max(self._by_five_minutes(part).missing for part in self.measure.parts)
        return Unknown(f"{self._names} lacks {missing:,} five-minute points, and it may have needed more in one of them")

    @property
    def days(self) -> int:
        """How many whole days CloudWatch watched; on Xen about as many."""
        if self.xen:
            points = min(len(self._watched(self._by_five_minutes(part)).present) for part in (READS, WRITES))
            return round(points * FIVE_MINUTES_S / DAY_S)
        return min(len(self._watched(self._by_day(part)).present) for part in self.measure.parts)

    def hole(self, by_day: Series) -> str | None:
        """Where a metric by the day has a hole that may hide what matters; words for it."""
        return hole_words(self._watched(by_day), self._demanded, self._started_at)

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
        return ("Five-minute averages hide shorter bursts.",) if self.xen else ()

    @property
    def lowering_caveats(self) -> tuple[str, ...]:
        """The same, where a setting is lowered by it."""
        return self.caveats or (SECONDS,)

    def evidence(self, scale: float, *lines: Line) -> Evidence:
        """The busiest of every day, against what `scale` is, and these levels."""
        return Evidence(
            label=f"Busiest {self.span}",
            value=round(self.most, 1),
            unit=self.measure.unit,
            series=self.by_day,
            scale=scale,
            lines=lines,
        )

    @property
    def by_day(self) -> Series:
        """The busiest of every day, at most."""
        return _daily(self.together)

    def _by_day(self, part: Part) -> Series:
        return self.seen[self._need(part.peak, DAY_S)]

    def _by_five_minutes(self, part: Part) -> Series:
        return self.seen[self._need(part.total if self.xen else part.peak, FIVE_MINUTES_S)]

    def _watched(self, series: Series) -> Series:
        return self.seen.finished(series, self._attached_at)

    @property
    def _attached_at(self) -> datetime:
        return max([self.volume.created_at, *(one.attached_at for one in self.volume.attachments if one.attached_at)])

    @property
    def _started_at(self) -> datetime:
        """Since when one of its instances runs with it: what is missing before that was a stop."""
        found = [(one, self.seen.fleet.get(Instance, one.instance_id)) for one in self.volume.attachments]
        since = [max(on.launched_at, one.attached_at or on.launched_at) for one, on in found if on and on.state == "running"]
        return max(self.volume.created_at, min(since, default=self._attached_at))

    @property
    def _start(self) -> datetime:
        return self.seen.now - timedelta(days=self.limits.window_days)

    @property
    def _demanded(self) -> int:
        return min(self.limits.least_days, self.limits.window_days)

    @property
    def _doubt(self) -> Unknown | None:
        for part in self.measure.parts:
            by_day = self._by_day(part)
            if len(self._watched(by_day)) < self._demanded:
                return Unknown(f"it was attached less than {self._demanded} whole days ago")
            if words := self.hole(by_day):
                return Unknown(f"{part.name} {words}")
        return None

    @property
    def _doubt_on_xen(self) -> Unknown | None:
        least = self.seen.now - timedelta(days=self._demanded)
        if self._attached_at > least:
            return Unknown(f"it was attached less than {self._demanded} days ago")
        began = max(self._start, self._started_at, *(_first_at(self._by_five_minutes(part)) for part in (READS, WRITES)))
        for since in (least, min(least, began)):
            lost, points = self._lost_on_xen(since)
            if lost > LOST * points + LATE:
                return Unknown(f"{self._names} lacks {lost:,} of {points:,} five-minute points")
        return None

    def _lost_on_xen(self, since: datetime) -> tuple[int, int]:
        """How many points of those since then are missing; bytes only where there were operations."""
        reads, writes = (self._by_five_minutes(part).since(since.timestamp()) for part in (READS, WRITES))
        lost = max(reads.missing, writes.missing)
        for part in self.measure.parts:
            operations = reads if part.name in {READS.name, READ_BYTES.name} else writes
            moved = self._by_five_minutes(part).since(since.timestamp())
            if moved.missing > lost:
                lost = max(lost, sum(isnan(m) and o > 0 for m, o in zip(moved.values, operations.values, strict=True)))
        return lost, len(reads)

    @property
    def _names(self) -> str:
        return " or ".join(dict.fromkeys(need.metric.name for need in self.needs))

    def _added(self, parts: list[tuple[Part, Series]], times: int = 1) -> Series:
        """A second's sum of parts, so many times."""
        per_s = FIVE_MINUTES_S if self.xen else MINUTE_S
        first = parts[0][1]
        columns = [[value * times / per_s / part.per for value in series.values] for part, series in parts]
        return Series(first.start_s, first.period_s, _totals(columns))


def added(all_: Sequence[Series]) -> Series:
    """Point by point, as if all of them came at once; one without a point counts as nothing."""
    return Series(all_[0].start_s, all_[0].period_s, _totals([one.values for one in all_]))


def carrier(volume: Volume, seen: Seen) -> InstanceType | Fine | Unknown:
    """The type of the running instance that a volume is on; the answer where there is none to judge by."""
    if not volume.attachments:
        return Fine("it is not attached")
    found = [(one.instance_id, seen.fleet.get(Instance, one.instance_id)) for one in volume.attachments]
    for id_, instance in found:
        if instance is None:
            return Unknown(f"its instance {id_} is not in the inventory")
    instances = [instance for _, instance in found if instance]
    running = [instance for instance in instances if instance.state == "running"]
    if not running:
        return Fine(f"its instance is {instances[0].state}: there is no I/O to judge")
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
        Evidence(label=f"Limit of {kind.id}", value=round(mib_s, 1), unit="MiB/s"),
        Evidence(label=f"Limit of {kind.id}", value=kind.ebs_maximum_iops, unit="IOPS"),
    )


def _totals(columns: Sequence[Sequence[float]]) -> array[float]:
    """Row by row the sum of what is there, NaN where nothing is. NaN in any makes NaN of all: few rows are looked at twice."""
    totals = array("d", map(sum, zip(*columns, strict=True)))
    if any(map(isnan, totals)):
        for i, total in enumerate(totals):
            if isnan(total) and (there := [column[i] for column in columns if not isnan(column[i])]):
                totals[i] = sum(there)
    return totals


def _greatest(all_: list[Series]) -> Series:
    """The greatest of what is there, point by point."""
    first = all_[0]
    rows = ([value for value in row if not isnan(value)] for row in zip(*(one.values for one in all_), strict=True))
    return Series.of(first.start_s, first.period_s, [max(row, default=None) for row in rows])


def _bounded(five_minutes: Series, by_day: Series) -> Series:
    """Five-minute peaks; where points are missing the peak of their day stands in, which is never too low.

    Those that are scattered or late are left out, unless they are many.
    """
    days = [(five_minutes.start_s + i * FIVE_MINUTES_S - by_day.start_s) // DAY_S for i in range(len(five_minutes))]
    peaks = [by_day.values[day] for day in days]
    lost = [isnan(value) and not isnan(peak) for value, peak in zip(five_minutes.values, peaks, strict=True)]
    many = sum(lost) > LOST * len(lost) + LATE
    runs = ((missing, len([*run])) for missing, run in groupby(lost))
    stands_in = chain.from_iterable([missing and (many or length > LATE)] * length for missing, length in runs)
    values = (peak if fill else value for value, peak, fill in zip(five_minutes.values, peaks, stands_in, strict=True))
    return Series.of(five_minutes.start_s, FIVE_MINUTES_S, values)


def _first_at(series: Series) -> datetime:
    """When the first point that is there began; when the series did where none is."""
    return next((at for at, value in series.points() if value is not None), series.start)


def _daily(series: Series) -> Series:
    """The greatest of each day."""
    days = batched(series.values, DAY_S // series.period_s, strict=False)
    return Series.of(series.start_s, DAY_S, [max((value for value in day if not isnan(value)), default=None) for day in days])
