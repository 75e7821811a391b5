"""AWS Organizations and its roles. The simulator builds a member account only when a client enters it."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import (
    MEMBER_EXTERNAL_ID,
    MEMBER_ROLE,
    Fleet,
    Member,
    Organization,
    Role,
    Simulator,
    Unit,
    instant,
    organization,
)

NOW = instant("2026-11-16T09:07:00Z")
OWN, OTHER, THIRD = "123456789012", "210987654321", "333333333333"
UNIT = Unit(id="ou-sim0-media000", name="Media", parent="r-sim0")
MEMBERS = (
    Member(id=OWN, name="management", parent="r-sim0"),
    Member(id=OTHER, name="news", parent=UNIT.id, tags={"Stage": "live"}),
    *(Member(id=f"{400_000_000_000 + place}", name=f"many-{place}", parent=UNIT.id) for place in range(24)),
)
TREE = Organization(management=OWN, members=MEMBERS, units=(UNIT,))


@pytest.fixture(scope="module")
def tree():
    others = Fleet(now=NOW, account=OTHER, roles=[Role(name="audit", trusts=(OWN,))])
    with Simulator(Fleet(now=NOW), others, Fleet(now=NOW, account=THIRD), organization=TREE) as simulator:
        yield simulator


def as_(simulator, clients, account, service, region="us-east-1"):
    """Return a client with another account's keys."""
    keys = {"aws_access_key_id": f"ASIASIM{account}A", "aws_secret_access_key": "x", "aws_session_token": "x"}
    return clients(simulator, service, region, **keys)


def test_the_tree_is_as_it_was_given(tree, clients):
    client = clients(tree, "organizations", "us-east-1")

    (root,) = client.list_roots()["Roots"]
    assert (root["Id"], root["Name"]) == ("r-sim0", "Root")
    (unit,) = client.list_organizational_units_for_parent(ParentId="r-sim0")["OrganizationalUnits"]
    assert (
        unit["Name"]
        == client.describe_organizational_unit(OrganizationalUnitId=unit["Id"])["OrganizationalUnit"]["Name"]
    )
    assert client.list_parents(ChildId=OTHER)["Parents"] == [{"Id": UNIT.id, "Type": "ORGANIZATIONAL_UNIT"}]
    assert client.list_parents(ChildId=UNIT.id)["Parents"] == [{"Id": "r-sim0", "Type": "ROOT"}]
    account = client.describe_account(AccountId=OTHER)["Account"]
    assert (account["Name"], account["State"], "Status" in account) == ("news", "ACTIVE", False)
    assert client.list_tags_for_resource(ResourceId=OTHER)["Tags"] == [{"Key": "Stage", "Value": "live"}]


def test_pages_hold_twenty_and_boto3_reads_them_all(tree, clients):
    client = clients(tree, "organizations", "us-east-1")

    assert len(client.list_accounts_for_parent(ParentId=UNIT.id)["Accounts"]) == 20
    pages = list(client.get_paginator("list_accounts_for_parent").paginate(ParentId=UNIT.id))
    assert [len(page["Accounts"]) for page in pages] == [20, 5]
    with pytest.raises(ClientError, match="InvalidInputException"):
        client.list_accounts_for_parent(ParentId=UNIT.id, NextToken="ebb")


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("list_accounts_for_parent", {"ParentId": "ou-sim0-nowhere0"}, "ParentNotFoundException"),
        ("list_organizational_units_for_parent", {"ParentId": OTHER}, "ParentNotFoundException"),
        ("list_parents", {"ChildId": THIRD}, "ChildNotFoundException"),
        ("describe_account", {"AccountId": THIRD}, "AccountNotFoundException"),
        (
            "describe_organizational_unit",
            {"OrganizationalUnitId": "ou-sim0-nowhere0"},
            "OrganizationalUnitNotFoundException",
        ),
        ("list_tags_for_resource", {"ResourceId": THIRD}, "TargetNotFoundException"),
    ],
)
def test_what_is_not_there_is_an_error(tree, clients, operation, arguments, code):
    with pytest.raises(ClientError) as raised:
        getattr(clients(tree, "organizations", "us-east-1"), operation)(**arguments)
    assert raised.value.response["Error"]["Code"] == code


