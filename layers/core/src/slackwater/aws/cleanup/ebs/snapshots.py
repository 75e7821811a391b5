"""Snapshots of EBS volumes: how a clean-up takes one, and how it is expired.

EC2 takes no idempotency token for a snapshot: one that was asked for is known again by its tag.
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
"""CreateTags as CreateSnapshot asks for it, of the snapshot, and to have it kept for longer."""
SWEEPER_ACTIONS: Final = frozenset({"ec2:DeleteSnapshot", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"})

NO_SNAPSHOT: Final = "InvalidSnapshot.NotFound"

PAGE: Final = 1_000
"""The most that EC2 gives a page."""

STATES: Final[Mapping[str, Literal["running", "complete", "failed"]]] = {
    "pending": "running",
    "recovering": "running",
    "completed": "complete",
}
"""What a snapshot's states come to.

Every other is none to delete for: in error, in the Recycle Bin, or of a name not known.
"""


ARCHIVE: Final = "archive"
"""The storage tier from which EC2 makes no volume.

EC2 archives a snapshot again when a temporary restore ends (API Reference, RestoreSnapshotTier).
"""


class EbsBackupTaker:
    """The BackupTaker of EBS volumes: snapshots.

    A copy is as large as its volume, to the byte: that is how EC2 counts it.
    """

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._reading, self._asking = reading, asking

    @remedies()
    def subject(self, resource: TrackedResource) -> Subject:
        """The volume.

        Raises:
            AwsError: EC2 did not say, or there is no such volume.
        """
        return Subject(id=resource.id, size_bytes=there(self._reading, resource)["Size"] * GIB)

    @remedies()
    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Ask for a snapshot that carries these tags; it is named after the volume, unless they say otherwise.

        Raises:
            AwsError: it was refused, or nobody knows whether it was begun.
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
        """Every snapshot that carries the token, and the one of the recorded id.

        Raises:
            AwsError: EC2 did not say.
        """
        tagged = _snapshots(self._reading, resource.region, (f"tag:{TOKEN}", backup.token))
        found = {one.id: one for one in map(_copy, tagged) if one.token == backup.token}
        if backup.id and backup.id not in found:
            found |= {one.id: one for one in _named(self._reading, resource.region, backup.id)}
        return tuple(found.values())

    @remedies()
    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Change the tag with its expiry, where that is sooner. EC2 deletes no snapshot by itself.

        Raises:
            AwsError: EC2 did not, or did not say.
        """
        if copy.id and copy.expires_at and copy.expires_at < until:
            client = self._reading.client("ec2", resource.region)
            client.create_tags(Resources=[copy.id], Tags=[{"Key": EXPIRES_AT, "Value": timestamp(until)}])


class EbsSweeper:
    """The Sweeper of snapshots of ours."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._reading, self._asking = reading, asking

    def copies(self, account: str, region: str) -> Iterator[Copy]:  # noqa: ARG002 -- as the port has it
        """Every snapshot of the account there that carries `slackwater:backup-of`; AWS gives them page by page.

        Raises:
            AwsError: EC2 did not say.
        """
        with remedies():
            yield from map(_copy, _snapshots(self._reading, region, ("tag-key", BACKUP_OF)))

    @remedies()
    def look(self, account: str, region: str, copy: Copy) -> Copy | None:  # noqa: ARG002 -- as the port has it
        """A snapshot as it is now; None where it is gone.

        Raises:
            AwsError: EC2 did not say.
        """
        return next(iter(_named(self._reading, region, copy.id)), None) if copy.id else None

    @remedies()
    def born_at(self, resource: TrackedResource) -> datetime | None:
        """When the volume was created; None where it is gone, or going.

        Raises:
            AwsError: EC2 did not say.
        """
        found = volume(self._reading, resource)
        return found["CreateTime"] if found and found["State"] != "deleting" else None

    @remedies()
    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- as the port has it
        """Delete one; one that is gone is fine.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        if copy.id is None:
            raise AwsError(f"a snapshot of {copy.of} has no id: it is not deleted")
        try:
            self._asking.client("ec2", region).delete_snapshot(SnapshotId=copy.id)
        except ClientError as error:
            if code_of(error) != NO_SNAPSHOT:
                raise


def _named(session: AwsSession, region: str, id: str) -> Sequence[Copy]:
    """The snapshot of this id, if there is one."""
    call = session.client("ec2", region).describe_snapshots
    try:
        return tuple(_copy(one) for one in pages(call, "Snapshots", SnapshotIds=[id]))
    except ClientError as error:
        if code_of(error) != NO_SNAPSHOT:
            raise
        return ()


def _snapshots(session: AwsSession, region: str, like: tuple[str, str]) -> Iterator[Any]:
    """The account's own snapshots that a filter lets through."""
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
