"""Serve CloudWatch: GetMetricData, GetMetricStatistics and ListMetrics over JSON 1.0, GetMetricData also over query.

Periods lie on the clock's grid (a day starts at UTC midnight). A period is returned if it starts within [StartTime,
EndTime). StartTime is first rounded down by its age, as the API reference says. Work added while the clock moves on is
published `Account.late.metrics` seconds later. Limits: CloudWatch service quotas.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .resources import instant, rfc3339
from .series import DAY, HOUR, Floats, Ints, statistic
from .telemetry import Dimensions
from .wire import AwsError, Call, Json, Reply, json_reply, page_of, page_offset, token, xml_reply

QUERIES, POINTS, STATISTICS_POINTS, METRICS_PAGE = 500, 100_800, 1_440, 500
_STATISTICS = ("Sum", "Average", "Minimum", "Maximum", "SampleCount")
_PERCENTILE = re.compile(r"p(\d{1,2}(\.\d{1,10})?|100)")
_ID = re.compile(r"[a-z][a-zA-Z0-9_]{0,254}")
_ACTIVE = 14 * DAY
_ROW = 10_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """The requested time range and the present, in epoch seconds."""

    start: int
    end: int
    now: int

    def served(self, period: int) -> bool:
        """Return whether CloudWatch still has points of this period: 60 s for 15 days, 300 s for 63, 3600 s for 455."""
        age = self.now - self.start
        if age <= 15 * DAY:
            return True
        return period % 300 == 0 if age <= 63 * DAY else period % HOUR == 0 and age <= 455 * DAY


@dataclass(frozen=True, slots=True)
class Query:
    """One metric and statistic."""

    id: str
    label: str
    namespace: str
    metric: str
    dimensions: Dimensions
    period: int
    stat: str
    unit: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """One query's values on a page."""

    query: Query
    starts: Ints
    values: Floats
    status: str = "Complete"


