"""The cost of EFS and of a volume: "Can Amazon EFS replace EBS?" (2025-02-19)."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.estimates.efs_vs_ebs import ESTIMATE, Costs, EfsVsEbs
from slackwater.model.estimates import Answer, InputError, Known, usd_text
from slackwater.model.money import Price, PriceTable, ebs_storage, efs_storage

TOKYO: PriceTable = {
    item: Price(Decimal(usd), "published", date(2025, 2, 19))
    for item, usd in (
        (ebs_storage("gp3"), "0.096"),
        (efs_storage("Standard", one_zone=True, elastic=False), "0.192"),
        (efs_storage("Standard", one_zone=False, elastic=False), "0.36"),
    )
}

RUN = """minute,GiB
0,0
5.45,30.12
9.55,30.12
9.55,30.1558
14.25,30.1558
14.25,30.2186
19.9833,30.2186
19.9833,30.3853
27.2333,30.3853
27.2333,30.6563
37.2333,30.6563
37.2333,31.0311
54.5167,31.0311
54.5167,32.0122
54.9833,32.0122
54.9833,32.0397
"""
"""The run in the report: a download of 5:27 as a ramp, then each output at the end of its encode."""


def answered(prices: PriceTable = TOKYO, hours_per_month: int = 720, **inputs: Any) -> Answer[Costs]:
    return ESTIMATE.work(EfsVsEbs.model_validate(inputs), Known("ap-northeast-1", (), prices, hours_per_month))


def asked(**inputs: Any) -> Costs:
    return answered(**inputs).result


@pytest.mark.parametrize(("gib", "usd"), [(40, "0.00524"), (60, "0.00787")])
def test_a_gp3_volume_costs_what_was_published(gib: int, usd: str) -> None:
    cost = asked(used="30GiB", allocated=f"{gib}GiB", hours="59min").ebs_usd

    assert cost is not None
    assert str(round(cost, 5)) == usd


def test_the_published_run_costs_what_was_published_within_a_tenth() -> None:
    run = asked(usage_csv=RUN, allocated="40GiB", efs="one-zone")

    assert run.efs_usd is not None
    assert float(run.efs_usd) == pytest.approx(0.00756, rel=0.10)
    assert run.efs_hours == pytest.approx((54 + 59 / 60) / 60, abs=1e-6)
    assert run.cheaper == "ebs"
    assert run.used_most_gib == 32.0397


def test_as_steps_the_run_costs_more_than_as_a_ramp_and_is_nearer_to_what_was_published() -> None:
    ramp, steps = (
        asked(usage_csv=csv, efs="one-zone").efs_usd for csv in (RUN, RUN.replace("0,0\n", "0,0\n0,30.12\n", 1))
    )

    assert ramp is not None
    assert steps is not None
    assert ramp < steps < Decimal("0.00756")


def test_efs_one_zone_in_tokyo_costs_what_a_volume_of_twice_the_used_size_does() -> None:
    even = asked(used="30GiB", allocated="60GiB", hours="59min", efs="one-zone")

    assert even.break_even_allocated_gib == 60
    assert even.break_even_ratio == 2
    assert even.cheaper == "equal"
    assert asked(used="30GiB", allocated="61GiB", hours="59min", efs="one-zone").cheaper == "efs"
    assert asked(used="30GiB", allocated="59GiB", hours="59min", efs="one-zone").cheaper == "ebs"


def test_regional_costs_more() -> None:
    assert asked(used="30GiB", hours="1h").break_even_allocated_gib == 112.5


def test_without_hours_it_is_a_month() -> None:
    month = asked(used="10GiB", allocated="10GiB")

    assert (month.efs_usd, month.ebs_usd, month.efs_hours) == (Decimal("3.60"), Decimal("0.96"), 720)
    assert asked(used="10GiB", hours_per_month=730).efs_hours == 730


@pytest.mark.parametrize("hours", [1.5, "1.5", "1.5h", "90min", "5400s"])
def test_hours_are_a_number_or_a_duration(hours: object) -> None:
    assert asked(used="1GiB", hours=hours).ebs_hours == 1.5


@pytest.mark.parametrize(
    "hours", [0.9833333333333333, "0.9833333333333333", "0.9833333333333333h", "9.833333333333333e-01"]
)
def test_hours_are_a_programs_float_with_all_its_digits(hours: object) -> None:
    assert asked(used="1GiB", hours=hours).efs_hours == asked(used="1GiB", hours="59min").efs_hours


@pytest.mark.parametrize(
    "hours", [0, "0", "0h", -1, 10**400, 100_001, "9999999d", True, [], "1e15", "24 hours", "", "nan"]
)
def test_other_hours_are_refused(hours: object) -> None:
    with pytest.raises(ValueError, match="hours"):
        EfsVsEbs.model_validate({"used": "1GiB", "hours": hours})


def test_use_between_two_points_is_a_straight_line_and_two_points_of_a_minute_are_a_step() -> None:
    ramp, step = asked(usage_csv="0,0\n60,10"), asked(usage_csv="0,0\n30,0\n30,10\n60,10")

    assert ramp.used_mean_gib == step.used_mean_gib == 5
    assert ramp.efs_hours == step.efs_hours == 1
    assert ramp.efs_usd == asked(used="5GiB", hours="1h").efs_usd


def test_a_usage_need_not_begin_at_zero_nor_have_a_header_nor_a_newline() -> None:
    plain = asked(usage_csv="0,1\n60,3")

    for same in (
        "minute,GiB\n0,1\n60,3\n",
        "\ufeffMinute, GiB\r\n0, 1\r\n\r\n60, 3\r\n",
        "100,1\n160,3",
        "\n\nminute,gib\n0,1\n60,3",
        "\ufeff0,1\n60,3",
    ):
        assert asked(usage_csv=same) == plain


def test_with_a_usage_hours_are_the_volumes() -> None:
    longer = asked(usage_csv="0,10\n60,10", hours="2h", allocated="10GiB", efs="one-zone")

    assert (longer.efs_hours, longer.ebs_hours) == (1, 2)
    assert longer.break_even_allocated_gib == 10  # a volume is used twice as long, at half the price
    assert answered(usage_csv="0,10\n225,10", hours="1s", allocated="50GiB").summary == (
        "EFS Regional costs 0.01875 USD to store 10 GiB on average for 3 h 45 min. A gp3 volume of 50 GiB costs"
        " 0.000002 USD for 1 s. The volume costs less. A gp3 volume of 494 TiB for 1 s would cost the same."
    )


def test_whole_gib_of_a_volume_are_billed() -> None:
    assert asked(used="1GiB", allocated="10GB").allocated_gib == 10
    assert asked(used="1GiB", allocated="10.1GiB").allocated_gib == 11
    assert asked(used="1GiB", allocated="1B").ebs_usd == asked(used="1GiB", allocated="1GiB").ebs_usd


def test_a_volume_that_cannot_hold_the_data_is_reported_as_too_small() -> None:
    answer = answered(used="30GiB", allocated="20GiB", hours="1h")

    assert answer.result.allocated_suffices is False
    assert answer.result.cheaper is None
    assert answer.summary.startswith("The volume is too small for the peak usage of 30 GiB. ")
    assert "costs less" not in answer.summary
    assert asked(used="30GiB", allocated="30GiB", hours="1h").allocated_suffices is True


def test_without_a_volume_there_is_only_the_break_even() -> None:
    result = asked(used="30GiB", hours="1h")

    assert result.ebs_usd is result.cheaper is result.allocated_gib is result.allocated_suffices is None
    assert result.break_even_allocated_gib == 112.5


def test_an_unknown_price_is_null_and_so_is_what_depends_on_it() -> None:
    unknown = asked(prices={}, used="30GiB", allocated="40GiB")
    only_ebs = asked(prices={ebs_storage("gp3"): TOKYO[ebs_storage("gp3")]}, used="30GiB", allocated="40GiB")

    assert unknown.efs_usd is unknown.ebs_usd is unknown.cheaper is unknown.break_even_allocated_gib is None
    assert only_ebs.efs_usd is only_ebs.cheaper is None
    assert only_ebs.ebs_usd == Decimal("3.84")
    assert answered(prices={}, used="30GiB").summary == "EFS Regional has no known price."


def test_nothing_used_costs_nothing() -> None:
    nothing = asked(used="0B", allocated="1GiB", hours="1h")

    assert (nothing.efs_usd, nothing.break_even_allocated_gib, nothing.break_even_ratio, nothing.cheaper) == (
        0,
        0,
        None,
        "efs",
    )


def test_the_summary_names_both_costs_and_the_size_between() -> None:
    assert answered(used="30GiB", allocated="40GiB", hours="59min", efs="one-zone").summary == (
        "EFS One Zone costs 0.007867 USD to store 30 GiB for 59 min. A gp3 volume of 40 GiB costs 0.005244 USD. The"
        " volume costs less. A gp3 volume of 60 GiB (2 times the average usage) would cost the same."
    )


@pytest.mark.parametrize(
    ("csv", "problem"),
    [
        ("minute,GiB\n0,0\n5,30\n5,x\n", "line 4: '5,x' is not minute,GiB"),
        ("0,0\n5,1\n4,1", "line 3: minute 4 comes after minute 5; sort"),
        ("0,0,0\n1,1,1", "line 1: '0,0,0'"),
        ("0,0\n\n1,-2", "line 3: '1,-2'"),
        ("0,0\n1,nan", "line 2: '1,nan'"),
        ("0,0\n1,1e9", "line 2: '1,1e9'"),
        ("0;0\n1;2", "line 2: '1;2'"),
        ("0,0\nminute,GiB\n1,2", "line 2: 'minute,GiB'"),
        (f"0,0\n{'x' * 500}", "line 2: 'x{40}…' is"),
        ("", "two different minutes"),
        ("minute,GiB", "two different minutes"),
        ("0,1\n0,2", "two different minutes"),
        ("minute,GiB\n0,1", "one point is not enough"),
        ("0,1\n999999999,2", "100,000 hours"),
    ],
)
def test_a_usage_that_cannot_be_read_says_where_and_what_would_do(csv: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        asked(usage_csv=csv)
    assert caught.value.field == "usage_csv"
    assert len(caught.value.problem) < 200


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({}, "used"),
        ({"used": "1GiB", "usage_csv": RUN}, "usage_csv"),
        ({"used": "1GiB", "allocated": "0B"}, "allocated"),
    ],
)
def test_what_makes_no_sense_is_refused(inputs: dict[str, str], field: str) -> None:
    with pytest.raises(InputError) as caught:
        asked(**inputs)
    assert caught.value.field == field


def test_the_usage_is_a_file_on_the_command_line() -> None:
    assert EfsVsEbs.model_fields["usage_csv"].json_schema_extra == {"file": True}


def test_the_volume_is_the_alternative_where_its_size_is_named() -> None:
    (way,) = answered(used="80GiB", allocated="120GiB", efs="one-zone").alternatives
    (small,) = answered(used="80GiB", allocated="60GiB", hours=360).alternatives

    assert (way.id, way.solves, way.summary) == ("gp3", True, "A gp3 volume of 120 GiB for 80 GiB")
    assert {change.item.id: change.quantity for change in way.changes or ()} == {
        "efs.one-zone.standard.storage": 80,
        "ebs.gp3.storage": -120,
    }
    assert not small.solves
    assert {change.quantity for change in small.changes or ()} == {40, -30}  # half of the report's month
    assert answered(used="80GiB").alternatives == ()


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**4), st.integers(0, 10**4))
@settings(deadline=None)
def test_more_used_or_longer_never_costs_less(used: int, more: int, hours: int, longer: int) -> None:
    less = asked(used=f"{used}MiB", hours=hours, allocated="1TiB")
    bigger, later = (
        asked(used=f"{used + more}MiB", hours=hours, allocated="1TiB"),
        asked(used=f"{used}MiB", hours=hours + longer, allocated="1TiB"),
    )

    assert less.efs_usd is not None
    assert less.ebs_usd is not None
    for other in (bigger, later):
        assert other.efs_usd is not None
        assert other.ebs_usd is not None
        assert other.efs_usd >= less.efs_usd
        assert other.ebs_usd >= less.ebs_usd


@given(st.integers(1, 10**5), st.integers(1, 10**4))
@settings(deadline=None)
def test_a_volume_of_the_break_even_size_costs_as_much(used: int, hours: int) -> None:
    even = asked(used=f"{used}GiB", hours=hours, efs="one-zone").break_even_allocated_gib
    both = asked(used=f"{used}GiB", hours=hours, efs="one-zone", allocated=f"{round(even or 0)}GiB")

    assert even == 2 * used
    assert both.efs_usd is not None
    assert both.ebs_usd is not None
    assert usd_text(both.efs_usd) == usd_text(both.ebs_usd)
