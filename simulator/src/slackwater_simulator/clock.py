"""The account's time: it stands still unless moved on, or goes with real time."""

import threading
import time
from collections.abc import Callable


class Clock:
    """Seconds since the fleets' present moment: those it was moved on by, and `speed` for each real one."""

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
        """Move on; never back."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        with self._lock:
            self._advanced += seconds

    @property
    def advanced(self) -> float:
        """Seconds that it was moved on by."""
        with self._lock:
            return self._advanced

    def restore(self, advanced: float) -> None:
        """Go back to a checkpoint of the account, which is the only way back."""
        with self._lock:
            self._advanced = advanced
