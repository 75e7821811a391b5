"""What every step of a clean-up begins and ends with: its record, whether it may still go on, and the ledger's word for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from slackwater.engine.cleanup import cleanup_blocker, may_approve, timing_blocker
from slackwater.model.cleanup import Cleanup
from slackwater.model.policy import Policy
from slackwater.model.tracking import SERVICE, Happening, LedgerEntry, Status, TrackedFinding, Write
from slackwater.ports.clock import Clock
from slackwater.ports.store import CleanupStore, FindingStore

type Answer = dict[str, str | int | bool]
"""What a step tells the state machine: its `outcome`, and what the next state needs."""

GO: Final[Answer] = {"outcome": "go"}
OVER: Final[Answer] = {"outcome": "over"}
FAILED: Final[Answer] = {"outcome": "failed"}

LONGEST_WHY: Final = 4_000
"""Characters of a reason."""
SHOWN: Final = 10
"""Parts that a reason names; it counts the others."""

BY_POLICY: Final = "the policy, for its tag"
"""Who approved what the policy lets go without a person's approval."""
LOOKS_AT_FIRST: Final = 20
"""Looks at equal intervals, before these grow. An execution's history ends at 25,000 events, and a look takes 9: two for the
Wait, five for the Task, two for the Choice."""
LONGEST_WAIT: Final = timedelta(days=8)
"""For AWS to finish what it was asked for, and for a turn. AWS Backup itself gives up a backup after seven days."""
WAITING: Final[tuple[Status, ...]] = ("open", "approved")
"""Statuses of a finding whose clean-up waits; another one is somebody's word against it."""


class NotMineError(Exception):
    """The execution is not the one that may work on this clean-up, or there is none."""


class MovedError(Exception):
    """Somebody changed the clean-up or its finding meanwhile: the step is to be taken again, from what is true now."""


class UnsafeError(Exception):
    """A step was asked for that must not be taken as things are. Nothing was done."""


def go(**more: str | bool | datetime) -> Answer:
    """Go on, with what the next state needs."""
    return GO | {name: _rfc3339(one) if isinstance(one, datetime) else one for name, one in more.items()}


def wait(seconds: int) -> Answer:
    """Come again after so many seconds."""
    return {"outcome": "wait", "wait_s": seconds}


def wait_since(since: datetime, now: datetime, least_s: int) -> Answer:
    """Come again after `least_s` at first, and later in longer intervals: seven days take fewer than 150 looks."""
    return wait(math.ceil(longer(now - since, timedelta(seconds=least_s)).total_seconds()))


def wait_until(at: datetime) -> Answer:
    """Come again then."""
    return {"outcome": "wait", "wait_until": _rfc3339(at)}


def longer(waited: timedelta, least: timedelta) -> timedelta:
    """How long to wait before the next look: `least` at first, then a twentieth of what was waited already.

    So looks within a time T grow with its logarithm: 20 + ln(T / (20 least)) / ln(21/20).
    """
    return max(least, waited / LOOKS_AT_FIRST)


def failed_half_way(ahead: Cleanup) -> str | None:
    """Why nothing else of its type is begun: this one failed, and would again. None where it did not."""
    if ahead.stage != "failed":
        return None
    return (
        f"the clean-up of finding {ahead.finding_id} failed half way: `slackwater cleanup status {ahead.finding_id}` says why"
    )


def cut(why: str) -> str:
    """A reason that fits into any record. AWS may refuse each of 10,000 parts for a reason of its own."""
    return why if len(why) <= LONGEST_WHY else f"{why[: LONGEST_WHY - 1]}…"


def some(words: Sequence[str], of: int | None = None, *, between: str = ", ") -> str:
    """`a, b`, or of many the first ten and how many more there are; `of` is how many there are if not all are here."""
    shown = words[:SHOWN]
    more = (len(words) if of is None else of) - len(shown)
    return between.join(shown) + (f" and {more:,} more" if more > 0 else "")


