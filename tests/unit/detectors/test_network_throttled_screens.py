"""`ec2-network-throttled` reads CPU credits by five minutes only if their hours leave the answer open."""

from dataclasses import replace

import pytest

from slackwater.detectors.ec2_network_throttled import CREDIT_BALANCE, HOURLY, SURPLUS_BALANCE
from slackwater.engine.cases import play_with_queries
from slackwater.engine.registry import registry
from slackwater.model.units import FIVE_MINUTES_S, HOUR_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict

DETECTOR = registry()["ec2-network-throttled"]
HOURS = 14 * 24
SLOW = HOURS - 20
"""An hour in the middle of the plateau, which begins almost 23 hours before the scan and lasts nine hours."""


def judged(lowest: list[float | None], counts: list[float | None], **balances: float | None) -> tuple[Verdict, int]:
    """Return the verdict on a slow t3.micro with these credits by hour, and how many CPU metrics it read closer."""
    (case,) = [one for one in DETECTOR.cases if one.title.startswith("a t3.micro proxy")]
    cpu = {(CREDIT_BALANCE, FIVE_MINUTES_S): balances.get("balance", 144.0), (SURPLUS_BALANCE, FIVE_MINUTES_S): 0.0}
    closer = {key: [value] * 14 * 288 for key, value in cpu.items()}
    hours = {(HOURLY[0], HOUR_S): lowest, (HOURLY[1], HOUR_S): counts}
    verdict, queries = play_with_queries(DETECTOR, replace(case, metrics={**case.metrics, **hours, **closer}))
    return verdict, sum(one.period_s == FIVE_MINUTES_S and one.metric.name.startswith("CPU") for one in queries)


def but(value: float, other: float | None, at: int) -> list[float | None]:
    """Return the same value for each hour but one."""
    return [other if hour == at else value for hour in range(HOURS)]


@pytest.mark.parametrize("samples", [12, 60])
def test_hours_with_all_points_and_with_credits_need_no_five_minutes(samples: float) -> None:
    verdict, closer = judged([144.0] * HOURS, [samples] * HOURS, balance=0)

    assert isinstance(verdict, Flagged)
    assert closer == 0


@pytest.mark.parametrize("at", [0, HOURS - 1])
def test_other_hours_may_lack_points_or_credits(at: int) -> None:
    assert judged(but(144, 0, at), but(12, 11, at))[1] == 0


@pytest.mark.parametrize(
    ("lowest", "counts"),
    [
        (but(144, 0.9, SLOW), [12.0] * HOURS),
        ([144.0] * HOURS, but(12, 11, SLOW)),
        (but(144, None, SLOW), but(12, None, SLOW)),
        ([144.0] * HOURS, [11.0] * HOURS),
        ([], []),
    ],
)
def test_without_credits_or_points_in_an_hour_of_the_plateau_five_minutes_decide(
    lowest: list[float | None], counts: list[float | None]
) -> None:
    for balance, expected in ((144.0, Flagged), (0.0, Fine), (None, Unknown)):
        verdict, closer = judged(lowest, counts, balance=balance)
        assert isinstance(verdict, expected)
        assert closer == 2
