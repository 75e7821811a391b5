"""CloudWatch metrics: points at their times, silence without points, and a report of every failure."""

from array import array
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from math import inf, nan

import botocore.model
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.rate_limit import RateLimit
from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
from slackwater.aws.metrics.spending import LocalSpending
from slackwater.engine.plan import MetricCall, MetricQuery, Window
from slackwater.model.metrics import Metric
from slackwater.model.resources import Target
from slackwater_simulator import Fleet, Flow, Instance, Shapes, instant

NOW = instant("2026-11-16T09:00:00Z")
TARGET = Target("123456789012", "ap-northeast-1")
OUT = Metric("AWS/EC2", "NetworkOut", "Sum", "bytes")
HOUR, DAY = 3_600, 86_400


def fleet(count=1):
    flow = Flow(Shapes(NOW).shape("office"), 1e6)
    made = [
        Instance(
            id=f"i-{n}",
            type="t3.micro",
            az="ap-northeast-1a",
            launched=NOW - 40 * DAY,
            detailed=True,
            net_in=flow,
            net_out=flow,
        )
        for n in range(count)
    ]
    return Fleet(now=NOW, instances=made)


def query(instance_id="i-0", *, period_s=HOUR, days=1, metric=OUT):
    return MetricQuery(metric, (("InstanceId", instance_id),), period_s, Window(NOW - days * DAY, NOW))


def call(*queries):
    return MetricCall(queries[0].window, queries)


def metrics(account, **options):
    return CloudWatchMetrics(account.session, TARGET, account.meter, **options)


