"""The step that deletes: one sub-resource at a time. It checks everything before each deletion.

If there are many sub-resources of one kind, the step deletes them in batches. It checks everything before the first of
a batch, and only the tags and any stop before each of the others. The last few are deleted one by one.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.app.cleanup.back_up import (
    UNTIL_DELETED,
    ended_final_backup,
    final_backup,
    tags,
    verified_now,
    with_backup,
)
from slackwater.app.cleanup.case import (
    BY_POLICY,
    GO,
    LONGEST_WAIT,
    Answer,
    Cases,
    MovedError,
    UnsafeError,
    failed_half_way,
    some,
    wait,
    wait_since,
)
from slackwater.app.cleanup.recheck import Rechecked, Rechecker, objection, part_objection
from slackwater.engine.cleanup import merge_recorded, unattended
from slackwater.engine.efs_use import PUBLISHED_WITHIN
from slackwater.model.cleanup import Backup, Cleanup, CurrentState, Removal, SubResource
from slackwater.model.policy import Policy
from slackwater.model.resources import EfsFileSystem, FsxFileSystem
from slackwater.model.tracking import TrackedFinding
from slackwater.ports.cleanup import BackupTaker, Keys, PartWatcher, Remover
from slackwater.ports.errors import AwsError

LOOK_AT_PARTS_S: Final = 60
"""The first interval, in seconds, between checks of sub-resources that AWS is deleting."""
LOOK_AT_TURN_S: Final = 300
"""The first interval, in seconds, between checks whether the lock is free."""
LOCK_EXPIRES_AFTER: Final = timedelta(days=1)
"""After this time the next clean-up gets the lock, even if the deletions of the last one could not be restored."""
LOOK_AT_FENCE_S: Final = 120
"""Seconds between checks of an EFS file system that nothing can mount, while CloudWatch catches up.

