"""The state machine agrees with the template, and nothing in it waits or retries without end."""

import re
from typing import Any

import yaml

from slackwater.app.audit.limits import SpentError, TooManyAuditsError
from slackwater.app.audit.request import AuditRequestError
from slackwater.app.policy.file import PolicyError
from slackwater.model import object_keys
from support.asl import Execution, StateError
from support.asl import definition as state_machine


def test_every_placeholder_is_substituted_and_every_substitution_is_used(
    resources: dict[str, Any], definition: str
) -> None:
    substitutions = resources["AuditStateMachine"]["Properties"]["DefinitionSubstitutions"]

    assert set(re.findall(r"\$\{(\w+)\}", definition)) == set(substitutions)


def test_it_has_no_yaml_alias_which_step_functions_refuses(definition: str) -> None:
    assert [token for token in yaml.scan(definition) if isinstance(token, yaml.AliasToken)] == []


PATIENT = {
    "Plan": [[TooManyAuditsError.__name__]],
    "ScanBatch": [["Lambda.TooManyRequestsException"]],
    "Scan": [["Lambda.TooManyRequestsException"]],
    "NotifySlack": [["States.ALL"]],
}


def test_every_task_ends_in_time_tries_again_and_is_caught(states: dict[str, Any]) -> None:
    tasks = {name: state for name, state in states.items() if state["Type"] == "Task"}

    assert set(tasks) == {"Plan", "ScanBatch", "Scan", "KeepError", "Publish", "NotifySlack", "RecordFailure"}
    for name, task in tasks.items():
        assert task["TimeoutSeconds"] <= 930, name
        assert task["Retry"][-1]["ErrorEquals"] == ["States.ALL"], name
        assert [one["ErrorEquals"] for one in task["Catch"]] == [["States.ALL"]], name
        patient = [retry["ErrorEquals"] for retry in task["Retry"] if not 0 <= retry["MaxAttempts"] <= 6]
        # Scans wait as long as needed for their concurrency. Slack gets the message once somebody has fixed the
        # delivery problem. An audit above the limit of running audits waits for an hour.
        assert patient == PATIENT.get(name, []), name


def test_the_causes_of_twenty_failed_targets_do_not_exceed_the_limit_of_a_state() -> None:
    (batches,) = (state for state in state_machine("audit")["States"].values() if state["Type"] == "Map")
    todo = [{"target": {"account": f"{number:012}", "region": "eu-west-1"}, "part": 1} for number in range(20)]
    kept: list[dict[str, Any]] = []

    def fail(_: Any) -> None:
        raise StateError("MemoryError", "x" * 30_000)

    functions = {"ScanFunction": fail, "PublishFunction": kept.append}
    done = Execution(batches["ItemProcessor"], functions, {"audit_id": "a1", "work": {"todo": todo}}).run()

    assert done.error is None
    assert len(kept) == 20


def test_posts_are_retried_while_a_secret_is_fixed_and_given_up_in_the_end(
    states: dict[str, Any],
) -> None:
    (retry,) = states["NotifySlack"]["Retry"]
    waits = [
        min(retry["IntervalSeconds"] * retry["BackoffRate"] ** n, retry["MaxDelaySeconds"])
        for n in range(retry["MaxAttempts"])
    ]

    assert waits[0] <= 60
    assert 12 * 3600 <= sum(waits) <= 24 * 3600
    assert "JitterStrategy" not in retry  # jitter would halve the wait


def test_a_task_gives_its_function_a_little_more_time_than_it_takes(
    functions: dict[str, Any], states: dict[str, Any]
) -> None:
    for task, function in (
        ("Plan", "plan"),
        ("ScanBatch", "scan"),
        ("Scan", "scan"),
        ("Publish", "publish"),
        ("NotifySlack", "notify"),
    ):
        assert states[task]["TimeoutSeconds"] == functions[function]["Timeout"] + 30


def test_what_stays_wrong_is_not_tried_again(states: dict[str, Any]) -> None:
    never = states["Plan"]["Retry"][0]

    assert never == {
        "ErrorEquals": [PolicyError.__name__, AuditRequestError.__name__, SpentError.__name__],
        "MaxAttempts": 0,
    }


def test_an_audit_that_is_one_too_many_waits_for_an_hour(states: dict[str, Any]) -> None:
    (retry,) = [one for one in states["Plan"]["Retry"] if one["ErrorEquals"] == [TooManyAuditsError.__name__]]

    assert (retry["IntervalSeconds"] * retry["MaxAttempts"], retry["BackoffRate"]) == (3600, 1)


def test_only_keys_travel(states: dict[str, Any]) -> None:
    for name in ("Plan", "ScanBatch", "Scan", "Publish", "NotifySlack"):
        assert all(path != "$.Payload" for path in states[name]["ResultSelector"].values()), name
    assert states["RecordFailure"]["ResultSelector"] == {"state.$": "$.Payload.state"}


def test_it_may_invoke_just_the_functions_that_it_does(resources: dict[str, Any], states: dict[str, Any]) -> None:
    invoked = {state["Parameters"]["FunctionName"] for state in states.values() if state["Type"] == "Task"}
    (statement, *_) = resources["AuditRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    substitutions = resources["AuditStateMachine"]["Properties"]["DefinitionSubstitutions"]

    assert statement["Action"] == "lambda:InvokeFunction"
    assert sorted(map(str, statement["Resource"])) == sorted(str(substitutions[name[2:-1]]) for name in invoked)


def test_every_batch_is_an_execution_of_its_own_and_none_spoils_the_rest(states: dict[str, Any]) -> None:
    scan = states["ScanTargets"]

    assert scan["ItemProcessor"]["ProcessorConfig"] == {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    assert scan["ToleratedFailurePercentage"] == 100
    assert scan["ItemReader"]["Parameters"]["Bucket"] == scan["ResultWriter"]["Parameters"]["Bucket"] == "${BucketName}"
    assert scan["ItemReader"]["Parameters"]["Key.$"] == f"States.Format('{object_keys.batches('{}')}', $.audit_id)"


def test_it_may_run_its_own_targets_and_read_and_write_what_a_distributed_map_does(resources: dict[str, Any]) -> None:
    policy = resources["AuditMapPolicy"]["Properties"]
    may = {
        tuple(sorted([one["Action"]] if isinstance(one["Action"], str) else one["Action"]))
        for one in policy["PolicyDocument"]["Statement"]
    }

    assert policy["Roles"] == [{"Ref": "AuditRole"}]
    assert may == {
        ("states:StartExecution",),
        ("states:DescribeExecution", "states:StopExecution"),
        ("s3:GetObject",),
        ("s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"),
    }
