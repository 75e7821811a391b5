"""Showing findings and deciding about them, with fakes for the stores."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.findings.findings import (
    Action,
    BadDecisionError,
    ChangedError,
    ConflictError,
    DecidedError,
    Findings,
    NotAllowedError,
    NotFoundError,
)
from slackwater.model.cleanup import ActorNote
from slackwater.model.policy import CleanupSection
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import (
    STATUSES,
    Decision,
    FindingRecord,
    LedgerEntry,
    Status,
    TrackedFinding,
    TrackedResource,
    Write,
)
from slackwater.ports.errors import AwsError
from slackwater.ports.store import Version

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
WEEK = timedelta(days=7)
OPEN = TrackedFinding(
    sighting=FindingRecord(
        id="f-1", detector="efs-idle", kind="waste", severity="medium", confidence="high", owner=None, summary="idle",
        resource=TrackedResource(
            arn="arn:fs-1", id="fs-1", type="efs-file-system", name="scratch", account="123456789012",
            region="eu-west-1",
        ),
        monthly_savings_usd=Decimal("12.30"), fingerprint="abc123", deletes=True,
    ),
    status="open", decision=None, opened_at=NOW - WEEK, last_seen_at=NOW - WEEK, resolved_at=None, audit_id="monday",
    revision=1,
)  # fmt: skip


@dataclass
class Store:
    """A store with one finding. While `rivals` are left, one of them is written right before each write."""

    finding: TrackedFinding | None = OPEN
    rivals: list[TrackedFinding] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)

    def get(self, id: str) -> TrackedFinding | None:
        return self.finding if self.finding and self.finding.id == id else None

    def write(self, write: Write) -> bool:
        if self.rivals:
            self.finding = self.rivals.pop(0)
        if self.finding is None or write.expects != self.finding.revision:
            return False
        assert write.entry
        self.finding = write.finding
        self.entries.append(write.entry)
        return True

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        return iter(self.entries)

    def unresolved(self, account: str, region: str) -> Iterable[TrackedFinding]:
        raise NotImplementedError


@dataclass
class Bucket:
    """Texts by key."""

    texts: dict[str, str] = field(default_factory=dict)

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        return (self.texts[key], "1") if key in self.texts else None

    def write(self, key: str, text: str) -> str:
        raise NotImplementedError

    def versions(self, key: str) -> Iterable[Version]:
        raise NotImplementedError

    def link(self, key: str, for_seconds: int) -> str:
        raise NotImplementedError


def decide(
    store: Store, action: Action, why: str = "because", until: datetime | None = None, who: str = "jane"
) -> TrackedFinding:
    if action == "snooze" and until is None:
        until = NOW + WEEK
    return Findings(store=store, documents=Bucket()).decided(
        "f-1", action, ActorNote(who=who, why=why, at=NOW), until=until
    )


def being(status: Status, until: datetime | None = None) -> TrackedFinding:
    decision = (
        Decision(status=status, who="joe", why="before", at=NOW - WEEK, until=until)
        if status not in {"open", "resolved"}
        else None
    )
    return replace(OPEN, status=status, decision=decision)


@pytest.mark.parametrize("was", ["open", "snoozed", "dismissed"])
@pytest.mark.parametrize(
    ("action", "until", "becomes"),
    [
        ("snooze", NOW + WEEK, "snoozed"),
        ("dismiss", None, "dismissed"),
        ("dismiss", NOW + 999 * WEEK, "dismissed"),
    ],
)
def test_a_decision_is_stored_with_who_why_and_until_when(
    was: Status, action: Action, until: datetime | None, becomes: Status
) -> None:
    store = Store(being(was, NOW + 2 * WEEK))
    decided = decide(store, action, " on leave ", until)

    assert decided == store.finding
    assert decided == replace(
        OPEN, status=becomes, decision=Decision(status=becomes, who="jane", why="on leave", at=NOW, until=until),
        revision=2,
    )  # fmt: skip
    assert store.entries == [
        LedgerEntry(
            happening=becomes, at=NOW, who="jane", was=was, now=becomes, why="on leave", revision=2, audit_id="monday",
            evidence=OPEN.sighting,
        )
    ]  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize("was", ["snoozed", "dismissed", "approved", "failed"])
def test_a_decision_or_what_failed_can_be_taken_up_again(was: Status) -> None:
    store = Store(being(was))

    assert decide(store, "reopen", "") == replace(OPEN, revision=2)
    assert [(entry.happening, entry.was, entry.now, entry.why) for entry in store.entries] == [
        ("reopened", was, "open", "")
    ]


def test_the_same_again_changes_nothing() -> None:
    store = Store()
    assert decide(store, "reopen") == OPEN
    once = decide(store, "dismiss", "museum")

    assert decide(store, "dismiss", "museum ") == once
    assert len(store.entries) == 1
    assert decide(store, "dismiss", "museum", who="joe").revision == 3
    assert decide(store, "dismiss", "museum", NOW + WEEK, who="joe").revision == 4


@pytest.mark.parametrize(
    ("action", "status", "possible"),
    [
        *(
            (action, status, "open, snoozed or dismissed")
            for action in ("snooze", "dismiss")
            for status in ("cleaning", "resolved", "failed")
        ),
        *(("reopen", status, "open, snoozed, dismissed, approved or failed") for status in ("cleaning", "resolved")),
    ],
)
def test_from_another_status_it_says_which_and_what_would_be_possible(
    status: Status, action: Action, possible: str
) -> None:
    store = Store(being(status))

    with pytest.raises(ConflictError, match=f"f-1 is {status}; {action} is for one that is {possible}$"):
        decide(store, action)
    assert store.entries == []


@pytest.mark.parametrize("until", [None, NOW - WEEK, NOW + WEEK])
@pytest.mark.parametrize("action", ["snooze", "dismiss"])
def test_an_approval_is_taken_back_before_anything_else_is_decided(action: Action, until: datetime | None) -> None:
    store = Store(being("approved", until))

    with pytest.raises(ConflictError, match="f-1 is approved; reopen it first"):
        decide(store, action)
    assert store.entries == []


@pytest.mark.parametrize(
    ("action", "why", "until", "part"),
    [
        ("snooze", "", NOW, "until"),
        ("snooze", "", NOW + timedelta(days=366, seconds=1), "until"),
        ("snooze", "x" * 1_001, NOW + WEEK, "why"),
        ("dismiss", " \n", None, "why"),
        ("dismiss", "caf\udce9", None, "why"),
        ("dismiss", "x", NOW, "until"),
        ("reopen", "", NOW + WEEK, "until"),
    ],
)
def test_a_decision_that_cannot_be_is_refused_before_anything_is_read(
    action: Action, why: str, until: datetime, part: str
) -> None:
    with pytest.raises(BadDecisionError) as refused:
        decide(Store(None), action, why, until)
    assert refused.value.part == part
    assert str(refused.value).startswith(f"{part}: ")


def test_a_snooze_without_an_end_is_refused() -> None:
    with pytest.raises(BadDecisionError, match="needs an end"):
        Findings(store=Store(), documents=Bucket()).decided(
            "f-1", "snooze", ActorNote(who="jane", why="", at=NOW), until=None
        )


def test_the_longest_snooze_and_the_longest_reason_are_good() -> None:
    assert decide(Store(), "snooze", "x" * 1_000, NOW + timedelta(days=366)).status == "snoozed"


def test_an_end_is_kept_in_utc() -> None:
    tokyo = (NOW + WEEK).astimezone(timezone(timedelta(hours=9)))
    decision = decide(Store(), "snooze", until=tokyo).decision

    assert decision is not None
    assert decision.until is not None
    assert decision.until.utcoffset() == timedelta(0)
    assert decision.until == NOW + WEEK


def test_a_race_that_was_lost_is_decided_again_on_what_is_there_now() -> None:
    seen = replace(OPEN, revision=2, audit_id="tuesday")
    store = Store(rivals=[seen])

    assert decide(store, "dismiss").revision == 3
    assert [(entry.revision, entry.audit_id) for entry in store.entries] == [(3, "tuesday")]


def test_a_race_that_is_lost_to_a_status_that_allows_nothing_is_a_conflict() -> None:
    with pytest.raises(ConflictError, match="is resolved"):
        decide(Store(rivals=[replace(OPEN, status="resolved", revision=2)]), "dismiss")


def test_a_race_that_is_lost_again_and_again_is_given_up() -> None:
    store = Store(rivals=[replace(OPEN, revision=number) for number in range(2, 20)])

    with pytest.raises(ConflictError, match="f-1 is being changed"):
        decide(store, "dismiss")
    assert (len(store.rivals), store.entries) == (14, [])


CLEANUP = CleanupSection(
    accounts=["123456789012"], regions=["eu-west-1"], resource_types=["efs-file-system"], detectors=["efs-idle"],
    approvers=["U0JANE"], approval_days=3, grace_days=5,
)  # fmt: skip
HOLDS = timedelta(days=5 + 3)
APPROVED = Decision(status="approved", who="jane", why="", at=NOW, until=NOW + HOLDS, fingerprint="abc123")


def approve(
    store: Store, who: str = "jane", fingerprint: str = "abc123", now: datetime = NOW, cleanup: CleanupSection = CLEANUP
) -> TrackedFinding:
    return Findings(store=store, documents=Bucket()).approved(
        "f-1", fingerprint, ActorNote(who=who, why="", at=now), cleanup
    )


def first(store: Store, who: str = "jane", now: datetime = NOW, why: str = "") -> TrackedFinding:
    findings = Findings(store=store, documents=Bucket())
    return findings.decided_first("f-1", "snooze", ActorNote(who=who, why=why, at=now), until=now + WEEK)


def test_an_approval_is_stored_with_who_for_what_and_until_when() -> None:
    store = Store()
    approved = approve(store)

    assert approved == store.finding == replace(OPEN, status="approved", decision=APPROVED, revision=2)
    assert store.entries == [
        LedgerEntry(
            happening="approved", at=NOW, who="jane", was="open", now="approved", why="", revision=2, audit_id="monday",
            evidence=OPEN.sighting,
        )
    ]  # fmt: skip


def test_an_approval_ends_on_a_whole_second_of_utc() -> None:
    tokyo = NOW.replace(microsecond=5).astimezone(timezone(timedelta(hours=9)))
    decision = approve(Store(), now=tokyo).decision

    assert decision is not None
    assert decision.until is not None
    assert (decision.until, decision.until.utcoffset()) == (NOW + HOLDS, timedelta(0))


def test_an_approval_lasts_from_the_day_from_which_on_it_may_be_acted_upon() -> None:
    setting = VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)
    change = replace(OPEN, sighting=replace(OPEN.sighting, deletes=False, setting=setting))
    findings = Findings(store=Store(), documents=Bucket())
    marked = NOW + timedelta(days=1)

    changed = approve(Store(change)).decision
    note = ActorNote(who="jane", why="", at=NOW)
    later = findings.approved("f-1", "abc123", note, CLEANUP, acts_after=marked).decision

    assert changed == replace(APPROVED, until=NOW + timedelta(days=3), setting=setting)
    assert later == replace(APPROVED, until=marked + timedelta(days=3))


def test_the_same_person_may_approve_the_same_again_and_nobody_else_may() -> None:
    store = Store()
    once = approve(store)

    assert approve(store, now=NOW + timedelta(hours=1)) == once
    with pytest.raises(DecidedError, match="is approved by jane since 2026-11-16 09:07 UTC") as refused:
        approve(store, "joe")
    assert (refused.value.finding, refused.value.decision) == (once, APPROVED)
    assert len(store.entries) == 1


def test_an_approval_that_has_lapsed_is_for_anybody_to_give_again() -> None:
    store = Store(replace(OPEN, status="approved", decision=APPROVED, revision=2))
    last, lapsed = NOW + HOLDS - timedelta(seconds=1), NOW + HOLDS

    with pytest.raises(DecidedError):
        approve(store, "joe", now=last)
    assert approve(store, "joe", now=lapsed).decision == replace(APPROVED, who="joe", at=lapsed, until=lapsed + HOLDS)
    assert store.entries[0].was == "approved"


def test_a_persons_own_approval_that_has_lapsed_is_given_anew() -> None:
    store = Store(replace(OPEN, status="approved", decision=APPROVED, revision=2))
    lapsed = NOW + HOLDS

    assert approve(store, now=lapsed).decision == replace(APPROVED, at=lapsed, until=lapsed + HOLDS)


@pytest.mark.parametrize("decide", [approve, first])
@pytest.mark.parametrize("status", [status for status in STATUSES if status != "open"])
def test_only_what_is_open_is_decided_first(decide: Any, status: Status) -> None:
    store = Store(being(status))
    with pytest.raises(ConflictError, match=f"f-1 is {status}") as refused:
        decide(store)

    assert isinstance(refused.value, DecidedError) is (status != "resolved")
    assert store.entries == []


@pytest.mark.parametrize("decide", [approve, first])
@pytest.mark.parametrize("status", ["snoozed", "dismissed", "approved"])
def test_an_expired_decision_blocks_nobody_even_before_the_next_audit(decide: Any, status: Status) -> None:
    assert decide(Store(being(status, NOW))).revision == 2
    with pytest.raises(DecidedError):
        decide(Store(being(status, NOW + timedelta(seconds=1))))


def test_a_decision_of_before_that_stays_with_a_finding_that_came_to_nothing_is_not_who_was_faster() -> None:
    gone = replace(being("snoozed"), status="resolved")
    with pytest.raises(ConflictError, match="is resolved") as refused:
        first(Store(gone))
    assert not isinstance(refused.value, DecidedError)


@pytest.mark.parametrize("decide", [approve, first])
def test_one_moments_decision_is_stored_once_whatever_came_after(decide: Any) -> None:
    store = Store()
    decide(store)
    store.finding = replace(OPEN, revision=3)

    assert decide(store) == replace(OPEN, revision=3)
    assert len(store.entries) == 1
    assert decide(store, now=NOW + timedelta(seconds=1)).revision == 4


def test_a_first_decision_that_cannot_be_is_refused() -> None:
    with pytest.raises(BadDecisionError, match="Unicode"):
        first(Store(), why="caf\udce9")


def test_what_has_changed_since_it_was_seen_is_not_approved() -> None:
    for another in ("abc124", "bbc123", "abc", "ABC123", ""):
        with pytest.raises(ChangedError, match="has changed since"):
            approve(Store(), fingerprint=another)
    changed = replace(OPEN, sighting=replace(OPEN.sighting, fingerprint="abc124"), revision=2)
    store = Store(rivals=[changed])
    with pytest.raises(ChangedError):
        approve(store)
    assert store.entries == []


@pytest.mark.parametrize("key", ["accounts", "regions", "resource_types", "detectors", "approvers"])
def test_what_the_policy_does_not_name_is_not_approved(key: str) -> None:
    store = Store()
    with pytest.raises(NotAllowedError, match=f"cleanup.{key} "):
        approve(store, cleanup=CLEANUP.model_copy(update={key: []}))
    assert store.entries == []


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ({"deletes": False}, "Slackwater cannot carry out this finding's recommendation: do it yourself"),
        ({"confidence": "low"}, "the finding's confidence is low"),
    ],
)
def test_what_may_not_be_deleted_is_not_approved_whatever_the_policy_names(seen: dict[str, Any], why: str) -> None:
    store = Store(replace(OPEN, sighting=replace(OPEN.sighting, **seen)))
    with pytest.raises(NotAllowedError, match=why):
        approve(store)
    assert store.entries == []


def test_a_refusal_says_why_slackwater_cannot_carry_it_out() -> None:
    store = Store(replace(OPEN, sighting=replace(OPEN.sighting, deletes=False, detector="ebs-idle")))
    cleanup = CLEANUP.model_copy(update={"detectors": ["ebs-idle"]})

    with pytest.raises(NotAllowedError) as caught:
        approve(store, cleanup=cleanup)

    assert str(caught.value) == (
        "Slackwater cannot carry out this finding's recommendation: do it yourself, because Slackwater only gives "
        "advice for ebs-idle. For details: `slackwater findings show f-1`"
    )


def test_a_refusal_needs_no_evidence() -> None:
    class Silent(Bucket):
        def read(self, key: str, version: str | None = None) -> Any:
            raise AwsError("slow down")

    store = Store(replace(OPEN, sighting=replace(OPEN.sighting, deletes=False)))
    findings = Findings(store=store, documents=Silent())

    with pytest.raises(NotAllowedError, match="do it yourself"):
        findings.approved("f-1", "abc123", ActorNote(who="jane", why="", at=NOW), CLEANUP)


def test_an_approval_that_was_for_what_was_there_before_is_not_the_same_persons_of_what_is_there_now() -> None:
    changed = replace(OPEN.sighting, fingerprint="abc124")
    store = Store(replace(OPEN, sighting=changed, status="approved", decision=APPROVED, revision=2))

    with pytest.raises(DecidedError):
        approve(store, fingerprint="abc124", now=NOW + timedelta(hours=1))


def test_another_decision_of_the_same_person_at_the_same_time_is_a_new_one() -> None:
    store = Store()
    first(store)
    store.finding = replace(OPEN, revision=3)

    assert approve(store).status == "approved"
    assert [entry.now for entry in store.entries] == ["snoozed", "approved"]


def test_the_faster_of_two_people_wins_an_approval() -> None:
    rival = replace(OPEN, status="approved", decision=replace(APPROVED, who="joe"), revision=2)
    with pytest.raises(DecidedError, match="by joe"):
        approve(Store(rivals=[rival]))


def test_an_unknown_finding_cannot_be_approved() -> None:
    with pytest.raises(NotFoundError, match="f-1"):
        approve(Store(None))


def shown(texts: dict[str, Any], finding: TrackedFinding | None = OPEN) -> Any:
    bucket = Bucket({key: json.dumps(document) for key, document in texts.items()})
    return Findings(store=Store(finding), documents=bucket).shown("f-1")


def test_a_finding_is_shown_with_its_evidence_of_the_newest_audit_that_saw_it() -> None:
    newest = {"findings": [{"id": "f-0"}, {"id": "f-1", "evidence": ["no client"]}]}
    found = shown({
        "audits/sunday/targets/123456789012/eu-west-1.json": {"findings": [{"id": "f-1", "evidence": ["old"]}]},
        "audits/monday/targets/123456789012/eu-west-1.json": newest,
    })  # fmt: skip

    assert (found.finding, found.ledger, found.evidence) == (OPEN, (), newest["findings"][1])


def test_evidence_that_has_expired_is_none_and_the_ledger_is_still_there() -> None:
    store = Store()
    decide(store, "dismiss")
    found = Findings(store=store, documents=Bucket()).shown("f-1")

    assert (found.evidence, found.ledger) == (None, tuple(store.entries))
    assert shown({"audits/monday/targets/123456789012/eu-west-1.json": {"scan": {}, "findings": []}}).evidence is None


def test_an_unknown_finding_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="f-1"):
        shown({}, None)
    with pytest.raises(NotFoundError, match="f-1"):
        decide(Store(None), "dismiss")
