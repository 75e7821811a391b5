"""Reads, tags, deletes and changes EBS volumes for a clean-up.

The modules `snapshots` and `restore` back up and restore them.
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
"""EC2 accepts four changes of a volume in a rolling 24 hours (Amazon EC2 API Reference, "ModifyVolume")."""


class EbsWatcher:
    """The `Watcher` of EBS volumes."""

    def __init__(self, reading: AwsSession) -> None:
        """Make no call. The session may retry, because setting or removing tags twice has the same effect."""
        self._reading = reading

    @remedies()
    def look(self, resource: TrackedResource) -> CurrentState | None:
        """Return the volume as it is now; None if it does not exist.

        If EC2 is deleting it, its sub-resource is `going`.

        Raises:
            AwsError: The EC2 call failed.
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
        """Set tags on the volume.

        Raises:
            AwsError: The tags are not set, or it is unknown whether they are.
        """
        client = self._reading.client("ec2", resource.region)
        client.create_tags(
            Resources=[part.id for part in look.parts],
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )

    @remedies()
    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Remove tags from the volume, whatever their values. Ignores a volume that does not exist.

        Raises:
            AwsError: The tags are not removed, or it is unknown whether they are.
        """
        client = self._reading.client("ec2", resource.region)
        try:
            client.delete_tags(Resources=[resource.id], Tags=[{"Key": key} for key in keys])
        except ClientError as error:
            if code_of(error) != NO_VOLUME:
                raise

    @remedies()
    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """Return the parameters of CreateVolume, and the tags.

        Raises:
            AwsError: The EC2 call failed, or the volume does not exist.
        """
        return recorded(there(self._reading, resource))

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        """Return the one action that deletes the volume."""
        return {part.arn or resource.arn: frozenset({"ec2:DeleteVolume"}) for part in look.parts}

    def _held(self, found: Any, resource: TrackedResource) -> str | None:
        """Return why it must not be deleted, or None.

        Changes of settings do not check this, because they may apply to an attached volume.
        """
        if instances := [one.get("InstanceId", "something") for one in attachments(found)]:
            return f"it is attached to {', '.join(instances)}"
        if found["State"] not in {"available", "deleting"}:
            return f"it is {found['State']}"
        if by := managed_by_aws(found):
            return by
        return next((words for one in modifications(self._reading, resource) if (words := under_way(one))), None)


class EbsRemover:
    """The `Remover` of EBS volumes."""

    def __init__(self, asking: AwsSession) -> None:
        """`asking` sends each request once."""
        self._asking = asking

    @remedies()
    def remove(
        self,
        resource: TrackedResource,
        part: SubResource,
        final_tags: Mapping[str, str] | None = None,  # noqa: ARG002 -- the port requires it
    ) -> None:
        """Ask EC2 once to delete the volume. EC2 itself refuses to delete one that is attached.

        Raises:
            AwsError: EC2 refused it, it is unknown whether the request arrived, or the sub-resource is not the volume.
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
    """The `Changer` of EBS volumes: type, IOPS and throughput."""

    def __init__(self, reading: AwsSession, asking: AwsSession, clock: Clock = utc_now) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking, self._clock = reading, asking, clock

    @remedies()
    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """Return type, IOPS and throughput, and whether the last change is still running.

        A change runs until EC2 describes it as completed or failed.

        Raises:
            AwsError: The EC2 call failed, or the volume does not exist.
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
        """Return why EC2 would refuse the change now; None if nothing is known.

        EC2 describes only a volume's newest change. So EC2 may have counted four changes in 24 hours where Slackwater
        sees one. Then EC2 refuses the change itself.

        Raises:
            AwsError: The EC2 call failed.
        """
        found = volume(self._reading, resource)
        if found is None:
            return "the volume no longer exists"
        return next(self._refusals(resource, found, _volume_setting(to)), None)

    def _refusals(self, resource: TrackedResource, found: Mapping[str, Any], wanted: VolumeSetting) -> Iterator[str]:
        """Yield each reason why EC2 would refuse the change. The caller reports the first."""
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
        """Ask EC2 once to change the volume.

        The request names IOPS and throughput if the type has them, because EC2's defaults depend on the old values.

        Raises:
            AwsError: EC2 refused it, or it is unknown whether the request arrived.
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
        resource: TrackedResource,  # noqa: ARG002 -- the port requires it
        changed: Setting,  # noqa: ARG002
        was: Setting,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return nothing: the setting has only type, IOPS and throughput."""
        return ()


def _volume_setting(setting: Setting) -> VolumeSetting:
    if not isinstance(setting, VolumeSetting):
        raise AwsError(f"a volume has no {setting.kind} setting")
    return setting
