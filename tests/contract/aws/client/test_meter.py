"""A scan's requests are counted as AWS counts them."""

from concurrent.futures import ThreadPoolExecutor

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.regions import enabled_regions
from slackwater.model.resources import EfsFileSystem
from slackwater_simulator import Fleet, instant

NOW = instant("2026-11-16T09:07:00Z")


def test_a_retried_request_counts_each_time_it_is_sent(simulate):
    account = simulate(Fleet(now=NOW))
    account.sim.faults.error("ec2:DescribeRegions", "InternalError", 500, times=2)
    enabled_regions(account.session)
    assert account.meter.api_calls() == {"ec2:DescribeRegions": 3} == account.sim.calls


def test_services_go_by_the_names_that_iam_gives_them(simulate):
    account = simulate(Fleet(now=NOW))
    account.read({EfsFileSystem})
    assert account.meter.api_calls() == {"elasticfilesystem:DescribeFileSystems": 1}


def test_a_meter_loses_no_count_between_threads():
    meter = CallMeter()

    def count(_: int) -> None:
        meter.count_call("ec2", "DescribeVolumes")
        meter.count_metrics(2)
        meter.count_datapoints(3)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(2_000)))
    assert meter.api_calls() == {"ec2:DescribeVolumes": 2_000}
    assert (meter.metrics_requested(), meter.datapoints()) == (4_000, 6_000)
