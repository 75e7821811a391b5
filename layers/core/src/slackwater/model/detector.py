"""What a detector is: functions and examples in one file of `slackwater.detectors`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Record, Resource
from slackwater.model.verdicts import FindingKind, Fine, Unknown, Verdict

MAX_ROUNDS: Final = 3
"""How often a detector may ask for more metrics."""


class Limits(BaseModel):
    """The limits of a detector that a policy may change. Each field's name ends in its unit; its description says why
    it has that default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @property
    def lacks(self) -> str | None:
        """The limit without which the detector is off; None if the policy sets it, or there is none."""
        return None


def limit(default: Any, *, unit: str, why: str, **bounds: Any) -> Any:
    """Declare a field of Limits.

    Args:
        default: The default value.
        unit: The unit, for people.
        why: The reason for the default.
        **bounds: Pydantic's bounds: `ge`, `le`, `gt`, `lt`.
    """
    return Field(default, description=why, json_schema_extra={"unit": unit}, **bounds)


class MetricsNeededError(Exception):
    """Interrupts a judgement until the engine has collected `needs`."""

    def __init__(self, needs: tuple[Need, ...]) -> None:
        """Create the error with the metrics that the engine has not collected yet."""
        super().__init__(needs)
        self.needs = needs


class OthersFirstError(Exception):
    """Interrupts a judgement until the engine has collected what other detectors asked for in the same round."""


class DecidedError(Exception):
    """Stops a judgement with its `verdict`."""

    def __init__(self, verdict: Fine | Unknown) -> None:
        """Create the error with the verdict on the resource."""
        super().__init__(verdict)
        self.verdict = verdict


def unless_decided[T](answer: T | Fine | Unknown) -> T:
    """Return the answer. If it is a verdict already, stop the judgement with it.

    Raises:
        DecidedError: The answer is Fine or Unknown, which is then the verdict on the resource.
    """
    if isinstance(answer, Fine | Unknown):
        raise DecidedError(answer)
    return answer


class Seen:
    """What a detector can use to judge: the current time, the fleet and the metrics."""

    def __init__(
        self,
        now: datetime,
        fleet: Fleet,
        answered: Mapping[Need, Series],
        unread: Collection[Need] = (),
        asked: Collection[Need] = (),
    ) -> None:
        """Create the input of one judgement.

        Args:
            now: The time of the scan.
            fleet: The inventory of the target.
            answered: The series that the engine has collected in all rounds so far.
            unread: Optional needs whose metric call failed.
            asked: What other detectors have asked for in this round.
        """
        self.now = now
        self._now_s = now.timestamp()
        self.fleet = fleet
        self._answered = answered
        self._unread = unread
        self._asked = asked

    def read(self, *needs: Need) -> tuple[Series, ...]:
        """Return the series of each need, in order. A series may have no data.

        Raises:
            MetricsNeededError: The engine has not collected all of them. It collects them, then restarts the judgement.
        """
        try:
            return tuple(map(self._answered.__getitem__, needs))
        except KeyError:
            raise MetricsNeededError(tuple(need for need in needs if need not in self._answered)) from None

    def if_read(self, need: Need) -> Series | None:
        """Return the series if another detector reads it for the same resource; else None. It costs no metric.

        Use it in a detector with `judge_last`, for a series that may decide before it asks for its own.

        Raises:
            OthersFirstError: Another detector has just asked for it. The engine restarts the judgement with the answer.
        """
        if need in self._asked:
            raise OthersFirstError
        return self._answered.get(need)

    def could_not_read(self, *needs: Need) -> bool:
        """Return whether a call for any of these optional metrics failed. Then its series has no data."""
        return any(need in self._unread for need in needs)

    def finished(self, series: Series, since: datetime) -> Series:
        """Return the points of a series whose whole period is between `since` and now."""
        return series.between(since.timestamp(), self._now_s)

    def age(self, since: datetime) -> timedelta:
        """Return how long ago `since` was; zero for a resource that was created after the scan began."""
        return max(timedelta(0), self.now - since)

    def is_younger(self, since: datetime, *, days: float = 0, hours: float = 0) -> bool:
        """Return whether `since` is less than this many days and hours ago."""
        return self.age(since) < timedelta(days=days, hours=hours)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A worked example. It runs as a test, and is printed on the detector's page.

    Attributes:
        expect: The type of the verdict.
        says: Text that the verdict must contain.
        metrics: Values by metric and period in seconds, the newest last. The last value is at the end of the window.
            Points before the first value, and None, are missing.
        unpublished: Names of dimensions. A metric that is read by one of them has no data.
    """

    title: str
    resource: Resource
    expect: type[Verdict]
    says: str = ""
    metrics: Mapping[tuple[Metric, int], Sequence[float | None]] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    unreadable: Mapping[type[Record], str] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    unpublished: tuple[str, ...] = ()


CASE_NOW: Final = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
"""The current time in all worked examples."""


@dataclass(frozen=True, kw_only=True)
class Detector[R: Resource, L: Limits]:
    """One question about one kind of resource. Its id is the name of its file.

    Attributes:
        reads: Other kinds of record that it requires.
        reads_if_allowed: Other kinds of record that improve its judgement, but are not required.
        outranks: Ids of detectors that find only a part of the same issue. If both flag a resource, only this one
            is reported.
        judge_last: Whether it is judged after the others of its resource, because it uses `Seen.if_read`.
    """

    title: str
    kind: FindingKind
    resource: type[R]
    limits: type[L]
    judge: Callable[[R, Seen, L], Verdict]
    cases: tuple[Case, ...]
    reads: tuple[type[Record], ...] = ()
    reads_if_allowed: tuple[type[Record], ...] = ()
    outranks: tuple[str, ...] = ()
    judge_last: bool = False

    def verdict(self, resource: R, seen: Seen, limits: L) -> Verdict:
        """Return the verdict on a resource, including one with which `unless_decided` stopped the judgement."""
        try:
            return self.judge(resource, seen, limits)
        except DecidedError as decided:
            return decided.verdict


type AnyDetector = Detector[Any, Any]
