"""How fast AWS is asked: below its own limits, which the account's other programs share."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from slackwater.model.services import CALLS_PER_SECOND

POINTS_PER_SECOND: Final = 300_000
"""Three quarters of what GetMetricData may be asked for in one account and Region: 396,000 points a second, counted by
window and period, whether there are any or not (CloudWatch service quotas, for windows that begin more than three hours
ago). A large scan reaches it; whoever else does makes it give way, by being throttled."""

BURST_S: Final = 1
"""What a second allows may go at once."""

IN_FLIGHT_S: Final = 1
"""Throttled again within this time, it is calls that were on their way already: they say nothing new."""

RECOVERS_S: Final = 60
"""From nothing to the full rate."""

LEAST: Final = 1 / 16
"""Of the rate, however often it was halved: a scan must end."""

_POINTS: Final = "points of cloudwatch"


class Bucket:
    """Lets `per_second` through, each second's worth at once at most. Thread-safe.

    Throttled, it goes on at half its rate, and gets faster bit by bit until it is back at the full one.
    """

    def __init__(
        self,
        per_second: float,
        *,
        share: Callable[[], float],
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """`share` is the part of the rate that is ours, from 0 to 1; `clock` tells seconds, and `sleep` waits
        for some.
        """
        self._full = per_second
        self._share = share
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._low = per_second
        self._at = self._lowered_at = clock()
        self._tokens: float | None = None
        """What may go at once, as of `_at`: the last turn that was given, which may be still to come."""

    def take(self, count: float = 1) -> None:
        """Wait until so many may go. Who comes first goes first: each is given its turn, and then waits for it."""
        share = self._share()
        with self._lock:
            now = self._clock()
            rate = self._rate(now) * share
            most = max(1, self._full * share * BURST_S)
            since = max(0, now - self._at)
            self._tokens = most if self._tokens is None else min(most, self._tokens + since * rate)
            self._at = max(now, self._at) + max(0, count - self._tokens) / rate
            self._tokens = max(0, self._tokens - count)
            wait_s = self._at - now
        if wait_s > 0:
            self._sleep(wait_s)

    def throttled(self) -> None:
        """Halve the rate."""
        with self._lock:
            now = self._clock()
            if self._low == self._full or now - self._lowered_at >= IN_FLIGHT_S:
                self._low = max(self._rate(now) / 2, self._full * LEAST)
                self._lowered_at = now
                self._tokens, self._at = 0, max(now, self._at)

    def _rate(self, now: float) -> float:
        return min(self._full, self._low + self._full * (now - self._lowered_at) / RECOVERS_S)


class RateLimit:
    """The buckets of one account: one for each service in each Region, and one for the points of metrics.

    Thread-safe.
    """

    def __init__(
        self,
        calls_per_second: Mapping[str, float] = CALLS_PER_SECOND,
        points_per_second: float = POINTS_PER_SECOND,
        *,
        share: Callable[[], float] = lambda: 1,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`calls_per_second` replaces some of CALLS_PER_SECOND; the others are as in `Bucket`."""
        self._per_second = {**CALLS_PER_SECOND, **calls_per_second, _POINTS: points_per_second}
        self._bucket = partial(Bucket, share=share, clock=clock, sleep=sleep)
        self._lock = threading.Lock()
        self._buckets = dict[tuple[str, str], Bucket]()

    def call(self, service: str, region: str) -> None:
        """Wait until a service may be asked once more; one without a rate may be at once."""
        if service in self._per_second:
            self._of(service, region).take()

    def points(self, region: str, count: int) -> None:
        """Wait until CloudWatch may be asked for so many points."""
        self._of(_POINTS, region).take(count)

    def throttled(self, service: str, region: str) -> None:
        """Slow down: the service said that it was asked too fast.

        CloudWatch does not say whether by calls or by points.
        """
        for name in (service, _POINTS) if service == "cloudwatch" else (service,):
            if name in self._per_second:
                self._of(name, region).throttled()

    def _of(self, name: str, region: str) -> Bucket:
        with self._lock:
            if (name, region) not in self._buckets:
                self._buckets[name, region] = self._bucket(self._per_second[name])
            return self._buckets[name, region]
