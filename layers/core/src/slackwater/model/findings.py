"""The result of a scan: findings with evidence and prices, gaps, and what the scan itself cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.money import Price, PriceItem
from slackwater.model.policy_version import DEFAULTS, PolicyVersion
from slackwater.model.resources import Resource, Target
from slackwater.model.verdicts import Advice, Confidence, Evidence, FindingKind, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """An advice with its price. `monthly_savings_usd` is None if a price is unknown, negative if it costs more."""

    advice: Advice
    monthly_savings_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """A price that the savings are calculated with."""

    item: PriceItem
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A flagged resource with prices. Its savings are those of its first recommendation."""

    id: str
    detector: str
    kind: FindingKind
    severity: Severity
    confidence: Confidence
    resource: Resource
    owner: str | None
    summary: str
    evidence: tuple[Evidence, ...]
    recommendations: tuple[Recommendation, ...]
    price_basis: tuple[PriceBasis, ...]
    caveats: tuple[str, ...]
    fingerprint: str

    @property
    def monthly_savings_usd(self) -> Decimal | None:
        """The savings of the first recommendation; zero if there is none."""
        return self.recommendations[0].monthly_savings_usd if self.recommendations else Decimal(0)


@dataclass(frozen=True, slots=True)
class UnknownVerdict:
    """A question without an answer, and why."""

    detector: str
    resource: Resource
    reason: str


type UnlistedReason = Literal[
    "kept by a tag",
    "saves less than the policy's minimum",
    "to change it would cost more",
    "a stronger finding tells of it",
]
KEPT: Final[UnlistedReason] = "kept by a tag"
BELOW_MINIMUM: Final[UnlistedReason] = "saves less than the policy's minimum"
COSTS_MORE: Final[UnlistedReason] = "to change it would cost more"
STRONGER_FINDING: Final[UnlistedReason] = "a stronger finding tells of it"
ALSO_FOUND: Final = "The same issue was also found by {}. Only this finding is reported."
"""The caveat of a finding that covers others, which it names: `efs-idle, ebs-idle of vol-1`."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A suppressed finding: a tag or the policy excludes it, or a stronger finding reports the same issue."""

    detector: str
    resource: Resource
    reason: UnlistedReason


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A call that failed: denied, throttled until the end, broken, or refused because the metrics would cost too much.

    A required gap (not `optional`) makes its target incomplete. `what` is the call, as IAM names it.
    """

    account: str
    region: str
    what: str
    reason: str
    optional: bool = False


REGION_DISABLED: Final = "organizations:ServiceControlPolicy"
"""The `what` of the one gap if a service control policy denies every call in a region. It is optional."""

NOT_ENABLED: Final = "account:EnableRegion"
"""The `what` of the one gap if AWS does not know the credentials in a region, because it is not enabled."""


CEILING: Final = "scan.most_metrics_usd would be passed"
"""How the reason begins if a metric was not requested, because the audit would have cost more than allowed."""
DAY_CEILING: Final = "scan.most_metrics_usd_per_day would be passed"
"""The same for the costs of all audits of a day."""
KEPT_FOR_OTHERS: Final = " beside what is kept for other accounts"
"""How the reason ends if an account has used its share, and the rest is reserved for other accounts."""
HELD_BACK: Final = re.compile(
    r"(?P<key>scan\.most_metrics_usd(?:_per_day)?) would be passed: (?P<spent>[\d.]+) of (?P<most>[\d.]+) USD were "
    r"spent"
    rf"(?P<kept>{KEPT_FOR_OTHERS})?"
)
"""The whole reason, with the policy's key, what was spent by then and the maximum, in USD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the scan itself asked of AWS. `estimated_usd` is what its metric requests cost."""

    api_calls: Mapping[str, int]
    metrics_requested: int
    datapoints: int
    estimated_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetScan:
    """The part of a scan about one target. `resources` counts them by kind."""

    target: Target
    findings: tuple[Finding, ...]
    unknown: tuple[UnknownVerdict, ...]
    gaps: tuple[Gap, ...]
    resources: Mapping[str, int]
    unlisted: tuple[Unlisted, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether no required call failed."""
        return all(gap.optional for gap in self.gaps)

    @property
    def closed(self) -> bool:
        """Whether a service control policy blocks the region: complete, but its resources are unknown."""
        return any(gap.what == REGION_DISABLED for gap in self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A scan of all its targets, as of `as_of`, with the detectors that ran and the version of the policy.

    With `more` it is one chunk of a large target, and another follows.
    """

    id: str
    as_of: datetime
    started_at: datetime
    finished_at: datetime
    targets: tuple[TargetScan, ...]
    gaps: tuple[Gap, ...]
    usage: Usage
    detectors: tuple[str, ...] = ()
    policy: PolicyVersion = DEFAULTS
    more: bool = False

    @property
    def complete(self) -> bool:
        """Whether no required call failed, neither for a target nor before."""
        return all(t.complete for t in self.targets) and all(g.optional for g in self.gaps)
