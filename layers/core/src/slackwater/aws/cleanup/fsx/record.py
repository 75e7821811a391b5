"""The record of an FSx for OpenZFS file system, in FSx's own terms, from which it can be created again.

It has these JSON values:

- `system`, with the tags as a mapping.
- `security_group_ids`.
- `children`, the volumes that are deleted with it: `id`, `name`, `path`, and `size_bytes`, which is None if only the
  file system limits the size.
- `volume_settings` of every volume, by path.
- `machines` and `volumes`, which only ONTAP used. They are empty, but after a rollback an older version cannot restore
  without them. Older records have values in them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.cleanup.fsx.sub_resources import path_of
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.fsx import CONFIGURATIONS
from slackwater.model.units import GIB

if TYPE_CHECKING:
    from slackwater.aws.cleanup.fsx.sub_resources import FsxParts

SYSTEM_WORDS: Final = (
    "FileSystemType",
    "StorageCapacity",
    "StorageType",
    "SubnetIds",
    "KmsKeyId",
    "NetworkType",
    "DNSName",
)
SETTINGS: Final = (
    "AutomaticBackupRetentionDays",
    "CopyTagsToBackups",
    "CopyTagsToVolumes",
    "DailyAutomaticBackupStartTime",
    "DeploymentType",
    "DiskIopsConfiguration",
    "EndpointIpAddressRange",
    "EndpointIpv6AddressRange",
    "PreferredSubnetId",
    "ReadCacheConfiguration",
    "RouteTableIds",
    "ThroughputCapacity",
    "WeeklyMaintenanceStartTime",
)
"""The recorded settings, in FSx's own terms."""
VOLUME_SETTINGS: Final[Mapping[str, str]] = {
    "NfsExports": "NFS exports",
    "UserAndGroupQuotas": "user and group quotas",
    "StorageCapacityQuotaGiB": "storage quota",
    "StorageCapacityReservationGiB": "storage reservation",
    "DataCompressionType": "compression",
    "RecordSizeKiB": "record size",
    "ReadOnly": "read-only setting",
}
"""The recorded settings of a volume, and their names in messages. The backup restores them: they are only compared."""


def recorded(parts: FsxParts, security_group_ids: Sequence[str]) -> dict[str, Any]:
    """Return the record of a file system."""
    system, kind = parts.system, CONFIGURATIONS[parts.system["FileSystemType"]]
    return {
        "system": {
            **_kept(system, SYSTEM_WORDS),
            "Tags": tags_of(system.get("Tags")),
            kind: _kept(system.get(kind, {}), SETTINGS),
        },
        "security_group_ids": list(security_group_ids),
        "machines": [],
        "volumes": [],
        "children": [
            {"id": one["VolumeId"], "name": one.get("Name", ""), "path": path_of(one), "size_bytes": _quota_bytes(one)}
            for one in parts.children
        ],
        "volume_settings": {
            path_of(one): _kept(one.get("OpenZFSConfiguration", {}), VOLUME_SETTINGS) for one in parts.volumes
        },
    }


def _quota_bytes(volume: Any) -> int | None:
    """Return the volume's quota in bytes; None if only the file system limits its size (FSx returns -1, or nothing)."""
    gib = volume.get("OpenZFSConfiguration", {}).get("StorageCapacityQuotaGiB", -1)
    return gib * GIB if gib >= 0 else None


def _kept(described: Any, names: Collection[str]) -> dict[str, Any]:
    return {name: described[name] for name in names if described.get(name) is not None}
