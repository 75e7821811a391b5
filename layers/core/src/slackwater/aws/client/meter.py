"""Counts the AWS calls of a scan."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slackwater.model.services import IAM_PREFIXES

if TYPE_CHECKING:
    from botocore.session import Session


class CallMeter:
    """Counts HTTP requests, requested metrics and received datapoints. Thread-safe.

    Requests are counted by `service:Operation`, with IAM's names.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._metrics = 0
        self._datapoints = 0

    def watch(self, session: Session) -> None:
        """Count every request that clients of this session send, retries included."""
        session.register("before-send", self._before_send)

    def count_call(self, service: str, operation: str) -> None:
        """Count one HTTP request. `service` is IAM's prefix."""
        with self._lock:
            self._calls[f"{service}:{operation}"] += 1

    def count_metrics(self, count: int) -> None:
        """Count metrics that were requested with GetMetricData."""
        with self._lock:
            self._metrics += count

    def count_datapoints(self, count: int) -> None:
        """Count datapoints that a response has."""
        with self._lock:
            self._datapoints += count

    def api_calls(self) -> Mapping[str, int]:
        """Return the number of HTTP requests so far, by `service:Operation`."""
        with self._lock:
            return dict(self._calls)

    def metrics_requested(self) -> int:
        """Return the number of metrics requested so far."""
        return self._metrics

    def datapoints(self) -> int:
        """Return the number of datapoints received so far."""
        return self._datapoints

    def _before_send(self, **event: Any) -> None:
        _, service, operation = event["event_name"].split(".")
        self.count_call(IAM_PREFIXES.get(service, service), operation)
