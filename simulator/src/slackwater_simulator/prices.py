"""Public on-demand prices, USD: what the Price List API would answer for the items that the fleets touch.

Sources: AWS Price List API and pricing pages for us-east-1 (2026-08) and ap-northeast-1 (EBS effective 2026-09-01, FSx
ONTAP 2026-07-01), the reports "Can Amazon EFS replace EBS?" (2025-02-19) and "Sharing WordPress content on FSx for
OpenZFS" (2025-03). What is marked (?) is general knowledge or a usual ratio, not checked against AWS. An item without a
source is left out, as some items of real answers are: Single-AZ OpenZFS in Tokyo has no price here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

US, TOKYO = "us-east-1", "ap-northeast-1"
_LOCATION = {US: "US East (N. Virginia)", TOKYO: "Asia Pacific (Tokyo)"}
_EBS_PREFIX = {US: "", TOKYO: "APN1-"}
_PREFIX = {US: "USE1-", TOKYO: "APN1-"}


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


def _row(
    service: str, family: str, region: str, usage: str, unit: str, usd: str, operation: str = "", **attributes: str
) -> Row:
    return Row(service, family, region, usage, unit, (("0", "Inf", usd),), attributes, operation)


def _ebs(region: str, usd: dict[str, str]) -> Iterator[Row]:
    ec2, prefix = "AmazonEC2", _EBS_PREFIX[region]
    for name, usage in (
        ("gp3", "gp3"),
        ("gp2", "gp2"),
        ("io1", "piops"),
        ("io2", "io2"),
        ("st1", "st1"),
        ("sc1", "sc1"),
    ):
        unit = "GB-month" if name == "io2" else "GB-Mo"
        yield _row(
            ec2,
            "Storage",
            region,
            f"{prefix}EBS:VolumeUsage.{usage}",
            unit,
            usd[name],
            volumeApiName=name,
            storageMedia="SSD-backed",
        )
    yield _row(ec2, "Storage", region, f"{prefix}EBS:VolumeUsage", "GB-Mo", usd["standard"], volumeType="Magnetic")
    for name, usage in (("gp3", "gp3"), ("io1", "piops"), ("io2", "io2"), ("io2", "io2.tier2"), ("io2", "io2.tier3")):
        amount = usd["iops-" + usage]
        yield _row(
            ec2,
            "System Operation",
            region,
            f"{prefix}EBS:VolumeP-IOPS.{usage}",
            "IOPS-Mo",
            amount,
            volumeApiName=name,
            group="EBS IOPS",
        )
    throughput = f"{prefix}EBS:VolumeP-Throughput.gp3"
    yield _row(
        ec2,
        "Provisioned Throughput",
        region,
        throughput,
        "GiBps-mo",
        usd["throughput"],
        volumeApiName="gp3",
        group="EBS Throughput",
    )
    yield _row(
        ec2, "System Operation", region, f"{prefix}EBS:VolumeIOUsage", "IOs", "0.0000000500", group="EBS I/O Requests"
    )
    yield _row(
        ec2, "Storage Snapshot", region, f"{prefix}EBS:SnapshotUsage", "GB-Mo", "0.0500000000", storageMedia="Amazon S3"
    )


def _instances(region: str, hourly: dict[str, str]) -> Iterator[Row]:
    for name, usd in hourly.items():
        common = {
            "instanceType": name,
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "licenseModel": "No License required",
        }
        for tenancy, capacity, usage, amount in (
            ("Shared", "Used", "BoxUsage", usd),
            ("Shared", "UnusedCapacityReservation", "UnusedBox", usd),
            ("Shared", "AllocatedCapacityReservation", "Reservation", "0.0000000000"),
            ("Dedicated", "Used", "DedicatedUsage", usd),
        ):
            used = f"{_EBS_PREFIX[region]}{usage}:{name}"
            yield _row(
                "AmazonEC2",
                "Compute Instance",
                region,
                used,
                "Hrs",
                amount,
                "RunInstances",
                **common,
                tenancy=tenancy,
                capacitystatus=capacity,
            )


def _cpu_credits(region: str) -> Iterator[Row]:
    """Surplus CPU credits of the T types; (?) but for t2 and t3 in us-east-1. Windows is the dearer one."""
    for family, linux in (("t2", "0.05"), ("t3", "0.05"), ("t3a", "0.05"), ("t4g", "0.04")):
        usage = f"{_EBS_PREFIX[region]}CPUCredits:{family}"
        for system, usd in (("Linux", linux), ("Windows", "0.096")):
            amount = f"{float(usd):.10f}"
            yield _row("AmazonEC2", "CPU Credits", region, usage, "vCPU-Hours", amount, operatingSystem=system)


def _efs(region: str, usd: dict[str, str]) -> Iterator[Row]:
    efs, prefix = "AmazonEFS", _PREFIX[region]
    stored = (
        ("TimedStorage-ByteHrs", "General Purpose", "standard"),
        ("TimedStorage-Z-ByteHrs", "One Zone-General Purpose", "one-zone"),
        ("IATimedStorage-ByteHrs", "Infrequent Access", "ia"),
        ("IATimedStorage-ET-ByteHrs", "Infrequent Access-ET", "ia-et"),
        ("IATimedStorage-Z-ByteHrs", "One Zone-Infrequent Access", "one-zone-ia"),
        ("ArchiveTimedStorage-ByteHrs", "Archive", "archive"),
        ("IATimedStorage-SmallFiles", "Infrequent Access", "ia"),
        ("ArchiveTimedStorage-SmallFiles", "Archive", "archive"),
        ("ArchiveEarlyDelete-ByteHrs", "Archive", "archive"),
    )
    for usage, storage, price in stored:
        yield _row(efs, "Storage", region, prefix + usage, "GB-Mo", usd[price], storageClass=storage)
    for usage, storage, price in (
        ("IADataAccess-Bytes", "Infrequent Access", "ia-access"),
        ("ArchiveDataAccess-Bytes", "Archive", "archive-access"),
    ):
        for access in ("Read", "Write"):
            yield _row(
                efs, "Storage", region, prefix + usage, "GB", usd[price], storageClass=storage, accessType=access
            )
    for access in ("Read", "Write"):
        elastic = usd["elastic-" + access.lower()]
        yield _row(
            efs,
            "Storage",
            region,
            prefix + "ETDataAccess-Bytes",
            "GB",
            elastic,
            accessType=access,
            throughputClass="Elastic",
        )
    for usage, kind, amount in (
        ("ProvisionedTP-MiBpsHrs", "Provisioned", usd["provisioned"]),
        ("IncludedTP-MiBpsHrs", "Included", "0.0000000000"),
    ):
        yield _row(efs, "Provisioned Throughput", region, prefix + usage, "MiBps-Mo", amount, throughputClass=kind)


def _fsx(
    region: str, kind: str, deployment: str, place: str, storage: str, throughput: str, iops: str, generation: str = ""
) -> Iterator[Row]:
    common = {"fileSystemType": kind, "deploymentOption": deployment}
    operation, prefix = f"CreateFileSystem:{kind}", _PREFIX[region]
    for family, usage, unit, usd in (
        ("Storage", f"Storage.{place}:SSD", "GB-Mo", storage),
        ("Provisioned Throughput", f"ThroughputCapacity.{place}{generation}", "MiBps-Mo", throughput),
        ("Provisioned IOPS", f"ProvisionedSSDIOPS.{place}", "IOPS-Mo", iops),
    ):
        if usd:
            more = {"storageType": "SSD"} if family != "Provisioned Throughput" else {}
            yield _row("AmazonFSx", family, region, prefix + usage, unit, usd, operation, **common, **more)


def _fsx_all() -> Iterator[Row]:
    zfs, ontap = "OpenZFS", "ONTAP"
    yield from _fsx(US, zfs, "Single-AZ", "SAZ", "0.0900000000", "0.2600000000", "0.0060000000")
    # (?) Single-AZ_2 and Multi-AZ in us-east-1
    yield from _fsx(US, zfs, "Single-AZ_2", "SAZ2", "0.0900000000", "0.2600000000", "0.0060000000")
    yield from _fsx(US, zfs, "Multi-AZ", "MAZ", "0.1800000000", "0.8700000000", "0.0240000000")
    yield from _fsx(TOKYO, zfs, "Multi-AZ", "MAZ", "0.2160000000", "1.0960000000", "0.0288000000")
    yield from _fsx(US, ontap, "Multi-AZ", "MAZ", "0.2500000000", "1.2000000000", "0.0340000000")
    yield from _fsx(US, ontap, "Single-AZ_2N", "SAZ_2N", "0.1250000000", "0.7200000000", "0.0170000000")
    yield from _fsx(TOKYO, ontap, "Multi-AZ", "MAZ", "0.3000000000", "1.5110000000", "0.0408000000")
    yield from _fsx(TOKYO, ontap, "Single-AZ_2N", "SAZ_2N", "0.1500000000", "0.9060000000", "0.0204000000")
    yield from _fsx(TOKYO, ontap, "Multi-AZ-2", "MAZ", "", "3.1480000000", "", "2")
    for region in (US, TOKYO):
        prefix = _PREFIX[region]
        yield _row(
            "AmazonFSx",
            "Storage",
            region,
            prefix + "BackupUsage",
            "GB-Mo",
            "0.0500000000",
            "CreateFileSystem:OpenZFS",
            fileSystemType=zfs,
        )
        monitored = {"fileSystemType": zfs, "deploymentOption": "Multi-AZ", "storageType": "Intelligent-Tiering"}
        yield _row(
            "AmazonFSx",
            "Storage",
            region,
            prefix + "Storage.MAZ:INT_Monitoring",
            "GB-Mo",
            "0.0006000000",
            "CreateFileSystem:OpenZFS",
            **monitored,
        )
        pool = {"fileSystemType": ontap, "deploymentOption": "Multi-AZ", "storageType": "Capacity pool - Standard"}
        amount = "0.0438000000" if region == US else "0.0476000000"
        yield _row(
            "AmazonFSx",
            "Storage",
            region,
            prefix + "Storage.MAZ:CPoolStd",
            "GB-Mo",
            amount,
            "CreateFileSystem:ONTAP",
            **pool,
        )


def _endpoints(region: str, hourly: str) -> Iterator[Row]:
    prefix = _PREFIX[region] if region != US else "USE1-"
    yield _row(
        "AmazonVPC",
        "VpcEndpoint",
        region,
        f"{prefix}VpcEndpoint-Hours",
        "Hrs",
        hourly,
        "VpcEndpoint",
        endpointType="PrivateLink",
    )
    tiers = (
        ("0", "1048576", "0.0100000000"),
        ("1048576", "5242880", "0.0060000000"),
        ("5242880", "Inf", "0.0040000000"),
    )
    yield Row(
        "AmazonVPC",
        "VpcEndpoint",
        region,
        f"{prefix}VpcEndpoint-Bytes",
        "GB",
        tiers,
        {"endpointType": "PrivateLink"},
        "VpcEndpoint",
    )


_EBS_US = {
    "gp3": "0.0800000000",
    "gp2": "0.1000000000",
    "io1": "0.1250000000",
    "io2": "0.1250000000",
    "st1": "0.0450000000",
    "sc1": "0.0150000000",
    "standard": "0.0500000000",
    "iops-gp3": "0.0050000000",
    "iops-piops": "0.0650000000",
    "iops-io2": "0.0650000000",
    "iops-io2.tier2": "0.0455000000",
    "iops-io2.tier3": "0.0318500000",
    "throughput": "40.9600000000",
}
_EBS_TOKYO = {
    "gp3": "0.0960000000",
    "gp2": "0.1200000000",
    "io1": "0.1420000000",
    "io2": "0.1420000000",
    "st1": "0.0540000000",
    "sc1": "0.0180000000",
    "standard": "0.0800000000",
    "iops-gp3": "0.0060000000",
    "iops-piops": "0.0740000000",
    "iops-io2": "0.0740000000",
    "iops-io2.tier2": "0.0518000000",
    "iops-io2.tier3": "0.0362600000",
    "throughput": "49.1520000000",
}
_EFS_US = {
    "standard": "0.3000000000",
    "one-zone": "0.1600000000",
    "ia": "0.0250000000",
    "ia-et": "0.0160000000",
    "one-zone-ia": "0.0133000000",
    "archive": "0.0080000000",
    "ia-access": "0.0100000000",
    "archive-access": "0.0300000000",
    "elastic-read": "0.0300000000",
    "elastic-write": "0.0600000000",
    "provisioned": "6.0000000000",
}
# (?) ia, ia-et, archive and the access fees of Tokyo
_EFS_TOKYO = {
    "standard": "0.3600000000",
    "one-zone": "0.1920000000",
    "ia": "0.0272000000",
    "ia-et": "0.0192000000",
    "one-zone-ia": "0.0160000000",
    "archive": "0.0096000000",
    "ia-access": "0.0120000000",
    "archive-access": "0.0360000000",
    "elastic-read": "0.0400000000",
    "elastic-write": "0.0700000000",
    "provisioned": "7.2000000000",
}
# (?) every hourly price
_HOURLY_US = dict(
    line.split()
    for line in """\
