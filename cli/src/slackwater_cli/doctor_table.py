"""Draw the result of `slackwater doctor` on a terminal."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from slackwater.model.access import Access, Check, Examination
from slackwater.views.scan.doctor_to_json import consequence, hints, statement
from slackwater.views.scan.to_json import dump
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import count

STYLES: Final[dict[Access, str]] = {
    "allowed": "green",
    "denied": "bold red",
    "unreachable": "bold red",
    "failed": "bold red",
}
INDENT: Final = 13


def draw_examination(seen: Examination, console: Console) -> None:
    """Draw whether a scan would be complete, the caller and regions, each action, and how to fix what is missing."""
    console.print(Text(_headline(seen), "bold green" if seen.ready else "bold red"))
    role = f", as role {seen.role}" if seen.role else ""
    console.print(Text(one_line(f"Asked by {seen.arn}{role},")), soft_wrap=True)
    where = f"in account {seen.account} (partition {seen.partition}), in {count(len(seen.regions), 'region')}"
    console.print(Text(one_line(f"{where}: {', '.join(seen.regions)}.")))
    console.print()
    _draw_actions(seen, console)
    if seen.lacking:
        close = "would close" if seen.sure else "may close (AWS does not say what refused)"
        console.print()
        console.print(Text(f"This statement in the caller's policy {close} what is denied:", "bold"))
        console.print(Text(dump(statement(seen.lacking)).rstrip()), soft_wrap=True)
    for hint in hints(seen):
        console.print()
        console.print(Text(one_line(hint), "bold"))


def _headline(seen: Examination) -> str:
    if required := {check.need.action for check in seen.missing if not check.need.optional}:
        return f"NOT READY: a scan would be incomplete. Not allowed: {count(len(required), 'required action')}."
    optional = {check.need.action for check in seen.missing}
    without = f", but not {count(len(optional), 'optional action')}" if optional else ""
    return f"Ready: a scan would see everything required{without}."


def _draw_actions(seen: Examination, console: Console) -> None:
    """Draw the actions: missing required ones first, then missing optional ones, then allowed ones."""
    by_action: defaultdict[str, list[Check]] = defaultdict(list)
    for check in sorted(seen.checks, key=lambda c: (c.answer.access == "allowed", c.need.optional, c.need.action)):
        by_action[check.need.action].append(check)
    for action, checks in by_action.items():
        for (access, reason), regions in _alike(checks).items():
            _draw_action(action, access, "" if len(regions) == len(checks) else f" in {', '.join(regions)}", console)
            if access != "allowed":
                need = checks[0].need
                weight = "Optional" if need.optional else "Required"
                console.print(_indented(Text(f"{weight}: without it {consequence(need)}.")))
                console.print(_indented(Text(one_line(reason or ""), "dim")))


def _draw_action(action: str, access: Access, where: str, console: Console) -> None:
    word = access if access == "allowed" else access.upper()
    console.print(Text.assemble((f"{word:{INDENT}}", STYLES[access]), action, one_line(where)), soft_wrap=True)


def _indented(words: Text) -> Padding:
    return Padding(words, (0, 0, 0, INDENT))


def _alike(checks: Sequence[Check]) -> dict[tuple[Access, str | None], list[str]]:
    """Group the regions of an action by the result there."""
    regions: defaultdict[tuple[Access, str | None], list[str]] = defaultdict(list)
    for check in checks:
        regions[check.answer.access, check.answer.reason].append(check.region or "")
    return regions
