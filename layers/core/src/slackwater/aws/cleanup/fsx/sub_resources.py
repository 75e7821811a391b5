"""Describes a single FSx file system and its sub-resources for clean-ups. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import ONTAP_STAYS
from slackwater.model.ownership import managed_by
from slackwater.model.units import GIB
from slackwater.ports.errors import AwsError, BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

LOOK_ACTIONS: Final = frozenset(
    {
        "fsx:DescribeFileSystems",
        "fsx:DescribeS3AccessPointAttachments",
        "fsx:DescribeVolumes",
    }
)
"""The IAM actions of this module."""

NO_FILE_SYSTEM: Final = "FileSystemNotFound"

THERE: Final = frozenset({"AVAILABLE", "CREATED"})
"""Lifecycles of a healthy file system or volume."""
OVER: Final = frozenset({"CANCELLED", "COMPLETED", "FAILED"})
"""Statuses of administrative actions that have ended."""


@dataclass(frozen=True, slots=True)
class FsxParts:
    """A file system and its volumes, as FSx describes them. Volumes that are mounted below others come first.

    Only the volumes of OpenZFS are read, and not those of a file system that FSx is deleting.
    """

    system: Any
    volumes: tuple[Any, ...] = ()

    @property
    def children(self) -> list[Any]:
        """All volumes except the root volume, which FSx creates."""
        root = self.system.get("OpenZFSConfiguration", {}).get("RootVolumeId")
        return [one for one in self.volumes if one["VolumeId"] != root]


def parts_of(session: AwsSession, resource: TrackedResource) -> FsxParts | None:
    """Return the file system and its sub-resources; None if FSx says that there is none with this id."""
    system = file_system(session, resource.region, resource.id)
    if system is None:
        return None
    if going(system) or not_deletable(system):
        return FsxParts(system)
    volumes = volumes_of(session, resource)
    return FsxParts(
        system, tuple(sorted(volumes, key=lambda one: (-path_of(one).count("/"), path_of(one), one["VolumeId"])))
    )


def volumes_of(session: AwsSession, resource: TrackedResource) -> list[Any]:
    """Return the volumes of a file system."""
    here: Any = [{"Name": "file-system-id", "Values": [resource.id]}]
    volumes = list(pages(session.client("fsx", resource.region).describe_volumes, "Volumes", Filters=here))
    if any(one["FileSystemId"] != resource.id for one in volumes):
        raise BrokenAnswerError(f"the answer is not about {resource.id}")
    return volumes


def there(session: AwsSession, resource: TrackedResource) -> FsxParts:
    """Return the file system and its sub-resources, if Slackwater may clean it up.

    Raises:
        AwsError: It does not exist, or Slackwater does not delete file systems of its type.
    """
    parts = parts_of(session, resource)
    if parts is None:
        raise AwsError(f"there is no file system {resource.id} in {resource.region} any more")
    if why := not_deletable(parts.system):
        raise AwsError(f"{resource.id} is not touched: {why}")
    return parts


def not_deletable(system: Any) -> str | None:
    """Return why Slackwater does not back up, delete or restore file systems of this type; None for OpenZFS."""
    match system["FileSystemType"]:
        case "OPENZFS":
            return None
        case "ONTAP":
            return ONTAP_STAYS
        case kind:
            return f"it is of type {kind}: of these there is advice only"


def file_system(session: AwsSession, region: str, id: str) -> Any | None:
    """Return the file system as FSx describes it; None if FSx says that it does not exist."""
    try:
        found = list(pages(session.client("fsx", region).describe_file_systems, "FileSystems", FileSystemIds=[id]))
    except ClientError as error:
        if code_of(error) != NO_FILE_SYSTEM:
            raise
        return None
    if [one["FileSystemId"] for one in found] != [id]:  # FSx reports a missing one as an error
        raise BrokenAnswerError(f"the answer is not about {id}")
    return found[0]


def held(parts: FsxParts) -> str | None:
    """Return why it must not be deleted, or None.

    Reasons are its type, an unhealthy state, a change in progress, or replication.
    """
    return next(_objections(parts), None)


def _objections(parts: FsxParts) -> Iterator[str]:
    if why := not_deletable(parts.system):
        yield why
    if parts.system["Lifecycle"] not in {"AVAILABLE", "DELETING"}:
        yield f"it is {parts.system['Lifecycle'].lower()}"
    for one in (parts.system, *parts.volumes):
        if not going(one) and (kind := under_way(one)):
            yield f"an administrative action is under way on {one.get('VolumeId') or one['FileSystemId']}: {kind}"
    for one in parts.volumes:
        if going(one):
            continue
        name, settings = f"volume {one['VolumeId']}", one.get("OpenZFSConfiguration", {})
        if one["Lifecycle"] not in THERE:
            yield f"its {name} is {one['Lifecycle'].lower()}"
        if owner := managed_by(tags_of(one.get("Tags"))):
            yield f"{owner} manages its {name}: change it there"
        if (
            settings.get("SourceSnapshotARN")
            or settings.get("OriginSnapshot", {}).get("CopyStrategy") == "INCREMENTAL_COPY"
        ):
            yield f"its {name} is written by replication"


def access_points(session: AwsSession, resource: TrackedResource) -> list[str]:
    """Return the names of the S3 access points that are attached to its volumes."""
    call: Any = session.client("fsx", resource.region).describe_s3_access_point_attachments
    here = [{"Name": "file-system-id", "Values": [resource.id]}]
    try:
        return [one["Name"] for one in pages(call, "S3AccessPointAttachments", Filters=here)]
    except ClientError as error:
        # A Region that does not support access points has none.
        if code_of(error) not in {"S3AccessPointAttachmentNotFound", "UnsupportedOperation"}:
            raise
        return []


def under_way(described: Any) -> str | None:
    """Return the type of an administrative action that has not ended; None if there is none."""
    actions: Sequence[Any] = described.get("AdministrativeActions") or ()
    return next(
        (one.get("AdministrativeActionType", "of no name") for one in actions if one.get("Status") not in OVER), None
    )


def going(described: Any) -> bool:
    """Return whether FSx is deleting it."""
    return bool(described["Lifecycle"] == "DELETING")


def path_of(volume: Any) -> str:
    """Return the mount path of a volume; empty if it has none."""
    return str(volume.get("OpenZFSConfiguration", {}).get("VolumePath") or "")


def system_bytes(system: Any) -> int | None:
    """Return the provisioned storage in bytes; None if the description does not have it.

    Intelligent-Tiering has no provisioned storage, so it is 0.
    """
    if system.get("StorageType") == "INTELLIGENT_TIERING":
        return 0
    gib = system.get("StorageCapacity")
    return None if gib is None else int(gib) * GIB


def known(size_bytes: int | None, id: str) -> int:
    """Return the size, which must be known.

    Raises:
        BrokenAnswerError: It is None.
    """
    if size_bytes is None:
        raise BrokenAnswerError(f"the answer does not say how large {id} is")
    return size_bytes
