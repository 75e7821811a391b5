"""EFS over rest-json: file systems and what hangs on them."""

from __future__ import annotations

import re

from .account import cut
from .ec2_query import hexadecimal, key_arn, zone_id
from .resources import ElasticFileSystem, MountTarget
from .wire import AwsError, Call, Json, Operation, Reply, as_json, json_reply, offset_of, token

PAGE = 100
"""File systems a page, fixed (EFS API reference, DescribeFileSystems)."""

_ROUTES = (
    ("DescribeReplicationConfigurations", re.compile(r"/2015-02-01/file-systems/replication-configurations")),
    ("DescribeFileSystems", re.compile(r"/2015-02-01/file-systems")),
    ("DescribeLifecycleConfiguration", re.compile(r"/2015-02-01/file-systems/(?P<FileSystemId>[^/]+)/lifecycle-configuration")),
    ("DescribeBackupPolicy", re.compile(r"/2015-02-01/file-systems/(?P<FileSystemId>[^/]+)/backup-policy")),
    ("DescribeFileSystemPolicy", re.compile(r"/2015-02-01/file-systems/(?P<FileSystemId>[^/]+)/policy")),
    ("DescribeMountTargets", re.compile(r"/2015-02-01/mount-targets")),
    ("DescribeAccessPoints", re.compile(r"/2015-02-01/access-points")),
    ("ListTagsForResource", re.compile(r"/2015-02-01/resource-tags/(?P<ResourceId>[^/]+)")),
)


def route(method: str, path: str) -> tuple[str, Json]:
    """The operation of a path, and the names in it."""
    for operation, pattern in _ROUTES:
        if method == "GET" and (match := pattern.fullmatch(path.rstrip("/"))):
            return operation, dict(match.groupdict())
    return f"{method} {path}", {}


def _owned(call: Call) -> list[ElasticFileSystem]:
    return call.account.efs.get(call.region, [])


def _find(call: Call, parameter: str = "FileSystemId") -> ElasticFileSystem:
    wanted = str(call.input.get(parameter, "")).rpartition("/")[2]
    for system in _owned(call):
        if system.id == wanted:
            return system
    raise AwsError("FileSystemNotFound", f"File system '{wanted}' does not exist.", 404)


def _arn(account: str, region: str, system: str) -> str:
    return f"arn:aws:elasticfilesystem:{region}:{account}:file-system/{system}"


def describe_file_systems(call: Call) -> Reply:
    """File systems, a hundred a page whatever MaxItems says above that."""
    if "FileSystemId" in call.input:
        return json_reply(call, {"FileSystems": [_system(call, _find(call))]})
    size = min(int(call.input.get("MaxItems", PAGE)), PAGE)
    systems = _owned(call)
    if "CreationToken" in call.input:
        systems = [system for system in systems if f"token-{system.id}" == call.input["CreationToken"]]
    offset = offset_of(call.input.get("Marker"), "BadRequest")

    def page() -> bytes:
        items, following = cut(systems, offset, size)
        answer: Json = {"FileSystems": [_system(call, system) for system in items]}
        if offset:
            answer["Marker"] = token(offset)
        if following is not None:
            answer["NextMarker"] = token(following)
        return as_json(answer)

    return json_reply(call, call.account.page(("efs", call.region, offset, size, call.input.get("CreationToken")), page))


def _system(call: Call, system: ElasticFileSystem) -> Json:
    now, account = call.account.fleet.now, call.account.id
    answer: Json = {
        "OwnerId": account,
        "CreationToken": f"token-{system.id}",
        "FileSystemId": system.id,
        "FileSystemArn": _arn(account, system.region, system.id),
        "CreationTime": float(system.created),
        "LifeCycleState": "available",
        "NumberOfMountTargets": len(system.mount_targets),
        "SizeInBytes": {
            "Value": system.standard_bytes + system.ia_bytes + system.archive_bytes,
            "Timestamp": float(now - now % 3600),
            "ValueInIA": system.ia_bytes,
            "ValueInStandard": system.standard_bytes,
            "ValueInArchive": system.archive_bytes,
        },
        "PerformanceMode": "generalPurpose",
        "Encrypted": True,
        "KmsKeyId": key_arn(system.region, account),
        "ThroughputMode": system.mode,
        "Tags": [{"Key": key, "Value": value} for key, value in system.tags.items()],
        "FileSystemProtection": {"ReplicationOverwriteProtection": "REPLICATING" if system.replica else "ENABLED"},
    }
    if "Name" in system.tags:
        answer["Name"] = system.tags["Name"]
    if system.mode == "provisioned":
        answer["ProvisionedThroughputInMibps"] = system.provisioned_mibps
    if system.one_zone:
        answer |= {"AvailabilityZoneName": system.one_zone, "AvailabilityZoneId": zone_id(system.one_zone)}
    return answer


