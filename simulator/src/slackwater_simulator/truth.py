"""What is true of a fleet, whatever a program may find in it: the planted cases, and how many resources it has."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume, rfc3339

_TYPES = {
    "ebs-volume": Volume,
    "ec2-instance": Instance,
    "efs-file-system": ElasticFileSystem,
    "fsx-file-system": FsxFileSystem,
    "fsx-volume": FsxVolume,
}


def is_sync(volume: FsxVolume) -> bool:
    """An OpenZFS export some client of which acknowledges only what is on stable storage."""
    return volume.kind == "OPENZFS" and any("async" not in export.options for export in volume.exports)


def truth(fleet: Fleet) -> dict[str, Any]:
    """The truth document."""
    held = fleet.by_region
    counts = {
        region: {
            "types": {name: len(held.get((kind, region), ())) for name, kind in _TYPES.items()},
            "fsx": {"sync_exports": sum(map(is_sync, held.get((FsxVolume, region), ())))},
        }
        for region in fleet.regions
    }
    return {
        "now": rfc3339(fleet.now),
        "account": fleet.account,
        "regions": list(fleet.regions),
        "planted": [asdict(case) | {"troubles": list(case.troubles)} for case in fleet.planted],
        "counts": counts,
    }
