"""What is known of a finding over time: its status, the decision about it, and the ledger of every change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.settings import Setting
from slackwater.model.verdicts import Confidence, FindingKind, Severity

type Status = Literal["open", "snoozed", "dismissed", "approved", "cleaning", "resolved", "failed"]
STATUSES: Final[tuple[Status, ...]] = ("open", "snoozed", "dismissed", "approved", "cleaning", "resolved", "failed")

type LedgerEvent = Literal[
    "opened",
    "changed",
    "resolved",
    "snoozed",
    "dismissed",
    "reopened",
    "approved",
    "marked",
    "warned",
    "called-off",
    "cleaning",
    "backed-up",
    "queued",
    "removing",
    "cleaned",
    "failed",
    "undone",
    "backup-gone",
    "adopted",
]
"""From "marked" on: what a clean-up did. "removing" is told when the first part goes, "cleaned" when nothing is left, or the
setting is changed. "backup-gone": others deleted its backup before the time.
"adopted": a person took on a backup that is on no record here."""

type Decided = Literal["snoozed", "dismissed", "approved"]

SERVICE: Final = "slackwater"
"""Who did it, where no person did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedResource:
    """What a finding is about."""

    arn: str
    id: str
    type: str
    name: str
    account: str
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """A finding as one audit saw it. `deletes` says that a program may do what it advises, and delete the resource.

    `setting` is what it advises to change a setting to, where a program may do that.
    """

    id: str
    detector: str
    kind: FindingKind
    severity: Severity
    confidence: Confidence
    resource: TrackedResource
    owner: str | None
    summary: str
    monthly_savings_usd: Decimal | None
    fingerprint: str
    deletes: bool = False
    setting: Setting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReport:
    """What an audit says of one target: nothing of `unknown` (detector and resource id), and why it does not of `unlisted`.

    `closed`: a service control policy lets nobody look, so that it is complete and says nothing at all.
    """

    account: str
    region: str
    complete: bool
    detectors: frozenset[str]
    sightings: tuple[FindingRecord, ...]
    unknown: frozenset[tuple[str, str]]
    unlisted: Mapping[tuple[str, str], str] = field(default_factory=dict)
    closed: bool = False

    @property
    def whole(self) -> bool:
        """Whether what it does not name is not there."""
        return self.complete and not self.closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided about a finding, and until when; None is for good. `status` is what that makes of it.

    `fingerprint` is of the finding that an approval is for, and `setting` what it then advised to change to: it is for no
    other.
    """

    status: Decided
    who: str
    why: str
    at: datetime
    until: datetime | None
    fingerprint: str | None = None
    setting: Setting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedFinding:
    """A finding with what became of it.

    `audit_id` and `last_seen_at` are of the newest audit that saw it (`last_seen_at` is the time that audit judged as of);
    its scan document holds the evidence. `revision` counts the ledger's entries. A snooze or dismissal stays with a finding
    that is resolved, and holds if it comes back in time.
    """

    sighting: FindingRecord
    status: Status
    decision: Decision | None
    opened_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None
    audit_id: str
    revision: int

    @property
    def id(self) -> str:
        """The same in every scan."""
        return self.sighting.id


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One change of a finding, for good. `was` is None where it was not known before; `evidence` is what was seen then."""

    happening: LedgerEvent
    at: datetime
    who: str
    was: Status | None
    now: Status
    why: str
    revision: int
    audit_id: str
    evidence: FindingRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A finding to store, with the ledger entry that explains it (None where nothing worth telling changed).

    `expects` is the revision that must still be stored; 0 where none may be.
    """

    finding: TrackedFinding
    entry: LedgerEntry | None
    expects: int
