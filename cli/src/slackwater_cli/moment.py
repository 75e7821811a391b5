"""Points in time on the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from slackwater.app import moment as rfc3339
from slackwater_cli.exits import UsageError

EARLIEST: Final = datetime(2006, 1, 1, tzinfo=UTC)
"""Before AWS, where no window reaches."""


def moment(words: str, option: str) -> datetime:
    """A time in UTC from RFC 3339, which has an offset.

    Raises:
        UsageError: it is something else, or before AWS.
    """
    try:
        at = rfc3339.moment(words)
    except ValueError as error:
        raise UsageError(f"{option} {words!r}: {error}") from error
    if at < EARLIEST:
        raise UsageError(f"{option} {words!r}: that is before there was any AWS")
    return at
