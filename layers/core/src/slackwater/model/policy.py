"""What operators may change: sections of the policy file, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field

from slackwater.model.audits import DEFAULTS, PolicyVersion
from slackwater.model.detector import Limits


class Section(BaseModel):
    """A section of the policy file: unknown keys and wrong types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ScanSection(Section):
    """Where to look, and what is worth saying."""

    regions: list[str] = Field(default=[], description="Regions to scan when the command line names none.")
    minimum_monthly_savings_usd: float = Field(
        default=1, ge=0, description="Waste that would save less than this, in USD a month, is counted but not listed."
    )


class ExemptSection(Section):
    """Tags that protect a resource from waste findings (never from performance findings)."""

    keep_tags: list[str] = Field(
        default=["keep"], description="Tag keys that protect for good, whatever their value; case does not matter."
    )
    keep_until_tags: list[str] = Field(
        default=["keep-until"],
        description="Tag keys whose value, an RFC 3339 time or date, protects until then; a value nobody can read protects.",
    )


class PricesSection(Section):
    """What you really pay."""

    discount_percent: float = Field(default=0, ge=0, lt=100, description="Discount on every list price, in percent.")
    overrides: dict[str, dict[str, float]] = Field(
        default={},
        description='Your own unit prices in USD, without discount: [prices.overrides.<region>] "ebs.gp3.storage" = 0.07',
    )


class OwnersSection(Section):
    """Who a resource belongs to."""

    tags: list[str] = Field(
        default=["Owner", "owner", "Team", "team"], description="Tag keys that name the owner; the first that is there wins."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A checked policy. `limits` holds every detector that is on, by id; `version` is the text it was read from."""

    limits: Mapping[str, Limits]
    scan: ScanSection = field(default_factory=ScanSection)
    exempt: ExemptSection = field(default_factory=ExemptSection)
    prices: PricesSection = field(default_factory=PricesSection)
    owners: OwnersSection = field(default_factory=OwnersSection)
    version: PolicyVersion = DEFAULTS

    @property
    def discount(self) -> Decimal:
        """The factor on list prices: 0.9 for a discount of 10 %."""
        return 1 - Decimal(str(self.prices.discount_percent)) / 100
