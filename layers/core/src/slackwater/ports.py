"""What the use cases need of the world: protocols, fulfilled by adapters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from slackwater.engine.plan import MetricCall, MetricQuery
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Series
from slackwater.model.money import PriceItem, PriceTable
from slackwater.model.resources import Record, Target


@dataclass(frozen=True, slots=True)
class MetricAnswer:
    """The answer to one call: a series for every query that could be read, the reason for each that could not."""

    series: Mapping[MetricQuery, Series]
    failed: Mapping[MetricQuery, str]


class Inventory(Protocol):
    """Reads what one target holds."""

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Every record of these kinds. What could not be read is a gap, and its kind is unreadable in the fleet."""
        ...


class Metrics(Protocol):
    """Reads CloudWatch metrics of one target. Thread-safe."""

    concurrency: int

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Answer one packed call; failures are in the answer, never raised, never an empty series."""
        ...


class Prices(Protocol):
    """Reads what things cost in a region."""

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Every price that is known; a live price that could not be read is an optional gap."""
        ...


class Meter(Protocol):
    """Counts what was asked of AWS, over all adapters."""

    def api_calls(self) -> Mapping[str, int]:
        """HTTP requests sent by `service:Operation`, retries included."""
        ...

    def metrics_requested(self) -> int:
        """Metrics that GetMetricData was asked for, as it bills them."""
        ...

    def datapoints(self) -> int:
        """Points received."""
        ...


class Clock(Protocol):
    """The time, in UTC."""

    def __call__(self) -> datetime:
        """Now."""
        ...
