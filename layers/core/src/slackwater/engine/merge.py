"""What an audit's report of a target changes in what is known of its findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from slackwater.model.tracking import SERVICE, Happening, LedgerEntry, Sighting, Status, TargetReport, TrackedFinding, Write

LAPSES: Final[dict[Status, str]] = {"snoozed": "the snooze", "dismissed": "the dismissal", "approved": "the approval"}
"""Statuses that end with their decision, in words."""


def pairs(known: Iterable[TrackedFinding], report: TargetReport) -> Iterator[tuple[TrackedFinding | None, Sighting | None]]:
    """Everything to merge: each finding known of the target with its sighting, if any, then the sightings that are left."""
    left = {sighting.id: sighting for sighting in report.sightings}
    for finding in known:
        yield finding, left.pop(finding.id, None)
    for sighting in left.values():
        yield None, sighting


def merge_one(
    known: TrackedFinding | None, sighting: Sighting | None, report: TargetReport, audit_id: str, now: datetime
) -> Write | None:
    """What to store of one finding after an audit that judged as of `now`; None where nothing is to be.

    An audit older than what is stored changes nothing, and the same audit twice changes nothing the second time.
    """
    if known is None:
        return None if sighting is None else _opened(sighting, audit_id, now)
    if now < (known.resolved_at or known.last_seen_at):
        return None
    if sighting is None:
        return _unseen(known, report, audit_id, now)
    seen = replace(known, sighting=sighting, last_seen_at=now, audit_id=audit_id)
    if known.resolved_at:
        why = f"came back; resolved {_time(known.resolved_at)}"
        seen = replace(seen, status="open", decision=None, opened_at=now, resolved_at=None)
        return _told(known, seen, "opened", why, audit_id, now)
    changed = sighting.fingerprint != known.sighting.fingerprint
    if lapsed := _lapsed(known, now):
        why = f"{lapsed}, and it has changed" if changed else lapsed
        return _told(known, _reopened(seen), "reopened", why, audit_id, now)
    if changed and known.status == "approved":
        why = "it has changed: the approval was for what it was before"
        return _told(known, _reopened(seen), "changed", why, audit_id, now)
    if changed:
        return _told(known, seen, "changed", "it has changed", audit_id, now)
    return None if seen == known else Write(finding=seen, entry=None, expects=known.revision)


def _opened(sighting: Sighting, audit_id: str, now: datetime) -> Write:
    finding = TrackedFinding(
        sighting=sighting,
        status="open",
        decision=None,
        opened_at=now,
        last_seen_at=now,
        resolved_at=None,
        audit_id=audit_id,
        revision=0,
    )
    return _told(None, finding, "opened", "new", audit_id, now)


def _unseen(known: TrackedFinding, report: TargetReport, audit_id: str, now: datetime) -> Write | None:
    """A finding that the audit did not flag. Only a whole target, asked and answered, says that it is gone."""
    resource = known.sighting.resource
    asked = (
        (resource.account, resource.region) == (report.account, report.region)
        and known.sighting.detector in report.detectors
        and known.status != "resolved"
    )
    if not asked:
        return None
    answered = report.complete and (known.sighting.detector, resource.id) not in report.unknown
    if answered and known.status != "cleaning":
        gone = replace(known, status="resolved", decision=None, resolved_at=now)
        return _told(known, gone, "resolved", "no longer flagged", audit_id, now)
    if lapsed := _lapsed(known, now):
        return _told(known, _reopened(known), "reopened", lapsed, audit_id, now)
    return None


def _lapsed(known: TrackedFinding, now: datetime) -> str | None:
    """Which decision ended, and when; None where it holds."""
    until = known.decision.until if known.decision else None
    if known.status not in LAPSES or until is None or now < until:
        return None
    return f"{LAPSES[known.status]} ended {_time(until)}"


def _reopened(finding: TrackedFinding) -> TrackedFinding:
    return replace(finding, status="open", decision=None)


def _told(
    was: TrackedFinding | None, finding: TrackedFinding, happening: Happening, why: str, audit_id: str, now: datetime
) -> Write:
    revision = was.revision if was else 0
    entry = LedgerEntry(
        happening=happening,
        at=now,
        who=SERVICE,
        was=was.status if was else None,
        now=finding.status,
        why=why,
        revision=revision + 1,
        audit_id=audit_id,
        evidence=finding.sighting,
    )
    return Write(finding=replace(finding, revision=revision + 1), entry=entry, expects=revision)


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
