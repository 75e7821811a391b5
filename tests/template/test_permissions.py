"""Each function's role allows exactly what its adapters use, and on which resources."""

import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from slackwater.aws.metrics import spending
from slackwater.aws.store import audits as audit_store
from slackwater.aws.store import cleanups as cleanup_store
from slackwater.aws.store import findings as finding_store
from slackwater.aws.store import installation, leases, outbox, request_guard, table
from slackwater.model import object_keys
from slackwater.wiring import permissions
from support.iam import allowed

BY_LAMBDA_ITSELF = {
    "publish": {"sqs:SendMessage"},
    "notify": {"sqs:SendMessage"},
    "answer": {"sqs:SendMessage"},
    "announce": {
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        "sqs:SendMessage",
    },
}
"""Actions that Lambda performs with a function's role: it reads the stream, and keeps failed events."""

FUNCTIONS = ["plan", "scan", "publish", "notify", "announce", "serve", "acknowledge", "answer"]


@pytest.fixture(scope="session")
def stack(deploy: Any) -> Any:
    """Return the whole main stack, without the nested stack."""
    return deploy(SlackSecretArn="secret", CleanupEnabled="true", MemberRoleName="Member", MemberExternalId="tide")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(stack: Any, role: str) -> list[dict[str, Any]]:
    name = f"{role.title()}Role"
    apart = [one for one in stack.of("AWS::IAM::Policy").values() if role in FUNCTIONS and name in one["Roles"]]
    policies = [*stack[name]["Policies"], *apart]
    return [one for policy in policies for one in policy["PolicyDocument"]["Statement"]]


def objects(may: list[dict[str, Any]], action: str) -> set[str]:
    """Return the key patterns on which statements allow an action."""
    arns = [arn for statement in may if action in listed(statement["Action"]) for arn in listed(statement["Resource"])]
    assert all(arn.startswith("Bucket.Arn/") for arn in arns)
    return {arn.removeprefix("Bucket.Arn/") for arn in arns}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_what_the_adapters_use_no_more_and_no_less(stack: Any, function: str) -> None:
    allowed = [action for statement in statements(stack, function) for action in listed(statement["Action"])]

    assert len(allowed) == len(set(allowed))
    assert set(allowed) == getattr(permissions, function.upper()) | BY_LAMBDA_ITSELF.get(function, set())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_a_role_of_its_own_with_nothing_else_in_it(stack: Any, function: str) -> None:
    role = stack[f"{function.title()}Role"]

    assert stack[f"{function.title()}Function"]["Role"] == f"{function.title()}Role.Arn"
    assert set(role) == {"AssumeRolePolicyDocument", "ManagedPolicyArns", "Policies"}
    assert role["ManagedPolicyArns"] == ["TelemetryPolicy"]
    assert all(statement["Effect"] == "Allow" for statement in statements(stack, function))


def test_all_may_log_and_trace_and_no_more(stack: Any) -> None:
    log, trace = stack["TelemetryPolicy"]["PolicyDocument"]["Statement"]

    assert (log["Action"], log["Resource"]) == (["logs:CreateLogStream", "logs:PutLogEvents"], "FunctionLogs.Arn")
    assert trace["Action"] == ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]


def test_only_reading_an_account_and_logging_is_about_everything(stack: Any) -> None:
    everything = [
        (function, statement.get("Sid"))
        for function in [*FUNCTIONS, "audit", "schedule"]
        for statement in statements(stack, function)
        if "*" in listed(statement["Resource"])
    ]

    assert everything == [
        ("plan", "NameTargets"),
        ("plan", "NameTheOrganizationsAccounts"),
        ("scan", "ReadTheAccount"),
        ("serve", "ReadPricesTypesAndRegions"),
        ("serve", "ListBackups"),
        ("answer", "NameAccountAndRegions"),
        ("audit", "Log"),
        ("audit", "Trace"),
    ]


