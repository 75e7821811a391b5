"""Serve EFS's create, change and delete operations."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from . import efs
from .ec2_query import hexadecimal, key_arn
from .partitions import arn
from .resources import AccessPoint, ElasticFileSystem, MountTarget, Tags
from .series import DAY
from .wire import AwsError, Call, Reply, json_reply

REMOVAL_S, TARGET_REMOVAL_S, POINT_REMOVAL_S = 30, 90, 5
CREATION_S, TARGET_CREATION_S, POINT_CREATION_S, UPDATE_S = 5, 90, 5, 30
GROUPS = 5
"""The maximum number of security groups of one mount target."""
_LEAST_MIBPS = 1.0
_CHANGED = "efs-throughput-changed"
"""Name of the table: when a file system's throughput was last set to an amount, epoch seconds."""

_SUBNETS = "efs-subnets"
"""Name of the table: the zones of subnets that mount targets were in."""


def _empty(status: int = 200) -> Reply:
    return Reply(b"", "application/json", status)


def _bad(message: str) -> AwsError:
    return AwsError("BadRequest", message, 400)


def _usable(call: Call) -> ElasticFileSystem:
    """Return the file system, or raise an error if it is not available."""
    system = efs.find(call)
    if system.phase != "available":
        raise AwsError("IncorrectFileSystemLifeCycleState", f"File system '{system.id}' is {system.phase}.", 409)
    return system


def _checked(tags: Tags) -> Tags:
    for key in tags:
        if not key or len(key) > 128 or key.lower().startswith("aws:"):
            raise _bad(f"'{key}' is not a valid tag key.")
    return tags


def _tags(call: Call) -> Tags:
    return {str(each["Key"]): str(each["Value"]) for each in call.input.get("Tags") or ()}


def tag_resource(call: Call) -> Reply:
    """Add tags to a file system or an access point."""
    new = _checked(_tags(call))
    call.account.retag(efs.tagged(call).id, lambda tags: {**tags, **new})
    return _empty()


def untag_resource(call: Call) -> Reply:
    """Remove tags by key. Missing keys are no error."""
    keys = call.input["TagKeys"]
    call.account.untag(efs.tagged(call).id, *([keys] if isinstance(keys, str) else keys))
    return _empty()


# --- File systems -----------------------------------------------------------------------------------------------------


def create_file_system(call: Call) -> Reply:
    """Create an empty file system: creating, then available. Its creation token must be unique."""
    account, creation_token = call.account, str(call.input["CreationToken"])
    for each in call.all(ElasticFileSystem):
        if efs.creation_token(each) == creation_token:
            why = f"'{each.id}' exists with this creation token."
            raise AwsError("FileSystemAlreadyExists", why, 409, FileSystemId=each.id)
    zone = call.input.get("AvailabilityZoneName")
    if zone is not None and zone[:-1] != call.region:
        raise AwsError("UnsupportedAvailabilityZone", f"There is no zone {zone}.", 400)
    mode, provisioned = _throughput(call, None)
    encrypted, key = bool(call.input.get("Encrypted", False)), call.input.get("KmsKeyId")
    if key and not encrypted:
        raise _bad("KmsKeyId needs Encrypted.")
    if key and not key.startswith("arn:"):
        key = arn("kms", call.region, account.id, f"key/{key}")
    system = ElasticFileSystem(
        id=f"fs-{hexadecimal(f'{account.id}/{account.number()}')}",
        region=call.region,
        created=account.now,
        one_zone=zone,
        mode=mode,
        provisioned_mibps=provisioned,
        voice="dark",
        tags=_checked(_tags(call)),
        backup=bool(call.input.get("Backup", zone is not None)),
        phase="creating",
        token=creation_token,
        performance=str(call.input.get("PerformanceMode", "generalPurpose")),
        encrypted=encrypted,
        kms_key=str(key or (key_arn(call.region, account.id) if encrypted else "")),
    )
    account.put(system)
    account.fill(system.id, "")
    account.after(CREATION_S, lambda: _becomes(call, system.id, "creating", phase="available"))
    return json_reply(call, efs.system_json(call, system), 201)


def _becomes(call: Call, system_id: str, before: str, **parts: Any) -> None:
    """Move a file system to the next phase, unless its phase has changed since."""
    system = call.account.find(system_id)
    if isinstance(system, ElasticFileSystem) and system.phase == before:
        call.account.put(replace(system, **parts))


