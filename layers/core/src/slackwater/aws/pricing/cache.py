"""Caches prices on disk for a week. They change a few times a year, so a scan does not need to request each again."""

import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

from slackwater.model.money import Price

LOG: Final = logging.getLogger(__name__)

KEPT: Final = timedelta(days=7)
KEPT_UNKNOWN: Final = timedelta(days=1)
"""An item without a price is requested again sooner, because the next version may have a better query."""


@dataclass(frozen=True, slots=True)
class NoPrice:
    """Why the price list has no single price for an item, and when it was read."""

    reason: str
    as_of: date


class PriceCache:
    """Responses of the price list by region and item id, in one JSON file per region.

    A file that cannot be used is ignored, with a warning.
    """

    def __init__(self, folder: Path | None, today: date) -> None:
        """Use this folder; None caches nothing."""
        self._folder = folder
        self._today = today

    def read(self, region: str) -> dict[str, Price | NoPrice]:
        """Return the responses that have not expired, by item id."""
        if self._folder is None:
            return {}
        path = self._path(self._folder, region)
        try:
            kept = {id_: _answer(entry) for id_, entry in json.loads(path.read_text("utf-8")).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, ArithmeticError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("The price cache %s cannot be read and is ignored: %r", path, error)
            return {}
        return {id_: answer for id_, answer in kept.items() if self._is_fresh(answer)}

    def write(self, region: str, answers: Mapping[str, Price | NoPrice]) -> None:
        """Replace a region's file. The replacement is atomic, so readers see the old or the new file."""
        if self._folder is None:
            return
        path = self._path(self._folder, region)
        content = {id_: _entry(answer) for id_, answer in answers.items()}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self._folder, delete=False) as file:
                json.dump(content, file, indent=1, sort_keys=True)
            Path(file.name).replace(path)
        except OSError as error:
            LOG.warning("The price cache %s cannot be written: %r", path, error)

    def _is_fresh(self, answer: Price | NoPrice) -> bool:
        kept = KEPT if isinstance(answer, Price) else KEPT_UNKNOWN
        return self._today - kept <= answer.as_of <= self._today

    @staticmethod
    def _path(folder: Path, region: str) -> Path:
        return folder / f"prices-{region}.json"


def _entry(answer: Price | NoPrice) -> Mapping[str, str]:
    problem = (
        {"unknown": answer.reason} if isinstance(answer, NoPrice) else {"usd": str(answer.usd), "source": answer.source}
    )
    return {**problem, "as_of": answer.as_of.isoformat()}


def _answer(entry: Mapping[str, str]) -> Price | NoPrice:
    as_of = date.fromisoformat(entry["as_of"])
    if "unknown" in entry:
        return NoPrice(entry["unknown"], as_of)
    usd = Decimal(entry["usd"])
    if not usd.is_finite() or usd <= 0:
        raise ValueError(f"{entry['usd']} is no price")
    return Price(usd, entry["source"], as_of)
