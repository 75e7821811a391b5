"""Reads FSx file systems of all four types, and the volumes of OpenZFS and ONTAP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.records import ReadRecord, after_pause, named, one_by_one, records
from slackwater.model.resources import FsxFileSystem, FsxVolume, NfsClients

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"fsx:DescribeFileSystems", "fsx:DescribeVolumes"})

CONFIGURATIONS: Final[Mapping[str, str]] = {
    "LUSTRE": "LustreConfiguration",
    "ONTAP": "OntapConfiguration",
    "OPENZFS": "OpenZFSConfiguration",
    "WINDOWS": "WindowsConfiguration",
}
"""The field with the settings of each type of file system."""

WITH_VOLUMES: Final = frozenset({"ONTAP", "OPENZFS"})
"""Types of file system that have volumes."""


def file_systems(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[ReadRecord[FsxFileSystem]]:
    """Read every file system that is not being deleted, or those that are named. FSx chooses the page size."""
    found = partial(pages, session.client("fsx", target.region).describe_file_systems, "FileSystems")
    return records(
        FsxFileSystem,
        found(**only),
        partial(_file_system, target=target),
        id_of=named("FileSystemId"),
        again=after_pause(session, one_by_one(lambda id_: found(FileSystemIds=[id_]), "FileSystemNotFound")),
        says_gone=True,
    )


def volumes(session: AwsSession, target: Target, before: Earlier, **only: Any) -> Iterator[ReadRecord[FsxVolume]]:
    """Read every volume that is not being deleted, or only those that FSx's parameters in `only` select.

    Makes no call if no file system can have volumes.
    """
    has_any = any(system.file_system_type in WITH_VOLUMES for system in before.all(FsxFileSystem))
    if not has_any and FsxFileSystem not in before.unreadable:
        return
    found = partial(pages, session.client("fsx", target.region).describe_volumes, "Volumes")
    yield from records(
        FsxVolume,
        found(**only),
        partial(_volume, target=target),
        id_of=named("VolumeId"),
        owners_of=lambda volume: (volume["FileSystemId"],),
        again=after_pause(session, one_by_one(lambda id_: found(VolumeIds=[id_]), "VolumeNotFound")),
        says_gone=True,
    )


def _file_system(found: Any, target: Target) -> FsxFileSystem | None:
    if found["Lifecycle"] == "DELETING":
        return None
    grows = found.get("StorageType") == "INTELLIGENT_TIERING"
    settings = found.get(CONFIGURATIONS.get(found["FileSystemType"], ""), {})
    iops = settings.get("DiskIopsConfiguration", {})
    return FsxFileSystem(
        id=found["FileSystemId"],
        arn=found["ResourceARN"],
        target=target,
        tags=tags_of(found.get("Tags")),
        file_system_type=found["FileSystemType"],
        deployment_type=settings.get("DeploymentType", ""),
        state=found["Lifecycle"],
        created_at=found["CreationTime"],
        storage_type=found.get("StorageType", ""),
        storage_gib=found.get("StorageCapacity", 0) if grows else found["StorageCapacity"],
        throughput_mb_s=settings.get("ThroughputCapacity"),
        iops=iops.get("Iops"),
        iops_mode=iops.get("Mode"),
        automatic_backup_days=settings.get("AutomaticBackupRetentionDays"),
        root_volume_id=settings.get("RootVolumeId"),
    )


def _volume(found: Any, target: Target) -> FsxVolume | None:
    if found["Lifecycle"] == "DELETING":
        return None
    openzfs, ontap = found.get("OpenZFSConfiguration", {}), found.get("OntapConfiguration", {})
    exports = openzfs.get("NfsExports") or [{}]
    return FsxVolume(
        id=found["VolumeId"],
        arn=found["ResourceARN"],
        target=target,
        tags=tags_of(found.get("Tags")),
        file_system_id=found["FileSystemId"],
        volume_type=found["VolumeType"],
        state=found["Lifecycle"],
        created_at=found["CreationTime"],
        path=openzfs.get("VolumePath") or ontap.get("JunctionPath") or "",
        nfs_export=tuple(
            NfsClients(clients=entry["Clients"], options=tuple(entry["Options"]))
            for entry in exports[0].get("ClientConfigurations", ())
        ),
        ontap_volume_type=ontap.get("OntapVolumeType"),
    )
