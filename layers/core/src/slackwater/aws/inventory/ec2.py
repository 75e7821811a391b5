"""EBS volumes and EC2 instances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.pages import pages
from slackwater.model.ownership import operated_by
from slackwater.model.resources import Attachment, Instance, Volume
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"ec2:DescribeVolumes", "ec2:DescribeInstances"})

PAGE: Final = 1_000
"""The most that EC2 gives a page (it cuts a larger number down to its own limit)."""

GONE_VOLUME: Final = frozenset({"deleting", "deleted"})
GONE_INSTANCE: Final = frozenset({"shutting-down", "terminated"})

TRANSITION: Final = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)")
"""The time in `User initiated (2026-09-01 10:00:00 GMT)`."""


def volumes(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[Volume]:
    """Every volume that is not being deleted; only some, where EC2's own parameters say which."""
    client = session.client("ec2", target.region)
    for volume in pages(client.describe_volumes, "Volumes", **only or {"MaxResults": PAGE}):
        if volume["State"] not in GONE_VOLUME:
            yield _volume(volume, target)


def instances(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[Instance]:
    """Every instance that is not terminated; only some, where EC2's own parameters say which."""
    client = session.client("ec2", target.region)
    for reservation in pages(client.describe_instances, "Reservations", **only or {"MaxResults": PAGE}):
        for instance in reservation["Instances"]:
            if instance["State"]["Name"] not in GONE_INSTANCE:
                yield _instance(instance, target)


def tags_of(tags: Iterable[Any] | None) -> dict[str, str]:
    """AWS's list of keys and values as a mapping. A describe call that lists none says that there are none.

    Raises:
        BrokenAnswerError: a tag has no key; it may be the one that keeps the resource.
        KeyError: it has none, or no value, not even an empty one.
    """
    found = {tag["Key"]: tag["Value"] for tag in tags or ()}
    if "" in found:
        raise BrokenAnswerError("a tag has no key")
    return found


def _volume(volume: Any, target: Target) -> Volume:
    if volume["State"] == "in-use" and not volume.get("Attachments"):
        raise BrokenAnswerError(f"{volume['VolumeId']} is in use, and on nothing")
    return Volume(
        id=volume["VolumeId"],
        arn=f"arn:{target.partition}:ec2:{target.region}:{target.account}:volume/{volume['VolumeId']}",
        target=target,
        tags=tags_of(volume.get("Tags")),
        manager=operated_by(volume.get("Operator")),
        volume_type=volume["VolumeType"],
        size_gib=volume["Size"],
        iops=volume.get("Iops"),
        throughput_mib_s=volume.get("Throughput"),
        state=volume["State"],
        created_at=volume["CreateTime"],
        availability_zone=volume["AvailabilityZone"],
        multi_attach=volume.get("MultiAttachEnabled", False),
        attachments=tuple(
            Attachment(instance_id=a["InstanceId"], device=a.get("Device", ""), attached_at=a.get("AttachTime"))
            for a in volume.get("Attachments", ())
            if "InstanceId" in a and a.get("State") != "detached"
        ),
    )


def _instance(instance: Any, target: Target) -> Instance:
    state = instance["State"]["Name"]
    return Instance(
        id=instance["InstanceId"],
        arn=f"arn:{target.partition}:ec2:{target.region}:{target.account}:instance/{instance['InstanceId']}",
        target=target,
        tags=tags_of(instance.get("Tags")),
        manager=operated_by(instance.get("Operator")),
        instance_type=instance["InstanceType"],
        state=state,
        launched_at=instance["LaunchTime"],
        stopped_at=_stopped_at(instance.get("StateTransitionReason", "")) if state in {"stopping", "stopped"} else None,
        detailed_monitoring=instance.get("Monitoring", {}).get("State") in {"enabled", "pending"},
        root_device=instance.get("RootDeviceName", ""),
        bandwidth_weighting=instance.get("NetworkPerformanceOptions", {}).get("BandwidthWeighting", "default"),
        lifecycle=instance.get("InstanceLifecycle"),
    )


def _stopped_at(transition_reason: str) -> datetime | None:
    found = TRANSITION.search(transition_reason)
    return datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) if found else None
