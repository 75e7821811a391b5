"""How audits change a finding."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from slackwater.engine.merge import merge_one, pairs
from slackwater.model.settings import Setting, VolumeSetting
from slackwater.model.tracking import (
    SERVICE,
    STATUSES,
    Decision,
    FindingRecord,
    LedgerEntry,
    Status,
    TargetReport,
    TrackedFinding,
    TrackedResource,
)
from slackwater.model.verdicts import FindingKind, Severity

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
DAY = timedelta(days=1)
DETECTOR = "efs-idle"
SEEN = FindingRecord(
    id="f-1", detector=DETECTOR, kind="waste", severity="medium", confidence="high", owner=None,
    summary="idle for 30 days",
    resource=TrackedResource(
        arn="arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-1", id="fs-1", type="efs-file-system",
        name="scratch", account="123456789012", region="eu-west-1",
    ),
    monthly_savings_usd=Decimal("12.30"), fingerprint="a",
)  # fmt: skip
MORE_EXPENSIVE = replace(SEEN, monthly_savings_usd=Decimal("12.40"), summary="idle for 31 days")
CHANGED = replace(SEEN, fingerprint="b")
WHOLE = TargetReport(
    account="123456789012", region="eu-west-1", complete=True, detectors=frozenset({DETECTOR}), records=(),
    unknown=frozenset(),
)  # fmt: skip


def known(status: Status = "open", until: datetime | None = None, **changes: object) -> TrackedFinding:
    """Return a finding that Monday's audit saw, with the decision for its status."""
    decision = (
        Decision(status=status, who="jane", why="later", at=MONDAY, until=until)
        if status in {"snoozed", "dismissed", "approved"}
        else None
    )
    finding = TrackedFinding(
        sighting=SEEN, status=status, decision=decision, opened_at=MONDAY - 7 * DAY, last_seen_at=MONDAY,
        resolved_at=MONDAY if status == "resolved" else None, audit_id="monday", revision=3,
    )  # fmt: skip
    return replace(finding, **changes)  # type: ignore[arg-type]


def merge(
    finding: TrackedFinding | None,
    sighting: FindingRecord | None,
    report: TargetReport = WHOLE,
    audit_id: str = "tuesday",
    now: datetime = MONDAY + DAY,
) -> tuple[TrackedFinding | None, LedgerEntry | None]:
    """Return the finding after the merge, and its ledger entry."""
    write = merge_one(finding, sighting, report, audit_id, now)
    if write is None:
        return finding, None
    assert write.expects == (finding.revision if finding else 0)
    assert write.finding.revision == write.expects + (write.entry is not None)
    if write.entry:
        assert write.entry.revision == write.finding.revision
        assert (write.entry.was, write.entry.now) == (finding and finding.status, write.finding.status)
        assert (write.entry.who, write.entry.at, write.entry.audit_id) == (SERVICE, now, audit_id)
        assert write.entry.evidence == write.finding.sighting
    return write.finding, write.entry


def announced(entry: LedgerEntry | None) -> tuple[str, str] | None:
    return (entry.happening, entry.why) if entry else None


def test_what_nobody_knew_is_opened() -> None:
    finding, entry = merge(None, SEEN)

    assert finding == TrackedFinding(
        sighting=SEEN, status="open", decision=None, opened_at=MONDAY + DAY, last_seen_at=MONDAY + DAY,
        resolved_at=None, audit_id="tuesday", revision=1,
    )  # fmt: skip
    assert announced(entry) == ("opened", "new")


@pytest.mark.parametrize(
    "decision",
    [
        None,
        Decision(status="snoozed", who="jane", why="", at=MONDAY, until=MONDAY + DAY),
        Decision(status="dismissed", who="jane", why="", at=MONDAY, until=MONDAY + DAY),
    ],
)
def test_what_came_back_is_opened_again(decision: Decision | None) -> None:
    finding, entry = merge(known("resolved", decision=decision), SEEN)

    assert finding == known(opened_at=MONDAY + DAY, last_seen_at=MONDAY + DAY, audit_id="tuesday", revision=4)
    assert announced(entry) == ("opened", "came back; resolved 2026-11-16 09:00 UTC")


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "resolved"])
def test_what_is_seen_unchanged_keeps_all_but_what_was_seen_when(status: Status) -> None:
    finding, entry = merge(known(status), MORE_EXPENSIVE)

    assert finding == known(status, sighting=MORE_EXPENSIVE, last_seen_at=MONDAY + DAY, audit_id="tuesday")
    assert entry is None


