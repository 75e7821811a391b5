"""Compare Slackwater with Cloud Custodian: the same seven questions on an easy and a hard fleet. Part of `make bench`.

Both tools run as whole processes, one after the other. A simulated account in a separate process counts their requests.
Slackwater uses `policy.toml` and Custodian uses `custodian.yml`; each starts as a user would start it. Prints Markdown;
`--write` puts it between the markers of a file, and `--picture` draws a chart. Progress goes to standard error. Exits
with 1 if only one tool flags a resource and no rule in `answers.py` explains why.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import answers
import yaml
from bar_chart import Panel, bar_chart
from markers import write_between
from scan import FLEETS, call_counts, command_of, floor, reset_simulator, simulator, timed

from slackwater_simulator import hard_fleet, mixed_fleet

BEGIN, END = "<!-- compare -->\n", "<!-- /compare -->\n"
BENCH: Final = Path(__file__).parent
CUSTODIAN: Final = BENCH.parent / ".tools/custodian/bin/custodian"
TOOLS: Final = ("Slackwater", "Cloud Custodian")
MAKERS: Final = {"easy": mixed_fleet, "hard": hard_fleet}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run of one tool used."""

    tool: str
    resources: int
    latency_ms: float
    calls: int
    metrics: int
    wall_s: float
    cpu_s: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Target:
    """The most that Slackwater may use: a fraction of Custodian's value, or an absolute number if not `is_share`."""

    words: str
    field: str
    most: float
    is_share: bool = True


TARGETS: Final = (
    Target("calls", "calls", 1 / 120),
    Target("wall, s", "wall_s", 1 / 20),
    Target("CPU, s", "cpu_s", 1 / 6),
    Target("peak, MiB", "peak_mib", 200, is_share=False),
)
"""Targets for 20,000 resources and 50 ms a call."""


@dataclass(slots=True)
class Results:
    """All results of a run on one fleet. `floors` has the lowest possible number of calls by fleet size."""

    measured: list[Measured] = field(default_factory=list)
    floors: dict[int, int] = field(default_factory=dict)
    plain_calls: dict[int, int] = field(default_factory=dict)
    """Custodian's calls by fleet size, without filters on configuration before those on metrics."""
    answers: str = ""
    """The comparison of the answers for the largest fleet, in Markdown."""
    fleet: str = "easy"

    def of(self, tool: str, resources: int, latency_ms: float) -> Measured:
        """Return the run of this tool with this fleet size and latency."""
        return next(
            one for one in self.measured if (one.tool, one.resources, one.latency_ms) == (tool, resources, latency_ms)
        )

    @property
    def sizes(self) -> list[int]:
        """Fleet sizes, ascending."""
        return sorted({one.resources for one in self.measured})

    @property
    def latencies(self) -> list[float]:
        """Latencies in ms, ascending."""
        return sorted({one.latency_ms for one in self.measured})


def say(words: str) -> None:
    """Write progress to standard error."""
    print(words, file=sys.stderr, flush=True)


def measured(
    tool: str, command: list[str], account: Mapping[str, Any], home: Path, resources: int, latency_ms: float
) -> Measured:
    """Run one tool once. The simulator counts its calls, and the kernel its time and memory."""
    reset_simulator(dict(account), latency_ms)
    wall_s, cpu_s, peak_mib = timed(command, dict(account), home)
    asked = call_counts(dict(account))
    one = Measured(
        tool, resources, latency_ms, sum(asked["calls"].values()), asked["metrics_requested"], wall_s, cpu_s, peak_mib
    )
    took = f"{one.calls:,} calls, {wall_s:.1f} s, {cpu_s:.1f} CPU s, {peak_mib:.0f} MiB"
    say(f"{resources:,} resources, {latency_ms:g} ms, {tool}: {took}")
    return one


def custodian(account: Mapping[str, Any], output: Path, policies: Path) -> list[str]:
    """Return Custodian's command line. One process runs all seven policies."""
    regions = [flag for region in account["regions"] for flag in ("--region", region)]
    return [str(CUSTODIAN), "run", "--output-dir", str(output), *regions, str(policies)]


