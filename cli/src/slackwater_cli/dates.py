"""Points in time on the command line."""

import re
from datetime import UTC, datetime
from typing import Final

from slackwater.app import dates as rfc3339
from slackwater_cli.exits import UsageError

EARLIEST: Final = datetime(2006, 1, 1, tzinfo=UTC)
"""Before AWS, where no window reaches."""
DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_time(words: str, option: str) -> datetime:
    """A time in UTC from RFC 3339, which has an offset.

    Raises:
        UsageError: it is something else, or before AWS.
    """
    try:
        at = rfc3339.parse_time(words)
    except ValueError as error:
        raise UsageError(f"{option} {words!r}: {error}") from error
    if at < EARLIEST:
        raise UsageError(f"{option} {words!r}: that is before there was any AWS")
    return at


def parse_end(words: str, option: str) -> datetime:
    """A time as `moment` reads it, or the last second of a day in UTC.

    Raises:
        UsageError: it is neither.
    """
    return parse_time(f"{words}T23:59:59Z" if DATE.fullmatch(words) else words, option)


def minute(at: str) -> str:
    """RFC 3339 in UTC as people read it: `2026-11-16 09:07`."""
    return at[:16].replace("T", " ")
