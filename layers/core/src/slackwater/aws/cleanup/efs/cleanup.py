"""Reads, tags, records and deletes EFS file systems for a clean-up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs import reading as read
from slackwater.aws.cleanup.efs.reading import unless_gone
from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.efs import GONE
from slackwater.model.cleanup import CurrentState, SubResource
from slackwater.ports.errors import AwsError, BusyError

if TYPE_CHECKING:
    from mypy_boto3_efs import EFSClient

    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

WATCHER_ACTIONS: Final = read.ACTIONS | {
    "ec2:DescribeNetworkInterfaceAttribute",  # for DescribeMountTargetSecurityGroups, with the caller's permissions
    "elasticfilesystem:DescribeMountTargetSecurityGroups",
    "elasticfilesystem:DescribeReplicationConfigurations",
    "elasticfilesystem:TagResource",
    "elasticfilesystem:UntagResource",
}
REMOVER_ACTIONS: Final = frozenset(
    {
        "ec2:DeleteNetworkInterface",  # DeleteMountTarget deletes it with the caller's permissions
        "elasticfilesystem:DeleteAccessPoint",
        "elasticfilesystem:DeleteFileSystem",
        "elasticfilesystem:DeleteMountTarget",
    }
)
LONGEST_S: Final = 600
"""Time limit for tagging access points, which takes a call for each. A step has fifteen minutes."""
ACCESS_POINT: Final = "access-point"
MOUNT_TARGET: Final = "mount-target"
FILE_SYSTEM: Final = "file-system"


class EfsWatcher:
    """Reads file systems, and tags them and their access points. Mount targets cannot have tags."""

    def __init__(self, reading: AwsSession) -> None:
        """Make no call."""
        self._reading = reading

    def look(self, resource: TrackedResource) -> CurrentState | None:
        """Return the file system as it is now, with the size that EFS meters; None if it does not exist.

        Raises:
            AwsError: An AWS call failed.
        """
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = read.file_system(efs, resource.id)
            if found is None:
                return None
            try:
                return _look(efs, resource, found)
            except ClientError as error:
                if code_of(error) != "FileSystemNotFound":
                    raise
                return None  # it was deleted between two calls

    def add_tags(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        """Tag its access points, and then the file system itself.

        The file system's tags also count for its mount targets. It skips access points that have the tags, so the next
        step continues where this one ran out of time.

        Raises:
            BusyError: There are too many access points for one step.
            AwsError: Some tags are not set, or it is unknown whether they are.
        """
        efs = self._reading.client("efs", resource.region)
        listed = [{"Key": key, "Value": value} for key, value in tags.items()]
        ends = monotonic() + LONGEST_S
        with remedies():
            for part in look.parts:
                if (
                    part.kind == ACCESS_POINT
                    and not part.going
                    and not tags.items() <= (look.children[part.id] or {}).items()
                ):
                    self._check_time(ends, resource)
                    unless_gone(efs.tag_resource, "AccessPointNotFound", ResourceId=part.id, Tags=listed)
            efs.tag_resource(ResourceId=resource.id, Tags=listed)  # type: ignore[arg-type]

    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Remove the tags from its access points, and then from the file system itself.

        Raises:
            BusyError: There are too many access points for one step. The next step continues.
            AwsError: Some tags are not removed, or it is unknown whether they are.
        """
        efs = self._reading.client("efs", resource.region)
        ends = monotonic() + LONGEST_S
        with remedies():
            if read.file_system(efs, resource.id) is None:
                return
            try:
                for found in read.access_points(efs, resource.id):
                    if not tags_of(found.get("Tags")).keys() & set(keys):
                        continue
                    self._check_time(ends, resource)
                    unless_gone(
                        efs.untag_resource,
                        "AccessPointNotFound",
                        ResourceId=found["AccessPointId"],
                        TagKeys=sorted(keys),
                    )
                efs.untag_resource(ResourceId=resource.id, TagKeys=sorted(keys))
            except ClientError as error:
                if code_of(error) != "FileSystemNotFound":
                    raise

    def part_tags(self, resource: TrackedResource, part: SubResource) -> Mapping[str, str] | None:
        """Return the tags of one of its access points as they are now; None if it is deleted, or being deleted.

        Raises:
            AwsError: The EFS call failed.
        """
        with remedies():
            found = read.access_point(self._reading.client("efs", resource.region), part.id)
            return None if found is None or found["LifeCycleState"] in GONE else tags_of(found.get("Tags"))

    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """Return its settings, policies, tags and access points, and its mount targets with addresses and groups.

        Raises:
            AwsError: An AWS call failed, or the file system does not exist.
        """
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = read.existing(efs, resource.id)
            points = [one for one in read.access_points(efs, resource.id) if one["LifeCycleState"] not in GONE]
            targets = [one for one in read.mount_targets(efs, resource.id) if one["LifeCycleState"] not in GONE]
            return {
                "performance_mode": found["PerformanceMode"],
                "throughput_mode": found["ThroughputMode"],
                "provisioned_mib_s": found.get("ProvisionedThroughputInMibps"),
                "encrypted": found.get("Encrypted", False),
                "kms_key_id": found.get("KmsKeyId"),
                "availability_zone": found.get("AvailabilityZoneName"),
                "overwrite_protection": found.get("FileSystemProtection", {}).get("ReplicationOverwriteProtection"),
                "tags": tags_of(found["Tags"]),
                "policy": read.policy(efs, resource.id),
                "lifecycle": read.lifecycle(efs, resource.id),
                "backed_up_daily": read.backed_up_daily(efs, resource.id),
                "access_points": [_access_point_record(one) for one in points],
                "mount_targets": [_mount_target_record(efs, one) for one in targets],
            }

    def _check_time(self, ends: float, resource: TrackedResource) -> None:
        if monotonic() >= ends:
            raise BusyError(
                f"{resource.id} has more access points than can be tagged in {LONGEST_S} s; the next try continues"
            )

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        """Return the IAM actions that delete it and its sub-resources, by ARN.

        For a mount target, EFS checks the permission on its file system's ARN. EC2 checks the permission on the network
        interface, which does not have Slackwater's tags.
        """
        _, partition, _, region, account, _ = resource.arn.split(":", 5)
        own = {"elasticfilesystem:DeleteFileSystem"}
        needed: dict[str, Collection[str]] = {
            part.arn: {"elasticfilesystem:DeleteAccessPoint"}
            for part in look.parts
            if part.kind == ACCESS_POINT and part.arn
        }
        if any(part.kind == MOUNT_TARGET for part in look.parts):
            own.add("elasticfilesystem:DeleteMountTarget")
            needed[f"arn:{partition}:ec2:{region}:{account}:network-interface/*"] = {"ec2:DeleteNetworkInterface"}
        return {**needed, resource.arn: own}


