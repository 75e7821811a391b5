"""The order of findings, and their totals."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from slackwater.model.findings import Finding
from slackwater.model.tracking import FindingRecord
from slackwater.model.verdicts import Severity

SEVERITIES: Final[tuple[Severity, ...]] = ("high", "medium", "low", "info")


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, most severe first."""
    return sorted(findings, key=rank)


def rank(one: Finding | FindingRecord) -> tuple[int, Decimal, str, str]:
    """Return the sort key: severity, then savings, then id, so that two scans have the same order."""
    return SEVERITIES.index(one.severity), -(one.monthly_savings_usd or Decimal(0)), one.detector, one.id


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of findings. A resource counts once, with its recommendation that saves most."""

    findings: int
    monthly_savings_usd: Decimal
    unpriced: int


def totals(findings: Iterable[Finding]) -> Totals:
    """Sum the best savings of each resource. Resources without any known savings count as unpriced."""
    by_resource: defaultdict[str, list[Decimal | None]] = defaultdict(list)
    count = 0
    for finding in findings:
        count += 1
        by_resource[finding.resource.arn] += [
            r.monthly_savings_usd for r in finding.recommendations if r.advice.changes != ()
        ]
    best = [max((s for s in savings if s is not None), default=None) for savings in by_resource.values()]
    saved = sum((max(b, Decimal(0)) for b in best if b is not None), Decimal(0))
    return Totals(count, saved, sum(set(savings) == {None} for savings in by_resource.values()))
