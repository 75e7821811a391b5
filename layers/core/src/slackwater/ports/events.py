"""The protocol that sends events, and the events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """Something that others may want to know. `resources` are ARNs."""

    detail_type: str
    at: datetime
    resources: tuple[str, ...]
    detail: Mapping[str, object]


class NotSentError(Exception):
    """An event that was not accepted: its index among those that were to be sent, and why."""

    def __init__(self, index: int, why: str) -> None:
        """All before `index` were sent."""
        super().__init__(f"event {index} was not accepted: {why}")
        self.index = index


class EventBus(Protocol):
    """Tells others."""

    def send(self, events: Sequence[Event]) -> None:
        """Send events in their order.

        Raises:
            NotSentError: names the first that was not accepted; whether any after it were sent is not known.
        """
        ...
