"""What an audit's report of a target changes in what is known of its findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from slackwater.model.rank import SEVERITIES
from slackwater.model.settings import in_words
from slackwater.model.tracking import (
    SERVICE,
    Decision,
    Happening,
    LedgerEntry,
    Sighting,
    Status,
    TargetReport,
    TrackedFinding,
    Write,
)

LAPSES: Final[dict[Status, str]] = {"snoozed": "the snooze", "dismissed": "the dismissal", "approved": "the approval"}
"""Statuses that end with their decision, in words."""

LASTING: Final = ("snoozed", "dismissed")
"""Decisions about the trouble, not about what is to be done: they hold if it goes away and comes back."""


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
    if now < known.last_seen_at or (known.resolved_at and now <= known.resolved_at):
        return None
    if sighting is None:
        # An audit of the same moment saw it.
        return None if now == known.last_seen_at else _unseen(known, report, audit_id, now)
    seen = replace(known, sighting=sighting, last_seen_at=now, audit_id=audit_id)
    if known.resolved_at:
        why = f"came back; resolved {_time(known.resolved_at)}"
        back = replace(seen, opened_at=now, resolved_at=None)
        if known.decision and _holds(known.decision, now):
            status = known.decision.status
            return _told(known, replace(back, status=status), "changed", f"{why}; {LAPSES[status]} stands", audit_id, now)
        return _told(known, _reopened(back), "opened", why, audit_id, now)
    was = known.sighting
    ripe = _may_be_done(sighting) and not _may_be_done(was)  # from now on it can be approved
    changed = ripe or _worse(sighting, was) or sighting.fingerprint != was.fingerprint
    if lapsed := _lapsed(known, now):
        why = f"{lapsed}, and it has changed" if changed else lapsed
        return _told(known, _reopened(seen), "reopened", why, audit_id, now)
    if changed and known.status == "approved":
        why = "it has changed: the approval was for what it was before"
        return _told(known, _reopened(seen), "changed", why, audit_id, now)
    if another := _another_setting(known, sighting):
        return _told(known, _reopened(seen), "changed", another, audit_id, now)
    if changed:
        return _told(known, seen, "changed", "it has changed", audit_id, now)
    return None if seen == known else Write(finding=seen, entry=None, expects=known.revision)


def _may_be_done(sighting: Sighting) -> bool:
    """Whether a program may do what it advises."""
    return sighting.deletes or sighting.setting is not None


def _another_setting(known: TrackedFinding, sighting: Sighting) -> str | None:
    """Why an approval is for something else than what would be done now; None where it is not."""
    decision = known.decision
    if known.status != "approved" or decision is None or decision.setting == sighting.setting:
        return None
    was = f"the approval was to {'delete it' if decision.setting is None else f'change it to {in_words(decision.setting)}'}"
    if sighting.setting is not None:
        return f"it would now change to {in_words(sighting.setting)}: {was}"
    return f"it would now be {'deleted' if sighting.deletes else 'left to people'}: {was}"


def _worse(now: Sighting, was: Sighting) -> bool:
    """Whether it is graver than the last audit saw it.

    The severity of waste is from money, and cents may lift it: waste is worse only where it is twice as dear, too, or where
    its price was not known and is high. From `info`, where it saved nothing, to `low` is no step.
    """
    if SEVERITIES.index(now.severity) >= SEVERITIES.index(was.severity):
        return False
    if now.kind != "waste":
        return True
    usd, before = now.monthly_savings_usd, was.monthly_savings_usd
    if usd is None or before is None:
        return usd is not None and now.severity == "high"
    return usd >= 2 * before and now.severity != "low"


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
    answered = report.whole and (known.sighting.detector, resource.id) not in report.unknown
    if answered and known.status != "cleaning":
        decision = known.decision if known.status in LASTING else None
        gone = replace(known, status="resolved", decision=decision, resolved_at=now)
        why = report.unlisted.get((known.sighting.detector, resource.id), "no longer flagged")
        return _told(known, gone, "resolved", why, audit_id, now)
    if lapsed := _lapsed(known, now):
        return _told(known, _reopened(known), "reopened", lapsed, audit_id, now)
    return None


def _lapsed(known: TrackedFinding, now: datetime) -> str | None:
    """Which decision ended, and when; None where it holds."""
    if known.status not in LAPSES or known.decision is None or known.decision.until is None or _holds(known.decision, now):
        return None
    return f"{LAPSES[known.status]} ended {_time(known.decision.until)}"


def _holds(decision: Decision, now: datetime) -> bool:
    return decision.until is None or now < decision.until


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
