"""What a detector answers about one resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Need, Series
from slackwater.model.money import Change
from slackwater.model.settings import Setting

type Severity = Literal["high", "medium", "low", "info"]
type Confidence = Literal["high", "medium", "low"]
type FindingKind = Literal["waste", "performance", "risk"]


@dataclass(frozen=True, slots=True)
class Line:
    """A level to draw across a picture, in its unit: a limit, a baseline, what is provisioned."""

    label: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact behind a finding: a number with its unit, or words; a series where a picture helps.

    `scale` is what the top of that picture means, where it is not the series' own peak. `lines` are levels to compare the
    series with; `forecast` goes on where the series ends. All are in `unit`.
    """

    label: str
    value: float | int | str
    unit: str
    series: Series | None = None
    scale: float | None = None
    lines: tuple[Line, ...] = ()
    forecast: Series | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Something to do about it. `changes` says what is paid for no more, or more; None where nobody can know.

    `deletes` says that, done to the end, it deletes the resource, with a backup before and a way back, and that a program may
    do it once a person approved: nothing is in doubt that only looking could settle. `setting` is what it changes a resource's
    setting to, where a program may do that, and put the old one back.
    """

    action: str
    summary: str
    changes: tuple[Change, ...] | None
    risk: str
    reversible: bool
    command: str | None = None
    deletes: bool = False
    setting: Setting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Ways out that an estimate knows: its kind, and its inputs as they would be typed.

    `advise` makes advice of an alternative, or leaves it out with None.
    """

    kind: str
    inputs: Mapping[str, object]
    advise: Callable[[Alternative], Advice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """The detector's question is answered with yes.

    The engine resolves `remedies`; what comes of them follows the advice. `severity` is None where the money decides it.
    `gist` holds what makes a person look again when it changes; ages and cents do not belong in it. `covers` are the ids of
    other resources whose trouble this explains too: there, what the detector outranks is silent. `kind` is set where this
    answer is of another kind than the detector's. With `cheapest_first` the engine puts the advice that saves most first.
    """

    summary: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    gist: tuple[str | int | bool, ...]
    severity: Severity | None = None
    caveats: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    covers: tuple[str, ...] = ()
    kind: FindingKind | None = None
    cheapest_first: bool = False


@dataclass(frozen=True, slots=True)
class Fine:
    """Nothing to say, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It cannot be known from what was there, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Not settled yet: these metrics would settle it."""

    needs: tuple[Need, ...] = field(default=())


type Verdict = Flagged | Fine | Unknown | Ask
