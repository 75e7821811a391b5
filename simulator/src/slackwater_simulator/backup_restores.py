"""AWS Backup over rest-json: restores of EFS file systems, each to a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from .account import Account
from .backup import START_SECONDS, TYPE, absent, guarded, identifier, invalid, missing, point_of, role_of, system_arn
from .ec2_query import hexadecimal, key_arn
from .kms import usable
from .once import once
from .resources import Backup, ElasticFileSystem, rfc3339
from .wire import AwsError, Call, Json, Reply, json_reply

RESTORE_SECONDS: Final = 1_500
SOURCE: Final = "aws:backup:source-resource"
"""The tag that AWS Backup puts on what it restored."""
_METADATA: Final = frozenset(
    {"file-system-id", "Encrypted", "KmsKeyId", "PerformanceMode", "CreationToken", "newFileSystem"}
    | {"singleAzFilesystem", "availabilityZoneName", "aws:backup:request-id"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """A restore job. `into` is the id of the new file system, once there is one."""

    id: str
    region: str
    point: str
    of: str
    role: str
    created: int
    state: Literal["PENDING", "RUNNING", "COMPLETED", "FAILED"] = "PENDING"
    message: str = ""
    into: str = ""
    done: int | None = None

    @property
    def ended(self) -> bool:
        """Whether it did what it can."""
        return self.state in ("COMPLETED", "FAILED")


def start_restore_job(call: Call) -> Reply:
    """Restore a recovery point to a new file system, which holds the data in a directory below its root."""
    missing(call, "RecoveryPointArn", "Metadata")
    role, metadata = role_of(call), _metadata(call)

    def make() -> str:
        point = point_of(call, call.input["RecoveryPointArn"])
        guarded(point.detail["vault"], "backup:StartRestoreJob")
        if point.state != "COMPLETED":
            raise AwsError("InvalidRequestException", f"{point.id} is {point.state}.")
        job = Restore(
            id=identifier(call.account),
            region=call.region,
            point=point.id,
            of=point.of,
            role=role,
            created=call.account.now,
        )
        tags = {SOURCE: system_arn(call, point.of)}
        if call.input.get("CopySourceTagsToRestoredResource"):
            tags |= point.tags
        fresh = _fresh(call, metadata, tags)
        call.account.keep("restore-jobs", job.id, job)
        call.account.after(START_SECONDS, lambda: _run(call.account, job.id, fresh))
        call.account.after(RESTORE_SECONDS, lambda: _finish(call.account, job.id, point))
        return job.id

    jobs = call.account.shelf("restore-jobs")
    made = once(call, "IdempotencyToken", "InvalidParameterValueException", lambda job: job in jobs, make)
    return json_reply(call, {"RestoreJobId": made})


def _metadata(call: Call) -> dict[str, str]:
    given: Json = call.input["Metadata"]
    if call.input.get("ResourceType") not in (None, TYPE):
        raise invalid(f"ResourceType has to be {TYPE}.")
    if unknown := sorted(set(given) - _METADATA):
        raise invalid(f"Unknown restore metadata: {', '.join(unknown)}.")
    if not all(isinstance(value, str) for value in given.values()):
        raise invalid("Restore metadata are strings.")
    if given.get("newFileSystem", "").lower() != "true":
        raise invalid("The simulator restores to new file systems only: newFileSystem has to be true.")
    for needed in ("CreationToken", "Encrypted"):
        if not given.get(needed):
            raise invalid(f"Restore metadata need {needed}.")
    if "KmsKeyId" in given and given["Encrypted"].lower() != "true":
        raise invalid("With KmsKeyId, Encrypted has to be true.")
    single, performance = (
        given.get("singleAzFilesystem", "").lower() == "true",
        given.get("PerformanceMode", "generalPurpose"),
    )
    if performance not in ("generalPurpose", "maxIO") or (single and performance == "maxIO"):
        raise invalid(f"PerformanceMode cannot be {performance}.")
    if single != ("availabilityZoneName" in given) or not given.get("availabilityZoneName", call.region).startswith(
        call.region
    ):
        raise invalid(
            "A One Zone file system needs singleAzFilesystem and the availabilityZoneName of a zone of this Region."
        )
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


def _run(account: Account, job_id: str, fresh: ElasticFileSystem) -> None:
    job: Restore = account.shelf("restore-jobs")[job_id]
    if job.state != "PENDING":
        return
    if any(system.token == fresh.token for system in account.efs.get(fresh.region, [])):
        fail_restore_job(account, job_id, f"A file system with the creation token {fresh.token} exists.")
        return
    account.put(replace(fresh, created=account.now))
    account.fill(fresh.id, "")
    account.keep("restore-jobs", job_id, replace(job, state="RUNNING", into=fresh.id))


def _finish(account: Account, job_id: str, point: Backup) -> None:
    job: Restore = account.shelf("restore-jobs")[job_id]
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
    account.keep("restored-under", system.id, f"/aws-backup-restore_{rfc3339(account.now, '.000').replace(':', '-')}")
    account.keep("restore-jobs", job_id, replace(job, state="COMPLETED", done=account.now))


def restored_under(account: Account, system_id: str) -> str:
    """The directory in which a restored file system holds what it held; empty where that is its root."""
    return str(account.shelf("restored-under").get(system_id, ""))


def fail_restore_job(account: Account, job_id: str, why: str = "The restore failed.") -> None:
    """Let a restore job that has not ended fail; what it made so far stays, empty."""
    with account.lock:
        job: Restore = account.shelf("restore-jobs")[job_id]
        account.keep("restore-jobs", job_id, replace(job, state="FAILED", message=why, done=account.now))


def describe_restore_job(call: Call) -> Reply:
    """A restore job as it is now; what it created shows when it is done."""
    job: Restore | None = call.account.shelf("restore-jobs").get(call.input["RestoreJobId"])
    if job is None or job.region != call.region:
        raise absent(f"Restore job {call.input['RestoreJobId']} does not exist.")
    answer: Json = {
        "AccountId": call.account.id,
        "RestoreJobId": job.id,
        "RecoveryPointArn": job.point,
        "SourceResourceArn": system_arn(call, job.of),
        "CreationDate": float(job.created),
        "Status": job.state,
        "PercentDone": "100.00%" if job.state == "COMPLETED" else "0.00%",
        "IamRoleArn": job.role,
        "ResourceType": TYPE,
        "IsParent": False,
    }
    if job.done is not None:
        answer["CompletionDate"] = float(job.done)
    if job.message:
        answer["StatusMessage"] = job.message
    if job.state == "COMPLETED":
        answer |= {"CreatedResourceArn": system_arn(call, job.into), "BackupSizeInBytes": point_bytes(call, job)}
    return json_reply(call, answer)


def point_bytes(call: Call, job: Restore) -> int:
    """What a finished restore brought back."""
    system = call.account.find(job.into)
    return system.standard_bytes if isinstance(system, ElasticFileSystem) else 0
