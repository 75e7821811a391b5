"""Changing an EBS volume in place: the command, and what to say beside it.

AWS takes a volume's IOPS and throughput as they are where a change of the same type does not name them, and as 3,000 and
125 MiB/s where the type changes (Amazon EC2 API Reference, "ModifyVolume"): both are always named.
"""

from __future__ import annotations

from typing import Final

from slackwater.model.ownership import managed_by
from slackwater.model.resources import Volume

ONLINE: Final = "It is done online, in hours; AWS takes at most four changes of a volume in 24 hours, one after the other."

BOTH: Final = (
    "Where ebs-surplus-iops and ebs-surplus-throughput both tell of it, set both in one change: the command of each keeps the"
    " other's setting as it was, and would undo the other."
)

AFTERWARDS: Final = (
    "The throughput needs some of its IOPS: fewer may do once it is lower. Look at ebs-surplus-iops again when it is done."
)


def modify_command(volume: Volume, volume_type: str, iops: int, mib_s: int | None = None) -> str:
    """Set type and IOPS, and the throughput where the type has one of its own (gp3)."""
    throughput = "" if mib_s is None else f" --throughput {mib_s}"
    return (
        f"aws ec2 modify-volume --volume-id {volume.id} --region {volume.target.region} --volume-type {volume_type}"
        f" --iops {iops}{throughput}"
    )


def managed_caveats(volume: Volume) -> tuple[str, ...]:
    """Where a program made it, and would make the next one the same."""
    owner = managed_by(volume.tags)
    return (f"It is managed by {owner}: change it there, or it comes back as it was.",) if owner else ()
