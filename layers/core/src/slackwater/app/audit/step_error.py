"""What ends a task of a state machine, and how people are told."""

from __future__ import annotations

import json
from typing import Final, NotRequired, TypedDict

MAX_ERROR_TEXT: Final = 1_000
"""Characters of an error: a policy may have several mistakes."""


class StepError(TypedDict):
    """How Step Functions tells what ended a task. `Cause` is a function's error as JSON, or a sentence."""

    Error: str
    Cause: NotRequired[str]


def error_text(error: StepError) -> str:
    """What ended a task, on one line: its name and message, without the stack trace."""
    cause = error.get("Cause", "")
    try:
        message = str(json.loads(cause)["errorMessage"])
    except (ValueError, LookupError, TypeError):
        message = cause
    line = " ".join(f"{error['Error']}: {message}".split()).removesuffix(":")
    return line if len(line) <= MAX_ERROR_TEXT else f"{line[: MAX_ERROR_TEXT - 1]}…"
