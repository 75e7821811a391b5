"""FSx for OpenZFS and ONTAP: what is kept of a file system, in FSx's own words, so that it can be made again.

As JSON holds it: `system`, its `security_group_ids`, ONTAP's `machines` (storage virtual machines) and `volumes`, with tags as
mappings; and `children`, the volumes that go with it: `id`, `name`, `path`, and `size_bytes`, None where only the file system
bounds it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.fsx_parts import ontap, path_of, volume_bytes
from slackwater.aws.inventory_ec2 import tags_of
from slackwater.aws.inventory_fsx import CONFIGURATIONS
from slackwater.model.units import GIB

if TYPE_CHECKING:
    from slackwater.aws.fsx_parts import FsxParts

SYSTEM_WORDS: Final = ("FileSystemType", "StorageCapacity", "StorageType", "SubnetIds", "KmsKeyId", "NetworkType", "DNSName")
SETTINGS: Final = (
    "AutomaticBackupRetentionDays",
    "CopyTagsToBackups",
    "CopyTagsToVolumes",
    "DailyAutomaticBackupStartTime",
    "DeploymentType",
    "DiskIopsConfiguration",
    "EndpointIpAddressRange",
    "EndpointIpv6AddressRange",
    "HAPairs",
    "PreferredSubnetId",
    "ReadCacheConfiguration",
    "RouteTableIds",
    "ThroughputCapacity",
    "ThroughputCapacityPerHAPair",
    "WeeklyMaintenanceStartTime",
)
VOLUME_SETTINGS: Final = (
    "AggregateConfiguration",
    "CopyTagsToBackups",
    "JunctionPath",
    "SecurityStyle",
    "SizeInBytes",
    "SizeInMegabytes",
    "SnapshotPolicy",
    "StorageEfficiencyEnabled",
    "StorageVirtualMachineId",
    "TieringPolicy",
    "VolumeStyle",
)
"""What is kept of each, in FSx's words, to make it again."""


def recorded(parts: FsxParts, security_group_ids: Sequence[str]) -> dict[str, Any]:
    """What is kept of a file system."""
    system, kind = parts.system, CONFIGURATIONS[parts.system["FileSystemType"]]
    is_ontap = system["FileSystemType"] == "ONTAP"
    return {
        "system": {
            **_kept(system, SYSTEM_WORDS),
            "Tags": tags_of(system.get("Tags")),
            kind: _kept(system.get(kind, {}), SETTINGS),
        },
        "security_group_ids": list(security_group_ids),
        "machines": [_machine(one) for one in parts.machines],
        "volumes": [_volume(one) for one in parts.children if is_ontap],
        "children": [
            {"id": one["VolumeId"], "name": one.get("Name", ""), "path": path_of(one), "size_bytes": _quota_bytes(one)}
            for one in parts.children
        ],
    }


def _machine(described: Any) -> dict[str, Any]:
    return {
        **_kept(described, ("StorageVirtualMachineId", "Name", "RootVolumeSecurityStyle")),
        "Tags": tags_of(described.get("Tags")),
        "joined": _directory(described),
    }


def _volume(described: Any) -> dict[str, Any]:
    return {
        **_kept(described, ("VolumeId", "Name")),
        "Tags": tags_of(described.get("Tags")),
        "OntapConfiguration": _kept(ontap(described), VOLUME_SETTINGS),
    }


def _quota_bytes(volume: Any) -> int | None:
    """How large it may grow by itself; None where only the file system bounds it (OpenZFS says -1, or nothing)."""
    if "OntapConfiguration" in volume:
        return volume_bytes(volume)
    gib = volume.get("OpenZFSConfiguration", {}).get("StorageCapacityQuotaGiB", -1)
    return gib * GIB if gib >= 0 else None


def _directory(machine: Any) -> str | None:
    """The Active Directory domain that a storage virtual machine has joined."""
    joined = machine.get("ActiveDirectoryConfiguration", {})
    named = joined.get("SelfManagedActiveDirectoryConfiguration", {}).get("DomainName") or joined.get("NetBiosName")
    return str(named) if named else None


def _kept(described: Any, names: Collection[str]) -> dict[str, Any]:
    return {name: described[name] for name in names if described.get(name) is not None}
