"""Ways to pay less for data on EFS that is used: each detector prices its own as if the others were not."""

from __future__ import annotations

from typing import Final

WAYS: Final = ("efs-cold-data", "efs-single-client", "efs-single-zone-use")
"""Detectors of a colder class, of a volume, and of One Zone."""


def one_way_caveat(detector_id: str) -> str:
    """What to do where others of them speak of the same file system."""
    others = " or ".join(way for way in WAYS if way != detector_id)
    return f"If {others} also speaks of it: do one of them, the savings do not add up."