@pytest.mark.parametrize("status", ["open", "snoozed", "dismissed", "cleaning", "failed"])
def test_a_change_is_announced_and_keeps_the_decision(status: Status) -> None:
    finding, entry = merge(known(status), CHANGED)

    assert finding == known(status, sighting=CHANGED, last_seen_at=MONDAY + DAY, audit_id="tuesday", revision=4)
    assert announced(entry) == ("changed", "it has changed")


def test_an_approval_is_for_what_it_was_given_for() -> None:
    finding, entry = merge(known("approved"), CHANGED)

    assert finding is not None
    assert (finding.status, finding.decision) == ("open", None)
    assert announced(entry) == ("changed", "it has changed: the approval was for what it was before")


@pytest.mark.parametrize(
    ("status", "words"), [("snoozed", "the snooze"), ("dismissed", "the dismissal"), ("approved", "the approval")]
)
@pytest.mark.parametrize(("sighting", "more"), [(SEEN, ""), (CHANGED, ", and it has changed")])
def test_a_decision_holds_to_the_second_and_then_the_finding_is_open_again(
    status: Status, words: str, sighting: FindingRecord, more: str
) -> None:
    until = MONDAY + DAY
    before, _ = merge(known(status, until), SEEN, now=until - timedelta(seconds=1))
    finding, entry = merge(known(status, until), sighting)

    assert before is not None
    assert before.status == status
    assert finding == known(sighting=sighting, last_seen_at=until, audit_id="tuesday", revision=4)
    assert announced(entry) == ("reopened", f"{words} ended 2026-11-17 09:00 UTC{more}")


@pytest.mark.parametrize("status", [status for status in STATUSES if status not in {"resolved", "cleaning"}])
def test_what_a_whole_target_no_longer_shows_is_resolved(status: Status) -> None:
    was = known(status, MONDAY + 9 * DAY)
    finding, entry = merge(was, None)

    decision = was.decision if status in {"snoozed", "dismissed"} else None
    assert finding == known("resolved", resolved_at=MONDAY + DAY, decision=decision, revision=4)
    assert announced(entry) == ("resolved", "no longer flagged")


@pytest.mark.parametrize(("status", "decision"), [("snoozed", "the snooze"), ("dismissed", "the dismissal")])
@pytest.mark.parametrize("until", [None, MONDAY + 9 * DAY])
def test_a_decision_stays_valid_if_a_finding_disappears_and_returns(
    status: Status, decision: str, until: datetime | None
) -> None:
    gone, _ = merge(known(status, until), None)
    finding, entry = merge(gone, SEEN, audit_id="wednesday", now=MONDAY + 2 * DAY)

    back = MONDAY + 2 * DAY
    assert finding == known(status, until, opened_at=back, last_seen_at=back, audit_id="wednesday", revision=5)
    assert announced(entry) == ("changed", f"came back; resolved 2026-11-17 09:00 UTC; {decision} stands")


def test_what_the_policy_or_a_tag_hides_is_resolved_for_that_reason() -> None:
    _, entry = merge(
        known(), None, replace(WHOLE, unlisted={(DETECTOR, "fs-1"): "kept by a tag", (DETECTOR, "fs-2"): "another"})
    )

    assert announced(entry) == ("resolved", "kept by a tag")


def test_a_finding_that_becomes_approvable_is_announced_once_more() -> None:
    ripe = replace(SEEN, deletes=True)
    finding, entry = merge(known(), ripe)

    assert announced(entry) == ("changed", "it has changed")
    assert merge(finding, ripe, audit_id="wednesday", now=MONDAY + 2 * DAY)[1] is None
    assert merge(known(sighting=ripe), SEEN)[1] is None


GP3 = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
FASTER = replace(GP3, throughput_mib_s=250)
TO_GP3 = replace(SEEN, setting=GP3)


def test_a_finding_that_becomes_changeable_is_announced_once_more() -> None:
    finding, entry = merge(known(), TO_GP3)

    assert announced(entry) == ("changed", "it has changed")
    assert finding is not None
    assert finding.sighting == TO_GP3
    assert merge(finding, TO_GP3, audit_id="wednesday", now=MONDAY + 2 * DAY)[1] is None
    assert merge(known(sighting=TO_GP3), SEEN)[1] is None
    assert merge(known(sighting=replace(SEEN, deletes=True)), TO_GP3)[1] is None