class Replay:
    """A session whose CloudWatch gives these answers one after the other."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def client(self, service, region):
        assert (service, region) == ("cloudwatch", "ap-northeast-1")
        return self

    def get_metric_data(self, **parameters):
        self.asked.append(parameters)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def result(id_, times, values, status="Complete", **more):
    return {"Id": id_, "Timestamps": times, "Values": values, "StatusCode": status, **more}


def replayed(metric_call, *answers):
    session = Replay(*answers)
    return CloudWatchMetrics(session, TARGET, CallMeter()).fetch(metric_call), session


START = NOW - DAY


def test_a_day_by_the_hour_fills_its_grid(simulate):
    account = simulate(fleet())
    asked = query()
    answer = metrics(account).fetch(call(asked))
    series = answer.series[asked]
    assert (series.start_s, series.period_s, len(series.values), series.missing) == (START, HOUR, 24, 0)
    assert answer.failed == {}
    assert account.sim.calls == {"cloudwatch:GetMetricData": 1}
    assert (account.meter.metrics_requested(), account.meter.datapoints()) == (1, 24)


def test_a_metric_nobody_published_is_a_series_without_points(simulate):
    silent = query("i-nobody")
    answer = metrics(simulate(fleet())).fetch(call(silent))
    assert answer.failed == {}
    assert answer.series[silent].present == []
    assert answer.series[silent].missing == 24


def test_an_answer_of_several_pages_is_put_together(simulate):
    asked = [query(f"i-{n}", period_s=60, days=14) for n in range(6)]
    account = simulate(fleet(6))
    answer = metrics(account).fetch(call(*asked))
    assert [answer.series[q].missing for q in asked] == [0] * 6
    assert account.sim.calls["cloudwatch:GetMetricData"] == 2
    assert account.meter.metrics_requested() == 6


def test_periods_of_one_window_share_a_call(simulate):
    asked = [query(), query(period_s=DAY), query(period_s=300)]
    answer = metrics(simulate(fleet())).fetch(call(*asked))
    hourly, daily, fine = (answer.series[q] for q in asked)
    assert [len(s.values) for s in (hourly, daily, fine)] == [24, 1, 288]
    assert sum(hourly.values) == pytest.approx(sum(fine.values)) == pytest.approx(sum(daily.present), rel=0.6)


def test_five_hundred_queries_are_one_call(simulate):
    asked = [query(f"i-{n}") for n in range(500)]
    account = simulate(fleet())
    answer = metrics(account).fetch(call(*asked))
    assert len(answer.series) == 500
    assert account.sim.calls == {"cloudwatch:GetMetricData": 1}


def test_a_denied_call_fails_every_query_of_it(simulate):
    account = simulate(fleet())
    account.sim.faults.deny("cloudwatch:GetMetricData")
    asked = (query("i-0"), query("i-1"))
    answer = metrics(account).fetch(call(*asked))
    assert answer.series == {}
    assert set(answer.failed) == set(asked)
    assert all(why.startswith("AccessDenied") and "cloudwatch:GetMetricData" in why for why in answer.failed.values())


def test_a_query_that_cloudwatch_gives_up_on_fails_alone(simulate):
    account = simulate(fleet(8))
    account.sim.faults.partial("cloudwatch:GetMetricData", every=4)
    asked = [query(f"i-{n}") for n in range(8)]
    answer = metrics(account).fetch(call(*asked))
    assert (len(answer.series), len(answer.failed)) == (6, 2)
    assert all("InternalError" in why for why in answer.failed.values())


@pytest.mark.parametrize("fault", ["truncate", "drop"])
def test_a_broken_answer_is_no_silence(simulate, impatient, fault):
    account = simulate(fleet())
    getattr(account.sim.faults, fault)("cloudwatch:GetMetricData")
    answer = metrics(account).fetch(call(query()))
    assert answer.series == {}
    assert len(answer.failed) == 1


def test_throttling_slows_a_scan_down_and_loses_nothing(simulate):
    account = simulate(fleet(12))
    account.sim.faults.throttle("cloudwatch:GetMetricData", per_second=10, burst=2)
    reader = metrics(account)
    with ThreadPoolExecutor(reader.concurrency) as pool:
        answers = list(pool.map(reader.fetch, [call(query(f"i-{n}")) for n in range(12)]))
    assert [answer.failed for answer in answers] == [{}] * 12
    assert account.sim.calls["cloudwatch:GetMetricData"] > 12
    assert account.meter.api_calls() == account.sim.calls


def test_a_cloudwatch_that_refuses_everything_is_soon_left_in_peace(simulate):
    account = simulate(fleet())
    account.sim.faults.deny("cloudwatch:GetMetricData")
    reader = metrics(account, concurrency=2)
    answers = [reader.fetch(call(query(f"i-{n}"))) for n in range(5)]
    assert account.sim.calls["cloudwatch:GetMetricData"] == 2
    assert all(answer.failed and not answer.series for answer in answers)
    assert "not asked" in next(iter(answers[-1].failed.values()))


def test_what_the_audit_may_not_spend_is_not_asked_and_each_query_says_why(simulate):
    account = simulate(fleet(3))
    reader = metrics(account, concurrency=2, spending=LocalSpending(0.00003))
    asked = [
        call(query("i-0"), query("i-1")),
        *(call(query("i-2"), query("i-1")) for _ in range(5)),
        call(query("i-2")),
    ]
    answers = [reader.fetch(one) for one in asked]
    assert [len(answer.series) for answer in answers] == [2, 0, 0, 0, 0, 0, 1]
    assert account.sim.calls == {"cloudwatch:GetMetricData": 2}
    assert account.meter.metrics_requested() == 3
    assert {why for answer in answers for why in answer.failed.values()} == {
        "scan.most_metrics_usd would be passed: 0.00002 of 0.00003 USD were spent"
    }


def test_requested_data_points_count_against_their_rate_limit(simulate):
    slept = []
    rate_limit = RateLimit(points_per_second=24, clock=lambda: 0.0, sleep=slept.append)
    reader = metrics(simulate(fleet()), rate_limit=rate_limit)
    for _ in range(3):
        assert reader.fetch(call(query())).series  # 24 hourly points
    assert slept == [1, 2]


def test_what_fails_between_calls_that_work_is_tried_on(simulate):
    account = simulate(fleet())
    reader = metrics(account, concurrency=2)
    for _ in range(3):
        account.sim.faults.deny("cloudwatch:GetMetricData")
        assert reader.fetch(call(query())).failed
        account.sim.faults.clear()
        assert reader.fetch(call(query())).series


def test_missing_points_stay_missing_and_the_others_keep_their_place():
    asked = query()
    answer, _ = replayed(
        call(asked),
        {"MetricDataResults": [result("q0", [START + 2 * HOUR, START + 5 * HOUR], [2.0, 5.0])]},
    )
    values = answer.series[asked].values
    assert (values[2], values[5], answer.series[asked].missing) == (2.0, 5.0, 22)


def test_points_in_any_order_and_repeated_are_accepted():
    asked = query()
    times = [START + HOUR, START, START + HOUR, START + 3 * HOUR]
    answer, _ = replayed(call(asked), {"MetricDataResults": [result("q0", times, [1.0, 0.0, 1.0, 3.0])]})
    assert answer.series[asked].optional()[:4] == [0.0, 1.0, None, 3.0]
    assert answer.series[asked].present == [0.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("times", "values", "why"),
    [
        ([START, START - HOUR], [1.0, 9.0], "not asked for"),
        ([START, NOW], [1.0, 9.0], "not asked for"),
        ([START, START + HOUR + 7 * 60], [1.0, 9.0], "not asked for"),
        ([START + HOUR, START + HOUR], [1.0, 2.0], "two points"),
        ([START, START + HOUR], [1.0, nan], "not a number"),
        ([START, START + HOUR], [1.0, inf], "not a number"),
    ],
    ids=["before the window", "at its end", "between two", "two of one time", "NaN", "infinite"],
)
def test_a_point_that_cannot_be_right_spoils_the_answer(times, values, why):
    fine, spoilt = query(), query(period_s=300)
    answer, _ = replayed(
        call(fine, spoilt), {"MetricDataResults": [result("q0", times, values), result("q1", [START], [1.0])]}
    )
    assert not answer.series
    assert {why in reason for reason in answer.failed.values()} == {True}


@given(
    missing=st.sets(st.integers(0, 287)),
    moved=st.dictionaries(st.integers(0, 287), st.sampled_from([-90_000.0, -300.0, 7.0, 300.0, 90_000.0]), max_size=2),
    swapped=st.booleans(),
)
def test_points_of_packed_times_are_laid_as_those_of_a_list(missing, moved, swapped):
    asked = query(period_s=300)
    places = [place for place in range(288) if place not in missing]
    times = [START + 300.0 * place + moved.get(place, 0.0) for place in places]
    times = times[::-1] if swapped else times
    values = [float(place) for place in places]
    of_list, of_array = (
        replayed(call(asked), {"MetricDataResults": [result("q0", kind, values)]})[0]
        for kind in (times, array("d", times))
    )
    assert of_array.failed == of_list.failed
    assert [one.optional() for one in of_array.series.values()] == [one.optional() for one in of_list.series.values()]


def test_a_series_repeated_with_other_values_invalidates_the_answer():
    asked = query()
    times = [START + n * HOUR for n in range(24)]
    repeated = [result("q0", times, [1.0] * 24), result("q0", times, [2.0] * 24)]
    answer, _ = replayed(call(asked), {"MetricDataResults": repeated})
    assert "two points" in answer.failed[asked]


@pytest.mark.parametrize("other", ["q9", "", None])
def test_an_answer_to_another_question_is_none_and_costs_no_other(other):
    asked = (query("i-0"), query("i-1"))
    answer, _ = replayed(
        call(*asked), {"MetricDataResults": [result("q0", [START], [1.0]), result(other, [START], [1.0])]}
    )
    assert answer.series[asked[0]].present == [1.0]
    assert "left this metric out" in answer.failed[asked[1]]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"Id": "q1", "Timestamps": [START], "Values": [1.0]}, "NoStatus"),
        ({"Id": "q1", "Timestamps": [START], "StatusCode": "Complete"}, "1 times for 0 values"),
        ({"Id": "q1", "Timestamps": [START], "Values": [1.0], "StatusCode": "Unheard"}, "Unheard"),
    ],
)
def test_a_result_that_cannot_be_read_costs_no_other(wrong, why):
    asked = (query("i-0"), query("i-1"))
    answer, _ = replayed(call(*asked), {"MetricDataResults": [wrong, result("q0", [START], [1.0])]})
    assert answer.series[asked[0]].present == [1.0]
    assert why in answer.failed[asked[1]]


def test_pages_of_partial_data_repeat_their_ids_and_may_have_no_points():
    """API reference, `PartialData`: "use NextToken and repeat your request to get more data points"."""
    asked = (query("i-0"), query("i-1"))
    partial = [result("q0", [], [], "PartialData"), result("q1", [], [], "PartialData")]
    last = [result("q0", [START], [1.0]), result("q1", [], [])]
    answer, _ = replayed(
        call(*asked),
        *({"MetricDataResults": partial, "NextToken": token} for token in "abcde"),
        {"MetricDataResults": last},
    )
    assert answer.failed == {}
    assert [answer.series[one].present for one in asked] == [[1.0], []]


def test_equal_points_of_later_pages_are_no_page_that_comes_again():
    asked = (query("i-0"), query("i-1"))
    zeros = [[START + n * HOUR, START + (n + 1) * HOUR] for n in (0, 2)]
    first, second = ([result("q0", times, [0.0, 0.0]), result("q1", times, [0.0, 0.0])] for times in zeros)
    answer, _ = replayed(call(*asked), {"MetricDataResults": first, "NextToken": "a"}, {"MetricDataResults": second})
    assert [len(answer.series[one].present) for one in asked] == [4, 4]


def test_a_page_that_comes_again_fails_for_another_is_lost():
    asked = (query("i-0"), query("i-1"))
    first = [result("q0", [START], [1.0]), result("q1", [START], [1.0], "PartialData")]
    last = [result("q1", [START + 2 * HOUR], [1.0])]
    answer, _ = replayed(
        call(*asked),
        *({"MetricDataResults": first, "NextToken": token} for token in "ab"),
        {"MetricDataResults": last},
    )
    assert answer.series == {}
    assert "repeats a page" in answer.failed[asked[1]]


def test_one_query_may_span_pages_and_its_last_status_holds():
    asked = query()
    answer, session = replayed(
        call(asked),
        {"MetricDataResults": [result("q0", [START], [1.0], "PartialData")], "NextToken": "more"},
        {"MetricDataResults": [result("q0", [START + HOUR], [2.0])]},
    )
    assert answer.series[asked].present == [1.0, 2.0]
    assert session.asked[1]["NextToken"] == "more"


def test_partial_data_that_is_never_completed_fails_with_what_cloudwatch_says():
    asked = query()
    messages = [{"Code": "MaxMetricsExceeded", "Value": "Not all were read"}]
    answer, _ = replayed(
        call(asked), {"MetricDataResults": [result("q0", [START], [1.0], "PartialData", Messages=messages)]}
    )
    assert answer.series == {}
    assert answer.failed == {asked: "PartialData: MaxMetricsExceeded Not all were read"}


def test_a_query_left_out_of_the_answer_failed():
    asked = (query("i-0"), query("i-1"))
    answer, _ = replayed(call(*asked), {"MetricDataResults": [result("q0", [], [])]})
    assert set(answer.series) == {asked[0]}
    assert "left this metric out" in answer.failed[asked[1]]


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"MetricDataResults": [result("q0", [START], [1.0, 2.0])]},
        {"MetricDataResults": [result("q9", [START], [1.0])]},
        {"MetricDataResults": [{"Id": "q0", "Timestamps": [], "Values": []}]},
        {"MetricDataResults": ["q0"]},
        RuntimeError("a bug"),
    ],
)
def test_an_answer_that_makes_no_sense_fails_all_of_its_call(page):
    asked = (query("i-0"), query("i-1"))
    answer, _ = replayed(call(*asked), page)
    assert answer.series == {}
    assert set(answer.failed) == set(asked)


def test_a_token_that_comes_again_fails_instead_of_going_round():
    page = {"MetricDataResults": [result("q0", [START], [1.0])], "NextToken": "same"}
    answer, session = replayed(call(query()), page, page, page)
    assert answer.failed
    assert len(session.asked) == 2


def test_times_are_understood_as_other_protocols_give_them():
    asked = query()
    times = [datetime.fromtimestamp(START, UTC) + timedelta(hours=n) for n in range(24)]
    answer, _ = replayed(call(asked), {"MetricDataResults": [result("q0", times, [float(n) for n in range(24)])]})
    assert answer.series[asked].optional() == [float(n) for n in range(24)]


def test_the_query_protocol_gives_the_same_series(simulate, monkeypatch):
    account = simulate(fleet())
    by_json = metrics(account).fetch(call(query())).series[query()]
    monkeypatch.setattr(botocore.model, "PRIORITY_ORDERED_SUPPORTED_PROTOCOLS", ("query",))
    other = simulate(fleet())
    assert other.session.client("cloudwatch", TARGET.region).meta.service_model.resolved_protocol == "query"
    by_query = metrics(other).fetch(call(query())).series[query()]
    assert list(by_query.values) == pytest.approx(list(by_json.values))


def test_a_query_names_no_unit_and_asks_for_the_oldest_first():
    _, session = replayed(call(query()), {"MetricDataResults": []})
    (asked,) = session.asked
    assert asked["ScanBy"] == "TimestampAscending"
    assert asked["MetricDataQueries"] == [
        {
            "Id": "q0",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/EC2",
                    "MetricName": "NetworkOut",
                    "Dimensions": [{"Name": "InstanceId", "Value": "i-0"}],
                },
                "Period": 3_600,
                "Stat": "Sum",
            },
        }
    ]
