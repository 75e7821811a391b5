"""Ask before you build: works out an estimate, with the prices and instance types it turns out to need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from slackwater.app.policy import LIST_REGIONS
from slackwater.engine.registry import estimates
from slackwater.model.estimates import Answer, AnyEstimate, InputError, Inputs, Known
from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.money import Price, PriceItem
from slackwater.model.nearest import did_you_mean, unknown
from slackwater.ports import InstanceTypes, Prices


class EstimateError(Exception):
    """What was asked cannot be answered: the inputs that are wrong, and what is wrong with each."""

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        """`problems` are pairs of an input's name, which may be empty, and what is wrong."""
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{field}: {problem}" if field else problem for field, problem in self.problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A worked estimate, with what it was asked (defaults included) and which prices it used."""

    kind: str
    inputs: Mapping[str, Any]
    answer: Answer[Any]
    price_basis: tuple[PriceBasis, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Answers estimates. `default_region` is taken where none is named; `regions` are all that there are."""

    prices: Prices
    types: InstanceTypes
    default_region: str
    regions: Collection[str]

    def answer(self, kind: str, said: Mapping[str, Any]) -> Estimated:
        """Work out the estimate of this kind for inputs as they were typed, by name.

        Raises:
            EstimateError: with every input that is wrong.
        """
        if problem := unknown("estimate", [kind], estimates(), "slackwater estimate --help"):
            raise EstimateError([("", problem[0])])
        estimate = estimates()[kind]
        inputs = checked(estimate, said)
        region = inputs.region or self.default_region
        if problem := unknown("region", [region], self.regions, LIST_REGIONS):
            raise EstimateError([("region", problem[0])])
        return self._answer(kind, estimate, inputs, region, said)

    def _answer(self, kind: str, estimate: AnyEstimate, inputs: Inputs, region: str, said: Mapping[str, Any]) -> Estimated:
        """Work it out again with whatever it asked for the last time, until it asks for nothing new."""
        prices, gaps = dict[PriceItem, Price](), dict[Gap, None]()
        items, families = set[PriceItem](), set[str]()
        types, found = self.types.of((), region)
        gaps |= dict.fromkeys(found)
        while True:
            known = Known(region, types, prices, inputs.hours_per_month)
            answered = _worked(estimate, inputs, known)
            new_items, new_families = known.items_asked.keys() - items, known.families_asked.keys() - families
            if not new_items and not new_families:
                break
            if new_items:
                items |= new_items
                table, found = self.prices.of(new_items, region)
                prices |= table
                gaps |= dict.fromkeys(found)
            if new_families:
                families |= new_families
                types, found = self.types.of(families, region)
                gaps |= dict.fromkeys(found)
        if isinstance(answered, InputError):
            raise EstimateError([(answered.field, answered.problem)])
        defaults = {name: field.default for name, field in estimate.inputs.model_fields.items() if not field.is_required()}
        return Estimated(
            kind=kind,
            inputs={**defaults, **said, "region": region},
            answer=answered,
            price_basis=tuple(PriceBasis(item, prices[item]) for item in sorted(items) if item in prices),
            gaps=tuple(gaps),
        )


def _worked(estimate: AnyEstimate, inputs: Inputs, known: Known) -> Answer[Any] | InputError:
    try:
        answer: Answer[Any] = estimate.work(inputs, known)
    except InputError as error:  # a type that only the account knows, perhaps: it is told once that has been asked
        return error
    return answer


def checked(estimate: AnyEstimate, said: Mapping[str, Any]) -> Inputs:
    """The inputs, read.

    Raises:
        EstimateError: with every one that is wrong.
    """
    try:
        inputs: Inputs = estimate.inputs.model_validate(dict(said))
    except ValidationError as error:
        raise EstimateError(_problem(estimate, one) for one in error.errors()) from error
    return inputs


def _problem(estimate: AnyEstimate, one: Any) -> tuple[str, str]:
    field = str(one["loc"][0]) if one["loc"] else ""
    match one["type"]:
        case "extra_forbidden":
            return field, f"no such input; {did_you_mean(field, estimate.inputs.model_fields, 'the documentation')}"
        case "missing":
            description = estimate.inputs.model_fields[field].description
            return field, f"is needed: {description}"
        case "literal_error":
            choices = one["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            return field, f"{one['input']!r}: {did_you_mean(str(one['input']), choices, '')}"
        case "value_error":
            given = f"{one['input']!r}: " if one["loc"] and isinstance(one["input"], str | int | float) else ""
            return field, f"{given}{one['ctx']['error']}"
        case _:
            return field, f"{one['input']!r}: {one['msg']}"
