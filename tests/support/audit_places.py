"""The record of running audits, in memory, and audit limits that use it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from threading import Lock
from typing import Any

from slackwater.app.audit.limits import AuditLimits
from slackwater.model.audits import RunningAudits
from slackwater.ports.executions import ExecutionState


@dataclass
class Places:
    """The part of an AuditStore that records running audits. It checks the revision of a write, as DynamoDB does."""

    def __post_init__(self) -> None:
        self.places = RunningAudits(since={})
        self.one_writes = Lock()

    def running(self) -> RunningAudits:
        return self.places

    def write_running(self, running: RunningAudits) -> bool:
        with self.one_writes:
            if running.revision != self.places.revision + 1:
                return False
            self.places = running
            return True


def limits(
    audits: Any,
    clock: Callable[[], datetime],
    state: Callable[[str], ExecutionState] = lambda _: "running",
    spent_usd: Callable[[datetime], Decimal] = lambda _: Decimal(0),
) -> AuditLimits:
    """Return the limits for the audits of a store. By default, all their executions are running."""
    return AuditLimits(audits=audits, state=state, spent_usd=spent_usd, clock=clock)
