"""When `efs-cold-data` asks for the lifecycle of a file system, which takes a call for each."""

import pytest

from slackwater.detectors.efs_cold_data import DETECTOR
from slackwater.engine.cases import answer
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.model.detector import CASE_NOW
from slackwater.model.fleet import Fleet, Late, Rest
from slackwater.model.resources import EfsFileSystem, EfsLifecycle, Record

NO_POLICY = "800 GiB of which 55 were touched"


@pytest.mark.parametrize(
    ("title", "asks"),
    [
        (NO_POLICY, True),
        ("a day without a point", True),
        ("its policy moves cold files already", True),
        ("read from end to end on one night of the month", False),
        ("written again every month", False),
        ("99 GiB in Standard", False),
        ("three weeks old", False),
    ],
)
def test_the_lifecycle_is_read_only_if_reads_and_writes_leave_the_verdict_open(title: str, asks: bool) -> None:
    (case,) = (one for one in DETECTOR.cases if one.title == title)
    asked = list[str]()

    def begin(kind: type[Record], fleet: Fleet) -> None:
        assert kind is EfsLifecycle
        asked.extend(one.id for one in fleet.all(EfsFileSystem))

    rest = Rest(frozenset(), lambda: Late(case.records, {}, []), frozenset({EfsLifecycle}), begin)
    limits = DETECTOR.limits.model_validate(case.limits)
    queue = EvaluationQueue(Fleet([case.resource], rest=rest), [Enabled("efs-cold-data", DETECTOR, limits)], CASE_NOW)
    queries = []
    while call := queue.next_call(idle=True):
        queries += call.queries
        queue.receive({query: answer(query, case) for query in call.queries}, {})

    assert asked == [case.resource.id] * asks
    assert len(queries) == len(set(queries))
    assert (bool(queue.flagged), bool(queue.unknown)) == (title == NO_POLICY, title == "a day without a point")
