"""Checks that a request is from Slack: its signature over the raw body, made with the app's signing secret.

slack_sdk calculates the signature and compares it in constant time. It does not check the format of the headers, so
this module checks that first. Importing slack_sdk takes 0.1 s of a cold start, most of which the modal's client needs
anyway.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from slack_sdk.signature import Clock, SignatureVerifier

from slackwater.ports.slack import NotSlackError

WINDOW_S: Final = 300
"""How many seconds a request's timestamp may differ from now, in either direction."""

TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")


def check(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime:
    """Return when Slack signed a request, if within five minutes of `now`. The names in `headers` are in lower case.

    Raises:
        NotSlackError: The request is unsigned, tampered with or too old, or its timestamp is invalid.
    """
    timestamp, signature = headers.get("x-slack-request-timestamp"), headers.get("x-slack-signature")
    if not timestamp or not signature:
        raise NotSlackError("the request is not signed")
    if not TIMESTAMP.fullmatch(timestamp):
        raise NotSlackError("the request's time stamp is no time")
    if abs(now.timestamp() - int(timestamp)) > WINDOW_S:
        raise NotSlackError(f"the request is not from within {WINDOW_S // 60} minutes of now")
    if not SIGNATURE.fullmatch(signature) or not _signed(secret, timestamp, signature, body, now):
        raise NotSlackError("the signature does not fit the request")
    return datetime.fromtimestamp(int(timestamp), UTC)


def _signed(secret: str, timestamp: str, signature: str, body: bytes, now: datetime) -> bool:
    try:
        text = body.decode()
    except UnicodeDecodeError:  # a form is ASCII
        return False
    return SignatureVerifier(secret, _Stopped(now)).is_valid(text, timestamp, signature)


class _Stopped(Clock):
    """A fixed clock for slack_sdk."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> float:
        return self._at.timestamp()
