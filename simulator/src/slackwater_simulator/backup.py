"""Serve AWS Backup over rest-json: vaults, and recovery points of EFS file systems."""

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from .account import Account
from .ec2_query import key_arn
from .partitions import arn, global_arn
from .resources import Backup, ElasticFileSystem, instant
from .series import DAY
from .wire import AwsError, Call, Json, Reply, json_reply, known, page_of, page_size

START_SECONDS: Final = 60
"""From a job's creation until it runs."""
DELETION_SECONDS: Final = 60
AUTOMATIC: Final = "aws/efs/automatic-backup-vault"
VAULTS: Final = ("Default", "slackwater", AUTOMATIC)
"""The vaults of every Region. The last one's access policy denies everyone to delete or restore recovery points."""
TYPE: Final = "EFS"
POINTS: Final = "recovery-point"


def needed(call: Call, name: str) -> str:
    """Return a required member of a call's input."""
    if not call.input.get(name):
        raise AwsError("MissingParameterValueException", f"{name} is needed.")
    return str(call.input[name])


def invalid(why: str) -> AwsError:
    """Return the error for an invalid parameter value."""
    return AwsError("InvalidParameterValueException", why)


def absent(why: str) -> AwsError:
    """Return the error for something that does not exist."""
    return AwsError("ResourceNotFoundException", why)


def identifier(account: Account) -> str:
    """Return a new id in AWS Backup's format."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{account.id}/{account.number()}")).upper()


def role_of(call: Call) -> str:
    """Return the role that AWS Backup assumes."""
    role = needed(call, "IamRoleArn")
    if not re.fullmatch(rf"{global_arn('iam', call.region, call.account.id, 'role/.+')}", role):
        raise invalid(f"Invalid role: {role}")
    return role


def system_arn(call: Call, system_id: str) -> str:
    """Return the ARN of an EFS file system."""
    return arn("elasticfilesystem", call.region, call.account.id, f"file-system/{system_id}")


def given_tags(tags: Mapping[str, str]) -> Mapping[str, str]:
    """Return a call's tags, if AWS accepts them."""
    if any(key.startswith("aws:") for key in tags):
        raise invalid("Keys of tags cannot begin with aws:.")
    return tags


def listed(call: Call, name: str, found: Iterable[Json]) -> Reply:
    """Return one page of the entries that pass a call's filters. For example, `ByState` compares an entry's `State`."""
    shown = list(found)
    for key, wanted in call.input.items():
        if key == "ByCreatedAfter":
            shown = [each for each in shown if each["CreationDate"] > instant(wanted)]
        elif key in ("ByBackupVaultName", "ByResourceArn", "ByResourceType", "ByState"):
            shown = [each for each in shown if each[key.removeprefix("By")] == wanted]
        elif key.startswith("By"):
            raise invalid(f"The simulator does not know the filter {key}.")
    return json_reply(call, page_of(call, name, shown, dict, page_size(call, 1000)))


# --- Vaults -----------------------------------------------------------------------------------------------------------


def vault_arn(call: Call, vault: str) -> str:
    """Return the ARN of a vault."""
    return arn("backup", call.region, call.account.id, f"backup-vault:{vault}")


def vault_of(call: Call) -> str:
    """Return the vault that a call names."""
    vault = needed(call, "BackupVaultName")
    if vault not in VAULTS:
        raise absent(f"Backup vault {vault} does not exist.")
    return vault


def guarded(vault: str, action: str) -> None:
    """Raise AccessDeniedException if the automatic vault's access policy denies the action."""
    if vault == AUTOMATIC:
        why = f"Insufficient privileges to perform this action: {action} on {vault}."
        raise AwsError("AccessDeniedException", why, 403)


def _unlocked(call: Call, vault: str) -> None:
    """Raise an error if a Vault Lock protects the vault's recovery points."""
    if call.account.table("locked-vaults").get(vault):
        why = f"Backup vault {vault} is locked: its recovery points cannot be changed."
        raise AwsError("InvalidRequestException", why)


def list_backup_vaults(call: Call) -> Reply:
    """List every vault of the Region."""
    found = ({"BackupVaultName": vault, "BackupVaultArn": vault_arn(call, vault)} for vault in VAULTS)
    return listed(call, "BackupVaultList", found)


# --- Recovery points --------------------------------------------------------------------------------------------------


def point_of(call: Call, point_arn: object, vault: str | None = None) -> Backup:
    """Return a recovery point, in the given vault or in any vault."""
    point = call.backup(POINTS, point_arn)
    if point is None or vault not in (None, point.detail["vault"]):
        raise absent(f"Cannot find recovery point {point_arn}.")
    return point


def expire(account: Account, point_id: str) -> None:
    """Delete a recovery point when its lifecycle ends. If the lifecycle was extended, check again then."""
    point = account.backup(point_id)
    if point is None or point.detail["days"] is None:
        return
    left = point.made + point.detail["days"] * DAY - account.now
    if left > 0:
        account.after(left, lambda: expire(account, point_id))
    else:
        account.drop_backup(point_id)


