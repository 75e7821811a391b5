"""Protocols that post to Slack, and the errors of posting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from slackwater.model.posts import Message, Post, Sent


class ChannelBusyError(Exception):
    """The channel wants to hear again after some seconds; nothing was posted."""

    def __init__(self, retry_after_s: float) -> None:
        """As the channel said."""
        super().__init__(f"asked to come again in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class ChannelRefusedError(Exception):
    """The channel refused a message, and said why, such as "channel_not_found"; nothing was posted."""


class DeliveryUnknownError(Exception):
    """A message was sent and not answered: whether it was posted is not known."""


class NotSlackError(Exception):
    """A request that is not Slack's, or not any more; the message says why in a line, and quotes nothing of it."""


class SignatureCheck(Protocol):
    """Checks that Slack signed a request."""

    def __call__(self, secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime:
        """Return when Slack signed the request, within five minutes of `now`. The names of `headers` are in lower case.

        Raises:
            NotSlackError: it is unsigned, tampered with, or too old.
        """
        ...


class Channel(Protocol):
    """Where messages are posted."""

    @property
    def can_look(self) -> bool:
        """Whether `find` and `update` work: a webhook can only speak."""
        ...

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message that carries the post's id where nobody sees it; into a thread, if one is named.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError
        """
        ...

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        """The message that carries the post's id, among those since `post.tried_at`; None where it was not posted.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError: it could not be looked at.
        """
        ...

    def update(self, sent: Sent, message: Message) -> None:
        """Put another message in the place of one that was posted.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError
        """
        ...


class Outbox(Protocol):
    """Keeps posts from before they are sent."""

    def record(self, posts: Sequence[Post]) -> None:
        """Store posts that are new; one that is there already stays as it is."""
        ...

    def get(self, id: str) -> Post | None:
        """One post as it is now."""
        ...

    def waiting(self) -> Iterable[Post]:
        """Posts that are pending or sending, as they are now, in the order in which they were recorded."""
        ...

    def write(self, post: Post) -> bool:
        """Store a post whose revision is one more than what is stored; False, and nothing stored, where it is not."""
        ...
