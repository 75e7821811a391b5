"""What FSx says of one file system, and of what hangs on it. Clean-ups look at it through this; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.errors import AwsError, BrokenAnswerError, code_of
from slackwater.aws.inventory_ec2 import tags_of
from slackwater.aws.pages import pages
from slackwater.model.ownership import managed_by
from slackwater.model.units import GIB, MIB

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession
    from slackwater.model.tracking import TrackedResource

LOOK_ACTIONS: Final = frozenset(
    {
        "fsx:DescribeFileSystems",
        "fsx:DescribeS3AccessPointAttachments",
        "fsx:DescribeStorageVirtualMachines",
        "fsx:DescribeVolumes",
    }
)
"""IAM's names of the calls of this module."""

WITH_VOLUMES: Final = frozenset({"ONTAP", "OPENZFS"})
"""Types that may be cleaned up, which have volumes. Of Windows and Lustre there is advice only."""

NO_FILE_SYSTEM: Final = "FileSystemNotFound"
NO_VOLUME: Final = "VolumeNotFound"
NO_MACHINE: Final = "StorageVirtualMachineNotFound"

THERE: Final = frozenset({"AVAILABLE", "CREATED"})
"""Lifecycles of a volume, or of a storage virtual machine, that is as it should be."""
OVER: Final = frozenset({"CANCELLED", "COMPLETED", "FAILED"})
"""Statuses of administrative actions that have ended."""


@dataclass(frozen=True, slots=True)
class FsxParts:
    """A file system, its volumes (those that are mounted below others first), its storage virtual machines, in FSx's words.

    Of one that FSx is deleting nothing else is read.
    """

    system: Any
    volumes: tuple[Any, ...] = ()
    machines: tuple[Any, ...] = ()

    @property
    def children(self) -> list[Any]:
        """Volumes that somebody made: not OpenZFS's first, nor those that storage virtual machines come with."""
        root = self.system.get("OpenZFSConfiguration", {}).get("RootVolumeId")
        return [one for one in self.volumes if one["VolumeId"] != root and not ontap(one).get("StorageVirtualMachineRoot")]


def parts_of(session: AwsSession, resource: TrackedResource) -> FsxParts | None:
    """The file system and what hangs on it; None where FSx says that there is none of this id."""
    system = file_system(session, resource.region, resource.id)
    if system is None:
        return None
    if going(system):
        return FsxParts(system)
    kind = system["FileSystemType"]
    client = session.client("fsx", resource.region)
    here = [{"Name": "file-system-id", "Values": [resource.id]}]
    volumes = list(pages(client.describe_volumes, "Volumes", Filters=here)) if kind in WITH_VOLUMES else []
    machines = (
        list(pages(client.describe_storage_virtual_machines, "StorageVirtualMachines", Filters=here)) if kind == "ONTAP" else []
    )
    for one in (*volumes, *machines):
        if one["FileSystemId"] != resource.id:
            raise BrokenAnswerError(f"the answer is not about {resource.id}")
    return FsxParts(
        system,
        tuple(sorted(volumes, key=lambda one: (-path_of(one).count("/"), path_of(one), one["VolumeId"]))),
        tuple(sorted(machines, key=lambda one: str(one["StorageVirtualMachineId"]))),
    )


def there(session: AwsSession, resource: TrackedResource) -> FsxParts:
    """The same of one that may be cleaned up.

    Raises:
        AwsError: there is none, or it is of a type of which there is advice only.
    """
    parts = parts_of(session, resource)
    if parts is None:
        raise AwsError(f"there is no file system {resource.id} in {resource.region} any more")
    advice_only(parts.system)
    return parts


def advice_only(system: Any) -> None:
    """Refuse a file system of a type that no program of ours backs up, deletes or restores.

    Raises:
        AwsError: it is of such a type.
    """
    if system["FileSystemType"] not in WITH_VOLUMES:
        raise AwsError(f"{system['FileSystemId']} is of type {system['FileSystemType']}: of these there is advice only")


def file_system(session: AwsSession, region: str, id: str) -> Any | None:
    """The file system as FSx describes it; None where FSx says that there is none."""
    return _one(session.client("fsx", region).describe_file_systems, "FileSystems", "FileSystemId", id, NO_FILE_SYSTEM)


def volume(session: AwsSession, region: str, id: str) -> Any | None:
    """The same of a volume."""
    return _one(session.client("fsx", region).describe_volumes, "Volumes", "VolumeId", id, NO_VOLUME)


def machine(session: AwsSession, region: str, id: str) -> Any | None:
    """The same of a storage virtual machine."""
    call = session.client("fsx", region).describe_storage_virtual_machines
    return _one(call, "StorageVirtualMachines", "StorageVirtualMachineId", id, NO_MACHINE)


