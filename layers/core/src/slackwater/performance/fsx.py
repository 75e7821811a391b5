"""FSx file systems on SSD: what you can provision, what a file server sustains, and what AWS bills.

Sources: Amazon FSx API Reference, "CreateFileSystem" and "DiskIopsConfiguration"; Amazon FSx for OpenZFS User Guide,
"Performance for SSD storage" and "Quotas"; Amazon FSx for NetApp ONTAP User Guide, "Amazon FSx for NetApp ONTAP
performance" and "Quotas". FSx does not say whether the M of its MBps is 10^6 or 2^20. Slackwater assumes 10^6.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from math import ceil
from typing import Final, NamedTuple

from slackwater.model.money import Change, fsx_iops, fsx_storage, fsx_throughput
from slackwater.model.resources import FsxFileSystem
from slackwater.model.units import GIB

MB: Final = 10**6

INCLUDED_IOPS_PER_GIB: Final = 3  # the SSD IOPS that each GiB includes


class FileServer(NamedTuple):
    """A throughput capacity, with the network, write and disk rates that it sustains without burst."""

    throughput_mb_s: int
    network_mb_s: int
    write_mb_s: int
    disk_iops: int
    least_gib: int = 0
    least_iops: int = 0  # you must provision this storage and these IOPS with it


class Deployment(NamedTuple):
    """A file system type and a deployment type, as in FSx's API, with the limits of what you can provision."""

    file_system_type: str
    deployment_type: str
    file_servers: tuple[FileServer, ...]
    min_gib: int
    max_gib: int
    max_iops_per_gib: int
    bursts_below_mb_s: int  # smaller file servers burst, and publish the balance of their credits
    iops_per_mb_s: float = 0  # the IOPS that the disks need for each MB/s

    @property
    def max_iops(self) -> int:
        """The most IOPS that you can provision: those of the largest file server."""
        return self.file_servers[-1].disk_iops


class Provisioned(NamedTuple):
    """What is provisioned, and everything that AWS bills for it a month. `iops` includes the IOPS of the storage."""

    storage_gib: int
    throughput_mb_s: int
    iops: int
    monthly_units: tuple[Change, ...]


def monthly_units(file_system: FsxFileSystem) -> tuple[Change, ...] | None:
    """Return what AWS bills a month for an OpenZFS or ONTAP file system on SSD; None for other types and storage.

    This excludes ONTAP's capacity pool, and backups.
    """
    kind, mb_s = (file_system.file_system_type, file_system.deployment_type), file_system.throughput_mb_s
    if kind[0] not in ("OPENZFS", "ONTAP") or file_system.storage_type != "SSD" or mb_s is None:
        return None
    return _units(kind, file_system.storage_gib, mb_s, file_system.iops or 0)


def _units(kind: tuple[str, str], storage_gib: int, throughput_mb_s: int, iops: int) -> tuple[Change, ...]:
    """Return the billed units: storage, throughput from the first MB/s on, and IOPS above those included."""
    billed = {fsx_storage(*kind): storage_gib, fsx_throughput(*kind): throughput_mb_s}
    billed[fsx_iops(*kind)] = iops - INCLUDED_IOPS_PER_GIB * storage_gib
    return tuple(Change(item, Decimal(quantity)) for item, quantity in billed.items() if quantity > 0)


def smallest(
    deployment: Deployment, *, stored_bytes: float, bytes_per_s: float = 0, iops: int = 0
) -> Provisioned | None:
    """Return the smallest provisioning that stores and sustains this load; None if nothing does.

    `bytes_per_s` counts as writes, because no file system sustains writes faster than reads. The burst of file servers
    does not count. The storage is larger than needed for the data if the IOPS require it.
    """
    iops = max(iops, ceil(bytes_per_s / MB * deployment.iops_per_mb_s))
    able = (one for one in deployment.file_servers if one.write_mb_s * MB >= bytes_per_s and one.disk_iops >= iops)
    if not (server := next(able, None)):
        return None
    iops = max(iops, server.least_iops)
    storage_gib = max(
        deployment.min_gib, ceil(stored_bytes / GIB), ceil(iops / deployment.max_iops_per_gib), server.least_gib
    )
    if storage_gib > deployment.max_gib:
        return None
    iops = max(iops, min(INCLUDED_IOPS_PER_GIB * storage_gib, deployment.max_iops))
    kind, mb_s = (deployment.file_system_type, deployment.deployment_type), server.throughput_mb_s
    return Provisioned(storage_gib, mb_s, iops, _units(kind, storage_gib, mb_s, iops))


