"""Reads metrics by GetMetricData: one call for hundreds of metrics, and no point that is not CloudWatch's own."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.errors import BrokenAnswerError, reason
from slackwater.aws.pages import pages
from slackwater.model.metrics import Series
from slackwater.ports import MetricAnswer

if TYPE_CHECKING:
    from slackwater.aws.meter import CallMeter
    from slackwater.aws.session import AwsSession
    from slackwater.engine.plan import MetricCall, MetricQuery
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"cloudwatch:GetMetricData"})

SILENT: Final = "CloudWatch left this metric out of its answer"


@dataclass(slots=True)
class _Answer:
    """What has come of one query so far; the last status holds, because points of one Id may span pages."""

    values: array[float]
    status: str = ""
    says: str = ""


class CloudWatchMetrics:
    """The metrics of one target. Thread-safe: a client slows all its threads down together when CloudWatch throttles."""

    def __init__(self, session: AwsSession, target: Target, meter: CallMeter, concurrency: int = 8) -> None:
        """`concurrency` is how many calls may be on their way at once. Makes no call."""
        self.concurrency = concurrency
        self._failed_in_a_row = 0
        self._session = session
        self._region = target.region
        self._meter = meter

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Answer one call: a series on each query's own grid, NaN where CloudWatch has no point, or why there is none.

        Each call is retried for as long as its client retries. When as many calls as may be on their way have failed with none
        between them that worked, CloudWatch is not asked again: a scan that is refused must end.
        """
        if self._failed_in_a_row >= self.concurrency:
            return _none(call, f"not asked, after {self.concurrency} calls in a row that failed")
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
            MetricDataQueries=[_asked(id_, query) for id_, query in ids.items()],
            StartTime=datetime.fromtimestamp(call.window.start_s, UTC),
            EndTime=datetime.fromtimestamp(call.window.end_s, UTC),
            ScanBy="TimestampAscending",
        )
        for result in results:
            answer, query = answers[result["Id"]], ids[result["Id"]]
            times, points = result.get("Timestamps") or [], result.get("Values") or []
            if len(times) != len(points):
                raise BrokenAnswerError(f"{len(times)} times for {len(points)} values")
            self._meter.count_datapoints(len(points))
            _lay(answer.values, grids[query.period_s], query.period_s, times, points)
            answer.status, answer.says = result["StatusCode"], _messages(result)
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
        if answer.status == "Complete":
            series[query] = Series(query.window.start_s, query.period_s, answer.values)
        else:
            failed[query] = f"{answer.status}{answer.says}" if answer.status else SILENT
    return MetricAnswer(series, failed)


def _messages(result: Mapping[str, Any]) -> str:
    said = "; ".join(f"{message.get('Code')} {message.get('Value')}" for message in result.get("Messages") or ())
    return f": {said}" if said else ""


def _grid(call: MetricCall, period_s: int) -> array[float]:
    """Epoch seconds of the points that a query of this period has."""
    return array("d", range(call.window.start_s, call.window.end_s, period_s))


def _lay(values: array[float], grid: array[float], period_s: int, times: Sequence[Any], points: Sequence[float]) -> None:
    """Put points where their times say; a run without holes goes in one piece."""
    if not times:
        return
    first = int((_epoch_s(times[0]) - grid[0]) // period_s)
    if isinstance(times, array) and grid[first : first + len(times)].tobytes() == times.tobytes():
        values[first : first + len(times)] = array("d", points)
        return
    for time, point in zip(times, points, strict=True):
        index = int((_epoch_s(time) - grid[0]) // period_s)
        if 0 <= index < len(values):
            values[index] = point


def _epoch_s(time: float | datetime) -> float:
    """Our JSON parser leaves times as numbers; botocore reads those of other protocols as datetimes."""
    return time.timestamp() if isinstance(time, datetime) else time
