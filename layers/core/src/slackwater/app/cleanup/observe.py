"""Records what audits see of finished clean-ups, which shows how much these really save."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Final

from slackwater.engine.observed import observed
from slackwater.model.cleanup import Cleanup
from slackwater.model.tracking import TargetReport
from slackwater.ports.store import CleanupStore

A_PAGE: Final = 100
AT_ONCE: Final = 16
"""Concurrent requests to the store: as many as a client has connections."""


def observe(store: CleanupStore, reports: Sequence[TargetReport], audit_id: str, now: datetime) -> None:
    """Store what an audit saw of each finished clean-up. Running it again changes nothing.

    Args:
        store: The clean-ups.
        reports: What the audit says about each target.
        audit_id: The audit.
        now: The evaluation time of the audit.

    Raises:
        AwsError: Some were not stored.
    """
    of_place = {(report.account, report.region): report for report in reports if report.is_conclusive}

    def look(cleanup: Cleanup) -> None:
        resource = cleanup.resource
        report = of_place.get((resource.account, resource.region))
        if report and (seen := observed(cleanup, report, audit_id, now)):
            # The write fails if somebody has changed the clean-up since it was read, such as an undo or a newer audit.
            store.write(replace(cleanup, observed=seen, revision=cleanup.revision + 1))

    if of_place:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(look, _all(store)):
                pass


def _all(store: CleanupStore) -> Iterator[Cleanup]:
    cursor: str | None = None
    while True:
        page = store.list(A_PAGE, cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return
