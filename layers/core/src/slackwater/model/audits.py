"""An audit: one run of the scan over its targets, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.resources import Target

type AuditState = Literal["running", "complete", "incomplete", "failed"]
AUDIT_STATES: Final[tuple[AuditState, ...]] = ("running", "complete", "incomplete", "failed")

TARGETS_NAMED: Final = 50
"""Incomplete targets that an audit's record names; its scan document names all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What somebody, or a schedule, asks for. Empty `regions` and `detectors` mean what the policy says.

    `occasion` names a schedule's turn (`weekly/2026-11-16T09:00:00Z`): two requests for the same one are one audit.
    """

    requested_by: str
    regions: tuple[str, ...] = ()
    detectors: tuple[str, ...] = ()
    occasion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """Which policy an audit went by: the S3 version (None: a file) and the SHA-256 of its text; both None are the defaults."""

    version: str | None
    sha256: str | None


DEFAULTS: Final = PolicyVersion(version=None, sha256=None)
"""No policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """Everything the scans of one audit have in common, fixed before the first starts."""

    audit_id: str
    now: datetime
    request: AuditRequest
    policy: PolicyVersion
    detectors: tuple[str, ...]
    targets: tuple[Target, ...]


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