They also detect a new mount target: EFS takes minutes to create one and to delete it again.
"""
LONGEST_FENCE: Final = timedelta(hours=6)
"""After this time, Slackwater treats use of the file system as unknown."""
LOOK_AT_FINAL_S: Final = 600
"""The first interval, in seconds, between checks of a final backup."""
ACCESS_POINT: Final = "access-point"
MOST_PARTS: Final = 20
"""How many sub-resources or batches one step deletes at most: it has 15 minutes, and checks everything before each."""
LONGEST_STEP: Final = timedelta(minutes=10)
"""After this time a step starts nothing new, for the same reason."""
MOST_AT_ONCE: Final = 500
"""The most sub-resources in a batch: so many of one kind are deleted between two checks of everything."""
FEW: Final = 20
"""If no more than this are left, they are deleted one by one."""
LONGEST_AT_ONCE: Final = timedelta(minutes=2)
"""The longest time between two checks of everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """The step and its dependencies. It only reads from `backup_takers`.

    Attributes:
        sub_resource_watchers: Watchers of single sub-resources, for the kinds that are deleted in batches.
    """

    cases: Cases
    policy: Callable[[], Policy]
    rechecker: Rechecker
    backup_takers: Mapping[str, BackupTaker]
    removers: Mapping[str, Remover]
    keys: Keys
    sub_resource_watchers: Mapping[str, PartWatcher] = field(default_factory=dict)

    def delete(self, finding_id: str, execution: str) -> Answer:
        """Delete the remaining sub-resources, as far as possible now.

        Returns:
            "wait" while AWS works, "go" once everything is deleted, "failed" if AWS takes days, or "over" if anything
            has changed. After "over", nothing more is deleted.

        Raises:
            NotMineError, UnsafeError: Nothing may be deleted.
            MovedError, NotSeenError, AwsError: The step may run again.
        """
        cleanup = self.cases.get(finding_id, execution)
        if cleanup.stage != "working" or not cleanup.deletes or not cleanup.parts:
            raise UnsafeError(f"the clean-up is {cleanup.stage}: it has nothing to delete")
        if not cleanup.scratch and (
            not cleanup.backups or any(backup.state != "verified" for backup in cleanup.prior_backups)
        ):
            raise UnsafeError("it has no verified backup")
        ends = self.cases.clock() + LONGEST_STEP
        for _ in range(MOST_PARTS):
            if self.cases.clock() >= ends:
                break
            cleanup, answer = self._delete_next(cleanup)
            if answer is not None:
                return answer
        return wait(1)

    def _delete_next(self, cleanup: Cleanup) -> tuple[Cleanup, Answer | None]:
        """Delete the next sub-resources if nobody objects and the lock is free. The answer is None if more follow."""
        policy = self.policy()
        look = self.rechecker.watchers[cleanup.resource.type].look(cleanup.resource)
        if look is None:
            return cleanup, self._gone(cleanup, self.backup_takers[cleanup.resource.type])
        if _is_going(look):
            return cleanup, self._wait_for_aws(cleanup)
        finding = self.cases.finding(cleanup)
        # AWS may answer the next call with an older state, so an objection in this answer counts as well.
        if why := (
            self.cases.objection(cleanup, finding, policy) or objection(cleanup, look, policy, self.cases.clock())
        ):
            return cleanup, self.cases.over(cleanup, why)
        if cleanup.turn and not cleanup.has_turn:
            if ahead := self.cases.ahead(cleanup):
                return cleanup, self._wait_for(ahead, cleanup)
            cleanup = self.cases.write(replace(cleanup, has_turn=True))
        return self._delete_checked(cleanup, finding, policy)

    def _delete_checked(
        self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy
    ) -> tuple[Cleanup, Answer | None]:
        """Delete the next sub-resources if the resource has not changed and its backup is verified."""
        seen = self.rechecker.recheck(cleanup, policy)
        if seen.state == "gone":
            return cleanup, None  # somebody else has just deleted the resource
        if seen.state != "same" or seen.look is None:
            return cleanup, self.cases.over(cleanup, seen.why)
        why = _policy_objection(cleanup, finding, seen.look, policy)
        if why is None and not cleanup.scratch:
            why = verified_now(cleanup, self.backup_takers[cleanup.resource.type], self.keys, self._kept_from(policy))
        if why:
            return cleanup, self.cases.over(cleanup, why)
        parts = next_parts(seen.look, self.sub_resource_watchers)
        if not parts:
            return cleanup, self._wait_for_aws(cleanup)
        if (fence := self._fence(cleanup, parts[0], seen)) is not None:
            return cleanup, fence
        cleanup = self._with_newest_record(cleanup, parts[0])
        why = self._late_objection(cleanup)
        if why is None:
            cleanup, why = self._remove(cleanup, parts, policy)
        return cleanup, self.cases.over(cleanup, why) if why else None

    def _late_objection(self, cleanup: Cleanup) -> str | None:
        """Return what somebody has objected to while the checks ran; None if nothing.

        CloudTrail and CloudWatch may take minutes to answer. Afterwards this reads everything again that is quick to
        read.

        Raises:
            MovedError: The clean-up was changed meanwhile, for example stopped.
        """
        if not self.cases.store.unchanged(cleanup):
            raise MovedError(f"another request changed the clean-up of finding {cleanup.finding_id}")
        policy, finding = self.policy(), self.cases.finding(cleanup)
        if why := self.cases.objection(cleanup, finding, policy):
            return why
        look = self.rechecker.watchers[cleanup.resource.type].look(cleanup.resource)
        if look is None:
            return None  # deleting a resource that does not exist changes nothing
        return objection(cleanup, look, policy, self.cases.clock()) or _policy_objection(cleanup, finding, look, policy)

    def _gone(self, cleanup: Cleanup, taker: BackupTaker) -> Answer:
        """Wait for the final backup of a deleted file system, if there is one. The others are verified already."""
        final = final_backup(cleanup)
        if final is None:
            return GO
        now = self.cases.clock()
        ended = ended_final_backup(cleanup, final, taker, self.keys, now)
        if ended is None:
            return wait_since(final.asked_at, now, LOOK_AT_FINAL_S)
        self.cases.write(with_backup(cleanup, ended))
        return GO

    def _remove(self, cleanup: Cleanup, parts: Sequence[SubResource], policy: Policy) -> tuple[Cleanup, str | None]:
        """Record sub-resources, and ask AWS to delete them.

        The caller has checked everything before the first one. This checks each of the others by itself, after a check
        for stops. Sub-resources whose deletion was not requested are removed from the record again.

        Returns:
            The clean-up as it is then, and the objection to deleting the rest; None if there is no objection.
        """
        resource, remover = cleanup.resource, self.removers[cleanup.resource.type]
        unasked = {part.id for part in parts} - {one.part.id for one in cleanup.removals}
        cleanup = self._record_requested(cleanup, parts)
        final = final_backup(cleanup)
        why, ends = None, self.cases.clock() + LONGEST_AT_ONCE
        try:
            for part in parts:
                if part is not parts[0]:
                    if self.cases.clock() >= ends:
                        break
                    if not self.cases.store.unchanged(cleanup):
                        cleanup = self.cases.get(cleanup.finding_id, cleanup.execution)
                        break
                    part_tags = self.sub_resource_watchers[part.kind].part_tags(resource, part)
                    if part_tags is None:
                        continue
                    if why := part_objection(cleanup, part, part_tags, policy, self.cases.clock()):
                        break
                unasked.discard(part.id)
                made = remover.remove(resource, part, tags(cleanup, final) if final else None)
                if final and made:
                    cleanup = self.cases.write(with_backup(cleanup, replace(final, state="running", id=made)))
        except AwsError:
            self._remove_unrequested(cleanup, unasked)
            raise
        return self._remove_unrequested(cleanup, unasked), why

    def _kept_from(self, policy: Policy) -> datetime:
        """Return the time until which a backup must be kept if its resource is deleted now."""
        return self.cases.clock() + timedelta(days=policy.cleanup.backup_days)

    def _wait_for_aws(self, cleanup: Cleanup) -> Answer:
        """Wait while AWS deletes; fail if that takes too long."""
        now = self.cases.clock()
        if not cleanup.removals:  # somebody else is deleting the resource
            return wait_since(cleanup.marked.act_after if cleanup.marked else now, now, LOOK_AT_PARTS_S)
        since = cleanup.removals[-1].asked_at
        if now - since >= LONGEST_WAIT:
            part = cleanup.removals[-1].part
            return self.cases.failed(
                cleanup, f"AWS has not deleted {part.kind} {part.id} after {LONGEST_WAIT.days} days"
            )
        return wait_since(since, now, LOOK_AT_PARTS_S)

    def _wait_for(self, ahead: Cleanup, cleanup: Cleanup) -> Answer:
        """Wait for the lock; end the clean-up if the lock's holder failed, or if the wait takes too long."""
        now = self.cases.clock()
        if self._has_abandoned_lock(ahead, now):
            self.cases.write(replace(ahead, has_turn=False))
            return wait(1)
        if why := failed_half_way(ahead):
            return self.cases.over(cleanup, why)
        if cleanup.waits_since is None:
            why = (
                f"waits for the clean-up of finding {ahead.finding_id}: Slackwater deletes one {cleanup.resource.type} "
                "at a time"
            )
            self.cases.record_event(replace(cleanup, waits_since=now), "queued", why)
        elif now - cleanup.waits_since >= LONGEST_WAIT:
            span = f"{LONGEST_WAIT.days} days"
            why = (
                f"it waited {span} for other clean-ups of its type, most recently for that of finding "
                f"{ahead.finding_id}"
            )
            return self.cases.over(cleanup, why)
        return wait_since(cleanup.waits_since or now, now, LOOK_AT_TURN_S)

    def _has_abandoned_lock(self, ahead: Cleanup, now: datetime) -> bool:
        """Return whether the lock's holder has nothing left to restore.

        That is so if it ended, and either its resource is deleted or a day has passed.
        """
        if not ahead.ended or ahead.ended_at is None:
            return False
        look = self.rechecker.watchers[ahead.resource.type].look
        return now - ahead.ended_at >= LOCK_EXPIRES_AFTER or look(ahead.resource) is None

    def _fence(self, cleanup: Cleanup, part: SubResource, seen: Rechecked) -> Answer | None:
        """Return the answer that delays or cancels the deletion of an EFS file system itself; None to delete it now.

        Nothing can mount the file system any more, but CloudWatch publishes earlier use with a delay.
        """
        if cleanup.resource.type != EfsFileSystem.KIND or part.id != cleanup.resource.id:
            return None
        now = self.cases.clock()
        if cleanup.fenced_at is None:
            self.cases.write(replace(cleanup, fenced_at=now))
            return wait(LOOK_AT_FENCE_S)
        left_s = fence_left_s(cleanup.fenced_at, now, caught_up=not seen.use_unknown)
        if left_s:
            return wait(left_s)
        if not seen.use_unknown:
            return None
        return self.cases.over(
            cleanup, f"Slackwater cannot tell whether it was used since its clean-up started: {seen.use_unknown}"
        )

    def _with_newest_record(self, cleanup: Cleanup, part: SubResource) -> Cleanup:
        """Return the clean-up with a new record of the data that an undo needs to restore this sub-resource.

        Nobody can change access points, and there may be thousands. So they are recorded only once, before the first
        one is deleted.
        """
        before = cleanup.removals[-1].part.kind if cleanup.removals else None
        if part.kind == before == ACCESS_POINT:
            return cleanup
        taken = {one.part.id for one in cleanup.removals}
        newest = self.rechecker.watchers[cleanup.resource.type].record(cleanup.resource)
        recorded = merge_recorded(cleanup.recorded, newest, taken)
        return cleanup if recorded == cleanup.recorded else self.cases.write(replace(cleanup, recorded=recorded))

    def _remove_unrequested(self, cleanup: Cleanup, unasked: Collection[str]) -> Cleanup:
        """Remove sub-resources from the record whose deletion was not requested."""
        if not unasked:
            return cleanup
        return self.cases.write(
            replace(cleanup, removals=tuple(one for one in cleanup.removals if one.part.id not in unasked))
        )

    def _record_requested(self, cleanup: Cleanup, parts: Sequence[SubResource]) -> Cleanup:
        """Record that the deletion of these sub-resources is requested. The ledger gets an entry for the first."""
        known, now = {one.part.id for one in cleanup.removals}, self.cases.clock()
        new = tuple(Removal(part=part, asked_at=now) for part in parts if part.id not in known)
        if not new:
            return cleanup
        removals = (*cleanup.removals, *new)
        begun = replace(cleanup, removals=removals, backups=(*cleanup.backups, *_final_of(cleanup, now, self.policy())))
        if cleanup.removals:
            return self.cases.write(begun)
        all_ = some([f"{one.kind} {one.id}" for one in cleanup.parts])
        return self.cases.record_event(begun, "removing", f"deletes one after the other: {all_}")[0]


