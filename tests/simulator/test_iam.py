"""IAM's policy simulator answers what a role may do."""

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import Fleet, Simulator, instant

ROLE = "arn:aws:iam::123456789012:role/delete"
FIRST, SECOND = (f"arn:aws:ec2:us-east-1:123456789012:volume/vol-{number}" for number in (1, 2))


@pytest.fixture
def simulator():
    with Simulator(Fleet(now=instant("2026-11-16T09:07:00Z"))) as running:
        yield running


@pytest.fixture
def ask(simulator, clients):
    iam = clients(simulator, "iam")

    def asked(actions, *arns, **more):
        given = {"ResourceArns": list(arns)} if arns else {}
        return iam.simulate_principal_policy(PolicySourceArn=ROLE, ActionNames=actions, **given, **more)

    return asked


def test_everything_is_allowed_unless_a_fault_denies_it(simulator, ask):
    actions = ["ec2:DeleteVolume", "ec2:DescribeVolumes"]
    marked = [
        {"ContextKeyName": "aws:ResourceTag/slackwater:marked", "ContextKeyValues": ["f"], "ContextKeyType": "string"}
    ]
    decision = ask(actions, FIRST, ContextEntries=marked)
    assert [(each["EvalActionName"], each["EvalDecision"]) for each in decision["EvaluationResults"]] == [
        (action, "allowed") for action in actions
    ]
    assert decision["IsTruncated"] is False
    simulator.faults.deny("iam-simulated:ec2:DeleteVolume")
    delete, describe = ask(actions, FIRST)["EvaluationResults"]
    assert (delete["EvalDecision"], describe["EvalDecision"]) == ("implicitDeny", "allowed")
    assert delete["EvalResourceName"] == FIRST
    assert delete["ResourceSpecificResults"][0]["EvalResourceDecision"] == "implicitDeny"
    assert (delete["MatchedStatements"], len(describe["MatchedStatements"])) == ([], 1)


def test_of_several_resources_the_aggregate_says_nothing_of_each(simulator, ask):
    simulator.faults.deny(f"iam-simulated:ec2:DeleteVolume on {SECOND}")
    (decision,) = ask(["ec2:DeleteVolume"], FIRST, SECOND)["EvaluationResults"]
    assert (decision["EvalResourceName"], decision["EvalDecision"]) == ("*", "allowed")
    assert {each["EvalResourceName"]: each["EvalResourceDecision"] for each in decision["ResourceSpecificResults"]} == {
        FIRST: "allowed",
        SECOND: "implicitDeny",
    }


def test_without_resources_it_is_about_all_of_them(ask):
    (decision,) = ask(["ec2:DeleteVolume"])["EvaluationResults"]
    assert (decision["EvalResourceName"], decision["ResourceSpecificResults"]) == ("*", [])


def test_results_come_in_pages(ask):
    actions = [f"ec2:Action{number}" for number in range(5)]
    first = ask(actions, FIRST, MaxItems=3)
    assert (first["IsTruncated"], len(first["EvaluationResults"])) == (True, 3)
    rest = ask(actions, FIRST, MaxItems=3, Marker=first["Marker"])
    assert (rest["IsTruncated"], [each["EvalActionName"] for each in rest["EvaluationResults"]]) == (False, actions[3:])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("arn:aws:sts::123456789012:assumed-role/delete/session", "InvalidInput"),
        ("arn:aws:iam::999999999999:role/delete", "NoSuchEntity"),
    ],
)
def test_a_principal_that_it_cannot_simulate_is_refused(simulator, clients, source, code):
    with pytest.raises(ClientError) as caught:
        clients(simulator, "iam").simulate_principal_policy(PolicySourceArn=source, ActionNames=["ec2:DeleteVolume"])
    assert caught.value.response["Error"]["Code"] == code


def test_the_simulator_itself_may_be_denied(simulator, ask):
    simulator.faults.deny("iam:SimulatePrincipalPolicy")
    with pytest.raises(ClientError) as caught:
        ask(["ec2:DeleteVolume"], FIRST)
    assert caught.value.response["Error"]["Code"] == "AccessDenied"
