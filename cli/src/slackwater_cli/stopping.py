"""Handles Ctrl-C and SIGTERM: the command ends at once, and leaves no partial output."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from slackwater_cli.exits import ExitStatus

GLANCE_S: Final = 0.2
STATUSES: Final = {signal.SIGINT: ExitStatus.INTERRUPTED, signal.SIGTERM: ExitStatus.TERMINATED}


class Stopped(BaseException):
    """The command was interrupted. This is not an Exception, so that no error handler catches it.

    `status` is the exit status. `written` says what was written so far.
    """

    def __init__(self, status: ExitStatus) -> None:
        """Use the exit status of the signal that was received."""
        self.status = status
        self.written = "nothing was written"
        super().__init__(status)


@contextmanager
def stoppable() -> Iterator[None]:
    """While the context lasts, let SIGINT and SIGTERM raise Stopped in the main thread."""
    before = {number: signal.signal(number, _stop) for number in STATUSES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(STATUSES[signal.Signals(number)])


def interruptible[T](work: Callable[[], T]) -> T:
    """Run the work in a thread, and return its result.

    A signal abandons the thread, because the work would otherwise wait for its own threads.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    future = ThreadPoolExecutor(1).submit(work)
    while not wait([future], GLANCE_S).done:
        pass  # Python handles a signal between two waits, not during one, if another thread received it
    return future.result()
