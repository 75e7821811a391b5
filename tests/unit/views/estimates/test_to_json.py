"""The estimate document: its content and format."""

import json
from datetime import date
from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from slackwater.model.estimated import Estimated
from slackwater.model.estimates import Answer, Figure, Result, Usd, of, usd_text
from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.money import Price, ebs_storage
from slackwater.views.estimates.document import EstimateDocument
from slackwater.views.estimates.to_json import document
from slackwater.views.scan.to_json import dump


class Part(Result):
    """A part of the result."""

    usd: Usd | None = of("Price", "USD")


class Whole(Result):
    """The whole result."""

    seconds: Figure = of("Time", "s")
    monthly_usd: Usd = of("Price", "USD/month")
    unknown_usd: Usd | None = of("Another")
    seconds_range: tuple[Figure, Figure] = of("Between", "s")
    parts: list[Part] = of("Parts")


RESULT = Whole(
    seconds=0.1 + 0.2, monthly_usd=Decimal("189.184"), unknown_usd=None, seconds_range=(1, 2e12 / 7),
    parts=[Part(usd=Decimal(0))],
)  # fmt: skip
DOCUMENT = document(
    Estimated(
        kind="made-up",
        inputs={"size": "30GiB", "region": "us-east-1"},
        answer=Answer(summary="So.", result=RESULT, assumptions=("assumed: much",), sources=("a report",)),
        price_basis=(PriceBasis(ebs_storage("gp3"), Price(Decimal("0.08"), "a test", date(2026, 9, 1))),),
        unpriced=(ebs_storage("gp2"),),
        gaps=(Gap("", "us-east-1", "pricing:GetProducts", "AccessDenied", optional=True),),
    )
)


def test_everything_is_in_order() -> None:
    assert [*json.loads(dump(DOCUMENT)).items()] == [
        ("schema", "slackwater.estimate/1"),
        ("kind", "made-up"),
        ("inputs", {"size": "30GiB", "region": "us-east-1"}),
        ("summary", "So."),
        ("assumptions", ["assumed: much"]),
        ("sources", ["a report"]),
        (
            "price_basis",
            [
                {
                    "item": "ebs.gp3.storage",
                    "usd": "0.08",
                    "unit": "GiB-month",
                    "source": "a test",
                    "as_of": "2026-09-01",
                }
            ],
        ),
        ("unpriced", ["ebs.gp2.storage"]),
        ("gaps", [{"what": "pricing:GetProducts", "reason": "AccessDenied"}]),
        (
            "result",
            {
                "seconds": 0.3,
                "monthly_usd": "189.184",
                "unknown_usd": None,
                "seconds_range": [1.0, 285714286000.0],
                "parts": [{"usd": "0.00"}],
            },
        ),
    ]


def test_the_document_is_what_its_type_says() -> None:
    parsed = TypeAdapter(EstimateDocument[Whole]).validate_python(DOCUMENT)
    assert parsed["result"] == Whole.model_validate(DOCUMENT["result"])


def test_money_is_a_string_and_every_figure_has_its_unit_in_the_schema() -> None:
    schema = TypeAdapter(EstimateDocument[Whole]).json_schema(mode="serialization")["$defs"]["Whole"]["properties"]
    assert (schema["monthly_usd"]["type"], schema["monthly_usd"]["unit"]) == ("string", "USD/month")
    assert [kind["type"] for kind in schema["unknown_usd"]["anyOf"]] == ["string", "null"]


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        ("189.18", "189.18"),
        ("2.1", "2.10"),
        ("0", "0.00"),
        ("-720", "-720.00"),
        ("0.005244", "0.005244"),
        ("0.00524", "0.00524"),
        ("0.0000001", "0.00"),
        ("0.0000005001", "0.000001"),
        ("1234567.5", "1234567.50"),
    ],
)
def test_money_has_cents_and_more_decimals_if_needed(usd: str, text: str) -> None:
    assert usd_text(Decimal(usd)) == text
