"""Posts to Slack at a URL that accepts a message and returns hardly anything: an incoming webhook, or the response URL
of a button or command.
"""

from dataclasses import replace
from typing import Any, Final

from slack_sdk.webhook import WebhookClient

from slackwater.model.posts import Message, Post, Sent
from slackwater.ports.slack import ChannelRefusedError
from slackwater.slack.error_mapping import QUIET, TIMEOUT_S, error_for, understood

OK: Final = "ok"
"""Slack's response to a webhook whose message it accepted. Another text, such as a proxy's, does not count as that."""


class WebhookChannel:
    """The Channel of an incoming webhook, which posts to a fixed channel. It has no threads and no buttons, and cannot
    read messages.
    """

    can_read: Final = False

    def __init__(self, url: str, *, timeout_s: int = TIMEOUT_S) -> None:
        """Create the client. Makes no call."""
        self._url = url
        self._timeout_s = timeout_s

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message without its buttons. Refuses a message for a thread.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        if thread:
            raise ChannelRefusedError("a webhook has no threads")
        answer = _post(
            self._url, self._timeout_s, _without_buttons(post.message), unfurl_links=False, unfurl_media=False
        )
        return Sent(channel=None, ts=None, ok=answer == OK)

    def find(self, post: Post, thread: Sent | None) -> Sent | None:  # noqa: ARG002 -- the port defines it
        """Refuse: a webhook cannot read messages.

        Raises:
            ChannelRefusedError: Always.
        """
        raise ChannelRefusedError(f"a webhook cannot look for {post.id}")

    def update(self, sent: Sent, message: Message) -> None:  # noqa: ARG002 -- the port defines it
        """Refuse: a webhook cannot change messages.

        Raises:
            ChannelRefusedError: Always.
        """
        raise ChannelRefusedError("a webhook cannot change a message")


def respond(url: str, message: Message, *, timeout_s: int = TIMEOUT_S) -> None:
    """Answer the person who pressed a button or gave a command, at its `response_url`. Only they see the answer.

    Raises:
        ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
    """
    _post(url, timeout_s, message, response_type="ephemeral", replace_original=False)


def _without_buttons(message: Message) -> Message:
    """Return the message without its buttons: Slackwater does not receive presses of a webhook's buttons."""
    return replace(message, blocks=tuple(block for block in message.blocks if block["type"] != "actions"))


def _post(url: str, timeout_s: int, message: Message, **how: Any) -> str:
    """Send a message, and return the response. Any 2xx response counts as sent, so that nothing is sent twice."""
    blocks = [dict(block) for block in message.blocks] or None
    with understood():
        client = WebhookClient(url, timeout_s, retry_handlers=[], logger=QUIET)
        client.proxy = None  # as in `BotChannel`
        answer = client.send(text=message.text, blocks=blocks, **how)
    body = answer.body.strip()
    if not 200 <= answer.status_code < 300:
        raise error_for(answer.status_code, body, answer.headers)
    return body
