"""Plateaus at the network baseline: whether a credit bucket of unknown level can explain them."""

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.model.metrics import Series
from slackwater.performance import network, network_credits
from slackwater.performance.network_credits import Budget, Plateau, Shape

LONG = [0.99] * 12
BASELINE = 100e6


def plateaus(*ratios: float | None, peak: float = 4, full_at_start: bool = False) -> list[Plateau]:
    """Return the plateaus of rates in multiples of a baseline of 100 MB/s, one rate for five minutes."""
    sums = Series.of(0, 300, [None if ratio is None else ratio * 100e6 * 300 for ratio in ratios])
    return network_credits.plateaus(sums, 100e6, peak * 100e6, Shape(6, 0.02, 6), full_at_start=full_at_start)


def budgets(*ratios: float | None, peak: float = 4, full_at_start: bool = False) -> list[Budget]:
    return [one.budget for one in plateaus(*ratios, peak=peak, full_at_start=full_at_start)]


def test_a_burst_of_five_to_sixty_minutes_at_the_peak_is_a_whole_bucket() -> None:
    assert budgets(4, *LONG) == [Budget.WHOLE]
    assert budgets(*[4] * 14, *LONG) == [Budget.WHOLE]
    assert budgets(*[4] * 17, *LONG) == []  # it uses 17 × 3 = 51; an hour at the peak uses 12 × 3 = 36


def test_without_a_burst_the_level_before_is_unknown() -> None:
    assert budgets(*LONG) == [Budget.UNKNOWN]
    assert budgets(2, *LONG) == [Budget.UNKNOWN]  # the bucket may have been nearly empty


def test_an_instance_starts_with_a_full_bucket() -> None:
    assert budgets(2, *LONG, full_at_start=True) == []
    assert budgets(4, *LONG, full_at_start=True) == [Budget.WHOLE]


def test_a_cycle_uses_all_that_came_back() -> None:
    idle = [0.01] * 6

    assert budgets(*LONG, *idle, 3.97, 3.97, *LONG, peak=40) == [Budget.UNKNOWN, Budget.CYCLE]
    assert budgets(*LONG, *idle, 2, *LONG, peak=40) == [Budget.UNKNOWN], "credits were left"


def test_credits_that_came_back_would_have_been_used_before_the_plateau() -> None:
    assert budgets(4, 4, *LONG) == [Budget.WHOLE]
    assert budgets(4, 4, *[0.2] * 3, *LONG) == []
    assert budgets(4, 4, None, *LONG) == [Budget.UNKNOWN], "credits may have come back unseen"


def test_after_a_plateau_only_the_credits_that_came_back_can_be_used() -> None:
    assert budgets(4, *LONG, 1.2) == [Budget.WHOLE]
    assert budgets(4, *LONG, *[2.0] * 3) == []
    assert budgets(4, *LONG, 0.1, 0.1, 2.5) == [Budget.WHOLE]
    assert budgets(4, *LONG, None, None, 2.9) == [Budget.UNKNOWN], "credits may have come back unseen, or not"


def test_a_low_point_or_two_do_not_end_what_a_burst_began() -> None:
    assert budgets(4, *LONG, 0.8, *LONG) == [Budget.WHOLE, Budget.WHOLE]


def test_the_shortest_plateau_must_be_the_flattest() -> None:
    uneven = [1.005, 0.975, 1.005, 0.975, 1.005, 0.975]

    assert budgets(4, *[0.99] * 6, 0.2) == [Budget.WHOLE]
    assert budgets(4, *uneven, 0.2) == []
    assert budgets(4, *uneven * 2, 0.2) == [Budget.WHOLE]


@pytest.mark.parametrize(("mean", "is_level"), [(0.93, False), (0.95, True), (1.02, True), (1.04, False)])
def test_a_plateau_is_as_high_as_the_baseline_within_what_the_metrics_leave_out(mean: float, is_level: bool) -> None:
    assert bool(plateaus(4, *[mean] * 12, 0.2)) == is_level


