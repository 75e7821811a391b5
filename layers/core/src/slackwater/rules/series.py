"""Series: how to read them, how to treat missing points, and the levels to compare a chart with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched, groupby
from math import isnan
from typing import Final, NamedTuple

from slackwater.model.metrics import Dimensions, Metric, Need, Series
from slackwater.model.resources import Resource
from slackwater.model.units import DAY_S, HOUR_S
from slackwater.model.verdicts import Line


@dataclass(frozen=True, slots=True)
class Reader:
    """Requests metrics of a resource by its id. `more` are further dimensions, by a metric's name and statistic."""

    dimension: str
    more: Mapping[tuple[str, str], Dimensions] = field(default_factory=dict)

    def needs(self, resource: Resource, period_s: int, days: float, *metrics: Metric) -> list[Need]:
        """Return the needs for these metrics of the last `days`, with a point for each period."""
        of, more = (self.dimension, resource.id), self.more
        return [one.need(of, *more.get((one.name, one.stat), ()), period_s=period_s, days=days) for one in metrics]

    def daily(self, resource: Resource, days: float, *metrics: Metric) -> list[Need]:
        """Return the needs for these metrics of the last `days`, with a point for each day."""
        return self.needs(resource, DAY_S, days, *metrics)


class Gaps(NamedTuple):
    """The number of missing days."""

    holes: int  # after the first point; one of them may be the day that matters
    before: int  # before the first point, as if the resource were younger


def gaps(days: Series, demanded: int) -> Gaps:
    """Count the missing days. Each missing one of the newest `demanded` is a hole, even before the first point."""
    missing = [isnan(value) for value in days.values]
    begins = missing.index(False) if False in missing else len(missing)
    before = min(begins, max(0, len(missing) - demanded))
    return Gaps(sum(missing[before:]), before)


def hole_words(days: Series, demanded: int, began: datetime) -> str | None:
    """Return what is missing in the newest `demanded` days, or since the first point after `began`; None if nothing is.

    Days before `began`, when a volume was attached or its instance started, may be missing.
    """
    newest = days.values[-demanded:]
    if holes := demanded - len(newest) + sum(map(isnan, newest)):
        return f"has no data on {holes} of the last {demanded} days"
    known = days.since(began.timestamp())
    holes, before = gaps(known, 0)
    if not holes:
        return None
    first = known.start + before * timedelta(seconds=known.period_s)
    return f"has no data on {holes} of the {len(known) - before} days since {first:%Y-%m-%d}"


def whole_days(days: Series, counts: Series, slack: int = 0) -> Series:
    """Return the days with as many points (SampleCount) as the fullest day, or `slack` fewer. Others become missing."""
    least = max(counts.present, default=0) - slack
    pairs = zip(days.values, counts.values, strict=True)
    return Series.of(days.start_s, days.period_s, [day if count >= least else None for day, count in pairs])


def longest_gap(series: Series) -> int:
    """Return the most missing points in a row, including the newest points."""
    return max((len(list(run)) for missing, run in groupby(series.values, isnan) if missing), default=0)


def greatest(all_: Sequence[Series]) -> Series:
    """Return the highest present value, point by point. A point is missing only if every series lacks it."""
    rows = ([value for value in row if not isnan(value)] for row in zip(*(one.values for one in all_), strict=True))
    return Series.of(all_[0].start_s, all_[0].period_s, [max(row, default=None) for row in rows])


FEW: Final = 3  # CloudWatch may lose this many points in a row; a longer gap may hide something


def filled(series: Series) -> Series:
    """Fill each gap of up to `FEW` points with the value before it. Points before the first one stay missing."""
    values: list[float] = []
    for missing, run in groupby(series.values, isnan):
        points = list(run)
        values += [values[-1]] * len(points) if missing and values and len(points) <= FEW else points
    return Series.of(series.start_s, series.period_s, values)


MOST_MISSING, LONGEST_HOLE_S = 0.05, 3 * HOUR_S


def bridged(series: Series, pick: Callable[[Iterable[float]], float] = max) -> Series | None:
    """Fill holes with what `pick` chooses from the same time in other weeks, for advice that lowers a setting.

    Return None if more than 5 % of the points are missing, more than three hours in a row, or a time in all weeks.
    """
    if series.missing > MOST_MISSING * len(series) or longest_gap(series) * series.period_s > LONGEST_HOLE_S:
        return None
    values, week = list(series.values), 7 * DAY_S // series.period_s
    for i in [i for i, value in enumerate(values) if isnan(value)]:
        others = [value for value in series.values[i % week :: week] if not isnan(value)]
        if not others:
            return None
        values[i] = pick(others)
    return Series.of(series.start_s, series.period_s, values)


def baseline_and_burst(baseline: float, burst: float) -> tuple[Line, ...]:
    """Return the levels for a chart, in its unit; a single one if there is no burst."""
    if burst == baseline:
        return (Line("At most", round(baseline, 2)),)
    return Line("Baseline", round(baseline, 2)), Line("Burst", round(burst, 2))


def grouped(points: Series, period_s: int, pick: Callable[[Sequence[float]], float] = max) -> Series:
    """Return what `pick` chooses from each longer period's points. Findings store series, so charts must be short."""
    groups = ([v for v in some if not isnan(v)] for some in batched(points.values, period_s // points.period_s))
    return Series.of(points.start_s, period_s, [pick(some) if some else None for some in groups])
