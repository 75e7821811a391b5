"""EBS volumes: what a clean-up looks at, marks, deletes and changes in place.

How it backs up and restores is beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.ebs.volumes import (
    NO_VOLUME,
    WITH_IOPS,
    WITH_THROUGHPUT,
    attachments,
    managed_by_aws,
    modifications,
    recorded,
    there,
    under_way,
    utc_now,
    volume,
)
from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import CurrentState, SubResource
from slackwater.model.settings import Setting, VolumeSetting
from slackwater.model.units import GIB
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.tracking import TrackedResource
    from slackwater.ports.clock import Clock

WATCHER_ACTIONS: Final = frozenset(
    {"ec2:CreateTags", "ec2:DeleteTags", "ec2:DescribeVolumes", "ec2:DescribeVolumesModifications"}
)
REMOVER_ACTIONS: Final = frozenset({"ec2:DeleteVolume", "ec2:DescribeVolumes"})
CHANGER_ACTIONS: Final = frozenset({"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications", "ec2:ModifyVolume"})

WRONG_STATE: Final = "IncorrectState"

CHANGES_A_DAY: Final = 4
DAY: Final = timedelta(hours=24)
"""EC2 takes four changes of a volume in a rolling 24 hours (Amazon EC2 API Reference, "ModifyVolume")."""


class EbsWatcher:
    """The Watcher of EBS volumes."""

    def __init__(self, reading: AwsSession) -> None:
        """Makes no call. Tags are put on and taken off by a session that may try again: that comes to the same."""
        self._reading = reading

    @remedies()
    def look(self, resource: TrackedResource) -> CurrentState | None:
        """The volume as it is now. One that EC2 is deleting has a part that is going.

        Raises:
            AwsError: EC2 did not say.
        """
        found = volume(self._reading, resource)
        if found is None:
            return None
        part = SubResource(kind="volume", id=resource.id, arn=resource.arn, going=found["State"] == "deleting")
        return CurrentState(
            born_at=found["CreateTime"],
            tags=tags_of(found.get("Tags")),
            parts=(part,),
            held=self._held(found, resource),
            size_bytes=found["Size"] * GIB,
        )

    @remedies()
    def add_tags(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        """Put tags on it.

        Raises:
            AwsError: EC2 did not, or did not say.
        """
        client = self._reading.client("ec2", resource.region)
        client.create_tags(
            Resources=[part.id for part in look.parts],
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )

    @remedies()
    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Take tags off it, whatever their values; a volume that is gone is fine.

        Raises:
            AwsError: EC2 did not, or did not say.
        """
        client = self._reading.client("ec2", resource.region)
        try:
            client.delete_tags(Resources=[resource.id], Tags=[{"Key": key} for key in keys])
        except ClientError as error:
            if code_of(error) != NO_VOLUME:
                raise

    @remedies()
    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """What CreateVolume takes, and its tags.

        Raises:
            AwsError: EC2 did not say, or there is no such volume.
        """
        return recorded(there(self._reading, resource))

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        """To delete it, and nothing else."""
        return {part.arn or resource.arn: frozenset({"ec2:DeleteVolume"}) for part in look.parts}

    def _held(self, found: Any, resource: TrackedResource) -> str | None:
        """Why it must not be deleted; a change of its settings may be of an attached volume."""
        if instances := [one.get("InstanceId", "something") for one in attachments(found)]:
            return f"it is attached to {', '.join(instances)}"
        if found["State"] not in {"available", "deleting"}:
            return f"it is {found['State']}"
        if by := managed_by_aws(found):
            return by
        return next((words for one in modifications(self._reading, resource) if (words := under_way(one))), None)


class EbsRemover:
    """The Remover of EBS volumes."""

    def __init__(self, asking: AwsSession) -> None:
        """`asking` asks once."""
        self._asking = asking

    @remedies()
    def remove(
        self,
        resource: TrackedResource,
        part: SubResource,
        final_tags: Mapping[str, str] | None = None,  # noqa: ARG002 -- as the port has it
    ) -> None:
        """Ask EC2 once to delete the volume; EC2 itself refuses one that is attached.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard; or the part is not the volume.
        """
        if (part.kind, part.id) != ("volume", resource.id):
            raise AwsError(f"{part.kind} {part.id} is no part of {resource.id}: it is not deleted")
        if part.going:
            return
        try:
            self._asking.client("ec2", resource.region).delete_volume(VolumeId=resource.id)
        except ClientError as error:
            if code_of(error) not in {NO_VOLUME, WRONG_STATE}:
                raise
            if code_of(error) == WRONG_STATE and not self._going(resource):
                raise

    def _going(self, resource: TrackedResource) -> bool:
        found = volume(self._asking, resource)
        return found is None or found["State"] == "deleting"


