"""The estimates use case, with a made-up estimate and fakes for prices and instance types."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from slackwater.app.estimates import estimates as use_case
from slackwater.app.estimates.estimates import MOST_ROUNDS, Estimated, EstimateError, Estimates, UnknownKindError
from slackwater.model.estimates import Answer, AnyEstimate, Estimate, InputError, Inputs, Known, Result, of
from slackwater.model.findings import Gap
from slackwater.model.money import Price, PriceItem, PriceTable, ec2_hour
from slackwater.model.quantities import Size
from slackwater.model.resources import InstanceType

OLD, NEW = (
    InstanceType(
        id=name, vcpus=2, hypervisor="nitro", network_baseline_gbps=1, network_peak_gbps=1, network_cards=1,
        ebs_baseline_mbps=1, ebs_maximum_mbps=1, ebs_baseline_iops=1, ebs_maximum_iops=1, source="a test",
    )
    for name in ("a1.large", "b2.large")
)  # fmt: skip
REGIONS = ("ap-northeast-1", "us-east-1")


class Wanted(Inputs):
    """One input of each type."""

    instance_type: str = Field(description="The instance")
    size: Size = Field(default="1GiB", validate_default=True, description="How much")
    count: int = Field(default=1, ge=1, description="How many")
    mode: Literal["slow", "quick", "both"] = Field(default="slow", description="How")
    careful: bool = Field(default=False, description="Whether carefully")
    families: list[Annotated[str, Field(pattern="^[a-z0-9]+$")]] = Field(default_factory=list, max_length=2)


class Found(Result):
    """The result of the made-up estimate."""

    usd: str = of("Price")


def work(inputs: Wanted, known: Known) -> Answer[Found]:
    """Request an instance type, then its price. If the price is known, request another type's price."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    usd = known.price(ec2_hour(this.id))
    if usd is not None:
        known.price(ec2_hour("c3.large"))
    return answer(f"{known.region}: {usd} x {known.hours_per_month} x {inputs.size}")


def answer(words: str) -> Answer[Found]:
    return Answer(summary=words, result=Found(usd=words), assumptions=(), sources=())


@dataclass
class World:
    """The prices and instance types of an account. If `gap` is set, every call fails for this reason."""

    prices: Mapping[str, str] = field(default_factory=dict)
    account_types: Iterable[InstanceType] = ()
    gap: str = ""
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def types(self) -> "Types":
        return Types(self)

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        wanted = sorted(items)
        self.asked.append((region, tuple(item.id for item in wanted)))
        known = [item for item in wanted if item.id in self.prices]
        return {item: Price(Decimal(self.prices[item.id]), "a test", date(2026, 9, 1)) for item in known}, self.gaps

    @property
    def gaps(self) -> list[Gap]:
        return [Gap("", "", self.gap, "denied", optional=True)] if self.gap else []


