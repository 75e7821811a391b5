"""Stores audits in DynamoDB."""

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
"""How long to keep the claim of an occasion: much longer than a schedule may take to deliver the same event twice."""

NEWEST_FIRST: Final = IndexQuery(index=table.BY_AGE, listing=table.AUDITS, spans=(("0", ":"),), descending=True)


class DynamoAudits:
    """The `AuditStore` of a table. Records expire after `retention`."""

    def __init__(self, table: Table, retention: timedelta, clock: Clock) -> None:
        """Make no call."""
        self._table = table
        self._retention = retention
        self._clock = clock

    def claim(self, occasion: str, audit_id: str) -> str:
        """Return the audit of this occasion: the one that claimed it first."""
        at = key("OCCASION", occasion)
        if self._table.put(Put(at | item(audit_id=audit_id, expires_at=_expiry(self._clock(), CLAIMED)))):
            return audit_id
        for claimed in self._table.read([at]).values():
            return claimed["audit_id"]["S"]
        raise BrokenAnswerError(f"the occasion {occasion} is claimed, and nobody's")

    def begin(self, record: AuditRecord) -> bool:
        """Store a new audit; return False if it is already stored."""
        return self._table.put(Put(self._item(record)))

    def end(self, record: AuditRecord) -> bool:
        """Store the result of an audit; return False and store nothing if it has already ended."""
        return self._table.put(Put(self._item(record), "#state = :running", {"running": "running"}))

    def get(self, id: str) -> AuditRecord | None:
        """Return one audit as it is now; None if there is none."""
        return next(iter(self._load([f"{KIND}#{id}"]).values()), None)

    def running(self) -> RunningAudits:
        """Return which audits count as running, as it is now. Their number is limited."""
        for stored in self._table.read([key_of(RUNNING)]).values():
            return table.parsed(stored, table.RUNNING)
        return RunningAudits(since={})

    def write_running(self, running: RunningAudits) -> bool:
        """Store it if its revision is one more than the stored one; else return False and store nothing."""
        document = table.RUNNING.dump_json(running).decode()
        stored = key_of(RUNNING) | item(document=document, revision=running.revision)
        before = running.revision - 1
        return self._table.put(Put(stored, UNCHANGED, {"revision": before}) if before else Put(stored))

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        """Return audits, the newest first.

        Raises:
            BadCursorError: The cursor is not valid for this list.
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
