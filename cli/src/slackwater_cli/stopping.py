"""Ctrl-C and SIGTERM: the command ends at once, and leaves nothing half done."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from slackwater_cli.exits import ExitStatus

GLANCE_S: Final = 0.2
STATUSES: Final = {signal.SIGINT: ExitStatus.INTERRUPTED, signal.SIGTERM: ExitStatus.TERMINATED}


class Stopped(BaseException):
    """The command was interrupted. It is no Exception, so that no handler of errors catches it.

    `status` is the exit status. `written` says what was written so far.
    """

    def __init__(self, status: ExitStatus) -> None:
        """By the signal that came."""
        self.status = status
        self.written = "nothing was written"
        super().__init__(status)


@contextmanager
def stoppable() -> Iterator[None]:
    """Signals that end the command raise Stopped, in the main thread, as long as the context lasts."""
    before = {number: signal.signal(number, _stop) for number in STATUSES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(STATUSES[signal.Signals(number)])


def interruptible[T](work: Callable[[], T]) -> T:
    """The work's result. It runs in a thread that a signal abandons, because it would wait for its own threads."""
    from concurrent.futures import ThreadPoolExecutor, wait

    future = ThreadPoolExecutor(1).submit(work)
    while not wait([future], GLANCE_S).done:
        pass  # a signal that another thread received is noticed between two waits, not within one
    return future.result()
