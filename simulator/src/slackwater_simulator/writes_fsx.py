"""Serve FSx over JSON 1.1: tags, backups, deletions and restores. All but tags take time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from . import fsx
from .account import Account
from .ec2_query import hexadecimal
from .kms import usable
from .resources import GIB, Backup, FsxFileSystem, FsxVolume
from .wire import AwsError, Call, Json, Reply, json_reply, once

BACKUP_SECONDS: Final = 900
DELETION_SECONDS: Final = 600
CREATION_SECONDS: Final = 1_800
ZONES: Final = "abcdef"
TAGS: Final = 50
"""The maximum number of tags of a resource."""
TOKEN: Final = "ClientRequestToken"  # noqa: S105 -- a name
INCOMPATIBLE: Final = "IncompatibleParameterError"
_INHERITED: Final = (
    *("AutomaticBackupRetentionDays", "CopyTagsToBackups", "CopyTagsToVolumes", "DailyAutomaticBackupStartTime"),
    *("DeploymentType", "ThroughputCapacity", "DiskIopsConfiguration", "WeeklyMaintenanceStartTime"),
)
"""Settings that a restored file system inherits from the one that was backed up."""
WITH_CHILDREN: Final = "DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"


def given_tags(tags: list[Json] | None) -> dict[str, str]:
    """Return a call's tags, if AWS accepts them."""
    found = {str(tag["Key"]): str(tag.get("Value", "")) for tag in tags or ()}
    if len(found) > TAGS or any(key.startswith("aws:") for key in found):
        raise AwsError("BadRequest", f"No more than {TAGS} tags, and none that begins with aws:.")
    return found


def the_system(call: Call, system_id: object) -> FsxFileSystem:
    """Return a file system of the call's Region."""
    found = call.find(FsxFileSystem, system_id)
    if found is None:
        raise AwsError("FileSystemNotFound", f"File system '{system_id}' does not exist.")
    return found


def the_backup(call: Call, backup_id: object) -> Backup:
    """Return a backup of the call's Region."""
    found = call.backup(fsx.BACKUPS, backup_id)
    if found is None:
        raise AwsError("BackupNotFound", f"Backup '{backup_id}' does not exist.")
    return found


def _only(call: Call, system: FsxFileSystem, cannot: str) -> None:
    """Raise an error if the call has settings of another type of file system."""
    for kind, member in fsx.CONFIGURATIONS.items():
        if member in call.input and kind != system.kind:
            raise AwsError("BadRequest", f"{member} {cannot} a {system.kind} file system.")


def volumes_of(account: Account, system_id: str) -> list[FsxVolume]:
    """Return the volumes of a file system, including those that are being deleted."""
    return [volume for volume in account.fleet.fsx_volumes if volume.file_system_id == system_id]


def tag_resource(call: Call) -> Reply:
    """Add tags to any resource with an FSx ARN."""
    item, new = fsx.by_arn(call), given_tags(call.input["Tags"])
    if len({**item.tags, **new}) > TAGS:
        raise AwsError("BadRequest", f"A resource carries no more than {TAGS} tags.")
    call.account.retag(item.id, lambda tags: {**tags, **new})
    return json_reply(call, {})


def untag_resource(call: Call) -> Reply:
    """Remove tags. Missing keys are no error."""
    call.account.untag(fsx.by_arn(call).id, *call.input["TagKeys"])
    return json_reply(call, {})


# --- Backups ----------------------------------------------------------------------------------------------------------


def create_backup(call: Call) -> Reply:
    """Back up a file system or an ONTAP volume. The backup has the present data."""

    def make() -> str:
        subject = _subject(call)
        if any(each.of == subject.id and each.state == "CREATING" for each in call.backups(fsx.BACKUPS)):
            raise AwsError("BackupInProgress", f"Another backup of {subject.id} is under way.")
        return back_up(call.account, subject, given_tags(call.input.get("Tags")))

    made = once(call, TOKEN, INCOMPATIBLE, lambda backup: call.backup(fsx.BACKUPS, backup) is not None, make)
    return json_reply(call, {"Backup": fsx.backup(call, the_backup(call, made))})


def _subject(call: Call) -> FsxFileSystem | FsxVolume:
    if ("FileSystemId" in call.input) == ("VolumeId" in call.input):
        raise AwsError("BadRequest", "Either FileSystemId or VolumeId is needed.")
    if "VolumeId" in call.input:
        volume = call.find(FsxVolume, call.input["VolumeId"])
        if volume is None:
            raise AwsError("VolumeNotFound", f"Volume '{call.input['VolumeId']}' does not exist.")
        if volume.kind != "ONTAP" or volume.ontap_type != "RW" or fsx.is_svm_root(volume):
            raise AwsError("BadRequest", f"{volume.id} is no volume that can be backed up by itself.")
        _at_rest(volume.id, volume.phase or "CREATED")
        return volume
    system = the_system(call, call.input["FileSystemId"])
    if system.kind == "ONTAP":
        raise AwsError("BadRequest", "Of ONTAP, volumes are backed up, each by itself.")
    if system.deployment.startswith("SCRATCH"):
        raise AwsError("BadRequest", "Scratch file systems cannot be backed up.")
    _at_rest(system.id, system.phase)
    return system


