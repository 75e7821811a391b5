"""Compute the cost and duration of an audit from the measurements of `bench/organization.py`, and write the section.

This module measures nothing. The total is the cost of each part times its number.
"""

import re
import statistics
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, Final

from running_cost import rows

PAGES: Final = Path(__file__).parents[1] / "docs"

PLAN, SCAN, PUBLISH = "PlanFunction", "ScanFunction", "PublishFunction"
MEMORY_MB: Final = {PLAN: 1_769, SCAN: 1_769, PUBLISH: 1_769}
"""Memory in the template. At 1,769 MB, Lambda provides one processor."""
LIMIT_S: Final = {PLAN: 300, SCAN: 900, PUBLISH: 900}
DISK_LIMIT_MIB: Final = 4_096
"""Size of PublishFunction's /tmp."""

OF_AUDIT: Final = (
    "Plan",
    "IsDuplicate",
    "ScanTargets",
    "Publish",
    "TellSlack",
    "NotifySlack",
    "MorePosts",
    "HowDidItGo",
    "Done",
)
OF_BATCH: Final = ("ScanBatch", "IsAnyLeft", "BatchScanned")
OF_REST: Final = ("ScanBatch", "IsAnyLeft", "ScanEach")
OF_TURN: Final = ("Scan", "IsThereMore")
OF_TARGET: Final = ("Scanned",)
"""States that an execution enters.

They are: once in an audit; in a batch that leaves nothing; in a batch that leaves targets; in each turn of a target
that is scanned by itself; once in such a target.
"""

TRANSITIONS_A_SECOND: Final = "500; in three regions 1,500"
"""Refill rate of state transitions in an account and region.

The three regions are US East (N. Virginia), US West (Oregon) and Europe (Ireland). Source: an older copy of the Step
Functions developer guide (limits-overview). The rate may be higher now, and is lower in a new account.
"""

CONCURRENCIES: Final = (8, 40, 200)
LARGE, SMALL, EMPTY = "large", "small", "empty"
AWS_LATENCY_MS, STORE_LATENCY_MS = 50, 20
"""Assumed latency of a call to an account's region, and of a call to Slackwater's own bucket or table."""
FIRST, AGAIN = "first", "again"
"""An audit that finds everything new, and a later one that finds the same."""
OUR_OWN: Final = ("s3", "dynamodb")

