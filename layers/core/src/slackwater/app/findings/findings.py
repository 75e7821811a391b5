"""Reads stored findings, and records decisions about them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from slackwater.app.audit.target_documents import parts_of
from slackwater.app.findings.by_hand import with_cause
from slackwater.app.telemetry import LOGGER
from slackwater.engine.cleanup import act_after, approval_blocker
from slackwater.model.cleanup import ActorNote
from slackwater.model.policy import CleanupSection
from slackwater.model.tracking import (
    LONGEST_SNOOZE,
    Decided,
    Decision,
    Happening,
    LedgerEntry,
    Status,
    TrackedFinding,
    Write,
)
from slackwater.ports.errors import AwsError
from slackwater.ports.store import Documents, FindingStore
from slackwater.views.scan.document import FindingDocument

type Action = Literal["snooze", "dismiss", "reopen"]

BECOMES: Final[dict[Action, Status]] = {"snooze": "snoozed", "dismiss": "dismissed", "reopen": "open"}
DECIDABLE: Final[tuple[Status, ...]] = ("open", "snoozed", "dismissed")
REOPENED: Final[tuple[Status, ...]] = (*DECIDABLE, "approved", "failed")
"""An approval, or a failed clean-up, must be reopened before another decision."""

LONGEST_WHY: Final = 1_000
"""The longest reason, in characters."""

ATTEMPTS: Final = 4
"""How often to try while others change the same record."""


class NotFoundError(Exception):
    """There is nothing with this id."""


class ConflictError(Exception):
    """The finding's status or another actor's change does not allow it. The message says which."""


class DecidedError(ConflictError):
    """Somebody else decided first. The error has the finding with their decision."""

    def __init__(self, finding: TrackedFinding, decision: Decision) -> None:
        """Create the error with who decided, and when."""
        super().__init__(
            f"the finding {finding.id} is {finding.status} by {decision.who} since {decision.at:%Y-%m-%d %H:%M} UTC"
        )
        self.finding = finding
        self.decision = decision


class ChangedError(ConflictError):
    """The finding has changed since the person saw it."""


class NotAllowedError(Exception):
    """The policy does not allow it. The message names the key."""


class BadDecisionError(Exception):
    """A decision is invalid. The error names the part ("why", "until" or "places") and the problem."""

    def __init__(self, part: Literal["why", "until", "places"], problem: str) -> None:
        """Create the error with both."""
        super().__init__(f"{part}: {problem}")
        self.part = part
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A finding with its ledger, the oldest entry first. `evidence` is None once its scan document has expired."""

    finding: TrackedFinding
    ledger: tuple[LedgerEntry, ...]
    evidence: FindingDocument | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The use cases, with the adapters that they need."""

    store: FindingStore
    documents: Documents

    def shown(self, id: str) -> ShownFinding:
        """Return one finding, its ledger, and its evidence from the newest audit that saw it.

        Raises:
            NotFoundError: There is none with this id.
        """
        finding = self._get(id)
        return ShownFinding(finding=finding, ledger=tuple(self.store.ledger(id)), evidence=self._evidence(finding))

    def decided(self, id: str, action: Action, note: ActorNote, *, until: datetime | None) -> TrackedFinding:
        """Snooze, dismiss or reopen a finding, and return it. Repeating a decision changes nothing.

        Args:
            id: The finding.
            action: "snooze", "dismiss" or "reopen".
            note: The person, the reason and the current time. A dismissal requires a reason.
            until: When the decision expires, with a time zone; None if it does not. Required for a snooze.

        Raises:
            BadDecisionError: The decision is invalid.
            ConflictError: The finding's status does not allow it, or others kept changing it.
            NotFoundError: There is none with this id.
        """
        decision = _decision(action, note, until)
        return self._written(id, lambda finding: _write(finding, action, decision))

    def decided_first(
        self, id: str, action: Literal["snooze", "dismiss"], note: ActorNote, *, until: datetime | None
    ) -> TrackedFinding:
        """Snooze or dismiss a finding that nobody has decided about, and return it. Arguments as in `decided`.

        The same decision with the same time is stored once, whatever happened to the finding since.

        Raises:
            BadDecisionError: The decision is invalid.
            DecidedError: Somebody has already decided.
            ConflictError: The finding's status does not allow it, or others kept changing it.
            NotFoundError: There is none with this id.
        """
        decision = _decision(action, note, until)

        def write(finding: TrackedFinding) -> Write | None:
            if self.made(id, decision.status, who=note.who, at=note.at):
                return None
            _refuse_decided(finding, note.at)
            return _decided_write(finding, decision, decision)

        return self._written(id, write)

    def approved(
        self,
        id: str,
        fingerprint: str,
        note: ActorNote,
        cleanup: CleanupSection,
        *,
        acts_after: datetime | None = None,
    ) -> TrackedFinding:
        """Approve the clean-up of a finding as a person saw it, and return the finding.

        The approval expires `cleanup.approval_days` after the earliest time at which the clean-up may act. Repeating a
        valid approval by the same person changes nothing. A request with the same time changes nothing even after the
        approval has ended.

        Args:
            id: The finding.
            fingerprint: The version that the person saw.
            note: The person and the current time. An approval has no reason.
            cleanup: The policy's section.
            acts_after: When the clean-up may act, if the resource is already tagged; None means after the grace period
                from now.

        Raises:
            ChangedError: The finding has changed since.
            ConflictError: The finding's status does not allow it, or others kept changing it.
            DecidedError: Somebody has already decided.
            NotAllowedError: The policy does not let this finding be approved.
            NotFoundError: There is none with this id.
        """
        who, now = note.who, note.at

        def write(finding: TrackedFinding) -> Write | None:
            if _is_approved(finding, who, fingerprint, now) or self.made(id, "approved", who=who, at=now):
                return None
            _refuse_decided(finding, now)
            if finding.sighting.fingerprint != fingerprint:
                raise ChangedError(f"the finding {id} has changed since")
            if why := approval_blocker(finding.sighting, cleanup):
                raise NotAllowedError(with_cause(why, finding.sighting, lambda: self._evidence_or_none(finding)))
            setting = finding.sighting.setting
            from_then_on = acts_after or act_after(now, cleanup, None, deletes=setting is None)
            until = from_then_on + timedelta(days=cleanup.approval_days)
            decision = Decision(
                status="approved",
                who=who,
                why="",
                at=now,
                until=until.astimezone(UTC).replace(microsecond=0),
                fingerprint=fingerprint,
                setting=setting,
            )
            return _decided_write(finding, decision, decision)

        return self._written(id, write)

    def _written(self, id: str, write_of: Callable[[TrackedFinding], Write | None]) -> TrackedFinding:
        """Return the finding after a write, or as it is if there is nothing to write."""
        for _ in range(ATTEMPTS):
            finding = self._get(id)
            write = write_of(finding)
            if write is None:
                return finding
            if self.store.write(write):
                return write.finding
        raise ConflictError(f"the finding {id} is being changed by others: try again")

    def made(self, id: str, status: Decided, *, who: str, at: datetime) -> bool:
        """Return whether this person made this decision at this time, whatever happened to the finding since."""
        made = (who, at, status)
        return any((entry.who, entry.at, entry.now) == made for entry in self.store.ledger(id))

    def _get(self, id: str) -> TrackedFinding:
        finding = self.store.get(id)
        if finding is None:
            raise NotFoundError(f"there is no finding {id}")
        return finding

    def _evidence(self, finding: TrackedFinding) -> FindingDocument | None:
        resource = finding.sighting.resource
        parts = parts_of(self.documents, finding.audit_id, resource.account, resource.region)
        return next((found for part in parts if part for found in part["findings"] if found["id"] == finding.id), None)

    def _evidence_or_none(self, finding: TrackedFinding) -> FindingDocument | None:
        """Return the finding as its audit stored it; None if it is not there, or AWS does not answer."""
        try:
            return self._evidence(finding)
        except (AwsError, ValueError) as error:
            LOGGER.warning("the evidence of a finding cannot be read", finding_id=finding.id, reason=str(error))
            return None


def reason_given(why: str) -> str:
    """Return a reason as it is stored.

    Raises:
        BadDecisionError: It is too long, or not Unicode text.
    """
    why = why.strip()
    if why.encode(errors="replace").decode() != why:  # half a surrogate pair: the terminal sent bytes that are no UTF-8
        raise BadDecisionError("why", "is not Unicode text")
    if len(why) > LONGEST_WHY:
        raise BadDecisionError("why", f"longer than {LONGEST_WHY} characters")
    return why


def _decision(action: Action, note: ActorNote, until: datetime | None) -> Decision:
    why, now = reason_given(note.why), note.at
    if action == "dismiss" and not why:
        raise BadDecisionError("why", "a dismissal needs a reason")
    if action == "snooze" and until is None:
        raise BadDecisionError("until", "a snooze needs an end")
    if action == "reopen" and until is not None:
        raise BadDecisionError("until", "a finding that is reopened has no end")
    if until is not None and until <= now:
        raise BadDecisionError("until", "not in the future")
    if action == "snooze" and until is not None and until - now > LONGEST_SNOOZE:
        raise BadDecisionError("until", f"more than {LONGEST_SNOOZE.days} days away; dismiss it instead")
    until = until and until.astimezone(UTC).replace(microsecond=0)
    return Decision(status="snoozed" if action == "snooze" else "dismissed", who=note.who, why=why, at=now, until=until)


def _write(finding: TrackedFinding, action: Action, decision: Decision) -> Write | None:
    """Return the finding with the decision, and its ledger entry; None if it already has the decision."""
    possible = REOPENED if action == "reopen" else DECIDABLE
    if finding.status not in possible:
        how = "reopen it first" if finding.status == "approved" else f"{action} is for one that is {_either(possible)}"
        raise ConflictError(f"the finding {finding.id} is {finding.status}; {how}")
    current = finding.decision and replace(finding.decision, at=decision.at)
    if finding.status == BECOMES[action] and current in {None, decision}:
        return None
    return _decided_write(finding, decision, None if action == "reopen" else decision)


def _decided_write(finding: TrackedFinding, by: Decision, decision: Decision | None) -> Write:
    """Return the finding with a decision, or none, and the ledger entry that says who made it."""
    status: Status = decision.status if decision else "open"
    event: Happening = decision.status if decision else "reopened"
    revision = finding.revision + 1
    entry = LedgerEntry(
        happening=event,
        at=by.at,
        who=by.who,
        was=finding.status,
        now=status,
        why=by.why,
        revision=revision,
        audit_id=finding.audit_id,
        evidence=finding.sighting,
    )
    decided = replace(finding, status=status, decision=decision, revision=revision)
    return Write(finding=decided, entry=entry, expects=finding.revision)


def _refuse_decided(finding: TrackedFinding, now: datetime) -> None:
    """Refuse a finding that is not open. If a decision has expired, the next audit reopens the finding."""
    if finding.status == "open":
        return
    decision = finding.decision
    if decision is None or decision.status != finding.status:
        raise ConflictError(f"the finding {finding.id} is {finding.status}")
    if decision.until is None or now < decision.until:
        raise DecidedError(finding, decision)


def _is_approved(finding: TrackedFinding, who: str, fingerprint: str, now: datetime) -> bool:
    """Return whether this person's approval of this version exists and has not expired."""
    decision = finding.decision
    if finding.status != "approved" or decision is None or (decision.who, decision.fingerprint) != (who, fingerprint):
        return False
    return decision.until is None or now < decision.until


def _either(statuses: tuple[Status, ...]) -> str:
    return f"{', '.join(statuses[:-1])} or {statuses[-1]}"
