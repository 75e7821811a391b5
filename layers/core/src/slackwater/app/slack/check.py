"""Checks the Slack setup step by step, says how to fix it, and finally posts a test message."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final, Literal, Protocol

from slackwater.model.policy import SlackSection
from slackwater.model.posts import Message, Post, Sent
from slackwater.model.slack_secret import SlackSecret
from slackwater.ports.clock import Clock
from slackwater.ports.slack import Channel, ChannelBusyError, ChannelRefusedError, DeliveryUnknownError

PAGE: Final = "docs/slack.md"

SCOPES: Final[Mapping[str, str]] = {
    "chat:write": "to post, and to change what was posted",
    "commands": "for /slackwater",
    "channels:history": "to check whether a post arrived if Slack's answer was lost",
    "groups:history": "the same in private channels",
}
"""The scopes of the manifest, and what each is for."""

TEXT: Final = "Slackwater can post here. This is a test: nothing was audited."

ENDPOINT: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "it does not know this signing secret yet: a changed one holds after five minutes",
    HTTPStatus.NOT_FOUND: "there is none: deploy with --parameter-overrides SlackSecretArn=…",
}

WEBHOOK_GONE: Final = "the webhook is gone: make another, and put its address into the secret"

REMEDIES: Final[Mapping[str, str]] = {
    "invalid_auth": "the bot token is not good: copy it from the app's page “OAuth & Permissions” into the secret",
    "not_authed": "the bot token is not good: copy it from the app's page “OAuth & Permissions” into the secret",
    "account_inactive": (
        "the app was taken out of the workspace: install it again, and put the new token into the secret"
    ),
    "token_revoked": "the token was revoked: install the app again, and put the new token into the secret",
    "channel_not_found": (
        "there is no such channel, or it is private and the bot is not in it: write /invite @Slackwater there"
    ),
    "not_in_channel": "the bot is not in it: write /invite @Slackwater there",
    "is_archived": "it is archived: choose another, or bring it back",
    "channel_is_archived": "it is archived: choose another, or bring it back",
    **dict.fromkeys(("invalid_token", "no_active_hooks", "no_service", "no_team"), WEBHOOK_GONE),
    "action_prohibited": "somebody restricted the webhook: the workspace's admins can allow it",
    "missing_scope": "the token lacks a scope: take over the manifest of now, and install the app again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The result of one check: "good", "bad" (Slack does not work), or a "note" about a possible mistake."""

    what: str
    state: Literal["good", "bad", "note"]
    said: str


