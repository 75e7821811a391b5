"""Protocols that read metrics, and that limit and count what a scan requests from AWS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from contextlib import AbstractContextManager

    from slackwater.engine.plan import MetricCall, MetricQuery
    from slackwater.model.metrics import Series
    from slackwater.model.resources import Target


@dataclass(frozen=True, slots=True)
class MetricAnswer:
    """The result of one call: for every query either a series or the reason why there is none."""

    series: Mapping[MetricQuery, Series]
    failed: Mapping[MetricQuery, str]


class Metrics(Protocol):
    """Reads CloudWatch metrics of one target. Thread-safe."""

    concurrency: int

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Make one packed call. Failures are part of the result; they are never raised, and never an empty series."""
        ...


class Spending(Protocol):
    """Limits how many metrics are requested. Thread-safe."""

    def take(self, metrics: int) -> str | None:
        """Count metrics that are about to be requested, and return None.

        If they would cost too much, count nothing and return the reason.
        """
        ...


class Leases(Protocol):
    """Tracks which scans run on a target, so that they share its rate limit."""

    def hold(self, target: Target, holder: str) -> AbstractContextManager[Callable[[], float]]:
        """Register this scan while the context is open. It gives a function for the scan's share of the rate limit, in
        (0, 1].

        Args:
            target: The account and region.
            holder: A name that no other scan has.
        """
        ...


class Meter(Protocol):
    """Counts what all adapters requested from AWS."""

    def api_calls(self) -> Mapping[str, int]:
        """Return the number of HTTP requests by `service:Operation`, including retries."""
        ...

    def metrics_requested(self) -> int:
        """Return how many metrics were requested from GetMetricData, as CloudWatch bills them."""
        ...

    def datapoints(self) -> int:
        """Return how many points were received."""
        ...
