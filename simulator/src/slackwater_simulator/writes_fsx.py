"""FSx over JSON 1.1: tags, backups, and deletions. What was deleted takes its time to go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from . import fsx
from .account import Account
from .ec2_query import hexadecimal
from .once import once
from .resources import GIB, Backup, FsxFileSystem, FsxVolume, StorageVirtualMachine
from .wire import AwsError, Call, Json, Reply, json_reply

BACKUP_SECONDS: Final = 900
DELETION_SECONDS: Final = 600
TAGS: Final = 50
"""The most tags that a resource carries."""
TOKEN: Final = "ClientRequestToken"  # noqa: S105 -- a name
INCOMPATIBLE: Final = "IncompatibleParameterError"
WITH_CHILDREN: Final = "DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"


def given_tags(tags: list[Json] | None) -> dict[str, str]:
    """Tags as a call gives them."""
    found = {str(tag["Key"]): str(tag.get("Value", "")) for tag in tags or ()}
    if len(found) > TAGS or any(key.startswith("aws:") for key in found):
        raise AwsError("BadRequest", f"No more than {TAGS} tags, and none that begins with aws:.")
    return found


def the_system(call: Call, system_id: object) -> FsxFileSystem:
    """A file system of the call's Region."""
    found = call.account.find(str(system_id))
    if not isinstance(found, FsxFileSystem) or found.region != call.region:
        raise AwsError("FileSystemNotFound", f"File system '{system_id}' does not exist.")
    return found


def the_volume(call: Call, volume_id: object) -> FsxVolume:
    """A volume of the call's Region."""
    found = call.account.find(str(volume_id))
    if not isinstance(found, FsxVolume) or found.region != call.region:
        raise AwsError("VolumeNotFound", f"Volume '{volume_id}' does not exist.")
    return found


def the_backup(call: Call, backup_id: object) -> Backup:
    """A backup of the call's Region."""
    for each in fsx.backups_in(call):
        if each.id == backup_id:
            return each
    raise AwsError("BackupNotFound", f"Backup '{backup_id}' does not exist.")


def volumes_of(account: Account, system_id: str) -> list[FsxVolume]:
    """The volumes of a file system, those on their way out as well."""
    return [volume for volume in account.fleet.fsx_volumes if volume.file_system_id == system_id]


# --- Tags -------------------------------------------------------------------------------------------------------------


def tag_resource(call: Call) -> Reply:
    """Add tags to anything that FSx knows by an ARN."""
    item = fsx.by_arn(call)
    _retag(call, item, {**item.tags, **given_tags(call.input["Tags"])})
    return json_reply(call, {})


def untag_resource(call: Call) -> Reply:
    """Take tags off; those that are not there are fine."""
    item = fsx.by_arn(call)
    _retag(call, item, {key: value for key, value in item.tags.items() if key not in call.input["TagKeys"]})
    return json_reply(call, {})


def _retag(
    call: Call, item: FsxFileSystem | FsxVolume | StorageVirtualMachine | Backup, tags: Mapping[str, str]
) -> None:
    if len(tags) > TAGS:
        raise AwsError("BadRequest", f"A resource carries no more than {TAGS} tags.")
    if isinstance(item, Backup):
        call.account.put_backup(replace(item, tags=tags))
    else:
        call.account.put(replace(item, tags=tags))


# --- Backups ----------------------------------------------------------------------------------------------------------


def create_backup(call: Call) -> Reply:
    """Back up a file system, or one volume of ONTAP; what it holds is what is there now."""

    def make() -> str:
        subject = _subject(call)
        running = (each for each in fsx.backups_in(call) if each.of == subject.id and each.state == "CREATING")
        if next(running, None):
            raise AwsError("BackupInProgress", f"Another backup of {subject.id} is under way.")
        return back_up(call.account, subject, given_tags(call.input.get("Tags")))

    made = once(call, TOKEN, INCOMPATIBLE, lambda backup: any(backup == each.id for each in fsx.backups_in(call)), make)
    return json_reply(call, {"Backup": fsx.backup(call, the_backup(call, made))})


