"""A time limit for AWS calls while a user waits, where packaged data can replace the response."""

from time import monotonic
from typing import Final

ASKING_S: Final = 10
"""Seconds. API Gateway closes the connection after 30 s. A call that starts just before the limit takes up to 13 s."""


class TookTooLongError(Exception):
    """The time limit for AWS calls has passed."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("AWS took too long")


class Deadline:
    """A number of seconds from now. No call starts after it; calls that have started are not interrupted."""

    def __init__(self, seconds: float = ASKING_S) -> None:
        """Start the time."""
        self._end = monotonic() + seconds

    def check(self) -> None:
        """Raise an error if no time is left.

        Raises:
            TookTooLongError: No time is left.
        """
        if monotonic() > self._end:
            raise TookTooLongError
