"""AWS Backup over rest-json: its paths and vaults, and what its jobs and recovery points share."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable
from typing import Final

from .account import Account
from .partitions import arn, global_arn
from .resources import Backup, instant
from .wire import AwsError, Call, Json, Reply, Route, json_reply, page_of

START_SECONDS: Final = 60
"""From a job's creation until it runs."""
DAY: Final = 86_400
AUTOMATIC: Final = "aws/efs/automatic-backup-vault"
VAULTS: Final = ("Default", "slackwater", AUTOMATIC)
"""In every Region. Nobody may delete from the last, or restore from it: so says its access policy."""
TYPE: Final = "EFS"
POINTS: Final = "recovery-point"

_VAULT = r"/backup-vaults/(?P<BackupVaultName>[^/]+)"
_POINT = _VAULT + r"/recovery-points/(?P<RecoveryPointArn>[^/]+)"
ROUTES: Final[tuple[Route, ...]] = tuple(
    (method, operation, re.compile(path))
    for method, operation, path in (
        ("PUT", "StartBackupJob", r"/backup-jobs"),
        ("GET", "ListBackupJobs", r"/backup-jobs"),
        ("GET", "DescribeBackupJob", r"/backup-jobs/(?P<BackupJobId>[^/]+)"),
        ("GET", "ListBackupVaults", r"/backup-vaults"),
        ("GET", "DescribeBackupVault", _VAULT),
        ("GET", "ListRecoveryPointsByBackupVault", _VAULT + "/recovery-points"),
        ("GET", "DescribeRecoveryPoint", _POINT),
        ("DELETE", "DeleteRecoveryPoint", _POINT),
        ("POST", "UpdateRecoveryPointLifecycle", _POINT),
        ("GET", "GetRecoveryPointRestoreMetadata", _POINT + "/restore-metadata"),
        ("GET", "ListRecoveryPointsByResource", r"/resources/(?P<ResourceArn>[^/]+)/recovery-points"),
        ("GET", "ListTags", r"/tags/(?P<ResourceArn>[^/]+)"),
        ("POST", "TagResource", r"/tags/(?P<ResourceArn>[^/]+)"),
        ("POST", "UntagResource", r"/untag/(?P<ResourceArn>[^/]+)"),
        ("PUT", "StartRestoreJob", r"/restore-jobs"),
        ("GET", "DescribeRestoreJob", r"/restore-jobs/(?P<RestoreJobId>[^/]+)"),
    )
)


def missing(call: Call, *names: str) -> None:
    """Refuse a call that leaves out what it needs."""
    for name in names:
        if not call.input.get(name):
            raise AwsError("MissingParameterValueException", f"{name} is needed.")


def invalid(why: str) -> AwsError:
    """An error in a parameter's value."""
    return AwsError("InvalidParameterValueException", why)


def absent(why: str) -> AwsError:
    """What a call names does not exist."""
    return AwsError("ResourceNotFoundException", why)


def identifier(account: Account) -> str:
    """A new id, as AWS Backup writes them."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{account.id}/{account.number()}")).upper()


def role_of(call: Call) -> str:
    """The role that AWS Backup is to take on."""
    missing(call, "IamRoleArn")
    role = str(call.input["IamRoleArn"])
    if not re.fullmatch(rf"{global_arn('iam', call.region, call.account.id, 'role/.+')}", role):
        raise invalid(f"Invalid role: {role}")
    return role


def system_arn(call: Call, system_id: str) -> str:
    """The ARN of an EFS file system."""
    return arn("elasticfilesystem", call.region, call.account.id, f"file-system/{system_id}")


def vault_arn(call: Call, vault: str) -> str:
    """The ARN of a vault."""
    return arn("backup", call.region, call.account.id, f"backup-vault:{vault}")


def vault_of(call: Call) -> str:
    """The vault that a call names."""
    missing(call, "BackupVaultName")
    vault = str(call.input["BackupVaultName"])
    if vault not in VAULTS:
        raise absent(f"Backup vault {vault} does not exist.")
    return vault


def points_in(call: Call) -> list[Backup]:
    """Recovery points of the call's Region, the oldest first."""
    return [each for each in call.account.backups() if each.kind == POINTS and each.region == call.region]


def point_of(call: Call, point_arn: object, vault: str | None = None) -> Backup:
    """A recovery point, in a vault or wherever it is."""
    for each in points_in(call):
        if each.id == point_arn and vault in (None, each.detail["vault"]):
            return each
    raise absent(f"Cannot find recovery point {point_arn}.")


def guarded(vault: str, action: str) -> None:
    """Refuse what the automatic vault's access policy denies to everybody."""
    if vault == AUTOMATIC:
        raise AwsError(
            "AccessDeniedException", f"Insufficient privileges to perform this action: {action} on {vault}.", 403
        )


def unlocked(call: Call, vault: str) -> None:
    """Refuse to change or delete what a Vault Lock protects."""
    if call.account.shelf("locked-vaults").get(vault):
        raise AwsError(
            "InvalidRequestException", f"Backup vault {vault} is locked: its recovery points cannot be changed."
        )


def expire(account: Account, point_id: str) -> None:
    """Delete a recovery point on its day, as its lifecycle says then; come again where that day is later now."""
    point = account.backup(point_id)
    if point is None or point.detail["days"] is None:
        return
    left = point.made + point.detail["days"] * DAY - account.now
    if left > 0:
        account.after(left, lambda: expire(account, point_id))
    else:
        account.drop_backup(point_id)


def paged[T](call: Call, name: str, found: Iterable[T], render: Callable[[T], Json]) -> Reply:
    """One page of a list."""
    size = int(call.input.get("maxResults", 1000))
    if not 1 <= size <= 1000:
        raise invalid("maxResults has to be between 1 and 1000.")
    return json_reply(call, page_of(call, name, list(found), render, size, "InvalidParameterValueException"))


def within(call: Call, moment: int) -> bool:
    """Whether something made at a moment is in the span that a call asks for."""
    after, before = call.input.get("createdAfter"), call.input.get("createdBefore")
    return (after is None or moment > instant(after)) and (before is None or moment < instant(before))


def known(call: Call, *names: str) -> None:
    """Refuse a filter that the simulator would not apply."""
    for name in call.input:
        if name[0].islower() and name not in ("maxResults", "nextToken", "createdAfter", "createdBefore", *names):
            raise invalid(f"The simulator does not know the filter {name}.")
