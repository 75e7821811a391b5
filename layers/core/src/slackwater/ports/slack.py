"""Protocols that post to Slack, and their errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from slackwater.model.posts import Message, Post, Sent


class ChannelBusyError(Exception):
    """Slack throttles the channel. Nothing was posted."""

    def __init__(self, retry_after_s: float) -> None:
        """Create the error with the seconds to wait, as Slack stated them."""
        super().__init__(f"Slack is throttling: retry in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class ChannelRefusedError(Exception):
    """Slack refused a message, with a reason such as "channel_not_found". Nothing was posted."""


class DeliveryUnknownError(Exception):
    """Slack did not answer a request. It is unknown whether the message was posted."""


class NotSlackError(Exception):
    """A request is not from Slack, or too old. The error text is one line and does not quote the request."""


class SignatureCheck(Protocol):
    """Checks Slack's signature of a request."""

    def __call__(self, secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime:
        """Return when Slack signed the request, if within five minutes of `now`. Names in `headers` are in lower case.

        Raises:
            NotSlackError: The request is unsigned, tampered with, or too old.
        """
        ...


class Channel(Protocol):
    """Posts messages."""

    @property
    def can_read(self) -> bool:
        """Whether `find` and `update` work. A webhook can only send."""
        ...

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message, with the post's id in its hidden metadata; in a thread if one is given.

        Raises:
            ChannelBusyError: Nothing was posted; try again later.
            ChannelRefusedError: Nothing was posted.
            DeliveryUnknownError: It may have been posted.
        """
        ...

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        """Return the message with the post's id, among those since `post.tried_at`; None if it was not posted.

        Raises:
            ChannelBusyError: Try again later.
            ChannelRefusedError: Slack does not allow reading the channel.
            DeliveryUnknownError: Slack did not answer.
        """
        ...

    def update(self, sent: Sent, message: Message) -> None:
        """Replace a posted message.

        Raises:
            ChannelBusyError: Nothing was changed; try again later.
            ChannelRefusedError: Nothing was changed.
            DeliveryUnknownError: It may have been changed.
        """
        ...


class Outbox(Protocol):
    """Stores posts before they are sent."""

    def record(self, posts: Sequence[Post]) -> None:
        """Store new posts. One that is already stored does not change."""
        ...

    def get(self, id: str) -> Post | None:
        """Return one post as it is now."""
        ...

    def waiting(self) -> Iterable[Post]:
        """Return posts that are pending or sending, as they are now, in the order in which they were recorded."""
        ...

    def write(self, post: Post) -> bool:
        """Store a post if its revision is one more than the stored one; else return False and store nothing."""
        ...
