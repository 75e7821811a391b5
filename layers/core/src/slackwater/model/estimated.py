"""What came of an estimate: the answer, and what it was asked and rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slackwater.model.estimates import Answer
from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.money import PriceItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A worked estimate, with what it was asked (defaults included), and which prices it used and had not."""

    kind: str
    inputs: Mapping[str, Any]
    answer: Answer[Any]
    price_basis: tuple[PriceBasis, ...]
    unpriced: tuple[PriceItem, ...]
    gaps: tuple[Gap, ...]
