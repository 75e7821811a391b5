"""What Slack's answers mean for a message: that it was posted, that it was not, or that nobody knows."""

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
"""Slack answers within one as a rule; chat.postMessage with many blocks takes a few."""

BUSY: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded", "request_timeout"})
"""Nothing was posted, and later it may be. `request_timeout` means that our request did not reach Slack whole."""

UNSURE: Final = frozenset({"internal_error", "fatal_error", "service_unavailable"})
"""Slack: "It's possible some aspect of the operation succeeded before the error was raised." """

RETRY_AFTER_S: Final = 30.0
"""Where Slack does not say."""

LONGEST_S: Final = 86_400.0

REASON: Final = re.compile(r"[a-z][a-z0-9_]{2,79}")
"""Slack's errors look like this. What slack_sdk makes of an answer that is no JSON does not."""

QUIET: Final = logging.getLogger("slackwater.slack")
"""For slack_sdk, which would log whole messages, and the webhook's address."""
QUIET.setLevel(logging.CRITICAL + 1)


@contextmanager
def understood() -> Iterator[None]:
    """Raise what slack_sdk and the network raise as what it means.

    Raises:
        ChannelBusyError, ChannelRefusedError, NobodyKnowsError
    """
    try:
        yield
    except SlackApiError as error:
        answer = error.response
        body = answer.data if isinstance(answer.data, dict) else {}
        raise error_for(answer.status_code, body.get("error"), answer.headers) from None
    except (OSError, HTTPException, ValueError, LookupError, AttributeError, SlackClientError) as error:
        # AttributeError, LookupError: an answer of another shape.
        raise DeliveryUnknownError(f"no answer that can be read: {type(error).__name__}") from error


def error_for(status: int, error: Any, headers: Mapping[str, str]) -> Exception:
    """What an answer means that is not a yes; `error` is the reason, if it is one."""
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
