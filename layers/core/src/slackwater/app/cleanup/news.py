"""Posts to Slack about clean-ups. A repeated announcement has the same post id, so it is posted once."""

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from slackwater.engine.cleanup import approval_blocker
from slackwater.engine.routes import default, route
from slackwater.model.cleanup import Cleanup
from slackwater.model.policy import Policy
from slackwater.model.posts import Message, Post
from slackwater.model.tracking import TrackedFinding
from slackwater.ports.clock import Clock
from slackwater.ports.slack import Outbox
from slackwater.views.slack.cleanup import Case, What, cleanup_message, over_cap

__all__ = ["CleanupNews", "What"]

ENDS: Final[tuple[What, ...]] = ("called-off", "done", "failed", "undone")
MENTIONS: Final[tuple[What, ...]] = ("marked", "warned", "asked")
"""Posts that mention the owner."""
TRIED_FOR: Final = timedelta(days=14)
"""How long NotifyFunction tries to send a post about the end of a clean-up, because that post is not repeated. A
warning is announced again after a day.
"""

UNDO: Final = re.compile(r"-undo-(\d+)$")
"""Matches the end of the name of an undo's execution, which has the number of the undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupNews:
    """Records posts. NotifyFunction sends them."""

    outbox: Outbox
    clock: Clock

    def announce(self, what: What, cleanup: Cleanup, finding: TrackedFinding, policy: Policy) -> None:
        """Record a post about the clean-up as it is on record now. The same record always yields the same post."""
        id_ = post_id(what, cleanup)
        case = Case(
            post_id=id_,
            cleanup=cleanup,
            finding=finding,
            backup_days=policy.cleanup.backup_days,
            approval_days=policy.cleanup.approval_days,
            keep_tag=next(iter(policy.exempt.keep_tags), None),
            may_decide=bool(policy.slack.deciders),
            may_approve=bool(policy.cleanup.approvers) and approval_blocker(finding.sighting, policy.cleanup) is None,
            may_stop=bool(policy.cleanup.approvers or policy.slack.deciders),
        )
        if what in MENTIONS and finding.sighting.owner:
            case = replace(case, person=policy.slack.people.get(finding.sighting.owner))
        channel = route(finding.sighting, policy.slack) or default(policy.slack)
        self._record(
            id_, channel, cleanup_message(what, case), finding.id, tried_for=TRIED_FOR if what in ENDS else None
        )

    def post(self, what: What, cleanup: Cleanup) -> Post | None:
        """Return the post with this announcement; None if it was not recorded or has expired."""
        return self.outbox.get(post_id(what, cleanup))

    def withdraw(self, what: What, cleanup: Cleanup) -> None:
        """Withdraw this post, so that it is not sent. If NotifyFunction is just sending it, it may still arrive."""
        post = self.post(what, cleanup)
        if post and post.waits and not post.withdrawn:
            self.outbox.write(replace(post, withdrawn=True, revision=post.revision + 1))

    def cap(self, why: str, wanted: int, policy: Policy) -> None:
        """Record that a run would have exceeded a cap and started nothing; once a day for the same text."""
        self._once_a_day("cap", over_cap(why, wanted), policy)

    def _once_a_day(self, what: str, message: Message, policy: Policy) -> None:
        self._record(f"cleanup.{what}.{self.clock():%Y%m%d}.{_digest(message.text)}", default(policy.slack), message)

    def _record(
        self, id_: str, channel: str | None, message: Message, *findings: str, tried_for: timedelta | None = None
    ) -> None:
        now = self.clock()
        post = Post(
            id=id_,
            audit_id=None,
            created_at=now,
            until=now + tried_for if tried_for else None,
            channel=channel,
            thread_of=None,
            message=message,
            findings=findings,
        )
        self.outbox.record([post])


def post_id(what: What, cleanup: Cleanup) -> str:
    """Return the id of the post with this announcement."""
    return f"cleanup.{cleanup.finding_id}.{cleanup.attempt}.{what}{_which(what, cleanup)}"


def _which(what: What, cleanup: Cleanup) -> str:
    """Return what distinguishes posts of one kind: a warning's days and repetition, an undo's number, or a failure."""
    repeats = f".{cleanup.marked.repeats}" if cleanup.marked and cleanup.marked.repeats else ""
    if what == "marked":
        return repeats
    if what == "warned" and cleanup.marked and cleanup.marked.warned_days:
        return f".{cleanup.marked.warned_days[-1]}{repeats}"
    undo = UNDO.search(cleanup.undo_execution or "")
    number = f".{undo[1]}" if undo and what in {"failed", "undone"} else ""
    return f"{number}.{_digest(cleanup.why)}" if what == "failed" else number


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:8]
