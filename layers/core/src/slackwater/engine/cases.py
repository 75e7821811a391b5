"""Runs a detector's worked examples as the engine would, with the metrics of each case."""

from dataclasses import replace
from typing import Any

from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.plan import MetricQuery
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Series
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict


def play(detector: AnyDetector, case: Case) -> Verdict:
    """Return the verdict on a case. A metric that the case does not give has no data."""
    return play_with_queries(detector, case)[0]


def play_with_queries(detector: AnyDetector, case: Case) -> tuple[Verdict, list[MetricQuery]]:
    """Return the verdict on a case, and the metric queries that the detector needed."""
    verdicts: list[Verdict] = []

    def watch(*args: Any) -> Verdict:
        verdicts.append(detector.verdict(*args))
        return verdicts[-1]

    watched = replace(detector, judge=watch)
    limits = detector.limits.model_validate(case.limits)
    fleet = Fleet([case.resource, *case.records], case.unreadable)
    queue = EvaluationQueue(fleet, [Enabled("case", watched, limits)], CASE_NOW)
    queries: list[MetricQuery] = []
    while call := queue.next_call(idle=True):
        queries += call.queries
        queue.receive({query: answer(query, case) for query in call.queries}, {})
    for reason in (*(one.reason for one in queue.unknown), *(reason for _, reason, _ in queue.failures)):
        return Unknown(reason), queries
    return queue.flagged[0].verdict if queue.flagged else verdicts[-1], queries


def words(verdict: Verdict) -> str:
    """Return the reason, or the summary and the caveats, of a verdict. A case's `says` must be a part of it."""
    match verdict:
        case Flagged():
            return " ".join((verdict.summary, *verdict.caveats))
        case Fine() | Unknown():
            return verdict.reason
        case _:
            return ""


def answer(query: MetricQuery, case: Case) -> Series:
    """Return the points that a case gives for a query, the newest last. Earlier points in the window are missing."""
    published = not any(name in case.unpublished for name, _ in query.dimensions)
    values = list(case.metrics.get((query.metric, query.period_s), ()) if published else ())[-query.points :]
    return Series.of(query.window.start_s, query.period_s, [None] * (query.points - len(values)) + values)
