"""Ask IAM what the delete role may do. Treat everything that IAM does not answer as not allowed."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.aws.cleanup.permissions import ACTIONS, SimulatedPermissions
from slackwater.model.cleanup import CLEANUP_TAG
from slackwater.ports.errors import AwsError, BrokenAnswerError
from slackwater_simulator import Fleet, instant

ROLE = "arn:aws:iam::123456789012:role/slackwater-delete"
VOLUME, SYSTEM = "arn:aws:ec2:x:1:volume/vol-1", "arn:aws:elasticfilesystem:x:1:file-system/fs-1"
ASKED = {
    VOLUME: {"ec2:DeleteVolume"},
    SYSTEM: frozenset({"elasticfilesystem:DeleteMountTarget", "elasticfilesystem:DeleteFileSystem"}),
}
CALL = "iam:SimulatePrincipalPolicy"


@pytest.fixture
def there(simulate: Callable[..., Any]) -> Any:
    return simulate(Fleet(now=instant("2026-11-16T09:07:00Z")))


class Iam:
    """A session whose IAM gives fixed answers, page by page."""

    home = "ap-northeast-1"

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages, self.asked = iter(pages), []

    def client(self, service: str, region: str) -> Any:
        assert (service, region) == ("iam", self.home)
        return SimpleNamespace(simulate_principal_policy=self.simulate)

    def simulate(self, **parameters: Any) -> dict[str, Any]:
        self.asked.append(parameters)
        return next(self.pages)


def result(action: str, decision: str = "allowed") -> dict[str, str]:
    return {"EvalActionName": action, "EvalDecision": decision}


def test_nothing_is_denied_where_iam_allows_it_all(there: Any) -> None:
    assert SimulatedPermissions(there.session, ROLE).denied(ASKED, {CLEANUP_TAG: "f-1"}) == []
    assert there.sim.calls == {CALL: 2} == dict.fromkeys(ACTIONS, 2)


def test_what_would_be_denied_is_named_with_what_it_is_denied_on(there: Any) -> None:
    there.sim.faults.deny("iam-simulated:elasticfilesystem:DeleteMountTarget")
    there.sim.faults.deny(f"iam-simulated:ec2:DeleteVolume on {VOLUME}")
    assert SimulatedPermissions(there.session, ROLE).denied(ASKED, {CLEANUP_TAG: "f-1"}) == [
        f"ec2:DeleteVolume on {VOLUME}",
        f"elasticfilesystem:DeleteMountTarget on {SYSTEM}",
    ]


def test_it_is_asked_of_the_role_with_the_tags_that_the_resource_carries() -> None:
    iam = Iam({"EvaluationResults": [result("ec2:DeleteVolume")]})
    SimulatedPermissions(iam, ROLE).denied({VOLUME: ["ec2:DeleteVolume"]}, {CLEANUP_TAG: "f-1"})
    assert iam.asked == [
        {
            "PolicySourceArn": ROLE,
            "ActionNames": ["ec2:DeleteVolume"],
            "ResourceArns": [VOLUME],
            "ContextEntries": [
                {
                    "ContextKeyName": "aws:ResourceTag/slackwater:marked",
                    "ContextKeyType": "string",
                    "ContextKeyValues": ["f-1"],
                }
            ],
        }
    ]


def test_a_network_interface_carries_no_tag_and_is_deleted_by_efs_for_us() -> None:
    iam = Iam({"EvaluationResults": [result("ec2:DeleteNetworkInterface")]})
    arn = "arn:aws:ec2:x:1:network-interface/*"
    SimulatedPermissions(iam, ROLE).denied({arn: ["ec2:DeleteNetworkInterface"]}, {CLEANUP_TAG: "f-1"})
    assert iam.asked[0]["ContextEntries"] == [
        {"ContextKeyName": "aws:ViaAWSService", "ContextKeyType": "boolean", "ContextKeyValues": ["true"]}
    ]


@pytest.mark.parametrize("decision", ["implicitDeny", "explicitDeny", "somethingNew"])
def test_whatever_is_not_allowed_is_denied(decision: str) -> None:
    iam = Iam({"EvaluationResults": [result("ec2:DeleteVolume", decision)]})
    assert SimulatedPermissions(iam, ROLE).denied({VOLUME: ["ec2:DeleteVolume"]}, {}) == [
        f"ec2:DeleteVolume on {VOLUME}"
    ]


def test_every_page_is_read() -> None:
    actions = sorted(ASKED[SYSTEM])
    first = {"EvaluationResults": [result(actions[0])], "IsTruncated": True, "Marker": "m"}
    iam = Iam(first, {"EvaluationResults": [result(actions[1], "implicitDeny")], "IsTruncated": False})
    assert SimulatedPermissions(iam, ROLE).denied({SYSTEM: actions}, {}) == [f"{actions[1]} on {SYSTEM}"]
    assert iam.asked[1]["Marker"] == "m"


@pytest.mark.parametrize("answer", [{}, {"EvaluationResults": []}, {"EvaluationResults": [result("ec2:DetachVolume")]}])
def test_what_iam_does_not_say_is_an_error(answer: dict[str, Any]) -> None:
    with pytest.raises(BrokenAnswerError):
        SimulatedPermissions(Iam(answer), ROLE).denied({VOLUME: ["ec2:DeleteVolume"]}, {})


@pytest.mark.usefixtures("impatient")
def test_a_simulation_that_fails_is_an_error(there: Any) -> None:
    there.sim.faults.deny(CALL)
    with pytest.raises(AwsError, match="Not allowed"):
        SimulatedPermissions(there.session, ROLE).denied(ASKED, {})
