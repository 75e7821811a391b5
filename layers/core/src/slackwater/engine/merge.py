"""Merges an audit's report on a target into the stored findings."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from slackwater.model.rank import SEVERITIES
from slackwater.model.settings import in_words
from slackwater.model.tracking import (
    SERVICE,
    Decision,
    FindingRecord,
    Happening,
    LedgerEntry,
    Status,
    TargetReport,
    TrackedFinding,
    Write,
)

LAPSES: Final[dict[Status, str]] = {"snoozed": "the snooze", "dismissed": "the dismissal", "approved": "the approval"}
"""Statuses that end when their decision expires, as words for the ledger."""

LASTING: Final = ("snoozed", "dismissed")
"""Decisions about the issue, not about its fix: they stay valid if it is resolved and comes back."""


def pairs(
    known: Iterable[TrackedFinding], report: TargetReport
) -> Iterator[tuple[TrackedFinding | None, FindingRecord | None]]:
    """Yield what to merge: each known finding of the target with its record in the report, then the new records.

    The record is None if the audit did not flag the finding; the finding is None if it is new.
    """
    left = {record.id: record for record in report.records}
    for finding in known:
        yield finding, left.pop(finding.id, None)
    for record in left.values():
        yield None, record


def merge_one(
    known: TrackedFinding | None, record: FindingRecord | None, report: TargetReport, audit_id: str, now: datetime
) -> Write | None:
    """Return what to store for one finding after an audit; None if nothing changes.

    An audit older than what is stored changes nothing. Merging the same audit twice changes nothing the second time.

    Args:
        known: The stored finding; None if it is new.
        record: The finding as the audit saw it; None if the audit did not flag it.
        report: What the audit says about the target.
        audit_id: The audit.
        now: The time as of which the audit evaluated, with a time zone.
    """
    audit = _Audit(audit_id, now)
    if known is None:
        return None if record is None else _opened(record, audit)
    if now < known.last_seen_at or (known.resolved_at and now <= known.resolved_at):
        return None
    if record is None:
        # Another audit, which evaluated as of the same time, saw it.
        return None if now == known.last_seen_at else _unseen(known, report, audit)
    seen = replace(known, sighting=record, last_seen_at=now, audit_id=audit_id)
    return _came_back(known, seen, audit) if known.resolved_at else _seen_again(known, seen, audit)


class _Audit(NamedTuple):
    """The audit that is merged, and the time as of which it evaluated."""

    id: str
    now: datetime


def _came_back(known: TrackedFinding, seen: TrackedFinding, audit: _Audit) -> Write:
    """Open a resolved finding again. A snooze or dismissal that is still valid stays."""
    why = f"came back; resolved {_time(known.resolved_at or audit.now)}"
    back = replace(seen, opened_at=audit.now, resolved_at=None)
    if known.decision and _is_valid(known.decision, audit.now):
        status = known.decision.status
        return _write(known, replace(back, status=status), "changed", f"{why}; {LAPSES[status]} stands", audit)
    return _write(known, _reopened(back), "opened", why, audit)


def _seen_again(known: TrackedFinding, seen: TrackedFinding, audit: _Audit) -> Write | None:
    """Update a finding that an audit saw again. Open it again if its decision expired or was about something else."""
    before, record = known.sighting, seen.sighting
    can_be_approved = _may_be_done(record) and not _may_be_done(before)
    changed = can_be_approved or _worse(record, before) or record.fingerprint != before.fingerprint
    if lapsed := _lapsed(known, audit.now):
        why = f"{lapsed}, and it has changed" if changed else lapsed
        return _write(known, _reopened(seen), "reopened", why, audit)
    if changed and known.status == "approved":
        why = "it has changed: the approval was for what it was before"
        return _write(known, _reopened(seen), "changed", why, audit)
    if another := _another_setting(known, record):
        return _write(known, _reopened(seen), "changed", another, audit)
    if changed:
        return _write(known, seen, "changed", "it has changed", audit)
    return None if seen == known else Write(finding=seen, entry=None, expects=known.revision)


def _may_be_done(record: FindingRecord) -> bool:
    """Return whether Slackwater may do what the finding recommends."""
    return record.deletes or record.setting is not None


def _another_setting(known: TrackedFinding, record: FindingRecord) -> str | None:
    """Return how the approval differs from the current recommendation; None if it does not, or there is none."""
    decision = known.decision
    if known.status != "approved" or decision is None or decision.setting == record.setting:
        return None
    was = (
        "the approval was to "
        f"{'delete it' if decision.setting is None else f'change it to {in_words(decision.setting)}'}"
    )
    if record.setting is not None:
        return f"it would now change to {in_words(record.setting)}: {was}"
    return f"it would now be {'deleted' if record.deletes else 'left to people'}: {was}"


def _worse(now: FindingRecord, before: FindingRecord) -> bool:
    """Return whether the finding is clearly more severe than at the last audit.

    The severity of waste depends on money, and a few cents can raise it. So waste is worse only if it also costs twice
    as much, or if its price was unknown and its severity is now high. A change from `info` (saves nothing) to `low`
    does not count.
    """
    if SEVERITIES.index(now.severity) >= SEVERITIES.index(before.severity):
        return False
    if now.kind != "waste":
        return True
    usd, usd_before = now.monthly_savings_usd, before.monthly_savings_usd
    if usd is None or usd_before is None:
        return usd is not None and now.severity == "high"
    return usd >= 2 * usd_before and now.severity != "low"


def _opened(record: FindingRecord, audit: _Audit) -> Write:
    finding = TrackedFinding(
        sighting=record,
        status="open",
        decision=None,
        opened_at=audit.now,
        last_seen_at=audit.now,
        resolved_at=None,
        audit_id=audit.id,
        revision=0,
    )
    return _write(None, finding, "opened", "new", audit)


def _unseen(known: TrackedFinding, report: TargetReport, audit: _Audit) -> Write | None:
    """Resolve a finding that the audit did not flag, or open it again if its decision expired.

    It is resolved only if the whole target was read, and the detector reached a verdict on the resource.
    """
    resource = known.sighting.resource
    asked = (
        (resource.account, resource.region) == (report.account, report.region)
        and known.sighting.detector in report.detectors
        and known.status != "resolved"
    )
    if not asked:
        return None
    answered = report.is_conclusive and (known.sighting.detector, resource.id) not in report.unknown
    if answered and known.status != "cleaning":
        decision = known.decision if known.status in LASTING else None
        gone = replace(known, status="resolved", decision=decision, resolved_at=audit.now)
        why = report.unlisted.get((known.sighting.detector, resource.id), "no longer flagged")
        return _write(known, gone, "resolved", why, audit)
    if lapsed := _lapsed(known, audit.now):
        return _write(known, _reopened(known), "reopened", lapsed, audit)
    return None


def _lapsed(known: TrackedFinding, now: datetime) -> str | None:
    """Return which decision has expired, and when; None if it is valid."""
    if known.status not in LAPSES or known.decision is None or known.decision.until is None:
        return None
    if _is_valid(known.decision, now):
        return None
    return f"{LAPSES[known.status]} ended {_time(known.decision.until)}"


def _is_valid(decision: Decision, now: datetime) -> bool:
    return decision.until is None or now < decision.until


def _reopened(finding: TrackedFinding) -> TrackedFinding:
    return replace(finding, status="open", decision=None)


def _write(known: TrackedFinding | None, finding: TrackedFinding, event: Happening, why: str, audit: _Audit) -> Write:
    """Return the finding with its next revision, and the ledger entry for the change."""
    revision = known.revision if known else 0
    entry = LedgerEntry(
        happening=event,
        at=audit.now,
        who=SERVICE,
        was=known.status if known else None,
        now=finding.status,
        why=why,
        revision=revision + 1,
        audit_id=audit.id,
        evidence=finding.sighting,
    )
    return Write(finding=replace(finding, revision=revision + 1), entry=entry, expects=revision)


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