def _subject(call: Call) -> FsxFileSystem | FsxVolume:
    if ("FileSystemId" in call.input) == ("VolumeId" in call.input):
        raise AwsError("BadRequest", "Either FileSystemId or VolumeId is needed.")
    if "VolumeId" in call.input:
        volume = the_volume(call, call.input["VolumeId"])
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
    """Begin a backup; its id. A `final` one is finished although its subject goes, any other one fails then."""
    volume = subject if isinstance(subject, FsxVolume) else None
    system = account.find(volume.file_system_id if volume else subject.id)
    assert isinstance(system, FsxFileSystem)  # no volume outlives it
    volumes = [] if volume else [each for each in volumes_of(account, system.id) if each.phase != "DELETING"]
    backup = Backup(
        id=f"backup-{hexadecimal(f'{subject.id}/{account.number()}')}",
        kind="fsx-backup",
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
        begun = next((each for each in account.backups() if each.id == backup.id), None)
        if begun is None or begun.state != "CREATING":
            return
        if final or account.exists(subject.id):
            account.put_backup(replace(begun, state="AVAILABLE", bytes=int(whole * system.used)))
        else:
            fail_backup(account, backup.id, f"{subject.id} was deleted while it was backed up.")

    account.after(BACKUP_SECONDS, finish)
    return backup.id


def _copies_tags(system: FsxFileSystem, volume: FsxVolume | None) -> bool:
    """CopyTagsToBackups, as describe calls show it."""
    given = (volume or system).detail.get("configuration", {})
    return bool(given.get("CopyTagsToBackups", volume is None and system.kind == "OPENZFS"))


def fail_backup(account: Account, backup_id: str, why: str = "The backup failed.") -> None:
    """Let a backup that is under way fail."""
    backup = next(each for each in account.backups() if each.id == backup_id)
    account.put_backup(replace(backup, state="FAILED", detail={**backup.detail, "why": why}))


def automatic_backup(account: Account, system_id: str) -> str:
    """One of the backups that FSx makes every day, which go with their file system; its id."""
    with account.lock:
        system = account.find(system_id)
        if not isinstance(system, FsxFileSystem):
            raise KeyError(system_id)
        return back_up(account, system, system.tags, "AUTOMATIC")


def delete_backup(call: Call) -> Reply:
    """Gone at once, unless it is being made, or a file system is being made from it."""
    backup = the_backup(call, call.input["BackupId"])
    if backup.state == "CREATING":
        raise AwsError("BackupInProgress", f"{backup.id} is being made.")
    if any(each.phase == "CREATING" and each.detail.get("backup") == backup.id for each in call.account.fleet.fsx):
        raise AwsError("BackupRestoring", f"{backup.id} is being restored.")
    call.account.drop_backup(backup.id)
    return json_reply(call, {"BackupId": backup.id, "Lifecycle": "DELETED"})


# --- Deletions --------------------------------------------------------------------------------------------------------


def delete_file_system(call: Call) -> Reply:
    """Remove a file system, its volumes and its automatic backups; other backups stay."""
    system = the_system(call, call.input["FileSystemId"])
    member = fsx.CONFIGURATIONS[system.kind]
    others = [
        name for name in ("OpenZFSConfiguration", "WindowsConfiguration", "LustreConfiguration") if name != member
    ]
    for other in others:
        if other in call.input:
            raise AwsError("BadRequest", f"{other} cannot be applied to delete a {system.kind} file system.")
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
    if final := call.account.shelf("final-backups").get(system.id):
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
        if (
            backup.kind == "fsx-backup"
            and backup.detail["type"] == "AUTOMATIC"
            and backup.detail["system"].id == system_id
        ):
            account.drop_backup(backup.id)
    account.remove(system_id)
