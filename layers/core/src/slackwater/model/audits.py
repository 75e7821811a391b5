"""An audit: one run of the scan over its targets, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
"""Incomplete targets that an audit's record names; its scan document names all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What somebody, or a schedule, asks for. Empty `accounts`, `regions` and `detectors` mean what the policy says.

    `occasion` names a schedule's turn (`weekly/2026-11-16T09:00:00Z`): two requests for the same one are one audit.
    `retry_of` is an audit, of which only the targets that were not seen whole are audited again, with the same detectors.
    """

    requested_by: str
    regions: tuple[str, ...] = ()
    detectors: tuple[str, ...] = ()
    occasion: str | None = None
    accounts: tuple[str, ...] = ()
    retry_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """Everything the scans of one audit have in common, fixed before the first starts.

    `gaps` are why some of the targets are not even scanned: an account that cannot be entered is one target, in the region
    where it was tried. `accounts` are of the organization's accounts those that have targets; of a lone account there are none.
    `own_account` is the one that asks, where no role is assumed.
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
        """The targets without those of which it is known already that they cannot be scanned."""
        known = {(gap.account, gap.region) for gap in self.gaps}
        return tuple(target for target in self.targets if (target.account, target.region) not in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteTarget:
    """A target that was not seen whole, and the first reason why."""

    account: str
    region: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """What came of an audit. The counts are of findings; `estimated_usd` is what its metric requests cost."""

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
    """Audits of this schedule, this one included, that ended incomplete or failed since the last complete one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """An audit as it is stored. `outcome` is there once it is complete or incomplete, `error` where it failed."""

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
    """The audits that have a place among those that may run at a time, by id, with when each took it.

    One that has ended may still be there. `revision` counts the changes.
    """

    since: Mapping[str, datetime]
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What audits may still do. `spent_usd` of `most_usd` are spent on the metrics of a day (UTC).

    What scans that are running have reserved counts as spent.
    """

    running: tuple[str, ...]
    most_running: int
    day: date
    spent_usd: Decimal
    most_usd: Decimal

    @property
    def left_usd(self) -> Decimal:
        """What may still be spent that day."""
        return max(self.most_usd - self.spent_usd, Decimal(0))
