"""Missing data never creates a finding. It can only remove one, or make the verdict unknown."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from slackwater.engine.cases import answer, play, words
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Metric
from slackwater.model.resources import AgentMetric
from slackwater.model.verdicts import Fine, Flagged
from support.effort import effort

type Values = Mapping[tuple[Metric, int], list[float | None]]

INNOCENT = [
    pytest.param(detector, case, id=f"{id_}: {case.title}")
    for id_, detector in registry().items()
    for case in detector.cases
    if case.expect is not Flagged and case.metrics
]

ABSENCE_SPEAKS = {
    "ethtool_bw_in_allowance_exceeded",  # optional: without it the finding has less confidence
    "ethtool_bw_out_allowance_exceeded",
    "VolumeIOPSExceededCheck",  # optional too: not every instance publishes it
    "VolumeThroughputExceededCheck",
    "VolumeIdleTime",  # published only while the volume is attached
    "MeteredIOBytes",  # EFS may publish nothing instead of zeros; StorageBytes shows that CloudWatch was recording
    "ClientConnections",
    "DataReadIOBytes",
    "DataWriteIOBytes",
}
"""Metrics whose absence has a meaning, according to the detectors' pages."""


def silenced(case: Case, random: Random) -> Case:
    """Return the case with some points, or some whole metrics, missing."""
    metrics: dict[tuple[Metric, int], list[float | None]] = {}
    for (metric, period_s), values in case.metrics.items():
        if metric.name in ABSENCE_SPEAKS:
            metrics[metric, period_s] = list(values)
            continue
        share = random.choice([0, 0.02, 0.3, 1])
        metrics[metric, period_s] = [None if random.random() < share else value for value in values]
    return replace(case, metrics=metrics)


@pytest.mark.parametrize(("detector", "case"), INNOCENT)
def test_missing_points_never_make_a_finding_of_an_innocent_case(detector: AnyDetector, case: Case) -> None:
    random = Random(case.title)
    for _ in range(effort(25, 8)):
        verdict = play(detector, silenced(case, random))

        assert not isinstance(verdict, Flagged), words(verdict)


def test_a_counter_that_cannot_be_read_lets_the_others_not_say_that_nothing_was_held_back() -> None:
    """The verdict is not unknown either, because the metric is optional."""
    detector = registry()["ec2-network-throttled"]
    case = next(one for one in detector.cases if one.title == "the ENA driver held nothing back")
    broken = UnreadableRecord(AgentMetric, "odd", "a dimension has no name", (case.resource.id,))
    queue = EvaluationQueue(
        Fleet([case.resource, *case.records], broken=[broken]), [Enabled("x", detector, detector.limits())], CASE_NOW
    )
    while call := queue.next_call(idle=True):
        queue.receive({query: answer(query, case) for query in call.queries}, {})

    assert isinstance(play(detector, case), Fine)
    assert [one.resource.id for one in queue.flagged] == [case.resource.id]
    assert (queue.unknown, queue.flagged[0].verdict.confidence) == ([], "medium")
