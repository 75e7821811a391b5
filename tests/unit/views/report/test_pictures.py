"""The data of the report's charts."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.views.report.pictures import SPARK_HEIGHT, SPARK_WIDTH, album, sparkline, thinned

VALUES = st.lists(st.none() | st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=600)
START = "2026-11-16T00:00:00Z"


def fact(values: list[float | None], unit: str = "MiB/s", **more: Any) -> dict[str, Any]:
    return {
        "label": "Read",
        "value": 1,
        "unit": unit,
        "series": {"start": START, "period_s": 60, "values": values},
        **more,
    }


def chart(*facts: dict[str, Any], points: int = 10_000, until: str | None = None) -> Any:
    findings: Any = [{"evidence": [each]} for each in facts]
    return album(findings, points, until=until).charts[0, 0]


def lines(*values: float) -> list[dict[str, Any]]:
    return [{"label": f"Level {number}", "value": value} for number, value in enumerate(values)]


@given(values=VALUES, most=st.integers(10, 200))
def test_thinning_keeps_both_ends_every_peak_and_every_gap_and_makes_nothing_up(
    values: list[float | None], most: int
) -> None:
    kept = thinned(values, most)
    places = [at for at, _ in kept]

    assert len(kept) <= most
    assert places == sorted(set(places))
    assert all(values[at] == value for at, value in kept)
    assert (places[0], places[-1]) == (0, len(values) - 1)
    present = [value for value in values if value is not None]
    if present:
        shown = [value for _, value in kept if value is not None]
        assert (min(shown), max(shown)) == (min(present), max(present))
    for (before, one), (after, other) in pairwise(kept):
        if one is not None and other is not None:
            assert None not in values[before:after], "a line across a gap would say that there were points"


def test_a_lonely_peak_in_a_long_night_stays() -> None:
    values: list[float | None] = [0.0] * 5_000
    values[3_210] = 99.0

    assert (3_210, 99.0) in thinned(values, 48)


def test_both_ends_stay_though_they_are_no_extremes() -> None:
    kept = thinned([5.0, 1.0, *[float(n % 10) for n in range(500)], 9.0, 5.0], 48)

    assert (kept[0], kept[-1]) == ((0, 5.0), (503, 5.0))


def test_a_long_gap_keeps_where_it_begins_and_ends() -> None:
    kept = thinned([*[1.0] * 1_000, *[None] * 1_000, *[1.0] * 1_000], 48)

    assert [at for at, value in kept if value is None] == [1_000, 1_999]


def test_what_fits_is_drawn_point_by_point() -> None:
    assert chart(fact([1.0, None, 2.5])) == {
        "unit": "MiB/s",
        "start": 1_794_787_200,
        "period": 60,
        "values": [1, None, 2.5],
    }


def test_a_thinned_series_has_the_number_of_points_and_the_place_of_each() -> None:
    values: list[float | None] = [float(n % 100) for n in range(2_000)]
    made = chart(fact(values))

    assert made["of"] == 2_000
    assert len(made["values"]) == len(made["at"]) <= 720
    places = [sum(made["at"][: n + 1]) for n in range(len(made["at"]))]
    assert [values[at] for at in places] == made["values"]


def test_four_digits_are_kept() -> None:
    assert chart(fact([1234.5678, 0.00012345678, 1e15]))["values"] == [1235, 0.0001235, 1_000_000_000_000_000]


@pytest.mark.parametrize(
    ("unit", "value", "shown", "axis"),
    [
        ("bytes", 3 * 2**30, 3, "GiB"),
        ("bytes", 12, 12, "bytes"),
        ("percent", 12.5, 12.5, "%"),
        ("percent busy", 12.5, 12.5, "% busy"),
        ("count", 4, 4, ""),
        ("IOPS", 4, 4, "IOPS"),
    ],
)
def test_the_axis_has_the_unit_that_suits_it(unit: str, value: float, shown: float, axis: str) -> None:
    made = chart(fact([value], unit))

    assert (made["values"], made["unit"]) == ([shown], axis)


def test_levels_scale_and_forecast_are_in_the_unit_of_the_series() -> None:
    ahead = {"start": "2026-11-16T00:01:00Z", "period_s": 60, "values": [2**30, None]}
    made = chart(
        fact([2 * 2**30], "bytes", lines=[{"label": "Full", "value": 4 * 2**30}], scale=8 * 2**30, forecast=ahead)
    )

    assert made["unit"] == "GiB"
    assert (made["values"], made["lines"], made["top"]) == ([2], [("Full", 4)], 8)
    assert made["forecast"] == {"start": 1_794_787_260, "period": 60, "values": [1, None]}


def test_a_peak_far_above_the_middle_is_drawn_logarithmically_unless_the_scale_is_given() -> None:
    plateau = [348.0, *[8.0] * 50]

    assert chart(fact(plateau))["log"]
    assert "log" not in chart(fact(plateau, scale=1_000))
    assert "log" not in chart(fact([8.0, 9.0]))


def test_a_level_far_above_all_of_the_series_is_drawn_logarithmically_and_not_the_series_into_the_axis() -> None:
    plateau = [7.96, 7.97, 7.98]

    assert chart(fact(plateau, lines=lines(8, 625)))["log"]
    assert "log" not in chart(fact(plateau, lines=lines(8, 159)))
    assert "log" not in chart(fact([-0.1, *plateau], lines=lines(8, 625))), "below zero there is no logarithm"
    assert "log" not in chart(fact([0.0, 0.0], lines=lines(8, 625))), "nothing at all lies on the axis rightly"


def test_a_given_scale_stays_linear_until_its_levels_would_hide_the_series() -> None:
    assert "log" not in chart(fact([150.0], scale=6_000, lines=lines(6_000)))
    hidden = chart(fact([3.0], scale=6_000, lines=lines(6_000)))
    assert (hidden["log"], hidden["top"]) == (True, 6_000)


def test_a_limit_far_above_the_series_is_named_and_not_drawn() -> None:
    made = chart(fact([0.0, 2.0**30], "bytes", scale=2.0**41))

    assert (made["full"], made["unit"], made["values"]) == (2_048, "GiB", [0, 1])
    assert "top" not in made
    for near in (fact([30.0], scale=2_000), fact([0.0], scale=2_000), fact([-1.0], scale=2_000)):
        assert (chart(near)["top"], "full" in chart(near)) == (2_000, False)


def test_a_full_height_that_a_level_reaches_is_drawn_with_it() -> None:
    assert chart(fact([-1.0, 3.0], scale=6_000, lines=lines(6_000)))["top"] == 6_000


def test_a_full_height_stays_that_only_a_forecast_comes_near() -> None:
    ahead = {"start": START, "period_s": 60, "values": [50.0]}
    assert chart(fact([0.5], scale=100, forecast=ahead))["top"] == 100


@pytest.mark.parametrize(
    ("until", "part"),
    [
        ("2026-11-16T00:03:00Z", False),
        ("2026-11-16T00:02:59Z", True),
        (None, False),
        ("2026-11-16T09:00:00+09:00", True),
    ],
)
def test_a_last_point_of_an_incomplete_period_is_labelled(until: str | None, part: bool) -> None:
    assert ("part" in chart(fact([96.0, 96.0, 2.0]), until=until)) is part
    assert "part" not in chart(fact([96.0, 96.0, None]), until=until)


def test_series_share_the_budget_and_the_first_findings_come_first() -> None:
    some = [{"evidence": [fact([float(n) for n in range(500)])]} for _ in range(10)]

    enough, scarce, least = album(some, 5_000), album(some, 1_000), album(some, 200)
    assert {len(made["values"]) for made in enough.charts.values()} == {500}
    assert enough.left_out == scarce.left_out == 0
    assert sum(len(made["values"]) for made in scarce.charts.values()) <= 1_000
    assert (sorted(least.charts), least.left_out) == ([(0, 0), (1, 0), (2, 0), (3, 0)], 6)


def test_a_forecast_counts_against_the_budget() -> None:
    long = {"start": START, "period_s": 60, "values": [1.0] * 100}

    finding: Any = {"evidence": [fact([1.0] * 100, forecast=long)]}
    assert album([finding], 199).charts[0, 0]["forecast"]["at"]


def test_a_series_without_a_point_is_no_picture() -> None:
    finding: Any = {"evidence": [fact([None, None]), {"label": "Size", "value": 1, "unit": "GiB"}]}
    made = album([finding])

    assert (made.charts, made.left_out) == ({}, 0)
    assert sparkline(fact([None])) == ""


def test_a_small_picture_breaks_at_gaps_and_shows_a_lonely_point() -> None:
    assert sparkline(fact([0.0, 1.0, None, 1.0, None, 0.0])) == "M0 20h0L19 0M58 0h0M96 20h0"


def test_a_small_picture_is_scaled_as_in_other_views() -> None:
    assert sparkline(fact([5.0, 5.0], scale=10.0)) == "M0 10h0L96 10"
    assert sparkline(fact([5.0, 5.0])) == "M0 0h0L96 0"
    assert sparkline(fact([0.0, 0.0])) == "M0 20h0L96 20"
    assert sparkline(fact([1_000.0, *[10.0] * 4, 0.0])).endswith("L96 20")


def test_a_small_picture_leaves_out_what_was_not_over_unless_there_is_nothing_else() -> None:
    assert sparkline(fact([96.0, 96.0, 2.0]), "2026-11-16T00:02:59Z") == sparkline(fact([96.0, 96.0]))
    assert sparkline(fact([96.0, 96.0, 2.0]), "2026-11-16T00:03:00Z") == "M0 0h0L48 0L96 20"
    assert sparkline(fact([None, 2.0]), "2026-11-16T00:01:30Z") == "M96 0h0"


def test_a_small_picture_is_logarithmic_where_the_chart_is() -> None:
    assert sparkline(fact([10.0, 10.0])) == "M0 0h0L96 0"
    assert sparkline(fact([10.0, 10.0], lines=lines(1_000))) == "M0 17h0L96 17"


@given(
    values=VALUES,
    levels=st.lists(st.floats(-1e12, 1e12), max_size=2),
    until=st.sampled_from(["2026-11-16T00:05:00Z", None]),
)
def test_a_small_picture_stays_in_its_frame(values: list[float | None], levels: list[float], until: str | None) -> None:
    for x, y in re.findall(r"[ML](-?\d+) (-?\d+)", sparkline(fact(values, lines=lines(*levels)), until)):
        assert 0 <= int(x) <= SPARK_WIDTH
        assert 0 <= int(y) <= SPARK_HEIGHT