class EfsRemover:
    """Deletes file systems, one sub-resource at a time."""

    def __init__(self, asking: AwsSession) -> None:
        """Make no call."""
        self._asking = asking

    def remove(
        self,
        resource: TrackedResource,
        part: SubResource,
        final_tags: Mapping[str, str] | None = None,  # noqa: ARG002 -- the port requires it
    ) -> None:
        """Ask EFS once to delete an access point, a mount target or the file system.

        Raises:
            AwsError: EFS refused it (FileSystemInUse: it still has mount targets), or it is unknown whether the request
                arrived.
        """
        efs = self._asking.client("efs", resource.region)
        with remedies():
            match part.kind:
                case "access-point":
                    unless_gone(efs.delete_access_point, "AccessPointNotFound", AccessPointId=part.id)
                case "mount-target":
                    unless_gone(efs.delete_mount_target, "MountTargetNotFound", MountTargetId=part.id)
                case "file-system" if part.id == resource.id:
                    unless_gone(efs.delete_file_system, "FileSystemNotFound", FileSystemId=part.id)
                case _:
                    raise AwsError(
                        f"{part.kind} {part.id} is no part of the file system {resource.id}: it was not deleted"
                    )


def _look(efs: EFSClient, resource: TrackedResource, found: Mapping[str, Any]) -> CurrentState:
    points = list(read.access_points(efs, resource.id))
    targets = list(read.mount_targets(efs, resource.id))
    tags = found.get("Tags")
    return CurrentState(
        born_at=found["CreationTime"],
        tags=None if tags is None else tags_of(tags),
        parts=(
            *(_part(ACCESS_POINT, one["AccessPointId"], one["AccessPointArn"], one) for one in points),
            *(_part(MOUNT_TARGET, one["MountTargetId"], None, one) for one in targets),
            _part(FILE_SYSTEM, resource.id, resource.arn, found),
        ),
        held=_held(efs, found, points, targets),
        size_bytes=found["SizeInBytes"]["Value"],
        children={one["AccessPointId"]: tags_of(one.get("Tags")) for one in points}
        | {one["MountTargetId"]: {} for one in targets},  # they cannot have tags
    )


def _part(kind: str, id_: str, arn: str | None, found: Mapping[str, Any]) -> SubResource:
    return SubResource(kind=kind, id=id_, arn=arn, going=found["LifeCycleState"] in GONE)


def _held(
    efs: EFSClient,
    found: Mapping[str, Any],
    points: Collection[Mapping[str, Any]],
    targets: Collection[Mapping[str, Any]],
) -> str | None:
    state = found["LifeCycleState"]
    if state in GONE:
        return None
    if state != "available":
        return f"its state is {state}"
    if found.get("FileSystemProtection", {}).get("ReplicationOverwriteProtection") == "REPLICATING" or _replicates(
        efs, found
    ):
        return "it takes part in a replication"
    named = chain(
        ((f"access point {one['AccessPointId']}", one) for one in points),
        ((f"mount target {one['MountTargetId']}", one) for one in targets),
    )
    for name, one in named:
        if one["LifeCycleState"] not in {"available", *GONE}:
            return f"the state of its {name} is {one['LifeCycleState']}"
    return None


def _replicates(efs: EFSClient, found: Mapping[str, Any]) -> bool:
    """Return whether it is the source or the destination of a replication. EFS finds either by its id."""
    try:
        return any(pages(efs.describe_replication_configurations, "Replications", FileSystemId=found["FileSystemId"]))
    except ClientError as error:
        if code_of(error) != "ReplicationNotFound":
            raise
        return False


def _access_point_record(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": found["AccessPointId"],
        "arn": found["AccessPointArn"],
        "client_token": found.get("ClientToken"),
        "posix_user": found.get("PosixUser"),
        "root_directory": found.get("RootDirectory"),
        "tags": tags_of(found.get("Tags")),
    }


def _mount_target_record(efs: EFSClient, found: Mapping[str, Any]) -> dict[str, Any]:
    groups = efs.describe_mount_target_security_groups(MountTargetId=found["MountTargetId"])["SecurityGroups"]
    return {
        "id": found["MountTargetId"],
        "subnet_id": found["SubnetId"],
        "availability_zone": found.get("AvailabilityZoneName"),
        "ip_address": found.get("IpAddress"),
        "ipv6_address": found.get("Ipv6Address"),
        "security_groups": groups,
    }