def delete_file_system(call: Call) -> Reply:
    """Delete a file system without mount targets, access points and replications: deleting, then gone."""
    system = efs.find(call)
    held = {"mount targets": system.mount_targets, "access points": system.points}
    if kinds := " and ".join(name for name, parts in held.items() if parts):
        raise AwsError("FileSystemInUse", f"The file system '{system.id}' is in use: it has {kinds}.", 409)
    if efs.replications(call, system.id):
        raise AwsError("FileSystemInUse", f"The file system '{system.id}' is part of a replication configuration.", 409)
    if system.phase == "deleting":
        raise AwsError("IncorrectFileSystemLifeCycleState", f"File system '{system.id}' is deleting.", 409)
    call.account.put(replace(system, phase="deleting"))

    def gone() -> None:
        call.account.remove(system.id)
        call.account.forget(efs.POLICIES, system.id)
        call.account.forget(_CHANGED, system.id)

    call.account.after(REMOVAL_S, gone)
    return _empty(204)


def _throughput(call: Call, present: ElasticFileSystem | None) -> tuple[Any, float | None]:
    """Return the requested mode and amount, or the present ones."""
    mode = call.input.get("ThroughputMode", present.mode if present else "bursting")
    given = call.input.get("ProvisionedThroughputInMibps")
    if mode != "provisioned":
        if given is not None:
            raise _bad("ProvisionedThroughputInMibps goes with the mode provisioned.")
        return mode, None
    amount = float(given if given is not None else (present.provisioned_mibps or 0) if present else 0)
    if amount < _LEAST_MIBPS:
        raise _bad(f"ProvisionedThroughputInMibps must be at least {_LEAST_MIBPS}.")
    return mode, amount


def update_file_system(call: Call) -> Reply:
    """Update a file system: updating, then available with the new mode or amount.

    For 24 hours after throughput is provisioned or changed, the mode cannot change and the amount cannot fall.
    """
    account, system = call.account, _usable(call)
    mode, amount = _throughput(call, system)
    set_at = account.table(_CHANGED).get(system.id)
    less = amount is not None and system.provisioned_mibps is not None and amount < system.provisioned_mibps
    held = system.mode == "provisioned" and set_at is not None and account.now < set_at + DAY
    if held and (mode != "provisioned" or less):
        why = "Throughput was provisioned less than 24 hours ago: it cannot be lowered or left yet."
        raise AwsError("TooManyRequests", why, 429)
    if (mode, amount) == (system.mode, system.provisioned_mibps):
        return json_reply(call, efs.system_json(call, system), 202)
    if mode != "elastic" and system.archive_bytes:
        raise _bad("Data in Archive needs elastic throughput.")
    if mode == "provisioned":
        account.keep(_CHANGED, system.id, account.now)
    changed = replace(system, phase="updating", mode=mode, provisioned_mibps=amount)
    account.put(changed)
    account.after(UPDATE_S, lambda: _becomes(call, system.id, "updating", phase="available"))
    return json_reply(call, efs.system_json(call, changed), 202)


def update_file_system_protection(call: Call) -> Reply:
    """Set whether a replication can overwrite the file system."""
    system, wanted = _usable(call), call.input["ReplicationOverwriteProtection"]
    if efs.replications(call, system.id):
        raise AwsError("ReplicationAlreadyExists", f"File system '{system.id}' is part of a replication.", 409)
    changed = replace(system, protected=wanted == "ENABLED")
    call.account.put(changed)
    return json_reply(call, {"ReplicationOverwriteProtection": efs.protection(changed)})


# --- Sub-resources ----------------------------------------------------------------------------------------------------


def create_mount_target(call: Call) -> Reply:
    """Create a mount target: creating, then available. There is one in a zone, and all are in one VPC."""
    account, system = call.account, _usable(call)
    wanted = str(call.input.get("SubnetId", ""))
    zones = {efs.subnet(call, call.region + letter): call.region + letter for letter in "abcd"}
    zones |= account.table(_SUBNETS)
    present = efs.targets(call)
    zones |= {each.subnet: each.az for _, each in present if each.subnet}
    if wanted not in zones:
        raise AwsError("SubnetNotFound", f"The subnet '{wanted}' does not exist.", 400)
    az = zones[wanted]
    if system.one_zone and az != system.one_zone:
        raise AwsError("AvailabilityZonesMismatch", f"The file system is in {system.one_zone}, the subnet in {az}.")
    if any(each.az == az for each in system.mount_targets):
        raise AwsError("MountTargetConflict", f"There is a mount target in {az} already.", 409)
    groups = tuple(call.input.get("SecurityGroups") or ())
    if len(groups) > GROUPS:
        raise AwsError("SecurityGroupLimitExceeded", f"A mount target has at most {GROUPS} security groups.", 400)
    address = str(call.input.get("IpAddress", ""))
    if address and any(efs.target_json(call, *each)["IpAddress"] == address for each in present):
        raise AwsError("IpAddressInUse", f"The address {address} is in use.", 409)
    target = MountTarget(
        id=f"fsmt-{hexadecimal(f'{account.id}/{account.number()}')}",
        az=az,
        subnet=wanted,
        address=address,
        security_groups=groups,
        phase="creating",
    )
    changed = replace(system, mount_targets=(*system.mount_targets, target))
    account.put(changed)
    account.after(TARGET_CREATION_S, lambda: _part_becomes(call, system.id, target.id, "creating", "available"))
    return json_reply(call, efs.target_json(call, changed, target))


