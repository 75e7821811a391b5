"""Keeps prices on disk for a week: they change a few times a year, and a scan should not ask for each again."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

from slackwater.model.money import Price

LOG: Final = logging.getLogger(__name__)

KEPT: Final = timedelta(days=7)


class PriceCache:
    """List prices by region and item id, one JSON file a region. A file that cannot be used is ignored, with a warning."""

    def __init__(self, folder: Path | None, today: date) -> None:
        """Without a folder nothing is kept."""
        self._folder = folder
        self._today = today

    def read(self, region: str) -> dict[str, Price]:
        """Prices that are at most a week old, by item id."""
        if self._folder is None:
            return {}
        path = self._path(self._folder, region)
        try:
            kept = {id_: _price(entry) for id_, entry in json.loads(path.read_text("utf-8")).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, ArithmeticError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("The price cache %s cannot be read and is ignored: %r", path, error)
            return {}
        return {id_: price for id_, price in kept.items() if self._today - KEPT <= price.as_of <= self._today}

    def write(self, region: str, prices: Mapping[str, Price]) -> None:
        """Replace a region's file; readers see the old one or the new one, whole."""
        if self._folder is None:
            return
        path = self._path(self._folder, region)
        content = {id_: {"usd": str(p.usd), "source": p.source, "as_of": p.as_of.isoformat()} for id_, p in prices.items()}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self._folder, delete=False) as file:
                json.dump(content, file, indent=1, sort_keys=True)
            Path(file.name).replace(path)
        except OSError as error:
            LOG.warning("The price cache %s cannot be written: %r", path, error)

    @staticmethod
    def _path(folder: Path, region: str) -> Path:
        return folder / f"prices-{region}.json"


def _price(entry: Mapping[str, str]) -> Price:
    usd = Decimal(entry["usd"])
    if not usd.is_finite() or usd <= 0:
        raise ValueError(f"{entry['usd']} is no price")
    return Price(usd, entry["source"], date.fromisoformat(entry["as_of"]))
