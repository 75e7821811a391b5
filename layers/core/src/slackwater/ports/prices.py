"""The protocol that reads prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from slackwater.model.findings import Gap
    from slackwater.model.money import PriceItem, PriceTable


class Prices(Protocol):
    """Reads prices of a region."""

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Return every known price. A live price that could not be read is an optional gap."""
        ...