def _final_of(cleanup: Cleanup, now: datetime, policy: Policy) -> tuple[Backup, ...]:
    """Return the final backup that FSx takes when it deletes a file system; empty for other kinds."""
    if cleanup.resource.type != FsxFileSystem.KIND or cleanup.scratch:
        return ()
    of = cleanup.prior_backups[0]
    return (
        Backup(
            subject=of.subject,
            token=f"{of.token}-final",
            asked_at=now,
            expires_at=now + timedelta(days=policy.cleanup.backup_days) + UNTIL_DELETED + LONGEST_WAIT,
            installation=of.installation,
            final=True,
        ),
    )


def fence_left_s(fenced_at: datetime, now: datetime, *, caught_up: bool) -> int:
    """Return the seconds until the next check of an EFS file system that nothing can mount; 0 if the wait is over.

    The wait ends `PUBLISHED_WITHIN` after `fenced_at` if CloudWatch has `caught_up`, and otherwise after
    `LONGEST_FENCE`.
    """
    left = fenced_at + PUBLISHED_WITHIN - now
    if left > timedelta(0):
        return min(LOOK_AT_FENCE_S, math.ceil(left.total_seconds()))
    return 0 if caught_up or now - fenced_at >= LONGEST_FENCE else LOOK_AT_FENCE_S


