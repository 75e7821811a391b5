"""What the steps of a clean-up share: its record, whether it may continue, and the ledger."""

import math
from collections.abc import Iterator, Sequence
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
"""A step's answer to the state machine: its `outcome`, and what the next state needs."""

GO: Final[Answer] = {"outcome": "go"}
OVER: Final[Answer] = {"outcome": "over"}
FAILED: Final[Answer] = {"outcome": "failed"}

LONGEST_WHY: Final = 4_000
"""The longest stored reason, in characters."""
SHOWN: Final = 10
"""How many sub-resources a reason names. It only counts the others."""

BY_POLICY: Final = "the policy, for its tag"
"""The approver of clean-ups that the policy allows without an approval."""
LOOKS_AT_FIRST: Final = 20
"""How many checks have the same interval before it grows.

An execution's history ends at 25,000 events, and a check takes 9: two for the Wait, five for the Task, two for the
Choice.
"""
LONGEST_WAIT: Final = timedelta(days=8)
"""How long to wait for AWS, and for the lock. AWS Backup itself cancels a backup after seven days."""
WAITING: Final[tuple[Status, ...]] = ("open", "approved")
"""Statuses of a finding while its clean-up waits. Any other status means that a person objects."""


class NotMineError(Exception):
    """This execution may not work on the clean-up, or the clean-up does not exist."""


class MovedError(Exception):
    """Somebody has changed the clean-up or its finding. The step must run again."""


class UnsafeError(Exception):
    """The step must not run in this state. Nothing was done."""


def go(**more: str | bool | datetime) -> Answer:
    """Return the answer to continue, with what the next state needs."""
    return GO | {name: _rfc3339(one) if isinstance(one, datetime) else one for name, one in more.items()}


def wait(seconds: int) -> Answer:
    """Return the answer to run again after this many seconds."""
    return {"outcome": "wait", "wait_s": seconds}


def wait_since(since: datetime, now: datetime, least_s: int) -> Answer:
    """Return the answer to run again: after `least_s` seconds at first, later less often.

    That is fewer than 150 checks in seven days.
    """
    return wait(math.ceil(longer(now - since, timedelta(seconds=least_s)).total_seconds()))


def wait_until(at: datetime) -> Answer:
    """Return the answer to run again at this time."""
    return {"outcome": "wait", "wait_until": _rfc3339(at)}


def longer(waited: timedelta, least: timedelta) -> timedelta:
    """Return how long to wait before the next check: `least` at first, then a twentieth of the time waited so far.

    So the number of checks in a time T grows with the logarithm of T: 20 + ln(T / (20 least)) / ln(21/20).
    """
    return max(least, waited / LOOKS_AT_FIRST)


def failed_half_way(ahead: Cleanup) -> str | None:
    """Return why clean-ups that wait for `ahead` must not delete: it failed, and they would fail too.

    None means that `ahead` did not fail.
    """
    if ahead.stage != "failed":
        return None
    command = f"slackwater cleanup status {ahead.finding_id}"
    return f"the clean-up of finding {ahead.finding_id} failed half-way. To see why: `{command}`"


def cut(why: str) -> str:
    """Cut a reason so that it fits into a record: AWS may give a reason for each of 10,000 sub-resources."""
    return why if len(why) <= LONGEST_WHY else f"{why[: LONGEST_WHY - 1]}…"


def some(words: Sequence[str], of: int | None = None, *, between: str = ", ") -> str:
    """Return `a, b`, or the first ten and the number of others. `of` is the full number if `words` is not complete."""
    shown = words[:SHOWN]
    more = (len(words) if of is None else of) - len(shown)
    return between.join(shown) + (f" and {more:,} more" if more > 0 else "")


