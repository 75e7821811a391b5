"""Everything that the template refers to exists, and every function and file is in the template."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from slackwater.aws.store import table
from slackwater.model.audits import AUDIT_STATES, AuditRequest
from slackwater.wiring.settings import DeploymentSettings

ROOT = Path(__file__).parents[2]


def test_every_folder_of_functions_is_a_function_and_the_reverse(functions: dict[str, Any]) -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}

    assert set(functions) == folders


def test_every_function_has_an_event_to_try_it_with_and_the_reverse(functions: dict[str, Any]) -> None:
    assert {re.split(r"[-.]", path.name)[0] for path in (ROOT / "events").glob("*.json")} == set(functions)


def test_the_environment_is_what_the_settings_read(
    template: dict[str, Any], cleanup_template: dict[str, Any], functions: dict[str, Any]
) -> None:
    everywhere = template["Globals"]["Function"]["Environment"]["Variables"]
    own = {name: properties.get("Environment", {}).get("Variables", {}) for name, properties in functions.items()}
    settings = {variable.upper() for variable in DeploymentSettings.__dataclass_fields__}

    in_tests = {"SLACK_API_URL"}
    machines = {"CLEANUP_STATE_MACHINE_ARN", "UNDO_STATE_MACHINE_ARN"}
    backups = {"BACKUP_ROLE_ARN", "BACKUP_VAULT_NAME", "INSTALLATION_ID"}
    members = {"MEMBER_ROLE_NAME", "MEMBER_EXTERNAL_ID"}
    expected = {
        "plan": members,
        "scan": members,
        "announce": {"EVENT_BUS_NAME"},
        "serve": {"STATE_MACHINE_ARN", *machines, "INSTALLATION_ID"},
        "notify": {"SLACK_SECRET_ARN", "CLEANUP_ENABLED"},
        "acknowledge": {"SLACK_SECRET_ARN", "ANSWER_FUNCTION_NAME"},
        "answer": {"SLACK_SECRET_ARN", "STATE_MACHINE_ARN", *machines},
        "watch": {"DELETE_ROLE_ARN"},
        "back_up": backups,
        "delete": backups,
        "restore": backups,
        "sweep": backups,
        "run": {"CLEANUP_STATE_MACHINE_ARN"},
    }
    assert {name: set(variables) for name, variables in own.items() if variables} == expected
    assert settings - set(everywhere) - in_tests == set().union(*expected.values())
    assert set(cleanup_template["Globals"]["Function"]["Environment"]["Variables"]) == set(everywhere)


def test_the_outputs_have_all_locations_that_the_command_line_needs(template: dict[str, Any]) -> None:
    outputs = {"TableName", "BucketName", "StateMachineArn", "ApiUrl", "RetentionDays", "SlackSecretArn"}
    of_cleanup = {"CleanupStateMachineArn", "UndoStateMachineArn"}

    assert set(template["Outputs"]) >= outputs | of_cleanup
    assert all(template["Outputs"][name]["Condition"] == "HasCleanup" for name in of_cleanup)


def test_every_parameter_is_used_and_says_what_it_is(
    template: dict[str, Any], cleanup_template: dict[str, Any]
) -> None:
    shown = [
        one
        for group in template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
        for one in group["Parameters"]
    ]

    assert sorted(shown) == sorted(template["Parameters"])
    for one in (template, cleanup_template):
        written = json.dumps({key: value for key, value in one.items() if key not in {"Parameters", "Metadata"}})
        for name, parameter in one["Parameters"].items():
            assert parameter["Description"].endswith("."), name
            assert f'{{"Ref": "{name}"}}' in written or f"${{{name}}}" in written, name


def test_the_table_has_the_keys_and_indexes_that_the_code_uses(resources: dict[str, Any]) -> None:
    properties = resources["Table"]["Properties"]
    indexes = {one["IndexName"]: one for one in properties["GlobalSecondaryIndexes"]}
    keys = {name: tuple(key["AttributeName"] for key in one["KeySchema"]) for name, one in indexes.items()}

    assert [key["AttributeName"] for key in properties["KeySchema"]] == ["pk", "sk"]
    assert keys == table.INDEXES
    assert indexes[table.BY_TARGET]["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    for name in (table.BY_SAVING, table.BY_AGE):
        assert indexes[name]["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(table.PROJECTED)}
    assert properties["TimeToLiveSpecification"] == {"AttributeName": table.EXPIRES_AT, "Enabled": True}


def test_findings_and_documents_outlive_the_stack(resources: dict[str, Any]) -> None:
    assert resources["Bucket"]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resources["Table"]["DeletionPolicy"] == "Retain"
    for name in ("Table", "Bucket"):
        assert resources[name]["UpdateReplacePolicy"] == "Retain"


def test_only_changes_and_ended_audits_are_announced(functions: dict[str, Any]) -> None:
    filters = functions["announce"]["Events"]["Changes"]["Properties"]["FilterCriteria"]["Filters"]
    changes, audits = (json.loads(one["Pattern"]) for one in filters)

    assert changes == {"eventName": ["INSERT"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": table.LEDGER_OF}]}}}}
    assert audits["dynamodb"]["Keys"] == {"sk": {"S": ["AUDIT"]}}
    assert set(audits["dynamodb"]["NewImage"]["state"]["S"]) == set(AUDIT_STATES) - {"running"}


@pytest.mark.parametrize("schedule", ["Schedule", "HourlySchedule"])
def test_a_schedule_asks_for_an_audit_of_its_turn(resources: dict[str, Any], schedule: str) -> None:
    written = resources[schedule]["Properties"]["Target"]["Input"]
    text = (
        written["Fn::Sub"][0].replace("${Detectors}", 'efs-idle", "efs-orphaned')
        if isinstance(written, dict)
        else written
    )
    request = TypeAdapter(AuditRequest).validate_json(text)

    assert request.occasion is not None
    assert re.fullmatch(r"(weekly|hourly)/<aws\.scheduler\.scheduled-time>", request.occasion)
    assert request.detectors == (("efs-idle", "efs-orphaned") if schedule == "HourlySchedule" else ())


def test_every_route_of_the_api_is_a_route_of_the_template(resources: dict[str, Any]) -> None:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text())
    routes = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::ApiGatewayV2::Route"]
    paths = {
        re.sub("^/estimates/[a-z-]+$", "/estimates/{kind}", path): methods
        for path, methods in document["paths"].items()
    }
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert sorted(route["RouteKey"] for route in routes) == sorted(served | {"GET /openapi.json", "POST /slack/events"})


def test_no_route_is_open_to_everybody_but_the_one_that_checks_signatures_itself(resources: dict[str, Any]) -> None:
    assert resources["SlackRoute"]["Properties"]["AuthorizationType"] == "NONE"
    for name, resource in resources.items():
        if resource["Type"] == "AWS::ApiGatewayV2::Route" and name != "SlackRoute":
            assert resource["Properties"]["AuthorizationType"] == {"Fn::If": ["UsesJwt", "JWT", "AWS_IAM"]}, name
            assert resource["Properties"]["AuthorizerId"]["Fn::If"][1] == {"Ref": "ApiAuthorizer"}, name


SCOPES = {
    "decide": {"POST /findings/{id}/snooze", "POST /findings/{id}/dismiss", "POST /findings/{id}/reopen"},
    "audit": {"POST /audits"},
    "cleanup": {
        "POST /findings/{id}/approve", "POST /cleanups", "POST /cleanups/{id}/undo", "POST /cleanups/{id}/stop",
        "POST /cleanups/stop", "POST /cleanups/go-on", "POST /cleanups/backups/adopt",
    },
}  # fmt: skip
"""The scope that a route's token needs. All other routes need `read`."""


