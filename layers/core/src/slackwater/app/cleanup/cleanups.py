"""Requests about clean-ups: plan, approve, run, list, stop and undo them.

Nothing here touches a resource. A request is recorded and starts a state machine, which checks everything again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal

from slackwater.app.audit.target_documents import StoredTarget, stored_target
from slackwater.app.findings.by_hand import with_cause
from slackwater.app.findings.findings import (
    ATTEMPTS,
    ConflictError,
    Findings,
    NotAllowedError,
    NotFoundError,
    reason_given,
)
from slackwater.app.policy.file import PolicyError
from slackwater.app.telemetry import LOGGER
from slackwater.engine.cleanup import (
    UNATTENDED,
    account_blocker,
    act_after,
    cap_blocker,
    cleanup_blocker,
    manager_blocker,
    may_approve,
    may_stop,
    recent,
    restored_blocker,
    unattended,
)
from slackwater.engine.savings import Savings, realised, savings
from slackwater.model.candidates import Candidate
from slackwater.model.cleanup import ActorNote, Begun, Cleanup, Control, Stage, left_by
from slackwater.model.listing import MAX_PAGE, FindingQuery, Page
from slackwater.model.ownership import managed_by
from slackwater.model.policy import CleanupSection, Policy, UnattendedTag
from slackwater.model.tracking import SERVICE, Decision, LedgerEntry, TrackedFinding
from slackwater.ports.errors import AwsError
from slackwater.ports.executions import CleanupStarter
from slackwater.ports.store import CleanupStore
from slackwater.views.cleanup.words import NOTHING_STARTED, STARTING, UNCONFIRMED, stage_words
from slackwater.views.scan.document import FindingDocument

type Place = tuple[str, str, str]
"""An audit's id, and the account and region of one of its targets."""

ENABLE: Final = (
    "clean-up is not enabled. To enable it, deploy with CleanupEnabled=true. Until then, Slackwater deletes and "
    "changes nothing"
)
KEEPS_SNAPSHOT: Final = "keep-as-snapshot"
"""The recommendation that prices a volume's snapshot as if every block were in use."""


class NotEnabledError(ConflictError):
    """Clean-up is not deployed."""

    def __init__(self) -> None:
        """Create the error with how to enable clean-up."""
        super().__init__(ENABLE)


class NotApproverError(NotAllowedError):
    """The policy does not let this person approve any finding."""


class CapError(ConflictError):
    """A run would exceed the policy's caps. Nothing was started."""

    def __init__(self, why: str) -> None:
        """Create the error with the cap that would be exceeded."""
        super().__init__(f"{NOTHING_STARTED}{why}")


