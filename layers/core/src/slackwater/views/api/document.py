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
    """What a finding is about."""

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
    """What somebody decided; a null `until` is for good. It holds if a resolved finding comes back in time."""

    status: Decided
    who: str
    why: str
    at: str
    until: str | None


class TrackedFindingDocument(SightingDocument):
    """A finding and what became of it. `last_seen_at` is the time that the newest audit which saw it judged as of."""

    status: Status
    decision: DecisionDocument | None
    opened_at: str
    last_seen_at: str
    resolved_at: str | None
    audit_id: str


class ChangeDocument(TypedDict):
    """One change; `was` is null where the finding was new. Of one finding, each has a `revision` one above the last."""

    revision: int
    happening: Happening
    at: str
    who: str
    was: Status | None
    now: Status
    why: str
    audit_id: str


class LedgerEntryDocument(ChangeDocument):
    """A change with the finding as it was seen then."""

    evidence: SightingDocument


class FindingDetailDocument(TrackedFindingDocument):
    """A finding with its ledger and, until that document expires, its evidence as the newest audit that saw
    it told it.
    """

    finding: FindingDocument | None
    ledger: list[LedgerEntryDocument]


class FindingPageDocument(TypedDict):
    """Some findings; `cursor` asks for the next ones, null is the end."""

    findings: list[TrackedFindingDocument]
    cursor: str | None


class IncompleteTargetDocument(TypedDict):
    """A target that was not seen whole, and the first reason why."""

    account: str
    region: str
    why: str


class OutcomeDocument(TypedDict):
    """What came of an audit."""

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
    """An audit; `outcome` is there once it has ended complete or incomplete, `error` where it failed."""

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
    """An audit with what it covered, and a link to its scan document that is good for a while."""

    targets: list[TargetDocument]
    gaps: list[GapDocument]
    organization: list[AccountDocument]
    by_account: dict[str, SomeTotals]
    scan_url: str | None
    scan_url_expires_at: str | None


class AllowanceDocument(TypedDict):
    """What audits may still do: how many may run at a time, and what their metrics may cost on this day (UTC)."""

    running: list[str]
    most_running: int
    day: str
    spent_usd: str
    most_usd: str
    left_usd: str


class AuditPageDocument(TypedDict):
    """Some audits; `cursor` asks for older ones, null is the end.

    `allowance` is null on later pages, and where the policy cannot be used.
    """

    audits: list[AuditDocument]
    cursor: str | None
    allowance: AllowanceDocument | None


class StartedDocument(TypedDict):
    """The id of an audit that is on its way."""

    id: str


class ReportDocument(TypedDict):
    """Where a report is, and until when."""

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
    """A part of a request, as in `query.limit`, and what is wrong with it."""

    where: str
    problem: str


class ProblemDocument(TypedDict):
    """An error of the API (RFC 9457); `instance` is what its log entries are under.

    `running` are the ids of the audits that run, where one more would be too many.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[list[InvalidPartDocument]]
    running: NotRequired[list[str]]


class GatewayDocument(TypedDict):
    """What API Gateway answers itself."""

    message: str
