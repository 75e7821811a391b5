"""Protocols that store findings, audits, documents and clean-ups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from pathlib import Path

    from slackwater.model.audits import AuditRecord, RunningAudits
    from slackwater.model.cleanup import Cleanup, Control
    from slackwater.model.listing import FindingQuery, Page
    from slackwater.model.tracking import LedgerEntry, TrackedFinding, Write


class FindingStore(Protocol):
    """Stores findings, and every change of them."""

    def get(self, id: str) -> TrackedFinding | None:
        """Return one finding as it is now."""
        ...

    def unresolved(self, account: str, region: str) -> Iterable[TrackedFinding]:
        """Return the unresolved findings of a target. A very recent one may be missing; `write` then returns False."""
        ...

    def write(self, write: Write) -> bool:
        """Store a finding and its ledger entry together; return False and store nothing if the revision has changed."""
        ...

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        """Return a page of findings.

        Raises:
            BadCursorError: The cursor is not from this query.
        """
        ...

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        """Yield every change of a finding, the oldest first."""
        ...


class AuditStore(Protocol):
    """Stores the result of each audit."""

    def claim(self, occasion: str, audit_id: str) -> str:
        """Claim an occasion for an audit, and return the id of the audit that claimed it first."""
        ...

    def begin(self, record: AuditRecord) -> bool:
        """Store a new audit; return False if it is already stored."""
        ...

    def end(self, record: AuditRecord) -> bool:
        """Store the result of an audit; return False and store nothing if it has already ended."""
        ...

    def get(self, id: str) -> AuditRecord | None:
        """Return one audit as it is now."""
        ...

    def running(self) -> RunningAudits:
        """Return which audits count as running, as it is now."""
        ...

    def write_running(self, running: RunningAudits) -> bool:
        """Store it if its revision is one more than the stored one; else return False and store nothing."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        """Return audits, the newest first.

        Raises:
            BadCursorError: The cursor is not from this list.
        """
        ...


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a stored text. A version without a size is the text's deletion."""

    id: str
    at: datetime
    size_bytes: int | None


class Documents(Protocol):
    """Stores texts by key, with every version of them."""

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        """Return the text and its version; None if there is no such text."""
        ...

    def has(self, key: str) -> bool:
        """Return whether there is a text."""
        ...

    def write(self, key: str, text: str) -> str:
        """Store a text, and return its version."""
        ...

    def write_once(self, key: str, text: str) -> bool:
        """Store a text if there is none; else return False and store nothing."""
        ...

    def write_file(self, key: str, file: Path) -> None:
        """Store the content of a file, which may be larger than memory."""
        ...

    def read_file(self, key: str, file: Path) -> bool:
        """Copy the stored content into a file; return False, without a file, if there is none."""
        ...

    def versions(self, key: str) -> Iterable[Version]:
        """Return every version and deletion, the newest first."""
        ...

    def link(self, key: str, for_seconds: int) -> str:
        """Return a URL with which anyone can read the text, valid for this many seconds."""
        ...


class CleanupStore(Protocol):
    """Stores clean-ups, one for each finding, and makes sure that no two hold the same resource or lock."""

    def get(self, finding_id: str) -> Cleanup | None:
        """Return the clean-up of a finding as it is now. Lists that do not fit into its record are truncated."""
        ...

    def whole(self, cleanup: Cleanup) -> Cleanup:
        """Return the same clean-up with complete lists.

        Raises:
            AwsError: One is missing, or AWS did not answer.
        """
        ...

    def unchanged(self, cleanup: Cleanup) -> bool:
        """Return whether its record still has this revision, and nobody has stopped all clean-ups."""
        ...

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        """Store a clean-up together with its finding, if its revision is one more than the stored one.

        Returns False, and stores nothing, if a revision has changed, or if another clean-up holds a resource or lock
        that this one requires.
        """
        ...

    def holder(self, place: str) -> str | None:
        """Return the id of the finding whose clean-up holds a resource (by its ARN) or a lock; None if none does."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        """Return clean-ups, the newest first.

        Raises:
            BadCursorError: The cursor is not from this list.
        """
        ...

    def control(self) -> Control:
        """Return what applies to all clean-ups, as it is now."""
        ...

    def write_control(self, control: Control) -> bool:
        """Store it if its revision is one more than the stored one; else return False and store nothing."""
        ...
