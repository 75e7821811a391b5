"""Earlier audits of the same scope, from their records."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from slackwater.app.audit.trend import PAGE, PAGES, trend_of
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest
from slackwater.model.listing import Page

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


def record(
    weeks_ago: int, state: str = "complete", *, outcome: bool = True, id: str | None = None, **request
) -> AuditRecord:
    came_to = AuditOutcome(
        targets=4, incomplete_targets=0, incomplete=(), gaps=0, findings=weeks_ago, monthly_savings_usd=Decimal("7.5"),
        unpriced=0, opened=0, changed=0, resolved=0, api_calls=1, metrics_requested=0, estimated_usd=Decimal(0),
        incomplete_in_a_row=0,
    )  # fmt: skip
    at = NOW - timedelta(weeks=weeks_ago)
    return AuditRecord(
        id=id or f"a-{weeks_ago}", state=state, started_at=at, finished_at=at,
        request=AuditRequest(requested_by="x", **request), policy=None, outcome=came_to if outcome else None,
        error=None,
    )  # fmt: skip


class Records:
    """Audits in memory. `pages` counts the pages that were read."""

    def __init__(self, *kept: AuditRecord) -> None:
        self.kept = sorted(kept, key=lambda one: one.started_at, reverse=True)
        self.pages = 0

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        self.pages += 1
        start = int(cursor or 0)
        more = str(start + limit) if start + limit < len(self.kept) else None
        return Page(items=tuple(self.kept[start : start + limit]), cursor=more)


def ids(trend) -> list[str]:
    return [point["audit_id"] for point in trend]


def test_the_last_audits_are_listed_from_their_records_the_oldest_first() -> None:
    records = Records(*map(record, range(6)), record(9, "incomplete"))

    assert ids(trend_of(records, record(0), most=3)) == ["a-3", "a-2", "a-1"]
    assert ids(trend_of(records, record(0))) == ["a-9", "a-5", "a-4", "a-3", "a-2", "a-1"]
    assert trend_of(records, record(0))[0] == {
        "audit_id": "a-9", "as_of": "2026-09-14T09:00:00Z", "complete": False, "findings": 9,
        "monthly_savings_usd": "7.50",
    }  # fmt: skip


def test_what_has_not_ended_or_left_nothing_or_came_later_is_no_point() -> None:
    records = Records(record(3, "running", outcome=False), record(2, "failed", outcome=False), record(-1), record(1))

    assert ids(trend_of(records, record(0, "running", outcome=False))) == ["a-1"]


@pytest.mark.parametrize(
    "scope",
    [{"regions": ("eu-west-1",)}, {"detectors": ("efs-idle",)}, {"accounts": ("123456789012",)}, {"retry_of": "a-9"}],
)
def test_an_audit_of_another_scope_is_no_point(scope) -> None:
    assert trend_of(Records(record(1, **scope)), record(0)) == []
    assert trend_of(Records(record(1)), record(0, **scope)) == []


def test_an_order_in_which_the_same_was_asked_does_not_matter_nor_who_asked() -> None:
    before = record(1, regions=("eu-west-1", "us-east-1"), occasion="weekly/1")

    assert ids(trend_of(Records(before), record(0, regions=("us-east-1", "eu-west-1")))) == ["a-1"]


def test_a_retry_has_no_trend() -> None:
    assert trend_of(Records(record(1, retry_of="a-9")), record(0, retry_of="a-9")) == []


def test_no_more_is_read_than_it_takes_and_never_without_end() -> None:
    many = [record(n, id=f"b-{n}") for n in range(1, 14)]
    enough = Records(*many, *(record(500 + n, regions=("eu-west-1",), id=f"c-{n}") for n in range(PAGE)))
    assert len(trend_of(enough, record(0))) == 12
    assert enough.pages == 1

    others = Records(*(record(n, regions=("eu-west-1",)) for n in range(1, PAGE * (PAGES + 1))))
    assert trend_of(others, record(0)) == []
    assert others.pages == PAGES