def _one(call: Callable[..., Mapping[str, Any]], key: str, name: str, id: str, not_found: str) -> Any | None:
    ids: dict[str, Any] = {f"{name}s": [id]}
    try:
        found = list(pages(call, key, **ids))
    except ClientError as error:
        if code_of(error) != not_found:
            raise
        return None
    if [one[name] for one in found] != [id]:  # FSx calls it not found; nothing at all is no answer
        raise BrokenAnswerError(f"the answer is not about {id}")
    return found[0]


def held(parts: FsxParts) -> str | None:
    """Why it must not be deleted, as far as its own descriptions tell: not as it should be, being changed, or a replica."""
    return next(_objections(parts), None)


def _objections(parts: FsxParts) -> Iterator[str]:
    if parts.system["Lifecycle"] not in {"AVAILABLE", "DELETING"}:
        yield f"it is {parts.system['Lifecycle'].lower()}"
    for one in (parts.system, *parts.volumes):
        if not going(one) and (kind := under_way(one)):
            yield f"an administrative action is under way on {one.get('VolumeId') or one['FileSystemId']}: {kind}"
    named = [(f"volume {one['VolumeId']}", one) for one in parts.volumes]
    named += [(f"storage virtual machine {one['StorageVirtualMachineId']}", one) for one in parts.machines]
    for name, one in named:
        if going(one):
            continue
        if one["Lifecycle"] not in THERE:
            yield f"its {name} is {one['Lifecycle'].lower()}"
        if owner := managed_by(tags_of(one.get("Tags"))):
            yield f"its {name} is managed by {owner}: it has to be changed there"
        if why := _not_its_own(one):
            yield f"its {name} {why}"


def _not_its_own(part: Any) -> str | None:
    """Why a volume or a storage virtual machine is not for us to back up and delete: others write it, read it, or forbid it."""
    settings, openzfs = ontap(part), part.get("OpenZFSConfiguration", {})
    if part.get("Subtype", "DEFAULT") != "DEFAULT":
        return "takes part in a replication"
    if part.get("VolumeType") == "ONTAP" and settings.get("OntapVolumeType") != "RW":
        return f"is of type {settings.get('OntapVolumeType', 'unknown')}: replication writes it, and it has no backup"
    if settings.get("SnaplockConfiguration"):
        return "is a SnapLock volume"
    if settings.get("FlexCacheEndpointType", "NONE") != "NONE":
        return "takes part in a FlexCache"
    if openzfs.get("SourceSnapshotARN") or openzfs.get("OriginSnapshot", {}).get("CopyStrategy") == "INCREMENTAL_COPY":
        return "is written by replication"
    return None


def access_points(session: AwsSession, resource: TrackedResource) -> list[str]:
    """Names of the S3 access points that are attached to its volumes."""
    call: Any = session.client("fsx", resource.region).describe_s3_access_point_attachments
    here = [{"Name": "file-system-id", "Values": [resource.id]}]
    try:
        return [one["Name"] for one in pages(call, "S3AccessPointAttachments", Filters=here)]
    except ClientError as error:
        # A Region that does not know them has none.
        if code_of(error) not in {"S3AccessPointAttachmentNotFound", "UnsupportedOperation"}:
            raise
        return []


def under_way(described: Any) -> str | None:
    """The type of an administrative action that has not ended; None where there is none."""
    actions: Sequence[Any] = described.get("AdministrativeActions") or ()
    return next((one.get("AdministrativeActionType", "of no name") for one in actions if one.get("Status") not in OVER), None)


def going(described: Any) -> bool:
    """Whether FSx is deleting it."""
    return bool(described["Lifecycle"] == "DELETING")


def ontap(volume: Any) -> Any:
    """What is said of a volume of ONTAP's; nothing of another."""
    return volume.get("OntapConfiguration", {})


def path_of(volume: Any) -> str:
    """Where clients find a volume; empty where it is mounted nowhere."""
    return str(volume.get("OpenZFSConfiguration", {}).get("VolumePath") or ontap(volume).get("JunctionPath") or "")


def system_bytes(system: Any) -> int | None:
    """What is provisioned: nothing where Intelligent-Tiering grows by itself; None where the description does not say."""
    if system.get("StorageType") == "INTELLIGENT_TIERING":
        return 0
    gib = system.get("StorageCapacity")
    return None if gib is None else int(gib) * GIB


def volume_bytes(volume: Any) -> int | None:
    """How large a volume of ONTAP's is configured to be, as descriptions and backups both tell; None where it does not say."""
    settings = ontap(volume)
    mib, exact = settings.get("SizeInMegabytes"), settings.get("SizeInBytes")
    return int(mib) * MIB if mib is not None else exact


def known(size_bytes: int | None, id: str) -> int:
    """A size that has to be there.

    Raises:
        BrokenAnswerError: it is not.
    """
    if size_bytes is None:
        raise BrokenAnswerError(f"the answer does not say how large {id} is")
    return size_bytes