class StoppedError(ConflictError):
    """Somebody stopped all clean-ups. Nothing was started."""

    def __init__(self, stopped: ActorNote) -> None:
        """Create the error with who stopped them, when and why."""
        super().__init__(
            f"{NOTHING_STARTED}{stopped_words(stopped)}; `slackwater cleanup stop --all --lift` allows them again"
        )
        self.stopped = stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do. The run starts nothing if `over_cap` or `stopped` is set, or if not `enabled`."""

    candidates: tuple[Candidate, ...]
    over_cap: str | None
    stopped: ActorNote | None
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """An approved finding, and whether its clean-up was started; `candidate` is None if clean-up is not enabled."""

    finding: TrackedFinding
    candidate: Candidate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupDetail:
    """A clean-up with its finding's ledger, the oldest entry first. `not_undoable` is None if it can be undone."""

    cleanup: Cleanup
    finding: TrackedFinding | None
    ledger: tuple[LedgerEntry, ...]
    realised_monthly_usd: Decimal | None
    not_undoable: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The number of clean-ups, and the savings of those that have ended."""

    cleanups: int
    savings: Savings


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the newest audit saw of a finding. `problem` is why that is not enough for a clean-up; None if it is."""

    problem: str | None
    tags: Mapping[str, str] | None = None
    evidence: FindingDocument | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanups:
    """The use cases and their dependencies.

    Attributes:
        starter: None if clean-up is not enabled.
        account: The account that clean-up is deployed in. Clean-up starts nothing in other accounts. None if unknown:
            then the first step of each clean-up checks the account.
        breached: Called if a run would exceed the caps, with the reason, the number of clean-ups and the policy.
    """

    store: CleanupStore
    findings: Findings
    starter: CleanupStarter | None
    policy: Callable[[], Policy]
    account: str | None = None
    breached: Callable[[str, int, Policy], None] = lambda *_: None

    # -- Planning

    def plan(self, ids: Iterable[str] | None = None, *, now: datetime) -> Plan:
        """Return what a run now would do with these findings, or with all that are approved or need no approval.

        Raises:
            NotFoundError: There is no finding with one of the ids.
            PolicyError: The policy is invalid or unreadable.
        """
        policy = self.policy()
        candidates = self._candidates(ids, policy, now)
        control = self.store.control()
        return Plan(
            candidates=candidates,
            over_cap=cap_blocker(_wanted(candidates, now), control, policy.cleanup, now),
            stopped=control.stopped,
            enabled=self.starter is not None,
        )

    def _candidates(self, ids: Iterable[str] | None, policy: Policy, now: datetime) -> tuple[Candidate, ...]:
        findings = self._asked_for(policy) if ids is None else [self._finding(id_) for id_ in dict.fromkeys(ids)]
        ids_of: dict[Place, set[str]] = {}
        for finding in findings:
            ids_of.setdefault(_place(finding), set()).add(finding.id)

        @cache
        def target_at(place: Place) -> StoredTarget:
            return stored_target(self.findings.documents, *place, ids_of[place])

        taken: dict[str, str] = {}
        candidates = []
        for finding in findings:
            seen = _seen(finding, target_at(_place(finding)), policy.owners.managed_tags)
            one = self._judged(finding, seen, policy.cleanup, now)
            arn = finding.sighting.resource.arn
            if one.state == "ready" and taken.setdefault(arn, finding.id) != finding.id:
                one = replace(
                    one, state="refused", why=f"the clean-up of finding {taken[arn]} starts first, on the same resource"
                )
            candidates.append(one)
        return tuple(candidates)

    def _asked_for(self, policy: Policy) -> list[TrackedFinding]:
        """Return the approved findings, and those that may need no approval; the caller checks the latter."""
        found = [*self._all(FindingQuery(status="approved", limit=MAX_PAGE))]
        if policy.cleanup.unattended:
            for detector in UNATTENDED:
                found += self._all(FindingQuery(status="open", detector=detector, limit=MAX_PAGE))
        return found

    def _all(self, query: FindingQuery) -> Iterator[TrackedFinding]:
        while True:
            page = self.findings.store.list(query)
            yield from page.items
            if page.cursor is None:
                return
            query = replace(query, cursor=page.cursor)

    def _judged(self, finding: TrackedFinding, seen: _Seen, cleanup: CleanupSection, now: datetime) -> Candidate:
        """Return what a run would do with a finding."""
        record, last = finding.sighting, self.store.get(finding.id)
        rule = unattended(record, seen.tags, cleanup)
        deletes = record.setting is None
        one = Candidate(
            finding=finding,
            state="ready",
            rule=rule,
            acts_after=act_after(now, cleanup, rule, deletes=deletes),
            backup_monthly_usd=_backup_cost(seen.evidence) if deletes else Decimal(0),
            cleanup=last,
        )
        if one.scratch:
            one = replace(one, backup_monthly_usd=Decimal(0))
        if last and last.stage == "starting":
            return replace(one, why=f"{STARTING}. A run requests its start again")
        if last and not last.ended:
            acts_after = last.marked.act_after if last.marked else one.acts_after
            return replace(one, state="under-way", why=_under_way(last), acts_after=acts_after)
        why = (
            _status_blocker(finding)
            or (last and _half_done_blocker(last))
            or account_blocker(record.resource.account, self.account)
            or cleanup_blocker(record, cleanup)
            or (deletes and restored_blocker(seen.tags))
            or permission_blocker(finding, rule, last, cleanup, now)
            or seen.problem
            or self._held(finding)
        )
        return replace(one, state="refused", why=with_cause(why, record, lambda: seen.evidence)) if why else one

    def _held(self, finding: TrackedFinding) -> str | None:
        holder = self.store.holder(finding.sighting.resource.arn)
        return (
            None
            if holder in {None, finding.id}
            else f"the clean-up of finding {holder} is working on the same resource"
        )

    # -- Approving and running

    def approve(self, id: str, *, who: str, fingerprint: str | None = None, now: datetime) -> Approved:
        """Approve the clean-up of a finding, and start it.

        The approval is valid even if the clean-up could not be started. Then the candidate says why, and the next run
        starts it.

        Args:
            id: The finding.
            who: The approver: `slack:U…`, or an identity as in the policy.
            fingerprint: The finding's version that the person saw; None means the current one.
            now: The current time, with a time zone.

        Raises:
            NotAllowedError: The policy does not let this person approve, or does not let anyone approve this finding,
                or clean-up does not work in its account.
            ChangedError, ConflictError, DecidedError, NotFoundError: As in `Findings.approved`.
            PolicyError: The policy is invalid or unreadable.
            AwsError: AWS did not answer. Approving again is safe.
        """
        policy = self.policy()
        check_approver(who, policy.cleanup)
        seen = self._finding(id).sighting
        if why := account_blocker(seen.resource.account, self.account):
            raise NotAllowedError(why)
        last = self.store.get(id)
        tagging = last.marked if last and not last.ended else None
        finding = self.findings.approved(
            id,
            seen.fingerprint if fingerprint is None else fingerprint,
            ActorNote(who=who, why="", at=now),
            policy.cleanup,
            acts_after=tagging.act_after if tagging else None,
        )
        if self.starter is None:
            return Approved(finding=finding, candidate=None)
        try:
            (candidate,) = self._run((id,), policy, self.starter, who=who, now=now)
        except ConflictError as error:  # over the cap, stopped, or other runs interfere
            return Approved(finding=finding, candidate=Candidate(finding=finding, state="refused", why=str(error)))
        return Approved(finding=finding, candidate=candidate)

    def run(self, ids: Iterable[str] | None = None, *, who: str, now: datetime) -> tuple[Candidate, ...]:
        """Start these clean-ups, or all that may start, and return the result for each.

        If the run would exceed a cap, it starts none.

        Raises:
            CapError, StoppedError, NotEnabledError: Nothing was started.
            ConflictError: Other runs kept interfering. Nothing was started.
            NotAllowedError: The policy does not let this person approve. Nothing was started.
            NotFoundError: There is no finding with one of the ids. Nothing was started.
            PolicyError: The policy is invalid or unreadable. Nothing was started.
        """
        if self.starter is None:
            raise NotEnabledError
        policy = self.policy()
        if who != SERVICE:
            check_approver(who, policy.cleanup)
        return self._run(None if ids is None else tuple(ids), policy, self.starter, who=who, now=now)

    def _run(
        self, ids: tuple[str, ...] | None, policy: Policy, starter: CleanupStarter, *, who: str, now: datetime
    ) -> tuple[Candidate, ...]:
        """Do what `run` does. The caller has checked the actor and just read the policy."""
        for _ in range(ATTEMPTS):
            control = self.store.control()
            if control.stopped:
                raise StoppedError(control.stopped)
            candidates = self._candidates(ids, policy, now)
            wanted = _wanted(candidates, now)
            if why := cap_blocker(wanted, control, policy.cleanup, now):
                self.breached(why, len(wanted), policy)
                raise CapError(why)
            if not wanted or self.store.write_control(_counted(control, wanted, now)):
                return tuple(self._begun(one, starter, who, now) if one.state == "ready" else one for one in candidates)
        raise ConflictError(f"{NOTHING_STARTED}other requests start clean-ups at the same time. Try again")

    def _begun(self, one: Candidate, starter: CleanupStarter, who: str, now: datetime) -> Candidate:
        """Record a clean-up and start it. If the start fails, the next run starts it."""
        last = one.cleanup
        cleanup = last if last and not last.ended else _new(one, who, now)
        try:
            if cleanup is not last and not self.store.write(cleanup):
                return replace(one, state="refused", why=self._held(one.finding) or "another run started it first")
            starter.start(cleanup.finding_id, cleanup.execution)
        except AwsError as error:
            return replace(
                one, state="failed", why=f"{UNCONFIRMED}. If it did not start, the next run starts it: {error}"
            )
        return replace(one, state="begun", why="", cleanup=cleanup)

    # -- Reading

    def listed(self, limit: int, cursor: str | None = None) -> Page[Cleanup]:
        """Return a page of clean-ups, newest first.

        Raises:
            BadCursorError: The cursor is not from this list.
        """
        return self.store.list(limit, cursor)

    def totals(self, first: Page[Cleanup], now: datetime) -> Totals:
        """Return the totals of all clean-ups. `first` is the first page; this reads all pages after it."""
        found, cursor = list(first.items), first.cursor
        while cursor is not None:
            page = self.store.list(MAX_PAGE, cursor)
            found += page.items
            cursor = page.cursor
        return Totals(cleanups=len(found), savings=savings(found, now))

    def shown(self, id: str, *, now: datetime) -> CleanupDetail:
        """Return a finding's clean-up with its ledger and the savings that it achieved.

        Raises:
            NotFoundError: This finding has no clean-up.
        """
        cleanup = self._cleanup(id)
        return CleanupDetail(
            cleanup=cleanup,
            finding=self.findings.store.get(id),
            ledger=tuple(self.findings.store.ledger(id)),
            realised_monthly_usd=realised(cleanup, now),
            not_undoable=not_undoable(cleanup),
        )

    def control(self) -> Control:
        """Return whether somebody stopped all clean-ups, and which ones started lately."""
        return self.store.control()

    # -- Stopping and undoing

    def stop(self, id: str, *, who: str, why: str = "", now: datetime) -> Cleanup:
        """Stop one clean-up: its next step cancels it. Stopping it again changes nothing.

        If its execution ended without recording that (aborted, timed out, or its history was full), this starts
        another execution, which cancels the clean-up.

        Approvers and Slack's deciders may stop a clean-up. If the policy cannot be read, anyone may.

        Raises:
            BadDecisionError: The reason cannot be stored.
            ConflictError: The clean-up has ended, is being undone, or others kept changing it.
            NotAllowedError: The policy does not let this person stop it.
            NotFoundError: This finding has no clean-up.
        """
        self._check_stopper(who)
        note = ActorNote(who=who, why=reason_given(why), at=now)
        for _ in range(ATTEMPTS):
            cleanup = self._cleanup(id)
            if cleanup.ended or cleanup.stage == "undoing":
                raise ConflictError(f"cannot stop the clean-up of finding {id}: it {_cannot_stop(cleanup.stage)}")
            stopped = cleanup
            if cleanup.stopped is None:
                stopped = replace(cleanup, stopped=note, revision=cleanup.revision + 1)
                if not self.store.write(stopped):
                    continue
            return self._at_work(stopped) if self.starter else stopped
        raise ConflictError(f"another request is changing the clean-up of finding {id}. Try again")

    def _at_work(self, stopped: Cleanup) -> Cleanup:
        """Ensure that an execution cancels a stopped clean-up. Return the clean-up with that execution's name."""
        if self.starter is None:
            raise NotEnabledError
        id_ = stopped.finding_id
        try:
            state = self.starter.state(stopped.execution)
        except AwsError as error:
            LOGGER.warning("whether its execution works is not known", finding_id=id_, reason=str(error))
            state = "none" if stopped.stage == "starting" else "running"
        if state == "ended":
            anew = replace(stopped, execution=_next(stopped.execution, "stop"), revision=stopped.revision + 1)
            if not self.store.write(anew):
                return self._cleanup(id_)  # its last step, or another person's stop, changed it first
            stopped = anew
        if state != "running":
            self.starter.start(id_, stopped.execution)
        return stopped

    def stop_all(self, *, who: str, why: str = "", now: datetime) -> ActorNote:
        """Stop all running clean-ups, and let none start, until somebody resumes them. Return who stopped them first.

        Raises:
            BadDecisionError, ConflictError, NotAllowedError: As in `stop`.
        """
        self._check_stopper(who)
        note = ActorNote(who=who, why=reason_given(why), at=now)
        control = self._switched(lambda control: control if control.stopped else replace(control, stopped=note))
        return control.stopped or note

    def resume(self, *, who: str) -> ActorNote | None:
        """Let clean-ups start again. Return who had stopped them; None if nobody had.

        Raises:
            ConflictError: As in `stop`.
            NotAllowedError: The policy does not let this person approve.
            PolicyError: The policy is invalid or unreadable.
        """
        check_approver(who, self.policy().cleanup)
        before: list[ActorNote | None] = []

        def lifted(control: Control) -> Control:
            before.append(control.stopped)
            return replace(control, stopped=None)

        self._switched(lifted)
        return next((note for note in before if note), None)

    def undo(self, id: str, *, who: str, why: str = "", now: datetime) -> Cleanup:
        """Restore what was deleted, or change the setting back. A request during an undo returns that undo.

        If the last undo's execution ended without a result, a new one continues from there.

        Raises:
            BadDecisionError: The reason cannot be stored.
            ConflictError: There is nothing to undo, another clean-up holds the resource, or others kept changing it.
            NotAllowedError: The policy does not let this person approve, and so not undo.
            NotEnabledError: Clean-up is not deployed.
            NotFoundError: This finding has no clean-up.
            AwsError: The undo may not have started. Request it again.
        """
        if self.starter is None:
            raise NotEnabledError
        check_approver(who, self.policy().cleanup)
        note = ActorNote(who=who, why=reason_given(why), at=now)
        for _ in range(ATTEMPTS):
            cleanup = self._cleanup(id)
            under_way = cleanup.undo_execution if cleanup.stage == "undoing" else None
            if under_way and not self._is_over(under_way):
                self.starter.undo(id, under_way)
                return cleanup
            if not under_way and (problem := not_undoable(cleanup)) and not _restorable(cleanup):
                raise ConflictError(f"the clean-up of finding {id} cannot be undone: {problem}")
            undoing = _undoing(cleanup, note)
            if self.store.write(undoing):
                self.starter.undo(id, _name(undoing))
                return undoing
            if (holder := self.store.holder(cleanup.resource.arn)) not in {None, id}:
                raise ConflictError(f"the clean-up of finding {holder} is working on the same resource")
        raise ConflictError(f"another request is changing the clean-up of finding {id}. Try again")

    def _is_over(self, undo_execution: str) -> bool:
        """Return whether an undo's execution has ended; False if AWS does not answer."""
        try:
            return self.starter is not None and self.starter.state(undo_execution, undo=True) == "ended"
        except AwsError as error:
            LOGGER.warning("whether its execution works is not known", execution=undo_execution, reason=str(error))
            return False

    def _check_stopper(self, who: str) -> None:
        """Check that the policy lets this person stop clean-ups.

        If the policy cannot be read, anyone may, because stopping is safe.
        """
        try:
            policy = self.policy()
        except (AwsError, PolicyError) as error:
            LOGGER.warning("stopped without asking the policy", who=who, reason=str(error))
            return
        if not may_stop(who, policy):
            name = who.removeprefix("slack:")
            keys = "cleanup.approvers and slack.deciders do" if name != who else "cleanup.approver_identities does"
            raise NotAllowedError(f"the policy's {keys} not name {name}")

    def _switched(self, change: Callable[[Control], Control]) -> Control:
        for _ in range(ATTEMPTS):
            control = self.store.control()
            changed = change(control)
            if changed == control:
                return control
            written = replace(changed, revision=control.revision + 1)
            if self.store.write_control(written):
                return written
        raise ConflictError("other requests start or stop clean-ups at the same time. Try again")

    def _finding(self, id: str) -> TrackedFinding:
        finding = self.findings.store.get(id)
        if finding is None:
            raise NotFoundError(f"there is no finding {id}")
        return finding

    def _cleanup(self, id: str) -> Cleanup:
        cleanup = self.store.get(id)
        if cleanup is None:
            raise NotFoundError(f"there is no clean-up of finding {id}")
        return cleanup


