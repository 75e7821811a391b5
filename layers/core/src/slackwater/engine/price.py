"""Prices flagged resources: physical units times unit prices. An unknown price stays unknown; it is never zero."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from slackwater.engine.evaluation import FlaggedResource
from slackwater.model.findings import Finding, PriceBasis, Recommendation
from slackwater.model.money import PriceItem, PriceTable
from slackwater.model.verdicts import Advice, Severity

CENT: Final = Decimal("0.01")

WASTE_SEVERITY: Final[tuple[tuple[Decimal, Severity], ...]] = (
    (Decimal(100), "high"),  # about a working hour a month
    (Decimal(10), "medium"),
    (Decimal(0), "low"),
)
"""The severity of waste by its least USD a month. Waste of unknown price is medium, so that it is not overlooked."""


def items_of(flagged: Iterable[FlaggedResource]) -> set[PriceItem]:
    """Return every item whose price these findings need."""
    return {change.item for one in flagged for advice in one.verdict.advice for change in advice.changes or ()}


def price(flagged: FlaggedResource, table: PriceTable, owner: str | None = None) -> Finding:
    """Return the finding, with the savings of each recommendation.

    Args:
        flagged: The flagged resource.
        table: The prices of its region.
        owner: The resource's owner; None if unknown.
    """
    verdict, resource, detector_id = flagged.verdict, flagged.resource, flagged.enabled.id
    recommendations = tuple(Recommendation(advice=a, monthly_savings_usd=savings(a, table)) for a in verdict.advice)
    if verdict.cheapest_first:
        recommendations = tuple(sorted(recommendations, key=_most_saved))
    # Slackwater itself may only apply the first recommendation, because the finding promises its savings.
    recommendations = (*recommendations[:1], *map(_by_people, recommendations[1:]))
    basis = tuple(PriceBasis(item, table[item]) for item in sorted(items_of([flagged])) if item in table)
    finding_id = _digest(resource.target.account, resource.target.region, detector_id, resource.id)
    first = recommendations[0].monthly_savings_usd if recommendations else Decimal(0)
    return Finding(
        id=finding_id,
        detector=detector_id,
        kind=flagged.kind,
        severity=verdict.severity or waste_severity(first),
        confidence=verdict.confidence,
        resource=resource,
        owner=owner,
        summary=verdict.summary,
        evidence=verdict.evidence,
        recommendations=recommendations,
        price_basis=basis,
        caveats=(*verdict.caveats, *_without_price(recommendations[:1], table)),
        fingerprint=_digest(finding_id, *map(str, verdict.fingerprint_inputs)),
    )


def savings(advice: Advice, table: PriceTable) -> Decimal | None:
    """Return what an advice saves, in USD a month to the cent; negative if it costs more.

    None if the price of any part of it is unknown.
    """
    if advice.changes is None or any(change.item not in table for change in advice.changes):
        return None
    return sum((change.quantity * table[change.item].usd for change in advice.changes), Decimal(0)).quantize(CENT)


def _without_price(first: Iterable[Recommendation], table: PriceTable) -> Iterator[str]:
    """Yield a caveat with the savings of the first recommendation without the parts of unknown price."""
    for advice in (one.advice for one in first if one.monthly_savings_usd is None):
        changes = advice.changes or ()
        unknown = [change.item.id for change in changes if change.item not in table]
        known = [change for change in changes if change.item in table]
        if unknown:
            words = f"The saving is unknown: no price is known for {', '.join(unknown)}."
            part = sum((change.quantity * table[change.item].usd for change in known), Decimal(0)).quantize(CENT)
            yield f"{words} Without that, it is {part:,.2f} USD a month." if known else words


def _by_people(recommendation: Recommendation) -> Recommendation:
    """Return the recommendation without the setting that Slackwater could apply."""
    return replace(recommendation, advice=replace(recommendation.advice, setting=None))


def _most_saved(recommendation: Recommendation) -> Decimal:
    """Sort key: the largest savings first, unknown savings last."""
    saved = recommendation.monthly_savings_usd
    return Decimal("Infinity") if saved is None else -saved


def waste_severity(monthly_usd: Decimal | None) -> Severity:
    """Return the severity of waste that costs this many USD a month; None means unknown."""
    if monthly_usd is None:
        return "medium"
    return next((severity for usd, severity in WASTE_SEVERITY if monthly_usd >= usd), "info")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]
