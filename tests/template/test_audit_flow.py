"""The audit's definition, run: a small interpreter of the language of Step Functions, as much of it as is used here."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

EUROPE, JAPAN = ({"account": "1", "region": region, "partition": "aws"} for region in ("eu-west-1", "ap-northeast-1"))
REQUEST = {"requested_by": "schedule", "occasion": "weekly/2026-11-16T09:00:00Z"}
CONTEXT = {"Execution": {"Name": "a-1", "Input": REQUEST}}
KNOWN = {
    "Task": {"Resource", "Parameters", "ResultSelector", "ResultPath", "TimeoutSeconds", "Retry", "Catch"},
    "Map": {"ItemsPath", "ItemSelector", "MaxConcurrencyPath", "ItemProcessor", "ResultPath", "Catch"},
    "Pass": {"Parameters", "Result", "ResultPath"},
    "Wait": {"SecondsPath"},
    "Choice": {"Choices", "Default"},
    "Fail": {"Error", "Cause", "ErrorPath", "CausePath"},
    "Succeed": set(),
}
"""The fields that the interpreter heeds, beside Type, Comment, Next and End."""


class StepError(Exception):
    """What ends a task, or the execution: the error's name, its cause."""


def at(path: str, data: Any, context: Any) -> Any:
    """What is there; KeyError where nothing is."""
    if found := re.fullmatch(r"States\.StringToJson\('(.*)'\)", path):
        return json.loads(found[1])
    if found := re.fullmatch(r"States\.JsonToString\((.*)\)", path):
        return json.dumps(at(found[1], data, context))
    if found := re.fullmatch(r"States\.MathAdd\((.*), (\d+)\)", path):
        return at(found[1], data, context) + int(found[2])
    here = context if path.startswith("$$") else data
    for key in path.lstrip("$").split(".")[1:]:
        here = here[key]
    return here


def filled(shape: Any, data: Any, context: Any) -> Any:
    if not isinstance(shape, dict):
        return shape
    return {
        key.removesuffix(".$"): at(one, data, context) if key.endswith(".$") else filled(one, data, context)
        for key, one in shape.items()
    }


def put(data: Any, path: str | None, result: Any) -> Any:
    if path is None:
        return data
    if path == "$":
        return result
    key, *rest = path.removeprefix("$.").split(".")
    return data | {key: put(data.get(key, {}), ".".join(["$", *rest]), result)}


def rule(state: dict[str, Any], kind: str, error: str) -> dict[str, Any] | None:
    return next((one for one in state.get(kind, []) if {error, "States.ALL"} & set(one["ErrorEquals"])), None)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "BooleanEquals": lambda found, value: found == value,
    "StringEquals": lambda found, value: found == value,
    "NumericGreaterThan": lambda found, value: found > value,
    "NumericLessThan": lambda found, value: found < value,
}


def met(choice: dict[str, Any], data: Any, context: Any) -> bool:
    if "And" in choice:
        return all(met(one, data, context) for one in choice["And"])
    if "Not" in choice:
        return not met(choice["Not"], data, context)
    if "IsPresent" in choice:
        try:
            at(choice["Variable"], data, context)
        except KeyError:
            return choice["IsPresent"] is False
        return choice["IsPresent"] is True
    ((test, value),) = ((TESTS[key], one) for key, one in choice.items() if key in TESTS)
    return test(at(choice["Variable"], data, context), value)


@dataclass
class Execution:
    """One run, with functions of ours: each answers, or raises StepError."""

    functions: dict[str, Callable[[Any], Any]]
    calls: list[tuple[str, Any]] = field(default_factory=list)
    at_once: int | None = None
    waited_s: list[float] = field(default_factory=list)

    def call(self, state: dict[str, Any], data: Any, context: Any) -> Any:
        asked = filled(state["Parameters"], data, context)
        tries = 0
        while True:
            assert len(self.calls) < 10_000, "it goes on for ever"
            self.calls.append((asked["FunctionName"], asked["Payload"]))
            try:
                return {"Payload": self.functions[asked["FunctionName"]](asked["Payload"]), "StatusCode": 200}
            except StepError as error:
                retry, tries = rule(state, "Retry", error.args[0]), tries + 1
                if retry is None or tries > retry["MaxAttempts"]:
                    raise

    def result(self, state: dict[str, Any], data: Any, context: Any) -> Any:
        if state["Type"] == "Pass":
            return state["Result"] if "Result" in state else filled(state["Parameters"], data, context)
        if state["Type"] == "Task":
            answer = self.call(state, data, context)
            return filled(state["ResultSelector"], answer, context) if "ResultSelector" in state else answer
        self.at_once = at(state["MaxConcurrencyPath"], data, context)
        inside = [context | {"Map": {"Item": {"Value": item}}} for item in at(state["ItemsPath"], data, context)]
        return [self.run(state["ItemProcessor"], filled(state["ItemSelector"], data, one), one) for one in inside]

    def run(self, machine: dict[str, Any], data: Any, context: Any) -> Any:
        name = machine["StartAt"]
        while True:
            state = machine["States"][name]
            assert set(state) - {"Type", "Comment", "Next", "End"} <= KNOWN[state["Type"]], name
            match state["Type"]:
                case "Succeed":
                    return data
                case "Fail":
                    said = (state.get(key) or at(state[f"{key}Path"], data, context) for key in ("Error", "Cause"))
                    raise StepError(*said)
                case "Wait":
                    self.waited_s.append(at(state["SecondsPath"], data, context))
                    name = state["Next"]
                    continue
                case "Choice":
                    name = next((one["Next"] for one in state["Choices"] if met(one, data, context)), state["Default"])
                    continue
            try:
                data = put(data, state.get("ResultPath", "$"), self.result(state, data, context))
            except StepError as error:
                if not (catch := rule(state, "Catch", error.args[0])):
                    raise
                data = put(data, catch.get("ResultPath", "$"), dict(zip(("Error", "Cause"), error.args, strict=True)))
                name = catch["Next"]
                continue
            if state.get("End"):
                return data
            name = state["Next"]


