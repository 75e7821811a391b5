"""Types of the stored findings and audits that the API, the events and the command line return.

Money is a string of US dollars, a time is RFC 3339 in UTC, and null means unknown or absent.
"""

from typing import Final, Literal, NotRequired, TypedDict

from slackwater.model.audits import AuditState
from slackwater.model.tracking import Decided, Happening, Status
from slackwater.model.verdicts import Confidence, FindingKind, Severity
from slackwater.views.scan.document import AccountDocument, FindingDocument, GapDocument, SomeTotals, TargetDocument

EVENT_SCHEMA: Final = "slackwater.event/1"


class TrackedResourceDocument(TypedDict):
    """The resource of a finding."""

    arn: str
    id: str
    type: str
    name: str
    account: str
    region: str


class SightingDocument(TypedDict):
    """A finding without its evidence."""

    id: str
    detector: str
    severity: Severity
    kind: FindingKind
    confidence: Confidence
    resource: TrackedResourceDocument
    owner: str | None
    summary: str
    monthly_savings_usd: str | None
    fingerprint: str


class DecisionDocument(TypedDict):
    """A decision about a finding. If `until` is null, it has no end. It still applies if a resolved finding comes back
    in time.
    """

    status: Decided
    who: str
    why: str
    at: str
    until: str | None


class TrackedFindingDocument(SightingDocument):
    """A finding with its status. `last_seen_at` is the evaluation time of the newest audit that flagged it."""

    status: Status
    decision: DecisionDocument | None
    opened_at: str
    last_seen_at: str
    resolved_at: str | None
    audit_id: str


class ChangeDocument(TypedDict):
    """One change of a finding. `was` is null if the finding was new. Each change raises `revision` by one."""

    revision: int
    happening: Happening
    at: str
    who: str
    was: Status | None
    now: Status
    why: str
    audit_id: str


class LedgerEntryDocument(ChangeDocument):
    """A change, with the finding as it was at that time."""

    evidence: SightingDocument


class FindingDetailDocument(TrackedFindingDocument):
    """A finding with its ledger. `finding` is its evidence from the newest audit that flagged it; null once that
    audit's document has expired.
    """

    finding: FindingDocument | None
    ledger: list[LedgerEntryDocument]


class FindingPageDocument(TypedDict):
    """A page of findings. `cursor` requests the next page; null means that there is none."""

    findings: list[TrackedFindingDocument]
    cursor: str | None


class IncompleteTargetDocument(TypedDict):
    """An account and region that could not be read completely, and the first reason."""

    account: str
    region: str
    why: str


class OutcomeDocument(TypedDict):
    """The result of an audit."""

    targets: int
    incomplete_targets: int
    incomplete: list[IncompleteTargetDocument]
    gaps: int
    findings: int
    monthly_savings_usd: str
    unpriced: int
    opened: int
    changed: int
    resolved: int
    api_calls: int
    metrics_requested: int
    estimated_usd: str
    incomplete_in_a_row: int


class AuditDocument(TypedDict):
    """An audit. `outcome` is null until it ends as complete or incomplete, and `error` is null unless it failed."""

    id: str
    state: AuditState
    started_at: str
    finished_at: str | None
    requested_by: str
    regions: list[str]
    detectors: list[str]
    accounts: list[str]
    retry_of: str | None
    policy_version: str | None
    policy_sha256: str | None
    outcome: OutcomeDocument | None
    error: str | None


class AuditDetailDocument(AuditDocument):
    """An audit with the targets that it covered, and a link to its scan document that is valid for a limited time."""

    targets: list[TargetDocument]
    gaps: list[GapDocument]
    organization: list[AccountDocument]
    by_account: dict[str, SomeTotals]
    scan_url: str | None
    scan_url_expires_at: str | None


class AllowanceDocument(TypedDict):
    """How many audits may run at the same time, and how much their metrics may cost on this day (UTC)."""

    running: list[str]
    most_running: int
    day: str
    spent_usd: str
    most_usd: str
    left_usd: str


class AuditPageDocument(TypedDict):
    """A page of audits. `cursor` requests older ones; null means that there are none.

    `allowance` is null on later pages, and if the policy is not valid.
    """

    audits: list[AuditDocument]
    cursor: str | None
    allowance: AllowanceDocument | None


class StartedDocument(TypedDict):
    """The id of an audit that has started."""

    id: str


class ReportDocument(TypedDict):
    """A link to a report, and when it expires."""

    audit_id: str
    url: str
    expires_at: str


class FindingEvent(TypedDict):
    """The detail of `Finding Opened`, `Finding Changed` and `Finding Resolved`."""

    schema: Literal["slackwater.event/1"]
    finding: SightingDocument
    change: ChangeDocument


class AuditEvent(TypedDict):
    """The detail of `Audit Completed` and `Audit Incomplete` (`incomplete` and `failed` audits)."""

    schema: Literal["slackwater.event/1"]
    audit: AuditDocument


class InvalidPartDocument(TypedDict):
    """A part of a request, such as `query.limit`, and what is wrong with it."""

    where: str
    problem: str


class ProblemDocument(TypedDict):
    """An error of the API (RFC 9457). `instance` identifies its log entries.

    `running` has the ids of the running audits if the limit of audits at the same time is reached.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[list[InvalidPartDocument]]
    running: NotRequired[list[str]]


class GatewayDocument(TypedDict):
    """An answer of API Gateway itself."""

    message: str
