"""Tracks whether the owner of a tagged resource was warned. Only Slack's confirmation counts, not a recorded post.

The grace period starts with the first delivered warning. A warning N days ahead is followed by N days. While a warning
is undelivered, the clean-up waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.app.cleanup.case import Cases
from slackwater.app.cleanup.news import CleanupNews, What
from slackwater.app.telemetry import LOGGER
from slackwater.engine.cleanup import LOOK_AGAIN, act_after, due, unattended
from slackwater.model.cleanup import ACT_AFTER, Cleanup, Notice, Tagging
from slackwater.model.policy import Policy, UnattendedTag
from slackwater.model.posts import Post
from slackwater.model.tracking import TrackedFinding
from slackwater.ports.cleanup import Watcher
from slackwater.ports.errors import AwsError

UNWARNED_FOR: Final = timedelta(days=7)
"""How late the warnings of a clean-up may be in total. After that, the clean-up is cancelled."""
UNSAID: Final = "it has not confirmed the warning"
MOVED: Final = timedelta(hours=1)
"""If the date moves by more than this, the tag is updated and the date announced again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warnings:
    """Tracks the warnings of clean-ups."""

    cases: Cases
    watchers: Mapping[str, Watcher]
    news: CleanupNews

    def updated(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> Cleanup:
        """Record which warnings Slack has confirmed, and update the date on which the clean-up acts.

        The date follows from these warnings and the policy. It never becomes earlier.

        Raises:
            MovedError: Somebody else has changed the record.
            AwsError: The outbox did not answer.
        """
        tagging = cleanup.marked
        if tagging is None or not cleanup.deletes:
            return cleanup
        if tagging.notice is None and tagging.delivered_at is None and not tagging.unwarned:
            tagging = replace(
                tagging, notice=Notice(since=self.cases.clock())
            )  # an older version tagged it, which did not record deliveries
            cleanup = self.cases.write(replace(cleanup, marked=tagging))
        rule = self._rule(cleanup, finding, policy)
        cleanup = self._delivered(cleanup, tagging, policy, rule)
        after = cleanup.marked or tagging
        if after.notice or (cleanup.unattended and rule is None):
            return cleanup
        why = "the policy's grace period is longer now"
        if tagging.delivered_at is None and after.delivered_at and after.late > MOVED:
            why = f"Slack accepted the warning only at {after.delivered_at:%Y-%m-%d %H:%M} UTC"
        return self._written(cleanup, after, due(after, policy.cleanup, rule, deletes=True), why)

    def _delivered(self, cleanup: Cleanup, tagging: Tagging, policy: Policy, rule: UnattendedTag | None) -> Cleanup:
        """Record the state of the post that the clean-up waits for."""
        now, notice, post = self.cases.clock(), tagging.notice, self._post(cleanup, tagging)
        if notice is None or post is None:
            return cleanup
        ahead = timedelta(days=notice.days or 0)
        if at := post.delivered_at:
            late = tagging.late + max(at - notice.since, timedelta(0))
            after = replace(tagging, notice=None, delivered_at=tagging.delivered_at or at, late=late)
            if notice.days is None:
                return self._written(cleanup, after, tagging.act_after)
            after = replace(after, warned_days=(*tagging.warned_days, notice.days))
            why = f"Slack accepted the warning only at {at:%Y-%m-%d %H:%M} UTC"
            return self._written(cleanup, after, max(tagging.act_after, at + ahead), why, warned=notice.days)
        if post.nowhere:
            waits = not policy.cleanup.delete_without_warning
            return (
                cleanup
                if waits
                else self._written(cleanup, replace(tagging, notice=None, unwarned=True), tagging.act_after)
            )
        if post.waits or now - post.created_at < LOOK_AGAIN or _too_late(tagging, notice, now):
            return cleanup
        to = now + ahead
        if notice.days is None and (rule or not cleanup.unattended):
            to = act_after(now, policy.cleanup, rule, deletes=True)
        again = replace(tagging, repeats=tagging.repeats + 1)
        return self._written(
            cleanup, again, max(tagging.act_after, to), f"Slack has not accepted the warning: {post.why or UNSAID}"
        )

    def give_up_reason(self, cleanup: Cleanup) -> str | None:
        """Return why not to wait any longer for a delivery; None if it may still succeed or no warning is due."""
        tagging = cleanup.marked
        if tagging is None or tagging.notice is None:
            return None
        post = self._post(cleanup, tagging)
        if post and post.nowhere and post.state == "failed":
            unless = "to delete without a warning, set cleanup.delete_without_warning"
            return f"Slackwater cannot warn its owner: {post.why}; {unless}"
        if not _too_late(tagging, tagging.notice, self.cases.clock()):
            return None
        why = (post.why if post else None) or UNSAID
        return f"Slackwater could not warn its owner within {UNWARNED_FOR.days} days: Slack: {why}"

    def announce(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> None:
        """Record the post of the undelivered warning, if it is not recorded yet."""
        if cleanup.marked and cleanup.marked.notice:
            what, shown = _shown(cleanup, cleanup.marked)
            self.news.announce(what, shown, finding, policy)

    def withdraw(self, cleanup: Cleanup) -> None:
        """Withdraw an undelivered warning, because the deletion will not happen."""
        if cleanup.marked and cleanup.marked.notice:
            self.news.withdraw(*_shown(cleanup, cleanup.marked))

    def _post(self, cleanup: Cleanup, tagging: Tagging) -> Post | None:
        return self.news.post(*_shown(cleanup, tagging)) if tagging.notice else None

    def _rule(self, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> UnattendedTag | None:
        """Return the policy's current rule for a clean-up that was tagged without an approval; None if unknown."""
        if not cleanup.unattended:
            return None
        try:
            look = self.watchers[cleanup.resource.type].look(cleanup.resource)
        except AwsError as error:
            LOGGER.warning("not looked at", finding_id=cleanup.finding_id, reason=str(error))
            return None
        return unattended(finding.sighting, look.tags if look else None, policy.cleanup)

    def _written(
        self, cleanup: Cleanup, after: Tagging, to: datetime, why: str = "", *, warned: int | None = None
    ) -> Cleanup:
        """Store the warning state. If the date moved, update the tag first, add a ledger entry and announce it again.

        `warned` is set if a warning was just delivered: how many days ahead of the deletion that warning was due.
        """
        now, before = self.cases.clock(), after.act_after
        if to > before:
            still = tuple(days for days in after.warned_days if to - timedelta(days=days) <= now)
            after = replace(after, act_after=to, warned_days=still)
        if moved := to - before > MOVED:
            self._retag(cleanup, to)
            if after.notice is None:
                after = replace(after, repeats=after.repeats + 1, notice=Notice(since=now))
        known = replace(cleanup, marked=after)
        if known == cleanup:
            return cleanup
        then = f"Slackwater deletes it later, after {to:%Y-%m-%d %H:%M} UTC: {why}"
        if warned is not None:
            note = f"{warned} {'day' if warned == 1 else 'days'} before the deletion"
            return self.cases.record_event(known, "warned", f"{note}; {then}" if moved else note)[0]
        return self.cases.record_event(known, "marked", then)[0] if moved else self.cases.write(known)

    def _retag(self, cleanup: Cleanup, to: datetime) -> None:
        """Update the date in the tag. This may fail, because the record and the announcement also have the date."""
        watcher = self.watchers[cleanup.resource.type]
        try:
            if look := watcher.look(cleanup.resource):
                watcher.add_tags(cleanup.resource, look, {ACT_AFTER: f"{to:%Y-%m-%dT%H:%M:%SZ}"})
        except AwsError as error:
            LOGGER.warning("its tag has an earlier date", finding_id=cleanup.finding_id, reason=str(error))


def _shown(cleanup: Cleanup, tagging: Tagging) -> tuple[What, Cleanup]:
    """Return the kind of the warning and the clean-up as the warning describes it."""
    notice = tagging.notice
    if notice is None or notice.days is None:
        return "marked", replace(cleanup, marked=tagging)
    return "warned", replace(cleanup, marked=replace(tagging, warned_days=(*tagging.warned_days, notice.days)))


def _too_late(tagging: Tagging, notice: Notice, now: datetime) -> bool:
    return tagging.late + (now - notice.since) >= UNWARNED_FOR
