"""The audit: read each target, judge it, price what was flagged, rank it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Protocol

from slackwater.engine.corroborate import corroborated, witnesses
from slackwater.engine.docket import Docket, Enabled, FlaggedResource
from slackwater.engine.exempt import is_kept
from slackwater.engine.owner import owner_of
from slackwater.engine.plan import MetricCall
from slackwater.engine.precedence import settle
from slackwater.engine.price import items_of, price
from slackwater.engine.registry import Registry
from slackwater.model.findings import (
    BELOW_MINIMUM,
    COSTS_MORE,
    KEPT,
    OUTRANKED,
    Finding,
    Gap,
    Scan,
    TargetScan,
    UnknownVerdict,
    Unlisted,
    Usage,
)
from slackwater.model.fleet import Fleet
from slackwater.model.policy import Policy
from slackwater.model.rank import ranked
from slackwater.model.resources import RESOURCE_KINDS, Record, Target
from slackwater.ports import Clock, Inventory, Meter, MetricAnswer, Metrics, Prices

USD_PER_METRIC: Final = Decimal("0.00001")
"""GetMetricData: 0.01 USD per 1,000 metrics requested (Amazon CloudWatch pricing)."""

TARGETS_AT_ONCE: Final = 4
"""Most regions are nearly empty and wait for the network; more would only hold more inventories in memory."""


class Progress(Protocol):
    """Told how far the scan of a target is."""

    def __call__(self, target: Target, stage: str, done: int, total: int) -> None:
        """`stage` is "inventory", "metrics", "prices" or "done"; `done` of `total` questions are settled."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The adapters of one target."""

    inventory: Inventory
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Everything a scan needs, wired once."""

    registry: Registry
    policy: Policy
    sources: Callable[[Target], Sources]
    prices: Prices
    meter: Meter
    clock: Clock
    progress: Progress

    def run(self, targets: Sequence[Target], now: datetime, gaps: Iterable[Gap] = ()) -> Scan:
        """Scan all targets as of `now`. `gaps` are targets or regions that could not even be tried."""
        started_at = self.clock()
        with ThreadPoolExecutor(TARGETS_AT_ONCE) as pool:
            done = tuple(pool.map(lambda target: self.scan_target(target, now), targets))
        return Scan(
            id=str(uuid.uuid4()),
            as_of=now,
            started_at=started_at,
            finished_at=self.clock(),
            targets=done,
            gaps=tuple(gaps),
            usage=usage(self.meter),
            detectors=tuple(self.policy.limits),
            policy=self.policy.version,
        )

    def scan_target(self, target: Target, now: datetime) -> TargetScan:
        """One account in one region. What cannot be read becomes a gap; nothing is raised for it."""
        enabled = [Enabled(id_, self.registry[id_], limits) for id_, limits in self.policy.limits.items()]
        sources = self.sources(target)
        self.progress(target, "inventory", 0, 0)
        fleet, gaps = sources.inventory.read(target, *kinds_read(enabled))
        docket = Docket(fleet, enabled, now)
        judge(docket, sources.metrics, lambda done: self.progress(target, "metrics", done, docket.questions))
        gaps += [
            Gap(target.account, target.region, what, reason if count == 1 else f"{reason} ({count} times)", optional)
            for (what, reason, optional), count in docket.failures.items()
        ]
        self.progress(target, "prices", docket.questions, docket.questions)
        findings, unlisted, price_gaps = self._price(target, fleet, docket, now)
        self.progress(target, "done", docket.questions, docket.questions)
        return TargetScan(
            target=target,
            findings=tuple(findings),
            unknown=tuple(sorted(docket.unknown, key=_order)),
            gaps=tuple(sorted([*gaps, *price_gaps])),
            resources=_count(fleet),
            unlisted=tuple(unlisted),
        )

    def _price(
        self, target: Target, fleet: Fleet, docket: Docket, now: datetime
    ) -> tuple[list[Finding], list[Unlisted], list[Gap]]:
        speaking, silenced = settle(docket.flagged)
        unlisted = [Unlisted(one.enabled.id, one.resource, OUTRANKED) for one in silenced]
        wasted_or_slow = list[FlaggedResource]()
        for flagged in speaking:
            if flagged.kind == "waste" and is_kept(flagged.resource, self.policy.exempt, now):
                unlisted.append(Unlisted(flagged.enabled.id, flagged.resource, KEPT))
            else:
                wasted_or_slow.append(corroborated(flagged, fleet, now))
        table, gaps = self.prices.of(items_of(wasted_or_slow), target.region)
        findings = [price(one, table, owner_of(one.resource, self.policy.owners)) for one in wasted_or_slow]
        minimum = Decimal(str(self.policy.scan.minimum_monthly_savings_usd))
        worth_saying = []
        for one in findings:
            saved = one.monthly_savings_usd
            if one.kind != "waste" or saved is None or saved >= minimum:
                worth_saying.append(one)
            else:
                unlisted.append(Unlisted(one.detector, one.resource, BELOW_MINIMUM if saved >= 0 else COSTS_MORE))
        return (
            ranked(worth_saying),
            sorted(unlisted, key=_order),
            [replace(gap, account=target.account, region=target.region) for gap in gaps],
        )


def kinds_read(enabled: Iterable[Enabled]) -> tuple[set[type[Record]], set[type[Record]]]:
    """The kinds of record that these detectors cannot do without, and those they can."""
    required, optional = set[type[Record]](), set[type[Record]]()
    for one in enabled:
        required |= {one.detector.resource, *one.detector.reads}
        optional |= {*one.detector.reads_if_allowed, *witnesses(one.detector)}
    return required, optional - required


def judge(docket: Docket, metrics: Metrics, settled: Callable[[int], None]) -> None:
    """Drive a docket to its end, with as many calls on their way as the adapter takes."""
    on_their_way: dict[Future[MetricAnswer], MetricCall] = {}
    with ThreadPoolExecutor(metrics.concurrency) as pool:
        while True:
            while len(on_their_way) < 2 * metrics.concurrency:
                call = docket.next_call(idle=not on_their_way)
                if call is None:
                    break
                on_their_way[pool.submit(metrics.fetch, call)] = call
            settled(docket.settled)
            if not on_their_way:
                docket.close()
                return
            for future in wait(on_their_way, return_when=FIRST_COMPLETED).done:
                del on_their_way[future]
                answer = future.result()
                docket.receive(answer.series, answer.failed)


def usage(meter: Meter) -> Usage:
    """What was asked of AWS so far, and about what it costs."""
    requested = meter.metrics_requested()
    return Usage(
        api_calls=dict(sorted(meter.api_calls().items())),
        metrics_requested=requested,
        datapoints=meter.datapoints(),
        estimated_usd=requested * USD_PER_METRIC,
    )


def _count(fleet: Fleet) -> Mapping[str, int]:
    counts = {kind.KIND: len(fleet.all(kind)) for kind in RESOURCE_KINDS}
    return {kind: count for kind, count in counts.items() if count}


def _order(one: UnknownVerdict | Unlisted) -> tuple[str, str]:
    return one.detector, one.resource.id
