"""Protocols that store findings, audits, documents and clean-ups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from pathlib import Path

    from slackwater.model.audits import AuditRecord, RunningAudits
    from slackwater.model.cleanup import Cleanup, Control
    from slackwater.model.listing import FindingQuery, Page
    from slackwater.model.tracking import LedgerEntry, TrackedFinding, Write


class FindingStore(Protocol):
    """Keeps findings, and every change of them for good."""

    def get(self, id: str) -> TrackedFinding | None:
        """One finding as it is now."""
        ...

    def unresolved(self, account: str, region: str) -> Iterable[TrackedFinding]:
        """The findings of a target that are not resolved. One stored a moment ago may be missing: `write` will tell."""
        ...

    def write(self, write: Write) -> bool:
        """Store a finding and its ledger entry together; False, and nothing stored, where the revision has moved."""
        ...

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        """A page of findings.

        Raises:
            BadCursorError: the cursor is not one for this query.
        """
        ...

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        """Every change of a finding, the oldest first."""
        ...


class AuditStore(Protocol):
    """Keeps what came of each audit."""

    def claim(self, occasion: str, audit_id: str) -> str:
        """The audit to which this occasion belongs: the one that claimed it first."""
        ...

    def begin(self, record: AuditRecord) -> bool:
        """Store a new audit; False where it is stored already."""
        ...

    def end(self, record: AuditRecord) -> bool:
        """Store what came of an audit; False where it has ended before, which stays as it is."""
        ...

    def get(self, id: str) -> AuditRecord | None:
        """One audit as it is now."""
        ...

    def running(self) -> RunningAudits:
        """The audits that have a place among those that may run at a time, as it is now."""
        ...

    def write_running(self, running: RunningAudits) -> bool:
        """Store it if its revision is one more than what is stored; False, and nothing stored, where it is not."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        """Audits, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        ...


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a stored text; without a size, it is the text's deletion."""

    id: str
    at: datetime
    size_bytes: int | None


class Documents(Protocol):
    """Keeps texts by key, every version of them."""

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        """The text and its version; None where there is none."""
        ...

    def has(self, key: str) -> bool:
        """Whether there is a text."""
        ...

    def write(self, key: str, text: str) -> str:
        """Store a text; its version."""
        ...

    def write_once(self, key: str, text: str) -> bool:
        """Store a text where there is none; False, and nothing stored, where there is one."""
        ...

    def write_file(self, key: str, file: Path) -> None:
        """Store what a file holds, which may be more than memory does."""
        ...

    def read_file(self, key: str, file: Path) -> bool:
        """Put what is stored into a file; False, and no file, where there is nothing."""
        ...

    def versions(self, key: str) -> Iterable[Version]:
        """Every version and deletion, the newest first."""
        ...

    def link(self, key: str, for_seconds: int) -> str:
        """An address from which anybody who has it can read the text, for a while."""
        ...


class CleanupStore(Protocol):
    """Keeps clean-ups, one for each finding, and sees to it that what one holds no other has."""

    def get(self, finding_id: str) -> Cleanup | None:
        """The clean-up of a finding as it is now; lists that its record has no room for are cut short."""
        ...

    def whole(self, cleanup: Cleanup) -> Cleanup:
        """The same clean-up with all of its lists.

        Raises:
            AwsError: one is missing, or AWS did not say.
        """
        ...

    def unchanged(self, cleanup: Cleanup) -> bool:
        """Whether its record is still of this revision, and nobody has stopped all clean-ups."""
        ...

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        """Store a clean-up whose revision is one more than what is stored, and what that makes of its finding: both or neither.

        False, and nothing stored, where a revision has moved, or another clean-up has what this one is to hold.
        """
        ...

    def holder(self, place: str) -> str | None:
        """The id of the finding whose clean-up has a resource, by its ARN, or a turn now."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        """Clean-ups, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        ...

    def control(self) -> Control:
        """What holds for all clean-ups, as it is now."""
        ...

    def write_control(self, control: Control) -> bool:
        """Store it if its revision is one more than what is stored; False, and nothing stored, where it is not."""
        ...