class EbsChanger:
    """The Changer of EBS volumes: type, IOPS and throughput."""

    def __init__(self, reading: AwsSession, asking: AwsSession, clock: Clock = utc_now) -> None:
        """`asking` asks once."""
        self._reading, self._asking, self._clock = reading, asking, clock

    @remedies()
    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """Type, IOPS and throughput as EC2 describes them; under way until EC2 calls the last change completed, or
        failed.

        Raises:
            AwsError: EC2 did not say, or there is no such volume.
        """
        _volume_setting(like)
        found = there(self._reading, resource)
        kind = found["VolumeType"]
        present = VolumeSetting(
            volume_type=kind,
            iops=found["Iops"] if kind in WITH_IOPS else None,
            throughput_mib_s=found["Throughput"] if kind in WITH_THROUGHPUT else None,
        )
        return present, any(under_way(one) for one in modifications(self._reading, resource))

    @remedies()
    def refusal(self, resource: TrackedResource, to: Setting) -> str | None:
        """Why EC2 would not change it now.

        EC2 tells of a volume's newest change only: it may have counted four within 24 hours where one is seen here.
        Then it refuses the change itself.

        Raises:
            AwsError: EC2 did not say.
        """
        found = volume(self._reading, resource)
        if found is None:
            return "the volume no longer exists"
        return next(self._refusals(resource, found, _volume_setting(to)), None)

    def _refusals(self, resource: TrackedResource, found: Mapping[str, Any], wanted: VolumeSetting) -> Iterator[str]:
        """Yield each reason why EC2 would refuse the change, the one to report first."""
        if found["State"] not in {"available", "in-use"}:
            yield f"it is {found['State']}"
        if by := managed_by_aws(found):
            yield by
        if found.get("MultiAttachEnabled") and wanted.volume_type not in {"io1", "io2"}:
            yield f"several instances may attach it, and {wanted.volume_type} does not let them"
        changes = list(modifications(self._reading, resource))
        if words := next((words for one in changes if (words := under_way(one))), None):
            yield words
        of_today = sorted(one["StartTime"] for one in changes if self._clock() - one["StartTime"] < DAY)
        if len(of_today) >= CHANGES_A_DAY:
            next_at = of_today[-CHANGES_A_DAY] + DAY
            yield f"EC2 takes four changes in 24 hours: the next from {next_at:%Y-%m-%d %H:%M} UTC on"

    @remedies()
    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask EC2 once. IOPS and throughput are named wherever the type has them: EC2's defaults depend on what was.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        wanted = _volume_setting(to)
        chosen: dict[str, Any] = {"VolumeType": wanted.volume_type}
        for name, given, types in (
            ("Iops", wanted.iops, WITH_IOPS),
            ("Throughput", wanted.throughput_mib_s, WITH_THROUGHPUT),
        ):
            if (given is not None) != (wanted.volume_type in types):
                raise AwsError(
                    f"{wanted.volume_type} {'needs' if given is None else 'takes no'} {name}: it is not changed"
                )
            if given is not None:
                chosen[name] = given
        client: Any = self._asking.client("ec2", resource.region)
        client.modify_volume(VolumeId=resource.id, **chosen)

    def left_behind(
        self,
        resource: TrackedResource,  # noqa: ARG002 -- as the port has it
        changed: Setting,  # noqa: ARG002
        was: Setting,  # noqa: ARG002
    ) -> Sequence[str]:
        """Nothing: type, IOPS and throughput are all there is to it."""
        return ()


def _volume_setting(setting: Setting) -> VolumeSetting:
    if not isinstance(setting, VolumeSetting):
        raise AwsError(f"a volume has no {setting.kind} setting")
    return setting
