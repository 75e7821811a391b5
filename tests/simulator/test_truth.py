"""The published truth matches what the mechanisms did."""

import json
import statistics
import urllib.request
from itertools import groupby, pairwise

import pytest

from slackwater.engine.registry import registry
from slackwater_simulator import Simulator, hostile_fleet, mixed_fleet

MIB = 1 << 20
DETECTORS = registry().keys()
PLANTED = frozenset(
    {
        "ebs-burst-draining", "ebs-idle", "ebs-instance-bound", "ebs-on-stopped-instance", "ebs-outdated-type",
        "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput", "ebs-unattached",
        "ec2-cpu-credits-surcharged", "ec2-ebs-throttled", "ec2-idle", "ec2-network-over-baseline",
        "ec2-network-throttled",
        "efs-abandoned", "efs-cold-data", "efs-credits-draining", "efs-idle", "efs-orphaned",
        "efs-serial-small-writes", "efs-single-client", "efs-single-zone-use", "efs-throughput-mismatch",
        "fsx-idle", "fsx-oversized", "fsx-surplus-iops", "fsx-surplus-throughput", "fsx-sync-export",
    }
)  # fmt: skip
"""Detectors with an example in the demo account. A new detector may come without one."""


def test_the_proxy_bursts_to_350_megabytes_a_second_and_then_sticks_at_eight(metrics, planted):
    rates = [
        value / 300 / 1e6
        for value in metrics.values("AWS/EC2", "NetworkOut", "Sum", 300, 14, InstanceId=planted("s3-proxy").resource_id)
    ]
    assert statistics.median(rate for rate in rates if rate > 300) == pytest.approx(350, rel=0.02)
    plateau = max((list(run) for flat, run in groupby(rates, lambda rate: 7.6 < rate < 8.1) if flat), key=len)
    assert len(plateau) >= 36
    assert statistics.pstdev(plateau) / statistics.mean(plateau) < 0.05
    before = rates[rates.index(plateau[0]) - 6 : rates.index(plateau[0])]
    assert max(before) > 100


def test_the_proxy_moves_every_byte_in_and_out(metrics, planted):
    proxy = planted("s3-proxy-b").resource_id
    assert metrics.values("AWS/EC2", "NetworkIn", "Sum", 3600, 3, InstanceId=proxy) == metrics.values(
        "AWS/EC2", "NetworkOut", "Sum", 3600, 3, InstanceId=proxy
    )


def test_the_ena_counters_rise_only_while_traffic_is_held_back(metrics, planted):
    proxy = planted("s3-proxy").resource_id
    dimensions = {"InstanceId": proxy, "InstanceType": "t3.micro", "driver": "ena", "interface": "ens5"}
    counted = metrics.values("CWAgent", "ethtool_bw_out_allowance_exceeded", "Maximum", 300, 7, **dimensions)
    rates = [value / 300 / 1e6 for value in metrics.values("AWS/EC2", "NetworkOut", "Sum", 300, 7, InstanceId=proxy)]
    rises = [after > before for before, after in pairwise(counted)]
    assert all(later >= earlier for earlier, later in pairwise(counted))
    assert not any(rise for rise, rate in zip(rises, rates[1:], strict=False) if rate < 3)
    assert all(rise for rise, rate in zip(rises, rates[1:], strict=False) if 7.9 < rate < 8.05)


def test_the_type_without_burst_is_as_fast_at_the_end_as_at_the_start(metrics, planted):
    rates = [
        value / 300 / 1e6
        for value in metrics.values(
            "AWS/EC2", "NetworkOut", "Sum", 300, 13, InstanceId=planted("relay-large").resource_id
        )
    ]
    fast = [rate for rate in rates if rate > 1000]
    assert len(fast) > 200
    assert min(fast) > 0.9 * max(fast)


def test_the_processor_bound_instance_has_no_cpu_credits_in_its_plateau(metrics, planted):
    limited = planted("thumbnailer").resource_id
    rates = [value / 300 / 1e6 for value in metrics.values("AWS/EC2", "NetworkIn", "Sum", 300, 7, InstanceId=limited)]
    balance = metrics.values("AWS/EC2", "CPUCreditBalance", "Maximum", 300, 7, InstanceId=limited)
    flat = [(rate, credit) for rate, credit in zip(rates, balance, strict=True) if 30 < rate < 32]
    assert len(flat) > 20
    assert statistics.median(credit for _, credit in flat) < 1


@pytest.mark.parametrize(("job", "points"), [("encode-job-20260912", 30), ("encode-job-20260927", 0)])
def test_the_encode_jobs_file_systems_are_silent_in_zeros_or_altogether(metrics, planted, job, points):
    system = planted(job).resource_id
    for name in ("MeteredIOBytes", "DataReadIOBytes", "DataWriteIOBytes", "ClientConnections"):
        values = metrics.values("AWS/EFS", name, "Sum", 86_400, 30, FileSystemId=system)
        assert values == [0.0] * points
    assert (
        len(metrics.values("AWS/EFS", "StorageBytes", "Average", 86_400, 30, FileSystemId=system, StorageClass="Total"))
        == 30
    )


