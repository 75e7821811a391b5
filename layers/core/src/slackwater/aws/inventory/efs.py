"""EFS file systems, their replication, and what hangs on some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.pages import pages
from slackwater.aws.client.parallel import abreast
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.snapshot import is_any
from slackwater.model.resources import EfsFileSystem, EfsLifecycle, EfsMountTarget, EfsReplication
from slackwater.model.units import GIB

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset(
    {
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeLifecycleConfiguration",
        "elasticfilesystem:DescribeMountTargets",
        "elasticfilesystem:DescribeReplicationConfigurations",
    }
)

MOUNT_TARGETS_PAGE: Final = 100
"""The most that EFS gives a page; it gives ten unasked."""

GONE: Final = frozenset({"deleting", "deleted"})


def file_systems(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[EfsFileSystem]:
    """Every file system that is not being deleted, or the one that is named; EFS fixes its pages at 100."""
    call = session.client("efs", target.region).describe_file_systems
    for found in pages(call, "FileSystems", next_in="Marker", next_out="NextMarker", **only):
        if found["LifeCycleState"] not in GONE:
            yield _file_system(found, target)


def replications(session: AwsSession, target: Target, before: Earlier) -> Iterator[EfsReplication]:
    """Both sides of every replication, asked once for the account rather than once for each file system."""
    if not is_any(before, EfsFileSystem):
        return
    call = session.client("efs", target.region).describe_replication_configurations
    try:
        for found in pages(call, "Replications"):
            destinations = found["Destinations"]
            status = destinations[0]["Status"] if destinations else ""
            yield EfsReplication(id=found["SourceFileSystemId"], role="source", status=status)
            for destination in destinations:
                yield EfsReplication(id=destination["FileSystemId"], role="destination", status=destination["Status"])
    except ClientError as error:
        if error.response["Error"]["Code"] != "ReplicationNotFound":  # EFS's word for "there is none"
            raise


def lifecycles(session: AwsSession, target: Target, before: Earlier) -> Iterator[EfsLifecycle]:
    """The lifecycle policies of each file system with much in Standard: a call for each."""
    call = session.client("efs", target.region).describe_lifecycle_configuration
    least_bytes = EfsLifecycle.LEAST_STANDARD_GIB * GIB
    systems = (one for one in before.all(EfsFileSystem) if one.stored_bytes["Standard"] >= least_bytes)
    for system, policies in abreast(lambda system: (system, _of(system, call, "LifecyclePolicies")), systems):
        if policies is not None:
            words = {name: word for policy in policies for name, word in policy.items()}
            yield EfsLifecycle(
                id=system.id,
                transition_to_ia=words.get("TransitionToIA"),
                transition_to_archive=words.get("TransitionToArchive"),
                transition_to_primary=words.get("TransitionToPrimaryStorageClass"),
            )


def mount_targets(session: AwsSession, target: Target, before: Earlier) -> Iterator[EfsMountTarget]:
    """The mount target of each Regional file system that has just one: a call for each."""
    call = partial(session.client("efs", target.region).describe_mount_targets, MaxItems=MOUNT_TARGETS_PAGE)
    systems = (one for one in before.all(EfsFileSystem) if one.availability_zone is None and one.mount_targets == 1)
    for system, mounts in abreast(lambda system: (system, _of(system, call, "MountTargets")), systems):
        for found in mounts or ():
            if found["LifeCycleState"] not in GONE:
                yield EfsMountTarget(
                    id=found["MountTargetId"],
                    file_system_id=system.id,
                    availability_zone=found.get("AvailabilityZoneName"),
                    subnet_id=found["SubnetId"],
                    state=found["LifeCycleState"],
                )


def _of(system: EfsFileSystem, call: Callable[..., Mapping[str, Any]], key: str) -> list[Any] | None:
    """Everything under `key` about one file system; None where it was deleted since it was listed."""
    try:
        return list(pages(call, key, next_in="Marker", next_out="NextMarker", FileSystemId=system.id))
    except ClientError as error:
        if error.response["Error"]["Code"] != "FileSystemNotFound":
            raise
        return None


def _file_system(found: Any, target: Target) -> EfsFileSystem:
    size = found["SizeInBytes"]
    protection = found.get("FileSystemProtection", {})
    return EfsFileSystem(
        id=found["FileSystemId"],
        arn=found["FileSystemArn"],
        target=target,
        tags=tags_of(found["Tags"]),
        state=found["LifeCycleState"],
        created_at=found["CreationTime"],
        throughput_mode=found["ThroughputMode"],
        provisioned_mib_s=found.get("ProvisionedThroughputInMibps"),
        performance_mode=found["PerformanceMode"],
        availability_zone=found.get("AvailabilityZoneName"),
        stored_bytes={
            "Standard": size.get("ValueInStandard", size["Value"]),
            "IA": size.get("ValueInIA", 0),
            "Archive": size.get("ValueInArchive", 0),
        },
        mount_targets=found["NumberOfMountTargets"],
        is_replica=protection.get("ReplicationOverwriteProtection") == "REPLICATING",
    )
