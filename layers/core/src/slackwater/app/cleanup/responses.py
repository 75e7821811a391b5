"""Turns clean-up results into documents, for the API and the command line."""

from collections.abc import Iterable
from datetime import datetime

from slackwater.app.cleanup.backups import BackupList
from slackwater.app.cleanup.cleanups import Approved, CleanupDetail, Plan, Totals, not_undoable
from slackwater.engine.savings import realised, savings
from slackwater.model.candidates import Candidate
from slackwater.model.cleanup import ActorNote, Cleanup
from slackwater.model.listing import Page
from slackwater.views.api import to_json as service_json
from slackwater.views.cleanup import backups as cleanup_backups
from slackwater.views.cleanup import to_json as cleanup_json
from slackwater.views.cleanup.backups import BackupListDocument
from slackwater.views.cleanup.document import (
    ApprovedDocument,
    CleanupDetailDocument,
    CleanupDocument,
    CleanupPageDocument,
    CleanupTotalsDocument,
    PlanDocument,
    RunDocument,
    SwitchDocument,
)


def plan(one: Plan) -> PlanDocument:
    """Return what a run would do."""
    return {
        "candidates": [cleanup_json.candidate(each) for each in one.candidates],
        "over_cap": one.over_cap,
        "stopped": cleanup_json.actor_note(one.stopped),
        "enabled": one.enabled,
    }


def run(candidates: Iterable[Candidate]) -> RunDocument:
    """Return what a run did."""
    return {"candidates": [cleanup_json.candidate(one) for one in candidates]}


def approved(one: Approved) -> ApprovedDocument:
    """Return an approval, and its result."""
    return {
        "finding": service_json.tracked_finding(one.finding),
        "candidate": None if one.candidate is None else cleanup_json.candidate(one.candidate),
    }


def cleanup(one: Cleanup, now: datetime) -> CleanupDocument:
    """Return a clean-up."""
    return cleanup_json.cleanup(one, realised_monthly_usd=realised(one, now), undoable=not_undoable(one) is None)


def page(found: Page[Cleanup], totals: Totals | None, stopped: ActorNote | None, now: datetime) -> CleanupPageDocument:
    """Return a page of clean-ups with their sums; the first page has the totals of all."""
    sums = savings(found.items, now)
    return {
        "cleanups": [cleanup(one, now) for one in found.items],
        "promised_monthly_usd": f"{sums.promised_monthly_usd:.2f}",
        "realised_monthly_usd": f"{sums.realised_monthly_usd:.2f}",
        "unknown": sums.unknown,
        "totals": None if totals is None else _totals(totals),
        "stopped": cleanup_json.actor_note(stopped),
        "cursor": found.cursor,
    }


def _totals(of: Totals) -> CleanupTotalsDocument:
    return {
        "cleanups": of.cleanups,
        "promised_monthly_usd": f"{of.savings.promised_monthly_usd:.2f}",
        "realised_monthly_usd": f"{of.savings.realised_monthly_usd:.2f}",
        "unknown": of.savings.unknown,
    }


def cleanup_detail(one: CleanupDetail, now: datetime) -> CleanupDetailDocument:
    """Return a clean-up with its finding's ledger."""
    return cleanup_json.cleanup_detail(
        cleanup(one.cleanup, now),
        status=one.finding.status if one.finding else None,
        not_undoable=one.not_undoable,
        ledger=one.ledger,
    )


def backups(found: BackupList) -> BackupListDocument:
    """Return every backup with Slackwater's tags."""
    entries = [
        cleanup_backups.listed_backup(one, undoable=one.cleanup is not None and not_undoable(one.cleanup) is None)
        for one in found.backups
    ]
    return cleanup_backups.backup_list(entries, found.installation, found.gaps)


def switch(stopped: ActorNote | None) -> SwitchDocument:
    """Return who has stopped all clean-ups."""
    return {"stopped": cleanup_json.actor_note(stopped)}
