"""Run the audit's state machine with stubs for its functions."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.asl import Execution, StateError
from support.asl import definition as machine

EUROPE, JAPAN = ({"account": "1", "region": region, "partition": "aws"} for region in ("eu-west-1", "ap-northeast-1"))
REQUEST = {"requested_by": "schedule", "occasion": "weekly/2026-11-16T09:00:00Z"}


def done(payload: Any) -> Any:
    """Scan every target completely in one call."""
    return {"todo": [], "left": 0} if "todo" in payload else {"next_part": 0}


def task(target: Any, part: int = 1) -> dict[str, Any]:
    return {"target": target, "part": part}


def batch(*targets: Any) -> dict[str, Any]:
    return {"todo": [task(target) for target in targets]}


def left(*tasks: Any) -> dict[str, Any]:
    """Return the result of a batch call that could not scan everything."""
    return {"todo": list(tasks), "left": len(tasks)}


def ends(state: str) -> Callable[[Any], Any]:
    """Return a PublishFunction that ends the audit in this state, or as failed if it gets an error."""
    return lambda asked: {"audit_id": asked["audit_id"], "state": "failed" if "error" in asked else state}


def fails(error: str, times: int = 1000) -> Callable[[Any], Any]:
    """Return a function that fails this many times, and then scans."""
    left = iter(range(times))

    def function(payload: Any) -> Any:
        if next(left, None) is not None:
            raise StateError(error, "why")
        return done(payload)

    return function


@pytest.fixture
def audit(deploy: Any) -> Callable[..., tuple[str, Execution]]:
    """Return a function that runs an audit of two regions. It returns how the audit ended, and the execution."""

    def run(
        parameters: dict[str, str] | None = None, batches: Any = (), **functions: Callable[[Any], Any]
    ) -> tuple[str, Execution]:
        substitutions = deploy(**(parameters or {}))["AuditStateMachine"]["DefinitionSubstitutions"]
        execution = Execution(
            machine("audit", substitutions),
            {
                "PlanFunction.Arn": lambda asked: asked | {"duplicate": False, "to_scan": 2},
                "ScanFunction.Arn": done,
                "PublishFunction.Arn": ends("complete"),
                "NotifyFunction.Arn": lambda _: {"waiting": 0, "wait_s": 0},
            }
            | {f"{name.title()}Function.Arn": function for name, function in functions.items()},
            REQUEST,
            "a-1",
            bucket={"audits/a-1/batches.json": json.dumps(batches or [batch(EUROPE), batch(JAPAN)])},
        ).run()
        return "succeeded" if execution.error is None else f"{execution.error}: {execution.cause}", execution

    return run


def asked(execution: Execution, function: str) -> list[Any]:
    return execution.asked(f"{function}Function.Arn")


def recorded(error: str) -> dict[str, Any]:
    return {"audit_id": "a-1", "request": REQUEST, "error": {"Error": error, "Cause": "why"}}


def test_every_target_of_the_plan_is_scanned_and_the_results_published(audit: Any) -> None:
    ended, execution = audit()

    assert ended == "succeeded"
    (plan,) = asked(execution, "Plan")
    assert (plan["audit_id"], plan["request"]) == ("a-1", REQUEST)
    assert plan["machine"].startswith("arn:aws:states:")
    assert asked(execution, "Scan") == [{"audit_id": "a-1"} | batch(target) for target in (EUROPE, JAPAN)]
    assert asked(execution, "Publish") == [{"audit_id": "a-1"}]


def test_a_target_that_is_too_large_for_one_function_is_scanned_part_by_part(audit: Any) -> None:
    def scan(asked: Any) -> Any:
        if "todo" in asked:
            return left(*(task(one["target"], 2) for one in asked["todo"]))
        return {"next_part": asked["part"] + 1 if asked["part"] < 3 else 0}

    ended, execution = audit(scan=scan, batches=[batch(EUROPE, JAPAN)])

    assert ended == "succeeded"
    assert asked(execution, "Scan") == [
        {"audit_id": "a-1"} | batch(EUROPE, JAPAN),
        *({"audit_id": "a-1"} | task(target, part) for target in (EUROPE, JAPAN) for part in (2, 3)),
    ]
    assert asked(execution, "Publish") == [{"audit_id": "a-1"}]


def test_an_audit_of_accounts_none_of_which_can_be_entered_is_published_and_scans_nothing(audit: Any) -> None:
    ended, execution = audit(plan=lambda asked: asked | {"duplicate": False, "to_scan": 0}, publish=ends("failed"))

    assert ended.startswith("NothingScanned: ")
    assert asked(execution, "Scan") == []
    assert asked(execution, "Publish") == [{"audit_id": "a-1"}]


def test_it_scans_as_many_regions_at_once_as_the_parameters_say(audit: Any) -> None:
    assert audit()[1].at_once == 8
    assert audit({"ScanConcurrency": "3"})[1].at_once == 3
    assert audit({"ScanConcurrency": "3", "ScanReservedConcurrency": "5"})[1].at_once == 5


def kept(target: Any, error: str) -> dict[str, Any]:
    return {"audit_id": "a-1", "target": target, "error": {"Error": error, "Cause": "why"}}


def test_why_a_target_could_not_be_scanned_is_kept_for_the_audits_end(audit: Any) -> None:
    def scan(payload: Any) -> Any:
        if "todo" in payload or payload["target"] == EUROPE:
            raise StateError("Sandbox.Timedout", "why")
        return done(payload)

    ended, execution = audit(scan=scan, batches=[batch(EUROPE, JAPAN)])

    assert ended == "succeeded"
    assert [one["target"] for one in asked(execution, "Scan")[1:]] == [EUROPE, EUROPE, JAPAN]
    assert asked(execution, "Publish") == [kept(EUROPE, "Sandbox.Timedout"), {"audit_id": "a-1"}]


def test_a_target_whose_error_cannot_even_be_kept_spoils_nothing(audit: Any) -> None:
    def publish(payload: Any) -> Any:
        if "target" in payload:
            raise StateError("Sandbox.Timedout", "why")
        return {"audit_id": payload["audit_id"], "state": "incomplete"}

    ended, execution = audit(scan=fails("Sandbox.Timedout"), publish=publish, batches=[batch(EUROPE, JAPAN)])

    assert ended == "succeeded"
    assert {one["target"]["region"] for one in asked(execution, "Scan")[1:]} == {"eu-west-1", "ap-northeast-1"}
    assert asked(execution, "Publish")[-1] == {"audit_id": "a-1"}


def test_what_is_left_of_a_batch_is_scanned_by_itself(audit: Any) -> None:
    ended, execution = audit(
        scan=lambda asked: left(task(JAPAN)) if "todo" in asked else done(asked), batches=[batch(EUROPE, JAPAN)]
    )

    assert ended == "succeeded"
    assert asked(execution, "Scan")[1:] == [{"audit_id": "a-1"} | task(JAPAN)]
    assert execution.status == "SUCCEEDED"


def test_a_batch_whose_targets_are_all_scanned_takes_three_transitions(audit: Any, states: dict[str, Any]) -> None:
    inside = Execution(
        {"StartAt": "ScanBatch", "States": states},
        {"${ScanFunctionArn}": done},
        {"audit_id": "a-1", "work": batch(EUROPE, JAPAN)},
    ).run()

    assert inside.trace == ["ScanBatch", "IsAnyLeft", "BatchScanned"]


@pytest.mark.parametrize(("error", "times"), [("Lambda.TooManyRequestsException", 60), ("Sandbox.Timedout", 1)])
def test_a_scan_is_tried_again_patiently_where_none_could_run_and_once_where_it_ended(
    audit: Any, error: str, times: int
) -> None:
    _, execution = audit(scan=fails(error, times), batches=[batch(EUROPE, JAPAN)])

    scans = asked(execution, "Scan")
    # After a call that ended without an answer, each target is scanned once more, by itself.
    by_itself = [EUROPE, JAPAN] if error == "Sandbox.Timedout" else []
    assert [one["target"] for one in scans if "target" in one] == by_itself
    assert len(scans) == 1 + (times if not by_itself else 2)
    assert asked(execution, "Publish") == [{"audit_id": "a-1"}]


def test_a_turn_that_belongs_to_another_audit_ends_well_and_does_nothing(audit: Any) -> None:
    ended, execution = audit(plan=lambda asked: asked | {"duplicate": True, "to_scan": 0})

    assert ended == "succeeded"
    assert [call.function for call in execution.calls] == ["PlanFunction.Arn"]


@pytest.mark.parametrize(("error", "tries"), [("PolicyError", 1), ("AuditRequestError", 1), ("Sandbox.Timedout", 3)])
def test_an_audit_that_cannot_be_planned_is_recorded_as_failed_and_fails(audit: Any, error: str, tries: int) -> None:
    ended, execution = audit(plan=fails(error))

    assert ended == f'{error}: {{"Error": "{error}", "Cause": "why"}}'
    assert len(asked(execution, "Plan")) == tries
    assert asked(execution, "Scan") == []
    assert asked(execution, "Publish") == [recorded(error)]


def test_an_audit_that_cannot_be_published_is_recorded_as_failed_and_fails(audit: Any) -> None:
    def publish(payload: Any) -> Any:
        if "error" not in payload:
            raise StateError("Sandbox.Timedout", "why")
        return {"audit_id": payload["audit_id"], "state": "failed"}

    ended, execution = audit(publish=publish)

    assert ended.startswith("Sandbox.Timedout: ")
    assert ["error" in payload for payload in asked(execution, "Publish")] == [False, False, False, True]
    assert asked(execution, "Publish")[-1] == recorded("Sandbox.Timedout")


@pytest.mark.parametrize("state", ["complete", "incomplete"])
def test_an_audit_that_had_ended_before_its_publishing_died_at_the_report_has_not_failed(
    audit: Any, state: str
) -> None:
    def publish(payload: Any) -> Any:
        if "error" not in payload:
            raise StateError("Lambda.Unknown", "signal: killed")
        return {"audit_id": payload["audit_id"], "state": state}

    ended, execution = audit(publish=publish)

    assert ended == "succeeded"
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}]


def test_what_cannot_even_be_recorded_fails_with_the_first_error(audit: Any) -> None:
    ended, _ = audit(plan=fails("PolicyError"), publish=fails("Sandbox.Timedout"))

    assert ended.startswith("PolicyError: ")


def test_an_audit_of_which_nothing_was_scanned_fails(audit: Any) -> None:
    ended, _ = audit(
        scan=fails("Sandbox.Timedout"), publish=lambda asked: {"audit_id": asked["audit_id"], "state": "failed"}
    )

    assert ended.startswith("NothingScanned: ")


def posts(*waits: tuple[int, int]) -> Callable[[Any], Any]:
    """Return a NotifyFunction with these answers, after which no post waits."""
    left = iter(waits)
    return lambda _: dict(zip(("waiting", "wait_s"), next(left, (0, 0)), strict=True))


def test_slack_is_notified_once_the_audit_is_recorded(audit: Any) -> None:
    ended, execution = audit()

    assert ended == "succeeded"
    assert [call.function for call in execution.calls][-2:] == ["PublishFunction.Arn", "NotifyFunction.Arn"]
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}]
    assert execution.waited_s == []


def test_waiting_posts_are_retried_when_slack_allows_until_none_is_left(audit: Any) -> None:
    ended, execution = audit(notify=posts((3, 30), (1, 60)))

    assert ended == "succeeded"
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}] * 3
    assert execution.waited_s == [30, 60]


def test_slack_is_notified_of_a_failed_audit_which_still_fails(audit: Any) -> None:
    ended, execution = audit(plan=fails("PolicyError"), notify=posts((1, 5)))

    assert ended == 'PolicyError: {"Error": "PolicyError", "Cause": "why"}'
    assert asked(execution, "Publish") == [recorded("PolicyError")]
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}] * 2
    assert execution.waited_s == [5]


def test_slack_is_notified_of_an_audit_that_scanned_nothing(audit: Any) -> None:
    ended, execution = audit(publish=lambda asked: {"audit_id": asked["audit_id"], "state": "failed"})

    assert ended.startswith("NothingScanned: ")
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}]


@pytest.mark.parametrize("notify", [fails("Sandbox.Timedout"), fails("Lambda.TooManyRequestsException")])
@pytest.mark.parametrize(
    ("state", "plan", "end"),
    [
        ("complete", None, "succeeded"),
        ("failed", None, "NothingScanned: "),
        ("complete", fails("PolicyError"), "PolicyError: "),
    ],
)
def test_an_audit_ends_the_same_way_if_slack_cannot_be_notified(
    audit: Any, notify: Any, state: str, plan: Any, end: str
) -> None:
    ended, execution = audit(
        notify=notify,
        publish=ends(state),
        **({"plan": plan} if plan else {}),
    )

    assert ended.startswith(end)
    assert len(asked(execution, "Notify")) > 1


def test_an_audit_that_could_not_be_recorded_is_not_announced(audit: Any) -> None:
    _, execution = audit(plan=fails("PolicyError"), publish=fails("Sandbox.Timedout"))

    assert asked(execution, "Notify") == []


def test_it_ends_even_where_posts_wait_for_ever(audit: Any) -> None:
    ended, execution = audit(notify=lambda _: {"waiting": 1, "wait_s": 60})

    assert ended == "succeeded"
    # A day, minute by minute. An execution's history ends at 25,000 events, and an iteration takes at most 11.
    assert 24 * 60 <= len(execution.waited_s) <= 25_000 / 11 * 0.75
