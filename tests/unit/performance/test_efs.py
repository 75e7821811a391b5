"""EFS throughput, credits and billing as in the EFS User Guide and on the pricing pages."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from math import nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.estimates import efs_credits, efs_throughput_mode
from slackwater.model.money import Change
from slackwater.model.resources import EfsFileSystem, Target
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB, TIB
from slackwater.performance import efs
from slackwater.performance.efs import Allowance

SIZES = st.floats(0, 100 * TIB)
RATES = st.floats(0, 10 * GIB)


@pytest.mark.parametrize(
    ("stored_gib", "baseline_mib_s", "drain_h", "fill_d"),
    [(0, 1, 6.18, 25.5), (20, 1, 6.18, 25.5), (100, 5, 6.43, 5.2), (500, 25, 8.09, 1.0), (1024, 50, 12.23, 0.5),
     (2048, 100, 12.23, 0.5)],
)  # fmt: skip
def test_the_table_of_bursting_by_size(stored_gib: int, baseline_mib_s: float, drain_h: float, fill_d: float) -> None:
    stored = stored_gib * GIB
    held = efs.full_credits_bytes(stored)
    baseline = efs.baseline_bytes_per_s(stored)
    drain_s = efs.seconds_to_empty(held, efs.burst_bytes_per_s(stored), stored)
    fill_s = held / baseline

    assert baseline / MIB == pytest.approx(
        baseline_mib_s, rel=0.025
    )  # the table has 5 MiB/s for 100 GiB, from 50 KiB/s for each GiB
    assert drain_s is not None
    assert drain_s / HOUR_S == pytest.approx(drain_h, abs=0.005)
    assert fill_s / DAY_S == pytest.approx(fill_d, abs=0.05)


def test_100_gib_earn_72_minutes_a_day_at_100_mib_s() -> None:
    assert efs_credits.burst_s_a_day(100 * GIB, 100 * MIB) / 60 == pytest.approx(
        72, rel=0.025
    )  # 5 MiB/s in the guide, 4.88 by its own formula


def test_from_a_tib_on_it_bursts_half_of_the_time() -> None:
    assert efs_credits.burst_s_a_day(TIB, 100 * MIB) == efs_credits.burst_s_a_day(9 * TIB, 900 * MIB) == DAY_S / 2


def test_a_lower_ceiling_can_be_kept_up_for_longer_but_not_beyond_a_day() -> None:
    assert efs_credits.burst_s_a_day(9 * TIB, 600 * MIB) == DAY_S * 3 / 4
    assert efs_credits.burst_s_a_day(40 * TIB, GIB) == DAY_S


@pytest.mark.parametrize(
    ("daily", "job_s", "days"),
    [
        (10, 0, 11),  # 100, 91 ... 19 and 10 are enough, 1 is not
        (1, 0, None),
        (101, 0, 0),
        (101, DAY_S, 1),  # with the credits that it earns during the job, they are enough once
    ],
)
def test_a_daily_job_is_carried_as_long_as_what_is_left_is_enough_for_it(
    daily: int, job_s: int, days: int | None
) -> None:
    assert efs_credits.days_carried(100, daily, job_s, 1 / DAY_S) == days


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(0, 1000))
@settings(deadline=None)
def test_days_carried_are_those_of_counting_them_out(credits_bytes: int, daily: int, earned: int) -> None:
    days = efs_credits.days_carried(credits_bytes * DAY_S, daily * DAY_S, 0, earned)
    left = credits_bytes
    for _ in range(days or 0):
        assert left >= daily
        left = left - daily + earned

    assert left < daily if days is not None else daily <= earned


@pytest.mark.parametrize(
    ("stored", "held"), [(0, 2_308_974_418_330), (TIB, 2_308_974_418_330), (2 * TIB, 4_617_948_836_660)]
)
def test_a_file_system_starts_with_2_1_tib_of_credits_or_so_much_a_tib(stored: int, held: int) -> None:
    assert efs.full_credits_bytes(stored) == held
    assert efs.full_credits_bytes(0) == round(2.1 * TIB)


def test_less_than_20_gib_earn_nothing_for_sure_but_have_1_mib_s() -> None:
    assert efs.earned_bytes_per_s(10 * GIB) == 500 * KIB
    assert efs.baseline_bytes_per_s(10 * GIB) == MIB
    assert efs.earned_bytes_per_s(0) == 0


def test_a_read_counts_a_third() -> None:
    assert efs.metered_bytes(10, 30) == 20


def test_credits_never_run_out_at_the_baseline() -> None:
    assert efs.seconds_to_empty(TIB, 50 * MIB, TIB) is None
    assert efs.seconds_to_empty(TIB, 51 * MIB, TIB) == MIB


@given(SIZES, RATES, RATES)
@settings(deadline=None)
def test_more_rate_never_makes_credits_last_longer(stored: float, one: float, other: float) -> None:
    slow, fast = (efs.seconds_to_empty(efs.full_credits_bytes(stored), rate, stored) for rate in sorted((one, other)))

    assert slow is None or (fast is not None and fast <= slow)


@given(SIZES, SIZES, SIZES)
@settings(deadline=None)
def test_more_bytes_are_never_metered_less(written: float, read: float, more: float) -> None:
    assert efs.metered_bytes(written + more, read) >= efs.metered_bytes(written, read)
    assert efs.metered_bytes(written, read + more) >= efs.metered_bytes(written, read)


@given(SIZES, SIZES)
@settings(deadline=None)
def test_more_in_standard_is_never_slower_and_never_has_less_credit(one: float, other: float) -> None:
    small, large = sorted((one, other))
    for grows in (efs.baseline_bytes_per_s, efs.burst_bytes_per_s, efs.full_credits_bytes):
        assert grows(large) >= grows(small)


HIGH_TIERS = {
    "elastic": {
        "us-east-1", "us-east-2", "us-west-2", "ap-south-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2",
        "ap-northeast-1", "eu-central-1", "eu-west-1", "eu-west-2",
    },
    "provisioned": {"us-east-1", "us-east-2", "us-west-2", "eu-west-1"},
    "bursting": {"us-east-1", "us-east-2", "us-west-2", "ap-southeast-2", "eu-west-1"},
}  # fmt: skip
REGIONS = HIGH_TIERS["elastic"] | {"eu-west-3", "sa-east-1", "af-south-1"}


@pytest.mark.parametrize(
    ("mode", "high", "elsewhere"),
    [("elastic", (60, 5), (20, 1)), ("provisioned", (10, 3.33), (3, 1)), ("bursting", (5, 3), (3, 1))],
)
def test_the_table_of_region_ceilings(
    mode: efs.EfsMode, high: tuple[float, float], elsewhere: tuple[float, float]
) -> None:
    for region in REGIONS:
        read, write = high if region in HIGH_TIERS[mode] else elsewhere
        huge = {"standard_bytes": 1_000 * TIB}  # its burst exceeds every Region's ceiling
        assert efs.allows(mode, region, one_zone=False, **huge) == Allowance(read * GIB, write * GIB)
        assert efs.allows(mode, region, one_zone=True, **huge) == Allowance(3 * GIB, GIB)


@pytest.mark.parametrize(
    ("mode", "one_zone", "write_ms", "operations", "client_mib_s"),
    [
        ("bursting", False, 2.7, (35_000, 7_000), 500),
        ("provisioned", False, 2.7, (55_000, 25_000), 500),
        ("elastic", False, 2.7, (250_000, 50_000), 1_500),
        ("bursting", True, 1.6, (35_000, 7_000), 500),
        ("provisioned", True, 1.6, (35_000, 7_000), 500),
        ("elastic", True, 1.6, (35_000, 7_000), 500),
    ],
)
def test_the_table_of_limits_by_mode(
    mode: efs.EfsMode, one_zone: bool, write_ms: float, operations: tuple[int, int], client_mib_s: int
) -> None:
    assert efs.limits(mode, one_zone=one_zone) == efs.Limits(1.0, write_ms, Allowance(*operations), client_mib_s * MIB)


def mib_s(allowance: Allowance) -> tuple[float, float]:
    return allowance.read / MIB, allowance.write / MIB


def allows(
    mode: efs.EfsMode, stored_gib: float, region: str = "ap-northeast-1", provisioned_mib_s: float = 0
) -> tuple[float, float]:
    return mib_s(
        efs.allows(
            mode,
            region,
            one_zone=False,
            standard_bytes=stored_gib * GIB,
            provisioned_bytes_per_s=provisioned_mib_s * MIB,
        )
    )


def test_reads_have_three_times_what_is_metered_up_to_the_regions_ceiling() -> None:
    assert allows("bursting", 0) == (300, 100)
    assert allows("bursting", 5 * 1024) == (1_500, 500)
    assert allows("bursting", 40 * 1024) == (3 * 1024, 1024)
    assert allows("bursting", 40 * 1024, region="us-east-1") == (5 * 1024, 3 * 1024)
    assert allows("provisioned", 0, provisioned_mib_s=200) == (600, 200)
    assert allows("provisioned", 0, provisioned_mib_s=3_414) == (3 * 1024, 1024)
    assert allows("elastic", 0) == (60 * 1024, 5 * 1024)


def test_provisioned_below_the_baseline_bursts_instead() -> None:
    assert allows("provisioned", 1024, provisioned_mib_s=49) == allows("bursting", 1024) == (300, 100)
    assert allows("provisioned", 1024, provisioned_mib_s=51) == (153, 51)


def test_a_mix_uses_its_share_of_both() -> None:
    assert Allowance(300, 100).used(150, 25) == 0.75


@pytest.mark.parametrize(
    ("operation", "billed_kib"),
    [(1, 32), (4 * KIB, 32), (32 * KIB, 32), (32 * KIB + 1, 33), (40 * KIB, 40), (MIB, 1024)],
)
def test_elastic_bills_32_kib_at_least_and_then_by_the_kib(operation: int, billed_kib: int) -> None:
    assert efs.billed_bytes(operation) == billed_kib * KIB


def test_a_metadata_operation_a_second_is_10_gib_a_month() -> None:
    hourly = efs.Moved(0, HOUR_S, efs.LEAST_METADATA_BYTES).billed_at_least / GIB

    assert hourly == pytest.approx(0.01373, abs=5e-6)
    assert hourly * 730 == pytest.approx(10.0, abs=0.05)


def test_elastic_bills_small_operations_as_large_ones() -> None:
    billed = {unit.item.id: unit.quantity for unit in efs.elastic_units(3 * GIB, GIB, 4 * KIB)}

    assert billed == {"efs.elastic.read": 24, "efs.elastic.write": 8}
    assert [unit.quantity for unit in efs.elastic_units(3 * GIB, GIB)] == [3, 1]


@pytest.mark.parametrize(("stored_gib", "paid"), [(0, 100), (20, 99), (2_000, 0), (9_000, 0)])
def test_provisioned_throughput_includes_a_mib_s_for_each_20_gib(stored_gib: int, paid: int) -> None:
    assert efs.provisioned_units(100, stored_gib * GIB).quantity == paid


@pytest.mark.parametrize(
    ("provisioned_usd", "elastic_usd", "metered_per_byte", "percent"),
    [("6.00", "0.06", 1, 3.9), ("6.00", "0.03", 1 / 3, 2.6), ("7.20", "0.07", 1, 4.0), ("7.20", "0.04", 1 / 3, 2.3)],
    ids=["us-east-1 written", "us-east-1 read", "Tokyo written", "Tokyo read"],
)
def test_the_table_of_break_even(
    provisioned_usd: str, elastic_usd: str, metered_per_byte: float, percent: float
) -> None:
    share = efs_throughput_mode.break_even_share(
        Decimal(provisioned_usd), Decimal(elastic_usd), metered_per_byte, Decimal(730)
    )

    assert share * 100 == pytest.approx(percent, abs=0.05)


def test_break_even_is_where_both_cost_the_same() -> None:
    share = efs_throughput_mode.break_even_share(Decimal(6), Decimal("0.06"), 1, Decimal(730))
    _, write = efs.elastic_units(0, share * 100 * MIB * 730 * HOUR_S)

    assert float(write.quantity) * 0.06 == pytest.approx(600)


def load(read_gib: float = 0, write_gib: float = 0, peak_mib_s: float = 0, operations: float = 0) -> efs.Load:
    return efs.Load(
        read_bytes=read_gib * GIB,
        write_bytes=write_gib * GIB,
        month_s=730 * HOUR_S,
        peak_bytes_per_s=peak_mib_s * MIB,
        operations_per_s=operations,
    )


def fits(one: efs.Load, stored_gib: float, provisioned_mib_s: float = 1) -> dict[efs.EfsMode, efs.Fit]:
    return efs.fits(
        one, "ap-northeast-1", one_zone=False, standard_bytes=stored_gib * GIB, provisioned_mib_s=provisioned_mib_s
    )


def test_the_elastic_bill_is_unknown_without_the_months_usage() -> None:
    assert fits(load(peak_mib_s=150), 100)["elastic"].units is None
    assert fits(load(write_gib=1, peak_mib_s=150), 100)["elastic"].units is not None


def test_bursting_carries_a_month_at_whose_end_it_still_has_credits() -> None:
    # 20 GiB earn 1 MiB/s, which is 2,566.4 GiB a month. The initial credits are 2,150.4 GiB.
    lasts, dry = fits(load(write_gib=4_716), 20)["bursting"], fits(load(write_gib=4_717), 20)["bursting"]

    assert lasts.carries
    assert lasts.why_not is None
    assert lasts.credits_last_s == pytest.approx(730 * HOUR_S, rel=1e-3)
    assert lasts.note == "Burst credits last for 30 d 10 h"
    assert not dry.carries
    assert (dry.why_not or "").endswith("so its credits are gone after 30 d 10 h")


def test_a_peak_without_monthly_usage_lasts_while_the_baseline_pays_for_it() -> None:
    note = "Burst credits last while no more than 12.2 TiB are written a month, or three times as much is read"

    assert fits(load(peak_mib_s=50), 100)["bursting"].note == note
    assert fits(load(peak_mib_s=4), 100)["bursting"].note is None


@pytest.mark.parametrize(
    ("peak", "provisioned"), [(5, 5), (5.0000004, 6), (5 * (1 + 1e-12), 5), (0, 1), (9_999, 3_414)]
)
def test_what_to_provision_is_not_below_the_peak(peak: float, provisioned: int) -> None:
    assert load(peak_mib_s=peak).provisioned_mib_s == provisioned


def test_the_cheapest_is_of_those_that_carry_it_and_have_a_price() -> None:
    usd = {
        "efs.elastic.read": Decimal("0.04"),
        "efs.elastic.write": Decimal("0.07"),
        "efs.provisioned.throughput": Decimal("7.2"),
    }

    def cheapest(one: efs.Load, **prices: Decimal) -> efs.EfsMode | None:
        def cost(*changes: Change) -> Decimal | None:
            known = [change.quantity * prices[change.item.id] for change in changes if change.item.id in prices]
            return sum(known, Decimal(0)) if len(known) == len(changes) else None

        return efs.cheapest(fits(one, 100, one.provisioned_mib_s), cost)

    assert cheapest(load(write_gib=10, peak_mib_s=100), **usd) == "bursting"
    assert cheapest(load(write_gib=10, peak_mib_s=101), **usd) == "elastic"
    assert cheapest(load(write_gib=30_000, peak_mib_s=101), **usd) == "provisioned"
    assert cheapest(load(peak_mib_s=101), **usd) == "provisioned"
    assert cheapest(load(write_gib=10, peak_mib_s=101)) is None
    assert cheapest(load(write_gib=10, peak_mib_s=9_999), **usd) is None


def test_what_elastic_moves_for_some_money() -> None:
    def cost(*changes: Change) -> Decimal:
        return sum(
            (change.quantity * Decimal("0.04" if "read" in change.item.id else "0.07") for change in changes),
            Decimal(0),
        )

    assert efs.elastic_for(Decimal("0.56"), cost) == Allowance(14 * GIB, 8 * GIB)
    assert efs.elastic_for(Decimal("0.56"), cost, 4 * KIB) == Allowance(14 / 8 * GIB, GIB)
    assert efs.elastic_for(Decimal("0.56"), lambda *_: None) is None


def test_credits_are_earned_by_size_while_they_are_used_and_never_exceed_what_there_can_be() -> None:
    full, earned = efs.full_credits_bytes(0), efs.earned_bytes_per_s(100 * GIB) * HOUR_S

    def lowest(*used: float, held: float = full) -> float:
        return efs.lowest_credits(used, HOUR_S, 100 * GIB, held)

    assert lowest(0, 0) == full
    assert lowest(earned, 3 * earned, 0) == full - 2 * earned
    assert lowest(3 * earned, 0, 3 * earned) == full - 3 * earned
    assert lowest(0, 0, 0, 2 * earned) == full - earned  # credits earned at the maximum are lost
    assert lowest(3 * earned, held=earned) == 0
    assert lowest(0, held=earned) == earned
    assert lowest(0, held=9 * full) == full


def test_less_than_20_gib_are_simulated_without_the_floor() -> None:
    full = efs.full_credits_bytes(0)

    assert efs.lowest_credits([MIB * DAY_S], DAY_S, 10 * GIB, full) == pytest.approx(
        full - 0.51 * MIB * DAY_S, rel=1e-3
    )


def test_a_missing_point_takes_as_many_credits_as_the_one_before_it() -> None:
    full = efs.full_credits_bytes(0)

    assert efs.lowest_credits([nan, GIB, nan, nan], HOUR_S, 0, full) == full - 3 * GIB


@given(st.lists(st.floats(1, 10 * MIB), min_size=1, max_size=50))
@settings(deadline=None)
def test_what_elastic_bills_lies_between_its_bounds_whatever_the_sizes(sizes: list[float]) -> None:
    moved = efs.Moved(sum(sizes), len(sizes))
    billed = sum(efs.billed_bytes(size) for size in sizes)

    assert moved.billed_at_least <= billed * (1 + 1e-9)
    assert billed <= moved.billed_at_most * (1 + 1e-9)


def test_metadata_is_billed_as_4_kib_at_least() -> None:
    assert efs.Moved(100, 10, efs.LEAST_METADATA_BYTES).billed_at_least == 40 * KIB


SYSTEM = EfsFileSystem(
    id="fs-1", arn="a", target=Target("123456789012", "ap-northeast-1"), tags={}, state="available",
    created_at=datetime(2025, 1, 1, tzinfo=UTC), throughput_mode="bursting", provisioned_mib_s=None,
    performance_mode="generalPurpose", availability_zone=None,
    stored_bytes={"Standard": 2 * TIB, "IA": 0, "Archive": 0}, mount_targets=1, is_replica=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "provisioned", "bursts"),
    [("bursting", None, True), ("provisioned", 99, True), ("provisioned", 100, False), ("elastic", None, False)],
)
def test_a_file_system_lives_on_credits_unless_more_is_provisioned_than_its_size_earns(
    mode: str, provisioned: float | None, bursts: bool
) -> None:
    assert efs.bursts(replace(SYSTEM, throughput_mode=mode, provisioned_mib_s=provisioned)) is bursts


def test_what_is_metered_at_most_is_the_burst_the_amount_or_what_the_region_allows() -> None:
    assert efs.metered_ceiling("bursting", SYSTEM) == 200 * MIB
    assert efs.metered_ceiling("provisioned", SYSTEM, 300) == 300 * MIB
    assert efs.metered_ceiling("provisioned", SYSTEM, 2_000) == GIB
    assert efs.metered_ceiling("provisioned", SYSTEM, 50) == 200 * MIB


@pytest.mark.parametrize(("mib_s", "amount"), [(299.5, 300), (1_024, 1_024), (1_024.5, None), (40, None)])
def test_what_to_provision_is_what_the_region_offers_above_what_the_size_earns(
    mib_s: float, amount: int | None
) -> None:
    assert efs.provisioned_for(SYSTEM, mib_s * MIB) == amount


def test_what_elastic_bills_is_compared_as_written_gib() -> None:
    assert efs.as_written_gib(efs.elastic_units(10 * GIB, 5 * GIB)) == 10
