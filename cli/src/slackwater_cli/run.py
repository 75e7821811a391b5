"""Runs the scan use case under a progress bar, where a signal can end it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from pathlib import Path
from typing import Final

from slackwater.app.wiring import audit
from slackwater.aws.meter import CallMeter
from slackwater.aws.session import AwsSession
from slackwater.engine.registry import registry
from slackwater.model.findings import Scan
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater_cli.progress import progress

GLANCE_S: Final = 0.2


def run_scan(
    session: AwsSession, meter: CallMeter, *, policy: Policy, targets: Sequence[Target], now: datetime, cache_dir: Path | None
) -> Scan:
    """Scan the targets as of `now`."""
    with progress() as tell:
        use_case = audit(session, meter, registry=registry(), policy=policy, cache_dir=cache_dir, progress=tell)
        return interruptible(lambda: use_case.run(targets, now))


def interruptible[T](work: Callable[[], T]) -> T:
    """The work's result. It runs in a thread that a signal abandons, because it would wait for its own threads."""
    future = ThreadPoolExecutor(1).submit(work)
    while not wait([future], GLANCE_S).done:
        pass  # a signal that another thread received is noticed between two waits, not within one
    return future.result()