def _place(finding: TrackedFinding) -> Place:
    resource = finding.sighting.resource
    return finding.audit_id, resource.account, resource.region


def _seen(finding: TrackedFinding, of_target: StoredTarget, managed_tags: Sequence[str]) -> _Seen:
    if not of_target.kept:
        return _Seen(f"the results of audit {finding.audit_id} have expired: run a new audit")
    evidence = of_target.findings.get(finding.id)
    tags = evidence["resource"]["tags"] if evidence else None
    region = finding.sighting.resource.region
    problem = (
        None if of_target.whole else f"audit {finding.audit_id} is incomplete in {region}: run a complete one first"
    )
    return _Seen(problem or manager_blocker(managed_by(tags, managed_tags)), tags, evidence)


def permission_blocker(
    finding: TrackedFinding, rule: UnattendedTag | None, last: Cleanup | None, cleanup: CleanupSection, now: datetime
) -> str | None:
    """Return why this finding must not be cleaned up now; None if an approval or a rule of the policy allows it."""
    why = _not_approved(finding, last, cleanup, now)
    if why is None or rule is None:
        return why
    veto = _veto(last)
    return f"{veto.who} stopped or undid it at {_time(veto.at)}, so it needs an approval now" if veto else None


def _not_approved(finding: TrackedFinding, last: Cleanup | None, cleanup: CleanupSection, now: datetime) -> str | None:
    """Return why no approval is valid; None if one is."""
    if finding.status != "approved" or finding.decision is None:
        return f"nobody has approved it. To approve it: `slackwater cleanup approve {finding.id}`"
    return next(_problems_of_approval(finding, finding.decision, last, cleanup, now), None)


