"""Each function's role allows what its adapters use, no more and no less, and where."""

import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from slackwater.app import permissions
from slackwater.model import object_keys

BY_LAMBDA_ITSELF = {
    "announce": {
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        "sqs:SendMessage",
    }
}
"""What Lambda does in a function's name: it reads the stream, and keeps what failed."""

FUNCTIONS = ["plan", "scan", "publish", "announce", "serve"]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(resources: dict[str, Any], function: str) -> list[dict[str, Any]]:
    role = resources[f"{function.title()}Role"]["Properties"]
    return [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]


def objects(resources: dict[str, Any], function: str, action: str) -> set[str]:
    """The patterns of the keys on which a function may do this."""
    arns = [
        arn
        for statement in statements(resources, function)
        if action in listed(statement["Action"])
        for arn in listed(statement["Resource"])
    ]
    return {arn["Fn::Sub"].removeprefix("${Bucket.Arn}/") for arn in arns}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_what_the_adapters_use_no_more_and_no_less(resources: dict[str, Any], function: str) -> None:
    allowed = [action for statement in statements(resources, function) for action in listed(statement["Action"])]

    assert len(allowed) == len(set(allowed))
    assert set(allowed) == getattr(permissions, function.upper()) | BY_LAMBDA_ITSELF.get(function, set())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_a_role_of_its_own_with_nothing_else_in_it(
    resources: dict[str, Any], functions: dict[str, Any], function: str
) -> None:
    role = resources[f"{function.title()}Role"]["Properties"]

    assert functions[function]["Role"] == {"Fn::GetAtt": [f"{function.title()}Role", "Arn"]}
    assert set(role) == {"AssumeRolePolicyDocument", "ManagedPolicyArns", "Policies"}
    assert role["ManagedPolicyArns"] == [{"Ref": "TelemetryPolicy"}]
    assert all(statement["Effect"] == "Allow" for statement in statements(resources, function))


def test_all_may_log_and_trace_and_no_more(resources: dict[str, Any]) -> None:
    log, trace = resources["TelemetryPolicy"]["Properties"]["PolicyDocument"]["Statement"]

    assert (log["Action"], log["Resource"]) == (
        ["logs:CreateLogStream", "logs:PutLogEvents"],
        {"Fn::GetAtt": ["FunctionLogs", "Arn"]},
    )
    assert trace["Action"] == ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]


def test_only_reading_an_account_is_about_everything(resources: dict[str, Any]) -> None:
    everything = [
        (function, statement["Sid"])
        for function in FUNCTIONS
        for statement in statements(resources, function)
        if "*" in listed(statement["Resource"])
    ]

    assert everything == [("plan", "NameTargets"), ("scan", "ReadTheAccount")]


def test_a_scan_can_only_read_what_it_audits(resources: dict[str, Any]) -> None:
    allowed = {action for statement in statements(resources, "scan") for action in listed(statement["Action"])}
    writing = {action for action in allowed if not re.match(r"\w+:(Describe|Get|List|Lookup)[A-Z]", action)}

    assert writing == {"s3:PutObject"}
    assert objects(resources, "scan", "s3:PutObject") == {"audits/*/targets/*"}


READS = {
    "plan": {object_keys.POLICY, object_keys.plan("1")},
    "scan": {object_keys.POLICY, object_keys.plan("1")},
    "publish": {
        object_keys.plan("1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1"),
        object_keys.known("1"),
    },
    "serve": {object_keys.scan("1"), object_keys.target_scan("1", "123456789012", "eu-west-1")},
}
WRITES = {
    "plan": {object_keys.plan("1")},
    "scan": {object_keys.target_scan("1", "123456789012", "eu-west-1")},
    "publish": {object_keys.scan("1"), object_keys.known("1")},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_objects_it_may_touch_are_those_that_it_does(resources: dict[str, Any], function: str) -> None:
    for action, keys in (("s3:GetObject", READS.get(function, set())), ("s3:PutObject", WRITES.get(function, set()))):
        patterns = objects(resources, function, action)
        assert [key for key in keys if not any(fnmatchcase(key, pattern) for pattern in patterns)] == []
        assert [pattern for pattern in patterns if not any(fnmatchcase(key, pattern) for key in keys)] == []