def approved(setting: Setting | None, until: datetime | None = None) -> TrackedFinding:
    """Return a finding approved for a change to this setting, or for its deletion if the setting is None."""
    seen = replace(SEEN, deletes=setting is None, setting=setting)
    decision = Decision(status="approved", who="jane", why="", at=MONDAY, until=until, fingerprint="a", setting=setting)
    return known("approved", sighting=seen, decision=decision)


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (
            GP3,
            replace(SEEN, setting=FASTER),
            (
                "it would now change to gp3, 3,000 IOPS, 250 MiB/s: the approval was to change it to gp3, 3,000 IOPS, "
                "125 MiB/s"
            ),
        ),
        (None, TO_GP3, "it would now change to gp3, 3,000 IOPS, 125 MiB/s: the approval was to delete it"),
        (
            GP3,
            replace(SEEN, deletes=True),
            "it would now be deleted: the approval was to change it to gp3, 3,000 IOPS, 125 MiB/s",
        ),
        (GP3, SEEN, "it would now be left to people: the approval was to change it to gp3, 3,000 IOPS, 125 MiB/s"),
    ],
)
def test_an_approval_to_change_a_setting_is_for_no_other_setting(
    was: Setting | None, now: FindingRecord, why: str
) -> None:
    finding, entry = merge(approved(was), now)

    assert finding is not None
    assert (finding.status, finding.decision, finding.sighting) == ("open", None, now)
    assert announced(entry) == ("changed", why)
    assert merge(finding, now, audit_id="wednesday", now=MONDAY + 2 * DAY)[1] is None


def test_an_approval_is_valid_while_its_setting_is_the_same_and_expires_in_time() -> None:
    finding, entry = merge(approved(GP3, MONDAY + 2 * DAY), replace(TO_GP3, monthly_savings_usd=Decimal("12.40")))

    assert finding is not None
    assert (finding.status, entry) == ("approved", None)
    late = merge(approved(GP3, MONDAY + DAY), replace(SEEN, setting=FASTER))[1]
    assert announced(late) == ("reopened", "the approval ended 2026-11-17 09:00 UTC")


@pytest.mark.parametrize("status", [one for one in STATUSES if one not in {"approved", "resolved"}])
def test_another_setting_alone_is_no_news_and_ends_nothing_but_an_approval(status: Status) -> None:
    finding, entry = merge(known(status, sighting=TO_GP3), replace(SEEN, setting=FASTER))

    assert finding is not None
    assert (finding.status, entry) == (status, None)


@pytest.mark.parametrize("sighting", [None, SEEN, CHANGED, TO_GP3])
@pytest.mark.parametrize("complete", [True, False])
def test_no_audit_ends_a_clean_up(sighting: FindingRecord | None, complete: bool) -> None:
    finding, _ = merge(known("cleaning", sighting=TO_GP3), sighting, replace(WHOLE, complete=complete))

    assert finding is not None
    assert (finding.status, finding.resolved_at) == ("cleaning", None)


def test_what_failed_stays_failed_while_it_is_seen_and_is_resolved_once_it_is_not() -> None:
    for sighting in (SEEN, CHANGED, TO_GP3):
        finding, _ = merge(known("failed"), sighting)
        assert finding is not None
        assert finding.status == "failed"
    gone, entry = merge(known("failed"), None)

    assert gone is not None
    assert (gone.status, gone.resolved_at) == ("resolved", MONDAY + DAY)
    assert announced(entry) == ("resolved", "no longer flagged")
    assert merge(known("failed"), None, replace(WHOLE, complete=False)) == (known("failed"), None)


def seen_at(usd: str | None, severity: Severity, kind: FindingKind = "waste") -> FindingRecord:
    return replace(SEEN, kind=kind, severity=severity, monthly_savings_usd=None if usd is None else Decimal(usd))


