"""The verdict on each worked case of each detector, cached for tests that only read it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from slackwater.engine.cases import play_with_queries
from slackwater.engine.plan import MetricQuery
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.verdicts import Flagged, Verdict


@dataclass(frozen=True)
class Played:
    """A worked case of the detector with this id, its verdict, and the metrics that the detector requested."""

    id: str
    case: Case
    verdict: Verdict
    queries: tuple[MetricQuery, ...]


@cache
def played(id_: str) -> tuple[Played, ...]:
    """Return all worked cases of a detector, in the order of its file."""
    detector = registry()[id_]
    answers = ((case, *play_with_queries(detector, case)) for case in detector.cases)
    return tuple(Played(id_, case, verdict, tuple(queries)) for case, verdict, queries in answers)


def flagged() -> Iterator[tuple[str, Case, Flagged]]:
    """Yield the flagged worked cases of all detectors: the detector's id, the case and the verdict."""
    for id_ in registry():
        for one in played(id_):
            if isinstance(one.verdict, Flagged):
                yield id_, one.case, one.verdict
