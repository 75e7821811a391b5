"""Errors of calls to AWS that use cases handle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from typing import Self


MAX_REASON: Final = 240
"""Characters of a reason: enough for the caller's ARN and the action, without the encoded policy that some services add."""

WHO_DENIES: Final = re.compile(r"(?:with an explicit deny in an?|because no) [a-z-][a-z -]* policy\b(?::? arn:\S+| allows)?")
"""The kind of policy that denies, as AWS names it behind long ARNs, and its own ARN: it must not be cut off."""


class AwsError(Exception):
    """A call to AWS failed. The message says why, and what to do about it."""

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
    """The credentials were good once."""


class AccessDeniedError(AwsError):
    """The credentials are good, and may not do this."""


class UnreachableError(AwsError):
    """Nothing answers, or nothing that speaks as AWS does."""


class BusyError(AwsError):
    """Asked again and again, it was throttled, or did a part only."""

    transient = True


class BrokenAnswerError(AwsError):
    """An answer that lacks what it must hold, or repeats itself: it must not be taken for an empty account."""


class FormatError(BrokenAnswerError):
    """A stored document of a format that this version does not read; the message names the document and the remedy."""


def reason_of(error: BaseException) -> str:
    """Return one line for a gap: the kind of error, and its message without request ids."""
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
