"""The planner stays within CloudWatch's limits and refuses queries that CloudWatch would answer without data."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.engine.plan import MAX_POINTS, MAX_QUERIES, MetricCall, Packer, TooFineError, query_of, window_of
from slackwater.model.metrics import Metric, Need
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S

NOW = datetime(2026, 11, 16, 9, 7, 31, tzinfo=UTC)
METRIC = Metric("AWS/EBS", "VolumeReadBytes", "Sum", "bytes")


def need(resource: int = 0, period_s: int = DAY_S, days: float = 14) -> Need:
    return METRIC.need(("VolumeId", f"vol-{resource}"), period_s=period_s, days=days)


def pack(needs: list[Need]) -> tuple[list[MetricCall], list[MetricCall]]:
    packer = Packer()
    full = [call for need in needs if (call := packer.add(query_of(need, NOW)))]
    return full, packer.flush()


def test_a_day_window_takes_in_today_and_begins_at_a_midnight() -> None:
    window = window_of(need(days=30), NOW)

    assert datetime.fromtimestamp(window.end_s, UTC) == datetime(2026, 11, 17, tzinfo=UTC)
    assert datetime.fromtimestamp(window.start_s, UTC) == datetime(2026, 10, 17, tzinfo=UTC)


def test_a_five_minute_window_ends_with_the_last_finished_five_minutes() -> None:
    window = window_of(need(period_s=FIVE_MINUTES_S), NOW)

    assert datetime.fromtimestamp(window.end_s, UTC) == datetime(2026, 11, 16, 9, 5, tzinfo=UTC)
    assert query_of(need(period_s=FIVE_MINUTES_S), NOW).points == 4_032


@pytest.mark.parametrize(
    ("period_s", "days", "kept"),
    [(MINUTE_S, 14, True), (MINUTE_S, 16, False), (FIVE_MINUTES_S, 62, True), (FIVE_MINUTES_S, 64, False),
     (600, 62, True), (600, 64, False), (HOUR_S, 454, True), (HOUR_S, 456, False),
     (DAY_S, 450, True), (DAY_S, 460, False)],
)  # fmt: skip
def test_a_period_too_fine_for_its_start_is_refused_aloud(period_s: int, days: int, kept: bool) -> None:
    if kept:
        window_of(need(period_s=period_s, days=days), NOW)
    else:
        with pytest.raises(TooFineError, match=f"{days} were asked for"):
            window_of(need(period_s=period_s, days=days), NOW)


def test_five_hundred_queries_fill_a_call() -> None:
    full, rest = pack([need(n) for n in range(1_001)])

    assert [len(call.queries) for call in full + rest] == [500, 500, 1]


def test_a_hundred_thousand_points_fill_a_call() -> None:
    full, rest = pack([need(n, period_s=FIVE_MINUTES_S) for n in range(51)])

    assert [len(call.queries) for call in full + rest] == [25, 25, 1]


def test_what_is_left_of_several_periods_of_one_window_shares_a_call() -> None:
    by_hour = [need(n, period_s=HOUR_S, days=2) for n in range(3)]
    at_nine = NOW.replace(minute=0, second=0)
    packer = Packer()
    for one in [*by_hour, *(need(n, period_s=FIVE_MINUTES_S, days=2) for n in range(3))]:
        packer.add(query_of(one, at_nine))

    assert [len(call.queries) for call in packer.flush()] == [6]


def test_what_is_left_shares_calls_up_to_five_hundred_queries() -> None:
    at_midnight = NOW.replace(hour=0, minute=0, second=0)
    packer = Packer()
    for n in range(300):
        packer.add(query_of(need(n, period_s=HOUR_S, days=1), at_midnight))
        packer.add(query_of(need(n, period_s=FIVE_MINUTES_S, days=1), at_midnight))

    assert sorted(len(call.queries) for call in packer.flush()) == [100, 500]


@given(
    st.lists(st.tuples(st.sampled_from([MINUTE_S, FIVE_MINUTES_S, HOUR_S, DAY_S]), st.integers(1, 14)), max_size=600)
)
def test_no_call_breaks_a_limit_and_no_query_is_lost(asked: list[tuple[int, int]]) -> None:
    needs = [need(n, period_s=period_s, days=days) for n, (period_s, days) in enumerate(asked)]

    full, rest = pack(needs)

    for call in full + rest:
        assert len(call.queries) <= MAX_QUERIES
        assert sum(query.points for query in call.queries) <= MAX_POINTS
        assert {query.window for query in call.queries} == {call.window}
    assert sorted(query.dimensions for call in full + rest for query in call.queries) == sorted(
        n.dimensions for n in needs
    )
