"""Days with half an hour above the baseline: the upper bound from hourly data, and the days in five-minute data."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from slackwater.detectors.ec2_network_over_baseline import _days
from slackwater.model.metrics import Series
from slackwater.performance.network import runs_above
from slackwater.rules.ec2_network import days_above

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


@settings(max_examples=300)
@given(bursts, st.integers(0, AN_HOUR - 1), st.just(0) | st.integers(AN_HOUR, POINTS - AN_HOUR))
@example([(0, 6, 0, 1), (587, 6, 0, 1), (690, 6, 0, 1), (1_004, 6, 0, 1)], 3, 3_025)
def test_hours_never_show_fewer_days_than_five_minutes(runs, late, since):
    """The instance starts at the point `since`. Hourly data excludes its first hour; five-minute data does not."""
    values = by_five_minutes([(start + since, *run) for start, *run in runs])
    hours = [sum(values[i : i + AN_HOUR]) for i in range(0, len(values), AN_HOUR)]
    whole = (POINTS + late) // AN_HOUR
    first = max(whole - DAYS * 24, -(-since // AN_HOUR))
    by_hour = Series.of(first * 3_600, 3_600, hours[first:whole])
    begin = max(late, since)
    closer = Series.of(begin * 300, 300, values[begin : late + POINTS])
    found = runs_above(closer, BASELINE_GBPS, min_points=6)
    days = min(_days(found, closer), DAYS) if found else 0
    assert days_above(by_hour, BASELINE_GBPS, DAYS) >= days


def test_an_hour_without_a_point_may_have_been_above():
    quiet = Series.of(0, 3_600, [0.0] * 24 * DAYS)
    dark = Series.of(0, 3_600, [*[0.0] * 24 * (DAYS - 6), *[None] * 24 * 6])
    assert days_above(quiet, BASELINE_GBPS, DAYS) == 1
    assert days_above(dark, BASELINE_GBPS, DAYS) >= 6


def test_hours_that_hold_two_points_above_the_baseline_each_hold_no_half_an_hour():
    hour = BASELINE_BYTES_PER_S * 3_600
    assert days_above(Series.of(0, 3_600, [0.26 * hour] * 24 * DAYS), BASELINE_GBPS, DAYS) == 1
    assert days_above(Series.of(0, 3_600, [0.27 * hour] * 24 * DAYS), BASELINE_GBPS, DAYS) > DAYS
