"""Score the detectors on labelled fleets: `make score`.

Each fleet is a simulated account in its own process, generated from a seed. Each figure comes from a complete
`slackwater scan` process with all detectors on. Prints Markdown tables and each misjudged resource. `--write FILE`
puts the tables between the file's score markers. Exits with 1 if a target is missed. Tune detector limits on the `tune`
seeds, and report the scores of the `report` seeds.
"""

import argparse
import json
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from markers import write_between
from scan import scan, simulator

BEGIN, END = "<!-- score -->\n", "<!-- /score -->\n"
SEEDS: Final = {"tune": range(1, 11), "report": range(101, 136)}
POLICY: Final = """
[detectors.efs-abandoned]
tag = "Job"
"""
"""`efs-abandoned` runs only if the policy names the tag of jobs."""
CAN_DELETE: Final = frozenset(
    {
        *("ebs-idle", "ebs-on-stopped-instance", "ebs-unattached"),
        *("efs-abandoned", "efs-idle", "efs-orphaned"),
        "fsx-idle",
    }
)
"""Detectors whose advice can lead to a deletion: they may raise no false alarm at all."""
MIN_ISSUES, MIN_PER_CONTROL, MIN_NEGATIVES = 1_000, 200, 50_000
"""The minimum sample sizes of a report: issues per detector, resources per negative control, and (for a detector that
can lead to a deletion) negatives of its resource type.
"""
MIN_PRECISION, MIN_RECALL, MAX_UNKNOWN = 0.98, 0.95, 0.02
NO_SCENARIO = "not planted"
TOO_LITTLE = "saves less than the policy's minimum"

type Outcome = Literal["flagged", "silent", "unknown"]


class Wrong(NamedTuple):
    """A resource that a detector misjudged."""

    detector: str
    seed: int
    resource_id: str
    scenario: str
    what: Literal["false alarm", "missed", "unknown"]


@dataclass
class Row:
    """One scenario of one detector."""

    issue: bool
    full_data: bool
    story: str = ""
    outcomes: Counter[Outcome] = field(default_factory=Counter)


@dataclass
class Score:
    """The outcomes of one detector, counted over all fleets."""

    rows: dict[str, Row] = field(default_factory=dict)
    false_alarms: int = 0
    negatives: int = 0
    """Resources of the detector's type that it must not flag, planted or not."""

    def count(self, *outcomes: Outcome, issue: bool | None = None, full_data: bool | None = None) -> int:
        """Count the planted resources with one of these outcomes."""
        return sum(
            sum(row.outcomes[one] for one in outcomes)
            for row in self.rows.values()
            if issue in (None, row.issue) and full_data in (None, row.full_data)
        )

    @property
    def found(self) -> int:
        """Issues that it flagged."""
        return self.count("flagged", issue=True)

    @property
    def missed(self) -> int:
        """Issues that it did not flag: silent or unknown."""
        return self.count("silent", "unknown", issue=True)

    @property
    def precision(self) -> float:
        """The share of flagged resources that are issues."""
        return self.found / max(1, self.found + self.false_alarms)

    @property
    def recall(self) -> float:
        """The share of issues that it flagged."""
        return self.found / max(1, self.found + self.missed)

    @property
    def unknown(self) -> float:
        """The share of its planted resources with full data that it reports as unknown."""
        return self.count("unknown", full_data=True) / max(
            1, self.count("flagged", "silent", "unknown", full_data=True)
        )


def outcomes_by_resource(document: dict[str, Any]) -> dict[tuple[str, str], Outcome]:
    """Return the outcome by detector and resource id.

    A finding below the minimum saving counts as flagged. A finding does not count if a tag or a stronger finding
    suppresses it, or if its fix costs more.
    """
    flagged = document["findings"] + [one for one in document["unlisted"] if one["reason"] == TOO_LITTLE]
    return {(one["detector"], one["resource"]["id"]): "unknown" for one in document["unknown"]} | {
        (one["detector"], one["resource"]["id"]): "flagged" for one in flagged
    }


