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
"""The orders of a list of findings. A minus means the largest, or the newest, first."""

PAGE: Final = 50
MAX_PAGE: Final = 200


class BadCursorError(Exception):
    """The cursor is not from this store, or not from this query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingQuery:
    """Findings of one status. None does not filter. Unknown savings come last, and never match a minimum."""

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
    """One page of a list, and the cursor of the next; None at the end."""

    items: tuple[T, ...]
    cursor: str | None
