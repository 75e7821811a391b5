"""Queries of the Price List Query API for each item, and how to pick the item's price from the result.

Source: AWS Billing documentation, "Using the AWS Price List Query API", and recorded results. Usage types begin with
the Region's prefix (EBS in us-east-1 has none), so patterns match what follows the prefix.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from slackwater.model.money import (
    EBS_GP3_THROUGHPUT,
    EBS_MAGNETIC_REQUESTS,
    EFS_ARCHIVE_READ,
    EFS_ARCHIVE_TIERING,
    EFS_BACKUP_STORAGE,
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_IA_READ,
    EFS_IA_TIERING,
    EFS_PROVISIONED_THROUGHPUT,
    OPENZFS_BACKUP_STORAGE,
    VPC_ENDPOINT_GIB,
    VPC_ENDPOINT_HOUR,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuery:
    """The query for one item.

    Attributes:
        service: The service code.
        filters: The filters of GetProducts.
        usage_type: A pattern for the usage type without the Region's prefix.
        units: The units in which AWS may state the price, and how many of Slackwater's units each has.
    """

    service: str
    filters: Mapping[str, str]
    usage_type: str
    units: Mapping[str, Decimal]


ONE: Final = Decimal(1)
GIB_MONTHS: Final = {"GB-Mo": ONE, "GB-month": ONE}
MIBPS_MONTHS: Final = {"MiBps-Mo": ONE, "MiBps-mo": ONE, "GiBps-mo": Decimal(1024), "GiBps-Mo": Decimal(1024)}
IOPS_MONTHS: Final = {"IOPS-Mo": ONE}
MILLION_REQUESTS: Final = {"IOs": Decimal("0.000001")}
HOURS: Final = {"Hrs": ONE}
VCPU_HOURS: Final = {"vCPU-Hours": ONE}
GIBS: Final = {"GB": ONE}

VOLUME_USAGE: Final = {
    "gp2": "VolumeUsage.gp2",
    "gp3": "VolumeUsage.gp3",
    "io1": "VolumeUsage.piops",
    "io2": "VolumeUsage.io2",
    "sc1": "VolumeUsage.sc1",
    "st1": "VolumeUsage.st1",
    "standard": "VolumeUsage",
}
IOPS_USAGE: Final = {
    "gp3.iops": ("gp3", "VolumeP-IOPS.gp3"),
    "io1.iops": ("io1", "VolumeP-IOPS.piops"),
    "io2.iops": ("io2", "VolumeP-IOPS.io2"),
    "io2.iops.tier2": ("io2", "VolumeP-IOPS.io2.tier2"),
    "io2.iops.tier3": ("io2", "VolumeP-IOPS.io2.tier3"),
}
EFS_USAGE: Final = {
    "standard.storage": ("General Purpose", "TimedStorage-ByteHrs"),
    "ia.storage": ("Infrequent Access", "IATimedStorage-ByteHrs"),
    "ia.storage.elastic": ("Infrequent Access-ET", "IATimedStorage-ET-ByteHrs"),
    "archive.storage": ("Archive", "ArchiveTimedStorage-ByteHrs"),
    "one-zone.standard.storage": ("One Zone-General Purpose", "TimedStorage-Z-ByteHrs"),
    "one-zone.ia.storage": ("One Zone-Infrequent Access", "IATimedStorage-Z-ByteHrs"),
}
EFS_ACCESS: Final = {
    EFS_ELASTIC_READ.id: ("Read", "ETDataAccess-Bytes"),
    EFS_ELASTIC_WRITE.id: ("Write", "ETDataAccess-Bytes"),
    EFS_IA_READ.id: ("Read", "IADataAccess-Bytes"),
    EFS_IA_TIERING.id: ("Write", "IADataAccess-Bytes"),
    EFS_ARCHIVE_READ.id: ("Read", "ArchiveDataAccess-Bytes"),
    EFS_ARCHIVE_TIERING.id: ("Write", "ArchiveDataAccess-Bytes"),
}
CREDIT_FAMILIES: Final = ("t2", "t3", "t3a", "t4g")
FSX_DEPLOYMENT: Final = {
    "openzfs.single_az_1": ("OpenZFS", "Single-AZ"),
    "openzfs.single_az_2": ("OpenZFS", "Single-AZ_2"),
    "openzfs.multi_az_1": ("OpenZFS", "Multi-AZ"),
    "ontap.single_az_1": ("ONTAP", "Single-AZ_2N"),
    "ontap.single_az_2": ("ONTAP", "Single-AZ_2N-2"),
    "ontap.multi_az_1": ("ONTAP", "Multi-AZ"),
    "ontap.multi_az_2": ("ONTAP", "Multi-AZ-2"),
}
"""FSx's deployment types as the price list names them. It lacks the single-zone, high-availability types of OpenZFS."""


def query_for(item_id: str) -> PriceQuery | None:
    """Return the query for an item; None if the Price List has no such item."""
    service, _, rest = item_id.partition(".")
    query = QUERIES.get(service)
    return query(rest) if query else None


