"""Reads from a backup what a restore needs to know about its resource, if the clean-up's record does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.cleanup.ebs.snapshots import EbsSweeper
from slackwater.aws.cleanup.efs.recovery_points import EfsSweeper
from slackwater.aws.cleanup.fsx.backups import FsxSweeper
from slackwater.aws.cleanup.fsx.record import SETTINGS
from slackwater.aws.client.errors import remedies
from slackwater.aws.inventory.fsx import CONFIGURATIONS
from slackwater.model.units import GIB
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.cleanup import Copy

ACTIONS: Final = frozenset(
    {
        "backup:GetRecoveryPointRestoreMetadata",
        "backup:ListBackupVaults",
        "backup:ListRecoveryPointsByBackupVault",
        "backup:ListTags",
        "ec2:DescribeSnapshots",
        "fsx:DescribeBackups",
    }
)
"""To list Slackwater's own backups, and to read what is restored from them."""

GP3: Final = {"volume_type": "gp3", "iops": 3_000, "throughput_mib_s": 125}
"""A snapshot does not have the type of its volume, so the volume is restored as gp3 at its lowest price."""


class EbsBackupLister:
    """The `BackupLister` of EBS snapshots."""

    needs_place = "the zone that the volume is to be in"

    def __init__(self, session: AwsSession) -> None:
        """Make no call."""
        self._listing = EbsSweeper(session, session)

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Return the backups, as `EbsSweeper` does.

        Raises:
            AwsError: The EC2 call failed.
        """
        return self._listing.copies(account, region)

    def not_restorable(self, copy: Copy) -> str | None:  # noqa: ARG002
        """Return None: every complete snapshot can be restored."""
        return None

    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the parameters of CreateVolume: the snapshot's size and key, and gp3."""
        return {
            **GP3,
            "availability_zone": places[0],
            "size_gib": (copy.size_bytes or 0) // GIB,
            "multi_attach": False,
            "encrypted": copy.key is not None,
            "kms_key_id": copy.key or None,
            "outpost_arn": None,
            "tags": _name(copy),
        }


class EfsBackupLister:
    """The `BackupLister` of EFS recovery points."""

    needs_place = None

    def __init__(self, session: AwsSession) -> None:
        """Make no call."""
        self._session, self._listing = session, EfsSweeper(session, session)

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Return the backups, as `EfsSweeper` does.

        Raises:
            AwsError: An AWS Backup call failed.
        """
        return self._listing.copies(account, region)

    def not_restorable(self, copy: Copy) -> str | None:  # noqa: ARG002
        """Return None: every complete recovery point can be restored."""
        return None

    @remedies()
    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what AWS Backup stores about the file system. All other settings stay at their defaults.

        Raises:
            AwsError: The AWS Backup call failed.
        """
        client = self._session.client("backup", region)
        metadata = client.get_recovery_point_restore_metadata(BackupVaultName=copy.vault, RecoveryPointArn=copy.id)
        was = metadata["RestoreMetadata"]
        return {
            "performance_mode": was.get("PerformanceMode", "generalPurpose"),
            "throughput_mode": None,
            "provisioned_mib_s": None,
            "encrypted": was.get("Encrypted", "true").lower() == "true",
            "kms_key_id": was.get("KmsKeyId"),
            "availability_zone": was.get("availabilityZoneName"),
            "overwrite_protection": None,
            "tags": _name(copy),
            "policy": None,
            "lifecycle": None,
            "backed_up_daily": None,
            "access_points": [],
            "mount_targets": [],
        }


class FsxBackupLister:
    """The `BackupLister` of FSx backups."""

    needs_place = "the subnets that the file system is to be in, the preferred one first"

    def __init__(self, session: AwsSession) -> None:
        """Make no call."""
        self._session, self._listing = session, FsxSweeper(session, session)

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Return the backups, as `FsxSweeper` does.

        Raises:
            AwsError: The FSx call failed.
        """
        return self._listing.copies(account, region)

    def not_restorable(self, copy: Copy) -> str | None:
        """Return a reason for ONTAP, whose backups are of volumes: Slackwater restores only whole file systems."""
        return "Slackwater does not restore FSx for ONTAP" if copy.of.startswith("fsvol-") else None

    @remedies()
    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:
        """Return what FSx stores about the file system with its backup.

        Raises:
            AwsError: The FSx call failed, or Slackwater does not restore file systems of this type.
        """
        found: Any = self._session.client("fsx", region).describe_backups(BackupIds=[copy.id or ""])["Backups"][0]
        system = found["FileSystem"]
        kind = CONFIGURATIONS[system["FileSystemType"]]
        if system["FileSystemType"] != "OPENZFS":
            raise AwsError(f"Slackwater does not restore FSx for {system['FileSystemType'].title()}")
        settings = {name: value for name, value in system.get(kind, {}).items() if name in SETTINGS}
        return {
            "system": {
                **{
                    name: system[name]
                    for name in ("FileSystemType", "StorageCapacity", "StorageType")
                    if name in system
                },
                **({"KmsKeyId": copy.key} if copy.key else {}),
                "SubnetIds": list(places),
                "Tags": _name(copy),
                kind: settings | ({"PreferredSubnetId": places[0]} if len(places) > 1 else {}),
            },
            "security_group_ids": [],
            "children": [],
        }


def _name(copy: Copy) -> dict[str, str]:
    name = copy.tags.get("Name", "").removesuffix(" before it was deleted")
    return {"Name": name} if name else {}
