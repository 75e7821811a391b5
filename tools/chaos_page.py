"""Scan 200 times with random faults, and write the results to a file: `make chaos`.

Exits with 1 and names the scans if one had a result that is not allowed.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

from support.chaos import KINDS, SCANS, Kind, Outcome, Verdict, chaos

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "chaos.md"

HEAD: Final = f"""# Scans with random faults

Written by `make chaos` in some minutes. The tests repeat every sixth of these scans.

Each of {SCANS} scans of the demo account ran against a simulated AWS in which one to four things went wrong, with
actions, rates and times drawn from the scan's number. Pages were short (20 resources, 30,000 points). A scan passes
only with one of these results:

- **The same**: complete, without an access error. Each finding has the same id, fingerprint, confidence and savings.
- **Less sure**: complete, but an *optional* source failed and is named. No finding is new or surer. Only what this
  source alone can show is missing. A saving differs only if its price is packaged or unknown, and it says so.
- **Incomplete, and named**: `complete: false`, and every access error names an action that failed. All findings also
  exist without faults, with the same savings.

Anything else is a failure: a false finding, an access error for an action that did not fail, an exception, or more
requests than eight times the usual number and a few hundred pages.

## What goes wrong

| Kind | What |
|-|-|
| denied | AccessDenied, each time |
| throttled, failing | the service's own error codes, 400, 500 and 503, once or without end |
| slow | answers up to 20 ms later |
| dropped | the connection closes without an answer |
| truncated | half of the body, as if it were all: botocore reads such JSON as an answer without keys |
| malformed | random bytes, a proxy's HTML, an empty body, values of another type, members missing or null |
| pages | the first page again, with its or the next token; a token refused; endless empty pages, or a circle |
| clock | AWS refuses the caller's clock; all points of CloudWatch hours or days early or late; a point years off |
| points | NaN, infinity, words, null; uneven lists; disorder; a point twice; a metric omitted, unasked or twice |
| partial | every second, seventh or fiftieth metric ends with InternalError |

## What no client can detect

- **A service that silently omits resources**, also by a token that leads to an empty last page: EC2 really ends so
  after a full page. Slackwater requests the page once more; empty twice is the end.
- **An optional member that is missing**, such as the tags of an FSx file system, or a wrong text.
- **The Date header** of an answer, which nothing reads.

"""

COLUMNS: Final[Sequence[tuple[Verdict, str]]] = (
    ("same", "The same"),
    ("less sure", "Less sure"),
    ("incomplete", "Incomplete, and named"),
)


def page(outcomes: Iterable[Outcome]) -> str:
    """Return the page: a row for each kind of fault, and for each variant if a kind has several."""
    outcomes = list(outcomes)
    problems = sum(bool(one.problems) for one in outcomes)
    lines = ["| Faults | Scans | The same | Less sure | Incomplete, and named | Anything else |", "|-|-|-|-|-|-|"]
    lines.append(_row(f"all {len(outcomes)} scans", outcomes))
    for kind in KINDS:
        lines.append(_row(kind, [one for one in outcomes if kind in _kinds(one)]))
        lines.append(_row(f"{kind}, alone", [one for one in outcomes if {kind} == _kinds(one)]))
        ways = sorted({fault.way for one in outcomes for fault in one.faults if fault.kind == kind})
        if len(ways) > 1:
            lines += [
                _row(f"· {way}", [one for one in outcomes if way in {fault.way for fault in one.faults}])
                for way in ways
            ]
    faults = Counter(len(one.faults) for one in outcomes)
    counts = ", ".join(f"{count} scans with {number}" for number, count in sorted(faults.items()))
    requests = sorted(one.requests for one in outcomes)
    sent = f"A scan sent {requests[0]:,} to {requests[-1]:,} requests."
    twice = "A scan with several faults is in several rows; what a kind comes to by itself is in the row below it."
    summary = wrap(f"**{problems} anything else** in {len(outcomes)} scans ({counts} faults). {sent} {twice}", 120)
    return "\n".join((f"{HEAD}## Results\n", *summary, "", *lines, ""))


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counter(one.verdict for one in outcomes if not one.problems)
    cells = [
        name,
        len(outcomes),
        *(counts[verdict] for verdict, _ in COLUMNS),
        sum(bool(one.problems) for one in outcomes),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _kinds(one: Outcome) -> set[Kind]:
    return {fault.kind for fault in one.faults}


if __name__ == "__main__":
    with chaos() as storm:
        found = [storm.outcome(number) for number in range(SCANS)]
    Path(sys.argv[1]).write_text(page(found), "utf-8")
    for one in found:
        for problem in one.problems:
            print(
                f"scan {one.number}: {problem} ({', '.join(f'{f.way} {f.action}' for f in one.faults)})",
                file=sys.stderr,
            )
    sys.exit(any(one.problems for one in found))
