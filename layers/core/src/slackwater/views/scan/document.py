"""The scan document, `slackwater.scan/1`, as types. `scan.schema.json` beside it says the same to other programs.

Money is a string of US dollars, a time is RFC 3339 in UTC, and null means unknown. Fields are added, never renamed or
removed.
"""

from typing import Final, Literal, NotRequired, TypedDict

from slackwater.model.findings import UnlistedReason
from slackwater.model.verdicts import Confidence, FindingKind, Severity

SCHEMA: Final = "slackwater.scan/1"


class AccountDocument(TypedDict):
    """An account of the organization. `organizational_unit` is the path of names from the root; empty if unknown."""

    id: str
    name: str
    organizational_unit: str


class TrendPointDocument(TypedDict):
    """An earlier audit of the same scope, from its record."""

    audit_id: str
    as_of: str
    complete: bool
    findings: int
    monthly_savings_usd: str


class TargetDocument(TypedDict):
    """One account in one region. `closed` means that a service control policy denies all access, so nothing is known
    about it.
    """

    account: str
    region: str
    complete: bool
    closed: NotRequired[Literal[True]]


class GapDocument(TypedDict):
    """A call that was denied, failed or was throttled until the end, or that the limit on metric costs held back."""

    account: str
    region: str
    what: str
    reason: str
    optional: bool


class UsageDocument(TypedDict):
    """The requests of the scan itself. `api_calls` counts every HTTP request, including retries."""

    api_calls: dict[str, int]
    metrics_requested: int
    datapoints: int
    estimated_usd: str


class PolicyDocument(TypedDict):
    """The policy of the scan: its S3 version (null: a file) and the SHA-256 of its text. Both are null for the
    defaults.
    """

    version: str | None
    sha256: str | None


class ScanHead(TypedDict):
    """When and where the scan looked, what it requested, and what it could not read.

    `as_of` is the evaluation time, which may differ from the time of the run; old documents lack it. `accounts` exists
    if an organization was audited. `trend` has the earlier audits, the oldest first, if there are any. `more` is true
    in the document of a chunk of a target if another chunk follows.
    """

    id: str
    as_of: NotRequired[str]
    started_at: str
    finished_at: str
    complete: bool
    targets: list[TargetDocument]
    detectors: list[str]
    policy: PolicyDocument
    gaps: list[GapDocument]
    resources: dict[str, int]
    usage: UsageDocument
    accounts: NotRequired[list[AccountDocument]]
    trend: NotRequired[list[TrendPointDocument]]
    more: NotRequired[Literal[True]]


class ResourceDocument(TypedDict):
    """A resource. `tags` is null if they could not be read. `name` is the Name tag, or the id."""

    arn: str
    id: str
    type: str
    name: str
    account: str
    region: str
    tags: dict[str, str] | None


class SeriesDocument(TypedDict):
    """Evenly spaced points. Null is a point that CloudWatch does not have."""

    start: str
    period_s: int
    values: list[float | None]


class LineDocument(TypedDict):
    """A level to compare a series with, in the unit of its evidence."""

    label: str
    value: float


class EvidenceDocument(TypedDict):
    """One fact: a number with its unit, or words.

    `scale` is what a full bar of the series means, if that is not its peak. `lines` are levels to compare it with,
    which may lie above the whole series. `forecast` continues the series with the same period. `lines` and `forecast`
    exist only with a series, and are absent if empty.
    """

    label: str
    value: float | int | str
    unit: str
    series: NotRequired[SeriesDocument]
    scale: NotRequired[float]
    lines: NotRequired[list[LineDocument]]
    forecast: NotRequired[SeriesDocument]


class PriceBasisDocument(TypedDict):
    """A unit price that a figure is based on."""

    item: str
    usd: str
    unit: str
    source: str
    as_of: str


class VolumeSettingDocument(TypedDict):
    """The performance settings of an EBS volume. Null means that its type does not have this setting."""

    kind: Literal["volume"]
    volume_type: str
    iops: int | None
    throughput_mib_s: int | None


class EfsThroughputSettingDocument(TypedDict):
    """The throughput mode of an EFS file system. The amount is null except for "provisioned"."""

    kind: Literal["efs-throughput"]
    mode: str
    provisioned_mib_s: float | None


class EfsLifecycleSettingDocument(TypedDict):
    """When an EFS file system moves files between storage classes, in EFS's words. Null means never."""

    kind: Literal["efs-lifecycle"]
    transition_to_ia: str | None
    transition_to_archive: str | None
    transition_to_primary: str | None


type SettingDocument = VolumeSettingDocument | EfsThroughputSettingDocument | EfsLifecycleSettingDocument


class RecommendationDocument(TypedDict):
    """A recommendation. A null saving is unknown, and a negative one is a cost.

    `new_value` is the main value that it sets, with its unit, if there is one. `deletes` is true if it deletes the
    resource after a backup, and a program may do so once it is approved; otherwise it is absent. `setting` exists if
    the recommendation changes only this setting, and a program may make the change once it is approved, and undo it.
    """

    action: str
    summary: str
    command: NotRequired[str]
    monthly_savings_usd: str | None
    risk: str
    reversible: bool
    new_value: NotRequired[str]
    deletes: NotRequired[Literal[True]]
    setting: NotRequired[SettingDocument]


class FindingDocument(TypedDict):
    """A flagged resource. Its saving is that of its first recommendation. `owner` is the owner that its tags name."""

    id: str
    detector: str
    severity: Severity
    kind: FindingKind
    confidence: Confidence
    resource: ResourceDocument
    owner: str | None
    summary: str
    evidence: list[EvidenceDocument]
    monthly_savings_usd: str | None
    price_basis: list[PriceBasisDocument]
    recommendations: list[RecommendationDocument]
    caveats: list[str]
    fingerprint: str


class UnknownDocument(TypedDict):
    """An inconclusive check."""

    detector: str
    resource: ResourceDocument
    reason: str


class UnlistedDocument(TypedDict):
    """A suppressed finding, and the reason."""

    detector: str
    resource: ResourceDocument
    reason: UnlistedReason


class SomeTotals(TypedDict):
    """The totals of the findings of one detector or kind. Each resource counts once."""

    findings: int
    monthly_savings_usd: str
    unpriced: int


class TotalsDocument(TypedDict):
    """The totals of all findings. Each resource counts once.

    `monthly_savings_usd` counts the best recommendation of every finding, also if performance is the issue and the fix
    happens to save. `waste_monthly_savings_usd` counts waste only: it is the amount in every headline.
    `high_confidence_usd` is the part of it from findings of high confidence. `kept` and `below_minimum` count findings
    that are not listed.

    `unknown` counts inconclusive checks. `by_owner` has the findings without an owner under the empty text. Documents
    of older versions lack these two and `by_account`.
    """

    findings: int
    monthly_savings_usd: str
    waste_monthly_savings_usd: NotRequired[str]
    high_confidence_usd: NotRequired[str]
    unpriced: int
    kept: int
    below_minimum: int
    unknown: NotRequired[int]
    by_detector: dict[str, SomeTotals]
    by_kind: dict[FindingKind, SomeTotals]
    by_account: NotRequired[dict[str, SomeTotals]]
    by_owner: NotRequired[dict[str, SomeTotals]]


class ScanDocument(TypedDict):
    """A scan."""

    schema: Literal["slackwater.scan/1"]
    scan: ScanHead
    findings: list[FindingDocument]
    unknown: list[UnknownDocument]
    unlisted: list[UnlistedDocument]
    totals: TotalsDocument
