"""The input of a digest: what an audit changed, for one channel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slackwater.model.audits import AuditRecord
from slackwater.model.findings import Gap
from slackwater.model.tracking import LedgerEntry
from slackwater.views.scan.document import FindingDocument, TrendPointDocument
from slackwater.views.scan.organization import Organization


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingNews:
    """A finding that was opened, reopened or changed.

    `found` is its entry in the scan document; None if it is not there.
    """

    entry: LedgerEntry
    found: FindingDocument | None
    may_approve: bool


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
        may_decide: Whether the policy lets anyone snooze and dismiss.
        grace_days: Days between the approval of a deletion and the deletion; None if nothing acts on approvals.
        organization: The accounts, if several were audited.
        trend: Earlier audits of the same scope, the oldest first, from the head of the scan document.
        people: Slack ids of users and user groups by owner.
    """

    audit: AuditRecord
    new: tuple[FindingNews, ...]
    changed: tuple[FindingNews, ...]
    gone: tuple[LedgerEntry, ...]
    others: int
    gaps: tuple[Gap, ...]
    unknown: int
    waste_usd: Decimal
    waste_unpriced: int
    top: int
    buttons: bool
    may_decide: bool
    grace_days: int | None = None
    organization: Organization | None = None
    trend: tuple[TrendPointDocument, ...] = ()
    people: Mapping[str, str] = field(default_factory=dict)
