"""Reads the results of earlier audits from their records."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from slackwater.model.audits import AuditRecord, AuditRequest
from slackwater.ports.store import AuditStore
from slackwater.views.scan.document import TrendPointDocument
from slackwater.views.scan.to_json import rfc3339

PAGE: Final = 100
PAGES: Final = 10
"""How many pages of audits to search. A month of hourly audits may lie between the last four of a weekly schedule."""


def trend_of(audits: AuditStore, record: AuditRecord, most: int = 12) -> list[TrendPointDocument]:
    """Return the last audits with the same scope that ended complete or incomplete, the oldest first.

    A retry has another scope, and no trend.
    """
    return list(islice(_points(audits, record), most))[::-1] if record.request.retry_of is None else []


def ended_before(audits: AuditStore, record: AuditRecord) -> Iterator[AuditRecord]:
    """Yield audits that started before this one and have ended, the newest first; not all if there are very many."""
    cursor = None
    for _ in range(PAGES):
        page = audits.list(PAGE, cursor)
        yield from (one for one in page.items if one.started_at < record.started_at and one.state != "running")
        cursor = page.cursor
        if cursor is None:
            return


def _points(audits: AuditStore, record: AuditRecord) -> Iterator[TrendPointDocument]:
    for one in ended_before(audits, record):
        if one.outcome and _scope(one.request) == _scope(record.request):
            yield {
                "audit_id": one.id,
                "as_of": rfc3339(one.started_at),
                "complete": one.state == "complete",
                "findings": one.outcome.findings,
                "monthly_savings_usd": f"{one.outcome.monthly_savings_usd:.2f}",
            }


def _scope(request: AuditRequest) -> tuple[frozenset[str], frozenset[str], frozenset[str], str | None]:
    return frozenset(request.accounts), frozenset(request.regions), frozenset(request.detectors), request.retry_of
