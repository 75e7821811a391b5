"""FSx for OpenZFS: what is asked of FSx to make again what was recorded, and what will not be as it was."""

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
"""Lifecycles that end by themselves."""

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
"""Errors by which FSx says that it will not make it: the same call says so again, until somebody mends what they name.
"""

ONLY_MULTI_AZ: Final = ("EndpointIpAddressRange", "EndpointIpv6AddressRange", "PreferredSubnetId", "RouteTableIds")


class LostError(Exception):
    """Something cannot be brought back as things are."""


class NoBackupError(LostError):
    """A backup is gone."""


def ask(call: Callable[..., Any], key: str, **parameters: Any) -> Any:
    """Ask FSx to make something; what it says of it.

    Raises:
        LostError: it will not.
    """
    try:
        return call(**parameters)[key]
    except ClientError as error:
        if code_of(error) not in FINAL:
            raise
        raise (NoBackupError if code_of(error) == NO_BACKUP else LostError)(
            f"FSx will not make it: {reason(error)}"
        ) from error


def token(cleanup: Cleanup, what: str, given_up: str = "") -> str:
    """The same whenever a clean-up asks for the same again, of fewer than the 64 characters that FSx does not take."""
    own = "/".join(
        one.token for one in cleanup.backups
    )  # two installations have clean-ups of the same finding and attempt
    words = f"{cleanup.finding_id}/{cleanup.attempt}/{own}/{what}/{given_up}"
    return f"slackwater-{sha256(words.encode()).hexdigest()[:40]}"


def verified(cleanup: Cleanup) -> tuple[str, ...]:
    """Ids of verified backups, the newest first: FSx's final one also holds what was written since the other."""
    return tuple(one.id for one in reversed(cleanup.backups) if one.state == "verified" and one.id)


def system_request(recorded: Mapping[str, Any], backup: str) -> dict[str, Any]:
    """What CreateFileSystemFromBackup takes beside the backup, to make the file system that it is of."""
    system = recorded["system"]
    kind = CONFIGURATIONS[system["FileSystemType"]]
    settings = dict(system[kind])
    if not settings.get("AutomaticBackupRetentionDays"):
        settings.pop("DailyAutomaticBackupStartTime", None)
    if settings.get("DiskIopsConfiguration", {}).get("Mode") == "AUTOMATIC":  # and then no number may be named
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
    """Tags as they were, without the mark and what AWS keeps to itself, and the one by which it is known again."""
    kept = {
        key: value for key, value in tags.items() if key not in {CLEANUP_TAG, ACT_AFTER} and not key.startswith("aws:")
    }
    return [{"Key": key, "Value": value} for key, value in (kept | {RESTORED_FROM: backup}).items()]


def data_differences(cleanup: Cleanup, of: str | None) -> Iterator[str]:
    """What of the data is not there, in a file system that was made from this backup; None where that is not known."""
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
    """Which volumes of a file system are not there again, or have other settings than the backup is to have kept."""
    now = {path_of(one): one.get("OpenZFSConfiguration", {}) for one in volumes}
    for path, was in recorded.get("volume_settings", {}).items():
        if path not in now:
            yield f"its volume {path} is not there"
        elif other := [
            words for name, words in VOLUME_SETTINGS.items() if (now[path].get(name) or None) != (was.get(name) or None)
        ]:
            yield f"its volume {path} has other settings than before: {', '.join(other)}"


def system_differences(recorded: Mapping[str, Any], was: str, made: Any) -> Iterator[str]:
    """What is not as it was where the file system itself was made again."""
    name, before = made.get("DNSName"), recorded["system"].get("DNSName")
    yield f"its id is {made['FileSystemId']}, not {was}: whatever names the old one has to be told"
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
