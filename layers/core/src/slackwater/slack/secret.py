"""Parses Slack's secret, which Secrets Manager stores as JSON."""

import json
import re
from typing import Final

from slackwater.model.slack_secret import SlackSecret

BOT_TOKEN: Final = re.compile(r"xoxb-[A-Za-z0-9-]+")
SIGNING_SECRET: Final = re.compile(r"[A-Za-z0-9-]{8,}")
WEBHOOK_URL: Final = re.compile(
    r"https://[A-Za-z0-9.-]+(:\d+)?/[A-Za-z0-9/._~-]+|http://127\.0\.0\.1:\d+/[A-Za-z0-9/._~-]+"
)
"""A URL on this machine, as in tests, may be plain HTTP."""


class SecretError(Exception):
    """The secret is not a valid secret for Slack. The message names the key, but no value."""


def parse(text: str) -> SlackSecret:
    """Return the secret from `{"bot_token", "signing_secret"}` or `{"webhook_url"}`.

    An empty value counts as missing. Other keys are ignored.

    Raises:
        SecretError: The text has neither of the two forms, or both.
    """
    try:
        keys = json.loads(text)
    except ValueError:
        raise SecretError("Slack's secret is not JSON") from None  # the cause's message might quote the secret
    if not isinstance(keys, dict):
        raise SecretError("Slack's secret is not a JSON object")
    token = _value(keys, "bot_token", BOT_TOKEN, "begins with xoxb- (a user's token, xoxp-, will not do)")
    signing = _value(
        keys, "signing_secret", SIGNING_SECRET, "is on the app's page “Basic Information”, letters and digits"
    )
    url = _value(keys, "webhook_url", WEBHOOK_URL, "begins with https://hooks.slack.com/")
    if token and url:
        raise SecretError("Slack's secret has both bot_token and webhook_url: leave one of them out")
    if token and not signing:
        raise SecretError("Slack's secret lacks signing_secret, without which nobody may press the bot's buttons")
    if not token and not url:
        raise SecretError("Slack's secret has neither bot_token nor webhook_url")
    return SlackSecret(bot_token=token, signing_secret=signing, webhook_url=url)


def _value(keys: dict[str, object], key: str, pattern: re.Pattern[str], remedy: str) -> str | None:
    value = keys.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SecretError(f"{key} in Slack's secret is not one: it {remedy}")
    return value
