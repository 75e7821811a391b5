"""Serve EFS over rest-json: file systems and their sub-resources."""

from .ec2_query import hexadecimal, key_arn, zone_id
from .partitions import arn
from .resources import AccessPoint, ElasticFileSystem, MountTarget, Replication
from .wire import AwsError, Call, Json, Reply, json_reply, known, page_of, page_offset, page_size, tag_list, token

POLICIES = "efs-policies"
"""Name of the table of file-system policies."""
PAGE = 100
"""File systems a page, fixed (EFS API reference, DescribeFileSystems)."""


def find(call: Call, parameter: str = "FileSystemId") -> ElasticFileSystem:
    """Return the file system that an id or ARN in the input names."""
    wanted = str(call.input.get(parameter, "")).rpartition("/")[2]
    system = call.find(ElasticFileSystem, wanted)
    if system is None:
        raise AwsError("FileSystemNotFound", f"File system '{wanted}' does not exist.", 404)
    return system


def targets(call: Call) -> list[tuple[ElasticFileSystem, MountTarget]]:
    """Return the mount targets of the Region, with their file systems."""
    return [(system, target) for system in call.all(ElasticFileSystem) for target in system.mount_targets]


def points(call: Call) -> list[tuple[ElasticFileSystem, AccessPoint]]:
    """Return the access points of the Region, with their file systems."""
    return [(system, point) for system in call.all(ElasticFileSystem) for point in system.points]


def find_target(call: Call, target_id: str) -> tuple[ElasticFileSystem, MountTarget]:
    """Return a mount target and its file system."""
    for system, target in targets(call):
        if target.id == target_id:
            return system, target
    raise AwsError("MountTargetNotFound", f"Mount target '{target_id}' does not exist.", 404)


def find_point(call: Call, point_id: str) -> tuple[ElasticFileSystem, AccessPoint]:
    """Return an access point, by its id or ARN, and its file system."""
    wanted = point_id.rpartition("/")[2]
    for system, point in points(call):
        if point.id == wanted:
            return system, point
    raise AwsError("AccessPointNotFound", f"Access point '{wanted}' does not exist.", 404)


def creation_token(system: ElasticFileSystem) -> str:
    """Return the creation token of a file system."""
    return system.token or f"token-{system.id}"


def replications(call: Call, system_id: str) -> list[Replication]:
    """Return the replications that a file system takes part in."""
    return [each for each in call.account.fleet.replications if system_id in (each.source_id, each.destination_id)]


def _arn(account: str, region: str, system: str) -> str:
    return arn("elasticfilesystem", region, account, f"file-system/{system}")


def describe_file_systems(call: Call) -> Reply:
    """List file systems, at most a hundred a page even if MaxItems is larger."""
    if "FileSystemId" in call.input:
        return json_reply(call, {"FileSystems": [system_json(call, find(call))]})
    size, offset, wanted = page_size(call, PAGE), page_offset(call), call.input.get("CreationToken")
    systems = [system for system in call.all(ElasticFileSystem) if wanted in (None, creation_token(system))]

    def page() -> Reply:
        answer = page_of(call, "FileSystems", systems, lambda system: system_json(call, system), size)
        return json_reply(call, answer | ({"Marker": token(offset)} if offset else {}))

    return call.account.kept(("efs", call.region, offset, size, wanted), page)


def system_json(call: Call, system: ElasticFileSystem) -> Json:
    """Render one file system."""
    now, account = call.account.fleet.now, call.account.id
    answer: Json = {
        "OwnerId": account,
        "CreationToken": creation_token(system),
        "FileSystemId": system.id,
        "FileSystemArn": _arn(account, system.region, system.id),
        "CreationTime": float(system.created),
        "LifeCycleState": system.phase,
        "NumberOfMountTargets": len(system.mount_targets),
        "SizeInBytes": {
            "Value": system.standard_bytes + system.ia_bytes + system.archive_bytes,
            "Timestamp": float(now - now % 3600),
            "ValueInIA": system.ia_bytes,
            "ValueInStandard": system.standard_bytes,
            "ValueInArchive": system.archive_bytes,
        },
        "PerformanceMode": system.performance,
        "Encrypted": system.encrypted,
        "ThroughputMode": system.mode,
        "Tags": tag_list(system.tags),
        "FileSystemProtection": {"ReplicationOverwriteProtection": protection(system)},
        "KmsKeyId": (system.kms_key or key_arn(system.region, account)) if system.encrypted else None,
        "Name": system.tags.get("Name"),
        "ProvisionedThroughputInMibps": system.provisioned_mibps if system.mode == "provisioned" else None,
        "AvailabilityZoneName": system.one_zone,
        "AvailabilityZoneId": zone_id(system.one_zone) if system.one_zone else None,
    }
    return known(answer)


def protection(system: ElasticFileSystem) -> str:
    """Return whether the file system is protected from replications that would overwrite it."""
    if system.replica:
        return "REPLICATING"
    return "ENABLED" if system.protected else "DISABLED"


def describe_mount_targets(call: Call) -> Reply:
    """List the mount targets of one file system, or one mount target."""
    if "MountTargetId" in call.input:
        found = [find_target(call, str(call.input["MountTargetId"]))]
    else:
        named = "FileSystemId" in call.input
        only = find(call) if named else find_point(call, str(call.input["AccessPointId"]))[0]
        found = [(only, target) for target in only.mount_targets]
    size = page_size(call, 100, usual=10)
    return json_reply(call, page_of(call, "MountTargets", found, lambda each: target_json(call, *each), size))


