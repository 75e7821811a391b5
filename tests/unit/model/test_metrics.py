"""Series with missing points."""

from slackwater.model.metrics import Series
from slackwater.model.units import DAY_S


def test_a_series_in_another_unit_has_its_points_at_the_same_times_and_its_gaps() -> None:
    series = Series.of(300, 60, [2.0, None, 0.0]).over(2)

    assert (series.start_s, series.period_s) == (300, 60)
    assert series.optional() == [1.0, None, 0.0]


def test_a_sum_of_two_series_lacks_the_points_that_either_lacks() -> None:
    both = Series.of(300, 60, [2.0, None, 0.0]).plus(Series.of(300, 60, [1.0, 1.0, None]))

    assert (both.start_s, both.period_s, both.optional()) == (300, 60, [3.0, None, None])


def test_the_newest_days_end_with_the_series() -> None:
    series = Series.of(0, DAY_S, [1.0, 2.0, 3.0])

    assert (series.newest(2).start_s, series.newest(2).optional()) == (DAY_S, [2.0, 3.0])
    assert series.newest(9).optional() == [1.0, 2.0, 3.0]
