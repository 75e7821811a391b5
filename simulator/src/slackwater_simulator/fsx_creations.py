"""FSx over JSON 1.1: file systems, storage virtual machines and volumes made anew or from backups, which takes its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any, Final, Literal

from . import fsx
from .account import Account
from .ec2_query import hexadecimal
from .once import once
from .resources import GIB, MIB, Backup, FsxFileSystem, FsxVolume, StorageVirtualMachine
from .wire import AwsError, Call, Json, Operation, Reply, json_reply
from .writes_fsx import INCOMPATIBLE, TOKEN, given_tags, the_backup, the_machine, the_system, the_volume, volumes_of

CREATION_SECONDS: Final = 1_800
MACHINE_SECONDS: Final = 300
"""Of a storage virtual machine."""
ZONES: Final = "abcdef"


def _network(call: Call, configuration: Json) -> dict[str, list[str]]:
    """Subnets and security groups, if there are such, and as many as the deployment needs."""
    subnets, groups = list(call.input.get("SubnetIds", ())), list(call.input.get("SecurityGroupIds", ()))
    multi = str(configuration["DeploymentType"]).startswith("MULTI_AZ")
    if len(subnets) != (2 if multi else 1):
        raise AwsError("BadRequest", f"{configuration['DeploymentType']} needs {'two subnets' if multi else 'one subnet'}.")
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


def _new(
    call: Call, kind: Literal["OPENZFS", "ONTAP"], storage_gib: int, configuration: Json, more: Mapping[str, Any]
) -> FsxFileSystem:
    """A file system that is being created."""
    pairs = int(configuration.get("HAPairs", 1))
    throughput = configuration.get("ThroughputCapacity") or configuration.get("ThroughputCapacityPerHAPair", 0) * pairs
    if not throughput:
        raise AwsError("BadRequest", "ThroughputCapacity is needed.")
    disks = configuration.get("DiskIopsConfiguration", {})
    shown = {key: value for key, value in configuration.items() if key not in ("DiskIopsConfiguration", "FsxAdminPassword")}
    system = FsxFileSystem(
        id=f"fs-{hexadecimal(f'made {call.account.id}/{call.account.number()}')}",
        region=call.region,
        created=call.account.now,
        kind=kind,
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


def create_file_system(call: Call) -> Reply:
    """A new, empty file system: ONTAP's alone."""
    if call.input.get("FileSystemType") != "ONTAP":
        raise AwsError("BadRequest", "The simulator creates empty file systems of ONTAP only.")
    configuration: Json | None = call.input.get("OntapConfiguration")
    if configuration is None:
        raise AwsError("MissingFileSystemConfiguration", "OntapConfiguration is needed.")
    if ("ThroughputCapacity" in configuration) == ("ThroughputCapacityPerHAPair" in configuration):
        raise AwsError("BadRequest", "Either ThroughputCapacity or ThroughputCapacityPerHAPair is needed.")
    storage = int(call.input.get("StorageCapacity", 0))
    if storage < 1024:
        raise AwsError("BadRequest", "StorageCapacity has to be 1,024 GiB at least.")

    def make() -> str:
        system = _new(call, "ONTAP", storage, configuration, {})
        call.account.after(CREATION_SECONDS, lambda: _ready(call.account, system.id))
        return system.id

    return _described(call, once(call, TOKEN, INCOMPATIBLE, lambda made: call.account.find(made) is not None, make))


def _ready(account: Account, system_id: str) -> FsxFileSystem | None:
    system = account.find(system_id)
    if not isinstance(system, FsxFileSystem) or system.phase != "CREATING":
        return None
    account.put(replace(system, phase="AVAILABLE"))
    return system


def create_file_system_from_backup(call: Call) -> Reply:
    """An OpenZFS file system with what a backup holds; settings that are not given are those of what was backed up."""

    def make() -> str:
        backup = _usable(call, "FILE_SYSTEM")
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
        system = _new(call, "OPENZFS", storage, usual | given, {"backup": backup.id})
        call.account.put(replace(system, used=was.used * was.storage_gib / storage))
        call.account.after(CREATION_SECONDS, lambda: _restored(call.account, system.id, backup))
        return system.id

    return _described(call, once(call, TOKEN, INCOMPATIBLE, lambda made: call.account.find(made) is not None, make))


_INHERITED: Final = (
    *("AutomaticBackupRetentionDays", "CopyTagsToBackups", "CopyTagsToVolumes", "DailyAutomaticBackupStartTime"),
    *("DeploymentType", "ThroughputCapacity", "DiskIopsConfiguration", "WeeklyMaintenanceStartTime"),
)


def _usable(call: Call, of: str) -> Backup:
    backup = the_backup(call, call.input["BackupId"])
    if ("VOLUME" if backup.detail["volume"] else "FILE_SYSTEM") != of:
        raise AwsError("BadRequest", f"{backup.id} is not the backup of a {of.lower().replace('_', ' ')}.")
    if backup.state != "AVAILABLE":
        raise AwsError("BadRequest", f"{backup.id} is {backup.state}.")
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


