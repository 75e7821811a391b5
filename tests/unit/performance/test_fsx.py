"""FSx file systems: AWS's tables of file servers, and the minimum sizes."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.model.resources import Target
from slackwater.model.units import GIB
from slackwater.performance import fsx
from slackwater.rules import examples

OPENZFS = {
    "SINGLE_AZ_1": [
        (64, 200, 64, 2_500),
        (128, 400, 128, 5_000),
        (256, 800, 256, 10_000),
        (512, 1_600, 512, 20_000),
        (1024, 3_200, 1024, 40_000),
        (2048, 6_400, 2048, 80_000),
        (3072, 9_600, 3072, 120_000),
        (4096, 12_800, 4096, 160_000),
    ],
    "MULTI_AZ_1": [
        (160, 375, 160, 6_250),
        (320, 775, 320, 12_500),
        (640, 1_550, 640, 25_000),
        (1280, 3_125, 1280, 50_000),
        (2560, 6_250, 2560, 100_000),
        (3840, 9_375, 3840, 150_000),
        (5120, 12_500, 5120, 200_000),
        (7680, 18_750, 7680, 300_000),
        (10240, 21_000, 7500, 400_000),  # "limited to 7,500 MBps for write traffic only"
    ],
}
OPENZFS["SINGLE_AZ_HA_1"] = OPENZFS["SINGLE_AZ_1"][1:]
OPENZFS["SINGLE_AZ_2"] = OPENZFS["SINGLE_AZ_HA_2"] = [*OPENZFS["MULTI_AZ_1"][:-1], (10240, 21_000, 10240, 400_000)]
ONTAP = {
    ("SINGLE_AZ_1", "ap-northeast-1"): [
        (128, 150, 75, 6_000),
        (256, 300, 150, 12_000),
        (512, 625, 312, 18_750),
        (1024, 1_500, 750, 40_000),
        (2048, 3_125, 750, 80_000),
    ],
    ("MULTI_AZ_1", "ap-northeast-1"): [
        (128, 150, 75, 6_000),
        (256, 300, 150, 12_000),
        (512, 625, 312, 18_750),
        (1024, 1_500, 750, 40_000),
        (2048, 3_125, 1300, 80_000),
    ],
    ("SINGLE_AZ_1", "us-east-1"): [
        (128, 188, 94, 6_000),
        (256, 375, 187, 12_000),
        (512, 750, 375, 20_000),
        (1024, 1_500, 750, 40_000),
        (2048, 3_125, 1000, 80_000),
        (4096, 6_250, 1000, 160_000),
    ],
    ("MULTI_AZ_1", "eu-west-1"): [
        (128, 188, 94, 6_000),
        (256, 375, 187, 12_000),
        (512, 750, 375, 20_000),
        (1024, 1_500, 750, 40_000),
        (2048, 3_125, 1562, 80_000),
        (4096, 6_250, 1800, 160_000),
    ],
}


def table(deployment: fsx.Deployment) -> list[tuple[int, int, int, int]]:
    return [(one.throughput_mb_s, one.network_mb_s, one.write_mb_s, one.disk_iops) for one in deployment.file_servers]


def test_every_deployment_type_of_openzfs_is_there() -> None:
    assert fsx.OPENZFS.keys() == OPENZFS.keys()


@pytest.mark.parametrize("deployment", OPENZFS)
def test_openzfs_file_servers_are_those_of_the_published_tables(deployment: str) -> None:
    assert table(fsx.OPENZFS[deployment]) == OPENZFS[deployment]


@pytest.mark.parametrize(("deployment", "region"), ONTAP)
def test_ontap_file_servers_are_those_of_the_published_tables_of_their_region(deployment: str, region: str) -> None:
    """A write uses the network twice: 150 MBps of network allow 75 MBps of writes."""
    assert table(fsx.ontap(deployment, region)) == ONTAP[deployment, region]


def bought(deployment: fsx.Deployment, gib: float, mb_s: float = 0, iops: int = 0) -> tuple[int, int, int] | None:
    found = fsx.smallest(deployment, stored_bytes=gib * GIB, bytes_per_s=mb_s * 1e6, iops=iops)
    return found and (found.storage_gib, found.throughput_mb_s, found.iops)


TOKYO = fsx.ontap("MULTI_AZ_1", "ap-northeast-1")


@pytest.mark.parametrize(
    ("deployment", "asked", "least"),
    [
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 1}, (64, 160, 192)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 1}, (64, 64, 192)),
        (TOKYO, {"gib": 1}, (1024, 128, 3072)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 100.2}, (101, 160, 303)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 160}, (64, 160, 192)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 160.1}, (64, 320, 192)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 960}, (64, 160, 960)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 6_251}, (64, 320, 6_251)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 64_001}, (65, 2560, 64_001)),
        (TOKYO, {"gib": 1024, "iops": 60_000}, (1200, 2048, 60_000)),
        (TOKYO, {"gib": 1024, "iops": 6_001}, (1024, 256, 6_001)),
        (TOKYO, {"gib": 196_608}, (196_608, 128, 80_000)),
        (TOKYO, {"gib": 196_609}, None),
        (TOKYO, {"gib": 1, "mb_s": 75}, (1024, 128, 3072)),
        (TOKYO, {"gib": 1, "mb_s": 76}, (1024, 256, 3072)),
        (TOKYO, {"gib": 1, "mb_s": 768}, (1024, 2048, 3072)),
        (TOKYO, {"gib": 1, "mb_s": 1_000}, (1024, 2048, 4_000)),  # 1,024 GiB include only 768 MBps
        (TOKYO, {"gib": 1, "mb_s": 1_300}, (1024, 2048, 5_200)),
        (TOKYO, {"gib": 1, "mb_s": 1_301}, None),
        (TOKYO, {"gib": 1, "iops": 80_001}, None),
        (fsx.ontap("SINGLE_AZ_1", "ap-northeast-1"), {"gib": 1, "mb_s": 751}, None),
        (fsx.ontap("SINGLE_AZ_1", "us-west-2"), {"gib": 1, "mb_s": 1_001}, None),
        (fsx.ontap("SINGLE_AZ_1", "us-east-2"), {"gib": 1, "iops": 80_001}, (5_120, 4096, 160_000)),
        (fsx.ontap("MULTI_AZ_1", "us-east-2"), {"gib": 1, "mb_s": 1_800}, (5_120, 4096, 160_000)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 100_000}, (100_000, 64, 160_000)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 524_289}, None),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 64, "mb_s": 4_097}, None),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 64, "iops": 160_001}, None),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 160_001}, (161, 5120, 160_001)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 7_680}, (64, 7680, 192)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 7_681}, None),
        (fsx.ontap("MULTI_AZ_1", "us-east-1"), {"gib": 64, "iops": 160_001}, None),
    ],
)
def test_the_least_that_carries_it_is_bought(
    deployment: fsx.Deployment, asked: dict[str, float], least: tuple[int, int, int] | None
) -> None:
    assert bought(deployment, **asked) == least  # type: ignore[arg-type]


def test_storage_throughput_and_the_iops_above_three_for_each_gib_are_billed() -> None:
    plain, fast = (fsx.smallest(fsx.OPENZFS["MULTI_AZ_1"], stored_bytes=64 * GIB, iops=iops) for iops in (0, 960))
    assert plain
    assert fast

    assert {unit.item.id: unit.quantity for unit in plain.monthly_units} == {
        "fsx.openzfs.multi_az_1.storage": 64,
        "fsx.openzfs.multi_az_1.throughput": 160,
    }
    assert {unit.item.id: unit.quantity for unit in fast.monthly_units} == {
        "fsx.openzfs.multi_az_1.storage": 64,
        "fsx.openzfs.multi_az_1.throughput": 160,
        "fsx.openzfs.multi_az_1.iops": Decimal(960 - 192),
    }


@given(
    deployment=st.sampled_from([*fsx.OPENZFS.values(), *(fsx.ontap(*kind) for kind in ONTAP)]),
    gib=st.floats(1, 400_000),
    mb_s=st.floats(0, 5_000),
    iops=st.integers(0, 200_000),
)
def test_what_is_bought_holds_and_carries_what_was_asked(
    deployment: fsx.Deployment, gib: float, mb_s: float, iops: int
) -> None:
    found = fsx.smallest(deployment, stored_bytes=gib * GIB, bytes_per_s=mb_s * 1e6, iops=iops)
    largest = deployment.file_servers[-1]

    if found is None:
        assert mb_s > largest.write_mb_s or iops > largest.disk_iops or gib > deployment.max_gib - 1
    else:
        (server,) = [one for one in deployment.file_servers if one.throughput_mb_s == found.throughput_mb_s]
        assert found.storage_gib >= max(gib, deployment.min_gib, server.least_gib)
        assert server.write_mb_s >= mb_s
        assert server.disk_iops >= iops
        assert max(iops, server.least_iops) <= found.iops <= deployment.max_iops


@pytest.mark.parametrize(
    ("fields", "stored_gib", "iops", "expected"),
    [
        ({}, 300, 500, (300, 900)),
        ({}, 300, 960, (300, 960)),
        ({}, 10, 0, (64, 192)),
        ({}, 10, 20_000, (400, 20_000)),
        ({"file_system_type": "ONTAP"}, 10, 0, (1_024, 3_072)),
        (
            {"file_system_type": "ONTAP", "deployment_type": "SINGLE_AZ_2", "throughput_mb_s": 4_608},
            10,
            0,
            (3_072, 9_216),
        ),
        ({"file_system_type": "WINDOWS", "iops": None}, 10, 0, (32, None)),
    ],
)
def test_the_least_ssd_holds_the_data_and_has_the_iops(
    fields: dict[str, Any], stored_gib: float, iops: int, expected: tuple[int, int | None]
) -> None:
    smaller = fsx.with_least_ssd(examples.fsx(**fields), stored_bytes=stored_gib * GIB, iops=iops)

    assert (smaller.storage_gib, smaller.iops) == expected


def test_the_largest_ontap_file_server_requires_more_ssd_and_iops() -> None:
    largest = examples.fsx(file_system_type="ONTAP", throughput_mb_s=4_096, target=Target("123456789012", "us-east-1"))
    smaller = fsx.with_least_ssd(largest, stored_bytes=GIB, iops=0)

    assert (smaller.storage_gib, smaller.iops) == (5_120, 160_000)
