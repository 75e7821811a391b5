"""Reads metrics with GetMetricData, hundreds per call, and validates every datapoint."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.errors import reason
from slackwater.aws.client.pages import PageNews, pages
from slackwater.model.metrics import Series
from slackwater.ports.errors import BrokenAnswerError
from slackwater.ports.metrics import MetricAnswer

if TYPE_CHECKING:
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.rate_limit import RateLimit
    from slackwater.aws.client.session import AwsSession
    from slackwater.engine.plan import MetricCall, MetricQuery
    from slackwater.model.resources import Target
    from slackwater.ports.metrics import Spending

ACTIONS: Final = frozenset({"cloudwatch:GetMetricData"})

NO_STATUS: Final = "NoStatus: CloudWatch does not say whether its answer is complete"
SHORT_RUN: Final = 8
"""Minimum average length, in datapoints, of runs without missing datapoints, for copying whole runs."""

SILENT: Final = "CloudWatch left this metric out of its answer"


@dataclass(slots=True)
class _Answer:
    """The result of one query so far. The last status applies, because the datapoints of one id can span pages.

    Attributes:
        points: The largest number of datapoints.
        whole: All datapoints, with NaN for missing ones. None until the first is stored, so that calls that wait for
            their responses need no memory for datapoints.
    """

    points: int
    whole: array[float] | None = None
    status: str = ""
    says: str = ""
    broken: str = ""

    @property
    def values(self) -> array[float]:
        """All datapoints, to read or to replace single ones. The first use allocates them."""
        if self.whole is None:
            self.whole = array("d", [nan]) * self.points
        return self.whole


class CloudWatchMetrics:
    """The metrics of one target.

    Thread-safe. When CloudWatch throttles, the client slows down all threads together.
    """

    def __init__(  # noqa: PLR0913 -- adapters and limits that the composition root sets
        self,
        session: AwsSession,
        target: Target,
        meter: CallMeter,
        concurrency: int = 8,
        *,
        rate_limit: RateLimit | None = None,
        spending: Spending | None = None,
    ) -> None:
        """Create the reader. Makes no call.

        `concurrency` is the maximum number of parallel calls. `spending` limits how many metrics can be requested.
        """
        self.concurrency = concurrency
        self._rate_limit = rate_limit
        self._spending = spending
        self._failed_in_a_row = 0
        self._session = session
        self._region = target.region
        self._meter = meter

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Make one call, and return a series for each query, or why there is none.

        Each series is on its query's own grid, with NaN for missing datapoints. The client retries each call. After
        `concurrency` failed calls in a row, CloudWatch is not called again, so that a scan without access ends.
        """
        if self._failed_in_a_row >= self.concurrency:
            return _all_failed(call, f"not asked, after {self.concurrency} calls in a row that failed")
        if self._spending and (why := self._spending.take(len(call.queries))):
            return _all_failed(call, why)
        if self._rate_limit:
            self._rate_limit.points(self._region, sum(query.points for query in call.queries))
        try:
            answer = self._fetch(call)
        except Exception as error:  # noqa: BLE001 -- the reason for every query of the call
            self._failed_in_a_row += 1
            return _all_failed(call, reason(error))
        self._failed_in_a_row = 0
        return answer

    def _fetch(self, call: MetricCall) -> MetricAnswer:
        self._meter.count_metrics(len(call.queries))
        ids = {f"q{n}": query for n, query in enumerate(call.queries)}
        grids = {period_s: _grid(call, period_s) for period_s in {query.period_s for query in call.queries}}
        answers = {id_: _Answer(query.points) for id_, query in ids.items()}
        results = pages(
            self._session.client("cloudwatch", self._region).get_metric_data,
            "MetricDataResults",
            watch=partial(_news, ids, answers, grids),
            MetricDataQueries=[_asked(id_, query) for id_, query in ids.items()],
            StartTime=datetime.fromtimestamp(call.window.start_s, UTC),
            EndTime=datetime.fromtimestamp(call.window.end_s, UTC),
            ScanBy="TimestampAscending",
        )
        for result in results:
            id_ = result.get("Id")
            if id_ not in ids:
                continue  # its metric is missing in the response, which is reported as a failure
            answer, query = answers[id_], ids[id_]
            times, points = result.get("Timestamps") or [], result.get("Values") or []
            if len(times) != len(points):
                answer.broken = f"{len(times)} times for {len(points)} values"
                continue
            self._meter.count_datapoints(len(points))
            _store_points(answer, grids[query.period_s], query.period_s, times, points)
            answer.status, answer.says = result.get("StatusCode", NO_STATUS), _messages(result)
        return _metric_answer(ids, answers)


def _all_failed(call: MetricCall, why: str) -> MetricAnswer:
    return MetricAnswer({}, dict.fromkeys(call.queries, why))


def _asked(id_: str, query: MetricQuery) -> dict[str, Any]:
    metric = query.metric
    return {
        "Id": id_,
        "MetricStat": {
            "Metric": {
                "Namespace": metric.namespace,
                "MetricName": metric.name,
                "Dimensions": [{"Name": name, "Value": value} for name, value in query.dimensions],
            },
            "Period": query.period_s,
            "Stat": metric.stat,
        },
    }


