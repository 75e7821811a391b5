"""Each checkov check that a template skips has a reason, and the reason is true for the resource."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.template.conftest import Stack

from slackwater.wiring import permissions

SECRET = re.compile(r"secret|token|password|key\b", re.IGNORECASE)


def caller_is_aws(stack: Stack, name: str) -> bool:
    """Return whether only AWS services can invoke a function: it has no URL, and no permission names anybody else."""
    permissions_of = [one for one in stack.of("AWS::Lambda::Permission").values() if one["FunctionName"] == name]
    return (
        "FunctionUrlConfig" not in stack[name]
        and not stack.of("AWS::Lambda::Url")
        and all(one["Principal"].endswith(".amazonaws.com") for one in permissions_of)
    )


def has_destination_if_asynchronous(stack: Stack, name: str) -> bool:
    """Return whether a function has a failure destination, if a rule, a schedule or code invokes it asynchronously."""
    targets = [target["Arn"] for rule in stack.of("AWS::Events::Rule").values() for target in rule["Targets"]]
    targets += [one["Target"]["Arn"] for one in stack.of("AWS::Scheduler::Schedule").values()]
    targets += [arn for arn in (f"{name}.Arn",) if name == "AnswerFunction"]  # AcknowledgeFunction invokes it
    return f"{name}.Arn" not in targets or "OnFailure" in stack[name]["EventInvokeConfig"]["DestinationConfig"]


def has_no_secret_variable(stack: Stack, name: str) -> bool:
    """Return whether no environment variable holds a secret. The ARN of a secret is allowed."""
    variables = stack[name]["Environment"]["Variables"]
    return [one for one in variables if SECRET.search(one)] in ([], ["SLACK_SECRET_ARN"])


def is_bounded(stack: Stack, name: str) -> bool:
    """Return whether invocations are bounded: the function is not public, and only the stream is an event source."""
    events = stack[name].get("Events", {})
    return caller_is_aws(stack, name) and {one["Type"] for one in events.values()} <= {"DynamoDB"}


def writes_without_resources(stack: Stack, name: str) -> bool:
    """Return whether a policy has write actions on all resources, and these only write traces and log deliveries."""
    of_resource = stack[name]
    policies = [one["PolicyDocument"] for one in of_resource.get("Policies", [of_resource])]
    wide = {
        action
        for policy in policies
        for statement in policy["Statement"]
        if "*" in statement["Resource"]
        for action in statement["Action"]
    }
    return bool(wide) and all(action.startswith(("xray:", "logs:")) for action in wide)


def is_encrypted_queue(stack: Stack, name: str) -> bool:
    return stack[name]["SqsManagedSseEnabled"] is True and "KmsMasterKeyId" not in stack[name]


def signs_itself(stack: Stack, name: str) -> bool:
    """Return whether the open route invokes the function that checks Slack's signature, which has few permissions."""
    integration = stack[name]["Target"].removeprefix("integrations/")
    return stack[integration]["IntegrationUri"] == "AcknowledgeFunction.Arn" and {
        "secretsmanager:GetSecretValue", "dynamodb:PutItem", "dynamodb:DeleteItem", "lambda:InvokeFunction",
    } >= permissions.ACKNOWLEDGE  # fmt: skip


def has_no_key(*properties: str) -> Callable[[Stack, str], bool]:
    """Return a reason that is true as long as no customer managed key is set. The service then uses its own key."""
    return lambda stack, name: not any(one in json.dumps(stack[name]) for one in properties)


REASONS: dict[str, Callable[[Stack, str], bool]] = {
    "CKV_AWS_18": lambda stack, name: (
        "LoggingConfiguration" not in stack[name] and len(stack.of("AWS::S3::Bucket")) == 1
    ),
    "CKV_AWS_26": has_no_key("KmsMasterKeyId"),
    "CKV_AWS_27": is_encrypted_queue,
    "CKV_AWS_111": writes_without_resources,
    "CKV_AWS_115": is_bounded,
    "CKV_AWS_116": has_destination_if_asynchronous,
    "CKV_AWS_117": caller_is_aws,
    "CKV_AWS_119": has_no_key("KMSMasterKeyId"),
    "CKV_AWS_158": has_no_key("KmsKeyId"),
    "CKV_AWS_173": has_no_secret_variable,
    "CKV_AWS_309": signs_itself,
}
"""By check: whether its reason is true for a resource that skips it."""


@pytest.fixture(scope="session")
def templates(
    template: dict[str, Any], cleanup_template: dict[str, Any], member_template: dict[str, Any], deploy: Any,
    deploy_cleanup: Any, deploy_member: Any,
) -> list[tuple[dict[str, Any], Stack]]:  # fmt: skip
    """Return each template with two stacks: one with everything enabled, and one with defaults."""
    everything = {
        "SlackSecretArn": "secret", "CleanupEnabled": "true", "HourlyDetectors": "efs-idle",
        "AlarmEmail": "a@example.com", "MemberRoleName": "Slackwater", "MemberExternalId": "tide",
        "JwtIssuer": "https://issuer.example", "JwtAudience": "a", "ScanReservedConcurrency": 5,
    }  # fmt: skip
    return [
        (template, deploy(**everything)),
        (template, deploy()),
        (cleanup_template, deploy_cleanup(**everything, CleanupSchedule="rate(1 day)")),
        (cleanup_template, deploy_cleanup()),
        (member_template, deploy_member()),
    ]


def skips(written: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for name, resource in written["Resources"].items():
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", []):
            yield name, skip


def test_every_reason_for_a_skipped_check_is_true(templates: list[tuple[dict[str, Any], Stack]]) -> None:
    held = set()
    for written, stack in templates:
        for name, skip in skips(written):
            assert len(skip["comment"].split()) >= 4, (name, skip)
            if name in stack:
                assert REASONS[skip["id"]](stack, name), (name, skip)
                held.add((name, skip["id"]))

    assert held == {(name, skip["id"]) for written, _ in templates for name, skip in skips(written)}
    assert {id_ for _, id_ in held} == {*REASONS}


def test_every_template_is_looked_at(templates: list[tuple[dict[str, Any], Stack]]) -> None:
    written = {json.dumps(one, sort_keys=True, default=str) for one, _ in templates}
    assert len(written) == len([*Path(__file__).parents[2].glob("template*.yaml")])


def test_a_reason_that_is_not_true_is_noticed(templates: list[tuple[dict[str, Any], Stack]]) -> None:
    """This skip was once wrong: a rule invoked Publish, which had no failure destination."""
    _, stack = templates[0]
    without = Stack(
        {**stack, "PublishFunction": {**stack["PublishFunction"], "EventInvokeConfig": {"DestinationConfig": {}}}},
        stack.types,
    )
    with_secret = {"Environment": {"Variables": {"SLACK_TOKEN": "x"}}}
    telling = Stack({**stack, "PlanFunction": {**stack["PlanFunction"], **with_secret}}, stack.types)

    assert not REASONS["CKV_AWS_116"](without, "PublishFunction")
    assert not REASONS["CKV_AWS_173"](telling, "PlanFunction")
