"""Describes a single EBS volume for a clean-up: its state, the parameters to create it again, and its last change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.ownership import operated_by
from slackwater.ports.errors import AwsError, BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource

ACTIONS: Final = frozenset({"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications"})

NO_VOLUME: Final = "InvalidVolume.NotFound"

WITH_IOPS: Final = frozenset({"gp3", "io1", "io2"})
WITH_THROUGHPUT: Final = frozenset({"gp3"})
"""Types whose IOPS and throughput the owner chooses. EC2 returns IOPS for gp2 too, but does not accept them."""

UNDER_WAY: Final = frozenset({"modifying", "optimizing"})


def volume(session: AwsSession, resource: TrackedResource) -> Any | None:
    """Return the volume as EC2 describes it; None if EC2 says that it does not exist, or that it is deleted."""
    call = session.client("ec2", resource.region).describe_volumes
    try:
        found = list(pages(call, "Volumes", VolumeIds=[resource.id]))
    except ClientError as error:
        if code_of(error) != NO_VOLUME:
            raise
        return None
    if [one["VolumeId"] for one in found] != [resource.id]:  # EC2 reports a missing volume as an error
        raise BrokenAnswerError(f"the answer is not about {resource.id}")
    return None if found[0]["State"] == "deleted" else found[0]


def there(session: AwsSession, resource: TrackedResource) -> Any:
    """Return the volume as EC2 describes it.

    Raises:
        AwsError: There is none.
    """
    found = volume(session, resource)
    if found is None:
        raise AwsError(f"there is no volume {resource.id} in {resource.region} any more")
    return found


def recorded(found: Any) -> dict[str, Any]:
    """Return the parameters with which CreateVolume creates such a volume again, as JSON values."""
    return {
        "availability_zone": found["AvailabilityZone"],
        "size_gib": found["Size"],
        "volume_type": found["VolumeType"],
        "iops": found.get("Iops"),
        "throughput_mib_s": found.get("Throughput"),
        "multi_attach": found.get("MultiAttachEnabled", False),
        "encrypted": found.get("Encrypted", False),
        "kms_key_id": found.get("KmsKeyId"),
        "outpost_arn": found.get("OutpostArn"),
        "tags": tags_of(found.get("Tags")),
    }


def attachments(found: Any) -> list[Any]:
    """Return the attachments of a volume, including those that are being attached or detached."""
    return [one for one in found.get("Attachments", ()) if one.get("State") != "detached"]


def managed_by_aws(found: Any) -> str | None:
    """Return a message if EC2 says that an AWS service manages the volume, such as EKS Auto Mode; otherwise None."""
    operator = operated_by(found.get("Operator"))
    return f"{operator} manages it" if operator else None


def modifications(session: AwsSession, resource: TrackedResource) -> Iterator[Any]:
    """Return the changes of a volume that EC2 describes: only the newest.

    It uses a filter, because EC2 returns an error for the id of a volume that was never changed.
    """
    call = session.client("ec2", resource.region).describe_volumes_modifications
    return pages(call, "VolumesModifications", Filters=[{"Name": "volume-id", "Values": [resource.id]}])


def under_way(modification: Any) -> str | None:
    """Return `its last change is still optimizing (40 %)`; None if the change has ended."""
    state = modification.get("ModificationState")
    return f"its last change is still {state} ({modification.get('Progress', 0)} %)" if state in UNDER_WAY else None


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)
