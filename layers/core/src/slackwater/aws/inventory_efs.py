"""EFS file systems and their replication."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.inventory_ec2 import tags_of
from slackwater.aws.pages import pages
from slackwater.model.resources import EfsFileSystem, EfsReplication

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession
    from slackwater.model.fleet import Fleet
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"elasticfilesystem:DescribeFileSystems", "elasticfilesystem:DescribeReplicationConfigurations"})

GONE: Final = frozenset({"deleting", "deleted"})


def file_systems(session: AwsSession, target: Target, _: Fleet) -> Iterator[EfsFileSystem]:
    """Every file system that is not being deleted; EFS fixes its pages at 100."""
    call = session.client("efs", target.region).describe_file_systems
    for found in pages(call, "FileSystems", next_in="Marker", next_out="NextMarker"):
        if found["LifeCycleState"] not in GONE:
            yield _file_system(found, target)


def replications(session: AwsSession, target: Target, before: Fleet) -> Iterator[EfsReplication]:
    """Both sides of every replication, asked once for the account rather than once for each file system."""
    if not before.all(EfsFileSystem):
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


def _file_system(found: Any, target: Target) -> EfsFileSystem:
    size = found["SizeInBytes"]
    protection = found.get("FileSystemProtection", {})
    return EfsFileSystem(
        id=found["FileSystemId"],
        arn=found["FileSystemArn"],
        target=target,
        tags=tags_of(found.get("Tags")),
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
