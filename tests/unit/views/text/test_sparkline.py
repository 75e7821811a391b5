"""Series as text sparklines."""

from hypothesis import given
from hypothesis import strategies as st

from slackwater.views.text.sparkline import BARS, MISSING, is_logarithmic, sparkline


def test_bars_run_from_zero_to_the_greatest() -> None:
    assert sparkline([0, 50, 100], 10) == "▁▅█"
    assert sparkline([90, 100], 10) == "▇█"


def test_a_gap_is_not_a_low_bar() -> None:
    assert sparkline([1.0, None, 0.0], 10) == "█·▁"


def test_zeros_are_low_bars_and_nothing_is_nothing() -> None:
    assert sparkline([0.0, 0.0], 10) == "▁▁"
    assert sparkline([None, None], 10) == "··"
    assert sparkline([], 10) == ""


def test_a_narrow_line_keeps_the_peak() -> None:
    assert sparkline([0.0] * 500 + [9.0] + [0.0] * 499, 4) == "▁▁█▁"


def test_a_part_with_one_point_is_no_gap() -> None:
    assert sparkline([None, 5.0, None, None], 2) == "█·"


def test_below_zero_the_scale_starts_at_the_least() -> None:
    assert sparkline([-1.0, 0.0, 1.0], 3) == "▁▅█"


def test_a_rate_far_below_its_burst_is_still_seen() -> None:
    assert sparkline([0.0, 350.0, 8.0, 8.0, 8.0], 10) == "▁█▂▂▂"
    assert sparkline([0.1, 350.0, 8.0, 8.0, 8.0], 10) == "▂█▅▅▅"
    assert is_logarithmic([0.1, 350.0, 8.0, 8.0, 8.0])
    assert not is_logarithmic([0.0, 9.0])


def test_a_scale_of_its_own_is_linear_and_what_is_above_it_is_a_full_bar() -> None:
    assert sparkline([50.0, 100.0, 300.0], 3, 100) == "▅██"
    assert sparkline([0.1, 350.0, 8.0, 8.0, 8.0], 10, 700) == "▁▅▁▁▁"


@given(values=st.lists(st.none() | st.floats(0, 1e12), max_size=300), width=st.integers(1, 80))
def test_it_is_never_wider_than_asked_and_never_empty_of_points(values: list[float | None], width: int) -> None:
    line = sparkline(values, width)

    assert len(line) == min(width, len(values))
    assert set(line) <= {*BARS, MISSING}
    assert (set(line) == {MISSING}) == (bool(values) and all(value is None for value in values))
