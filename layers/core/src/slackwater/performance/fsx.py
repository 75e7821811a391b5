"""FSx file systems on SSD: what can be provisioned, what a file server sustains, what is billed.

Sources: Amazon FSx API Reference, "CreateFileSystem" and "DiskIopsConfiguration"; Amazon FSx for OpenZFS User Guide,
"Performance for SSD storage" and "Quotas"; Amazon FSx for NetApp ONTAP User Guide, "Amazon FSx for NetApp ONTAP
performance" and "Quotas". FSx states throughput in MBps and does not say whether its M is 10^6 or 2^20. It is read as
10^6 here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Final

from slackwater.model.money import Change, fsx_iops, fsx_storage, fsx_throughput
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import GIB

MB: Final = 10**6

INCLUDED_IOPS_PER_GIB: Final = 3
"""SSD IOPS that each GiB includes."""


@dataclass(frozen=True, slots=True)
class FileServer:
    """A throughput capacity, and the network, write and disk rates that it sustains without burst."""

    throughput_mb_s: int
    network_mb_s: int
    write_mb_s: int
    disk_iops: int
    least_gib: int = 0
    least_iops: int = 0
    """The storage and IOPS that must be provisioned with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A file system type in a deployment type, as FSx writes them, with the limits of what can be provisioned."""

    file_system_type: str
    deployment_type: str
    file_servers: tuple[FileServer, ...]
    min_gib: int
    max_gib: int
    max_iops_per_gib: int
    iops_per_mb_s: float = 0
    """How many IOPS the disks need for each MB/s."""
    bursts_below_mb_s: int
    """A smaller file server is faster while it has credits, and publishes their balance."""

    @property
    def max_iops(self) -> int:
        """The most IOPS that can be provisioned: those of the largest file server."""
        return self.file_servers[-1].disk_iops


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """What is provisioned of a deployment. `iops` includes those that the storage includes."""

    deployment: Deployment
    storage_gib: int
    throughput_mb_s: int
    iops: int

    @property
    def monthly_units(self) -> tuple[Change, ...]:
        """Everything that is billed a month: storage, throughput from the first MB/s, and IOPS above the included."""
        kind = self.deployment.file_system_type, self.deployment.deployment_type
        return _units(kind, self.storage_gib, self.throughput_mb_s, self.iops)


def monthly_units(file_system: FsxFileSystem) -> tuple[Change, ...] | None:
    """Return what an OpenZFS or ONTAP file system on SSD is billed for a month; None for other types and storage.

    Without ONTAP's capacity pool and without backups.
    """
    if file_system.file_system_type not in ("OPENZFS", "ONTAP") or file_system.storage_type != "SSD":
        return None
    if file_system.throughput_mb_s is None:
        return None
    kind = file_system.file_system_type, file_system.deployment_type
    return _units(kind, file_system.storage_gib, file_system.throughput_mb_s, file_system.iops or 0)


def _units(kind: tuple[str, str], storage_gib: int, throughput_mb_s: int, iops: int) -> tuple[Change, ...]:
    units = (
        Change(fsx_storage(*kind), Decimal(storage_gib)),
        Change(fsx_throughput(*kind), Decimal(throughput_mb_s)),
        Change(fsx_iops(*kind), Decimal(max(0, iops - INCLUDED_IOPS_PER_GIB * storage_gib))),
    )
    return tuple(unit for unit in units if unit.quantity)


def smallest(
    deployment: Deployment, *, stored_bytes: float, bytes_per_s: float = 0, iops: int = 0
) -> Provisioned | None:
    """Return the smallest provisioning that stores and sustains this much; None if nothing does.

    `bytes_per_s` counts as writes, which no file system sustains faster than reads. File servers count without their
    burst. The storage grows if the IOPS require it.
    """
    iops = max(iops, ceil(bytes_per_s / MB * deployment.iops_per_mb_s))
    for server in deployment.file_servers:
        if server.write_mb_s * MB >= bytes_per_s and server.disk_iops >= iops:
            break
    else:
        return None
    iops = max(iops, server.least_iops)
    storage_gib = max(
        deployment.min_gib, ceil(stored_bytes / GIB), ceil(iops / deployment.max_iops_per_gib), server.least_gib
    )
    if storage_gib > deployment.max_gib:
        return None
    included = min(INCLUDED_IOPS_PER_GIB * storage_gib, deployment.max_iops)
    return Provisioned(
        deployment=deployment, storage_gib=storage_gib, throughput_mb_s=server.throughput_mb_s, iops=max(included, iops)
    )


_OPENZFS_FIRST_GENERATION: Final = tuple(
    FileServer(mb_s, network_mb_s, mb_s, iops)
    for mb_s, network_mb_s, iops in (
        (64, 200, 2_500),
        (128, 400, 5_000),
        (256, 800, 10_000),
        (512, 1_600, 20_000),
        (1_024, 3_200, 40_000),
        (2_048, 6_400, 80_000),
        (3_072, 9_600, 120_000),
        (4_096, 12_800, 160_000),
    )
)
_OPENZFS_SECOND_GENERATION: Final = tuple(
    FileServer(mb_s, network_mb_s, mb_s, iops)
    for mb_s, network_mb_s, iops in (
        (160, 375, 6_250),
        (320, 775, 12_500),
        (640, 1_550, 25_000),
        (1_280, 3_125, 50_000),
        (2_560, 6_250, 100_000),
        (3_840, 9_375, 150_000),
        (5_120, 12_500, 200_000),
        (7_680, 18_750, 300_000),
    )
)
_OPENZFS_LARGEST: Final = FileServer(10_240, 21_000, 10_240, 400_000)
_OPENZFS_LARGEST_MULTI_AZ: Final = FileServer(10_240, 21_000, 7_500, 400_000)


def _openzfs(deployment_type: str, file_servers: tuple[FileServer, ...], bursts_below_mb_s: int) -> Deployment:
    return Deployment(
        file_system_type="OPENZFS",
        deployment_type=deployment_type,
        file_servers=file_servers,
        min_gib=64,
        max_gib=524_288,
        max_iops_per_gib=1_000,
        bursts_below_mb_s=bursts_below_mb_s,
    )


OPENZFS: Final[Mapping[str, Deployment]] = {
    "SINGLE_AZ_1": _openzfs("SINGLE_AZ_1", _OPENZFS_FIRST_GENERATION, 1_024),
    "SINGLE_AZ_HA_1": _openzfs("SINGLE_AZ_HA_1", _OPENZFS_FIRST_GENERATION[1:], 1_024),
    "SINGLE_AZ_2": _openzfs("SINGLE_AZ_2", (*_OPENZFS_SECOND_GENERATION, _OPENZFS_LARGEST), 2_560),
    "SINGLE_AZ_HA_2": _openzfs("SINGLE_AZ_HA_2", (*_OPENZFS_SECOND_GENERATION, _OPENZFS_LARGEST), 2_560),
    "MULTI_AZ_1": _openzfs("MULTI_AZ_1", (*_OPENZFS_SECOND_GENERATION, _OPENZFS_LARGEST_MULTI_AZ), 2_560),
}
"""By deployment type, for most Regions. In some, 1,000 IOPS per GiB are 50, and Multi-AZ has fewer IOPS and ends at
5,120 MB/s.
"""

ONTAP_FAST_REGIONS: Final = frozenset({"us-east-1", "us-east-2", "us-west-2", "eu-west-1"})
"""Regions in which a first-generation ONTAP file system may be faster than elsewhere."""
_ONTAP_ELSEWHERE: Final = (
    (128, 150, 6_000),
    (256, 300, 12_000),
    (512, 625, 18_750),
    (1_024, 1_500, 40_000),
    (2_048, 3_125, 80_000),
)
_ONTAP_FAST: Final = (
    (128, 188, 6_000),
    (256, 375, 12_000),
    (512, 750, 20_000),
    (1_024, 1_500, 40_000),
    (2_048, 3_125, 80_000),
    (4_096, 6_250, 160_000),
)
"""Throughput capacity and network in MBps, and disk IOPS; the same for Single-AZ and Multi-AZ."""
_ONTAP_MOST_WRITTEN_MB_S: Final[Mapping[str, tuple[int, int]]] = {
    "SINGLE_AZ_1": (750, 1_000),
    "MULTI_AZ_1": (1_300, 1_800),
}
"""By deployment type: elsewhere, and in the fast Regions."""
_ONTAP_LEAST_GIB_AND_IOPS: Final = {4_096: (5_120, 160_000)}
"""What must be provisioned with a throughput capacity."""


def ontap(deployment_type: str, region: str) -> Deployment:
    """Return SINGLE_AZ_1 or MULTI_AZ_1 in a Region: first generation, one pair of file servers.

    A write uses the network twice, because it is replicated to the other server. So a server writes at half of its
    network. Disks move 768 MBps with each 3,072 IOPS.
    """
    is_fast = region in ONTAP_FAST_REGIONS
    most_mb_s = _ONTAP_MOST_WRITTEN_MB_S[deployment_type][is_fast]
    return Deployment(
        file_system_type="ONTAP",
        deployment_type=deployment_type,
        file_servers=tuple(
            FileServer(
                mb_s, network_mb_s, min(network_mb_s // 2, most_mb_s), iops, *_ONTAP_LEAST_GIB_AND_IOPS.get(mb_s, ())
            )
            for mb_s, network_mb_s, iops in (_ONTAP_FAST if is_fast else _ONTAP_ELSEWHERE)
        ),
        min_gib=1_024,
        max_gib=196_608,
        max_iops_per_gib=50,
        iops_per_mb_s=3_072 / 768,
        bursts_below_mb_s=512,
    )


def deployment(file_system: FsxFileSystem) -> Deployment | None:
    """Return what can be provisioned for this type of file system; None if this module does not have AWS's table."""
    match file_system.file_system_type, file_system.deployment_type:
        case "OPENZFS", deployment_type:
            return OPENZFS.get(deployment_type)
        case "ONTAP", deployment_type if deployment_type in _ONTAP_MOST_WRITTEN_MB_S:
            return ontap(deployment_type, file_system.target.region)
    return None


