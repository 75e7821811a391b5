"""The cost and capacity of each EFS throughput mode, and the recommended one."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.estimates.efs_throughput_mode import ESTIMATE, Choice, EfsThroughputMode
from slackwater.model.estimates import Answer, InputError, Known
from slackwater.model.money import (
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_PROVISIONED_THROUGHPUT,
    Price,
    PriceTable,
    ebs_storage,
    efs_storage,
)

TOKYO: PriceTable = {
    item: Price(Decimal(usd), "published", date(2025, 2, 19))
    for item, usd in (
        (ebs_storage("gp3"), "0.096"),
        (efs_storage("Standard", one_zone=True, elastic=False), "0.192"),
        (efs_storage("Standard", one_zone=False, elastic=False), "0.36"),
        (EFS_ELASTIC_READ, "0.04"),
        (EFS_ELASTIC_WRITE, "0.07"),
        (EFS_PROVISIONED_THROUGHPUT, "7.20"),
    )
}


def answered(prices: PriceTable = TOKYO, region: str = "ap-northeast-1", **inputs: Any) -> Answer[Choice]:
    return ESTIMATE.work(EfsThroughputMode.model_validate(inputs), Known(region, (), prices, hours_per_month=720))


def asked(**inputs: Any) -> Choice:
    return answered(**inputs).result


def test_elastic_costs_what_was_published_for_30_gib() -> None:
    written, read = (
        asked(stored="0B", **{moved: "30GiB"}).modes.elastic for moved in ("write_per_month", "read_per_month")
    )

    assert (written.throughput_usd, read.throughput_usd) == (Decimal("2.10"), Decimal("1.20"))
    assert written.throughput_as_gp3_gib is not None
    assert written.throughput_as_gp3_gib * 30 == pytest.approx(650, rel=0.02)  # GiB of gp3 for one of thirty days


def test_100_mib_s_provisioned_with_nothing_stored_cost_720_a_month() -> None:
    provisioned = asked(stored="0B", provisioned="100MiB/s").modes.provisioned

    assert provisioned.throughput_usd == provisioned.monthly_usd == 720
    assert (provisioned.write_ceiling_mib_s, provisioned.read_ceiling_mib_s) == (100, 300)


def test_a_month_costs_storage_and_throughput() -> None:
    modes = asked(stored="100GiB", write_per_month="100GiB", read_per_month="200GiB", provisioned="15MiB/s").modes

    assert [one.storage_usd for one in (modes.bursting, modes.provisioned, modes.elastic)] == [36, 36, 36]
    assert [one.throughput_usd for one in (modes.bursting, modes.provisioned, modes.elastic)] == [0, 72, 15]
    assert [one.monthly_usd for one in (modes.bursting, modes.provisioned, modes.elastic)] == [36, 108, 51]
    assert asked(stored="100GiB", efs="one-zone").modes.bursting.monthly_usd == Decimal("19.20")


def test_bursting_is_recommended_as_long_as_it_carries_peak_and_month() -> None:
    assert asked(stored="100GiB", write_per_month="1TiB", peak="100MiB/s").recommended == "bursting"


def test_bursting_cannot_exceed_its_ceiling() -> None:
    bursting = asked(stored="100GiB", write_per_month="1TiB", peak="101MiB/s").modes.bursting

    assert not bursting.carries_peak
    assert bursting.sustains_month
    assert bursting.why_not == "the peak is 1.01 times what it allows, 300 MiB/s read or 100 MiB/s written"
    assert asked(stored="100GiB", read_per_month="1TiB", peak="300MiB/s").modes.bursting.carries_peak
    assert not asked(stored="100GiB", read_per_month="1TiB", peak="301MiB/s").modes.bursting.carries_peak


def test_a_peak_is_of_the_months_mix_and_of_writes_where_there_is_none() -> None:
    mix = {"stored": "0B", "read_per_month": "30GiB", "write_per_month": "10GiB"}

    assert asked(**mix, peak="200MiB/s").modes.bursting.carries_peak  # 150/300 and 50/100
    assert not asked(**mix, peak="202MiB/s").modes.bursting.carries_peak
    assert not asked(stored="0B", peak="101MiB/s").modes.bursting.carries_peak


def test_bursting_is_not_recommended_where_the_month_uses_up_its_credits() -> None:
    answer = answered(stored="10GiB", write_per_month="30TiB", peak="20MiB/s")
    bursting = answer.result.modes.bursting

    assert bursting.carries_peak
    assert not bursting.sustains_month
    assert bursting.why_not == (
        "the month's average is 12.1 MiB/s metered and its baseline 1 MiB/s, so its credits are gone after 2 d 7 h"
    )
    assert answer.result.recommended == "provisioned"
    assert "Bursting does not support it: the month's average" in answer.summary


def test_credits_last_as_long_as_a_full_burst_takes_at_least() -> None:
    why_not = asked(stored="0B", write_per_month="500TiB").modes.bursting.why_not

    assert why_not is not None
    assert why_not.endswith("its credits are gone after 6 h 11 min")


def test_reads_use_up_a_third() -> None:
    assert asked(stored="0B", read_per_month="13TiB", peak="9MiB/s").modes.bursting.sustains_month
    assert not asked(stored="0B", write_per_month="5TiB", peak="9MiB/s").modes.bursting.sustains_month


def test_credits_that_outlast_the_month_do_not_exclude_bursting_and_their_end_is_shown() -> None:
    answer = answered(stored="20GiB", write_per_month="3TiB")
    bursting = answer.result.modes.bursting

    assert answer.result.recommended == "bursting"
    assert bursting.sustains_month
    assert bursting.why_not is None
    assert bursting.credits_last_days == pytest.approx(2.1 * 2**20 / (3 * 2**20 / (720 * 3600) - 1) / 86_400)
    assert "Burst credits last for 119 d" in answer.summary
    assert asked(stored="20GiB", write_per_month="1TiB").modes.bursting.credits_last_days is None


def test_the_cheapest_is_only_so_among_those_with_a_known_price() -> None:
    inputs = {"stored": "1GiB", "write_per_month": "50TiB"}
    without_elastic = {item: one for item, one in TOKYO.items() if not item.id.startswith("efs.elastic")}

    assert "Provisioned is the lowest-cost mode that supports this load" in answered(**inputs).summary
    assert (
        "Provisioned has the lowest cost of the modes that support this load and have a known price"
        in answered(without_elastic, **inputs).summary
    )
    assert (
        "Bursting is the lowest-cost mode that supports this load"
        in answered(without_elastic, stored="20GiB", write_per_month="1TiB").summary
    )


def test_a_peak_without_a_month_does_not_make_elastic_free() -> None:
    answer = answered(stored="100GiB", peak="150MiB/s")
    elastic = answer.result.modes.elastic

    assert elastic.throughput_usd is elastic.monthly_usd is answer.result.recommended is None
    assert elastic.carries_peak
    assert elastic.why_not == "its cost is unknown without read-per-month and write-per-month"
    assert answer.summary.startswith(
        "The lowest-cost mode depends on the data per month. Below 14.6 TiB written or 25.5 TiB read, it is Elastic."
        " Above, it is Provisioned, which costs 1,080.00 USD per month. The peak counts as writes. For a definite"
        " answer, give read-per-month and write-per-month. Bursting does not support it: "
    )
    assert {one.id: one.changes is None for one in answer.alternatives} == {
        "bursting": False,
        "provisioned": False,
        "elastic": True,
    }


@pytest.mark.parametrize(("written", "recommended"), [("14900GiB", "elastic"), ("14930GiB", "provisioned")])
def test_the_choice_tips_where_the_summary_says(written: str, recommended: str) -> None:
    # (150 - 5) * 7.20 / 0.07 = 14,914 GiB
    assert asked(stored="100GiB", peak="150MiB/s", write_per_month=written).recommended == recommended


def test_bursting_for_a_peak_without_a_month_says_how_long_it_holds() -> None:
    answer = answered(stored="64GiB", peak="50MB/s")

    assert answer.result.recommended == "bursting"
    assert "Burst credits last while no more than 7.72 TiB are written a month" in answer.summary


def test_small_operations_make_elastic_expensive_at_a_smaller_average() -> None:
    large, small = (
        asked(stored="0B", write_per_month="1GiB", operation_size=size).break_even_average_percent
        for size in ("32KiB", "4KiB")
    )

    assert large is not None
    assert small == pytest.approx(large / 8)


def test_provisioned_is_what_the_peak_is_metered_as_in_whole_mib_s() -> None:
    assert asked(stored="0B", write_per_month="1GiB", peak="99.5MiB/s").provisioned_mib_s == 100
    assert asked(stored="0B", read_per_month="1GiB", peak="300MiB/s").provisioned_mib_s == 100
    assert asked(stored="0B").provisioned_mib_s == 1
    assert asked(stored="0B", peak="9GiB/s").provisioned_mib_s == 3_414
    assert asked(stored="0B", peak="5.0000004MiB/s").modes.provisioned.carries_peak


@pytest.mark.parametrize(("read", "write", "peak", "metered"), [(11, 14, 300, 212), (19, 1, 30, 11)])
def test_a_peak_that_is_metered_as_a_whole_mib_s_needs_no_more(read: int, write: int, peak: int, metered: int) -> None:
    needed = asked(stored="0B", read_per_month=f"{read}GiB", write_per_month=f"{write}GiB", peak=f"{peak}MiB/s")

    assert needed.provisioned_mib_s == metered
    assert needed.modes.provisioned.carries_peak


@given(
    st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 1024), st.sampled_from(["us-east-1", "ap-northeast-1"])
)
@settings(deadline=None)
def test_what_the_peak_needs_carries_the_peak(read: int, write: int, peak: int, region: str) -> None:
    moved = {"read_per_month": f"{read}GiB", "write_per_month": f"{write}GiB"}

    assert asked(region=region, stored="0B", **moved, peak=f"{peak}MiB/s").modes.provisioned.carries_peak


def test_too_little_provisioned_does_not_carry_the_peak() -> None:
    provisioned = asked(stored="0B", peak="120MiB/s", provisioned="100MiB/s").modes.provisioned

    assert not provisioned.carries_peak
    assert provisioned.why_not is not None
    assert "1.2 times" in provisioned.why_not


def test_provisioned_below_the_baseline_bursts_for_the_same_money() -> None:
    modes = asked(stored="1TiB", provisioned="10MiB/s", write_per_month="1TiB", peak="100MiB/s").modes
    busy = asked(stored="1TiB", provisioned="10MiB/s", write_per_month="200TiB", peak="100MiB/s").modes

    assert modes.provisioned == modes.bursting
    assert modes.provisioned.carries_peak
    assert not busy.provisioned.sustains_month
    assert busy.provisioned.why_not == busy.bursting.why_not


def test_elastic_has_the_regions_ceilings() -> None:
    tokyo, paris = (
        asked(region=region, stored="0B", peak="2GiB/s").modes.elastic for region in ("ap-northeast-1", "eu-west-3")
    )

    assert (tokyo.carries_peak, tokyo.write_ceiling_mib_s) == (True, 5 * 1024)
    assert (paris.carries_peak, paris.write_ceiling_mib_s) == (False, 1024)
    assert not asked(stored="0B", peak="2GiB/s", efs="one-zone").modes.elastic.carries_peak


def test_where_none_carries_the_peak_none_is_recommended() -> None:
    answer = answered(stored="0B", peak="9GiB/s")

    assert answer.result.recommended is None
    assert answer.summary.startswith("No mode supports this load. Bursting does not support it: ")
    assert not any(alternative.solves for alternative in answer.alternatives)


def test_small_operations_are_billed_as_32_kib_and_run_into_operations_a_second() -> None:
    modes = asked(stored="0B", write_per_month="30GiB", peak="40MiB/s", operation_size="4KiB").modes

    assert modes.elastic.throughput_usd == Decimal("16.80")
    assert modes.elastic.carries_peak  # 10,240 of 50,000 operations a second
    assert not modes.bursting.carries_peak  # more than its 7,000
    assert (
        modes.bursting.why_not
        == "the peak is 1.46 times what it allows, 35,000 operations/s read or 7,000 operations/s written"
    )
    assert modes.provisioned.carries_peak


def test_a_peak_may_need_several_clients() -> None:
    modes = asked(stored="0B", read_per_month="1GiB", peak="1501MiB/s").modes

    assert (modes.bursting.clients_at_least, modes.elastic.clients_at_least) == (4, 2)
    assert asked(stored="0B").modes.elastic.clients_at_least == 1


def test_without_a_peak_it_is_the_months_average() -> None:
    choice = asked(stored="0B", write_per_month="30TiB")

    assert choice.peak_mib_s == choice.average_mib_s == pytest.approx(30 * 2**20 / (720 * 3600))


def test_the_use_at_which_elastic_and_provisioned_cost_the_same() -> None:
    written, read = (asked(stored="0B", **{moved: "1GiB"}) for moved in ("write_per_month", "read_per_month"))

    assert written.break_even_average_percent == pytest.approx(4.0 * 730 / 720, abs=0.05)
    assert read.break_even_average_percent == pytest.approx(2.3 * 730 / 720, abs=0.06)


def test_an_unknown_price_is_null_and_only_a_free_mode_is_called_the_lowest_cost_one() -> None:
    free, costly = (
        answered(prices={}, stored="1TiB", write_per_month="1GiB"),
        answered(prices={}, stored="0B", write_per_month="30TiB", peak="20MiB/s"),
    )

    modes = free.result.modes
    assert modes.bursting.monthly_usd is modes.elastic.throughput_usd is free.result.break_even_average_percent is None
    assert (free.result.recommended, costly.result.recommended) == ("bursting", None)
    assert free.summary.startswith(
        "Bursting is the lowest-cost mode that supports this load. The storage price in ap-northeast-1 is unknown."
    )
    assert costly.summary.startswith(
        "Provisioned and Elastic support this load, but their prices in ap-northeast-1 are unknown. Bursting does not"
    )


def test_a_single_mode_of_unknown_price_is_named() -> None:
    only = answered(prices={}, stored="1GiB", write_per_month="1TiB", peak="4GiB/s")

    assert only.summary.startswith("Elastic supports this load, but its price in ap-northeast-1 is unknown.")


def test_alternatives_are_the_modes_with_what_they_add() -> None:
    answer = answered(stored="100GiB", write_per_month="10GiB", peak="50MiB/s")
    added = {one.id: {unit.item.id: unit.quantity for unit in one.changes or ()} for one in answer.alternatives}

    assert added == {
        "bursting": {"efs.standard.storage": -100},
        "provisioned": {"efs.standard.storage": -100, "efs.provisioned.throughput": -45},
        "elastic": {"efs.standard.storage": -100, "efs.elastic.write": -10},
    }
    assert all(one.solves for one in answer.alternatives)


@pytest.mark.parametrize(
    ("inputs", "field", "remedy"),
    [
        ({"write_per_month": "30TiB", "peak": "1MiB/s"}, "peak", "at least 13MiB/s"),
        ({"provisioned": "0.5MiB/s"}, "provisioned", "from 1MiB/s to 3414MiB/s"),
        ({"provisioned": "4GiB/s"}, "provisioned", "from 1MiB/s to 3414MiB/s"),
        ({"operation_size": "0B"}, "operation_size", "1B at least"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(inputs: dict[str, str], field: str, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy) as caught:
        asked(stored="0B", **inputs)
    assert caught.value.field == field


GIBS = st.integers(0, 10**6)


@given(GIBS, GIBS, st.integers(1, 10**6), GIBS, st.sampled_from([None, "1KiB", "32KiB", "100KB"]))
@settings(deadline=None)
def test_more_bytes_never_cost_less_in_any_mode(
    stored: int, read: int, write: int, more: int, operation: str | None
) -> None:
    def month(stored: int, read: int, write: int) -> Choice:
        inputs = {"stored": f"{stored}GiB", "read_per_month": f"{read}GiB", "write_per_month": f"{write}GiB"}
        return asked(**inputs, provisioned="100MiB/s", **({"operation_size": operation} if operation else {}))

    less = month(stored, read, write)
    for other in (month(stored, read + more, write), month(stored, read, write + more)):
        assert other.modes.elastic.throughput_usd is not None
        assert less.modes.elastic.throughput_usd is not None
        assert other.modes.elastic.throughput_usd >= less.modes.elastic.throughput_usd
        assert other.modes.bursting.monthly_usd == less.modes.bursting.monthly_usd
    larger = month(stored + more, read, write)
    assert larger.modes.elastic.monthly_usd is not None
    assert less.modes.elastic.monthly_usd is not None
    assert larger.modes.elastic.monthly_usd >= less.modes.elastic.monthly_usd


@given(GIBS, st.integers(0, 5000), st.integers(0, 5000))
@settings(deadline=None)
def test_a_mode_that_carries_a_peak_carries_any_lower_one(stored: int, peak: int, more: int) -> None:
    low, high = (
        asked(stored=f"{stored}GiB", peak=f"{mib_s}MiB/s", provisioned="200MiB/s").modes
        for mib_s in (peak, peak + more)
    )

    for lower, higher in (
        (low.bursting, high.bursting),
        (low.provisioned, high.provisioned),
        (low.elastic, high.elastic),
    ):
        assert lower.carries_peak or not higher.carries_peak