def _rfc3339(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The records of clean-ups, and of their findings."""

    store: CleanupStore
    findings: FindingStore
    clock: Clock

    def get(self, finding_id: str, execution: str) -> Cleanup:
        """The clean-up that this execution works on, with all of its lists.

        Raises:
            NotMineError: there is none, or it is another's.
            AwsError: a list cannot be read.
        """
        return self.store.whole(self.short(finding_id, execution))

    def short(self, finding_id: str, execution: str) -> Cleanup:
        """The same from its record alone: enough to cancel it or to record that it failed; it changes no list.

        Raises:
            NotMineError: as `get`.
        """
        cleanup = self.store.get(finding_id)
        mine = {cleanup.undo_execution, None if cleanup.stage == "undoing" else cleanup.execution} if cleanup else {}
        if cleanup is None or execution not in mine:
            raise NotMineError(f"{execution} may not work on the clean-up of finding {finding_id}")
        return cleanup

    def finding(self, cleanup: Cleanup) -> TrackedFinding:
        """Its finding as it is now.

        Raises:
            UnsafeError: there is none.
        """
        finding = self.findings.get(cleanup.finding_id)
        if finding is None:
            raise UnsafeError(f"there is no finding {cleanup.finding_id}")
        return finding

    def objection(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> str | None:
        """Why it must not go on, as far as people and the policy say so; None where it may. What was over once stays so."""
        if cleanup.why:
            return cleanup.why
        control = self.store.control()
        if stop := cleanup.stopped or control.stopped:
            everything = "" if cleanup.stopped else "all clean-ups were "
            return f"{everything}stopped by {stop.who}{f': {stop.why}' if stop.why else ''}"
        if why := cleanup_blocker(finding.sighting, policy.cleanup):
            return why
        if cleanup.stage == "working" and (why := timing_blocker(cleanup, policy.cleanup, self.clock())):
            return why
        expected: tuple[Status, ...] = ("cleaning",) if cleanup.stage == "working" else WAITING
        if finding.status not in expected:
            return f"the finding is {finding.status}"
        if cleanup.approved_by not in {None, BY_POLICY} and not may_approve(cleanup.approved_by or "", policy.cleanup):
            return f"{cleanup.approved_by} approved it, and the policy does not name them any more"
        return None

    def ahead(self, cleanup: Cleanup) -> Cleanup | None:
        """The clean-up of another resource of its type that is being taken apart; its own turn comes after."""
        holder = self.store.holder(cleanup.turn) if cleanup.turn and not cleanup.has_turn else None
        return self.store.get(holder) if holder not in {None, cleanup.finding_id} else None

    def over(self, cleanup: Cleanup, why: str) -> Answer:
        """Say that it must not go on; whoever calls it off reads there why."""
        self.write(replace(cleanup, why=why))
        return OVER

    def failed(self, cleanup: Cleanup, why: str) -> Answer:
        """The same of something that went wrong."""
        self.write(replace(cleanup, why=why))
        return FAILED

    def write(self, cleanup: Cleanup) -> Cleanup:
        """Store it; what is stored.

        Raises:
            MovedError: it was not.
        """
        return self._written(cleanup, None)

    def record_event(
        self, cleanup: Cleanup, happening: Happening, why: str, *, status: Status | None = None, who: str = SERVICE
    ) -> tuple[Cleanup, TrackedFinding]:
        """Store it together with an entry of its finding's ledger, and the status that it makes of the finding.

        A finding that is not "cleaning" any more has no decision, either.

        Raises:
            MovedError: neither was.
        """
        finding = self.finding(cleanup)
        now, becomes = self.clock(), status or finding.status
        ends = becomes not in {finding.status, "cleaning"}
        told = replace(finding, status=becomes, revision=finding.revision + 1)
        if ends:
            told = replace(told, decision=None, resolved_at=now if becomes == "resolved" else None)
        entry = LedgerEntry(
            happening=happening,
            at=now,
            who=who,
            was=finding.status,
            now=becomes,
            why=cut(why),
            revision=told.revision,
            audit_id=finding.audit_id,
            evidence=finding.sighting,
        )
        return self._written(cleanup, Write(finding=told, entry=entry, expects=finding.revision)), told

    def _written(self, cleanup: Cleanup, finding: Write | None) -> Cleanup:
        restored = cleanup.restored
        if restored and restored.why:
            restored = replace(restored, why=cut(restored.why))
        written = replace(cleanup, why=cut(cleanup.why), restored=restored, revision=cleanup.revision + 1)
        if not self.store.write(written, finding):
            raise MovedError(f"the clean-up of finding {cleanup.finding_id} was changed by others")
        return written
