"""Requests, describes and deletes recovery points of EFS file systems in AWS Backup vaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs.reading import existing, file_system
from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.efs import GONE
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN, Backup, Copy, Subject, expiry, timestamp
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

BACKUP_ACTIONS: Final = frozenset(
    {
        "backup:DescribeBackupJob",
        "backup:DescribeRecoveryPoint",
        "backup:ListBackupJobs",
        "backup:ListRecoveryPointsByResource",
        "backup:ListTags",
        "backup:StartBackupJob",
        "backup:TagResource",
        "backup:UpdateRecoveryPointLifecycle",
        "elasticfilesystem:DescribeFileSystems",
        "iam:PassRole",  # passes AWS Backup the role that reads the file system
    }
)
SWEEPER_ACTIONS: Final = frozenset(
    {
        "backup:DeleteRecoveryPoint",
        "backup:DescribeRecoveryPoint",
        "backup:ListBackupVaults",
        "backup:ListRecoveryPointsByBackupVault",
        "backup:ListTags",
        "elasticfilesystem:DescribeFileSystems",
    }
)

type State = Literal["running", "complete", "failed"]

START_WITHIN_MINUTES: Final = 480
"""AWS Backup's default. A scheduled backup of the same file system may have to end first."""

CLOCKS_DIFFER: Final = timedelta(hours=1)
"""Maximum difference between Slackwater's clock and AWS's. A job may seem to be older than its request by this much."""

JOB_RUNS: Final = frozenset({"CREATED", "PENDING", "RUNNING"})
IS_WHOLE: Final = frozenset({None, "", "SUCCESS"})
"""A completed job with any other message category is incomplete: the console says "Completed with issues"."""

POINT_STATES: Final[Mapping[str, State]] = {
    "CREATING": "running",
    "COMPLETED": "complete",
    "AVAILABLE": "complete",
}
"""A recovery point in any other state cannot restore everything."""

UNKNOWN: Final = "ResourceNotFoundException"

LIFECYCLE: Final = frozenset({"DeleteAfterDays", "MoveToColdStorageAfterDays", "OptInToArchiveForSupportedResources"})
"""The settings that UpdateRecoveryPointLifecycle accepts (AWS Backup API Reference, "Lifecycle")."""
KEY_OF_AWS: Final = "AWS_OWNED_KMS_KEY"


