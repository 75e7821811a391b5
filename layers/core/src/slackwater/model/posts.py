"""Slack messages, and posts, which are messages to send."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

type Block = Mapping[str, Any]
"""A Block Kit block as a JSON object."""

type PostState = Literal["pending", "sending", "sent", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What people see. `text` replaces the blocks where Slack cannot show them, such as in notifications."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Slack's confirmation that it has received a message.

    A bot gets the channel's id and the message's time stamp. A webhook only gets "ok".
    """

    channel: str | None
    ts: str | None
    ok: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message to send, recorded before it is sent.

    Attributes:
        audit_id: The audit that it reports; None if it reports none.
        channel: The channel's id; None means the webhook's own channel, or the policy's channel when it is sent.
        thread_of: The id of the post whose thread it belongs to.
        findings: The findings that its buttons act on.
        state: While it is "sending", it is unknown whether Slack has received it.
        attempts: How many times Slackwater has tried to send it.
        tried_at: When Slackwater last tried to send it.
        not_before: When Slack allows the next attempt.
        why: What prevented the last attempt, or why it went to another channel.
        revision: The number of writes.
        until: Until when to try; None means for a day.
        sent_at: When Slack's confirmation was recorded.
        nowhere: Whether there is no channel to send it to.
        withdrawn: Whether it must not be sent any more, because its content is outdated.
    """

    id: str
    audit_id: str | None
    created_at: datetime
    channel: str | None
    thread_of: str | None
    message: Message
    findings: tuple[str, ...] = ()
    state: PostState = "pending"
    attempts: int = 0
    tried_at: datetime | None = None
    not_before: datetime | None = None
    sent: Sent | None = None
    why: str | None = None
    revision: int = 0
    until: datetime | None = None
    sent_at: datetime | None = None
    nowhere: bool = False
    withdrawn: bool = False

    @property
    def waits(self) -> bool:
        """Whether it still has to be sent: it is neither sent nor failed."""
        return self.state in {"pending", "sending"}

    @property
    def delivered_at(self) -> datetime | None:
        """When Slack confirmed it, at the latest; None without a confirmation."""
        if self.state != "sent" or self.sent is None or not (self.sent.ts or self.sent.ok):
            return None
        return self.sent_at or self.tried_at  # older versions stored no `sent_at`; `tried_at` is just before it
