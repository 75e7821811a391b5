"""Recovery points of EFS file systems in an AWS Backup vault: asked for, looked at, swept away."""

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
        "iam:PassRole",  # to AWS Backup, of the role that reads the file system
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
"""As long as AWS Backup waits unless told: a scheduled backup of the same file system may have to end first."""

CLOCKS_DIFFER: Final = timedelta(hours=1)
"""By no more than this: so long before it was asked for by our clock, a job may have been made by AWS's."""

JOB_RUNS: Final = frozenset({"CREATED", "PENDING", "RUNNING"})
IS_WHOLE: Final = frozenset({None, "", "SUCCESS"})
"""A completed job of any other message category has left something out: the console says "Completed with issues"."""

POINT_STATES: Final[Mapping[str, State]] = {
    "CREATING": "running",
    "COMPLETED": "complete",
    "AVAILABLE": "complete",
}
"""Whatever AWS Backup calls any other state does not bring everything back."""

UNKNOWN: Final = "ResourceNotFoundException"

LIFECYCLE: Final = frozenset({"DeleteAfterDays", "MoveToColdStorageAfterDays", "OptInToArchiveForSupportedResources"})
"""What UpdateRecoveryPointLifecycle takes (AWS Backup API Reference, "Lifecycle")."""
KEY_OF_AWS: Final = "AWS_OWNED_KMS_KEY"


