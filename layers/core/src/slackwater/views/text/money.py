"""Amounts of money for people."""

from decimal import Decimal
from typing import Final

WHOLE_FROM: Final = 10
"""US dollars from which cents do not matter."""
CENT: Final = Decimal("0.01")


def dollars(usd: Decimal) -> str:
    """Format an amount: `$9,615`, or `$2.74` below ten dollars."""
    return f"${usd:,.0f}" if abs(usd) >= WHOLE_FROM or not usd % 1 else f"${usd:,.2f}"


def charges(usd: str) -> str:
    """Format what AWS charges for a scan: `$0.73`, or `under $0.01`."""
    amount = Decimal(usd)
    return f"${amount:,.2f}" if amount >= CENT or not amount else "under $0.01"


def effect(usd: str | None) -> str:
    """Return what a fix does to the monthly bill, from its `monthly_savings_usd`; None is unknown.

    Examples are `saves $1,001/mo`, `fix: +$352/mo` and `fix: free`.
    """
    if usd is None:
        return "saving unknown"
    amount = Decimal(usd)
    if not amount:
        return "fix: free"
    return f"saves {dollars(amount)}/mo" if amount > 0 else f"fix: +{dollars(-amount)}/mo"
