"""Tells of what has changed in the table: its stream is the outbox, so a change is stored once and told at least once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.aws.table import AUDIT, LEDGER, parsed
from slackwater.model.audits import AuditState
from slackwater.model.tracking import Happening
from slackwater.ports import BrokenAnswerError, Event, EventBus, NotSentError
from slackwater.views.service_json import audit_event, finding_event

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
"""One change, as a DynamoDB stream tells it."""


class NotAnnouncedError(Exception):
    """A change that was not told, by its sequence number; none before it is left, and those after it may be told again."""

    def __init__(self, sequence_number: str, why: object) -> None:
        """`why` says what stood in the way."""
        super().__init__(f"{sequence_number}: {why}")
        self.sequence_number = sequence_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Everything that announcing needs."""

    bus: EventBus

    def announce(self, records: Iterable[StreamRecord]) -> int:
        """Tell of these changes, in their order; how many were worth it.

        Raises:
            NotAnnouncedError: names the first that could not be told.
        """
        told: list[tuple[str, Event]] = []
        broken: NotAnnouncedError | None = None
        for record in records:
            number = record["dynamodb"]["SequenceNumber"]
            try:
                event = event_of(record)
            except (BrokenAnswerError, KeyError) as error:
                broken = NotAnnouncedError(number, error)
                break
            if event:
                told.append((number, event))
        try:
            self.bus.send([event for _, event in told])
        except NotSentError as error:
            raise NotAnnouncedError(told[error.index][0], error) from error
        if broken:
            raise broken
        return len(told)


def event_of(record: StreamRecord) -> Event | None:
    """The event of a change: an entry of a ledger, or the end of an audit. None where nobody need know.

    Raises:
        BrokenAnswerError, KeyError: the record is not one of our table's.
    """
    change = record["dynamodb"]
    kind, new = change["Keys"]["sk"]["S"], change.get("NewImage")
    if new is None:  # it has expired
        return None
    # Both are written once: a ledger's entry, and the end of an audit.
    if kind.startswith("LEDGER#"):
        entry = parsed(new, LEDGER)
        back = (entry.happening, entry.was, entry.now) == ("undone", "resolved", "open")
        name = "Finding Opened" if back else OF_A_FINDING[entry.happening]
        return Event(name, entry.at, (entry.evidence.resource.arn,), finding_event(entry))
    if kind == "AUDIT":
        audit = parsed(new, AUDIT)
        if audit.state != "running":
            return Event(OF_AN_AUDIT[audit.state], audit.finished_at or audit.started_at, (), audit_event(audit))
    return None
