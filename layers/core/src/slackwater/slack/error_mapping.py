"""Maps errors of Slack and the network: the message was not posted, or it is unknown whether it was."""

import logging
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, Final

from slack_sdk.errors import SlackApiError, SlackClientError

from slackwater.ports.slack import ChannelBusyError, ChannelRefusedError, DeliveryUnknownError

TIMEOUT_S: Final = 10
"""Slack usually answers within one second; chat.postMessage with many blocks takes a few."""

BUSY: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded", "request_timeout"})
"""Nothing was posted, but a later attempt may work. `request_timeout` means that Slack received only a part of the
request.
"""

UNSURE: Final = frozenset({"internal_error", "fatal_error", "service_unavailable"})
"""It is unknown whether the message was posted. Slack: "It's possible some aspect of the operation succeeded before the
error was raised."
"""

RETRY_AFTER_S: Final = 30.0
"""Seconds to wait if Slack does not state a time."""

LONGEST_S: Final = 86_400.0

REASON: Final = re.compile(r"[a-z][a-z0-9_]{2,79}")
"""The form of Slack's errors. The text that slack_sdk gives for a response that is not JSON does not match it."""

QUIET: Final = logging.getLogger("slackwater.slack")
"""The logger for slack_sdk, which would otherwise log whole messages and the webhook's URL."""
QUIET.setLevel(logging.CRITICAL + 1)


@contextmanager
def understood() -> Iterator[None]:
    """Convert errors of slack_sdk and the network to the errors of `ports.slack`.

    Raises:
        ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
    """
    try:
        yield
    except SlackApiError as error:
        answer = error.response
        body = answer.data if isinstance(answer.data, dict) else {}
        raise error_for(answer.status_code, body.get("error"), answer.headers) from None
    except (OSError, HTTPException, ValueError, LookupError, AttributeError, SlackClientError) as error:
        # AttributeError, LookupError: the response has another structure.
        raise DeliveryUnknownError(f"no answer that can be read: {type(error).__name__}") from error


def error_for(status: int, error: Any, headers: Mapping[str, str]) -> Exception:
    """Return the error for an unsuccessful response. `error` is Slack's reason if it matches REASON."""
    known = error if isinstance(error, str) and REASON.fullmatch(error) else None
    if status == 429 or known in BUSY:
        return ChannelBusyError(_retry_after_s(headers))
    if status >= 500 or status == 408 or known in UNSURE:
        return DeliveryUnknownError(known or f"HTTP {status}")
    if known:
        return ChannelRefusedError(known)
    return DeliveryUnknownError("an answer that is no JSON") if status < 400 else ChannelRefusedError(f"HTTP {status}")


def _retry_after_s(headers: Mapping[str, str]) -> float:
    body = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        seconds = float(body)
    except ValueError:
        return RETRY_AFTER_S
    return min(max(seconds, 1.0), LONGEST_S) if math.isfinite(seconds) else RETRY_AFTER_S
