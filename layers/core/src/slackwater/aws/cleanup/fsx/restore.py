"""Restores a deleted FSx for OpenZFS file system from its backup.

Nothing is created twice: each new resource has a tag that names its backup, and each repeated request has the same
token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.cleanup.fsx.requests import (
    SETTLING,
    CannotRestoreError,
    NoBackupError,
    ask,
    data_differences,
    system_differences,
    system_request,
    token,
    verified,
    volume_differences,
)
from slackwater.aws.cleanup.fsx.sub_resources import THERE, file_system, going, volumes_of
from slackwater.aws.client.errors import remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import RESTORED_FROM, Restored

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.cleanup import Cleanup

KEY_ACTIONS: Final = frozenset({"kms:CreateGrant", "kms:DescribeKey"})
"""FSx does this with the caller's permissions if there is a customer managed key."""
NETWORK_ACTIONS: Final = frozenset(
    {
        "ec2:CreateTags",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcs",
        "ec2:GetSecurityGroupsForVpc",
    }
)
"""The actions that FSx needs for the network, all of them by way of FSx (`aws:CalledVia`). CreateTags is for route
tables, with the tag `AmazonFSx` of value `ManagedByAmazonFSx` (AWS managed policy AmazonFSxFullAccess).
"""

RESTORER_ACTIONS: Final = (
    {"fsx:CreateFileSystemFromBackup", "fsx:DescribeFileSystems", "fsx:DescribeVolumes", "fsx:TagResource"}
    | KEY_ACTIONS
    | NETWORK_ACTIONS
)
"""CreateFileSystemFromBackup needs TagResource."""


class FsxRestorer:
    """The `Restorer` of FSx for OpenZFS."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    def restore(self, cleanup: Cleanup) -> Restored:
        """Check whether the file system still exists. If not, do the next step to create it.

        If its deletion was requested, the file system must be seen twice to count as existing: FSx may list a file
        system that it has just deleted.

        Raises:
            AwsError: An FSx call failed. Nothing is lost.
        """
        try:
            with remedies():
                return self._step(cleanup)
        except CannotRestoreError as error:
            before = cleanup.restored or Restored(state="failed")
            return Restored(state="failed", id=before.id, arn=before.arn, why=str(error))

    def _step(self, cleanup: Cleanup) -> Restored:
        resource, before = cleanup.resource, cleanup.restored
        system = file_system(self._reading, resource.region, resource.id)
        if system is None:
            return self._restore_deleted(cleanup)
        here = Restored(state="running", id=resource.id, arn=resource.arn)
        if going(system):
            return replace(here, id=None, arn=None)  # the next step sees whether the deletion succeeds
        seen_before = before is not None and before.id == resource.id
        return replace(here, state="done" if seen_before or not cleanup.removals else "running")

    # -- The file system is gone

    def _restore_deleted(self, cleanup: Cleanup) -> Restored:
        recorded, backups = cleanup.recorded, verified(cleanup)
        if recorded is None:
            raise CannotRestoreError("what it was like was not recorded")
        if not backups:
            raise CannotRestoreError(
                "it was deleted without a backup" if cleanup.scratch else "there is no verified backup of it"
            )
        of = cleanup.restored.of if cleanup.restored else None
        made = self._made(cleanup)
        if made is None:
            made, of = self._make(cleanup, recorded, backups)
        restored = Restored(state="running", id=made["FileSystemId"], arn=made["ResourceARN"], of=of)
        if made["Lifecycle"] in SETTLING - {"DELETING"}:
            return restored
        if made["Lifecycle"] not in THERE:
            problem = made.get("FailureDetails", {}).get("Message", "FSx does not say why")
            why = f"{restored.id} was made, and is {made['Lifecycle'].lower()}: {problem}; delete it, and ask again"
            return replace(restored, state="failed", why=why)
        volumes = volumes_of(self._reading, replace(cleanup.resource, id=made["FileSystemId"]))
        differences = (
            *data_differences(cleanup, of),
            *system_differences(recorded, cleanup.resource.id, made),
            *volume_differences(recorded, volumes),
        )
        return replace(restored, state="done", differences=differences)

    def _made(self, cleanup: Cleanup) -> Any | None:
        """Return the file system that was already created, or None.

        It is found by its id, or by its tag if the response was lost.
        """
        resource, before = cleanup.resource, cleanup.restored
        if before and before.state == "running" and before.id and before.id != resource.id:
            found = file_system(self._reading, resource.region, before.id)
            if found is None:
                raise CannotRestoreError(f"FSx began to make {before.id}, and does not show it any more")
            return found
        all_there_are = pages(self._reading.client("fsx", resource.region).describe_file_systems, "FileSystems")
        backups = {
            one.id for one in cleanup.backups if one.id
        }  # other clean-ups may have restored the same file system too
        ours = (one for one in all_there_are if tags_of(one.get("Tags")).get(RESTORED_FROM) in backups)
        return next((one for one in ours if one["Lifecycle"] in SETTLING - {"DELETING"} | THERE), None)

    def _make(self, cleanup: Cleanup, recorded: Mapping[str, Any], backups: Sequence[str]) -> tuple[Any, str]:
        """Create it from the first of these backups that exists. Return FSx's description of it, and that backup.

        The same clean-up always sends the same token. After a file system that FSx gave up, it sends another one.
        """
        resource = cleanup.resource
        given_up = cleanup.restored.id if cleanup.restored and cleanup.restored.state == "failed" else None
        client: Any = self._asking.client("fsx", resource.region)
        gone: NoBackupError | None = None
        for backup in backups:
            of = "" if backup == backups[-1] else backup
            asked = system_request(recorded, backup)
            asked["ClientRequestToken"] = token(cleanup, resource.id, f"{given_up or ''}{of}")
            try:
                return ask(client.create_file_system_from_backup, "FileSystem", BackupId=backup, **asked), backup
            except NoBackupError as error:
                gone = error
        raise gone or CannotRestoreError("there is no verified backup of it")
