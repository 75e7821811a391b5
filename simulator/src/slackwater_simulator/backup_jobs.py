"""AWS Backup over rest-json: vaults, and jobs that back up EFS file systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from .account import Account
from .backup import (
    DAY,
    POINTS,
    START_SECONDS,
    TYPE,
    VAULTS,
    absent,
    expire,
    identifier,
    invalid,
    known,
    missing,
    paged,
    points_in,
    role_of,
    system_arn,
    vault_arn,
    vault_of,
    within,
)
from .ec2_query import key_arn
from .once import once
from .partitions import arn
from .resources import Backup, ElasticFileSystem
from .wire import AwsError, Call, Json, Reply, json_reply

BACKUP_SECONDS: Final = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A backup job. `size` is what it transferred, `done` when it ended."""

    id: str
    region: str
    of: str
    vault: str
    role: str
    point: str
    created: int
    state: Literal["CREATED", "RUNNING", "COMPLETED", "FAILED"] = "CREATED"
    message: str = ""
    done: int | None = None
    size: int | None = None
    days: int | None = None


def start_backup_job(call: Call) -> Reply:
    """Back up an EFS file system."""
    vault, role = vault_of(call), role_of(call)
    missing(call, "ResourceArn")
    if not 60 <= int(call.input.get("StartWindowMinutes", 480)) <= 52_560_000:
        raise invalid("StartWindowMinutes has to be 60 at least.")
    lifecycle: Json = call.input.get("Lifecycle", {})
    days = lifecycle.get("DeleteAfterDays")
    if days is not None and not 1 <= int(days) <= 36_500:
        raise invalid("DeleteAfterDays has to be between 1 and 36,500.")
    if any(key.startswith("aws:") for key in call.input.get("RecoveryPointTags", {})):
        raise invalid("Keys of tags cannot begin with aws:.")

    def make() -> str:
        named = str(call.input["ResourceArn"])
        system = call.account.find(named.rpartition("/")[2])
        if not named.startswith(system_arn(call, "").partition(call.region)[0]):
            raise invalid(f"The simulator backs up EFS file systems only, not {named}.")
        if (
            not isinstance(system, ElasticFileSystem)
            or system.region != call.region
            or system_arn(call, system.id) != named
        ):
            raise absent(f"Resource {named} does not exist.")
        if system.phase != "available":
            raise AwsError("InvalidRequestException", f"{named} is {system.phase}.")
        return _begin(
            call,
            system,
            Job(
                id=identifier(call.account),
                region=call.region,
                of=system.id,
                vault=vault,
                role=role,
                point=arn("backup", call.region, call.account.id, f"recovery-point:{identifier(call.account)}"),
                created=call.account.now,
                days=int(days) if days is not None else None,
            ),
        )

    jobs = call.account.shelf("backup-jobs")
    made = once(call, "IdempotencyToken", "InvalidParameterValueException", lambda job_id: job_id in jobs, make)
    job: Job = call.account.shelf("backup-jobs")[made]
    return json_reply(
        call,
        {"BackupJobId": job.id, "RecoveryPointArn": job.point, "CreationDate": float(job.created), "IsParent": False},
    )


def _begin(call: Call, system: ElasticFileSystem, job: Job) -> str:
    account = call.account
    copied = {key: value for key, value in system.tags.items() if not key.startswith("aws:")}
    account.put_backup(
        Backup(
            id=job.point,
            kind=POINTS,
            of=system.id,
            region=job.region,
            made=job.created,
            state="CREATING",
            tags={**copied, **call.input.get("RecoveryPointTags", {})},
            contents=account.contents(system.id),
            detail={"vault": job.vault, "role": job.role, "system": system, "days": job.days, "done": None},
        )
    )
    account.keep("backup-jobs", job.id, job)
    account.after(START_SECONDS, lambda: _run(account, job.id))
    account.after(BACKUP_SECONDS, lambda: _finish(account, job.id))
    return job.id


def _run(account: Account, job_id: str) -> None:
    job: Job = account.shelf("backup-jobs")[job_id]
    if job.state == "CREATED":
        account.keep("backup-jobs", job_id, replace(job, state="RUNNING"))
        if account.backups_show and isinstance(account.find(job.of), ElasticFileSystem):
            account.work(job.of, "backup", BACKUP_SECONDS - START_SECONDS)


