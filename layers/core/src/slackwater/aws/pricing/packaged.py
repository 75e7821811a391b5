"""Packaged prices and instance types. Does not import botocore, which takes longer than an offline estimate."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final

from slackwater.model.findings import Gap
from slackwater.model.money import Price, PriceItem, PriceTable
from slackwater.model.resources import InstanceType

NOT_ASKED: Final = "not requested: packaged values are used"
DESCRIBE_TYPES: Final = "ec2:DescribeInstanceTypes"


class PackagedPrices:
    """Prices from the packaged snapshot only."""

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Return every packaged price. An optional gap says that AWS was not asked."""
        packaged = snapshot(region)
        table = {item: packaged[item.id] for item in items if item.id in packaged}
        return table, [Gap("", "", "pricing:GetProducts", NOT_ASKED, optional=True)]


def snapshot(region: str) -> Mapping[str, Price]:
    """Return the packaged list prices of a region by item id, with source and date. Empty for most regions."""
    return _packaged().get(region, {})


def packaged_regions() -> list[str]:
    """Return the regions that have packaged prices, sorted."""
    return sorted(_packaged())


@cache
def _packaged() -> Mapping[str, Mapping[str, Price]]:
    data = json.loads(files("slackwater.aws").joinpath("data/prices.json").read_text("utf-8"))
    return {
        region: {
            id_: Price(Decimal(entry["usd"]), f"snapshot: {entry['source']}", date.fromisoformat(entry["as_of"]))
            for id_, entry in entries.items()
        }
        for region, entries in data["regions"].items()
    }


class PackagedTypes:
    """Instance types from the packaged snapshot only."""

    def of(self, families: Iterable[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:  # noqa: ARG002
        """Return every packaged type. If there are families, an optional gap says that AWS was not asked about them."""
        asked = [Gap("", "", DESCRIBE_TYPES, NOT_ASKED, optional=True)] if [*families] else []
        return type_snapshot(), asked


@cache
def type_snapshot() -> tuple[InstanceType, ...]:
    """Return the packaged instance types. Their source is the date of the snapshot."""
    data = _packaged_types()
    source = f"snapshot {snapshot_date()}"
    return tuple(
        InstanceType(id=name, source=source, **dict(zip(data["columns"], row, strict=True)))
        for name, row in data["types"].items()
    )


def snapshot_date() -> date:
    """Return the date of the packaged instance types."""
    return date.fromisoformat(_packaged_types()["as_of"])


@cache
def _packaged_types() -> Any:
    return json.loads(files("slackwater.aws").joinpath("data/instance_types.json").read_text("utf-8"))
