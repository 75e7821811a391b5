"""Finds prices: the policy's own, else AWS's price list (cached for a week), else the packaged and dated snapshot."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from slackwater.aws.client.deadline import TookTooLongError
from slackwater.aws.client.errors import is_final, reason
from slackwater.aws.client.pages import pages
from slackwater.aws.pricing.cache import NoPrice, PriceCache
from slackwater.aws.pricing.packaged import snapshot
from slackwater.aws.pricing.records import Quote, UnknownPriceError, quote
from slackwater.model.findings import Gap
from slackwater.model.money import Price, PriceItem, PriceTable
from slackwater.model.price_queries import PriceQuery, query_for

if TYPE_CHECKING:
    from pathlib import Path

    from slackwater.aws.client.deadline import Deadline
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"pricing:GetProducts"})

PRICING_REGION: Final = "us-east-1"
"""The API has few endpoints. Each returns the prices of all regions of its partition."""

PARTITION: Final = "aws"
"""The partition whose API lists prices in USD. In `aws-cn` they are in CNY, and `aws-us-gov` has no such API."""

AT_ONCE: Final = 4
PAGE: Final = 100
PATIENCE: Final = 3
"""Failed calls after which the price list is not called again in this scan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPrices:
    """What the policy says about prices.

    Attributes:
        discount: The factor on list prices: 0.9 for 10 % off.
        overrides: Prices in USD that replace list prices, by region and item id.
    """

    discount: Decimal = Decimal(1)
    overrides: Mapping[str, Mapping[str, Decimal]] = field(default_factory=dict)


LIST_PRICES: Final = PolicyPrices()
"""No discount and no overrides."""


class PriceList:
    """Prices by region, in USD for one unit of an item. Thread-safe."""

    def __init__(
        self,
        session: AwsSession,
        cache_dir: Path | None,
        today: date,
        own: PolicyPrices = LIST_PRICES,
        deadline: Deadline | None = None,
    ) -> None:
        """Create the price list. Makes no call.

        Args:
            session: The AWS session.
            cache_dir: Where to cache prices; None caches none.
            today: The day of the prices, for their source.
            own: The policy's discount and prices.
            deadline: When to stop reading prices; None means never.
        """
        self._session = session
        self._cache_dir = cache_dir
        self._discount = own.discount
        self._overrides = own.overrides
        self._today = today
        self._deadline = deadline
        self._lock = threading.Lock()
        self._refused: str | None = None

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Return every known price, and at most one gap.

        The gap is optional, has no account and region, and lists what the price list could not answer.
        """
        wanted = sorted(set(items))
        own = {
            item: Price(self._overrides[region][item.id], "policy", self._today)
            for item in wanted
            if item.id in self._overrides.get(region, {})
        }
        listed, problems = self._listed([item for item in wanted if item not in own], region)
        table = own | {item: self._discounted(price) for item, price in listed.items()}
        gaps = [Gap("", "", "pricing:GetProducts", "; ".join(problems), optional=True)] if problems else []
        return table, gaps

    def _cache(self) -> PriceCache:
        """Return the cache of this endpoint.

        A separate cache ensures that a simulated price never applies to a real account.
        """
        if self._cache_dir is None:
            return PriceCache(None, self._today)
        host = urlsplit(self._session.client("pricing", PRICING_REGION).meta.endpoint_url).netloc
        return PriceCache(self._cache_dir / re.sub(r"[^\w.-]", "_", host), self._today)

    def _discounted(self, price: Price) -> Price:
        if self._discount == 1:
            return price
        return replace(price, usd=price.usd * self._discount, source=f"{price.source}, times {self._discount}")

    def _listed(self, items: list[PriceItem], region: str) -> tuple[dict[PriceItem, Price], list[str]]:
        """Return list prices, and the reasons for those that are missing."""
        if not items:
            return {}, []
        partition = self._session.partition_of(region)
        if partition != PARTITION:
            packaged = {item: price for item in items if (price := snapshot(region).get(item.id))}
            why = (
                f"partition {partition} has no price list in USD: unknown is what the policy's prices.overrides do not "
                "say"
            )
            return packaged, [why] if len(packaged) < len(items) else []
        with self._lock:
            cache = self._cache()
            answers = cache.read(region)
            queries = {item.id: query_for(item.id) for item in items if item.id not in answers}
            live, reasons = self._live({id_: query for id_, query in queries.items() if query}, region)
            if live:
                answers |= live
                cache.write(region, answers)
        answers |= {
            id_: NoPrice(f"{id_}: not known to be in the price list", self._today)
            for id_, q in queries.items()
            if not q
        }
        unread = queries.keys() - answers.keys()
        # The snapshot replaces a price list that cannot be read, but not an unexpected answer.
        answers |= {id_: price for id_, price in snapshot(region).items() if id_ in unread}
        reasons = sorted(set(reasons))
        reasons += [answer.reason for item in items if isinstance(answer := answers.get(item.id), NoPrice)]
        return {item: answer for item in items if isinstance(answer := answers.get(item.id), Price)}, reasons

    def _live(self, queries: Mapping[str, PriceQuery], region: str) -> tuple[dict[str, Price | NoPrice], list[str]]:
        """Request each item. Return the responses, and why others have none.

        After a final error, a passed deadline or `PATIENCE` failed calls, it makes no more calls in this scan.
        """
        answers, failures = dict[str, Price | NoPrice](), list[str]()

        def ask(id_: str) -> None:
            if self._refused is not None:
                return
            try:
                if self._deadline:
                    self._deadline.check()
                answers[id_] = self._price(self._quote(queries[id_], id_, region))
            except UnknownPriceError as error:
                answers[id_] = NoPrice(str(error), self._today)
            except Exception as error:  # noqa: BLE001 -- after any error, the snapshot is used
                failures.append(reason(error))
                if is_final(error) or isinstance(error, TookTooLongError) or len(failures) == PATIENCE:
                    self._refused = failures[-1]

        # Request one item first, so that a missing permission costs only one call.
        for id_ in [*queries][:1]:
            ask(id_)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(ask, [*queries][1:]))
        return answers, failures or ([self._refused] if queries and self._refused else [])

    def _quote(self, query: PriceQuery, item_id: str, region: str) -> Quote:
        records = pages(
            self._session.client("pricing", PRICING_REGION).get_products,
            "PriceList",
            ServiceCode=query.service,
            FormatVersion="aws_v1",
            MaxResults=PAGE,
            Filters=[
                {"Type": "TERM_MATCH", "Field": field, "Value": value}
                for field, value in {"regionCode": region, **query.filters}.items()
            ],
        )
        return quote(records, query, item_id)

    def _price(self, found: Quote) -> Price:
        effective = f", effective {found.effective}" if found.effective else ""
        return Price(found.usd, f"AWS Price List, SKU {found.sku}{effective}", self._today)
