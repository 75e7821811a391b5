"""FSx for OpenZFS and ONTAP: what a clean-up looks at, marks, records and deletes. How it backs up and restores is beside it.

An OpenZFS file system goes as one, with its volumes and their snapshots: FSx does that. Of an ONTAP file system the volumes go
first, then the storage virtual machines, each with the root volume that it came with, then itself. Of Windows and Lustre there
is advice only: they can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.errors import AwsError, code_of, remedies
from slackwater.aws.fsx_parts import (
    LOOK_ACTIONS,
    NO_FILE_SYSTEM,
    NO_MACHINE,
    NO_VOLUME,
    WITH_VOLUMES,
    FsxParts,
    access_points,
    advice_only,
    file_system,
    going,
    held,
    known,
    machine,
    parts_of,
    system_bytes,
    there,
    volume,
    volume_bytes,
)
from slackwater.aws.fsx_record import recorded
from slackwater.aws.inventory_ec2 import tags_of
from slackwater.aws.pages import pages
from slackwater.model.cleanup import Look, Part

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession
    from slackwater.model.tracking import TrackedResource

WATCHER_ACTIONS: Final = LOOK_ACTIONS | {"ec2:DescribeNetworkInterfaces", "fsx:TagResource", "fsx:UntagResource"}
REMOVER_ACTIONS: Final = frozenset(
    {
        "fsx:DeleteFileSystem",
        "fsx:DeleteStorageVirtualMachine",
        "fsx:DeleteVolume",
        "fsx:DescribeFileSystems",
        "fsx:DescribeStorageVirtualMachines",
        "fsx:DescribeVolumes",
    }
)

VOLUME: Final = "fsx-volume"
MACHINE: Final = "storage-virtual-machine"
SYSTEM: Final = "file-system"

DELETES: Final[Mapping[str, str]] = {
    VOLUME: "fsx:DeleteVolume",
    MACHINE: "fsx:DeleteStorageVirtualMachine",
    SYSTEM: "fsx:DeleteFileSystem",
}
"""What it takes to delete each kind of part; each is asked for its own ARN, and its own tags."""

REFUSED: Final = frozenset({"BadRequest", "IncompatibleParameterError"})
"""How FSx may answer where something is being deleted already, among other things."""

NO_TAGS_LEFT: Final = "ResourceNotFound"


class FsxWatcher:
    """The Watcher of FSx file systems."""

    def __init__(self, reading: AwsSession) -> None:
        """Makes no call. Tags are put on and taken off by a session that may try again: that comes to the same."""
        self._reading = reading

    @remedies()
    def look(self, resource: TrackedResource) -> Look | None:
        """The file system as it is now. Its size is what is provisioned of what a backup would hold: all of it, or its volumes.

        Raises:
            AwsError: FSx did not say.
        """
        parts = parts_of(self._reading, resource)
        if parts is None:
            return None
        why = held(parts)
        if why is None and parts.system["FileSystemType"] in WITH_VOLUMES and not going(parts.system):
            names = access_points(self._reading, resource)
            why = f"S3 access points are attached to it: {', '.join(names)}" if names else None
        return Look(
            born_at=parts.system["CreationTime"],
            tags=tags_of(parts.system.get("Tags")),
            parts=tuple(_parts(parts)),
            held=why,
            size_bytes=_size_bytes(parts),
            children={one["VolumeId"]: tags_of(one.get("Tags")) for one in parts.volumes}
            | {one["StorageVirtualMachineId"]: tags_of(one.get("Tags")) for one in parts.machines},
        )

    @remedies()
    def mark(self, resource: TrackedResource, look: Look, tags: Mapping[str, str]) -> None:
        """Put tags on its volumes and storage virtual machines, where it is ONTAP's, and on itself.

        Raises:
            AwsError: not on all, or FSx did not say.
        """
        client = self._reading.client("fsx", resource.region)
        for part in look.parts:
            if part.arn and not part.going:
                client.tag_resource(ResourceARN=part.arn, Tags=[{"Key": key, "Value": value} for key, value in tags.items()])

    @remedies()
    def unmark(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Take tags off all that there is of it now; what is gone, or going, is fine.

        Raises:
            AwsError: not off all, or FSx did not say.
        """
        parts = parts_of(self._reading, resource)
        client = self._reading.client("fsx", resource.region)
        failed: ClientError | None = None
        for part in _parts(parts) if parts else ():
            if part.arn is None or part.going:
                continue
            try:
                client.untag_resource(ResourceARN=part.arn, TagKeys=list(keys))
            except ClientError as error:
                if code_of(error) != NO_TAGS_LEFT:
                    failed = failed or error  # the others lose theirs none the less
        if failed:
            raise failed

    @remedies()
    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """What FSx takes to make it again, and its `children` for whoever approves: `fsx_record` says how.

        Raises:
            AwsError: AWS did not say, there is no such file system, or it is one of which there is advice only.
        """
        parts = there(self._reading, resource)
        return recorded(parts, self._security_groups(resource, parts.system.get("NetworkInterfaceIds") or ()))

    def removal_actions(
        self,
        resource: TrackedResource,  # noqa: ARG002 -- as the port has it
        look: Look,
    ) -> Mapping[str, Collection[str]]:
        """One action for each part, on the part's own ARN."""
        return {part.arn: frozenset({DELETES[part.kind]}) for part in look.parts if part.arn and not part.going}

    def _security_groups(self, resource: TrackedResource, interfaces: Collection[str]) -> list[str]:
        """FSx itself does not tell them again."""
        if not interfaces:
            return []
        client: Any = self._reading.client("ec2", resource.region)
        found = list(pages(client.describe_network_interfaces, "NetworkInterfaces", NetworkInterfaceIds=sorted(interfaces)))
        return sorted({group["GroupId"] for one in found for group in one["Groups"]})


