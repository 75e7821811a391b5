"""The state machines of clean-up and undo, as written, agree with the template and with the functions."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from slackwater.app.cleanup.back_up import BackUpStep
from slackwater.app.cleanup.case import MovedError, NotMineError, UnsafeError
from slackwater.app.cleanup.change import ChangeStep
from slackwater.app.cleanup.recheck import NotSeenError
from slackwater.app.cleanup.watch import WatchStep
from slackwater.app.policy.file import PolicyError
from slackwater.ports.errors import BrokenAnswerError, BusyError, UnreachableError
from support.asl import definition

ROOT = Path(__file__).parents[2]
MACHINES = ["cleanup", "undo"]
NOTIFICATIONS = {"TellOwner", "AskForApproval", "NotifySlack"}
STATIC = {"step", "finding_id.$", "execution.$", "error.$"}

type States = dict[str, dict[str, Any]]


@pytest.fixture(params=MACHINES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def text(name: str) -> str:
    return (ROOT / "statemachines" / f"{name}.asl.yaml").read_text()


@pytest.fixture
def states(name: str) -> States:
    return definition(name)["States"]


@pytest.fixture
def tasks(states: States) -> States:
    return {name: state for name, state in states.items() if state["Type"] == "Task"}


@pytest.fixture
def steps(tasks: States) -> States:
    """Return the tasks that are steps of a clean-up, without the notifications."""
    return {name: state for name, state in tasks.items() if name not in NOTIFICATIONS}


def test_every_placeholder_is_substituted_and_every_substitution_is_used(name: str, text: str, cleanup: Any) -> None:
    substitutions = cleanup[f"{name.title()}StateMachine"]["DefinitionSubstitutions"]

    assert set(re.findall(r"\$\{(\w+)}", text)) == set(substitutions)
    assert cleanup[f"{name.title()}StateMachine"]["DefinitionUri"] == f"statemachines/{name}.asl.yaml"
    for placeholder, value in substitutions.items():
        if placeholder not in {"Partition", "NotifyFunctionArn"}:
            assert value == f"{placeholder.removesuffix('Arn')}.Arn"


def test_it_has_no_yaml_alias_which_step_functions_refuses(text: str) -> None:
    assert [token for token in yaml.scan(text) if isinstance(token, yaml.AliasToken)] == []


def test_a_task_gives_its_function_a_little_more_time_than_it_takes(tasks: States, cleanup: Any, stack: Any) -> None:
    everywhere = {**stack, **cleanup}

    for name, task in tasks.items():
        assert task["TimeoutSeconds"] == everywhere[task["Parameters"]["FunctionName"]]["Timeout"] + 30, name


def test_every_task_is_tried_again_for_errors_by_name_and_then_caught(steps: States) -> None:
    for name, step in steps.items():
        never, patiently, anything = step["Retry"]
        (caught,) = step["Catch"]

        assert never == {
            "ErrorEquals": [one.__name__ for one in (NotMineError, UnsafeError, PolicyError)],
            "MaxAttempts": 0,
        }
        ours = (BusyError, UnreachableError, BrokenAnswerError, MovedError, NotSeenError)
        assert patiently["ErrorEquals"][-5:] == [one.__name__ for one in ours], name
        assert "Lambda.TooManyRequestsException" in patiently["ErrorEquals"], name
        waits = [
            min(patiently["IntervalSeconds"] * patiently["BackoffRate"] ** n, patiently["MaxDelaySeconds"])
            for n in range(patiently["MaxAttempts"])
        ]
        assert 3600 <= sum(waits) <= 7200, name
        assert (anything["ErrorEquals"], anything["MaxAttempts"]) == (["States.ALL"], 2), name
        assert caught["ErrorEquals"] == ["States.ALL"], name


def test_steps_that_only_notify_are_retried_and_delay_nothing(tasks: States) -> None:
    for name in NOTIFICATIONS & set(tasks):
        (caught,) = tasks[name]["Catch"]
        assert (tasks[name]["Parameters"]["Payload"], caught["ErrorEquals"]) == ({}, ["States.ALL"])
        assert not caught["Next"].startswith("Record")


def test_steps_receive_the_finding_s_id_and_nothing_of_its_content(steps: States) -> None:
    for name, step in steps.items():
        payload = step["Parameters"]["Payload"]
        assert set(payload) <= STATIC, name
        assert payload["finding_id.$"] == "$$.Execution.Input.finding_id", name
        assert payload["execution.$"] == "$$.Execution.Name", name
        assert ("error.$" in payload) == (payload["step"] in {"fail", "not_put_back", "undo_failed"}), name


def literals(of: Any) -> Iterator[str]:
    for one in get_args(getattr(of, "__value__", of)):
        if isinstance(one, str):
            yield one
        else:
            yield from literals(one)


def test_every_step_of_the_functions_is_taken_and_the_reverse() -> None:
    taken: dict[str, set[str]] = {}
    for machine in MACHINES:
        for name, state in definition(machine)["States"].items():
            if state["Type"] == "Task" and name not in NOTIFICATIONS:
                taken.setdefault(state["Parameters"]["FunctionName"], set()).add(state["Parameters"]["Payload"]["step"])

    assert taken == {
        "WatchFunction": set(literals(WatchStep)),
        "BackUpFunction": set(literals(BackUpStep)),
        "DeleteFunction": {"delete"},
        "ChangeFunction": set(literals(ChangeStep)),
        "RestoreFunction": {"restore"},
    }


def test_an_answer_that_nobody_foresaw_is_a_failure(states: States) -> None:
    defaults = {name: state["Default"] for name, state in states.items() if state["Type"] == "Choice"}
    others = {"MorePosts", "HowDidItGo", "IsAnythingMissing", "IsAnythingToPutBack", "IsPutBack"}

    assert {name for name, default in defaults.items() if default != "UnknownAnswer"} <= others


def test_the_steps_say_how_long_to_wait(states: States) -> None:
    for name, state in states.items():
        if state["Type"] == "Wait":
            assert "Seconds" not in state, name


def test_nothing_is_deleted_but_from_two_places_both_after_a_look() -> None:
    """Either a verified backup and the recheck after it, or data that the policy declares to be scratch."""
    states = definition("cleanup")["States"]
    before = {
        name
        for name, state in states.items()
        for to in (state.get("Next"), state.get("Default"), *(one["Next"] for one in state.get("Choices", [])))
        if to == "Delete"
    }

    assert before == {"WhatToDo", "IsStillToGo", "WaitForDelete"}
    scratch = [one for one in states["WhatToDo"]["Choices"] if one["Next"] == "Delete"]
    assert scratch == [{"Variable": "$.begun.answer.kind", "StringEquals": "scratch", "Next": "Delete"}]
    assert states["IsVerified"]["Choices"][0] == {
        "Variable": "$.step.answer.outcome",
        "StringEquals": "go",
        "Next": "RecheckBackedUp",
    }


def test_who_stops_an_execution_has_it_put_on_record(cleanup: Any) -> None:
    for rule, machine, step in (
        ("CleanupStopped", "CleanupStateMachine", "fail"),
        ("UndoStopped", "UndoStateMachine", "undo_failed"),
    ):
        detail = cleanup[rule]["EventPattern"]["detail"]
        (target,) = cleanup[rule]["Targets"]
        template = target["InputTransformer"]["InputTemplate"]
        event = yaml.safe_load(template.replace("<name>", '"f1-1"').replace("<status>", '"ABORTED"'))

        assert detail == {"stateMachineArn": [machine], "status": ["ABORTED", "FAILED", "TIMED_OUT"]}
        assert target["Arn"] == "WatchFunction.Arn"
        assert event["step"] in set(literals(WatchStep))
        assert event == {
            "step": step,
            "finding_id": None,
            "execution": "f1-1",
            "error": {"Error": "Execution", "Cause": "ABORTED"},
        }
        permission = cleanup[f"{rule}Permission"]
        assert (permission["FunctionName"], permission["SourceArn"]) == ("WatchFunction", f"{rule}.Arn")


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("never", {"SweepSchedule", "NotifySchedule"}),
        ("rate(1 day)", {"SweepSchedule", "NotifySchedule", "RunSchedule"}),
    ],
)
def test_backups_are_swept_daily_and_clean_ups_begun_only_as_the_parameter_says(
    deploy_cleanup: Any, schedule: str, expected: set[str]
) -> None:
    stack = deploy_cleanup(CleanupSchedule=schedule)
    schedules = stack.of("AWS::Scheduler::Schedule")

    assert set(schedules) == expected
    assert schedules["SweepSchedule"]["ScheduleExpression"] == "rate(1 day)"
    assert {name: one["Target"]["Arn"] for name, one in schedules.items()} == {
        name: f"{name.removesuffix('Schedule')}Function.Arn" for name in expected
    }
    for one in schedules.values():
        assert one["Target"]["DeadLetterConfig"] == {"Arn": "ScheduleDeadLetters.Arn"}


def test_it_is_off_by_default_and_a_stack_of_its_own(
    deploy: Any, template: dict[str, Any], cleanup_template: Any
) -> None:
    assert template["Parameters"]["CleanupEnabled"]["Default"] == "false"
    assert template["Parameters"]["CleanupSchedule"]["Default"] == "never"
    assert "Cleanup" not in deploy()
    given = deploy(CleanupEnabled="true")["Cleanup"]
    assert given["Location"] == "template-cleanup.yaml"
    assert set(given["Parameters"]) == set(cleanup_template["Parameters"])


def test_all_of_it_is_traced_and_logged_for_as_long_as_asked(deploy_cleanup: Any) -> None:
    stack = deploy_cleanup(LogRetentionDays="7")

    assert {name: log["RetentionInDays"] for name, log in stack.of("AWS::Logs::LogGroup").items()} == {
        "CleanupLogs": "7"
    }
    for name, function in stack.of("AWS::Serverless::Function").items():
        assert (name, function["Tracing"], function["LoggingConfig"]["LogGroup"]) == (name, "Active", "FunctionLogs")
        assert (function["Architectures"], function["Layers"]) == (["arm64"], ["CoreLayer"])
    for machine in stack.of("AWS::Serverless::StateMachine").values():
        (destination,) = machine["Logging"]["Destinations"]
        assert destination == {"CloudWatchLogsLogGroup": {"LogGroupArn": "CleanupLogs.Arn"}}
        assert machine["Tracing"] == {"Enabled": True}
