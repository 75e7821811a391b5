"""A small world: one account with one resource to clean up, its stores and its execution. It is saved and loaded whole.

A *step* is one attempt of one task of the real state machine, with what follows it up to the next task. Or it is one
item of the plan: what the scheduler and people do after the clean-up has ended. Between two steps the whole state is
data: a `Snapshot`.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from explorer.facts import DAY, EVENTS_LATE_S, METRICS_LATE_S, Facts
from explorer.kinds import EXPLORED, WORDS
from explorer.oracle import Oracle
from explorer.stepper import Stepper, definitions
from explorer.wire import Dice, Dies, Ends, Gate, Wire, line
from slackwater.app.findings.findings import ConflictError
from slackwater.app.policy.file import parse_policy
from slackwater.engine.registry import registry
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.posts import Sent
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Fleet, instant
from support.asl import Checkpoint, StateError
from support.cleanup_world import ACCOUNT, APPROVER, NOW, REGION, World, wired

MOST_STEPS: Final = 1_000
"""Most steps of one branch, from begin to end. Undisturbed it takes about thirty, with an approval some hundreds."""


THEIRS: Final = "5f0c0de5f0c0de5f0c0de5f0c0de0002"
"""The other installation's id."""

FORK: Final = "fork"
DELETED: Final = (FORK, "sweep later", "undo", "undo again", "sweep later", "undo again", "sweep later")
KEPT: Final = ("sweep almost", "sweep after")
CHANGED: Final = ("settled", "undo later", "undo again")


