"""Prices and changes of what is paid for. Money is Decimal, in US dollars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import log2
from typing import Final

from slackwater.model.resources import EfsStorageClass
from slackwater.model.units import HOURS_PER_MONTH


@dataclass(frozen=True, slots=True, order=True)
class PriceItem:
    """Something AWS has one price for in a region. `id` is what a policy's override names."""

    id: str
    unit: str


@dataclass(frozen=True, slots=True)
class Price:
    """What one unit of an item costs, who says so, and since when."""

    usd: Decimal
    source: str
    as_of: date


@dataclass(frozen=True, slots=True)
class Change:
    """Units of an item per month that a recommendation saves (positive) or adds (negative)."""

    item: PriceItem
    quantity: Decimal


type PriceTable = Mapping[PriceItem, Price]
"""The prices of one region. An item that is not in it has no known price."""

GIB_MONTH: Final = "GiB-month"

USD_PER_METRIC: Final = Decimal("0.00001")
"""GetMetricData: 0.01 USD for 1,000 metrics asked for (Amazon CloudWatch pricing)."""


def ebs_storage(volume_type: str) -> PriceItem:
    """Provisioned capacity of an EBS volume type."""
    return PriceItem(f"ebs.{volume_type}.storage", GIB_MONTH)


EBS_GP3_THROUGHPUT: Final = PriceItem("ebs.gp3.throughput", "MiB/s-month")
EBS_SNAPSHOT_STORAGE: Final = PriceItem("ebs.snapshot.storage", GIB_MONTH)
EFS_BACKUP_STORAGE: Final = PriceItem("efs.backup.storage", GIB_MONTH)
"""Warm storage of AWS Backup."""
OPENZFS_BACKUP_STORAGE: Final = PriceItem("fsx.openzfs.backup.storage", GIB_MONTH)


def ebs_iops(volume_type: str) -> PriceItem:
    """Provisioned IOPS of gp3 (above 3,000), io1, or io2's first tier (up to 32,000)."""
    return PriceItem(f"ebs.{volume_type}.iops", "IOPS-month")


def ebs_iops_tier(tier: int) -> PriceItem:
    """io2's dearer-to-cheaper tiers: 2 is 32,001 to 64,000 IOPS, 3 is above."""
    return PriceItem(f"ebs.io2.iops.tier{tier}", "IOPS-month")


def efs_storage(storage_class: EfsStorageClass, *, one_zone: bool, elastic: bool) -> PriceItem:
    """EFS capacity by class. Only Infrequent Access has a price of its own under Elastic throughput."""
    zone = "one-zone." if one_zone else ""
    suffix = ".elastic" if storage_class == "IA" and elastic and not one_zone else ""
    return PriceItem(f"efs.{zone}{storage_class.lower()}.storage{suffix}", GIB_MONTH)


EFS_PROVISIONED_THROUGHPUT: Final = PriceItem("efs.provisioned.throughput", "MiB/s-month")
EFS_ELASTIC_READ: Final = PriceItem("efs.elastic.read", "GiB")
EFS_ELASTIC_WRITE: Final = PriceItem("efs.elastic.write", "GiB")
EFS_IA_READ: Final = PriceItem("efs.ia.read", "GiB")
EFS_IA_TIERING: Final = PriceItem("efs.ia.tiering", "GiB")
"""What moves between Standard and Infrequent Access, either way."""


def fsx_storage(file_system_type: str, deployment_type: str) -> PriceItem:
    """Provisioned SSD of an FSx file system, types as FSx writes them: `OPENZFS`, `MULTI_AZ_1`."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.storage", GIB_MONTH)


def fsx_throughput(file_system_type: str, deployment_type: str) -> PriceItem:
    """Throughput capacity of an FSx file system, from the first MB/s on."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.throughput", "MB/s-month")


def fsx_iops(file_system_type: str, deployment_type: str) -> PriceItem:
    """SSD IOPS of an FSx file system above the 3 for each GiB that are included."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.iops", "IOPS-month")


def _fsx(file_system_type: str, deployment_type: str) -> str:
    return f"fsx.{file_system_type.lower()}.{deployment_type.lower()}"


def ec2_hour(instance_type: str) -> PriceItem:
    """One hour of a Linux on-demand instance."""
    return PriceItem(f"ec2.{instance_type}.hour", "hour")


def ec2_cpu_credits(family: str) -> PriceItem:
    """One vCPU-hour of surplus CPU credits of a T family such as `t3` (Linux)."""
    return PriceItem(f"ec2.{family}.cpu-credits", "vCPU-hour")


VPC_ENDPOINT_HOUR: Final = PriceItem("vpc.interface-endpoint.hour", "hour")
VPC_ENDPOINT_GIB: Final = PriceItem("vpc.interface-endpoint.data", "GiB")


def hours(count: float = 1) -> Decimal:
    """`count` things for every hour of a month."""
    return Decimal(str(count)) * HOURS_PER_MONTH


def difference(before: Iterable[Change], after: Iterable[Change]) -> tuple[Change, ...]:
    """What is paid for no more (positive) and what comes in its place (negative)."""
    units: defaultdict[PriceItem, Decimal] = defaultdict(Decimal)
    for change in before:
        units[change.item] += change.quantity
    for change in after:
        units[change.item] -= change.quantity
    return tuple(Change(item, quantity) for item, quantity in units.items() if quantity)


def size_class(size: float) -> int:
    """A size to the nearest power of two, for what must not change with every byte."""
    return round(log2(size)) if size >= 1 else 0


def amount(value: float) -> Decimal:
    """A measured quantity as Decimal, without binary noise (9 significant digits)."""
    return Decimal(f"{value:.9g}")
