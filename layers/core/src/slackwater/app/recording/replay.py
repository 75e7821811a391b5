"""Scans again from a recording: implements the ports with what was recorded, and makes no AWS call."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final

from slackwater.app.recording.file import KINDS, RecordingError, lines, points_of, record_of
from slackwater.engine.plan import MetricQuery
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Series
from slackwater.model.money import Price, PriceItem
from slackwater.model.policy import ExemptSection, OwnersSection, Policy, PricesSection, ScanSection
from slackwater.model.resources import Record, Target
from slackwater.model.snapshot import WholeSnapshot
from slackwater.ports.metrics import MetricAnswer

if TYPE_CHECKING:
    from pathlib import Path

    from slackwater.app.recording.record import Foundations
    from slackwater.engine.plan import MetricCall
    from slackwater.engine.registry import Registry
    from slackwater.model.money import PriceTable
    from slackwater.ports.inventory import InventorySnapshot
    from slackwater.ports.prices import Prices

NOT_RECORDED: Final = "not recorded"

type _Metric = tuple[tuple[str, str, str], tuple[tuple[str, str], ...], int]


@dataclass(slots=True)
class RecordedTarget:
    """Everything that was read from one account in one region."""

    kinds: set[type[Record]] = field(default_factory=set)
    records: list[Record] = field(default_factory=list)
    unreadable: dict[type[Record], str] = field(default_factory=dict)
    broken: list[UnreadableRecord] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    series: defaultdict[_Metric, list[tuple[int, array[float]]]] = field(default_factory=lambda: defaultdict(list))
    failed: dict[_Metric, str] = field(default_factory=dict)


@dataclass(slots=True)
class Recording:
    """A recording in memory."""

    now: datetime
    today: date
    policy: Mapping[str, Any] = field(default_factory=dict)
    targets: dict[Target, RecordedTarget] = field(default_factory=dict)
    prices: dict[tuple[str, PriceItem], Price | None] = field(default_factory=dict)
    price_gaps: defaultdict[str, list[Gap]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, path: Path) -> Recording:
        """Read the file of a recording.

        Raises:
            RecordingError: The file is not a recording, or this version cannot read it.
        """
        every = lines(path)
        try:
            head = next(every)
            found = cls(datetime.fromisoformat(head["now"]), date.fromisoformat(head["today"]))
            for line in every:
                found._add_line(line)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise RecordingError(
                f"{path} has a line that this version does not know ({error!r}): record it again"
            ) from error
        return found

    def policy_as_recorded(self, registry: Registry) -> Policy:
        """Return the policy of the recorded scan.

        Raises:
            RecordingError: The policy names a detector or a limit that this version does not have.
        """
        try:
            return Policy(
                limits={
                    id_: registry[id_].limits.model_validate(limits) for id_, limits in self.policy["limits"].items()
                },
                scan=ScanSection.model_validate(self.policy["scan"]),
                exempt=ExemptSection.model_validate(self.policy["exempt"]),
                owners=OwnersSection.model_validate(self.policy["owners"]),
                prices=PricesSection.model_validate(self.policy["prices"]),
            )
        except (KeyError, ValueError) as error:
            raise RecordingError(f"its policy is not of this version ({error}): name another by --policy") from error

    def _add_line(self, line: Mapping[str, Any]) -> None:
        if "policy" in line:
            self.policy = line["policy"]
            return
        if "price" in line:
            item = PriceItem(line["price"], line["unit"])
            known = "usd" in line
            price = Price(Decimal(line["usd"]), line["source"], date.fromisoformat(line["as_of"])) if known else None
            self.prices[line["region"], item] = price
            return
        if "price_gap" in line:
            self.price_gaps[line["region"]].append(Gap("", "", line["price_gap"], line["reason"], optional=True))
            return
        self._add_to_target(Target(**line["target"]), line)

    def _add_to_target(self, target: Target, line: Mapping[str, Any]) -> None:
        of = self.targets.setdefault(target, RecordedTarget())
        match line:
            case {"kinds": kinds}:
                of.kinds |= {KINDS[kind] for kind in kinds if kind in KINDS}
            case {"record": kind, "value": value}:
                of.records.append(record_of(kind, value))
            case {"unreadable": kind, "reason": reason}:
                of.unreadable[KINDS[kind]] = reason
            case {"broken": kind, "id": id_, "owners": owners, "reason": reason}:
                of.broken.append(UnreadableRecord(KINDS[kind], id_, reason, None if owners is None else tuple(owners)))
            case {"gap": what, "reason": reason, "optional": optional}:
                of.gaps.append(Gap(target.account, target.region, what, reason, optional=optional))
            case {"metric": metric, "dimensions": dimensions, "period": period_s, **answer}:
                key = (tuple(metric), tuple((name, value) for name, value in dimensions), period_s)
                if "failed" in answer:
                    of.failed[key] = answer["failed"]
                else:
                    of.series[key].append((answer["start"], points_of(answer["values"])))
            case _:
                raise ValueError(f"{sorted(line)}")


class RecordedInventory:
    """The inventory of a recorded target."""

    def __init__(
        self, recorded: RecordedTarget, foundations: Foundations, action_of: Callable[[type[Record]], str]
    ) -> None:
        """Create the inventory.

        Args:
            recorded: What was read from the target.
            foundations: Adds the kinds of record that must be read first.
            action_of: Returns the IAM action of the call that reads a kind of record.
        """
        self._recorded, self._foundations, self._action_of = recorded, foundations, action_of

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Return the recorded records of these kinds, and the gaps. A kind that was not recorded is a gap."""
        recorded, needed = self._recorded, self._foundations(required)
        wanted = needed | self._foundations(optional)
        missing = wanted - recorded.kinds
        fleet = Fleet(
            (one for one in recorded.records if type(one) in wanted),
            {kind: why for kind, why in recorded.unreadable.items() if kind in wanted}
            | dict.fromkeys(missing, NOT_RECORDED),
            broken=[one for one in recorded.broken if one.kind in wanted],
        )
        optional_of: defaultdict[str, set[bool]] = defaultdict(set)
        for kind in wanted:
            optional_of[self._action_of(kind)].add(kind not in needed)
        gaps = [replace(gap, optional=all(optional_of[gap.what])) for gap in recorded.gaps if gap.what in optional_of]
        not_recorded = sorted({(self._action_of(kind), kind not in needed) for kind in missing})
        gaps += [
            Gap(target.account, target.region, what, NOT_RECORDED, optional=is_optional)
            for what, is_optional in not_recorded
        ]
        return fleet, gaps

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """Return what `read` returns, as a snapshot of one chunk."""
        return WholeSnapshot(*self.read(target, required, optional))


