"""Reads EBS volumes and EC2 instances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.records import ReadRecord, after_pause, by_filter, named, records
from slackwater.model.ownership import operated_by
from slackwater.model.resources import Attachment, Instance, Volume
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"ec2:DescribeVolumes", "ec2:DescribeInstances"})

PAGE: Final = 1_000
"""EC2's maximum page size. EC2 reduces a larger number to its own limit."""

GONE_VOLUME: Final = frozenset({"deleting", "deleted"})
GONE_INSTANCE: Final = frozenset({"shutting-down", "terminated"})

WITH_IOPS: Final = frozenset({"gp3", "io1", "io2"})
WITH_THROUGHPUT: Final = frozenset({"gp3"})
"""Types for which IOPS and throughput are billed. EC2 always returns them, so a missing value does not mean 0."""

TRANSITION: Final = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)")
"""The time in `User initiated (2026-09-01 10:00:00 GMT)`."""


def volumes(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[ReadRecord[Volume]]:
    """Read every volume that is not being deleted, or only those that EC2's parameters in `only` select."""
    call = session.client("ec2", target.region).describe_volumes
    return records(
        Volume,
        pages(call, "Volumes", **only or {"MaxResults": PAGE}),
        partial(_volume, target=target),
        id_of=named("VolumeId"),
        owners_of=_instances_of,
        again=after_pause(session, by_filter(lambda filters: pages(call, "Volumes", Filters=filters), "volume-id")),
    )


def instances(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[ReadRecord[Instance]]:
    """Read every instance that is not terminated, or only those that EC2's parameters in `only` select."""
    call = session.client("ec2", target.region).describe_instances

    def found(**parameters: Any) -> Iterator[Any]:
        for reservation in pages(call, "Reservations", **parameters):
            # A reservation without instances yields an instance without an id, because it is unknown which is missing.
            yield from reservation.get("Instances", [{}])

    return records(
        Instance,
        found(**only or {"MaxResults": PAGE}),
        partial(_instance, target=target),
        id_of=named("InstanceId"),
        again=after_pause(session, by_filter(lambda filters: found(Filters=filters), "instance-id")),
    )


def tags_of(tags: Iterable[Any] | None) -> dict[str, str]:
    """Return AWS's list of keys and values as a mapping.

    A describe call that lists no tags means that there are none. A tag without a value gets an empty one: recorded
    responses of real accounts have such tags, and its key may protect the resource.

    Raises:
        BrokenAnswerError: A tag has no key. It may be the tag that protects the resource.
    """
    found = {tag.get("Key", ""): tag.get("Value", "") for tag in tags or ()}
    if "" in found:
        raise BrokenAnswerError("a tag has no key")
    return found


def _instances_of(volume: Any) -> tuple[str, ...] | None:
    """Return the instances of a volume; None if it is attached, but the response does not say to which."""
    attached = tuple(one["InstanceId"] for one in volume.get("Attachments", ()))
    return None if not attached and volume.get("State") != "available" else attached


def _volume(volume: Any, target: Target) -> Volume | None:
    if volume["State"] in GONE_VOLUME:
        return None
    if volume["State"] == "in-use" and not volume.get("Attachments"):
        raise BrokenAnswerError(f"{volume['VolumeId']} is in use, and on nothing")
    kind = volume["VolumeType"]
    return Volume(
        id=volume["VolumeId"],
        arn=f"arn:{target.partition}:ec2:{target.region}:{target.account}:volume/{volume['VolumeId']}",
        target=target,
        tags=tags_of(volume.get("Tags")),
        manager=operated_by(volume.get("Operator")),
        volume_type=kind,
        size_gib=volume["Size"],
        iops=volume["Iops"] if kind in WITH_IOPS else volume.get("Iops"),
        throughput_mib_s=volume["Throughput"] if kind in WITH_THROUGHPUT else volume.get("Throughput"),
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


def _instance(instance: Any, target: Target) -> Instance | None:
    state = instance["State"]["Name"]
    if state in GONE_INSTANCE:
        return None
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
