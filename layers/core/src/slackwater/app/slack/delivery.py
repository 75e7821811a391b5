"""Delivers posts: each is posted once, or reported as failed.

Everything can run again after a crash at any step, and twice at the same time. Each step of a post is a conditional
write. If Slack did not answer, the post is looked for before it is sent again. The process that writes "sending" sends
immediately or not at all. Other processes wait until its request must have ended.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.model.posts import Message, Post, Sent
from slackwater.ports.clock import Clock
from slackwater.ports.slack import Channel, ChannelBusyError, ChannelRefusedError, DeliveryUnknownError, Outbox
from slackwater.views.slack.blocks import note

AT_ONCE: Final = timedelta(seconds=20)
"""A process that took longer to write "sending" does not send, because its request might not end before UNANSWERED."""

UNANSWERED: Final = timedelta(seconds=60)
"""How long after a send without an answer the post is looked for. No request takes that long."""
DOUBLED: Final = 5
DOUBLED_FOR_DAYS: Final = 8
"""How many attempts double that time. DOUBLED_FOR_DAYS is for a post with its own time limit, which is tried for days.
It is sent less often in the end, because a webhook without an answer may have posted it each time.
"""

LOOK_AGAIN: Final = timedelta(seconds=60)
RETRY_AFTER_FIX: Final = timedelta(seconds=300)
"""The time before the next attempt: if the channel could not be read, and if somebody must fix something first."""

BUSY_S: Final = 300
"""The longest wait for a busy channel, after 1, 2, 4 … seconds."""

GIVEN_UP: Final = timedelta(hours=24)
"""How long a post is tried, unless it has its own time limit. The first attempt that fails after that is the last."""
LEAST_TRIES: Final = 3
"""How many attempts a post has at least, even if the first comes after that time."""

AT_WORK: Final = timedelta(seconds=60)
"""How long one run starts new posts. The function's own time limit is three times that."""

SEND_INTERVAL_S: Final = 1.0
"""Slack accepts one message a second in a channel."""

LONGEST_WAIT_S: Final = 900

WITHDRAWN: Final = "it was withdrawn, because it is no longer true"

LONG_WAIT: Final = timedelta(hours=1)
LEAST_WAIT_S: Final = 900
"""The shortest wait, in seconds, for a post that has waited for LONG_WAIT. The state machine then loops 96 times a day
for each audit with waiting posts. It can loop 1,500 times at most.
"""

CHANNEL_REFUSALS: Final = frozenset(
    {
        "access_denied",
        "channel_is_archived",
        "channel_is_limited_access",
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    }
)
"""Refusals that do not occur in another channel."""

FIXABLE_REFUSALS: Final = frozenset(
    {
        "access_limited",
        "accesslimited",
        "account_inactive",
        "action_prohibited",
        "ekm_access_denied",
        "invalid_auth",
        "invalid_token",
        "missing_scope",
        "no_active_hooks",
        "no_service",
        "no_team",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "team_added_to_org",
        "token_expired",
        "token_revoked",
    }
)
"""Refusals that are not about the post: somebody must fix the token, the webhook or the workspace."""