def delete_mount_target(call: Call) -> Reply:
    """Delete a mount target: deleting, then gone."""
    system, target = efs.find_target(call, str(call.input["MountTargetId"]))
    if target.phase != "deleting":
        if target.subnet:
            call.account.keep(_SUBNETS, target.subnet, target.az)
        _part_becomes(call, system.id, target.id, target.phase, "deleting")
        call.account.after(TARGET_REMOVAL_S, lambda: _part_becomes(call, system.id, target.id, "deleting", None))
    return _empty(204)


def _part_becomes(call: Call, system_id: str, part_id: str, before: str, after: str | None) -> None:
    """Move a mount target or an access point to its next phase, or remove it if `after` is None."""
    system = call.account.find(system_id)
    if isinstance(system, ElasticFileSystem):
        targets = tuple(_next(system.mount_targets, part_id, before, after))
        points = _next(system.points, part_id, before, after)
        call.account.put(replace(system, mount_targets=targets).with_points(points))


def _next[T: (MountTarget, AccessPoint)](
    parts: Iterable[T], part_id: str, before: str, after: str | None
) -> Iterable[T]:
    for part in parts:
        if part.id != part_id or part.phase != before:
            yield part
        elif after is not None:
            yield replace(part, phase=after)


def create_access_point(call: Call) -> Reply:
    """Create an access point. Its client token must be unique; the error names the access point that has it."""
    account, system = call.account, _usable(call)
    client_token = str(call.input["ClientToken"])
    for _, each in efs.points(call):
        if each.token == client_token:
            why = f"'{each.id}' exists with this token."
            raise AwsError("AccessPointAlreadyExists", why, 409, AccessPointId=each.id)
    wanted = AccessPoint(
        id=f"fsap-{hexadecimal(f'{account.id}/{account.number()}')}",
        token=client_token,
        user=call.input.get("PosixUser"),
        root=call.input.get("RootDirectory") or {"Path": "/"},
        tags=_checked(_tags(call)),
        phase="creating",
    )
    account.put(system.with_points((*system.points, wanted)))
    account.after(POINT_CREATION_S, lambda: _part_becomes(call, system.id, wanted.id, "creating", "available"))
    return json_reply(call, efs.point_json(call, system, wanted))


def delete_access_point(call: Call) -> Reply:
    """Delete an access point: deleting, then gone."""
    system, point = efs.find_point(call, str(call.input["AccessPointId"]))
    if point.phase != "deleting":
        _part_becomes(call, system.id, point.id, point.phase, "deleting")
        call.account.after(POINT_REMOVAL_S, lambda: _part_becomes(call, system.id, point.id, "deleting", None))
    return _empty(204)


def put_file_system_policy(call: Call) -> Reply:
    """Set a resource policy: any JSON object with statements."""
    system, policy = _usable(call), call.input.get("Policy")
    try:
        valid = bool(json.loads(str(policy))["Statement"])
    except (ValueError, TypeError, KeyError):
        valid = False
    if not valid:
        raise AwsError("InvalidPolicyException", "The policy is not valid.", 400)
    call.account.keep(efs.POLICIES, system.id, policy)
    return json_reply(call, {"FileSystemId": system.id, "Policy": policy})


def put_lifecycle_configuration(call: Call) -> Reply:
    """Replace all transitions. Those that the call does not name are removed."""
    system = _usable(call)
    found: dict[str, str] = {}
    for policy in call.input["LifecyclePolicies"]:
        if len(policy) != 1:
            raise _bad("Each policy object holds a single transition.")
        found |= policy
    if "TransitionToArchive" in found and system.mode != "elastic":
        raise _bad("Archive needs elastic throughput.")
    changed = replace(system, lifecycle=tuple(found.items()))
    call.account.put(changed)
    return json_reply(call, {"LifecyclePolicies": [{name: value} for name, value in changed.lifecycle]})


def put_backup_policy(call: Call) -> Reply:
    """Set whether AWS Backup backs up the file system every day."""
    system, status = _usable(call), call.input["BackupPolicy"]["Status"]
    call.account.put(replace(system, backup=status == "ENABLED"))
    return json_reply(call, {"BackupPolicy": {"Status": status}})
