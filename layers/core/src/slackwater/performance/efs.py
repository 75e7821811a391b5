"""EFS: how fast a file system may be, on which credits, and what it is billed for.

Amazon EFS User Guide, "Amazon EFS performance", "Amazon EFS quotas" and "Metering"; Amazon EFS pricing. General Purpose
performance mode. `standard_bytes` is what is stored in Standard: colder classes earn no throughput.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Final, Literal

from slackwater.model.money import (
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_PROVISIONED_THROUGHPUT,
    Change,
    amount,
    efs_storage,
)
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB, TIB

type EfsMode = Literal["bursting", "provisioned", "elastic"]

EARNED_BYTES_PER_S_PER_GIB: Final = 50 * KIB
"""Burst credits earned for each GiB in Standard ("Amazon EFS performance", "Bursting throughput")."""
LEAST_BYTES_PER_S: Final = MIB
"""What is metered at least, however small the file system; AWS does not say whether credits are earned at it too."""
BURST_BYTES_PER_S: Final = 100 * MIB
"""What is metered at most in a burst, below 1 TiB; above, so much for each TiB."""
CREDITS_BYTES: Final = 2_308_974_418_330
"""2.1 TiB: what a new file system has, and what one below 1 TiB may save; above, so much for each TiB."""
READ_DISCOUNT: Final = 3
"""A byte that is read is metered as a third of one that is written, but never billed so by Elastic throughput."""


def earned_bytes_per_s(standard_bytes: float) -> float:
    """Credits earned, in the pessimistic reading: without the floor that throughput has."""
    return EARNED_BYTES_PER_S_PER_GIB * standard_bytes / GIB


def baseline_bytes_per_s(standard_bytes: float) -> float:
    """What is metered at most without credits."""
    return max(LEAST_BYTES_PER_S, earned_bytes_per_s(standard_bytes))


def burst_bytes_per_s(standard_bytes: float) -> float:
    """What is metered at most with credits; a Region may allow less."""
    return BURST_BYTES_PER_S * max(1.0, standard_bytes / TIB)


def full_credits_bytes(standard_bytes: float) -> int:
    """The most credits that a file system may have; it starts with as many."""
    return round(CREDITS_BYTES * max(1.0, standard_bytes / TIB))


def metered_bytes(written_bytes: float, read_bytes: float) -> float:
    """What these bytes cost in credits, and what they count for under a limit on throughput; also of rates."""
    return written_bytes + read_bytes / READ_DISCOUNT


def seconds_to_empty(credits_bytes: float, metered_bytes_per_s: float, standard_bytes: float) -> float | None:
    """How long these credits last; None where the rate is no more than the baseline."""
    net = metered_bytes_per_s - baseline_bytes_per_s(standard_bytes)
    return credits_bytes / net if net > 0 else None


def seconds_to_fill(credits_bytes: float, earned_bytes_per_s: float) -> float | None:
    """How long it takes to earn these credits without any I/O; None where nothing is earned."""
    return credits_bytes / earned_bytes_per_s if earned_bytes_per_s > 0 else None


def burst_s_a_day(standard_bytes: float) -> float:
    """For how many seconds at full burst a day's earnings pay."""
    return DAY_S * earned_bytes_per_s(standard_bytes) / burst_bytes_per_s(standard_bytes)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be read or written at most, in bytes or operations a second. A mix may use up both to one together."""

    read: float
    write: float

    def used(self, read: float, write: float) -> float:
        """The share of it that a mix uses; above 1 it is too much."""
        return read / self.read + write / self.write


@dataclass(frozen=True, slots=True)
class Limits:
    """What a mode allows whatever is stored; Elastic's operations are what a file system has before its quota is raised."""

    read_ms: float
    write_ms: float
    operations: Allowance
    client_bytes_per_s: float
    """For one client, reads and writes together."""


def limits(mode: EfsMode, *, one_zone: bool) -> Limits:
    """Latencies, operations a second and what one client may move ("Amazon EFS performance", summary table).

    Elastic's reads are of frequently used data (90,000 a second otherwise). Its 1,500 MiB/s for a client need amazon-efs-utils
    2.0 or later, or the EFS CSI driver; with anything older it is 500.
    """
    return ONE_ZONE if one_zone else REGIONAL[mode]


ONE_ZONE: Final = Limits(1.0, 1.6, Allowance(35_000, 7_000), 500 * MIB)
REGIONAL: Final[Mapping[EfsMode, Limits]] = {
    "bursting": Limits(1.0, 2.7, Allowance(35_000, 7_000), 500 * MIB),
    "provisioned": Limits(1.0, 2.7, Allowance(55_000, 25_000), 500 * MIB),
    "elastic": Limits(1.0, 2.7, Allowance(250_000, 50_000), 1_500 * MIB),
}

