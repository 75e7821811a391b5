"""Stored data is protected. Functions, API and logs match the documentation."""

import re
from typing import Any

import pytest

from slackwater.model import object_keys

ARM = "arm64"


def test_the_table_can_be_restored_to_any_second(stack: Any) -> None:
    assert stack["Table"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_the_table_is_not_deleted_by_one_call(stack: Any) -> None:
    assert stack["Table"]["DeletionProtectionEnabled"] is True


def test_audits_expire_and_every_version_of_the_policy_stays(deploy: Any) -> None:
    bucket = deploy(RetentionDays="77")["Bucket"]
    rules = bucket["LifecycleConfiguration"]["Rules"]
    deleting = [rule for rule in rules if {"ExpirationInDays", "NoncurrentVersionExpiration"} & set(rule)]

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert [(rule["Status"], rule["Prefix"], rule["ExpirationInDays"]) for rule in deleting] == [
        ("Enabled", object_keys.AUDITS, "77"),
        ("Enabled", object_keys.TRANSIENT, 7),
    ]
    known = {"Id", "Status", "ExpiredObjectDeleteMarker", "AbortIncompleteMultipartUpload"}
    assert all(set(rule) <= known for rule in rules if rule not in deleting)


def test_nothing_is_public_and_everything_is_encrypted(stack: Any, with_slack: Any) -> None:
    bucket = stack["Bucket"]
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]

    assert bucket["PublicAccessBlockConfiguration"] == dict.fromkeys(
        ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
    )
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert all(queue["SqsManagedSseEnabled"] is True for queue in with_slack.of("AWS::SQS::Queue").values())


@pytest.mark.parametrize(
    ("policy", "resources"),
    [
        ("BucketPolicy", {"Bucket.Arn", "Bucket.Arn/*"}),
        ("DeadLettersPolicy", {"AnnounceDeadLetters.Arn", "ScheduleDeadLetters.Arn"}),
        ("AnswerDeadLettersPolicy", {"AnswerDeadLetters.Arn"}),
        ("FailedInvocationsPolicy", {"FailedInvocations.Arn"}),
    ],
)
def test_connections_that_are_not_encrypted_are_refused_and_no_others(
    with_slack: Any, policy: str, resources: set[str]
) -> None:
    statement, *others = with_slack[policy]["PolicyDocument"]["Statement"]
    arns = statement["Resource"]

    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert set(arns if isinstance(arns, list) else [arns]) == resources
    assert statement["Action"] in {"s3:*", "sqs:*"}
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert all(one["Effect"] == "Allow" for one in others)
    assert bool(others) == (policy == "FailedInvocationsPolicy")


def test_scans_have_concurrency_reserved_only_where_asked(deploy: Any) -> None:
    assert "ReservedConcurrentExecutions" not in deploy()["ScanFunction"]  # 0 would prevent all scans
    assert deploy(ScanReservedConcurrency="5")["ScanFunction"]["ReservedConcurrentExecutions"] == "5"


def test_the_layer_and_all_that_use_it_are_of_one_architecture(with_slack: Any, template: dict[str, Any]) -> None:
    layer = template["Resources"]["CoreLayer"]

    assert layer["Metadata"]["BuildArchitecture"] == ARM
    assert layer["Properties"]["CompatibleArchitectures"] == [ARM]
    for name, function in with_slack.of("AWS::Serverless::Function").items():
        assert (name, function["Architectures"], function["Layers"]) == (name, [ARM], ["CoreLayer"])


def test_all_is_traced_and_logged_for_as_long_as_asked(deploy: Any) -> None:
    stack = deploy(LogRetentionDays="7", SlackSecretArn="secret")

    assert {name: log["RetentionInDays"] for name, log in stack.of("AWS::Logs::LogGroup").items()} == dict.fromkeys(
        ("FunctionLogs", "AuditLogs", "ApiLogs"), "7"
    )
    for name, function in stack.of("AWS::Serverless::Function").items():
        assert (name, function["Tracing"], function["LoggingConfig"]["LogGroup"]) == (name, "Active", "FunctionLogs")
    (destination,) = stack["AuditStateMachine"]["Logging"]["Destinations"]
    assert destination == {"CloudWatchLogsLogGroup": {"LogGroupArn": "AuditLogs.Arn"}}
    assert stack["AuditStateMachine"]["Tracing"] == {"Enabled": True}
    assert stack["ApiStage"]["AccessLogSettings"]["DestinationArn"] == "ApiLogs.Arn"


