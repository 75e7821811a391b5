"""Queries of the store: filters, order, pages."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from slackwater.model.tracking import Status
from slackwater.model.verdicts import Severity

type FindingOrder = Literal["-monthly_savings_usd", "monthly_savings_usd", "-opened_at", "opened_at"]
FINDING_ORDERS: Final[tuple[FindingOrder, ...]] = (
    "-monthly_savings_usd",
    "monthly_savings_usd",
    "-opened_at",
    "opened_at",
)
"""The orders of a list of findings. A minus means that the largest or newest come first."""

PAGE: Final = 50
MAX_PAGE: Final = 200


class BadCursorError(Exception):
    """The cursor is not from this store, or not from this query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingQuery:
    """Filters and order of a list of findings. None does not filter. Unknown savings come last and match no minimum."""

    status: Status = "open"
    detector: str | None = None
    account: str | None = None
    region: str | None = None
    severity: Severity | None = None
    minimum_monthly_savings_usd: Decimal | None = None
    order: FindingOrder = "-monthly_savings_usd"
    limit: int = PAGE
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page[T]:
    """One page of a list, and the cursor of the next page; None on the last page."""

    items: tuple[T, ...]
    cursor: str | None