def _openzfs(*network_by_mb_s: tuple[int, int]) -> tuple[FileServer, ...]:
    """Return OpenZFS file servers from pairs of throughput capacity and network. Disks have 625 IOPS per 16 MB/s."""
    return tuple(FileServer(mb_s, network_mb_s, mb_s, mb_s * 625 // 16) for mb_s, network_mb_s in network_by_mb_s)


_FIRST: Final = _openzfs(*((mb_s, mb_s * 25 // 8) for mb_s in (64, 128, 256, 512, 1_024, 2_048, 3_072, 4_096)))
_SECOND: Final = (
    *_openzfs((160, 375), (320, 775), (640, 1_550), (1_280, 3_125), (2_560, 6_250), (3_840, 9_375)),
    *_openzfs((5_120, 12_500), (7_680, 18_750), (10_240, 21_000)),
)
_MULTI_AZ: Final = (*_SECOND[:-1], _SECOND[-1]._replace(write_mb_s=7_500))
OPENZFS: Final[Mapping[str, Deployment]] = {
    kind: Deployment(
        "OPENZFS", kind, servers, min_gib=64, max_gib=524_288, max_iops_per_gib=1_000, bursts_below_mb_s=bursts_below
    )
    for kind, servers, bursts_below in (
        ("SINGLE_AZ_1", _FIRST, 1_024),
        ("SINGLE_AZ_HA_1", _FIRST[1:], 1_024),
        ("SINGLE_AZ_2", _SECOND, 2_560),
        ("SINGLE_AZ_HA_2", _SECOND, 2_560),
        ("MULTI_AZ_1", _MULTI_AZ, 2_560),
    )
}
"""OpenZFS, in most Regions. Others allow 50 IOPS per GiB, and Multi-AZ with fewer IOPS up to 5,120 MB/s."""

ONTAP_FAST_REGIONS: Final = frozenset({"us-east-1", "us-east-2", "us-west-2", "eu-west-1"})
"""Regions in which a first-generation ONTAP file system may be faster than elsewhere."""
_ONTAP_MB_S: Final = (128, 256, 512, 1_024, 2_048, 4_096)
_ONTAP_ELSEWHERE: Final = ((150, 300, 625, 1_500, 3_125), (6_000, 12_000, 18_750, 40_000, 80_000))
_ONTAP_FAST: Final = ((188, 375, 750, 1_500, 3_125, 6_250), (6_000, 12_000, 20_000, 40_000, 80_000, 160_000))
"""The network in MBps and the disk IOPS of each throughput capacity. Single-AZ and Multi-AZ have the same."""
_ONTAP_MOST_WRITTEN_MB_S: Final = {"SINGLE_AZ_1": (750, 1_000), "MULTI_AZ_1": (1_300, 1_800)}
"""The fastest writes by deployment type: elsewhere, and in the fast Regions."""
_ONTAP_LEAST_GIB_AND_IOPS: Final = {4_096: (5_120, 160_000)}  # by the throughput capacity that requires them


def ontap(deployment_type: str, region: str) -> Deployment:
    """Return SINGLE_AZ_1 or MULTI_AZ_1 in a Region: the first generation, with one pair of file servers.

    A write uses the network twice, because it is replicated to the other server. So a server writes at half the rate
    of its network. Disks move 768 MBps with each 3,072 IOPS.
    """
    is_fast = region in ONTAP_FAST_REGIONS
    most_mb_s = _ONTAP_MOST_WRITTEN_MB_S[deployment_type][is_fast]
    return Deployment(
        file_system_type="ONTAP",
        deployment_type=deployment_type,
        file_servers=tuple(
            FileServer(mb_s, network, min(network // 2, most_mb_s), iops, *_ONTAP_LEAST_GIB_AND_IOPS.get(mb_s, ()))
            for mb_s, network, iops in zip(_ONTAP_MB_S, *(_ONTAP_FAST if is_fast else _ONTAP_ELSEWHERE), strict=False)
        ),
        min_gib=1_024,
        max_gib=196_608,
        max_iops_per_gib=50,
        iops_per_mb_s=3_072 / 768,
        bursts_below_mb_s=512,
    )


def deployment(file_system: FsxFileSystem) -> Deployment | None:
    """Return what you can provision for this type of file system; None if this module does not have AWS's table."""
    kind = file_system.deployment_type
    if file_system.file_system_type == "OPENZFS":
        return OPENZFS.get(kind)
    is_known = file_system.file_system_type == "ONTAP" and kind in _ONTAP_MOST_WRITTEN_MB_S
    return ontap(kind, file_system.target.region) if is_known else None


def file_server(file_system: FsxFileSystem) -> FileServer | None:
    """Return the file server with the file system's throughput capacity; None if this module does not have it."""
    table = deployment(file_system)
    rows = table.file_servers if table else ()
    return next((one for one in rows if one.throughput_mb_s == file_system.throughput_mb_s), None)


LEAST_GIB: Final[Mapping[str, int]] = {"OPENZFS": 64, "ONTAP": 1_024, "WINDOWS": 32}
"""The smallest SSD by type; ONTAP's is for each pair of file servers ("CreateFileSystem", StorageCapacity)."""
LEAST_PAIR_MB_S: Final = 1_536
"""The lowest throughput of a pair of ONTAP SINGLE_AZ_2. Only this type has several pairs; their number is not read."""
SHRINKS: Final = ("SINGLE_AZ_2", "MULTI_AZ_2")  # ONTAP's second generation: only its SSD can shrink
LEAST_SHRINK: Final = 0.09
MOST_IOPS_PER_GIB: Final = 50  # of ONTAP in all Regions, and of OpenZFS in some; the others allow 1,000


def least_gib(file_system: FsxFileSystem) -> int:
    """Return the smallest SSD for the file system's throughput, in GiB. Its type must be in `LEAST_GIB`."""
    kind, server = (file_system.file_system_type, file_system.deployment_type), file_server(file_system)
    in_pairs = kind == ("ONTAP", "SINGLE_AZ_2")
    pairs = max(1, (file_system.throughput_mb_s or 0) // LEAST_PAIR_MB_S) if in_pairs else 1
    return max(LEAST_GIB[kind[0]] * pairs, server.least_gib if server else 0)


def with_least_ssd(file_system: FsxFileSystem, *, stored_bytes: float, iops: int) -> FsxFileSystem:
    """Return the file system with the smallest SSD that stores these bytes and sustains these IOPS."""
    gib = max(least_gib(file_system), ceil(stored_bytes / GIB), ceil(iops / MOST_IOPS_PER_GIB))
    server = file_server(file_system)
    least_iops = max(iops, INCLUDED_IOPS_PER_GIB * gib, server.least_iops if server else 0)
    return replace(file_system, storage_gib=gib, iops=None if file_system.iops is None else least_iops)
