"""Why people and the policy stop the next step of a clean-up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.cleanup.case import Cases
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.policy import CleanupSection, Policy
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import FindingRecord, TrackedFinding, TrackedResource

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
VOLUME = TrackedResource(
    arn="arn:vol-1", id="vol-1", type="ebs-volume", name="scratch", account="123456789012", region="eu-west-1"
)
POLICY = Policy(
    limits={},
    cleanup=CleanupSection(
        accounts=["123456789012"],
        regions=["eu-west-1"],
        resource_types=["ebs-volume"],
        detectors=["ebs-unattached"],
        approver_identities=["arn:aws:iam::123456789012:user/ada"],
    ),
)
WAITING = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached", resource=VOLUME, owner=None,
    fingerprint="abc", setting=None, requested_by="ada", started_at=NOW, promised_monthly_usd=Decimal(1), revision=1,
    stage="waiting",
)  # fmt: skip
SEEN = FindingRecord(
    id="f-1", detector="ebs-unattached", kind="waste", severity="medium", confidence="high", owner=None, summary="",
    fingerprint="abc", deletes=True, resource=VOLUME, monthly_savings_usd=Decimal(1),
)  # fmt: skip
GP3 = VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)


class Store:
    """A store in which nobody has stopped clean-ups."""

    def control(self) -> Control:
        return Control()


def objection(cleanup: Cleanup, status: Any) -> str | None:
    finding = TrackedFinding(
        sighting=SEEN, status=status, decision=None, opened_at=NOW, last_seen_at=NOW, resolved_at=None,
        audit_id="monday", revision=1,
    )  # fmt: skip
    later = NOW + timedelta(days=30)
    cases = Cases(store=Store(), findings=None, clock=lambda: later)  # type: ignore[arg-type]
    return cases.objection(cleanup, finding, POLICY)


@pytest.mark.parametrize("status", ["open", "approved"])
def test_a_clean_up_waits_for_its_grace_while_its_finding_is_open(status: str) -> None:
    assert objection(WAITING, status) is None


@pytest.mark.parametrize("status", ["snoozed", "dismissed", "resolved", "cleaning"])
def test_a_clean_up_that_waits_ends_when_somebody_decides_otherwise(status: str) -> None:
    assert objection(WAITING, status) == f"the finding is {status}"


@pytest.mark.parametrize("status", ["open", "approved", "dismissed", "resolved"])
def test_a_clean_up_at_work_ends_when_its_finding_is_not_its_own_any_more(status: str) -> None:
    change = replace(WAITING, setting=GP3, stage="working", begun_at=NOW)

    assert objection(change, "cleaning") is None
    assert objection(change, status) == f"the finding is {status}"
