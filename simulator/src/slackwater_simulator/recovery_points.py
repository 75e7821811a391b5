"""AWS Backup over rest-json: recovery points of EFS file systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from .backup import (
    DAY,
    TYPE,
    expire,
    guarded,
    invalid,
    known,
    paged,
    point_of,
    points_in,
    system_arn,
    unlocked,
    vault_arn,
    vault_of,
    within,
)
from .ec2_query import key_arn
from .resources import Backup, ElasticFileSystem
from .wire import AwsError, Call, Json, Reply, json_reply

DELETION_SECONDS: Final = 60


def describe_recovery_point(call: Call) -> Reply:
    """A recovery point of a vault."""
    return json_reply(call, _point(call, point_of(call, call.input["RecoveryPointArn"], vault_of(call))))


def _point(call: Call, point: Backup) -> Json:
    detail = point.detail
    answer: Json = {
        "RecoveryPointArn": point.id,
        "BackupVaultName": detail["vault"],
        "BackupVaultArn": vault_arn(call, detail["vault"]),
        "ResourceArn": system_arn(call, point.of),
        "ResourceType": TYPE,
        "IamRoleArn": detail["role"],
        "Status": point.state,
        "CreationDate": float(point.made),
        "EncryptionKeyArn": key_arn(call.region, call.account.id),
        "IsEncrypted": True,
        "IsParent": False,
        "StorageClass": "WARM",
        "VaultType": "BACKUP_VAULT",
    }
    if detail["done"] is not None:
        answer |= {"CompletionDate": float(detail["done"]), "BackupSizeInBytes": point.bytes}
    if detail["days"] is not None:
        answer["Lifecycle"] = {"DeleteAfterDays": detail["days"]}
        answer["CalculatedLifecycle"] = {"DeleteAt": float(point.made + detail["days"] * DAY)}
    return answer


def list_recovery_points_by_backup_vault(call: Call) -> Reply:
    """Recovery points of a vault."""
    known(call, "resourceArn", "resourceType")
    vault, wanted = vault_of(call), call.input
    found = (
        point
        for point in points_in(call)
        if point.detail["vault"] == vault
        and wanted.get("resourceArn") in (None, system_arn(call, point.of))
        and wanted.get("resourceType") in (None, TYPE)
        and within(call, point.made)
    )
    return paged(call, "RecoveryPoints", found, lambda point: _point(call, point))


def list_recovery_points_by_resource(call: Call) -> Reply:
    """Recovery points of one file system, which need not be there any more."""
    known(call, "managedByAWSBackupOnly")
    kept = (
        "RecoveryPointArn",
        "CreationDate",
        "Status",
        "EncryptionKeyArn",
        "BackupVaultName",
        "IsParent",
        "VaultType",
    )

    def shown(point: Backup) -> Json:
        whole = _point(call, point)
        size = {"BackupSizeBytes": whole["BackupSizeInBytes"]} if "BackupSizeInBytes" in whole else {}
        return {name: whole[name] for name in kept} | size

    found = (point for point in points_in(call) if system_arn(call, point.of) == call.input["ResourceArn"])
    return paged(call, "RecoveryPoints", found, shown)


def get_recovery_point_restore_metadata(call: Call) -> Reply:
    """How the file system was, in the words of a restore."""
    point = point_of(call, call.input["RecoveryPointArn"], vault_of(call))
    system: ElasticFileSystem = point.detail["system"]
    metadata = {
        "file-system-id": system.id,
        "Encrypted": str(system.encrypted).lower(),
        "PerformanceMode": system.performance,
        "newFileSystem": "false",
    }
    if system.encrypted:
        metadata["KmsKeyId"] = system.kms_key or key_arn(call.region, call.account.id)
    if system.one_zone:
        metadata |= {"singleAzFilesystem": "true", "availabilityZoneName": system.one_zone}
    return json_reply(
        call,
        {
            "BackupVaultArn": vault_arn(call, point.detail["vault"]),
            "RecoveryPointArn": point.id,
            "RestoreMetadata": metadata,
            "ResourceType": TYPE,
        },
    )


def delete_recovery_point(call: Call) -> Reply:
    """Delete a recovery point, which takes its time."""
    vault = vault_of(call)
    point = point_of(call, call.input["RecoveryPointArn"], vault)
    guarded(vault, "backup:DeleteRecoveryPoint")
    unlocked(call, vault)
    restoring = (
        each for each in call.account.shelf("restore-jobs").values() if each.point == point.id and not each.ended
    )
    if point.state != "COMPLETED" or next(restoring, None):
        raise AwsError("InvalidResourceStateException", f"{point.id} is {point.state}, or being restored.")
    call.account.put_backup(replace(point, state="DELETING"))
    call.account.after(DELETION_SECONDS, lambda: call.account.drop_backup(point.id))
    return json_reply(call, {})


def update_recovery_point_lifecycle(call: Call) -> Reply:
    """Set how many days after its making a recovery point is deleted; -1 is never."""
    vault = vault_of(call)
    point = point_of(call, call.input["RecoveryPointArn"], vault)
    unlocked(call, vault)
    days = int(call.input.get("Lifecycle", {}).get("DeleteAfterDays", -1))
    if days != -1 and not 1 <= days <= 36_500:
        raise invalid("DeleteAfterDays has to be between 1 and 36,500, or -1.")
    changed = replace(point, detail={**point.detail, "days": None if days == -1 else days})
    call.account.put_backup(changed)
    call.account.after(0, lambda: expire(call.account, point.id))
    whole = _point(call, changed)
    names = ("BackupVaultArn", "RecoveryPointArn", "Lifecycle", "CalculatedLifecycle")
    return json_reply(call, {name: whole[name] for name in names if name in whole})


def list_tags(call: Call) -> Reply:
    """Tags of a recovery point."""
    return json_reply(call, {"Tags": dict(point_of(call, call.input["ResourceArn"]).tags)})


def tag_resource(call: Call) -> Reply:
    """Add tags to a recovery point."""
    given: Mapping[str, Any] = call.input["Tags"]
    if any(key.startswith("aws:") for key in given):
        raise invalid("Keys of tags cannot begin with aws:.")
    point = point_of(call, call.input["ResourceArn"])
    call.account.put_backup(replace(point, tags={**point.tags, **given}))
    return json_reply(call, {})


def untag_resource(call: Call) -> Reply:
    """Take tags off a recovery point."""
    point = point_of(call, call.input["ResourceArn"])
    left = {key: value for key, value in point.tags.items() if key not in call.input["TagKeyList"]}
    call.account.put_backup(replace(point, tags=left))
    return json_reply(call, {})