class Bot(Channel, Protocol):
    """A Channel that can also call other methods of the Web API."""

    def call(self, method: str, **asked: Any) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Call a method of the Web API, and return its response and headers.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackCheck:
    """Checks the Slack setup, with the adapters that this needs.

    Attributes:
        bot: Returns the channel of a bot token.
        webhook: Returns the channel of a webhook's URL.
        check_endpoint: Sends the deployed endpoint a request signed with this secret, and returns the HTTP status.
    """

    secret: SlackSecret
    slack: SlackSection
    bot: Callable[[str], Bot]
    webhook: Callable[[str], Channel]
    check_endpoint: Callable[[str], int]
    clock: Clock

    def steps(self, only: str | None = None) -> Iterator[Step]:
        """Yield the result of each check. Stops early if the other checks would fail for the same reason.

        Args:
            only: The id of a channel to check and to post to; None checks the policy's channels.
        """
        if self.secret.bot_token and self.secret.signing_secret:
            yield Step(what="secret", state="good", said="it holds a bot token and a signing secret")
            yield from self._bot(self.bot(self.secret.bot_token), self.secret.signing_secret, only)
        else:
            yield Step(
                what="secret", state="good", said="it holds a webhook's address: digests without threads and buttons"
            )
            yield from self._posted(self.webhook(self.secret.webhook_url or ""), None)

    def _bot(self, bot: Bot, signing_secret: str, only: str | None) -> Iterator[Step]:
        with _steps("bot token") as steps:
            who, headers = bot.call("auth.test")
            steps.append(
                Step(what="bot token", state="good", said=f"it is {who.get('user')} of the workspace {who.get('team')}")
            )
            steps.append(_scopes(headers))
        yield from steps
        if steps[0].state == "bad":
            return
        yield self._endpoint(signing_secret)
        yield from self._people()
        named = [self.slack.channel, self.slack.fallback_channel, *(route.channel for route in self.slack.routes)]
        channels = [only] if only else list(dict.fromkeys(filter(None, named)))
        if not channels:
            yield Step(
                what="channel", state="bad", said='the policy names none: [slack] channel = "C…", or --channel for now'
            )
            return
        good = []
        for channel in channels:
            step = _member(bot, channel)
            good += [channel] if step.state == "good" else []
            yield step
        if good:
            yield from self._posted(bot, good[0])

    def _endpoint(self, signing_secret: str) -> Step:
        try:
            status = self.check_endpoint(signing_secret)
        except DeliveryUnknownError as error:
            return Step(what="endpoint", state="bad", said=f"{error}; is this machine kept from it?")
        if status == HTTPStatus.OK:
            detail = (
                "it takes what is signed with this secret; whether Slack signs with it, too, the first button will show"
            )
            return Step(what="endpoint", state="good", said=detail)
        detail = f"it answered {status}: the log of AcknowledgeFunction says why"
        return Step(what="endpoint", state="bad", said=ENDPOINT.get(status, detail))

    def _people(self) -> Iterator[Step]:
        for key, who, what in (
            ("deciders", self.slack.deciders, "snooze or dismiss by button"),
            ("auditors", self.slack.auditors, "start audits by /slackwater audit"),
        ):
            if not who:
                yield Step(what=f"slack.{key}", state="note", said=f"it is empty in the policy: nobody may {what}")

    def _posted(self, channel: Channel, id: str | None) -> Iterator[Step]:
        """Post a test message, and check that it can be found, as is done for a post whose response was lost."""
        now = self.clock()
        post = Post(
            id=f"test.{now:%Y%m%dT%H%M%S.%f}", audit_id="test", created_at=now, tried_at=now - timedelta(seconds=1),
            channel=id, thread_of=None, message=Message(text=TEXT),
        )  # fmt: skip
        sent: Sent | None = None
        with _steps("message") as steps:
            sent = channel.send(post, None)
            where = f"in {sent.channel}, at {sent.ts}" if sent.channel else "Slack took it; a webhook is not told more"
            steps.append(Step(what="message", state="good", said=f"it arrived: {where}"))
        yield from steps
        if sent is None or not channel.can_read:
            return
        with _steps("found again") as steps:
            if channel.find(post, None):
                steps.append(
                    Step(what="found again", state="good", said="a post whose answer is lost is still posted once")
                )
            else:
                detail = "not yet: Slack's history may lag for a moment. Try again; if it stays so, say it to us"
                steps.append(Step(what="found again", state="bad", said=detail))
        yield from steps


def _scopes(headers: Mapping[str, str]) -> Step:
    detail = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    if detail is None:
        return Step(what="scopes", state="note", said="Slack does not say which the token has")
    missing = [
        f"{scope} ({why})" for scope, why in SCOPES.items() if scope not in {one.strip() for one in detail.split(",")}
    ]
    if not missing:
        return Step(what="scopes", state="good", said=", ".join(SCOPES))
    remedy = "add them on the app's page “OAuth & Permissions”, and install the app again"
    return Step(what="scopes", state="bad", said=f"the token lacks {', '.join(missing)}: {remedy}")


def _member(bot: Bot, channel: str) -> Step:
    with _steps(f"channel {channel}") as steps:
        bot.call("conversations.history", channel=channel, limit=1)
        steps.append(Step(what=f"channel {channel}", state="good", said="the bot is in it"))
    return steps[0]


@contextmanager
def _steps(what: str) -> Iterator[list[Step]]:
    """Collect steps. If Slack fails, replace them with the reason, and what to do."""
    steps: list[Step] = []
    try:
        yield steps
    except ChannelBusyError as error:
        steps[:] = [Step(what=what, state="bad", said=str(error))]
    except ChannelRefusedError as error:
        remedy = REMEDIES.get(str(error), f"{PAGE} has a table of reasons")
        steps[:] = [Step(what=what, state="bad", said=f"Slack says {error}: {remedy}")]
    except DeliveryUnknownError as error:
        steps[:] = [Step(what=what, state="bad", said=f"Slack is out of reach: {error}")]