def _problems_of_approval(
    finding: TrackedFinding, approval: Decision, last: Cleanup | None, cleanup: CleanupSection, now: datetime
) -> Iterator[str]:
    """Yield each reason why an approval is not valid, the one to report first.

    An approval is for one clean-up. After that one was cancelled or stopped, the finding needs a new approval.
    """
    record, again = finding.sighting, f"run `slackwater findings reopen {finding.id}`, then approve it again"
    if approval.until is not None and approval.until <= now:
        yield f"the approval expired at {_time(approval.until)}. To renew it: `slackwater cleanup approve {finding.id}`"
    if (approval.fingerprint, approval.setting) != (record.fingerprint, record.setting):
        yield f"it has changed since it was approved: {again}"
    if not may_approve(approval.who, cleanup):
        yield f"the policy no longer names {approval.who}, who approved it: {again}"
    if (veto := _veto(last)) and approval.at <= veto.at:
        yield f"{veto.who} stopped or undid it at {_time(veto.at)}, after the approval: {again}"
    if last and last.stage == "called-off" and last.ended_at and approval.at <= last.ended_at:
        yield f"the approved clean-up was cancelled at {_time(last.ended_at)} ({last.why}): {again}"


def _veto(last: Cleanup | None) -> ActorNote | None:
    """Return the last stop or undo of the newest clean-up; None if there is none."""
    note = [one for one in (last.stopped, last.undone) if one] if last else []
    return max(note, key=lambda one: one.at, default=None)


