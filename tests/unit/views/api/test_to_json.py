"""Documents of stored findings and audits, and the finding records of a scan document."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest, IncompleteTarget
from slackwater.model.listing import Page
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, VolumeSetting
from slackwater.model.tracking import Decision, LedgerEntry, TrackedFinding
from slackwater.views.api import to_json as service_json
from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan.document import ScanDocument

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)


def scan_document(make, *findings, **changes):
    """Return a scan document with two enabled detectors."""
    return scan_json.document(replace(make.scan(*findings, **changes), detectors=("ebs-unattached", "efs-idle")))


@pytest.fixture
def tracked(make) -> TrackedFinding:
    return TrackedFinding(
        sighting=service_json.finding_record(scan_document(make, make.finding())["findings"][0]), status="snoozed",
        decision=Decision(status="snoozed", who="jane", why="later", at=MONDAY, until=MONDAY + timedelta(days=30)),
        opened_at=MONDAY - timedelta(days=7), last_seen_at=MONDAY, resolved_at=None, audit_id="monday", revision=2,
    )  # fmt: skip


@pytest.fixture
def entry(tracked) -> LedgerEntry:
    return LedgerEntry(
        happening="snoozed", at=MONDAY, who="jane", was="open", now="snoozed", why="later", revision=2,
        audit_id="monday", evidence=tracked.sighting,
    )  # fmt: skip


def test_a_report_says_what_was_asked_seen_and_not_answered(make) -> None:
    report = service_json.report(
        scan_document(make, make.finding("12.30"), unknown=(make.unknown("vol-9"),), gaps=(make.gap(),))
    )

    assert (report.account, report.region, report.complete) == ("123456789012", "ap-northeast-1", False)
    assert report.detectors == {"ebs-unattached", "efs-idle"}
    assert report.unknown == {("ebs-unattached", "vol-9")}
    (seen,) = report.records
    assert (seen.id, seen.detector, seen.owner, seen.fingerprint) == ("f1", "ebs-unattached", "data", "abc")
    assert (seen.monthly_savings_usd, seen.resource.name) == (Decimal("12.30"), "scratch")
    assert service_json.report(scan_document(make)).complete


def test_a_report_of_a_target_in_parts_is_of_all_and_whole_where_none_is_missing_or_has_a_gap(make) -> None:
    parts = [
        service_json.report(one)
        for one in (scan_document(make, make.finding("1.00")), scan_document(make, unknown=(make.unknown("vol-9"),)))
    ]
    report = service_json.joined(parts, whole=True)

    assert (report.complete, len(report.records), len(report.unknown)) == (True, 1, 1)
    assert not service_json.joined(parts, whole=False).complete
    assert not service_json.joined(
        [*parts, service_json.report(scan_document(make, gaps=(make.gap(),)))], whole=True
    ).complete


def test_unknown_savings_stay_unknown(make) -> None:
    (seen,) = service_json.report(scan_document(make, make.finding(None))).records

    assert seen.monthly_savings_usd is None


@pytest.mark.parametrize(
    ("advice_deletes", "may"), [((True, False), True), ((False, True), True), ((False, False), False), ((), False)]
)
def test_a_finding_may_be_deleted_if_any_of_its_advice_says_so(
    make, advice_deletes: tuple[bool, ...], may: bool
) -> None:
    recommendations = tuple(make.recommendation("1", deletes=one) for one in advice_deletes)
    (seen,) = service_json.report(scan_document(make, make.finding(recommendations=recommendations))).records

    assert seen.deletes is may


@pytest.mark.parametrize(
    "setting",
    [
        VolumeSetting(volume_type="io2", iops=792, throughput_mib_s=None),
        EfsThroughputSetting(mode="provisioned", provisioned_mib_s=72),
        EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS", transition_to_primary="AFTER_1_ACCESS"),
        None,
    ],
)
def test_a_setting_comes_back_from_the_stored_document_as_it_was(make, setting) -> None:
    finding = make.finding(recommendations=(make.recommendation("1", setting=setting), make.recommendation("1")))
    stored = TypeAdapter(ScanDocument).validate_json(scan_json.dump(scan_document(make, finding)))
    (seen,) = service_json.report(stored).records

    assert seen.setting == setting
    assert TypeAdapter(type(seen)).validate_json(TypeAdapter(type(seen)).dump_json(seen)) == seen


def test_a_report_is_of_one_target(make) -> None:
    document = scan_document(make)
    document["scan"]["targets"].append({"account": "123456789012", "region": "eu-west-1", "complete": True})

    with pytest.raises(ValueError, match="too many values"):
        service_json.report(document)


def test_a_finding_has_its_scan_result_and_its_later_status(make, tracked) -> None:
    scanned = scan_document(make, make.finding())["findings"][0]
    document = service_json.tracked_finding(tracked)

    shared = set(scanned) & set(document)
    assert shared == {
        "id", "detector", "severity", "kind", "confidence", "resource", "owner", "summary", "monthly_savings_usd",
        "fingerprint",
    }  # fmt: skip
    assert {name: document[name] for name in shared - {"resource"}} == {
        name: scanned[name] for name in shared - {"resource"}
    }
    assert document["resource"] == {name: value for name, value in scanned["resource"].items() if name != "tags"}
    assert {name: document[name] for name in set(document) - shared} == {
        "status": "snoozed",
        "decision": {"status": "snoozed", "who": "jane", "why": "later", "at": "2026-11-16T09:00:00Z",
                     "until": "2026-12-16T09:00:00Z"},
        "opened_at": "2026-11-09T09:00:00Z", "last_seen_at": "2026-11-16T09:00:00Z", "resolved_at": None,
        "audit_id": "monday",
    }  # fmt: skip


def test_without_a_decision_or_a_price_there_is_null(tracked) -> None:
    seen = replace(tracked.sighting, monthly_savings_usd=None)
    bare = replace(tracked, decision=None, sighting=seen, status="resolved", resolved_at=MONDAY)
    document = service_json.tracked_finding(bare)

    assert (document["decision"], document["monthly_savings_usd"]) == (None, None)
    assert document["resolved_at"] == "2026-11-16T09:00:00Z"


def test_a_detail_adds_the_evidence_and_the_ledger(make, tracked, entry) -> None:
    scanned = scan_document(make, make.finding())["findings"][0]
    detail = service_json.finding_detail(tracked, [entry], scanned)

    assert detail["finding"] is scanned
    assert detail["ledger"] == [
        {
            "revision": 2, "happening": "snoozed", "at": "2026-11-16T09:00:00Z", "who": "jane", "was": "open",
            "now": "snoozed", "why": "later", "audit_id": "monday",
            "evidence": {name: detail[name] for name in service_json.ledger_entry(entry)["evidence"]},
        }
    ]  # fmt: skip
    assert set(detail) - {"finding", "ledger"} == set(service_json.tracked_finding(tracked))


def test_an_event_says_what_was_seen_and_what_changed(entry) -> None:
    event = service_json.finding_event(entry)
    ledger = service_json.ledger_entry(entry)

    assert event == {"schema": "slackwater.event/1", "finding": ledger.pop("evidence"), "change": ledger}


RECORD = AuditRecord(
    id="a-1", state="incomplete", started_at=MONDAY, finished_at=MONDAY + timedelta(seconds=90),
    request=AuditRequest(requested_by="schedule", regions=("eu-west-1",), detectors=("efs-idle",), occasion="weekly/x"),
    policy=PolicyVersion(version="3", sha256="ab"),
    outcome=AuditOutcome(
        targets=2, incomplete_targets=1, incomplete=(IncompleteTarget(account="1", region="eu-west-1", why="denied"),),
        gaps=1, findings=4, monthly_savings_usd=Decimal("240.5"), unpriced=1, opened=4, changed=3, resolved=2,
        api_calls=9, metrics_requested=100, estimated_usd=Decimal("0.0010"), incomplete_in_a_row=1,
    ),
    error=None,
)  # fmt: skip


def test_an_audit_says_what_was_asked_and_what_came_of_it() -> None:
    assert service_json.audit(RECORD) == {
        "id": "a-1", "state": "incomplete", "started_at": "2026-11-16T09:00:00Z", "finished_at": "2026-11-16T09:01:30Z",
        "requested_by": "schedule", "regions": ["eu-west-1"], "detectors": ["efs-idle"], "policy_version": "3",
        "accounts": [], "retry_of": None,
        "policy_sha256": "ab", "error": None,
        "outcome": {
            "targets": 2, "incomplete_targets": 1,
            "incomplete": [{"account": "1", "region": "eu-west-1", "why": "denied"}], "gaps": 1, "findings": 4,
            "monthly_savings_usd": "240.50", "unpriced": 1, "opened": 4, "changed": 3, "resolved": 2, "api_calls": 9,
            "metrics_requested": 100, "estimated_usd": "0.001", "incomplete_in_a_row": 1,
        },
    }  # fmt: skip
    assert service_json.audit_event(RECORD) == {"schema": "slackwater.event/1", "audit": service_json.audit(RECORD)}


def test_an_audit_that_came_to_nothing_has_no_outcome_and_no_policy() -> None:
    failed = replace(RECORD, state="failed", finished_at=None, policy=None, outcome=None, error="PolicyError: line 3")
    document = service_json.audit(failed)

    assert (document["outcome"], document["finished_at"], document["policy_version"]) == (None, None, None)
    assert (document["policy_sha256"], document["error"]) == (None, "PolicyError: line 3")


def test_pages_carry_their_cursor(tracked) -> None:
    findings = service_json.finding_page(Page(items=(tracked,), cursor="on"))
    audits = service_json.audit_page(Page(items=(RECORD,), cursor=None))

    assert findings == {"findings": [service_json.tracked_finding(tracked)], "cursor": "on"}
    assert audits == {"audits": [service_json.audit(RECORD)], "cursor": None, "allowance": None}
