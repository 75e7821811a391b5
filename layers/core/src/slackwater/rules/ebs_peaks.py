"""A volume's busiest minute: which metrics show it, and when they are complete enough to count.

On Nitro, CloudWatch has the busiest minute of each day, for reads and for writes. Their sum is never too low, but they
may be hours apart. The busiest minute of each five minutes decides then. On Xen there are no maxima, and bytes have no
point while no bytes move (Amazon EBS User Guide, "Amazon CloudWatch metrics for Amazon EBS"). Five-minute sums replace
them. Operations always have a point, which shows that CloudWatch was recording.

EBS counts an operation once per 256 KiB, while CloudWatch may count it once. EBS counts at least the operations, at
least the bytes divided by 256 KiB, and at most the sum of both.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import batched, chain, groupby
from math import inf, isnan, nan
from typing import Final

from slackwater.model.detector import Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.quantities import duration_words
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Confidence, Evidence, Fine, Line, Unknown
from slackwater.rules import ebs
from slackwater.rules.series import bridged, greatest, grouped, hole_words

IOPS_EXCEEDED: Final = Metric("AWS/EBS", "VolumeIOPSExceededCheck", "Maximum", "0 or 1")
THROUGHPUT_EXCEEDED: Final = Metric("AWS/EBS", "VolumeThroughputExceededCheck", "Maximum", "0 or 1")
QUEUED: Final = 0.95  # one request, less the error of the measurement
# On Nitro, the longest queue of a minute; on Xen, which has no maxima, the mean of five minutes.
QUEUE: Final = [Metric("AWS/EBS", "VolumeQueueLength", statistic, "requests") for statistic in ("Maximum", "Average")]

CLOSER_S: Final = (HOUR_S, FIVE_MINUTES_S)  # shorter periods to read if the days do not decide
RECENT_DAYS: Final = 8  # their five minutes often show that a ceiling was reached, with a quarter of the points

LOST, LATE = 1 / 200, 3
"""The share of five-minute points that may be lost, and how many may be late, while CloudWatch is recording."""


class PeakLimits(Limits):
    """How far back the busiest minute counts, and what is kept above it."""

    window_days: int = limit(35, unit="days", ge=7, le=60, why="covers a monthly job; five-minute points last 63 days")
    least_days: int = limit(14, unit="days", ge=7, le=60, why="two weekly rhythms; below the window, medium confidence")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")


class SurplusLimits(PeakLimits):
    """How far below its setting a volume must stay."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="a load that doubles still fits")


@dataclass(frozen=True, slots=True)
class Part:
    """Reads or writes, in operations or bytes. One unit of the measure is `per` of them."""

    name: str
    points: str
    per: float

    @property
    def peak(self) -> Metric:
        """The metric of the busiest minute, on Nitro."""
        return Metric("AWS/EBS", self.name, "Maximum", f"{self.points} a minute")

    @property
    def total(self) -> Metric:
        """The metric of the sum."""
        return Metric("AWS/EBS", self.name, "Sum", self.points)


@dataclass(frozen=True, slots=True)
class Measure:
    """The throughput or the IOPS of a volume. Each way to count them adds reads and writes."""

    name: str  # as AWS calls it
    unit: str
    ways: tuple[tuple[Part, Part], ...]  # each one is never too high, and the sum of all is never too low

    @property
    def parts(self) -> tuple[Part, ...]:
        """Reads and writes of all ways."""
        return tuple(chain.from_iterable(self.ways))


READ_BYTES: Final = Part("VolumeReadBytes", "bytes", MIB)
WRITTEN_BYTES: Final = Part("VolumeWriteBytes", "bytes", MIB)
READS: Final = Part("VolumeReadOps", "operations", 1)
WRITES: Final = Part("VolumeWriteOps", "operations", 1)

BYTES: Final = Measure("throughput", "MiB/s", ((READ_BYTES, WRITTEN_BYTES),))
OPERATIONS: Final = Measure("IOPS", "IOPS", ((READS, WRITES),))
IN_UNITS: Final = (replace(READ_BYTES, per=256 * KIB), replace(WRITTEN_BYTES, per=256 * KIB))
CONSUMED: Final = Measure("IOPS", "IOPS", ((READS, WRITES), IN_UNITS))
"""Operations as EBS counts them: once per 256 KiB."""


