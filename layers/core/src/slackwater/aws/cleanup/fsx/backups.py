"""FSx for OpenZFS: backups, asked for before a clean-up deletes, and swept once nobody needs them.

FSx's descriptions say nothing of how much data there is, and what a backup says of its own size has no counterpart
there. So both sides are sized by what is provisioned, which a backup keeps of what it was made of: equal sizes mean
that it was made of this file system, as large as it is now. That it holds all of the data is what AVAILABLE means.

Older versions backed up FSx for ONTAP, volume by volume. Those backups are still read, and swept once they have
expired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.fsx.sub_resources import NO_FILE_SYSTEM, file_system, going, known, system_bytes, there
from slackwater.aws.client.errors import code_of, reason, remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN, Backup, Copy, Subject, expiry, timestamp
from slackwater.model.units import MIB
from slackwater.ports.errors import AwsError, BusyError

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

BACKUP_ACTIONS: Final = frozenset(
    {
        "fsx:CreateBackup",
        "fsx:DescribeBackups",
        "fsx:DescribeFileSystems",
        "fsx:DescribeVolumes",
        "fsx:TagResource",
    }
)
"""TagResource as CreateBackup asks for it, of the backup, and to have it kept for longer."""
SWEEPER_ACTIONS: Final = frozenset({"fsx:DeleteBackup", "fsx:DescribeBackups", "fsx:DescribeFileSystems"})

NO_BACKUP: Final = "BackupNotFound"
UNDER_WAY: Final = "BackupInProgress"
OURS: Final = {"Name": "backup-type", "Values": ["USER_INITIATED"]}

STATES: Final[Mapping[str, Literal["running", "complete", "failed"]]] = {
    "PENDING": "running",
    "CREATING": "running",
    "TRANSFERRING": "running",
    "COPYING": "running",
    "AVAILABLE": "complete",
}
"""What a backup's lifecycles come to; every other is none to delete for."""


class FsxBackupTaker:
    """The BackupTaker of FSx file systems."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def subject(self, resource: TrackedResource) -> Subject:
        """The file system.

        Raises:
            AwsError: FSx did not say, there is no such file system, or it is of a type that Slackwater does not delete.
        """
        system = there(self._reading, resource).system
        return Subject(id=resource.id, size_bytes=known(system_bytes(system), resource.id))

    @remedies()
    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Ask for a backup that carries these tags. Asked again with the same token, FSx answers with the one it began.

        Raises:
            BusyError: FSx is making another backup of it, and takes one at a time.
            AwsError: it was refused, or nobody knows whether it was begun.
        """
        put_on = [{"Key": key, "Value": value} for key, value in tags.items()]
        client: Any = self._asking.client("fsx", resource.region)
        try:
            answer = client.create_backup(FileSystemId=resource.id, ClientRequestToken=backup.token, Tags=put_on)
        except ClientError as error:
            if code_of(error) == UNDER_WAY:
                raise BusyError(f"FSx is making another backup of {backup.subject.id}: {reason(error)}") from error
            raise
        return _copy(answer["Backup"])

    @remedies()
    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Every backup of the file system, or of its volumes, that carries the token, and the one of the recorded id.

        Raises:
            AwsError: FSx did not say.
        """
        subject = {"Name": "file-system-id", "Values": [resource.id]}
        made = _listed(self._reading, resource.region, {NO_FILE_SYSTEM}, Filters=[subject, OURS])
        found = {one.id: one for one in made if one.token == backup.token}
        if backup.id and backup.id not in found:
            found |= {
                one.id: one for one in _listed(self._reading, resource.region, {NO_BACKUP}, BackupIds=[backup.id])
            }
        return tuple(found.values())

    @remedies()
    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Change the tag with its expiry, where that is sooner. FSx deletes no backup by itself that was asked for.

        Raises:
            AwsError: FSx did not, or did not say.
        """
        if copy.id and copy.expires_at and copy.expires_at < until:
            arn = f"{resource.arn.rpartition(':')[0]}:backup/{copy.id}"
            tags: Any = [{"Key": EXPIRES_AT, "Value": timestamp(until)}]
            self._reading.client("fsx", resource.region).tag_resource(ResourceARN=arn, Tags=tags)


class FsxSweeper:
    """The Sweeper of FSx backups of ours."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._reading, self._asking = reading, asking

    def copies(self, account: str, region: str) -> Iterator[Copy]:  # noqa: ARG002 -- as the port has it
        """Every backup of the account there that a user began and that carries `slackwater:backup-of`, page by page.

        Raises:
            AwsError: FSx did not say.
        """
        with remedies():
            call = self._reading.client("fsx", region).describe_backups
            filters: Any = [OURS]
            for one in pages(call, "Backups", Filters=filters):
                if one["Type"] == "USER_INITIATED" and BACKUP_OF in tags_of(one.get("Tags")):
                    yield _copy(one)

    @remedies()
    def look(self, account: str, region: str, copy: Copy) -> Copy | None:  # noqa: ARG002 -- as the port has it
        """A backup as it is now; None where it is gone.

        Raises:
            AwsError: FSx did not say.
        """
        return next(iter(_listed(self._reading, region, {NO_BACKUP}, BackupIds=[copy.id])), None) if copy.id else None

    @remedies()
    def born_at(self, resource: TrackedResource) -> datetime | None:
        """When the file system was created; None where it is gone, or going.

        Raises:
            AwsError: FSx did not say.
        """
        found = file_system(self._reading, resource.region, resource.id)
        return found["CreationTime"] if found and not going(found) else None

    @remedies()
    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- as the port has it
        """Delete one; one that is gone is fine.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        if copy.id is None:
            raise AwsError(f"a backup of {copy.of} has no id: it is not deleted")
        try:
            self._asking.client("fsx", region).delete_backup(BackupId=copy.id)
        except ClientError as error:
            if code_of(error) != NO_BACKUP:
                raise


def _listed(session: AwsSession, region: str, not_found: set[str], **asked: Any) -> list[Copy]:
    """The backups that are asked for; none where FSx says by one of these errors that there is none."""
    call = session.client("fsx", region).describe_backups
    try:
        return [_copy(one) for one in pages(call, "Backups", **asked)]
    except ClientError as error:
        if code_of(error) not in not_found:
            raise
        return []


def _copy(found: Any) -> Copy:
    tags, of = tags_of(found.get("Tags")), found.get("Volume")
    state = STATES.get(found["Lifecycle"], "failed")
    problem = "; ".join(filter(None, (found["Lifecycle"], found.get("FailureDetails", {}).get("Message"))))
    return Copy(
        id=found["BackupId"],
        of=of["VolumeId"] if of else found["FileSystem"]["FileSystemId"],
        state=state,
        size_bytes=_volume_bytes(of) if of else system_bytes(found["FileSystem"]),
        made_at=found["CreationTime"],
        expires_at=expiry(tags),
        token=tags.get(TOKEN),
        tags=tags,
        copied=found.get("SourceBackupId") is not None,
        key=found.get("KmsKeyId", ""),
        stored_bytes=found.get("SizeInBytes"),
        why=f"FSx says: {problem}" if state == "failed" else None,
    )


def _volume_bytes(volume: Any) -> int | None:
    """How large a volume of ONTAP's was; None where the backup does not say."""
    settings = volume.get("OntapConfiguration", {})
    mib, exact = settings.get("SizeInMegabytes"), settings.get("SizeInBytes")
    return int(mib) * MIB if mib is not None else exact
