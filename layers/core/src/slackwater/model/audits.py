"""An audit: one run of the scan over its targets, with its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.findings import Gap
from slackwater.model.organization import Account
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.resources import Target

type AuditState = Literal["running", "complete", "incomplete", "failed"]
AUDIT_STATES: Final[tuple[AuditState, ...]] = ("running", "complete", "incomplete", "failed")

TARGETS_NAMED: Final = 50
"""How many incomplete targets an audit's record names. Its scan document names all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """The audit that a person or a schedule requests. Empty `accounts`, `regions` and `detectors` mean the policy's.

    Attributes:
        occasion: One run of a schedule (`weekly/2026-11-16T09:00:00Z`). Requests with the same value are one audit.
        retry_of: The id of an earlier audit. Only its incomplete targets are scanned again, with the same detectors.
    """

    requested_by: str
    regions: tuple[str, ...] = ()
    detectors: tuple[str, ...] = ()
    occasion: str | None = None
    accounts: tuple[str, ...] = ()
    retry_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What all scans of one audit have in common. It is fixed before the first scan starts.

    Attributes:
        now: The evaluation time of all scans.
        accounts: The accounts of the organization that have targets; empty without an organization.
        gaps: Why some targets are not scanned. An account that Slackwater cannot enter is one target, in the Region in
            which Slackwater tried.
        own_account: The account that Slackwater runs in, where it assumes no role.
    """

    audit_id: str
    now: datetime
    request: AuditRequest
    policy: PolicyVersion
    detectors: tuple[str, ...]
    targets: tuple[Target, ...]
    accounts: tuple[Account, ...] = ()
    gaps: tuple[Gap, ...] = ()
    own_account: str = ""

    @property
    def to_scan(self) -> tuple[Target, ...]:
        """The targets, except those that Slackwater already knows to be inaccessible."""
        known = {(gap.account, gap.region) for gap in self.gaps}
        return tuple(target for target in self.targets if (target.account, target.region) not in known)


@dataclass(frozen=True, slots=True)
class ScanTask:
    """A target to scan, and the first chunk to scan, counted from 1."""

    target: Target
    part: int = 1


@dataclass(frozen=True, slots=True)
class ScanBatch:
    """The targets that one function call scans: one item of the Distributed Map."""

    todo: tuple[ScanTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteTarget:
    """A target whose scan is incomplete, and the first reason."""

    account: str
    region: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """The result of an audit.

    Attributes:
        unpriced: How many resources have findings without known savings.
        opened: How many findings the audit opened.
        changed: How many findings changed.
        resolved: How many findings it resolved.
        estimated_usd: The cost of its metric requests, in USD.
        incomplete_in_a_row: How many audits of this schedule, including this one, ended incomplete or failed since the
            last complete one.
    """

    targets: int
    incomplete_targets: int
    incomplete: tuple[IncompleteTarget, ...]
    gaps: int
    findings: int
    monthly_savings_usd: Decimal
    unpriced: int
    opened: int
    changed: int
    resolved: int
    api_calls: int
    metrics_requested: int
    estimated_usd: Decimal
    incomplete_in_a_row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A stored audit. `outcome` is set once it is complete or incomplete, `error` if it failed."""

    id: str
    state: AuditState
    started_at: datetime
    finished_at: datetime | None
    request: AuditRequest
    policy: PolicyVersion | None
    outcome: AuditOutcome | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningAudits:
    """The audits that count as running, by id, with the time since which each has counted.

    An audit that has ended may still be in it. `revision` counts the changes. `callers` has who requested each audit;
    older versions stored no callers.
    """

    since: Mapping[str, datetime]
    revision: int = 0
    callers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The limits of audits: how many may run, and how many USD they may spend on metrics in a day (UTC).

    `spent_usd` includes the amounts that running scans have reserved.
    """

    running: tuple[str, ...]
    most_running: int
    day: date
    spent_usd: Decimal
    most_usd: Decimal

    @property
    def left_usd(self) -> Decimal:
        """How many USD audits may still spend that day."""
        return max(self.most_usd - self.spent_usd, Decimal(0))
