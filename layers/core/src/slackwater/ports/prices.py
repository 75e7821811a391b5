"""The protocol that reads prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from slackwater.model.findings import Gap
    from slackwater.model.money import PriceItem, PriceTable


class Prices(Protocol):
    """Reads what things cost in a region."""

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Every price that is known; a live price that could not be read is an optional gap."""
        ...
