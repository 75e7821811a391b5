"""Which findings may be approved for clean-up: the policy's allow-lists, before anything else is asked."""

from __future__ import annotations

from typing import Final

from slackwater.model.policy import CleanupSection
from slackwater.model.tracking import Sighting

REMOVING: Final = frozenset(
    {"ebs-idle", "ebs-on-stopped-instance", "ebs-unattached", "efs-abandoned", "efs-idle", "efs-orphaned", "fsx-idle"}
)
"""Detectors whose advice is to delete what they flag."""


def not_allowed(sighting: Sighting, cleanup: CleanupSection) -> str | None:
    """Why the policy does not let this finding be approved; None where it does. Nothing is allowed that is not listed."""
    resource = sighting.resource
    if sighting.detector not in REMOVING:
        return f"{sighting.detector} advises no deletion"
    for key, value, allowed in (
        ("detectors", sighting.detector, cleanup.detectors),
        ("resource_types", resource.type, cleanup.resource_types),
        ("accounts", resource.account, cleanup.accounts),
        ("regions", resource.region, cleanup.regions),
    ):
        if value not in allowed:
            return f"the policy's cleanup.{key} does not name {value}"
    return None if cleanup.approvers else "the policy's cleanup.approvers names nobody"
