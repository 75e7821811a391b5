"""Errors of AWS calls that use cases handle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from typing import Self


MAX_REASON: Final = 240
"""The longest reason, in characters. It has room for the caller's ARN and the action, but not for the encoded policy
that some services add.
"""

WHO_DENIES: Final = re.compile(
    r"(?:with an explicit deny in an?|because no) [a-z-][a-z -]* policy\b(?::? arn:\S+| allows)?"
)
"""Matches the kind of policy that denies a call, and its ARN. AWS names it after long ARNs, but it must not be cut off.
"""


class AwsError(Exception):
    """A call to AWS failed. The message says why, and what to do."""

    transient: bool = False
    """Whether the same call may work a moment later."""

    def explained(self, message: str) -> Self:
        """Return the same kind of error, as transient as this one, with another message."""
        error = type(self)(message)
        error.transient = self.transient
        return error


class NoCredentialsError(AwsError):
    """There are no credentials, or AWS does not accept them."""


class ExpiredCredentialsError(NoCredentialsError):
    """The credentials have expired."""


class AccessDeniedError(AwsError):
    """The credentials are valid, but do not allow this."""


class UnreachableError(AwsError):
    """There is no answer, or it is not from AWS."""


class BusyError(AwsError):
    """AWS still throttled the call after all retries, or did only a part of it."""

    transient = True


class BrokenAnswerError(AwsError):
    """An answer lacks something required, or repeats itself. It must not be taken for an empty account."""


class FormatError(BrokenAnswerError):
    """This version does not read the format of a stored document. The message names the document, and what to do."""


def reason_of(error: BaseException) -> str:
    """Return the reason for a gap as one line: the kind of error, and its message without request ids."""
    if isinstance(error, KeyError):
        return reason_line("BrokenAnswer", f"it lacks {error}")
    if isinstance(error, TypeError | AttributeError | ValueError):  # the response could not be parsed
        return reason_line("BrokenAnswer", f"it cannot be read ({error})")
    return reason_line(type(error).__name__, str(error))


def reason_line(code: str, text: str) -> str:
    """Return an error's code and message as one line of at most MAX_REASON characters, without request ids."""
    text = re.sub(r"\s*\(?Request ?ID:[^)]*\)?", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*Encoded authorization failure message:.*", "", text, flags=re.DOTALL)
    text = " ".join(text.split())
    line = f"{code}: {text}" if text else code
    if len(line) <= MAX_REASON:
        return line
    who = WHO_DENIES.search(line)
    tail = f"… {who[0]}" if who and who.end() >= MAX_REASON and len(who[0]) < MAX_REASON * 3 // 4 else "…"
    return line[: MAX_REASON - len(tail)] + tail
