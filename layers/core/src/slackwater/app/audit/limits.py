"""Limits how many audits run at a time, and how much they spend in a day."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from slackwater.app.findings.findings import ConflictError
from slackwater.engine.authority import BY_IDENTITY_CENTER, SESSION
from slackwater.model.audits import Allowance, AuditRecord, AuditRequest, RunningAudits
from slackwater.model.policy import ScanSection
from slackwater.ports.clock import Clock
from slackwater.ports.executions import ExecutionState
from slackwater.ports.store import AuditStore

TO_START: Final = timedelta(minutes=5)
"""How long an audit counts as running while Step Functions does not find its execution."""
LEAST_USD: Final = Decimal("0.01")
"""The least amount that must be left for an audit to start. Less is shown as zero."""
SPARE_ATTEMPTS: Final = 10
"""How many attempts to register an audit while others start or end, in addition to `scan.most_running_audits`."""
SCHEDULE: Final = "a schedule"
"""The caller of all scheduled audits. No API, command line or Slack member has this name."""
DIED: Final = "its execution ended without putting that on record; Step Functions says why"


class TooManyAuditsError(ConflictError):
    """The maximum number of audits is running. The state machine names this class, and retries for an hour."""

    def __init__(self, running: Collection[str], whose: str = "") -> None:
        """Create the error with the ids of the running audits; `whose` says for whom the limit is, if not for all."""
        are = "1 audit is" if len(running) == 1 else f"{len(running)} audits are"
        super().__init__(f"{are} running, as many as scan.most_running_audits allows{whose}: {', '.join(running)}")
        self.running = tuple(running)


class SpentError(ConflictError):
    """The day's budget for metrics is spent. The state machine names this class, and does not retry."""

    def __init__(self, allowance: Allowance) -> None:
        """Create the error with the amount, and what to do."""
        super().__init__(
            f"{allowance.spent_usd:.2f} of {allowance.most_usd:f} USD are spent on metrics on {allowance.day} (UTC); "
            "audits start again the next day, or once scan.most_metrics_usd_per_day is raised in the policy"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLimits:
    """The limits, with the adapters that they need.

    Attributes:
        state: Returns the state of an audit's execution, by the audit's id.
        spent_usd: Returns what was spent on the day (UTC) of a time.
    """

    audits: AuditStore
    state: Callable[[str], ExecutionState]
    spent_usd: Callable[[datetime], Decimal]
    clock: Clock

    def admit(self, audit_id: str, request: AuditRequest, scan: ScanSection) -> bool:
        """Register an audit as running, or refuse it. One that is already registered, or has ended, is accepted.

        One caller cannot take all places, unless there is only one. If people have taken all places, one scheduled
        audit can still start.

        Returns:
            Whether this call registered it.

        Raises:
            SpentError: The day's budget for metrics is spent.
            TooManyAuditsError: The maximum number of audits is running.
            ConflictError: Others kept starting and ending audits.
        """
        record = self.audits.get(audit_id)
        if record and record.state != "running":
            return False
        for _ in range(scan.most_running_audits + SPARE_ATTEMPTS):
            running = self.audits.running()
            if audit_id in running.since:
                return False
            if (allowance := self.allowance(scan, ())).left_usd < LEAST_USD:
                raise SpentError(allowance)
            since = {id_: at for id_, at in running.since.items() if self._is_running(id_, at)}
            caller = caller_of(request)
            callers = {id_: running.callers.get(id_, "") for id_ in since}
            _check_room(callers, caller, scan.most_running_audits)
            taken = RunningAudits(
                since=since | {audit_id: self.clock()},
                revision=running.revision + 1,
                callers=callers | {audit_id: caller},
            )
            if self.audits.write_running(taken):
                return True
        raise ConflictError("others keep starting audits: try again")

    def allowance(self, scan: ScanSection, running: Collection[str] | None = None) -> Allowance:
        """Return which audits run and how many may, and how much is and may be spent today. Changes nothing.

        Args:
            scan: The policy's section, with the limits.
            running: Ids of the running audits. None counts every registered audit whose record does not say that it has
                ended.
        """
        if running is None:
            known = ((id_, self.audits.get(id_)) for id_ in self.audits.running().since)
            running = [id_ for id_, record in known if record is None or record.state == "running"]
        now = self.clock()
        return Allowance(
            running=tuple(running),
            most_running=scan.most_running_audits,
            day=now.astimezone(UTC).date(),
            spent_usd=self.spent_usd(now),
            most_usd=Decimal(str(scan.most_metrics_usd_per_day)),
        )

    def reconciled(self, record: AuditRecord) -> AuditRecord:
        """Record an audit as failed if its execution is over without a result, and return its record."""
        if record.state != "running" or self.state(record.id) == "running":
            return record
        failed = replace(record, state="failed", finished_at=self.clock(), error=DIED)
        return failed if self.audits.end(failed) else self.audits.get(record.id) or failed

    def _is_running(self, audit_id: str, since: datetime) -> bool:
        record = self.audits.get(audit_id)
        if record:
            return self.reconciled(record).state == "running"
        state = self.state(audit_id)
        return state == "running" or (state == "none" and self.clock() - since < TO_START)


def caller_of(request: AuditRequest) -> str:
    """Return the caller that an audit counts for.

    All sessions of a role are one caller, because a person who assumes the role can choose the session's name. Sessions
    of Identity Center are separate callers, because it names them after its users.
    """
    if request.occasion:
        return SCHEDULE
    session = SESSION.fullmatch(request.requested_by)
    if session and not session["role"].startswith(BY_IDENTITY_CENTER):
        return request.requested_by.removesuffix(f"/{session['session']}")
    return request.requested_by


def _check_room(callers: Mapping[str, str], caller: str, most: int) -> None:
    """Refuse an audit for which there is no place.

    Args:
        callers: Who requested the running audits, by their ids.
        caller: Who requests another one.
        most: How many may run at a time.

    Raises:
        TooManyAuditsError: There is no place for this caller.
    """
    own = [id_ for id_, who in callers.items() if who == caller]
    if len(callers) >= most and (own or caller != SCHEDULE):
        raise TooManyAuditsError(callers)
    if caller != SCHEDULE and len(own) >= max(1, most - 1):
        raise TooManyAuditsError(own, " one caller")
