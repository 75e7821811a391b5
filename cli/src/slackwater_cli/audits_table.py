"""Draw audits on a terminal."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.audits import Allowance, AuditState
from slackwater.model.object_keys import POLICY
from slackwater.views.api.document import AuditDetailDocument, AuditDocument, OutcomeDocument
from slackwater.views.text.money import charges
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import allowance, count
from slackwater_cli.dates import minute
from slackwater_cli.grid import draw_first_that_fits, grid_of

STYLES: Final[dict[AuditState, str]] = {
    "running": "bold",
    "complete": "bold green",
    "incomplete": "bold red",
    "failed": "bold red",
}
RUNTIME: Final = "Runtime.HandlerError: "
"""Prefix that some Lambda runtimes add to every error of a handler."""
TARGET: Final = "target"
"""Noun for an account in a region, if an audit covers several accounts."""


def draw_audits(audits: Sequence[AuditDocument], left: Allowance | None, console: Console, *, more: bool) -> None:
    """Draw one line for each audit, newest first. `more` says that there are older ones.

    The requester is shown in full, by name only, or not at all, depending on the width of the terminal.
    """
    if audits:
        draw_first_that_fits(console, _grid(audits, one_line), _grid(audits, _name), _grid(audits))
    else:
        console.print("No audit is kept.")
    if left:
        console.print()
        console.print(Text(f"Left today: {allowance(left)}."))
    if more:
        console.print()
        console.print(Text("There are older ones: --limit 0 shows all.", "bold"))


def _grid(audits: Sequence[AuditDocument], called: Callable[[str], str] | None = None) -> Table:
    asked_by = ["Asked by"] if called else []
    grid = grid_of(
        "Id", "State", "Started (UTC)", "Findings", "USD a month", *asked_by, right=("Findings", "USD a month")
    )
    for audit in audits:
        outcome = audit["outcome"]
        grid.add_row(
            Text(one_line(audit["id"])),
            Text(audit["state"], STYLES[audit["state"]]),
            minute(audit["started_at"]),
            f"{outcome['findings']:,}" if outcome else "",
            f"{Decimal(outcome['monthly_savings_usd']):,.2f}" if outcome else "",
            *([Text(called(audit["requested_by"]))] if called else []),
        )
    return grid


def _name(who: str) -> str:
    """Return the name of the role or user in an ARN, without the account and the resource type."""
    resource = one_line(who).rpartition(":")[2]
    return resource.partition("/")[2] or resource


def draw_audit(audit: AuditDetailDocument, console: Console) -> None:
    """Draw an audit: its state, what it covered, the failed calls, and what to do next."""
    console.print(Text(one_line(f"{audit['id']}: {audit['state']}"), STYLES[audit["state"]]))
    ended = f", ended {minute(audit['finished_at'])} UTC" if audit["finished_at"] else ""
    console.print(
        Text(f"Asked by {one_line(audit['requested_by'])}; started {minute(audit['started_at'])} UTC{ended}.")
    )
    console.print(Text(one_line(_what(audit))))
    if outcome := audit["outcome"]:
        _draw_outcome(outcome, _noun(audit), console)
    _draw_unread(audit, console)
    if error := audit["error"]:
        console.print()
        console.print(Text(one_line(error).removeprefix(RUNTIME), "bold red"))
    next_ = _next(audit)
    if next_ or audit["scan_url"]:
        console.print()
    if audit["scan_url"]:
        console.print(
            Text(one_line(f"`slackwater audits show {audit['id']} --format json` has a link to its scan document."))
        )
    if next_:
        console.print(Text(next_, "bold"))


def _next(audit: AuditDocument) -> str:
    error = audit["error"] or ""
    if error.startswith("PolicyError") or f"{POLICY}:" in error:
        return "`slackwater policy pull --output slackwater.toml`, fix it,\n`slackwater policy push slackwater.toml`."
    if not audit["outcome"]:
        return ""
    return "`slackwater findings list` shows what is open, and `slackwater audits report` links to the newest report."


def _draw_unread(audit: AuditDetailDocument, console: Console) -> None:
    """Draw each failed call once, with its regions and accounts. Without the scan document, draw the first few."""
    noun = _noun(audit)
    kinds: dict[str, defaultdict[tuple[str, str], dict[str, str]]] = {
        "Required calls that failed": defaultdict(dict),
        "Optional calls that failed": defaultdict(dict),
    }
    required, optional = kinds.values()
    for gap in audit["gaps"]:
        where = f"{gap['region']} of {gap['account']}" if noun == TARGET else gap["region"]
        alike = gap["reason"].replace(gap["region"], "").replace(gap["account"], "")
        (optional if gap["optional"] else required)[gap["what"], alike][where] = gap["reason"]
    if audit["outcome"] and not audit["gaps"]:
        for target in audit["outcome"]["incomplete"]:
            required["", target["why"]][f"{target['region']} of {target['account']}"] = target["why"]
    for title, unread in kinds.items():
        if unread:
            console.print()
            console.print(Text(f"{title}:", "bold red" if unread is required else "bold"))
        for (what, _), reasons in unread.items():
            names = [*reasons]
            places = names[0] if len(names) == 1 else count(len(names), noun)
            console.print(Text(one_line(f"  {what} in {places}" if what else f"  {places}")))
            if len(names) > 1:
                console.print(Padding(Text(one_line(", ".join(names))), (0, 0, 0, 4)))
            console.print(Padding(Text(one_line(reasons[names[0]]), "dim"), (0, 0, 0, 4)))


def _noun(audit: AuditDetailDocument) -> str:
    """Return the noun for the places of an audit. In an audit of one account, each target is a region."""
    return TARGET if len({one["account"] for one in (*audit["targets"], *audit["gaps"])}) > 1 else "region"


def _draw_outcome(outcome: OutcomeDocument, noun: str, console: Console) -> None:
    unpriced = f" ({outcome['unpriced']:,} unpriced)" if outcome["unpriced"] else ""
    usd = f"{Decimal(outcome['monthly_savings_usd']):,.2f} USD a month, performance fixes included{unpriced}"
    console.print(Text(f"{count(outcome['findings'], 'finding')}, {usd}."))
    console.print(
        Text(f"{outcome['opened']:,} opened, {outcome['changed']:,} changed, {outcome['resolved']:,} resolved.")
    )
    console.print(
        Text(
            f"{count(outcome['targets'], noun)}, {outcome['incomplete_targets']:,} incomplete;"
            f" {count(outcome['api_calls'], 'request')}, {count(outcome['metrics_requested'], 'metric')},"
            f" AWS charges: {charges(outcome['estimated_usd'])}."
        )
    )


def _what(audit: AuditDocument) -> str:
    """Return what the audit was asked to do. The policy of a failed audit may be unknown, because nothing read it."""
    detectors = ", ".join(audit["detectors"]) or "all enabled detectors"
    regions = ", ".join(audit["regions"]) or "the policy's regions"
    asked = f"{detectors}, in {regions}."
    if audit["policy_version"]:
        return f"By policy version {audit['policy_version']}: {asked}"
    return f"By the default policy: {asked}" if audit["outcome"] else f"Asked for: {asked}"