def _epoch(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float(instant(str(value).replace("+00:00", "Z")))


def _window(call: Call) -> Window:
    now, fleet_now = call.account.now, call.account.fleet.now
    start, end = _epoch(call.input["StartTime"]), _epoch(call.input["EndTime"])
    if start >= end:
        raise _invalid("The parameter StartTime must be less than the parameter EndTime.")
    age = now - start
    grain = 60 if age <= 15 * DAY else 300 if age <= 63 * DAY else HOUR
    published = max(fleet_now, now - int(call.account.late.metrics))
    return Window(int(start // grain * grain), min(-int(-end // 1), published), now)


def _invalid(message: str) -> AwsError:
    return AwsError("ValidationError", message, 400)


def _dimensions(entries: Iterable[Json]) -> Dimensions:
    return tuple(sorted((str(entry["Name"]), str(entry["Value"])) for entry in entries))


def _period(value: object) -> int:
    period = int(str(value or 0))
    if period <= 0 or period % 60:
        raise _invalid("Period must be a multiple of 60 seconds here: no metric has high resolution.")
    return period


def _statistic_name(name: str) -> str:
    if name not in _STATISTICS and not _PERCENTILE.fullmatch(name):
        raise _invalid(f"The statistic {name} is not supported by the simulator.")
    return name


def _query(entry: Json) -> Query:
    if not _ID.fullmatch(str(entry.get("Id", ""))):
        raise _invalid(f"The value '{entry.get('Id')}' for parameter Id must start with a lowercase letter.")
    stat = entry.get("MetricStat")
    if not stat:
        raise _invalid(f"Query {entry['Id']}: the simulator evaluates no expressions.")
    metric = stat["Metric"]
    return Query(
        id=entry["Id"],
        label=str(entry.get("Label", metric["MetricName"])),
        namespace=metric["Namespace"],
        metric=metric["MetricName"],
        dimensions=_dimensions(metric.get("Dimensions", ())),
        period=_period(stat.get("Period")),
        stat=_statistic_name(stat.get("Stat", "")),
        unit=stat.get("Unit"),
    )


_SPACE = frozenset({"StorageCapacity", "UsedStorageCapacity", "StorageUsed", "FreeStorageCapacity"})
_PERCENT = frozenset(
    {"BurstBalance", "PercentIOLimit", "EBSIOBalance%", "EBSByteBalance%", "disk_used_percent"}
    | {"FileServerDiskThroughputBalance", "FileServerDiskIopsBalance"}
)


def unit(metric: str) -> str:
    """Return the unit CloudWatch shows for a metric. CPU credits are counts, EFS credits are bytes."""
    if metric.startswith("ethtool_"):
        return "None"
    if metric in {"NetworkIn", "NetworkOut", "BurstCreditBalance"} or metric in _SPACE:
        return "Bytes"
    if metric == "PermittedThroughput":
        return "Bytes/Second"
    if metric in _PERCENT or metric.endswith("Utilization"):
        return "Percent"
    if metric.endswith("Bytes"):
        return "Bytes"
    return "Seconds" if metric.endswith("Time") else "Count"


_NOTHING = np.empty(0, np.int64), np.empty(0)


def _values(call: Call, query: Query, window: Window) -> tuple[Ints, Floats]:
    if not window.served(query.period) or (query.unit and query.unit != unit(query.metric)):
        return _NOTHING
    track = call.account.telemetry.track(call.region, query.namespace, query.metric, query.dimensions)
    return statistic(track, query.stat, window.start, window.end, query.period) if track else _NOTHING


def _queries(call: Call) -> list[Query]:
    entries = call.input["MetricDataQueries"]
    if len(entries) > QUERIES:
        raise _invalid(f"The collection MetricDataQueries must not have a size greater than {QUERIES}.")
    queries = [_query(entry) for entry in entries if str(entry.get("ReturnData", True)).lower() == "true"]
    if len({query.id for query in queries}) < len(queries):
        raise _invalid("The values for parameter Id must be unique.")
    return queries


def get_metric_data(call: Call) -> Reply:
    """Return each page with as many points as the limit allows."""
    queries = _queries(call)
    window = _window(call)
    plan = call.simulator.faults.take("partial", call)
    broken = {query.id for query in queries[plan["every"] - 1 :: plan["every"]]} if plan else set()
    first, skip = divmod(page_offset(call), _ROW)
    budget = min(int(call.input.get("MaxDatapoints", POINTS)), POINTS)
    newest_first = call.input.get("ScanBy", "TimestampDescending") != "TimestampAscending"
    results: list[Result] = []
    following = None
    for number in range(first, len(queries)):
        query = queries[number]
        if query.id in broken:
            results.append(Result(query, *_NOTHING, "InternalError"))
            continue
        starts, values = _values(call, query, window)
        if newest_first:
            starts, values = starts[::-1], values[::-1]
        if skip:
            starts, values = starts[skip:], values[skip:]
        if len(starts) > budget:
            results.append(Result(query, starts[:budget], values[:budget], "PartialData"))
            following = number * _ROW + skip + budget
            budget = 0
            break
        results.append(Result(query, starts, values))
        budget, skip = budget - len(starts), 0
    if not call.input.get("NextToken"):
        call.account.usage["metrics_requested"] += len(queries)
    call.account.usage["datapoints"] += sum(len(result.starts) for result in results)
    return _data_reply(call, results, following)


def _data_reply(call: Call, results: list[Result], following: int | None) -> Reply:
    if call.protocol == "query":
        next_token = token(following) if following is not None else None
        return xml_reply(call, {"MetricDataResults": [_result_xml(each) for each in results], "NextToken": next_token})
    body = ",".join(map(_result_json, results))
    end = f',"NextToken":"{token(following)}"' if following is not None else ""
    return json_reply(call, f'{{"MetricDataResults":[{body}],"Messages":[]{end}}}'.encode())


def _result_json(result: Result) -> str:
    failed = result.status == "InternalError"
    messages = '"Messages":[{"Code":"InternalError","Value":"An internal error occurred"}],' if failed else ""
    return (
        f'{{"Id":"{result.query.id}","Label":{json.dumps(result.query.label)},{messages}"StatusCode":"{result.status}",'
        f'"Timestamps":{_times(result.starts)},"Values":{_numbers(result.values)}}}'
    )


def _result_xml(result: Result) -> Json:
    return {
        "Id": result.query.id,
        "Label": result.query.label,
        "Timestamps": [rfc3339(start) for start in result.starts.tolist()],
        "Values": result.values.tolist(),
        "StatusCode": result.status,
    }


def _times(starts: Ints) -> str:
    """Return timestamps as JSON. Most answers share evenly spaced ones, so those are cached."""
    size = len(starts)
    if size < 2:
        return str(starts.tolist())
    first, step = int(starts[0]), int(starts[1] - starts[0])
    if int(starts[-1]) == first + step * (size - 1) and (np.diff(starts) == step).all():
        return _even(first, step, size)
    return str(starts.tolist())


@lru_cache(maxsize=256)
def _even(first: int, step: int, size: int) -> str:
    return str(list(range(first, first + step * size, step))).replace(" ", "")


def _numbers(values: Floats) -> str:
    """Return values as JSON. Whole numbers, such as bytes, take a faster path."""
    if not len(values):
        return "[]"
    whole = values.astype(np.int64)
    if (whole == values).all():
        return str(whole.tolist()).replace(", ", ".0,").replace("]", ".0]")
    return json.dumps(np.round(values, 6).tolist())


def get_metric_statistics(call: Call) -> Reply:
    """Return up to 1,440 points of one metric, in no particular order."""
    window = _window(call)
    period = _period(call.input.get("Period"))
    if (wanted := -(-(window.end - window.start) // period)) > STATISTICS_POINTS:
        why = f"You have requested up to {wanted:,} datapoints, which exceeds the limit of {STATISTICS_POINTS:,}."
        raise AwsError("InvalidParameterCombination", why)
    if not (names := call.input.get("Statistics")) or call.input.get("ExtendedStatistics"):
        raise AwsError("InvalidParameterCombination", "The simulator needs Statistics, and knows no extended ones.")
    metric = str(call.input["MetricName"])
    about = {"Metric": call.input, "Period": period, "Unit": call.input.get("Unit")}
    queries = [_query({"Id": "q", "MetricStat": {**about, "Stat": name}}) for name in names]
    columns = [_values(call, query, window) for query in queries]
    starts = columns[0][0].tolist()
    order = np.random.default_rng(len(starts)).permutation(len(starts)).tolist()
    call.account.usage["metrics_requested"] += 1
    call.account.usage["datapoints"] += len(starts)
    tables = {name: values.tolist() for name, (_, values) in zip(names, columns, strict=True)}
    points = [
        {"Timestamp": starts[row], "Unit": unit(metric)} | {name: tables[name][row] for name in names} for row in order
    ]
    return json_reply(call, {"Label": metric, "Datapoints": points})


type MetricKey = tuple[str, str, Dimensions]


def list_metrics(call: Call) -> Reply:
    """List the metrics that had data in the last two weeks. The list is computed once for each Region and namespace."""
    namespace, name, account = call.input.get("Namespace"), call.input.get("MetricName"), call.account
    wanted = [(entry["Name"], entry.get("Value")) for entry in call.input.get("Dimensions") or ()]

    def listing() -> list[MetricKey]:
        return list(account.telemetry.listing(call.region, namespace, account.fleet.now - _ACTIVE))

    def matches(listed: MetricKey) -> bool:
        held = dict(listed[2])
        named = not name or listed[1] == name
        return named and all(key in held and value in (None, held[key]) for key, value in wanted)

    found = account.kept(("metrics", call.region, namespace), listing)
    if name or wanted:
        found = list(filter(matches, found))
    return json_reply(call, page_of(call, "Metrics", found, _listed, METRICS_PAGE))


def _listed(listed: MetricKey) -> Json:
    space, metric, held = listed
    dimensions = [{"Name": key, "Value": value} for key, value in held]
    return {"Namespace": space, "MetricName": metric, "Dimensions": dimensions}
