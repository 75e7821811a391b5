"""`python tools/cleanup_fault_page.py FILE`: writes what comes of a clean-up in which one call goes wrong, a table a kind."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from cleanup_faults import Fault, Outcome, outcomes
from cleanup_world import KINDS

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "cleanup-faults.md"

HEAD: Final = """# What comes of a clean-up in which a call goes wrong

Written by `make docs`; a test holds it against what happens.

Each of these clean-ups ran from its approval to its end, on a simulated account, through the state machine as it is
deployed, and in each of them one call to AWS went wrong:

- **denied**: each time (AccessDenied);
- **throttled**: three times, one after the other;
- **answer lost**: it took effect, and then the connection broke;
- **lags behind**: three times its answer did not show what had been made, tagged or deleted a moment ago.

A read whose answer is lost is asked again, so only calls that change something can lose one; and only reads lag behind.
"Whole" says that everything that hung on the resource still does. What is said is in the ledger, and in Slack; CALL stands
for the call of the row. The service's own table, bucket and state machine are not in it: their faults are in other tests
([what is proven](cleanup-rails.md#what-is-proven-and-what-is-not)).
"""

TITLES: Final[Mapping[str, str]] = {
    "ebs": "EBS volume, deleted",
    "efs": "EFS file system with access points and mount targets, deleted",
    "efs-orphaned": "EFS file system that nothing can mount, deleted",
    "efs-abandoned": "EFS file system of a job, deleted",
    "openzfs": "FSx for OpenZFS, deleted",
    "gp3": "EBS volume, changed to gp3",
    "efs-throughput": "EFS throughput, changed",
}
ORDER: Final[tuple[Fault, ...]] = ("throttled", "answer lost", "lags behind", "denied")

SHORTER: Final = (
    (re.compile(r"User: arn:\S+ is not authorized to perform: \S+ because no identity-based policy allows the action"), "…"),
    (re.compile(r"arn:aws:[a-z]+:[a-z0-9-]*:\d*:recovery-point:[0-9A-Fa-f-]+"), "recovery-point:…"),
    (re.compile(r"\b([a-z]+)-[0-9a-f]{8,}\b"), r"\1-…"),
)
"""What the simulated account invents."""


def section(kind: str, found: Iterable[Outcome]) -> str:
    """The table of a kind: a row for what ends alike."""
    found = list(found)
    rows = dict[tuple[str, str, str], list[Outcome]]()
    for one in found:
        rows.setdefault((_ends(one), one.left, _said(one)), []).append(one)
    lines = [f"## {TITLES[kind]}", "", "| Call | It ends | Left | Said |", "|-|-|-|-|"]
    for (ends, left, said), alike in sorted(rows.items(), key=lambda row: (row[0][0] != "done", row[0])):
        lines.append(f"| {_calls(alike, found)} | {ends} | {left} | {said} |")
    return "\n".join(lines) + "\n"


def page(sections: Sequence[str]) -> str:
    """All of it."""
    return "\n".join([HEAD, *sections])


def _calls(alike: Sequence[Outcome], found: Sequence[Outcome]) -> str:
    """`throttled: every call; denied: pricing:GetProducts`."""
    by_calls = dict[str, list[str]]()
    for fault in ORDER:
        calls = sorted(one.action for one in alike if one.fault == fault)
        if calls:
            every = calls == sorted(one.action for one in found if one.fault == fault)
            words = "every call" if every else ", ".join(_by_service(calls))
            by_calls.setdefault(words, []).append(fault)
    return "; ".join(f"{', '.join(faults)}: {words}" for words, faults in by_calls.items())


def _by_service(calls: Iterable[str]) -> Iterable[str]:
    """`fsx:DescribeVolumes`, `DescribeFileSystems`: the service once."""
    last = ""
    for call in calls:
        service, _, name = call.partition(":")
        yield f"`{name}`" if service == last else f"`{call}`"
        last = service


def _ends(one: Outcome) -> str:
    return one.ended.replace("-", " ")


def _said(one: Outcome) -> str:
    """The words, without what is invented, and the same for calls that differ by their names alone."""
    said = one.said
    for pattern, words in SHORTER:
        said = pattern.sub(words, said)
    return said.replace(one.action, "CALL").replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page([section(kind, outcomes(kind)) for kind in KINDS]), "utf-8")
