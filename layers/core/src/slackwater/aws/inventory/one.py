"""Reads what a detector needs to evaluate one volume or file system, to check it again before a clean-up.

The detector gets the same records as from the whole inventory, so its result is the same. AWS Compute Optimizer's
recommendations are left out, because they do not change the result, and its API lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.inventory import cloudtrail as inventory_cloudtrail
from slackwater.aws.inventory import ec2 as inventory_ec2
from slackwater.aws.inventory import efs as inventory_efs
from slackwater.aws.inventory import fsx as inventory_fsx
from slackwater.aws.inventory.inventory import READERS, AwsInventory, Reader
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.resources import (
    AttachmentEvent,
    DiskMetric,
    EfsFileSystem,
    FsxFileSystem,
    FsxVolume,
    IdleRecommendation,
    Instance,
    OptimizerEnrollment,
    Record,
    Target,
    Volume,
    VolumeRecommendation,
)

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.records import ReadRecord
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.tracking import TrackedResource
    from slackwater.ports.inventory import InventorySnapshot

type Read = Callable[[AwsSession, Target, Earlier], Iterator[ReadRecord[Record]]]

NOT_FOUND: Final = frozenset({"FileSystemNotFound", "InvalidVolume.NotFound"})
"""Error codes of EC2, EFS and FSx for an id that does not exist, or does not exist any more."""

VIEWS: Final = frozenset({IdleRecommendation, OptimizerEnrollment, VolumeRecommendation})


class OneInventory:
    """The `Inventory` of one resource: only the resource and what it depends on."""

    def __init__(self, session: AwsSession, resource: TrackedResource) -> None:
        """Make no call.

        Raises:
            ValueError: Resources of this type cannot be read individually.
        """
        narrow = {Volume.KIND: _of_volume, EfsFileSystem.KIND: _of_efs, FsxFileSystem.KIND: _of_fsx}
        if resource.type not in narrow:
            raise ValueError(f"{resource.type} is not read by itself")
        self._session, self._id, self._narrow = session, resource.id, narrow[resource.type]

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Return the resource, if it exists, and those records of these kinds that belong to it.

        What cannot be read is a gap, as in every inventory.
        """
        return self._inventory(required, optional).read(target, required, {*optional} - VIEWS)

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """Return the same as a snapshot."""
        return self._inventory(required, optional).snapshot(target, required, {*optional} - VIEWS)

    def _inventory(self, required: Collection[type[Record]], optional: Collection[type[Record]]) -> AwsInventory:
        return AwsInventory(self._session, self._narrow(self._id, {*required, *optional}))


def _of_volume(id: str, wanted: Collection[type[Record]]) -> Mapping[type[Record], Reader]:
    """Return readers for a volume, its instances and its attachment history.

    If disk metrics are needed, they also read the instances' other volumes, to find which disk of an instance is which.
    """

    def volumes(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[Volume]]:
        found = list(inventory_ec2.volumes(session, target, before, VolumeIds=[id]))
        yield from found
        if DiskMetric in wanted and (on := _instances_of(found)):
            beside = inventory_ec2.volumes(session, target, before, Filters=_filter("attachment.instance-id", on))
            yield from (one for one in beside if one.id != id)

    def instances(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[Instance]]:
        if on := _instances_of([one for one in before.all(Volume) if one.id == id]):
            yield from inventory_ec2.instances(session, target, before, Filters=_filter("instance-id", on))

    def event(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[AttachmentEvent]]:
        return inventory_cloudtrail.attachment_event(session, target, before, id)

    return {
        **READERS,
        Volume: replace(READERS[Volume], read=_unless_gone(volumes)),
        Instance: replace(READERS[Instance], read=instances, after=(Volume,)),
        AttachmentEvent: replace(READERS[AttachmentEvent], read=event),
    }


def _of_efs(id: str, _: Collection[type[Record]]) -> Mapping[type[Record], Reader]:
    """Return readers for an EFS file system and its sub-resources. EFS lists all replications in one call."""

    def file_systems(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[EfsFileSystem]]:
        return inventory_efs.file_systems(session, target, before, FileSystemId=id)

    return {**READERS, EfsFileSystem: replace(READERS[EfsFileSystem], read=_unless_gone(file_systems))}


def _of_fsx(id: str, _: Collection[type[Record]]) -> Mapping[type[Record], Reader]:
    """Return readers for an FSx file system and its volumes."""

    def file_systems(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[FsxFileSystem]]:
        return inventory_fsx.file_systems(session, target, before, FileSystemIds=[id])

    def volumes(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[FsxVolume]]:
        return inventory_fsx.volumes(session, target, before, Filters=_filter("file-system-id", [id]))

    return {
        **READERS,
        FsxFileSystem: replace(READERS[FsxFileSystem], read=_unless_gone(file_systems)),
        FsxVolume: replace(READERS[FsxVolume], read=volumes),
    }


def _unless_gone(read: Read) -> Read:
    """Return the same reader, but ignore AWS's errors for a resource that does not exist."""

    def reading(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[Record]]:
        try:
            yield from read(session, target, before)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") not in NOT_FOUND:
                raise

    return reading


def _instances_of(volumes: Collection[ReadRecord[Volume]]) -> list[str]:
    readable = (one for one in volumes if isinstance(one, Volume))
    return sorted({attachment.instance_id for volume in readable for attachment in volume.attachments})


def _filter(name: str, values: Collection[str]) -> list[dict[str, Any]]:
    return [{"Name": name, "Values": [*values]}]
