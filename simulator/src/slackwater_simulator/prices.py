"""Hold public on-demand prices in USD: the Price List API's answers for what the fleets use.

Sources: AWS Price List API and pricing pages for us-east-1 (2026-08) and ap-northeast-1 (EBS effective 2026-09-01, FSx
ONTAP 2026-07-01), the reports "Can Amazon EFS replace EBS?" (2025-02-19) and "Sharing WordPress content on FSx for
OpenZFS" (2025-03). Prices marked (?) are general knowledge or a usual ratio, not checked against AWS. Items without a
source are left out, as some are from real answers: Single-AZ OpenZFS in Tokyo has no price here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

US, TOKYO = "us-east-1", "ap-northeast-1"
LOCATIONS = {US: "US East (N. Virginia)", TOKYO: "Asia Pacific (Tokyo)"}
_PREFIX = {US: "USE1-", TOKYO: "APN1-"}

# A line with `=` starts a product family: service, family, operation. The lines below it are its items: usage type
# without the Region's prefix, unit, price in us-east-1, price in Tokyo (`-`: none), attributes.
_TABLE = """
= AmazonEC2 | Storage |
EBS:VolumeUsage.gp3 | GB-Mo | 0.08 | 0.096 | volumeApiName=gp3; storageMedia=SSD-backed
EBS:VolumeUsage.gp2 | GB-Mo | 0.1 | 0.12 | volumeApiName=gp2; storageMedia=SSD-backed
EBS:VolumeUsage.piops | GB-Mo | 0.125 | 0.142 | volumeApiName=io1; storageMedia=SSD-backed
EBS:VolumeUsage.io2 | GB-month | 0.125 | 0.142 | volumeApiName=io2; storageMedia=SSD-backed
EBS:VolumeUsage.st1 | GB-Mo | 0.045 | 0.054 | volumeApiName=st1; storageMedia=SSD-backed
EBS:VolumeUsage.sc1 | GB-Mo | 0.015 | 0.018 | volumeApiName=sc1; storageMedia=SSD-backed
EBS:VolumeUsage | GB-Mo | 0.05 | 0.08 | volumeType=Magnetic
= AmazonEC2 | System Operation |
EBS:VolumeP-IOPS.gp3 | IOPS-Mo | 0.005 | 0.006 | volumeApiName=gp3; group=EBS IOPS
EBS:VolumeP-IOPS.piops | IOPS-Mo | 0.065 | 0.074 | volumeApiName=io1; group=EBS IOPS
EBS:VolumeP-IOPS.io2 | IOPS-Mo | 0.065 | 0.074 | volumeApiName=io2; group=EBS IOPS
EBS:VolumeP-IOPS.io2.tier2 | IOPS-Mo | 0.0455 | 0.0518 | volumeApiName=io2; group=EBS IOPS
EBS:VolumeP-IOPS.io2.tier3 | IOPS-Mo | 0.03185 | 0.03626 | volumeApiName=io2; group=EBS IOPS
= AmazonEC2 | Provisioned Throughput |
EBS:VolumeP-Throughput.gp3 | GiBps-mo | 40.96 | 49.152 | volumeApiName=gp3; group=EBS Throughput
= AmazonEC2 | System Operation |
EBS:VolumeIOUsage | IOs | 0.00000005 | 0.00000005 | group=EBS I/O Requests
= AmazonEC2 | Storage Snapshot |
EBS:SnapshotUsage | GB-Mo | 0.05 | 0.05 | storageMedia=Amazon S3
# Surplus CPU credits; (?) but for t2 and t3 in us-east-1.
= AmazonEC2 | CPU Credits |
CPUCredits:t2 | vCPU-Hours | 0.05 | 0.05 | operatingSystem=Linux
CPUCredits:t2 | vCPU-Hours | 0.096 | 0.096 | operatingSystem=Windows
CPUCredits:t3 | vCPU-Hours | 0.05 | 0.05 | operatingSystem=Linux
CPUCredits:t3 | vCPU-Hours | 0.096 | 0.096 | operatingSystem=Windows
CPUCredits:t3a | vCPU-Hours | 0.05 | 0.05 | operatingSystem=Linux
CPUCredits:t3a | vCPU-Hours | 0.096 | 0.096 | operatingSystem=Windows
CPUCredits:t4g | vCPU-Hours | 0.04 | 0.04 | operatingSystem=Linux
CPUCredits:t4g | vCPU-Hours | 0.096 | 0.096 | operatingSystem=Windows
# (?) Tokyo's prices of Infrequent Access but in One Zone, of Archive, and of access to both.
= AmazonEFS | Storage |
TimedStorage-ByteHrs | GB-Mo | 0.3 | 0.36 | storageClass=General Purpose
TimedStorage-Z-ByteHrs | GB-Mo | 0.16 | 0.192 | storageClass=One Zone-General Purpose
IATimedStorage-ByteHrs | GB-Mo | 0.025 | 0.0272 | storageClass=Infrequent Access
IATimedStorage-ET-ByteHrs | GB-Mo | 0.016 | 0.0192 | storageClass=Infrequent Access-ET
IATimedStorage-Z-ByteHrs | GB-Mo | 0.0133 | 0.016 | storageClass=One Zone-Infrequent Access
ArchiveTimedStorage-ByteHrs | GB-Mo | 0.008 | 0.0096 | storageClass=Archive
IATimedStorage-SmallFiles | GB-Mo | 0.025 | 0.0272 | storageClass=Infrequent Access
ArchiveTimedStorage-SmallFiles | GB-Mo | 0.008 | 0.0096 | storageClass=Archive
ArchiveEarlyDelete-ByteHrs | GB-Mo | 0.008 | 0.0096 | storageClass=Archive
IADataAccess-Bytes | GB | 0.01 | 0.012 | storageClass=Infrequent Access; accessType=Read
IADataAccess-Bytes | GB | 0.01 | 0.012 | storageClass=Infrequent Access; accessType=Write
ArchiveDataAccess-Bytes | GB | 0.03 | 0.036 | storageClass=Archive; accessType=Read
ArchiveDataAccess-Bytes | GB | 0.03 | 0.036 | storageClass=Archive; accessType=Write
ETDataAccess-Bytes | GB | 0.03 | 0.04 | accessType=Read; throughputClass=Elastic
ETDataAccess-Bytes | GB | 0.06 | 0.07 | accessType=Write; throughputClass=Elastic
= AmazonEFS | Provisioned Throughput |
ProvisionedTP-MiBpsHrs | MiBps-Mo | 6.0 | 7.2 | throughputClass=Provisioned
IncludedTP-MiBpsHrs | MiBps-Mo | 0.0 | 0.0 | throughputClass=Included
# (?) Single-AZ_2 and Multi-AZ of OpenZFS in us-east-1.
= AmazonFSx | Storage | CreateFileSystem:OpenZFS
Storage.SAZ:SSD | GB-Mo | 0.09 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ; storageType=SSD
Storage.SAZ2:SSD | GB-Mo | 0.09 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ_2; storageType=SSD
Storage.MAZ:SSD | GB-Mo | 0.18 | 0.216 | fileSystemType=OpenZFS; deploymentOption=Multi-AZ; storageType=SSD
BackupUsage | GB-Mo | 0.05 | 0.05 | fileSystemType=OpenZFS
Storage.MAZ:INT_Monitoring | GB-Mo | 0.0006 | 0.0006 | fileSystemType=OpenZFS; deploymentOption=Multi-AZ; \
storageType=Intelligent-Tiering
= AmazonFSx | Provisioned Throughput | CreateFileSystem:OpenZFS
ThroughputCapacity.SAZ | MiBps-Mo | 0.26 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ
ThroughputCapacity.SAZ2 | MiBps-Mo | 0.26 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ_2
ThroughputCapacity.MAZ | MiBps-Mo | 0.87 | 1.096 | fileSystemType=OpenZFS; deploymentOption=Multi-AZ
= AmazonFSx | Provisioned IOPS | CreateFileSystem:OpenZFS
ProvisionedSSDIOPS.SAZ | IOPS-Mo | 0.006 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ; storageType=SSD
ProvisionedSSDIOPS.SAZ2 | IOPS-Mo | 0.006 | - | fileSystemType=OpenZFS; deploymentOption=Single-AZ_2; storageType=SSD
ProvisionedSSDIOPS.MAZ | IOPS-Mo | 0.024 | 0.0288 | fileSystemType=OpenZFS; deploymentOption=Multi-AZ; storageType=SSD
= AmazonFSx | Storage | CreateFileSystem:ONTAP
Storage.MAZ:SSD | GB-Mo | 0.25 | 0.3 | fileSystemType=ONTAP; deploymentOption=Multi-AZ; storageType=SSD
Storage.SAZ_2N:SSD | GB-Mo | 0.125 | 0.15 | fileSystemType=ONTAP; deploymentOption=Single-AZ_2N; storageType=SSD
Storage.MAZ:CPoolStd | GB-Mo | 0.0438 | 0.0476 | fileSystemType=ONTAP; deploymentOption=Multi-AZ; \
storageType=Capacity pool - Standard
= AmazonFSx | Provisioned Throughput | CreateFileSystem:ONTAP
ThroughputCapacity.MAZ | MiBps-Mo | 1.2 | 1.511 | fileSystemType=ONTAP; deploymentOption=Multi-AZ
ThroughputCapacity.SAZ_2N | MiBps-Mo | 0.72 | 0.906 | fileSystemType=ONTAP; deploymentOption=Single-AZ_2N
ThroughputCapacity.MAZ2 | MiBps-Mo | - | 3.148 | fileSystemType=ONTAP; deploymentOption=Multi-AZ-2
= AmazonFSx | Provisioned IOPS | CreateFileSystem:ONTAP
ProvisionedSSDIOPS.MAZ | IOPS-Mo | 0.034 | 0.0408 | fileSystemType=ONTAP; deploymentOption=Multi-AZ; storageType=SSD
ProvisionedSSDIOPS.SAZ_2N | IOPS-Mo | 0.017 | 0.0204 | fileSystemType=ONTAP; deploymentOption=Single-AZ_2N; \
storageType=SSD
= AmazonVPC | VpcEndpoint | VpcEndpoint
VpcEndpoint-Hours | Hrs | 0.01 | 0.014 | endpointType=PrivateLink
"""
# (?) Instance type, and the price of an hour of Linux in us-east-1 and in Tokyo.
_HOURLY = """
t3.micro 0.0104 0.0136
t3.small 0.0208 0.0272
t3.medium 0.0416 0.0544
t3.large 0.0832 0.1088
t3.xlarge 0.1664 0.2176
t3.2xlarge 0.3328 0.4352
m6i.large 0.096 0.124
m6i.xlarge 0.192 0.248
m6i.2xlarge 0.384 0.496
m6i.4xlarge 0.768 0.992
m6i.8xlarge 1.536 1.984
c5.large 0.085 0.107
c5.9xlarge 1.53 1.926
c6i.large 0.085 0.107
c6i.4xlarge 0.68 0.856
"""
_ENDPOINT_GB = (("0", "1048576", "0.01"), ("1048576", "5242880", "0.006"), ("5242880", "Inf", "0.004"))


@dataclass(frozen=True, slots=True)
class Row:
    """One product: its attributes, and price tiers as (begin, end, unit price)."""

    service: str
    family: str
    region: str
    usage: str
    unit: str
    tiers: tuple[tuple[str, str, str], ...]
    attributes: dict[str, str] = field(default_factory=dict)
    operation: str = ""


def _usd(price: str) -> str:
    """Return a price as the API writes it."""
    return f"{float(price):.10f}"


def _from_table(region: str) -> Iterator[Row]:
    service = family = operation = ""
    for line in filter(None, _TABLE.splitlines()):
        if line.startswith("#"):
            continue
        if line.startswith("="):
            service, family, operation = (part.strip() for part in line.removeprefix("=").split("|"))
            continue
        usage, unit, us, tokyo, text = line.split(" | ")
        price = us if region == US else tokyo
        if price != "-":
            prefix = "" if (service, region) == ("AmazonEC2", US) else _PREFIX[region]
            attributes = dict(each.split("=") for each in text.split("; "))
            tiers = (("0", "Inf", _usd(price)),)
            yield Row(service, family, region, prefix + usage, unit, tiers, attributes, operation)


def _instances(region: str) -> Iterator[Row]:
    for name, us, tokyo in (line.split() for line in filter(None, _HOURLY.splitlines())):
        for tenancy, capacity, usage, charged in (
            ("Shared", "Used", "BoxUsage", True),
            ("Shared", "UnusedCapacityReservation", "UnusedBox", True),
            ("Shared", "AllocatedCapacityReservation", "Reservation", False),
            ("Dedicated", "Used", "DedicatedUsage", True),
        ):
            attributes = {
                "instanceType": name,
                "operatingSystem": "Linux",
                "preInstalledSw": "NA",
                "licenseModel": "No License required",
                "tenancy": tenancy,
                "capacitystatus": capacity,
            }
            usd = _usd(us if region == US else tokyo) if charged else _usd("0")
            used = f"{'' if region == US else _PREFIX[region]}{usage}:{name}"
            tiers = (("0", "Inf", usd),)
            yield Row("AmazonEC2", "Compute Instance", region, used, "Hrs", tiers, attributes, "RunInstances")


def rows() -> Iterator[Row]:
    """Return every product."""
    for region in (US, TOKYO):
        yield from _from_table(region)
        yield from _instances(region)
        usage, attributes = _PREFIX[region] + "VpcEndpoint-Bytes", {"endpointType": "PrivateLink"}
        tiers = tuple((low, high, _usd(usd)) for low, high, usd in _ENDPOINT_GB)
        yield Row("AmazonVPC", "VpcEndpoint", region, usage, "GB", tiers, attributes, "VpcEndpoint")
