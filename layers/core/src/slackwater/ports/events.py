"""The protocol that sends events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """An event for EventBridge. `resources` are ARNs."""

    detail_type: str
    at: datetime
    resources: tuple[str, ...]
    detail: Mapping[str, object]


class NotSentError(Exception):
    """EventBridge did not accept an event. `index` is its position among the events to send."""

    def __init__(self, index: int, why: str) -> None:
        """Create the error with the reason. All events before `index` were sent."""
        super().__init__(f"event {index} was not accepted: {why}")
        self.index = index


class EventBus(Protocol):
    """Sends events to EventBridge."""

    def send(self, events: Sequence[Event]) -> None:
        """Send events in order.

        Raises:
            NotSentError: Names the first that was not accepted. It is unknown whether later ones were sent.
        """
        ...
