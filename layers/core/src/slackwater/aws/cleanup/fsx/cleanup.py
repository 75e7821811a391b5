"""Reads, tags, records and deletes FSx for OpenZFS file systems for a clean-up.

The modules `backups` and `restore` back up and restore them. One call deletes an OpenZFS file system with its volumes
and their snapshots. Slackwater does not delete file systems of the other types (ONTAP, Windows and Lustre), but it can
describe them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.fsx.record import recorded
from slackwater.aws.cleanup.fsx.sub_resources import (
    LOOK_ACTIONS,
    NO_FILE_SYSTEM,
    access_points,
    file_system,
    going,
    held,
    known,
    not_deletable,
    parts_of,
    system_bytes,
    there,
    volumes_of,
)
from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import ONTAP_STAYS, CurrentState, SubResource
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

WATCHER_ACTIONS: Final = LOOK_ACTIONS | {"ec2:DescribeNetworkInterfaces", "fsx:TagResource", "fsx:UntagResource"}
REMOVER_ACTIONS: Final = frozenset(
    {"fsx:CreateBackup", "fsx:DeleteFileSystem", "fsx:DescribeFileSystems", "fsx:TagResource"}
)
"""DeleteFileSystem needs CreateBackup and TagResource for the final backup (Service Authorization Reference)."""

REFUSED: Final = frozenset({"BadRequest", "IncompatibleParameterError"})
"""Errors that FSx may return, among other reasons, for a file system that is already being deleted."""

NO_TAGS_LEFT: Final = "ResourceNotFound"


class FsxWatcher:
    """The `Watcher` of FSx file systems."""

    def __init__(self, reading: AwsSession) -> None:
        """Make no call. The session may retry, because setting or removing tags twice has the same effect."""
        self._reading = reading

    @remedies()
    def look(self, resource: TrackedResource) -> CurrentState | None:
        """Return the file system as it is now; None if it does not exist. Its size is the provisioned storage.

        Raises:
            AwsError: An FSx call failed.
        """
        parts = parts_of(self._reading, resource)
        if parts is None:
            return None
        system, why = parts.system, held(parts)
        if why is None and not going(system):
            names = access_points(self._reading, resource)
            why = f"S3 access points are attached to it: {', '.join(names)}" if names else None
        return CurrentState(
            born_at=system["CreationTime"],
            tags=tags_of(system.get("Tags")),
            parts=(SubResource(kind="file-system", id=resource.id, arn=system["ResourceARN"], going=going(system)),),
            held=why,
            size_bytes=known(system_bytes(system), resource.id),
            children={one["VolumeId"]: tags_of(one.get("Tags")) for one in parts.volumes},
        )

    @remedies()
    def add_tags(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        """Set tags on the file system.

        Raises:
            AwsError: The tags are not set, or it is unknown whether they are.
        """
        client = self._reading.client("fsx", resource.region)
        for part in look.parts:
            if part.arn and not part.going:
                client.tag_resource(
                    ResourceARN=part.arn, Tags=[{"Key": key, "Value": value} for key, value in tags.items()]
                )

    @remedies()
    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Remove tags from the file system. Ignores what is deleted, or being deleted.

        Older versions also tagged ONTAP's volumes and storage virtual machines, so their tags are removed too.

        Raises:
            AwsError: Some tags are not removed, or it is unknown whether they are.
        """
        system = file_system(self._reading, resource.region, resource.id)
        if system is None or going(system):
            return
        tagged = [system["ResourceARN"]]
        if not_deletable(system) == ONTAP_STAYS:
            volumes = [one for one in volumes_of(self._reading, resource) if not going(one)]
            hosts = {one["OntapConfiguration"]["StorageVirtualMachineId"] for one in volumes}
            base = system["ResourceARN"].replace(":file-system/", ":storage-virtual-machine/")
            tagged += [*(one["ResourceARN"] for one in volumes), *(f"{base}/{host}" for host in sorted(hosts))]
        client = self._reading.client("fsx", resource.region)
        failed: ClientError | None = None
        for arn in tagged:
            try:
                client.untag_resource(ResourceARN=arn, TagKeys=list(keys))
            except ClientError as error:
                if code_of(error) != NO_TAGS_LEFT:
                    failed = failed or error  # goes on with the other resources
        if failed:
            raise failed

    @remedies()
    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """Return what FSx needs to create it again, and its `children` for the approver. See the module `record`.

        Raises:
            AwsError: An AWS call failed, the file system does not exist, or Slackwater does not delete its type.
        """
        parts = there(self._reading, resource)
        return recorded(parts, self._security_groups(resource, parts.system.get("NetworkInterfaceIds") or ()))

    def removal_actions(
        self,
        resource: TrackedResource,  # noqa: ARG002 -- the port requires it
        look: CurrentState,
    ) -> Mapping[str, Collection[str]]:
        """Return the actions that delete it and take a final backup, by the file system's ARN."""
        needed = frozenset({"fsx:CreateBackup", "fsx:DeleteFileSystem"})
        return {part.arn: needed for part in look.parts if part.arn and not part.going}

    def _security_groups(self, resource: TrackedResource, interfaces: Collection[str]) -> list[str]:
        """Return the ids of its security groups, from its network interfaces, because FSx does not return them."""
        if not interfaces:
            return []
        client: Any = self._reading.client("ec2", resource.region)
        found = list(
            pages(client.describe_network_interfaces, "NetworkInterfaces", NetworkInterfaceIds=sorted(interfaces))
        )
        return sorted({group["GroupId"] for one in found for group in one["Groups"]})


class FsxRemover:
    """The `Remover` of FSx for OpenZFS."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def remove(
        self, resource: TrackedResource, part: SubResource, final_tags: Mapping[str, str] | None = None
    ) -> str | None:
        """Ask FSx once to delete the file system. Return the id of the final backup, if FSx names one.

        With `final_tags`, FSx takes a final backup first.

        Raises:
            AwsError: FSx refused it, it is unknown whether the request arrived, or Slackwater does not delete this
                type.
        """
        if part.going:
            return None
        if part.kind != "file-system" or part.id != resource.id:
            raise AwsError(f"{part.kind} {part.id} is no part of {resource.id}: it is not deleted")
        system = file_system(self._reading, resource.region, part.id)
        if system is None or going(system):
            return None
        if why := not_deletable(system):
            raise AwsError(f"{part.id} is not deleted: {why}")
        client: Any = self._asking.client("fsx", resource.region)
        whole: dict[str, Any] = {
            "SkipFinalBackup": final_tags is None,
            "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
        }
        if final_tags is not None:
            whole["FinalBackupTags"] = [{"Key": key, "Value": value} for key, value in final_tags.items()]
        try:
            answer = client.delete_file_system(FileSystemId=part.id, OpenZFSConfiguration=whole)
        except ClientError as error:
            if code_of(error) == NO_FILE_SYSTEM or (code_of(error) in REFUSED and self._is_going(resource)):
                return None
            raise
        made: str | None = answer.get("OpenZFSResponse", {}).get("FinalBackupId")
        return made

    def _is_going(self, resource: TrackedResource) -> bool:
        found = file_system(self._reading, resource.region, resource.id)
        return found is None or going(found)
