"""Evaluates all detectors on a fleet, in rounds, with as few metric calls as possible.

The queue opens one resource group (resources that share metrics) after the other. So its size depends on how many
groups wait for metrics, not on the size of the fleet. It never calls AWS: it returns calls and receives their results.
A judgement that needs a record that was not read yet stops, too. The queue requests the record, goes on with other
groups, and judges again at the end, with the metrics that it has collected. If the judgement had read none of them, it
keeps only the daily ones.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from slackwater.engine.managed import naming_the_manager
from slackwater.engine.plan import MetricCall, MetricQuery, Packer, TooFineError, query_of, window_of
from slackwater.engine.remedies import resolved
from slackwater.model.detector import MAX_ROUNDS, AnyDetector, Limits, MetricsNeededError, OthersFirstError, Seen
from slackwater.model.findings import HELD_BACK, UnknownVerdict
from slackwater.model.fleet import Fleet, RecordNeededError, UnreadableRecordError
from slackwater.model.metrics import Need, Series
from slackwater.model.resources import AgentMetric, InstanceType, Record, Resource
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import FindingKind, Flagged, Unknown, Verdict
from slackwater.performance import UnpublishedError

BUG: Final = "a mistake of ours, please report it"

MOST_WAITING: Final = 600
"""How many groups may wait for metrics before no other is opened. It bounds the memory of large fleets."""


@dataclass(frozen=True, slots=True)
class Enabled:
    """A detector that is on, with the limits from the policy."""

    id: str
    detector: AnyDetector
    limits: Limits


@dataclass(frozen=True, slots=True)
class FlaggedResource:
    """A resource that a detector flagged, without prices yet."""

    enabled: Enabled
    resource: Resource
    verdict: Flagged

    @property
    def kind(self) -> FindingKind:
        """The verdict's kind; the detector's kind if the verdict has none."""
        return self.verdict.kind or self.enabled.detector.kind


@dataclass(slots=True, eq=False)
class _Question:
    """One detector on one resource. `asked` are the metrics that it has read so far."""

    enabled: Enabled
    resource: Resource
    rounds: int = 0
    asked: tuple[Need, ...] = ()


@dataclass(slots=True, eq=False)
class _ResourceGroup:
    """The open questions about resources that share metrics.

    `waiting` counts the queries without a result yet. `unread` are optional metrics that failed; detectors see them as
    metrics without points.
    """

    open: list[_Question]
    answered: dict[Need, Series] = field(default_factory=dict)
    failed: dict[Need, str] = field(default_factory=dict)
    unread: set[Need] = field(default_factory=set)
    waiting: int = 0


class EvaluationQueue:
    """All questions about one target.

    Take calls with `next_call` and return their results with `receive`, until there is none. Then read the verdicts.

    Attributes:
        flagged: Flagged resources, in the order of their evaluation.
        unknown: Inconclusive questions, with the reason.
        failures: How often a call or a detector failed, by (what, reason, optional).
        fleet: The inventory. At the end, it has all records that were listed or requested.
        questions: How many there are: one for each enabled detector and each of its resources.
        evaluated: How many questions have their final verdict.
    """

    def __init__(self, fleet: Fleet, enabled: Sequence[Enabled], now: datetime) -> None:
        """Create a queue for all resources of a fleet.

        Args:
            fleet: The inventory of one target.
            enabled: The detectors to run.
            now: The end of every metric window, with a time zone.
        """
        self.flagged: list[FlaggedResource] = []
        self.unknown: list[UnknownVerdict] = []
        self.failures: Counter[tuple[str, str, bool]] = Counter()
        self.fleet = fleet
        self._now = now
        self._packer = Packer()
        self._ready: deque[MetricCall] = deque()
        self._pending: dict[MetricQuery, list[tuple[_ResourceGroup, list[Need]]]] = {}
        self._late: defaultdict[_ResourceGroup, list[_Question]] = defaultdict(list)
        """Questions that need a record that was not read yet."""
        self.questions = sum(len(fleet.all(one.detector.resource)) for one in enabled)
        self.evaluated = 0
        self._waiting = 0  # groups that wait for metrics
        in_order = sorted(
            enabled, key=lambda one: (one.detector.judge_last, not fleet.on_demand.intersection(one.detector.reads))
        )
        self._unopened = _resource_groups(fleet, in_order)

    def next_call(self, *, idle: bool) -> MetricCall | None:
        """Return the next call to make; None if all others wait for results, or nothing is left.

        Args:
            idle: Whether no call waits for its result. Only then does the queue return a call that is not full.
        """
        while not self._ready and self._waiting < MOST_WAITING and (group := next(self._unopened, None)) is not None:
            self._advance(group)
        if not self._ready and idle:
            self._ready.extend(self._packer.flush())
        if not self._ready and idle and (self._late or self.fleet.awaited):
            self.fleet = self.fleet.caught_up()
            self._unopened = iter([replace(group, open=questions) for group, questions in self._late.items()])
            self._late.clear()
            return self.next_call(idle=idle)
        return self._ready.popleft() if self._ready else None

    def receive(self, series: Mapping[MetricQuery, Series], failed: Mapping[MetricQuery, str]) -> None:
        """Store the result of a call: for each query either a series or the reason why there is none."""
        for query, reason in failed.items():
            self.failures["cloudwatch:GetMetricData", reason, query.metric.optional] += 1
        for query in (*series, *failed):
            for group, needs in self._pending.pop(query):
                for need in needs:
                    self._store(group, need, query, series, failed)
                group.waiting -= 1
                if not group.waiting:
                    self._waiting -= 1
                    self._advance(group)

    def _store(
        self,
        group: _ResourceGroup,
        need: Need,
        query: MetricQuery,
        series: Mapping[MetricQuery, Series],
        failed: Mapping[MetricQuery, str],
    ) -> None:
        """Store what a query returned for one need. An optional metric that failed has no data."""
        if query in failed and not need.metric.optional:
            group.failed[need] = failed[query]
            return
        group.failed.pop(need, None)
        (group.unread.add if query in failed else group.unread.discard)(need)
        answer = silence(query) if query in failed else series[query]
        start_s = window_of(need, self._now).start_s
        group.answered[need] = answer if answer.start_s == start_s else answer.since(start_s)

    def _advance(self, group: _ResourceGroup) -> None:
        """Evaluate every open question of a group again, and queue the metrics that are missing."""
        still_open, needs = [], set[Need]()
        for question in group.open:
            try:
                verdict = self._judge(question, group, needs)
            except OthersFirstError:
                still_open.append(question)
                continue
            except MetricsNeededError as needed:
                still_open.append(question)
                needs.update(needed.needs)
                continue
            except RecordNeededError as needed_record:
                self._late[group].append(question)
                self.fleet.request(needed_record, question.resource)
                continue
            self.evaluated += 1
            if isinstance(verdict, Flagged):
                self.flagged.append(FlaggedResource(question.enabled, question.resource, verdict))
            elif isinstance(verdict, Unknown):
                self.unknown.append(UnknownVerdict(question.enabled.id, question.resource, verdict.reason))
        group.open = still_open
        if group in self._late and not still_open and not any(one.asked for one in self._late[group]):
            group.answered = {need: series for need, series in group.answered.items() if need.period_s == DAY_S}
        self._queue(group, needs)

    def _judge(self, question: _Question, group: _ResourceGroup, asked: Collection[Need]) -> Verdict:
        """Evaluate one question. `asked` is what other questions of the group have asked for in this round.

        Raises:
            MetricsNeededError: The queue has to collect these metrics first.
            OthersFirstError: The queue has to collect what the others asked for first.
            RecordNeededError: The queue has to request this record first.
        """
        if unread := self._unread(question, group):
            return unread
        detector, limits = question.enabled.detector, question.enabled.limits
        try:
            seen = Seen(self._now, self.fleet, group.answered, group.unread, asked)
            verdict = detector.verdict(question.resource, seen, limits)
            return self._resolved(question, verdict) if isinstance(verdict, Flagged) else verdict
        except MetricsNeededError as needed:
            if unanswerable := self._ask(question, needed.needs):
                return unanswerable
            raise
        except (RecordNeededError, OthersFirstError):
            raise
        except (UnpublishedError, UnreadableRecordError) as error:
            return Unknown(str(error))
        except Exception as error:  # noqa: BLE001 -- a bug in one detector must not lose what the others found
            return self._broken(question, f"{BUG}: {type(error).__name__}: {error}")

    def _ask(self, question: _Question, needs: Sequence[Need]) -> Unknown | None:
        """Note that a question needs these metrics. Return why they cannot be collected, if so."""
        question.rounds += 1
        if question.rounds > MAX_ROUNDS:
            names = ", ".join(dict.fromkeys(need.metric.name for need in needs))
            return self._broken(question, f"{BUG}: it needs more than {MAX_ROUNDS} rounds of metrics: {names}")
        try:
            for need in needs:
                window_of(need, self._now)
        except TooFineError as error:
            return Unknown(str(error))
        question.asked += tuple(needs)
        return None

    def _unread(self, question: _Question, group: _ResourceGroup) -> Unknown | None:
        """Return Unknown if a record or metric that the detector needs could not be read."""
        for kind in question.enabled.detector.reads:
            if kind in self.fleet.unreadable:
                return Unknown(f"{kind.KIND} records could not be read: {self.fleet.unreadable[kind]}")
        if self.fleet.broken:
            others = _needed_whole(question.enabled.detector)
            if broken := self.fleet.broken_of(question.resource, others):
                return Unknown(str(broken))
        for need in question.asked:
            if need in group.failed:
                why = group.failed[need]
                return Unknown(why if HELD_BACK.match(why) else f"{need.metric.name} could not be read: {why}")
        return None

    def _resolved(self, question: _Question, verdict: Flagged) -> Flagged:
        """Add the advice of the verdict's remedies. If an estimate fails, keep the finding without it."""
        try:
            verdict = naming_the_manager(verdict, question.resource)
            return resolved(verdict, question.resource.target.region, self.fleet.all(InstanceType))
        except Exception as error:  # noqa: BLE001 -- a bug in an estimate must not lose a finding
            self._broken(question, f"{BUG}: its advice: {type(error).__name__}: {error}")
            return replace(verdict, remedies=())

    def _broken(self, question: _Question, reason: str) -> Unknown:
        self.failures[f"detector:{question.enabled.id}", reason, False] += 1
        return Unknown(reason)

    def close(self) -> None:
        """Report every question that still waits for metrics as unknown.

        There is none if the adapter answers every call.
        """
        waiting = {id(group): group for asked in self._pending.values() for group, _ in asked}
        self._pending.clear()
        for group in waiting.values():
            for question in group.open:
                self.evaluated += 1
                verdict = self._broken(question, "a metric it asked for was never answered")
                self.unknown.append(UnknownVerdict(question.enabled.id, question.resource, verdict.reason))

    def _queue(self, group: _ResourceGroup, needs: set[Need]) -> None:
        """Queue one query for each metric and period, as far back as the need with the most days."""
        widest: defaultdict[tuple[object, ...], list[Need]] = defaultdict(list)
        for need in sorted(needs - group.answered.keys(), key=lambda need: -need.days):
            widest[need.metric, need.dimensions, need.period_s].append(need)
        group.waiting = len(widest)
        self._waiting += bool(widest)
        for same in widest.values():
            query = query_of(same[0], self._now)
            if query in self._pending:
                self._pending[query].append((group, same))
                continue
            self._pending[query] = [(group, same)]
            if call := self._packer.add(query):
                self._ready.append(call)


def silence(query: MetricQuery) -> Series:
    """Return the series of a query for which CloudWatch has no data."""
    return Series.of(query.window.start_s, query.period_s, [None] * query.points)


def _needed_whole(detector: AnyDetector) -> set[type[Record]]:
    """Return the kinds of which every record that belongs to the resource must be readable.

    An agent's metrics are not among them: a detector that reads a broken one receives an error.
    """
    optional = (kind for kind in detector.reads_if_allowed if not issubclass(kind, AgentMetric))
    return {*detector.reads, *optional} - {detector.resource}


def _resource_groups(fleet: Fleet, enabled: Sequence[Enabled]) -> Iterator[_ResourceGroup]:
    """Yield each resource group with its questions. They are created one group at a time, because there are many."""
    members: defaultdict[str, list[Resource]] = defaultdict(list)
    for kind in dict.fromkeys(one.detector.resource for one in enabled):
        for resource in fleet.all(kind):
            members[resource.resource_group].append(resource)
    for resources in members.values():
        yield _ResourceGroup(
            [_Question(one, each) for one in enabled for each in resources if type(each) is one.detector.resource]
        )
