"""Series: missing points, and the levels to compare a chart with."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby, takewhile
from math import isnan
from typing import Final, NamedTuple

from slackwater.model.metrics import Series
from slackwater.model.verdicts import Line


class Gaps(NamedTuple):
    """Days without a point: holes in what was watched, and days before CloudWatch began to watch at all.

    A hole may hide the one day that matters; a beginning is like a resource that is younger.
    """

    holes: int
    before: int


def gaps(days: Series, demanded: int) -> Gaps:
    """Of finished days, the newest `demanded` of which have to be there; a younger resource has fewer."""
    missing = [isnan(value) for value in days.values]
    begins = missing.index(False) if False in missing else len(missing)
    before = min(begins, max(0, len(missing) - demanded))
    return Gaps(sum(missing[before:]), before)


def hole_words(days: Series, demanded: int, began: datetime) -> str | None:
    """Where finished days have a hole: among the newest `demanded`, or since `began` and the first point after; None without.

    What happened before `began` (it was attached, its instance was started) explains its own missing days.
    """
    newest = days.values[-demanded:]
    if holes := demanded - len(newest) + sum(map(isnan, newest)):
        return f"has no point on {holes} of the last {demanded} days"
    known = days.since(began.timestamp())
    holes, before = gaps(known, 0)
    if not holes:
        return None
    first = known.start + before * timedelta(seconds=known.period_s)
    return f"has no point on {holes} of the {len(known) - before} days since {first:%Y-%m-%d}"


FEW: Final = 3
"""Points without one between them; more of them are a hole, of which nobody knows."""


def filled(series: Series) -> Series:
    """The same, with what was there before in each gap of up to three points; missing points at the start stay missing."""
    values: list[float] = []
    for missing, run in groupby(series.values, isnan):
        points = list(run)
        values += [values[-1]] * len(points) if missing and values and len(points) <= FEW else points
    return Series.of(series.start_s, series.period_s, values)


def baseline_and_burst(baseline: float, burst: float) -> tuple[Line, ...]:
    """Both, in the picture's unit; one where there is no burst."""
    if burst == baseline:
        return (Line("At most", round(baseline, 2)),)
    return Line("Baseline", round(baseline, 2)), Line("Burst", round(burst, 2))


def complete_at_end(series: Series) -> int:
    """How many of the newest points are there without a missing one between them."""
    return sum(1 for _ in takewhile(lambda value: not isnan(value), reversed(series.values)))
