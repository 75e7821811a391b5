"""Amounts of money as people read them."""

from decimal import Decimal

import pytest

from slackwater.views.text.money import charges, dollars, effect


@pytest.mark.parametrize(
    ("usd", "shown"), [("9615.04", "$9,615"), ("2.74", "$2.74"), ("10", "$10"), ("3.00", "$3"), ("0", "$0")]
)
def test_cents_are_shown_where_they_matter(usd: str, shown: str) -> None:
    assert dollars(Decimal(usd)) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [("1001.22", "saves $1,001/mo"), ("-352.15", "fix: +$352/mo"), ("0.00", "fix: free"), (None, "saving unknown")],
)
def test_what_costs_is_a_cost(usd: str | None, shown: str) -> None:
    assert effect(usd) == shown


@pytest.mark.parametrize(
    ("usd", "says"),
    [("0.00821", "under $0.01"), ("0.01", "$0.01"), ("0.73078", "$0.73"), ("1234.5", "$1,234.50"), ("0", "$0.00")],
)
def test_what_a_scan_costs_is_rounded_to_cents_and_never_to_nothing(usd: str, says: str) -> None:
    assert charges(usd) == says
