"""EBS: commands, evidence and recommendations that several detectors share.

Sources: Amazon EC2 API Reference, "ModifyVolume"; Amazon EBS User Guide, "How Amazon EBS snapshots work".
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from shlex import quote
from typing import Final

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric
from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change, difference
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Unknown
from slackwater.performance import ebs
from slackwater.rules import advice
from slackwater.rules.series import Reader

BALANCE: Final = Metric("AWS/EBS", "BurstBalance", "Minimum", "percent")
"""EBS publishes it only while the volume is active (Amazon EBS User Guide, "Amazon CloudWatch metrics")."""

_READER: Final = Reader("VolumeId")
daily, needs = _READER.daily, _READER.needs

ONLINE: Final = "EBS makes the change online within hours, and accepts at most four changes of a volume in 24 hours."

BOTH: Final = (
    "If ebs-surplus-iops and ebs-surplus-throughput both flag this volume, set both values in one change: the command"
    " of each one keeps the current value of the other."
)

LOWERED: Final = "A load that comes less often than the window is slower until you raise the setting again."
AFTERWARDS: Final = "The throughput requires some of the IOPS. Check ebs-surplus-iops again after the change."


def attached_at(volume: Volume) -> datetime:
    """Return when the volume was last attached to an instance; its creation time if EC2 does not return that."""
    return max([volume.created_at, *(one.attached_at for one in volume.attachments if one.attached_at)])


def running(volume: Volume, seen: Seen) -> Sequence[Instance] | Fine | Unknown:
    """Return the running instances that have the volume, or the verdict if there is none."""
    if not volume.attachments:
        return Fine("it is not attached")
    found = {one.instance_id: seen.fleet.get(Instance, one.instance_id) for one in volume.attachments}
    if lost := next((id_ for id_, instance in found.items() if instance is None), None):
        return Unknown(f"its instance {lost} is not in the inventory")
    instances = [instance for instance in found.values() if instance]
    there = [instance for instance in instances if instance.state == "running"]
    return there or Fine(f"its instance is {instances[0].state}: there is no I/O to judge")


def carrier(volume: Volume, seen: Seen) -> InstanceType | Fine | Unknown:
    """Return the type of the running instance that has the volume, or the verdict if there is none."""
    instances = running(volume, seen)
    if isinstance(instances, Fine | Unknown):
        return instances
    name = instances[0].instance_type
    return seen.fleet.get(InstanceType, name) or Unknown(f"its instance's type {name} is not in the inventory")


def carried(kind: InstanceType) -> tuple[Evidence, ...]:
    """Return evidence: the maximum of an instance type; empty if EC2 does not publish it."""
    limits = ebs.instance_limits(kind, "gp3")
    if limits is None:
        return ()
    reached = ((round(limits.burst.bytes_per_s / MIB, 1), "MiB/s"), (limits.burst.iops, "IOPS"))
    return tuple(Evidence(f"Limit of {kind.id}", value, unit) for value, unit in reached)


def gp3(volume: Volume, iops: int, mib_s: int) -> Volume:
    """Return the same volume as gp3."""
    return replace(volume, volume_type="gp3", iops=iops, throughput_mib_s=mib_s)


def modify(volume: Volume, to: Volume, action: str, summary: str, risk: str) -> Advice:
    """Recommend to change a volume online: its type, IOPS or throughput, or to a larger size."""
    grows = to.size_gib > volume.size_gib
    setting = VolumeSetting(volume_type=to.volume_type, iops=to.iops, throughput_mib_s=to.throughput_mib_s)
    rates = ((volume.iops, to.iops, "IOPS"), (volume.throughput_mib_s, to.throughput_mib_s, "MiB/s"))
    changed = [f"{then:,} {unit}" for now, then, unit in rates if then is not None and then != now]
    return Advice(
        action=action,
        summary=summary,
        changes=difference(ebs.monthly_units(volume), ebs.monthly_units(to)),
        risk=f"{risk} {ONLINE}",
        reversible=not grows,
        new_value=changed[0] if len(changed) == 1 and to.volume_type == volume.volume_type and not grows else None,
        command=modify_command(to) + (f" --size {to.size_gib}" if grows else ""),
        setting=None if grows else advice.by_program(volume, setting),  # a VolumeSetting has no size
    )


def modify_command(to: Volume) -> str:
    """Return the command that sets a volume's type and its provisioned IOPS and throughput.

    The command always names both. If the type changes, EBS sets a missing value to 3,000 IOPS or 125 MiB/s.
    """
    rates = (("iops", to.iops), ("throughput", to.throughput_mib_s))
    return (
        f"aws ec2 modify-volume --volume-id {to.id} --region {to.target.region} --volume-type {to.volume_type}"
        + "".join(f" --{name} {rate}" for name, rate in rates if rate is not None)
    )


def billed_words(volume: Volume) -> str:
    """Return what AWS bills for a volume: `500 GiB gp3 with 1,000 IOPS and 125 MiB/s above the included`."""
    extras = [f"{unit.quantity:,} {unit.item.unit.removesuffix('-month')}" for unit in ebs.monthly_units(volume)[1:]]
    how = "above the included" if volume.volume_type == "gp3" else "provisioned"
    return f"{volume.size_gib:,} GiB {volume.volume_type}" + (f" with {' and '.join(extras)} {how}" if extras else "")


def stored_whole(volume: Volume) -> Change:
    """Return the billed units of a volume's snapshot. They include all blocks, because the used ones are unknown."""
    return Change(EBS_SNAPSHOT_STORAGE, Decimal(-volume.size_gib))


def snapshot_and_delete(volume: Volume, steps: str, *, may_delete: bool) -> Advice:
    """Recommend to take a snapshot and delete the volume.

    The command only creates the snapshot, because a pasted line must never delete data.
    """
    rates = ((volume.iops, "IOPS"), (volume.throughput_mib_s, "MiB/s"))
    speed = "".join(f"{rate} {unit}, " for rate, unit in rates if rate)
    description = f"{volume.id}: {volume.volume_type}, {volume.size_gib} GiB, {speed}{volume.availability_zone}"
    name = {"ResourceType": "snapshot", "Tags": [{"Key": "Name", "Value": volume.name}]}  # JSON, for names with commas
    return Advice(
        action="snapshot-and-delete",
        summary=f"{steps} The command only creates the snapshot.",
        changes=ebs.monthly_units(volume),
        risk="AWS bills the snapshot for its used blocks while you keep it. A volume from the snapshot has another ID.",
        reversible=True,
        command=(
            f"aws ec2 create-snapshot --region {volume.target.region} --volume-id {volume.id}"
            f" --description {quote(description)} --tag-specifications {quote(json.dumps([name]))}"
        ),
        deletes=may_delete,
    )


def keep_as_snapshot(volume: Volume) -> Advice:
    """Recommend to delete the volume and keep the snapshot."""
    return Advice(
        action="keep-as-snapshot",
        summary="Do the same, but keep the snapshot. The saving assumes that it stores every block.",
        changes=(*ebs.monthly_units(volume), stored_whole(volume)),
        risk="A restored volume is slow until EBS has fetched its blocks.",
        reversible=True,
    )


def keep_archived(volume: Volume) -> Advice:
    """Recommend to delete the volume and keep the snapshot in the archive tier."""
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
    """Return caveats: who manages the instances of a volume. The engine only says who manages the volume."""
    owners = sorted({owner for instance in instances if (owner := instance.managed_by)})
    return tuple(f"Its instance is managed by {owner}: change it there." for owner in owners)