def not_undoable(cleanup: Cleanup) -> str | None:
    """Return why nothing can be undone; None if the clean-up can be undone."""
    return next(_reasons_against_undo(cleanup), None)


def _reasons_against_undo(cleanup: Cleanup) -> Iterator[str]:
    """Yield each reason why an undo is impossible, the one to report first."""
    match cleanup.stage:
        case "starting" | "waiting" | "working" if cleanup.stopped:
            again = f"`slackwater cleanup stop {cleanup.finding_id}`"
            yield f"it is stopped, and Slackwater cancels it within a day. If it does not, run {again} again"
        case "starting" | "waiting" | "working":
            yield f"it has not ended. To stop it: `slackwater cleanup stop {cleanup.finding_id}`"
        case "undoing":
            yield "an undo is already running"
        case "undone":
            yield "it is already undone"
        case _:
            pass
    since = f"; if the resource is deleted now, `slackwater cleanup undo {cleanup.finding_id}` restores it"
    if not _touched(cleanup):
        yield f"it did not delete or change anything{since if _restorable(cleanup) else ''}"
    if cleanup.restored and cleanup.restored.state == "done":
        yield f"the deleted sub-resources are already restored{since if _restorable(cleanup) else ''}"
    if cleanup.not_restored:
        yield cleanup.not_restored
    if cleanup.lost_at:
        yield f"its backup no longer exists, since {_time(cleanup.lost_at)} at the latest"
    if cleanup.deletes and cleanup.scratch and cleanup.stage == "done":
        yield "the policy declared its data scratch, so Slackwater made no backup"