def count(scores: dict[str, Score], seed: int, truth: dict[str, Any], document: dict[str, Any]) -> list[Wrong]:
    """Add a fleet's scan to the scores, and return what was misjudged. Each detector is scored on every resource."""
    outcomes = outcomes_by_resource(document)
    planted = {case["resource_id"]: case for case in truth["planted"]}
    type_of_detector = {case["control_of"] or case["issues"][0]: case["type"] for case in truth["planted"]}
    kinds: Counter[str] = Counter()
    for counts in truth["counts"].values():
        kinds.update(counts["types"])
    wrong = []
    for detector in document["scan"]["detectors"]:
        score = scores.setdefault(detector, Score())
        issues = {id_ for id_, case in planted.items() if detector in case["issues"]}
        score.negatives += kinds[type_of_detector[detector]] - len(issues) if detector in type_of_detector else 0
        for id_, case in planted.items():
            issue, verdict = id_ in issues, outcomes.get((detector, id_), "silent")
            if not issue and case["control_of"] != detector:
                continue
            drawn_for = case["control_of"] or case["issues"][0]
            scenario = case["scenario"] if drawn_for == detector else f"{drawn_for}: {case['scenario']}"
            row = score.rows.setdefault(scenario, Row(issue, case["full"], case["story"]))
            row.outcomes[verdict] += 1
            if issue and verdict != "flagged":
                wrong.append(Wrong(detector, seed, id_, scenario, "unknown" if verdict == "unknown" else "missed"))
            elif not issue and verdict == "unknown" and case["full"]:
                wrong.append(Wrong(detector, seed, id_, scenario, "unknown"))
        alarms = [
            id_
            for (by, id_), verdict in outcomes.items()
            if by == detector and verdict == "flagged" and id_ not in issues
        ]
        score.false_alarms += len(alarms)
        for id_ in alarms:
            drawn = planted[id_]["scenario"] if id_ in planted else NO_SCENARIO
            wrong.append(Wrong(detector, seed, id_, drawn, "false alarm"))
    return wrong


def misses(scores: dict[str, Score], *, whole: bool) -> list[str]:
    """List the missed targets; with `whole`, also the samples that are too small."""
    found = []
    for detector, score in sorted(scores.items()):
        if not score.rows:
            found.append(f"{detector}: it has no scenarios")
            continue
        if detector in CAN_DELETE and score.false_alarms:
            found.append(f"{detector}: {score.false_alarms} false alarms, and it can lead to a deletion")
        if detector not in CAN_DELETE and score.precision < MIN_PRECISION:
            found.append(f"{detector}: precision {score.precision:.3f} is below {MIN_PRECISION}")
        if score.recall < MIN_RECALL:
            found.append(f"{detector}: recall {score.recall:.3f} is below {MIN_RECALL}")
        if score.unknown > MAX_UNKNOWN:
            found.append(f"{detector}: unknown {score.unknown:.1%} where the data is full, above {MAX_UNKNOWN:.0%}")
        if whole:
            found += [f"{detector}: only {what}" for what in _too_few(detector, score)]
    return found


def _too_few(detector: str, score: Score) -> list[str]:
    few = []
    if (issues := score.found + score.missed) < MIN_ISSUES:
        few.append(f"{issues:,} of {MIN_ISSUES:,} required issues")
    if detector in CAN_DELETE and score.negatives < MIN_NEGATIVES:
        few.append(f"{score.negatives:,} of {MIN_NEGATIVES:,} required negatives")
    return few + [
        f"{row.outcomes.total()} of {MIN_PER_CONTROL} required resources of the control {name}"
        for name, row in score.rows.items()
        if not row.issue and row.outcomes.total() < MIN_PER_CONTROL
    ]


