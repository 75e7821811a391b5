"""Wording that all views for people share."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Final

from slackwater.model.audits import Allowance
from slackwater.model.findings import HELD_BACK, REGION_DISABLED
from slackwater.model.verdicts import FindingKind
from slackwater.views.scan.document import (
    EvidenceDocument,
    GapDocument,
    RecommendationDocument,
    ResourceDocument,
    ScanDocument,
    SomeTotals,
    UnknownDocument,
    UnlistedDocument,
)
from slackwater.views.text.money import charges, dollars
from slackwater.views.text.one_line import one_line
from slackwater.views.text.sparkline import is_logarithmic

EXAMPLES: Final = 3
NOUNS: Final = {
    "ebs-volume": "EBS volume",
    "ec2-instance": "EC2 instance",
    "efs-file-system": "EFS file system",
    "fsx-file-system": "FSx file system",
    "fsx-volume": "FSx volume",
}
"""Nouns for types of resources."""
BYTES: Final = {1 << 40: "TiB", 1 << 30: "GiB", 1 << 20: "MiB", 1 << 10: "KiB"}
DELETIONS: Final = {
    "back-up-and-delete",
    "image-and-terminate",
    "keep-as-archived-snapshot",
    "keep-as-snapshot",
    "snapshot-and-delete",
}
"""Actions that back up, wait for the backup, and delete. Their command only backs up: people delete."""


def measure(value: float | str, unit: str) -> str:
    """Format a value of evidence: `1,024 GiB`, `7.9 MB/s`, `12.5 %`. Bytes get the binary unit that fits."""
    if isinstance(value, str):
        return value
    if unit == "bytes":
        scale = next((scale for scale in BYTES if abs(value) >= scale), 1)
        value, unit = value / scale, BYTES.get(scale, unit)
    return f"{number(value)} {'' if unit == 'count' else unit.replace('percent', '%')}".rstrip()


def evidence_text(fact: EvidenceDocument) -> str:
    """Format the value of a fact. If its series has no data, say so instead of the detector's value."""
    if (series := fact.get("series")) and all(value is None for value in series["values"]):
        return "no data published"
    return measure(fact["value"], fact["unit"])


def scale(fact: EvidenceDocument) -> str:
    """Return how to read the chart of a fact's series, and the levels to compare it with.

    Empty if the chart goes from zero to the peak and has no levels.
    """
    top, series, how = fact.get("scale"), fact.get("series"), list[str]()
    if top is not None:
        how.append(f"full bar {measure(top, fact['unit'])}")
    elif series and is_logarithmic(series["values"]):
        how.append("logarithmic")
    how += [
        f"{line['label']} {measure(line['value'], fact['unit'])}"
        for line in fact.get("lines", ())
        if line["value"] != top
    ]
    return "; ".join(how)


