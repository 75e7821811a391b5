"""Serve AWS Backup over rest-json: jobs that back up EFS file systems or restore them to new ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from . import backup
from .account import Account
from .ec2_query import hexadecimal, key_arn
from .kms import usable
from .partitions import arn
from .resources import Backup, ElasticFileSystem
from .wire import AwsError, Call, Json, Reply, json_reply, known, once

BACKUP_SECONDS: Final = 1_200
RESTORE_SECONDS: Final = 1_500
BACKUPS: Final = "backup-jobs"
RESTORES: Final = "restore-jobs"
"""Names of the tables that hold the jobs."""
SOURCE: Final = "aws:backup:source-resource"
"""The tag that AWS Backup adds to a restored resource."""
_METADATA: Final = frozenset(
    {"file-system-id", "Encrypted", "KmsKeyId", "PerformanceMode", "CreationToken", "newFileSystem"}
    | {"singleAzFilesystem", "availabilityZoneName", "aws:backup:request-id"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that makes the recovery point `point` of the file system `of`, or restores it. It ended at `done`."""

    id: str
    region: str
    of: str
    point: str
    role: str
    created: int
    state: Literal["CREATED", "PENDING", "RUNNING", "COMPLETED", "FAILED"]
    message: str = ""
    done: int | None = None
    size: int | None = None
    """Backup jobs only: transferred bytes."""
    vault: str = ""
    """Backup jobs only."""
    days: int | None = None
    """Backup jobs only: days until the recovery point is deleted. None means never."""
    into: str = ""
    """Restore jobs only: the id of the new file system, empty until it is created."""

    @property
    def ended(self) -> bool:
        """Whether the job completed or failed."""
        return self.state in ("COMPLETED", "FAILED")


def _job(call: Call, table: str, job_id: str) -> Job:
    job: Job | None = call.account.table(table).get(job_id)
    if job is None or job.region != call.region:
        raise backup.absent(f"{table.partition('-')[0].capitalize()} job {job_id} does not exist.")
    return job


def _described(call: Call, job: Job) -> Json:
    """Return the members that both types of jobs have."""
    return {
        "AccountId": call.account.id,
        "RecoveryPointArn": job.point,
        "CreationDate": float(job.created),
        "IamRoleArn": job.role,
        "ResourceType": backup.TYPE,
        "IsParent": False,
        "CompletionDate": None if job.done is None else float(job.done),
        "StatusMessage": job.message or None,
    }


def _changed(account: Account, table: str, job_id: str, **parts: Any) -> None:
    account.keep(table, job_id, replace(account.table(table)[job_id], **parts))


# --- Backups ----------------------------------------------------------------------------------------------------------


def start_backup_job(call: Call) -> Reply:
    """Back up an EFS file system."""
    vault, role = backup.vault_of(call), backup.role_of(call)
    if not 60 <= int(call.input.get("StartWindowMinutes", 480)) <= 52_560_000:
        raise backup.invalid("StartWindowMinutes has to be 60 at least.")
    days = call.input.get("Lifecycle", {}).get("DeleteAfterDays")
    if days is not None and not 1 <= int(days) <= 36_500:
        raise backup.invalid("DeleteAfterDays has to be between 1 and 36,500.")
    tags = backup.given_tags(call.input.get("RecoveryPointTags", {}))

    def make() -> str:
        system = _source(call, str(call.input["ResourceArn"]))
        job = Job(
            id=backup.identifier(call.account),
            region=call.region,
            of=system.id,
            vault=vault,
            role=role,
            point=arn("backup", call.region, call.account.id, f"recovery-point:{backup.identifier(call.account)}"),
            created=call.account.now,
            state="CREATED",
            days=int(days) if days is not None else None,
        )
        _begin(call.account, system, job, tags)
        return job.id

    jobs = call.account.table(BACKUPS)
    made = once(call, "IdempotencyToken", "InvalidParameterValueException", lambda job_id: job_id in jobs, make)
    whole = _backup(call, _job(call, BACKUPS, made))
    names = ("BackupJobId", "RecoveryPointArn", "CreationDate", "IsParent")
    return json_reply(call, {name: whole[name] for name in names})


def _source(call: Call, named: str) -> ElasticFileSystem:
    if not named.startswith(backup.system_arn(call, "").partition(call.region)[0]):
        raise backup.invalid(f"The simulator backs up EFS file systems only, not {named}.")
    system = call.find(ElasticFileSystem, named.rpartition("/")[2])
    if system is None or backup.system_arn(call, system.id) != named:
        raise backup.absent(f"Resource {named} does not exist.")
    if system.phase != "available":
        raise AwsError("InvalidRequestException", f"{named} is {system.phase}.")
    return system