t3.micro 0.0104
t3.small 0.0208
t3.medium 0.0416
t3.large 0.0832
t3.xlarge 0.1664
t3.2xlarge 0.3328
m6i.large 0.096
m6i.xlarge 0.192
m6i.2xlarge 0.384
m6i.4xlarge 0.768
m6i.8xlarge 1.536
c5.large 0.085
c5.9xlarge 1.53
c6i.large 0.085
c6i.4xlarge 0.68""".splitlines()
)
_HOURLY_TOKYO = dict(
    line.split()
    for line in """\
t3.micro 0.0136
t3.small 0.0272
t3.medium 0.0544
t3.large 0.1088
t3.xlarge 0.2176
t3.2xlarge 0.4352
m6i.large 0.124
m6i.xlarge 0.248
m6i.2xlarge 0.496
m6i.4xlarge 0.992
m6i.8xlarge 1.984
c5.large 0.107
c5.9xlarge 1.926
c6i.large 0.107
c6i.4xlarge 0.856""".splitlines()
)


def rows() -> Iterator[Row]:
    """Every product."""
    yield from _ebs(US, _EBS_US)
    yield from _ebs(TOKYO, _EBS_TOKYO)
    yield from _instances(US, {name: f"{float(usd):.10f}" for name, usd in _HOURLY_US.items()})
    yield from _instances(TOKYO, {name: f"{float(usd):.10f}" for name, usd in _HOURLY_TOKYO.items()})
    yield from _cpu_credits(US)
    yield from _cpu_credits(TOKYO)
    yield from _efs(US, _EFS_US)
    yield from _efs(TOKYO, _EFS_TOKYO)
    yield from _fsx_all()
    yield from _endpoints(US, "0.0100000000")
    yield from _endpoints(TOKYO, "0.0140000000")


def location(region: str) -> str:
    """The Region's name on the price list."""
    return _LOCATION[region]
