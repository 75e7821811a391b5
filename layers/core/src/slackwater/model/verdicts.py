"""What a detector answers about one resource."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from slackwater.model.metrics import Series
from slackwater.model.money import Change
from slackwater.model.settings import Setting

if TYPE_CHECKING:  # it takes pydantic, which the command line does without until it has to
    from slackwater.model.estimates import Alternative

type Severity = Literal["high", "medium", "low", "info"]
type Confidence = Literal["high", "medium", "low"]
type FindingKind = Literal["waste", "performance", "risk"]


@dataclass(frozen=True, slots=True)
class Line:
    """A level to draw across a chart, in its unit: a limit, a baseline, the provisioned value."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact behind a finding: a number with its unit, or text, with a series if a chart helps.

    Attributes:
        scale: The value at the top of the chart; None means the peak of the series.
        lines: Levels to compare the series with, in `unit`.
        forecast: Continues where the series ends, in `unit`.
    """

    label: str
    value: float | int | str
    unit: str
    series: Series | None = None
    scale: float | None = None
    lines: tuple[Line, ...] = ()
    forecast: Series | None = None


@dataclass(frozen=True, slots=True)
class JointChange:
    """A change after which AWS refuses others of the resource for hours. So one call must make all of them.

    Attributes:
        call: The command, up to the option that takes the settings.
        settings: JSON values by the setting's name.
    """

    call: str
    settings: Mapping[str, object]

    @property
    def command(self) -> str:
        """The command that makes the change."""
        return f"{self.call} '{json.dumps(self.settings)}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to do about a finding.

    Attributes:
        changes: What it saves (positive) or adds (negative) a month; None if it cannot be known.
        deletes: It deletes the resource in the end, with a backup before, and can be undone. Slackwater may do it after
            an approval: nothing is left to check that only a person could.
        setting: The setting that Slackwater may change to, and change back; None if there is none.
        joint: What one command must change with others of the resource; None if the command can run by itself.
    """

    action: str
    summary: str
    changes: tuple[Change, ...] | None
    risk: str
    reversible: bool
    command: str | None = None
    deletes: bool = False
    setting: Setting | None = None
    joint: JointChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Options that an estimate calculates: its kind, and its inputs as a person would type them.

    Attributes:
        advise: Turns an alternative into advice; None leaves it out.
    """

    kind: str
    inputs: Mapping[str, object]
    advise: Callable[[Alternative], Advice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """The detector found an issue.

    Attributes:
        fingerprint_inputs: What makes a person look again when it changes. Ages and cents do not belong here.
        severity: None if the savings decide it.
        remedies: Estimates to calculate. The engine adds their advice after the detector's own.
        covers: Ids of other resources whose issue this explains too: the engine suppresses there what the detector
            outranks.
        kind: None if it is the detector's kind.
        cheapest_first: The engine sorts the advice by savings, the largest first.
    """

    summary: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    fingerprint_inputs: tuple[str | int | bool, ...]
    severity: Severity | None = None
    caveats: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    covers: tuple[str, ...] = ()
    kind: FindingKind | None = None
    cheapest_first: bool = False


@dataclass(frozen=True, slots=True)
class Fine:
    """There is no issue, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The data does not answer the question, and why."""

    reason: str


type Verdict = Flagged | Fine | Unknown
