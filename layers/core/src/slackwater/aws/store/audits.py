"""Audits, in DynamoDB."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from slackwater.aws.store import listing, table
from slackwater.aws.store.listing import IndexQuery
from slackwater.aws.store.table import Item, Put, Table, item, key, key_of
from slackwater.model.audits import AuditRecord, RunningAudits
from slackwater.model.listing import Page
from slackwater.ports.clock import Clock
from slackwater.ports.errors import BrokenAnswerError

AUDIT_READ: Final = table.READ
AUDIT_CLAIM: Final = frozenset({"dynamodb:BatchGetItem", "dynamodb:PutItem"})
AUDIT_WRITE: Final = table.WRITE

KIND: Final = "AUDIT"
RUNNING: Final = "RUNNING"
UNCHANGED: Final = "#revision = :revision"

CLAIMED: Final = timedelta(days=30)
"""How long an occasion is kept: far longer than a schedule may deliver its turn twice."""

NEWEST_FIRST: Final = IndexQuery(index=table.BY_AGE, listing=table.AUDITS, spans=(("0", ":"),), descending=True)


class DynamoAudits:
    """The AuditStore of a table. Records expire after `retention`."""

    def __init__(self, table: Table, retention: timedelta, clock: Clock) -> None:
        """Makes no call."""
        self._table = table
        self._retention = retention
        self._clock = clock

    def claim(self, occasion: str, audit_id: str) -> str:
        """The audit to which this occasion belongs: the one that claimed it first."""
        at = key("OCCASION", occasion)
        if self._table.put(Put(at | item(audit_id=audit_id, expires_at=_expiry(self._clock(), CLAIMED)))):
            return audit_id
        for claimed in self._table.read([at]).values():
            return claimed["audit_id"]["S"]
        raise BrokenAnswerError(f"the occasion {occasion} is claimed, and nobody's")

    def begin(self, record: AuditRecord) -> bool:
        """Store a new audit; False where it is stored already."""
        return self._table.put(Put(self._item(record)))

    def end(self, record: AuditRecord) -> bool:
        """Store what came of an audit; False where it has ended before, which stays as it is."""
        return self._table.put(Put(self._item(record), "#state = :running", {"running": "running"}))

    def get(self, id: str) -> AuditRecord | None:
        """One audit as it is now."""
        return next(iter(self._load([f"{KIND}#{id}"]).values()), None)

    def running(self) -> RunningAudits:
        """The audits that have a place among those that may run at a time, as it is now."""
        for stored in self._table.read([key_of(RUNNING)]).values():
            return table.parsed(stored, table.RUNNING)
        return RunningAudits(since={})

    def write_running(self, running: RunningAudits) -> bool:
        """Store it if its revision is one more than what is stored; False, and nothing stored, where it is not."""
        document = table.RUNNING.dump_json(running).decode()
        stored = key_of(RUNNING) | item(document=document, revision=running.revision)
        before = running.revision - 1
        return self._table.put(Put(stored, UNCHANGED, {"revision": before}) if before else Put(stored))

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        """Audits, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        return listing.page(self._table, NEWEST_FIRST, limit, cursor, self._load)

    def _load(self, pks: Iterable[str]) -> dict[str, AuditRecord]:
        found = self._table.read(key_of(pk) for pk in pks)
        return {pk: table.parsed(one, table.AUDIT) for pk, one in found.items()}

    def _item(self, record: AuditRecord) -> Item:
        return key(KIND, record.id) | item(
            document=table.AUDIT.dump_json(record).decode(),
            state=record.state,
            listing=table.AUDITS,
            age_key=f"{table.sortable(record.started_at)}#{record.id}",
            expires_at=_expiry(record.started_at, self._retention),
        )


def _expiry(at: datetime, kept: timedelta) -> int:
    return int((at + kept).timestamp())
