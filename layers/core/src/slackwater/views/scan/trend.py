"""Changes of findings and savings since earlier audits of the same scope."""

from datetime import UTC, datetime
from decimal import Decimal

from slackwater.views.scan.document import ScanDocument, TrendPointDocument
from slackwater.views.text.words import count


def points(doc: ScanDocument) -> list[TrendPointDocument]:
    """Return the earlier audits, the oldest first, then this one; empty if there is no earlier audit."""
    head, totals = doc["scan"], doc["totals"]
    before = head.get("trend", [])
    this: TrendPointDocument = {
        "audit_id": head["id"],
        "as_of": head.get("as_of", head["finished_at"]),
        "complete": head["complete"],
        "findings": totals["findings"],
        "monthly_savings_usd": totals["monthly_savings_usd"],
    }
    return [*before, this] if before else []


def since(before: TrendPointDocument, this: TrendPointDocument) -> str:
    """Return `Since the audit of 2026-11-09: +3 findings, −120.00 USD a month`, and which of the two is incomplete."""
    findings = this["findings"] - before["findings"]
    usd = Decimal(this["monthly_savings_usd"]) - Decimal(before["monthly_savings_usd"])
    changes = [
        *([f"{_sign(findings)}{count(abs(findings), 'finding')}"] if findings else []),
        *([f"{_sign(usd)}{abs(usd):,.2f} USD a month"] if usd else []),
    ]
    blind = {
        (False, False): "neither saw everything",
        (False, True): "which was incomplete",
        (True, False): "this one is incomplete",
    }
    note = blind.get((before["complete"], this["complete"]))
    text = ", ".join(changes) or "as many findings, worth the same"
    return f"Since the audit of {day(before)}: {text}{f' ({note})' if note else ''}"


def day(point: TrendPointDocument) -> str:
    """Return the day of an audit in UTC, such as `2026-11-09`."""
    return f"{datetime.fromisoformat(point['as_of']).astimezone(UTC):%Y-%m-%d}"


def _sign(change: int | Decimal) -> str:
    return "+" if change > 0 else "\u2212"
