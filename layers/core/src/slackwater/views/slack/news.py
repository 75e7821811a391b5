"""What a digest tells: what an audit changed, for one channel."""

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

    `found` is how the scan document has it; None where it is not there.
    """

    entry: LedgerEntry
    found: FindingDocument | None
    may_approve: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What one channel is told of an audit: the worst first. `gone` are findings that were resolved.

    `others` counts changes that went to other channels. `buttons` says whether the channel can have any (a webhook
    cannot), and `may_decide` whether the policy lets anybody snooze and dismiss. `top` findings are told in the digest,
    all in its thread. `unknown` counts questions without an answer. `waste_usd` is what all waste of the audit comes
    to, by the totals of its scan document, and `waste_unpriced` of how many resources nobody knows that. `grace_days`
    lie between the approval of a deletion and the deletion; None where nothing acts on approvals. `organization` is
    there where several accounts were audited, and `trend` has the audits before of the same scope, the oldest first, as
    the head of the scan document tells. `people` has the Slack ids of users and user groups by owner.
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
