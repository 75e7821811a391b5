"""Parses the records of the table's DynamoDB stream."""

from collections.abc import Mapping
from typing import Any

from slackwater.aws.store.table import AUDIT, LEDGER, LEDGER_OF, parsed
from slackwater.model.audits import AuditRecord
from slackwater.model.tracking import LedgerEntry
from slackwater.ports.errors import BrokenAnswerError


def parsed_change(record: Mapping[str, Any]) -> LedgerEntry | AuditRecord | None:
    """Return the ledger entry or the audit that a change stored. None for a deletion, or for another kind of item.

    Raises:
        BrokenAnswerError: The record is not from Slackwater's table, or it cannot be read.
    """
    try:
        change = record["dynamodb"]
        kind, new = change["Keys"]["sk"]["S"], change.get("NewImage")
    except KeyError as error:
        raise BrokenAnswerError(f"the record of the table's stream lacks {error}") from error
    if new is None:  # it has expired
        return None
    # Both are written once: a ledger's entry, and the end of an audit.
    if kind.startswith(LEDGER_OF):
        return parsed(new, LEDGER)
    return parsed(new, AUDIT) if kind == "AUDIT" else None
