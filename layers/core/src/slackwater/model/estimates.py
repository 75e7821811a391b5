"""What an estimate is: a record of its inputs, its result and the pure function between them, one file each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema

from slackwater.model.money import Change, PriceItem, PriceTable
from slackwater.model.nearest import did_you_mean
from slackwater.model.resources import InstanceType
from slackwater.model.units import HOURS_PER_MONTH

MICRO_USD: Final = Decimal("0.000001")
CENT: Final = Decimal("0.01")


def usd_text(usd: Decimal) -> str:
    """A price as text: to the cent, and further down to a millionth where there is more: `189.18`, `0.005244`."""
    micro = usd.quantize(MICRO_USD)
    cents = micro.quantize(CENT)
    return str(cents) if cents == micro else f"{micro:f}".rstrip("0")


def usd_words(usd: Decimal | None) -> str:
    """A price for people, to the cent, or to four digits below a dollar: `2,400.00 USD`, `0.005244 USD`."""
    if usd is None:
        return "an unknown price"
    return f"{usd:,.2f} USD" if abs(usd) >= 1 else f"{usd_text(Decimal(f'{usd:.4g}'))} USD"


Usd = Annotated[
    Decimal,
    PlainSerializer(usd_text, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2,6}$"}),
]
"""US dollars; a string in documents."""

Figure = Annotated[float, PlainSerializer(lambda value: float(f"{value:.9g}"), return_type=float)]
"""A number, without binary noise in documents (9 significant digits)."""


class Inputs(BaseModel):
    """What an estimate is asked. Every field has a description; a quantity is a text with its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    region: str | None = Field(default=None, description="Region whose prices and instance types count", max_length=32)
    hours_per_month: float = Field(default=HOURS_PER_MONTH, ge=672, le=744, description="Hours in a month; AWS's own is 730")


class Result(BaseModel):
    """What an estimate answers. Every field says what it is, and its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def of(what: str, unit: str = "", *, null: str = "unknown") -> Any:
    """A field of a Result: what it is, in which unit, and what null means; "" for what nobody asked, which is not shown."""
    return Field(description=what, json_schema_extra={"unit": unit, "null": null})


class InputError(Exception):
    """Something that was asked cannot be answered: which inputs, and what would do."""

    def __init__(self, field: str, problem: str) -> None:
        """`field` is the input's name."""
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class Known:
    """What an estimate may look up: prices and instance types of one region. It remembers what it was asked for."""

    def __init__(
        self, region: str, types: Iterable[InstanceType], prices: PriceTable, hours_per_month: float = HOURS_PER_MONTH
    ) -> None:
        """Prices that are not in the table are unknown."""
        self.region = region
        self.types: Mapping[str, InstanceType] = {one.id: one for one in types}
        self.prices = prices
        self.hours_per_month = Decimal(str(hours_per_month))
        self.items_asked: dict[PriceItem, None] = {}
        self.families_asked: dict[str, None] = {}

    def usd(self, *changes: Change) -> Decimal | None:
        """What these units cost together; None where the price of one of them is unknown."""
        for change in changes:
            self.items_asked[change.item] = None
        if any(change.item not in self.prices for change in changes):
            return None
        return sum((change.quantity * self.prices[change.item].usd for change in changes), Decimal(0))

    def price(self, item: PriceItem) -> Decimal | None:
        """What one unit costs, where that is known."""
        return self.usd(Change(item, Decimal(1)))

    def sizes(self, family: str) -> list[InstanceType]:
        """Every size of a family such as `t3`; none where the region does not have it."""
        self.families_asked[family] = None
        return [one for one in self.types.values() if one.family == family]

    def family(self, name: str, field: str) -> list[InstanceType]:
        """Every size of a family that was named.

        Raises:
            InputError: of `field`; there is no such family.
        """
        if found := self.sizes(name):
            return found
        families = {one.family for one in self.types.values()}
        raise InputError(field, f"no instance family {name!r}; {did_you_mean(name, families, LIST_TYPES)}")

    def instance_type(self, name: str, field: str) -> InstanceType:
        """An instance type by its name.

        Raises:
            InputError: of `field`; there is no such type.
        """
        family, _, size = name.partition(".")
        if size:
            self.families_asked[family] = None
        if name in self.types:
            return self.types[name]
        siblings = [other for other in self.types if other.startswith(f"{family}.")]
        raise InputError(field, f"no instance type {name!r}; {did_you_mean(name, siblings or self.types, LIST_TYPES)}")


LIST_TYPES: Final = "aws ec2 describe-instance-types"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Something to change to. `changes` is what it saves (positive) or adds a month; None where nobody can know."""

    id: str
    summary: str
    solves: bool
    changes: tuple[Change, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer[R: Result]:
    """A worked estimate: what it says in a sentence or two, the figures, and what they rest on.

    An assumption begins with what it is: `assumed:`, `calibrated:`, `measured:`, or `rule:`. `sources` name documents, and
    reports by their title and date.
    """

    summary: str
    result: R
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Estimate[I: Inputs, R: Result]:
    """One question about resources that need not exist. The kind is the file's name.

    `work` raises InputError where what was asked makes no sense.
    """

    title: str
    inputs: type[I]
    result: type[R]
    work: Callable[[I, Known], Answer[R]]


type AnyEstimate = Estimate[Any, Any]
