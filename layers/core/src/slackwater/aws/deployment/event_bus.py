"""Sends events to an EventBridge bus."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import reason
from slackwater.ports.events import Event, NotSentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"events:PutEvents"})

SOURCE: Final = "slackwater"

A_CALL: Final = 10
MAX_BYTES: Final = 256 * 1024
"""Maximum size of all entries of one call. EventBridge counts the bytes of the texts, and A_TIME for the time."""
A_TIME: Final = 14


class EventBridgeBus:
    """One event bus."""

    def __init__(self, session: AwsSession, name: str) -> None:
        """Make no call."""
        self._session = session
        self._name = name

    def send(self, events: Sequence[Event]) -> None:
        """Send events in order.

        Raises:
            NotSentError: Names the first event that was not accepted. The calls after its call were not made.
        """
        for first, entries in _calls([self._entry(event) for event in events]):
            try:
                answers = self._session.client("events", self._session.home).put_events(Entries=entries)["Entries"]
            except Exception as error:
                raise NotSentError(first, reason(error)) from error
            for index, entry in enumerate(entries):
                answer = answers[index] if index < len(answers) else {}
                if "EventId" not in answer:
                    code = answer.get("ErrorCode", "BrokenAnswer")
                    problem = f"{code}: {answer.get('ErrorMessage', 'no word of this event')}"
                    raise NotSentError(first + index, f"{entry['DetailType']}: {problem}")

    def _entry(self, event: Event) -> PutEventsRequestEntryTypeDef:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": event.detail_type,
            "Time": event.at,
            "Resources": list(event.resources),
            "Detail": json.dumps(event.detail, ensure_ascii=False),
        }


def _calls(entries: Sequence[PutEventsRequestEntryTypeDef]) -> Iterator[tuple[int, list[PutEventsRequestEntryTypeDef]]]:
    """Yield the entries of each call, with the index of its first entry. Makes as few calls as the limits allow."""
    first, size = 0, 0
    for index, entry in enumerate(entries):
        size += (own := _bytes(entry))
        if index > first and (index == first + A_CALL or size > MAX_BYTES):
            yield first, list(entries[first:index])
            first, size = index, own
        if own > MAX_BYTES:
            raise NotSentError(index, f"{entry['DetailType']}: {own} bytes, where EventBridge takes {MAX_BYTES}")
    if entries:
        yield first, list(entries[first:])


def _bytes(entry: PutEventsRequestEntryTypeDef) -> int:
    texts = entry["Source"], entry["DetailType"], entry["Detail"], *entry["Resources"]
    return A_TIME + sum(len(text.encode()) for text in texts)
