"""Which audits run, in memory, and limits that go by it."""

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
    """This half of an AuditStore; writes are checked as DynamoDB checks them."""

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
    """Limits of a store's audits, all of whose executions work."""
    return AuditLimits(audits=audits, state=state, spent_usd=spent_usd, clock=clock)