INVITE_REFUSALS: Final = frozenset({"channel_not_found", "not_in_channel"})
"""Refusals that end once the bot is invited. If there is no other channel, the post waits for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notified:
    """The result of a run.

    Attributes:
        waiting: How many posts of the audit (or of none) wait.
        wait_s: Seconds until the next is due; 0 if none waits.
        troubles: Lines about posts, of any audit, that failed, or that wait until somebody fixes something.
    """

    waiting: int
    wait_s: int
    troubles: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One run over all waiting posts.

    Attributes:
        default: The channel of a bot's posts that name none.
        ends: After this time, posts are left to the next run.
        due: The times at which waiting posts can continue.
        busy: The times at which busy channels can continue.
    """

    outbox: Outbox
    channel: Channel
    fallback: str | None
    clock: Clock
    sleep: Callable[[float], None]
    default: str | None = None
    troubles: list[str] = field(default_factory=list)
    due: list[datetime] = field(default_factory=list)
    busy: dict[str | None, datetime] = field(default_factory=dict)
    ends: datetime = field(init=False)

    def deliver(self, audit_id: str | None, recorded: Sequence[str] = ()) -> Notified:
        """Try each waiting post once, the oldest first, and return how many posts of this audit still wait.

        Posts of other audits come first. The result does not count them, because those audits have their own runs.

        Args:
            audit_id: The audit; None counts the posts that belong to no audit.
            recorded: Ids of posts that were recorded just now. The outbox may not list them yet.
        """
        self.ends = self._now + AT_WORK
        listed = [post for post in self.outbox.waiting() if post.id not in recorded]
        mine = [post for post in map(self.outbox.get, recorded) if post and post.waits]
        self._process_all(post for post in listed if post.audit_id != audit_id)
        self.due.clear()
        waiting = self._process_all([*(post for post in listed if post.audit_id == audit_id), *mine])
        return Notified(waiting=len(waiting), wait_s=self._wait_s(waiting), troubles=tuple(self.troubles))

    def _process_all(self, posts: Iterable[Post]) -> list[Post]:
        """Try posts, and return those that still wait."""
        waiting: list[Post] = []
        for post in posts:
            try:
                waits = self._waits_until(self._now) if self._now >= self.ends else self._process(post)
            except Exception as error:  # noqa: BLE001 -- one bad post must not delay the others
                self.troubles.append(f"{post.id}: {type(error).__name__}: {error}")
                waits = self._waits_until(self._now + LOOK_AGAIN)
            waiting += [post] if waits else []
        return waiting

    def _wait_s(self, waiting: Sequence[Post]) -> int:
        if not waiting:
            return 0
        now = self._now
        least = LEAST_WAIT_S if now - min(post.created_at for post in waiting) > LONG_WAIT else 1
        return min(max(math.ceil((min(self.due, default=now) - now).total_seconds()), least), LONGEST_WAIT_S)

    @property
    def _now(self) -> datetime:
        return self.clock()

    def _process(self, post: Post) -> bool:
        """Process a post as far as possible now; return whether it still waits."""
        thread: Sent | None = None
        if post.thread_of:
            of, before = self.outbox.get(post.thread_of), self.outbox.get(_previous_id(post))
            if of is None or of.state == "failed":
                return self._fail(post, "its digest was not posted")
            if of.sent is None or (before and before.waits):
                return True
            thread = of.sent
        return self._find_or_resend(post, thread) if post.state == "sending" else self._send_if_due(post, thread)

    def _find_or_resend(self, post: Post, thread: Sent | None) -> bool:
        """Look for a post whose send had no answer; return whether it waits.

        Sends it again if it is missing, or if the channel cannot be read, as with a webhook.
        """
        due = max((post.tried_at or post.created_at) + _unanswered(post), post.not_before or post.created_at)
        if due > self._now:
            return self._waits_until(due)
        if not self.channel.can_read:
            return self._resend(post, thread)
        try:
            sent = self.channel.find(post, thread)
        except ChannelBusyError as error:
            return self._retry_later(post, max(timedelta(seconds=error.retry_after_s), LOOK_AGAIN), str(error))
        except (ChannelRefusedError, DeliveryUnknownError) as error:
            return self._retry_find(post, error)
        return self._arrived(post, sent) if sent else self._resend(post, thread)

    def _retry_find(self, post: Post, error: ChannelRefusedError | DeliveryUnknownError) -> bool:
        """Look again later, until the post is given up. Sending it again without looking might post it twice."""
        why = f"nobody can look whether it was posted: {error}"
        if self._now - (post.tried_at or post.created_at) > _longest_wait(post):
            return self._fail(post, why)
        if isinstance(error, DeliveryUnknownError):
            return self._retry_later(post, LOOK_AGAIN, why)
        self.troubles.append(f"{post.id}: {why}")
        return self._retry_later(post, RETRY_AFTER_FIX, why)

    def _resend(self, post: Post, thread: Sent | None) -> bool:
        """Send a post of unknown delivery again, unless that was its last attempt."""
        last = _was_last_attempt(post) and not post.withdrawn
        return self._give_up(post, post.why or "it was not answered") if last else self._send_if_due(post, thread)

    def _send_if_due(self, post: Post, thread: Sent | None) -> bool:
        """Send a post that was not posted, unless it is too early, or it was withdrawn."""
        if post.withdrawn:
            return self._drop_withdrawn(post)
        now = self._now
        channel = thread.channel if thread else post.channel or self.default
        if channel is None and self.channel.can_read:
            return self._wait_for_channel(post)
        due = max(post.not_before or now, self.busy.get(channel, now))
        if due > now:
            return self._waits_until(due)
        taken = self._store(
            replace(
                post,
                channel=channel,
                state="sending",
                attempts=post.attempts + 1,
                tried_at=now,
                not_before=None,
                nowhere=False,
            )
        )
        if taken is None:
            return self._leave_to_other_run()
        if self._now - now > AT_ONCE:
            return self._waits_until(now + _unanswered(taken))
        return self._send_claimed(taken, thread, now)

    def _send_claimed(self, taken: Post, thread: Sent | None, tried_at: datetime) -> bool:
        """Send a post that is recorded as "sending", and record the result."""
        try:
            sent = self.channel.send(taken, thread)
        except ChannelBusyError as error:
            return self._wait_for_busy_channel(taken, error)
        except ChannelRefusedError as error:
            return self._refused(taken, str(error))
        except DeliveryUnknownError as error:
            self._store(replace(taken, why=f"it is unknown whether it was posted: {error}"))
            return self._waits_until(tried_at + _unanswered(taken))
        return self._arrived(taken, sent)

    def _wait_for_busy_channel(self, taken: Post, error: ChannelBusyError) -> bool:
        """Wait as long as Slack asks, and longer after each attempt."""
        if _was_last_attempt(taken):
            return self._give_up(taken, str(error))
        earlier_attempts = taken.attempts - 1
        pause = timedelta(seconds=max(error.retry_after_s, min(2 ** min(earlier_attempts, 20), BUSY_S)))
        self.busy[taken.channel] = self._now + pause
        return self._retry_later(replace(taken, state="pending"), pause, str(error))

    def _drop_withdrawn(self, post: Post) -> bool:
        dropped = self._store(replace(post, state="failed", why=WITHDRAWN, not_before=None))
        return self._leave_to_other_run() if dropped is None else False

    def _wait_for_channel(self, post: Post) -> bool:
        """Wait until the policy names a channel, or until the post is given up."""
        why = "the policy names no channel; set slack.channel"
        post = replace(post, nowhere=True)
        if self._now - post.created_at > _longest_wait(post):
            return self._fail(post, why)
        self.troubles.append(f"{post.id}: {why}")
        return self._retry_later(post, RETRY_AFTER_FIX, why)

    def _refused(self, post: Post, reason: str) -> bool:
        if (
            reason in CHANNEL_REFUSALS
            and self.fallback
            and not post.thread_of
            and post.channel not in {None, self.fallback}
        ):
            moved = self._store(_moved(post, self.fallback, reason))
            return self._send_if_due(moved, None) if moved else self._leave_to_other_run()
        why = reason if post.why is None else post.why if reason in post.why else f"{post.why}; {reason}"
        if reason in FIXABLE_REFUSALS | INVITE_REFUSALS and not _was_last_attempt(post):
            self.troubles.append(f"{post.id}: Slack refused it, and will be asked again: {reason}")
            return self._retry_later(replace(post, state="pending"), RETRY_AFTER_FIX, why)
        return self._fail(post, why)

    def _arrived(self, post: Post, sent: Sent) -> bool:
        if self._store(replace(post, state="sent", sent=sent, sent_at=self._now, not_before=None)) is None:
            return self._leave_to_other_run()
        self.sleep(SEND_INTERVAL_S)
        return False

    def _give_up(self, post: Post, why: str) -> bool:
        return self._fail(post, f"given up after {post.attempts} tries: {why}")

    def _fail(self, post: Post, why: str) -> bool:
        if self._store(replace(post, state="failed", why=why, not_before=None)) is None:
            return self._leave_to_other_run()
        self.troubles.append(f"{post.id}: not posted to {post.channel or 'the webhook'}: {why}")
        return False

    def _retry_later(self, post: Post, pause: timedelta, why: str) -> bool:
        due = self._now + pause
        if self._store(replace(post, not_before=due, why=why)) is None:
            return self._leave_to_other_run()
        return self._waits_until(due)

    def _leave_to_other_run(self) -> bool:
        """Leave a post to another run, which has changed it in the meantime."""
        return self._waits_until(self._now + UNANSWERED)

    def _waits_until(self, due: datetime) -> bool:
        self.due.append(due)
        return True

    def _store(self, post: Post) -> Post | None:
        """Store a post and return it; None if another run was faster."""
        stored = replace(post, revision=post.revision + 1)
        return stored if self.outbox.write(stored) else None


