"""FSx over JSON 1.1: file systems of OpenZFS made from backups, which takes its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from . import fsx
from .account import Account
from .ec2_query import hexadecimal
from .kms import usable
from .once import once
from .resources import Backup, FsxFileSystem
from .wire import AwsError, Call, Json, Reply, json_reply
from .writes_fsx import INCOMPATIBLE, TOKEN, given_tags, the_backup, the_system

CREATION_SECONDS: Final = 1_800
ZONES: Final = "abcdef"


def _network(call: Call, configuration: Json) -> dict[str, list[str]]:
    """Subnets and security groups, if there are such, and as many as the deployment needs."""
    subnets, groups = list(call.input.get("SubnetIds", ())), list(call.input.get("SecurityGroupIds", ()))
    multi = str(configuration["DeploymentType"]).startswith("MULTI_AZ")
    if len(subnets) != (2 if multi else 1):
        raise AwsError(
            "BadRequest", f"{configuration['DeploymentType']} needs {'two subnets' if multi else 'one subnet'}."
        )
    preferred = configuration.get("PreferredSubnetId")
    if (multi and preferred is None) or (preferred is not None and preferred not in subnets):
        raise AwsError("BadRequest", "PreferredSubnetId has to name one of the subnets.")
    known = fsx.zone_subnets(call.account.id, call.region, ZONES)
    for subnet in subnets:
        if subnet not in known:
            raise AwsError("InvalidNetworkSettings", f"The subnet {subnet} does not exist.")
    for group in groups:
        if not group.startswith("sg-"):
            raise AwsError("InvalidNetworkSettings", f"The security group {group} does not exist.")
    return {"subnets": sorted(subnets, key=lambda subnet: subnet != preferred), "groups": groups}


def _new(call: Call, storage_gib: int, configuration: Json, more: Mapping[str, Any]) -> FsxFileSystem:
    """A file system of OpenZFS that is being created."""
    throughput = configuration.get("ThroughputCapacity")
    if not throughput:
        raise AwsError("BadRequest", "ThroughputCapacity is needed.")
    disks = configuration.get("DiskIopsConfiguration", {})
    shown = {key: value for key, value in configuration.items() if key != "DiskIopsConfiguration"}
    system = FsxFileSystem(
        id=f"fs-{hexadecimal(f'made {call.account.id}/{call.account.number()}')}",
        region=call.region,
        created=call.account.now,
        kind="OPENZFS",
        deployment=str(configuration["DeploymentType"]),
        storage_gib=storage_gib,
        throughput=int(throughput),
        iops=disks.get("Iops") if disks.get("Mode") == "USER_PROVISIONED" else None,
        backup_days=int(configuration.get("AutomaticBackupRetentionDays", 30)),
        tags=given_tags(call.input.get("Tags")),
        phase="CREATING",
        detail={**_network(call, configuration), "kms": call.input.get("KmsKeyId"), "configuration": shown, **more},
    )
    call.account.put(system)
    call.account.fill(system.id, "")
    return system


def _described(call: Call, system_id: str) -> Reply:
    return json_reply(call, {"FileSystem": fsx.file_system(call, the_system(call, system_id))})


def _ready(account: Account, system_id: str) -> FsxFileSystem | None:
    system = account.find(system_id)
    if not isinstance(system, FsxFileSystem) or system.phase != "CREATING":
        return None
    account.put(replace(system, phase="AVAILABLE"))
    return system


def create_file_system_from_backup(call: Call) -> Reply:
    """An OpenZFS file system with what a backup holds; settings that are not given are those of what was backed up."""

    def make() -> str:
        backup = _usable(call)
        was: FsxFileSystem = backup.detail["system"]
        if was.kind != "OPENZFS":
            raise AwsError("BadRequest", "The simulator restores file systems of OpenZFS only.")
        for other in ("WindowsConfiguration", "LustreConfiguration"):
            if other in call.input:
                raise AwsError("BadRequest", f"{other} cannot be applied to a {was.kind} file system.")
        given: Json = call.input.get("OpenZFSConfiguration", {})
        kept = fsx.configuration(call, was)
        usual = {key: kept[key] for key in _INHERITED if key in kept}
        storage = int(call.input.get("StorageCapacity", was.storage_gib))
        if storage < was.storage_gib:
            raise AwsError("BadRequest", f"StorageCapacity has to be {was.storage_gib} GiB at least, as the backup's.")
        system = _new(call, storage, usual | given, {"backup": backup.id})
        call.account.put(replace(system, used=was.used * was.storage_gib / storage))
        call.account.after(CREATION_SECONDS, lambda: _restored(call.account, system.id, backup))
        return system.id

    return _described(call, once(call, TOKEN, INCOMPATIBLE, lambda made: call.account.find(made) is not None, make))


_INHERITED: Final = (
    *("AutomaticBackupRetentionDays", "CopyTagsToBackups", "CopyTagsToVolumes", "DailyAutomaticBackupStartTime"),
    *("DeploymentType", "ThroughputCapacity", "DiskIopsConfiguration", "WeeklyMaintenanceStartTime"),
)


def _usable(call: Call) -> Backup:
    backup = the_backup(call, call.input["BackupId"])
    if backup.detail["volume"]:
        raise AwsError("BadRequest", f"{backup.id} is not the backup of a file system.")
    if backup.state != "AVAILABLE":
        raise AwsError("BadRequest", f"{backup.id} is {backup.state}.")
    if not usable(call.account, fsx.backup(call, backup)["KmsKeyId"]):
        raise AwsError("BadRequest", f"The key of {backup.id} cannot be used.")
    return backup


def _restored(account: Account, system_id: str, backup: Backup) -> None:
    """The file system is there, with the volumes that it had, under other ids."""
    system = _ready(account, system_id)
    if system is None:
        return
    account.fill(system_id, backup.contents)
    was: FsxFileSystem = backup.detail["system"]
    renamed = {was.root_volume_id: system.root_volume_id}
    for volume in backup.detail["volumes"]:
        fresh = renamed.setdefault(volume.id, f"fsvol-{hexadecimal(f'made {account.id}/{account.number()}')}")
        parent = renamed.get(volume.parent) if volume.parent else None
        made = replace(volume, id=fresh, file_system_id=system_id, parent=parent, created=account.now, phase="")
        account.put(replace(made, activity=None, telemetry={}))
        account.fill(fresh, backup.detail["held"][volume.id])
