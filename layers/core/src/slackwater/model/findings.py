"""The result of a scan: findings with evidence and prices, access errors, and the cost of the scan itself."""

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
    """A recommendation with its savings: None if a price is unknown, negative if it costs more."""

    advice: Advice
    monthly_savings_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """A price that was used to calculate the savings."""

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
    """An inconclusive check, and why it is inconclusive."""

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
"""The caveat of a finding that covers others. It names them: `efs-idle, ebs-idle of vol-1`."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A suppressed finding: a tag or the policy excludes it, or a stronger finding reports the same issue."""

    detector: str
    resource: Resource
    reason: UnlistedReason


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A failed call: denied, throttled on every try, broken, or not made because the metrics would cost too much.

    A failed call that is required (not `optional`) makes its target incomplete. `what` is the call, as IAM names it.
    """

    account: str
    region: str
    what: str
    reason: str
    optional: bool = False


REGION_DISABLED: Final = "organizations:ServiceControlPolicy"
"""The `what` of the only gap if a service control policy denies every call in a Region. That gap is optional."""

NOT_ENABLED: Final = "account:EnableRegion"
"""The `what` of the only gap if AWS rejects the credentials in a Region because the account has not enabled it."""


CEILING: Final = "scan.most_metrics_usd would be passed"
"""The start of the reason if a metric was not requested because the audit would have cost more than allowed."""
DAY_CEILING: Final = "scan.most_metrics_usd_per_day would be passed"
"""The start of the reason if all audits of the day would have cost more than allowed."""
KEPT_FOR_OTHERS: Final = " beside what is kept for other accounts"
"""The end of the reason if an account has used its share and the rest is reserved for other accounts."""
HELD_BACK: Final = re.compile(
    r"(?P<key>scan\.most_metrics_usd(?:_per_day)?) would be passed: (?P<spent>[\d.]+) of (?P<most>[\d.]+) USD were "
    r"spent"
    rf"(?P<kept>{KEPT_FOR_OTHERS})?"
)
"""Matches the whole reason, with the policy's key, the amount spent by then and the maximum, in USD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The scan's own requests to AWS. `estimated_usd` is what its metric requests cost, in USD."""

    api_calls: Mapping[str, int]
    metrics_requested: int
    datapoints: int
    estimated_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetScan:
    """The part of a scan that is about one target. `resources` counts its resources by kind."""

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
        """Whether a service control policy blocks the Region. The scan is complete then, but knows no resources."""
        return any(gap.what == REGION_DISABLED for gap in self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A scan of targets with the evaluation time `as_of`, the detectors that ran and the version of the policy.

    If `more` is set, this is one chunk of a large target, and another chunk follows.
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
        """Whether no required call failed, neither for a target nor before the targets were known."""
        return all(t.complete for t in self.targets) and all(g.optional for g in self.gaps)