def describe_mount_targets(call: Call) -> Reply:
    """Mount targets of one file system, or one mount target."""
    if "FileSystemId" in call.input:
        only = _find(call)
        found = [(only, target) for target in only.mount_targets]
    elif "MountTargetId" in call.input:
        found = [
            (system, target)
            for system in _owned(call)
            for target in system.mount_targets
            if target.id == call.input["MountTargetId"]
        ]
        if not found:
            raise AwsError("MountTargetNotFound", f"Mount target '{call.input['MountTargetId']}' does not exist.", 404)
    else:
        raise AwsError("BadRequest", "MountTargetId, FileSystemId or AccessPointId is required.")
    offset = offset_of(call.input.get("Marker"), "BadRequest")
    items, following = cut(found, offset, min(int(call.input.get("MaxItems", 10)), 100))
    answer: Json = {"MountTargets": [_target(call, system, target) for system, target in items]}
    if following is not None:
        answer["NextMarker"] = token(following)
    return json_reply(call, answer)


def _target(call: Call, system: ElasticFileSystem, target: MountTarget) -> Json:
    digits = hexadecimal(target.id)
    return {
        "OwnerId": call.account.id,
        "MountTargetId": target.id,
        "FileSystemId": system.id,
        "SubnetId": f"subnet-{hexadecimal(call.account.id + target.az)}",
        "LifeCycleState": "available",
        "IpAddress": f"10.0.{int(digits[:2], 16)}.{int(digits[2:4], 16)}",
        "NetworkInterfaceId": f"eni-{digits}",
        "AvailabilityZoneId": zone_id(target.az),
        "AvailabilityZoneName": target.az,
        "VpcId": f"vpc-{hexadecimal(call.account.id + system.region)}",
    }


def describe_lifecycle_configuration(call: Call) -> Reply:
    """Lifecycle policies, one transition each."""
    return json_reply(call, {"LifecyclePolicies": [{name: value} for name, value in _find(call).lifecycle]})


def describe_replication_configurations(call: Call) -> Reply:
    """Replications of the account in this Region, or of one file system at either end."""
    wanted = call.input.get("FileSystemId")
    found = [
        replication
        for replication in call.account.fleet.replications
        if call.region in (replication.source_region, replication.destination_region)
        and (wanted is None or wanted in (replication.source_id, replication.destination_id))
    ]
    if wanted is not None and not found:
        _find(call)
        raise AwsError("ReplicationNotFound", f"Replication configuration not found for file system '{wanted}'.", 404)
    items, following = cut(
        found, offset_of(call.input.get("NextToken"), "BadRequest"), min(int(call.input.get("MaxResults", 100)), 100)
    )
    account = call.account.id
    answer: Json = {
        "Replications": [
            {
                "SourceFileSystemId": each.source_id,
                "SourceFileSystemRegion": each.source_region,
                "SourceFileSystemArn": _arn(account, each.source_region, each.source_id),
                "OriginalSourceFileSystemArn": _arn(account, each.source_region, each.source_id),
                "CreationTime": float(each.created),
                "SourceFileSystemOwnerId": account,
                "Destinations": [
                    {
                        "Status": "ENABLED",
                        "FileSystemId": each.destination_id,
                        "Region": each.destination_region,
                        "LastReplicatedTimestamp": float(call.account.fleet.now - 600),
                        "OwnerId": account,
                    }
                ],
            }
            for each in items
        ]
    }
    if following is not None:
        answer["NextToken"] = token(following)
    return json_reply(call, answer)


def describe_access_points(call: Call) -> Reply:
    """Access points of one file system, or of all."""
    systems = [_find(call)] if "FileSystemId" in call.input else _owned(call)
    found = [(system, number) for system in systems for number in range(system.access_points)]
    items, following = cut(
        found, offset_of(call.input.get("NextToken"), "BadRequest"), min(int(call.input.get("MaxResults", 100)), 100)
    )
    answer: Json = {"AccessPoints": []}
    for system, number in items:
        point = f"fsap-{hexadecimal(f'{system.id}/{number}')}"
        answer["AccessPoints"].append(
            {
                "AccessPointId": point,
                "AccessPointArn": f"arn:aws:elasticfilesystem:{system.region}:{call.account.id}:access-point/{point}",
                "ClientToken": point,
                "FileSystemId": system.id,
                "LifeCycleState": "available",
                "Name": f"point-{number}",
                "OwnerId": call.account.id,
                "RootDirectory": {"Path": f"/point-{number}"},
                "Tags": [],
            }
        )
    if following is not None:
        answer["NextToken"] = token(following)
    return json_reply(call, answer)


def describe_backup_policy(call: Call) -> Reply:
    """Whether AWS Backup takes it every day."""
    return json_reply(call, {"BackupPolicy": {"Status": "ENABLED" if _find(call).backup else "DISABLED"}})


def describe_file_system_policy(call: Call) -> Reply:
    """No file system here has one."""
    raise AwsError("PolicyNotFound", f"No policy found for file system '{_find(call).id}'.", 404)


def list_tags_for_resource(call: Call) -> Reply:
    """Tags of a file system."""
    return json_reply(call, {"Tags": [{"Key": key, "Value": value} for key, value in _find(call, "ResourceId").tags.items()]})


OPERATIONS: dict[str, Operation] = {
    "DescribeFileSystems": describe_file_systems,
    "DescribeMountTargets": describe_mount_targets,
    "DescribeLifecycleConfiguration": describe_lifecycle_configuration,
    "DescribeReplicationConfigurations": describe_replication_configurations,
    "DescribeAccessPoints": describe_access_points,
    "DescribeBackupPolicy": describe_backup_policy,
    "DescribeFileSystemPolicy": describe_file_system_policy,
    "ListTagsForResource": list_tags_for_resource,
}
