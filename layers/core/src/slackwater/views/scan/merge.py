"""Merge the scan documents of targets, and of the chunks of large targets, into one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from slackwater.model.findings import HELD_BACK
from slackwater.model.rank import SEVERITIES
from slackwater.views.scan.document import (
    SCHEMA,
    FindingDocument,
    GapDocument,
    ScanDocument,
    ScanHead,
    SomeTotals,
    TargetDocument,
    UsageDocument,
)

PRICES: Final = "pricing:GetProducts"

TIMES: Final = re.compile(r"(?s)(.*) \((\d+) times\)")
"""A reason, and how often it occurred."""


def merged(parts: Sequence[ScanDocument]) -> ScanDocument:
    """Return the document of a whole audit.

    Args:
        parts: The documents of its targets or chunks, one or more. They do not overlap, so that totals add up.
    """
    merger = Merger()
    for part in parts:
        merger.add(part)
    return {
        **merger.head(),
        "findings": sorted((finding for part in parts for finding in part["findings"]), key=rank),
        "unknown": [unknown for part in parts for unknown in part["unknown"]],
        "unlisted": [unlisted for part in parts for unlisted in part["unlisted"]],
    }


class Merger:
    """Merges the documents of an audit one by one, without keeping the lists that grow with the findings."""

    def __init__(self) -> None:
        """Start without any document."""
        self._added = 0
        self._first: tuple[tuple[int, int], ScanHead] | None = None
        self._times = list[tuple[datetime, str]]()
        self._complete = True
        self._targets: dict[tuple[str, str], _Target] = {}
        self._gaps: Counter[tuple[str, str, str, str, bool]] = Counter()
        self._spent: dict[tuple[str, str, str, str, bool], tuple[Decimal, str]] = {}
        self._no_price = defaultdict[tuple[str, str, bool], dict[str, None]](dict)
        self._resources = Counter[str]()
        self._usage = _Usage()
        self._all, self._by = _Sum(), defaultdict[str, defaultdict[str, _Sum]](lambda: defaultdict(_Sum))
        self._counts = Counter[str]()
        self._sure_usd: Decimal | None = Decimal(0)

    def add(self, part: ScanDocument, place: int = 0) -> None:
        """Add a document. Targets, and the chunks of a target, are ordered by `place`, then by when they were added."""
        head, totals = part["scan"], part["totals"]
        self._added += 1
        order = place, self._added
        if self._first is None or order < self._first[0]:
            self._first = order, head
        started, finished = ((datetime.fromisoformat(at), at) for at in (head["started_at"], head["finished_at"]))
        self._times = [min([*self._times[:1], started]), max([*self._times[1:], finished])]
        self._complete &= head["complete"]
        for target in head["targets"]:
            known = self._targets.setdefault((target["account"], target["region"]), _Target(order, target))
            known.add(order, target, ended="more" not in head)
        self._add_gaps(head["gaps"])
        self._resources.update(head["resources"])
        self._usage.add(head["usage"])
        self._all.add(totals)
        self._counts.update(
            kept=totals["kept"],
            below_minimum=totals["below_minimum"],
            unknown=totals.get("unknown", len(part["unknown"])),
        )
        sure = totals.get("high_confidence_usd")
        self._sure_usd = None if sure is None or self._sure_usd is None else self._sure_usd + Decimal(sure)
        by: dict[str, Mapping[str, SomeTotals]] = {
            "detector": totals["by_detector"],
            "kind": totals["by_kind"],  # type: ignore[dict-item]
            "account": totals.get("by_account", {}),
            "owner": totals.get("by_owner", {}),
        }
        for what, sums in by.items():
            for key, some in sums.items():
                self._by[what][key].add(some)

    def head(self) -> ScanDocument:
        """Return the document with empty `findings`, `unknown` and `unlisted`.

        A large target whose last chunk is missing is not complete.

        Raises:
            ValueError: No document was added.
        """
        if self._first is None:
            raise ValueError("an audit without any document")
        (_, started_at), (_, finished_at) = self._times
        targets = sorted(self._targets.values(), key=lambda one: one.order)
        head: ScanHead = {
            **self._first[1],
            "started_at": started_at,
            "finished_at": finished_at,
            "complete": self._complete and all(one.ended for one in targets),
            "targets": [one.document() for one in targets],
            "gaps": sorted([*self._counted(), *self._unpriced()], key=_gap_order),
            "resources": dict(sorted(self._resources.items())),
            "usage": self._usage.document(),
        }
        head.pop("more", None)
        whole: ScanDocument = {
            "schema": SCHEMA,
            "scan": head,
            "findings": [],
            "unknown": [],
            "unlisted": [],
            "totals": {
                **self._all.document(),  # type: ignore[typeddict-item]
                "waste_monthly_savings_usd": self._by["kind"].get("waste", _Sum()).document()["monthly_savings_usd"],
                "kept": self._counts["kept"],
                "below_minimum": self._counts["below_minimum"],
                "unknown": self._counts["unknown"],
                "by_detector": self._of_each("detector"),
                "by_kind": self._of_each("kind"),  # type: ignore[typeddict-item]
                "by_account": self._of_each("account"),
                "by_owner": self._of_each("owner"),
            },
        }
        if self._sure_usd is not None:
            whole["totals"]["high_confidence_usd"] = f"{self._sure_usd:.2f}"
        return whole

    def _of_each(self, what: str) -> dict[str, SomeTotals]:
        return {key: some.document() for key, some in sorted(self._by[what].items())}

    def _counted(self) -> Iterator[GapDocument]:
        """Yield the calls that failed or that the ceiling on metrics held back, with how often."""
        for key, times in self._gaps.items():
            account, region, what, reason, optional = key
            _, reason = self._spent.get(key, (0, reason))
            text = reason if times == 1 else f"{reason} ({times} times)"
            yield {"account": account, "region": region, "what": what, "reason": text, "optional": optional}

    def _unpriced(self) -> Iterator[GapDocument]:
        """Yield one gap for each target, with the missing prices of all its chunks."""
        for (account, region, optional), reasons in self._no_price.items():
            alone, *others = reasons
            several = {text for reason in reasons for text in reason.split("; ")}
            reason = "; ".join(sorted(several)) if others else alone
            yield {"account": account, "region": region, "what": PRICES, "reason": reason, "optional": optional}

    def _add_gaps(self, gaps: Sequence[GapDocument]) -> None:
        """Add the gaps of a document.

        Failed metrics and failed checks add up over the chunks; items without a price are collected. A gap from the
        ceiling on metrics keeps the highest amount that any chunk reports as spent. All other gaps repeat in each
        chunk, and count once.
        """
        for gap in gaps:
            reason, times = gap["reason"], 1
            if gap["what"] == PRICES:
                self._no_price[gap["account"], gap["region"], gap["optional"]][reason] = None
                continue
            adds_up = gap["what"] == "cloudwatch:GetMetricData" or gap["what"].startswith("detector:")
            if adds_up and (counted := TIMES.fullmatch(reason)):
                reason, times = counted[1], int(counted[2])
            held = HELD_BACK.fullmatch(reason)
            key = (
                gap["account"],
                gap["region"],
                gap["what"],
                f"{held['key']}{held['kept']}" if held else reason,
                gap["optional"],
            )
            if held:
                spent = Decimal(held["spent"]), reason
                self._spent[key] = max(self._spent.get(key, spent), spent)
            self._gaps[key] = self._gaps[key] + times if adds_up else 1


def rank(finding: FindingDocument) -> tuple[int, Decimal, str, str]:
    """Return the sort key of a finding: the same order as `model.rank.rank`."""
    saving = Decimal(finding["monthly_savings_usd"] or 0)
    return SEVERITIES.index(finding["severity"]), -saving, finding["detector"], finding["id"]


@dataclass(slots=True)
class _Target:
    """A target, merged from its chunks. `ended` is true once its last chunk was added."""

    order: tuple[int, int]
    first: TargetDocument
    complete: bool = True
    ended: bool = False

    def add(self, order: tuple[int, int], target: TargetDocument, *, ended: bool) -> None:
        if order < self.order:
            self.order, self.first = order, target
        self.complete &= target["complete"]
        self.ended |= ended

    def document(self) -> TargetDocument:
        return {**self.first, "complete": self.complete and self.ended}


@dataclass(slots=True)
class _Usage:
    calls: Counter[str] = field(default_factory=Counter)
    metrics: int = 0
    datapoints: int = 0
    usd: Decimal = Decimal(0)

    def add(self, usage: UsageDocument) -> None:
        self.calls.update(usage["api_calls"])
        self.metrics += usage["metrics_requested"]
        self.datapoints += usage["datapoints"]
        self.usd += Decimal(usage["estimated_usd"])

    def document(self) -> UsageDocument:
        return {
            "api_calls": dict(sorted(self.calls.items())),
            "metrics_requested": self.metrics,
            "datapoints": self.datapoints,
            "estimated_usd": f"{self.usd.normalize():f}",
        }


@dataclass(slots=True)
class _Sum:
    findings: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, some: SomeTotals) -> None:
        self.findings += some["findings"]
        self.usd += Decimal(some["monthly_savings_usd"])
        self.unpriced += some["unpriced"]

    def document(self) -> SomeTotals:
        return {"findings": self.findings, "monthly_savings_usd": f"{self.usd:.2f}", "unpriced": self.unpriced}


def _gap_order(gap: GapDocument) -> tuple[str, str, str, str, bool]:
    return gap["account"], gap["region"], gap["what"], gap["reason"], gap["optional"]