def _was_last_attempt(post: Post) -> bool:
    """Return whether a failed attempt was late enough to be the last."""
    tried_at = post.tried_at or post.created_at
    return post.attempts >= LEAST_TRIES and tried_at - post.created_at > _longest_wait(post)


def _longest_wait(post: Post) -> timedelta:
    """Return how long a post is tried."""
    return post.until - post.created_at if post.until else GIVEN_UP


def _previous_id(post: Post) -> str:
    """Return the id of the post before this one in its thread."""
    prefix, _, n = post.id.rpartition(".")
    return f"{prefix}.{int(n) - 1}"


def _unanswered(post: Post) -> timedelta:
    most = DOUBLED_FOR_DAYS if post.until else DOUBLED
    return timedelta(seconds=UNANSWERED.total_seconds() * 2 ** min(max(post.attempts - 1, 0), most))


def _moved(post: Post, channel: str, reason: str) -> Post:
    """Return a post for another channel. Its text names the channel that it was meant for."""
    line = f"This is for <#{post.channel}> (`{post.channel}`), which did not take it: `{reason}`"
    message = Message(text=f"{line}\n{post.message.text}", blocks=(note(line), *post.message.blocks))
    return replace(
        post, channel=channel, message=message, state="pending", why=f"{post.channel} did not take it: {reason}"
    )
