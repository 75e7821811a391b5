"""Whether a request is Slack's: its signature over the raw body, by an app's signing secret.

slack_sdk computes and compares it, in constant time; what it takes for granted of the headers is checked here first.
Importing slack_sdk takes a tenth of a second of a cold start, of which the modal's client needs most anyway.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from slack_sdk.signature import Clock, SignatureVerifier

from slackwater.ports.slack import NotSlackError

WINDOW_S: Final = 300
"""How far a request's time stamp may be from now, either way."""

TIMESTAMP: Final = re.compile(r"[0-9]{1,12}")
SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}")


def check(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime:
    """When Slack signed a request, within five minutes of `now`. The names of `headers` are in lower case.

    Raises:
        NotSlackError: it is unsigned, tampered with, late, or of no time at all.
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
    """The clock by which slack_sdk shall judge."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> float:
        return self._at.timestamp()
