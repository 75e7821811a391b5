"""What is kept is kept safe; functions, API and logs are as the pages say."""

from typing import Any

import pytest

from slackwater.model import object_keys

ARM = "arm64"


def test_the_table_can_be_restored_to_any_second(stack: Any) -> None:
    assert stack["Table"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_audits_expire_and_every_version_of_the_policy_stays(deploy: Any) -> None:
    bucket = deploy(RetentionDays="77")["Bucket"]
    rules = bucket["LifecycleConfiguration"]["Rules"]
    deleting = [rule for rule in rules if {"ExpirationInDays", "NoncurrentVersionExpiration"} & set(rule)]

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert [(rule["Status"], rule["Prefix"], rule["ExpirationInDays"]) for rule in deleting] == [
        ("Enabled", object_keys.AUDITS, "77")
    ]
    known = {"Id", "Status", "ExpiredObjectDeleteMarker", "AbortIncompleteMultipartUpload"}
    assert all(set(rule) <= known for rule in rules if rule not in deleting)


def test_nothing_is_public_and_everything_is_encrypted(stack: Any) -> None:
    bucket = stack["Bucket"]
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]

    assert bucket["PublicAccessBlockConfiguration"] == dict.fromkeys(
        ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
    )
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert all(queue["SqsManagedSseEnabled"] is True for queue in stack.of("AWS::SQS::Queue").values())


@pytest.mark.parametrize(
    ("policy", "resources"),
    [
        ("BucketPolicy", {"Bucket.Arn", "Bucket.Arn/*"}),
        ("DeadLettersPolicy", {"AnnounceDeadLetters.Arn", "ScheduleDeadLetters.Arn"}),
    ],
)
def test_connections_that_are_not_encrypted_are_refused_and_no_others(stack: Any, policy: str, resources: set[str]) -> None:
    (statement,) = stack[policy]["PolicyDocument"]["Statement"]

    assert (statement["Effect"], statement["Principal"], set(statement["Resource"])) == ("Deny", "*", resources)
    assert statement["Action"] in {"s3:*", "sqs:*"}
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_scans_have_concurrency_reserved_only_where_asked(deploy: Any) -> None:
    assert "ReservedConcurrentExecutions" not in deploy()["ScanFunction"]  # 0 would mean never
    assert deploy(ScanReservedConcurrency="5")["ScanFunction"]["ReservedConcurrentExecutions"] == "5"


def test_the_layer_and_all_that_use_it_are_of_one_architecture(stack: Any, template: dict[str, Any]) -> None:
    layer = template["Resources"]["CoreLayer"]

    assert layer["Metadata"]["BuildArchitecture"] == ARM
    assert layer["Properties"]["CompatibleArchitectures"] == [ARM]
    for name, function in stack.of("AWS::Serverless::Function").items():
        assert (name, function["Architectures"], function["Layers"]) == (name, [ARM], ["CoreLayer"])


def test_all_is_traced_and_logged_for_as_long_as_asked(deploy: Any) -> None:
    stack = deploy(LogRetentionDays="7")

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
    assert all(route["Target"] == "integrations/ApiIntegration" for route in stack.of("AWS::ApiGatewayV2::Route").values())


def test_only_this_api_may_call_serve(stack: Any) -> None:
    permission = stack["ApiPermission"]

    assert (permission["FunctionName"], permission["Action"]) == ("ServeFunction", "lambda:InvokeFunction")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceArn"].split(":", 5)[-1] == "AWS::Region:AWS::AccountId:Api/*" or permission["SourceArn"].endswith(
        ":Api/*"
    )