def test_an_encode_job_did_its_work_before_it_was_killed(metrics, planted):
    assert (
        sum(
            metrics.values(
                "AWS/EFS", "MeteredIOBytes", "Sum", 86_400, 70, FileSystemId=planted("encode-job-20260912").resource_id
            )
        )
        > 100 << 30
    )


def test_a_nightly_batch_shows_in_the_daily_maximum_and_not_in_a_percentile(metrics, planted):
    volume = planted("nightly-dump").resource_id
    peaks = [
        value / 60 / MIB
        for value in metrics.values("AWS/EBS", "VolumeWriteBytes", "Maximum", 86_400, 13, VolumeId=volume)
    ]
    assert all(peak > 450 for peak in peaks[:-1])
    usual = [
        value / 60 / MIB for value in metrics.values("AWS/EBS", "VolumeWriteBytes", "p99", 86_400, 13, VolumeId=volume)
    ]
    assert max(usual) < 50


@pytest.mark.parametrize("name", ["orders-db-data", "search-index"])
def test_bought_throughput_is_used_to_sixty_mebibytes_at_most(metrics, planted, name):
    volume = planted(name).resource_id
    peak = sum(
        max(metrics.values("AWS/EBS", metric, "Maximum", 86_400, 14, VolumeId=volume))
        for metric in ("VolumeReadBytes", "VolumeWriteBytes")
    )
    assert peak / 60 / MIB <= 60.5


def test_a_detached_volume_published_until_it_was_detached(metrics, planted):
    volume = planted("orders-replica-old").resource_id
    days = metrics.ask("AWS/EBS", "VolumeIdleTime", "Sum", 86_400, 100, VolumeId=volume)["Timestamps"]
    assert (metrics.now - days[-1]).days in (54, 55)
    assert not metrics.values(
        "AWS/EBS", "VolumeIdleTime", "Sum", 86_400, 100, VolumeId=planted("golden-image-build").resource_id
    )


def test_sync_writes_wait_for_their_acknowledgement_while_the_disk_idles(demo, metrics, planted):
    export = next(
        volume for volume in demo.fleet.fsx_volumes if volume.id == planted("wordpress-content-wordpress").resource_id
    )
    both = {"FileSystemId": export.file_system_id, "VolumeId": export.id}
    writes = [value / 300 for value in metrics.values("AWS/FSx", "DataWriteOperations", "Sum", 300, 2, **both)]
    busy = [rate for rate in writes if rate > 100]
    assert statistics.mean(busy) == pytest.approx(342, rel=0.05)
    assert (
        max(metrics.values("AWS/FSx", "DiskIopsUtilization", "Maximum", 300, 2, FileSystemId=export.file_system_id))
        < 20
    )
    assert sum(metrics.values("AWS/FSx", "DataWriteBytes", "Sum", 300, 2, **both)) / sum(writes) / 300 == pytest.approx(
        8192, rel=0.01
    )


def test_every_case_is_an_issue_or_the_control_of_one_and_has_a_story(demo):
    for case in demo.fleet.planted:
        assert bool(case.issues) != bool(case.control_of), case
        assert {*case.issues, *([case.control_of] if case.control_of else [])} <= DETECTORS
        assert case.story
        assert case.why
    assert {issue for case in demo.fleet.planted for issue in case.issues} >= PLANTED


def test_the_truth_is_served(demo):
    with urllib.request.urlopen(demo.url + "/_simulator/truth") as answer:
        truth = json.load(answer)
    assert truth["now"] == "2026-11-16T09:07:00Z"
    assert truth["counts"]["ap-northeast-1"]["fsx"]["sync_exports"] >= 2
    assert {case["resource_id"] for case in truth["planted"]} == {case.resource_id for case in demo.fleet.planted}


def test_a_mixed_fleet_has_the_size_that_was_asked_and_is_the_same_twice(clients):
    one, two = mixed_fleet(600, seed=3), mixed_fleet(600, seed=3)
    sizes = [len(part) for part in (one.volumes, one.instances, one.efs, one.fsx, one.fsx_volumes)]
    assert sum(sizes) == 600
    assert [volume.id for volume in one.volumes] == [volume.id for volume in two.volumes]
    assert {issue for case in one.planted for issue in case.issues} <= DETECTORS
    with Simulator(one) as simulator:
        assert len(clients(simulator, "ec2").describe_volumes()["Volumes"]) == sizes[0]


def test_hostile_names_survive_the_wire(clients):
    with Simulator(hostile_fleet()) as simulator:
        volumes = clients(simulator, "ec2").describe_volumes()["Volumes"]
    tags = {tag["Value"] for volume in volumes for tag in volume["Tags"]}
    assert {"=cmd|'/c calc'!A1", "<script>alert(1)</script>"} <= tags
