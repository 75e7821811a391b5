"""FSx file systems: AWS's tables of file servers, and the least that can be bought."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.model.units import GIB
from slackwater.performance import fsx

SINGLE_AZ_1 = [
    (64, 64, 2_500),
    (128, 128, 5_000),
    (256, 256, 10_000),
    (512, 512, 20_000),
    (1024, 1024, 40_000),
    (2048, 2048, 80_000),
    (3072, 3072, 120_000),
    (4096, 4096, 160_000),
]
MULTI_AZ_1 = [
    (160, 160, 6_250),
    (320, 320, 12_500),
    (640, 640, 25_000),
    (1280, 1280, 50_000),
    (2560, 2560, 100_000),
    (3840, 3840, 150_000),
    (5120, 5120, 200_000),
    (7680, 7680, 300_000),
    (10240, 10240, 400_000),
]


@pytest.mark.parametrize(("deployment", "table"), [("SINGLE_AZ_1", SINGLE_AZ_1), ("MULTI_AZ_1", MULTI_AZ_1)])
def test_openzfs_file_servers_are_those_of_the_published_tables(deployment: str, table: list[tuple[int, int, int]]) -> None:
    servers = fsx.OPENZFS[deployment].file_servers

    assert [(one.throughput_mb_s, one.disk_mb_s, one.disk_iops) for one in servers] == table


@pytest.mark.parametrize("deployment", ["SINGLE_AZ_1", "MULTI_AZ_1"])
def test_ontap_has_the_throughputs_of_its_first_generation(deployment: str) -> None:
    assert [one.throughput_mb_s for one in fsx.ONTAP[deployment].file_servers] == [128, 256, 512, 1024, 2048, 4096]


def bought(deployment: fsx.Deployment, gib: float, mb_s: float = 0, iops: int = 0) -> tuple[int, int, int] | None:
    found = fsx.smallest(deployment, stored_bytes=gib * GIB, bytes_per_s=mb_s * 1e6, iops=iops)
    return found and (found.storage_gib, found.throughput_mb_s, found.iops)


@pytest.mark.parametrize(
    ("deployment", "asked", "least"),
    [
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 1}, (64, 160, 192)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 1}, (64, 64, 192)),
        (fsx.ONTAP["MULTI_AZ_1"], {"gib": 1}, (1024, 128, 3072)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 100.2}, (101, 160, 303)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 160}, (64, 160, 192)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "mb_s": 160.1}, (64, 320, 192)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 960}, (64, 160, 960)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 6_251}, (64, 320, 6_251)),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 64_001}, (65, 2560, 64_001)),
        (fsx.ONTAP["SINGLE_AZ_1"], {"gib": 1024, "iops": 60_000}, (1200, 128, 60_000)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 100_000}, (100_000, 64, 160_000)),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 524_289}, None),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 64, "mb_s": 4_097}, None),
        (fsx.OPENZFS["SINGLE_AZ_1"], {"gib": 64, "iops": 160_001}, None),
        (fsx.OPENZFS["MULTI_AZ_1"], {"gib": 64, "iops": 160_001}, (161, 5120, 160_001)),
        (fsx.ONTAP["MULTI_AZ_1"], {"gib": 64, "iops": 160_001}, None),
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
    deployment=st.sampled_from([*fsx.OPENZFS.values(), *fsx.ONTAP.values()]),
    gib=st.floats(1, 400_000),
    mb_s=st.floats(0, 5_000),
    iops=st.integers(0, 200_000),
)
def test_what_is_bought_holds_and_carries_what_was_asked(
    deployment: fsx.Deployment, gib: float, mb_s: float, iops: int
) -> None:
    found = fsx.smallest(deployment, stored_bytes=gib * GIB, bytes_per_s=mb_s * 1e6, iops=iops)

    if found is None:
        assert mb_s > 4_096 or iops > 160_000
    else:
        assert found.storage_gib >= max(gib, deployment.min_gib)
        assert found.throughput_mb_s >= mb_s
        assert iops <= found.iops <= deployment.max_iops
