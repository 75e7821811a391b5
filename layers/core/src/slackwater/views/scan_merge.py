"""One scan document out of those of its targets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from slackwater.model.rank import SEVERITIES
from slackwater.views.document import (
    SCHEMA,
    FindingDocument,
    GapDocument,
    ScanDocument,
    SomeTotals,
    TotalsDocument,
    UsageDocument,
)


def merged(parts: Sequence[ScanDocument]) -> ScanDocument:
    """The document of a whole audit. The parts, one or more, are its own, and no two of the same target: so totals add up."""
    heads = [part["scan"] for part in parts]
    return {
        "schema": SCHEMA,
        "scan": {
            **heads[0],
            "started_at": min((head["started_at"] for head in heads), key=datetime.fromisoformat),
            "finished_at": max((head["finished_at"] for head in heads), key=datetime.fromisoformat),
            "complete": all(head["complete"] for head in heads),
            "targets": [target for head in heads for target in head["targets"]],
            "gaps": sorted((gap for head in heads for gap in head["gaps"]), key=_gap_order),
            "resources": dict(sorted(_counted(head["resources"] for head in heads).items())),
            "usage": _usage([head["usage"] for head in heads]),
        },
        "findings": sorted((finding for part in parts for finding in part["findings"]), key=_rank),
        "unknown": [unknown for part in parts for unknown in part["unknown"]],
        "unlisted": [unlisted for part in parts for unlisted in part["unlisted"]],
        "totals": _totals([part["totals"] for part in parts]),
    }


def _usage(usages: Sequence[UsageDocument]) -> UsageDocument:
    return {
        "api_calls": dict(sorted(_counted(usage["api_calls"] for usage in usages).items())),
        "metrics_requested": sum(usage["metrics_requested"] for usage in usages),
        "datapoints": sum(usage["datapoints"] for usage in usages),
        "estimated_usd": f"{sum((Decimal(usage['estimated_usd']) for usage in usages), Decimal(0)).normalize():f}",
    }


def _totals(totals: Sequence[TotalsDocument]) -> TotalsDocument:
    return {
        **_sum(totals),
        "kept": sum(total["kept"] for total in totals),
        "below_minimum": sum(total["below_minimum"] for total in totals),
        "by_detector": _by(total["by_detector"] for total in totals),
        "by_kind": _by(total["by_kind"] for total in totals),
        "by_account": _by(total.get("by_account", {}) for total in totals),
        "by_owner": _by(total.get("by_owner", {}) for total in totals),
    }


def _by[K: str](parts: Iterable[Mapping[K, SomeTotals]]) -> dict[K, SomeTotals]:
    some: defaultdict[K, list[SomeTotals]] = defaultdict(list)
    for part in parts:
        for key, of_key in part.items():
            some[key].append(of_key)
    return {key: _sum(of_key) for key, of_key in sorted(some.items())}


def _sum(totals: Iterable[SomeTotals]) -> SomeTotals:
    some = list(totals)
    return {
        "findings": sum(total["findings"] for total in some),
        "monthly_savings_usd": f"{sum((Decimal(total['monthly_savings_usd']) for total in some), Decimal(0)):.2f}",
        "unpriced": sum(total["unpriced"] for total in some),
    }


def _counted(counts: Iterable[dict[str, int]]) -> Counter[str]:
    return sum(map(Counter, counts), Counter[str]())


def _gap_order(gap: GapDocument) -> tuple[str, str, str, str, bool]:
    return gap["account"], gap["region"], gap["what"], gap["reason"], gap["optional"]


def _rank(finding: FindingDocument) -> tuple[int, Decimal, str, str]:
    """As `rank.ranked` does."""
    saving = Decimal(finding["monthly_savings_usd"] or 0)
    return SEVERITIES.index(finding["severity"]), -saving, finding["detector"], finding["id"]
