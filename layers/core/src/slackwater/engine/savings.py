"""Calculates what clean-ups really save, and what their findings promised."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from slackwater.model.cleanup import Cleanup


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """Sums over all clean-ups that are done or undone.

    Attributes:
        promised_monthly_usd: What the findings promised, in USD a month.
        realised_monthly_usd: What later audits confirm, less the costs of backups.
        unknown: How many clean-ups have unknown savings.
    """

    promised_monthly_usd: Decimal
    realised_monthly_usd: Decimal
    unknown: int


def realised(cleanup: Cleanup, now: datetime) -> Decimal | None:
    """Return what a clean-up really saves, in USD a month; None if unknown.

    That is its promise, less what later audits still find, less the costs of its backups while they are kept. A
    clean-up that was undone or cancelled saves nothing. The savings are unknown if it has not ended, it failed, no
    complete audit has run since, or a price is missing.
    """
    if cleanup.stage in {"undone", "called-off"}:
        return Decimal(0)
    left = cleanup.observed.left_monthly_usd if cleanup.observed else None
    backup = backup_cost(cleanup, now)
    if cleanup.stage != "done" or cleanup.promised_monthly_usd is None or left is None or backup is None:
        return None
    return cleanup.promised_monthly_usd - left - backup


def backup_cost(cleanup: Cleanup, now: datetime) -> Decimal | None:
    """Return what its backups cost now, in USD a month: zero if none is kept, None if the price is unknown."""
    kept = [
        one
        for one in cleanup.backups
        if one.state in {"complete", "verified"} and not one.gone_at and now < one.expires_at
    ]
    return cleanup.backup_monthly_usd if kept else Decimal(0)


def savings(cleanups: Iterable[Cleanup], now: datetime) -> Savings:
    """Return the sums of all clean-ups.

    A clean-up without a price counts in neither sum. One that no audit has observed yet counts only in the first. Both
    count as unknown.
    """
    ended = [one for one in cleanups if one.stage in {"done", "undone"} and not one.adopted]
    promised = [one.promised_monthly_usd for one in ended]
    really = [realised(one, now) for one in ended]
    return Savings(
        promised_monthly_usd=sum((usd for usd in promised if usd is not None), Decimal(0)),
        realised_monthly_usd=sum((usd for usd in really if usd is not None), Decimal(0)),
        unknown=sum(usd is None for usd in really),
    )
