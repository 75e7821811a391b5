"""Compares what was planted in the simulated account with what the scan found."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slackwater.views.scan.document import ScanDocument
from slackwater.views.text.words import count
from slackwater_cli.simulated import Planted

type Outcome = Literal["found", "MISSED", "silent", "FALSE ALARM"]

GOOD: Final[tuple[Outcome, ...]] = ("found", "silent")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One detector and one resource: what was planted, and what the scan found."""

    outcome: Outcome
    detector: str
    name: str
    resource_id: str
    why: str

    @property
    def agrees(self) -> bool:
        """Whether the scan's answer is right."""
        return self.outcome in GOOD


def compared(planted: Iterable[Planted], doc: ScanDocument, detectors: Collection[str]) -> list[Comparison]:
    """Compare every planted issue and look-alike of these detectors, and report every finding that was not planted."""
    flagged = {(f["detector"], f["resource"]["id"]): f for f in doc["findings"]}
    comparisons: list[Comparison] = []
    for case in planted:
        for issue in case.issues:
            outcome: Outcome = "found" if (issue, case.resource_id) in flagged else "MISSED"
            comparisons.append(Comparison(outcome, issue, case.name, case.resource_id, case.why))
        if case.control_of:
            outcome = "FALSE ALARM" if (case.control_of, case.resource_id) in flagged else "silent"
            comparisons.append(Comparison(outcome, case.control_of, case.name, case.resource_id, case.why))
    comparisons = [one for one in comparisons if one.detector in detectors]
    expected = {(one.detector, one.resource_id) for one in comparisons}
    comparisons += [
        Comparison("FALSE ALARM", detector, f["resource"]["name"], id_, "This was not planted.")
        for (detector, id_), f in flagged.items()
        if (detector, id_) not in expected
    ]
    return comparisons


def draw_comparisons(comparisons: Collection[Comparison], console: Console, *, details: bool = True) -> None:
    """Draw what was planted and what the scan found, one line each, and the result.

    Without `details`, draw only the differences.
    """
    shown = [one for one in comparisons if details or not one.agrees]
    if shown:
        _draw_each(shown, console)
    issues, others = (
        [one for one in comparisons if one.outcome in outcomes]
        for outcomes in (("found", "MISSED"), ("silent", "FALSE ALARM"))
    )
    console.print()
    console.print(
        Text(
            f"Self-check: found {sum(one.agrees for one in issues)} of {count(len(issues), 'planted issue')};"
            f" {count(sum(not one.agrees for one in others), 'false alarm')} on {count(len(others), 'look-alike')}.",
            "bold green" if all(one.agrees for one in comparisons) else "bold red",
        )
    )


def _draw_each(comparisons: Collection[Comparison], console: Console) -> None:
    console.print()
    console.print(Text("What was planted in the simulated account, and the scan's answer", "bold"))
    ordered = sorted(comparisons, key=lambda one: (one.detector, one.outcome in ("silent", "FALSE ALARM"), one.name))
    for detector, of_detector in groupby(ordered, key=lambda one: one.detector):
        console.print()
        console.print(Text(detector, "bold"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=max(len(one.outcome) for one in comparisons))
        for one in of_detector:
            grid.add_row(Text(one.outcome, "green" if one.agrees else "bold red"), Text(one.name), Text(one.why))
        console.print(grid)
