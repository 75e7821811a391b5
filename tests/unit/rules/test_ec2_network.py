"""Days with half an hour above the baseline: the upper bound from coarse data, and the days in five-minute data."""

from itertools import batched

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slackwater.detectors.ec2_network_over_baseline import OverBaselineLimits, _dark_days, _days, _is_decided
from slackwater.model.metrics import Series
from slackwater.performance.network import runs_above
from slackwater.rules import examples
from slackwater.rules.ec2_network import Traffic, days_above

BASELINE_GBPS, BASELINE_BYTES_PER_S = 0.8, 1e8
DAYS, A_DAY, AN_HOUR = 14, 288, 12
POINTS = DAYS * A_DAY
bursts = st.lists(
    st.tuples(
        st.integers(0, POINTS),
        st.sampled_from([5, 6, 7, 12, 30, 96, 288, 600]),
        st.integers(0, 2),
        st.sampled_from([1, 2, 3]),
    ),
    max_size=20,
)


def by_five_minutes(runs: list[tuple[int, int, int, int]]) -> list[float]:
    """Return five-minute sums with runs above the baseline.

    A run is (first point, number of points, length of a pause, number of points before each pause).
    """
    values = [0.0] * (POINTS + AN_HOUR)
    for start, points, pause, every in runs:
        for i in range(points):
            if (at := start + i + i // every * pause) < len(values):
                values[at] = BASELINE_BYTES_PER_S * 300 * 1.051
    return values


def coarsened(values: list[float | None], size: int) -> list[float | None]:
    """Return the sums of so many points each; None if they all are missing."""
    parts = ([value for value in part if value is not None] for part in batched(values, size))
    return [sum(part) if part else None for part in parts]


@pytest.mark.parametrize("size", [3, 12])
@settings(max_examples=300)
@given(bursts, st.integers(0, AN_HOUR - 1), st.just(0) | st.integers(AN_HOUR, POINTS - AN_HOUR))
@example([(0, 6, 0, 1), (587, 6, 0, 1), (690, 6, 0, 1), (1_004, 6, 0, 1)], 3, 3_025)
def test_coarse_data_never_show_fewer_days_than_five_minutes(size, runs, late, since):
    """The instance starts at the point `since`. Coarse data exclude its first period; five-minute data do not."""
    values = by_five_minutes([(start + since, *run) for start, *run in runs])
    whole = (POINTS + late) // size
    first = max(whole - POINTS // size, -(-since // size))
    coarse = coarsened(values, size)[first:whole]
    begin = max(late, since)
    closer = Series.of(begin * 300, 300, values[begin : late + POINTS])
    found = runs_above(closer, BASELINE_GBPS, min_points=6)
    days = min(_days(found, closer), DAYS) if found else 0
    assert days_above(Series.of(first * size * 300, size * 300, coarse), BASELINE_GBPS, DAYS) >= days


gaps = st.lists(st.tuples(st.integers(0, POINTS - 1), st.integers(1, 600)), max_size=12)


@settings(max_examples=300)
@given(bursts, gaps, st.integers(0, 2), st.integers(2, 8))
@example([], [(288 * day - 4, 6) for day in range(1, 8)], 0, 7)
@example([], [(3_739 - 288 * day, 7) for day in (0, 2, 4)], 1, 6)  # each gap is dark on two days
@example([(288 * day, 6, 0, 1) for day in range(1, 4)], [(288 * day + 100, 6) for day in range(3)], 0, 5)
def test_quarter_hours_decide_nothing_that_five_minutes_do_not(runs, gaps, late, above_days):
    values = by_five_minutes(runs)[: POINTS + late]
    for start, points in gaps:
        values[start : start + points] = [None] * len(values[start : start + points])
    closer = Series.of(late * 300, 300, values[late:])
    found = runs_above(closer, BASELINE_GBPS, min_points=6)
    days = (min(_days(found, closer), DAYS) if found else 0) + _dark_days(closer, at_least_s=1_800)
    traffic = Traffic(examples.BURSTING[0], BASELINE_GBPS, (), calm=True, read=dict)
    quarters = Series.of(0, 900, coarsened(values, 3)[: POINTS // 3])
    if _is_decided(quarters, traffic, OverBaselineLimits(above_days=above_days)):
        assert days < above_days


def test_a_period_without_a_point_may_have_been_above():
    for size in (3, 12):
        a_day = A_DAY // size
        quiet = Series.of(0, size * 300, [0.0] * a_day * DAYS)
        dark = Series.of(0, size * 300, [*[0.0] * a_day * (DAYS - 6), *[None] * a_day * 6])
        assert days_above(quiet, BASELINE_GBPS, DAYS) == (size == 12)
        assert days_above(dark, BASELINE_GBPS, DAYS) >= 6


def test_hours_that_hold_two_points_above_the_baseline_each_hold_no_half_an_hour():
    hour = BASELINE_BYTES_PER_S * 3_600
    assert days_above(Series.of(0, 3_600, [0.26 * hour] * 24 * DAYS), BASELINE_GBPS, DAYS) == 1
    assert days_above(Series.of(0, 3_600, [0.27 * hour] * 24 * DAYS), BASELINE_GBPS, DAYS) > DAYS


def test_six_quarter_hours_with_one_point_above_the_baseline_each_may_be_half_an_hour_above_it():
    quarter = BASELINE_BYTES_PER_S * 900
    five, six = ([*[0.36 * quarter] * count, *[0.0] * 2_000][: 96 * DAYS] for count in (5, 6))
    assert days_above(Series.of(0, 900, five), BASELINE_GBPS, DAYS) == 0
    assert days_above(Series.of(0, 900, six), BASELINE_GBPS, DAYS) >= 1


def test_a_burst_of_five_minutes_is_no_half_an_hour_in_quarter_hours():
    burst = [*[0.0] * 40, 50 * BASELINE_BYTES_PER_S * 300, *[0.0] * 55] * DAYS
    assert days_above(Series.of(0, 900, burst), BASELINE_GBPS, DAYS) == 0


def test_a_run_may_begin_at_the_end_of_the_hour_before():
    """With the hour before, the three runs are on four days, and one more after the last hour."""
    values = by_five_minutes([(hour * AN_HOUR, 6, 0, 1) for hour in (100, 123, 146)])[:POINTS]
    assert days_above(Series.of(0, 3_600, coarsened(values, AN_HOUR)), BASELINE_GBPS, DAYS) == 5
