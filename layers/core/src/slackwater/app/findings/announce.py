"""Sends events about changes of the table. The table's stream is the outbox: each change is stored once and sent at
least once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.model.audits import AuditRecord, AuditState
from slackwater.model.tracking import Happening, LedgerEntry
from slackwater.ports.errors import BrokenAnswerError
from slackwater.ports.events import Event, EventBus, NotSentError
from slackwater.views.api.to_json import audit_event, finding_event

OF_A_FINDING: Final[Mapping[Happening, str]] = {
    "opened": "Finding Opened",
    "reopened": "Finding Opened",
    "changed": "Finding Changed",
    "snoozed": "Finding Changed",
    "dismissed": "Finding Changed",
    "approved": "Finding Changed",
    "resolved": "Finding Resolved",
    "marked": "Finding Changed",
    "warned": "Finding Changed",
    "called-off": "Finding Changed",
    "cleaning": "Finding Changed",
    "backed-up": "Finding Changed",
    "queued": "Finding Changed",
    "backup-gone": "Finding Changed",
    "adopted": "Finding Changed",
    "removing": "Finding Changed",
    "cleaned": "Finding Resolved",
    "failed": "Finding Changed",
    "undone": "Finding Changed",
}
OF_AN_AUDIT: Final[Mapping[AuditState, str]] = {
    "complete": "Audit Completed",
    "incomplete": "Audit Incomplete",
    "failed": "Audit Incomplete",
}

type StreamRecord = Mapping[str, Any]
"""One change, as a DynamoDB stream describes it."""


class NotAnnouncedError(Exception):
    """The change with this sequence number could not be sent. All before it were sent; later ones may be sent again."""

    def __init__(self, sequence_number: str, why: object) -> None:
        """Create the error with the reason."""
        super().__init__(f"{sequence_number}: {why}")
        self.sequence_number = sequence_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Sends events, with the adapters that this needs."""

    bus: EventBus
    parsed: Callable[[StreamRecord], LedgerEntry | AuditRecord | None]
    """Returns what a change stored, or None if no event is needed. Raises BrokenAnswerError if it cannot be read."""

    def announce(self, records: Iterable[StreamRecord]) -> int:
        """Send events for these changes, in order, and return how many there were.

        Raises:
            NotAnnouncedError: Names the first change that could not be sent.
        """
        sent: list[tuple[str, Event]] = []
        broken: NotAnnouncedError | None = None
        for record in records:
            number = record["dynamodb"]["SequenceNumber"]
            try:
                stored = self.parsed(record)
                event = stored and event_of(stored)
            except BrokenAnswerError as error:
                broken = NotAnnouncedError(number, error)
                break
            if event:
                sent.append((number, event))
        try:
            self.bus.send([event for _, event in sent])
        except NotSentError as error:
            raise NotAnnouncedError(sent[error.index][0], error) from error
        if broken:
            raise broken
        return len(sent)


def event_of(stored: LedgerEntry | AuditRecord) -> Event | None:
    """Return the event of a ledger entry, or of the end of an audit. None for an audit that has not ended."""
    if isinstance(stored, LedgerEntry):
        back = (stored.happening, stored.was, stored.now) == ("undone", "resolved", "open")
        name = "Finding Opened" if back else OF_A_FINDING[stored.happening]
        return Event(name, stored.at, (stored.evidence.resource.arn,), finding_event(stored))
    if stored.state == "running":
        return None
    return Event(OF_AN_AUDIT[stored.state], stored.finished_at or stored.started_at, (), audit_event(stored))