def number(value: float) -> str:
    """Format a number: whole from 1,000 up, with thousands separators, else with up to four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1_000 or value == int(value) else f"{value:.4g}"


ISSUE_NOUNS: Final[dict[FindingKind, str]] = {"performance": "performance issue", "risk": "risk"}
"""What a finding is called that is not waste."""


def count(how_many: int, noun: str) -> str:
    """Return a number with its noun: `1 finding`, `1,234 findings`."""
    return f"{how_many:,} {noun}{'' if how_many == 1 else 's'}"


def only_backs_up(to_do: RecommendationDocument) -> bool:
    """Return whether the recommendation is a deletion whose command only backs up."""
    return "command" in to_do and to_do["action"] in DELETIONS


def undo(to_do: RecommendationDocument) -> str:
    """Return whether and how a recommendation can be undone."""
    if not to_do["reversible"]:
        return "cannot be undone"
    if to_do["action"] in DELETIONS:
        return f"can be undone from the {'image' if to_do['action'] == 'image-and-terminate' else 'backup'}"
    by_hand = to_do["action"].startswith("move-to-") and "command" not in to_do
    return "can be undone by copying back" if by_hand else "can be undone"


def saving(usd: str | None) -> str:
    """Return what a recommendation does to the bill, from its `monthly_savings_usd`; None is unknown."""
    if usd is None:
        return "saving unknown"
    amount = Decimal(usd)
    if not amount:
        return "costs nothing"
    return f"+${-amount:,.2f} a month" if amount < 0 else f"saves ${amount:,.2f} a month"


def headline(doc: ScanDocument) -> str:
    """Return the savings from waste, and how much else was found. An incomplete scan says so first."""
    by_kind = doc["totals"]["by_kind"]
    found = [_waste(by_kind["waste"], doc["totals"].get("high_confidence_usd"))] if "waste" in by_kind else []
    found += [count(by_kind[kind]["findings"], noun) for kind, noun in ISSUE_NOUNS.items() if kind in by_kind]
    if all_disabled(doc):
        return "Unknown: a service control policy disables every region in this scan."
    if doc["scan"]["complete"]:
        undecided = (
            f"No findings, but {inconclusive(len(doc['unknown']))}"
            if doc["unknown"]
            else f"Nothing found in {_resources(doc)}"
        )
        return f"{'; '.join(found) or undecided}."
    return f"INCOMPLETE: {'at least ' if found else 'nothing can be said'}{'; '.join(found)}; {missing(doc)}."


def missing(doc: ScanDocument) -> str:
    """Return how many required calls failed, and whether the ceiling on metrics was reached.

    Calls that the ceiling held back do not count as failed.
    """
    reasons = [gap["reason"] for gap in doc["scan"]["gaps"] if not gap["optional"]]
    failed, reached = sum(not is_held_back(reason) for reason in reasons), ceiling(reasons)
    calls = f"{count(failed, 'required call')} failed" if failed or not reached else ""
    return ", and ".join(filter(None, (calls, reached)))


def is_held_back(reason: str) -> bool:
    """Return whether the call was not made because it would have exceeded the ceiling on metrics."""
    return HELD_BACK.search(reason) is not None


def ceiling(reasons: Iterable[str]) -> str:
    """Say that the ceiling on metrics is reached, what it is, and how to raise it.

    Empty if none of the reasons is the ceiling.
    """
    reached = next(filter(None, map(HELD_BACK.search, reasons)), None)
    if reached is None:
        return ""
    each = " a day" if reached["key"].endswith("_per_day") else ""
    share = "an account's share of " if reached["kept"] else ""
    return (
        f"{share}the ceiling of {reached['most']} USD{each} on metrics is reached ({reached['key']} in the policy "
        "raises it)"
    )


def allowance(left: Allowance) -> str:
    """Return what audits may still do today: `46.79 of 50.00 USD for metrics; 1 of 3 audits is running`."""
    running, most = len(left.running), count(left.most_running, "audit")
    cents = left.left_usd.quantize(Decimal("0.01"), ROUND_DOWN)
    return (
        f"{cents:,} of {left.most_usd:,.2f} USD for metrics; {running:,} of {most} {'is' if running == 1 else 'are'} "
        "running"
    )


def all_disabled(doc: ScanDocument) -> bool:
    """Return whether a service control policy disables every region, so that the scan read nothing."""
    targets = doc["scan"]["targets"]
    return bool(targets) and all("closed" in target for target in targets)


def _waste(totals: SomeTotals, high_confidence_usd: str | None) -> str:
    """Return what the waste costs: `$9,615 a month ($6,391 with high confidence) in 42 findings`."""
    findings, usd = count(totals["findings"], "finding"), Decimal(totals["monthly_savings_usd"])
    if not usd and totals["unpriced"]:
        return f"{findings} of waste, saving unknown"
    sure = f" ({dollars(Decimal(high_confidence_usd))} with high confidence)" if high_confidence_usd else ""
    unpriced = f", {totals['unpriced']:,} without a known price" if totals["unpriced"] else ""
    return f"{dollars(usd)} a month{sure} in {findings}{unpriced}"


def completeness(doc: ScanDocument) -> str:
    """Return whether a required call failed. If one did, also how many checks are inconclusive."""
    if all_disabled(doc):
        return "A service control policy disables every region in this scan. Nothing was read."
    if doc["scan"]["complete"]:
        but = ", except for disabled regions" if any("closed" in target for target in doc["scan"]["targets"]) else ""
        return f"Scan complete{but}: every required AWS call succeeded."
    return f"The failed calls are listed. {inconclusive(len(doc['unknown']))}."


def inconclusive(checks: int) -> str:
    """Return a sentence's start: `1 check is inconclusive`."""
    return f"{count(checks, 'check')} {'is' if checks == 1 else 'are'} inconclusive"


