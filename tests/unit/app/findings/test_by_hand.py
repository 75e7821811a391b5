"""Why people must carry out a recommendation themselves."""

from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.findings.by_hand import with_cause
from slackwater.engine.cleanup import BY_HAND, cleanup_blocker
from slackwater.model.policy import CleanupSection
from slackwater.model.tracking import FindingRecord, TrackedResource

ARN = "arn:aws:ec2:eu-west-1:123456789012:volume/vol-1"
VOLUME = TrackedResource(
    arn=ARN, id="vol-1", type="ebs-volume", name="scratch", account="123456789012", region="eu-west-1"
)
WHY = f"{BY_HAND}: do it yourself"
DETAILS = ". For details: `slackwater findings show f-1`"
UNKNOWN_DATE = "The detach date is unknown. Do not delete the volume for this reason alone."


def record(detector: str = "ebs-unattached", **changes: Any) -> FindingRecord:
    values: dict[str, Any] = {"confidence": "high"} | changes
    return FindingRecord(
        id="f-1", detector=detector, kind="waste", severity="low", resource=VOLUME, owner=None, summary="unused",
        monthly_savings_usd=Decimal(1), fingerprint="a", **values,
    )  # fmt: skip


def evidence(*caveats: str, tags: dict[str, str] | None = None) -> Any:
    return {"resource": {"tags": tags or {}}, "caveats": [*caveats]}


@pytest.mark.parametrize(
    ("seen", "found", "cause"),
    [
        (record("ebs-idle"), None, ", because Slackwater only gives advice for ebs-idle"),
        (
            record(),
            evidence(tags={"aws:cloudformation:stack-name": "shop"}),
            ", because CloudFormation stack shop mana",
        ),
        (record(confidence="low"), evidence(UNKNOWN_DATE), f". Its confidence is low, not high. {UNKNOWN_DATE}"),
        (record(confidence="medium"), None, ". Its confidence is medium, not high. For details"),
        (record(), evidence("It was attached again."), ". It was attached again. For details"),
        (record(), None, DETAILS),
    ],
)
def test_the_cause_is_added_where_it_is_known(seen: FindingRecord, found: Any, cause: str) -> None:
    words = with_cause(WHY, seen, lambda: found)

    assert words.startswith(WHY + cause)
    assert words.endswith(DETAILS)
    assert ".." not in words


def test_the_reason_of_the_engine_is_recognized_and_no_other() -> None:
    assert cleanup_blocker(record(), CleanupSection()) == WHY
    assert with_cause("the finding's confidence is low", record(), read_in_vain) == "the finding's confidence is low"


def read_in_vain() -> Any:
    raise AssertionError("documents of a large target take long to read, and this reason needs none")