def test_a_scan_can_only_read_what_it_audits(stack: Any) -> None:
    allowed = {action for statement in statements(stack, "scan") for action in listed(statement["Action"])}
    writing = {
        action for action in allowed if not re.match(r"[\w-]+:(Describe|Get|List|Lookup)[A-Z]|dynamodb:Query$", action)
    }

    assert writing == {"s3:PutObject", "dynamodb:PutItem", "dynamodb:UpdateItem", "sts:AssumeRole"}
    assert objects(statements(stack, "scan"), "s3:PutObject") == {"audits/*/targets/*", "transient/*.sqlite"}
    for action, kind in (("dynamodb:PutItem", leases.KIND), ("dynamodb:UpdateItem", spending.KIND)):
        (one,) = [one for one in statements(stack, "scan") if action in listed(one["Action"])]
        assert one["Resource"] == "Table.Arn"
        assert one["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{kind}#*"]}}


@pytest.mark.parametrize("function", ["plan", "scan"])
def test_other_accounts_are_entered_by_one_role_and_only_where_one_is_named(
    deploy: Any, stack: Any, function: str
) -> None:
    (enter,) = [one for one in statements(stack, function) if one["Action"] == "sts:AssumeRole"]
    assert enter["Resource"] == "arn:AWS::Partition:iam::*:role/Member"

    alone = [action for one in statements(deploy(), function) for action in listed(one["Action"])]
    assert not [action for action in alone if action.startswith(("sts:AssumeRole", "organizations:"))]


def test_only_who_posts_or_answers_may_read_the_secret(deploy: Any, stack: Any) -> None:
    def readers(stack: Any, roles: list[str]) -> list[str]:
        return [
            role
            for role in roles
            for statement in statements(stack, role)
            if "secretsmanager:GetSecretValue" in listed(statement["Action"]) and statement["Resource"] == "secret"
        ]

    assert readers(stack, FUNCTIONS) == ["notify", "acknowledge", "answer"]
    without = [name for name in FUNCTIONS if f"{name.title()}Role" in deploy()]
    assert without == [name for name in FUNCTIONS if name not in {"acknowledge", "answer"}]
    assert not [one for one in statements(deploy(), "notify") if "secretsmanager" in str(one["Action"])]


def test_the_public_endpoint_may_only_record_request_ids_and_pass_requests_on(stack: Any) -> None:
    conditions = {statement["Sid"]: statement.get("Condition") for statement in statements(stack, "acknowledge")}

    assert conditions == {
        "ReadTheSecret": None,
        "RefuseWhatCameBefore": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{request_guard.KIND}#*"]}},
        "HandOver": None,
    }


KEYS = {
    "running": table.key_of(audit_store.RUNNING),
    "audit": table.key(audit_store.KIND, "1"),
    "occasion": table.key("OCCASION", "weekly/2026-11-16T09:00:00Z"),
    "finding": table.key(finding_store.KIND, "1"),
    "ledger": table.ledger_key("1", 1),
    "clean-up": table.key(cleanup_store.KIND, "1"),
    "hold": table.key(cleanup_store.HOLD, "arn"),
    "control": table.key_of(cleanup_store.CONTROL),
    "post": table.key(outbox.KIND, "1"),
    "lease": {"pk": {"S": f"{leases.KIND}#1"}},
    "spending": {"pk": {"S": f"{spending.KIND}#1"}},
    "request": {"pk": {"S": f"{request_guard.KIND}#1"}},
    "installation": table.key_of(installation.KIND),
}
"""An item of each kind in the table."""
DECIDES = {"audit", "running", "finding", "ledger", "clean-up", "hold", "control", "post"}
STORES = {
    ("plan", "dynamodb:PutItem"): {"audit", "occasion", "running"},
    ("plan", "dynamodb:BatchGetItem"): {"audit", "occasion", "running", "spending"},
    ("scan", "dynamodb:PutItem"): {"lease"},
    ("scan", "dynamodb:UpdateItem"): {"spending"},
    ("publish", "dynamodb:PutItem"): {"audit", "finding", "ledger", "clean-up", "hold"},
    ("notify", "dynamodb:PutItem"): {"post"},
    ("serve", "dynamodb:PutItem"): DECIDES,
    ("acknowledge", "dynamodb:PutItem"): {"request"},
    ("acknowledge", "dynamodb:DeleteItem"): {"request"},
    ("answer", "dynamodb:PutItem"): DECIDES,
}
"""By role and action: the kinds of items on which the action is allowed."""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_writes_items_of_its_kinds_and_no_others(stack: Any, function: str) -> None:
    assert wrongly_stored(statements(stack, function), function) == []