def _metric_answer(ids: Mapping[str, MetricQuery], answers: Mapping[str, _Answer]) -> MetricAnswer:
    series, failed = dict[Any, Series](), dict[Any, str]()
    for id_, query in ids.items():
        answer = answers[id_]
        if answer.broken:
            failed[query] = f"BrokenAnswer: {answer.broken}"
        elif answer.status == "Complete":
            series[query] = Series(query.window.start_s, query.period_s, answer.values)
        else:
            failed[query] = f"{answer.status}{answer.says}" if answer.status else SILENT
    return MetricAnswer(series, failed)


def _news(
    ids: Mapping[str, MetricQuery],
    answers: Mapping[str, _Answer],
    grids: Mapping[int, array[float]],
    results: Sequence[Any],
) -> PageNews:
    """Return whether a page of results has anything new.

    A metric with many datapoints, or with datapoints that CloudWatch is still collecting (`PartialData`), has results
    with the same id on several pages. Any of them can be without datapoints. But a page whose datapoints are all known
    is a repeated page.
    """
    news: PageNews = "nothing"
    for result in results:
        id_, times = result.get("Id"), result.get("Timestamps") or ()
        if id_ not in ids:
            continue
        values, grid, period_s = answers[id_].values, grids[ids[id_].period_s], ids[id_].period_s
        places = (int((_epoch_s(time) - grid[0]) // period_s) for time in times)
        if any(not 0 <= place < len(values) or isnan(values[place]) for place in places):
            return "new"  # or invalid, which `_store_points` reports
        if times:
            news = "repeated"
        elif news == "nothing" and result.get("StatusCode") != answers[id_].status:
            news = "new"
    return news


def _messages(result: Mapping[str, Any]) -> str:
    reasons = "; ".join(f"{message.get('Code')} {message.get('Value')}" for message in result.get("Messages") or ())
    return f": {reasons}" if reasons else ""


def _grid(call: MetricCall, period_s: int) -> array[float]:
    """Return the times, in epoch seconds, of the datapoints of a query with this period."""
    return array("d", range(call.window.start_s, call.window.end_s, period_s))


def _store_points(
    answer: _Answer, grid: array[float], period_s: int, times: Sequence[Any], points: Sequence[float]
) -> None:
    """Store datapoints at the positions of their times. A run without missing datapoints is copied at once.

    If one datapoint is wrong, the whole response is rejected.

    Raises:
        BrokenAnswerError: A datapoint is not a number, has a time that was not requested, or differs from an earlier
            one with the same time.
    """
    if not times:
        return
    if not isfinite(sum(points)):
        raise BrokenAnswerError("a value is not a number")
    first = int((_epoch_s(times[0]) - grid[0]) // period_s)
    of_it = slice(first, first + len(times)) if first >= 0 else slice(0)
    on_grid = isinstance(times, array) and grid[of_it].tobytes() == times.tobytes()
    if on_grid and isinstance(points, array) and not answer.status:
        if len(points) == answer.points and answer.whole is None:
            answer.whole = points
        else:
            answer.values[of_it] = points
        return
    values = answer.values
    if isinstance(times, array) and not answer.status and _copy_runs(values, grid, period_s, times, points):
        return
    even = grid[0] % period_s == 0  # otherwise the first period begins before the window does
    for time, point in zip(map(_epoch_s, times), points, strict=True):
        index = int((time - grid[0]) // period_s)
        if not 0 <= index < len(values) or (even and grid[index] != time):
            raise BrokenAnswerError(f"a point is of {_words(time)}, which was not asked for")
        if values[index] != point and not isnan(values[index]):
            raise BrokenAnswerError(f"there are two points of {_words(time)}")
        values[index] = point


def _copy_runs(
    values: array[float], grid: array[float], period_s: int, times: array[float], points: Sequence[float]
) -> bool:
    """Copy each run without missing datapoints at once.

    If times ascend, a bisection finds the end of a run: from there on, times are later than the run's would be. The
    comparison with the grid detects times that do not ascend. In that case, `_store_points` stores all datapoints again
    at the same positions.

    Returns:
        False if the runs are short, or a time is not on the grid.
    """
    place, end, given = 0, len(times), array("d", points)
    for _ in range(end // SHORT_RUN + 1):
        index = int((times[place] - grid[0]) // period_s)
        if index < 0:
            return False
        ahead = partial(_ahead, times, place, period_s)
        stop = bisect_left(range(end), 1, place + 1, key=ahead)
        here, there = slice(place, stop), slice(index, index + stop - place)
        if grid[there].tobytes() != times[here].tobytes():
            return False
        values[there] = given[here]
        place = stop
        if place == end:
            return True
    return False


def _ahead(times: array[float], place: int, period_s: int, at: int) -> bool:
    """Return whether a time is later than it would be in a run that begins at `place`."""
    return times[at] - times[place] > (at - place) * period_s


def _words(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}"


def _epoch_s(time: float | datetime) -> float:
    """Return epoch seconds. Slackwater's JSON parser keeps numbers, but botocore's parsers return datetimes."""
    return time.timestamp() if isinstance(time, datetime) else time