def plain(policies: str) -> str:
    """Return the policies, with only metric filters in each policy that has any.

    The examples in Custodian's documentation are written this way.
    """
    document = yaml.safe_load(policies)
    for policy in document["policies"]:
        asking = [one for one in policy["filters"] if "metrics" in json.dumps(one)]
        policy["filters"] = asking or policy["filters"]
    return json.dumps(document, indent=2)  # JSON is also YAML


def run(fleet: str, resources: int, latencies: Iterable[float]) -> tuple[list[Measured], int, list[answers.Row]]:
    """Run both tools on one fleet at each latency.

    Returns:
        The runs, the number of calls of Custodian's plain policies, and the comparison of the last answers.
    """
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:00Z}"  # Custodian requests the days before the real date
    policy, flags = (
        (BENCH / "policy.toml").read_text(),
        [f for one in answers.QUESTIONS for f in ("--detector", one.detector)],
    )
    found = list[Measured]()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with simulator("--fleet", FLEETS[fleet], "--resources", str(resources), "--now", now) as account:
            scan = command_of(account, home, home / "scan.json", policy, *flags)
            timed(scan, account, home)  # fills the price cache and the simulator's caches
            for place, latency_ms in enumerate(latencies):
                found.append(measured("Slackwater", scan, account, home, resources, latency_ms))
                own = home / str(place)  # a new home, so that Custodian's cache of 15 minutes is empty
                own.mkdir()
                found.append(
                    measured(
                        "Cloud Custodian",
                        custodian(account, home / "told", BENCH / "custodian.yml"),
                        account,
                        own,
                        resources,
                        latency_ms,
                    )
                )
            policies = home / "plain.yml"
            policies.write_text(plain((BENCH / "custodian.yml").read_text()))
            (home / "plain").mkdir()
            command = custodian(account, home / "plain/told", policies)
            calls = measured("Cloud Custodian, plain", command, account, home / "plain", resources, 0).calls
        # A separate process: a fleet is large, and the kernel counts the parent's memory as that of later children.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return found, calls, pool.submit(_answers, fleet, resources, now, home).result()


def _answers(fleet: str, resources: int, now: str, home: Path) -> list[answers.Row]:
    index = answers.FleetIndex(MAKERS[fleet](resources, now=now))
    document = json.loads((home / "scan.json").read_text())
    return answers.compare_answers(
        index, answers.slackwater_answers(document, index), answers.custodian_answers(home / "told")
    )


def share(part: float, whole: float) -> str:
    """Return a ratio as `1/n`."""
    return f"1/{whole / part:.0f}" if whole / part >= 100 else f"1/{whole / part:.1f}"


def tables(results: Results) -> str:
    """Return the results of a fleet in Markdown."""
    parts = [*_calls(results), "", *_times(results), "", results.answers]
    return "\n".join([f"### The {results.fleet} fleet", "", *parts])


def _pair(results: Results, resources: int, latency_ms: float) -> tuple[Measured, Measured]:
    return results.of(TOOLS[0], resources, latency_ms), results.of(TOOLS[1], resources, latency_ms)


def _calls(results: Results) -> Iterator[str]:
    yield (
        "| Resources | Floor | Calls, Slackwater | Above it | Custodian | Share | Custodian, plain | Share"
        " | Metrics, Slackwater | Custodian |"
    )
    yield "|-|-|-|-|-|-|-|-|-|-|"
    for resources in results.sizes:
        ours, theirs = _pair(results, resources, results.latencies[-1])
        least, plain_calls = results.floors[resources], results.plain_calls[resources]
        yield (
            f"| {resources:,} | {least:,} | {ours.calls:,} | {ours.calls - least:+,} | {theirs.calls:,}"
            f" | {share(ours.calls, theirs.calls)} | {plain_calls:,} | {share(ours.calls, plain_calls)}"
            f" | {ours.metrics:,} | {theirs.metrics:,} |"
        )


