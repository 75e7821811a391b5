"""Creates, lists, keeps and deletes the snapshots of EBS volumes.

EC2 has no idempotency token for snapshots. Slackwater recognizes a snapshot that it requested by its tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.ebs.volumes import there, volume
from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN, Backup, Copy, Subject, expiry, timestamp
from slackwater.model.units import GIB
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

BACKUP_ACTIONS: Final = frozenset(
    {"ec2:CreateSnapshot", "ec2:CreateTags", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"}
)
"""CreateSnapshot needs CreateTags to tag the snapshot. `keep` needs it to change the expiry."""
SWEEPER_ACTIONS: Final = frozenset({"ec2:DeleteSnapshot", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"})

NO_SNAPSHOT: Final = "InvalidSnapshot.NotFound"

PAGE: Final = 1_000
"""The maximum page size of EC2."""

STATES: Final[Mapping[str, Literal["running", "complete", "failed"]]] = {
    "pending": "running",
    "recovering": "running",
    "completed": "complete",
}
"""The backup state for each state of a snapshot.

All other states count as failed, so that nothing is deleted because of them: error, in the Recycle Bin, or unknown.
"""


ARCHIVE: Final = "archive"
"""The storage tier from which EC2 cannot create a volume.

EC2 archives a snapshot again when a temporary restore ends (API Reference, RestoreSnapshotTier).
"""


class EbsBackupTaker:
    """The `BackupTaker` of EBS volumes. Its backups are snapshots.

    The size of a backup is exactly the size of its volume, because that is what EC2 reports.
    """

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def subject(self, resource: TrackedResource) -> Subject:
        """Return the volume, with its size.

        Raises:
            AwsError: The EC2 call failed, or the volume does not exist.
        """
        return Subject(id=resource.id, size_bytes=there(self._reading, resource)["Size"] * GIB)

    @remedies()
    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Request a snapshot with these tags. Its name is the volume's, unless the tags have another one.

        Raises:
            AwsError: EC2 refused it, or it is unknown whether the snapshot was started.
        """
        put_on = [{"Key": key, "Value": value} for key, value in {"Name": resource.name, **tags}.items()]
        client: Any = self._asking.client("ec2", resource.region)
        answer = client.create_snapshot(
            VolumeId=backup.subject.id,
            Description=f"{backup.subject.id}: made by Slackwater before it was deleted",
            TagSpecifications=[{"ResourceType": "snapshot", "Tags": put_on}],
        )
        return _copy({**answer, "Tags": put_on})

    @remedies()
    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Return every snapshot with the token, and the one with the recorded id.

        Raises:
            AwsError: An EC2 call failed.
        """
        tagged = _snapshots(self._reading, resource.region, (f"tag:{TOKEN}", backup.token))
        found = {one.id: one for one in map(_copy, tagged) if one.token == backup.token}
        if backup.id and backup.id not in found:
            found |= {one.id: one for one in _named(self._reading, resource.region, backup.id)}
        return tuple(found.values())

    @remedies()
    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Set the expiry tag to `until` if it has an earlier time. EC2 deletes no snapshot by itself.

        Raises:
            AwsError: The tag is not set, or it is unknown whether it is.
        """
        if copy.id and copy.expires_at and copy.expires_at < until:
            client = self._reading.client("ec2", resource.region)
            client.create_tags(Resources=[copy.id], Tags=[{"Key": EXPIRES_AT, "Value": timestamp(until)}])


class EbsSweeper:
    """The `Sweeper` of Slackwater's own snapshots."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking = reading, asking

    def copies(self, account: str, region: str) -> Iterator[Copy]:  # noqa: ARG002 -- the port requires it
        """Yield every snapshot of the account with the tag `slackwater:backup-of`, page by page.

        Raises:
            AwsError: An EC2 call failed.
        """
        with remedies():
            yield from map(_copy, _snapshots(self._reading, region, ("tag-key", BACKUP_OF)))

    @remedies()
    def look(self, account: str, region: str, copy: Copy) -> Copy | None:  # noqa: ARG002 -- the port requires it
        """Return a snapshot as it is now; None if it does not exist.

        Raises:
            AwsError: The EC2 call failed.
        """
        return next(iter(_named(self._reading, region, copy.id)), None) if copy.id else None

    @remedies()
    def born_at(self, resource: TrackedResource) -> datetime | None:
        """Return when the volume was created; None if it is deleted, or being deleted.

        Raises:
            AwsError: The EC2 call failed.
        """
        found = volume(self._reading, resource)
        return found["CreateTime"] if found and found["State"] != "deleting" else None

    @remedies()
    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- the port requires it
        """Delete one snapshot. Ignores one that does not exist.

        Raises:
            AwsError: EC2 refused it, or it is unknown whether the request arrived.
        """
        if copy.id is None:
            raise AwsError(f"a snapshot of {copy.of} has no id: it is not deleted")
        try:
            self._asking.client("ec2", region).delete_snapshot(SnapshotId=copy.id)
        except ClientError as error:
            if code_of(error) != NO_SNAPSHOT:
                raise


def _named(session: AwsSession, region: str, id: str) -> Sequence[Copy]:
    """Return the snapshot with this id, if it exists."""
    call = session.client("ec2", region).describe_snapshots
    try:
        return tuple(_copy(one) for one in pages(call, "Snapshots", SnapshotIds=[id]))
    except ClientError as error:
        if code_of(error) != NO_SNAPSHOT:
            raise
        return ()


def _snapshots(session: AwsSession, region: str, like: tuple[str, str]) -> Iterator[Any]:
    """Return the account's own snapshots that match a filter."""
    name, value = like
    call = session.client("ec2", region).describe_snapshots
    filters = [{"Name": name, "Values": [value]}]
    return pages(call, "Snapshots", OwnerIds=["self"], Filters=filters, MaxResults=PAGE)


def _copy(found: Any) -> Copy:
    tags, state = tags_of(found.get("Tags")), STATES.get(found["State"], "failed")
    archived = found.get("StorageTier") == ARCHIVE or "RestoreExpiryTime" in found
    state = "failed" if archived else state
    problem = "; ".join(filter(None, (found["State"], "archived" if archived else None, found.get("StateMessage"))))
    return Copy(
        id=found["SnapshotId"],
        of=found["VolumeId"],
        state=state,
        size_bytes=found["VolumeSize"] * GIB,
        made_at=found["StartTime"],
        expires_at=expiry(tags),
        token=tags.get(TOKEN),
        tags=tags,
        stored_bytes=found.get("FullSnapshotSizeInBytes"),
        key=found.get("KmsKeyId", "") if found.get("Encrypted") else None,
        why=f"EC2 says: {problem}" if state == "failed" else None,
    )
