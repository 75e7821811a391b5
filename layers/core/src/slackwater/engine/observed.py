"""What an audit shows of a clean-up that is done: how much of the trouble is left."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from slackwater.model.cleanup import Cleanup, Observed
from slackwater.model.tracking import TargetReport


def observed(cleanup: Cleanup, report: TargetReport, audit_id: str, now: datetime) -> Observed | None:
    """What an audit that judged as of `now` saw of it; None where it cannot know, or has nothing new to say.

    Only a whole target, asked after the clean-up had ended, tells. Nothing is left where the finding is gone; how much is, is
    unknown where the detector did not answer, its answer was not listed, or has no price.
    """
    resource = cleanup.resource
    asked = (
        report.whole
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
    return next((one.monthly_savings_usd for one in report.sightings if one.id == cleanup.finding_id), Decimal(0))
