"""Points in time on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from slackwater_cli.exits import UsageError

RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
EARLIEST: Final = datetime(2006, 1, 1, tzinfo=UTC)
"""Before AWS, where no window reaches."""


def moment(words: str) -> datetime:
    """A time in UTC from RFC 3339, which has an offset.

    Raises:
        UsageError: it is something else.
    """
    try:
        at = datetime.fromisoformat(words).astimezone(UTC) if RFC3339.fullmatch(words) else None
    except (ValueError, OverflowError):  # the thirteenth month; an hour after the last one
        at = None
    if at is None or at < EARLIEST:
        raise UsageError(f"--now {words!r}: not a time with an offset as RFC 3339 has it, such as 2026-11-16T09:00:00Z")
    return at
