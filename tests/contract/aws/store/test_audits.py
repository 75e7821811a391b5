"""Audits in the template's table: one audit per occasion, started once and ended once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.store.audits import DynamoAudits
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.table import AUDIT, parsed
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest, IncompleteTarget
from slackwater.model.listing import BadCursorError, FindingQuery
from slackwater.model.policy_version import PolicyVersion
from slackwater.ports.errors import AccessDeniedError, BrokenAnswerError

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
OCCASION = "weekly/2026-11-16T09:00:00Z"
RUNNING = AuditRecord(
    id="20261116T090000Z-1f0c22ab", state="running", started_at=MONDAY, finished_at=None,
    request=AuditRequest(requested_by="schedule", regions=("eu-west-1",), occasion=OCCASION),
    policy=PolicyVersion(version="3", sha256="ab"), outcome=None, error=None,
)  # fmt: skip
ENDED = replace(
    RUNNING, state="incomplete", finished_at=MONDAY + timedelta(minutes=3, microseconds=7),
    outcome=AuditOutcome(
        targets=2, incomplete_targets=1,
        incomplete=(IncompleteTarget(account="123456789012", region="eu-west-1", why="denied"),), gaps=1, findings=4,
        monthly_savings_usd=Decimal("240.50"), unpriced=1, opened=4, changed=0, resolved=0, api_calls=9,
        metrics_requested=100, estimated_usd=Decimal("0.001"), incomplete_in_a_row=1,
    ),
)  # fmt: skip


@pytest.fixture
def store(stored) -> DynamoAudits:
    return DynamoAudits(stored.table, timedelta(days=400), lambda: MONDAY)


def expiry(stored, sk: str) -> datetime:
    (found,) = [one for one in stored.items() if one["sk"]["S"] == sk]
    return datetime.fromtimestamp(int(found["expires_at"]["N"]), UTC)


def test_an_occasion_belongs_to_whom_claims_it_first_and_a_second_claim_of_its_own_is_good(store, stored) -> None:
    assert [store.claim(OCCASION, audit) for audit in ("first", "second", "first")] == ["first"] * 3
    assert store.claim("hourly/2026-11-16T09:00:00Z", "second") == "second"
    stored.client.delete_item(
        TableName="slackwater", Key={"pk": {"S": "OCCASION#hourly/2026-11-16T09:00:00Z"}, "sk": {"S": "OCCASION"}}
    )
    assert expiry(stored, "OCCASION") == MONDAY + timedelta(days=30)


def test_a_claim_that_is_refused_and_nobodys_is_an_error(store, stored, monkeypatch) -> None:
    def refused(**_):
        raise ClientError({"Error": {"Code": "ConditionalCheckFailedException", "Message": ""}}, "PutItem")

    monkeypatch.setattr(stored.client, "put_item", refused)
    with pytest.raises(BrokenAnswerError, match="weekly"):
        store.claim(OCCASION, "first")


def test_a_claim_that_fails_is_not_somebody_elses(store, stored, monkeypatch) -> None:
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": ""}}, "PutItem")

    monkeypatch.setattr(stored.client, "put_item", denied)
    with pytest.raises(AccessDeniedError):
        store.claim(OCCASION, "first")


def test_an_audit_begins_once_and_comes_back_as_it_was_stored(store, stored) -> None:
    assert store.begin(RUNNING)
    assert not store.begin(replace(RUNNING, policy=None))

    assert store.get(RUNNING.id) == RUNNING
    assert store.get("another") is None
    assert expiry(stored, "AUDIT") == MONDAY + timedelta(days=400)


def test_an_audit_ends_once(store, stored) -> None:
    assert not store.end(ENDED)
    assert store.get(RUNNING.id) is None
    store.begin(RUNNING)
    assert store.end(ENDED)
    assert not store.end(replace(ENDED, state="failed", error="too late"))

    assert store.get(RUNNING.id) == ENDED
    (image,) = stored.items()
    assert (image["state"], parsed(image, AUDIT)) == ({"S": "incomplete"}, ENDED)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_audits_are_listed_the_newest_first_and_no_finding_among_them(store, stored, limit) -> None:
    seconds = (0, 5, 3, 0.5)  # fractions must sort correctly too
    for number, second in enumerate(seconds):
        assert store.begin(replace(RUNNING, id=f"audit-{number}", started_at=MONDAY + timedelta(seconds=second)))
    assert store.end(replace(ENDED, id="audit-1", started_at=MONDAY + timedelta(seconds=5)))

    found: list[str] = []
    cursor = None
    while True:
        page = store.list(limit, cursor)
        found += [one.id for one in page.items]
        if (cursor := page.cursor) is None:
            break
        assert len(page.items) == limit
    assert found == ["audit-1", "audit-2", "audit-3", "audit-0"]
    assert DynamoFindings(stored.table).list(FindingQuery(order="-opened_at")).items == ()


def test_a_cursor_of_another_list_is_refused(store) -> None:
    store.begin(RUNNING)
    store.begin(replace(RUNNING, id="another"))
    cursor = store.list(1, None).cursor
    assert cursor
    for bad in (cursor[:-1], cursor + "A", ""):
        with pytest.raises(BadCursorError):
            store.list(1, bad)
