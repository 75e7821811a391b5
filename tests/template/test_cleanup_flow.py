"""Run the state machines of clean-up and undo: which step follows which answer, the messages, and the end."""

import json
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from slackwater.app.cleanup.back_up import LOOK_AT_BACKUP_S
from slackwater.app.cleanup.case import LONGEST_WAIT, wait_since
from slackwater.app.cleanup.delete import LOOK_AT_PARTS_S, LOOK_AT_TURN_S
from slackwater.app.cleanup.restore import LONGEST_RESTORE, LOOK_AT_RESTORE_S
from slackwater.app.cleanup.warning import UNWARNED_FOR
from slackwater.app.cleanup.watch import LOOK_FOR_DELIVERY, LOOK_IF_GONE_S
from slackwater.model.policy import CleanupSection
from support.asl import MOST_EVENTS, Checkpoint, Clock, Execution, StateError, definition

INPUT = {"finding_id": "f1"}

BEGIN = ["watch.load", "watch.recheck", "watch.mark", "watch.grace", "watch.approval", "watch.begin", "watch.preflight"]
BACK_UP = ["back_up.start", "back_up.look", "back_up.verify", "watch.recheck"]
DELETE = ["delete.delete", "watch.confirm", "watch.record"]
CHANGE = ["change.change", "change.look", "watch.record"]
FLOWS = {"delete": BEGIN + BACK_UP + DELETE, "scratch": BEGIN + DELETE, "change": BEGIN + CHANGE}
UNDOS = {
    "delete": ["watch.undo", "restore.restore", "watch.undone"],
    "change": ["watch.undo", "change.put_back", "watch.undone"],
}

type Answer = dict[str, Any] | Exception | Callable[[Clock], dict[str, Any]]

GO = {"outcome": "go"}
OVER = {"outcome": "over"}
FAILED = {"outcome": "failed"}
WAIT = {"outcome": "wait", "wait_s": 600}


class AccessDeniedError(Exception):
    pass


class BusyError(Exception):
    pass


class UnsafeError(Exception):
    pass


