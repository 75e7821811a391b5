"""EBS: commands, evidence and recommendations that several detectors share.

Sources: Amazon EC2 API Reference, "ModifyVolume"; Amazon EBS User Guide, "How Amazon EBS snapshots work".
"""

from __future__ import annotations

import json
from decimal import Decimal
from shlex import quote
from typing import Final

from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change
from slackwater.model.ownership import restored_by
from slackwater.model.resources import Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.verdicts import Advice
from slackwater.performance import ebs

ONLINE: Final = "It is done online, in hours; AWS takes at most four changes of a volume in 24 hours, one after the other."

BOTH: Final = (
    "Where ebs-surplus-iops and ebs-surplus-throughput both tell of it, set both in one change: the command of each keeps the"
    " other's setting as it was, and would undo the other."
)

AFTERWARDS: Final = (
    "The throughput needs some of its IOPS: fewer may do once it is lower. Look at ebs-surplus-iops again when it is done."
)


def gp3(iops: int, mib_s: int) -> VolumeSetting:
    """What a gp3 volume is set to."""
    return VolumeSetting(volume_type="gp3", iops=iops, throughput_mib_s=mib_s)


def modify_command(volume: Volume, to: VolumeSetting) -> str:
    """Set the type, and the IOPS and the throughput where it has them of its own."""
    rates = (("iops", to.iops), ("throughput", to.throughput_mib_s))
    return (
        f"aws ec2 modify-volume --volume-id {volume.id} --region {volume.target.region} --volume-type {to.volume_type}"
        + "".join(f" --{name} {rate}" for name, rate in rates if rate is not None)
    )


def managed_caveats(volume: Volume) -> tuple[str, ...]:
    """Where a program made it, and would make the next one the same."""
    owner = volume.managed_by
    return (f"It is managed by {owner}: change it there, or it comes back as it was.",) if owner else ()


MOST_WAITS: Final = 144
"""`aws ec2 wait snapshot-completed` gives up after 10 minutes (40 looks, 15 seconds apart): a day of such waits.

The first snapshot of a large volume takes hours. A wait for one that failed ends at once, and so do all of them.
"""


def billed_words(volume: Volume) -> str:
    """`500 GiB gp3 with 1,000 IOPS and 125 MiB/s paid for`: what it costs money for."""
    extras = [f"{unit.quantity:,} {unit.item.unit.removesuffix('-month')}" for unit in ebs.monthly_units(volume)[1:]]
    paid = f" with {' and '.join(extras)} paid for" if extras else ""
    return f"{volume.size_gib:,} GiB {volume.volume_type}{paid}"


def stored_whole(volume: Volume) -> Change:
    """A snapshot of it that is kept, if every block was written."""
    return Change(EBS_SNAPSHOT_STORAGE, Decimal(-volume.size_gib))


def snapshot_command(volume: Volume) -> str:
    """Take a snapshot that says what it was made of, and nothing else."""
    rates = ((volume.iops, "IOPS"), (volume.throughput_mib_s, "MiB/s"))
    speed = "".join(f"{rate} {unit}, " for rate, unit in rates if rate)
    description = f"{volume.id}: {volume.volume_type}, {volume.size_gib} GiB, {speed}{volume.availability_zone}"
    name = {"ResourceType": "snapshot", "Tags": [{"Key": "Name", "Value": volume.name}]}  # in JSON a comma is no separator
    return (
        f"aws ec2 create-snapshot --region {volume.target.region} --volume-id {volume.id}"
        f" --description {quote(description)} --tag-specifications {quote(json.dumps([name]))}"
    )


def snapshot_and_delete(volume: Volume, steps: str, *, may_delete: bool) -> Advice:
    """Let go of it; without `may_delete` the command ends with the snapshot, because a person must look first."""
    region = f"--region {volume.target.region}"
    whole = (
        f"id=$({snapshot_command(volume)} --query SnapshotId --output text)"
        f" && for n in $(seq {MOST_WAITS})"
        f'; do aws ec2 wait snapshot-completed {region} --snapshot-ids "$id" && break; done'
        f" && aws ec2 delete-volume {region} --volume-id {volume.id}"
    )
    waits = " The command waits for up to a day, and deletes nothing before the snapshot is completed."
    return Advice(
        action="snapshot-and-delete",
        summary=steps + waits if may_delete else steps,
        changes=ebs.monthly_units(volume),
        risk="As long as it is kept the snapshot is billed for the blocks in use; a volume made from it has a new id.",
        reversible=True,
        command=whole if may_delete else snapshot_command(volume),
        deletes=may_delete,
    )


def keep_as_snapshot(volume: Volume) -> Advice:
    """The same, and the snapshot stays for good."""
    return Advice(
        action="keep-as-snapshot",
        summary="The same, but keep the snapshot for good (priced as if every block were in use).",
        changes=(*ebs.monthly_units(volume), stored_whole(volume)),
        risk="A restored volume reads slowly until its blocks are fetched.",
        reversible=True,
    )


def keep_archived(volume: Volume) -> Advice:
    """The same, and the snapshot stays in the archive tier."""
    return Advice(
        action="keep-as-archived-snapshot",
        summary=(
            "The same, but move the completed snapshot to the archive tier: `aws ec2 modify-snapshot-tier"
            f" --region {volume.target.region} --storage-tier archive --snapshot-id` and its id."
        ),
        changes=None,
        risk="It is billed for 90 days at least, and for each GiB that is fetched back, which takes up to three days.",
        reversible=True,
    )


def protecting_caveats(volume: Volume, where: str = "delete it there, never behind its back") -> tuple[str, ...]:
    """Why nobody may simply delete it: another service manages it, it was restored, or its tags could not be read."""
    owner, who = volume.managed_by, restored_by(volume.tags)
    return (
        *((f"It is managed by {owner}: {where}.",) if owner else ()),
        *((f"{who} restored it from a backup: somebody may be about to need it.",) if who else ()),
        *(("Its tags could not be read: it may be protected.",) if volume.tags is None else ()),
    )
