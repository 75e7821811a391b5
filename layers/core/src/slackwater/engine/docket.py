"""Brings every question about a fleet to its answer, in rounds, with as few metric calls as it takes.

The docket is opened household by household (resources that share metrics), so what it holds is bounded by what waits for
metrics, not by the size of the fleet. It never talks to AWS: it hands out calls and takes answers. What looks at kinds that are
still being read comes last.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slackwater.engine.managed import naming_the_manager
from slackwater.engine.plan import MetricCall, MetricQuery, Packer, TooFineError, query_of, window_of
from slackwater.engine.remedies import resolved
from slackwater.model.detector import MAX_ROUNDS, AnyDetector, Limits, MetricsNeededError, Seen
from slackwater.model.findings import HELD_BACK, UnknownVerdict
from slackwater.model.fleet import Fleet, UnreadableRecordError
from slackwater.model.metrics import Need, Series
from slackwater.model.resources import InstanceType, Record, Resource
from slackwater.model.verdicts import Ask, FindingKind, Fine, Flagged, Unknown, Verdict
from slackwater.performance.unpublished import UnpublishedError


@dataclass(frozen=True, slots=True)
class Enabled:
    """A detector that is on, with the limits the policy gives it."""

    id: str
    detector: AnyDetector
    limits: Limits


@dataclass(frozen=True, slots=True)
class FlaggedResource:
    """A question answered with yes, not priced yet."""

    enabled: Enabled
    resource: Resource
    verdict: Flagged

    @property
    def kind(self) -> FindingKind:
        """The verdict's, where it has one of its own."""
        return self.verdict.kind or self.enabled.detector.kind


@dataclass(slots=True, eq=False)
class _Question:
    enabled: Enabled
    resource: Resource
    rounds: int = 0
    asked: tuple[Need, ...] = ()


@dataclass(slots=True, eq=False)
class _Household:
    open: list[_Question]
    answered: dict[Need, Series] = field(default_factory=dict)
    failed: dict[Need, str] = field(default_factory=dict)
    waiting: int = 0