def _finish(account: Account, job_id: str) -> None:
    job: Job = account.shelf("backup-jobs")[job_id]
    if job.state != "RUNNING":
        return
    system = account.find(job.of)
    if not isinstance(system, ElasticFileSystem) or not account.exists(job.of):
        fail_backup_job(account, job_id, f"File system {job.of} does not exist.")
        return
    whole = _bytes(system)
    earlier = [
        each.bytes
        for each in account.backups()
        if each.kind == POINTS and each.of == job.of and each.state == "COMPLETED" and each.detail["vault"] == job.vault
    ]
    point = next(each for each in account.backups() if each.id == job.point)
    account.put_backup(replace(point, state="COMPLETED", bytes=whole, detail={**point.detail, "done": account.now}))
    moved = max(0, whole - earlier[-1]) if earlier else whole
    account.keep("backup-jobs", job_id, replace(job, state="COMPLETED", done=account.now, size=moved))
    expire(account, job.point)


def _bytes(system: ElasticFileSystem) -> int:
    return system.standard_bytes + system.ia_bytes + system.archive_bytes


def fail_backup_job(account: Account, job_id: str, why: str = "The backup failed.") -> None:
    """Let a backup job that has not ended fail; it leaves no recovery point."""
    with account.lock:
        job: Job = account.shelf("backup-jobs")[job_id]
        account.drop_backup(job.point)
        account.keep("backup-jobs", job_id, replace(job, state="FAILED", message=why, done=account.now))


def describe_backup_job(call: Call) -> Reply:
    """A job as it is now."""
    job: Job | None = call.account.shelf("backup-jobs").get(call.input["BackupJobId"])
    if job is None or job.region != call.region:
        raise absent(f"Backup job {call.input['BackupJobId']} does not exist.")
    return json_reply(call, _job(call, job))


def list_backup_jobs(call: Call) -> Reply:
    """Jobs of the Region, the newest first."""
    known(call, "resourceArn", "state", "backupVaultName", "resourceType")
    jobs: Iterable[Job] = reversed(list(call.account.shelf("backup-jobs").values()))
    wanted = call.input
    found = (
        job
        for job in jobs
        if job.region == call.region
        and wanted.get("resourceArn") in (None, system_arn(call, job.of))
        and wanted.get("state") in (None, job.state)
        and wanted.get("backupVaultName") in (None, job.vault)
        and wanted.get("resourceType") in (None, TYPE)
        and within(call, job.created)
    )
    return paged(call, "BackupJobs", found, lambda job: _job(call, job))


def _job(call: Call, job: Job) -> Json:
    answer: Json = {
        "AccountId": call.account.id,
        "BackupJobId": job.id,
        "BackupVaultName": job.vault,
        "BackupVaultArn": vault_arn(call, job.vault),
        "RecoveryPointArn": job.point,
        "ResourceArn": system_arn(call, job.of),
        "CreationDate": float(job.created),
        "State": job.state,
        "PercentDone": "100.0" if job.state == "COMPLETED" else "0.0",
        "IamRoleArn": job.role,
        "ResourceType": TYPE,
        "IsParent": False,
    }
    if job.days is not None:
        answer["RecoveryPointLifecycle"] = {"DeleteAfterDays": job.days}
    if job.done is not None:
        answer["CompletionDate"] = float(job.done)
    if job.size is not None:
        answer |= {"BackupSizeInBytes": job.size, "BytesTransferred": job.size}
    if job.message:
        answer["StatusMessage"] = job.message
    return answer


def describe_backup_vault(call: Call) -> Reply:
    """A vault."""
    vault = vault_of(call)
    return json_reply(
        call,
        {
            "BackupVaultName": vault,
            "BackupVaultArn": vault_arn(call, vault),
            "VaultType": "BACKUP_VAULT",
            "VaultState": "AVAILABLE",
            "EncryptionKeyArn": key_arn(call.region, call.account.id),
            "CreationDate": float(call.account.fleet.now - 400 * DAY),
            "NumberOfRecoveryPoints": sum(each.detail["vault"] == vault for each in points_in(call)),
            "Locked": bool(call.account.shelf("locked-vaults").get(vault)),
        },
    )


def list_backup_vaults(call: Call) -> Reply:
    """Every vault of the Region."""
    found = [{"BackupVaultName": vault, "BackupVaultArn": vault_arn(call, vault)} for vault in VAULTS]
    return paged(call, "BackupVaultList", found, lambda vault: vault)