def test_what_was_used_is_in_bytes_since_the_bucket_held_most() -> None:
    (found,) = plateaus(3, *[0] * 3, 4, 0.5, 4, *[1.0] * 6)

    assert found.spent_bytes == pytest.approx((300 - 50 + 300) * 1e6 * 300)
    assert found.burst_bytes_per_s == pytest.approx(400e6)


def test_budgets_count_only_if_their_plateaus_are_long_enough_together() -> None:
    found = plateaus(4, *LONG)

    assert network_credits.proven(found, min_points=12, max_spread=0.02)
    assert not network_credits.proven(found, min_points=13, max_spread=0.02)
    assert not network_credits.proven(plateaus(*LONG), min_points=12, max_spread=0.02)


def test_one_plateau_alone_must_be_flatter_than_several() -> None:
    uneven = [1.005, 0.975] * 6
    one = plateaus(4, *uneven, 0.2)

    assert len(one) == 1
    assert not network_credits.proven(one, min_points=12, max_spread=0.02)
    assert network_credits.proven(one, min_points=12, max_spread=0.04)
    assert network_credits.proven([*one, *one], min_points=12, max_spread=0.02)


def runs_of(rates: list[float | None], least: int) -> int:
    """Count the points in runs near the baseline, without the code under test."""
    near = [rate is not None and 0.90 <= rate <= 1.05 for rate in rates]
    runs = (len(list(run)) for inside, run in groupby(near) if inside)
    return sum(points for points in runs if points >= least)


levels = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 0.9, 0.94, 1.05, 1.06, 5.0]))
pieces = st.lists(st.tuples(levels, st.integers(1, 40)), max_size=12)


@pytest.mark.parametrize("size", [3, 12])
@settings(max_examples=300)
@given(pieces, st.integers(0, 11), st.integers(0, 11), st.sampled_from([3, 6, 7, 12, 14, 30]))
def test_coarse_data_never_leave_less_room_than_five_minutes_show(
    size: int, pieces: list[tuple[float | None, int]], before: int, after: int, least: int
) -> None:
    rates = [rate for rate, points in pieces for _ in range(points)]
    before, after = before % size, after % size
    rates += [0.0] * (-(len(rates) - before - after) % size)
    inner = [rates[i : i + size] for i in range(before, len(rates) - after, size)]
    sums = [sum(rate for rate in part if rate is not None) * BASELINE * 300 for part in inner]
    coarse = Series.of(0, size * 300, sums)

    most = network.most_near_baseline(coarse, BASELINE, least, (before, after))

    assert most >= runs_of(rates, least)


def test_hours_too_quiet_for_half_an_hour_at_the_baseline_leave_no_room() -> None:
    def room(*hours: float | None) -> int:
        series = Series.of(0, 3_600, [None if hour is None else hour * BASELINE * 3_600 for hour in hours])
        return network.most_near_baseline(series, BASELINE, 6, (0, 0))

    assert room(0.4, 0.0, 0.4) == 0  # five points each, but not adjacent
    assert room(0.23, 0.23) == 6  # three each, adjacent
    assert room(0.4, None, 0.45) == 6
    assert room(20.0) == 12


@pytest.mark.parametrize(
    ("quarters", "room"),
    [
        ((0.7, 1.0, 0.4), 6),  # two points, three and one
        ((0.59, 1.0, 0.4), 0),  # one, three and one
        ((0.7, 0.89, 0.7), 0),  # the middle is not near the baseline all the time
        ((0.7, 1.06, 0.7), 0),  # nor here
        ((3.0, 3.0), 6),
        ((0.7, None, 0.7), 0),
    ],
)
def test_between_the_first_and_the_last_quarter_hour_of_a_plateau_all_are_at_the_baseline(
    quarters: tuple[float | None, ...], room: int
) -> None:
    sums = Series.of(0, 900, [None if one is None else one * BASELINE * 900 for one in quarters])
    assert network.most_near_baseline(sums, BASELINE, 6, (0, 0)) == room
