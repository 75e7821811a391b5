"""Reads of an account what a detector has to know of one volume or file system: another look, before it is cleaned up.

What a detector sees of it is what it sees in the whole inventory, and so is its answer. AWS Compute Optimizer's views
are left
out: they change no answer, and it lists them all.
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
"""What EC2, EFS and FSx answer about an id that is none of theirs, or none any more."""

VIEWS: Final = frozenset({IdleRecommendation, OptimizerEnrollment, VolumeRecommendation})


class OneInventory:
    """The Inventory of one resource: nothing but it, and what it hangs on."""

    def __init__(self, session: AwsSession, resource: TrackedResource) -> None:
        """Makes no call.

        Raises:
            ValueError: there is no narrow inventory of such a resource.
        """
        narrow = {Volume.KIND: _of_volume, EfsFileSystem.KIND: _of_efs, FsxFileSystem.KIND: _of_fsx}
        if resource.type not in narrow:
            raise ValueError(f"{resource.type} is not read by itself")
        self._session, self._id, self._narrow = session, resource.id, narrow[resource.type]

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """The resource, where it is there, and of these kinds what belongs to it.

        What cannot be read is a gap, as ever.
        """
        return self._inventory(required, optional).read(target, required, {*optional} - VIEWS)

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """The same."""
        return self._inventory(required, optional).snapshot(target, required, {*optional} - VIEWS)

    def _inventory(self, required: Collection[type[Record]], optional: Collection[type[Record]]) -> AwsInventory:
        return AwsInventory(self._session, self._narrow(self._id, {*required, *optional}))


def _of_volume(id: str, wanted: Collection[type[Record]]) -> Mapping[type[Record], Reader]:
    """A volume, its instances, its history; and, where it counts which disk of an instance is which, its instances'
    volumes.
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
    """An EFS file system. What hangs on one is read of it alone; EFS lists replications in one call."""

    def file_systems(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[EfsFileSystem]]:
        return inventory_efs.file_systems(session, target, before, FileSystemId=id)

    return {**READERS, EfsFileSystem: replace(READERS[EfsFileSystem], read=_unless_gone(file_systems))}


def _of_fsx(id: str, _: Collection[type[Record]]) -> Mapping[type[Record], Reader]:
    """An FSx file system and its volumes."""

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
    """The same, but what AWS calls not found is not there, rather than not read."""

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
