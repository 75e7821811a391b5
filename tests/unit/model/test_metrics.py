"""Series of points, some of which nobody published."""

from slackwater.model.metrics import Series


def test_a_series_in_another_unit_has_its_points_at_the_same_times_and_its_gaps() -> None:
    series = Series.of(300, 60, [2.0, None, 0.0]).over(2)

    assert (series.start_s, series.period_s) == (300, 60)
    assert series.optional() == [1.0, None, 0.0]
