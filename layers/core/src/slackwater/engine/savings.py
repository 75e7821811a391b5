"""What clean-ups really save, beside what they promised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from slackwater.model.cleanup import Cleanup


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """Sums of what has ended done or undone, in USD a month. `unknown` counts those of which nobody knows what they save."""

    promised_monthly_usd: Decimal
    realised_monthly_usd: Decimal
    unknown: int


def realised(cleanup: Cleanup, now: datetime) -> Decimal | None:
    """What it saves a month, as the audits after it show, less what its backups cost while they are kept.

    None is unknown: it has not ended, it failed, no whole audit has looked since, or a price is missing. What was undone or
    called off saves nothing.
    """
    if cleanup.stage in {"undone", "called-off"}:
        return Decimal(0)
    left = cleanup.observed.left_monthly_usd if cleanup.observed else None
    backup = backup_cost(cleanup, now)
    if cleanup.stage != "done" or cleanup.promised_monthly_usd is None or left is None or backup is None:
        return None
    return cleanup.promised_monthly_usd - left - backup


def backup_cost(cleanup: Cleanup, now: datetime) -> Decimal | None:
    """What its backups cost a month now: nothing where there are none, or none is kept any more; None is unknown."""
    kept = [
        one for one in cleanup.backups if one.state in {"complete", "verified"} and not one.gone_at and now < one.expires_at
    ]
    return cleanup.backup_monthly_usd if kept else Decimal(0)


def savings(cleanups: Iterable[Cleanup], now: datetime) -> Savings:
    """Their sums. What is not priced is in neither, what is not yet observed in the first only; both are counted."""
    ended = [one for one in cleanups if one.stage in {"done", "undone"} and not one.adopted]
    promised = [one.promised_monthly_usd for one in ended]
    really = [realised(one, now) for one in ended]
    return Savings(
        promised_monthly_usd=sum((usd for usd in promised if usd is not None), Decimal(0)),
        realised_monthly_usd=sum((usd for usd in really if usd is not None), Decimal(0)),
        unknown=sum(usd is None for usd in really),
    )
