"""What a question costs: the cheapest metric that settles it, and no more."""

import pytest

from slackwater.engine.cases import play_with_queries
from slackwater.engine.registry import registry
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S

COSTS = [
    ("ebs-surplus-throughput", "125 MiB/s, as every gp3", []),
    ("ebs-surplus-throughput", "a ten-minute batch at full throughput every night", [DAY_S] * 2),
    ("ebs-surplus-throughput", "1,000 MiB/s bought, 60 used", [DAY_S] * 3),
    ("ebs-unattached", "attached", []),
    ("ebs-unattached", "detached two days ago", []),
    ("ebs-unattached", "detached three weeks ago", [DAY_S]),
    ("efs-idle", "a replica", []),
    ("efs-idle", "three days old", []),
    ("efs-idle", "far more traffic than a backup makes", [DAY_S]),
    ("efs-idle", "a month of zeros", [DAY_S] * 5),
    ("ec2-network-throttled", "a type without burst", []),
    ("ec2-network-throttled", "hardly any traffic: settled by the hour", [HOUR_S] * 2),
    ("ec2-network-throttled", "steady at its baseline, never a burst", [HOUR_S] * 2 + [FIVE_MINUTES_S]),
    ("fsx-sync-export", "async", []),
    ("fsx-sync-export", "hardly any writes", [HOUR_S]),
]


@pytest.mark.parametrize(("detector_id", "title", "periods"), COSTS)
def test_a_case_is_settled_by_these_metrics(detector_id: str, title: str, periods: list[int]) -> None:
    detector = registry()[detector_id]
    (case,) = [case for case in detector.cases if case.title == title]
    _, queries = play_with_queries(detector, case)

    assert sorted((query.period_s for query in queries), reverse=True) == sorted(periods, reverse=True)
