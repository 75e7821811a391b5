"""FSx file systems on SSD: what can be provisioned, what a file server carries, what is billed.

Amazon FSx API Reference, "CreateFileSystem" and "DiskIopsConfiguration"; Amazon FSx for OpenZFS User Guide, "Performance for
SSD storage" and "Quotas"; Amazon FSx for NetApp ONTAP User Guide, "File system storage capacity and IOPS". FSx states
throughput in MBps and does not say whether its M is 10^6 or 2^20: it is read as 10^6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Final

from slackwater.model.money import Change, fsx_iops, fsx_storage, fsx_throughput
from slackwater.model.units import GIB

MB: Final = 10**6

INCLUDED_IOPS_PER_GIB: Final = 3
"""SSD IOPS that come with each GiB, at no price of their own."""


@dataclass(frozen=True, slots=True)
class FileServer:
    """What the disks give a file server for good, without burst, at a throughput capacity that can be chosen."""

    throughput_mb_s: int
    disk_mb_s: int
    disk_iops: int | None
    """None where no table was at hand: then the provisioned IOPS are all that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A type of file system in a deployment type, as FSx writes them, and between which bounds it can be provisioned."""

    file_system_type: str
    deployment_type: str
    file_servers: tuple[FileServer, ...]
    min_gib: int
    max_gib: int
    max_iops: int
    max_iops_per_gib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """What is bought of a deployment. `iops` counts those that are included."""

    deployment: Deployment
    storage_gib: int
    throughput_mb_s: int
    iops: int

    @property
    def monthly_units(self) -> tuple[Change, ...]:
        """Everything it is billed for: storage, throughput from the first MB/s on, and IOPS above the included."""
        kind = self.deployment.file_system_type, self.deployment.deployment_type
        paid_iops = max(0, self.iops - INCLUDED_IOPS_PER_GIB * self.storage_gib)
        units = (
            Change(fsx_storage(*kind), Decimal(self.storage_gib)),
            Change(fsx_throughput(*kind), Decimal(self.throughput_mb_s)),
            Change(fsx_iops(*kind), Decimal(paid_iops)),
        )
        return tuple(unit for unit in units if unit.quantity)


def smallest(deployment: Deployment, *, stored_bytes: float, bytes_per_s: float = 0, iops: int = 0) -> Provisioned | None:
    """The least of a deployment that holds and carries this much; None where nothing of it does.

    A file server counts by what it gets from the disks for good; storage grows where the IOPS ask for it.
    """
    storage_gib = max(deployment.min_gib, ceil(stored_bytes / GIB), ceil(iops / deployment.max_iops_per_gib))
    throughput_mb_s = next(
        (
            server.throughput_mb_s
            for server in deployment.file_servers
            if server.disk_mb_s * MB >= bytes_per_s and (server.disk_iops is None or server.disk_iops >= iops)
        ),
        None,
    )
    if throughput_mb_s is None or storage_gib > deployment.max_gib or iops > deployment.max_iops:
        return None
    included = min(INCLUDED_IOPS_PER_GIB * storage_gib, deployment.max_iops)
    return Provisioned(
        deployment=deployment, storage_gib=storage_gib, throughput_mb_s=throughput_mb_s, iops=max(included, iops)
    )


_OPENZFS_FIRST_GENERATION: Final = tuple(
    FileServer(mb_s, mb_s, iops)
    for mb_s, iops in (
        (64, 2_500),
        (128, 5_000),
        (256, 10_000),
        (512, 20_000),
        (1_024, 40_000),
        (2_048, 80_000),
        (3_072, 120_000),
        (4_096, 160_000),
    )
)
_OPENZFS_SECOND_GENERATION: Final = tuple(
    FileServer(mb_s, mb_s, iops)
    for mb_s, iops in (
        (160, 6_250),
        (320, 12_500),
        (640, 25_000),
        (1_280, 50_000),
        (2_560, 100_000),
        (3_840, 150_000),
        (5_120, 200_000),
        (7_680, 300_000),
        (10_240, 400_000),
    )
)
_ONTAP_FIRST_GENERATION: Final = tuple(FileServer(mb_s, mb_s, None) for mb_s in (128, 256, 512, 1_024, 2_048, 4_096))


def _openzfs(deployment_type: str, file_servers: tuple[FileServer, ...], max_iops: int) -> Deployment:
    return Deployment(
        file_system_type="OPENZFS",
        deployment_type=deployment_type,
        file_servers=file_servers,
        min_gib=64,
        max_gib=524_288,
        max_iops=max_iops,
        max_iops_per_gib=1_000,
    )


def _ontap(deployment_type: str) -> Deployment:
    return Deployment(
        file_system_type="ONTAP",
        deployment_type=deployment_type,
        file_servers=_ONTAP_FIRST_GENERATION,
        min_gib=1_024,
        max_gib=524_288,
        max_iops=160_000,
        max_iops_per_gib=50,
    )


OPENZFS: Final[Mapping[str, Deployment]] = {
    "SINGLE_AZ_1": _openzfs("SINGLE_AZ_1", _OPENZFS_FIRST_GENERATION, max_iops=160_000),
    "MULTI_AZ_1": _openzfs("MULTI_AZ_1", _OPENZFS_SECOND_GENERATION, max_iops=400_000),
}
"""By deployment type. 1,000 IOPS per GiB are 50 in some Regions; at 10,240 MB/s Multi-AZ writes are at most 7,500 MB/s."""

ONTAP: Final[Mapping[str, Deployment]] = {kind: _ontap(kind) for kind in ("SINGLE_AZ_1", "MULTI_AZ_1")}
"""By deployment type, first generation, one pair of file servers."""