def _ebs(rest: str) -> PriceQuery | None:
    if rest == "snapshot.storage":
        return _ec2({"productFamily": "Storage Snapshot"}, r"EBS:SnapshotUsage", GIB_MONTHS)
    if f"ebs.{rest}" == EBS_GP3_THROUGHPUT.id:
        filters = {"productFamily": "Provisioned Throughput", "volumeApiName": "gp3"}
        return _ec2(filters, r"EBS:VolumeP-Throughput\.gp3", MIBPS_MONTHS)
    if f"ebs.{rest}" == EBS_MAGNETIC_REQUESTS.id:
        return _ec2({"productFamily": "System Operation"}, r"EBS:VolumeIOUsage", MILLION_REQUESTS)
    if rest in IOPS_USAGE:
        volume_type, usage = IOPS_USAGE[rest]
        return _ec2(
            {"productFamily": "System Operation", "volumeApiName": volume_type}, rf"EBS:{_exact(usage)}", IOPS_MONTHS
        )
    volume_type = rest.removesuffix(".storage")
    if volume_type not in VOLUME_USAGE:
        return None
    # Records of magnetic volumes do not name the type as the API does.
    named = {"volumeType": "Magnetic"} if volume_type == "standard" else {"volumeApiName": volume_type}
    return _ec2({"productFamily": "Storage", **named}, rf"EBS:{_exact(VOLUME_USAGE[volume_type])}", GIB_MONTHS)


def _efs(rest: str) -> PriceQuery | None:
    if f"efs.{rest}" == EFS_PROVISIONED_THROUGHPUT.id:
        filters = {"productFamily": "Provisioned Throughput", "throughputClass": "Provisioned"}
        return PriceQuery(service="AmazonEFS", filters=filters, usage_type="ProvisionedTP-MiBpsHrs", units=MIBPS_MONTHS)
    if charged := EFS_ACCESS.get(f"efs.{rest}"):
        access, usage = charged
        return PriceQuery(service="AmazonEFS", filters={"accessType": access}, usage_type=usage, units=GIBS)
    if f"efs.{rest}" == EFS_BACKUP_STORAGE.id:
        filters = {"productFamily": "AWS Backup Storage"}
        return PriceQuery(service="AWSBackup", filters=filters, usage_type="WarmStorage-ByteHrs-EFS", units=GIB_MONTHS)
    if rest not in EFS_USAGE:
        return None
    storage_class, usage = EFS_USAGE[rest]
    filters = {"productFamily": "Storage", "storageClass": storage_class}
    return PriceQuery(service="AmazonEFS", filters=filters, usage_type=usage, units=GIB_MONTHS)


def _ec2_item(rest: str) -> PriceQuery | None:
    if rest.endswith(".hour"):
        return _instance(rest.removesuffix(".hour"))
    family = rest.removesuffix(".cpu-credits")
    return _cpu_credits(family) if family in CREDIT_FAMILIES else None


def _instance(instance_type: str) -> PriceQuery:
    filters = {
        "productFamily": "Compute Instance",
        "instanceType": instance_type,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    return _ec2(filters, rf"BoxUsage:{_exact(instance_type)}", HOURS)


def _cpu_credits(family: str) -> PriceQuery:
    filters = {"productFamily": "CPU Credits", "operatingSystem": "Linux"}
    return _ec2(filters, rf"CPUCredits:{_exact(family)}", VCPU_HOURS)


def _fsx(rest: str) -> PriceQuery | None:
    if f"fsx.{rest}" == OPENZFS_BACKUP_STORAGE.id:
        filters = {"productFamily": "Storage", "fileSystemType": "OpenZFS"}
        return PriceQuery(service="AmazonFSx", filters=filters, usage_type="BackupUsage", units=GIB_MONTHS)
    deployment, _, what = rest.rpartition(".")
    if deployment not in FSX_DEPLOYMENT:
        return None
    file_system_type, option = FSX_DEPLOYMENT[deployment]
    # OpenZFS and ONTAP share usage types: only the type of file system tells them apart.
    filters = {"fileSystemType": file_system_type, "deploymentOption": option}
    match what:
        case "storage":
            filters |= {"productFamily": "Storage", "storageType": "SSD"}
            usage, units = r"Storage\.\w+:SSD", GIB_MONTHS
        case "throughput":
            filters |= {"productFamily": "Provisioned Throughput"}
            usage, units = r"ThroughputCapacity\.\w+", MIBPS_MONTHS
        case "iops":
            filters |= {"productFamily": "Provisioned IOPS"}
            usage, units = r"ProvisionedSSDIOPS\.\w+", IOPS_MONTHS
        case _:
            return None
    return PriceQuery(service="AmazonFSx", filters=filters, usage_type=usage, units=units)


def _endpoint(rest: str) -> PriceQuery | None:
    item_id = f"vpc.{rest}"
    known = {VPC_ENDPOINT_HOUR.id: ("VpcEndpoint-Hours", HOURS), VPC_ENDPOINT_GIB.id: ("VpcEndpoint-Bytes", GIBS)}
    if item_id not in known:
        return None
    usage, units = known[item_id]
    return PriceQuery(service="AmazonVPC", filters={"productFamily": "VpcEndpoint"}, usage_type=usage, units=units)


QUERIES: Final[Mapping[str, Callable[[str], PriceQuery | None]]] = {
    "ebs": _ebs,
    "efs": _efs,
    "ec2": _ec2_item,
    "fsx": _fsx,
    "vpc": _endpoint,
}
"""Functions that make a query from the rest of an item's id, by the first part of the id."""


def _ec2(filters: Mapping[str, str], usage_type: str, units: Mapping[str, Decimal]) -> PriceQuery:
    return PriceQuery(service="AmazonEC2", filters=filters, usage_type=usage_type, units=units)


def _exact(usage: str) -> str:
    return usage.replace(".", r"\.")
