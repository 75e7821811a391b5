"""The audit: reads each target, runs the detectors, prices and ranks the findings."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from slackwater.engine.combine import combined
from slackwater.engine.cross_check import cross_check, recommendation_kinds
from slackwater.engine.deduplicate import deduplicate
from slackwater.engine.disabled_region import summarize_gaps
from slackwater.engine.evaluation import Enabled, EvaluationQueue, FlaggedResource
from slackwater.engine.exempt import is_exempt
from slackwater.engine.managed import with_managers
from slackwater.engine.owner import owner_of
from slackwater.engine.plan import MetricCall
from slackwater.engine.price import items_of, price
from slackwater.engine.registry import Registry
from slackwater.model.findings import (
    BELOW_MINIMUM,
    COSTS_MORE,
    KEPT,
    STRONGER_FINDING,
    Finding,
    Gap,
    Scan,
    TargetScan,
    UnknownVerdict,
    Unlisted,
    Usage,
)
from slackwater.model.fleet import Fleet
from slackwater.model.money import USD_PER_METRIC
from slackwater.model.policy import Policy
from slackwater.model.rank import ranked
from slackwater.model.resources import Record, Target
from slackwater.model.snapshot import counted
from slackwater.ports.clock import Clock
from slackwater.ports.inventory import Inventory, InventorySnapshot
from slackwater.ports.metrics import Meter, MetricAnswer, Metrics
from slackwater.ports.prices import Prices

TARGETS_AT_ONCE: Final = 4
"""How many targets are scanned at the same time. Most regions are nearly empty, so that their scans wait for the
network. More targets would only need more memory for inventories.
"""


class Progress(Protocol):
    """Receives the progress of a scan."""

    def __call__(self, target: Target, stage: str, done: int, total: int) -> None:
        """Report the progress of one target.

        For a large target, `total` is extrapolated from the current chunk.

        Args:
            target: The target.
            stage: "inventory", "metrics", "prices" or "done".
            done: How many questions are evaluated.
            total: How many questions there are.
        """
        ...


def _not_stored(*_: object) -> InventorySnapshot:
    raise NotImplementedError("this inventory stores no snapshots")


@dataclass(frozen=True, slots=True)
class Sources:
    """The adapters of one target. `open_snapshot` opens one of the inventory's snapshots that is stored in a file."""

    inventory: Inventory
    metrics: Metrics
    open_snapshot: Callable[..., InventorySnapshot] = _not_stored