def _begin(account: Account, system: ElasticFileSystem, job: Job, tags: Mapping[str, str]) -> None:
    copied = {key: value for key, value in system.tags.items() if not key.startswith("aws:")}
    account.put_backup(
        Backup(
            id=job.point,
            kind=backup.POINTS,
            of=system.id,
            region=job.region,
            made=job.created,
            state="CREATING",
            tags={**copied, **tags},
            contents=account.contents(system.id),
            detail={"vault": job.vault, "role": job.role, "system": system, "days": job.days, "done": None},
        )
    )
    account.keep(BACKUPS, job.id, job)
    account.after(backup.START_SECONDS, lambda: _run_backup(account, job.id))
    account.after(BACKUP_SECONDS, lambda: _finish_backup(account, job.id))


def _run_backup(account: Account, job_id: str) -> None:
    job: Job = account.table(BACKUPS)[job_id]
    if job.state == "CREATED":
        _changed(account, BACKUPS, job_id, state="RUNNING")
        if account.backups_show and isinstance(account.find(job.of), ElasticFileSystem):
            account.work(job.of, "backup", BACKUP_SECONDS - backup.START_SECONDS)


def _finish_backup(account: Account, job_id: str) -> None:
    job: Job = account.table(BACKUPS)[job_id]
    if job.state != "RUNNING":
        return
    system, point = account.find(job.of), account.backup(job.point)
    if not isinstance(system, ElasticFileSystem) or not account.exists(job.of) or point is None:
        fail_backup_job(account, job_id, f"File system {job.of} does not exist.")
        return
    whole = system.standard_bytes + system.ia_bytes + system.archive_bytes
    earlier = [
        each.bytes
        for each in account.backups()
        if (each.kind, each.of, each.state) == (backup.POINTS, job.of, "COMPLETED")
        and each.detail["vault"] == job.vault
    ]
    account.put_backup(replace(point, state="COMPLETED", bytes=whole, detail={**point.detail, "done": account.now}))
    moved = max(0, whole - earlier[-1]) if earlier else whole
    _changed(account, BACKUPS, job_id, state="COMPLETED", done=account.now, size=moved)
    backup.expire(account, job.point)


def fail_backup_job(account: Account, job_id: str, why: str = "The backup failed.") -> None:
    """Fail a backup job that has not ended, and remove its recovery point."""
    with account.lock:
        account.drop_backup(account.table(BACKUPS)[job_id].point)
        _changed(account, BACKUPS, job_id, state="FAILED", message=why, done=account.now)


def describe_backup_job(call: Call) -> Reply:
    """Describe a backup job."""
    return json_reply(call, _backup(call, _job(call, BACKUPS, call.input["BackupJobId"])))


def list_backup_jobs(call: Call) -> Reply:
    """List the jobs of the Region, newest first."""
    jobs: list[Job] = [*call.account.table(BACKUPS).values()]
    found = (_backup(call, job) for job in reversed(jobs) if job.region == call.region)
    return backup.listed(call, "BackupJobs", found)


def _backup(call: Call, job: Job) -> Json:
    answer = _described(call, job) | {
        "BackupJobId": job.id,
        "BackupVaultName": job.vault,
        "BackupVaultArn": backup.vault_arn(call, job.vault),
        "ResourceArn": backup.system_arn(call, job.of),
        "State": job.state,
        "PercentDone": "100.0" if job.state == "COMPLETED" else "0.0",
        "RecoveryPointLifecycle": {"DeleteAfterDays": job.days} if job.days else None,
        "BackupSizeInBytes": job.size,
        "BytesTransferred": job.size,
    }
    return known(answer)


# --- Restores ---------------------------------------------------------------------------------------------------------


def start_restore_job(call: Call) -> Reply:
    """Restore a recovery point to a new file system. The data is in a directory below its root."""
    role, metadata = backup.role_of(call), _metadata(call)

    def make() -> str:
        account, point = call.account, backup.point_of(call, call.input["RecoveryPointArn"])
        backup.guarded(point.detail["vault"], "backup:StartRestoreJob")
        if point.state != "COMPLETED":
            raise AwsError("InvalidRequestException", f"{point.id} is {point.state}.")
        job = Job(
            id=backup.identifier(account),
            region=call.region,
            point=point.id,
            of=point.of,
            role=role,
            created=account.now,
            state="PENDING",
        )
        tags = {SOURCE: backup.system_arn(call, point.of)}
        if call.input.get("CopySourceTagsToRestoredResource"):
            tags |= point.tags
        fresh = _fresh(call, metadata, tags)
        account.keep(RESTORES, job.id, job)
        account.after(backup.START_SECONDS, lambda: _run_restore(account, job.id, fresh))
        account.after(RESTORE_SECONDS, lambda: _finish_restore(account, job.id, point))
        return job.id

    jobs = call.account.table(RESTORES)
    made = once(call, "IdempotencyToken", "InvalidParameterValueException", lambda job: job in jobs, make)
    return json_reply(call, {"RestoreJobId": made})