def create_storage_virtual_machine(call: Call) -> Reply:
    """A storage virtual machine with its root volume."""

    def make() -> str:
        system = the_system(call, call.input["FileSystemId"])
        if system.kind != "ONTAP":
            raise AwsError("BadRequest", "Only ONTAP has storage virtual machines.")
        if system.phase != "AVAILABLE":
            raise AwsError("BadRequest", f"{system.id} is {system.phase}.")
        name = str(call.input["Name"])
        if any(svm.name == name for svm in call.account.fleet.svms if svm.file_system_id == system.id):
            raise AwsError("BadRequest", f"{system.id} has a storage virtual machine of the name {name}.")
        svm = StorageVirtualMachine(
            id=f"svm-{hexadecimal(f'made {call.account.id}/{call.account.number()}')}",
            file_system_id=system.id,
            region=call.region,
            created=call.account.now,
            name=name,
            tags=given_tags(call.input.get("Tags")),
            phase="CREATING",
            detail={"style": call.input.get("RootVolumeSecurityStyle", "UNIX")},
        )
        call.account.put(svm)
        call.account.after(MACHINE_SECONDS, lambda: _machine_ready(call.account, svm))
        return svm.id

    made = once(call, TOKEN, INCOMPATIBLE, lambda svm: call.account.find(svm) is not None, make)
    return json_reply(call, {"StorageVirtualMachine": fsx.storage_virtual_machine(call, the_machine(call, made))})


def _machine_ready(account: Account, svm: StorageVirtualMachine) -> None:
    there = account.find(svm.id)
    if not isinstance(there, StorageVirtualMachine) or there.phase != "CREATING":
        return
    account.put(replace(there, phase="CREATED"))
    account.put(
        FsxVolume(
            id=f"fsvol-{hexadecimal(f'root of {svm.id}')}",
            file_system_id=svm.file_system_id,
            region=svm.region,
            created=account.now,
            name=f"{svm.name}_root",
            kind="ONTAP",
            path="/",
            svm_id=svm.id,
            size_gib=1,
            detail={"root": True},
        )
    )


def create_volume_from_backup(call: Call) -> Reply:
    """A volume of ONTAP with what a backup holds."""

    def make() -> str:
        backup = _usable(call, "VOLUME")
        given: Json | None = call.input.get("OntapConfiguration")
        if given is None:
            raise AwsError("MissingVolumeConfiguration", "OntapConfiguration is needed.")
        svm = the_machine(call, given["StorageVirtualMachineId"])
        if svm.phase != "CREATED":
            raise AwsError("BadRequest", f"{svm.id} is {svm.phase}.")
        size = int(given.get("SizeInBytes") or given.get("SizeInMegabytes", 0) * MIB)
        path = str(given.get("JunctionPath", ""))
        if not size or not path.startswith("/"):
            raise AwsError("BadRequest", "SizeInBytes and a JunctionPath that begins with / are needed.")
        name = str(call.input["Name"])
        for each in volumes_of(call.account, svm.file_system_id):
            if each.svm_id == svm.id and (each.name == name or each.path == path):
                raise AwsError("BadRequest", f"{svm.id} has a volume {each.name} on {each.path}.")
        volume = FsxVolume(
            id=f"fsvol-{hexadecimal(f'made {call.account.id}/{call.account.number()}')}",
            file_system_id=svm.file_system_id,
            region=call.region,
            created=call.account.now,
            name=name,
            kind="ONTAP",
            path=path,
            svm_id=svm.id,
            ontap_type=str(given.get("OntapVolumeType", "RW")),
            size_gib=ceil(size / GIB),
            tags=given_tags(call.input.get("Tags")),
            phase="CREATING",
            detail={"configuration": {**given, "SizeInBytes": size, "SizeInMegabytes": size // MIB}, "backup": backup.id},
        )
        call.account.put(volume)
        call.account.fill(volume.id, "")
        call.account.after(CREATION_SECONDS, lambda: _volume_ready(call.account, volume.id, backup))
        return volume.id

    made = once(call, TOKEN, INCOMPATIBLE, lambda volume: call.account.find(volume) is not None, make)
    return json_reply(call, {"Volume": fsx.volume(call, the_volume(call, made))})


def _volume_ready(account: Account, volume_id: str, backup: Backup) -> None:
    volume = account.find(volume_id)
    if isinstance(volume, FsxVolume) and volume.phase == "CREATING":
        account.put(replace(volume, phase=""))
        account.fill(volume_id, backup.contents)


OPERATIONS: dict[str, Operation] = {
    "CreateFileSystem": create_file_system,
    "CreateFileSystemFromBackup": create_file_system_from_backup,
    "CreateStorageVirtualMachine": create_storage_virtual_machine,
    "CreateVolumeFromBackup": create_volume_from_backup,
}
"""Of FSx, those that create."""