def done(payload: Any) -> Any:
    return {"account": payload["target"]["account"], "region": payload["target"]["region"], "complete": True}


def ends(state: str) -> Callable[[Any], Any]:
    """A PublishFunction that ends what was scanned so, and puts on record what failed."""
    return lambda asked: {"audit_id": asked["audit_id"], "state": "failed" if "error" in asked else state}


def fails(error: str, times: int = 1000) -> Callable[[Any], Any]:
    """A function that fails so often, and then scans."""
    left = iter(range(times))

    def function(payload: Any) -> Any:
        if next(left, None) is not None:
            raise StepError(error, "why")
        return done(payload)

    return function


@pytest.fixture
def audit(deploy: Any, definition: str) -> Callable[..., tuple[str, Execution]]:
    """How an audit of two regions ends, and what it called."""

    def run(parameters: dict[str, str] | None = None, **functions: Callable[[Any], Any]) -> tuple[str, Execution]:
        machine = deploy(**(parameters or {}))["AuditStateMachine"]
        text = re.sub(r"\$\{(\w+)}", lambda found: str(machine["DefinitionSubstitutions"][found[1]]), definition)
        execution = Execution(
            {
                "PlanFunction.Arn": lambda asked: asked | {"duplicate": False, "targets": [EUROPE, JAPAN]},
                "ScanFunction.Arn": done,
                "PublishFunction.Arn": ends("complete"),
                "NotifyFunction.Arn": lambda _: {"waiting": 0, "wait_s": 0},
            }
            | {f"{name.title()}Function.Arn": function for name, function in functions.items()}
        )
        try:
            execution.run(yaml.safe_load(text), REQUEST, CONTEXT)
        except StepError as error:
            return f"{error.args[0]}: {error.args[1]}", execution
        return "succeeded", execution

    return run


def asked(execution: Execution, function: str) -> list[Any]:
    return [payload for name, payload in execution.calls if name == f"{function}Function.Arn"]


def recorded(error: str) -> dict[str, Any]:
    return {"audit_id": "a-1", "request": REQUEST, "error": {"Error": error, "Cause": "why"}}


def test_every_target_of_the_plan_is_scanned_and_the_results_published(audit: Any) -> None:
    ended, execution = audit()

    assert ended == "succeeded"
    assert asked(execution, "Plan") == [{"audit_id": "a-1", "request": REQUEST}]
    assert asked(execution, "Scan") == [{"audit_id": "a-1", "target": target} for target in (EUROPE, JAPAN)]
    results = [{"account": "1", "region": region, "complete": True} for region in ("eu-west-1", "ap-northeast-1")]
    assert asked(execution, "Publish") == [{"audit_id": "a-1", "results": results}]


def test_it_scans_as_many_regions_at_once_as_the_parameters_say(audit: Any) -> None:
    assert audit()[1].at_once == 8
    assert audit({"ScanConcurrency": "3"})[1].at_once == 3
    assert audit({"ScanConcurrency": "3", "ScanReservedConcurrency": "5"})[1].at_once == 5


def test_a_target_that_fails_is_published_as_a_gap_with_its_error(audit: Any) -> None:
    ended, execution = audit(
        scan=lambda payload: fails("Sandbox.Timedout")(payload) if payload["target"] is EUROPE else done(payload)
    )

    assert ended == "succeeded"
    assert asked(execution, "Publish")[0]["results"] == [
        {"account": "1", "region": "eu-west-1", "error": {"Error": "Sandbox.Timedout", "Cause": "why"}},
        {"account": "1", "region": "ap-northeast-1", "complete": True},
    ]


@pytest.mark.parametrize(("error", "times"), [("Lambda.TooManyRequestsException", 60), ("Sandbox.Timedout", 1)])
def test_a_scan_is_tried_again_patiently_where_none_could_run_and_once_where_it_ended(
    audit: Any, error: str, times: int
) -> None:
    _, execution = audit(scan=fails(error, times))

    assert len(asked(execution, "Scan")) == 2 + times
    assert all(result["complete"] for result in asked(execution, "Publish")[0]["results"])


