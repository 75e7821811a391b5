"""Draw stored findings on a terminal."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.tracking import Status
from slackwater.views.api.document import FindingDetailDocument, TrackedFindingDocument
from slackwater.views.cleanup.words import event_words
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import count
from slackwater_cli.dates import minute
from slackwater_cli.grid import draw_first_that_fits, grid_of
from slackwater_cli.table import INDENT, STYLES, draw_finding, draw_finding_record, money

HEADS: Final = ("Id", "Severity", "Fix per month")


def draw_findings(
    findings: Sequence[TrackedFindingDocument], status: Status, console: Console, *, more: bool, filtered: bool = False
) -> None:
    """Draw the total saving, then each finding in the given order.

    `more` says that there are more findings; `filtered` says that filters left some out.
    """
    match = f" {'matches' if len(findings) == 1 else 'match'} these filters" if filtered else ""
    counted = f"{'The first ' if more else ''}{count(len(findings), f'{status} finding')}{match}"
    console.print(Text(f"{counted}{_total(findings)}{_all_in(findings)}", "bold"))
    if not findings:
        return
    console.print()
    draw_first_that_fits(console, _wide(findings), _narrow(findings))
    if more:
        console.print()
        console.print(Text("There are more: --limit 0 shows all.", "bold"))


def _total(findings: Sequence[TrackedFindingDocument]) -> str:
    """Return the total saving. Each resource counts once."""
    best: dict[str, Decimal] = {}
    unpriced = 0
    for finding in findings:
        if (usd := finding["monthly_savings_usd"]) is not None:
            arn = finding["resource"]["arn"]
            best[arn] = max(Decimal(usd), best.get(arn, Decimal(0)))
        elif finding["kind"] == "waste":
            unpriced += 1
    without_price = f" ({unpriced:,} unpriced)" if unpriced else ""
    return f", {sum(best.values()):,.2f} USD a month{without_price}" if findings else ""


def _wide(findings: Sequence[TrackedFindingDocument]) -> Table:
    """Return a table with one line for each finding."""
    where, until = _where(findings), [_until(finding) for finding in findings]
    extra = {"Region": where, "Until (UTC)": until}
    extra = {name: values for name, values in extra.items() if any(values)}
    grid = grid_of(*HEADS, "Detector", "Resource", "Resource id", *extra, right=HEADS[-1:])
    for n, finding in enumerate(findings):
        resource = finding["resource"]
        id_ = resource["id"] if resource["id"] != resource["name"] else ""
        cells = [finding["detector"], resource["name"], id_, *(column[n] for column in extra.values())]
        grid.add_row(*_first(finding), *(Text(one_line(words)) for words in cells))
    return grid


def _narrow(findings: Sequence[TrackedFindingDocument]) -> Table:
    """Return a table with a few lines for each finding: the name, the resource's id if it differs, then the rest."""
    grid = grid_of(*HEADS, "Resource", right=HEADS[-1:])
    for finding, where in zip(findings, _where(findings), strict=True):
        resource, until = finding["resource"], _until(finding)
        names = dict.fromkeys((resource["name"], resource["id"]))
        rest = ", ".join(filter(None, (finding["detector"], where))), until and f"until {until} UTC"
        lines = [*(Text(one_line(name)) for name in names), *(Text(one_line(line), "dim") for line in rest if line)]
        grid.add_row(*_first(finding), Text("\n").join(lines))
    return grid


def _first(finding: TrackedFindingDocument) -> tuple[Text, Text, str]:
    usd = money(finding).removeprefix("saving ").removeprefix("fix: ").removesuffix("/mo").replace("+", "costs ")
    return Text(one_line(finding["id"])), Text(finding["severity"], STYLES[finding["severity"]]), usd


def _where(findings: Sequence[TrackedFindingDocument]) -> list[str]:
    """Return the place of each finding; empty texts if all are in one place."""
    several = {(finding["resource"]["account"], finding["resource"]["region"]) for finding in findings}
    accounts = {account for account, _ in several}
    if len(several) == 1:
        return [""] * len(findings)
    resources = [finding["resource"] for finding in findings]
    return [f"{one['region']} of {one['account']}" if len(accounts) > 1 else one["region"] for one in resources]


def _all_in(findings: Sequence[TrackedFindingDocument]) -> str:
    """Return the place that all findings share; empty if they are in several."""
    places = {f"{finding['resource']['region']} of {finding['resource']['account']}" for finding in findings}
    return f", {'all ' if len(findings) > 1 else ''}in {one_line(*places)}" if len(places) == 1 else ""


def _until(finding: TrackedFindingDocument) -> str:
    decision = finding["decision"]
    return minute(decision["until"]) if decision and decision["until"] else ""


def draw_detail(finding: FindingDetailDocument, console: Console) -> None:
    """Draw a finding as a scan does, then its status and every change."""
    if evidence := finding["finding"]:
        draw_finding(evidence, console, with_target=True, every_way=True)
    else:
        draw_finding_record(finding, console)
        console.print(_indented(Text("Its evidence is no longer kept.", "italic")))
    console.print()
    ended = f", resolved {minute(finding['resolved_at'])}" if finding["resolved_at"] else ""
    console.print(Text(one_line(f"{finding['id']}: {state(finding)}"), "bold"), soft_wrap=True)
    seen = f"last seen {minute(finding['last_seen_at'])} by audit {finding['audit_id']}"
    console.print(Text(one_line(f"Opened {minute(finding['opened_at'])}, {seen}{ended} (UTC).")))
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in ("When (UTC)", "What"):
        grid.add_column(name, no_wrap=True)
    for name in ("Why", "Who"):
        grid.add_column(name, overflow="fold")
    for entry in finding["ledger"]:
        grid.add_row(
            minute(entry["at"]),
            event_words(entry["happening"]),
            Text(one_line(entry["why"])),
            Text(one_line(entry["who"])),
        )
    console.print(grid)


def state(finding: TrackedFindingDocument) -> str:
    """Return the status and the decision behind it: `snoozed until 2026-12-01T00:00:00Z by arn:…: moving house`."""
    decision = finding["decision"]
    if decision is None:
        return finding["status"]
    until = f" until {decision['until']}" if decision["until"] else ""
    why = f": {one_line(decision['why'])}" if decision["why"] else ""
    return f"{finding['status']}{until} by {one_line(decision['who'])}{why}"


def decision_text(finding: TrackedFindingDocument) -> str:
    """Return the present decision, such as `dismissed for good: it is a spare`, or the status if there is none."""
    decision = finding["decision"]
    if decision is None:
        return finding["status"]
    until = f"until {decision['until']}" if decision["until"] else "for good"
    return one_line(f"{finding['status']} {until}{': ' if decision['why'] else ''}{decision['why']}")


def _indented(words: Text) -> Padding:
    return Padding(words, (0, 0, 0, INDENT))