def stopped_words(stopped: ActorNote) -> str:
    """Return who stopped all clean-ups: `jane stopped all clean-ups at 2026-11-16 09:07 UTC: we are moving house`."""
    return f"{stopped.who} stopped all clean-ups at {_time(stopped.at)}{f': {stopped.why}' if stopped.why else ''}"


def check_approver(who: str, cleanup: CleanupSection) -> None:
    """Check that the policy lets this person approve.

    Raises:
        NotApproverError: It does not.
    """
    if may_approve(who, cleanup):
        return
    key, name = ("approvers", who.removeprefix("slack:")) if who.startswith("slack:") else ("approver_identities", who)
    raise NotApproverError(f"the policy's cleanup.{key} does not name {name}")


def _wanted(candidates: Iterable[Candidate], now: datetime) -> list[Begun]:
    ready = (one.finding for one in candidates if one.state == "ready")
    return [Begun(finding_id=one.id, at=now, monthly_usd=one.sighting.monthly_savings_usd) for one in ready]


def _counted(control: Control, wanted: Collection[Begun], now: datetime) -> Control:
    new = {one.finding_id for one in wanted}
    before = (one for one in recent(control.begun, now) if one.finding_id not in new)
    return replace(control, begun=(*before, *wanted), revision=control.revision + 1)


