"""Convert stored findings and audits to the documents that the API, the events and the command line return.

Also converts a scan document to the records that are stored.
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
    """Return a document, filled with the dataclass fields that have the names of its keys.

    Times become RFC 3339, amounts get whole cents, and tuples become lists, in nested dataclasses too.

    Args:
        document: The document's type. Fields that it does not have are left out.
        values: The dataclasses. If two have the same field, the later one wins.
        others: Values for keys that no field has in the right form. They win over fields.

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
    """Return the report of one target, from the scan document of that target or of a chunk of it.

    Raises:
        ValueError: The document is not of exactly one target.
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
    """Return the report of a target, from those of its chunks, one or more. `whole` says that no chunk is missing."""
    return replace(
        parts[0],
        complete=whole and all(part.complete for part in parts),
        records=tuple(chain.from_iterable(part.records for part in parts)),
        unknown=frozenset(chain.from_iterable(part.unknown for part in parts)),
        unlisted=dict(chain.from_iterable(part.unlisted.items() for part in parts)),
        region_disabled=any(part.region_disabled for part in parts),
    )


def finding_record(finding: FindingDocument) -> FindingRecord:
    """Return the record of a scan's finding, without the fields that only the scan document keeps."""
    recommendations = finding["recommendations"]
    return _RECORD.validate_python(
        {
            **finding,
            "deletes": any("deletes" in recommendation for recommendation in recommendations),
            "setting": next((one["setting"] for one in recommendations if "setting" in one), None),
        }
    )


def tracked_resource(resource: TrackedResource) -> TrackedResourceDocument:
    """Return the resource of a finding."""
    return filled(_RESOURCE, resource)


def tracked_finding(finding: TrackedFinding) -> TrackedFindingDocument:
    """Return a finding with its current status."""
    return filled(_FINDING, finding.sighting, finding)


def finding_detail(
    finding: TrackedFinding, ledger: Iterable[LedgerEntry], evidence: FindingDocument | None
) -> FindingDetailDocument:
    """Return a finding with its ledger. `evidence` is None if its scan document has expired."""
    return {**tracked_finding(finding), "finding": evidence, "ledger": [ledger_entry(entry) for entry in ledger]}


def ledger_entry(entry: LedgerEntry) -> LedgerEntryDocument:
    """Return a change, with the finding as it was at that time."""
    return filled(_LEDGER, entry)


def finding_page(page: Page[TrackedFinding]) -> FindingPageDocument:
    """Return a page of findings."""
    return {"findings": [tracked_finding(finding) for finding in page.items], "cursor": page.cursor}


def finding_event(entry: LedgerEntry) -> FindingEvent:
    """Return the event of a change, for subscribers."""
    return {
        "schema": EVENT_SCHEMA,
        "finding": filled(_RECORD_DOCUMENT, entry.evidence),
        "change": filled(_CHANGE, entry),
    }


def audit(record: AuditRecord) -> AuditDocument:
    """Return an audit. Its policy version and hash are null if no policy file was used."""
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
    """Return a page of audits. `left` is what audits may still do today; None leaves it out."""
    allowance_left = allowance(left) if left else None
    return {"audits": [audit(record) for record in page.items], "cursor": page.cursor, "allowance": allowance_left}


def allowance(left: Allowance) -> AllowanceDocument:
    """Return what audits may still do today. Amounts are rounded down to the cent."""
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
    """Return the event of an audit's end, for subscribers."""
    return {"schema": EVENT_SCHEMA, "audit": audit(record)}


def usd(amount: Decimal | None) -> str | None:
    """Return an amount with two decimals; None is unknown."""
    return None if amount is None else _text(amount)