def _resources(doc: ScanDocument) -> str:
    kinds = doc["scan"]["resources"].items()
    return ", ".join(count(many, NOUNS.get(kind, kind)) for kind, many in kinds) or "no resources"


def facts(doc: ScanDocument) -> list[str]:
    """Return a sentence each on what was scanned, what was flagged but suppressed, and what the scan cost."""
    head, totals, usage = doc["scan"], doc["totals"], doc["scan"]["usage"]
    regions: defaultdict[str, list[str]] = defaultdict(list)
    for target in head["targets"]:
        if "closed" not in target:
            regions[target["account"]].append(target["region"])
    where = "; ".join(f"{', '.join(names)} of account {account}" for account, names in regions.items()) or "no region"
    left_out = {"kept by their tags": totals["kept"], "below the least saving worth reporting": totals["below_minimum"]}
    unlisted = ", ".join(f"{many:,} {why}" for why, many in left_out.items() if many)
    requests, metrics = count(sum(usage["api_calls"].values()), "request"), count(usage["metrics_requested"], "metric")
    return [
        f"Looked at {_resources(doc)} in {where}.",
        *disabled_regions((target["account"], target["region"]) for target in head["targets"] if "closed" in target),
        *(["Prices: packaged snapshot, not live."] if _from_snapshot(doc) else []),
        *([f"Flagged but not listed: {unlisted}."] if unlisted else []),
        f"This scan sent {requests} to AWS and asked for {metrics}. AWS charges: {charges(usage['estimated_usd'])}.",
    ]


def _from_snapshot(doc: ScanDocument) -> bool:
    return any(
        basis["source"].startswith("snapshot") for finding in doc["findings"] for basis in finding["price_basis"]
    )


def disabled_regions(targets: Iterable[tuple[str, str]]) -> list[str]:
    """Return sentences on disabled regions. Regions that are disabled in the same accounts share a sentence.

    `targets` are pairs of account and region.
    """
    accounts: defaultdict[str, set[str]] = defaultdict(set)
    for account, region in targets:
        accounts[region].add(account)
    regions: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for region, where in sorted(accounts.items()):
        regions[frozenset(where)].append(region)
    return [
        f"A service control policy disables {', '.join(names)} in "
        f"{count(len(where), 'account') if len(where) > 1 else f'account {min(where)}'}: Slackwater read nothing there."
        for where, names in sorted(regions.items(), key=lambda one: (-len(one[0]), one[1]))
    ]


def not_read(doc: ScanDocument) -> list[GapDocument]:
    """Return the gaps to list one by one. Gaps of disabled regions are left out: the targets' `closed` says them."""
    return [gap for gap in doc["scan"]["gaps"] if gap["what"] != REGION_DISABLED]


def gap_sentences(doc: ScanDocument) -> list[str]:
    """Return a line for each gap to list. Optional ones are labelled, unless `gaps_title` says that all are."""
    mark = "" if doc["scan"]["complete"] else " (optional)"
    return [
        one_line(f"{gap['region']}: {gap['what']}{mark if gap['optional'] else ''}: {gap['reason']}")
        for gap in not_read(doc)
    ]


def gaps_title(doc: ScanDocument) -> str:
    """Return a title for the failed calls, in capitals if a required one failed."""
    if doc["scan"]["complete"]:
        return "Optional calls that failed"
    return "INCOMPLETE: these calls failed"


def named(resource: ResourceDocument) -> str:
    """Return a resource as `name (id)`, or its id alone if it has no name."""
    return resource["id"] if resource["name"] == resource["id"] else f"{resource['name']} ({resource['id']})"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a detector listed no finding, how often, and the names of the first resources."""

    detector: str
    reason: str
    count: int
    examples: tuple[str, ...]


def reasons(questions: Iterable[UnknownDocument | UnlistedDocument], examples: int = EXAMPLES) -> list[Reason]:
    """Group inconclusive checks or suppressed findings by detector and reason, the most frequent first."""
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    many = Counter[tuple[str, str]]()
    for question in questions:
        about = question["detector"], question["reason"]
        many[about] += 1
        if many[about] <= examples:
            names[about].append(question["resource"]["name"])
    grouped = (Reason(id_, why, many[id_, why], tuple(who)) for (id_, why), who in names.items())
    return sorted(grouped, key=lambda reason: (-reason.count, reason.detector, reason.reason))
