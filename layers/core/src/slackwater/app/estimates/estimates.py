"""Calculates an estimate, and reads the prices and instance types that it asks for."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from slackwater.app.policy.names import LIST_REGIONS
from slackwater.engine.registry import estimates
from slackwater.model.estimated import Estimated
from slackwater.model.estimates import Answer, AnyEstimate, InputError, Inputs, Known
from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.money import Price, PriceItem, PriceTable
from slackwater.model.nearest import did_you_mean, unknown
from slackwater.ports.inventory import InstanceTypes
from slackwater.ports.prices import Prices


class EstimateError(Exception):
    """Inputs are invalid. `problems` says which of them, and why."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        """Create the error from pairs of an input's name, which may be empty, and its problem."""
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{field}: {problem}" if field else problem for field, problem in self.problems))


class UnknownKindError(EstimateError):
    """There is no estimate of this kind."""


MOST_ROUNDS: Final = 8
"""How often an estimate may ask for more prices and types. It usually has everything after two or three rounds."""
MOST_NAMED: Final = 3
"""How many items without a price the summary names."""
LONGEST_SHOWN: Final = 60
"""How many characters of a wrong input messages repeat, and compare with valid names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Calculates estimates. `default_region` applies if none is given. `regions` are all regions that exist."""

    prices: Prices
    types: InstanceTypes
    default_region: str
    regions: Collection[str]

    def answer(self, kind: str, typed: Mapping[str, Any]) -> Estimated:
        """Calculate the estimate of this kind.

        Args:
            kind: The estimate.
            typed: The inputs by name, as a person typed them.

        Raises:
            UnknownKindError: There is no such estimate.
            EstimateError: Names every input that is wrong.
        """
        for problem in unknown("estimate", [kind], estimates(), "slackwater estimate --help"):
            raise UnknownKindError([("", problem)])
        estimate = estimates()[kind]
        inputs = self._read(estimate, typed)
        region = self.default_region if inputs.region is None else inputs.region
        answered, items, table, gaps = self._answer(kind, estimate, inputs, region)
        unpriced = tuple(sorted(items - table.keys()))
        return Estimated(
            kind=kind,
            inputs={name: typed.get(name, default) for name, default in _defaults(estimate)} | {"region": region},
            answer=replace(answered, summary=f"{answered.summary}{_without_price(unpriced, region)}"),
            price_basis=tuple(PriceBasis(item, table[item]) for item in sorted(table)),
            unpriced=unpriced,
            gaps=gaps,
        )

    def _read(self, estimate: AnyEstimate, typed: Mapping[str, Any]) -> Inputs:
        problems = list[tuple[str, str]]()
        try:
            inputs: Inputs = estimate.inputs.model_validate(dict(typed))
        except ValidationError as error:
            problems += (_problem(estimate, one) for one in error.errors())
        if isinstance(region := typed.get("region"), str) and "region" not in dict(problems):
            problems += (("region", problem) for problem in unknown("region", [region], self.regions, LIST_REGIONS))
        if problems:
            raise EstimateError(problems)
        return inputs

    def _answer(
        self, kind: str, estimate: AnyEstimate, inputs: Inputs, region: str
    ) -> tuple[Answer[Any], set[PriceItem], PriceTable, tuple[Gap, ...]]:
        """Calculate the estimate again with what it asked for in the last round, until it asks for nothing new.

        Returns:
            The answer, the items whose price it needs, the known prices, and the gaps.
        """
        prices, items, families = dict[PriceItem, Price](), set[PriceItem](), set[str]()
        types, found = self.types.of((), region)
        gaps = dict.fromkeys(found)
        for _ in range(MOST_ROUNDS):
            known = Known(region, types, prices, inputs.hours_per_month)
            answered = _worked(estimate, inputs, known)
            new_items, new_families = known.items_asked.keys() - items, known.families_asked.keys() - families
            if not new_items and not new_families:
                if isinstance(answered, InputError):
                    raise EstimateError([(answered.field, answered.problem)])
                return answered, items, prices, tuple(gaps)
            if new_items:
                items |= new_items
                table, found = self.prices.of(new_items, region)
                prices |= table
                gaps |= dict.fromkeys(found)
            if new_families:
                families |= new_families
                types, found = self.types.of(families, region)
                gaps |= dict.fromkeys(found)
        raise RuntimeError(f"the estimate {kind} asks without end: {sorted(new_items)}, {sorted(new_families)}")


def _without_price(items: Sequence[PriceItem], region: str) -> str:
    """Return a sentence that names the items without a known price; empty if there are none."""
    if not items:
        return ""
    named = ", ".join(item.id for item in items[:MOST_NAMED])
    more = f" and {len(items) - MOST_NAMED} more" if len(items) > MOST_NAMED else ""
    return f" No price is known in {region} for {named}{more}."


def _worked(estimate: AnyEstimate, inputs: Inputs, known: Known) -> Answer[Any] | InputError:
    try:
        answer: Answer[Any] = estimate.work(inputs, known)
    except InputError as error:  # an instance type may still be unknown because its family is not read yet
        return error
    return answer


def _defaults(estimate: AnyEstimate) -> Iterator[tuple[str, Any]]:
    """Yield every input by name with its default, in the model's order. A required input's default has no meaning."""
    for name, field in estimate.inputs.model_fields.items():
        yield name, field.get_default(call_default_factory=True, validated_data={})


def _problem(estimate: AnyEstimate, one: Any) -> tuple[str, str]:
    field = str(one["loc"][0]) if one["loc"] else ""
    match one["type"]:
        case "extra_forbidden":
            near = did_you_mean(field[:LONGEST_SHOWN], estimate.inputs.model_fields, "the documentation")
            return field, f"no such input; {near}"
        case "missing":
            description = estimate.inputs.model_fields[field].description or field
            return field, f"is needed: {description[0].lower()}{description[1:]}"
        case "literal_error":
            choices = one["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            typed = one["input"][:LONGEST_SHOWN] if isinstance(one["input"], str) else ""
            near = did_you_mean(typed, choices, "the documentation")
            there_are = f" There are {', '.join(choices)}" if near.endswith("?") and len(choices) > 1 else ""
            return field, f"{_shown(one)}{near}{there_are}"
        case "value_error":
            return field, f"{_shown(one)}{one['ctx']['error']}"
        case _:
            words = PROBLEMS.get(one["type"], one["msg"]).format_map(one.get("ctx", {}))
            return field, f"{_shown(one)}{words}"


PROBLEMS: Final = {
    "int_type": "a whole number is needed, such as 40000",
    "float_type": "a number is needed",
    "finite_number": "a finite number is needed",
    "list_type": "a list is needed",
    "bool_type": "true or false is needed",
    "greater_than": "more than {gt:g} is needed",
    "greater_than_equal": "at least {ge:g} is needed",
    "less_than": "less than {lt:g} is needed",
    "less_than_equal": "at most {le:g} is allowed",
    "string_too_long": "at most {max_length} characters are allowed",
    "too_long": "at most {max_length} are allowed",
}
"""Messages for pydantic's types of error."""


def _shown(one: Any) -> str:
    """Return what was typed, if it fits on a line."""
    match one["input"]:
        case str(text):
            return f"{text!r}: " if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]!r}…: "
        case int(number) if number.bit_length() > LONGEST_SHOWN:
            return ""
        case int() | float() as typed:
            return f"{typed}: "
        case _:
            return ""
