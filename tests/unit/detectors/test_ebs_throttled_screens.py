"""`ec2-ebs-throttled` reads hours and five minutes only if the days or hours before leave the answer open."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from slackwater.detectors.ec2_ebs_throttled import COUNTS, HOURLY, IOPS, SUMS, THROUGHPUT
from slackwater.engine.cases import play_with_queries
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.metrics import Metric
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.rules import examples

DETECTOR = registry()["ec2-ebs-throttled"]
WHOLE = [60] * 9 * 24
"""Samples of a check in each hour of nine days. The last day ends fifteen hours after `CASE_NOW`."""
AT_LIMIT = [0] * 170 + [60] * 5 + [0] * 41
"""Minutes at the limit, of which the newest are 32 hours old."""
MBPS = 125_000 * FIVE_MINUTES_S


def checks(metric: int, ones: Sequence[int], samples: Sequence[int]) -> dict[tuple[Metric, int], list[float | None]]:
    """Return the daily and hourly points of a check with these values and samples in each hour."""
    hours = [(one, count) for one, count in zip(ones, samples, strict=True)][: 8 * 24 + 9]
    days = [hours[i : i + 24] for i in range(0, len(hours), 24)]
    counted = [sum(count for _, count in day) or None for day in days]
    return {
        (SUMS[metric], DAY_S): [
            sum(one for one, _ in day) if n else None for day, n in zip(days, counted, strict=True)
        ],
        (COUNTS[metric], DAY_S): counted,
        ((THROUGHPUT, IOPS)[metric].check, HOUR_S): [one / count if count else None for one, count in hours[9:]],
    }


def moved(mbps: Sequence[float]) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """Return all four metrics of the load, of which only reads are not zero, by five minutes and by hour."""
    nothing = [0.0] * len(mbps)
    found: dict[tuple[Metric, int], Sequence[float | None]] = {}
    for metric in (*THROUGHPUT.used, *IOPS.used):
        points = [one * MBPS for one in mbps] if metric is THROUGHPUT.used[0] else nothing
        found |= examples.and_hourly(metric, points)
        found[metric.optionally(), HOUR_S] = found[metric, HOUR_S]
    return found


def judged(metrics: Any, **fields: Any) -> tuple[Verdict, Counter[int]]:
    """Return the verdict on an instance, and how many metrics were read by each period."""
    case: Case = next(one for one in DETECTOR.cases if one.title == "never at its limit")
    instance = replace(case.resource, **fields)
    verdict, queries = play_with_queries(DETECTOR, replace(case, resource=instance, metrics=metrics))
    return verdict, Counter(query.period_s for query in queries)


@pytest.mark.parametrize(
    ("lost", "expect", "hours"),
    [
        (range(0), Fine("it was never at its EBS limit"), 0),
        (range(60, 84), Fine("it was never at its EBS limit"), 0),
        (range(60, 85), Unknown("its exceeded checks have no point in 25 hours"), 2),
    ],
)
def test_days_without_a_minute_at_the_limit_are_enough_unless_a_day_of_hours_is_missing(
    lost: range, expect: Verdict, hours: int
) -> None:
    """Each of the days has points."""
    samples = [0 if hour in lost else 60 for hour in range(len(WHOLE))]
    never = [0] * len(WHOLE)
    verdict, periods = judged(checks(0, never, samples) | checks(1, never, WHOLE))

    assert verdict == expect
    assert (periods[HOUR_S], periods[FIVE_MINUTES_S]) == (hours, 0)


def test_one_minute_may_be_all_that_is_known_of_an_hour_at_the_limit() -> None:
    ones = [1 if hour == 100 else 0 for hour in range(len(WHOLE))]
    samples = [1 if hour == 100 else 60 for hour in range(len(WHOLE))]
    verdict, _ = judged(checks(0, ones, samples) | checks(1, [0] * len(WHOLE), WHOLE))

    assert isinstance(verdict, Flagged)
    assert verdict.summary.startswith("1.0 hours")


def test_hours_show_the_load_if_no_size_carries_even_their_mean() -> None:
    metrics = checks(0, AT_LIMIT, WHOLE) | checks(1, [0] * len(WHOLE), WHOLE) | moved([7_000.0] * 8 * 288)
    verdict, periods = judged(metrics, instance_type="m5.8xlarge")

    assert isinstance(verdict, Flagged)
    assert [one.action for one in verdict.advice] == ["spread-the-load"]
    assert [one.value for one in verdict.evidence if one.label == "Busiest rate by the hour"] == [834.5, 0]
    assert periods == {DAY_S: 2, HOUR_S: 6}


def test_without_the_load_by_hour_five_minutes_decide() -> None:
    assert all(metric.optional for metric in HOURLY)
    metrics = checks(0, AT_LIMIT, WHOLE) | checks(1, [0] * len(WHOLE), WHOLE) | moved([7_000.0] * 8 * 288)
    by_five_minutes = {key: points for key, points in metrics.items() if key[0] not in HOURLY}
    verdict, _ = judged(by_five_minutes, instance_type="m5.8xlarge")

    assert isinstance(verdict, Flagged)
    assert [one.value for one in verdict.evidence if one.label == "Busiest five minutes"] == [834.5, 0]


@pytest.mark.parametrize(("peak_mbps", "size"), [(1_250, "xlarge"), (1_260, "2xlarge"), (9_000, "8xlarge")])
def test_five_minutes_decide_which_size_carries_the_load(peak_mbps: float, size: str) -> None:
    """The mean of the busiest hour is always less than half of the m6i.xlarge's baseline."""
    spike = [100.0] * 8 * 288
    spike[700] = peak_mbps - 60
    spike[701] = peak_mbps
    spike[702:712] = [0.0] * 10 if peak_mbps < 2_000 else [100.0] * 10
    metrics = checks(0, AT_LIMIT, WHOLE) | checks(1, [0] * len(WHOLE), WHOLE) | moved(spike)
    verdict, periods = judged(metrics)

    assert isinstance(verdict, Flagged)
    assert verdict.advice[0].action == f"change-instance-type-to-m6i.{size}"
    assert periods[FIVE_MINUTES_S] == 5
