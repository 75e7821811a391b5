"""What a scan says: findings with evidence and prices, what it could not see, and what it cost itself."""

from __future__ import annotations

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
    """An advice with its price. `monthly_savings_usd` is None where a price is unknown, negative where it costs more."""

    advice: Advice
    monthly_savings_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """A price that a figure rests on."""

    item: PriceItem
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A flagged resource, priced. Its saving is that of its first recommendation."""

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
        """The first recommendation's saving; zero where there is nothing to recommend."""
        return self.recommendations[0].monthly_savings_usd if self.recommendations else Decimal(0)


@dataclass(frozen=True, slots=True)
class UnknownVerdict:
    """A question that could not be answered, and why."""

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


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A question answered with yes that is not listed, as the policy or a tag wants it, or a stronger finding tells of it."""

    detector: str
    resource: Resource
    reason: UnlistedReason


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A call that was denied, throttled to the end or broken, or held back by the ceiling on metrics.

    A required one makes its target incomplete.
    """

    account: str
    region: str
    what: str
    reason: str
    optional: bool = False


CLOSED: Final = "organizations:ServiceControlPolicy"
"""What is missing where a service control policy denies all that would have to be read: everything, and it is optional."""

NOT_ENABLED: Final = "account:EnableRegion"
"""What is missing where AWS knows nobody, as where a region is not enabled: everything."""


CEILING: Final = "scan.most_metrics_usd would be passed"
"""How the reason begins where a metric was not asked for, because the audit would have spent more than it may."""
DAY_CEILING: Final = "scan.most_metrics_usd_per_day would be passed"
"""The same, because all audits of a day would have."""
KEPT_FOR_OTHERS: Final = " beside what is kept for other accounts"
"""How the reason ends where an account has used its share, and the rest is kept for others."""
HELD_BACK: Final = re.compile(
    rf"(?P<key>scan\.most_metrics_usd(?:_per_day)?) would be passed: (?P<spent>[\d.]+) of (?P<most>[\d.]+) USD were spent"
    rf"(?P<kept>{KEPT_FOR_OTHERS})?"
)
"""The whole reason, with the policy's key, what was spent then and the most that may be, in USD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the scan itself asked of AWS; `estimated_usd` is what the metric requests cost."""

    api_calls: Mapping[str, int]
    metrics_requested: int
    datapoints: int
    estimated_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetScan:
    """One target's part of a scan."""

    target: Target
    findings: tuple[Finding, ...]
    unknown: tuple[UnknownVerdict, ...]
    gaps: tuple[Gap, ...]
    resources: Mapping[str, int]
    unlisted: tuple[Unlisted, ...] = ()

    @property
    def complete(self) -> bool:
        """True when nothing required was missing."""
        return all(gap.optional for gap in self.gaps)

    @property
    def closed(self) -> bool:
        """True where a service control policy closes the region: complete, but nothing is known of what is there."""
        return any(gap.what == CLOSED for gap in self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A whole scan, over all its targets, judged as of `as_of`: the detectors it asked, and the policy it went by.

    With `more` it is a part of one large target, which another follows.
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
        """True when no target, and nothing before the targets, lacks something required."""
        return all(t.complete for t in self.targets) and all(g.optional for g in self.gaps)
