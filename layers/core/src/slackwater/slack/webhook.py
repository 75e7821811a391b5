"""Slack by an address that takes a message and tells next to nothing: an incoming webhook, or where a press is
answered.
"""

from dataclasses import replace
from typing import Any, Final

from slack_sdk.webhook import WebhookClient

from slackwater.model.posts import Message, Post, Sent
from slackwater.ports.slack import ChannelRefusedError
from slackwater.slack.error_mapping import QUIET, TIMEOUT_S, error_for, understood

OK: Final = "ok"
"""What Slack answers to a webhook whose message it took.

A proxy that answers something else does not count as Slack.
"""


class WebhookChannel:
    """The Channel of an incoming webhook, which has one of its own: no threads, no buttons, no looking back."""

    can_read: Final = False

    def __init__(self, url: str, *, timeout_s: int = TIMEOUT_S) -> None:
        """Makes no call."""
        self._url = url
        self._timeout_s = timeout_s

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message; into a thread it cannot.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError
        """
        if thread:
            raise ChannelRefusedError("a webhook has no threads")
        answer = _post(
            self._url, self._timeout_s, _without_buttons(post.message), unfurl_links=False, unfurl_media=False
        )
        return Sent(channel=None, ts=None, ok=answer == OK)

    def find(self, post: Post, thread: Sent | None) -> Sent | None:  # noqa: ARG002 -- as the port has it
        """Nobody can.

        Raises:
            ChannelRefusedError: always.
        """
        raise ChannelRefusedError(f"a webhook cannot look for {post.id}")

    def update(self, sent: Sent, message: Message) -> None:  # noqa: ARG002 -- as the port has it
        """Nobody can.

        Raises:
            ChannelRefusedError: always.
        """
        raise ChannelRefusedError("a webhook cannot change a message")


def respond(url: str, message: Message, *, timeout_s: int = TIMEOUT_S) -> None:
    """Answer whoever pressed a button or gave a command, at its `response_url`, where only they see it.

    Raises:
        ChannelBusyError, ChannelRefusedError, NobodyKnowsError
    """
    _post(url, timeout_s, message, response_type="ephemeral", replace_original=False)


def _without_buttons(message: Message) -> Message:
    """The message as far as a webhook has use for it: nobody hears what is pressed there."""
    return replace(message, blocks=tuple(block for block in message.blocks if block["type"] != "actions"))


def _post(url: str, timeout_s: int, message: Message, **how: Any) -> str:
    """Send a message; what was answered. Anything but a refusal counts as sent, so that it is not sent twice."""
    blocks = [dict(block) for block in message.blocks] or None
    with understood():
        client = WebhookClient(url, timeout_s, retry_handlers=[], logger=QUIET)
        client.proxy = None  # as for a bot
        answer = client.send(text=message.text, blocks=blocks, **how)
    body = answer.body.strip()
    if not 200 <= answer.status_code < 300:
        raise error_for(answer.status_code, body, answer.headers)
    return body
