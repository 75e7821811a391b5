"""EFS: storage and throughput as they are billed. Amazon EFS User Guide, "Amazon EFS performance" and "Metering"."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from slackwater.model.money import EFS_PROVISIONED_THROUGHPUT, Change, amount, efs_storage
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import GIB

INCLUDED_GIB_PER_MIB_S: Final = 20
"""Provisioned throughput includes 1 MiB/s for every 20 GiB in Standard (Amazon EFS pricing, "Provisioned Throughput")."""


def monthly_units(file_system: EfsFileSystem) -> tuple[Change, ...]:
    """Everything a file system at rest is billed for: storage by class, and throughput bought above what is included."""
    one_zone = file_system.availability_zone is not None
    elastic = file_system.throughput_mode == "elastic"
    units = [
        Change(efs_storage(storage_class, one_zone=one_zone, elastic=elastic), amount(size / GIB))
        for storage_class, size in file_system.stored_bytes.items()
        if size
    ]
    if file_system.provisioned_mib_s:
        included = file_system.stored_bytes.get("Standard", 0) / GIB / INCLUDED_GIB_PER_MIB_S
        paid = max(0.0, file_system.provisioned_mib_s - included)
        units.append(Change(EFS_PROVISIONED_THROUGHPUT, amount(paid)))
    return tuple(unit for unit in units if unit.quantity > Decimal(0))