@dataclass(frozen=True)
class Look:
    """A measure of a volume on an instance of this type. Read its `needs` before you use anything else.

    On Nitro, the busiest minute of each `period_s` counts: a day, an hour or five minutes. On Xen, five minutes count.
    """

    volume: Volume
    measure: Measure
    seen: Seen
    limits: PeakLimits
    kind: InstanceType
    period_s: int = DAY_S
    _needs: dict[tuple[str, int, float], Need] = field(default_factory=dict, repr=False, compare=False)

    @property
    def xen(self) -> bool:
        """Whether its instance is on Xen."""
        return self.kind.hypervisor == "xen"

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The metrics to read."""
        parts = self._with_operations if self.xen else self.measure.parts
        periods = (FIVE_MINUTES_S,) if self.xen else (DAY_S, self.period_s)
        return tuple(dict.fromkeys(self._need(part, period_s) for period_s in periods for part in parts))

    def by(self, period_s: int) -> "Look":
        """Return the same measure by shorter periods. On Xen the periods stay the same."""
        return self if self.xen else replace(self, period_s=period_s)

    @cached_property
    def unknown(self) -> Unknown | None:
        """The verdict if CloudWatch did not record all days that count; else None."""
        if self.xen:
            return self._unknown_on_xen
        for part in self.measure.parts:
            by_day = self._read(part, DAY_S)
            if len(self._recorded(by_day)) < self._required_days:
                return Unknown(f"it was attached less than {self._required_days} whole days ago")
            if words := self.hole(by_day):
                return Unknown(f"{part.name} {words}")
        return None

    @cached_property
    def least(self) -> float:
        """The lower bound of its busiest minute."""
        return max(self._at_least.present, default=0)

    @property
    def counted(self) -> float:
        """The upper bound of its busiest minute by any single way to count. EBS may count more."""
        return max(max(self._sum(way).present, default=0) for way in self.measure.ways)

    @cached_property
    def most(self) -> float:
        """The upper bound of its busiest minute. On Xen, the mean of its busiest five minutes."""
        return max(self.together.present, default=0)

    def days_at(self, rate: float, queue: Series, *, unknown: bool = False) -> int:
        """Return how many days have this rate and waiting requests. If `unknown`, a missing queue counts as waiting.

        A volume at its limit always has a request (Little's law). A program that chooses the same rate leaves pauses.
        """
        pairs = zip(self._at_least.values, queue.values, strict=True)
        at_limit = [have >= rate and (length >= QUEUED or (unknown and isnan(length))) for have, length in pairs]
        return sum(day > 0 for day in grouped(Series.of(queue.start_s, FIVE_MINUTES_S, at_limit), DAY_S).present)

    def recently(self, rate: float) -> dict[Part, Need]:
        """Return the five-minute needs of the time since the newest day that may have had this rate, if it is short."""
        ways = {} if self.xen else {way: reversed(self._sum(way).values) for way in self.measure.ways}
        ages = {way: next((age for age, v in enumerate(days, 1) if v >= rate), inf) for way, days in ways.items()}
        found = [(part, age) for way, age in ages.items() if age <= RECENT_DAYS for part in way]
        return {part: self._need(part, FIVE_MINUTES_S, age) for part, age in found}

    def had(self, rate: float, recently: Mapping[Part, Need]) -> bool:
        """Return whether those days show this rate: reads and writes together, in any way to count them."""
        ways = batched(map(self._rate, recently, self.seen.read(*recently.values())), 2)
        return any(max(added(way).present, default=0) >= rate for way in ways)

    @cached_property
    def together(self) -> Series:
        """The sum of all parts per second. A point is missing only if every part lacks it."""
        return self._sum(self.measure.parts)

    @cached_property
    def _at_least(self) -> Series:
        """The lower bound per second: by day or hour the higher part, by five minutes the sum.

        The maximum of a Multi-Attach volume may be that of all its instances together.
        """
        if not self.xen and self.period_s > FIVE_MINUTES_S:
            return greatest([self._rate(part, self._read(part, DAY_S)) for part in self.measure.parts])
        ways = ([self._rate(part, self._read(part, FIVE_MINUTES_S)) for part in way] for way in self.measure.ways)
        return greatest([added(way) for way in ways])

    def _sum(self, parts: Sequence[Part]) -> Series:
        """Return an upper bound of the parts' sum. The maximum of a Multi-Attach volume may be of one instance only."""
        times = len(self.volume.attachments) if self.volume.multi_attach and not self.xen else 1
        return added([self._rate(part, self._filled[part][0], times) for part in parts])

    @cached_property
    def holes(self) -> tuple[str, ...]:
        """Caveats about short holes, which are filled with the same time of another week."""
        period_s = FIVE_MINUTES_S if self.xen else self.period_s
        return tuple(
            f"{part.name} has no data for {duration_words(points * period_s)} of the last {self.limits.window_days}"
            " days. The same time of another week stands for it."
            for part, (_, points) in self._filled.items()
            if points
        )

    @cached_property
    def _filled(self) -> dict[Part, tuple[Series, int]]:
        """The series of each part, and how many of its points are from another week."""
        if self.xen:
            return {part: self._filled_on_xen(part) for part in self.measure.parts}
        by_day = {part: self._read(part, DAY_S) for part in self.measure.parts}
        if self.period_s == DAY_S:
            return {part: (peaks, 0) for part, peaks in by_day.items()}
        return {part: _bounded(self._read(part, self.period_s), peaks) for part, peaks in by_day.items()}

    @property
    def undecided(self) -> Unknown:
        """The verdict if a limit is between `least` and `counted` even by five minutes."""
        if self.volume.multi_attach:
            return Unknown(f"{self._names} may cover only one of its instances, and all together may have needed more")
        missing = max(self._read(part, FIVE_MINUTES_S).missing for part in self.measure.parts)
        return Unknown(f"{self._names} lacks {missing:,} five-minute points, and it may have needed more there")

    @cached_property
    def days(self) -> int:
        """How many whole days CloudWatch recorded; on Xen, an approximation."""
        parts, period_s = ((READS, WRITES), FIVE_MINUTES_S) if self.xen else (self.measure.parts, DAY_S)
        points = min(len(self._recorded(self._read(part, period_s)).present) for part in parts)
        return round(points * period_s / DAY_S)

    def while_active(self, by_day: Series) -> Series:
        """Return a metric that is published only during I/O, with infinity instead of missing on days without I/O."""
        active = replace(self, measure=OPERATIONS).together if self.xen else self.together
        starts = range(by_day.start_s, by_day.end_s, DAY_S)
        quiet = (max(active.between(start_s, start_s + DAY_S).present, default=nan) == 0 for start_s in starts)
        known = [inf if isnan(value) and idle else value for value, idle in zip(by_day.values, quiet, strict=True)]
        return Series.of(by_day.start_s, DAY_S, known)

    def hole(self, by_day: Series) -> str | None:
        """Return which days of a metric are missing, if that matters; None if it does not."""
        return hole_words(self._recorded(by_day), self._required_days, self._started_at)

    def confidence(self, *, checked: bool) -> Confidence:
        """Return low on Xen, high if nothing is missing. `checked` says whether the exceeded checks have all points."""
        if self.xen:
            return "low"
        return "high" if checked and self.days >= self.limits.window_days and not self.holes else "medium"

    @property
    def span(self) -> str:
        """What the busiest time is: `minute of 35 days`."""
        return f"{'five minutes' if self.xen else 'minute'} of {self.days} days"

    @property
    def lowering_caveats(self) -> tuple[str, ...]:
        """What the measure does not show. Recommendations that lower nothing need only `holes`, and Xen's caveat."""
        minutes = "One-minute averages hide shorter bursts above the proposed limit."
        return ("Five-minute averages hide shorter bursts." if self.xen else minutes, *self.holes)

    def evidence(self, scale: float, *lines: Line) -> Evidence:
        """Return evidence: the busiest minute of each day, with a chart up to `scale` and these levels."""
        return Evidence(f"Busiest {self.span}", round(self.most, 1), self.measure.unit, self.by_day, scale, lines)

    @cached_property
    def by_day(self) -> Series:
        """The upper bound of each day."""
        return grouped(self.together, DAY_S)

    def _need(self, part: Part, period_s: int, days: float = 0) -> Need:
        if (need := self._needs.get((part.name, period_s, days))) is None:  # a judgement asks for it many times
            metric = part.total if self.xen else part.peak
            (need,) = ebs.needs(self.volume, period_s, days or self.limits.window_days, metric)
            self._needs[part.name, period_s, days] = need
        return need

    def _read(self, part: Part, period_s: int) -> Series:
        return self.seen.read(self._need(part, period_s))[0]

    def _recorded(self, series: Series) -> Series:
        return self.seen.finished(series, ebs.attached_at(self.volume))

    @cached_property
    def _started_at(self) -> datetime:
        """Since when one of its instances has been running with it. Before that, points are missing due to a stop."""
        found = [(one, self.seen.fleet.get(Instance, one.instance_id)) for one in self.volume.attachments]
        running = [(one, instance) for one, instance in found if instance and instance.state == "running"]
        since = (max(instance.launched_at, one.attached_at or instance.launched_at) for one, instance in running)
        return max(self.volume.created_at, min(since, default=ebs.attached_at(self.volume)))

    @property
    def _required_days(self) -> int:
        return min(self.limits.least_days, self.limits.window_days)

    @property
    def _with_operations(self) -> tuple[Part, ...]:
        """The parts and the operations, which always have a point on Xen."""
        return (READS, WRITES, *self.measure.parts)

    @property
    def _unknown_on_xen(self) -> Unknown | None:
        if ebs.attached_at(self.volume) > self.seen.now - timedelta(days=self._required_days):
            return Unknown(f"it was attached less than {self._required_days} days ago")
        for since, (lost, points) in self._lost_on_xen.items():
            if not all(bridged(self._since(part, since)) for part in self._with_operations):
                return Unknown(f"{self._names} lacks {lost:,} of {points:,} five-minute points")
        return None

    @cached_property
    def _lost_on_xen(self) -> dict[datetime, tuple[int, int]]:
        """Times since when more points are missing than CloudWatch may lose, each with that number and all points.

        This checks the required days, and all days since the instance started.
        """
        newest, window = (self.seen.now - timedelta(days=n) for n in (self._required_days, self.limits.window_days))
        operations = (self._read(part, FIVE_MINUTES_S) for part in (READS, WRITES))
        firsts = (next((at for at, value in one.points() if value is not None), one.start) for one in operations)
        found = {}
        for since in (newest, min(newest, max(window, self._started_at, *firsts))):
            parts = [self._since(part, since) for part in self._with_operations]
            lost, points = max(part.missing for part in parts), len(parts[0])
            if lost > LOST * points + LATE:
                found[since] = lost, points
        return found

    def _since(self, part: Part, since: datetime) -> Series:
        """Return a part on Xen since this time. Bytes are 0 in points without operations."""
        operations = READS if part.name in {READS.name, READ_BYTES.name} else WRITES
        moved, done = (self._read(one, FIVE_MINUTES_S).since(since.timestamp()) for one in (part, operations))
        pairs = zip(moved.values, done.values, strict=True)
        return Series.of(moved.start_s, FIVE_MINUTES_S, [0.0 if isnan(m) and o == 0 else m for m, o in pairs])

    def _filled_on_xen(self, part: Part) -> tuple[Series, int]:
        whole = self._read(part, FIVE_MINUTES_S)
        if not self._lost_on_xen:
            return whole, 0
        holes = self._since(part, min(self._lost_on_xen))
        known = bridged(holes) or holes
        older = whole.values[: len(whole) - len(known)]
        return Series(whole.start_s, FIVE_MINUTES_S, older + known.values), holes.missing - known.missing

    @property
    def _names(self) -> str:
        return " or ".join(dict.fromkeys(need.metric.name for need in self.needs))

    def _rate(self, part: Part, series: Series, times: int = 1) -> Series:
        """Return a part per second, multiplied by `times`."""
        return series.over((FIVE_MINUTES_S if self.xen else MINUTE_S) * part.per / times)


def below(look: Look, ceiling: float, needs: tuple[Need, ...], *periods_s: int) -> Look | Fine | Unknown:
    """Return the measure if its busiest minute stayed below a ceiling, in the measure's unit; else the verdict.

    `needs` are the exceeded checks, none of which may have been raised. `periods_s` are shorter periods to read, the
    longest first, because the peaks of reads and writes may be hours apart.
    """
    if why := above(look, ceiling):
        return why
    used = Fine(f"it used its {look.measure.name}, reads and writes together")
    for period_s in periods_s:
        recently = {}
        if look.counted >= ceiling:
            recently = look.recently(ceiling) if period_s > FIVE_MINUTES_S else {}
            closer = look.by(period_s)
            look.seen.read(*closer.needs, *needs, *recently.values())
            reached, look = look.had(ceiling, recently), closer
        if raised(needs, look.seen):
            return Fine("CloudWatch saw it exceed its limit")
        if recently and reached and look.counted >= ceiling:
            return used
    if look.counted < ceiling:
        return look
    return used if look.least >= ceiling else look.undecided


def above(look: Look, ceiling: float, *besides: Need) -> Fine | Unknown | None:
    """Return the verdict if too little was recorded, or reads or writes alone reached a ceiling. Read `besides` too."""
    look.seen.read(*look.needs, *besides)
    return look.unknown or (Fine(f"it used its {look.measure.name}") if look.least >= ceiling else None)


def added(all_: Sequence[Series]) -> Series:
    """Return the sum, point by point. A missing point counts as 0 unless all are missing."""
    columns = [one.values for one in all_]
    totals = array("d", map(sum, zip(*columns, strict=True)))
    if any(map(isnan, totals)):  # the fast sum above is right for most rows
        for i, total in enumerate(totals):
            if isnan(total) and (there := [column[i] for column in columns if not isnan(column[i])]):
                totals[i] = sum(there)
    return Series(all_[0].start_s, all_[0].period_s, totals)


def checks(look: Look, *metrics: Metric) -> tuple[Need, ...]:
    """Return CloudWatch's exceeded checks on each instance; empty for Multi-Attach volumes and Xen."""
    volume, days = look.volume, look.limits.window_days
    if volume.multi_attach or look.xen:
        return ()
    return tuple(
        metric.need(("InstanceId", one.instance_id), ("VolumeId", volume.id), period_s=DAY_S, days=days)
        for metric in metrics
        for one in volume.attachments
    )


def raised(needs: Iterable[Need], seen: Seen) -> bool:
    """Return whether a check was 1, even once."""
    return any(max(series.present, default=0) >= 1 for series in seen.read(*needs))


def answered(needs: Sequence[Need], seen: Seen) -> bool:
    """Return whether there are checks and each has a point for every day."""
    return bool(needs) and not any(seen.finished(series, series.start).missing for series in seen.read(*needs))


def _bounded(finer: Series, by_day: Series) -> tuple[Series, int]:
    """Return the peaks of shorter periods without holes, and how many of them are from another week.

    A few scattered or late points stay missing. The same time of another week fills short holes of a day whose peak is
    in another point. The peak of the day, which is never too low, fills the others.
    """
    days = [(finer.start_s + i * finer.period_s - by_day.start_s) // DAY_S for i in range(len(finer))]
    peaks = [by_day.values[day] for day in days]
    lost = [isnan(value) and not isnan(peak) for value, peak in zip(finer.values, peaks, strict=True)]
    many = sum(lost) > LOST * len(lost) + LATE
    runs = ((missing, len([*run])) for missing, run in groupby(lost))
    replaced = chain.from_iterable([missing and (many or length > LATE)] * length for missing, length in runs)
    if not (holes := [i for i, hole in enumerate(replaced) if hole]):
        return finer, 0
    first = next((i for i, value in enumerate(finer.values) if not isnan(value)), 0)
    known = bridged(finer.since(finer.start_s + first * finer.period_s))
    shown = {day for day, value, peak in zip(days, finer.values, peaks, strict=True) if known and value >= peak}
    values = finer.values[:]
    for i in holes:
        values[i] = known.values[i - first] if known and i >= first and days[i] in shown else peaks[i]
    return Series(finer.start_s, finer.period_s, values), sum(i >= first and days[i] in shown for i in holes)