def test_a_turn_that_belongs_to_another_audit_ends_well_and_does_nothing(audit: Any) -> None:
    ended, execution = audit(plan=lambda asked: asked | {"duplicate": True, "targets": []})

    assert ended == "succeeded"
    assert [name for name, _ in execution.calls] == ["PlanFunction.Arn"]


@pytest.mark.parametrize(("error", "tries"), [("PolicyError", 1), ("AuditRequestError", 1), ("Sandbox.Timedout", 3)])
def test_an_audit_that_cannot_be_planned_is_recorded_as_failed_and_fails(audit: Any, error: str, tries: int) -> None:
    ended, execution = audit(plan=fails(error))

    assert ended == f'{error}: {{"Error": "{error}", "Cause": "why"}}'
    assert len(asked(execution, "Plan")) == tries
    assert asked(execution, "Scan") == []
    assert asked(execution, "Publish") == [recorded(error)]


def test_an_audit_that_cannot_be_published_is_recorded_as_failed_and_fails(audit: Any) -> None:
    def publish(payload: Any) -> Any:
        if "results" in payload:
            raise StepError("Sandbox.Timedout", "why")
        return {"audit_id": payload["audit_id"], "state": "failed"}

    ended, execution = audit(publish=publish)

    assert ended.startswith("Sandbox.Timedout: ")
    assert ["results" in payload for payload in asked(execution, "Publish")] == [True, True, True, False]
    assert asked(execution, "Publish")[-1] == recorded("Sandbox.Timedout")


@pytest.mark.parametrize("state", ["complete", "incomplete"])
def test_an_audit_that_had_ended_before_its_publishing_died_at_the_report_has_not_failed(audit: Any, state: str) -> None:
    def publish(payload: Any) -> Any:
        if "results" in payload:
            raise StepError("Lambda.Unknown", "signal: killed")
        return {"audit_id": payload["audit_id"], "state": state}

    ended, execution = audit(publish=publish)

    assert ended == "succeeded"
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}]


def test_what_cannot_even_be_recorded_fails_with_the_first_error(audit: Any) -> None:
    ended, _ = audit(plan=fails("PolicyError"), publish=fails("Sandbox.Timedout"))

    assert ended.startswith("PolicyError: ")


def test_an_audit_of_which_nothing_was_scanned_fails(audit: Any) -> None:
    ended, _ = audit(scan=fails("Sandbox.Timedout"), publish=lambda asked: {"audit_id": asked["audit_id"], "state": "failed"})

    assert ended.startswith("NothingScanned: ")


def posts(*waits: tuple[int, int]) -> Callable[[Any], Any]:
    """A NotifyFunction that answers these, and then that no post waits any more."""
    left = iter(waits)
    return lambda _: dict(zip(("waiting", "wait_s"), next(left, (0, 0)), strict=True))


def test_slack_is_told_once_the_audit_is_on_record(audit: Any) -> None:
    ended, execution = audit()

    assert ended == "succeeded"
    assert [name for name, _ in execution.calls][-2:] == ["PublishFunction.Arn", "NotifyFunction.Arn"]
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}]
    assert execution.waited_s == []


def test_posts_that_wait_are_tried_again_when_slack_wants_them_until_none_does(audit: Any) -> None:
    ended, execution = audit(notify=posts((3, 30), (1, 60)))

    assert ended == "succeeded"
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}] * 3
    assert execution.waited_s == [30, 60]


def test_slack_is_told_of_an_audit_that_failed_which_fails_all_the_same(audit: Any) -> None:
    ended, execution = audit(plan=fails("PolicyError"), notify=posts((1, 5)))

    assert ended == 'PolicyError: {"Error": "PolicyError", "Cause": "why"}'
    assert asked(execution, "Publish") == [recorded("PolicyError")]
    assert asked(execution, "Notify") == [{"audit_id": "a-1"}] * 2
    assert execution.waited_s == [5]


def test_slack_is_told_of_an_audit_of_which_nothing_was_scanned(audit: Any) -> None:
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
def test_an_audit_ends_as_it_would_have_where_slack_cannot_be_told(
    audit: Any, notify: Any, state: str, plan: Any, end: str
) -> None:
    ended, execution = audit(
        notify=notify,
        publish=ends(state),
        **({"plan": plan} if plan else {}),
    )

    assert ended.startswith(end)
    assert len(asked(execution, "Notify")) > 1


def test_what_nobody_could_put_on_record_nobody_is_told_of(audit: Any) -> None:
    _, execution = audit(plan=fails("PolicyError"), publish=fails("Sandbox.Timedout"))

    assert asked(execution, "Notify") == []


def test_it_ends_even_where_posts_wait_for_ever(audit: Any) -> None:
    ended, execution = audit(notify=lambda _: {"waiting": 1, "wait_s": 60})

    assert ended == "succeeded"
    # A day of minutes; an execution's history ends at 25,000 events, of which a turn takes at most 11.
    assert 24 * 60 <= len(execution.waited_s) <= 25_000 / 11 * 0.75