class EfsBackupTaker:
    """Makes AWS Backup back up file systems to one vault, with a role that AWS Backup assumes."""

    def __init__(self, reading: AwsSession, asking: AwsSession, vault: str, role_arn: str) -> None:
        """Make no call."""
        self._reading = reading
        self._asking = asking
        self._vault = vault
        self._role_arn = role_arn

    def subject(self, resource: TrackedResource) -> Subject:
        """Return the file system, with the size that EFS meters.

        Raises:
            AwsError: The EFS call failed, or the file system does not exist.
        """
        with remedies():
            found = existing(self._reading.client("efs", resource.region), resource.id)
            return Subject(id=resource.id, size_bytes=found["SizeInBytes"]["Value"])

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Request a recovery point. For a repeated request with the same token, AWS Backup returns the job that it has.

        AWS Backup deletes the recovery point by its lifecycle when the retention time is over, in whole days.

        Raises:
            AwsError: AWS Backup refused it, or it is unknown whether the job was started.
        """
        kept = backup.expires_at - backup.asked_at
        with remedies():
            started = self._asking.client("backup", resource.region).start_backup_job(
                BackupVaultName=self._vault,
                ResourceArn=resource.arn,
                IamRoleArn=self._role_arn,
                IdempotencyToken=backup.token,
                StartWindowMinutes=START_WITHIN_MINUTES,
                Lifecycle={"DeleteAfterDays": max(1, math.ceil(kept / timedelta(days=1)))},
                RecoveryPointTags=dict(tags),
            )
            return Copy(
                id=started.get("RecoveryPointArn"),
                of=resource.id,
                state="running",
                size_bytes=None,
                made_at=started["CreationDate"],
                job=started["BackupJobId"],
                token=backup.token,
            )

    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Return the recorded backup, and those of the resource's other jobs whose recovery point has the token.

        A running job may not have a recovery point yet, so its token is unknown. If the response to `start` was also
        lost, that job is missing here. A repeated `start` with the same token returns it.

        Raises:
            AwsError: An AWS Backup call failed.
        """
        client = self._reading.client("backup", resource.region)
        with remedies():
            jobs = [
                job
                for job in self._jobs(client, resource, backup)
                if job["BackupJobId"] == backup.job or on_demand(job)
            ]
            found = [self._copy(client, job) for job in jobs]
            if backup.id and backup.id not in {copy.id for copy in found}:  # AWS Backup lists its job no longer
                point = self._point(client, backup.id, backup.vault)
                found += [copy_of(client, point)] if point else []
            mine = [copy for copy in found if copy.token == backup.token or _recorded(copy, backup)]
            return _flagged_incremental(client, resource.arn, mine)

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Extend the lifecycle, by which AWS Backup deletes the recovery point, and the expiry tag.

        It never shortens them.

        Raises:
            AwsError: AWS Backup refused it, for example because of a Vault Lock, or it is unknown whether it was done.
        """
        if copy.id is None:
            raise AwsError(f"a backup of {copy.of} has no recovery point yet")
        client = self._reading.client("backup", resource.region)
        named: Any = {"BackupVaultName": copy.vault or self._vault, "RecoveryPointArn": copy.id}
        with remedies():
            if copy.deletes_at and copy.deletes_at < until:
                point = client.describe_recovery_point(**named)
                # AWS Backup removes each setting that the request omits.
                kept = {name: value for name, value in (point.get("Lifecycle") or {}).items() if name in LIFECYCLE}
                days = math.ceil((until - point["CreationDate"]) / timedelta(days=1))
                lifecycle: Any = kept | {"DeleteAfterDays": days}
                client.update_recovery_point_lifecycle(**named, Lifecycle=lifecycle)
            if copy.expires_at and copy.expires_at < until:
                client.tag_resource(ResourceArn=copy.id, Tags={EXPIRES_AT: timestamp(until)})

    def _jobs(self, client: Any, resource: TrackedResource, backup: Backup) -> list[Mapping[str, Any]]:
        """Return the resource's jobs since the backup was requested, and the recorded job.

        The recorded job is read by its id, because the list is delayed, and drops jobs after 30 days.
        """
        asked: dict[str, Any] = {
            "ByResourceArn": resource.arn,
            "ByBackupVaultName": self._vault,
            "ByCreatedAfter": backup.asked_at - CLOCKS_DIFFER,
        }
        jobs = list(pages(client.list_backup_jobs, "BackupJobs", **asked))
        if backup.job and backup.job not in {job["BackupJobId"] for job in jobs}:
            job = unless_unknown(client.describe_backup_job, BackupJobId=backup.job)
            jobs += [job] if job else []
        return jobs

    def _point(self, client: Any, arn: str, vault: str | None = None) -> Mapping[str, Any] | None:
        return unless_unknown(
            client.describe_recovery_point, BackupVaultName=vault or self._vault, RecoveryPointArn=arn
        )

    def _copy(self, client: Any, job: Mapping[str, Any]) -> Copy:
        """Return the backup that a job makes.

        The recovery point says what it contains, and the job says whether it is complete.
        """
        arn, state = job.get("RecoveryPointArn"), job["State"]
        point = self._point(client, arn) if arn else None
        copy = Copy(
            id=arn,
            of=_id(job["ResourceArn"]),
            state="running" if state in JOB_RUNS else "failed",
            size_bytes=None,  # the job only has the transferred bytes: the difference, if incremental
            made_at=job["CreationDate"],
        )
        if point:
            of_point = copy_of(client, point)
            copy = replace(
                copy, expires_at=of_point.expires_at, token=of_point.token, tags=of_point.tags, vault=of_point.vault
            )
            if state == "COMPLETED" and job.get("MessageCategory") in IS_WHOLE:
                copy = replace(of_point, made_at=copy.made_at)
        why = f"{state}: {job.get('StatusMessage') or 'its recovery point is not there'}"
        return replace(copy, job=job["BackupJobId"], why=copy.why or (why if copy.state == "failed" else None))


class EfsSweeper:
    """Lists and deletes Slackwater's own recovery points. AWS Backup also deletes those that have expired."""

    def __init__(self, reading: AwsSession, asking: AwsSession, vault: str | None = None) -> None:
        """Make no call. Without a vault, it lists all vaults: the deployment may have used another one before."""
        self._reading = reading
        self._asking = asking
        self._vault = vault

    def copies(self, account: str, region: str) -> Iterable[Copy]:  # noqa: ARG002 -- a session is one account's
        """Return recovery points of file systems with the tag `slackwater:backup-of`.

        It omits those that are being deleted.

        Raises:
            AwsError: An AWS Backup call failed.
        """
        client = self._reading.client("backup", region)
        with remedies():
            every = pages(client.list_backup_vaults, "BackupVaultList") if self._vault is None else ()
            vaults = [one["BackupVaultName"] for one in every] if self._vault is None else [self._vault]
            points = [point for vault in vaults for point in _points(client, vault) if on_demand(point)]
            mine = [(point, tags_of(client, point["RecoveryPointArn"])) for point in points]
            return [
                copy_of(client, point, tags)
                for point, tags in mine
                if BACKUP_OF in tags and point["Status"] != "DELETING"
            ]

    def look(self, account: str, region: str, copy: Copy) -> Copy | None:  # noqa: ARG002 -- a session is one account's
        """Return a recovery point as it is now; None if it is deleted, or being deleted.

        Raises:
            AwsError: An AWS Backup call failed.
        """
        client = self._reading.client("backup", region)
        with remedies():
            named = {"BackupVaultName": copy.vault or self._vault, "RecoveryPointArn": copy.id}
            point = unless_unknown(client.describe_recovery_point, **named)
            return copy_of(client, point) if point and point["Status"] != "DELETING" else None

    def born_at(self, resource: TrackedResource) -> datetime | None:
        """Return when the file system was created; None if it is deleted, or being deleted.

        Raises:
            AwsError: The EFS call failed.
        """
        with remedies():
            found = file_system(self._reading.client("efs", resource.region), resource.id)
            return found["CreationTime"] if found and found["LifeCycleState"] not in GONE else None

    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- a session is one account's
        """Delete one recovery point. Ignores one that does not exist.

        Raises:
            AwsError: AWS Backup refused it, or it is unknown whether the request arrived.
        """
        if copy.id is None:
            raise AwsError(f"a backup of {copy.of} has no recovery point that could be deleted")
        with remedies():
            unless_unknown(
                self._asking.client("backup", region).delete_recovery_point,
                BackupVaultName=copy.vault or self._vault,
                RecoveryPointArn=copy.id,
            )