def tables(scores: dict[str, Score], seeds: Sequence[int]) -> str:
    """Return the confusion table and its scenarios, in Markdown."""
    text = f"Seeds {min(seeds)} to {max(seeds)}.\n\n" + _heads(
        "Detector", "Issues", "Innocents", "Found", "Missed", "False alarms", "Precision", "Recall", "Unknown"
    )
    for detector, score in sorted(scores.items()):
        text += _line(
            f"[`{detector}`](detectors/{detector}.md)",
            *(
                f"{n:,}"
                for n in (score.found + score.missed, score.negatives, score.found, score.missed, score.false_alarms)
            ),
            f"{score.precision:.3f}",
            f"{score.recall:.3f}",
            f"{score.unknown:.1%}",
        )
    missed = misses(scores, whole=seeds == SEEDS["report"])
    text += "\n" + (
        "Every target is met.\n" if not missed else "Missed targets:\n\n" + "".join(f"- {one}\n" for one in missed)
    )
    text += "\n" + _heads("Detector", "Scenario", "What it is", "Should be", "Flagged", "Silent", "Unknown")
    for detector, score in sorted(scores.items()):
        for name, row in sorted(
            score.rows.items(), key=lambda item: (not item[1].issue, not item[1].full_data, item[0])
        ):
            should = "flagged" if row.issue else "silent" if row.full_data else "silent or unknown"
            counts = (f"{row.outcomes[verdict]:,}" for verdict in get_args(Outcome.__value__))
            text += _line(f"`{detector}`", name, row.story, should, *counts)
    return text


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _heads(*names: str) -> str:
    return _line(*names) + "|-" * len(names) + "|\n"


def fleet(seed: int, options: Sequence[str]) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Return the seed, its ground truth and its scan document."""
    drawn = ("--fleet", "labelled", "--seed", str(seed), *options)
    with tempfile.TemporaryDirectory() as folder, simulator(*drawn) as account:
        document, *_ = scan(account, Path(folder), POLICY)
        with urllib.request.urlopen(f"{account['url']}/_simulator/truth") as answer:
            truth = json.load(answer)
    if not document["scan"]["complete"]:
        raise SystemExit(f"the scan of seed {seed} is incomplete: {document['scan']['gaps']}")
    return seed, truth, document


def measured(seeds: Sequence[int], options: Sequence[str]) -> tuple[dict[str, Score], list[Wrong]]:
    """Return the scores and errors over all seeds. Two fleets run at a time; progress goes to standard error."""
    scores: dict[str, Score] = {}
    wrong: list[Wrong] = []
    with ThreadPoolExecutor(2) as pool:
        for done, (seed, truth, document) in enumerate(pool.map(lambda seed: fleet(seed, options), seeds), 1):
            wrong += count(scores, seed, truth, document)
            sys.stderr.write(f"{done} of {len(seeds)} fleets, {len(wrong)} wrong\n")
    return scores, wrong


def seeds_of(text: str) -> range:
    """Parse `tune`, `report`, or a range such as `1-3`."""
    if text in SEEDS:
        return SEEDS[text]
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def wrong_lines(wrong: Iterable[Wrong]) -> str:
    """Return a line for each misjudged resource."""
    return "".join(
        f"{one.detector}: {one.what}: {one.resource_id} ({one.scenario}, seed {one.seed})\n" for one in wrong
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seeds", type=seeds_of, default=SEEDS["tune"], help="tune (1-10), report (101-135), or a range such as 1-3"
    )
    parser.add_argument("--fleet", default="", help="options of the labelled fleet, such as '--issues 5 --controls 1'")
    parser.add_argument("--write", type=Path, help="a file with score markers")
    options = parser.parse_args()
    scores, wrong = measured(options.seeds, options.fleet.split())
    table = tables(scores, options.seeds)
    sys.stdout.write(table + "\n" + wrong_lines(wrong))
    if options.write:
        write_between(options.write, BEGIN, END, table)
    return 1 if misses(scores, whole=options.seeds == SEEDS["report"]) else 0


if __name__ == "__main__":
    sys.exit(main())
