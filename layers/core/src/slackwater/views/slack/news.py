"""The input of a digest: what an audit changed, for one channel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pydantic import SkipValidation

from slackwater.model.audits import AuditRecord
from slackwater.model.findings import Gap
from slackwater.model.tracking import LedgerEntry
from slackwater.views.scan.document import FindingDocument, TrendPointDocument
from slackwater.views.scan.organization import Organization


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChange:
    """What an audit changed about a finding.

    Attributes:
        kind: "new" if it was opened or reopened, "gone" if it was resolved.
        entry: The audit's last ledger entry about it.
        found: The finding in the audit's scan document; None if it is not there.
    """

    kind: Literal["new", "changed", "gone"]
    entry: LedgerEntry
    found: SkipValidation[FindingDocument | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """The changes of an audit for one channel, the most severe first.

    Attributes:
        gone: Findings that were resolved.
        others: Number of changes that went to other channels.
        unknown: Number of inconclusive checks.
        waste_usd: Savings from all waste of the audit, by the totals of its scan document, US dollars a month.
        waste_unpriced: Number of resources whose saving is unknown.
        top: Number of findings in the digest itself. The thread has all.
        buttons: Whether the channel can have buttons. A webhook cannot.
        approvable: Ids of the findings that the policy lets people approve.
        may_decide: Whether the policy lets anyone snooze and dismiss.
        grace_days: Days between the approval of a deletion and the deletion; None if nothing acts on approvals.
        organization: The accounts, if several were audited.
        trend: Earlier audits of the same scope, the oldest first, from the head of the scan document.
        people: Slack ids of users and user groups by owner.
    """

    audit: AuditRecord
    new: tuple[FindingChange, ...]
    changed: tuple[FindingChange, ...]
    gone: tuple[LedgerEntry, ...]
    others: int
    gaps: tuple[Gap, ...]
    unknown: int
    waste_usd: Decimal
    waste_unpriced: int
    top: int
    buttons: bool
    may_decide: bool
    approvable: frozenset[str] = frozenset()
    grace_days: int | None = None
    organization: Organization | None = None
    trend: tuple[TrendPointDocument, ...] = ()
    people: Mapping[str, str] = field(default_factory=dict)
