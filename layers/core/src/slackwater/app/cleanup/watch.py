"""The steps of a clean-up that delete or change no resource: checks, tags, waiting, and the end.

Each step can run twice, or crash anywhere and run again: it reads the record, does what is left, and writes the record.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Final, Literal, assert_never

from slackwater.app.audit.step_error import StepError, error_text
from slackwater.app.audit.target_documents import stored_target
from slackwater.app.cleanup.case import (
    BY_POLICY,
    GO,
    LONGEST_WAIT,
    OVER,
    WAITING,
    Answer,
    Cases,
    UnsafeError,
    failed_half_way,
    go,
    longer,
    some,
    wait_since,
    wait_until,
)
from slackwater.app.cleanup.news import CleanupNews, What
from slackwater.app.cleanup.recheck import VETOES, NotSeenError, Rechecker
from slackwater.app.cleanup.warning import Warnings
from slackwater.app.policy.file import PolicyError
from slackwater.app.telemetry import LOGGER
from slackwater.engine.cleanup import (
    LOOK_AGAIN,
    account_blocker,
    act_after,
    due,
    look_next,
    may_approve,
    unattended,
    warning_due,
)
from slackwater.model.cleanup import (
    ACT_AFTER,
    CLEANUP_TAG,
    NOT_RESTORED,
    NOT_RESTORED_STARTS,
    ActorNote,
    Cleanup,
    Notice,
    Tagging,
)
from slackwater.model.policy import Policy
from slackwater.model.settings import in_words
from slackwater.model.tracking import Decision, Status, TrackedFinding
from slackwater.ports.access import Permissions
from slackwater.ports.cleanup import Watcher
from slackwater.ports.errors import AwsError
from slackwater.ports.store import Documents
from slackwater.views.cleanup.words import backup_words

type Going = Literal["load", "recheck", "mark", "grace", "approval", "begin", "preflight"]
"""Steps before the deletion or change. Each first checks whether a person or the policy objects."""
type WatchStep = Literal[
    Going, "confirm", "record", "call_off", "fail", "not_put_back", "undo", "undone", "undo_failed"
]

BY_RECORD: Final[tuple[WatchStep, ...]] = ("confirm", "record", "call_off", "fail", "not_put_back", "undo_failed")
"""Steps that need only the record. They work even if a list of the clean-up is lost or too long to store."""

LOOK_FOR_DELIVERY: Final = timedelta(minutes=15)
"""The first interval between checks whether a warning was delivered."""
LOOK_FOR_APPROVAL: Final = timedelta(minutes=15)
"""The first interval between checks for an approval."""
LOOKS: Final = 60
"""Later intervals are a sixtieth of the time waited so far. That is fewer than 400 checks in 90 days, because an
execution's history is limited.
"""
ON_RECORD: Final = "The clean-up's record says"
"""The start of the state machine's error if a step has recorded the reason."""
LOOK_IF_GONE_S: Final = 60
"""The first interval, in seconds, between checks of something that AWS is deleting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The steps and their dependencies.

    Attributes:
        account: The account that clean-up is deployed in, the only one that it works in.
        backup_monthly_usd: Returns the monthly price of a backup in USD, by kind, Region and bytes; None if unknown.
    """

    account: str
    cases: Cases
    documents: Documents
    policy: Callable[[], Policy]
    rechecker: Rechecker
    watchers: Mapping[str, Watcher]
    permissions: Permissions
    backup_monthly_usd: Callable[[str, str, int], Decimal | None]
    news: CleanupNews

    def step(  # noqa: PLR0911 -- one return a step
        self, step: WatchStep, finding_id: str, execution: str, error: StepError | None = None
    ) -> Answer:
        """Run one step, and return the answer for the state machine.

        Raises:
            NotMineError, UnsafeError: The step must not run.
            MovedError, NotSeenError, AwsError: The step may run again.
        """
        read = self.cases.short if step in BY_RECORD else self.cases.get
        cleanup = read(finding_id, execution)
        match step:
            case "load" | "recheck" | "mark" | "grace" | "approval" | "begin" | "preflight":
                return self._go_on(step, cleanup, self.policy())
            case "confirm":
                return self._confirm(cleanup)
            case "record":
                return self._record(cleanup)
            case "call_off":
                return self._cancel(cleanup)
            case "fail":
                return self._fail(cleanup, error)
            case "not_put_back":
                return self._record_not_restored(cleanup, error)
            case "undo":
                return self._undo(cleanup)
            case "undone":
                return self._undone(cleanup)
            case "undo_failed":
                return self._undo_failed(cleanup, error)
            case _:
                assert_never(step)

    # -- Before the deletion or change

    def _go_on(self, step: Going, cleanup: Cleanup, policy: Policy) -> Answer:  # noqa: PLR0911 -- one return a step
        if cleanup.ended or cleanup.stage == "undoing":
            raise UnsafeError(f"the clean-up is {cleanup.stage}: it cannot continue")
        finding = self.cases.finding(cleanup)
        if why := self.cases.objection(cleanup, finding, policy):
            return self.cases.over(cleanup, why)
        match step:
            case "load":
                return self._load(cleanup, finding)
            case "recheck":
                return self._recheck(cleanup, policy)
            case "mark":
                return self._tag(cleanup, finding, policy)
            case "grace":
                return self._grace(cleanup, finding, policy)
            case "approval":
                return self._approval(cleanup, finding, policy)
            case "begin":
                return self._begin(cleanup, finding, policy)
            case "preflight":
                return self._preflight(cleanup)

    def _load(self, cleanup: Cleanup, finding: TrackedFinding) -> Answer:
        """Check the account, and that the scan that found the issue is complete."""
        if why := account_blocker(cleanup.resource.account, self.account):
            return self.cases.over(cleanup, why)
        resource = finding.sighting.resource
        seen = stored_target(self.documents, finding.audit_id, resource.account, resource.region)
        if not seen.kept:
            return self.cases.over(
                cleanup, "the results of the audit that found it have expired: the next audit must find it again"
            )
        if not seen.whole:
            return self.cases.over(cleanup, "the audit that found it is incomplete in its region")
        if cleanup.stage == "starting":
            self.cases.write(replace(cleanup, stage="waiting"))
        return GO

    def _recheck(self, cleanup: Cleanup, policy: Policy) -> Answer:
        seen = self.rechecker.recheck(cleanup, policy)
        if seen.state == "gone" and cleanup.backups:
            return GO  # somebody else deleted it: only the backup is left, and the next steps record it
        if seen.state != "same":
            return self.cases.over(cleanup, seen.why)
        if seen.detached != cleanup.detached:
            self.cases.write(replace(cleanup, detached=seen.detached))
        return GO

    def _tag(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Answer:
        """Record the resource's state and the data that an undo needs, and then tag the resource."""
        resource, watcher = cleanup.resource, self.watchers[cleanup.resource.type]
        look = watcher.look(resource)
        if look is None:
            return self.cases.over(cleanup, "it no longer exists")
        if cleanup.marked is None:
            rule = unattended(finding.sighting, look.tags, policy.cleanup)
            now = self.cases.clock()
            cleanup = self.cases.write(
                replace(
                    cleanup,
                    born_at=look.born_at,
                    size_bytes=look.size_bytes,
                    parts=look.parts,
                    children=tuple(look.children),
                    recorded=watcher.record(resource),
                    unattended=rule is not None,
                    scratch=rule is not None and rule.its_data_is_scratch_and_needs_no_backup,
                    marked=Tagging(
                        at=now,
                        act_after=act_after(now, policy.cleanup, rule, deletes=cleanup.deletes),
                        notice=Notice(since=now) if cleanup.deletes else None,
                    ),
                )
            )
        tagging = self._tagging(cleanup)
        if not tagging.tagged:
            watcher.add_tags(
                resource, look, {CLEANUP_TAG: cleanup.finding_id, ACT_AFTER: f"{tagging.act_after:%Y-%m-%dT%H:%M:%SZ}"}
            )
            if cleanup.deletes:
                next_ = f"deletes it after {tagging.act_after:%Y-%m-%d %H:%M} UTC, unless it is used before then"
            else:
                next_ = f"changes it to {in_words(cleanup.setting)}" if cleanup.setting else "changes it"
            cleanup, finding = self.cases.record_event(
                replace(cleanup, marked=replace(tagging, tagged=True)), "marked", f"Slackwater {next_}"
            )
        self._announce("marked", cleanup, finding)
        now = self.cases.clock()
        until = tagging.act_after if tagging.act_after <= now else look_next(tagging, policy.cleanup, now)
        return go(kind=_kind(cleanup), wait_until=until)

    def _grace(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Answer:
        """Check for signs of use, and warn the owner. If AWS does not answer, check again later."""
        cleanup, waits = self._not_yet(cleanup, finding, policy)
        if waits is None or waits == OVER:
            return waits or GO
        if why := self._used(cleanup, policy):
            return self.cases.over(cleanup, why)
        tagging, now = self._tagging(cleanup), self.cases.clock()
        if tagging.notice is None and (days := warning_due(tagging, policy.cleanup, now)) is not None:
            cleanup = self.cases.write(replace(cleanup, marked=replace(tagging, notice=Notice(since=now, days=days))))
            self.warnings.announce(cleanup, self.cases.finding(cleanup), policy)
        return waits

    def _not_yet(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> tuple[Cleanup, Answer | None]:
        """Wait for undelivered warnings and the end of the grace period; the answer is None after both."""
        cleanup = self.warnings.updated(cleanup, finding, policy)
        if why := self.warnings.give_up_reason(cleanup):
            return cleanup, self.cases.over(cleanup, why)
        tagging, now = self._tagging(cleanup), self.cases.clock()
        if tagging.notice:
            self.warnings.announce(cleanup, self.cases.finding(cleanup), policy)
            soon = now + longer(now - tagging.notice.since, LOOK_FOR_DELIVERY)
            return cleanup, wait_until(min(soon, look_next(tagging, policy.cleanup, now)))
        return cleanup, wait_until(look_next(tagging, policy.cleanup, now)) if now < tagging.act_after else None

    @property
    def warnings(self) -> Warnings:
        """The tracker of the warnings to the owner."""
        return Warnings(cases=self.cases, watchers=self.watchers, news=self.news)

    def _used(self, cleanup: Cleanup, policy: Policy) -> str | None:
        """Return why the clean-up must be cancelled; None if AWS shows no reason now."""
        try:
            seen = self.rechecker.recheck(cleanup, policy)
        except (NotSeenError, AwsError) as error:
            LOGGER.warning("not looked at", finding_id=cleanup.finding_id, reason=str(error))
            return None
        return seen.why if seen.state in {"changed", "gone"} else None

    def _approval(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Answer:
        cleanup, waits = self._not_yet(cleanup, finding, policy)
        if waits:
            return waits
        tagging, now = self._tagging(cleanup), self.cases.clock()
        if cleanup.unattended or self._approver(cleanup, finding, policy):
            return GO
        lapses = tagging.act_after + timedelta(days=policy.cleanup.approval_days)
        if now >= lapses:
            return self.cases.over(cleanup, f"nobody approved it by {lapses:%Y-%m-%d %H:%M} UTC")
        if tagging.looked_at is None or now - tagging.looked_at >= LOOK_AGAIN:
            if why := self._used(cleanup, policy):
                return self.cases.over(cleanup, why)
            cleanup = self.cases.write(replace(cleanup, marked=replace(tagging, looked_at=now)))
        self._announce("asked", cleanup, finding)
        return wait_until(min(lapses, now + max(LOOK_FOR_APPROVAL, (now - tagging.act_after) / LOOKS)))

    def _begin(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Answer:
        """Check one last time: the grace period is over, the approval is valid and nothing has changed."""
        if cleanup.stage == "working":
            return go(kind=_kind(cleanup))
        tagging = self._tagging(cleanup)
        if self.cases.clock() < tagging.act_after:
            raise UnsafeError(f"Slackwater must not act before {tagging.act_after:%Y-%m-%d %H:%M} UTC")
        cleanup, waits = self._not_yet(cleanup, finding, policy)
        if waits:
            return (
                waits
                if waits == OVER
                else self.cases.over(cleanup, "its grace period is longer now, and has not ended")
            )
        tagging = self._tagging(cleanup)
        look = self.watchers[cleanup.resource.type].look(cleanup.resource)
        rule = unattended(finding.sighting, look.tags if look else None, policy.cleanup)
        approval = self._approver(cleanup, finding, policy)
        if rule is None and approval is None:
            return self.cases.over(cleanup, "its approval is no longer valid")
        begun_at = self.cases.clock()
        seen = self.rechecker.recheck(cleanup, policy)
        if seen.state != "same" or seen.finding is None:
            return self.cases.over(cleanup, seen.why)
        whole_grace = due(tagging, policy.cleanup, None, deletes=cleanup.deletes)
        why = None
        if approval and seen.finding.fingerprint != approval.fingerprint:
            why = "it has changed since it was approved"
        elif cleanup.unattended and rule is None and self.cases.clock() < whole_grace:
            why = "it was tagged for the short grace period of a rule that no longer applies"
        if why:
            return self.cases.over(cleanup, why)
        by = approval.who if approval else BY_POLICY
        begun = replace(
            cleanup,
            stage="working",
            begun_at=begun_at,
            approved_by=by,
            unattended=rule is not None,
            scratch=rule is not None and rule.its_data_is_scratch_and_needs_no_backup,
            fingerprint=seen.finding.fingerprint,
        )
        self.cases.record_event(begun, "cleaning", f"approved by {by}; nothing has changed since", status="cleaning")
        return go(kind=_kind(begun))

    def _preflight(self, cleanup: Cleanup) -> Answer:
        """Check the deletion role's permissions for every sub-resource, before the first is touched."""
        if not cleanup.deletes:
            return GO
        resource, watcher = cleanup.resource, self.watchers[cleanup.resource.type]
        look = watcher.look(resource)
        if look is None:
            return self.cases.over(cleanup, "it no longer exists")
        if (ahead := self.cases.ahead(cleanup)) and (why := failed_half_way(ahead)):
            return self.cases.over(cleanup, why)
        denied = self.permissions.denied(watcher.removal_actions(resource, look), {CLEANUP_TAG: cleanup.finding_id})
        if denied:
            return self.cases.over(cleanup, f"IAM does not allow the deletion role: {some(denied)}")
        if not cleanup.backups and not cleanup.removals:
            usd = None
            if not cleanup.scratch:
                usd = self.backup_monthly_usd(resource.type, resource.region, look.size_bytes)
            self.cases.write(
                replace(
                    cleanup,
                    size_bytes=look.size_bytes,
                    recorded=watcher.record(resource),
                    backup_monthly_usd=Decimal(0) if cleanup.scratch else usd,
                )
            )
        return GO

    def _approver(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Decision | None:
        """Return the valid approval; None if there is none.

        A valid approval has not expired, is by somebody who may approve, and is for this finding and this setting.
        """
        decision = finding.decision
        if finding.status != "approved" or decision is None or decision.status != "approved":
            return None
        is_valid = decision.until is not None and self.cases.clock() < decision.until
        same = decision.fingerprint == finding.sighting.fingerprint and decision.setting == cleanup.setting
        return decision if is_valid and same and may_approve(decision.who, policy.cleanup) else None

    # -- The end

    def _confirm(self, cleanup: Cleanup) -> Answer:
        look = self.watchers[cleanup.resource.type].look(cleanup.resource)
        if look is None or look.born_at != cleanup.born_at:
            return GO
        if not look.parts or not look.parts[-1].going:
            raise NotSeenError(f"{cleanup.resource.id} should be deleted by now, but still exists")
        now = self.cases.clock()
        since = cleanup.removals[-1].asked_at if cleanup.removals else now
        if now - since >= LONGEST_WAIT:
            return self.cases.failed(
                cleanup, f"AWS has not deleted {cleanup.resource.id} after {LONGEST_WAIT.days} days"
            )
        return wait_since(since, now, LOOK_IF_GONE_S)

    def _lacks_sub_resources(self, cleanup: Cleanup) -> bool:
        """Return whether sub-resources are missing from a resource that still exists.

        A deleted resource is restored only on request.
        """
        if not cleanup.removals:
            return False
        look = self.watchers[cleanup.resource.type].look(cleanup.resource)
        return look is not None and not (look.parts and look.parts[-1].going)

    def _keep_lock_for_restore(self, cleanup: Cleanup) -> bool:
        """Return whether sub-resources must be restored now. If not, release the lock.

        Other clean-ups of this type wait for the lock until the restore is complete.
        """
        put_back = self._lacks_sub_resources(cleanup)
        if cleanup.has_turn and not put_back:
            self.cases.write(replace(cleanup, has_turn=False))
        return put_back

    def _record(self, cleanup: Cleanup) -> Answer:
        if cleanup.stage != "done":
            if cleanup.stage != "working":
                raise UnsafeError(f"the clean-up is {cleanup.stage}: it cannot have done anything")
            if not cleanup.deletes:
                self._remove_tags(cleanup)
            why = done_words(cleanup)
            done = replace(cleanup, stage="done", ended_at=self.cases.clock(), why=why, has_turn=False)
            cleanup, _ = self.cases.record_event(done, "cleaned", why, status="resolved")
        self._announce("done", cleanup, self.cases.finding(cleanup))
        return GO

    def _cancel(self, cleanup: Cleanup) -> Answer:
        """Remove the tags, and restore what was deleted. The approval ends with this clean-up.

        If a person removed the tag, that counts as a veto, as a stop does.
        """
        if not cleanup.ended:
            self._remove_tags(cleanup)
            self.warnings.withdraw(cleanup)
            now = self.cases.clock()
            veto = cleanup.stopped
            if cleanup.why.startswith(VETOES) and veto is None:
                veto = ActorNote(who="the person who removed its tag", why=cleanup.why, at=now)
            off = replace(cleanup, stage="called-off", ended_at=now, stopped=veto)
            cleanup, _ = self.cases.record_event(
                off, "called-off", _with_rest(cleanup.why, cleanup), status=self._reopened(cleanup)
            )
        self._announce("called-off", cleanup, self.cases.finding(cleanup))
        return go(put_back=self._keep_lock_for_restore(cleanup))

    def _fail(self, cleanup: Cleanup, error: StepError | None) -> Answer:
        """Record what went wrong and what was done until then, and then remove the tags, because that may fail too.

        An execution that has ended or was stopped may report its failure a second time, which changes nothing.
        """
        new = not cleanup.ended
        if new and cleanup.stage == "undoing":
            return GO
        if new:
            what = _with_rest(_what_failed(cleanup, error), cleanup)
            status: Status | None = "failed" if self.cases.finding(cleanup).status in {*WAITING, "cleaning"} else None
            half = cleanup.has_turn and bool(
                cleanup.removals
            )  # a failed clean-up that keeps the lock cancels those that wait for it
            failed = replace(cleanup, stage="failed", ended_at=self.cases.clock(), why=what, has_turn=half)
            cleanup, _ = self.cases.record_event(failed, "failed", what, status=status)
        self._remove_tags_if_possible(cleanup)
        if cleanup.stage == "failed":
            self._announce("failed", cleanup, self.cases.finding(cleanup))
        put_back = cleanup.stage in {"failed", "called-off"} and self._keep_lock_for_restore(cleanup)
        return go(put_back=put_back, **({"failed": True} if new else {}))

    def _record_not_restored(self, cleanup: Cleanup, error: StepError | None) -> Answer:
        """Record which deleted sub-resources are not restored.

        Either the restore failed, or AWS does not say what is missing.
        """
        gone = _not_restored_words(cleanup)
        if not gone or cleanup.why.startswith(NOT_RESTORED_STARTS):
            return GO
        again = "" if cleanup.not_restored else f"; to try again: `slackwater cleanup undo {cleanup.finding_id}`"
        what = f"{gone}; {_what_failed(cleanup, error)}{again}"
        failed = replace(cleanup, stage="failed", ended_at=cleanup.ended_at or self.cases.clock(), why=what)
        cleanup, _ = self.cases.record_event(failed, "failed", what, status="failed")
        self._announce("failed", cleanup, self.cases.finding(cleanup))
        return go(failed=True)

    def _remove_tags_if_possible(self, cleanup: Cleanup) -> None:
        """Remove the tags after a failure. An error here is only logged, because the failure is already recorded."""
        try:
            self._remove_tags(cleanup)
            self.warnings.withdraw(cleanup)
        except AwsError as still:
            LOGGER.warning("its tag is still there", finding_id=cleanup.finding_id, reason=str(still))

    def _remove_tags(self, cleanup: Cleanup) -> None:
        if cleanup.marked:
            self.watchers[cleanup.resource.type].remove_tags(cleanup.resource, (CLEANUP_TAG, ACT_AFTER))

    def _reopened(self, cleanup: Cleanup) -> Status | None:
        return "open" if self.cases.finding(cleanup).status in {"approved", "cleaning"} else None

    # -- Undo

    def _undo(self, cleanup: Cleanup) -> Answer:
        """Start an undo. The role that changes a setting back needs the tag."""
        if cleanup.stage != "undoing":
            raise UnsafeError(f"the clean-up is {cleanup.stage}: nobody requested an undo")
        if cleanup.deletes:
            return go(kind="delete")
        watcher = self.watchers[cleanup.resource.type]
        if look := watcher.look(cleanup.resource):
            watcher.add_tags(cleanup.resource, look, {CLEANUP_TAG: cleanup.finding_id})
        return go(kind="change")

    def _undone(self, cleanup: Cleanup) -> Answer:
        if cleanup.stage != "undone":
            if cleanup.stage != "undoing":
                raise UnsafeError(f"the clean-up is {cleanup.stage}: it cannot have undone anything")
            if not cleanup.deletes:
                self._remove_tags(cleanup)
            why = undone_words(cleanup)
            there = not cleanup.deletes or (cleanup.restored is not None and cleanup.restored.id == cleanup.resource.id)
            undone = replace(cleanup, stage="undone", ended_at=self.cases.clock(), why=why)
            cleanup, _ = self.cases.record_event(undone, "undone", why, status="open" if there else None)
        self._announce("undone", cleanup, self.cases.finding(cleanup))
        return GO

    def _undo_failed(self, cleanup: Cleanup, error: StepError | None) -> Answer:
        """Record a failed undo. A new request continues from there."""
        new = cleanup.stage == "undoing"
        if new:
            why = f"the undo failed: {_what_failed(cleanup, error)}"
            what = f"{gone}; {why}" if (gone := _not_restored_words(cleanup)) else why
            failed = replace(cleanup, stage="failed", ended_at=self.cases.clock(), why=what)
            cleanup, _ = self.cases.record_event(failed, "failed", what)
        self._remove_tags_if_possible(cleanup)
        if cleanup.stage == "failed":
            self._announce("failed", cleanup, self.cases.finding(cleanup))
        return go(**({"failed": True} if new else {}))

    # -- Helpers

    def _tagging(self, cleanup: Cleanup) -> Tagging:
        if cleanup.marked is None:
            raise UnsafeError("it was not tagged")
        return cleanup.marked

    def _announce(self, what: What, cleanup: Cleanup, finding: TrackedFinding) -> None:
        """Post to Slack, once: the post's id is the same each time. An unreadable policy does not prevent the post."""
        try:
            policy = self.policy()
        except PolicyError as error:
            LOGGER.warning("did not post to Slack", finding_id=cleanup.finding_id, reason=str(error))
        else:
            self.news.announce(what, cleanup, finding, policy)


def done_words(cleanup: Cleanup) -> str:
    """Return the result in words: `deleted; its data is in snap-1 until 2027-02-20`, or both settings."""
    if cleanup.setting is not None:
        was = f" from {in_words(cleanup.was)}" if cleanup.was else ""
        return f"changed{was} to {in_words(cleanup.setting)}"
    deleted = "deleted" if cleanup.removals else "it no longer existed"
    if not cleanup.backups:
        return f"{deleted} without a backup: the policy declares its data scratch" if cleanup.removals else deleted
    kept = ", ".join(f"{one.id} until {one.expires_at:%Y-%m-%d}" for one in cleanup.backups if one.state != "failed")
    lost = next((one for one in cleanup.backups if one.final and one.state == "failed"), None)
    without = (
        f"; the final backup failed ({lost.why}): data written since {_backed_up(cleanup)} is lost" if lost else ""
    )
    return f"{deleted}; its data is in {kept}{without}"


def _backed_up(cleanup: Cleanup) -> str:
    return f"{min(one.asked_at for one in cleanup.prior_backups):%Y-%m-%d %H:%M} UTC"


def undone_words(cleanup: Cleanup) -> str:
    """Return what was restored and how it differs from before."""
    restored = cleanup.restored
    differences = f"; {some(restored.differences, between='; ')}" if restored and restored.differences else ""
    if cleanup.setting is not None:
        return f"changed back to {in_words(cleanup.was)}{differences}" if cleanup.was else "nothing was changed"
    if restored is None:
        return "nothing was deleted"
    back = "is restored" if restored.id == cleanup.resource.id else f"is restored as {restored.id}"
    return f"{cleanup.resource.id} {back}{differences}"


def _what_failed(cleanup: Cleanup, error: StepError | None) -> str:
    """Return the reason that a step recorded, and the state machine's error unless it only refers to that reason."""
    message = error_text(error) if error and ON_RECORD not in error.get("Cause", "") else ""
    words = (cleanup.why, "" if message in cleanup.why else message)
    return "; ".join(one for one in words if one) or "the reason is unknown"


def _not_restored_words(cleanup: Cleanup) -> str:
    """Return which deleted sub-resources are not restored; empty if there are none."""
    missing = [one.part for one in cleanup.removals if one.part.id != cleanup.resource.id]
    if not missing or (cleanup.restored and cleanup.restored.state == "done"):
        return ""
    of = cleanup.removed - (len(cleanup.removals) - len(missing))
    return f"{NOT_RESTORED}: {some([f'{one.kind} {one.id}' for one in missing], of)}"


def _with_rest(why: str, cleanup: Cleanup) -> str:
    """Return why the clean-up ended and what was done until then."""
    done = []
    if cleanup.backups:
        done += [
            f"backup {backup_words(one.state)}: {one.id or NO_BACKUP.get(one.state, 'without an id')}"
            for one in cleanup.backups
        ]
    if cleanup.removals:
        done.append(f"asked AWS to delete {_removed(cleanup)}")
    if cleanup.changed_at and cleanup.setting:
        done.append(f"asked AWS to change it to {in_words(cleanup.setting)}")
    nothing = "nothing was deleted" if cleanup.deletes else "nothing was changed"
    if not cleanup.removals and not cleanup.changed_at:
        done.append(nothing)
    return f"{why}; {'; '.join(done)}"


def _removed(cleanup: Cleanup) -> str:
    return some([f"{one.part.kind} {one.part.id}" for one in cleanup.removals], cleanup.removed)


NO_BACKUP: Final = {"asked": "AWS may not have started it", "failed": "AWS did not start it"}
"""What a backup without an id means, by its state."""


def _kind(cleanup: Cleanup) -> str:
    return "change" if not cleanup.deletes else "scratch" if cleanup.scratch else "delete"