def describe_recovery_point(call: Call) -> Reply:
    """Describe a recovery point of a vault."""
    return json_reply(call, _point(call, point_of(call, call.input["RecoveryPointArn"], vault_of(call))))


def _point(call: Call, point: Backup) -> Json:
    detail, days = point.detail, point.detail["days"]
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
        "CompletionDate": float(detail["done"]) if detail["done"] else None,
        "BackupSizeInBytes": point.bytes if detail["done"] else None,
        "Lifecycle": {"DeleteAfterDays": days} if days else None,
        "CalculatedLifecycle": {"DeleteAt": float(point.made + days * DAY)} if days else None,
    }
    return known(answer)


def list_recovery_points_by_backup_vault(call: Call) -> Reply:
    """List the recovery points of a vault."""
    vault = vault_of(call)
    found = (_point(call, each) for each in call.backups(POINTS) if each.detail["vault"] == vault)
    return listed(call, "RecoveryPoints", found)


def list_recovery_points_by_resource(call: Call) -> Reply:
    """List the recovery points of one file system, even if it no longer exists."""
    about = ("RecoveryPointArn", "CreationDate", "Status", "EncryptionKeyArn")
    kept = (*about, "BackupVaultName", "IsParent", "VaultType")

    def shown(point: Backup) -> Json:
        whole = _point(call, point)
        return known({name: whole[name] for name in kept} | {"BackupSizeBytes": whole.get("BackupSizeInBytes")})

    found = (each for each in call.backups(POINTS) if system_arn(call, each.of) == call.input["ResourceArn"])
    return listed(call, "RecoveryPoints", map(shown, found))


def get_recovery_point_restore_metadata(call: Call) -> Reply:
    """Return the file system's settings as the metadata of a restore."""
    point = point_of(call, call.input["RecoveryPointArn"], vault_of(call))
    system: ElasticFileSystem = point.detail["system"]
    metadata: Json = {
        "file-system-id": system.id,
        "Encrypted": str(system.encrypted).lower(),
        "PerformanceMode": system.performance,
        "newFileSystem": "false",
        "KmsKeyId": (system.kms_key or key_arn(call.region, call.account.id)) if system.encrypted else None,
        "singleAzFilesystem": "true" if system.one_zone else None,
        "availabilityZoneName": system.one_zone,
    }
    about = {"BackupVaultArn": vault_arn(call, point.detail["vault"]), "RecoveryPointArn": point.id}
    return json_reply(call, about | {"RestoreMetadata": known(metadata), "ResourceType": TYPE})


def delete_recovery_point(call: Call) -> Reply:
    """Start to delete a recovery point. The deletion takes `DELETION_SECONDS`."""
    vault = vault_of(call)
    point = point_of(call, call.input["RecoveryPointArn"], vault)
    guarded(vault, "backup:DeleteRecoveryPoint")
    _unlocked(call, vault)
    restoring = any(each.point == point.id and not each.ended for each in call.account.table("restore-jobs").values())
    if point.state != "COMPLETED" or restoring:
        raise AwsError("InvalidResourceStateException", f"{point.id} is {point.state}, or being restored.")
    call.account.put_backup(replace(point, state="DELETING"))
    call.account.after(DELETION_SECONDS, lambda: call.account.drop_backup(point.id))
    return json_reply(call, {})


def update_recovery_point_lifecycle(call: Call) -> Reply:
    """Set after how many days a recovery point is deleted. -1 means never."""
    vault = vault_of(call)
    point = point_of(call, call.input["RecoveryPointArn"], vault)
    _unlocked(call, vault)
    days = int(call.input.get("Lifecycle", {}).get("DeleteAfterDays", -1))
    changed = replace(point, detail={**point.detail, "days": None if days == -1 else days})
    call.account.put_backup(changed)
    call.account.after(0, lambda: expire(call.account, point.id))
    whole = _point(call, changed)
    names = ("BackupVaultArn", "RecoveryPointArn", "Lifecycle", "CalculatedLifecycle")
    return json_reply(call, {name: whole[name] for name in names if name in whole})


def list_tags(call: Call) -> Reply:
    """List the tags of a recovery point."""
    return json_reply(call, {"Tags": dict(point_of(call, call.input["ResourceArn"]).tags)})


def tag_resource(call: Call) -> Reply:
    """Add tags to a recovery point."""
    new = given_tags(call.input["Tags"])
    call.account.retag(point_of(call, call.input["ResourceArn"]).id, lambda tags: {**tags, **new})
    return json_reply(call, {})


def untag_resource(call: Call) -> Reply:
    """Remove tags from a recovery point."""
    call.account.untag(point_of(call, call.input["ResourceArn"]).id, *call.input["TagKeyList"])
    return json_reply(call, {})
