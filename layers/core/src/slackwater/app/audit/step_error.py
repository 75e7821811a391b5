"""The error that ended a task of a state machine, and its text for people."""

import json
from typing import Final, NotRequired, TypedDict

MAX_ERROR_TEXT: Final = 1_000
"""The longest error text, in characters. It has room for several mistakes in a policy."""


class StepError(TypedDict):
    """A task's error, as Step Functions passes it. `Cause` is a function's error as JSON, or a sentence."""

    Error: str
    Cause: NotRequired[str]


def error_text(error: StepError) -> str:
    """Return the error's name and message on one line, without the stack trace."""
    cause = error.get("Cause", "")
    try:
        message = str(json.loads(cause)["errorMessage"])
    except (ValueError, LookupError, TypeError):
        message = cause
    line = " ".join(f"{error['Error']}: {message}".split()).removesuffix(":")
    return line if len(line) <= MAX_ERROR_TEXT else f"{line[: MAX_ERROR_TEXT - 1]}…"