def _new(one: Candidate, who: str, now: datetime) -> Cleanup:
    finding, last, rule = one.finding, one.cleanup, one.rule
    record = finding.sighting
    attempt = last.attempt + 1 if last else 1
    return Cleanup(
        finding_id=finding.id,
        attempt=attempt,
        execution=f"{finding.id}-{attempt}",
        detector=record.detector,
        resource=record.resource,
        owner=record.owner,
        fingerprint=record.fingerprint,
        setting=record.setting,
        requested_by=who,
        started_at=now,
        promised_monthly_usd=record.monthly_savings_usd,
        unattended=rule is not None,
        scratch=one.scratch,
        approved_by=finding.decision.who if finding.status == "approved" and finding.decision else None,
        earlier=left_by(last),
        revision=last.revision + 1 if last else 1,
    )


def _undoing(cleanup: Cleanup, note: ActorNote) -> Cleanup:
    """Return the clean-up with a new undo. The last undo's progress stays, so that the restorer can use it."""
    return replace(
        cleanup,
        stage="undoing",
        undone=note,
        restored=None if _sub_resources_restored(cleanup) else cleanup.restored,
        undo_execution=_next(cleanup.undo_execution or cleanup.execution, "undo"),
        ended_at=None,
        why="",
        revision=cleanup.revision + 1,
    )


