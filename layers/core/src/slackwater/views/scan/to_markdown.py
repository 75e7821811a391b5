"""A scan as Markdown: for a ticket, a pull request or a wiki."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from slackwater.model.findings import Scan
from slackwater.views.scan.document import (
    FindingDocument,
    GapDocument,
    PriceBasisDocument,
    RecommendationDocument,
    ScanDocument,
    UnknownDocument,
)
from slackwater.views.scan.to_json import document
from slackwater.views.text.markdown import fenced, section, table, text
from slackwater.views.text.money import effect
from slackwater.views.text.sparkline import sparkline
from slackwater.views.text.words import (
    completeness,
    count,
    evidence_text,
    facts,
    gaps_title,
    headline,
    named,
    not_read,
    reasons,
    scale,
    undo,
)

SPARKLINE_WIDTH: Final = 60
A_YEAR: Final = re.compile(r"\b20\d\d\b")


def render(scan: Scan) -> str:
    """Render the headline, the failed calls, a table of the findings, then each finding with its evidence."""
    return render_document(document(scan))


def render_document(doc: ScanDocument) -> str:
    """Render a document. If it has only the most severe findings, the text says how many there are in total."""
    lines = [f"# {text(headline(doc))}", "", *(f"- {text(fact)}" for fact in (completeness(doc), *facts(doc)))]
    if gaps := not_read(doc):
        lines += _gaps(gaps, gaps_title(doc))
    if findings := doc["findings"]:
        lines += _findings(findings, doc["totals"]["findings"])
    if unknown := doc["unknown"]:
        lines += _unknown(unknown)
    return "\n".join(lines) + "\n"


def _gaps(gaps: Iterable[GapDocument], title: str) -> Iterator[str]:
    yield from section(title)
    yield from table(
        ("What", "Account", "Region", "Reason", "Required"),
        (
            (
                text(g["what"]),
                text(g["account"]),
                text(g["region"]),
                text(g["reason"]),
                "no" if g["optional"] else "**yes**",
            )
            for g in gaps
        ),
    )


def _findings(findings: Sequence[FindingDocument], of_all: int) -> Iterator[str]:
    yield from section(count(of_all, "finding"))
    if len(findings) < of_all:
        yield f"These are the {len(findings):,} most severe. The scan as JSON or CSV has all."
        yield ""
    yield from table(
        ("Severity", "Detector", "Resource", "USD a month", "What"),
        (
            (
                f["severity"],
                f["detector"],
                text(named(f["resource"])),
                f["monthly_savings_usd"] or "unknown",
                text(f["summary"]),
            )
            for f in findings
        ),
        right=("USD a month",),
    )
    for finding in findings:
        yield from _finding(finding)


def _finding(finding: FindingDocument) -> Iterator[str]:
    resource = finding["resource"]
    yield from section(f"{finding['severity']}: {finding['detector']}: {text(named(resource))}", level=3)
    yield text(finding["summary"])
    yield ""
    yield f"- {finding['kind']}, confidence {finding['confidence']}, {text(effect(finding['monthly_savings_usd']))}"
    if finding["owner"]:
        yield f"- owner {text(finding['owner'])}"
    yield f"- {text(resource['region'])}, account {text(resource['account'])}, {text(resource['arn'])}"
    for evidence in finding["evidence"]:
        yield f"- {text(evidence['label'])}: {text(evidence_text(evidence))}"
        if series := evidence.get("series"):
            how = f" ({text(scale(evidence))})" if scale(evidence) else ""
            yield f"  `{sparkline(series['values'], SPARKLINE_WIDTH, evidence.get('scale'))}`{how}"
    for number, to_do in enumerate(finding["recommendations"], start=1):
        yield from _recommendation(number, to_do)
    yield from section("Caveats", level=4) if finding["caveats"] else ()
    yield from (f"- {text(caveat)}" for caveat in finding["caveats"])
    yield from section("Prices", level=4) if finding["price_basis"] else ()
    yield from (f"- {text(_price(basis))}" for basis in finding["price_basis"])


def _recommendation(number: int, to_do: RecommendationDocument) -> Iterator[str]:
    yield ""
    yield f"{number}. {text(to_do['summary'])} ({text(effect(to_do['monthly_savings_usd']))}; {undo(to_do)})"
    yield ""
    yield f"   {text(to_do['risk'])}"
    if command := to_do.get("command"):
        yield ""
        yield from (f"   {line}" for line in fenced(command, "sh"))


def _price(basis: PriceBasisDocument) -> str:
    dated = "" if A_YEAR.search(basis["source"]) else f", {basis['as_of']}"  # many sources contain a date already
    return f"{basis['item']}: {basis['usd']} USD per {basis['unit']} ({basis['source']}{dated})"


def _unknown(unknown: Sequence[UnknownDocument]) -> Iterator[str]:
    yield from section(count(len(unknown), "inconclusive check"))
    yield from table(
        ("Detector", "Reason", "Count", "Examples"),
        ((r.detector, text(r.reason), f"{r.count:,}", text(", ".join(r.examples))) for r in reasons(unknown)),
        right=("Count",),
    )
