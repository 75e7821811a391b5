"""FSx for OpenZFS and ONTAP: what is asked of FSx to make again what was recorded, and what will not be as it was."""

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
"""The tag of what was made again; its value is the id of what it stands for. By it one is found whose making was
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
BUILT_IN: Final = ("default", "default-1weekly", "none")
"""Snapshot policies that every ONTAP file system has."""
COOLING: Final = ("AUTO", "SNAPSHOT_ONLY")
"""Tiering policies that take a cooling period."""


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
    words = f"{cleanup.finding_id}/{cleanup.attempt}/{what}/{given_up}"
    return f"slackwater-{sha256(words.encode()).hexdigest()[:40]}"


def verified(cleanup: Cleanup) -> dict[str, str]:
    """Ids of verified backups, by the id of what they are of."""
    return {one.subject.id: one.id for one in cleanup.backups if one.state == "verified" and one.id}


def system_request(recorded: Mapping[str, Any], id: str) -> dict[str, Any]:
    """What CreateFileSystem and CreateFileSystemFromBackup both take, to make the file system that had this id."""
    system = recorded["system"]
    kind = CONFIGURATIONS[system["FileSystemType"]]
    settings = dict(system[kind])
    if not settings.get("AutomaticBackupRetentionDays"):
        settings.pop("DailyAutomaticBackupStartTime", None)
    if settings.get("DiskIopsConfiguration", {}).get("Mode") == "AUTOMATIC":  # and then no number may be named
        settings["DiskIopsConfiguration"] = {"Mode": "AUTOMATIC"}
    if settings.get("ReadCacheConfiguration", {}).get("SizingMode") not in {None, "USER_PROVISIONED"}:
        settings["ReadCacheConfiguration"] = {"SizingMode": settings["ReadCacheConfiguration"]["SizingMode"]}
    if "ThroughputCapacityPerHAPair" in settings:  # one or the other
        settings.pop("ThroughputCapacity", None)
    if not settings.get("DeploymentType", "").startswith("MULTI_AZ"):
        for name in ONLY_MULTI_AZ:
            settings.pop(name, None)
    given = {name: system[name] for name in ("StorageType", "KmsKeyId", "NetworkType") if name in system}
    groups = recorded["security_group_ids"]
    return {
        "SubnetIds": system["SubnetIds"],
        **given,
        **({"SecurityGroupIds": groups} if groups else {}),
        "Tags": tags_request(system["Tags"], id),
        kind: settings,
    }


def machine_request(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What CreateStorageVirtualMachine takes beside its file system."""
    style = {"RootVolumeSecurityStyle": machine["RootVolumeSecurityStyle"]} if "RootVolumeSecurityStyle" in machine else {}
    return {"Name": machine["Name"], **style, "Tags": tags_request(machine["Tags"], machine["StorageVirtualMachineId"])}


def volume_request(volume: Mapping[str, Any], machine_id: str, *, anew: bool) -> dict[str, Any]:
    """What CreateVolumeFromBackup takes beside the backup; `anew` says that the file system is another one, too."""
    settings = volume["OntapConfiguration"] | {"StorageVirtualMachineId": machine_id, "OntapVolumeType": "RW"}
    if "SizeInBytes" in settings:
        settings.pop("SizeInMegabytes", None)
    if anew and settings.get("SnapshotPolicy", "none") not in BUILT_IN:
        settings["SnapshotPolicy"] = "default"
    tiering = settings.get("TieringPolicy", {})
    if tiering.get("Name") not in {None, *COOLING}:
        settings["TieringPolicy"] = {"Name": tiering["Name"]}
    aggregates = settings.pop("AggregateConfiguration", {})
    if settings.get("VolumeStyle") == "FLEXGROUP" and aggregates.get("Aggregates"):
        names, all_of_them = aggregates["Aggregates"], aggregates.get("TotalConstituents")
        each = {"ConstituentsPerAggregate": all_of_them // len(names)} if all_of_them else {}
        settings["AggregateConfiguration"] = {"Aggregates": names, **each}
    return {"Name": volume["Name"], "OntapConfiguration": settings, "Tags": tags_request(volume["Tags"], volume["VolumeId"])}


def tags_request(tags: Mapping[str, str], stands_for: str) -> list[dict[str, str]]:
    """Tags as they were, without the mark and what AWS keeps to itself, and the one by which it is known again."""
    kept = {key: value for key, value in tags.items() if key not in {MARK, ACT_AFTER} and not key.startswith("aws:")}
    return [{"Key": key, "Value": value} for key, value in (kept | {RESTORED_FROM: stands_for}).items()]


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
    if recorded["system"]["FileSystemType"] == "OPENZFS":
        yield "its volumes have other ids, and none of the snapshots that they had"
    else:
        yield "its fsxadmin password has to be set anew"


def machine_differences(machine: Mapping[str, Any], made: str) -> Iterator[str]:
    """The same of a storage virtual machine."""
    name = machine["Name"]
    yield f"its storage virtual machine {name} is {made}, with other addresses, and without a password"
    if machine.get("joined"):
        yield f"{name} has not joined the Active Directory {machine['joined']}: that takes its credentials"
    yield f"what {name} was set to in ONTAP itself (shares, users, export policies, quotas, LUNs) is not there"


def volume_differences(volume: Mapping[str, Any], made: str, *, anew: bool) -> Iterator[str]:
    """The same of a volume of ONTAP's."""
    yield f"its volume {volume['Name']} is {made}, not {volume['VolumeId']}, and has none of the snapshots that it had"
    policy = volume["OntapConfiguration"].get("SnapshotPolicy", "none")
    if anew and policy not in BUILT_IN:
        yield f"{volume['Name']} has the snapshot policy default: {policy} was made in ONTAP itself"