class Docket:
    """All questions about one target: take calls with `next_call`, bring answers with `receive`, then read the results."""

    def __init__(self, fleet: Fleet, enabled: Sequence[Enabled], now: datetime) -> None:
        """`now` is the end of every window."""
        self.flagged: list[FlaggedResource] = []
        self.unknown: list[UnknownVerdict] = []
        self.failures: Counter[tuple[str, str, bool]] = Counter()
        """What could not be done, why, and whether it was optional; how often."""
        self.fleet = fleet
        """Whole in the end, and as soon as all is settled that does not look at what is awaited."""
        self._now = now
        self._packer = Packer()
        self._ready: deque[MetricCall] = deque()
        self._pending: dict[MetricQuery, list[tuple[_Household, list[Need]]]] = {}
        at_once = [one for one in enabled if not fleet.awaited & looked_at(one.detector)]
        self._last = [one for one in enabled if one not in at_once]
        households = _households(fleet, at_once)
        self.questions = sum(len(fleet.all(one.detector.resource)) for one in enabled)
        self.settled = 0
        self._unopened: Iterator[list[_Question]] = iter(households.values())

    def next_call(self, *, idle: bool) -> MetricCall | None:
        """A call to make now. A call that is not full is given only when `idle`: nothing is on its way any more."""
        while not self._ready and (questions := next(self._unopened, None)) is not None:
            self._advance(_Household(questions))
        if not self._ready and idle:
            self._ready.extend(self._packer.flush())
        if not self._ready and idle and self.fleet.awaited:
            self.fleet = self.fleet.whole()
            self._unopened, self._last = iter(_households(self.fleet, self._last).values()), []
            return self.next_call(idle=idle)
        return self._ready.popleft() if self._ready else None

    def receive(self, series: Mapping[MetricQuery, Series], failed: Mapping[MetricQuery, str]) -> None:
        """Take the answer to a call: a series for each query, or the reason why there is none."""
        for query, reason in failed.items():
            self.failures["cloudwatch:GetMetricData", reason, query.metric.optional] += 1
        for query in (*series, *failed):
            for household, needs in self._pending.pop(query):
                for need in needs:
                    if query in failed and not need.metric.optional:
                        household.failed[need] = failed[query]
                        continue
                    household.failed.pop(need, None)
                    answer = silence(query) if query in failed else series[query]
                    start_s = window_of(need, self._now).start_s
                    household.answered[need] = answer if answer.start_s == start_s else answer.since(start_s)
                household.waiting -= 1
                if not household.waiting:
                    self._advance(household)

    def _advance(self, household: _Household) -> None:
        """Ask every open question of a household once more, and queue what they need."""
        still_open, needs = [], set[Need]()
        for question in household.open:
            verdict = self._judge(question, household)
            if isinstance(verdict, Ask):
                still_open.append(question)
                needs.update(verdict.needs)
                continue
            self.settled += 1
            if isinstance(verdict, Flagged):
                self.flagged.append(FlaggedResource(question.enabled, question.resource, verdict))
            elif isinstance(verdict, Unknown):
                self.unknown.append(UnknownVerdict(question.enabled.id, question.resource, verdict.reason))
        household.open = still_open
        self._queue(household, needs)

    def _judge(self, question: _Question, household: _Household) -> Flagged | Fine | Unknown | Ask:
        detector, limits = question.enabled.detector, question.enabled.limits
        for kind in detector.reads:
            if kind in self.fleet.unreadable:
                return Unknown(f"{kind.KIND} records could not be read: {self.fleet.unreadable[kind]}")
        if self.fleet.broken:
            others = looked_at(detector) - {detector.resource}
            if broken := self.fleet.broken_of(question.resource, others):
                return Unknown(str(broken))
        for need in question.asked:
            if need in household.failed:
                why = household.failed[need]
                return Unknown(why if HELD_BACK.match(why) else f"{need.metric.name} could not be read: {why}")
        try:
            verdict = _verdict(detector, question.resource, Seen(self._now, self.fleet, household.answered), limits)
            if isinstance(verdict, Flagged):
                return self._resolved(question, verdict)
            if not isinstance(verdict, Ask):
                return verdict
            question.rounds += 1
            if question.rounds > MAX_ROUNDS or all(need in household.answered for need in verdict.needs):
                return self._broken(question, f"a mistake of ours, please report it: it asks without end: {verdict.needs}")
            for need in verdict.needs:
                window_of(need, self._now)
        except (TooFineError, UnpublishedError, UnreadableRecordError) as error:
            return Unknown(str(error))
        except Exception as error:  # noqa: BLE001 -- a mistake in one detector must not lose what the others found
            return self._broken(question, f"a mistake of ours, please report it: {type(error).__name__}: {error}")
        question.asked += verdict.needs
        return verdict

    def _resolved(self, question: _Question, verdict: Flagged) -> Flagged:
        """The verdict with its remedies' advice; without it where an estimate fails, for it is true all the same."""
        try:
            verdict = naming_the_manager(verdict, question.resource)
            return resolved(verdict, question.resource.target.region, self.fleet.all(InstanceType))
        except Exception as error:  # noqa: BLE001 -- a mistake in an estimate must not lose a finding
            self._broken(question, f"a mistake of ours, please report it: its advice: {type(error).__name__}: {error}")
            return replace(verdict, remedies=())

    def _broken(self, question: _Question, reason: str) -> Unknown:
        self.failures[f"detector:{question.enabled.id}", reason, False] += 1
        return Unknown(reason)

    def close(self) -> None:
        """Settle what was never answered, aloud. An adapter that keeps its promise leaves nothing to settle."""
        waiting = {id(household): household for asked in self._pending.values() for household, _ in asked}
        self._pending.clear()
        for household in waiting.values():
            for question in household.open:
                self.settled += 1
                verdict = self._broken(question, "a metric it asked for was never answered")
                self.unknown.append(UnknownVerdict(question.enabled.id, question.resource, verdict.reason))

    def _queue(self, household: _Household, needs: set[Need]) -> None:
        """Queue one query for each metric and period, as far back as the most patient need."""
        widest: defaultdict[tuple[object, ...], list[Need]] = defaultdict(list)
        for need in sorted(needs - household.answered.keys(), key=lambda need: -need.days):
            widest[need.metric, need.dimensions, need.period_s].append(need)
        household.waiting = len(widest)
        for same in widest.values():
            query = query_of(same[0], self._now)
            if query in self._pending:
                self._pending[query].append((household, same))
                continue
            self._pending[query] = [(household, same)]
            if call := self._packer.add(query):
                self._ready.append(call)


def silence(query: MetricQuery) -> Series:
    """An answer without any point."""
    return Series.of(query.window.start_s, query.period_s, [None] * query.points)


def _verdict(detector: AnyDetector, resource: Resource, seen: Seen, limits: Limits) -> Verdict:
    """Judge a resource. The answer is Ask if the detector reads metrics that the engine has not collected yet."""
    try:
        return detector.judge(resource, seen, limits)
    except MetricsNeededError as needed:
        return Ask(needed.needs)


def looked_at(detector: AnyDetector) -> frozenset[type[Record]]:
    """The kinds of record that a detector looks at."""
    return frozenset({detector.resource, *detector.reads, *detector.reads_if_allowed})


def _households(fleet: Fleet, enabled: Iterable[Enabled]) -> dict[str, list[_Question]]:
    households: defaultdict[str, list[_Question]] = defaultdict(list)
    for one in enabled:
        for resource in fleet.all(one.detector.resource):
            households[resource.household].append(_Question(one, resource))
    return households