def target_json(call: Call, system: ElasticFileSystem, target: MountTarget) -> Json:
    """Render one mount target."""
    digits = hexadecimal(target.id)
    return {
        "OwnerId": call.account.id,
        "MountTargetId": target.id,
        "FileSystemId": system.id,
        "SubnetId": target.subnet or subnet(call, target.az),
        "LifeCycleState": target.phase,
        "IpAddress": target.address or f"10.0.{int(digits[:2], 16)}.{int(digits[2:4], 16)}",
        "NetworkInterfaceId": f"eni-{digits}",
        "AvailabilityZoneId": zone_id(target.az),
        "AvailabilityZoneName": target.az,
        "VpcId": f"vpc-{hexadecimal(call.account.id + system.region)}",
    }


def subnet(call: Call, az: str) -> str:
    """Return the id of a zone's only subnet."""
    return f"subnet-{hexadecimal(call.account.id + az)}"


def security_group(call: Call) -> str:
    """Return the id of a Region's only security group."""
    return f"sg-{hexadecimal(call.account.id + call.region)}"


def describe_mount_target_security_groups(call: Call) -> Reply:
    """List the security groups of one mount target."""
    _, target = find_target(call, str(call.input["MountTargetId"]))
    if target.phase != "available":
        raise AwsError("IncorrectMountTargetState", f"Mount target '{target.id}' is {target.phase}.", 409)
    return json_reply(call, {"SecurityGroups": list(target.security_groups) or [security_group(call)]})


def describe_lifecycle_configuration(call: Call) -> Reply:
    """List the lifecycle policies, one transition each."""
    return json_reply(call, {"LifecyclePolicies": [{name: value} for name, value in find(call).lifecycle]})


def describe_replication_configurations(call: Call) -> Reply:
    """List the account's replications in this Region, or those of one file system at either end."""
    wanted = call.input.get("FileSystemId")
    found = [
        each
        for each in (call.account.fleet.replications if wanted is None else replications(call, wanted))
        if call.region in (each.source_region, each.destination_region)
    ]
    if wanted is not None and not found:
        why = f"Replication configuration not found for file system '{find(call).id}'."
        raise AwsError("ReplicationNotFound", why, 404)
    account = call.account.id

    def described(each: Replication) -> Json:
        source = _arn(account, each.source_region, each.source_id)
        destination = {
            "Status": "ENABLED",
            "FileSystemId": each.destination_id,
            "Region": each.destination_region,
            "LastReplicatedTimestamp": float(call.account.fleet.now - 600),
            "OwnerId": account,
        }
        return {
            "SourceFileSystemId": each.source_id,
            "SourceFileSystemRegion": each.source_region,
            "SourceFileSystemArn": source,
            "OriginalSourceFileSystemArn": source,
            "CreationTime": float(each.created),
            "SourceFileSystemOwnerId": account,
            "Destinations": [destination],
        }

    return json_reply(call, page_of(call, "Replications", found, described, page_size(call, 100)))


def describe_access_points(call: Call) -> Reply:
    """List the access points of one file system, one by its id, or all."""
    if "AccessPointId" in call.input:
        found = [find_point(call, str(call.input["AccessPointId"]))]
    elif "FileSystemId" in call.input:
        only = find(call)
        found = [(only, point) for point in only.points]
    else:
        found = points(call)
    size = page_size(call, 100)
    return json_reply(call, page_of(call, "AccessPoints", found, lambda each: point_json(call, *each), size))


def point_json(call: Call, system: ElasticFileSystem, point: AccessPoint) -> Json:
    """Render one access point."""
    answer: Json = {
        "AccessPointId": point.id,
        "AccessPointArn": arn("elasticfilesystem", system.region, call.account.id, f"access-point/{point.id}"),
        "ClientToken": point.token,
        "FileSystemId": system.id,
        "LifeCycleState": point.phase,
        "OwnerId": call.account.id,
        "RootDirectory": dict(point.root),
        "Tags": tag_list(point.tags),
        "Name": point.tags.get("Name"),
        "PosixUser": point.user,
    }
    return known(answer)


def describe_backup_policy(call: Call) -> Reply:
    """Describe whether AWS Backup backs up the file system every day."""
    return json_reply(call, {"BackupPolicy": {"Status": "ENABLED" if find(call).backup else "DISABLED"}})


def describe_file_system_policy(call: Call) -> Reply:
    """Return a file system's own policy. Most have none."""
    system = find(call)
    policy = call.account.table(POLICIES).get(system.id)
    if policy is None:
        raise AwsError("PolicyNotFound", f"No policy found for file system '{system.id}'.", 404)
    return json_reply(call, {"FileSystemId": system.id, "Policy": policy})


def list_tags_for_resource(call: Call) -> Reply:
    """List the tags of a file system or an access point."""
    return json_reply(call, {"Tags": tag_list(tagged(call).tags)})


def tagged(call: Call) -> ElasticFileSystem | AccessPoint:
    """Return the resource that ResourceId names."""
    wanted = str(call.input.get("ResourceId", ""))
    if wanted.rpartition("/")[2].startswith("fsap-"):
        return find_point(call, wanted)[1]
    return find(call, "ResourceId")
