"""Which findings may be approved for clean-up: those whose advice a program may do, of the policy's allow-lists."""

from __future__ import annotations

from slackwater.model.policy import CleanupSection
from slackwater.model.tracking import Sighting


def not_allowed(sighting: Sighting, cleanup: CleanupSection) -> str | None:
    """Why this finding may not be approved; None where it may. Nothing is allowed that is not listed."""
    resource = sighting.resource
    if not sighting.deletes:
        return "nothing that it advises may be deleted by a program"
    if sighting.confidence == "low":
        return "its confidence is low"
    for key, value, allowed in (
        ("detectors", sighting.detector, cleanup.detectors),
        ("resource_types", resource.type, cleanup.resource_types),
        ("accounts", resource.account, cleanup.accounts),
        ("regions", resource.region, cleanup.regions),
    ):
        if value not in allowed:
            return f"the policy's cleanup.{key} does not name {value}"
    return None if cleanup.approvers else "the policy's cleanup.approvers names nobody"
