"""CloudWatch's rules: exact dimensions, limits, retention and period boundaries."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError


def query(number: int, period: int = 300, **metric) -> dict:
    named = {
        "Namespace": "AWS/EC2",
        "MetricName": "NetworkIn",
        "Dimensions": [{"Name": "InstanceId", "Value": "i-none"}],
    } | metric
    return {"Id": f"m{number}", "MetricStat": {"Metric": named, "Period": period, "Stat": "Sum"}}


def ask(metrics, queries: list, days: float, **more) -> dict:
    return metrics.client.get_metric_data(
        MetricDataQueries=queries, StartTime=metrics.now - timedelta(days=days), EndTime=metrics.now, **more
    )


@pytest.fixture
def proxy(planted) -> str:
    return planted("s3-proxy").resource_id


def of(instance: str) -> dict:
    return {"Dimensions": [{"Name": "InstanceId", "Value": instance}]}


def test_five_hundred_queries_pass_and_one_more_does_not(metrics):
    assert len(ask(metrics, [query(number) for number in range(500)], 1)["MetricDataResults"]) == 500
    with pytest.raises(ClientError, match="ValidationError"):
        ask(metrics, [query(number) for number in range(501)], 1)


def test_a_page_ends_at_100_800_points_and_the_rest_follows(metrics, proxy):
    queries = [query(number, **of(proxy)) for number in range(30)]
    first = ask(metrics, queries, 14)
    assert sum(len(result["Values"]) for result in first["MetricDataResults"]) == 100_800
    last = ask(metrics, queries, 14, NextToken=first["NextToken"])
    assert "NextToken" not in last
    points: dict[str, int] = {}
    for result in first["MetricDataResults"] + last["MetricDataResults"]:
        points[result["Id"]] = points.get(result["Id"], 0) + len(result["Values"])
    running_five_minutes = 1
    assert points == {f"m{number}": 14 * 288 - running_five_minutes for number in range(30)}


def test_an_unknown_series_is_complete_and_empty(metrics):
    (result,) = ask(metrics, [query(0)], 1)["MetricDataResults"]
    assert (result["StatusCode"], result["Values"]) == ("Complete", [])


def test_dimensions_must_match_exactly(metrics, planted, proxy):
    name = "ethtool_bw_out_allowance_exceeded"
    full = {"InstanceId": proxy, "InstanceType": "t3.micro", "driver": "ena", "interface": "ens5"}
    assert metrics.values("CWAgent", name, "Maximum", 3600, 1, **full)
    assert not metrics.values("CWAgent", name, "Maximum", 3600, 1, InstanceId=proxy)
    assert not metrics.values("AWS/EC2", "NetworkIn", "Sum", 3600, 1, InstanceId=proxy, ImageId="ami-1")
    system = planted("reports-2024").resource_id
    assert not metrics.values("AWS/EFS", "StorageBytes", "Average", 3600, 1, FileSystemId=system)
    assert metrics.values("AWS/EFS", "StorageBytes", "Average", 3600, 1, FileSystemId=system, StorageClass="Total")


def test_list_metrics_names_the_dimensions_that_match(metrics, proxy):
    listed = metrics.client.list_metrics(Namespace="CWAgent", MetricName="ethtool_bw_in_allowance_exceeded")["Metrics"]
    assert {each["Name"]: each["Value"] for each in listed[0]["Dimensions"]}["InstanceId"] == proxy


@pytest.mark.parametrize(
    ("period", "days", "kept"),
    [
        (60, 14.9, True),
        (60, 15.1, False),
        (300, 62.9, True),
        (300, 63.1, False),
        (3600, 63.1, True),
        (3600, 456, False),
    ],
)
def test_a_period_too_fine_for_its_age_returns_nothing_without_an_error(metrics, planted, period, days, kept):
    system = planted("reports-2024").resource_id
    answer = ask(
        metrics,
        [
            query(
                0,
                period,
                Namespace="AWS/EFS",
                MetricName="MeteredIOBytes",
                Dimensions=[{"Name": "FileSystemId", "Value": system}],
            )
        ],
        days,
    )
    assert bool(answer["MetricDataResults"][0]["Values"]) is kept
    assert answer["MetricDataResults"][0]["StatusCode"] == "Complete"


def test_days_start_at_midnight_utc_and_the_newest_comes_first(metrics, proxy):
    (result,) = ask(metrics, [query(0, 86_400, **of(proxy))], 5)["MetricDataResults"]
    assert [stamp.strftime("%d %H:%M") for stamp in result["Timestamps"]] == [
        "16 00:00",
        "15 00:00",
        "14 00:00",
        "13 00:00",
        "12 00:00",
    ]


def test_coarse_sums_are_the_sums_of_fine_ones(metrics, proxy):
    hours = metrics.ask("AWS/EC2", "NetworkOut", "Sum", 3600, 3, InstanceId=proxy)
    fives = metrics.ask("AWS/EC2", "NetworkOut", "Sum", 300, 3, InstanceId=proxy)
    sums: dict = {}
    for stamp, value in zip(fives["Timestamps"], fives["Values"], strict=True):
        sums[stamp.replace(minute=0)] = sums.get(stamp.replace(minute=0), 0) + value
    assert {stamp: sums[stamp] for stamp in hours["Timestamps"]} == dict(
        zip(hours["Timestamps"], hours["Values"], strict=True)
    )
    days = metrics.values("AWS/EC2", "NetworkOut", "Maximum", 86_400, 3, InstanceId=proxy)
    assert max(days) == max(metrics.values("AWS/EC2", "NetworkOut", "Maximum", 300, 3, InstanceId=proxy))


def test_a_unit_that_does_not_match_returns_nothing(metrics, proxy):
    assert metrics.values("AWS/EC2", "NetworkOut", "Sum", 3600, 1, unit="Bytes", InstanceId=proxy)
    assert not metrics.values("AWS/EC2", "NetworkOut", "Sum", 3600, 1, unit="Megabytes", InstanceId=proxy)


def test_percentiles_lie_between_minimum_and_maximum(metrics, planted):
    volume = planted("orders-db-data").resource_id
    low, middle, high = (
        metrics.values("AWS/EBS", "VolumeReadBytes", stat, 3600, 2, VolumeId=volume)
        for stat in ("Minimum", "p50", "Maximum")
    )
    assert len(low) == len(middle) == len(high)
    assert all(least <= half <= most for least, half, most in zip(low, middle, high, strict=True))


def test_get_metric_statistics_stops_at_1_440_points(metrics, planted):
    dimensions = [{"Name": "FileSystemId", "Value": planted("web-content").resource_id}]
    asked = {
        "Namespace": "AWS/EFS",
        "MetricName": "MeteredIOBytes",
        "Dimensions": dimensions,
        "EndTime": metrics.now,
        "Statistics": ["Sum"],
    }
    answer = metrics.client.get_metric_statistics(StartTime=metrics.now - timedelta(days=1), Period=60, **asked)
    assert len(answer["Datapoints"]) == 1_440
    with pytest.raises(ClientError, match="InvalidParameterCombination"):
        metrics.client.get_metric_statistics(StartTime=metrics.now - timedelta(days=2), Period=60, **asked)
