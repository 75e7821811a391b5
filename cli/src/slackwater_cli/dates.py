"""Dates and times on the command line."""

import re
from datetime import UTC, datetime
from typing import Final

from slackwater.app import dates as rfc3339
from slackwater_cli.exits import UsageError

EARLIEST: Final = datetime(2006, 1, 1, tzinfo=UTC)
"""Before AWS existed. No measurement window starts earlier."""
DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_time(words: str, option: str) -> datetime:
    """Return a time in UTC from RFC 3339 text with an offset.

    Raises:
        UsageError: The text is something else, or a time before AWS existed.
    """
    try:
        at = rfc3339.parse_time(words)
    except ValueError as error:
        raise UsageError(f"{option} {words!r}: {error}") from error
    if at < EARLIEST:
        raise UsageError(f"{option} {words!r}: that is before there was any AWS")
    return at


def parse_end(words: str, option: str) -> datetime:
    """Return a time as `parse_time` does, or for a date the last second of that day in UTC.

    Raises:
        UsageError: The text is neither.
    """
    return parse_time(f"{words}T23:59:59Z" if DATE.fullmatch(words) else words, option)


def minute(at: str) -> str:
    """Format an RFC 3339 time in UTC for people: `2026-11-16 09:07`."""
    return at[:16].replace("T", " ")