def next_parts(look: CurrentState, many: Collection[str] = ()) -> Sequence[SubResource]:
    """Return the sub-resources to delete next; empty while AWS deletes the last ones of the first kind.

    All sub-resources of one kind must be gone before the next kind starts. The result is one sub-resource, or a batch
    if its kind is in `many` and more than `FEW` are left.
    """
    first = look.parts[0].kind
    left = tuple(part for part in look.parts if part.kind == first and not part.going)
    return left[: MOST_AT_ONCE if first in many and len(left) > FEW else 1]


def _policy_objection(cleanup: Cleanup, finding: TrackedFinding, look: CurrentState, policy: Policy) -> str | None:
    """Return why the policy no longer allows this deletion without an approval or a backup; None if it does.

    `look` has the resource's current tags.
    """
    rule = unattended(finding.sighting, look.tags, policy.cleanup)
    if cleanup.approved_by == BY_POLICY and rule is None:
        return "the policy no longer allows its deletion without an approval"
    if cleanup.scratch and not (rule and rule.its_data_is_scratch_and_needs_no_backup):
        return "the policy no longer declares its data scratch, and it has no backup"
    return None


def _is_going(look: CurrentState) -> bool:
    """Return whether AWS is deleting the resource itself."""
    return bool(look.parts) and look.parts[-1].going