def _flagged_incremental(client: Any, arn: str, copies: list[Copy]) -> list[Copy]:
    """Return the backups, flagged as incremental if any vault has an earlier recovery point of the same file system.

    AWS copies a whole file system the first time, and later only what has changed (EFS User Guide, "Incremental
    backups"). It documents that a job's size is that difference. It does not document whether a recovery point's size
    is.
    """
    if not any(copy.state == "complete" for copy in copies):
        return copies
    every = list(pages(client.list_recovery_points_by_resource, "RecoveryPoints", ResourceArn=arn))

    def is_incremental(copy: Copy) -> bool:
        return any(one["RecoveryPointArn"] != copy.id and one["CreationDate"] < copy.made_at for one in every)

    return [replace(copy, incremental=is_incremental(copy)) for copy in copies]


def _points(client: Any, vault: str) -> list[Mapping[str, Any]]:
    """Return the recovery points of file systems in a vault; none if the vault does not exist."""
    listing = client.list_recovery_points_by_backup_vault
    try:
        return list(pages(listing, "RecoveryPoints", BackupVaultName=vault, ByResourceType="EFS"))
    except ClientError as error:
        if code_of(error) != UNKNOWN:
            raise
        return []


def on_demand(made: Mapping[str, Any]) -> bool:
    """Return whether no backup plan made this job or recovery point. Slackwater's own have no plan."""
    return not (made.get("CreatedBy") or {}).get("BackupPlanId")


def unless_unknown(call: Callable[..., Mapping[str, Any]], **parameters: Any) -> Mapping[str, Any] | None:
    """Return AWS Backup's response; None if the requested resource does not exist."""
    try:
        return call(**parameters)
    except ClientError as error:
        if code_of(error) != UNKNOWN:
            raise
        return None


def copy_of(client: Any, point: Mapping[str, Any], tags: Mapping[str, str] | None = None) -> Copy:
    """Return a recovery point with what its tags say."""
    arn, status = point["RecoveryPointArn"], point["Status"]
    found_tags = tags_of(client, arn) if tags is None else tags
    state: State = POINT_STATES.get(status, "failed")
    return Copy(
        id=arn,
        of=_id(point["ResourceArn"]),
        state=state,
        size_bytes=point.get("BackupSizeInBytes"),
        made_at=point["CreationDate"],
        expires_at=expiry(found_tags),
        token=found_tags.get(TOKEN),
        tags=found_tags,
        deletes_at=_deletes_at(point),
        key=_key(point),
        vault=point.get("BackupVaultName"),
        why=f"{status}: {point.get('StatusMessage') or 'AWS Backup does not say why'}" if state == "failed" else None,
    )


def _deletes_at(point: Mapping[str, Any]) -> datetime | None:
    """Return when AWS Backup deletes a recovery point by itself; None if it does not."""
    lifecycle, made = point.get("Lifecycle") or {}, point["CreationDate"]
    if lifecycle.get("DeleteAfterEvent"):
        return made  # type: ignore[no-any-return]  # AWS may delete it at any time
    days = lifecycle.get("DeleteAfterDays") or 0
    counted = made + timedelta(days=days) if days > 0 else None
    return (point.get("CalculatedLifecycle") or {}).get("DeleteAt") or counted


def _key(point: Mapping[str, Any]) -> str | None:
    """Return the KMS key of a recovery point; empty if AWS does not name it.

    None means that it is not encrypted, or that its key is owned by AWS.
    """
    if point.get("IsEncrypted") is False or point.get("EncryptionKeyType") == KEY_OF_AWS:
        return None
    return str(point.get("EncryptionKeyArn") or "")


def tags_of(client: Any, arn: str) -> dict[str, str]:
    """Return the tags of a recovery point; none if it does not exist (yet)."""
    tags: dict[str, str] = {}
    more: dict[str, str] = {}
    while page := unless_unknown(client.list_tags, ResourceArn=arn, **more):
        tags |= page.get("Tags") or {}
        if not page.get("NextToken") or page["NextToken"] == more.get("NextToken"):
            break
        more = {"NextToken": page["NextToken"]}
    return tags


def _recorded(copy: Copy, backup: Backup) -> bool:
    return (copy.id is not None and copy.id == backup.id) or (copy.job is not None and copy.job == backup.job)


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]
