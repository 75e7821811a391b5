"""A scan for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.verdicts import Severity
from slackwater.views.api.document import SightingDocument
from slackwater.views.scan.document import EvidenceDocument, FindingDocument, RecommendationDocument, ScanDocument
from slackwater.views.text.sparkline import sparkline
from slackwater.views.text.words import (
    completeness,
    count,
    facts,
    gaps_title,
    gaps_told,
    headline,
    one_line,
    reasons,
    saving,
    scale,
    told,
)
from slackwater_cli.selection import chosen

DETECTOR_COLUMNS: Final[tuple[tuple[str, JustifyMethod], ...]] = (
    ("Detector", "left"),
    ("Kind", "left"),
    ("Findings", "right"),
    ("USD a month", "right"),
    ("", "left"),
)
STYLES: Final[dict[Severity, str]] = {"high": "bold red", "medium": "bold yellow", "low": "bold cyan", "info": "bold"}
INDENT: Final = 8
SPARKLINE_WIDTH: Final = 48
REASONS_SHOWN: Final = 8
REASON_WIDTH: Final = 80
TOP: Final = 20
"""Findings shown where nobody says how many."""
A_SCREENFUL: Final = 5
"""Findings, after which the top of the table is out of sight."""


def draw_scan(doc: ScanDocument, console: Console, *, top: int = TOP) -> None:
    """The money, then `top` findings (0: all) with evidence and what to do, then what could not be seen."""
    several = len(doc["scan"]["targets"]) > 1
    _draw_gist(doc, console)
    for fact in facts(doc):
        console.print(Text(fact))
    _draw_detectors(doc, console)
    waste, others = chosen(doc["findings"], top)
    for title, findings in (("Waste, the dearest first", waste), ("Performance and risk", others)):
        if findings:
            console.print()
            console.print(Text(title, "bold underline"))
        for finding in findings:
            console.print()
            draw_finding(finding, console, with_target=several)
    shown = len(waste) + len(others)
    if more := doc["totals"]["findings"] - shown:
        held = len(doc["findings"])
        whole = held == doc["totals"]["findings"]
        hint = "all, --format markdown" if whole else f"the worst {held:,}, --format csv"
        console.print()
        console.print(Text(f"… {more:,} more: --top 0 shows {hint} or json has everything", "bold"))
    _draw_unknown(doc, console)
    _draw_gaps(doc, console)
    if shown:
        console.print()
        console.print(
            Text("All evidence, the prices, the other ways and what each risks: --format markdown, or json.", "dim")
        )
    if shown > A_SCREENFUL:
        console.print()
        _draw_gist(doc, console)


def _draw_gist(doc: ScanDocument, console: Console) -> None:
    complete = doc["scan"]["complete"]
    console.print(Text(headline(doc), "bold green" if complete else "bold red"))
    console.print(Text(completeness(doc)))


def _draw_detectors(doc: ScanDocument, console: Console) -> None:
    """What each detector found: what is waste comes with its money, the dearest first."""
    kinds: dict[str, set[str]] = {id_: set() for id_ in doc["totals"]["by_detector"]}
    for finding in doc["findings"]:
        kinds[finding["detector"]].add(finding["kind"])
    if len(kinds) < 2:
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name, justify in DETECTOR_COLUMNS:
        grid.add_column(name, justify=justify, no_wrap=True)
    by_detector = doc["totals"]["by_detector"]
    for id_ in sorted(
        kinds, key=lambda id_: ("waste" not in kinds[id_], -Decimal(by_detector[id_]["monthly_savings_usd"]), id_)
    ):
        totals, is_waste = by_detector[id_], "waste" in kinds[id_]
        money = f"{Decimal(totals['monthly_savings_usd']):,.2f}" if is_waste else ""
        unpriced = f"{totals['unpriced']:,} unpriced" if is_waste and totals["unpriced"] else ""
        grid.add_row(id_, ", ".join(sorted(kinds[id_], reverse=True)), f"{totals['findings']:,}", money, unpriced)
    console.print()
    console.print(grid)


def draw_finding(finding: FindingDocument, console: Console, *, with_target: bool, every_way: bool = False) -> None:
    """What it is about, what it saves, the evidence as pictures, and the first thing to do, or all with what each risks."""
    money = saving(finding["monthly_savings_usd"]) if finding["recommendations"] else ""
    _draw_head(finding, money, console)
    parts = [_name(finding, with_target=with_target), Text(one_line(finding["summary"]))]
    parts += _pictures(finding["evidence"], console.width - INDENT)
    parts += [Text(f"! {one_line(caveat)}", "italic") for caveat in finding["caveats"]]
    console.print(_indented(Group(*parts)))
    if every_way:
        for to_do in finding["recommendations"]:
            _draw_way(to_do, console)
        return
    for first in finding["recommendations"][:1]:
        _draw_recommendation(first, len(finding["recommendations"]) - 1, console)


def draw_sighting(finding: SightingDocument, console: Console) -> None:
    """The same of a finding without its evidence."""
    _draw_head(finding, money(finding), console)
    console.print(_indented(Group(_name(finding, with_target=True), Text(one_line(finding["summary"])))))


def money(finding: SightingDocument) -> str:
    """What it saves or costs a month; empty where no money is at stake."""
    usd = finding["monthly_savings_usd"]
    return saving(usd) if finding["kind"] == "waste" or Decimal(usd or 0) else ""


def _draw_head(finding: FindingDocument | SightingDocument, money: str, console: Console) -> None:
    head = Table.grid(expand=True, padding=(0, 1, 0, 0))
    head.add_column(width=INDENT - 1)
    head.add_column(ratio=1)
    head.add_column(justify="right", no_wrap=True)
    head.add_row(
        Text(finding["severity"].upper(), STYLES[finding["severity"]]),
        Text(one_line(finding["detector"]), "bold"),
        Text(money, "green" if money.startswith("saves") else ""),
    )
    console.print(head)


def _name(finding: FindingDocument | SightingDocument, *, with_target: bool) -> Text:
    resource = finding["resource"]
    name = Text(one_line(resource["name"]), "bold")
    if resource["id"] != resource["name"]:
        name.append(f"  {one_line(resource['id'])}", "not bold")
    if finding["owner"]:
        name.append(f"  of {one_line(finding['owner'])}", "not bold")
    if with_target:
        name.append(one_line(f"  {resource['region']} of {resource['account']}"), "not bold")
    return name


def _pictures(evidence: Sequence[EvidenceDocument], width: int) -> list[Text]:
    """The evidence that is a series; the summary tells the rest."""
    pictures = []
    for fact in evidence:
        if series := fact.get("series"):
            how = f", {scale(fact)}" if scale(fact) else ""
            label = one_line(f"{fact['label']}: {told(fact)}{how}")
            bars = sparkline(series["values"], min(SPARKLINE_WIDTH, width), fact.get("scale"))
            pictures.append(Text.assemble((f"{bars}  ", "cyan"), (label, "dim")))
    return pictures


def _draw_recommendation(to_do: RecommendationDocument, others: int, console: Console) -> None:
    more = f" (Or {count(others, 'other way')}.)" if others else ""
    console.print(_indented(Text.assemble(("→ ", "green"), f"{_summary(to_do)}{more}")))
    _draw_command(to_do, console)


def _draw_way(to_do: RecommendationDocument, console: Console) -> None:
    saves = (f"  {saving(to_do['monthly_savings_usd'])}", "green")
    console.print(_indented(Text.assemble(("→ ", "green"), _summary(to_do), saves)))
    console.print(_indented(Text(f"Risk: {one_line(to_do['risk'])}", "dim"), INDENT + 2))
    _draw_command(to_do, console)


def _summary(to_do: RecommendationDocument) -> str:
    return f"{one_line(to_do['summary'])}{'' if to_do['reversible'] else ' This cannot be undone.'}"


def _draw_command(to_do: RecommendationDocument, console: Console) -> None:
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
        why = Text(one_line(reason.reason))
        why.truncate(REASON_WIDTH, overflow="ellipsis")
        console.print(_indented(Text(f"{reason.count:,} × {reason.detector}: {why} ({names})"), 2))
    if rest := grouped[REASONS_SHOWN:]:
        console.print(_indented(Text(f"and {count(len(rest), 'other reason')}"), 2))


def _draw_gaps(doc: ScanDocument, console: Console) -> None:
    gaps = gaps_told(doc)
    if not gaps:
        return
    console.print()
    console.print(Text(gaps_title(doc), "bold yellow" if doc["scan"]["complete"] else "bold red"))
    for gap in gaps:
        console.print(_indented(Text(gap), 2))


def _indented(what: RenderableType, by: int = INDENT) -> Padding:
    return Padding(what, (0, 0, 0, by))
