"""What a detector is: a record of functions and examples, one file each under `slackwater.detectors`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Record, Resource
from slackwater.model.verdicts import FindingKind, Verdict

MAX_ROUNDS: Final = 3
"""How often a detector may ask for metrics before it must answer."""


class Limits(BaseModel):
    """What a policy may change about a detector. Every field ends in its unit and says why it is what it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @property
    def lacks(self) -> str | None:
        """The limit without which the detector is off, where the policy does not give it."""
        return None


def limit(default: Any, *, unit: str, why: str, **bounds: Any) -> Any:
    """A field of Limits: `bounds` are pydantic's (`ge`, `le`, `gt`, `lt`)."""
    return Field(default, description=why, json_schema_extra={"unit": unit}, **bounds)


class MetricsNeededError(Exception):
    """Stops a judgement until the engine has collected `needs`."""

    def __init__(self, needs: tuple[Need, ...]) -> None:
        """`needs` are the metrics that the engine has not collected yet."""
        super().__init__(needs)
        self.needs = needs


class Seen:
    """What a detector may look at while it judges: the clock, the fleet and the metrics."""

    def __init__(self, now: datetime, fleet: Fleet, answered: Mapping[Need, Series]) -> None:
        """`answered` holds the series that the engine has collected in all rounds so far."""
        self.now = now
        self.fleet = fleet
        self._answered = answered

    def read(self, *needs: Need) -> tuple[Series, ...]:
        """Return the series of each need, in order. A series may hold no point at all.

        Raises:
            MetricsNeededError: The engine has not collected all of them. It does so and judges again, from the top.
        """
        if missing := self.lacking(needs):
            raise MetricsNeededError(missing)
        return tuple(self._answered[need] for need in needs)

    def lacking(self, needs: Iterable[Need]) -> tuple[Need, ...]:
        """Those of `needs` that nobody has asked for yet."""
        return tuple(need for need in needs if need not in self._answered)

    def __getitem__(self, need: Need) -> Series:
        """The answer to a need; it may hold no point at all."""
        return self._answered[need]

    def finished(self, series: Series, since: datetime) -> Series:
        """The points of a series whose whole period lies between `since` and now."""
        return series.between(since.timestamp(), self.now.timestamp())

    def age(self, since: datetime) -> timedelta:
        """How long ago `since` was."""
        return self.now - since


@dataclass(frozen=True, kw_only=True)
class Case:
    """A worked example: run as a test, printed in the detector's page.

    `metrics` holds plain values by metric and period, the newest last; it is laid so that it ends at the end of the window,
    and what it does not reach, or gives as None, is missing. `says` must be part of the verdict's words.
    """

    title: str
    resource: Resource
    expect: type[Verdict]
    says: str = ""
    metrics: Mapping[tuple[Metric, int], Sequence[float | None]] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    unreadable: Mapping[type[Record], str] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)


CASE_NOW: Final = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
"""The time at which all worked examples play."""


@dataclass(frozen=True, kw_only=True)
class Detector[R: Resource, L: Limits]:
    """One question about one kind of resource.

    `reads` are other kinds of record the judgement cannot do without, `reads_if_allowed` those it can. `outranks` are the ids
    of detectors that see less of the same trouble: where both flag, they are silent. The id is the file's name.
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


type AnyDetector = Detector[Any, Any]
