"""Until when AWS is asked, where somebody waits and what is packaged can stand in."""

from time import monotonic
from typing import Final

ASKING_S: Final = 10
"""With a call of 13 seconds on its way when it ends, an answer still comes before API Gateway hangs up, after 30."""


class TookTooLongError(Exception):
    """There is no time left to ask."""

    def __init__(self) -> None:
        """Takes nothing."""
        super().__init__("AWS took too long")


class Deadline:
    """So many seconds from now. Nothing new is asked after it; what is on its way is waited for."""

    def __init__(self, seconds: float = ASKING_S) -> None:
        """Starts at once."""
        self._end = monotonic() + seconds

    def check(self) -> None:
        """Go on.

        Raises:
            TookTooLongError: there is no time left.
        """
        if monotonic() > self._end:
            raise TookTooLongError