class RecordedMetrics:
    """The metrics of a recorded target."""

    concurrency = 1

    def __init__(self, recorded: RecordedTarget) -> None:
        """Create the metrics."""
        self._recorded = recorded

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Return the recorded points. A query for a window that was not recorded has failed."""
        series, failed = dict[MetricQuery, Series](), dict[MetricQuery, str]()
        for query in call.queries:
            key = ((query.metric.namespace, query.metric.name, query.metric.stat), query.dimensions, query.period_s)
            found = _series_in_window(query, self._recorded.series.get(key, ()))
            if found is not None:
                series[query] = found
            else:
                failed[query] = self._recorded.failed.get(key, NOT_RECORDED)
        return MetricAnswer(series, failed)


def _series_in_window(query: MetricQuery, recorded: Iterable[tuple[int, array[float]]]) -> Series | None:
    """Return the points of a query's window; None if the recorded windows do not cover it."""
    start_s, period_s = query.window.start_s, query.period_s
    values, covered = array("d", [nan]) * query.points, bytearray(query.points)
    for begins_s, points in recorded:
        offset, rest = divmod(begins_s - start_s, period_s)
        if rest:
            continue
        first, last = max(0, offset), min(query.points, offset + len(points))
        if first >= last:
            continue
        if not any(covered[first:last]):
            values[first:last] = points[first - offset : last - offset]
        else:
            for n in range(first, last):
                if isnan(values[n]):
                    values[n] = points[n - offset]
        covered[first:last] = b"\x01" * (last - first)
    return Series(start_s, period_s, values) if all(covered) else None


class RecordedPrices:
    """The list prices of a recording."""

    def __init__(self, recording: Recording) -> None:
        """Create the prices."""
        self._recording = recording

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Return the recorded prices. Items that were not recorded are an optional gap."""
        asked = sorted(set(items))
        known = self._recording.prices
        table = {item: price for item in asked if (price := known.get((region, item))) is not None}
        missing = [item.id for item in asked if (region, item) not in known]
        gaps = list(dict.fromkeys(self._recording.price_gaps[region])) if asked else []
        if missing:
            gaps.append(Gap("", "", "pricing:GetProducts", f"{NOT_RECORDED}: {', '.join(missing)}", optional=True))
        return table, gaps


class PolicyPrices:
    """List prices with the policy's discount. The policy's own prices replace them."""

    def __init__(self, inner: Prices, policy: Policy, today: date) -> None:
        """Create the prices. `today` is the date of the policy's own prices."""
        self._inner, self._policy, self._today = inner, policy, today

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Return the policy's own price of each item, or its list price less the discount."""
        asked, own, factor = sorted(set(items)), self._policy.prices.overrides.get(region, {}), self._policy.discount
        table, gaps = self._inner.of([item for item in asked if item.id not in own], region)
        listed = {
            item: price
            if factor == 1
            else replace(price, usd=price.usd * factor, source=f"{price.source}, times {factor}")
            for item, price in table.items()
        }
        return listed | {
            item: Price(Decimal(str(own[item.id])), "policy", self._today) for item in asked if item.id in own
        }, gaps


class NoCallMeter:
    """The meter of a scan that makes no AWS call."""

    def api_calls(self) -> Mapping[str, int]:
        """Return no calls."""
        return {}

    def metrics_requested(self) -> int:
        """Return zero."""
        return 0

    def datapoints(self) -> int:
        """Return zero."""
        return 0
