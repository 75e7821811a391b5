"""Takes backups of FSx for OpenZFS before a clean-up deletes a file system, and deletes them when they have expired.

FSx does not report how much data a file system has, so a backup's own size cannot be compared with anything. Instead,
Slackwater compares the provisioned storage of both. A backup keeps the provisioned storage of its source. Equal sizes
mean that the backup is of this file system at its current size. The lifecycle AVAILABLE means that the backup is
complete.

Older versions backed up FSx for ONTAP, volume by volume. Slackwater still reads those backups, and deletes them when
they have expired.
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
"""CreateBackup needs TagResource to tag the backup. `keep` needs it to change the expiry."""
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
"""The backup state for each lifecycle of a backup. All others count as failed, so that nothing is deleted because of
them.
"""


class FsxBackupTaker:
    """The `BackupTaker` of FSx file systems."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def subject(self, resource: TrackedResource) -> Subject:
        """Return the file system, with its provisioned storage.

        Raises:
            AwsError: The FSx call failed, the file system does not exist, or Slackwater does not delete its type.
        """
        system = there(self._reading, resource).system
        return Subject(id=resource.id, size_bytes=known(system_bytes(system), resource.id))

    @remedies()
    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Request a backup with these tags.

        For a repeated request with the same token, FSx returns the backup that it began.

        Raises:
            BusyError: FSx is taking another backup of it, and takes one at a time.
            AwsError: FSx refused it, or it is unknown whether the backup was started.
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
        """Return every backup of the file system or its volumes with the token, and the one with the recorded id.

        Raises:
            AwsError: An FSx call failed.
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
        """Set the expiry tag to `until` if it has an earlier time.

        FSx does not delete user-initiated backups by itself.

        Raises:
            AwsError: The tag is not set, or it is unknown whether it is.
        """
        if copy.id and copy.expires_at and copy.expires_at < until:
            arn = f"{resource.arn.rpartition(':')[0]}:backup/{copy.id}"
            tags: Any = [{"Key": EXPIRES_AT, "Value": timestamp(until)}]
            self._reading.client("fsx", resource.region).tag_resource(ResourceARN=arn, Tags=tags)


class FsxSweeper:
    """The `Sweeper` of Slackwater's own FSx backups."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    def copies(self, account: str, region: str) -> Iterator[Copy]:  # noqa: ARG002 -- the port requires it
        """Yield every user-initiated backup of the account with the tag `slackwater:backup-of`, page by page.

        Raises:
            AwsError: An FSx call failed.
        """
        with remedies():
            call = self._reading.client("fsx", region).describe_backups
            filters: Any = [OURS]
            for one in pages(call, "Backups", Filters=filters):
                if one["Type"] == "USER_INITIATED" and BACKUP_OF in tags_of(one.get("Tags")):
                    yield _copy(one)

    @remedies()
    def look(self, account: str, region: str, copy: Copy) -> Copy | None:  # noqa: ARG002 -- the port requires it
        """Return a backup as it is now; None if it does not exist.

        Raises:
            AwsError: The FSx call failed.
        """
        return next(iter(_listed(self._reading, region, {NO_BACKUP}, BackupIds=[copy.id])), None) if copy.id else None

    @remedies()
    def born_at(self, resource: TrackedResource) -> datetime | None:
        """Return when the file system was created; None if it is deleted, or being deleted.

        Raises:
            AwsError: The FSx call failed.
        """
        found = file_system(self._reading, resource.region, resource.id)
        return found["CreationTime"] if found and not going(found) else None

    @remedies()
    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- the port requires it
        """Delete one backup. Ignores one that does not exist.

        Raises:
            AwsError: FSx refused it, or it is unknown whether the request arrived.
        """
        if copy.id is None:
            raise AwsError(f"a backup of {copy.of} has no id: it is not deleted")
        try:
            self._asking.client("fsx", region).delete_backup(BackupId=copy.id)
        except ClientError as error:
            if code_of(error) != NO_BACKUP:
                raise


def _listed(session: AwsSession, region: str, not_found: set[str], **asked: Any) -> list[Copy]:
    """Return the requested backups; none if FSx returns one of the `not_found` errors."""
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
    """Return the size of an ONTAP volume in bytes; None if the backup does not have it."""
    settings = volume.get("OntapConfiguration", {})
    mib, exact = settings.get("SizeInMegabytes"), settings.get("SizeInBytes")
    return int(mib) * MIB if mib is not None else exact
