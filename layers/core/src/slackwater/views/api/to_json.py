"""Stored findings and audits as the API, the events and the command line tell them, and a scan document as it is
tracked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from itertools import chain

from slackwater.model.audits import Allowance, AuditOutcome, AuditRecord
from slackwater.model.listing import Page
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, Setting, VolumeSetting
from slackwater.model.tracking import (
    Decision,
    FindingRecord,
    LedgerEntry,
    TargetReport,
    TrackedFinding,
    TrackedResource,
)
from slackwater.views.api.document import (
    EVENT_SCHEMA,
    AllowanceDocument,
    AuditDocument,
    AuditEvent,
    AuditPageDocument,
    ChangeDocument,
    DecisionDocument,
    FindingDetailDocument,
    FindingEvent,
    FindingPageDocument,
    IncompleteTargetDocument,
    LedgerEntryDocument,
    OutcomeDocument,
    SightingDocument,
    TrackedFindingDocument,
    TrackedResourceDocument,
)
from slackwater.views.scan.document import FindingDocument, ScanDocument, SettingDocument
from slackwater.views.scan.to_json import rfc3339


def report(document: ScanDocument) -> TargetReport:
    """What the scan document of one target, or of a part of it, says of it.

    Raises:
        ValueError: it is not of just one target.
    """
    (target,) = document["scan"]["targets"]
    return TargetReport(
        account=target["account"],
        region=target["region"],
        complete=target["complete"],
        detectors=frozenset(document["scan"]["detectors"]),
        records=tuple(finding_record(finding) for finding in document["findings"]),
        unknown=frozenset((unknown["detector"], unknown["resource"]["id"]) for unknown in document["unknown"]),
        unlisted={(one["detector"], one["resource"]["id"]): one["reason"] for one in document["unlisted"]},
        closed="closed" in target,
    )


def joined(parts: Sequence[TargetReport], *, whole: bool) -> TargetReport:
    """What the parts of a target, one or more, say of it; `whole` says that none is missing."""
    return replace(
        parts[0],
        complete=whole and all(part.complete for part in parts),
        records=tuple(chain.from_iterable(part.records for part in parts)),
        unknown=frozenset(chain.from_iterable(part.unknown for part in parts)),
        unlisted=dict(chain.from_iterable(part.unlisted.items() for part in parts)),
        closed=any(part.closed for part in parts),
    )


def finding_record(finding: FindingDocument) -> FindingRecord:
    """A scan's finding without what only its scan document keeps."""
    resource, savings = finding["resource"], finding["monthly_savings_usd"]
    return FindingRecord(
        id=finding["id"],
        detector=finding["detector"],
        kind=finding["kind"],
        severity=finding["severity"],
        confidence=finding["confidence"],
        resource=TrackedResource(
            arn=resource["arn"],
            id=resource["id"],
            type=resource["type"],
            name=resource["name"],
            account=resource["account"],
            region=resource["region"],
        ),
        owner=finding["owner"],
        summary=finding["summary"],
        monthly_savings_usd=None if savings is None else Decimal(savings),
        fingerprint=finding["fingerprint"],
        deletes=any("deletes" in recommendation for recommendation in finding["recommendations"]),
        setting=next((_setting(one["setting"]) for one in finding["recommendations"] if "setting" in one), None),
    )


def _setting(document: SettingDocument) -> Setting:
    match document["kind"]:
        case "volume":
            return VolumeSetting(**document)
        case "efs-throughput":
            return EfsThroughputSetting(**document)
        case "efs-lifecycle":
            return EfsLifecycleSetting(**document)


def tracked_resource(resource: TrackedResource) -> TrackedResourceDocument:
    """What a finding is about."""
    return {
        "arn": resource.arn,
        "id": resource.id,
        "type": resource.type,
        "name": resource.name,
        "account": resource.account,
        "region": resource.region,
    }


def tracked_finding(finding: TrackedFinding) -> TrackedFindingDocument:
    """A finding and what became of it."""
    return {
        **_finding_record_json(finding.sighting),
        "status": finding.status,
        "decision": None if finding.decision is None else _decision(finding.decision),
        "opened_at": rfc3339(finding.opened_at),
        "last_seen_at": rfc3339(finding.last_seen_at),
        "resolved_at": _time(finding.resolved_at),
        "audit_id": finding.audit_id,
    }


def finding_detail(
    finding: TrackedFinding, ledger: Iterable[LedgerEntry], evidence: FindingDocument | None
) -> FindingDetailDocument:
    """A finding with every change of it, and with its evidence where that is still kept."""
    return {**tracked_finding(finding), "finding": evidence, "ledger": [ledger_entry(entry) for entry in ledger]}


