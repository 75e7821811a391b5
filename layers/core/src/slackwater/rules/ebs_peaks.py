"""A volume's busiest minute: which metrics show it, and when they are complete enough to count.

On Nitro, CloudWatch has the busiest minute of each day. The sum of those of reads and of writes is never too low, but
they may be hours apart. The busiest minute of every five minutes settles that. On Xen there are no maxima, and bytes
have no point while there are none (Amazon EBS User Guide, "Amazon CloudWatch metrics for Amazon EBS"). Sums of five
minutes replace them. Operations always have a point, so they show that CloudWatch was recording.

EBS counts an operation once per 256 KiB, and CloudWatch may count it once. EBS counts at least as many as there are
operations, at least as many as there are 256 KiB, and at most the sum of both.
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
from slackwater.rules import ebs
from slackwater.rules.series import hole_words

IOPS_EXCEEDED: Final = Metric("AWS/EBS", "VolumeIOPSExceededCheck", "Maximum", "0 or 1")
THROUGHPUT_EXCEEDED: Final = Metric("AWS/EBS", "VolumeThroughputExceededCheck", "Maximum", "0 or 1")

SECONDS: Final = "One-minute averages hide shorter bursts above the proposed limit."

LOST, LATE = 1 / 200, 3
"""The share of five-minute points that CloudWatch may lose, and how many may be late, while it is recording."""


class PeakLimits(Limits):
    """How far back the busiest minute counts, and what is kept above it."""

    window_days: int = limit(
        35, unit="days", ge=7, le=60, why="longer than a month, for a monthly job; five-minute points are kept 63 days"
    )
    least_days: int = limit(
        14, unit="days", ge=7, le=60, why="two weekly rhythms; with fewer than the window the confidence is medium"
    )
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")


@dataclass(frozen=True, slots=True)
class Part:
    """Reads or writes, in operations or bytes. `per` of them are one of the measure's unit."""

    name: str
    points: str
    per: float

    @property
    def peak(self) -> Metric:
        """The busiest minute, on Nitro."""
        return Metric("AWS/EBS", self.name, "Maximum", f"{self.points} a minute")

    @property
    def total(self) -> Metric:
        """The sum."""
        return Metric("AWS/EBS", self.name, "Sum", self.points)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a volume does per second.

    Attributes:
        unit: Its unit.
        ways: The ways to count it. Each adds reads and writes, and is never too high. Their sum is never too low.
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
"""Operations as EBS counts them, a large one once per 256 KiB."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """A measure of a volume over the window. Read its `needs` before you use anything else.

    Attributes:
        volume: The volume.
        measure: What to look at.
        seen: The metrics.
        limits: The window, and the days that CloudWatch must have recorded.
        xen: Whether its instance is on Xen.
        detailed: Whether to look at the busiest minute of every five minutes too.
    """

    volume: Volume
    measure: Measure
    seen: Seen
    limits: PeakLimits
    xen: bool
    detailed: bool = False

    @property
    def needs(self) -> tuple[Need, ...]:
        """The metrics."""
        if self.xen:
            metrics = dict.fromkeys(part.total for part in (*self.measure.parts, READS, WRITES))
            return tuple(self._need(metric, FIVE_MINUTES_S) for metric in metrics)
        periods = (DAY_S, FIVE_MINUTES_S) if self.detailed else (DAY_S,)
        return tuple(self._need(part.peak, period_s) for period_s in periods for part in self.measure.parts)

    def in_detail(self) -> Look:
        """The same by five minutes."""
        return replace(self, detailed=not self.xen)

    @property
    def unknown(self) -> Unknown | None:
        """The answer if CloudWatch did not record all days that count, else None."""
        return self._unknown_on_xen if self.xen else self._unknown_by_day

    @property
    def least(self) -> float:
        """The least that its busiest minute had."""
        return max(self._at_least.present, default=0)

    @property
    def counted(self) -> float:
        """The most that its busiest minute had, counted in one of the ways. EBS may count more."""
        if len(self.measure.ways) == 1:
            return self.most
        return max(max(self._sum(way).present, default=0) for way in self.measure.ways)

    @property
    def most(self) -> float:
        """The most that its busiest minute had. On Xen, the mean of its busiest five minutes."""
        return max(self.together.present, default=0)

    def days_at(self, rate: float) -> int:
        """On how many days its busiest minute had at least this rate."""
        return sum(value >= rate for value in _daily(self._at_least).present)

    @cached_property
    def together(self) -> Series:
        """The sum of all parts per second. A point is missing only if that of every part is."""
        return self._sum(self.measure.parts)

    @cached_property
    def _at_least(self) -> Series:
        """The least that it had, per second: by day the higher part, in detail or on Xen the sum.

        The maximum of a Multi-Attach volume may be that of all its instances.
        """
        if self.xen and len(self.measure.ways) == 1:
            return self.together
        if self.xen or self.detailed:
            ways = ([(part, self._by_five_minutes(part)) for part in way] for way in self.measure.ways)
            return _greatest([self._added(way) for way in ways])
        return _greatest([self._added([(part, self._by_day(part))]) for part in self.measure.parts])

    def _sum(self, parts: Sequence[Part]) -> Series:
        """The sum of these parts, never too low: the maximum of a Multi-Attach volume may be that of one instance."""
        instances = len(self.volume.attachments) if self.volume.multi_attach else 1
        if self.xen:
            return self._added([(part, self._by_five_minutes(part)) for part in parts])
        if not self.detailed:
            return self._added([(part, self._by_day(part)) for part in parts], instances)
        bounded = [(part, _bounded(self._by_five_minutes(part), self._by_day(part))) for part in parts]
        return self._added(bounded, instances)

    @property
    def undecided(self) -> Unknown:
        """The answer if a limit is between `least` and `counted`, in detail."""
        if self.volume.multi_attach:
            return Unknown(f"{self._names} may cover only one of its instances, and all together may have needed more")
        missing = max(self._by_five_minutes(part).missing for part in self.measure.parts)
        return Unknown(f"{self._names} lacks {missing:,} five-minute points, and it may have needed more there")

    @property
    def days(self) -> int:
        """How many whole days CloudWatch recorded. On Xen, about as many."""
        if self.xen:
            points = min(len(self._recorded(self._by_five_minutes(part)).present) for part in (READS, WRITES))
            return round(points * FIVE_MINUTES_S / DAY_S)
        return min(len(self._recorded(self._by_day(part)).present) for part in self.measure.parts)

    def hole(self, by_day: Series) -> str | None:
        """Words for missing days of a metric, if they may hide what matters."""
        return hole_words(self._recorded(by_day), self._required_days, self._started_at)

    def confidence(self, *, checked: bool) -> Confidence:
        """Low on Xen, high if nothing is missing. `checked` is whether the exceeded checks have all points too."""
        if self.xen:
            return "low"
        return "high" if checked and self.days >= self.limits.window_days else "medium"

    @property
    def span(self) -> str:
        """`minute of 35 days`: what was the busiest."""
        return f"{'five minutes' if self.xen else 'minute'} of {self.days} days"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the measure does not show."""
        return ("Five-minute averages hide shorter bursts.",) if self.xen else ()

    @property
    def lowering_caveats(self) -> tuple[str, ...]:
        """The same, for advice to lower a setting."""
        return self.caveats or (SECONDS,)

    def evidence(self, scale: float, *lines: Line) -> Evidence:
        """The busiest minute of each day, on a chart up to `scale` with these levels."""
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
        """The most of each day."""
        return _daily(self.together)

    def _need(self, metric: Metric, period_s: int) -> Need:
        return metric.need(("VolumeId", self.volume.id), period_s=period_s, days=self.limits.window_days)

    def _by_day(self, part: Part) -> Series:
        return self.seen.read(self._need(part.peak, DAY_S))[0]

    def _by_five_minutes(self, part: Part) -> Series:
        return self.seen.read(self._need(part.total if self.xen else part.peak, FIVE_MINUTES_S))[0]

    def _recorded(self, series: Series) -> Series:
        return self.seen.finished(series, ebs.attached_at(self.volume))

    @property
    def _started_at(self) -> datetime:
        """Since when one of its instances has been running with it. Points that are missing before are a stop."""
        found = [(one, self.seen.fleet.get(Instance, one.instance_id)) for one in self.volume.attachments]
        running = [(one, instance) for one, instance in found if instance and instance.state == "running"]
        since = (max(instance.launched_at, one.attached_at or instance.launched_at) for one, instance in running)
        return max(self.volume.created_at, min(since, default=ebs.attached_at(self.volume)))

    @property
    def _required_days(self) -> int:
        return min(self.limits.least_days, self.limits.window_days)

    @property
    def _unknown_by_day(self) -> Unknown | None:
        for part in self.measure.parts:
            by_day = self._by_day(part)
            if len(self._recorded(by_day)) < self._required_days:
                return Unknown(f"it was attached less than {self._required_days} whole days ago")
            if words := self.hole(by_day):
                return Unknown(f"{part.name} {words}")
        return None

    @property
    def _unknown_on_xen(self) -> Unknown | None:
        newest = self.seen.now - timedelta(days=self._required_days)
        if ebs.attached_at(self.volume) > newest:
            return Unknown(f"it was attached less than {self._required_days} days ago")
        window = self.seen.now - timedelta(days=self.limits.window_days)
        began = max(window, self._started_at, *(_first_at(self._by_five_minutes(part)) for part in (READS, WRITES)))
        for since in (newest, min(newest, began)):
            lost, points = self._lost_on_xen(since)
            if lost > LOST * points + LATE:
                return Unknown(f"{self._names} lacks {lost:,} of {points:,} five-minute points")
        return None

    def _lost_on_xen(self, since: datetime) -> tuple[int, int]:
        """How many points are missing since then, and of how many. Bytes count only if there were operations."""
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
        """The sum of parts per second, so many times."""
        per_s = FIVE_MINUTES_S if self.xen else MINUTE_S
        first = parts[0][1]
        columns = [[value * times / per_s / part.per for value in series.values] for part, series in parts]
        return Series(first.start_s, first.period_s, _totals(columns))


