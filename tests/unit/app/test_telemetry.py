"""Which metrics an audit publishes, and what a function logs when it starts."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO

import botocore
import pytest

from slackwater.app.telemetry import LOGGER, log_start, of_audit
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
COMPLETE = AuditOutcome(
    targets=1, incomplete_targets=0, incomplete=(), gaps=0, findings=3, monthly_savings_usd=Decimal(8), unpriced=0,
    opened=1, changed=0, resolved=2, api_calls=20, metrics_requested=100, estimated_usd=Decimal("0.001"),
    incomplete_in_a_row=0,
)  # fmt: skip
INCOMPLETE = replace(COMPLETE, incomplete_in_a_row=2)
WHOLE = AuditRequest(requested_by="schedule")


def metrics(request: AuditRequest, outcome: AuditOutcome | None) -> dict[str, int | Decimal]:
    return of_audit(
        AuditRecord(
            id="a1",
            state="complete",
            started_at=NOW,
            finished_at=NOW,
            request=request,
            policy=None,
            outcome=outcome,
            error=None,
        )
    )


@pytest.mark.parametrize("part", [{"regions": ("eu-west-1",)}, {"detectors": ("efs-idle",)}])
def test_only_a_whole_audit_says_that_all_is_well_again(part) -> None:
    assert metrics(WHOLE, COMPLETE)["IncompleteInARow"] == 0
    assert "IncompleteInARow" not in metrics(replace(WHOLE, **part), COMPLETE)
    assert metrics(replace(WHOLE, **part), INCOMPLETE)["IncompleteInARow"] == 2


def test_an_audit_that_failed_found_nothing_not_even_nothing() -> None:
    assert set(metrics(WHOLE, None)) == {"AuditFailed", "AuditIncomplete"}


def test_a_function_logs_its_sdk_when_it_starts_and_the_command_line_logs_nothing(monkeypatch) -> None:
    log = StringIO()
    monkeypatch.setattr(LOGGER.registered_handler, "stream", log)

    log_start({})
    assert log.getvalue() == ""
    log_start({"AWS_LAMBDA_FUNCTION_NAME": "slackwater-ScanFunction"})
    line = json.loads(log.getvalue())
    assert (line["message"], line["level"], line["botocore"]) == ("started", "INFO", botocore.__version__)
