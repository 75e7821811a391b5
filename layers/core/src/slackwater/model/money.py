"""Prices, and changes of the billed units. Money is Decimal, in US dollars."""

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
    """Something for which AWS has one price in a Region. A price override in the policy names it by its `id`."""

    id: str
    unit: str


@dataclass(frozen=True, slots=True)
class Price:
    """What one unit of an item costs, in USD, with the source and its date."""

    usd: Decimal
    source: str
    as_of: date


@dataclass(frozen=True, slots=True)
class Change:
    """How many units of an item a recommendation saves (positive) or adds (negative) a month."""

    item: PriceItem
    quantity: Decimal


type PriceTable = Mapping[PriceItem, Price]
"""The prices of one Region. An item without an entry has no known price."""

GIB_MONTH: Final = "GiB-month"

USD_PER_METRIC: Final = Decimal("0.00001")
"""GetMetricData: $0.01 per 1,000 requested metrics (Amazon CloudWatch pricing)."""


def ebs_storage(volume_type: str) -> PriceItem:
    """Return the item for provisioned capacity of an EBS volume type."""
    return PriceItem(f"ebs.{volume_type}.storage", GIB_MONTH)


EBS_GP3_THROUGHPUT: Final = PriceItem("ebs.gp3.throughput", "MiB/s-month")
EBS_MAGNETIC_REQUESTS: Final = PriceItem("ebs.standard.requests", "million requests")
EBS_SNAPSHOT_STORAGE: Final = PriceItem("ebs.snapshot.storage", GIB_MONTH)
EFS_BACKUP_STORAGE: Final = PriceItem("efs.backup.storage", GIB_MONTH)
"""Warm storage of AWS Backup."""
OPENZFS_BACKUP_STORAGE: Final = PriceItem("fsx.openzfs.backup.storage", GIB_MONTH)


def ebs_iops(volume_type: str) -> PriceItem:
    """Return the item for provisioned IOPS of gp3 (above 3,000), io1, or io2's first tier (up to 32,000)."""
    return PriceItem(f"ebs.{volume_type}.iops", "IOPS-month")


def ebs_iops_tier(tier: int) -> PriceItem:
    """Return the item for io2's IOPS above the first tier: 2 is 32,001 to 64,000 IOPS, 3 is above."""
    return PriceItem(f"ebs.io2.iops.tier{tier}", "IOPS-month")


def efs_storage(storage_class: EfsStorageClass, *, one_zone: bool, elastic: bool) -> PriceItem:
    """Return the item for EFS capacity by class. Elastic throughput only changes the price of Infrequent Access."""
    zone = "one-zone." if one_zone else ""
    suffix = ".elastic" if storage_class == "IA" and elastic and not one_zone else ""
    return PriceItem(f"efs.{zone}{storage_class.lower()}.storage{suffix}", GIB_MONTH)


EFS_PROVISIONED_THROUGHPUT: Final = PriceItem("efs.provisioned.throughput", "MiB/s-month")
EFS_ELASTIC_READ: Final = PriceItem("efs.elastic.read", "GiB")
EFS_ELASTIC_WRITE: Final = PriceItem("efs.elastic.write", "GiB")
EFS_IA_READ: Final = PriceItem("efs.ia.read", "GiB")
EFS_IA_TIERING: Final = PriceItem("efs.ia.tiering", "GiB")
"""Data that moves between Standard and Infrequent Access, in either direction."""
EFS_ARCHIVE_READ: Final = PriceItem("efs.archive.read", "GiB")
EFS_ARCHIVE_TIERING: Final = PriceItem("efs.archive.tiering", "GiB")
"""Data that moves to Archive or back."""


def fsx_storage(file_system_type: str, deployment_type: str) -> PriceItem:
    """Return the item for provisioned SSD of an FSx file system. Types are as in FSx's API: `OPENZFS`, `MULTI_AZ_1`."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.storage", GIB_MONTH)


def fsx_throughput(file_system_type: str, deployment_type: str) -> PriceItem:
    """Return the item for the throughput capacity of an FSx file system, which is billed from the first MB/s on."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.throughput", "MB/s-month")


def fsx_iops(file_system_type: str, deployment_type: str) -> PriceItem:
    """Return the item for SSD IOPS of an FSx file system, above the 3 per GiB that are included."""
    return PriceItem(f"{_fsx(file_system_type, deployment_type)}.iops", "IOPS-month")


def _fsx(file_system_type: str, deployment_type: str) -> str:
    return f"fsx.{file_system_type.lower()}.{deployment_type.lower()}"


def ec2_hour(instance_type: str) -> PriceItem:
    """Return the item for one hour of a Linux On-Demand instance."""
    return PriceItem(f"ec2.{instance_type}.hour", "hour")


def ec2_cpu_credits(family: str) -> PriceItem:
    """Return the item for one vCPU-hour of surplus CPU credits of a T family such as `t3` (Linux)."""
    return PriceItem(f"ec2.{family}.cpu-credits", "vCPU-hour")


VPC_ENDPOINT_HOUR: Final = PriceItem("vpc.interface-endpoint.hour", "hour")
VPC_ENDPOINT_GIB: Final = PriceItem("vpc.interface-endpoint.data", "GiB")


def hours(count: float = 1) -> Decimal:
    """Return the hours in a month, times `count` resources."""
    return Decimal(str(count)) * HOURS_PER_MONTH


def difference(before: Iterable[Change], after: Iterable[Change]) -> tuple[Change, ...]:
    """Return the units that are no longer billed (positive) and the units that are billed instead (negative)."""
    units: defaultdict[PriceItem, Decimal] = defaultdict(Decimal)
    for change in before:
        units[change.item] += change.quantity
    for change in after:
        units[change.item] -= change.quantity
    return tuple(Change(item, quantity) for item, quantity in units.items() if quantity)


def size_class(size: float) -> int:
    """Return the exponent of the nearest power of two, so that a fingerprint does not change with every byte."""
    return round(log2(size)) if size >= 1 else 0


def amount(value: float) -> Decimal:
    """Return a measured quantity as Decimal with 9 significant digits, which drops the error of binary floats."""
    return Decimal(f"{value:.9g}")
