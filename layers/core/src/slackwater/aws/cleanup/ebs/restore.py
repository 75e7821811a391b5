"""Restores deleted EBS volumes from their snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.cleanup.ebs.volumes import WITH_IOPS, WITH_THROUGHPUT, recorded, utc_now, volume
from slackwater.aws.client.errors import remedies
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM, Restored

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession
    from slackwater.model.cleanup import Cleanup
    from slackwater.model.tracking import TrackedResource
    from slackwater.ports.clock import Clock

KEY_ACTIONS: Final = frozenset(
    {
        "kms:CreateGrant",
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
    }
)
"""EC2 does this with the caller's permissions if the volume has a customer managed key (Amazon EBS User Guide,
"Requirements for Amazon EBS encryption").
"""

RESTORER_ACTIONS: Final = frozenset({"ec2:CreateTags", "ec2:CreateVolume", "ec2:DescribeVolumes"}) | KEY_ACTIONS
"""CreateVolume needs CreateTags to tag the volume."""

APPEARS_WITHIN: Final = timedelta(hours=1)
"""EC2 lists a new volume within seconds.

If it does not within this time, EC2 has given up: it checks the key after it has answered.
"""

WORDS: Final[Mapping[str, str]] = {
    "availability_zone": "zone",
    "size_gib": "size in GiB",
    "volume_type": "type",
    "iops": "IOPS",
    "throughput_mib_s": "throughput in MiB/s",
    "multi_attach": "Multi-Attach",
    "encrypted": "encryption",
    "kms_key_id": "KMS key",
    "outpost_arn": "Outpost",
}
"""The settings to compare, in addition to the tags."""


class EbsRestorer:
    """The `Restorer` of EBS volumes."""

    def __init__(self, reading: AwsSession, asking: AwsSession, clock: Clock = utc_now) -> None:
        """`asking` sends each request once."""
        self._reading, self._asking, self._clock = reading, asking, clock

    @remedies()
    def restore(self, cleanup: Cleanup) -> Restored:
        """Check whether the volume still exists. If not, create it once from its verified snapshot, and wait for it.

        If its deletion was requested, the volume must be seen twice to count as existing: EC2 may list a volume that it
        has just deleted.

        Raises:
            AwsError: An EC2 call failed. Nothing is lost.
        """
        resource, before = cleanup.resource, cleanup.restored
        if self._is_there(cleanup):
            seen_before = before is not None and before.id == resource.id
            complete = seen_before or not cleanup.removals
            return Restored(state="done" if complete else "running", id=resource.id, arn=resource.arn)
        snapshot = next((one.id for one in cleanup.backups if one.state == "verified" and one.id), None)
        if snapshot is None or cleanup.recorded is None:
            none = "it was deleted without a backup" if cleanup.scratch else "there is no verified backup of it"
            return Restored(state="failed", why=none if snapshot is None else "what it was like was not recorded")
        if before and before.state == "running" and before.id and before.id != resource.id:
            return self._looked_at(cleanup, cleanup.recorded, before.id, snapshot)
        made = self._made_already(resource.region, snapshot) or self._make(cleanup, cleanup.recorded, snapshot)
        return Restored(state="running", id=made, arn=_arn(resource, made))

    def _is_there(self, cleanup: Cleanup) -> bool:
        found = volume(self._reading, cleanup.resource)
        return found is not None and found["State"] != "deleting" and cleanup.born_at in {None, found["CreateTime"]}

    def _made_already(self, region: str, snapshot: str) -> str | None:
        call = self._reading.client("ec2", region).describe_volumes
        found = pages(call, "Volumes", Filters=[{"Name": f"tag:{RESTORED_FROM}", "Values": [snapshot]}])
        states = {"creating", "available", "in-use"}
        # The tag alone does not prove it, because people copy tags to other volumes.
        made = (one for one in found if one["State"] in states and one.get("SnapshotId") == snapshot)
        return next((one["VolumeId"] for one in made), None)

    def _make(self, cleanup: Cleanup, was: Mapping[str, Any], snapshot: str) -> str:
        """Create the volume, and return its id.

        The same clean-up always sends the same token, so that EC2 creates only one volume. After a volume that EC2 gave
        up, it sends another token.
        """
        given_up = cleanup.restored.id if cleanup.restored and cleanup.restored.state == "failed" else None
        words = f"{cleanup.finding_id}/{cleanup.attempt}/{snapshot}/{given_up or ''}"
        tags = {key: value for key, value in was["tags"].items() if _can_restore_tag(key)} | {RESTORED_FROM: snapshot}
        chosen = {
            "Iops": was["iops"] if was["volume_type"] in WITH_IOPS else None,
            "Throughput": was["throughput_mib_s"] if was["volume_type"] in WITH_THROUGHPUT else None,
            "MultiAttachEnabled": was["multi_attach"] or None,
            "Encrypted": was["encrypted"] or None,
            "KmsKeyId": was["kms_key_id"] if was["encrypted"] else None,
            "OutpostArn": was["outpost_arn"],
        }
        client: Any = self._asking.client("ec2", cleanup.resource.region)
        answer = client.create_volume(
            SnapshotId=snapshot,
            AvailabilityZone=was["availability_zone"],
            VolumeType=was["volume_type"],
            Size=was["size_gib"],
            TagSpecifications=[
                {
                    "ResourceType": "volume",
                    "Tags": [{"Key": key, "Value": value} for key, value in sorted(tags.items())],
                }
            ],
            ClientToken=sha256(words.encode()).hexdigest(),
            **{name: value for name, value in chosen.items() if value is not None},
        )
        return str(answer["VolumeId"])

    def _looked_at(self, cleanup: Cleanup, was: Mapping[str, Any], id: str, snapshot: str) -> Restored:
        made = replace(cleanup.resource, id=id, arn=_arn(cleanup.resource, id))
        restored = Restored(state="running", id=id, arn=made.arn)
        found = volume(self._reading, made)
        if found is None and self._clock() - _began(cleanup) < APPEARS_WITHIN:
            return restored
        if found is None or found["State"] in {"error", "deleting"}:
            why = "EC2 began to make it, and gave it up: may its KMS key be used, and is it enabled?"
            return replace(restored, state="failed", why=f"{id}: {why}")
        if found["State"] == "creating":
            return restored
        return replace(
            restored, state="done", differences=tuple(_differences(cleanup.resource.id, was, found, snapshot))
        )


def _began(cleanup: Cleanup) -> datetime:
    """Return the latest known time at which the restore began."""
    asked = [one.asked_at for one in cleanup.removals]
    return max([cleanup.started_at, *asked, *([cleanup.undone.at] if cleanup.undone else [])])


def _arn(resource: TrackedResource, id: str) -> str:
    return f"{resource.arn.rpartition('/')[0]}/{id}"


def _can_restore_tag(key: str) -> bool:
    return key not in {CLEANUP_TAG, ACT_AFTER} and not key.startswith("aws:")


def _differences(was_id: str, was: Mapping[str, Any], found: Any, snapshot: str) -> Iterable[str]:
    now = recorded(found)
    yield f"its id is {found['VolumeId']}, not {was_id}: change everything that refers to the old id"
    yield f"it reads slowly until each block was fetched from {snapshot} once"
    for name, words in WORDS.items():
        if now[name] != was.get(name):
            yield f"its {words} is {now[name]}, not {was.get(name)}"
    tags = tags_of(found.get("Tags"))
    if lost := sorted(
        key for key, value in was["tags"].items() if key not in {CLEANUP_TAG, ACT_AFTER} and tags.get(key) != value
    ):
        reserved = (
            " (AWS keeps names that begin with aws: to itself)" if any(key.startswith("aws:") for key in lost) else ""
        )
        yield f"it lacks the tags {', '.join(lost)}{reserved}"
    yield f"it has a tag {RESTORED_FROM}"
