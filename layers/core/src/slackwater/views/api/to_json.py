"""Stored findings and audits as the API, the events and the command line tell them, and a scan document as it is
tracked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from itertools import chain
from typing import Any, Final

from pydantic import TypeAdapter

from slackwater.model.audits import Allowance, AuditRecord
from slackwater.model.listing import Page
from slackwater.model.policy_version import DEFAULTS
from slackwater.model.tracking import FindingRecord, LedgerEntry, TargetReport, TrackedFinding, TrackedResource
from slackwater.views.api.document import (
    EVENT_SCHEMA,
    AllowanceDocument,
    AuditDocument,
    AuditEvent,
    AuditPageDocument,
    ChangeDocument,
    FindingDetailDocument,
    FindingEvent,
    FindingPageDocument,
    LedgerEntryDocument,
    OutcomeDocument,
    SightingDocument,
    TrackedFindingDocument,
    TrackedResourceDocument,
)
from slackwater.views.scan.document import FindingDocument, ScanDocument
from slackwater.views.scan.to_json import rfc3339

_RECORD: Final = TypeAdapter(FindingRecord)
_RECORD_DOCUMENT: Final = TypeAdapter(SightingDocument)
_RESOURCE: Final = TypeAdapter(TrackedResourceDocument)
_FINDING: Final = TypeAdapter(TrackedFindingDocument)
_CHANGE: Final = TypeAdapter(ChangeDocument)
_LEDGER: Final = TypeAdapter(LedgerEntryDocument)
_OUTCOME: Final = TypeAdapter(OutcomeDocument)
_AUDIT: Final = TypeAdapter(AuditDocument)


def filled[D](document: TypeAdapter[D], *values: Any, **others: object) -> D:
    """Return a document with the fields of dataclasses that have the names of its keys.

    Times become RFC 3339, amounts get whole cents, and tuples become lists, in nested dataclasses too.

    Args:
        document: The document's type. Fields that it does not have are left out.
        values: The dataclasses. A later one wins where two have the same field.
        others: Keys of the document that no field has as it should be. They win over fields.

    Raises:
        pydantic.ValidationError: A key is missing, or has a value of another type.
    """
    fields: dict[str, object] = {}
    for value in values:
        fields |= asdict(value, dict_factory=_plain)
    return document.validate_python(fields | others)


def _plain(fields: Iterable[tuple[str, object]]) -> dict[str, object]:
    return {name: _text(value) if isinstance(value, datetime | Decimal) else value for name, value in fields}


def _text(value: datetime | Decimal) -> str:
    return rfc3339(value) if isinstance(value, datetime) else f"{value:.2f}"


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
        region_disabled="closed" in target,
    )


def joined(parts: Sequence[TargetReport], *, whole: bool) -> TargetReport:
    """What the parts of a target, one or more, say of it; `whole` says that none is missing."""
    return replace(
        parts[0],
        complete=whole and all(part.complete for part in parts),
        records=tuple(chain.from_iterable(part.records for part in parts)),
        unknown=frozenset(chain.from_iterable(part.unknown for part in parts)),
        unlisted=dict(chain.from_iterable(part.unlisted.items() for part in parts)),
        region_disabled=any(part.region_disabled for part in parts),
    )


def finding_record(finding: FindingDocument) -> FindingRecord:
    """A scan's finding without what only its scan document keeps."""
    recommendations = finding["recommendations"]
    return _RECORD.validate_python(
        {
            **finding,
            "deletes": any("deletes" in recommendation for recommendation in recommendations),
            "setting": next((one["setting"] for one in recommendations if "setting" in one), None),
        }
    )


def tracked_resource(resource: TrackedResource) -> TrackedResourceDocument:
    """What a finding is about."""
    return filled(_RESOURCE, resource)


def tracked_finding(finding: TrackedFinding) -> TrackedFindingDocument:
    """A finding and what became of it."""
    return filled(_FINDING, finding.sighting, finding)


def finding_detail(
    finding: TrackedFinding, ledger: Iterable[LedgerEntry], evidence: FindingDocument | None
) -> FindingDetailDocument:
    """A finding with every change of it, and with its evidence where that is still kept."""
    return {**tracked_finding(finding), "finding": evidence, "ledger": [ledger_entry(entry) for entry in ledger]}


def ledger_entry(entry: LedgerEntry) -> LedgerEntryDocument:
    """A change with what was seen then."""
    return filled(_LEDGER, entry)


def finding_page(page: Page[TrackedFinding]) -> FindingPageDocument:
    """Some findings."""
    return {"findings": [tracked_finding(finding) for finding in page.items], "cursor": page.cursor}


def finding_event(entry: LedgerEntry) -> FindingEvent:
    """A change for whoever listens."""
    return {
        "schema": EVENT_SCHEMA,
        "finding": filled(_RECORD_DOCUMENT, entry.evidence),
        "change": filled(_CHANGE, entry),
    }


def audit(record: AuditRecord) -> AuditDocument:
    """An audit."""
    policy, outcome = record.policy or DEFAULTS, record.outcome
    return filled(
        _AUDIT,
        record.request,
        record,
        policy_version=policy.version,
        policy_sha256=policy.sha256,
        outcome=outcome and filled(_OUTCOME, outcome, estimated_usd=f"{outcome.estimated_usd.normalize():f}"),
    )


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


def usd(amount: Decimal | None) -> str | None:
    """An amount in whole cents; None is unknown."""
    return None if amount is None else _text(amount)