def test_a_member_may_not_see_the_tree_and_a_stranger_has_none(tree, clients):
    with pytest.raises(ClientError, match="AccessDeniedException"):
        as_(tree, clients, OTHER, "organizations").list_roots()
    with pytest.raises(ClientError, match="AWSOrganizationsNotInUseException"):
        as_(tree, clients, THIRD, "organizations").list_roots()


def test_a_role_lets_in_only_whom_it_trusts(tree, clients):
    role = {"RoleArn": f"arn:aws:iam::{OTHER}:role/audit", "RoleSessionName": "scan"}

    assert clients(tree, "sts").assume_role(**role)["AssumedRoleUser"]["Arn"].startswith(f"arn:aws:sts::{OTHER}:")
    with pytest.raises(ClientError, match="AccessDenied"):
        as_(tree, clients, THIRD, "sts").assume_role(**role)


def test_an_account_has_the_regions_that_it_enabled(clients):
    with Simulator(Fleet(now=NOW, enabled=("eu-west-1", "us-east-1"))) as simulator:
        found = clients(simulator, "ec2", "us-east-1").describe_regions()["Regions"]
        assert [each["RegionName"] for each in found] == ["eu-west-1", "us-east-1"]
        with pytest.raises(ClientError, match="AuthFailure"):
            clients(simulator, "ec2", "ap-northeast-1").describe_volumes()


@pytest.fixture(scope="module")
def thousand():
    return organization(resources=40, large=2)


def test_a_thousand_accounts_are_listed_and_none_is_built(thousand, clients):
    own, around = thousand
    with Simulator(own, organization=around) as simulator:
        listing = clients(simulator, "organizations", "us-east-1").get_paginator("list_accounts_for_parent")
        parents = (around.root, *(unit.id for unit in around.units))
        pages = [page for unit in parents for page in listing.paginate(ParentId=unit)]
        states = Counter(account["State"] for page in pages for account in page["Accounts"])

        assert states["ACTIVE"] == 1_001
        assert states.total() == 1_006
        assert [account.id for account in simulator.accounts] == [own.account]


def test_an_account_is_made_when_it_is_entered(thousand, clients):
    own, around = thousand
    large = around.members[1].id
    role = {"RoleSessionName": "scan", "ExternalId": MEMBER_EXTERNAL_ID}
    with Simulator(own, organization=around) as simulator:
        sts = clients(simulator, "sts")
        sts.assume_role(RoleArn=f"arn:aws:iam::{large}:role/{MEMBER_ROLE}", **role)

        assert len(as_(simulator, clients, large, "ec2", own.regions[1]).describe_volumes()["Volumes"]) == 10
        assert [account.id for account in simulator.accounts] == [own.account, large]
        for shut in (around.members[-1], around.members[1_000]):
            with pytest.raises(ClientError, match="AccessDenied"):
                sts.assume_role(RoleArn=f"arn:aws:iam::{shut.id}:role/{MEMBER_ROLE}", **role)


def test_most_accounts_are_empty_a_fifth_small_and_a_few_large(thousand):
    _, around = thousand
    fleets = [around.fleet_of(member.id) for member in around.members[1:1_001]]
    sizes = Counter(len(fleet.volumes) > 0 for fleet in fleets)

    assert sizes == {True: 202, False: 798}
    assert len({fleet.account for fleet in fleets}) == 1_000
    assert len({id(fleet.volumes) for fleet in fleets if fleet.volumes}) == 7
    assert {fleet.enabled for fleet in fleets} == {fleets[0].regions}
    assert around.fleet_of(around.members[-1].id) is None
    again = around.fleet_of(around.members[1].id)
    assert (again.account, [volume.id for volume in again.volumes]) == (
        fleets[0].account,
        [v.id for v in fleets[0].volumes],
    )
    assert replace(again, account="") != replace(around.fleet_of(around.members[2].id), account="")


def test_its_program_says_how_to_enter():
    command = [
        sys.executable,
        "-m",
        "slackwater_simulator",
        "--fleet",
        "organization",
        "--accounts",
        "20",
        "--resources",
        "40",
    ]
    with subprocess.Popen([*command, "--exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        where = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(20) == 0
    assert where["organization"] == {"root": "r-sim0", "role_name": MEMBER_ROLE, "external_id": MEMBER_EXTERNAL_ID}
    assert len(where["regions"]) == 17
