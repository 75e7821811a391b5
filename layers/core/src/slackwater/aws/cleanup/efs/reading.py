"""Describes a single EFS file system, its sub-resources and its policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of
from slackwater.aws.client.pages import MARKER, pages
from slackwater.aws.inventory.efs import GONE, MOUNT_TARGETS_PAGE
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from mypy_boto3_efs import EFSClient

ACTIONS: Final = frozenset(
    {
        "elasticfilesystem:DescribeAccessPoints",
        "elasticfilesystem:DescribeBackupPolicy",
        "elasticfilesystem:DescribeFileSystemPolicy",
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeLifecycleConfiguration",
        "elasticfilesystem:DescribeMountTargets",
    }
)

ACCESS_POINTS_PAGE: Final = 100
"""EFS's default and maximum page size."""


def unless_gone(call: Callable[..., Any], gone: str, **parameters: Any) -> None:
    """Make a call, and ignore the error code `gone`, with which EFS says that the resource does not exist."""
    try:
        call(**parameters)
    except ClientError as error:
        if code_of(error) != gone:
            raise


def file_system(efs: EFSClient, file_system_id: str) -> Mapping[str, Any] | None:
    """Return the file system, even while it is being deleted; None if it does not exist."""
    try:
        found = list(pages(efs.describe_file_systems, "FileSystems", FileSystemId=file_system_id))
    except ClientError as error:
        if code_of(error) != "FileSystemNotFound":
            raise
        return None
    return next(
        (one for one in found if one["FileSystemId"] == file_system_id and one["LifeCycleState"] != "deleted"), None
    )


def existing(efs: EFSClient, file_system_id: str) -> Mapping[str, Any]:
    """Return the file system.

    Raises:
        AwsError: It does not exist, or it is being deleted.
    """
    found = file_system(efs, file_system_id)
    if found is None or found["LifeCycleState"] in GONE:
        raise AwsError(f"there is no file system {file_system_id}")
    return found


def access_points(efs: EFSClient, file_system_id: str) -> Iterator[Mapping[str, Any]]:
    """Yield its access points of all pages, except deleted ones."""
    found = pages(
        efs.describe_access_points, "AccessPoints", FileSystemId=file_system_id, MaxResults=ACCESS_POINTS_PAGE
    )
    return (one for one in found if one["LifeCycleState"] != "deleted")


def access_point(efs: EFSClient, access_point_id: str) -> Mapping[str, Any] | None:
    """Return one access point; None if it does not exist."""
    try:
        found = list(pages(efs.describe_access_points, "AccessPoints", AccessPointId=access_point_id))
    except ClientError as error:
        if code_of(error) != "AccessPointNotFound":
            raise
        return None
    return next((one for one in found if one["AccessPointId"] == access_point_id), None)


def mount_targets(efs: EFSClient, file_system_id: str) -> Iterator[Mapping[str, Any]]:
    """Yield its mount targets of all pages, except deleted ones."""
    found = pages(
        efs.describe_mount_targets,
        "MountTargets",
        tokens=MARKER,
        FileSystemId=file_system_id,
        MaxItems=MOUNT_TARGETS_PAGE,
    )
    return (one for one in found if one["LifeCycleState"] != "deleted")


def policy(efs: EFSClient, file_system_id: str) -> str | None:
    """Return the file system policy as JSON; None if EFS's default applies."""
    try:
        return efs.describe_file_system_policy(FileSystemId=file_system_id)["Policy"]
    except ClientError as error:
        if code_of(error) != "PolicyNotFound":
            raise
        return None


def lifecycle(efs: EFSClient, file_system_id: str) -> list[dict[str, str]]:
    """Return its lifecycle policies as EFS lists them, one per transition."""
    policies: list[Any] = efs.describe_lifecycle_configuration(FileSystemId=file_system_id)["LifecyclePolicies"]
    return [dict(one) for one in policies]


def backed_up_daily(efs: EFSClient, file_system_id: str) -> bool:
    """Return whether EFS's automatic daily backups are on."""
    try:
        status = efs.describe_backup_policy(FileSystemId=file_system_id)["BackupPolicy"]["Status"]
    except ClientError as error:
        if code_of(error) != "PolicyNotFound":
            raise
        return False
    return status in {"ENABLED", "ENABLING"}


def throughput(mode: str, provisioned_mib_s: float | None) -> dict[str, Any]:
    """Return the parameters of UpdateFileSystem for a throughput."""
    provisioned = {} if provisioned_mib_s is None else {"ProvisionedThroughputInMibps": provisioned_mib_s}
    return {"ThroughputMode": mode, **provisioned}
