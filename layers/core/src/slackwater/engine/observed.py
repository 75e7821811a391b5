"""Measures, from a later audit, how much of an issue is left after its clean-up."""

from datetime import datetime
from decimal import Decimal

from slackwater.model.cleanup import Cleanup, Observed
from slackwater.model.tracking import TargetReport


def observed(cleanup: Cleanup, report: TargetReport, audit_id: str, now: datetime) -> Observed | None:
    """Return what an audit saw of a clean-up; None if it cannot tell, or is not newer than the last observation.

    Only a complete audit of the target counts, and only one that started after the clean-up ended. If the finding is
    gone, nothing is left. How much is left is unknown if the detector was inconclusive, its finding was suppressed, or
    it has no price.

    Args:
        cleanup: The clean-up, in stage "done".
        report: What the audit says about the target.
        audit_id: The audit.
        now: The time as of which the audit evaluated.
    """
    resource = cleanup.resource
    asked = (
        report.is_conclusive
        and (report.account, report.region) == (resource.account, resource.region)
        and cleanup.detector in report.detectors
    )
    after = cleanup.ended_at is not None and cleanup.ended_at < now
    newer = cleanup.observed is None or cleanup.observed.at < now
    if cleanup.stage != "done" or not (asked and after and newer):
        return None
    return Observed(audit_id=audit_id, at=now, left_monthly_usd=_left(cleanup, report))


def _left(cleanup: Cleanup, report: TargetReport) -> Decimal | None:
    question = (cleanup.detector, cleanup.resource.id)
    if question in report.unknown or question in report.unlisted:
        return None
    return next((one.monthly_savings_usd for one in report.records if one.id == cleanup.finding_id), Decimal(0))
