"""The savings of some of a document's findings."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan.savings import total_savings, ways

SAVINGS = st.sampled_from([None, "-7.00", "0.00", "3.10", "12.30"])


@given(found=st.lists(st.tuples(st.integers(0, 3), st.lists(SAVINGS, max_size=3)), max_size=6))
def test_it_is_the_rule_of_the_documents_totals(make, found: list[tuple[int, list[str | None]]]) -> None:
    doc = scan_json.document(
        make.scan(
            *(
                make.finding(
                    id=f"f{number}",
                    resource=make.volume(f"vol-{volume}"),
                    # A saving of zero means that nothing billed changes.
                    recommendations=tuple(
                        make.recommendation(usd, changes=() if usd == "0.00" else None) for usd in savings
                    ),
                )
                for number, (volume, savings) in enumerate(found)
            )
        )
    )
    totals = doc["totals"]

    assert total_savings(map(ways, doc["findings"])) == (Decimal(totals["monthly_savings_usd"]), totals["unpriced"])


def test_a_resource_counts_once_with_its_best_way_and_what_costs_is_not_taken_off() -> None:
    assert total_savings([("a", ["3.00", "5.00"]), ("a", [Decimal(4)]), ("b", ["-9.00"]), ("c", [None, "0.00"])]) == (
        Decimal(5),
        1,
    )
