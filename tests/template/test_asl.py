"""The interpreter that clean-up's crash and race tests use behaves like Step Functions."""

from datetime import timedelta
from typing import Any

import pytest

from support.asl import Checkpoint, Clock, Execution, StateError


class BusyError(Exception):
    pass


class Killed(BaseException):
    pass


RETRY = [
    {"ErrorEquals": ["Never"], "MaxAttempts": 0},
    {"ErrorEquals": ["BusyError"], "IntervalSeconds": 5, "BackoffRate": 2, "MaxAttempts": 4, "MaxDelaySeconds": 15},
    {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 100, "MaxAttempts": 1},
]


def machine(**task: Any) -> dict[str, Any]:
    return {
        "StartAt": "Work",
        "States": {
            "Work": {
                "Type": "Task",
                "Parameters": {"FunctionName": "F", "Payload": {"id.$": "$.id"}},
                "ResultSelector": {"answer.$": "$.Payload"},
                "ResultPath": "$.step",
                "TimeoutSeconds": 60,
                "Next": "Done",
                **task,
            },
            "Done": {"Type": "Succeed"},
            "Caught": {"Type": "Succeed"},
        },
    }


def raising(*errors: BaseException) -> Any:
    left = list(errors)

    def function(payload: Any) -> Any:
        if left:
            raise left.pop(0)
        return payload

    return function


def test_an_error_is_tried_again_by_its_class_s_name_as_long_as_its_own_rule_says() -> None:
    run = Execution(machine(Retry=RETRY), {"F": raising(*[BusyError()] * 4)}, {"id": 1})
    began = run.clock.now

    assert run.run().status == "SUCCEEDED"
    assert run.clock.now - began == timedelta(seconds=5 + 10 + 15 + 15)
    assert run.output == {"id": 1, "step": {"answer": {"id": 1}}}
    assert [call.raised for call in run.calls] == ["BusyError"] * 4 + [None]


def test_each_rule_counts_for_itself() -> None:
    run = Execution(machine(Retry=RETRY), {"F": raising(BusyError(), ValueError(), BusyError())}, {"id": 1})

    assert run.run().status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("errors", "tries"), [([BusyError()] * 5, 5), ([ValueError()] * 2, 2), ([StateError("Never", "")], 1)]
)
def test_what_no_rule_tries_any_more_is_caught_or_ends_the_execution(errors: list[Exception], tries: int) -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]
    caught = Execution(machine(Retry=RETRY, Catch=catch), {"F": raising(*errors)}, {"id": 1}).run()
    failed = Execution(machine(Retry=RETRY), {"F": raising(*errors)}, {"id": 1}).run()

    name = errors[0].args[0] if isinstance(errors[0], StateError) else type(errors[0]).__name__
    assert (caught.status, caught.trace, len(caught.calls)) == ("SUCCEEDED", ["Work", "Caught"], tries)
    assert caught.output["error"]["Error"] == name
    assert (failed.status, failed.error, len(failed.calls)) == ("FAILED", name, tries)


def test_a_function_that_takes_too_long_has_timed_out() -> None:
    clock = Clock()
    run = Execution(machine(), {"F": lambda _: clock.wait(61)}, {"id": 1}, clock=clock).run()

    assert (run.status, run.error) == ("FAILED", "States.Timeout")


def test_a_death_is_no_error_and_the_execution_continues_from_there() -> None:
    run = Execution(machine(Retry=RETRY), {"F": raising(Killed())}, {"id": 1})

    with pytest.raises(Killed):
        run.run()
    assert (run.status, run.checkpoint) == ("RUNNING", Checkpoint("Work", {"id": 1}))
    assert run.run().status == "SUCCEEDED"


def test_another_execution_continues_from_a_checkpoint() -> None:
    first = Execution(machine(), {"F": raising()}, {"id": 1})
    assert first.step()
    second = Execution(machine(), {}, {"id": 1}, checkpoint=first.checkpoint)

    assert second.run().output == {"id": 1, "step": {"answer": {"id": 1}}}


def test_functions_get_and_give_json_that_is_theirs_alone() -> None:
    def function(payload: Any) -> Any:
        payload["id"].append(2)
        return payload

    run = Execution(machine(), {"F": function}, {"id": [1]}).run()

    assert run.output == {"id": [1], "step": {"answer": {"id": [1, 2]}}}
    with_set = Execution(machine(), {"F": lambda _: {1}}, {"id": 1}).run()
    assert (with_set.status, with_set.error) == ("FAILED", "TypeError")


def test_a_path_that_leads_nowhere_ends_the_execution_past_every_catch() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]
    run = Execution(machine(Catch=catch), {"F": raising()}, {}).run()

    assert (run.status, run.error) == ("FAILED", "States.Runtime")


def test_a_history_that_is_full_ends_it_and_so_does_a_year() -> None:
    def loop(wait_s: int) -> dict[str, Any]:
        return {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": wait_s, "Next": "Wait"}}}

    full = Execution(loop(1), {}, {}).run()
    long = Execution(loop(86_400), {}, {}).run()

    assert (full.error, len(full.waited_s)) == ("States.Runtime", 12_499)
    assert (long.error, len(long.waited_s)) == ("States.Timeout", 366)


def test_it_waits_until_a_time_and_not_for_one_that_has_passed() -> None:
    states = {"Wait": {"Type": "Wait", "TimestampPath": "$.at", "Next": "Done"}, "Done": {"Type": "Succeed"}}

    for at, seconds in (("2026-11-16T10:00:00Z", 3600), ("2026-11-16T08:00:00Z", 0)):
        assert Execution({"StartAt": "Wait", "States": states}, {}, {"at": at}).run().waited_s == [seconds]


def test_fields_that_it_does_not_heed_are_refused() -> None:
    with pytest.raises(NotImplementedError):
        Execution(machine(OutputPath="$.step"), {"F": raising()}, {"id": 1}).run()
