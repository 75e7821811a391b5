"""Finds the one matching price among the records that GetProducts returns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slackwater.model.price_queries import PriceQuery


class UnknownPriceError(Exception):
    """The records do not have exactly one price for an item, so any choice would be a guess."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A list price for one of Slackwater's units, with the SKU of the product and the day when it took effect."""

    usd: Decimal
    sku: str
    effective: str


def quote(price_list: Iterable[str], query: PriceQuery, item_id: str) -> Quote:
    """Return the one non-zero price that matches the query.

    Raises:
        UnknownPriceError: No price or several prices match, or a record cannot be read.
    """
    try:
        found = {one for text in price_list for one in _prices(json.loads(text), query, item_id)}
    except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation) as error:
        raise UnknownPriceError(f"{item_id}: a price record cannot be read ({error!r})") from error
    if len(found) != 1:
        skus = ", ".join(sorted(f"{one.sku} {one.usd}" for one in found))
        raise UnknownPriceError(f"{item_id}: {len(found)} prices fit{f' ({skus})' if skus else ''}")
    return found.pop()


def _prices(record: Mapping[str, Any], query: PriceQuery, item_id: str) -> Iterator[Quote]:
    product = record["product"]
    attributes = {**product["attributes"], "productFamily": product.get("productFamily")}
    if any(attributes.get(name) != value for name, value in query.filters.items()):
        return
    if not re.fullmatch(rf"(?:[A-Z]+\d*-)?{query.usage_type}", attributes["usagetype"]):
        return
    for term in record["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            first_tier = dimension.get("beginRange", "0") == "0"
            held = query.units.get(dimension["unit"])
            prices = dimension["pricePerUnit"]
            if "USD" not in prices:
                raise UnknownPriceError(f"{item_id}: a price is in {', '.join(prices) or 'no currency'}, not in USD")
            usd = Decimal(prices["USD"])
            if first_tier and held is not None and usd:
                yield Quote(usd / held, product["sku"], term.get("effectiveDate", "")[:10])