class _Taken:
    """Tracks what was already reported from a meter that all targets of a scan share. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = Counter[str]()
        self._metrics = self._datapoints = 0

    def since(self, meter: Meter) -> Usage:
        """Return what was requested since the last report."""
        with self._lock:
            calls, metrics, datapoints = Counter(meter.api_calls()), meter.metrics_requested(), meter.datapoints()
            new = Usage(
                api_calls=dict(sorted((calls - self._calls).items())),
                metrics_requested=metrics - self._metrics,
                datapoints=datapoints - self._datapoints,
                estimated_usd=(metrics - self._metrics) * USD_PER_METRIC,
            )
            self._calls, self._metrics, self._datapoints = calls, metrics, datapoints
            return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A scan's policy and adapters."""

    registry: Registry
    policy: Policy
    sources: Callable[[Target], Sources]
    prices: Prices
    meter: Meter
    clock: Clock
    progress: Progress
    large: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Audits that run at the same time share it, so that only one of them judges a chunk of a large target."""
    _taken: _Taken = field(default_factory=_Taken, init=False, repr=False, compare=False)

    def run(self, targets: Sequence[Target], now: datetime, gaps: Iterable[Gap] = ()) -> Scan:
        """Scan all targets, in memory at once.

        Args:
            targets: The targets.
            now: The time as of which detectors judge, with a time zone.
            gaps: Targets or regions that could not be tried.
        """
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
        """Scan one target, in memory at once. Failed calls become gaps; none raises."""
        sources = self.sources(target)
        self.progress(target, "inventory", 0, 0)
        required, optional = kinds_read(self._enabled())
        fleet, gaps = sources.inventory.read(target, required, optional)
        summed = summarize_gaps(target, required, gaps, sum(counted(fleet).values()))
        scan, questions = self._judged(target, fleet, sources.metrics, now, lambda done, total: (done, total))
        self.progress(target, "done", questions, questions)
        return _with_gaps(scan, summed)

    def hand_over(self, targets: Sequence[Target], now: datetime, take: Callable[[Scan], None]) -> None:
        """Scan all targets, and pass on each chunk as soon as it is finished, without keeping it.

        Args:
            targets: The targets.
            now: The time as of which detectors judge.
            take: Called from other threads, one call at a time, with the chunks of each target in order.
        """
        one_at_a_time = Lock()

        def scan(target: Target) -> None:
            for part in self.parts(target, now):
                with one_at_a_time:
                    take(part)
                del part  # otherwise it stays in memory while the next chunk is made

        with ThreadPoolExecutor(TARGETS_AT_ONCE) as pool:
            for _ in pool.map(scan, targets):
                pass

    def snapshot(self, target: Target) -> InventorySnapshot:
        """List the resources that the enabled detectors need. Pass the result to `parts`, and close it."""
        self.progress(target, "inventory", 0, 0)
        return self.sources(target).inventory.snapshot(target, *kinds_read(self._enabled()))

    def open_snapshot(self, target: Target, file: Path) -> InventorySnapshot:
        """Open the snapshot that another process stored in a file. Closing it does not delete the file."""
        return self.sources(target).open_snapshot(target, *kinds_read(self._enabled()), file)

    def parts(
        self, target: Target, now: datetime, snapshot: InventorySnapshot | None = None, first: int = 1
    ) -> Iterator[Scan]:
        """Yield the scan of one target chunk by chunk. All but the last have `more` set.

        The `usage` of each chunk counts what was requested since the last, so that they add up.

        Args:
            target: The target.
            now: The time as of which detectors judge.
            snapshot: A snapshot that was listed before, maybe by another process; None lists it now.
            first: The first chunk to scan, counted from 1.
        """
        started_at = self.clock()
        if snapshot is None:
            with self.snapshot(target) as own:
                yield from self._parts(target, now, own, first, started_at)
        else:
            yield from self._parts(target, now, snapshot, first, started_at)

    def _parts(
        self, target: Target, now: datetime, snapshot: InventorySnapshot, first: int, started_at: datetime
    ) -> Iterator[Scan]:
        metrics, evaluated, id_ = self.sources(target).metrics, 0, str(uuid.uuid4())
        required = kinds_read(self._enabled())[0]

        def gaps() -> Sequence[Gap]:
            return summarize_gaps(target, required, snapshot.gaps, sum(snapshot.resources.values()))

        for part in range(first, snapshot.parts + 1):
            before, left = evaluated, snapshot.parts - part

            def of_all(done: int, total: int, before: int = before, left: int = left) -> tuple[int, int]:
                """Convert progress in this chunk to progress in the target, as if later chunks had the same size."""
                return before + done, before + total * (1 + left)

            # Only one chunk of all targets that are large enough to have several is in memory at a time.
            with self.large if snapshot.parts > 1 else nullcontext():
                seen, questions = self._judged(target, snapshot.fleet(part), metrics, now, of_all)
                seen = _with_gaps(seen, gaps())  # read last, because it waits for pending kinds
            evaluated += questions
            scan = Scan(
                id=id_,
                as_of=now,
                started_at=started_at,
                finished_at=(started_at := self.clock()),
                targets=(seen,),
                gaps=(),
                usage=self._taken.since(self.meter),
                detectors=tuple(self.policy.limits),
                policy=self.policy.version,
                more=part < snapshot.parts,
            )
            yield scan
            del seen, scan
        self.progress(target, "done", evaluated, evaluated)

    def _enabled(self) -> list[Enabled]:
        return [Enabled(id_, self.registry[id_], limits) for id_, limits in self.policy.limits.items()]

    def _judged(
        self,
        target: Target,
        fleet: Fleet,
        metrics: Metrics,
        now: datetime,
        of_all: Callable[[int, int], tuple[int, int]],
    ) -> tuple[TargetScan, int]:
        """Evaluate a fleet, and return the scan without the inventory's gaps, and the number of questions.

        Args:
            target: The target.
            fleet: The records.
            metrics: Reads metrics.
            now: The time as of which detectors judge.
            of_all: Converts progress in this chunk to progress in the target.
        """
        queue = EvaluationQueue(with_managers(fleet, self.policy.owners.managed_tags), self._enabled(), now)
        judge(queue, metrics, lambda done: self.progress(target, "metrics", *of_all(done, queue.questions)))
        failures = [
            Gap(target.account, target.region, what, reason if count == 1 else f"{reason} ({count} times)", optional)
            for (what, reason, optional), count in _merged_failures(queue.failures).items()
        ]
        self.progress(target, "prices", *of_all(queue.questions, queue.questions))
        findings, unlisted, price_gaps = self._price(target, queue.fleet, queue, now)
        scan = TargetScan(
            target=target,
            findings=tuple(findings),
            unknown=tuple(sorted(queue.unknown, key=_order)),
            gaps=tuple(sorted([*failures, *price_gaps])),
            resources=counted(queue.fleet),
            unlisted=tuple(unlisted),
        )
        return scan, queue.questions

    def _price(
        self, target: Target, fleet: Fleet, queue: EvaluationQueue, now: datetime
    ) -> tuple[list[Finding], list[Unlisted], list[Gap]]:
        reported, silenced = deduplicate(queue.flagged)
        unlisted = [Unlisted(one.enabled.id, one.resource, STRONGER_FINDING) for one in silenced]
        wasted_or_slow = list[FlaggedResource]()
        for flagged in reported:
            if flagged.kind == "waste" and is_exempt(flagged.resource, self.policy.exempt, now):
                unlisted.append(Unlisted(flagged.enabled.id, flagged.resource, KEPT))
            else:
                wasted_or_slow.append(cross_check(flagged, fleet, now))
        table, gaps = self.prices.of(items_of(wasted_or_slow), target.region)

        def priced(one: FlaggedResource) -> Finding:
            return price(one, table, owner_of(one.resource, self.policy.owners))

        minimum = Decimal(str(self.policy.scan.minimum_monthly_savings_usd))
        listed = list[FlaggedResource]()
        for one in wasted_or_slow:
            saved = priced(one).monthly_savings_usd
            if one.kind != "waste" or saved is None or saved >= minimum:
                listed.append(one)
            else:
                reason = BELOW_MINIMUM if saved >= 0 else COSTS_MORE
                unlisted.append(Unlisted(one.enabled.id, one.resource, reason))
        # A command must not make the change of a finding that the user does not see, so `combined` comes last.
        return (
            ranked([priced(one) for one in combined(listed)]),
            sorted(unlisted, key=_order),
            [replace(gap, account=target.account, region=target.region) for gap in gaps],
        )


def _with_gaps(scan: TargetScan, gaps: Sequence[Gap]) -> TargetScan:
    return replace(scan, gaps=tuple(sorted([*gaps, *scan.gaps])))


def _merged_failures(failures: Mapping[tuple[str, str, bool], int]) -> Counter[tuple[str, str, bool]]:
    """Merge equal failures; optional ones count with required ones of the same call and reason."""
    merged = Counter[tuple[str, str, bool]]()
    for (what, reason, optional), count in failures.items():
        merged[what, reason, optional and (what, reason, False) not in failures] += count
    return merged


def kinds_read(enabled: Iterable[Enabled]) -> tuple[set[type[Record]], set[type[Record]]]:
    """Return the kinds of record that these detectors require, and those that are optional."""
    required, optional = set[type[Record]](), set[type[Record]]()
    for one in enabled:
        required |= {one.detector.resource, *one.detector.reads}
        optional |= {*one.detector.reads_if_allowed, *recommendation_kinds(one.detector)}
    return required, optional - required


def judge(queue: EvaluationQueue, metrics: Metrics, on_progress: Callable[[int], None]) -> None:
    """Evaluate a queue to its end, with as many concurrent calls as the adapter allows."""
    on_their_way: dict[Future[MetricAnswer], MetricCall] = {}
    with ThreadPoolExecutor(metrics.concurrency) as pool:
        while True:
            while len(on_their_way) < 2 * metrics.concurrency:
                call = queue.next_call(idle=not on_their_way)
                if call is None:
                    break
                on_their_way[pool.submit(metrics.fetch, call)] = call
            on_progress(queue.evaluated)
            if not on_their_way:
                queue.close()
                return
            for future in wait(on_their_way, return_when=FIRST_COMPLETED).done:
                del on_their_way[future]
                answer = future.result()
                queue.receive(answer.series, answer.failed)


def usage(meter: Meter) -> Usage:
    """Return what was requested from AWS so far, and roughly what it costs."""
    requested = meter.metrics_requested()
    return Usage(
        api_calls=dict(sorted(meter.api_calls().items())),
        metrics_requested=requested,
        datapoints=meter.datapoints(),
        estimated_usd=requested * USD_PER_METRIC,
    )


def _order(one: UnknownVerdict | Unlisted) -> tuple[str, str]:
    return one.detector, one.resource.id
