"""Convert clean-ups to the documents that the API and the command line return.

Functions take the model's objects. Values that only a use case can work out, such as `undoable`, are arguments.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Final

from pydantic import TypeAdapter

from slackwater.model.candidates import Candidate
from slackwater.model.cleanup import ActorNote, Cleanup, Observed, Restored
from slackwater.model.settings import in_words
from slackwater.model.tracking import LedgerEntry, Status
from slackwater.views.api.to_json import filled, ledger_entry, tracked_resource, usd
from slackwater.views.cleanup.document import (
    BackupDocument,
    CandidateDocument,
    CleanupDetailDocument,
    CleanupDocument,
    MarkedDocument,
    ObservedDocument,
    RemovalDocument,
    RestoredDocument,
    SaidDocument,
)
from slackwater.views.scan.to_json import rfc3339

_BACKUP: Final = TypeAdapter(BackupDocument)
_TAGGING: Final = TypeAdapter(MarkedDocument)


def undo_command(finding_id: str) -> str:
    """Return the command that undoes a clean-up."""
    return f"slackwater cleanup undo {finding_id}"


def candidate(one: Candidate) -> CandidateDocument:
    """Return a finding, and what a run does about it."""
    finding, seen = one.finding, one.finding.sighting
    deletes = seen.setting is None
    return {
        "finding_id": finding.id,
        "detector": seen.detector,
        "resource": tracked_resource(seen.resource),
        "owner": seen.owner,
        "status": finding.status,
        "state": one.state,
        "why": one.why,
        "does": "delete" if deletes else "change",
        "setting": None if seen.setting is None else in_words(seen.setting),
        "unattended": one.rule is not None,
        "backed_up": deletes and not one.scratch,
        "acts_after": _time(one.acts_after),
        "monthly_savings_usd": usd(seen.monthly_savings_usd),
        "backup_monthly_usd": usd(one.backup_monthly_usd),
        "net_monthly_usd": usd(one.net_monthly_usd),
        "fingerprint": seen.fingerprint,
    }


def cleanup(one: Cleanup, *, realised_monthly_usd: Decimal | None, undoable: bool) -> CleanupDocument:
    """Return a clean-up.

    Args:
        one: The clean-up.
        realised_monthly_usd: Net saving that later audits show, US dollars a month; None if unknown.
        undoable: Whether it can be undone now.
    """
    marked = one.marked
    return {
        "finding_id": one.finding_id,
        "attempt": one.attempt,
        "execution": one.execution,
        "stage": one.stage,
        "detector": one.detector,
        "resource": tracked_resource(one.resource),
        "owner": one.owner,
        "does": "delete" if one.deletes else "change",
        "setting": None if one.setting is None else in_words(one.setting),
        "was": None if one.was is None else in_words(one.was),
        "unattended": one.unattended,
        "backed_up": one.deletes and not one.scratch,
        "requested_by": one.requested_by,
        "approved_by": one.approved_by,
        "started_at": rfc3339(one.started_at),
        "ended_at": _time(one.ended_at),
        "why": one.why,
        "marked": None if marked is None else filled(_TAGGING, marked),
        "backups": [filled(_BACKUP, backup, of=backup.subject.id) for backup in one.backups],
        "removals": [
            RemovalDocument(kind=gone.part.kind, id=gone.part.id, asked_at=rfc3339(gone.asked_at))
            for gone in one.removals
        ],
        "removed": one.removed,
        "stopped": actor_note(one.stopped),
        "undone": actor_note(one.undone),
        "restored": None if one.restored is None else _restored(one.restored),
        "promised_monthly_usd": usd(one.promised_monthly_usd),
        "backup_monthly_usd": usd(one.backup_monthly_usd),
        "observed": None if one.observed is None else _observed(one.observed),
        "realised_monthly_usd": usd(realised_monthly_usd),
        "undo": undo_command(one.finding_id) if undoable else None,
    }


def cleanup_detail(
    cleanup_json: CleanupDocument, *, status: Status | None, not_undoable: str | None, ledger: Iterable[LedgerEntry]
) -> CleanupDetailDocument:
    """Return a clean-up with the status and the ledger of its finding.

    Args:
        cleanup_json: The clean-up.
        status: The status of its finding; None if the finding is not stored.
        not_undoable: Why it cannot be undone; None if it can.
        ledger: All changes of its finding.
    """
    return {
        **cleanup_json,
        "status": status,
        "not_undoable": not_undoable,
        "ledger": [ledger_entry(entry) for entry in ledger],
    }


def actor_note(one: ActorNote | None) -> SaidDocument | None:
    """Return who asked for something, when and why; None if nobody did."""
    return None if one is None else {"who": one.who, "why": one.why, "at": rfc3339(one.at)}


def _restored(one: Restored) -> RestoredDocument:
    return {"state": one.state, "id": one.id, "arn": one.arn, "differences": list(one.differences), "why": one.why}


def _observed(one: Observed) -> ObservedDocument:
    return {"audit_id": one.audit_id, "at": rfc3339(one.at), "left_monthly_usd": usd(one.left_monthly_usd)}


def _time(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)
