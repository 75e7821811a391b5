"""The verdict of a detector on one resource."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from slackwater.model.metrics import Series
from slackwater.model.money import Change
from slackwater.model.settings import Setting

if TYPE_CHECKING:  # it imports pydantic, which the command line avoids until needed, to start fast
    from slackwater.model.estimates import Alternative

type Severity = Literal["high", "medium", "low", "info"]
type Confidence = Literal["high", "medium", "low"]
type FindingKind = Literal["waste", "performance", "risk"]


@dataclass(frozen=True, slots=True)
class Line:
    """A level to draw across a chart, in the chart's unit: a limit, a baseline, the provisioned value."""

    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that supports a finding: a number with its unit, or text. It has a series if a chart helps.

    Attributes:
        scale: The value at the top of the chart; None means the peak of the series.
        lines: Levels to compare the series with, in `unit`.
        forecast: The expected values after the end of the series, in `unit`.
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
    """A change after which AWS refuses other changes of the resource for hours. So one call must make all of them.

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
    """One recommendation for a finding.

    Attributes:
        changes: The billed units that it saves (positive) or adds (negative) a month; None if they cannot be known.
        deletes: Whether it ends with a deletion of the resource, after a backup, that can be undone. Slackwater may do
            this after an approval, because no check is left that only a person can make.
        new_value: The main value that it sets, with its unit: `792 IOPS`; None if there is no main one.
        setting: The setting that Slackwater may apply and change back; None if there is none.
        joint: The settings that must share one command with other recommendations for the resource; None if the command
            can run by itself.
    """

    action: str
    summary: str
    changes: tuple[Change, ...] | None
    risk: str
    reversible: bool
    command: str | None = None
    deletes: bool = False
    new_value: str | None = None
    setting: Setting | None = None
    joint: JointChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """An estimate whose alternatives become options: its kind, and its inputs as a person would type them.

    Attributes:
        advise: Turns an alternative into a recommendation; None leaves the alternative out.
    """

    kind: str
    inputs: Mapping[str, object]
    advise: Callable[[Alternative], Advice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """The verdict that there is an issue.

    Attributes:
        fingerprint_inputs: The values that require another look by a person when they change. Values that change all
            the time, such as ages and cents, do not belong here.
        severity: None if the savings decide the severity.
        remedies: Estimates to calculate. The engine adds their recommendations after the detector's own.
        covers: Ids of other resources whose issue has the same cause. For these, the engine suppresses the findings of
            detectors that this detector outranks.
        kind: The kind of the finding; None means the detector's kind.
        cheapest_first: Whether the engine sorts the recommendations by savings, the largest first.
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
    """The verdict that there is no issue, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The verdict that the check is inconclusive, and why."""

    reason: str


type Verdict = Flagged | Fine | Unknown
