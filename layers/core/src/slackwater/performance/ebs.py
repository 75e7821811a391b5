"""EBS volumes: what is included, what is provisioned. Amazon EBS User Guide, "Amazon EBS General Purpose SSD volumes"."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import Final

from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, ebs_iops, ebs_iops_tier, ebs_storage
from slackwater.model.resources import Volume

GP3_INCLUDED_IOPS: Final = 3_000
GP3_INCLUDED_MIB_S: Final = 125
IO2_TIER_IOPS: Final = (32_000, 64_000)
"""io2 IOPS have one price up to the first bound, another up to the second, a third above."""


def gp3_throughput_for(peak_mib_s: float, headroom_percent: float) -> int:
    """The smallest gp3 throughput setting (whole MiB/s) that keeps `headroom_percent` above a peak."""
    return max(GP3_INCLUDED_MIB_S, ceil(peak_mib_s * (1 + headroom_percent / 100)))


def monthly_units(volume: Volume) -> tuple[Change, ...]:
    """Everything a volume is billed for, whether it is attached or not."""
    units = [Change(ebs_storage(volume.volume_type), Decimal(volume.size_gib))]
    iops = volume.iops or 0
    match volume.volume_type:
        case "gp3":
            units.append(Change(ebs_iops("gp3"), Decimal(max(0, iops - GP3_INCLUDED_IOPS))))
            units.append(Change(EBS_GP3_THROUGHPUT, Decimal(max(0, (volume.throughput_mib_s or 0) - GP3_INCLUDED_MIB_S))))
        case "io1":
            units.append(Change(ebs_iops("io1"), Decimal(iops)))
        case "io2":
            first, second = IO2_TIER_IOPS
            units.append(Change(ebs_iops("io2"), Decimal(min(iops, first))))
            units.append(Change(ebs_iops_tier(2), Decimal(max(0, min(iops, second) - first))))
            units.append(Change(ebs_iops_tier(3), Decimal(max(0, iops - second))))
    return tuple(unit for unit in units if unit.quantity)
