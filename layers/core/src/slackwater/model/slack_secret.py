"""The Slack secrets of an installation."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSecret:
    """A bot's token with Slack's signing secret, or the URL of a webhook."""

    bot_token: str | None = field(default=None, repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    webhook_url: str | None = field(default=None, repr=False)