class EfsBackupTaker:
    """Has AWS Backup back file systems up, into one vault, by a role that it assumes."""

    def __init__(self, reading: AwsSession, asking: AwsSession, vault: str, role_arn: str) -> None:
        """Makes no call."""
        self._reading = reading
        self._asking = asking
        self._vault = vault
        self._role_arn = role_arn

    def subject(self, resource: TrackedResource) -> Subject:
        """The file system, with what EFS meters of it.

        Raises:
            AwsError: AWS did not say, or there is no such file system.
        """
        with remedies():
            found = existing(self._reading.client("efs", resource.region), resource.id)
            return Subject(id=resource.id, size_bytes=found["SizeInBytes"]["Value"])

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Ask for a recovery point. Asked again with the same token, AWS Backup names the job that it has.

        AWS Backup deletes it by itself as many days after as it is to be kept.

        Raises:
            AwsError: it was refused, or nobody knows whether it was begun.
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
        """The recorded job and recovery point, and every other job of the resource whose recovery point carries the
        token.

        While a job runs its recovery point need not be there to carry anything. Such a one, where the answer to `start`
        was lost, is missing here: asked again with the same token, AWS Backup names it.

        Raises:
            AwsError: AWS did not say.
        """
        client = self._reading.client("backup", resource.region)
        with remedies():
            jobs = [
                job
                for job in self._jobs(client, resource, backup)
                if job["BackupJobId"] == backup.job or on_demand(job)
            ]
            found = [self._copy(client, job) for job in jobs]
            if backup.id and backup.id not in {copy.id for copy in found}:  # its job is forgotten
                point = self._point(client, backup.id, backup.vault)
                found += [copy_of(client, point)] if point else []
            mine = [copy for copy in found if copy.token == backup.token or _recorded(copy, backup)]
            return _flagged_incremental(client, resource.arn, mine)

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Change the lifecycle, by which AWS Backup deletes it, and the tag with its expiry, each where that is sooner.

        Raises:
            AwsError: AWS Backup did not, as where a Vault Lock protects it, or did not say.
        """
        if copy.id is None:
            raise AwsError(f"a backup of {copy.of} has no recovery point yet")
        client = self._reading.client("backup", resource.region)
        named: Any = {"BackupVaultName": copy.vault or self._vault, "RecoveryPointArn": copy.id}
        with remedies():
            if copy.deletes_at and copy.deletes_at < until:
                point = client.describe_recovery_point(**named)
                # What is left out of a lifecycle is taken away.
                kept = {name: value for name, value in (point.get("Lifecycle") or {}).items() if name in LIFECYCLE}
                days = math.ceil((until - point["CreationDate"]) / timedelta(days=1))
                lifecycle: Any = kept | {"DeleteAfterDays": days}
                client.update_recovery_point_lifecycle(**named, Lifecycle=lifecycle)
            if copy.expires_at and copy.expires_at < until:
                client.tag_resource(ResourceArn=copy.id, Tags={EXPIRES_AT: timestamp(until)})

    def _jobs(self, client: Any, resource: TrackedResource, backup: Backup) -> list[Mapping[str, Any]]:
        """Jobs of the resource since the backup was asked for, and the recorded one: the list lags, and ends after 30
        days.
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
        """What a job makes: its recovery point tells what it holds, and the job whether that is everything."""
        arn, state = job.get("RecoveryPointArn"), job["State"]
        point = self._point(client, arn) if arn else None
        copy = Copy(
            id=arn,
            of=_id(job["ResourceArn"]),
            state="running" if state in JOB_RUNS else "failed",
            size_bytes=None,  # the job's is what it transferred: of an incremental backup, the difference
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
    """Deletes recovery points of ours. AWS Backup deletes those that have expired, too."""

    def __init__(self, reading: AwsSession, asking: AwsSession, vault: str | None = None) -> None:
        """Makes no call. Without a vault it lists those of all: the deployment may have used another one before."""
        self._reading = reading
        self._asking = asking
        self._vault = vault

    def copies(self, account: str, region: str) -> Iterable[Copy]:  # noqa: ARG002 -- a session is one account's
        """Recovery points of file systems that carry `slackwater:backup-of`, but for those that are being deleted.

        Raises:
            AwsError: AWS did not say.
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
        """A recovery point as it is now; None where it is gone.

        Raises:
            AwsError: AWS did not say.
        """
        client = self._reading.client("backup", region)
        with remedies():
            named = {"BackupVaultName": copy.vault or self._vault, "RecoveryPointArn": copy.id}
            point = unless_unknown(client.describe_recovery_point, **named)
            return copy_of(client, point) if point and point["Status"] != "DELETING" else None

    def born_at(self, resource: TrackedResource) -> datetime | None:
        """When the file system was created; None where it is gone, or going.

        Raises:
            AwsError: EFS did not say.
        """
        with remedies():
            found = file_system(self._reading.client("efs", resource.region), resource.id)
            return found["CreationTime"] if found and found["LifeCycleState"] not in GONE else None

    def delete(self, account: str, region: str, copy: Copy) -> None:  # noqa: ARG002 -- a session is one account's
        """Delete one; one that is gone is fine.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
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
    """These, marked where an earlier recovery point of the same file system exists, in any vault.

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
    """Recovery points of file systems in a vault; none where there is no such vault."""
    listing = client.list_recovery_points_by_backup_vault
    try:
        return list(pages(listing, "RecoveryPoints", BackupVaultName=vault, ByResourceType="EFS"))
    except ClientError as error:
        if code_of(error) != UNKNOWN:
            raise
        return []


def on_demand(made: Mapping[str, Any]) -> bool:
    """Whether no backup plan made this job or recovery point: ours are none's."""
    return not (made.get("CreatedBy") or {}).get("BackupPlanId")


def unless_unknown(call: Callable[..., Mapping[str, Any]], **parameters: Any) -> Mapping[str, Any] | None:
    """AWS Backup's answer; None where it does not know what is asked about."""
    try:
        return call(**parameters)
    except ClientError as error:
        if code_of(error) != UNKNOWN:
            raise
        return None


def copy_of(client: Any, point: Mapping[str, Any], tags: Mapping[str, str] | None = None) -> Copy:
    """A recovery point, and what its tags say."""
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
    """When AWS Backup deletes a recovery point by itself; None where it does not."""
    lifecycle, made = point.get("Lifecycle") or {}, point["CreationDate"]
    if lifecycle.get("DeleteAfterEvent"):
        return made  # type: ignore[no-any-return]  # at any time
    days = lifecycle.get("DeleteAfterDays") or 0
    counted = made + timedelta(days=days) if days > 0 else None
    return (point.get("CalculatedLifecycle") or {}).get("DeleteAt") or counted


def _key(point: Mapping[str, Any]) -> str | None:
    """The KMS key of a recovery point; None where it has none, or one of AWS's own, empty where it is not named."""
    if point.get("IsEncrypted") is False or point.get("EncryptionKeyType") == KEY_OF_AWS:
        return None
    return str(point.get("EncryptionKeyArn") or "")


def tags_of(client: Any, arn: str) -> dict[str, str]:
    """The tags of a recovery point; none where there is no such recovery point (yet)."""
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
