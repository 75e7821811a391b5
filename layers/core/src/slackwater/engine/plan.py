"""Packs the metrics that detectors need into as few GetMetricData calls as CloudWatch's limits allow.

Limits: Amazon CloudWatch User Guide, "CloudWatch service quotas" (500 queries and 100,800 points a call), and the
retention of metrics in "Metrics" (60 s points are kept 15 days, 300 s points 63 days, 3,600 s points 455 days). If a
period is too short for the start of its window, CloudWatch returns no points and no error. So this module refuses such
a need.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from slackwater.model.metrics import Dimensions, Metric, Need
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S

MAX_QUERIES: Final = 500
MAX_POINTS: Final = 100_800

RETENTION_DAYS: Final = ((MINUTE_S, 15), (FIVE_MINUTES_S, 63), (HOUR_S, 455))
"""For how many days CloudWatch keeps points, by their shortest period."""


class TooFineError(ValueError):
    """CloudWatch does not keep points of this period for so long, and would return none."""


class Window(NamedTuple):
    """A time window in epoch seconds. The end is exclusive; both are on a boundary of the periods in it."""

    start_s: int
    end_s: int


class MetricQuery(NamedTuple):
    """One metric with one period in one window: a need at a given time."""

    metric: Metric
    dimensions: Dimensions
    period_s: int
    window: Window

    @property
    def points(self) -> int:
        """The largest number of points that the result can have."""
        return (self.window.end_s - self.window.start_s) // self.period_s


@dataclass(frozen=True, slots=True)
class MetricCall:
    """Queries that one GetMetricData call answers in one page."""

    window: Window
    queries: tuple[MetricQuery, ...]


def window_of(need: Need, now: datetime) -> Window:
    """Return the window of a need, in whole periods.

    If the period is a day, the window includes today, so that use that began this morning is visible. If it is shorter,
    the window only includes finished periods, because the rate of an unfinished period is too low.

    Raises:
        TooFineError: CloudWatch does not keep this period for so long.
    """
    window, kept_days = _window(need.period_s, need.days, now)
    if window is None:
        raise TooFineError(
            f"{need.metric.name} by {need.period_s} s is kept for {kept_days} days, and {need.days:g} were asked for"
        )
    return window


@lru_cache(256)
def _window(period_s: int, days: float, now: datetime) -> tuple[Window | None, int]:
    """Return the window (None if CloudWatch no longer keeps it), and for how many days it keeps such points.

    Cached, because thousands of needs have the same window.
    """
    now_s = int(now.timestamp())
    end_s = -(-now_s // DAY_S) * DAY_S if period_s == DAY_S else now_s // period_s * period_s
    span_s = int(days * DAY_S)
    start_s = (now_s - span_s) // DAY_S * DAY_S if period_s == DAY_S else end_s - span_s
    kept_days = max((kept for finest_s, kept in RETENTION_DAYS if period_s % finest_s == 0), default=0)
    return (Window(start_s, end_s) if now_s - start_s <= kept_days * DAY_S else None), kept_days


def query_of(need: Need, now: datetime) -> MetricQuery:
    """Return the CloudWatch query for a need."""
    return MetricQuery(need.metric, need.dimensions, need.period_s, window_of(need, now))


class Packer:
    """Packs single queries into calls, each as full as the limits allow."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: defaultdict[tuple[Window, int], list[MetricQuery]] = defaultdict(list)

    def add(self, query: MetricQuery) -> MetricCall | None:
        """Queue a query. Return its call if it is now full; else None."""
        queue = self._waiting[query.window, query.period_s]
        queue.append(query)
        if len(queue) < min(MAX_QUERIES, max(1, MAX_POINTS // query.points)):
            return None
        del self._waiting[query.window, query.period_s]
        return MetricCall(query.window, tuple(queue))

    def flush(self) -> list[MetricCall]:
        """Return calls for all queued queries. Periods of one window share calls (first fit, largest first)."""
        bins: defaultdict[Window, list[_Bin]] = defaultdict(list)
        for queue in sorted(self._waiting.values(), key=lambda queue: -queue[0].points):
            for query in queue:
                of_window = bins[query.window]
                if not any(bin_.take(query) for bin_ in of_window):
                    of_window.append(_Bin(query))
        self._waiting.clear()
        return [MetricCall(window, tuple(bin_.queries)) for window, of_window in bins.items() for bin_ in of_window]


class _Bin:
    def __init__(self, query: MetricQuery) -> None:
        self.queries = [query]
        self.points = query.points

    def take(self, query: MetricQuery) -> bool:
        if len(self.queries) == MAX_QUERIES or self.points + query.points > MAX_POINTS:
            return False
        self.queries.append(query)
        self.points += query.points
        return True