def added(all_: Sequence[Series]) -> Series:
    """Point by point the sum, as if all came at once. A missing point counts as 0."""
    return Series(all_[0].start_s, all_[0].period_s, _totals([one.values for one in all_]))


def carrier(volume: Volume, seen: Seen) -> InstanceType | Fine | Unknown:
    """The type of the running instance that has the volume, or the verdict if there is none."""
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
    """CloudWatch's exceeded checks, on each instance. Multi-Attach volumes and Xen have none."""
    if volume.multi_attach or xen:
        return ()
    return tuple(
        metric.need(("InstanceId", one.instance_id), ("VolumeId", volume.id), period_s=DAY_S, days=limits.window_days)
        for metric in metrics
        for one in volume.attachments
    )


def raised(needs: Iterable[Need], seen: Seen) -> bool:
    """Whether a check was 1, even once."""
    return any(max(series.present, default=0) >= 1 for series in seen.read(*needs))


def answered(needs: tuple[Need, ...], seen: Seen) -> bool:
    """Whether there are checks, and each has a point for every day."""
    return bool(needs) and not any(seen.finished(series, series.start).missing for series in seen.read(*needs))


def carried(kind: InstanceType) -> tuple[Evidence, ...]:
    """The maximum of an instance type, if EC2 publishes it."""
    if kind.ebs_maximum_mbps is None or kind.ebs_maximum_iops is None:
        return ()
    mib_s = kind.ebs_maximum_mbps * 1e6 / 8 / MIB
    return (
        Evidence(label=f"Limit of {kind.id}", value=round(mib_s, 1), unit="MiB/s"),
        Evidence(label=f"Limit of {kind.id}", value=kind.ebs_maximum_iops, unit="IOPS"),
    )