def _next(execution: str, what: Literal["stop", "undo"]) -> str:
    """Return the name of the next execution that stops or undoes: `f-1-stop-1`, then `f-1-stop-2`."""
    name, of, n = execution.rpartition(f"-{what}-")
    return f"{name}-{what}-{int(n) + 1}" if of and n.isdecimal() else f"{execution}-{what}-1"


def _name(undoing: Cleanup) -> str:
    return undoing.undo_execution or ""


def _touched(cleanup: Cleanup) -> bool:
    """Return whether something was deleted or changed, or may have been: AWS may have received a failed request."""
    if cleanup.deletes:
        return bool(cleanup.removals) or (cleanup.promised and bool(cleanup.backups))
    return cleanup.changed_at is not None or (cleanup.stage == "failed" and cleanup.was is not None)


def _sub_resources_restored(cleanup: Cleanup) -> bool:
    """Return whether the resource itself was not deleted, and all of its sub-resources are restored."""
    return (
        cleanup.restored is not None and cleanup.restored.state == "done" and cleanup.restored.id == cleanup.resource.id
    )


def _restorable(cleanup: Cleanup) -> bool:
    """Return whether an undo can restore a resource that somebody else deleted after the backup.

    If the resource still exists, the undo does nothing.
    """
    ended = cleanup.stage in {"called-off", "failed"} and (_sub_resources_restored(cleanup) or not _touched(cleanup))
    kept = any(backup.state == "verified" and backup.gone_at is None for backup in cleanup.backups)
    return ended and kept and not cleanup.not_restored


def _half_done_blocker(last: Cleanup) -> str | None:
    """Return why the resource no longer matches its finding; None if it does.

    The reason is a clean-up that ended after it had deleted or changed a part.
    """
    if last.stage in {"failed", "called-off"} and not_undoable(last) is None:
        return (
            f"its last clean-up ended after it had deleted or changed a part of it. Undo that first: "
            f"`slackwater cleanup undo {last.finding_id}`"
        )
    return None


def _status_blocker(finding: TrackedFinding) -> str | None:
    if finding.status in {"open", "approved"}:
        return None
    by = f" by {finding.decision.who}" if finding.decision else ""
    again = f": run `slackwater findings reopen {finding.id}` first" if finding.status == "failed" else ""
    return f"the finding is {finding.status}{by}{again}"


def _under_way(last: Cleanup) -> str:
    if last.stage == "waiting" and last.marked:
        deed = "delete" if last.deletes else "change"
        return f"the resource is tagged. Slackwater can {deed} it after {_time(last.marked.act_after)}"
    return f"its clean-up started at {_time(last.started_at)}, and its stage is now: {stage_words(last.stage)}"


def _cannot_stop(stage: Stage) -> str:
    return "is being undone" if stage == "undoing" else f"has ended ({stage_words(stage)})"


def _backup_cost(evidence: FindingDocument | None) -> Decimal | None:
    """Return the monthly price of a backup; None if the audit did not price it.

    The price is the difference in savings between a deletion with and without a kept snapshot.
    """
    saved: dict[str, Any] = (
        {one["action"]: one["monthly_savings_usd"] for one in evidence["recommendations"]} if evidence else {}
    )
    if evidence is None or evidence["monthly_savings_usd"] is None or saved.get(KEEPS_SNAPSHOT) is None:
        return None
    return Decimal(evidence["monthly_savings_usd"]) - Decimal(saved[KEEPS_SNAPSHOT])


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
