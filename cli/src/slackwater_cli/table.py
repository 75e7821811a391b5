"""Draw a scan on a terminal: one page with a line for each finding, or every detail."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.verdicts import Severity
from slackwater.views.api.document import SightingDocument
from slackwater.views.scan.document import (
    EvidenceDocument,
    FindingDocument,
    RecommendationDocument,
    ResourceDocument,
    ScanDocument,
)
from slackwater.views.text.command import lines
from slackwater.views.text.console import console_url
from slackwater.views.text.money import charges, dollars, effect
from slackwater.views.text.one_line import one_line
from slackwater.views.text.sparkline import sparkline
from slackwater.views.text.words import (
    NOUNS,
    completeness,
    count,
    disabled_regions,
    evidence_text,
    facts,
    gap_sentences,
    gaps_title,
    headline,
    reasons,
    scale,
)
from slackwater_cli.selection import chosen

STYLES: Final[dict[Severity, str]] = {"high": "bold red", "medium": "bold yellow", "low": "bold cyan", "info": "bold"}
INDENT: Final = 8
SPARKLINE_WIDTH: Final = 48
REASONS_SHOWN: Final = 2
REASON_WIDTH: Final = 80
GAPS_SHOWN: Final = 3
TOP: Final = 20
"""Findings shown by default."""
FIX_WORDS: Final = 5
SHORTER: Final = {
    "change to": "use",
    "move to efs one zone": "use EFS One Zone",
    "move to efs": "replace with EFS",
    "tier to infrequent access": "move to EFS IA",
    " and delete": ", delete",
    "throughput capacity": "throughput",
    "to what the instance carries": "to instance limit",
    "provisioned in steps": "throughput",
    "client side first": "parallel writes",
    "write in parallel": "parallel writes",
    "let it take longer": "spread over time",
    "efs": "EFS",
    "iops": "IOPS",
}
"""Shorter forms of parts of actions, for lines of a table."""
NARROWEST: Final = ((3, 20), (5, 17), (4, 8), (3, 13), (2, 23), (5, 15), (2, 16), (2, 10), (3, 8), (5, 10))
"""Columns to narrow if the terminal is narrow, in this order, and their widths then.

