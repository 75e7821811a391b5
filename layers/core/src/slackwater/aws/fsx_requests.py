"""FSx for OpenZFS: what is asked of FSx to make again what was recorded, and what will not be as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.errors import code_of, reason
from slackwater.aws.inventory_fsx import CONFIGURATIONS
from slackwater.model.cleanup import ACT_AFTER, MARK

if TYPE_CHECKING:
    from slackwater.model.cleanup import Cleanup

RESTORED_FROM: Final = "slackwater:restored-from"
"""The tag of what was made again; its value is the id of the backup that it was made from. By it one is found whose making was
not answered."""

SETTLING: Final = frozenset({"CREATING", "PENDING", "UPDATING", "DELETING"})
"""Lifecycles that end by themselves."""

FINAL: Final = frozenset(
    {
        "ActiveDirectoryError",
        "BackupNotFound",
        "BadRequest",
        "IncompatibleParameterError",
        "InvalidNetworkSettings",
        "MissingFileSystemConfiguration",
        "MissingVolumeConfiguration",
        "ServiceLimitExceeded",
        "UnsupportedOperation",
    }
)
"""Errors by which FSx says that it will not make it: the same call says so again, until somebody mends what they name."""

ONLY_MULTI_AZ: Final = ("EndpointIpAddressRange", "EndpointIpv6AddressRange", "PreferredSubnetId", "RouteTableIds")


class LostError(Exception):
    """Something cannot be brought back as things are."""


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
        raise LostError(f"FSx will not make it: {reason(error)}") from error


def token(cleanup: Cleanup, what: str, given_up: str = "") -> str:
    """The same whenever a clean-up asks for the same again, of fewer than the 64 characters that FSx does not take."""
    own = "/".join(one.token for one in cleanup.backups)  # two installations have clean-ups of the same finding and attempt
    words = f"{cleanup.finding_id}/{cleanup.attempt}/{own}/{what}/{given_up}"
    return f"slackwater-{sha256(words.encode()).hexdigest()[:40]}"


def verified(cleanup: Cleanup) -> dict[str, str]:
    """Ids of verified backups, by the id of what they are of."""
    return {one.subject.id: one.id for one in cleanup.backups if one.state == "verified" and one.id}


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
    kept = {key: value for key, value in tags.items() if key not in {MARK, ACT_AFTER} and not key.startswith("aws:")}
    return [{"Key": key, "Value": value} for key, value in (kept | {RESTORED_FROM: backup}).items()]


def system_differences(recorded: Mapping[str, Any], was: str, made: Any) -> Iterator[str]:
    """What is not as it was where the file system itself was made again."""
    name, before = made.get("DNSName"), recorded["system"].get("DNSName")
    yield f"its id is {made['FileSystemId']}, not {was}: whatever names the old one has to be told"
    yield f"its DNS name is {name or 'another'}, not {before or was}, and so are its addresses: clients have to mount it anew"
    if not recorded["security_group_ids"]:
        yield "its security groups were not known: it has the VPC's default one"
    if lost := sorted(key for key in recorded["system"]["Tags"] if key.startswith("aws:")):
        yield f"it lacks the tags {', '.join(lost)} (AWS keeps names that begin with aws: to itself)"
    yield f"it has a tag {RESTORED_FROM}"
    yield "its volumes have other ids, and none of the snapshots that they had"