@pytest.mark.parametrize("kind", ["performance", "risk"])
def test_an_issue_that_gets_worse_is_announced_and_one_that_gets_better_is_not(kind: FindingKind) -> None:
    was = known(sighting=seen_at("-352.15", "medium", kind))

    assert announced(merge(was, seen_at("-352.15", "high", kind))[1]) == ("changed", "it has changed")
    assert announced(merge(was, seen_at(None, "high", kind))[1]) == ("changed", "it has changed")
    assert merge(was, seen_at("-352.15", "low", kind))[1] is None
    assert merge(was, seen_at("900.00", "medium", kind))[1] is None


@pytest.mark.parametrize(
    ("was", "now", "worse"),
    [
        (("99.99", "medium"), ("100.01", "high"), False),
        (("9.99", "low"), ("10.00", "medium"), False),
        (("50.01", "medium"), ("100.01", "high"), False),
        (("50.00", "medium"), ("100.00", "high"), True),
        (("5.00", "low"), ("10.00", "medium"), True),
        (("0.00", "low"), ("10.00", "medium"), True),
        (("-3.00", "info"), ("10.00", "medium"), True),
        (("-0.01", "info"), ("0.01", "low"), False),
        (("10.00", "medium"), ("99.99", "medium"), False),
        (("200.00", "high"), ("20.00", "medium"), False),
        ((None, "medium"), ("100.00", "high"), True),
        ((None, "low"), ("10.00", "medium"), False),
        ((None, "medium"), ("10.00", "medium"), False),
        (("3.00", "low"), (None, "medium"), False),
    ],
)
def test_waste_gets_worse_if_its_cost_doubles_and_not_if_cents_change(
    was: tuple[str | None, Severity], now: tuple[str | None, Severity], worse: bool
) -> None:
    _, entry = merge(known(sighting=seen_at(*was)), seen_at(*now))

    assert announced(entry) == (("changed", "it has changed") if worse else None)


def test_cents_take_no_approval_back() -> None:
    finding, entry = merge(known("approved", sighting=seen_at("99.99", "medium")), seen_at("100.01", "high"))

    assert finding is not None
    assert (finding.status, entry) == ("approved", None)
    assert finding.sighting.severity == "high"


def test_two_audits_of_the_same_time_do_not_revert_each_other() -> None:
    assert merge(known(), None, now=MONDAY) == (known(), None)

    gone = known("resolved", resolved_at=MONDAY + DAY)
    assert merge(gone, SEEN, now=MONDAY + DAY) == (gone, None)


@pytest.mark.parametrize(
    "report",
    [
        replace(WHOLE, complete=False),
        replace(WHOLE, detectors=frozenset({"ebs-unattached"})),
        replace(WHOLE, unknown=frozenset({(DETECTOR, "fs-1")})),
        replace(WHOLE, region="us-east-1"),
        replace(WHOLE, account="210987654321"),
    ],
    ids=["not whole", "not asked", "not answered", "another region", "another account"],
)
def test_nothing_is_resolved_by_who_cannot_know(report: TargetReport) -> None:
    assert merge(known(), None, report) == (known(), None)


def test_an_answer_that_is_lacking_elsewhere_keeps_nothing_open() -> None:
    elsewhere = frozenset({("ebs-unattached", "fs-1"), (DETECTOR, "fs-2")})
    finding, _ = merge(known(), None, replace(WHOLE, unknown=elsewhere))

    assert finding is not None
    assert finding.status == "resolved"


@pytest.mark.parametrize("status", ["cleaning", "resolved"])
def test_what_is_being_cleaned_up_or_is_gone_already_is_left_alone(status: Status) -> None:
    assert merge(known(status), None) == (known(status), None)


def test_a_snooze_ends_though_the_target_is_not_whole_but_only_where_it_was_asked_about() -> None:
    snoozed = known("snoozed", MONDAY + DAY)
    finding, entry = merge(snoozed, None, replace(WHOLE, complete=False))

    assert finding == known(revision=4)
    assert announced(entry) == ("reopened", "the snooze ended 2026-11-17 09:00 UTC")
    assert merge(snoozed, None, replace(WHOLE, complete=False, detectors=frozenset())) == (snoozed, None)


@pytest.mark.parametrize("sighting", [None, SEEN, CHANGED])
@pytest.mark.parametrize("status", STATUSES)
def test_an_audit_that_is_older_than_what_is_known_changes_nothing(
    status: Status, sighting: FindingRecord | None
) -> None:
    assert merge(known(status), sighting, now=MONDAY - timedelta(seconds=1)) == (known(status), None)