def file_server(file_system: FsxFileSystem) -> FileServer | None:
    """Return the row of the file system's throughput capacity; None if this module does not have it."""
    table = deployment(file_system)
    rows = table.file_servers if table else ()
    return next((one for one in rows if one.throughput_mb_s == file_system.throughput_mb_s), None)


LEAST_GIB: Final[Mapping[str, int]] = {"OPENZFS": 64, "ONTAP": 1_024, "WINDOWS": 32}
"""The smallest SSD by type, for ONTAP for each pair of file servers (API Reference, "CreateFileSystem",
StorageCapacity).
"""
LEAST_PAIR_MB_S: Final = 1_536
"""The smallest throughput of a pair of ONTAP SINGLE_AZ_2, the only type with several pairs. Their number is not read.
"""
SHRINKS: Final = ("SINGLE_AZ_2", "MULTI_AZ_2")
"""ONTAP deployment types whose SSD can shrink: the second generation."""
LEAST_SHRINK: Final = 0.09
MOST_IOPS_PER_GIB: Final = 50
"""For ONTAP in all Regions, for OpenZFS in some. The others allow 1,000."""


def least_gib(file_system: FsxFileSystem) -> int:
    """Return the smallest SSD with the file system's throughput, in GiB. Its type must be in `LEAST_GIB`."""
    least = LEAST_GIB[file_system.file_system_type]
    if file_system.file_system_type == "ONTAP" and file_system.deployment_type == "SINGLE_AZ_2":
        return least * max(1, (file_system.throughput_mb_s or 0) // LEAST_PAIR_MB_S)
    server = file_server(file_system)
    return max(least, server.least_gib) if server else least


def with_least_ssd(file_system: FsxFileSystem, *, stored_bytes: float, iops: int) -> FsxFileSystem:
    """Return the file system with the smallest SSD that stores and sustains this much."""
    gib = max(least_gib(file_system), ceil(stored_bytes / GIB), ceil(iops / MOST_IOPS_PER_GIB))
    server = file_server(file_system)
    least_iops = max(iops, INCLUDED_IOPS_PER_GIB * gib, server.least_iops if server else 0)
    return replace(file_system, storage_gib=gib, iops=None if file_system.iops is None else least_iops)