class FsxRemover:
    """The Remover of FSx file systems. What is backed up is backed up before: it asks for no final backups."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def remove(self, resource: TrackedResource, part: Part) -> None:
        """Ask FSx once to delete one part.

        Raises:
            AwsError: it was refused, is of a type of which there is advice only, or nobody knows whether it was heard.
        """
        client: Any = self._asking.client("fsx", resource.region)
        match part.kind:
            case _ if part.going:
                return
            case "fsx-volume":
                skip = {"SkipFinalBackup": True}
                self._ask(resource, part, NO_VOLUME, client.delete_volume, VolumeId=part.id, OntapConfiguration=skip)
            case "storage-virtual-machine":
                call = client.delete_storage_virtual_machine
                self._ask(resource, part, NO_MACHINE, call, StorageVirtualMachineId=part.id)
            case "file-system" if part.id == resource.id:
                system = file_system(self._reading, resource.region, part.id)
                if system is None or going(system):
                    return
                advice_only(system)
                whole = {"SkipFinalBackup": True, "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
                more = {"OpenZFSConfiguration": whole} if system["FileSystemType"] == "OPENZFS" else {}
                self._ask(resource, part, NO_FILE_SYSTEM, client.delete_file_system, FileSystemId=part.id, **more)
            case _:
                raise AwsError(f"{part.kind} {part.id} is no part of {resource.id}: it is not deleted")

    def _ask(self, resource: TrackedResource, part: Part, not_found: str, call: Callable[..., Any], **parameters: Any) -> None:
        try:
            call(**parameters)
        except ClientError as error:
            if code_of(error) == not_found or (code_of(error) in REFUSED and self._is_going(resource, part)):
                return
            raise

    def _is_going(self, resource: TrackedResource, part: Part) -> bool:
        read = {VOLUME: volume, MACHINE: machine, SYSTEM: file_system}[part.kind]
        found = read(self._reading, resource.region, part.id)
        return found is None or going(found)


def _parts(parts: FsxParts) -> Iterator[Part]:
    """What we ask FSx to delete, in that order."""
    if parts.system["FileSystemType"] == "ONTAP":
        for one in parts.children:
            yield Part(kind=VOLUME, id=one["VolumeId"], arn=one["ResourceARN"], going=going(one))
        for one in parts.machines:
            yield Part(kind=MACHINE, id=one["StorageVirtualMachineId"], arn=one["ResourceARN"], going=going(one))
    system = parts.system
    yield Part(kind=SYSTEM, id=system["FileSystemId"], arn=system["ResourceARN"], going=going(system))


def _size_bytes(parts: FsxParts) -> int:
    if parts.system["FileSystemType"] == "ONTAP":
        return sum(known(volume_bytes(one), one["VolumeId"]) for one in parts.children if not going(one))
    return known(system_bytes(parts.system), parts.system["FileSystemId"])
