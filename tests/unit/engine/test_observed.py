"""What an audit records about a finished clean-up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.engine.observed import observed
from slackwater.model.cleanup import STAGES, Cleanup, Observed
from slackwater.model.tracking import FindingRecord, TargetReport, TrackedResource

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
DAY = timedelta(days=1)
VOLUME = TrackedResource(
    arn="arn:vol-1", id="vol-1", type="ebs-volume", name="db", account="123456789012", region="eu-west-1"
)
DONE = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached", resource=VOLUME, owner=None,
    fingerprint="a", setting=None, requested_by="ada", started_at=MONDAY - 30 * DAY, promised_monthly_usd=Decimal(10),
    stage="done", ended_at=MONDAY,
)  # fmt: skip
WHOLE = TargetReport(
    account="123456789012", region="eu-west-1", complete=True, detectors=frozenset({"ebs-unattached"}), records=(),
    unknown=frozenset(),
)  # fmt: skip
SEEN = FindingRecord(
    id="f-1", detector="ebs-unattached", kind="waste", severity="low", confidence="high", resource=VOLUME, owner=None,
    summary="on no instance", monthly_savings_usd=Decimal("4.50"), fingerprint="a",
)  # fmt: skip
QUESTION = ("ebs-unattached", "vol-1")


def look(cleanup: Cleanup = DONE, now: datetime = MONDAY + DAY, **report: Any) -> Observed | None:
    return observed(cleanup, replace(WHOLE, **report), "tuesday", now)


@pytest.mark.parametrize(
    ("report", "left"),
    [
        ({}, Decimal(0)),
        ({"records": (SEEN,)}, Decimal("4.50")),
        ({"records": (replace(SEEN, id="f-2"),)}, Decimal(0)),
        ({"records": (replace(SEEN, monthly_savings_usd=None),)}, None),
        ({"unknown": frozenset({QUESTION})}, None),
        ({"unknown": frozenset({("ebs-idle", "vol-1")})}, Decimal(0)),
        ({"unlisted": {QUESTION: "below the least saving"}}, None),
    ],
    ids=["gone", "still there", "another's", "unpriced", "not answered", "another question", "not listed"],
)
def test_what_is_left(report: dict[str, Any], left: Decimal | None) -> None:
    assert look(**report) == Observed(audit_id="tuesday", at=MONDAY + DAY, left_monthly_usd=left)


@pytest.mark.parametrize(
    "report",
    [{"complete": False}, {"detectors": frozenset({"ebs-idle"})}, {"account": "210987654321"}, {"region": "us-east-1"}],
)
def test_who_cannot_know_says_nothing(report: dict[str, Any]) -> None:
    assert look(**report) is None


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "done"])
def test_what_is_not_done_is_not_looked_at(stage: Any) -> None:
    assert look(replace(DONE, stage=stage)) is None


def test_an_audit_that_judged_as_of_before_the_end_says_nothing() -> None:
    assert look(now=MONDAY) is None
    assert look(now=MONDAY + timedelta(seconds=1)) is not None
    assert look(replace(DONE, ended_at=None)) is None


def test_the_newest_audit_has_the_last_word_and_the_same_one_says_it_once() -> None:
    before = replace(DONE, observed=Observed(audit_id="tuesday", at=MONDAY + DAY, left_monthly_usd=None))

    assert look(before) is None
    assert look(before, now=MONDAY + timedelta(hours=1)) is None
    assert look(before, now=MONDAY + 2 * DAY) is not None