def ledger_entry(entry: LedgerEntry) -> LedgerEntryDocument:
    """A change with what was seen then."""
    return {**_change(entry), "evidence": _finding_record_json(entry.evidence)}


def finding_page(page: Page[TrackedFinding]) -> FindingPageDocument:
    """Some findings."""
    return {"findings": [tracked_finding(finding) for finding in page.items], "cursor": page.cursor}


def finding_event(entry: LedgerEntry) -> FindingEvent:
    """A change for whoever listens."""
    return {"schema": EVENT_SCHEMA, "finding": _finding_record_json(entry.evidence), "change": _change(entry)}


def audit(record: AuditRecord) -> AuditDocument:
    """An audit."""
    policy = record.policy
    return {
        "id": record.id,
        "state": record.state,
        "started_at": rfc3339(record.started_at),
        "finished_at": _time(record.finished_at),
        "requested_by": record.request.requested_by,
        "regions": list(record.request.regions),
        "detectors": list(record.request.detectors),
        "accounts": list(record.request.accounts),
        "retry_of": record.request.retry_of,
        "policy_version": policy.version if policy else None,
        "policy_sha256": policy.sha256 if policy else None,
        "outcome": None if record.outcome is None else _outcome(record.outcome),
        "error": record.error,
    }


def audit_page(page: Page[AuditRecord], left: Allowance | None = None) -> AuditPageDocument:
    """Some audits, and what may still be done."""
    allowance_left = allowance(left) if left else None
    return {"audits": [audit(record) for record in page.items], "cursor": page.cursor, "allowance": allowance_left}


def allowance(left: Allowance) -> AllowanceDocument:
    """What audits may still do; amounts to the cent, what is spent and left rounded down."""
    return {
        "running": list(left.running),
        "most_running": left.most_running,
        "day": left.day.isoformat(),
        "spent_usd": _cents(left.spent_usd),
        "most_usd": _cents(left.most_usd),
        "left_usd": _cents(left.left_usd),
    }


def _cents(usd: Decimal) -> str:
    return str(usd.quantize(Decimal("0.01"), ROUND_DOWN))


def audit_event(record: AuditRecord) -> AuditEvent:
    """An audit's end for whoever listens."""
    return {"schema": EVENT_SCHEMA, "audit": audit(record)}


def _finding_record_json(seen: FindingRecord) -> SightingDocument:
    return {
        "id": seen.id,
        "detector": seen.detector,
        "severity": seen.severity,
        "kind": seen.kind,
        "confidence": seen.confidence,
        "resource": tracked_resource(seen.resource),
        "owner": seen.owner,
        "summary": seen.summary,
        "monthly_savings_usd": usd(seen.monthly_savings_usd),
        "fingerprint": seen.fingerprint,
    }


def _change(entry: LedgerEntry) -> ChangeDocument:
    return {
        "revision": entry.revision,
        "happening": entry.happening,
        "at": rfc3339(entry.at),
        "who": entry.who,
        "was": entry.was,
        "now": entry.now,
        "why": entry.why,
        "audit_id": entry.audit_id,
    }


def _decision(decision: Decision) -> DecisionDocument:
    return {
        "status": decision.status,
        "who": decision.who,
        "why": decision.why,
        "at": rfc3339(decision.at),
        "until": _time(decision.until),
    }


def _outcome(outcome: AuditOutcome) -> OutcomeDocument:
    return {
        "targets": outcome.targets,
        "incomplete_targets": outcome.incomplete_targets,
        "incomplete": [
            IncompleteTargetDocument(account=target.account, region=target.region, why=target.why)
            for target in outcome.incomplete
        ],
        "gaps": outcome.gaps,
        "findings": outcome.findings,
        "monthly_savings_usd": _usd(outcome.monthly_savings_usd),
        "unpriced": outcome.unpriced,
        "opened": outcome.opened,
        "changed": outcome.changed,
        "resolved": outcome.resolved,
        "api_calls": outcome.api_calls,
        "metrics_requested": outcome.metrics_requested,
        "estimated_usd": f"{outcome.estimated_usd.normalize():f}",
        "incomplete_in_a_row": outcome.incomplete_in_a_row,
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)


def usd(amount: Decimal | None) -> str | None:
    """An amount in whole cents; None is unknown."""
    return None if amount is None else _usd(amount)


def _usd(amount: Decimal) -> str:
    return f"{amount:.2f}"
