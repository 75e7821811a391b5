"""The billed units of volumes and file systems."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from slackwater.model.resources import EfsFileSystem, Target, Volume
from slackwater.model.units import GIB
from slackwater.performance import ebs, efs

HERE = Target("123456789012", "us-east-1")
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
VOLUME = Volume(
    id="vol-1", arn="a", target=HERE, tags={}, volume_type="gp3", size_gib=100, iops=3000, throughput_mib_s=125,
    state="available", created_at=LONG_AGO, availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip
FILE_SYSTEM = EfsFileSystem(
    id="fs-1", arn="a", target=HERE, tags={}, state="available", created_at=LONG_AGO, throughput_mode="bursting",
    provisioned_mib_s=None, performance_mode="generalPurpose", availability_zone=None,
    stored_bytes={"Standard": 200 * GIB, "IA": 50 * GIB, "Archive": 0}, mount_targets=1, is_replica=False,
)  # fmt: skip


def units(volume: Volume) -> dict[str, Decimal]:
    return {unit.item.id: unit.quantity for unit in ebs.monthly_units(volume)}


@pytest.mark.parametrize(
    ("changes", "billed"),
    [
        ({}, {"ebs.gp3.storage": 100}),
        (
            {"iops": 4000, "throughput_mib_s": 200},
            {"ebs.gp3.storage": 100, "ebs.gp3.iops": 1000, "ebs.gp3.throughput": 75},
        ),
        ({"volume_type": "gp2", "iops": 300, "throughput_mib_s": None}, {"ebs.gp2.storage": 100}),
        ({"volume_type": "io1", "iops": 3000}, {"ebs.io1.storage": 100, "ebs.io1.iops": 3000}),
        ({"volume_type": "io2", "iops": 32_000}, {"ebs.io2.storage": 100, "ebs.io2.iops": 32_000}),
        (
            {"volume_type": "io2", "iops": 100_000},
            {
                "ebs.io2.storage": 100,
                "ebs.io2.iops": 32_000,
                "ebs.io2.iops.tier2": 32_000,
                "ebs.io2.iops.tier3": 36_000,
            },
        ),
    ],
)
def test_a_volume_is_billed_for_its_size_and_for_what_is_above_the_included(
    changes: dict[str, object], billed: dict[str, int]
) -> None:
    assert units(replace(VOLUME, **changes)) == billed  # type: ignore[arg-type]


def test_a_file_system_is_billed_by_class_and_one_zone_has_prices_of_its_own() -> None:
    assert {unit.item.id: unit.quantity for unit in efs.monthly_units(FILE_SYSTEM)} == {
        "efs.standard.storage": 200,
        "efs.ia.storage": 50,
    }
    one_zone = replace(FILE_SYSTEM, availability_zone="us-east-1a")
    assert {unit.item.id for unit in efs.monthly_units(one_zone)} == {
        "efs.one-zone.standard.storage",
        "efs.one-zone.ia.storage",
    }
    elastic = replace(FILE_SYSTEM, throughput_mode="elastic")
    assert {unit.item.id for unit in efs.monthly_units(elastic)} == {"efs.standard.storage", "efs.ia.storage.elastic"}


@pytest.mark.parametrize(("provisioned", "paid"), [(100, 90), (10, None), (5, None)])
def test_provisioned_throughput_is_billed_above_a_mib_s_for_each_20_gib_in_standard(
    provisioned: float, paid: int | None
) -> None:
    bought = replace(FILE_SYSTEM, throughput_mode="provisioned", provisioned_mib_s=provisioned)
    billed = {unit.item.id: unit.quantity for unit in efs.monthly_units(bought)}

    assert billed.get("efs.provisioned.throughput") == paid