def test_what_was_resolved_is_not_opened_by_an_audit_that_began_before_that() -> None:
    gone = known("resolved", resolved_at=MONDAY + 2 * DAY)

    assert merge(gone, SEEN, now=MONDAY + DAY) == (gone, None)


def test_each_known_finding_is_paired_with_its_record_and_each_new_record_is_alone() -> None:
    new, unseen = replace(SEEN, id="f-3"), known(sighting=replace(SEEN, id="f-2"))
    report = replace(WHOLE, records=(new, MORE_EXPENSIVE))

    assert list(pairs([unseen, known()], report)) == [(unseen, None), (known(), MORE_EXPENSIVE), (None, new)]


# -- Properties of every history

REPORTS = some.builds(
    lambda records, complete, asked, unknown: replace(
        WHOLE,
        records=tuple(records),
        complete=complete,
        detectors=frozenset({DETECTOR} if asked or records else ()),
        unknown=frozenset({(DETECTOR, "fs-1")} if unknown else ()),
    ),
    some.sampled_from([[], [SEEN], [MORE_EXPENSIVE], [CHANGED]]),
    some.booleans(),
    some.booleans(),
    some.booleans(),
)
HISTORIES = some.lists(some.tuples(some.integers(0, 5), REPORTS), max_size=8)
KNOWN = some.none() | some.builds(
    known, some.sampled_from(STATUSES), some.none() | some.integers(-1, 6).map(lambda days: MONDAY + days * DAY)
)


def after(finding: TrackedFinding | None, report: TargetReport, audit_id: str, now: datetime) -> TrackedFinding | None:
    sighting = report.records[0] if report.records else None
    return merge(finding, sighting, report, audit_id, now)[0]


@given(KNOWN, HISTORIES)
def test_the_same_report_twice_changes_nothing_the_second_time(
    finding: TrackedFinding | None, history: list[tuple[int, TargetReport]]
) -> None:
    for number, (day, report) in enumerate(history):
        sighting = report.records[0] if report.records else None
        finding = after(finding, report, f"audit-{number}", MONDAY + day * DAY)
        assert merge_one(finding, sighting, report, f"audit-{number}", MONDAY + day * DAY) is None


@given(KNOWN, HISTORIES)
def test_targets_that_are_not_whole_resolve_nothing(
    finding: TrackedFinding | None, history: list[tuple[int, TargetReport]]
) -> None:
    for number, (day, report) in enumerate(history):
        was = finding
        finding = after(finding, replace(report, complete=False), f"audit-{number}", MONDAY + day * DAY)
        assert finding is None or finding.status != "resolved" or (was is not None and was.status == "resolved")


@given(
    some.sampled_from(["snoozed", "dismissed"]),
    some.integers(1, 30),
    some.lists(some.tuples(some.integers(0, 29), some.sampled_from([SEEN, MORE_EXPENSIVE, CHANGED])), max_size=8),
)
def test_a_decision_survives_whatever_is_seen_until_it_ends(
    status: Status, days: int, history: list[tuple[int, FindingRecord]]
) -> None:
    until = MONDAY + days * DAY
    finding: TrackedFinding | None = known(status, until)
    decision = known(status, until).decision
    for number, (day, sighting) in enumerate(history):
        if day < days:
            finding = after(finding, replace(WHOLE, records=(sighting,)), f"audit-{number}", MONDAY + day * DAY)
        assert finding is not None
        assert (finding.status, finding.decision) == (status, decision)


@given(KNOWN, HISTORIES)
def test_the_ledger_misses_no_revision_and_time_never_runs_back(
    finding: TrackedFinding | None, history: list[tuple[int, TargetReport]]
) -> None:
    for number, (day, report) in enumerate(history):
        was = finding
        finding = after(finding, report, f"audit-{number}", MONDAY + day * DAY)
        if was and finding:
            assert finding.revision - was.revision in {0, 1}
            assert finding.last_seen_at >= was.last_seen_at
            assert (finding.status == "resolved") == (finding.resolved_at is not None)
            assert finding.status == was.status or finding.revision == was.revision + 1
            held = was.decision if was.status in {"snoozed", "dismissed", "resolved"} else None
            assert finding.status != "open" or held is None or (held.until and held.until <= MONDAY + day * DAY)
