"""Changing an EBS volume in place: the command, out of the setting, and what to say beside it.

AWS takes a volume's IOPS and throughput as they are where a change of the same type does not name them, and as 3,000 and
125 MiB/s where the type changes (Amazon EC2 API Reference, "ModifyVolume"): both are always named.
"""

from __future__ import annotations

from typing import Final

from slackwater.model.resources import Volume
from slackwater.model.settings import VolumeSetting

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
