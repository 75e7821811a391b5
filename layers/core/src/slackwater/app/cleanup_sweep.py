"""Deletes backups that clean-ups made, once nobody needs them any more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from slackwater.aws.errors import AwsError
from slackwater.model.cleanup import Cleanup, Copy
from slackwater.model.listing import MAX_PAGE
from slackwater.ports import CleanupStore, Clock, Sweeper

LEFT_OVER: Final = timedelta(days=1)
"""After which a backup that its clean-up does not name, or that was called off, is left over. Until then it may be at work."""

OF_ATTEMPT: Final = re.compile(r"(?P<finding_id>.+)-(?P<attempt>\d+)-\d+")
"""A backup's token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What was deleted, and why; and what could not be looked at or deleted."""

    deleted: tuple[tuple[str, str], ...]
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Everything that sweeping takes."""

    store: CleanupStore
    sweepers: Mapping[str, Sweeper]
    clock: Clock

    def sweep(self) -> Swept:
        """Go wherever a clean-up has deleted something. What fails in one place, or of one backup, does not spoil the rest."""
        deleted, troubles = list[tuple[str, str]](), list[str]()
        for kind, account, region in sorted(self._places()):
            sweeper = self.sweepers[kind]
            try:
                found = list(self._over(sweeper, account, region))
            except AwsError as error:
                troubles.append(f"{kind} in {account} {region}: {error}")
                continue
            for copy, why in found:
                try:
                    sweeper.delete(account, region, copy)
                    deleted.append((copy.id or "", why))
                except AwsError as error:
                    troubles.append(f"{copy.id} in {account} {region}: {error}")
        return Swept(deleted=tuple(deleted), troubles=tuple(troubles))

    def _places(self) -> set[tuple[str, str, str]]:
        found, cursor = set[tuple[str, str, str]](), None
        while True:
            page = self.store.list(MAX_PAGE, cursor)
            found |= {(one.resource.type, one.resource.account, one.resource.region) for one in page.items if one.deletes}
            cursor = page.cursor
            if cursor is None:
                return found

    def _over(self, sweeper: Sweeper, account: str, region: str) -> Iterator[tuple[Copy, str]]:
        for copy in sweeper.copies(account, region):
            found = OF_ATTEMPT.fullmatch(copy.token or "")
            cleanup = self.store.get(found["finding_id"]) if found else None
            attempt = int(found["attempt"]) if found else 0
            if why := over(copy, cleanup, attempt, self.clock()):
                yield copy, why


def over(copy: Copy, cleanup: Cleanup | None, attempt: int, now: datetime) -> str | None:
    """Why a backup is not needed any more; None while it may be. What cannot be read is kept."""
    if copy.id is None or copy.state == "running":
        return None
    same = cleanup is not None and cleanup.attempt == attempt
    if cleanup is not None and same and not cleanup.ended:
        return None
    if copy.expires_at is not None and copy.expires_at <= now:
        return f"it expired at {copy.expires_at:%Y-%m-%d %H:%M} UTC"
    if cleanup is None or now - copy.made_at < LEFT_OVER:
        return None
    if attempt < cleanup.attempt and any(backup.state == "verified" for backup in cleanup.backups):
        return "a later clean-up of the same has its own"
    if same and copy.id not in {backup.id for backup in cleanup.backups}:
        return "its clean-up goes by another"
    if same and cleanup.stage in {"called-off", "failed"} and not (cleanup.removals or cleanup.promised):
        return "its clean-up ended before anything was deleted"
    return None
