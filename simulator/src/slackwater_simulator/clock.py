"""Keep the account's time, which stands still, is advanced by the caller, or follows real time."""

import threading
import time
from collections.abc import Callable


class Clock:
    """Seconds since the fleets' present moment: those added by `advance`, plus `speed` for each real second."""

    def __init__(self, speed: float = 0.0, real: Callable[[], float] = time.monotonic) -> None:
        self._speed, self._real = speed, real
        self._began = real()
        self._advanced = 0.0
        self._lock = threading.Lock()

    @property
    def elapsed(self) -> float:
        """Seconds since the fleets' present moment."""
        with self._lock:
            return self._advanced + (self._real() - self._began) * self._speed

    def advance(self, seconds: float) -> None:
        """Add seconds. Time never goes backwards."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        with self._lock:
            self._advanced += seconds

    @property
    def advanced(self) -> float:
        """Seconds added by `advance`."""
        with self._lock:
            return self._advanced

    def restore(self, advanced: float) -> None:
        """Go back to a checkpoint of the account. Nothing else turns the clock back."""
        with self._lock:
            self._advanced = advanced
