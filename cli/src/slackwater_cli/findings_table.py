"""Stored findings for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.tracking import Status
from slackwater.views.service_document import FindingDetailDocument, TrackedFindingDocument
from slackwater.views.words import count, one_line
from slackwater_cli.table import INDENT, STYLES, draw_finding, draw_sighting


def draw_findings(findings: Sequence[TrackedFindingDocument], status: Status, console: Console, *, more: bool) -> None:
    """What each is about and what it costs, in the order given; `more` where these are not all."""
    console.print(Text(f"{'The first ' if more else ''}{count(len(findings), f'{status} finding')}", "bold"))
    if not findings:
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    grid.add_column("Id", no_wrap=True)
    grid.add_column("Severity", no_wrap=True)
    grid.add_column("USD a month", justify="right", no_wrap=True)
    grid.add_column("Detector", no_wrap=True)
    grid.add_column("Resource", overflow="fold")
    for finding in findings:
        resource, decision = finding["resource"], finding["decision"]
        until = f", until {decision['until'][:10]}" if decision and decision["until"] else ""
        grid.add_row(
            Text(one_line(finding["id"])),
            Text(finding["severity"], STYLES[finding["severity"]]),
            _money(finding),
            Text(one_line(finding["detector"])),
            Text.assemble(one_line(resource["name"]), (f"\n{one_line(resource['region'])}{until}", "dim")),
        )
    console.print()
    console.print(grid)
    if more:
        console.print()
        console.print(Text("There are more: --limit 0 shows all.", "bold"))


def draw_detail(finding: FindingDetailDocument, console: Console) -> None:
    """The finding as a scan draws it, what became of it, and every change."""
    if evidence := finding["finding"]:
        draw_finding(evidence, console, with_target=True)
    else:
        draw_sighting(finding, console)
        console.print(_indented(Text("Its evidence is no longer kept.", "italic")))
    console.print()
    ended = f", resolved {finding['resolved_at']}" if finding["resolved_at"] else ""
    console.print(Text(one_line(f"{finding['id']}: {state(finding)}"), "bold"), soft_wrap=True)
    seen = f"last seen as of {finding['last_seen_at']} by audit {finding['audit_id']}"
    console.print(Text(one_line(f"Opened {finding['opened_at']}, {seen}{ended}.")))
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in ("When", "What"):
        grid.add_column(name, no_wrap=True)
    for name in ("Why", "Who"):
        grid.add_column(name, overflow="fold")
    for entry in finding["ledger"]:
        grid.add_row(entry["at"], entry["happening"], Text(one_line(entry["why"])), Text(one_line(entry["who"])))
    console.print(grid)


def state(finding: TrackedFindingDocument) -> str:
    """The status, with the decision behind it: `snoozed until 2026-12-01T00:00:00Z by arn:…: moving house`."""
    decision = finding["decision"]
    if decision is None:
        return finding["status"]
    until = f" until {decision['until']}" if decision["until"] else ""
    why = f": {one_line(decision['why'])}" if decision["why"] else ""
    return f"{finding['status']}{until} by {one_line(decision['who'])}{why}"


def _money(finding: TrackedFindingDocument) -> str:
    if finding["monthly_savings_usd"] is None:
        return "unknown"
    return f"{Decimal(finding['monthly_savings_usd']):,.2f}" if finding["kind"] == "waste" else ""


def _indented(words: Text) -> Padding:
    return Padding(words, (0, 0, 0, INDENT))