def _rfc3339(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """Reads and writes the records of clean-ups and their findings."""

    store: CleanupStore
    findings: FindingStore
    clock: Clock

    def get(self, finding_id: str, execution: str) -> Cleanup:
        """Return the clean-up that this execution works on, with complete lists.

        Raises:
            NotMineError: There is none, or another execution works on it.
            AwsError: A list cannot be read.
        """
        return self.store.whole(self.short(finding_id, execution))

    def short(self, finding_id: str, execution: str) -> Cleanup:
        """Return the clean-up from its record alone, which is enough to cancel it or to record a failure.

        Raises:
            NotMineError: As in `get`.
        """
        cleanup = self.store.get(finding_id)
        mine = {cleanup.undo_execution, None if cleanup.stage == "undoing" else cleanup.execution} if cleanup else {}
        if cleanup is None or execution not in mine:
            raise NotMineError(f"{execution} may not work on the clean-up of finding {finding_id}")
        return cleanup

    def finding(self, cleanup: Cleanup) -> TrackedFinding:
        """Return its finding as it is now.

        Raises:
            UnsafeError: There is none.
        """
        finding = self.findings.get(cleanup.finding_id)
        if finding is None:
            raise UnsafeError(f"there is no finding {cleanup.finding_id}")
        return finding

    def objection(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> str | None:
        """Return why people or the policy do not let the clean-up continue; None if they do.

        An objection that is already on record stays valid.
        """
        return cleanup.why or next(self._objections(cleanup, finding, policy), None)

    def _objections(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Iterator[str]:
        """Yield each reason against continuing, the one to report first."""
        control = self.store.control()
        if stop := cleanup.stopped or control.stopped:
            stopped = "it" if cleanup.stopped else "all clean-ups"
            yield f"{stop.who} stopped {stopped}{f': {stop.why}' if stop.why else ''}"
        if why := cleanup_blocker(finding.sighting, policy.cleanup):
            yield why
        if cleanup.stage == "working" and (why := timing_blocker(cleanup, policy.cleanup, self.clock())):
            yield why
        expected: tuple[Status, ...] = ("cleaning",) if cleanup.stage == "working" else WAITING
        if finding.status not in expected:
            yield f"the finding is {finding.status}"
        if cleanup.approved_by not in {None, BY_POLICY} and not may_approve(cleanup.approved_by or "", policy.cleanup):
            yield f"the policy no longer names {cleanup.approved_by}, who approved it"

    def ahead(self, cleanup: Cleanup) -> Cleanup | None:
        """Return the clean-up that holds the lock that this one waits for; None if the lock is free."""
        holder = self.store.holder(cleanup.turn) if cleanup.turn and not cleanup.has_turn else None
        return self.store.get(holder) if holder not in {None, cleanup.finding_id} else None

    def over(self, cleanup: Cleanup, why: str) -> Answer:
        """Record why the clean-up must not continue, and return the answer to cancel it."""
        self.write(replace(cleanup, why=why))
        return OVER

    def failed(self, cleanup: Cleanup, why: str) -> Answer:
        """Record what went wrong, and return the answer to fail."""
        self.write(replace(cleanup, why=why))
        return FAILED

    def write(self, cleanup: Cleanup) -> Cleanup:
        """Store a clean-up, and return what is stored.

        Raises:
            MovedError: Somebody has changed it. Nothing was stored.
        """
        return self._written(cleanup, None)

    def record_event(
        self, cleanup: Cleanup, event: Happening, why: str, *, status: Status | None = None, who: str = SERVICE
    ) -> tuple[Cleanup, TrackedFinding]:
        """Store a clean-up with a ledger entry of its finding, and return both.

        Unless the new status is "cleaning", a change of status also removes the finding's decision.

        Args:
            cleanup: The clean-up to store.
            event: What happened.
            why: The reason, for the ledger.
            status: The finding's new status; None keeps it.
            who: The actor.

        Raises:
            MovedError: Somebody has changed one of them. Nothing was stored.
        """
        finding = self.finding(cleanup)
        now, becomes = self.clock(), status or finding.status
        ends = becomes not in {finding.status, "cleaning"}
        updated = replace(finding, status=becomes, revision=finding.revision + 1)
        if ends:
            updated = replace(updated, decision=None, resolved_at=now if becomes == "resolved" else None)
        entry = LedgerEntry(
            happening=event,
            at=now,
            who=who,
            was=finding.status,
            now=becomes,
            why=cut(why),
            revision=updated.revision,
            audit_id=finding.audit_id,
            evidence=finding.sighting,
        )
        return self._written(cleanup, Write(finding=updated, entry=entry, expects=finding.revision)), updated

    def _written(self, cleanup: Cleanup, finding: Write | None) -> Cleanup:
        restored = cleanup.restored
        if restored and restored.why:
            restored = replace(restored, why=cut(restored.why))
        written = replace(cleanup, why=cut(cleanup.why), restored=restored, revision=cleanup.revision + 1)
        if not self.store.write(written, finding):
            raise MovedError(f"another request changed the clean-up of finding {cleanup.finding_id}")
        return written