def _times(results: Results) -> Iterator[str]:
    yield (
        "| Resources | Latency, ms | Wall s, Slackwater | Custodian | Share | CPU s, Slackwater | Custodian | Share"
        " | Peak MiB, Slackwater | Custodian |"
    )
    yield "|-|-|-|-|-|-|-|-|-|-|"
    for resources in results.sizes:
        for latency_ms in results.latencies:
            ours, theirs = _pair(results, resources, latency_ms)
            yield (
                f"| {resources:,} | {latency_ms:g}"
                f" | {ours.wall_s:.1f} | {theirs.wall_s:.1f} | {share(ours.wall_s, theirs.wall_s)}"
                f" | {ours.cpu_s:.1f} | {theirs.cpu_s:.1f} | {share(ours.cpu_s, theirs.cpu_s)}"
                f" | {ours.peak_mib:.0f} | {theirs.peak_mib:.0f} |"
            )


def side_by_side(all_: Sequence[Results]) -> str:
    """Return what both tools used on each fleet, at the largest size and latency, beside the targets."""
    resources, latency_ms = all_[0].sizes[-1], all_[0].latencies[-1]
    heads = [f"{one.fleet}: Slackwater | Custodian | Share" for one in all_]
    lines = [f"| {resources:,} resources, {latency_ms:g} ms | {' | '.join(heads)} | At most | Reached |"]
    lines.append("|-" * (3 * len(all_) + 3) + "|")
    for target in TARGETS:
        cells, reached = [target.words], list[str]()
        digits = 0 if target.field in ("calls", "peak_mib") else 1
        for results in all_:
            ours, theirs = (getattr(one, target.field) for one in _pair(results, resources, latency_ms))
            cells += [f"{ours:,.{digits}f}", f"{theirs:,.{digits}f}", share(ours, theirs)]
            reached.append("yes" if (ours / theirs if target.is_share else ours) <= target.most else "no")
        most = str(Fraction(target.most).limit_denominator(1_000)) if target.is_share else f"{target.most:g}"
        lines.append(f"| {' | '.join([*cells, most, ', '.join(reached)])} |")
    return "\n".join([*lines, ""])


def drawn(results: Results) -> str:
    """Return the chart as SVG: calls, wall time, CPU and memory at the highest latency."""
    latency_ms = results.latencies[-1]

    def bars(name: str) -> dict[str, Sequence[float]]:
        return {f"{n:,}": [getattr(one, name) for one in _pair(results, n, latency_ms)] for n in results.sizes}

    return bar_chart(
        TOOLS,
        [
            Panel("Calls", bars("calls"), {f"{n:,}": results.floors[n] for n in results.sizes}),
            Panel(f"Wall, seconds, at {latency_ms:g} ms a call", bars("wall_s")),
            Panel("CPU, seconds", bars("cpu_s")),
            Panel("Peak memory, MiB", bars("peak_mib")),
        ],
        "What seven questions cost, by the resources in the account",
    )


def main() -> int:
    """Measure, print, write, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, nargs="+", default=[100, 1_000, 5_000, 20_000])
    parser.add_argument("--fleet", choices=FLEETS, nargs="+", default=[*FLEETS])
    parser.add_argument("--latency-ms", type=float, nargs="+", default=[0, 50])
    parser.add_argument("--write", type=Path, help="a file with compare marks")
    parser.add_argument("--picture", type=Path, help="an SVG file, of the first fleet")
    parser.add_argument("--results", type=Path, help="what was measured, as JSON too")
    options = parser.parse_args()
    all_, unexplained = [Results(fleet=fleet) for fleet in options.fleet], list[str]()
    for results in all_:
        for resources in sorted(options.resources):
            results.floors[resources] = floor(resources, "seven", results.fleet)
            found, results.plain_calls[resources], rows = run(results.fleet, resources, sorted(options.latency_ms))
            results.measured += found
            results.answers = answers.table(rows)
            unexplained += [
                f"{results.fleet}, {resources:,} resources, {row.title}: {id_}"
                for row in rows
                for id_ in row.unexplained
            ]
    text = "\n".join([side_by_side(all_), *map(tables, all_)])
    print(text)
    if options.results:
        options.results.write_text(json.dumps([asdict(results) for results in all_], indent=1))
    if options.write:
        write_between(options.write, BEGIN, END, text)
    if options.picture:
        options.picture.write_text(drawn(all_[0]))
    for line in unexplained:
        say(f"nobody explains why only one flags it: {line}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
