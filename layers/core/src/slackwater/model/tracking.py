"""Tracks findings over time: the status, the decision of a person, and a ledger of every change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.settings import Setting
from slackwater.model.verdicts import Confidence, FindingKind, Severity

type Status = Literal["open", "snoozed", "dismissed", "approved", "cleaning", "resolved", "failed"]
STATUSES: Final[tuple[Status, ...]] = ("open", "snoozed", "dismissed", "approved", "cleaning", "resolved", "failed")

LONGEST_SNOOZE: Final = timedelta(days=366)

type Happening = Literal[
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
"""What happened to a finding. A clean-up causes "marked" and every value after it.

"removing": AWS was asked to delete the first sub-resource. "cleaned": nothing is left, or the setting is changed.
"backup-gone": somebody else deleted its backup early. "adopted": a person adopted a backup that had no record.
"""

type Decided = Literal["snoozed", "dismissed", "approved"]

SERVICE: Final = "slackwater"
"""The actor of changes that no person made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedResource:
    """The resource of a finding."""

    arn: str
    id: str
    type: str
    name: str
    account: str
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """A finding as one audit saw it.

    Attributes:
        deletes: Whether Slackwater may delete the resource, as recommended.
        setting: The recommended setting that Slackwater may apply; None if there is none.
        monthly_savings_usd: Savings of the first recommendation. None if a price is unknown; negative if it costs more.
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
    """What an audit says about one target.

    Attributes:
        complete: Whether no required call failed.
        detectors: The detectors that ran.
        unknown: Inconclusive checks, as (detector, resource id).
        unlisted: Suppressed findings with the reason, by (detector, resource id).
        region_disabled: Whether a service control policy blocks the Region. If so, the report has no information
            about its resources, even if it is complete.
    """

    account: str
    region: str
    complete: bool
    detectors: frozenset[str]
    records: tuple[FindingRecord, ...]
    unknown: frozenset[tuple[str, str]]
    unlisted: Mapping[tuple[str, str], str] = field(default_factory=dict)
    region_disabled: bool = False

    @property
    def is_conclusive(self) -> bool:
        """Whether a finding that is missing from the report counts as resolved."""
        return self.complete and not self.region_disabled


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided about a finding.

    Attributes:
        status: The status that the finding gets.
        until: When the decision expires; None if it does not.
        fingerprint: The finding's fingerprint at that time. An approval is valid only while it stays the same.
        setting: The recommended setting that an approval is for; None if it is for a deletion.
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
    """A stored finding with its status.

    Attributes:
        decision: Kept when a snoozed or dismissed finding is resolved. It applies again if the finding returns before
            the decision expires.
        last_seen_at: The evaluation time of the newest audit that found it.
        audit_id: The newest audit that found it. Its scan document has the evidence.
        revision: The number of ledger entries that the finding has.
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
        """The finding's id, which is the same in every scan."""
        return self.sighting.id


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One change of a finding. Entries are never changed or deleted.

    Attributes:
        was: The status before; None for a new finding.
        evidence: The finding at that time.
    """

    happening: Happening
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
    """A finding to store, with its ledger entry; None if nothing changed that people need to know.

    Attributes:
        expects: The currently stored revision that this write requires; 0 if nothing may be stored yet.
    """

    finding: TrackedFinding
    entry: LedgerEntry | None
    expects: int
