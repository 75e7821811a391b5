"""The step of a clean-up that deletes: part by part, and before each part it looks at everything once more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.app.cleanup_back_up import verified_now
from slackwater.app.cleanup_case import (
    BY_POLICY,
    GO,
    LONGEST_WAIT,
    Answer,
    Cases,
    UnsafeError,
    failed_half_way,
    wait,
    wait_since,
)
from slackwater.app.cleanup_recheck import Rechecker
from slackwater.engine.cleanup import unattended
from slackwater.model.cleanup import Cleanup, Look, Part, Removal
from slackwater.model.policy import Policy
from slackwater.model.tracking import TrackedFinding
from slackwater.ports import BackupTaker, Keys, Remover

LOOK_AT_PARTS_S: Final = 60
"""Between looks at parts that AWS is deleting, at first."""
LOOK_AT_TURN_S: Final = 300
"""Between looks at whether it is its turn, at first."""
NOT_PUT_BACK_FOR: Final = timedelta(days=1)
"""After which the next has its turn, although nobody managed to make the one ahead whole again."""
MOST_PARTS: Final = 20
"""That one step deletes: it has fifteen minutes, and looks at everything before each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Everything that deleting takes. Of the takers it only reads."""

    cases: Cases
    policy: Callable[[], Policy]
    rechecker: Rechecker
    takers: Mapping[str, BackupTaker]
    removers: Mapping[str, Remover]
    keys: Keys

    def delete(self, finding_id: str, execution: str) -> Answer:
        """Delete what is left of it, as far as that goes now: "wait" while AWS is at it, "go" once it is gone.

        "failed" where AWS does not get it done in days, "over" where anything has changed: nothing more is deleted.

        Raises:
            NotMineError, UnsafeError: nothing may be deleted.
            MovedError, NotSeenError, AwsError: it may be asked again.
        """
        cleanup = self.cases.get(finding_id, execution)
        if cleanup.stage != "working" or not cleanup.deletes or not cleanup.parts:
            raise UnsafeError(f"the clean-up is {cleanup.stage}: it has nothing to delete")
        if not cleanup.scratch and (not cleanup.backups or any(backup.state != "verified" for backup in cleanup.backups)):
            raise UnsafeError("it has no verified backup")
        taker, remover = self.takers[cleanup.resource.type], self.removers[cleanup.resource.type]
        for _ in range(MOST_PARTS):
            policy = self.policy()
            look = self.rechecker.watchers[cleanup.resource.type].look(cleanup.resource)
            if look is None:
                return GO
            if _is_going(look):
                return self._wait_for_aws(cleanup)
            finding = self.cases.finding(cleanup)
            if why := self.cases.objection(cleanup, finding, policy):
                return self.cases.over(cleanup, why)
            if cleanup.turn and not cleanup.has_turn:
                if ahead := self.cases.ahead(cleanup):
                    return self._wait_for(ahead, cleanup)
                cleanup = self.cases.write(replace(cleanup, has_turn=True))
            seen = self.rechecker.recheck(cleanup, policy)
            if seen.state == "gone":
                continue  # somebody else deleted it since the look above
            if seen.state != "same" or seen.look is None:
                return self.cases.over(cleanup, seen.why)
            if why := _not_let(cleanup, finding, seen.look, policy):
                return self.cases.over(cleanup, why)
            if not cleanup.scratch and (why := verified_now(cleanup, taker, self.keys, self._kept_from(policy))):
                return self.cases.over(cleanup, why)
            part = next_part(seen.look)
            if part is None:
                return self._wait_for_aws(cleanup)
            cleanup = self._on_record(cleanup, part)
            remover.remove(cleanup.resource, part)
        return wait(1)

    def _kept_from(self, policy: Policy) -> datetime:
        """Until when a backup has to be kept, if its resource is deleted now."""
        return self.cases.clock() + timedelta(days=policy.cleanup.backup_days)

    def _wait_for_aws(self, cleanup: Cleanup) -> Answer:
        """Come again while AWS deletes what it was asked to; "failed" where that takes too long."""
        now = self.cases.clock()
        if not cleanup.removals:  # somebody else deletes it
            return wait_since(cleanup.marked.act_after if cleanup.marked else now, now, LOOK_AT_PARTS_S)
        since = cleanup.removals[-1].asked_at
        if now - since >= LONGEST_WAIT:
            part = cleanup.removals[-1].part
            return self.cases.failed(cleanup, f"AWS still deletes {part.kind} {part.id} after {LONGEST_WAIT.days} days")
        return wait_since(since, now, LOOK_AT_PARTS_S)

    def _wait_for(self, ahead: Cleanup, cleanup: Cleanup) -> Answer:
        """Come again while another of its type is taken apart; over where that failed, or where it takes too long."""
        now = self.cases.clock()
        if self._is_given_up(ahead, now):
            self.cases.write(replace(ahead, has_turn=False))
            return wait(1)
        if why := failed_half_way(ahead):
            return self.cases.over(cleanup, why)
        if cleanup.waits_since is None:
            why = f"for the clean-up of finding {ahead.finding_id}: one {cleanup.resource.type} is taken apart at a time"
            self.cases.tell(replace(cleanup, waits_since=now), "queued", why)
        elif now - cleanup.waits_since >= LONGEST_WAIT:
            span = f"{LONGEST_WAIT.days} days"
            why = f"others of its type had their turn for {span}, the clean-up of finding {ahead.finding_id} the last of them"
            return self.cases.over(cleanup, why)
        return wait_since(cleanup.waits_since or now, now, LOOK_AT_TURN_S)

    def _is_given_up(self, ahead: Cleanup, now: datetime) -> bool:
        """Whether nothing is left to be put back: it has ended, and the resource is gone, or nobody managed to for a day."""
        if not ahead.ended or ahead.ended_at is None:
            return False
        look = self.rechecker.watchers[ahead.resource.type].look
        return now - ahead.ended_at >= NOT_PUT_BACK_FOR or look(ahead.resource) is None

    def _on_record(self, cleanup: Cleanup, part: Part) -> Cleanup:
        """The clean-up, once it is on record that this part is asked to go; the ledger tells of the first."""
        if any(one.part.id == part.id for one in cleanup.removals):
            return cleanup
        removals = (*cleanup.removals, Removal(part=part, asked_at=self.cases.clock()))
        begun = replace(cleanup, removals=removals)
        if cleanup.removals:
            return self.cases.write(begun)
        parts = ", ".join(f"{one.kind} {one.id}" for one in cleanup.parts)
        return self.cases.tell(begun, "removing", f"one after the other: {parts}")[0]


def next_part(look: Look) -> Part | None:
    """The next part to go: of the kind that comes first, all of which have to be gone before the next; None while they go."""
    first = look.parts[0].kind
    return next((part for part in look.parts if part.kind == first and not part.going), None)


def _not_let(cleanup: Cleanup, finding: TrackedFinding, look: Look, policy: Policy) -> str | None:
    """Why what the policy let go for its tag must not, as the tag and the policy are now."""
    rule = unattended(finding.sighting, look.tags, policy.cleanup)
    if cleanup.approved_by == BY_POLICY and rule is None:
        return "the policy does not let it go without an approval any more"
    if cleanup.scratch and not (rule and rule.its_data_is_scratch_and_needs_no_backup):
        return "the policy does not say any more that its data is scratch, and it has no backup"
    return None


def _is_going(look: Look) -> bool:
    """Whether AWS is deleting the resource itself."""
    return bool(look.parts) and look.parts[-1].going
