"""What resources publish about their limits, and what the limits hold back."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.simulator.conftest import Metrics

from slackwater_simulator import (
    Activity,
    Attachment,
    Disk,
    ElasticFileSystem,
    Fleet,
    Flow,
    FsxFileSystem,
    Instance,
    MountTarget,
    Shapes,
    Simulator,
    Volume,
    instant,
)

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 60
ZONE, REGION = "ap-northeast-1a", "ap-northeast-1"
MIB, GIB = 1 << 20, 1 << 30
SHAPES = Shapes(NOW)
MORNING = SHAPES.signal(SHAPES.blocks([(days, 1.0, 4.0, 1.0) for days in range(34)]))
"""Four hours at the peak every night, from 01:00 UTC."""
ALL_DAY = SHAPES.signal(np.ones(35 * 1_440))


def work(read: float = 0.0, write: float = 0.0, size: float = 64 * 1024, shape=MORNING) -> Activity:
    return Activity(shape=shape, read=read, write=write, read_size=size, write_size=size)


def on(instance: str) -> tuple[Attachment, ...]:
    return (Attachment(instance_id=instance, since=THEN),)


def volume(name: str, type_: str, gib: int, activity: Activity | None, host: str = "i-m5", **more) -> Volume:
    return Volume(
        id=name, az=ZONE, created=THEN, size_gib=gib, type=type_, activity=activity, attachments=on(host), **more
    )


def fsx(name: str, kind: str, throughput: int, activity: Activity | None = None, **more) -> FsxFileSystem:
    return FsxFileSystem(
        id=name,
        region=REGION,
        created=THEN,
        kind=kind,
        deployment="SINGLE_AZ_1",
        storage_gib=1_024,
        throughput=throughput,
        activity=activity,
        **more,
    )


def host(name: str, type_: str, **more) -> Instance:
    return Instance(id=name, type=type_, az=ZONE, launched=THEN, **more)


FLEET = Fleet(
    now=NOW,
    instances=[
        host("i-m5", "m5.8xlarge"),
        host("i-small", "t3.small"),
        host("i-owed", "t3.medium", unlimited=True, cpu=Flow(ALL_DAY, 100.0)),
        host("i-even", "t3.medium", unlimited=True, cpu=Flow(ALL_DAY, 10.0)),
        host("i-agent", "t3.micro", agent="typed"),
        host("i-off", "t3.micro", state="stopped", stopped=NOW - 86_400 * 3),
    ],
    volumes=[
        volume("vol-gp2", "gp2", 100, work(2_000 * 65_536.0)),
        volume("vol-st1", "st1", 1_024, work(200.0 * MIB)),
        volume("vol-sc1-calm", "sc1", 1_024, work(1.0 * MIB)),
        volume("vol-gp2-big", "gp2", 2_000, work(1.0 * MIB)),
        volume("vol-gp2-xen", "gp2", 2_000, work(1.0 * MIB), nitro=False),
        volume("vol-busy", "gp3", 500, work(200.0 * MIB, 20.0 * MIB), "i-small", throughput=500),
        volume("vol-named", "gp3", 100, None, "i-agent", disk=Disk(used=Flow(ALL_DAY, 17.5))),
        volume("vol-bare", "gp3", 50, None, "i-agent", disk=Disk(used=Flow(ALL_DAY, 90.0), path="/", volume_key="")),
        volume("vol-off", "gp3", 50, None, "i-off", disk=Disk(used=Flow(ALL_DAY, 40.0), path="/off")),
    ],
    efs=[
        ElasticFileSystem(
            id="fs-pinned", region=REGION, created=THEN, mode="provisioned", provisioned_mibps=10.0,
            standard_bytes=20 * GIB,
            activity=Activity(shape=MORNING, write=50.0 * MIB, read=25.0 * MIB, metadata=4.0 * MIB),
            mount_targets=(MountTarget(id="fsmt-1", az=ZONE),),
        ),
    ],
    fsx=[
        fsx("fs-zfs", "OPENZFS", 64, work(300e6)),
        fsx("fs-zfs-large", "OPENZFS", 2_048, work(300e6)),
        fsx("fs-ontap", "ONTAP", 128, work(1e6), used=0.1, pool_gib=300),
        fsx("fs-windows", "WINDOWS", 64),
        fsx("fs-lustre", "LUSTRE", 125),
    ],
)  # fmt: skip


@pytest.fixture(scope="module")
def limited() -> Iterator[Simulator]:
    with Simulator(FLEET) as simulator:
        yield simulator


@pytest.fixture
def seen(limited, clients) -> Metrics:
    return Metrics(clients(limited, "cloudwatch"), NOW)


@pytest.fixture
def listed(limited, clients):
    client = clients(limited, "cloudwatch")

    def names(namespace, **dimensions):
        found = client.get_paginator("list_metrics").paginate(
            Namespace=namespace, Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()]
        )
        return [metric for page in found for metric in page["Metrics"] if len(metric["Dimensions"]) == len(dimensions)]

    return lambda *what, **dimensions: {metric["MetricName"] for metric in names(*what, **dimensions)}


def test_a_gp2_volume_without_credits_is_held_to_its_baseline_and_says_so(seen):
    balance = seen.values("AWS/EBS", "BurstBalance", "Minimum", 3_600, 1, VolumeId="vol-gp2")
    operations = seen.values("AWS/EBS", "VolumeReadOps", "Maximum", 60, 1, VolumeId="vol-gp2")
    last_hour = seen.values("AWS/EBS", "VolumeReadOps", "Sum", 3_600, 1, VolumeId="vol-gp2")
    assert min(balance) == 0
    assert max(balance) > 50
    assert max(operations) == pytest.approx(2_000 * 60)
    assert min(count for count in last_hour if count) == pytest.approx(300 * 3_600, rel=0.01)


def test_the_check_of_a_gp2_volume_is_raised_where_its_credits_are_gone_and_not_while_it_bursts(seen):
    named = {"VolumeId": "vol-gp2", "InstanceId": "i-m5"}
    raised = seen.values("AWS/EBS", "VolumeIOPSExceededCheck", "Maximum", 60, 1, **named)
    operations = seen.values("AWS/EBS", "VolumeReadOps", "Sum", 60, 1, VolumeId="vol-gp2")
    held = [count for check, count in zip(raised, operations, strict=True) if check]
    assert 120 < len(held) < 240
    assert max(held) < 2_000 * 60


def test_an_st1_volume_drains_in_bytes(seen):
    balance = seen.values("AWS/EBS", "BurstBalance", "Minimum", 3_600, 1, VolumeId="vol-st1")
    read = seen.values("AWS/EBS", "VolumeReadBytes", "Sum", 60, 1, VolumeId="vol-st1")
    assert min(balance) == 0
    assert max(read) == pytest.approx(200 * 60 * MIB)
    assert min(bytes_ for bytes_ in read if bytes_) == pytest.approx(40 * 60 * MIB)


def test_a_volume_within_its_baseline_keeps_its_credits_and_its_work(seen):
    assert set(seen.values("AWS/EBS", "BurstBalance", "Minimum", 3_600, 7, VolumeId="vol-sc1-calm")) == {100}
    assert max(seen.values("AWS/EBS", "VolumeReadBytes", "Sum", 60, 1, VolumeId="vol-sc1-calm")) == 60 * MIB


def test_without_a_burst_there_is_no_balance_on_nitro_and_all_of_it_on_xen(seen, listed):
    assert not seen.values("AWS/EBS", "BurstBalance", "Minimum", 3_600, 1, VolumeId="vol-gp2-big")
    assert "BurstBalance" not in listed("AWS/EBS", VolumeId="vol-gp2-big")
    assert set(seen.values("AWS/EBS", "BurstBalance", "Minimum", 3_600, 1, VolumeId="vol-gp2-xen")) == {100}


def test_the_ebs_balance_of_an_instance_falls_while_its_volumes_ask_for_more_than_its_baseline(seen):
    balance = seen.values("AWS/EC2", "EBSByteBalance%", "Minimum", 300, 1, InstanceId="i-small")
    raised = seen.values("AWS/EC2", "InstanceEBSThroughputExceededCheck", "Maximum", 60, 1, InstanceId="i-small")
    assert sum(percent < 10 for percent in balance) >= 6
    assert max(balance) > 90
    assert sum(raised) > 60
    assert min(seen.values("AWS/EC2", "EBSIOBalance%", "Minimum", 300, 1, InstanceId="i-small")) < 100


def test_the_volumes_of_the_demos_throttled_instance_do_what_its_burst_lets_through(demo, clients, planted):
    metrics = Metrics(clients(demo, "cloudwatch"), demo.fleet.now)
    renders = planted("subtitle-renders").resource_id
    moved = [
        metrics.values("AWS/EC2", name, "Sum", 300, 7, InstanceId=renders) for name in ("EBSReadBytes", "EBSWriteBytes")
    ]
    left = metrics.values("AWS/EC2", "EBSByteBalance%", "Minimum", 300, 7, InstanceId=renders)
    raised = metrics.values("AWS/EC2", "InstanceEBSThroughputExceededCheck", "Average", 300, 7, InstanceId=renders)
    rates, base = [sum(both) / 300 / MIB for both in zip(*moved, strict=True)], 650 * 125_000 / MIB
    points = [*zip(rates[1:], left, left[1:], raised[1:], strict=False)]
    burst = [rate for rate, before, after, _ in points if after < before and after]
    plateau = [(rate, share) for rate, before, after, share in points if before == after == 0]

    assert 7 * 3.5 < len(burst) / 12 < 7 * 4.5
    assert 7 * 3.5 < len(plateau) / 12 < 7 * 4.5
    assert max(burst) == pytest.approx(215, abs=5)
    assert all(rate == pytest.approx(base, rel=0.001) and share == 1 for rate, share in plateau)
    assert all(rate < 10 for rate, before, after, _ in points if after > before)


def test_an_instance_that_carries_all_that_is_asked_raises_nothing(seen, listed):
    assert set(
        seen.values("AWS/EC2", "InstanceEBSThroughputExceededCheck", "Maximum", 3_600, 7, InstanceId="i-m5")
    ) == {0}
    assert not {"EBSByteBalance%", "EBSIOBalance%"} & listed("AWS/EC2", InstanceId="i-m5")


def test_an_unlimited_instance_above_its_baseline_is_charged_and_one_below_is_not(seen):
    of = {"CPUCreditBalance": 0, "CPUSurplusCreditBalance": 576, "CPUSurplusCreditsCharged": 8}
    for name, value in of.items():
        assert seen.values("AWS/EC2", name, "Maximum", 300, 7, InstanceId="i-owed")[-1] == pytest.approx(value)
    assert set(seen.values("AWS/EC2", "CPUSurplusCreditsCharged", "Maximum", 300, 7, InstanceId="i-even")) == {0}
    assert set(seen.values("AWS/EC2", "CPUCreditBalance", "Minimum", 300, 7, InstanceId="i-even")) == {576}


def test_a_provisioned_file_system_is_pinned_at_what_is_provisioned(seen):
    metered = seen.values("AWS/EFS", "MeteredIOBytes", "Sum", 60, 1, FileSystemId="fs-pinned")
    permitted = seen.values("AWS/EFS", "PermittedThroughput", "Average", 60, 1, FileSystemId="fs-pinned")
    assert max(metered) / 60 == pytest.approx(10 * MIB)
    assert set(permitted) == {10 * MIB}


def test_metadata_is_counted_by_direction(seen):
    of = {
        name: sum(seen.values("AWS/EFS", name, "Sum", 3_600, 1, FileSystemId="fs-pinned"))
        for name in ("MetadataIOBytes", "MetadataReadIOBytes", "MetadataWriteIOBytes")
    }
    assert of["MetadataReadIOBytes"] + of["MetadataWriteIOBytes"] == pytest.approx(of["MetadataIOBytes"], rel=1e-6)
    assert of["MetadataWriteIOBytes"] == pytest.approx(2 * of["MetadataReadIOBytes"], rel=1e-3)


def test_a_file_server_spends_its_disk_balance_and_a_large_one_has_none(seen, listed):
    balance = seen.values("AWS/FSx", "FileServerDiskThroughputBalance", "Minimum", 300, 1, FileSystemId="fs-zfs")
    assert min(balance) == 0
    assert max(balance) > 10
    assert not {name for name in listed("AWS/FSx", FileSystemId="fs-zfs-large") if name.endswith("Balance")}


def test_ontap_reports_its_space_by_tier(seen, listed):
    tier = {"FileSystemId": "fs-ontap", "StorageTier": "SSD", "DataType": "All"}
    pool = tier | {"StorageTier": "StandardCapacityPool"}
    assert listed("AWS/FSx", **tier) == {"StorageCapacity", "StorageUsed", "StorageCapacityUtilization"}
    assert seen.values("AWS/FSx", "StorageCapacity", "Average", 86_400, 2, **tier)[-1] == 1_024 * GIB
    assert seen.values("AWS/FSx", "StorageUsed", "Average", 86_400, 2, **tier)[-1] == pytest.approx(102.4 * GIB)
    assert seen.values("AWS/FSx", "StorageCapacityUtilization", "Average", 86_400, 2, **tier)[-1] == 10
    assert seen.values("AWS/FSx", "StorageUsed", "Average", 86_400, 2, **pool)[-1] == 300 * GIB
    assert not seen.values("AWS/FSx", "StorageUsed", "Average", 86_400, 2, FileSystemId="fs-ontap")


def test_each_type_of_fsx_has_space_metrics_of_its_own(listed):
    of = {name: listed("AWS/FSx", FileSystemId=name) for name in ("fs-zfs", "fs-ontap", "fs-windows", "fs-lustre")}
    assert {name for name, metrics in of.items() if "UsedStorageCapacity" in metrics} == {"fs-zfs"}
    assert {name for name, metrics in of.items() if "FreeStorageCapacity" in metrics} == {"fs-windows"}
    assert {name for name, metrics in of.items() if "ClientConnections" in metrics} == {
        "fs-zfs",
        "fs-windows",
        "fs-lustre",
    }


def test_the_agent_names_the_volume_of_a_file_system_if_configured(limited, clients):
    found = clients(limited, "cloudwatch").list_metrics(Namespace="CWAgent", MetricName="disk_used_percent")["Metrics"]
    by_path = {each["path"]: each for each in ({d["Name"]: d["Value"] for d in m["Dimensions"]} for m in found)}
    assert by_path["/data"]["VolumeId"] == f"aws://{ZONE}/vol-named"
    assert by_path["/data"]["InstanceType"] == "t3.micro"
    assert "VolumeId" not in by_path["/"]


def test_disk_use_is_found_by_its_exact_dimensions_while_the_instance_runs(seen):
    own = {"device": "nvme1n1", "fstype": "xfs", "path": "/data"}
    full = {"InstanceId": "i-agent", "InstanceType": "t3.micro", "VolumeId": f"aws://{ZONE}/vol-named", **own}
    off = {"InstanceId": "i-off", "VolumeId": f"aws://{ZONE}/vol-off", **own, "path": "/off"}
    assert set(seen.values("CWAgent", "disk_used_percent", "Maximum", 3_600, 7, **full)) == {17.5}
    assert not seen.values("CWAgent", "disk_used_percent", "Maximum", 3_600, 7, InstanceId="i-agent", **own)
    assert not seen.values("CWAgent", "disk_used_percent", "Maximum", 3_600, 2, **off)
    assert seen.values("CWAgent", "disk_used_percent", "Maximum", 3_600, 7, **off)
