"""The scan document, `slackwater.scan/1`, as types. `scan.schema.json` beside it says the same to other programs.

Money is a string of US dollars, a time is RFC 3339 in UTC, and null means unknown. Fields are added, never renamed or
removed.
"""

from typing import Final, Literal, NotRequired, TypedDict

from slackwater.model.findings import UnlistedReason
from slackwater.model.verdicts import Confidence, FindingKind, Severity

SCHEMA: Final = "slackwater.scan/1"


class AccountDocument(TypedDict):
    """An account of the organization; `organizational_unit` is the path of names from the root down, empty where
    unknown.
    """

    id: str
    name: str
    organizational_unit: str


class TrendPointDocument(TypedDict):
    """An earlier audit of the same scope, as its record tells."""

    audit_id: str
    as_of: str
    complete: bool
    findings: int
    monthly_savings_usd: str


class TargetDocument(TypedDict):
    """One account in one region. `closed`: a service control policy lets nobody look, and nothing is known of it."""

    account: str
    region: str
    complete: bool
    closed: NotRequired[Literal[True]]


class GapDocument(TypedDict):
    """A call that was denied, throttled to the end or broken, or held back by the ceiling on metrics."""

    account: str
    region: str
    what: str
    reason: str
    optional: bool


class UsageDocument(TypedDict):
    """What the scan itself asked of AWS; `api_calls` counts every HTTP request sent, retries included."""

    api_calls: dict[str, int]
    metrics_requested: int
    datapoints: int
    estimated_usd: str


class PolicyDocument(TypedDict):
    """Which policy the scan went by: its S3 version (null: a file) and the SHA-256 of its text; both null are the
    defaults.
    """

    version: str | None
    sha256: str | None


class ScanHead(TypedDict):
    """When and where the scan looked, what it asked, and what it could not see.

    `as_of` is the time that it judged as of, which need not be when it ran; documents from before there was one lack
    it. `accounts` is there where an organization was audited. `trend` is of the audits before, the oldest first, where
    there are any. `more` is true in the document of a part of a target that another part follows.
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
    """`tags` is null where they could not be read; `name` is the Name tag, or the id."""

    arn: str
    id: str
    type: str
    name: str
    account: str
    region: str
    tags: dict[str, str] | None


class SeriesDocument(TypedDict):
    """Evenly spaced points; null is a point that nobody published."""

    start: str
    period_s: int
    values: list[float | None]


class LineDocument(TypedDict):
    """A level to compare a series with, in the unit of its fact."""

    label: str
    value: float


class EvidenceDocument(TypedDict):
    """One fact: a number with its unit, or words.

    `scale` is what a full bar of the series means, where not its peak. `lines` are levels to compare it with, and may
    lie above all of it; `forecast` begins where it ends, at the same period. Both come only with a series, and are
    absent when empty.
    """

    label: str
    value: float | int | str
    unit: str
    series: NotRequired[SeriesDocument]
    scale: NotRequired[float]
    lines: NotRequired[list[LineDocument]]
    forecast: NotRequired[SeriesDocument]


class PriceBasisDocument(TypedDict):
    """A unit price that a figure rests on."""

    item: str
    usd: str
    unit: str
    source: str
    as_of: str


class VolumeSettingDocument(TypedDict):
    """What an EBS volume performs; null is what its type does not let one choose."""

    kind: Literal["volume"]
    volume_type: str
    iops: int | None
    throughput_mib_s: int | None


class EfsThroughputSettingDocument(TypedDict):
    """How an EFS file system is given throughput; the amount is null but for "provisioned"."""

    kind: Literal["efs-throughput"]
    mode: str
    provisioned_mib_s: float | None


class EfsLifecycleSettingDocument(TypedDict):
    """When an EFS file system moves files between storage classes, in EFS's words; null is never."""

    kind: Literal["efs-lifecycle"]
    transition_to_ia: str | None
    transition_to_archive: str | None
    transition_to_primary: str | None


type SettingDocument = VolumeSettingDocument | EfsThroughputSettingDocument | EfsLifecycleSettingDocument


class RecommendationDocument(TypedDict):
    """Something to do. A null saving is unknown, a negative one costs more.

    `deletes` is true where it deletes the resource, backed up before, and a program may do it once approved; else
    absent. `setting` is there where it changes no more than that, and a program may do it once approved, and put the
    old one back.
    """

    action: str
    summary: str
    command: NotRequired[str]
    monthly_savings_usd: str | None
    risk: str
    reversible: bool
    deletes: NotRequired[Literal[True]]
    setting: NotRequired[SettingDocument]


class FindingDocument(TypedDict):
    """A flagged resource. Its saving is its first recommendation's; `owner` is whom its tags name."""

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
    """A question without an answer."""

    detector: str
    resource: ResourceDocument
    reason: str


class UnlistedDocument(TypedDict):
    """A question answered with yes that is not listed, and why."""

    detector: str
    resource: ResourceDocument
    reason: UnlistedReason


class SomeTotals(TypedDict):
    """What the findings of one detector or kind come to, each resource once."""

    findings: int
    monthly_savings_usd: str
    unpriced: int


class TotalsDocument(TypedDict):
    """What all findings come to, each resource once.

    `monthly_savings_usd` counts the best recommendation of every finding, also if performance is the issue and the fix
    happens to save. `waste_monthly_savings_usd` counts waste only: it is the amount in every headline.
    `high_confidence_usd` is the part of it from findings of high confidence. `kept`
    and `below_minimum` were flagged but are not listed.

    `unknown` counts questions without an answer. `by_owner` has the findings without an owner under the empty text.
    Documents of older versions lack these two and `by_account`.
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
    """A whole scan."""

    schema: Literal["slackwater.scan/1"]
    scan: ScanHead
    findings: list[FindingDocument]
    unknown: list[UnknownDocument]
    unlisted: list[UnlistedDocument]
    totals: TotalsDocument
