"""The role in an organization's member accounts: what it allows, who can assume it, and that StackSets deploy it."""

import re
from typing import Any

import pytest

from slackwater.wiring import permissions
from support.iam import like

AUDITOR = "123456789012"


def test_it_allows_what_planning_and_scanning_read_and_nothing_else(deploy_member: Any) -> None:
    role = deploy_member()["MemberRole"]
    (policy,) = role["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]

    assert (statement["Effect"], statement["Resource"]) == ("Allow", "*")
    assert "ManagedPolicyArns" not in role
    assert statement["Action"] == sorted(permissions.MEMBER)
    assert [one for one in statement["Action"] if not re.match(r"[\w-]+:(Describe|Get|List|Lookup)[A-Z]", one)] == []


def test_it_allows_what_scanning_the_own_account_may_read(deploy_member: Any, stack: Any) -> None:
    statements = stack["ScanRole"]["Policies"][0]["PolicyDocument"]["Statement"]
    (own,) = [one["Action"] for one in statements if one["Sid"] == "ReadTheAccount"]
    (there,) = deploy_member()["MemberRole"]["Policies"][0]["PolicyDocument"]["Statement"]

    assert {*there["Action"]} == {*own, "ec2:DescribeRegions"}


def lets_in(properties: dict[str, Any], caller: str, external_id: str | None) -> bool:
    """Return whether the trust policy, with its two conditions, allows a role's session to assume the role."""
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert (trust["Effect"], trust["Action"]) == ("Allow", "sts:AssumeRole")
    assert {name: set(keys) for name, keys in trust["Condition"].items()} == {
        "StringEquals": {"sts:ExternalId"},
        "ArnLike": {"aws:PrincipalArn"},
    }
    account = trust["Principal"]["AWS"]
    assert account == f"arn:aws:iam::{AUDITOR}:root"
    return (
        caller.split(":")[4] == AUDITOR
        and trust["Condition"]["StringEquals"]["sts:ExternalId"] == external_id
        and any(like(pattern, caller) for pattern in trust["Condition"]["ArnLike"]["aws:PrincipalArn"])
    )


SCAN = f"arn:aws:iam::{AUDITOR}:role/slackwater-ScanRole-9XK2M4TQ7L1B"
PEOPLE = "aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_Storage_"


@pytest.mark.parametrize(
    ("caller", "parameters", "external_id", "let_in"),
    [
        (SCAN, {}, "tide", True),
        (SCAN.replace("Scan", "Plan"), {}, "tide", True),
        (SCAN, {}, "ebb", False),
        (SCAN, {}, None, False),
        (SCAN.replace("Scan", "Publish"), {}, "tide", False),
        (SCAN.replace("role/slackwater", "role/tides"), {}, "tide", False),
        (SCAN.replace("role/slackwater", "role/tides"), {"AuditorStackName": "tides"}, "tide", True),
        (SCAN.replace(AUDITOR, "210987654321"), {}, "tide", False),
        (f"arn:aws:iam::{AUDITOR}:role/Admin", {}, "tide", False),
        (f"arn:aws:iam::{AUDITOR}:user/slackwater-ScanRole-1", {}, "tide", False),
        (f"arn:aws:iam::{AUDITOR}:role/{PEOPLE}0123456789abcdef", {}, "tide", False),
        (f"arn:aws:iam::{AUDITOR}:role/{PEOPLE}0123456789abcdef", {"PeoplesRole": f"{PEOPLE}*"}, "tide", True),
        (f"arn:aws:iam::{AUDITOR}:role/Admin", {"PeoplesRole": f"{PEOPLE}*"}, "tide", False),
    ],
)
def test_it_trusts_the_roles_that_plan_and_scan_and_that_send_the_external_id(
    deploy_member: Any, caller: str, parameters: dict[str, str], external_id: str | None, let_in: bool
) -> None:
    assert lets_in(deploy_member(**parameters)["MemberRole"], caller, external_id) is let_in


def test_the_roles_that_it_trusts_are_those_that_enter(stack: Any) -> None:
    """The trust policy matches names that CloudFormation generates from logical ids.

    A fixed role name would not match.
    """
    for name in ("PlanRole", "ScanRole"):
        assert "RoleName" not in stack[name]
        assert "Path" not in stack[name]


def test_stack_sets_of_an_organization_take_it(member_template: dict[str, Any]) -> None:
    """StackSets allow no macros, and so no transform, and no nested stacks."""
    assert "Transform" not in member_template
    assert [one["Type"] for one in member_template["Resources"].values()] == ["AWS::IAM::Role"]


def test_its_external_id_has_to_be_given(member_template: dict[str, Any], deploy_member: Any) -> None:
    parameters = member_template["Parameters"]

    assert [name for name, one in parameters.items() if "Default" not in one] == ["AuditorAccountId", "ExternalId"]
    assert not re.fullmatch(parameters["ExternalId"]["AllowedPattern"], "")
    assert not re.fullmatch(parameters["PeoplesRole"]["AllowedPattern"], "*")
    assert deploy_member()["MemberRole"]["RoleName"] == "SlackwaterMember"