def wrongly_stored(may: list[dict[str, Any]], function: str) -> list[str]:
    """Return the table actions that statements allow on other kinds of items than they should."""
    actions = {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"} | {
        action for role, action in STORES if role == function
    }
    return [
        action
        for action in sorted(actions)
        if STORES.get((function, action), set())
        != {
            kind
            for kind, item in KEYS.items()
            if allowed(may, action, "Table.Arn", {"dynamodb:LeadingKeys": [item["pk"]["S"]]})
        }
    ]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_any_one_statement_or_condition_a_test_above_fails(stack: Any, function: str) -> None:
    """Every statement and condition is necessary, and a test notices if it is missing."""

    def is_wrong(may: list[dict[str, Any]]) -> bool:
        actions = {action for one in may for action in listed(one["Action"])}
        return (
            actions != getattr(permissions, function.upper()) | BY_LAMBDA_ITSELF.get(function, set())
            or bool(wrongly_stored(may, function))
            or any(
                not any(fnmatchcase(key, pattern) for pattern in objects(may, action))
                for action, keys in (("s3:GetObject", READS), ("s3:PutObject", WRITES))
                for key in keys.get(function, ())
            )
        )

    every = statements(stack, function)
    assert not is_wrong(every)
    for statement in every:
        others = [one for one in every if one is not statement]
        assert is_wrong(others), statement["Sid"]
        if "Condition" in statement:
            freely = {key: value for key, value in statement.items() if key != "Condition"}
            assert is_wrong([*others, freely]), f"{statement['Sid']} without its condition"


def test_without_clean_up_only_audits_can_be_started(deploy: Any) -> None:
    stack = deploy(SlackSecretArn="secret")

    for function in ("serve", "answer"):
        (start,) = [one for one in statements(stack, function) if one["Action"] == "states:StartExecution"]
        assert start["Resource"] == ["AuditStateMachine"]
        (see,) = [one for one in statements(stack, function) if one["Action"] == "states:DescribeExecution"]
        assert set(see["Resource"]) == AUDITS
        variables = stack[f"{function.title()}Function"]["Environment"]["Variables"]
        assert (variables["CLEANUP_STATE_MACHINE_ARN"], variables["UNDO_STATE_MACHINE_ARN"]) == ("", "")


def test_functions_that_post_may_store_posts_and_nothing_else(stack: Any) -> None:
    (put,) = [one for one in statements(stack, "notify") if "dynamodb:PutItem" in listed(one["Action"])]

    assert (put["Action"], put["Resource"]) == ("dynamodb:PutItem", "Table.Arn")
    assert put["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{outbox.KIND}#*"]}}


MACHINES = {"AuditStateMachine", "Cleanup.Outputs.CleanupStateMachineArn", "Cleanup.Outputs.UndoStateMachineArn"}
AUDITS = {"arn:AWS::Partition:states:AWS::Region:AWS::AccountId:execution:AuditStateMachine.Name:*"}
EXECUTIONS = AUDITS | {"Cleanup.Outputs.CleanupExecutionsArn", "Cleanup.Outputs.UndoExecutionsArn"}
TABLE = {"Table.Arn"}
MEMBERS = {"arn:AWS::Partition:iam::*:role/Member"}
TABLE_AND_INDEXES = TABLE | {"Table.Arn/index/*"}
WHERE = {
    "plan": {"dynamodb": TABLE, "s3:ListBucket": {"Bucket.Arn"}, "states": AUDITS, "sts": MEMBERS},
    "scan": {"dynamodb": TABLE, "s3:ListBucket": {"Bucket.Arn"}, "sts": MEMBERS},
    "publish": {"dynamodb": TABLE_AND_INDEXES, "s3:ListBucket": {"Bucket.Arn"}, "sqs": {"FailedInvocations.Arn"}},
    "notify": {
        "dynamodb": TABLE_AND_INDEXES,
        "s3:ListBucket": {"Bucket.Arn"},
        "s3:ListBucketVersions": {"Bucket.Arn"},
        "secretsmanager": {"secret"},
        "sqs": {"FailedInvocations.Arn"},
    },
    "acknowledge": {"dynamodb": TABLE, "lambda": {"AnswerFunction.Arn"}, "secretsmanager": {"secret"}},
    "answer": {
        "dynamodb": TABLE_AND_INDEXES,
        "s3:ListBucket": {"Bucket.Arn"},
        "secretsmanager": {"secret"},
        "sqs": {"AnswerDeadLetters.Arn"},
        "states": MACHINES | EXECUTIONS,
    },
    "announce": {
        "dynamodb": {"Table.Arn/stream/*"},
        "events": {"arn:AWS::Partition:events:AWS::Region:AWS::AccountId:event-bus/default"},
        "sqs": {"AnnounceDeadLetters.Arn"},
    },
    "serve": {"dynamodb": TABLE_AND_INDEXES, "s3:ListBucket": {"Bucket.Arn"}, "states": MACHINES | EXECUTIONS},
    "audit": {"lambda": {"PlanFunction.Arn", "ScanFunction.Arn", "PublishFunction.Arn", "NotifyFunction.Arn"}},
    "schedule": {"states": {"AuditStateMachine"}, "sqs": {"ScheduleDeadLetters.Arn"}},
}
"""By service, or by action where a service's actions differ.

The tests below cover object keys, those above wildcards.
"""


