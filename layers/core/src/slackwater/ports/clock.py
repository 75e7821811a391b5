"""The protocol of the clock."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The current time, in UTC."""

    def __call__(self) -> datetime:
        """Return the current time."""
        ...