def _totals(columns: Sequence[Sequence[float]]) -> array[float]:
    """Row by row the sum of the present values, NaN if there are none. The fast sum is right for most rows."""
    totals = array("d", map(sum, zip(*columns, strict=True)))
    if any(map(isnan, totals)):
        for i, total in enumerate(totals):
            if isnan(total) and (there := [column[i] for column in columns if not isnan(column[i])]):
                totals[i] = sum(there)
    return totals


def _greatest(all_: list[Series]) -> Series:
    """The highest present value, point by point."""
    first = all_[0]
    rows = ([value for value in row if not isnan(value)] for row in zip(*(one.values for one in all_), strict=True))
    return Series.of(first.start_s, first.period_s, [max(row, default=None) for row in rows])


def _bounded(five_minutes: Series, by_day: Series) -> Series:
    """Five-minute peaks. The peak of the day, which is never too low, replaces missing points.

    A few scattered or late points stay missing.
    """
    days = [(five_minutes.start_s + i * FIVE_MINUTES_S - by_day.start_s) // DAY_S for i in range(len(five_minutes))]
    peaks = [by_day.values[day] for day in days]
    lost = [isnan(value) and not isnan(peak) for value, peak in zip(five_minutes.values, peaks, strict=True)]
    many = sum(lost) > LOST * len(lost) + LATE
    runs = ((missing, len([*run])) for missing, run in groupby(lost))
    replaced = chain.from_iterable([missing and (many or length > LATE)] * length for missing, length in runs)
    values = (peak if fill else value for value, peak, fill in zip(five_minutes.values, peaks, replaced, strict=True))
    return Series.of(five_minutes.start_s, FIVE_MINUTES_S, values)


def _first_at(series: Series) -> datetime:
    """When the first present point began. The start of the series if there is none."""
    return next((at for at, value in series.points() if value is not None), series.start)


def _daily(series: Series) -> Series:
    """The highest value of each day."""
    days = batched(series.values, DAY_S // series.period_s, strict=False)
    highest = [max((value for value in day if not isnan(value)), default=None) for day in days]
    return Series.of(series.start_s, DAY_S, highest)
