"""What some of a document's findings come to, by the rule of its totals: a resource counts once, with the
best way out.
"""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from slackwater.views.scan.document import FindingDocument

type Ways = tuple[str, Iterable[str | Decimal | None]]
"""A resource's ARN, and what each way out of a finding about it saves: USD a month, None where nobody knows."""


def ways(finding: FindingDocument) -> Ways:
    """What each recommendation of a finding saves."""
    return finding["resource"]["arn"], [to_do["monthly_savings_usd"] for to_do in finding["recommendations"]]


def total_savings(found: Iterable[Ways]) -> tuple[Decimal, int]:
    """What the best way of each resource saves, USD a month in all, and of how many resources no saving is known.

    What costs is not subtracted, as nobody has to do it.
    """
    by_resource: defaultdict[str, list[Decimal | None]] = defaultdict(list)
    for arn, savings in found:
        by_resource[arn] += [None if usd is None else Decimal(usd) for usd in savings]
    saved, unpriced = Decimal(0), 0
    for each in by_resource.values():
        known = [usd for usd in each if usd]  # what costs nothing, such as to look first, is not its price
        saved += max((Decimal(0), *known))
        unpriced += not known and None in each
    return saved, unpriced
