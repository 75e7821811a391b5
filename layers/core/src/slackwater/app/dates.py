"""Times as people write them."""

import re
from datetime import UTC, datetime
from typing import Final

RFC3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def parse_time(words: str) -> datetime:
    """Parse an RFC 3339 time, which has a UTC offset, and return it in UTC.

    Raises:
        ValueError: It is something else.
    """
    try:
        if RFC3339.fullmatch(words):
            return datetime.fromisoformat(words).astimezone(UTC)
    except (ValueError, OverflowError):  # the thirteenth month; an hour after the last one
        pass
    raise ValueError("not a time with an offset as RFC 3339 has it, such as 2026-11-16T09:00:00Z")
