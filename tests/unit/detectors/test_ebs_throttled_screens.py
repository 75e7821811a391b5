"""`ec2-ebs-throttled` reads five minutes only if hours or the newest day leave the answer open."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from slackwater.detectors.ec2_ebs_throttled import HOURLY, IOPS, THROUGHPUT
from slackwater.engine.cases import play_with_queries
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Metric
from slackwater.model.resources import Volume
from slackwater.model.units import FIVE_MINUTES_S, HOUR_S
from slackwater.model.verdicts import Fine, Flagged, Verdict
from slackwater.rules import examples

DETECTOR = registry()["ec2-ebs-throttled"]
CHECKS = {
    (THROUGHPUT.check, HOUR_S): [0.0] * 155 + [1.0] * 5 + [0.0] * 32,
    (IOPS.check, HOUR_S): [0.0] * 192,
}
"""The throughput was at its limit for five hours of eight days."""
MBPS = 125_000 * FIVE_MINUTES_S


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


def test_hours_show_the_load_if_no_size_carries_even_their_mean() -> None:
    metrics = CHECKS | moved([7_000.0] * 8 * 288)
    verdict, periods = judged(metrics, instance_type="m5.8xlarge")

    assert isinstance(verdict, Flagged)
    assert [one.action for one in verdict.advice] == ["spread-the-load"]
    assert [one.value for one in verdict.evidence if one.label == "Busiest rate by the hour"] == [834.5, 0]
    assert periods == {HOUR_S: 5}, "its baseline carries the IOPS of its volumes, so that check is not read"


def test_a_check_is_read_only_if_the_volumes_can_reach_the_limit() -> None:
    """A volume of 20,000 IOPS and 1,000 MiB/s: more than the throughput of an m5.8xlarge, less than its IOPS."""
    both = {(THROUGHPUT.check, HOUR_S): [0.0] * 192, (IOPS.check, HOUR_S): [1.0] * 192} | moved([100.0] * 8 * 288)
    small, large = (judged(both, instance_type=one) for one in ("m6i.large", "m5.8xlarge"))

    assert isinstance(small[0], Flagged)
    assert isinstance(large[0], Fine)
    assert large[1] == {HOUR_S: 1}


def test_without_the_load_by_hour_five_minutes_decide() -> None:
    assert all(metric.optional for metric in HOURLY)
    metrics = CHECKS | moved([7_000.0] * 8 * 288)
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
    metrics = CHECKS | moved(spike)
    verdict, periods = judged(metrics)

    assert isinstance(verdict, Flagged)
    assert verdict.advice[0].action == f"change-instance-type-to-m6i.{size}"
    assert periods[FIVE_MINUTES_S] == 6


A_DAY, DAYS = 288, 8


@pytest.mark.parametrize(
    ("low_points", "days_ago", "severity", "read"),
    [
        (6, 0, "high", [A_DAY]),
        (5, 0, "medium", [A_DAY, DAYS * A_DAY]),
        (6, 1, "high", [A_DAY, DAYS * A_DAY]),
        (6, 7, "high", [A_DAY, DAYS * A_DAY]),
        (0, 0, "medium", [A_DAY, DAYS * A_DAY]),
    ],
)
def test_the_newest_day_of_a_balance_may_confirm_the_checks(
    low_points: int, days_ago: int, severity: str, read: list[int]
) -> None:
    low = [*[50.0] * 30, *[0.0] * low_points]
    day = [*low, *(1 + i / 3 for i in range(A_DAY - len(low)))]
    balance = [100.0] * A_DAY * (DAYS - 1 - days_ago) + day + [100.0] * A_DAY * days_ago
    case = next(one for one in DETECTOR.cases if one.title == "never at its limit")
    metrics = CHECKS | moved([100.0] * DAYS * A_DAY) | {(THROUGHPUT.balance, FIVE_MINUTES_S): balance}
    verdict, queries = play_with_queries(DETECTOR, replace(case, metrics=metrics))

    assert isinstance(verdict, Flagged)
    assert verdict.severity == severity
    assert [one.points for one in queries if one.metric == THROUGHPUT.balance] == read


def test_a_volume_whose_instances_are_unknown_leaves_both_checks_to_decide() -> None:
    """EC2 may list a volume that is in use without an attachment: any instance may have it."""
    case: Case = next(one for one in DETECTOR.cases if one.title == "never at its limit")
    broken = UnreadableRecord(Volume, "", "ebs-volume without an id could not be read", None)
    fleet = Fleet([case.resource, *case.records], broken=[broken])
    queue = EvaluationQueue(fleet, [Enabled("ec2-ebs-throttled", DETECTOR, DETECTOR.limits())], CASE_NOW)
    call = queue.next_call(idle=True)

    assert call, "it is inconclusive without its checks"
    assert sorted(query.metric.name for query in call.queries) == sorted([THROUGHPUT.check.name, IOPS.check.name])