@pytest.mark.parametrize("role", WHERE)
def test_a_role_may_touch_its_own_table_bucket_bus_and_queue_and_no_other(stack: Any, role: str) -> None:
    where: dict[str, set[str]] = {}
    for statement in statements(stack, role):
        for action in listed(statement["Action"]):
            if not re.match(r"s3:(Get|Put)Object", action) and statement["Resource"] != "*":
                what = action if action.startswith("s3:") else action.split(":")[0]
                where.setdefault(what, set()).update(listed(statement["Resource"]))

    assert where == WHERE[role]


def test_a_schedule_may_start_the_audit_and_keep_what_it_could_not(stack: Any) -> None:
    assert [statement["Action"] for statement in statements(stack, "schedule")] == [
        "states:StartExecution",
        "sqs:SendMessage",
    ]


@pytest.mark.parametrize(
    ("role", "service"),
    [*((function, "lambda") for function in FUNCTIONS), ("audit", "states"), ("schedule", "scheduler")],
)
def test_a_role_is_for_one_service(stack: Any, role: str, service: str) -> None:
    (trust,) = stack[f"{role.title()}Role"]["AssumeRolePolicyDocument"]["Statement"]

    assert (trust["Effect"], trust["Action"]) == ("Allow", "sts:AssumeRole")
    assert trust["Principal"] == {"Service": f"{service}.amazonaws.com"}


READS = {
    "plan": {object_keys.POLICY, object_keys.plan("1"), object_keys.head("1")},
    "scan": {
        object_keys.POLICY,
        object_keys.plan("1"),
        object_keys.snapshot("1", "123456789012", "eu-west-1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1"),
    },
    "publish": {
        object_keys.plan("1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1"),
        object_keys.target_error("1", "123456789012", "eu-west-1"),
        object_keys.known("1"),
    },
    "notify": {object_keys.POLICY, object_keys.head("1"), object_keys.changes("1"), *object_keys.previous_changes("1")},
    "answer": {object_keys.POLICY, object_keys.target_scan("1", "123456789012", "eu-west-1"), object_keys.report("1")},
    "serve": {
        object_keys.POLICY,
        object_keys.head("1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1"),
        object_keys.report("1"),
    },
}
WRITES = {
    "plan": {object_keys.plan("1"), object_keys.batches("1"), object_keys.targets("1")},
    "scan": {
        object_keys.snapshot("1", "123456789012", "eu-west-1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1"),
        object_keys.target_scan("1", "123456789012", "eu-west-1", 2),
    },
    "publish": {
        object_keys.scan("1"),
        object_keys.head("1"),
        object_keys.known("1"),
        object_keys.changes("1"),
        *object_keys.previous_changes("1"),
        object_keys.report("1"),
        object_keys.target_error("1", "123456789012", "eu-west-1"),
    },
    "serve": {object_keys.cleanup_list("f00d", "parts", "5d1c")},
    "answer": {object_keys.cleanup_list("f00d", "parts", "5d1c")},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_objects_it_may_touch_are_those_that_it_does(stack: Any, function: str) -> None:
    for action, keys in (("s3:GetObject", READS.get(function, set())), ("s3:PutObject", WRITES.get(function, set()))):
        patterns = objects(statements(stack, function), action)
        assert [key for key in keys if not any(fnmatchcase(key, pattern) for pattern in patterns)] == []
        assert [pattern for pattern in patterns if not any(fnmatchcase(key, pattern) for key in keys)] == []
