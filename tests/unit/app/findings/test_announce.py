"""The table's stream as an outbox: which changes become events, and what happens if an event cannot be sent."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import get_args

import pytest

from slackwater.app.findings.announce import OF_A_FINDING, Announcer, NotAnnouncedError, event_of
from slackwater.aws.store.table import AUDIT, LEDGER, item, key, ledger_key
from slackwater.aws.store.table_stream import parsed_change
from slackwater.model.audits import AuditRecord, AuditRequest
from slackwater.model.policy_version import DEFAULTS
from slackwater.model.tracking import FindingRecord, Happening, LedgerEntry, TrackedResource
from slackwater.ports.events import Event, NotSentError

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
ARN = "arn:aws:ec2:us-east-1:123456789012:volume/vol-1"
SEEN = FindingRecord(
    id="f1", detector="ebs-unattached", kind="waste", severity="high", confidence="high", owner=None,
    summary="on no instance",
    resource=TrackedResource(
        arn=ARN, id="vol-1", type="ebs-volume", name="vol-1", account="123456789012", region="us-east-1"
    ),
    monthly_savings_usd=Decimal("8.00"), fingerprint="abc",
)  # fmt: skip
OPENED = LedgerEntry(
    happening="opened",
    at=NOW,
    who="slackwater",
    was=None,
    now="open",
    why="new",
    revision=1,
    audit_id="a1",
    evidence=SEEN,
)
RUNNING = AuditRecord(
    id="a1", state="running", started_at=NOW, finished_at=None, request=AuditRequest(requested_by="ann"),
    policy=DEFAULTS, outcome=None, error=None,
)  # fmt: skip
FAILED = replace(RUNNING, state="failed", finished_at=NOW.replace(minute=9), error="no")


def entry(number: int, entry: LedgerEntry = OPENED, name: str = "INSERT", **images):
    at = ledger_key(entry.evidence.id, entry.revision)
    images = images or {"NewImage": at | item(document=LEDGER.dump_json(entry).decode())}
    return {"eventName": name, "dynamodb": {"Keys": at, "SequenceNumber": str(number), **images}}


def audit(number: int, new: AuditRecord | None, old: AuditRecord | None):
    at = key("AUDIT", "a1")
    images = {
        name: at | item(document=AUDIT.dump_json(record).decode(), state=record.state)
        for name, record in (("NewImage", new), ("OldImage", old))
        if record
    }
    name = "REMOVE" if new is None else "MODIFY" if old else "INSERT"
    return {"eventName": name, "dynamodb": {"Keys": at, "SequenceNumber": str(number), **images}}


@dataclass
class Bus:
    sent: list[Event] = field(default_factory=list)
    refuses: int | None = None

    def send(self, events):
        for index, event in enumerate(events):
            if index == self.refuses:
                raise NotSentError(index, "ThrottlingException")
            self.sent.append(event)


def announcer(bus: Bus) -> Announcer:
    return Announcer(bus=bus, parsed=parsed_change)


@pytest.mark.parametrize(
    ("happening", "detail_type"),
    [
        ("opened", "Finding Opened"),
        ("reopened", "Finding Opened"),
        ("changed", "Finding Changed"),
        ("snoozed", "Finding Changed"),
        ("dismissed", "Finding Changed"),
        ("approved", "Finding Changed"),
        ("resolved", "Finding Resolved"),
        ("marked", "Finding Changed"),
        ("warned", "Finding Changed"),
        ("called-off", "Finding Changed"),
        ("cleaning", "Finding Changed"),
        ("backed-up", "Finding Changed"),
        ("queued", "Finding Changed"),
        ("backup-gone", "Finding Changed"),
        ("adopted", "Finding Changed"),
        ("removing", "Finding Changed"),
        ("cleaned", "Finding Resolved"),
        ("failed", "Finding Changed"),
        ("undone", "Finding Changed"),
    ],
)
def test_an_entry_of_a_ledger_is_an_event(happening, detail_type) -> None:
    event = event_of(replace(OPENED, happening=happening))

    assert (event.detail_type, event.at, event.resources) == (detail_type, NOW, (ARN,))
    assert event.detail["schema"] == "slackwater.event/1"
    assert event.detail["finding"]["monthly_savings_usd"] == "8.00"
    assert event.detail["change"]["happening"] == happening


def test_there_is_an_event_for_whatever_can_happen() -> None:
    assert {*OF_A_FINDING} == {*get_args(Happening.__value__)}


@pytest.mark.parametrize(
    ("was", "now", "detail_type"),
    [
        ("resolved", "open", "Finding Opened"),
        ("resolved", "resolved", "Finding Changed"),
        ("failed", "open", "Finding Changed"),
    ],
)
def test_what_is_there_again_after_an_undo_is_opened(was, now, detail_type) -> None:
    event = event_of(replace(OPENED, happening="undone", was=was, now=now))

    assert event.detail_type == detail_type


@pytest.mark.parametrize(
    ("state", "detail_type"),
    [("complete", "Audit Completed"), ("incomplete", "Audit Incomplete"), ("failed", "Audit Incomplete")],
)
@pytest.mark.parametrize("old", [RUNNING, None])
def test_the_end_of_an_audit_is_an_event_even_of_one_that_never_began(state, detail_type, old) -> None:
    event = event_of(parsed_change(audit(1, replace(FAILED, state=state), old)))

    assert (event.detail_type, event.at) == (detail_type, FAILED.finished_at)
    assert event.detail["audit"]["state"] == state


@pytest.mark.parametrize(
    "record",
    [
        audit(1, RUNNING, None),
        audit(1, None, FAILED),
        entry(1, name="REMOVE", OldImage={}),
        {"eventName": "INSERT", "dynamodb": {"Keys": key("FINDING", "f1"), "SequenceNumber": "1", "NewImage": {}}},
        {
            "eventName": "INSERT",
            "dynamodb": {"Keys": key("OCCASION", "weekly/x"), "SequenceNumber": "1", "NewImage": {}},
        },
    ],
)
def test_nobody_need_know_of_anything_else(record) -> None:
    bus = Bus()

    assert announcer(bus).announce([record]) == 0
    assert bus.sent == []


def test_changes_are_announced_in_order() -> None:
    bus = Bus()
    announced = announcer(bus).announce([entry(1), audit(2, RUNNING, None), audit(3, FAILED, RUNNING)])

    assert announced == 2
    assert [event.detail_type for event in bus.sent] == ["Finding Opened", "Audit Incomplete"]


def test_the_first_change_that_was_not_announced_is_named_by_its_number() -> None:
    with pytest.raises(NotAnnouncedError, match="ThrottlingException") as caught:
        announcer(Bus(refuses=1)).announce([audit(1, RUNNING, None), entry(2), entry(3), entry(4)])

    assert caught.value.sequence_number == "3"


@pytest.mark.parametrize(
    "broken",
    [
        entry(2, NewImage=item(document="{")),
        entry(2, NewImage=item(pk="x")),
        {"dynamodb": {"SequenceNumber": "2"}},
        {"dynamodb": {"SequenceNumber": "2", "Keys": {}}},
    ],
)
def test_an_unreadable_record_stops_the_batch_and_those_before_it_are_announced(broken) -> None:
    bus = Bus()
    with pytest.raises(NotAnnouncedError) as caught:
        announcer(bus).announce([entry(1), broken, entry(3)])

    assert caught.value.sequence_number == "2"
    assert len(bus.sent) == 1