@dataclass
class Types:
    """The instance types of the account."""

    world: World

    def of(self, families: Collection[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:
        self.world.asked.append((region, tuple(f"{family}.*" for family in sorted(families))))
        return [
            OLD,
            *(one for one in self.world.account_types if one.family in families),
        ], self.world.gaps if families else []


type Ask = Callable[..., Estimated]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that requests an estimate, by default the made-up one."""

    def asked(world: World, estimate: AnyEstimate | None = None, **inputs: Any) -> Estimated:
        made_up = estimate or Estimate(title="", inputs=Wanted, result=Found, work=work)
        monkeypatch.setattr(use_case, "estimates", lambda: {"made-up": made_up})
        return Estimates(prices=world, types=world.types, default_region="us-east-1", regions=REGIONS).answer(
            "made-up", inputs
        )

    return asked


def wrong(ask: Ask, **inputs: Any) -> list[tuple[str, str]]:
    with pytest.raises(EstimateError) as refused:
        ask(World(), **inputs)
    return list(refused.value.problems)


def test_it_is_worked_again_until_it_asks_for_nothing_new(ask: Ask) -> None:
    world = World({"ec2.a1.large.hour": "0.10", "ec2.c3.large.hour": "0.30"})
    worked = ask(world, instance_type="a1.large")
    assert world.asked == [
        ("us-east-1", ()),
        ("us-east-1", ("ec2.a1.large.hour",)),
        ("us-east-1", ("a1.*",)),
        ("us-east-1", ("ec2.c3.large.hour",)),
    ]
    assert worked.answer.summary == f"us-east-1: 0.10 x 730.0 x {2**30:.1f}"
    assert [basis.item.id for basis in worked.price_basis] == ["ec2.a1.large.hour", "ec2.c3.large.hour"]


def test_an_unknown_price_is_not_requested_again(ask: Ask) -> None:
    world = World()
    worked = ask(world, instance_type="a1.large")
    assert [asked for _, asked in world.asked].count(("ec2.a1.large.hour",)) == 1
    assert (worked.answer.summary.partition(" x ")[0], worked.price_basis) == ("us-east-1: None", ())


def test_an_estimate_that_asks_without_end_is_a_mistake_of_ours(ask: Ask) -> None:
    turns = iter(range(1000))

    def greedy(_: Wanted, known: Known) -> Answer[Found]:
        known.price(ec2_hour(f"a{next(turns)}.large"))
        return answer("never")

    with pytest.raises(RuntimeError, match="the estimate made-up asks without end"):
        ask(World(), Estimate(title="", inputs=Wanted, result=Found, work=greedy), instance_type="a1.large")
    assert next(turns) == MOST_ROUNDS


def test_an_instance_type_that_only_the_account_has_is_found(ask: Ask) -> None:
    assert ask(World(account_types=[NEW]), instance_type="b2.large").answer.summary.startswith("us-east-1")
    assert wrong(ask, instance_type="b2.large") == [
        ("instance_type", "no instance type 'b2.large'; did you mean a1.large?")
    ]


def test_a_problem_while_reading_is_reported_once(ask: Ask) -> None:
    world = World({"ec2.a1.large.hour": "0.10"}, gap="pricing:GetProducts")
    assert [gap.what for gap in ask(world, instance_type="a1.large").gaps] == ["pricing:GetProducts"]


def test_the_region_is_the_one_that_is_named_else_the_default(ask: Ask) -> None:
    world = World()
    assert ask(world, instance_type="a1.large", region="ap-northeast-1").inputs["region"] == "ap-northeast-1"
    assert {region for region, _ in world.asked} == {"ap-northeast-1"}
    assert ask(world, instance_type="a1.large", region=None).inputs["region"] == "us-east-1"


def test_the_month_has_as_many_hours_as_asked(ask: Ask) -> None:
    assert " x 720.0 x " in ask(World(), instance_type="a1.large", hours_per_month=720.0).answer.summary


def test_inputs_are_returned_as_typed_with_every_default_and_can_be_sent_again(ask: Ask) -> None:
    world = World({"ec2.a1.large.hour": "0.10"})
    worked = ask(world, instance_type="a1.large", size="1.50 TB", families=["a1"])
    assert [*worked.inputs.items()] == [
        ("region", "us-east-1"),
        ("hours_per_month", 730),
        ("instance_type", "a1.large"),
        ("size", "1.50 TB"),
        ("count", 1),
        ("mode", "slow"),
        ("careful", False),
        ("families", ["a1"]),
    ]
    assert ask(world, **worked.inputs) == worked
    assert ask(world, instance_type="a1.large").inputs["families"] == []


def test_the_error_for_an_unknown_kind_names_the_nearest(ask: Ask) -> None:
    ask(World(), instance_type="a1.large")
    with pytest.raises(UnknownKindError) as refused:
        Estimates(prices=World(), types=World().types, default_region="us-east-1", regions=REGIONS).answer(
            "make-up", {}
        )
    assert refused.value.problems == (("", "no estimate 'make-up'; did you mean made-up?"),)
    assert str(refused.value) == "no estimate 'make-up'; did you mean made-up?"


def test_all_mistakes_are_reported_at_once(ask: Ask) -> None:
    inputs = {"size": "30GIB", "count": 0, "modus": "slow", "families": ["A", "b", "C"], "region": "us-esat-1"}
    assert wrong(ask, **inputs) == [
        ("instance_type", "is needed: the instance"),
        ("size", "'30GIB': no unit 'GIB' of a size; did you mean GiB?"),
        ("count", "0: at least 1 is needed"),
        ("families", "at most 2 are allowed"),
        ("modus", "no such input; did you mean mode?"),
        ("region", "no region 'us-esat-1'; did you mean us-east-1?"),
    ]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"mode": "quik"}, "'quik': did you mean quick? There are slow, quick, both"),
        ({"mode": "diagonal"}, "'diagonal': there are both, quick, slow"),
        ({"mode": 3}, "3: there are both, quick, slow"),
        ({"careful": "yes"}, "'yes': true or false is needed"),
        ({"careful": 1}, "1: true or false is needed"),
        ({"count": "3"}, "'3': a whole number is needed, such as 40000"),
        ({"count": 1.5}, "1.5: a whole number is needed, such as 40000"),
        ({"count": True}, "True: a whole number is needed, such as 40000"),
        ({"count": -(10**5_000)}, "at least 1 is needed"),
        ({"families": "a1"}, "'a1': a list is needed"),
        ({"families": ["a1", "A 1"]}, "'A 1': String should match pattern '^[a-z0-9]+$'"),
        ({"families": [["a1"]]}, "Input should be a valid string"),
        ({"size": 30}, "30: a size is a text with a unit, such as '30GiB'"),
        ({"size": None}, "a size is a text with a unit, such as '30GiB'"),
        ({"size": "-1GiB"}, "'-1GiB': a size cannot be negative"),
        ({"size": "1\nGiB"}, r"'1\nGiB': not a size, such as 30GiB"),
        ({"size": "x" * 1_000}, f"'{'x' * 60}'…: not a size, such as 30GiB"),
        ({"hours_per_month": float("inf")}, "inf: a finite number is needed"),
        ({"region": ""}, "no region ''; there are ap-northeast-1, us-east-1"),
        ({"region": 1}, "1: Input should be a valid string"),
        ({"region": "x" * 33}, f"'{'x' * 33}': at most 32 characters are allowed"),
    ],
)
def test_the_error_for_an_input_of_the_wrong_type_says_what_is_valid(
    ask: Ask, inputs: dict[str, Any], problem: str
) -> None:
    assert wrong(ask, instance_type="a1.large", **inputs) == [(*inputs, problem)]


def test_of_a_name_without_end_only_the_beginning_is_compared(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "did_you_mean", lambda name, *_: f"{len(name)} compared")
    ((name, problem),) = wrong(ask, instance_type="a1.large", **{"x" * 10_000: 1})
    assert (len(name), problem) == (10_000, "no such input; 60 compared")
    assert wrong(ask, instance_type="a1.large", mode="y" * 10_000) == [("mode", f"'{'y' * 60}'…: 60 compared")]


def test_what_an_estimate_refuses_names_the_input(ask: Ask) -> None:
    def refuses(_: Wanted, known: Known) -> Answer[Found]:
        known.price(ec2_hour("a1.large"))
        raise InputError("count", "too many")

    with pytest.raises(EstimateError, match=r"^count: too many$"):
        ask(World(), Estimate(title="", inputs=Wanted, result=Found, work=refuses), instance_type="a1.large")
