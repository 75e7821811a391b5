"""The result of an estimate, with its inputs and prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slackwater.model.estimates import Answer
from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.money import PriceItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A calculated estimate, with its inputs (including defaults), the prices it used, and those that are unknown."""

    kind: str
    inputs: Mapping[str, Any]
    answer: Answer[Any]
    price_basis: tuple[PriceBasis, ...]
    unpriced: tuple[PriceItem, ...]
    gaps: tuple[Gap, ...]
