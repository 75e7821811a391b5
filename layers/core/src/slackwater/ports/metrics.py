"""Protocols that read metrics, and that limit and count what a scan asks of AWS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from contextlib import AbstractContextManager

    from slackwater.engine.plan import MetricCall, MetricQuery
    from slackwater.model.metrics import Series
    from slackwater.model.resources import Target


@dataclass(frozen=True, slots=True)
class MetricAnswer:
    """The answer to one call: a series for every query that could be read, the reason for each that could not."""

    series: Mapping[MetricQuery, Series]
    failed: Mapping[MetricQuery, str]


class Metrics(Protocol):
    """Reads CloudWatch metrics of one target. Thread-safe."""

    concurrency: int

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Answer one packed call; failures are in the answer, never raised, never an empty series."""
        ...


class Spending(Protocol):
    """Knows how many metrics may still be asked for. Thread-safe."""

    def take(self, metrics: int) -> str | None:
        """Count metrics that are about to be asked for; why not, and nothing counted, where they would cost too much."""
        ...


class Leases(Protocol):
    """Knows who else scans a target now."""

    def hold(self, target: Target, holder: str) -> AbstractContextManager[Callable[[], float]]:
        """Be one of them, under a name that nobody else has. Gives what tells our share of the pace, above 0 to 1."""
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
