"""Reads metrics by GetMetricData: one call for hundreds of metrics, and no point that is not CloudWatch's own."""

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
"""Points that a run without holes has on average, at least, to be put in one piece."""

SILENT: Final = "CloudWatch left this metric out of its answer"


@dataclass(slots=True)
class _Answer:
    """What has come of one query so far; the last status holds, because points of one Id may span pages."""

    values: array[float]
    status: str = ""
    says: str = ""
    broken: str = ""


class CloudWatchMetrics:
    """The metrics of one target.

    Thread-safe: a client slows all its threads down together when CloudWatch throttles.
    """

    def __init__(  # noqa: PLR0913 -- its adapters and limits, each given by the composition root
        self,
        session: AwsSession,
        target: Target,
        meter: CallMeter,
        concurrency: int = 8,
        *,
        rate_limit: RateLimit | None = None,
        spending: Spending | None = None,
    ) -> None:
        """`concurrency` is how many calls may be on their way at once, `spending` what may be asked at all.

        Makes no call.
        """
        self.concurrency = concurrency
        self._rate_limit = rate_limit
        self._spending = spending
        self._failed_in_a_row = 0
        self._session = session
        self._region = target.region
        self._meter = meter

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Answer one call: a series on each query's own grid, NaN where CloudWatch has no point, or why there is none.

        Each call is retried for as long as its client retries. When as many calls as may be on their way have failed
        with none between them that worked, CloudWatch is not asked again: a scan that is refused must end.
        """
        if self._failed_in_a_row >= self.concurrency:
            return _none(call, f"not asked, after {self.concurrency} calls in a row that failed")
        if self._spending and (why := self._spending.take(len(call.queries))):
            return _none(call, why)
        if self._rate_limit:
            self._rate_limit.points(self._region, sum(query.points for query in call.queries))
        try:
            answer = self._fetch(call)
        except Exception as error:  # noqa: BLE001 -- whatever broke is the reason of every query of the call
            self._failed_in_a_row += 1
            return _none(call, reason(error))
        self._failed_in_a_row = 0
        return answer

    def _fetch(self, call: MetricCall) -> MetricAnswer:
        self._meter.count_metrics(len(call.queries))
        ids = {f"q{n}": query for n, query in enumerate(call.queries)}
        grids = {period_s: _grid(call, period_s) for period_s in {query.period_s for query in call.queries}}
        answers = {id_: _Answer(array("d", [nan]) * query.points) for id_, query in ids.items()}
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
                continue  # the metric that it belongs to is left out of the answer, and fails as such
            answer, query = answers[id_], ids[id_]
            times, points = result.get("Timestamps") or [], result.get("Values") or []
            if len(times) != len(points):
                answer.broken = f"{len(times)} times for {len(points)} values"
                continue
            self._meter.count_datapoints(len(points))
            _lay(answer, grids[query.period_s], query.period_s, times, points)
            answer.status, answer.says = result.get("StatusCode", NO_STATUS), _messages(result)
        return _sorted_out(ids, answers)


def _none(call: MetricCall, why: str) -> MetricAnswer:
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


def _sorted_out(ids: Mapping[str, MetricQuery], answers: Mapping[str, _Answer]) -> MetricAnswer:
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
    """What a page of results tells that was not known.

    A metric with many points, or whose points CloudWatch is still collecting (`PartialData`), comes again on later
    pages, under the same id, and may have no point on any of them. But a page with points, all of which were there, is
    one that came before.
    """
    news: PageNews = "nothing"
    for result in results:
        id_, times = result.get("Id"), result.get("Timestamps") or ()
        if id_ not in ids:
            continue
        values, grid, period_s = answers[id_].values, grids[ids[id_].period_s], ids[id_].period_s
        places = (int((_epoch_s(time) - grid[0]) // period_s) for time in times)
        if any(not 0 <= place < len(values) or isnan(values[place]) for place in places):
            return "new"  # or wrong, which whoever lays the points says
        if times:
            news = "repeated"
        elif news == "nothing" and result.get("StatusCode") != answers[id_].status:
            news = "new"
    return news


def _messages(result: Mapping[str, Any]) -> str:
    reasons = "; ".join(f"{message.get('Code')} {message.get('Value')}" for message in result.get("Messages") or ())
    return f": {reasons}" if reasons else ""


def _grid(call: MetricCall, period_s: int) -> array[float]:
    """Epoch seconds of the points that a query of this period has."""
    return array("d", range(call.window.start_s, call.window.end_s, period_s))


def _lay(answer: _Answer, grid: array[float], period_s: int, times: Sequence[Any], points: Sequence[float]) -> None:
    """Put points where their times say; a run without holes goes in one piece.

    Raises:
        BrokenAnswerError: a point is no number, at no time that was asked for, or is another one than was there: an
            answer of which one point is wrong is trusted in none.
    """
    if not times:
        return
    if not isfinite(sum(points)):
        raise BrokenAnswerError("a value is not a number")
    first = int((_epoch_s(times[0]) - grid[0]) // period_s)
    of_it = slice(first, first + len(times)) if first >= 0 else slice(0)
    values = answer.values
    if isinstance(times, array) and grid[of_it].tobytes() == times.tobytes() and not answer.status:
        values[of_it] = array("d", points)
        return
    if isinstance(times, array) and not answer.status and _lay_runs(values, grid, period_s, times, points):
        return
    even = grid[0] % period_s == 0  # where the window does not begin with a period, its first one began before
    for time, point in zip(map(_epoch_s, times), points, strict=True):
        index = int((time - grid[0]) // period_s)
        if not 0 <= index < len(values) or (even and grid[index] != time):
            raise BrokenAnswerError(f"a point is of {_words(time)}, which was not asked for")
        if values[index] != point and not isnan(values[index]):
            raise BrokenAnswerError(f"there are two points of {_words(time)}")
        values[index] = point


def _lay_runs(
    values: array[float], grid: array[float], period_s: int, times: array[float], points: Sequence[float]
) -> bool:
    """Put each run of points without holes in one piece. False if the runs are short, or a time is not on the grid.

    Where times ascend, a run ends where they are ahead of it, which a bisection finds. The comparison with the grid
    finds those that do not ascend. What is put before that is put again, in the same place.
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
    """Whether a time is later than it would be in a run that begins at `place`."""
    return times[at] - times[place] > (at - place) * period_s


def _words(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}"


def _epoch_s(time: float | datetime) -> float:
    """Our JSON parser leaves times as numbers; botocore reads those of other protocols as datetimes."""
    return time.timestamp() if isinstance(time, datetime) else time
