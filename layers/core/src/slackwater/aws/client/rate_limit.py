"""Limits the rate of AWS calls below AWS's own quotas, which the account's other programs share."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from slackwater.model.services import CALLS_PER_SECOND

POINTS_PER_SECOND: Final = 300_000
"""Three quarters of GetMetricData's quota in one account and Region: 396,000 datapoints per second. CloudWatch counts
the datapoints that the window and period can have, whether they exist or not (CloudWatch service quotas, for windows
that begin more than three hours ago). A large scan reaches this rate. If another program uses the quota too, AWS
throttles Slackwater, and it slows down.
"""

BURST_S: Final = 1
"""Seconds. The calls of this much time can be sent at once."""

IN_FLIGHT_S: Final = 1
"""Seconds after a throttled call in which further throttled calls are ignored. They were sent before the rate was
lowered.
"""

RECOVERS_S: Final = 60
"""Seconds to recover from zero to the full rate."""

LEAST: Final = 1 / 16
"""Lower bound of the rate, as a fraction of the full rate. A scan must end, however often the rate was halved."""

_POINTS: Final = "points of cloudwatch"


class Bucket:
    """A token bucket that lets `per_second` calls through, and at most one second's worth at once. Thread-safe.

    After a throttled call it continues at half the rate, and returns to the full rate gradually.
    """

    def __init__(
        self,
        per_second: float,
        *,
        share: Callable[[], float],
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Start with a full bucket.

        Args:
            per_second: The full rate.
            share: Returns this process's share of the rate, in (0, 1].
            clock: Returns seconds.
            sleep: Waits for a number of seconds.
        """
        self._full = per_second
        self._share = share
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._low = per_second
        self._at = self._lowered_at = clock()
        self._tokens: float | None = None
        """The tokens available at `_at`, the time of the last reservation. That time can be in the future."""

    def take(self, count: float = 1) -> None:
        """Wait until `count` tokens are available.

        Callers are served in order: each reserves its time, and then waits for it.
        """
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
    """The token buckets of one account: one per service and Region, and one per Region for metric datapoints.

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
        """Create the limits.

        `calls_per_second` overrides entries of CALLS_PER_SECOND. The other arguments are as in `Bucket`.
        """
        self._per_second = {**CALLS_PER_SECOND, **calls_per_second, _POINTS: points_per_second}
        self._bucket = partial(Bucket, share=share, clock=clock, sleep=sleep)
        self._lock = threading.Lock()
        self._buckets = dict[tuple[str, str], Bucket]()

    def call(self, service: str, region: str) -> None:
        """Wait until the service can be called once more. A service without a rate is not limited."""
        if service in self._per_second:
            self._of(service, region).take()

    def points(self, region: str, count: int) -> None:
        """Wait until `count` datapoints can be requested from CloudWatch."""
        self._of(_POINTS, region).take(count)

    def throttled(self, service: str, region: str) -> None:
        """Halve the rate of a service that throttled a call.

        CloudWatch does not say whether calls or datapoints exceeded the limit, so both rates are halved.
        """
        for name in (service, _POINTS) if service == "cloudwatch" else (service,):
            if name in self._per_second:
                self._of(name, region).throttled()

    def _of(self, name: str, region: str) -> Bucket:
        with self._lock:
            if (name, region) not in self._buckets:
                self._buckets[name, region] = self._bucket(self._per_second[name])
            return self._buckets[name, region]