FOUR_REGIONS: Final = frozenset({"us-east-1", "us-east-2", "us-west-2", "eu-west-1"})
HIGH_REGIONS: Final[Mapping[EfsMode, frozenset[str]]] = {
    "bursting": FOUR_REGIONS | {"ap-southeast-2"},
    "provisioned": FOUR_REGIONS,
    "elastic": FOUR_REGIONS
    | {"ap-south-1", "ap-northeast-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2", "eu-central-1", "eu-west-2"},
}
"""Where a Regional file system may be faster than elsewhere ("Amazon EFS quotas", total throughput)."""
HIGH: Final[Mapping[EfsMode, Allowance]] = {
    "bursting": Allowance(5 * GIB, 3 * GIB),
    "provisioned": Allowance(10 * GIB, 3.33 * GIB),
    "elastic": Allowance(60 * GIB, 5 * GIB),
}
ELSEWHERE: Final[Mapping[EfsMode, Allowance]] = {
    "bursting": Allowance(3 * GIB, GIB),
    "provisioned": Allowance(3 * GIB, GIB),
    "elastic": Allowance(20 * GIB, GIB),
}
IN_ONE_ZONE: Final = Allowance(3 * GIB, GIB)


def region_allows(mode: EfsMode, region: str, *, one_zone: bool) -> Allowance:
    """What all clients of a file system may move together in a Region, in bytes a second."""
    if one_zone:
        return IN_ONE_ZONE
    return (HIGH if region in HIGH_REGIONS[mode] else ELSEWHERE)[mode]


def allows(
    mode: EfsMode, region: str, *, one_zone: bool, standard_bytes: float, provisioned_bytes_per_s: float = 0
) -> Allowance:
    """What all clients of this file system may move together, with credits where it bursts, in bytes a second."""
    most = region_allows(mode, region, one_zone=one_zone)
    if mode == "elastic":
        return most
    metered = burst_bytes_per_s(standard_bytes)
    if mode == "provisioned" and not is_bursting(provisioned_bytes_per_s, standard_bytes):
        metered = provisioned_bytes_per_s
    return Allowance(min(READ_DISCOUNT * metered, most.read), min(metered, most.write))


def is_bursting(provisioned_bytes_per_s: float, standard_bytes: float) -> bool:
    """True where less is provisioned than the size earns: such a file system bursts as if nothing were."""
    return provisioned_bytes_per_s < baseline_bytes_per_s(standard_bytes)


PROVISIONED_MIB_S: Final = (1, 3_414)
"""The least and the most that can be provisioned (Amazon EFS API, UpdateFileSystem, ProvisionedThroughputInMibps)."""
INCLUDED_GIB_PER_MIB_S: Final = 20
"""Provisioned throughput includes 1 MiB/s for every 20 GiB in Standard (Amazon EFS pricing, "Provisioned Throughput")."""

LEAST_DATA_BYTES: Final = 32 * KIB
LEAST_METADATA_BYTES: Final = 4 * KIB
"""What Elastic throughput bills for one operation at least; above, in steps of 1 KiB ("Metering")."""


def billed_bytes(operation_bytes: float, *, least: int = LEAST_DATA_BYTES) -> int:
    """What Elastic throughput bills for one operation."""
    return max(least, ceil(operation_bytes / KIB) * KIB)


def elastic_units(read_bytes: float, write_bytes: float, operation_bytes: float | None = None) -> tuple[Change, ...]:
    """What Elastic throughput bills for data, in operations of `operation_bytes`; without it they are of 32 KiB or more."""
    factor = billed_bytes(operation_bytes) / operation_bytes if operation_bytes else 1.0
    return (
        Change(EFS_ELASTIC_READ, amount(read_bytes * factor / GIB)),
        Change(EFS_ELASTIC_WRITE, amount(write_bytes * factor / GIB)),
    )


def provisioned_units(provisioned_mib_s: float, standard_bytes: float) -> Change:
    """The throughput that is paid for in a month: what is provisioned above what the size includes."""
    return Change(
        EFS_PROVISIONED_THROUGHPUT, amount(max(0.0, provisioned_mib_s - standard_bytes / GIB / INCLUDED_GIB_PER_MIB_S))
    )


def break_even_share(
    provisioned_usd: Decimal, elastic_usd_per_gib: Decimal, metered_per_byte: float, hours_per_month: Decimal
) -> float:
    """The average use of provisioned throughput above which Elastic costs more, as a share of what is provisioned.

    `provisioned_usd` is for 1 MiB/s for a month; `elastic_usd_per_gib` is of the mix of reads and writes, and
    `metered_per_byte` what a byte of it is metered as: 1 if it is all writes, a third if it is all reads.
    """
    moved_gib = float(hours_per_month) * HOUR_S * MIB / metered_per_byte / GIB
    return float(provisioned_usd) / (float(elastic_usd_per_gib) * moved_gib)


def monthly_units(file_system: EfsFileSystem) -> tuple[Change, ...]:
    """Everything a file system at rest is billed for: storage by class, and throughput bought above what is included."""
    one_zone = file_system.availability_zone is not None
    elastic = file_system.throughput_mode == "elastic"
    units = [
        Change(efs_storage(storage_class, one_zone=one_zone, elastic=elastic), amount(size / GIB))
        for storage_class, size in file_system.stored_bytes.items()
        if size
    ]
    if file_system.provisioned_mib_s:
        units.append(provisioned_units(file_system.provisioned_mib_s, file_system.stored_bytes.get("Standard", 0)))
    return tuple(unit for unit in units if unit.quantity > Decimal(0))