def test_a_token_needs_the_scope_of_what_it_does(deploy: Any) -> None:
    def scopes(**parameters: str) -> dict[str, Any]:
        routes = deploy(**parameters).of("AWS::ApiGatewayV2::Route").values()
        return {route["RouteKey"]: route.get("AuthorizationScopes") for route in routes}

    jwt = {"JwtIssuer": "https://issuer", "JwtAudience": "me"}

    for key, found in scopes(**jwt).items():
        scope = next((scope for scope, keys in SCOPES.items() if key in keys), "read")
        assert (key, found) == (key, [f"slackwater/{scope}"])
        assert scope != "read" or key.startswith(("GET ", "POST /estimates/"))
    assert scopes(**jwt, JwtScopePrefix="api://x/")["POST /audits"] == ["api://x/audit"]
    # IAM has no scopes, and API Gateway rejects them on IAM routes.
    assert {*scopes().values(), *scopes(**jwt, JwtScopePrefix="none").values()} == {None}


def met(condition: dict[str, Any], parameters: dict[str, str]) -> bool:
    """Return whether CloudFormation would consider a rule's condition met."""
    ((function, arguments),) = condition.items()
    if function == "Fn::Not":
        return not met(arguments[0], parameters)
    left, right = arguments
    given = parameters[left["Ref"]]
    return given == right if function == "Fn::Equals" else all(one == right for one in given.split(","))


@pytest.mark.parametrize(
    ("parameters", "refused"),
    [
        ({}, False),
        ({"JwtIssuer": "https://issuer"}, True),
        ({"JwtIssuer": "https://issuer", "JwtAudience": "me"}, False),
        ({"CleanupSchedule": "rate(1 day)"}, True),
        ({"CleanupSchedule": "rate(1 day)", "CleanupEnabled": "true"}, False),
        ({"MemberRoleName": "SlackwaterMember"}, True),
        ({"MemberRoleName": "SlackwaterMember", "MemberExternalId": "tide-table"}, False),
    ],
)
def test_parameters_that_need_others_are_refused_without_them(
    template: dict[str, Any], parameters: dict[str, str], refused: bool
) -> None:
    given = {name: str(one["Default"]) for name, one in template["Parameters"].items() if "Default" in one} | parameters
    broken = [
        name
        for name, rule in template["Rules"].items()
        if met(rule["RuleCondition"], given) and not all(met(one["Assert"], given) for one in rule["Assertions"])
    ]

    assert bool(broken) is refused
