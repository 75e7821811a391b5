"""Savings of a selection of findings, by the same rule as a document's totals.

Each resource counts once, with the option that saves most.
"""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from slackwater.views.scan.document import FindingDocument

type Ways = tuple[str, Iterable[str | Decimal | None]]
"""A resource's ARN, and what each option of a finding about it saves: US dollars a month, None if unknown."""


def ways(finding: FindingDocument) -> Ways:
    """Return what each recommendation of a finding saves, with the resource's ARN."""
    return finding["resource"]["arn"], [to_do["monthly_savings_usd"] for to_do in finding["recommendations"]]


def total_savings(found: Iterable[Ways]) -> tuple[Decimal, int]:
    """Add up the best saving of each resource. Options that cost money are not subtracted: nobody has to use them.

    Returns:
        US dollars a month, and the number of resources whose saving is unknown.
    """
    by_resource: defaultdict[str, list[Decimal | None]] = defaultdict(list)
    for arn, savings in found:
        by_resource[arn] += [None if usd is None else Decimal(usd) for usd in savings]
    saved, unpriced = Decimal(0), 0
    for each in by_resource.values():
        known = [usd for usd in each if usd]  # a free option, such as asking the owner, does not make the saving known
        saved += max((Decimal(0), *known))
        unpriced += not known and None in each
    return saved, unpriced
