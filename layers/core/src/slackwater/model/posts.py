"""What is said in Slack: messages, and posts, which are messages on their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

type Block = Mapping[str, Any]
"""A Block Kit block, as JSON has it."""

type PostState = Literal["pending", "sending", "sent", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What people see. `text` stands in for the blocks where they cannot be shown: in notifications, for screen readers."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """That Slack took a message, as it said itself.

    To a bot it names the channel's id and the message's time stamp there. A webhook tells neither, and answers "ok".
    """

    channel: str | None
    ts: str | None
    ok: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message on its way, recorded before it is sent.

    `audit_id` is None where it is no audit's to tell. `channel` None is the webhook's own, or the one that the policy names
    when it is sent; `thread_of` is the id of the post whose thread it belongs in. `findings` are those that its buttons are
    about. While it is "sending", nobody knows whether it has arrived: since `tried_at`, for the `attempts`th time. `not_before`
    is when Slack wants to hear again. `why` says what stood in the way last, or why it went elsewhere. `revision` counts the
    writes. It is tried until `until`, or for a day where that is None. `sent_at` is when it was recorded that Slack took it.
    `nowhere` says that there is no channel that it could go to, `withdrawn` that it is not to be sent any more: what it says is
    not so now.
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
        """Whether it is neither sent nor failed."""
        return self.state in {"pending", "sending"}

    @property
    def delivered_at(self) -> datetime | None:
        """When Slack took it, at the latest; None while Slack has not said that it did."""
        if self.state != "sent" or self.sent is None or not (self.sent.ts or self.sent.ok):
            return None
        return self.sent_at or self.tried_at  # a post of before there was `sent_at` was tried just before
