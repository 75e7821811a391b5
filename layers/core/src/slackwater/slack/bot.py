"""Posts to Slack with a bot token, and finds and changes messages that the bot has posted."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from slackwater.model.posts import Message, Post, Sent
from slackwater.ports.slack import ChannelRefusedError, DeliveryUnknownError
from slackwater.slack.error_mapping import QUIET, TIMEOUT_S, understood

API_URL: Final = "https://slack.com/api/"

OURS: Final = "slackwater_post"
"""The type of the message metadata that has a post's id."""

SKEW: Final = timedelta(minutes=5)
"""How far Slackwater's clock may be ahead of Slack's."""

A_PAGE: Final = 200
"""Messages per page: the most that Slack recommends."""
MOST_PAGES: Final = 50


class BotChannel:
    """The Channel of an app that is a member of the channels that it posts to. Thread-safe. Does not retry."""

    can_read: Final = True

    def __init__(self, token: str, *, base_url: str | None = None, timeout_s: int = TIMEOUT_S) -> None:
        """Create the client. Makes no call. `base_url` replaces Slack's own."""
        self._client = WebClient(token, base_url or API_URL, timeout_s, retry_handlers=[], logger=QUIET)
        self._client.proxy = None  # slack_sdk's own proxy setting ignores NO_PROXY, which urllib respects

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message, with the post's id in its metadata; in a thread if one is given.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        channel = _channel(post, thread)
        with understood():
            answer = self._client.chat_postMessage(
                channel=channel,
                text=post.message.text,
                blocks=[dict(block) for block in post.message.blocks] or None,
                thread_ts=thread.ts if thread else None,
                metadata={"event_type": OURS, "event_payload": {"id": post.id}},
                unfurl_links=False,
                unfurl_media=False,
            )
            data = _data(answer)
            return Sent(channel=str(data["channel"]), ts=str(data["ts"]))

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        """Return the oldest message with the post's id, from five minutes before `post.tried_at` on; None if there is
        none.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError: The channel could not be read.
        """
        channel = _channel(post, thread)
        since = (post.tried_at or post.created_at) - SKEW
        asked: dict[str, Any] = {"channel": channel, "oldest": f"{since.timestamp():.6f}", "include_all_metadata": True}
        found = [message["ts"] for message in self._messages(asked, thread) if _id(message) == post.id]
        return Sent(channel=channel, ts=min(found)) if found else None

    def update(self, sent: Sent, message: Message) -> None:
        """Replace a posted message. Its metadata stays the same.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        with understood():
            self._client.chat_update(
                channel=sent.channel or "",
                ts=sent.ts or "",
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
            )

    def open_modal(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Open a modal for the person who pressed a button less than three seconds ago.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        with understood():
            self._client.views_open(trigger_id=trigger_id, view=dict(view))

    def call(self, method: str, **asked: Any) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Call another method of the Web API that only reads, and return its response and headers.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        with understood():
            answer = self._client.api_call(method, params=asked)
            return _data(answer), answer.headers

    def _messages(self, asked: dict[str, Any], thread: Sent | None) -> Iterator[Mapping[str, Any]]:
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            with understood():
                if thread:
                    answer = self._client.conversations_replies(
                        **asked, ts=thread.ts or "", limit=A_PAGE, cursor=cursor
                    )
                else:
                    answer = self._client.conversations_history(**asked, limit=A_PAGE, cursor=cursor)
                data = _data(answer)
                messages: list[Mapping[str, Any]] = list(data["messages"])
                cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
                if data.get("has_more") and not cursor:
                    raise LookupError("next_cursor")
            yield from messages
            if not cursor:
                return
        raise DeliveryUnknownError(f"more than {MOST_PAGES * A_PAGE} messages to look through")


def _channel(post: Post, thread: Sent | None) -> str:
    channel = thread.channel if thread else post.channel
    if channel is None:
        raise ChannelRefusedError("no channel is named")
    return channel


def _data(answer: SlackResponse) -> dict[str, Any]:
    data: Any = answer.data
    return dict(data)


def _id(message: Mapping[str, Any]) -> object:
    """Return the id of the post in a message's metadata; None if Slackwater did not post the message."""
    match message.get("metadata"):
        case {"event_type": str(kind), "event_payload": {"id": id}} if kind == OURS:
            return id
    return None