def test_the_api_speaks_to_serve_which_answers_before_it_hangs_up(stack: Any) -> None:
    integration = stack["ApiIntegration"]

    assert (integration["IntegrationType"], integration["IntegrationUri"]) == ("AWS_PROXY", "ServeFunction.Arn")
    assert integration["PayloadFormatVersion"] == "2.0"
    assert stack["ServeFunction"]["Timeout"] < 30
    assert all(
        route["Target"] == "integrations/ApiIntegration" for route in stack.of("AWS::ApiGatewayV2::Route").values()
    )


def test_only_this_api_may_call_serve(stack: Any) -> None:
    permission = stack["ApiPermission"]

    assert (permission["FunctionName"], permission["Action"]) == ("ServeFunction", "lambda:InvokeFunction")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"].split(":", 5)[-1] == "AWS::Region:AWS::AccountId:Api/*" or permission[
        "SourceArn"
    ].endswith(":Api/*")


def test_slack_is_answered_in_time_by_a_function_of_its_own_that_only_its_route_may_call(with_slack: Any) -> None:
    route, integration, permission = (with_slack[f"Slack{name}"] for name in ("Route", "Integration", "Permission"))

    assert (route["RouteKey"], route["Target"]) == ("POST /slack/events", "integrations/SlackIntegration")
    assert (integration["IntegrationType"], integration["IntegrationUri"]) == ("AWS_PROXY", "AcknowledgeFunction.Arn")
    assert integration["PayloadFormatVersion"] == "2.0"
    assert (permission["FunctionName"], permission["Principal"]) == ("AcknowledgeFunction", "apigateway.amazonaws.com")
    assert permission["SourceArn"].endswith(":Api/*/POST/slack/events")
    # 1,769 MB give one vCPU: Slack's timeout is three seconds, including a cold start.
    assert with_slack["AcknowledgeFunction"]["MemorySize"] == 1769


def test_the_open_route_is_throttled_below_the_others_and_is_there_before_its_settings(
    with_slack: Any, stack: Any, resources: dict[str, Any]
) -> None:
    stage = with_slack["ApiStage"]

    assert set(stage["RouteSettings"]) == {with_slack["SlackRoute"]["RouteKey"]}
    assert stage["RouteSettings"]["POST /slack/events"]["ThrottlingRateLimit"] == 5
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == 10
    assert "RouteSettings" not in stack["ApiStage"]
    assert resources["ApiStage"]["Metadata"]["After"] == {"Fn::If": ["HasSlack", {"Ref": "SlackRoute"}, ""]}


def test_without_a_secret_there_is_no_door_for_slack(stack: Any, with_slack: Any) -> None:
    assert {name for name in with_slack if name not in stack} == {
        "AcknowledgeFunction", "AcknowledgeRole", "AnswerFunction", "AnswerRole", "AnswerDeadLetters",
        "AnswerDeadLettersPolicy", "AnswerDeadLettersAlarm", "NotifyErrorsAlarm", "SlackPostsFailedAlarm",
        "SlackRequestsRefusedAlarm", "SlackIntegration", "SlackPermission", "SlackRoute",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arn", "good"),
    [
        ("", True),
        ("arn:aws:secretsmanager:eu-west-1:123456789012:secret:slackwater-AbCdEf", True),
        ("arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:team/slack-AbCdEf", True),
        ("slackwater", False),
        ("xoxb-1-2-3", False),
        ("arn:aws:ssm:eu-west-1:123456789012:parameter/slack", False),
    ],
)
def test_what_is_no_arn_of_a_secret_is_refused_before_anything_is_deployed(
    template: dict[str, Any], arn: str, good: bool
) -> None:
    parameter = template["Parameters"]["SlackSecretArn"]

    assert bool(re.fullmatch(parameter["AllowedPattern"], arn)) is good
    assert parameter["Default"] == ""
