"""EBS: commands, evidence and recommendations that several detectors share.

Sources: Amazon EC2 API Reference, "ModifyVolume"; Amazon EBS User Guide, "How Amazon EBS snapshots work".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from shlex import quote
from typing import Final

from slackwater.model.metrics import Metric, Need
from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change
from slackwater.model.resources import Instance, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice
from slackwater.performance import ebs

ONLINE: Final = "EBS makes the change online within hours, and accepts at most four changes of a volume in 24 hours."

BOTH: Final = (
    "If ebs-surplus-iops and ebs-surplus-throughput both flag this volume, set both values in one change: the command"
    " of each one keeps the current value of the other."
)

AFTERWARDS: Final = "The throughput requires some of the IOPS. Check ebs-surplus-iops again after the change."


def daily(volume: Volume, days: float, *metrics: Metric) -> list[Need]:
    """These metrics of the last `days`, with a point for each day."""
    return needs(volume, DAY_S, days, *metrics)


def needs(volume: Volume, period_s: int, days: float, *metrics: Metric) -> list[Need]:
    """These metrics of the last `days`, with a point for each period."""
    return [metric.need(("VolumeId", volume.id), period_s=period_s, days=days) for metric in metrics]


def attached_at(volume: Volume) -> datetime:
    """When the volume was last attached to an instance. Its creation if EC2 returns no time."""
    return max([volume.created_at, *(one.attached_at for one in volume.attachments if one.attached_at)])


def gp3(iops: int, mib_s: int) -> VolumeSetting:
    """A setting of a gp3 volume."""
    return VolumeSetting(volume_type="gp3", iops=iops, throughput_mib_s=mib_s)


def modify_command(volume: Volume, to: VolumeSetting) -> str:
    """The command that sets the type, and the IOPS and throughput that it provisions.

    It always names both. If the type changes, EBS sets a missing value to 3,000 IOPS or 125 MiB/s.
    """
    rates = (("iops", to.iops), ("throughput", to.throughput_mib_s))
    return (
        f"aws ec2 modify-volume --volume-id {volume.id} --region {volume.target.region} --volume-type {to.volume_type}"
        + "".join(f" --{name} {rate}" for name, rate in rates if rate is not None)
    )


MOST_WAITS: Final = 144
"""`aws ec2 wait snapshot-completed` gives up after 10 minutes (40 checks, 15 seconds apart); these waits take a day.

The first snapshot of a large volume takes hours. All waits for a failed snapshot end at once.
"""


def billed_words(volume: Volume) -> str:
    """What AWS bills for a volume: `500 GiB gp3 with 1,000 IOPS and 125 MiB/s provisioned`."""
    extras = [f"{unit.quantity:,} {unit.item.unit.removesuffix('-month')}" for unit in ebs.monthly_units(volume)[1:]]
    paid = f" with {' and '.join(extras)} provisioned" if extras else ""
    return f"{volume.size_gib:,} GiB {volume.volume_type}{paid}"


def stored_whole(volume: Volume) -> Change:
    """The price of a snapshot of a volume. The used blocks are unknown, so it counts all of them."""
    return Change(EBS_SNAPSHOT_STORAGE, Decimal(-volume.size_gib))


def snapshot_command(volume: Volume) -> str:
    """The command that creates a snapshot with a description of the volume."""
    rates = ((volume.iops, "IOPS"), (volume.throughput_mib_s, "MiB/s"))
    speed = "".join(f"{rate} {unit}, " for rate, unit in rates if rate)
    description = f"{volume.id}: {volume.volume_type}, {volume.size_gib} GiB, {speed}{volume.availability_zone}"
    name = {"ResourceType": "snapshot", "Tags": [{"Key": "Name", "Value": volume.name}]}  # JSON, for names with commas
    return (
        f"aws ec2 create-snapshot --region {volume.target.region} --volume-id {volume.id}"
        f" --description {quote(description)} --tag-specifications {quote(json.dumps([name]))}"
    )


def snapshot_and_delete(volume: Volume, steps: str, *, may_delete: bool) -> Advice:
    """Recommend a snapshot and a deletion. Without `may_delete`, the command only creates the snapshot."""
    region = f"--region {volume.target.region}"
    whole = (
        f"id=$({snapshot_command(volume)} --query SnapshotId --output text)"
        f" && for n in $(seq {MOST_WAITS})"
        f'; do aws ec2 wait snapshot-completed {region} --snapshot-ids "$id" && break; done'
        f" && aws ec2 delete-volume {region} --volume-id {volume.id}"
    )
    waits = " The command waits up to a day for the snapshot and then deletes the volume."
    return Advice(
        action="snapshot-and-delete",
        summary=steps + waits if may_delete else steps,
        changes=ebs.monthly_units(volume),
        risk="AWS bills the snapshot for its used blocks while you keep it. A volume from the snapshot has another ID.",
        reversible=True,
        command=whole if may_delete else snapshot_command(volume),
        deletes=may_delete,
    )


def keep_as_snapshot(volume: Volume) -> Advice:
    """Recommend the same, and to keep the snapshot."""
    return Advice(
        action="keep-as-snapshot",
        summary="Do the same, but keep the snapshot. The saving assumes that it stores every block.",
        changes=(*ebs.monthly_units(volume), stored_whole(volume)),
        risk="A restored volume is slow until EBS has fetched its blocks.",
        reversible=True,
    )


def keep_archived(volume: Volume) -> Advice:
    """Recommend the same, and to keep the snapshot in the archive tier."""
    return Advice(
        action="keep-as-archived-snapshot",
        summary=(
            "Do the same, but move the complete snapshot to the archive tier: `aws ec2 modify-snapshot-tier"
            f" --region {volume.target.region} --storage-tier archive --snapshot-id` and its ID."
        ),
        changes=None,
        risk="AWS bills at least 90 days, and each GiB that you restore, which takes up to three days.",
        reversible=True,
    )


def managed_instances(instances: Iterable[Instance]) -> tuple[str, ...]:
    """Who manages the instances of a volume. The engine says only who manages the volume."""
    owners = sorted({owner for instance in instances if (owner := instance.managed_by)})
    return tuple(f"Its instance is managed by {owner}: change it there." for owner in owners)