class Run:
    """An execution whose steps answer "go", except for the script. The last answer of a script is repeated."""

    def __init__(self, machine: str = "cleanup", kind: str = "delete", script: dict[str, Any] | None = None) -> None:
        self.clock = Clock()
        self.script: dict[str, list[Answer]] = {
            step: list(answered) if isinstance(answered, list) else [answered]
            for step, answered in (script or {}).items()
        }
        self.kind = kind
        self.steps: list[str] = []
        functions = {
            f"{name}Function": lambda asked, verb=verb: self._step(f"{verb}.{asked['step']}", asked)
            for name, verb in (
                ("Watch", "watch"), ("BackUp", "back_up"), ("Delete", "delete"), ("Change", "change"),
                ("Restore", "restore"),
            )
        }  # fmt: skip
        functions["NotifyFunction"] = self._notify
        self.functions = functions
        self.execution = Execution(definition(machine), functions, INPUT, "f1-1", self.clock)

    def _answer(self, step: str) -> Any:
        answered = self.script.get(step, [self._usual(step)])
        answer = answered.pop(0) if len(answered) > 1 else answered[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(self.clock) if callable(answer) else answer

    def _usual(self, step: str) -> Answer:
        match step:
            case "watch.mark":
                return {
                    "outcome": "go",
                    "kind": self.kind,
                    "wait_until": f"{self.clock.now + timedelta(days=30):%FT%TZ}",
                }
            case "watch.begin" | "watch.undo":
                return {"outcome": "go", "kind": self.kind}
            case "notify":
                return {"waiting": 0, "wait_s": 0}
            case _:
                return GO

    def _step(self, step: str, asked: Any) -> Any:
        self.steps.append(step)
        assert (asked["finding_id"], asked["execution"]) == ("f1", "f1-1")
        return self._answer(step)

    def _notify(self, asked: Any) -> Any:
        assert asked == {}
        self.steps.append("notify")
        return self._answer("notify")

    def run(self) -> "Run":
        self.execution.run()
        return self

    @property
    def done(self) -> list[str]:
        """Return the steps without the notifications."""
        return [step for step in self.steps if step != "notify"]

    @property
    def ended(self) -> str:
        """Return the state in which the execution ended."""
        return self.execution.trace[-1]

    def recorded(self) -> Any:
        """Return the error that was recorded."""
        return next(call.payload["error"] for call in self.execution.calls if "error" in call.payload)


def daily(days: int) -> Answer:
    return lambda clock: {"outcome": "wait", "wait_until": f"{clock.now + timedelta(days=days):%FT%TZ}"}


# -- The normal flow


@pytest.mark.parametrize("kind", FLOWS)
def test_a_clean_up_takes_its_steps_in_this_order(kind: str) -> None:
    run = Run(kind=kind).run()

    assert (run.execution.status, run.ended) == ("SUCCEEDED", "Done")
    assert run.done == FLOWS[kind]
    assert run.steps[-1] == "notify"


@pytest.mark.parametrize("kind", UNDOS)
def test_an_undo_takes_its_steps_in_this_order(kind: str) -> None:
    run = Run("undo", kind).run()

    assert (run.ended, run.steps) == ("Done", [*UNDOS[kind], "notify"])


def test_its_owner_is_notified_before_it_waits_and_after_each_check() -> None:
    run = Run(script={"watch.grace": [daily(1), daily(1), GO], "watch.approval": [daily(1), GO]}).run()

    assert run.steps[: run.steps.index("watch.begin")] == [
        "watch.load", "watch.recheck", "watch.mark", "notify", "watch.grace", "notify", "watch.grace", "notify",
        "watch.grace", "watch.approval", "notify", "watch.approval",
    ]  # fmt: skip
    assert run.execution.waited_s[:4] == [30 * 86_400, 86_400, 86_400, 86_400]


def test_it_waits_as_long_as_the_steps_say() -> None:
    script = {
        "back_up.look": [WAIT, WAIT, GO],
        "delete.delete": [{"outcome": "wait", "wait_s": 7}, GO],
        "watch.confirm": [{"outcome": "wait", "wait_s": 8}, GO],
    }
    run = Run(script=script).run()

    assert run.ended == "Done"
    assert run.execution.waited_s[1:] == [600, 600, 7, 8]
    assert Run(kind="change", script={"change.look": [WAIT, GO]}).run().execution.waited_s[1:] == [600]
    assert Run("undo", script={"restore.restore": [WAIT, WAIT, GO]}).run().execution.waited_s == [600, 600]


# -- Early ends


@pytest.mark.parametrize(
    ("kind", "step", "nth"),
    [
        *(("delete", step, 1) for step in [*BEGIN, "back_up.start", "back_up.look", "back_up.verify", "delete.delete"]),
        ("delete", "watch.recheck", 2),
        ("scratch", "delete.delete", 1),
        ("change", "change.change", 1),
    ],
)
def test_whatever_speaks_against_it_calls_it_off_and_nothing_is_deleted_or_changed(
    kind: str, step: str, nth: int
) -> None:
    usual = Run(kind=kind)._usual(step)
    run = Run(kind=kind, script={step: [usual] * (nth - 1) + [OVER]}).run()

    assert (run.execution.status, run.ended) == ("SUCCEEDED", "CalledOff")
    assert run.steps[-2:] == ["watch.call_off", "notify"]
    before = FLOWS[kind][: [at for at, one in enumerate(FLOWS[kind]) if one == step][nth - 1] + 1]
    assert run.done == [*before, "watch.call_off"]


def test_what_was_taken_off_before_it_was_called_off_is_put_back() -> None:
    script = {"delete.delete": [WAIT, OVER], "watch.call_off": {**GO, "put_back": True}, "restore.restore": [WAIT, GO]}
    run = Run(script=script).run()

    assert run.ended == "CalledOff"
    assert run.steps[-5:] == ["delete.delete", "watch.call_off", "restore.restore", "restore.restore", "notify"]


def test_an_undo_of_nothing_does_nothing() -> None:
    run = Run("undo", script={"watch.undo": OVER}).run()

    assert (run.ended, run.steps) == ("NothingToUndo", ["watch.undo"])


# -- Errors


STEPS = [(kind, at) for kind in FLOWS for at in range(len(FLOWS[kind]))]


@pytest.mark.parametrize(("kind", "at"), STEPS, ids=[f"{kind}-{FLOWS[kind][at]}-{at}" for kind, at in STEPS])
@pytest.mark.parametrize(
    ("error", "tries"), [(AccessDeniedError("no"), 3), (BusyError("no"), 13), (UnsafeError("no"), 1)]
)
def test_a_failed_step_is_recorded_and_reported_and_nothing_more_is_done(
    kind: str, at: int, error: Exception, tries: int
) -> None:
    step, earlier = FLOWS[kind][at], FLOWS[kind][:at]
    run = Run(kind=kind, script={step: [Run(kind=kind)._usual(step)] * earlier.count(step) + [error]}).run()

    name = type(error).__name__
    assert (run.execution.status, run.ended) == ("FAILED", "Failed")
    assert run.done == [*earlier, *[step] * tries, "watch.fail"]
    assert run.steps[-1] == "notify"
    assert run.recorded()["Error"] == run.execution.error == name
    assert json.loads(run.recorded()["Cause"])["errorMessage"] == "no"


@pytest.mark.parametrize("kind", UNDOS)
@pytest.mark.parametrize("at", range(3))
def test_a_failed_step_of_an_undo_is_recorded_and_reported(kind: str, at: int) -> None:
    run = Run("undo", kind, {UNDOS[kind][at]: AccessDeniedError("no")}).run()

    assert (run.ended, run.execution.error) == ("Failed", "AccessDeniedError")
    assert run.steps[-2:] == ["watch.undo_failed", "notify"]


@pytest.mark.parametrize("error", [AccessDeniedError, BusyError])
@pytest.mark.parametrize("step", [*FLOWS["delete"], *CHANGE])
def test_a_step_that_fails_once_is_taken_again_and_nobody_notices(step: str, error: type[Exception]) -> None:
    kind = "change" if step.startswith("change") else "delete"
    run = Run(kind=kind, script={step: [error("no"), Run(kind=kind)._usual(step)]}).run()

    assert run.ended == "Done"
    assert sorted(run.done) == sorted([*FLOWS[kind], step])


@pytest.mark.parametrize(
    ("kind", "step", "error"),
    [
        ("delete", "back_up.start", "BackupFailed"),
        ("delete", "back_up.look", "BackupFailed"),
        ("delete", "back_up.verify", "BackupFailed"),
        ("delete", "delete.delete", "DeleteFailed"),
        ("delete", "watch.confirm", "DeleteFailed"),
        ("change", "change.look", "ChangeFailed"),
    ],
)
def test_what_failed_in_aws_is_a_failure_whose_reason_is_on_record(kind: str, step: str, error: str) -> None:
    run = Run(kind=kind, script={step: FAILED}).run()

    assert (run.ended, run.execution.error) == ("Failed", error)
    assert run.steps[-2:] == ["watch.fail", "notify"]
    assert ("delete.delete" in run.steps) == (error == "DeleteFailed")
    assert "The clean-up's record says" in run.recorded()["Cause"]


@pytest.mark.parametrize("kind", UNDOS)
def test_what_could_not_be_undone_is_a_failure_whose_reason_is_on_record(kind: str) -> None:
    run = Run("undo", kind, {UNDOS[kind][1]: FAILED}).run()

    assert (run.ended, run.execution.error, run.steps[-2:]) == ("Failed", "NotUndone", ["watch.undo_failed", "notify"])


@pytest.mark.parametrize("kind", FLOWS)
def test_an_answer_that_nobody_foresaw_is_a_failure_at_each_step(kind: str) -> None:
    for at, step in enumerate(FLOWS[kind]):
        again = FLOWS[kind][:at].count(step)
        run = Run(kind=kind, script={step: [Run(kind=kind)._usual(step)] * again + [{"outcome": "gone"}]}).run()

        assert (run.ended, run.execution.error) == ("Failed", "UnknownAnswer"), step
        assert run.done == [*FLOWS[kind][: at + 1], "watch.fail"], step


def test_a_kind_that_nobody_foresaw_deletes_nothing() -> None:
    for kind in ("", "DELETE", "volume"):
        run = Run(kind=kind).run()
        assert (run.ended, run.execution.error, run.done) == ("Failed", "UnknownAnswer", [*BEGIN, "watch.fail"])


def test_the_kind_is_that_of_the_last_check_whatever_other_steps_or_the_input_contain() -> None:
    run = Run(kind="delete", script={"watch.preflight": {**GO, "kind": "scratch"}})
    run.execution = Execution(
        definition("cleanup"), run.functions, {**INPUT, "begun": {"answer": {"kind": "scratch"}}}, "f1-1", run.clock
    )

    assert run.run().done == FLOWS["delete"]


def test_what_was_taken_off_before_it_failed_is_put_back_and_it_fails_all_the_same() -> None:
    script = {
        "delete.delete": [WAIT, AccessDeniedError("no")],
        "watch.fail": {**GO, "put_back": True},
        "restore.restore": [WAIT, GO],
    }
    run = Run(script=script).run()

    assert (run.ended, run.execution.error) == ("Failed", "AccessDeniedError")
    assert run.steps[-4:] == ["watch.fail", "restore.restore", "restore.restore", "notify"]


@pytest.mark.parametrize("answer", [FAILED, AccessDeniedError("no"), {"outcome": "gone"}], ids=str)
@pytest.mark.parametrize("first", [AccessDeniedError("first"), OVER], ids=["failed", "called off"])
def test_a_setting_that_cannot_be_put_back_is_reported_once_and_is_a_failure(first: Answer, answer: Answer) -> None:
    back = {**GO, "put_back": True}
    script = {"delete.delete": first, "watch.call_off": back, "watch.fail": back, "restore.restore": answer}
    run = Run(script=script).run()

    assert (run.execution.status, run.ended) == ("FAILED", "Failed")
    assert run.steps[-2:] == ["watch.not_put_back", "notify"]
    assert run.steps.count("watch.not_put_back") == 1


def test_what_cannot_even_be_recorded_fails_with_the_first_error_and_leaves_the_rest_to_the_rule() -> None:
    run = Run(script={"delete.delete": AccessDeniedError("no"), "watch.fail": UnsafeError("no")}).run()

    assert (run.ended, run.execution.error) == ("Failed", "AccessDeniedError")
    assert "restore.restore" not in run.steps


# -- Slack


def test_slack_that_cannot_be_reached_delays_nothing() -> None:
    for kind, steps in FLOWS.items():
        run = Run(kind=kind, script={"notify": AccessDeniedError("no")}).run()
        assert (run.ended, run.done) == ("Done", steps)
    run = Run(script={"notify": AccessDeniedError("no"), "watch.recheck": OVER}).run()
    assert run.ended == "CalledOff"
    run = Run(script={"notify": AccessDeniedError("no"), "watch.recheck": UnsafeError("no")}).run()
    assert (run.ended, run.execution.error) == ("Failed", "UnsafeError")


def test_posts_that_wait_are_tried_again_at_the_end_until_none_does_or_for_hours() -> None:
    waiting = {"waiting": 1, "wait_s": 60}
    run = Run(kind="change", script={"notify": [waiting, waiting, waiting, {"waiting": 0, "wait_s": 0}]}).run()
    never = Run(kind="change", script={"notify": waiting}).run()

    assert (run.ended, run.steps[-3:]) == ("Done", ["notify"] * 3)
    assert never.ended == "Done"
    assert never.execution.waited_s.count(60) >= 3 * 60


# -- Limits of an execution


LOOKS_FOR_APPROVAL = 400
"""The most often that a clean-up checks for its approval."""


def test_the_longest_clean_up_fits_into_a_year_which_is_the_most_that_an_execution_takes() -> None:
    bounds = CleanupSection.model_json_schema()["properties"]
    most = {name: bounds[name]["maximum"] for name in ("grace_days", "approval_days")}

    waits = UNWARNED_FOR + 3 * LONGEST_WAIT  # for Slack; and for a backup, the lock, and AWS's deletions
    assert sum(most.values()) + waits.days <= 365, most


def waits(span: timedelta, least_s: int) -> Answer:
    """Return the answers of a step that waits this long in all, at the product's own intervals."""
    since: list[datetime] = []

    def answer(clock: Clock) -> dict[str, Any]:
        since.append(clock.now)
        return GO if clock.now - since[0] >= span else wait_since(since[0], clock.now, least_s)

    return answer


def looks(span: timedelta, least_s: int) -> float:
    """Return the number of checks in this wait.

    Intervals are `least_s` at first, then a twentieth of the time waited.
    """
    return 20 + math.log(span.total_seconds() / (20 * least_s)) / math.log(21 / 20)


EVENTS_OF_A_LOOK = 9
"""In an execution's history: two for the Wait, five for the Task, two for the Choice."""
LONG = {
    "back_up.look": LOOK_AT_BACKUP_S,
    "delete.delete": LOOK_AT_PARTS_S,
    "watch.confirm": LOOK_IF_GONE_S,
}


@pytest.mark.parametrize("step", LONG)
@pytest.mark.parametrize("days", [7, 14, 60])
def test_a_wait_of_days_takes_as_many_events_as_the_formula_says(step: str, days: int) -> None:
    span = timedelta(days=days)
    usual, run = Run().run(), Run(script={step: [waits(span, LONG[step])]}).run()

    assert run.ended == "Done"
    assert run.execution.clock.now - usual.execution.clock.now >= span
    events = run.execution.events - usual.execution.events
    assert events <= EVENTS_OF_A_LOOK * (looks(span, LONG[step]) + 2)
    assert events < 2_500


@pytest.mark.parametrize(
    ("kind", "step", "least_s"), [("delete", "restore.restore", 600), ("change", "change.put_back", 600)]
)
def test_so_does_a_wait_of_an_undo(kind: str, step: str, least_s: int) -> None:
    span = timedelta(days=7)
    run = Run("undo", kind, {step: [waits(span, least_s)]}).run()

    assert run.ended == "Done"
    assert run.execution.events <= 100 + EVENTS_OF_A_LOOK * (looks(span, least_s) + 2)


def test_the_longest_clean_up_fits_into_the_history_of_an_execution() -> None:
    """Everything takes as long as it may, and in the end Slack never answers.

    The execution checks once a day in the grace period and in the week in which Slack accepts no warning, and hundreds
    of times for an approval. It waits longest for a backup, for the lock, and for AWS to delete 10,000 access points.
    Then it restores what it removed. If restoring took longer than three days, the execution's year would be over, and
    `undo` would restore the rest.
    """
    bounds = CleanupSection.model_json_schema()["properties"]
    grace, approval = (bounds[name]["maximum"] for name in ("grace_days", "approval_days"))
    between = timedelta(days=approval) / LOOKS_FOR_APPROVAL

    def wait(span: timedelta) -> Answer:
        return lambda clock: {"outcome": "wait", "wait_until": f"{clock.now + span:%FT%TZ}"}

    unwarned = math.ceil(looks(UNWARNED_FOR, int(LOOK_FOR_DELIVERY.total_seconds())) + 1)
    at_first = {**WAIT, "wait_s": 1}
    script = {
        "watch.mark": lambda clock: {**GO, "wait_until": f"{clock.now + timedelta(days=1):%FT%TZ}"},
        "watch.grace": [BusyError("no")] * 12
        + [wait(timedelta(days=1))] * grace
        + [wait(timedelta(hours=1))] * unwarned
        + [GO],
        "watch.approval": [BusyError("no")] * 12 + [wait(between)] * LOOKS_FOR_APPROVAL + [GO],
        "back_up.look": [BusyError("no")] * 12 + _answers(LONGEST_WAIT, LOOK_AT_BACKUP_S) + [GO],
        "delete.delete": [BusyError("no")] * 12
        + _answers(LONGEST_WAIT, LOOK_AT_TURN_S)
        + [at_first] * (10_000 // 20)
        + _answers(LONGEST_WAIT, LOOK_AT_PARTS_S)
        + [OVER],
        "watch.call_off": {**GO, "put_back": True},
        "restore.restore": [BusyError("no")] * 12 + _answers(timedelta(days=3), LOOK_AT_RESTORE_S) + [GO],
        "notify": [{"waiting": 1, "wait_s": 60}],
    }
    run = Run(script=script).run()

    assert run.ended == "CalledOff"
    assert run.execution.events < MOST_EVENTS * 0.95


def _answers(span: timedelta, least_s: int) -> list[Answer]:
    """Return the same answers as a list, so that others can follow."""
    clock, answer, found = Clock(), waits(span, least_s), list[Answer]()
    while (answered := answer(clock)) != GO:
        found.append(answered)
        clock.wait(answered["wait_s"])
    return found


def test_the_longest_undo_fits_into_the_history_of_an_execution() -> None:
    script = {"restore.restore": [waits(LONGEST_RESTORE, LOOK_AT_RESTORE_S)], "notify": {"waiting": 1, "wait_s": 60}}
    run = Run("undo", script=script).run()

    assert run.ended == "Done"
    assert run.execution.events < MOST_EVENTS / 2


# -- Killed


@pytest.mark.parametrize("kind", FLOWS)
def test_an_execution_continues_from_every_boundary_as_if_nothing_had_happened(kind: str) -> None:
    whole = Run(kind=kind)
    boundaries: list[tuple[Checkpoint, int]] = []
    while whole.execution.checkpoint:
        boundaries.append((whole.execution.checkpoint, len(whole.steps)))
        whole.execution.step()

    for checkpoint, taken in boundaries:
        rest = Run(kind=kind)
        rest.execution = Execution(
            definition("cleanup"), rest.functions, INPUT, "f1-1", rest.clock, checkpoint=checkpoint
        )
        assert rest.run().ended == "Done"
        assert rest.steps == whole.steps[taken:], checkpoint.state


def test_a_time_may_have_an_offset() -> None:
    run = Run(script={"watch.mark": {**GO, "wait_until": "2026-12-16T09:00:00+00:00"}}).run()

    assert run.execution.waited_s[0] == 30 * 86_400


def test_an_error_with_a_name_that_is_no_class_is_handled_the_same_way() -> None:
    run = Run(script={"delete.delete": StateError("Sandbox.Timedout", "after 900 s")}).run()

    assert (run.ended, run.execution.error, run.steps.count("delete.delete")) == ("Failed", "Sandbox.Timedout", 3)
