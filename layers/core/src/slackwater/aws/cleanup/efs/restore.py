"""Restores EFS file systems: adds removed sub-resources again, or has AWS Backup restore a deleted file system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs import reading as read
from slackwater.aws.cleanup.efs.missing import NOT_YET, MissingPartCreator, can_resend, token
from slackwater.aws.cleanup.efs.recovery_points import POINT_STATES, unless_unknown
from slackwater.aws.client.errors import code_of, reason, remedies
from slackwater.aws.inventory.efs import GONE
from slackwater.model.cleanup import RESTORED_FROM, Restored
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.cleanup import Backup, Cleanup
    from slackwater.ports.clock import Clock

RESTORER_ACTIONS: Final = read.ACTIONS | {
    "backup:DescribeRecoveryPoint",
    "backup:DescribeRestoreJob",
    "backup:StartRestoreJob",
    # these three: CreateMountTarget creates its network interface with the caller's permissions
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "elasticfilesystem:CreateAccessPoint",
    "elasticfilesystem:CreateMountTarget",
    "elasticfilesystem:PutBackupPolicy",
    "elasticfilesystem:PutFileSystemPolicy",
    "elasticfilesystem:PutLifecycleConfiguration",
    "elasticfilesystem:TagResource",
    "elasticfilesystem:UpdateFileSystem",
    "elasticfilesystem:UpdateFileSystemProtection",
    "iam:PassRole",  # passes AWS Backup the role that creates the file system
}

LONGEST_S: Final = 600
"""Time limit for creating access points, which takes a call for each. A step has fifteen minutes."""
SHOWN: Final = 10
"""Maximum number of refused requests in a message."""

APPEARS_WITHIN: Final = timedelta(hours=1)
"""EFS lists a file system within seconds after its restore job completes. After this time, somebody has deleted it."""

RESTORED_UNDER: Final = "/aws-backup-restore_<date and time>"
"""The directory in which AWS Backup restores the files, even in a new file system. It does not say which date and time
it used.
"""


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


class EfsRestorer:
    """Restores file systems from one vault, with a role that AWS Backup assumes."""

    def __init__(
        self, reading: AwsSession, asking: AwsSession, vault: str, role_arn: str, clock: Clock = utc_now
    ) -> None:
        """Make no call."""
        self._reading = reading
        self._asking = asking
        self._vault = vault
        self._role_arn = role_arn
        self._clock = clock

    def restore(self, cleanup: Cleanup) -> Restored:
        """Do one step of an undo, and return its progress.

        The progress is "failed" if AWS refuses a request. All other requests are still sent, and the next undo
        continues from there. If the deletion of sub-resources was requested, the file system must be seen complete
        twice: EFS may list what it has just deleted.

        Raises:
            AwsError: An AWS call failed. Nothing is lost.
        """
        resource, before = cleanup.resource, cleanup.restored
        if not cleanup.recorded:
            return Restored(state="failed", why="what it was like was not recorded")
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = read.file_system(efs, resource.id)
            if found and cleanup.born_at and found["CreationTime"] != cleanup.born_at:
                return Restored(state="failed", why=f"another file system has the id {resource.id}")
            if found and found["LifeCycleState"] in GONE:
                return Restored(state="running", job=before.job if before else None)
            return self._restore_missing(cleanup, found, None) if found else self._restore_deleted(cleanup)

    def _restore_deleted(self, cleanup: Cleanup) -> Restored:
        """Restore a deleted file system. AWS Backup creates a new one, which gets the settings of the old one."""
        resource, before = cleanup.resource, cleanup.restored
        made = before if before and before.id not in {None, resource.id} else self._from_backup(cleanup)
        if made.id is None:
            return made
        found = read.file_system(self._reading.client("efs", resource.region), made.id)
        if found:
            return self._restore_missing(cleanup, found, made.job)
        # If the last undo failed, somebody may have deleted the file system that it created. Restore it again.
        return self._unless_deleted(resource.region, made) if made.state == "running" else self._from_backup(cleanup)

    def _unless_deleted(self, region: str, made: Restored) -> Restored:
        """Return the progress of a restore whose file system EFS does not list: it is too new, or was deleted."""
        job_status = self._reading.client("backup", region).describe_restore_job(RestoreJobId=made.job or "")
        ended = job_status.get("CompletionDate")
        if ended is None or self._clock() - ended < APPEARS_WITHIN:
            return made
        why = (
            f"AWS Backup restored {made.id}, and EFS does not list it: somebody deleted it; another undo restores it "
            "again"
        )
        return replace(made, state="failed", why=why)

    def _from_backup(self, cleanup: Cleanup) -> Restored:
        """Start a restore job of AWS Backup, or check the running one. All undos share a token until a job ends."""
        backup = next((one for one in reversed(cleanup.backups) if one.state == "verified" and one.id), None)
        if backup is None:
            return Restored(state="failed", why="there is no verified backup of it")
        before = cleanup.restored
        if before is None or before.job is None or before.state == "failed":
            return self._start(cleanup, backup)
        job_status = self._reading.client("backup", cleanup.resource.region).describe_restore_job(
            RestoreJobId=before.job
        )
        status, made = job_status["Status"], job_status.get("CreatedResourceArn")
        id_ = made.rpartition("/")[2] if made else None
        if status in {"PENDING", "RUNNING"}:
            return Restored(state="running", job=before.job)
        if status != "COMPLETED":
            left = f"; it leaves {made}" if made else ""
            message = job_status.get("StatusMessage") or "it does not say why"
            why = f"AWS Backup's restore job {before.job} is {status}: {message}{left}"
            return Restored(state="failed", job=before.job, why=why)
        if made is None:
            raise BrokenAnswerError(
                f"AWS Backup's restore job {before.job} is complete, and names nothing that it made"
            )
        return Restored(state="running", id=id_, arn=made, job=before.job)

    def _start(self, cleanup: Cleanup, backup: Backup) -> Restored:
        resource, was = cleanup.resource, cleanup.recorded or {}
        ended = cleanup.restored.job if cleanup.restored else None  # recorded, so that the next undo starts another job
        point = unless_unknown(
            self._reading.client("backup", resource.region).describe_recovery_point,
            BackupVaultName=backup.vault or self._vault,
            RecoveryPointArn=backup.id,
        )
        if point is None:
            vault = backup.vault or self._vault
            return Restored(
                state="failed", job=ended, why=f"its backup {backup.id} is not in the vault {vault} any more"
            )
        if POINT_STATES.get(point["Status"]) != "complete" or point["ResourceArn"] != resource.arn:
            why = f"its backup {backup.id} is {point['Status']}, of {point['ResourceArn']}"
            return Restored(state="failed", job=ended, why=why)
        # The recorded job has ended, and another one is needed. If none is recorded, an undo may have crashed after its
        # request. The same token then finds the job that it started.
        same = token(cleanup.execution, ended or "", backup.id or "")
        metadata = {
            "file-system-id": resource.id,
            "newFileSystem": "true",
            "CreationToken": same,
            "PerformanceMode": was["performance_mode"],
            "Encrypted": "true" if was["encrypted"] else "false",
        }
        if was["kms_key_id"]:
            metadata["KmsKeyId"] = was["kms_key_id"]
        if was["availability_zone"]:
            metadata |= {"singleAzFilesystem": "true", "availabilityZoneName": was["availability_zone"]}
        try:
            started = self._asking.client("backup", resource.region).start_restore_job(
                RecoveryPointArn=backup.id,
                IamRoleArn=self._role_arn,
                ResourceType="EFS",
                IdempotencyToken=same,
                Metadata=metadata,
            )
        except ClientError as error:
            if can_resend(error):
                raise
            return Restored(state="failed", job=ended, why=f"AWS Backup does not restore it: {reason(error)}")
        return Restored(state="running", job=started["RestoreJobId"])

    def _restore_missing(self, cleanup: Cleanup, found: Mapping[str, Any], job: str | None) -> Restored:
        """Add what an existing file system lacks."""
        region, was = cleanup.resource.region, cleanup.recorded or {}
        id_, arn = found["FileSystemId"], found["FileSystemArn"]
        running = Restored(state="running", id=id_, arn=arn, job=job)
        if found["LifeCycleState"] == "error":
            return Restored(state="failed", id=id_, arn=arn, job=job, why=f"EFS says that the state of {id_} is error")
        if found["LifeCycleState"] != "available":
            return running
        new = id_ != cleanup.resource.id
        ends = monotonic() + LONGEST_S
        efs, asking = self._reading.client("efs", region), self._asking.client("efs", region)
        creator = MissingPartCreator(efs, asking, id_, has_time=lambda: monotonic() < ends)
        try:
            if new and not creator.put_origin(found, cleanup.resource.id):
                why = "; ".join(creator.refused) or None
                return running if creator.waits else replace(running, state="failed", why=why)
            all_asked = _put_parts(creator, cleanup, found, new=new)
        except ClientError as error:
            if code_of(error) not in NOT_YET:
                raise
            return running
        seen_before = cleanup.restored is not None and cleanup.restored.id == id_
        if not all_asked or creator.waits or (not creator.refused and cleanup.removals and not seen_before):
            return running  # EFS may still list what it deleted a moment ago
        differences = (*(_moved(cleanup.resource.id, id_, was) if new else ()), *creator.differences)
        return Restored(
            state="failed" if creator.refused else "done",
            id=id_,
            arn=arn,
            job=job,
            differences=differences,
            why=_some(creator.refused) or None,
        )


def _put_parts(creator: MissingPartCreator, cleanup: Cleanup, found: Mapping[str, Any], *, new: bool) -> bool:
    """Restore access points, settings, policy and mount targets.

    Args:
        creator: Sends the requests to EFS.
        cleanup: The clean-up, with the record from before the deletion.
        found: The file system as EFS describes it.
        new: Whether AWS Backup created it.

    Returns:
        False if there was no time for all access points.
    """
    was = cleanup.recorded or {}
    points = creator.put_access_points(was["access_points"], cleanup.execution)
    if creator.late:
        return False
    if new:
        creator.put_settings(found, was)
    if not new or creator.put_policy(was["policy"], {cleanup.resource.arn: found["FileSystemArn"], **points}):
        creator.put_mount_targets(was["mount_targets"])
    else:
        creator.refused.append(
            "its mount targets were not made: without its policy, more could mount it than could before"
        )
    if new:
        creator.put_performance(found, was)
    return True


def _some(refused: Sequence[str]) -> str:
    """Return what EFS refused, limited to the first `SHOWN` reasons."""
    more = len(refused) - SHOWN
    return "; ".join([*refused[:SHOWN], *([f"{more:,} more"] if more > 0 else [])])


def _moved(old: str, new: str, was: Mapping[str, Any]) -> list[str]:
    """Return the differences that every file system restored by AWS Backup has."""
    files = f"its files are under {RESTORED_UNDER}, where AWS Backup puts them, and have to be moved to where they were"
    until = ": until then its access points show nothing" if was["access_points"] else ""
    return [
        f"its id is {new}, not {old}: whatever mounts it has to name the new one",
        f"{files}{until}",
        "all of its files are in the Standard storage class",
        f"it has a tag {RESTORED_FROM}: while it has that, Slackwater does not delete it",
    ]
