"""Records a scan: wraps each port, passes on what it reads, and writes it to the recording with placeholders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from slackwater.app.recording.file import SCHEMA, RecordingWriter, adapter, values_of
from slackwater.app.recording.pseudonyms import Pseudonyms
from slackwater.model.resources import InstanceType, OptimizerEnrollment, Record, Target

if TYPE_CHECKING:
    from pathlib import Path

    from slackwater.engine.plan import MetricCall
    from slackwater.model.findings import Gap
    from slackwater.model.fleet import Fleet
    from slackwater.model.money import PriceItem, PriceTable
    from slackwater.model.policy import Policy
    from slackwater.ports.inventory import Inventory, InventorySnapshot
    from slackwater.ports.metrics import MetricAnswer, Metrics
    from slackwater.ports.prices import Prices

type Foundations = Callable[[Iterable[type[Record]]], set[type[Record]]]
"""Returns these kinds of record, and those that must be read before them."""

OF_EVERY_PART: Final = (InstanceType, OptimizerEnrollment)


class Recorder:
    """Records a scan. Thread-safe. Wraps the ports of each target, and the prices."""

    def __init__(
        self, writer: RecordingWriter, policy: Policy, now: datetime, today: date, foundations: Foundations
    ) -> None:
        """Write the head of the recording and the policy.

        Args:
            writer: Writes the recording.
            policy: The policy of the scan.
            now: The time as of which the scan evaluates, with a time zone.
            today: The day of its prices.
            foundations: Adds the kinds of record that must be read first.
        """
        self._writer, self._foundations, self._lock = writer, foundations, Lock()
        self._names = Pseudonyms(policy, now)
        self._written = set[tuple[Target, str, str]]()
        writer.write({"schema": SCHEMA, "now": now, "today": today.isoformat()})
        writer.write({"policy": policy_document(policy, self._names)})

    def inventory(self, inner: Inventory) -> Inventory:
        """Return the same inventory, which also records what it reads."""
        return _RecordingInventory(self, inner)

    def metrics(self, inner: Metrics, target: Target) -> Metrics:
        """Return the same metrics of a target, which also record what they read."""
        return _RecordingMetrics(self, inner, target)

    def prices(self, inner: Prices) -> Prices:
        """Return the same prices, which also record what they read.

        Pass list prices, because the recording may be replayed with another policy's discount.
        """
        return _RecordingPrices(self, inner)

    def kinds(self, target: Target, wanted: Iterable[type[Record]]) -> None:
        """Record which kinds of record a scan reads from a target."""
        kinds = sorted(kind.KIND for kind in self._foundations(wanted))
        with self._lock:
            self._writer.write({"target": self._target(target), "kinds": kinds})

    def fleet(self, target: Target, fleet: Fleet) -> None:
        """Record the records of a target, or of a chunk of it. Records that every chunk has are written once."""
        with self._lock:
            of = self._target(target)
            for record in fleet.records():
                if isinstance(record, OF_EVERY_PART) and self._has(target, record.KIND, record.id):
                    continue
                value = adapter(record.KIND).dump_python(self._names.record(record), mode="json")
                self._writer.write({"target": of, "record": record.KIND, "value": value})

    def failures(self, target: Target, fleet: Fleet, gaps: Iterable[Gap]) -> None:
        """Record what could not be read from a target."""
        with self._lock:
            of = self._target(target)
            for kind, why in fleet.unreadable.items():
                if not self._has(target, "unreadable", kind.KIND):
                    self._writer.write({"target": of, "unreadable": kind.KIND, "reason": self._names.reason(why)})
            for one in fleet.broken:
                if not self._has(target, "broken", f"{one.kind.KIND} {one.id}"):
                    owners = None if one.owners is None else [self._names.id(owner) for owner in one.owners]
                    line = {"broken": one.kind.KIND, "id": self._names.id(one.id), "owners": owners}
                    self._writer.write({"target": of, **line, "reason": self._names.reason(one.reason)})
            for gap in gaps:
                if not self._has(target, "gap", f"{gap.what} {gap.reason}"):
                    why = self._names.reason(gap.reason)
                    self._writer.write(
                        {
                            "target": of,
                            "gap": self._names.accounts_in(gap.what),
                            "reason": why,
                            "optional": gap.optional,
                        }
                    )

    def answer(self, target: Target, answer: MetricAnswer) -> None:
        """Record the result of a call for metrics."""
        with self._lock:
            of = self._target(target)
            for query, series in answer.series.items():
                self._writer.write({**self._metric(of, query), "start": series.start_s, "values": values_of(series)})
            for query, why in answer.failed.items():
                self._writer.write({**self._metric(of, query), "failed": self._names.reason(why)})

    def priced(self, region: str, asked: Iterable[PriceItem], table: PriceTable, gaps: Iterable[Gap]) -> None:
        """Record the requested items, their prices if known, and the failed calls."""
        with self._lock:
            for item in asked:
                line: dict[str, Any] = {"price": item.id, "unit": item.unit, "region": region}
                if (price := table.get(item)) is not None:
                    line |= {
                        "usd": price.usd,
                        "source": self._names.accounts_in(price.source),
                        "as_of": price.as_of.isoformat(),
                    }
                self._writer.write(line)
            for gap in gaps:
                self._writer.write(
                    {
                        "price_gap": self._names.accounts_in(gap.what),
                        "region": region,
                        "reason": self._names.reason(gap.reason),
                    }
                )

    def _metric(self, of: Mapping[str, str], query: Any) -> dict[str, Any]:
        metric = query.metric
        return {
            "target": of,
            "metric": [metric.namespace, metric.name, metric.stat],
            "dimensions": self._names.dimensions(query.dimensions),
            "period": query.period_s,
        }

    def _target(self, target: Target) -> dict[str, str]:
        return {"account": self._names.account(target.account), "region": target.region, "partition": target.partition}

    def _has(self, target: Target, kind: str, id_: str) -> bool:
        """Return whether this was written before, and remember it as written."""
        key = (target, kind, id_)
        known = key in self._written
        self._written.add(key)
        return known


def policy_document(policy: Policy, names: Pseudonyms) -> dict[str, Any]:
    """Return the sections of a policy that affect findings, with placeholders for the tags that it names."""
    limits = {id_: one.model_dump(mode="json") for id_, one in policy.limits.items()}
    for of in limits.values():
        for name, value in of.items():
            if isinstance(value, str):
                of[name] = names.tag_named(value) if name == "tag" else names.text(value)
    exempt = {key: [names.tag_named(one) for one in value] for key, value in policy.exempt.model_dump().items()}
    owners = {key: [names.tag_named(one) for one in value] for key, value in policy.owners.model_dump().items()}
    prices = policy.prices.model_dump(mode="json")
    scan = {"minimum_monthly_savings_usd": policy.scan.minimum_monthly_savings_usd}
    return {"limits": limits, "exempt": exempt, "owners": owners, "prices": prices, "scan": scan}


class _RecordingInventory:
    def __init__(self, recorder: Recorder, inner: Inventory) -> None:
        self._recorder, self._inner = recorder, inner

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        self._recorder.kinds(target, {*required, *optional})
        fleet, gaps = self._inner.read(target, required, optional)
        self._recorder.fleet(target, fleet.whole())
        self._recorder.failures(target, fleet.whole(), gaps)
        return fleet, gaps

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        self._recorder.kinds(target, {*required, *optional})
        return _RecordingSnapshot(self._recorder, target, self._inner.snapshot(target, required, optional))


class _RecordingSnapshot:
    """A snapshot that records each chunk after the scan has used it. By then, all its kinds of record are read."""

    def __init__(self, recorder: Recorder, target: Target, inner: InventorySnapshot) -> None:
        self._recorder, self._target, self._inner = recorder, target, inner
        self._open: Fleet | None = None
        self.parts = inner.parts
        self.file: Path | None = inner.file

    @property
    def gaps(self) -> Sequence[Gap]:
        return self._inner.gaps

    @property
    def resources(self) -> Mapping[str, int]:
        return self._inner.resources

    def fleet(self, part: int) -> Fleet:
        self._close()
        self._open = self._inner.fleet(part)
        return self._open

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._close()
        finally:
            self._inner.__exit__(*error)

    def _close(self) -> None:
        if self._open is not None:
            whole, self._open = self._open.whole(), None
            self._recorder.fleet(self._target, whole)
            self._recorder.failures(self._target, whole, self._inner.gaps)


class _RecordingMetrics:
    def __init__(self, recorder: Recorder, inner: Metrics, target: Target) -> None:
        self._recorder, self._inner, self._target = recorder, inner, target
        self.concurrency = inner.concurrency

    def fetch(self, call: MetricCall) -> MetricAnswer:
        answer = self._inner.fetch(call)
        self._recorder.answer(self._target, answer)
        return answer


class _RecordingPrices:
    def __init__(self, recorder: Recorder, inner: Prices) -> None:
        self._recorder, self._inner = recorder, inner

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        asked = sorted(set(items))
        table, gaps = self._inner.of(asked, region)
        self._recorder.priced(region, asked, table, gaps)
        return table, gaps
