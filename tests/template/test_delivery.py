"""Schedules start audits, and the stream feeds the event bus. Failed deliveries are retried and then kept."""

import inspect
import re
from typing import Any

import pytest

from slackwater.aws.store import table_stream
from slackwater.engine.registry import registry

HOURLY = {"HourlyDetectors": "ec2-network-throttled,efs-idle"}


@pytest.mark.parametrize(
    ("parameters", "schedules"),
    [
        ({}, {"Schedule"}),
        (HOURLY, {"Schedule", "HourlySchedule"}),
        ({"ScheduleExpression": "never"}, set()),
        ({"ScheduleExpression": "never", **HOURLY}, {"HourlySchedule"}),
    ],
)
def test_everything_is_audited_by_the_week_unless_never_and_detectors_that_are_named_by_the_hour(
    deploy: Any, parameters: dict[str, str], schedules: set[str]
) -> None:
    assert set(deploy(**parameters).of("AWS::Scheduler::Schedule")) == schedules


@pytest.mark.parametrize("schedule", ["Schedule", "HourlySchedule"])
def test_a_schedule_tries_for_an_hour_to_start_the_audit_and_then_keeps_why_not(deploy: Any, schedule: str) -> None:
    target = deploy(**HOURLY)[schedule]["Target"]

    assert (target["Arn"], target["RoleArn"]) == ("AuditStateMachine", "ScheduleRole.Arn")
    assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == 3600
    assert target["RetryPolicy"]["MaximumRetryAttempts"] >= 10
    assert target["DeadLetterConfig"] == {"Arn": "ScheduleDeadLetters.Arn"}


def test_the_schedules_are_the_ones_that_were_asked_for(deploy: Any) -> None:
    stack = deploy(ScheduleExpression="rate(1 day)", ScheduleTimezone="Europe/Berlin", **HOURLY)

    assert stack["Schedule"]["ScheduleExpression"] == "rate(1 day)"
    assert stack["Schedule"]["ScheduleExpressionTimezone"] == "Europe/Berlin"
    assert stack["HourlySchedule"]["ScheduleExpression"] == "rate(1 hour)"
    assert '"detectors": ["ec2-network-throttled", "efs-idle"]' in stack["HourlySchedule"]["Target"]["Input"]


def test_the_detectors_that_the_parameter_names_are_there(template: dict[str, Any]) -> None:
    named = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", template["Parameters"]["HourlyDetectors"]["Description"])

    assert named
    assert set(named) <= set(registry())


def test_the_stream_asks_again_ten_times_and_six_hours_and_then_the_queue_has_it(stack: Any) -> None:
    changes = stack["AnnounceFunction"]["Events"]["Changes"]["Properties"]

    assert (changes["MaximumRetryAttempts"], changes["MaximumRecordAgeInSeconds"]) == (10, 6 * 3600)
    assert changes["DestinationConfig"] == {"OnFailure": {"Type": "SQS", "Destination": "AnnounceDeadLetters.Arn"}}


def test_of_a_batch_only_what_failed_comes_again(stack: Any) -> None:
    changes = stack["AnnounceFunction"]["Events"]["Changes"]["Properties"]

    assert changes["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert changes["BisectBatchOnFunctionError"] is True


def test_what_was_asked_in_slack_is_tried_for_an_hour_and_then_the_queue_has_it(with_slack: Any) -> None:
    config = with_slack["AnswerFunction"]["EventInvokeConfig"]

    assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (2, 3600)
    assert config["DestinationConfig"] == {"OnFailure": {"Type": "SQS", "Destination": "AnswerDeadLetters.Arn"}}


def invoked_by_others(stack: Any) -> set[str]:
    """Return the functions that rules and schedules invoke. Both always invoke asynchronously."""
    targets = [target for rule in stack.of("AWS::Events::Rule").values() for target in rule["Targets"]]
    targets += [schedule["Target"] for schedule in stack.of("AWS::Scheduler::Schedule").values()]
    return {target["Arn"].removesuffix(".Arn") for target in targets if "Function" in target["Arn"]}


def test_what_a_rule_or_a_schedule_asks_of_a_function_in_vain_is_kept(deploy: Any, deploy_cleanup: Any) -> None:
    outer, inner = deploy(CleanupEnabled="true", **HOURLY), deploy_cleanup(CleanupSchedule="rate(1 day)")
    asked = invoked_by_others(outer) | invoked_by_others(inner)

    assert asked == {"PublishFunction", "WatchFunction", "NotifyFunction", "RunFunction", "SweepFunction"}
    for name in asked:
        config = {**outer, **inner}[name]["EventInvokeConfig"]
        assert (name, config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (name, 2, 6 * 3600)
        assert config["DestinationConfig"] == {"OnFailure": {"Type": "SQS", "Destination": "FailedInvocations.Arn"}}


def test_what_a_rule_cannot_deliver_is_kept_in_a_queue_that_lets_the_rules_of_both_stacks_in(
    deploy: Any, deploy_cleanup: Any
) -> None:
    for stack in (deploy(), deploy_cleanup()):
        targets = [target for rule in stack.of("AWS::Events::Rule").values() for target in rule["Targets"]]
        assert targets
        assert all(target["DeadLetterConfig"] == {"Arn": "FailedInvocations.Arn"} for target in targets)

    _, let_in = deploy()["FailedInvocationsPolicy"]["PolicyDocument"]["Statement"]
    assert (let_in["Principal"], let_in["Action"]) == ({"Service": "events.amazonaws.com"}, "sqs:SendMessage")
    rules = "arn:AWS::Partition:events:AWS::Region:AWS::AccountId:rule/*"
    assert (let_in["Resource"], let_in["Condition"]) == ("FailedInvocations.Arn", {"ArnLike": {"aws:SourceArn": rules}})


def test_every_change_is_announced_and_the_stream_has_the_images_that_the_announcer_reads(stack: Any) -> None:
    changes = stack["AnnounceFunction"]["Events"]["Changes"]["Properties"]
    carried = {"NEW_IMAGE": {"New"}, "NEW_AND_OLD_IMAGES": {"New", "Old"}}[
        stack["Table"]["StreamSpecification"]["StreamViewType"]
    ]

    assert (changes["Stream"], changes["StartingPosition"]) == ("Table.StreamArn", "TRIM_HORIZON")
    assert set(re.findall(r"\b(New|Old)Image\b", inspect.getsource(table_stream))) <= carried
