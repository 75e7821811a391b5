"""Says what a command waits for, if it has to wait."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

from slackwater_cli.streams import note

SLOW_S: Final = 0.4


def endpoint_hint() -> str:
    """Return where requests go if not to AWS: ` at http://…`. Empty without AWS_ENDPOINT_URL."""
    url = os.environ.get("AWS_ENDPOINT_URL")
    return f" at {url}" if url else ""


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Write what the block waits for to standard error, unless the block ends within `SLOW_S` seconds."""
    timer = Timer(SLOW_S, note, [f"Waiting for {what} …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
