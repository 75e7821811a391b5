"""What people ask of stored findings, and what they decide about them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from slackwater.model.listing import FindingQuery, Page
from slackwater.model.object_keys import target_scan
from slackwater.model.tracking import Decision, Happening, LedgerEntry, Status, TrackedFinding, Write
from slackwater.ports import Documents, FindingStore
from slackwater.views.document import FindingDocument, ScanDocument

type Action = Literal["snooze", "dismiss", "reopen"]

BECOMES: Final[dict[Action, tuple[Status, Happening]]] = {
    "snooze": ("snoozed", "snoozed"),
    "dismiss": ("dismissed", "dismissed"),
    "reopen": ("open", "reopened"),
}
DECIDABLE: Final[tuple[Status, ...]] = ("open", "snoozed", "dismissed")

LONGEST_SNOOZE: Final = timedelta(days=366)
LONGEST_WHY: Final = 1_000
"""Characters."""

ATTEMPTS: Final = 4
"""Against others who change the same finding."""


class NotFoundError(Exception):
    """There is nothing of this id."""


class ConflictError(Exception):
    """The finding's status, or somebody faster, does not allow it; the message says which."""


class BadDecisionError(Exception):
    """A decision that cannot be: which part of it ("why" or "until"), and what is wrong with it."""

    def __init__(self, part: Literal["why", "until"], problem: str) -> None:
        """Say both."""
        super().__init__(f"{part}: {problem}")
        self.part = part
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A finding with its ledger, the oldest change first. `evidence` is None once its scan document has expired."""

    finding: TrackedFinding
    ledger: tuple[LedgerEntry, ...]
    evidence: FindingDocument | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that it takes."""

    store: FindingStore
    documents: Documents

    def listed(self, query: FindingQuery) -> Page[TrackedFinding]:
        """A page of findings.

        Raises:
            BadCursorError: the cursor is not one for this query.
        """
        return self.store.list(query)

    def shown(self, id: str) -> ShownFinding:
        """One finding, every change of it, and its evidence as the newest audit that saw it told it.

        Raises:
            NotFoundError: there is none of this id.
        """
        finding = self._get(id)
        return ShownFinding(finding=finding, ledger=tuple(self.store.ledger(id)), evidence=self._evidence(finding))

    def decided(self, id: str, action: Action, *, who: str, why: str, until: datetime | None, now: datetime) -> TrackedFinding:
        """Snooze, dismiss or reopen a finding; what it is then. The same decision again changes nothing.

        Raises:
            BadDecisionError: the decision is not whole.
            ConflictError: the finding's status does not allow it, or others kept changing it.
            NotFoundError: there is none of this id.
        """
        decision = _decision(action, who, why, until, now)
        for _ in range(ATTEMPTS):
            finding = self._get(id)
            write = _write(finding, action, decision)
            if write is None:
                return finding
            if self.store.write(write):
                return write.finding
        raise ConflictError(f"the finding {id} is being changed by others: try again")

    def _get(self, id: str) -> TrackedFinding:
        finding = self.store.get(id)
        if finding is None:
            raise NotFoundError(f"there is no finding {id}")
        return finding

    def _evidence(self, finding: TrackedFinding) -> FindingDocument | None:
        resource = finding.sighting.resource
        read = self.documents.read(target_scan(finding.audit_id, resource.account, resource.region))
        if read is None:
            return None
        document: ScanDocument = json.loads(read[0])
        return next((found for found in document["findings"] if found["id"] == finding.id), None)


def _decision(action: Action, who: str, why: str, until: datetime | None, now: datetime) -> Decision:
    why = why.strip()
    if action == "dismiss" and not why:
        raise BadDecisionError("why", "a dismissal needs a reason")
    if why.encode(errors="replace").decode() != why:  # half of a surrogate pair: bytes of a terminal that are no UTF-8
        raise BadDecisionError("why", "is not Unicode text")
    if len(why) > LONGEST_WHY:
        raise BadDecisionError("why", f"longer than {LONGEST_WHY} characters")
    if action == "snooze" and until is None:
        raise BadDecisionError("until", "a snooze needs an end")
    if action == "reopen" and until is not None:
        raise BadDecisionError("until", "a finding that is reopened has no end")
    if until is not None and until <= now:
        raise BadDecisionError("until", "not in the future")
    if action == "snooze" and until is not None and until - now > LONGEST_SNOOZE:
        raise BadDecisionError("until", f"more than {LONGEST_SNOOZE.days} days away; dismiss it instead")
    until = until and until.astimezone(UTC).replace(microsecond=0)
    return Decision(status="snoozed" if action == "snooze" else "dismissed", who=who, why=why, at=now, until=until)


def _write(finding: TrackedFinding, action: Action, decision: Decision) -> Write | None:
    """The finding as decided, with its ledger entry; None where it is so already."""
    if finding.status not in DECIDABLE:
        raise ConflictError(f"the finding {finding.id} is {finding.status}; {action} is for one that is {_either(DECIDABLE)}")
    status, happening = BECOMES[action]
    stands = finding.decision and replace(finding.decision, at=decision.at)
    if finding.status == status and stands in {None, decision}:
        return None
    revision = finding.revision + 1
    decided = replace(finding, status=status, decision=None if action == "reopen" else decision, revision=revision)
    entry = LedgerEntry(
        happening=happening,
        at=decision.at,
        who=decision.who,
        was=finding.status,
        now=status,
        why=decision.why,
        revision=revision,
        audit_id=finding.audit_id,
        evidence=finding.sighting,
    )
    return Write(finding=decided, entry=entry, expects=finding.revision)


def _either(statuses: tuple[Status, ...]) -> str:
    return f"{', '.join(statuses[:-1])} or {statuses[-1]}"
