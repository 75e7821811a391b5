"""Audits for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slackwater.model.audits import AuditState
from slackwater.views.service_document import AuditDetailDocument, AuditDocument, OutcomeDocument
from slackwater.views.words import count, one_line

STYLES: Final[dict[AuditState, str]] = {
    "running": "bold",
    "complete": "bold green",
    "incomplete": "bold red",
    "failed": "bold red",
}


def draw_audits(audits: Sequence[AuditDocument], console: Console, *, more: bool) -> None:
    """A line each, the newest first; `more` where these are not all."""
    if not audits:
        console.print("No audit is kept.")
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in ("Id", "State", "Started"):
        grid.add_column(name, no_wrap=True)
    for name in ("Findings", "USD a month"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("Asked by", overflow="fold")
    for audit in audits:
        outcome = audit["outcome"]
        grid.add_row(
            Text(one_line(audit["id"])),
            Text(audit["state"], STYLES[audit["state"]]),
            audit["started_at"],
            f"{outcome['findings']:,}" if outcome else "",
            f"{Decimal(outcome['monthly_savings_usd']):,.2f}" if outcome else "",
            Text(one_line(audit["requested_by"])),
        )
    console.print(grid)
    if more:
        console.print()
        console.print(Text("There are older ones: --limit 0 shows all.", "bold"))


def draw_audit(audit: AuditDetailDocument, console: Console) -> None:
    """How it is or how it ended, what it covered, and what it could not see."""
    console.print(Text(one_line(f"{audit['id']}: {audit['state']}"), STYLES[audit["state"]]))
    ended = f", ended {audit['finished_at']}" if audit["finished_at"] else ""
    console.print(Text(f"Asked by {one_line(audit['requested_by'])}; started {audit['started_at']}{ended}."))
    policy = f"policy version {audit['policy_version']}" if audit["policy_version"] else "the default policy"
    console.print(Text(one_line(f"By {policy}: {_what(audit)}.")))
    if audit["error"]:
        console.print(Text(one_line(audit["error"]), "bold red"))
    if outcome := audit["outcome"]:
        _draw_outcome(outcome, console)
    required = [gap for gap in audit["gaps"] if not gap["optional"]]
    for title, gaps in (("Could not be read", required), ("Optional", [gap for gap in audit["gaps"] if gap["optional"]])):
        if gaps:
            console.print()
            console.print(Text(f"{title}:", "bold"))
        for gap in gaps:
            console.print(Text(one_line(f"  {gap['region']} of {gap['account']}: {gap['what']}: {gap['reason']}")))
    if audit["scan_url"]:
        console.print()
        console.print(Text(f"The scan document, until {audit['scan_url_expires_at']} at the latest:"))
        console.print(Text(one_line(audit["scan_url"])), soft_wrap=True)


def _draw_outcome(outcome: OutcomeDocument, console: Console) -> None:
    unpriced = f" ({outcome['unpriced']:,} unpriced)" if outcome["unpriced"] else ""
    console.print(
        Text(
            f"{count(outcome['findings'], 'finding')}, {Decimal(outcome['monthly_savings_usd']):,.2f} USD a month{unpriced}:"
            f" {outcome['opened']:,} opened, {outcome['changed']:,} changed, {outcome['resolved']:,} resolved."
        )
    )
    console.print(
        Text(
            f"{count(outcome['targets'], 'target')}, {outcome['incomplete_targets']:,} incomplete;"
            f" {count(outcome['api_calls'], 'request')}, {count(outcome['metrics_requested'], 'metric')},"
            f" about {outcome['estimated_usd']} USD."
        )
    )
    if outcome["incomplete"]:
        console.print()
        console.print(Text("Incomplete:", "bold red"))
    for target in outcome["incomplete"]:
        console.print(Text(one_line(f"  {target['region']} of {target['account']}: {target['why']}")))


def _what(audit: AuditDocument) -> str:
    detectors = ", ".join(audit["detectors"]) or "every detector that is on"
    regions = ", ".join(audit["regions"]) or "the policy's regions"
    return f"{detectors}, in {regions}"
