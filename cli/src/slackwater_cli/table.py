"""A scan for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.verdicts import Severity
from slackwater.views.document import EvidenceDocument, FindingDocument, RecommendationDocument, ScanDocument
from slackwater.views.sparkline import is_logarithmic, sparkline
from slackwater.views.words import completeness, count, facts, gaps_title, headline, measure, one_line, reasons, saving

STYLES: Final[dict[Severity, str]] = {"high": "bold red", "medium": "bold yellow", "low": "bold cyan", "info": "bold"}
INDENT: Final = 8
SPARKLINE_WIDTH: Final = 48
REASONS_SHOWN: Final = 8


def draw_scan(doc: ScanDocument, console: Console) -> None:
    """The money, then each finding with its evidence and what to do, then what could not be seen."""
    several = len(doc["scan"]["targets"]) > 1
    console.print(Text(headline(doc), "bold green"))
    console.print(Text(completeness(doc), "" if doc["scan"]["complete"] else "bold red"))
    for fact in facts(doc):
        console.print(Text(fact))
    for finding in doc["findings"]:
        console.print()
        _draw_finding(finding, console, with_target=several)
    _draw_unknown(doc, console)
    _draw_gaps(doc, console)
    if doc["findings"]:
        console.print()
        console.print(Text("All evidence, the prices, the other ways and what each risks: --format markdown, or json.", "dim"))


def _draw_finding(finding: FindingDocument, console: Console, *, with_target: bool) -> None:
    resource = finding["resource"]
    head = Table.grid(expand=True, padding=(0, 1, 0, 0))
    head.add_column(width=INDENT - 1)
    head.add_column(ratio=1)
    head.add_column(justify="right", no_wrap=True)
    money = saving(finding["monthly_savings_usd"]) if finding["recommendations"] else ""
    head.add_row(
        Text(finding["severity"].upper(), STYLES[finding["severity"]]), Text(finding["detector"], "bold"), Text(money, "green")
    )
    console.print(head)
    name = Text(one_line(resource["name"]), "bold")
    if resource["id"] != resource["name"]:
        name.append(f"  {resource['id']}", "not bold")
    if finding["owner"]:
        name.append(f"  of {one_line(finding['owner'])}", "not bold")
    if with_target:
        name.append(f"  {resource['region']} of {resource['account']}", "not bold")
    parts = [name, Text(one_line(finding["summary"])), *_pictures(finding["evidence"], console.width - INDENT)]
    parts += [Text(f"! {one_line(caveat)}", "italic") for caveat in finding["caveats"]]
    console.print(_indented(Group(*parts)))
    for first in finding["recommendations"][:1]:
        _draw_recommendation(first, len(finding["recommendations"]) - 1, console)


def _pictures(evidence: Sequence[EvidenceDocument], width: int) -> list[Text]:
    """The evidence that is a series; the summary tells the rest."""
    pictures = []
    for fact in evidence:
        if series := fact.get("series"):
            scale = ", logarithmic" if is_logarithmic(series["values"]) else ""
            label = f"{one_line(fact['label'])}: {one_line(measure(fact['value'], fact['unit']))}{scale}"
            pictures.append(
                Text.assemble((f"{sparkline(series['values'], min(SPARKLINE_WIDTH, width))}  ", "cyan"), (label, "dim"))
            )
    return pictures


def _draw_recommendation(to_do: RecommendationDocument, others: int, console: Console) -> None:
    undo = "" if to_do["reversible"] else " This cannot be undone."
    more = f" (Or {count(others, 'other way')}.)" if others else ""
    console.print(_indented(Text.assemble(("→ ", "green"), f"{one_line(to_do['summary'])}{undo}{more}")))
    if command := to_do.get("command"):
        # Longer than the terminal, it must still be one line when it is copied.
        console.print(Text(" " * INDENT + one_line(command), "bold"), soft_wrap=True)


def _draw_unknown(doc: ScanDocument, console: Console) -> None:
    if not doc["unknown"]:
        return
    grouped = reasons(doc["unknown"])
    console.print()
    console.print(Text(f"{count(len(doc['unknown']), 'question')} without an answer:", "bold"))
    for reason in grouped[:REASONS_SHOWN]:
        names = ", ".join(map(one_line, reason.examples)) + (", …" if reason.count > len(reason.examples) else "")
        console.print(_indented(Text(f"{reason.count:,} × {reason.detector}: {one_line(reason.reason)} ({names})"), 2))
    if rest := grouped[REASONS_SHOWN:]:
        console.print(_indented(Text(f"and {count(len(rest), 'other reason')}"), 2))


def _draw_gaps(doc: ScanDocument, console: Console) -> None:
    if not doc["scan"]["gaps"]:
        return
    console.print()
    console.print(Text(gaps_title(doc), "bold yellow" if doc["scan"]["complete"] else "bold red"))
    for gap in doc["scan"]["gaps"]:
        optional = " (optional)" if gap["optional"] else ""
        console.print(_indented(Text(f"{gap['region']}: {gap['what']}{optional}: {one_line(gap['reason'])}"), 2))


def _indented(what: RenderableType, by: int = INDENT) -> Padding:
    return Padding(what, (0, 0, 0, by))