def _at_rest(resource_id: str, phase: str) -> None:
    if phase not in ("AVAILABLE", "CREATED"):
        raise AwsError("BadRequest", f"{resource_id} is {phase}.")


def back_up(
    account: Account,
    subject: FsxFileSystem | FsxVolume,
    tags: Mapping[str, str],
    kind: str = "USER_INITIATED",
    *,
    final: bool = False,
) -> str:
    """Start a backup and return its id. Only a `final` backup completes if its resource is deleted meanwhile."""
    volume = subject if isinstance(subject, FsxVolume) else None
    system = account.find(volume.file_system_id if volume else subject.id)
    assert isinstance(system, FsxFileSystem)  # a volume is deleted with its file system
    volumes = [] if volume else [each for each in volumes_of(account, system.id) if each.phase != "DELETING"]
    backup = Backup(
        id=f"backup-{hexadecimal(f'{subject.id}/{account.number()}')}",
        kind=fsx.BACKUPS,
        of=subject.id,
        region=subject.region,
        made=account.now,
        state="CREATING",
        tags=tags or (subject.tags if _copies_tags(system, volume) else {}),
        contents=account.contents(subject.id),
        detail={
            "type": kind,
            "system": system,
            "volume": volume,
            "volumes": tuple(volumes),
            "held": {each.id: account.contents(each.id) for each in volumes},
        },
    )
    account.put_backup(backup)
    whole = fsx.bytes_of(volume) if volume else system.storage_gib * GIB

    def finish() -> None:
        begun = account.backup(backup.id)
        if begun is None or begun.state != "CREATING":
            return
        if final or account.exists(subject.id):
            account.put_backup(replace(begun, state="AVAILABLE", bytes=int(whole * system.used)))
        else:
            fail_backup(account, backup.id, f"{subject.id} was deleted while it was backed up.")

    account.after(BACKUP_SECONDS, finish)
    return backup.id


def _copies_tags(system: FsxFileSystem, volume: FsxVolume | None) -> bool:
    """Return CopyTagsToBackups, as describe calls show it."""
    given = (volume or system).detail.get("configuration", {})
    return bool(given.get("CopyTagsToBackups", volume is None and system.kind == "OPENZFS"))


def fail_backup(account: Account, backup_id: str, why: str = "The backup failed.") -> None:
    """Fail a backup that is in progress."""
    if backup := account.backup(backup_id):
        account.put_backup(replace(backup, state="FAILED", detail={**backup.detail, "why": why}))


def automatic_backup(account: Account, system_id: str) -> str:
    """Make one of FSx's daily backups, which are deleted with their file system. Return its id."""
    with account.lock:
        system = account.find(system_id)
        if not isinstance(system, FsxFileSystem):
            raise KeyError(system_id)
        return back_up(account, system, system.tags, "AUTOMATIC")


def delete_backup(call: Call) -> Reply:
    """Delete a backup at once, unless it is being made or restored."""
    backup = the_backup(call, call.input["BackupId"])
    if backup.state == "CREATING":
        raise AwsError("BackupInProgress", f"{backup.id} is being made.")
    if any(each.phase == "CREATING" and each.detail.get("backup") == backup.id for each in call.account.fleet.fsx):
        raise AwsError("BackupRestoring", f"{backup.id} is being restored.")
    call.account.drop_backup(backup.id)
    return json_reply(call, {"BackupId": backup.id, "Lifecycle": "DELETED"})


def delete_file_system(call: Call) -> Reply:
    """Delete a file system, its volumes and its automatic backups. Other backups stay."""
    system = the_system(call, call.input["FileSystemId"])
    member = fsx.CONFIGURATIONS[system.kind]
    _only(call, system, "cannot be applied to delete")
    options: Json = call.input.get(member, {})
    answer: Json = {"FileSystemId": system.id, "Lifecycle": "DELETING"}

    def go() -> str:
        _may_go(call, system, options)
        if not options.get("SkipFinalBackup", system.kind in ("ONTAP", "LUSTRE")):
            tags = given_tags(options.get("FinalBackupTags"))
            final = back_up(call.account, system, tags, final=True)
            call.account.keep("final-backups", system.id, final)
        for volume in volumes_of(call.account, system.id):
            call.account.put(replace(volume, phase="DELETING"))
        call.account.put(replace(system, phase="DELETING"))
        call.account.after(DELETION_SECONDS, lambda: _gone(call.account, system.id))
        return system.id

    once(call, TOKEN, INCOMPATIBLE, lambda _: True, go)
    if final := call.account.table("final-backups").get(system.id):
        answer[member.replace("Configuration", "Response")] = {"FinalBackupId": final}
    return json_reply(call, answer)