@dataclass(frozen=True)
class Position:
    """Where the world is. `plan` is what comes after the current execution. `machine` is None if no execution runs."""

    plan: tuple[str, ...]
    machine: str | None = None
    name: str = ""
    state: str = ""
    data: str = "{}"
    tries: tuple[tuple[int, int], ...] = ()
    events: int = 1
    started: float = 0.0
    failed: bool = False
    payloads: tuple[tuple[str, str], ...] = ()
    """Each different task that was started so far. A late duplicate of it can come at any time."""
    steps: int = 0
    denied: tuple[str, ...] = ()
    slack_down: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The whole state at the beginning of a step."""

    account: Any
    clock: float
    cleanups: dict[str, Cleanup]
    holds: dict[str, str]
    control: Control
    findings: dict[str, Any]
    entries: tuple[Any, ...]
    posts: dict[str, Any]
    documents: dict[str, Any]
    policies: tuple[Any, ...]
    theirs: dict[str, Cleanup]
    started: tuple[Any, ...]
    drawn: int
    facts: Facts
    position: Position


class Small:
    """The world of one kind. Its clock is the simulator's."""

    def __init__(self, kind: str, dice: Dice) -> None:
        self.kind, self.dice, self.wire = kind, dice, Wire()
        make, self.detector, self.name = EXPLORED[kind]
        build = Builder(instant(NOW), REGION)
        make(build)
        fleet: Fleet = build.fleet(ACCOUNT)
        self.simulator = self.wire.simulator = Simulator(fleet)
        self.simulator._server.server_close()  # no request comes by HTTP
        self.simulator.faults.unthrottle("cloudtrail:LookupEvents")
        self.account.late.metrics, self.account.late.events = METRICS_LATE_S, EVENTS_LATE_S
        sessions, policy = line(self.wire), parse_policy(WORDS, "slackwater.toml", registry())
        self.ours: World = wired(self.simulator, policy, sessions, self.wire.watched)
        self.theirs: World = wired(self.simulator, policy, sessions, installation=THEIRS)
        found = [one for one in self.ours.findings.findings.values() if one.sighting.detector == self.detector]
        self.finding_id = next(one.id for one in found if one.sighting.resource.name == self.name)
        self.resource = self.ours.findings.findings[self.finding_id].sighting.resource
        self.deletes = self.ours.findings.findings[self.finding_id].sighting.deletes
        self.fresh = dict(self.ours.findings.findings)
        self.generation = 0
        self.gate: Gate | None = None
        self.wire.gate = self._pass
        self.oracle = Oracle(self)
        self.position = Position(plan=())
        self.ours.starter.running = self._runs
        self._their_past()
        self.begin()

    # -- Where it is

    @property
    def account(self) -> Any:
        return self.simulator.account

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.account.now, UTC)

    def wait(self, seconds: float) -> None:
        """Let time pass. Executions use this as their clock."""
        self.simulator.advance(seconds)
        self.oracle.look("time")

    def cleanup(self) -> Cleanup | None:
        return self.ours.cleanups.cleanups.get(self.finding_id)

    def save(self) -> Snapshot:
        ours = self.ours
        return Snapshot(
            account=self.account.checkpoint(),
            clock=self.simulator.clock.advanced,
            cleanups=dict(ours.cleanups.cleanups),
            holds=dict(ours.cleanups.holds),
            control=ours.cleanups.control_,
            findings=dict(ours.findings.findings),
            entries=tuple(ours.findings.entries),
            posts=dict(ours.outbox.posts),
            documents={key: list(texts) for key, texts in ours.documents.texts.items()},
            policies=tuple(ours.policies),
            theirs=dict(self.theirs.cleanups.cleanups),
            started=tuple(ours.starter.started),
            drawn=self.dice.drawn,
            facts=self.oracle.facts,
            position=self.position,
        )

    def load(self, was: Snapshot) -> None:
        ours = self.ours
        self.account.restore(was.account)
        self.simulator.clock.restore(was.clock)
        self.simulator.faults.clear()
        self.simulator.faults.unthrottle("cloudtrail:LookupEvents")
        for action in was.position.denied:
            self.simulator.faults.deny(action)
        ours.cleanups.cleanups, ours.cleanups.holds = dict(was.cleanups), dict(was.holds)
        ours.cleanups.control_ = was.control
        ours.findings.findings, ours.findings.entries = dict(was.findings), list(was.entries)
        ours.outbox.posts = dict(was.posts)
        ours.documents.texts = {key: list(texts) for key, texts in was.documents.items()}
        ours.policies[:] = was.policies
        self.theirs.cleanups.cleanups = dict(was.theirs)
        ours.starter.started = list(was.started)
        self.dice.drawn = was.drawn
        self.oracle.facts, self.position = was.facts, was.position

    def _runs(self, execution: str) -> bool:
        """Return whether an execution of this name runs, or is about to start."""
        cleanup, here = self.cleanup(), self.position
        begun = "undo begun" in here.plan and cleanup is not None and cleanup.undo_execution == execution
        return begun or (here.machine is not None and here.name == execution)

    # -- What happens

    def begin(self) -> None:
        """Approve the finding, unless the policy allows its clean-up without approval, and begin the clean-up."""
        finding = self.ours.findings.findings[self.finding_id]
        if self.kind != "efs-abandoned":
            self.ours.approve(finding)
        cleanup = self.ours.begin(finding)
        plan = ("settled", *DELETED) if self.deletes else CHANGED
        self._execute("cleanup", cleanup.execution, plan)

    def redeploy(self) -> None:
        """Deploy the stack anew, with an empty table. The next audit finds what is there, and a person approves it."""
        ours = self.ours
        ours.cleanups.cleanups, ours.cleanups.holds, ours.cleanups.control_ = {}, {}, Control()
        ours.findings.findings, ours.findings.entries, ours.outbox.posts = dict(self.fresh), [], {}
        ours.starter.started = []
        self.oracle.redeployed()
        if self.oracle.there(self.resource.id):
            self.begin()
        else:
            self.position = replace(
                self.position, plan=("sweep later",), machine=None, tries=(), payloads=(), failed=False
            )

    def step(self) -> str:
        """Run one step and return its name. The state machine handles simulated crashes of workers."""
        self.oracle.stepping()
        self.position = replace(self.position, steps=self.position.steps + 1)
        try:
            named = self._task() if self.position.machine else self._planned()
        except Ends:
            named = "ended from outside"
        if self.position.steps >= MOST_STEPS:
            self.oracle.says("I5", "endless", f"{MOST_STEPS} steps, and still in {self.position.state}")
            self.position = replace(self.position, machine=None, plan=())
        return named

    @property
    def over(self) -> bool:
        return not self.position.machine and not self.position.plan

    def branches(self) -> list[Position]:
        """Return the positions from which the world continues.

        There are two where people can decide one way or the other.
        """
        plan = self.position.plan
        if self.position.machine or not plan or plan[0] != FORK:
            return [self.position]
        return [replace(self.position, plan=plan[1:]), replace(self.position, plan=KEPT)]

    # -- Steps

    def _task(self) -> str:
        here = self.position
        assert here.machine
        name, generation = here.state, self.generation
        stepper = Stepper(
            definitions(here.machine),
            self._functions(),
            {"finding_id": self.finding_id},
            name=here.name,
            clock=self,
            checkpoint=Checkpoint(here.state, json.loads(here.data)),
            events=here.events,
            tries=dict(here.tries),
        )
        stepper.started = datetime.fromtimestamp(here.started, UTC)
        more = stepper.try_once()
        if self.position.machine is None or self.generation != generation:
            return name  # the execution was ended, or another one replaced it
        if more and stepper.checkpoint:
            self.position = replace(
                self.position,
                state=stepper.checkpoint.state,
                data=json.dumps(stepper.checkpoint.data, sort_keys=True),
                tries=tuple(sorted(stepper.tries.items())),
                events=stepper.events,
            )
        else:
            if stepper.error in {"States.Runtime", "States.Timeout", "States.DataLimitExceeded"}:
                self.oracle.says("I5", "history", f"{stepper.error}: {stepper.cause}")
            plan = self.position.plan
            if stepper.status == "FAILED":
                plan = (f"told that {here.machine} failed", *plan)
            self.simulator.faults.clear()
            self.simulator.faults.unthrottle("cloudtrail:LookupEvents")
            self.position = replace(self.position, plan=plan, machine=None, tries=(), denied=(), payloads=())
            self.oracle.ended()
        return name

    def _functions(self) -> dict[str, Callable[[Any], Any]]:
        def wrapped(name: str, call: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def invoked(payload: Any) -> Any:
                key = (name, json.dumps(payload, sort_keys=True))
                if key not in self.position.payloads:
                    self.position = replace(self.position, payloads=(*self.position.payloads, key))
                try:
                    return call(deepcopy(payload))
                except Dies as died:
                    raise StateError("Lambda.Unknown", "the worker died") from died

            return invoked

        functions = {name: wrapped(name, call) for name, call in self.ours.functions.items()}
        return functions | {"NotifyFunction": self._deliver}

    def _deliver(self, _: Any) -> Any:
        """Deliver the waiting posts, unless Slack is down.

        Always report that nothing waits, so that no execution waits.
        """
        if not self.position.slack_down:
            for id_, post in self.ours.outbox.posts.items():
                if post.waits:
                    sent = Sent(channel=post.channel or "C0", ts=str(self.account.now))
                    self.ours.outbox.posts[id_] = replace(
                        post, state="sent", sent=sent, sent_at=self.now, revision=post.revision + 1
                    )
        return {"waiting": 0, "wait_s": 0}

    def _planned(self) -> str:
        item, *rest = self.position.plan
        self.position = replace(self.position, plan=tuple(rest))
        match item:
            case "settled":
                self._wait_for_aws()
            case "undo" | "undo again":
                self._undo(again=item == "undo again")
            case "undo begun":
                cleanup = self.cleanup()
                if cleanup and cleanup.stage == "undoing":
                    self._execute("undo", cleanup.undo_execution or "", self.position.plan)
            case "undo later":
                self.wait(2 * DAY)
                self._undo(again=False)
            case "sweep later":
                self.wait(2 * DAY)
                self._sweep()
            case "sweep almost":
                self.wait(max(0.0, self.oracle.kept_until() - 3_600 - self.account.now))
                self._sweep()
            case "sweep after":
                self.wait(max(0.0, self.oracle.kept_until() + 2 * DAY - self.account.now))
                self._sweep()
                self._sweep_at_last()
            case "told that cleanup failed" | "told that undo failed":
                self._announced(item.split()[2])
        return item

    def _announced(self, machine: str) -> None:
        """Let EventBridge report a failed execution to WatchFunction, with two retries."""
        step = "fail" if machine == "cleanup" else "undo_failed"
        error = {"Error": "Execution", "Cause": "FAILED"}
        payload = {"step": step, "finding_id": self.finding_id, "execution": self.position.name, "error": error}
        for _ in range(3):
            try:
                self.ours.functions["WatchFunction"](payload)
            except (Exception, Dies):  # noqa: BLE001 -- Lambda retries an asynchronous event twice
                continue
            return

    def _wait_for_aws(self) -> None:
        """Do what a person does about a clean-up that no execution continues."""
        cleanup = self.cleanup()
        if cleanup is None or cleanup.ended:
            return
        if cleanup.stage == "undoing":  # docs/troubleshooting.md: if an undo died, request it again
            self._undo(again=False, who=self._who_may())
            return
        before = {*self.ours.starter.started}
        try:
            self.ours.people.stop(self.finding_id, who=self._who_may(), why="stuck", now=self.now)
        except Exception as error:  # noqa: BLE001 -- any error means that it did not help
            self.oracle.says(
                "I5", "stuck", f"the clean-up is {cleanup.stage}, nothing works on it, and stop says: {error}"
            )
            return
        after = self.cleanup()
        if after and not after.ended and {*self.ours.starter.started} - before:
            self._execute("cleanup", after.execution, ("settled", *self.position.plan))
        elif after and not after.ended:
            self.oracle.says(
                "I5", "stuck", f"the clean-up is {after.stage}, nothing works on it, and stop changes nothing"
            )

    def _who_may(self) -> str:
        """Return an approver whom the policy names now."""
        newest = self.ours.policies[-1]
        named = () if isinstance(newest, Exception) else newest.cleanup.approver_identities
        return str(next(iter(named), APPROVER))

    def _undo(self, *, again: bool, who: str = APPROVER) -> None:
        cleanup = self.cleanup()
        if cleanup is None or cleanup.stage == "undone":
            return
        try:
            undoing = self.ours.people.undo(self.finding_id, who=who, now=self.now)
        except ConflictError as error:
            self.oracle.refused_undo(str(error))
        except Exception:  # noqa: BLE001 -- the policy cannot be read, or names nobody: no violation
            pass
        else:
            self._execute("undo", undoing.undo_execution or "", self.position.plan)

    def _sweep(self) -> None:
        try:
            swept = self.ours.sweep.sweep()
        except Dies:
            return  # the next sweep sees the rest
        # Messages about findings are about what the sweep has seen.
        unread = [one for one in swept.troubles if not one.startswith("finding ")]
        if not unread:  # the sweep cannot judge what it could not read; the next one can
            self.oracle.swept()

    def _sweep_at_last(self) -> None:
        """Let a day pass, and sweep undisturbed."""
        self.gate = None
        self.simulator.faults.clear()
        self.wait(DAY)
        self.oracle.stepping()
        self.ours.sweep.sweep()
        self.oracle.swept()
        self.oracle.swept_at_last()

    def _execute(self, machine: str, name: str, plan: tuple[str, ...]) -> None:
        self.generation += 1
        start = definitions(machine)["StartAt"]
        data = json.dumps({"finding_id": self.finding_id})
        self.position = Position(
            plan=plan,
            machine=machine,
            name=name,
            state=start,
            data=data,
            started=float(self.account.now),
            steps=self.position.steps,
            slack_down=self.position.slack_down,
        )

    def _their_past(self) -> None:
        """Let another installation find the same resource, back nothing up, and cancel its clean-up."""
        finding = self.theirs.findings.findings[self.finding_id]
        self.theirs.begin(finding)
        store = self.theirs.cleanups.cleanups
        store[self.finding_id] = replace(store[self.finding_id], stage="called-off", ended_at=self.now, why="stopped")

    def _pass(self, point: Any) -> Any:
        try:
            return self.gate(point) if self.gate else point.ask()
        finally:
            self.oracle.look(point.name)
