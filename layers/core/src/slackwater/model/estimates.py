"""What an estimate is: its inputs, its result and the pure function between them, one file each."""

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
    """Return a price as text, to the cent, or to a millionth if there is more: `189.18`, `0.005244`."""
    micro = usd.quantize(MICRO_USD)
    cents = micro.quantize(CENT)
    return str(cents) if cents == micro else f"{micro:f}".rstrip("0")


def usd_words(usd: Decimal | None) -> str:
    """Return a price for people, to the cent, or to four digits below a dollar: `2,400.00 USD`, `0.005244 USD`."""
    if usd is None:
        return "an unknown price"
    return f"{usd:,.2f} USD" if abs(usd) >= 1 else f"{usd_text(Decimal(f'{usd:.4g}'))} USD"


Usd = Annotated[
    Decimal,
    PlainSerializer(usd_text, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2,6}$"}),
]
"""US dollars. A string in documents."""

Figure = Annotated[float, PlainSerializer(lambda value: float(f"{value:.9g}"), return_type=float)]
"""A number with 9 significant digits in documents, without binary noise."""


class Inputs(BaseModel):
    """The inputs of an estimate. Every field has a description. A quantity is a text with its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    region: str | None = Field(default=None, description="Region of the prices and instance types", max_length=32)
    hours_per_month: float = Field(
        default=HOURS_PER_MONTH, ge=672, le=744, description="Hours in a month (AWS uses 730)"
    )


class Result(BaseModel):
    """The figures of an estimate. Every field has a description and its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def of(what: str, unit: str = "", *, null: str = "unknown") -> Any:
    """Declare a field of a Result.

    Args:
        what: What it is.
        unit: Its unit.
        null: What None means; "" if None means that the question was not asked. Then the field is hidden.
    """
    return Field(description=what, json_schema_extra={"unit": unit, "null": null})


class InputError(Exception):
    """An estimate has no answer for an input. The error names the input and the valid values."""

    def __init__(self, field: str, problem: str) -> None:
        """Create the error for the input with this name."""
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class Known:
    """Prices and instance types of one Region, for an estimate. It remembers which ones were used."""

    def __init__(
        self, region: str, types: Iterable[InstanceType], prices: PriceTable, hours_per_month: float = HOURS_PER_MONTH
    ) -> None:
        """Create the lookup. Prices that are not in `prices` are unknown."""
        self.region = region
        self.types: Mapping[str, InstanceType] = {one.id: one for one in types}
        self.prices = prices
        self.hours_per_month = Decimal(str(hours_per_month))
        self.items_asked: dict[PriceItem, None] = {}
        self.families_asked: dict[str, None] = {}

    def usd(self, *changes: Change) -> Decimal | None:
        """Return what these units cost together, in USD; None if one of the prices is unknown."""
        for change in changes:
            self.items_asked[change.item] = None
        if any(change.item not in self.prices for change in changes):
            return None
        return sum((change.quantity * self.prices[change.item].usd for change in changes), Decimal(0))

    def price(self, item: PriceItem) -> Decimal | None:
        """Return what one unit costs, in USD; None if unknown."""
        return self.usd(Change(item, Decimal(1)))

    def sizes(self, family: str) -> list[InstanceType]:
        """Return every size of a family such as `t3`; empty if the Region does not have the family."""
        self.families_asked[family] = None
        return [one for one in self.types.values() if one.family == family]

    def family(self, name: str, field: str) -> list[InstanceType]:
        """Return every size of a family that a person named.

        Raises:
            InputError: There is no such family.
        """
        if found := self.sizes(name):
            return found
        families = {one.family for one in self.types.values()}
        raise InputError(field, f"no instance family {name!r}; {did_you_mean(name, families, LIST_TYPES)}")

    def instance_type(self, name: str, field: str) -> InstanceType:
        """Return an instance type by its name.

        Raises:
            InputError: There is no such type.
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
    """Something to change to.

    Attributes:
        solves: Whether it solves the problem that was described.
        changes: The billed units that it saves (positive) or adds (negative) a month; None if they cannot be known.
    """

    id: str
    summary: str
    solves: bool
    changes: tuple[Change, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer[R: Result]:
    """A calculated estimate.

    Attributes:
        summary: The answer in one or two sentences.
        assumptions: Each begins with its kind: `assumed:`, `calibrated:`, `measured:`, or `rule:`.
        sources: Documents, and reports by their title and date.
    """

    summary: str
    result: R
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Estimate[I: Inputs, R: Result]:
    """One question about resources that do not have to exist. Its kind is the name of its file.

    Attributes:
        work: Calculates the answer. Raises InputError if the inputs make no sense together.
    """

    title: str
    inputs: type[I]
    result: type[R]
    work: Callable[[I, Known], Answer[R]]


type AnyEstimate = Estimate[Any, Any]