TAKEN: Final = ("calls", "metrics", "cpu_s", "wall_s", "peak_mib", "write_units", "read_units")
"""The quantities that are measured for every part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of an audit, which occurs `count` times. The other values are for one occurrence.

    `calls` are by `service:Operation`.
    """

    name: str
    function: str
    count: int
    calls: Mapping[str, float]
    metrics: float = 0
    cpu_s: float = 0
    wall_s: float = 0
    turns: float = 1
    """Invocations of its function."""
    transitions: float = 0
    write_units: float = 0
    read_units: float = 0
    peak_mib: float = 0
    document_kib: float | None = None

    @property
    def lambda_s(self) -> float:
        """Billed seconds: wall time, but at least the CPU time, because the function has one processor."""
        return max(self.cpu_s, self.wall_s)

    def asked(self, *services: str) -> float:
        """Return the number of calls to these services; without any, to all but Slackwater's own bucket and table."""
        return sum(
            count
            for call, count in self.calls.items()
            if (call.partition(":")[0] in services if services else call.partition(":")[0] not in OUR_OWN)
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one unit. `seen` says whether AWS's own page was checked."""

    usd: Decimal
    unit: str
    source: str
    seen: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a bill."""

    what: str
    quantity: Decimal
    usd: Decimal


def prices() -> tuple[dict[str, Price], str]:
    """Return the prices in `tools/running_cost.toml` by the first words of their item, and their date."""
    found, as_of = rows()
    return {
        re.split("[:,]", row.what)[0]: Price(row.usd, row.unit, row.source, row.price_source == "AWS") for row in found
    }, as_of


def quantities(parts: Iterable[Part], cold_s: Mapping[str, float] | None = None) -> dict[str, Decimal]:
    """Return the billed quantities, by the name of their price.

    `cold_s` is the total extra time of cold starts by function, in seconds.
    """
    total = {"Lambda": sum(seconds * MEMORY_MB[function] / 1024 for function, seconds in (cold_s or {}).items())}
    for part in parts:
        of_one = {
            "GetMetricData": part.metrics,
            "Lambda": part.lambda_s * MEMORY_MB[part.function] / 1024,
            "Lambda requests": part.turns,
            "Step Functions": part.transitions,
            "DynamoDB writes": part.write_units,
            "DynamoDB reads": part.read_units,
            "S3 puts": part.calls.get("s3:PutObject", 0),
            "S3 gets": part.calls.get("s3:GetObject", 0) + part.calls.get("s3:HeadObject", 0),
        }
        for what, quantity in of_one.items():
            total[what] = total.get(what, 0) + quantity * part.count
    return {what: Decimal(str(quantity)) for what, quantity in total.items()}


def bill(used: Mapping[str, Decimal], at: Mapping[str, Price]) -> list[Line]:
    """Return the lines of the bill, the most expensive first."""
    lines = [Line(what, quantity, quantity * at[what].usd) for what, quantity in used.items()]
    return sorted(lines, key=lambda line: line.usd, reverse=True)


def usd_of(lines: Iterable[Line]) -> Decimal:
    """Return the sum of the lines."""
    return sum((line.usd for line in lines), Decimal())


def makespan_s(durations_s: Iterable[float], at_once: int) -> float:
    """Return how long tasks take that start in order, each as soon as one of `at_once` places is free."""
    ends = [0.0] * at_once
    heapify(ends)
    for duration_s in durations_s:
        heapreplace(ends, ends[0] + duration_s)
    return max(ends)


def transitions_of(alone: Sequence[int]) -> int:
    """Return the state transitions of a batch and of the targets that it leaves. `alone` has their numbers of turns."""
    by_themselves = sum(len(OF_TURN) * turns + len(OF_TARGET) for turns in alone)
    return by_themselves + len(OF_REST if alone else OF_BATCH)


def more_when_cold_s(page: str) -> dict[str, float]:
    """Return the extra seconds of a cold start by function, from the table in docs/performance.md."""
    found = re.findall(r"^\| (\w+Function) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|", page, re.MULTILINE)
    return {name: (_number(both) - _number(warm)) / 1_000 for name, both, warm in found}


def parts_of(found: Mapping[str, Any], publish: str = FIRST) -> list[Part]:
    """Return the parts of an audit, planning first and publishing last. `publish` says whose publishing to use."""
    plan, ended = found["plan"], found["publish"][publish]
    return [
        Part(
            name="planning", function=PLAN, count=1, transitions=len(OF_AUDIT), **{name: plan[name] for name in TAKEN}
        ),
        *(_scans(kind, found) for kind in (EMPTY, SMALL, LARGE)),
        Part(name="publishing", function=PUBLISH, count=1, **{name: ended[name] for name in TAKEN}),
    ]


def _scans(kind: str, found: Mapping[str, Any]) -> Part:
    scans = found["scans"][kind]
    calls = Counter[str]()
    for scan in scans:
        calls.update(scan["calls"])
    turns = statistics.mean(scan["turns"] for scan in scans)
    means = {name: statistics.mean(scan[name] for scan in scans) for name in ("metrics", "write_units", "read_units")}
    return Part(
        name=kind,
        function=SCAN,
        count=found["counts"][kind],
        calls={call: count / len(scans) for call, count in calls.items()},
        turns=turns,
        transitions=statistics.mean(scan["transitions"] for scan in scans),
        document_kib=found["sizes"][f"{kind}_kib"],
        wall_s=_quiet(scan["wall_s"] for scan in scans),
        cpu_s=statistics.median(scan["cpu_s"] for scan in scans),
        peak_mib=max(scan["peak_mib"] for scan in scans),
        **means,
    )


def _quiet(seconds: Iterable[float]) -> float:
    """Return the lower quartile, because other work on the machine makes some values too high."""
    some = sorted(seconds)
    return some[len(some) // 4]


def section(found: Mapping[str, Any]) -> str:
    """Return the section of the page in Markdown."""
    first, again = parts_of(found), parts_of(found, AGAIN)
    at, as_of = prices()
    cold = more_when_cold_s((PAGES / "performance.md").read_text("utf-8"))
    tables = (
        _about(found, as_of),
        _parts(first, again[-1]),
        _empty(first[1], at),
        _times(first, again, cold, at),
        _money(first, cold, at),
        _limits(found, first),
    )
    return "\n\n".join(tables) + "\n"


def hard_section(found: Mapping[str, Any]) -> str:
    """Return the section about hard accounts: what each part takes, and the bill."""
    first, again = parts_of(found), parts_of(found, AGAIN)
    cold = more_when_cold_s((PAGES / "performance.md").read_text("utf-8"))
    return "\n\n".join((_parts(first, again[-1]), _money(first, cold, prices()[0]))) + "\n"


def _about(found: Mapping[str, Any], as_of: str) -> str:
    counts, findings = found["counts"], found["publish"][FIRST]["findings"]
    samples = ", ".join(
        f"{sum(scan['targets'] for scan in found['scans'][kind])} {kind}" for kind in (EMPTY, SMALL, LARGE)
    )
    text = (
        f"Measured on {found['at']}: {found['plan']['accounts']:,} accounts of the simulated organization with"
        f" {sum(counts.values()):,} targets. {counts[EMPTY]:,} of them are empty, {counts[SMALL]:,} hold about 40"
        f" resources each, and {counts[LARGE]} about {found['resources'] // 2:,} each. All detectors are on, and there"
        f" are {findings:,} findings. Planning and publishing are measured whole. Of the targets, ScanFunction's code"
        f" scans a sample ({samples}) in batches of {found['plan']['batch']}; the result of each kind is multiplied by"
        f" its number of targets. A call to an account waits {AWS_LATENCY_MS} ms, one to the bucket or the table"
        f" {STORE_LATENCY_MS} ms. Prices are those of [an idle month](running-cost.md), us-east-1, {as_of}, before free"
        " tiers. A \\* marks a price that was not seen on AWS's own page."
    )
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def _parts(parts: Sequence[Part], again: Part) -> str:
    named = [
        ("Planning", parts[0]),
        ("Scan of an empty region", parts[1]),
        ("of a small one", parts[2]),
        ("of a large one", parts[3]),
        ("Publishing, all findings new", parts[4]),
        ("Publishing, none new", again),
    ]
    lines = [
        "| | Times | Calls to AWS | S3 | DynamoDB | Metrics | CPU, s | Wall, s | Peak, MiB | Document, KiB |",
        "|-|-:|-:|-:|-:|-:|-:|-:|-:|-:|",
    ]
    for name, part in named:
        cells = [
            f"{part.count:,}",
            *map(_few, (part.asked(), part.asked("s3"), part.asked("dynamodb"), part.metrics)),
            f"{part.cpu_s:,.2f}",
            f"{part.wall_s:,.2f}",
            f"{part.peak_mib:,.0f}",
            "" if part.document_kib is None else f"{part.document_kib:,.1f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    total = Counter[str]()
    for part in parts:
        for call, count in part.calls.items():
            total[call.partition(":")[0]] += round(count * part.count)
    calls = ", ".join(f"{service} {count:,}" for service, count in total.most_common())
    whole = textwrap.fill(f"Calls of a whole audit: {calls}.", 120, break_on_hyphens=False)
    return "\n".join([*lines, "", whole])


def _empty(empty: Part, at: Mapping[str, Price]) -> str:
    lines = bill(quantities([replace(empty, count=1)]), at)
    calls = ", ".join(f"`{call}`" for call in sorted(empty.calls) if call.partition(":")[0] not in OUR_OWN)
    largest = " and ".join(f"{line.what} ({line.usd:.6f})" for line in lines[:2])
    text = (
        f"**An empty region costs {_few(empty.asked())} calls and {usd_of(lines):.6f} USD**: {calls}. The largest parts"
        f" are {largest}. Slackwater does not call CloudWatch, CloudTrail or the price list for it."
    )
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def _times(first: Sequence[Part], again: Sequence[Part], cold: Mapping[str, float], at: Mapping[str, Price]) -> str:
    lines = [
        "| `ScanConcurrency` | Planning, s | Scans, s | Publishing, s | All | USD | USD, none new |",
        "|-:|-:|-:|-:|-:|-:|-:|",
    ]
    plan, *scans, publish = first
    for at_once in CONCURRENCIES:
        scans_s = _scans_s(scans, cold, at_once)
        plan_s, publish_s = plan.lambda_s + cold[PLAN], publish.lambda_s + cold[PUBLISH]
        usd, usd_again = (usd_of(bill(quantities(parts, _cold_s(cold, at_once)), at)) for parts in (first, again))
        lines.append(
            f"| {at_once} | {plan_s:,.0f} | {scans_s:,.0f} | {publish_s:,.0f} | {_span(plan_s + scans_s + publish_s)} "
            f"| {usd:.2f} | {usd_again:.2f} |"
        )
    return "\n".join(lines)


def _scans_s(scans: Sequence[Part], cold: Mapping[str, float], at_once: int) -> float:
    """Return the seconds of all scans, in the plan's order: large accounts first. Each place has one cold start."""
    durations = [scan.lambda_s for scan in reversed(scans) for _ in range(scan.count)]
    return makespan_s((one + (place < at_once) * cold[SCAN] for place, one in enumerate(durations)), at_once)


def _money(parts: Sequence[Part], cold: Mapping[str, float], at: Mapping[str, Price]) -> str:
    found = bill(quantities(parts, _cold_s(cold, CONCURRENCIES[1])), at)
    lines = ["| An audit, all findings new | Quantity | Price, USD | USD |", "|-|-:|-|-:|"]
    for line in found:
        price = at[line.what]
        price_cell = f"[{price.usd:f} per {price.unit}]({price.source}){'' if price.seen else '*'}"
        lines.append(f"| {line.what} | {line.quantity:,.0f} | {price_cell} | {line.usd:.4f} |")
    return "\n".join([*lines, f"| **All** | | | **{usd_of(found):.2f}** |"])


def _limits(found: Mapping[str, Any], parts: Sequence[Part]) -> str:
    plan, empty, large, ended = parts[0], parts[1], parts[3], found["publish"].values()
    rows_: tuple[tuple[str, ...], ...] = (
        (PLAN, "time", f"{LIMIT_S[PLAN]} s", f"{plan.lambda_s:,.0f} s"),
        ("", "memory", f"{MEMORY_MB[PLAN]:,} MB", f"{plan.peak_mib:,.0f} MiB"),
        (f"{SCAN}, a large target", "time", f"{LIMIT_S[SCAN]} s", f"{large.lambda_s:,.0f} s"),
        ("", "memory", f"{MEMORY_MB[SCAN]:,} MB", f"{large.peak_mib:,.0f} MiB"),
        (PUBLISH, "time", f"{LIMIT_S[PUBLISH]} s", f"{max(one['wall_s'] for one in ended):,.0f} s"),
        ("", "memory", f"{MEMORY_MB[PUBLISH]:,} MB", f"{max(one['peak_mib'] for one in ended):,.0f} MiB"),
        ("", "disk", f"{DISK_LIMIT_MIB:,} MiB", f"{max(one['disk_mib'] for one in ended):,.0f} MiB"),
    )
    rows_ += tuple(
        (
            f"Step Functions, `ScanConcurrency` {at_once}",
            "transitions a second, while regions are empty",
            TRANSITIONS_A_SECOND,
            f"{at_once * empty.transitions / empty.lambda_s:,.0f}",
        )
        for at_once in CONCURRENCIES
    )
    lines = ["| | | Allowed | Used |", "|-|-|-:|-:|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows_)])


def _cold_s(cold: Mapping[str, float], at_once: int) -> dict[str, float]:
    return {PLAN: cold[PLAN], SCAN: at_once * cold[SCAN], PUBLISH: cold[PUBLISH]}


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _few(count: float) -> str:
    """Format a number; a mean below 100 gets one digit after the point."""
    return f"{count:,.0f}" if count >= 100 or count == round(count) else f"{count:,.1f}"


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