def _metadata(call: Call) -> dict[str, str]:
    given: Json = call.input["Metadata"]
    if unknown := sorted(set(given) - _METADATA):
        raise backup.invalid(f"Unknown restore metadata: {', '.join(unknown)}.")
    if given.get("newFileSystem", "").lower() != "true":
        raise backup.invalid("The simulator restores to new file systems only: newFileSystem has to be true.")
    for needed in ("CreationToken", "Encrypted"):
        if not given.get(needed):
            raise backup.invalid(f"Restore metadata need {needed}.")
    if "KmsKeyId" in given and given["Encrypted"].lower() != "true":
        raise backup.invalid("With KmsKeyId, Encrypted has to be true.")
    single = given.get("singleAzFilesystem", "").lower() == "true"
    performance, zone = given.get("PerformanceMode", "generalPurpose"), given.get("availabilityZoneName", "")
    if performance not in ("generalPurpose", "maxIO") or (single and performance == "maxIO"):
        raise backup.invalid(f"PerformanceMode cannot be {performance}.")
    if single != bool(zone) or not (zone or call.region).startswith(call.region):
        needs = "singleAzFilesystem and the availabilityZoneName of a zone of this Region"
        raise backup.invalid(f"A One Zone file system needs {needs}.")
    return given


def _fresh(call: Call, metadata: dict[str, str], tags: dict[str, str]) -> ElasticFileSystem:
    return ElasticFileSystem(
        id=f"fs-{hexadecimal(f'restored {call.account.id}/{call.account.number()}')}",
        region=call.region,
        created=call.account.now,
        one_zone=metadata.get("availabilityZoneName"),
        backup="availabilityZoneName" in metadata,
        performance=metadata.get("PerformanceMode", "generalPurpose"),
        encrypted=metadata["Encrypted"].lower() == "true",
        kms_key=metadata.get("KmsKeyId", ""),
        token=metadata["CreationToken"],
        tags=tags,
        voice="dark",
    )


def _run_restore(account: Account, job_id: str, fresh: ElasticFileSystem) -> None:
    if account.table(RESTORES)[job_id].state != "PENDING":
        return
    if any(system.token == fresh.token for system in account.all(ElasticFileSystem, fresh.region)):
        fail_restore_job(account, job_id, f"A file system with the creation token {fresh.token} exists.")
        return
    account.put(replace(fresh, created=account.now))
    account.fill(fresh.id, "")
    _changed(account, RESTORES, job_id, state="RUNNING", into=fresh.id)


def _finish_restore(account: Account, job_id: str, point: Backup) -> None:
    job: Job = account.table(RESTORES)[job_id]
    if job.state != "RUNNING":
        return
    system = account.find(job.into)
    if not isinstance(system, ElasticFileSystem) or not account.exists(job.into):
        fail_restore_job(account, job_id, f"File system {job.into} does not exist.")
        return
    if not usable(account, key_arn(job.region, account.id)):
        fail_restore_job(account, job_id, f"The key of {job.point} cannot be used.")
        return
    account.put(replace(system, standard_bytes=point.bytes))
    account.fill(system.id, point.contents)
    _changed(account, RESTORES, job_id, state="COMPLETED", done=account.now)


def fail_restore_job(account: Account, job_id: str, why: str = "The restore failed.") -> None:
    """Fail a restore job that has not ended. The file system that it created stays, empty."""
    with account.lock:
        _changed(account, RESTORES, job_id, state="FAILED", message=why, done=account.now)


def describe_restore_job(call: Call) -> Reply:
    """Describe a restore job. The created file system shows only when the job is complete."""
    job = _job(call, RESTORES, call.input["RestoreJobId"])
    complete, system = job.state == "COMPLETED", call.find(ElasticFileSystem, job.into)
    answer = _described(call, job) | {
        "RestoreJobId": job.id,
        "SourceResourceArn": backup.system_arn(call, job.of),
        "Status": job.state,
        "PercentDone": "100.00%" if complete else "0.00%",
        "CreatedResourceArn": backup.system_arn(call, job.into) if complete else None,
        "BackupSizeInBytes": (system.standard_bytes if system else 0) if complete else None,
    }
    return json_reply(call, known(answer))
