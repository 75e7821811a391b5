"""Chooses which findings a terminal shows, and in which order."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slackwater.views.scan.document import FindingDocument

WASTE_SHARE: Final = 0.6
"""Share of waste in the findings shown, if there are more than fit.

Savings are the reason to look, but they must not hide an outage.
"""


def by_money(findings: Sequence[FindingDocument]) -> list[FindingDocument]:
    """Return the waste, the largest saving first and unknown savings last."""
    waste = [finding for finding in findings if finding["kind"] == "waste"]
    return sorted(waste, key=lambda f: Decimal(f["monthly_savings_usd"] or "-Infinity"), reverse=True)


def chosen(findings: Sequence[FindingDocument], top: int) -> tuple[list[FindingDocument], list[FindingDocument]]:
    """Return `top` findings (0: all): waste by saving, and the others by rank.

    Each fills the places that the other leaves.
    """
    waste, others = by_money(findings), [finding for finding in findings if finding["kind"] != "waste"]
    if not top:
        return waste, others
    of_waste = min(len(waste), max(round(top * WASTE_SHARE), top - len(others)))
    return waste[:of_waste], others[: top - of_waste]
