"""The requests that restore an FSx for OpenZFS file system from its record, and the differences that remain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.fsx.record import VOLUME_SETTINGS
from slackwater.aws.cleanup.fsx.sub_resources import path_of
from slackwater.aws.client.errors import code_of, reason
from slackwater.aws.inventory.fsx import CONFIGURATIONS
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM

if TYPE_CHECKING:
    from slackwater.model.cleanup import Cleanup

SETTLING: Final = frozenset({"CREATING", "PENDING", "UPDATING", "DELETING"})
"""Lifecycles that end without any action."""

NO_BACKUP: Final = "BackupNotFound"
FINAL: Final = frozenset(
    {
        "ActiveDirectoryError",
        NO_BACKUP,
        "BadRequest",
        "IncompatibleParameterError",
        "InvalidNetworkSettings",
        "MissingFileSystemConfiguration",
        "MissingVolumeConfiguration",
        "ServiceLimitExceeded",
        "UnsupportedOperation",
    }
)
"""Errors with which FSx refuses to create it. The same call fails again until someone fixes the cause."""

ONLY_MULTI_AZ: Final = ("EndpointIpAddressRange", "EndpointIpv6AddressRange", "PreferredSubnetId", "RouteTableIds")


class CannotRestoreError(Exception):
    """A resource cannot be restored in the current situation."""


class NoBackupError(CannotRestoreError):
    """A backup does not exist any more."""


def ask(call: Callable[..., Any], key: str, **parameters: Any) -> Any:
    """Ask FSx to create a resource, and return FSx's description of it.

    Raises:
        CannotRestoreError: FSx refuses it.
    """
    try:
        return call(**parameters)[key]
    except ClientError as error:
        if code_of(error) not in FINAL:
            raise
        raise (NoBackupError if code_of(error) == NO_BACKUP else CannotRestoreError)(
            f"FSx will not make it: {reason(error)}"
        ) from error


def token(cleanup: Cleanup, what: str, given_up: str = "") -> str:
    """Return the idempotency token of a request, the same for each repeat. FSx accepts 63 characters at most."""
    own = "/".join(
        one.token for one in cleanup.backups
    )  # two installations can have clean-ups of the same finding and attempt
    words = f"{cleanup.finding_id}/{cleanup.attempt}/{own}/{what}/{given_up}"
    return f"slackwater-{sha256(words.encode()).hexdigest()[:40]}"


def verified(cleanup: Cleanup) -> tuple[str, ...]:
    """Return the ids of verified backups, the newest first.

    FSx's final backup also has what was written after the other one.
    """
    return tuple(one.id for one in reversed(cleanup.backups) if one.state == "verified" and one.id)


def system_request(recorded: Mapping[str, Any], backup: str) -> dict[str, Any]:
    """Return the parameters of CreateFileSystemFromBackup, except the backup."""
    system = recorded["system"]
    kind = CONFIGURATIONS[system["FileSystemType"]]
    settings = dict(system[kind])
    if not settings.get("AutomaticBackupRetentionDays"):
        settings.pop("DailyAutomaticBackupStartTime", None)
    if settings.get("DiskIopsConfiguration", {}).get("Mode") == "AUTOMATIC":  # FSx accepts no number with it
        settings["DiskIopsConfiguration"] = {"Mode": "AUTOMATIC"}
    if settings.get("ReadCacheConfiguration", {}).get("SizingMode") not in {None, "USER_PROVISIONED"}:
        settings["ReadCacheConfiguration"] = {"SizingMode": settings["ReadCacheConfiguration"]["SizingMode"]}
    if not settings.get("DeploymentType", "").startswith("MULTI_AZ"):
        for name in ONLY_MULTI_AZ:
            settings.pop(name, None)
    given = {name: system[name] for name in ("StorageType", "KmsKeyId", "NetworkType") if name in system}
    groups = recorded["security_group_ids"]
    return {
        "SubnetIds": system["SubnetIds"],
        **given,
        **({"SecurityGroupIds": groups} if groups else {}),
        "Tags": tags_request(system["Tags"], backup),
        kind: settings,
    }


def tags_request(tags: Mapping[str, str], backup: str) -> list[dict[str, str]]:
    """Return the old tags and the tag RESTORED_FROM, without Slackwater's clean-up tags and AWS's own."""
    kept = {
        key: value for key, value in tags.items() if key not in {CLEANUP_TAG, ACT_AFTER} and not key.startswith("aws:")
    }
    return [{"Key": key, "Value": value} for key, value in (kept | {RESTORED_FROM: backup}).items()]


def data_differences(cleanup: Cleanup, of: str | None) -> Iterator[str]:
    """Yield which data a file system lacks that was created from the backup `of`; None means an unknown backup."""
    since = min(one.asked_at for one in cleanup.prior_backups)
    lost = f"what was written to it since {since:%Y-%m-%d %H:%M} UTC is not there"
    final = next((one for one in cleanup.backups if one.final), None)
    if final and final.state == "failed":
        yield f"{lost}: FSx's final backup failed ({final.why or 'FSx does not say why'})"
    elif final and final.state != "verified":
        yield f"{lost}: whether FSx's final backup succeeded is not known"
    elif final and of not in {None, final.id}:
        yield f"{lost}: FSx's final backup {final.id} is deleted, and it was made from {of}"


def volume_differences(recorded: Mapping[str, Any], volumes: Iterable[Any]) -> Iterator[str]:
    """Yield the volumes that are missing, or whose settings differ from the recorded ones."""
    now = {path_of(one): one.get("OpenZFSConfiguration", {}) for one in volumes}
    for path, was in recorded.get("volume_settings", {}).items():
        if path not in now:
            yield f"its volume {path} is not there"
        elif other := [
            words for name, words in VOLUME_SETTINGS.items() if (now[path].get(name) or None) != (was.get(name) or None)
        ]:
            yield f"its volume {path} has other settings than before: {', '.join(other)}"


def system_differences(recorded: Mapping[str, Any], was: str, made: Any) -> Iterator[str]:
    """Yield what differs in a file system that was created again."""
    name, before = made.get("DNSName"), recorded["system"].get("DNSName")
    yield f"its id is {made['FileSystemId']}, not {was}: change everything that refers to the old id"
    yield (
        f"its DNS name is {name or 'another'}, not {before or was}, and so are its addresses: clients have to mount it "
        "anew"
    )
    if not recorded["security_group_ids"]:
        yield "its security groups were not known: it has the VPC's default one"
    if lost := sorted(key for key in recorded["system"]["Tags"] if key.startswith("aws:")):
        yield f"it lacks the tags {', '.join(lost)} (AWS keeps names that begin with aws: to itself)"
    yield f"it has a tag {RESTORED_FROM}"
    yield "its volumes have other ids, and none of the snapshots that they had"