13 characters are still enough to tell names apart, and 23 have all but two detectors' ids in full.
"""
SHORT: Final = {"medium": "med"}
RISK: Final = "*"
UNSURE: Final = {"medium": "~", "low": "?"}
"""Marks of amounts whose finding has not high confidence."""
TO_TYPE: Final = "change-instance-type-to-"
MOST_CAVEATS: Final = 2
TITLES: Final = ("Waste", "Performance issues and risks")


def draw_scan(
    doc: ScanDocument, console: Console, *, top: int = TOP, details: bool = False, command: str = "slackwater scan"
) -> None:
    """Draw what to do first, a line for each finding, inconclusive checks, failed calls, and what to do next.

    Args:
        doc: The scan.
        console: Where to draw.
        top: How many findings; 0 shows all.
        details: Show each finding with its evidence, commands and caveats instead of one line.
        command: What the user ran, without options on how to show it. The hints at the end add to it.
    """
    _draw_headline(doc, console, is_demo=_is_demo(command))
    waste, others = chosen(doc["findings"], top)
    if details:
        for fact in facts(doc):
            console.print(Text(fact))
        _draw_details((*zip(TITLES, (waste, others), strict=True),), console, several=len(doc["scan"]["targets"]) > 1)
    else:
        _draw_first((*waste, *others), console)
        of_waste = sum(finding["kind"] == "waste" for finding in doc["findings"])
        _draw_table(TITLES[0], waste, of_waste, console)
        _draw_table(TITLES[1], others, len(doc["findings"]) - of_waste, console)
    _draw_unknown(doc, console, REASONS_SHOWN if not details else None)
    _draw_gaps(doc, console, GAPS_SHOWN if not details else None)
    _draw_next(doc, len(waste) + len(others), console, details=details, command=command)


def draw_resource(doc: ScanDocument, console: Console, *, name: str, command: str) -> None:
    """Draw the headline, and all that the scan says about the resources with this name, id or ARN.

    That is each finding with all its options, inconclusive checks, and suppressed findings.
    """
    several = len(doc["scan"]["targets"]) > 1
    _draw_headline(doc, console, is_demo=_is_demo(command))
    found = [one for one in doc["findings"] if _is_named(one["resource"], name)]
    others = [
        f"{what}: {one['detector']}: {one['reason']}"
        for what, checks in (("Inconclusive", doc["unknown"]), ("Not listed", doc["unlisted"]))
        for one in checks
        if _is_named(one["resource"], name)
    ]
    if not found and not others:
        so_far = "" if doc["scan"]["complete"] else " in what could be read"
        console.print(Text(one_line(f"The scan says nothing about a resource {name}{so_far}.")))
    for finding in found:
        console.print()
        draw_finding(finding, console, with_target=several, every_way=True)
    if others:
        console.print()
    for line in others:
        console.print(_indented(Text(one_line(line)), 2))
    _draw_gaps(doc, console, None)


def _is_named(resource: ResourceDocument, name: str) -> bool:
    return name in (resource["name"], one_line(resource["name"]), resource["id"], resource["arn"])


def _is_demo(command: str) -> bool:
    return command.startswith("slackwater demo")


def _draw_headline(doc: ScanDocument, console: Console, *, is_demo: bool) -> None:
    complete = doc["scan"]["complete"]
    console.print(Text(headline(doc), "bold green" if complete else "bold red"))
    usd = charges(doc["scan"]["usage"]["estimated_usd"])
    cost = f"On AWS, such a scan costs {usd}." if is_demo else f"Scan cost: {usd}."
    console.print(Text(f"{completeness(doc)} {cost}"))
    for disabled in disabled_regions(
        (one["account"], one["region"]) for one in doc["scan"]["targets"] if "closed" in one
    ):
        console.print(Text(disabled))


def _draw_first(findings: Sequence[FindingDocument], console: Console) -> None:
    """Draw the first thing to do: the highest saving if there is waste, else the most severe issue."""
    if not findings:
        return
    first = findings[0]
    owner = f" (owner {one_line(first['owner'])})" if first["owner"] else ""
    sure = "" if first["confidence"] == "high" else f", {first['confidence']} confidence"
    noun = NOUNS.get(first["resource"]["type"], first["resource"]["type"])
    largest = " (largest saving)" if first["kind"] == "waste" else ""
    what = f"{noun} {_short_name(first)}, {effect(first['monthly_savings_usd'])}{sure}: {_action(first)}{owner}"
    console.print(Text.assemble((f"Do first{largest}: ", "bold"), what))


def _draw_table(title: str, findings: Sequence[FindingDocument], of: int, console: Console) -> None:
    """Draw one line for each finding. `of` is how many there are in total. No line is wider than the terminal."""
    if not findings:
        return
    is_waste = findings[0]["kind"] == "waste"
    heads = ("Sev.", "Saves/mo" if is_waste else "Bill/mo", "What", "Name", "Owner", "Fix")
    rows = [
        (
            _severity(finding),
            _amount(finding, is_waste=is_waste),
            Text(one_line(finding["detector"])),
            Text(_short_name(finding), "bold"),
            Text(one_line(finding["owner"] or "-")),
            Text(_fix(finding)),
        )
        for finding in findings
    ]
    if any(finding["kind"] == "risk" for finding in findings):
        title += f" ({RISK})"
    title = title if len(findings) == of else f"{title}: {len(findings):,} of {of:,} shown"
    legend = "" if is_waste else "   Bill/mo: + costs more, - saves"
    for level, mark in UNSURE.items():
        if any(row[1].plain.startswith(mark) for row in rows):
            legend += f"   {mark}: {level} confidence"
    console.print()
    console.print(Text.assemble((title, "bold underline"), (legend, "dim")))
    widths = [
        max(map(cell_len, (head, *(cell.plain for cell in cells)))) for head, *cells in zip(heads, *rows, strict=True)
    ]
    excess = sum(widths) + len(widths) - 1 - console.width
    for column, least in NARROWEST:
        cut = max(0, min(excess, widths[column] - least))
        widths[column], excess = widths[column] - cut, excess - cut
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for head, width in zip(heads, widths, strict=True):
        money = head.endswith("/mo")
        grid.add_column(head, no_wrap=True, overflow="ellipsis", width=width, justify="right" if money else "left")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def _severity(finding: FindingDocument) -> Text:
    """Return the severity, with a mark if the finding is a risk."""
    short = SHORT.get(finding["severity"], finding["severity"])
    return Text(f"{short}{RISK if finding['kind'] == 'risk' else ''}", STYLES[finding["severity"]])


def _amount(finding: FindingDocument, *, is_waste: bool) -> Text:
    """Return what the fix saves, or in a table of issues how much it changes the bill.

    `~` stands for medium confidence, `?` for low.
    """
    mark, usd = UNSURE.get(finding["confidence"], ""), finding["monthly_savings_usd"]
    if not finding["recommendations"]:
        return Text("-")
    if usd is None:
        return Text(f"{mark}unknown")
    amount = Decimal(usd)
    if is_waste:
        return Text(f"{mark}{dollars(amount)}", "green")
    if amount > 0:
        return Text(f"{mark}-{dollars(amount)}", "green")
    return Text(f"{mark}+{dollars(-amount)}" if amount else "$0")


def _action(finding: FindingDocument) -> str:
    """Return the action of the first recommendation in words, with the value that it sets."""
    if not finding["recommendations"]:
        return "see details"
    first = finding["recommendations"][0]
    words = one_line(first["action"]).replace("-", " ").replace("iops", "IOPS")
    if words.startswith("change to "):  # the throughput mode of an EFS file system
        words += " throughput"
    return f"{words} ({one_line(first['new_value'])})" if "new_value" in first else words


def _fix(finding: FindingDocument) -> str:
    """Return the first recommendation in at most five words."""
    if not finding["recommendations"]:
        return "see details"
    first = finding["recommendations"][0]
    if "new_value" in first:
        return f"set {one_line(first['new_value'])}"
    if first["action"].startswith(TO_TYPE):
        return f"use {one_line(first['action'].removeprefix(TO_TYPE))}"  # a type such as m7i-flex.large has hyphens
    words = one_line(first["action"]).replace("-", " ")
    for long, short in SHORTER.items():
        words = words.replace(long, short)
    return " ".join(words.split()[:FIX_WORDS])


def _short_name(finding: FindingDocument) -> str:
    return one_line(finding["resource"]["name"])


def _draw_details(groups: Iterable[tuple[str, Sequence[FindingDocument]]], console: Console, *, several: bool) -> None:
    for title, findings in groups:
        if findings:
            console.print()
            console.print(Text(title, "bold underline"))
        for finding in findings:
            console.print()
            draw_finding(finding, console, with_target=several)


def draw_finding(finding: FindingDocument, console: Console, *, with_target: bool, every_way: bool = False) -> None:
    """Draw a finding: resource, saving, evidence, caveats and options, the first option with its risk and command.

    Args:
        finding: The finding.
        console: Where to draw.
        with_target: Show its account and region.
        every_way: Show the risk and command of the other options, too.
    """
    money = effect(finding["monthly_savings_usd"]) if finding["recommendations"] else ""
    _draw_head(finding, money, console)
    parts = [_name(finding, with_target=with_target), Text(one_line(finding["summary"]))]
    parts += _pictures(finding["evidence"], console.width - INDENT)
    parts += [Text(f"! {one_line(caveat)}", "italic") for caveat in finding["caveats"][:MOST_CAVEATS]]
    if more := finding["caveats"][MOST_CAVEATS:]:
        parts.append(
            Text(
                f"! {count(len(more), 'more caveat')}: slackwater detectors show {one_line(finding['detector'])}", "dim"
            )
        )
    console.print(_indented(Group(*parts)))
    if url := console_url(finding["resource"]):
        console.print(Text(" " * INDENT + url, "dim"), soft_wrap=True)
    if every_way:
        for to_do in finding["recommendations"]:
            _draw_way(to_do, console)
        return
    for first in finding["recommendations"][:1]:
        _draw_way(first, console, with_money=False)
    for other in finding["recommendations"][1:]:
        console.print(_indented(Text(f"Or ({effect(other['monthly_savings_usd'])}): {_summary(other)}")))


def draw_finding_record(finding: SightingDocument, console: Console) -> None:
    """Draw a finding whose evidence has expired: resource, saving and summary."""
    _draw_head(finding, money(finding), console)
    console.print(_indented(Group(_name(finding, with_target=True), Text(one_line(finding["summary"])))))


def money(finding: SightingDocument) -> str:
    """Return what the fix saves or costs a month; empty for a performance issue or risk with a free or unknown fix."""
    usd = finding["monthly_savings_usd"]
    return effect(usd) if finding["kind"] == "waste" or Decimal(usd or 0) else ""


def _draw_head(finding: FindingDocument | SightingDocument, money: str, console: Console) -> None:
    head = Table.grid(expand=True, padding=(0, 1, 0, 0))
    head.add_column(ratio=1)
    head.add_column(justify="right", no_wrap=True)
    sure = f", {one_line(finding['confidence'])} confidence" if "confidence" in finding else ""
    head.add_row(
        Text.assemble(
            (one_line(finding["detector"]), "bold"),
            ("  severity ", "dim"),
            (one_line(finding["severity"]), STYLES[finding["severity"]]),
            (sure, "dim"),
        ),
        Text(money, "green" if money.startswith("saves") else ""),
    )
    console.print(head)


def _name(finding: FindingDocument | SightingDocument, *, with_target: bool) -> Text:
    resource = finding["resource"]
    name = Text(one_line(resource["name"]), "bold")
    if resource["id"] != resource["name"]:
        name.append(f"  {one_line(resource['id'])}", "not bold")
    if finding["owner"]:
        name.append(f"  owner {one_line(finding['owner'])}", "not bold")
    if with_target:
        name.append(one_line(f"  {resource['region']}, account {resource['account']}"), "not bold")
    return name


def _pictures(evidence: Sequence[EvidenceDocument], width: int) -> list[Text]:
    """Return sparklines of the evidence that is a series. The summary has the rest."""
    pictures = []
    for fact in evidence:
        if series := fact.get("series"):
            how = f", {scale(fact)}" if scale(fact) else ""
            label = one_line(f"{fact['label']}: {evidence_text(fact)}{how}")
            bars = sparkline(series["values"], min(SPARKLINE_WIDTH, width), fact.get("scale"))
            pictures.append(Text.assemble((f"{bars}  ", "cyan"), (label, "dim")))
    return pictures


def _draw_way(to_do: RecommendationDocument, console: Console, *, with_money: bool = True) -> None:
    saves = (f"  {effect(to_do['monthly_savings_usd'])}" if with_money else "", "green")
    console.print(_indented(Text.assemble(("→ ", "green"), _summary(to_do), saves)))
    console.print(_indented(Text(f"Risk: {one_line(to_do['risk'])}", "dim"), INDENT + 2))
    _draw_command(to_do, console)


def _summary(to_do: RecommendationDocument) -> str:
    return f"{one_line(to_do['summary'])}{'' if to_do['reversible'] else ' You cannot undo this.'}"


def _draw_command(to_do: RecommendationDocument, console: Console) -> None:
    for line in lines(one_line(to_do.get("command", "")), console.width - INDENT):
        if line:
            # Soft wrap keeps a word that is longer than the terminal whole, so that people can copy it.
            console.print(Text(" " * INDENT + line, "bold"), soft_wrap=True)


def _draw_unknown(doc: ScanDocument, console: Console, shown: int | None) -> None:
    """Draw the inconclusive checks by detector and reason: the first `shown` of them; None draws all."""
    if not doc["unknown"]:
        return
    grouped = reasons(doc["unknown"])
    console.print()
    console.print(Text(count(len(doc["unknown"]), "inconclusive check"), "bold"))
    for reason in grouped[:shown]:
        names = ", ".join(map(one_line, reason.examples)) + (", …" if reason.count > len(reason.examples) else "")
        why = Text(one_line(reason.reason))
        why.truncate(REASON_WIDTH, overflow="ellipsis")
        line = Text(f"{reason.count:,} × {reason.detector}: {why}")
        if shown is None or cell_len(f"{line} ({names})") <= console.width - 2:
            line.append(f" ({names})")
        if shown is not None:
            line.truncate(console.width - 2, overflow="ellipsis")
        console.print(_indented(line, 2))
    if rest := grouped[len(grouped) if shown is None else shown :]:
        checks = count(sum(reason.count for reason in rest), "check")
        console.print(_indented(Text(f"and {checks} for {count(len(rest), 'other reason')}"), 2))


def _draw_gaps(doc: ScanDocument, console: Console, shown: int | None) -> None:
    gaps = gap_sentences(doc)
    if not gaps:
        return
    console.print()
    console.print(Text(gaps_title(doc), "bold yellow" if doc["scan"]["complete"] else "bold red"))
    for gap in gaps[:shown]:
        console.print(_indented(Text(gap), 2))
    if rest := gaps[len(gaps) if shown is None else shown :]:
        console.print(_indented(Text(f"and {count(len(rest), 'more')}"), 2))


def _draw_next(doc: ScanDocument, shown: int, console: Console, *, details: bool, command: str) -> None:
    """Draw commands that show more, if there is more."""
    total = doc["totals"]["findings"]
    hints = list[tuple[str, str]]()
    if _is_demo(command):
        if not details or shown < total:
            hints.append((f"{command} --details", f"all {total:,} findings, in full"))
        hints.append(("slackwater doctor && slackwater scan", "your own account"))
    else:
        if shown and not details:
            hints.append((f"{command} --details", "full names, evidence, commands"))
            hints.append((f"{command} --resource NAME", "the same of one resource"))
        held = len(doc["findings"])
        if shown < held:
            some = f"the other {total - shown:,} findings" if held == total else f"the worst {held:,} findings"
            hints.append((f"{command}{' --details' if details else ''} --top 0", some))
        if held < total:
            hints.append((f"{command} --format csv -o findings.csv", f"all {total:,} findings"))
        if shown:
            hints.append((f"{command} --format html -o report.html", "a report"))
    if not hints:
        return
    console.print()
    title = Text("Next", "bold")
    if (
        not _is_demo(command)
        and max(2 + cell_len(typed) + 2 + cell_len(shows) for typed, shows in hints) > console.width
    ):
        title.append(f": add to {one_line(command)}", "not bold")
        hints = [(typed.removeprefix(f"{command} "), shows) for typed, shows in hints]
    console.print(title, soft_wrap=True)
    steps = Table.grid(padding=(0, 2, 0, 0))
    for typed, shows in hints:
        steps.add_row(Text(typed, "bold"), shows)
    console.print(_indented(steps, 2))


def _indented(what: RenderableType, by: int = INDENT) -> Padding:
    return Padding(what, (0, 0, 0, by))