def _may_go(call: Call, system: FsxFileSystem, options: Json) -> None:
    if system.phase not in ("AVAILABLE", "FAILED", "MISCONFIGURED"):
        raise AwsError("BadRequest", f"A file system that is {system.phase} cannot be deleted.")
    volumes = volumes_of(call.account, system.id)
    if system.kind == "ONTAP":
        machines = [svm.id for svm in call.account.fleet.svms if svm.file_system_id == system.id]
        if machines or volumes:
            left = ", ".join([*machines, *(volume.id for volume in volumes)])
            raise AwsError("BadRequest", f"The file system has storage virtual machines and volumes: {left}.")
    children = [volume.id for volume in volumes if volume.id != system.root_volume_id]
    if system.kind == "OPENZFS" and children and WITH_CHILDREN not in options.get("Options", ()):
        raise AwsError("BadRequest", f"The file system has child volumes: {', '.join(children)}.")


def _gone(account: Account, system_id: str) -> None:
    for volume in volumes_of(account, system_id):
        account.remove(volume.id)
    for backup in account.backups():
        held = backup.detail if backup.kind == fsx.BACKUPS else {}
        if held and held["type"] == "AUTOMATIC" and held["system"].id == system_id:
            account.drop_backup(backup.id)
    account.remove(system_id)


# --- File systems made from backups -----------------------------------------------------------------------------------


def _network(call: Call, configuration: Json) -> dict[str, list[str]]:
    """Return subnets and security groups. Check that they exist and fit the deployment."""
    subnets, groups = list(call.input.get("SubnetIds", ())), list(call.input.get("SecurityGroupIds", ()))
    multi = str(configuration["DeploymentType"]).startswith("MULTI_AZ")
    if len(subnets) != (2 if multi else 1):
        needed = "two subnets" if multi else "one subnet"
        raise AwsError("BadRequest", f"{configuration['DeploymentType']} needs {needed}.")
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


def _new(call: Call, backup: Backup) -> FsxFileSystem:
    """Return a file system in creation. Missing settings are those of the backed-up file system."""
    was: FsxFileSystem = backup.detail["system"]
    if was.kind != "OPENZFS":
        raise AwsError("BadRequest", "The simulator restores file systems of OpenZFS only.")
    _only(call, was, "cannot be applied to")
    kept = fsx.configuration(call, was)
    configuration: Json = {key: kept[key] for key in _INHERITED if key in kept}
    configuration |= call.input.get("OpenZFSConfiguration", {})
    storage = int(call.input.get("StorageCapacity", was.storage_gib))
    if storage < was.storage_gib:
        raise AwsError("BadRequest", f"StorageCapacity has to be {was.storage_gib} GiB at least, as the backup's.")
    disks = configuration.pop("DiskIopsConfiguration", {})
    more = {"kms": call.input.get("KmsKeyId"), "configuration": configuration, "backup": backup.id}
    return FsxFileSystem(
        id=f"fs-{hexadecimal(f'made {call.account.id}/{call.account.number()}')}",
        region=call.region,
        created=call.account.now,
        kind="OPENZFS",
        deployment=str(configuration["DeploymentType"]),
        storage_gib=storage,
        throughput=int(configuration["ThroughputCapacity"]),
        iops=disks.get("Iops") if disks.get("Mode") == "USER_PROVISIONED" else None,
        used=was.used * was.storage_gib / storage,
        backup_days=int(configuration["AutomaticBackupRetentionDays"]),
        tags=given_tags(call.input.get("Tags")),
        phase="CREATING",
        detail={**_network(call, configuration), **more},
    )


def create_file_system_from_backup(call: Call) -> Reply:
    """Create an OpenZFS file system from a backup."""

    def make() -> str:
        account, backup = call.account, _usable(call)
        system = _new(call, backup)
        account.put(system)
        account.fill(system.id, "")
        account.after(CREATION_SECONDS, lambda: _restored(account, system.id, backup))
        return system.id

    made = once(call, TOKEN, INCOMPATIBLE, lambda made: call.account.find(made) is not None, make)
    return json_reply(call, {"FileSystem": fsx.file_system(call, the_system(call, made))})


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
    """Make the file system available, with the original volumes under new ids."""
    system = account.find(system_id)
    if not isinstance(system, FsxFileSystem) or system.phase != "CREATING":
        return
    account.put(replace(system, phase="AVAILABLE"))
    account.fill(system_id, backup.contents)
    was: FsxFileSystem = backup.detail["system"]
    renamed = {was.root_volume_id: system.root_volume_id}
    for volume in backup.detail["volumes"]:
        fresh = renamed.setdefault(volume.id, f"fsvol-{hexadecimal(f'made {account.id}/{account.number()}')}")
        parent = renamed.get(volume.parent) if volume.parent else None
        made = replace(volume, id=fresh, file_system_id=system_id, parent=parent, created=account.now, phase="")
        account.put(replace(made, activity=None, telemetry={}))
        account.fill(fresh, backup.detail["held"][volume.id])
