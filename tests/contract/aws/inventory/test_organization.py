"""List an organization's accounts, and report where that is impossible."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from slackwater.aws.client import session as aws_session
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.organization import ACTIONS, NO_STATE, Organization
from slackwater.model.findings import Gap
from slackwater.model.organization import Account, SelectedAccounts
from slackwater.model.policy import OrganizationSection
from slackwater.ports.errors import AccessDeniedError, AwsError, BusyError
from slackwater_simulator import Fleet, Member, Simulator, Unit, instant
from slackwater_simulator import Organization as Simulated

NOW = instant("2026-11-16T09:07:00Z")
OWN = "123456789012"
ROOT, MEDIA, PRODUCTION, OTHERS = "r-sim0", "ou-sim0-media000", "ou-sim0-mediaprod", "ou-sim0-others00"
UNITS = (
    Unit(id=MEDIA, name="Media", parent=ROOT),
    Unit(id=PRODUCTION, name="Production", parent=MEDIA),
    Unit(id=OTHERS, name="Others", parent=ROOT),
)
NEWS, VIDEO, LAB, GONE, SHUT = (f"{number}" * 12 for number in range(1, 6))
MEMBERS = (
    Member(id=OWN, name="management", parent=ROOT),
    Member(id=NEWS, name="news", parent=MEDIA, tags={"Stage": "live", "Team": "news"}),
    Member(id=VIDEO, name="video", parent=PRODUCTION, tags={"Stage": "live"}),
    Member(id=LAB, name="lab", parent=OTHERS, tags={"Stage": "test"}),
    Member(id=GONE, name="gone", parent=MEDIA, state="SUSPENDED", tags={"Stage": "live"}),
    Member(id=SHUT, name="shut", parent=OTHERS, state="CLOSED"),
)
TREE = Simulated(management=OWN, members=MEMBERS, units=UNITS)


@dataclass(frozen=True)
class Asked:
    """A simulated organization, whose simulator counts the calls."""

    sim: Simulator
    organization: Organization

    def accounts(self, **section: Any) -> tuple[list[Account], list[str]]:
        selected = self.organization.accounts(OrganizationSection(**section))
        assert selected.gaps == ()
        return [*selected.accounts], [*selected.left_out]

    def ids(self, **section: Any) -> list[str]:
        return [account.id for account in self.accounts(**section)[0]]


type Ask = Callable[..., Asked]


@pytest.fixture
def ask() -> Iterator[Ask]:
    with ExitStack() as stack:

        def start(tree: Simulated | None = TREE, caller: str = OWN) -> Asked:
            sim = stack.enter_context(Simulator(Fleet(now=NOW, account=caller), organization=tree))
            session = AwsSession(meter=CallMeter(), endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
            return Asked(sim, Organization(session))

        yield start


def test_the_root_is_every_account_with_its_name_and_the_names_above_it(ask: Ask) -> None:
    accounts, _ = ask().accounts(organizational_units=[ROOT])

    assert [(one.name, one.organizational_unit) for one in accounts] == [
        ("news", "Root/Media"),
        ("management", "Root"),
        ("video", "Root/Media/Production"),
        ("lab", "Root/Others"),
    ]
    assert [one.id for one in accounts] == sorted(one.id for one in accounts)


def test_inactive_accounts_are_left_out_and_counted(ask: Ask) -> None:
    _, note = ask().accounts(organizational_units=[ROOT])

    assert note == [
        "1 account is left out: CLOSED in AWS Organizations",
        "1 account is left out: SUSPENDED in AWS Organizations",
    ]


def test_excluded_accounts_are_not_reported(ask: Ask) -> None:
    accounts, note = ask().accounts(organizational_units=[MEDIA], accounts=[LAB], except_accounts=[GONE, NEWS, LAB])

    assert ([one.id for one in accounts], note) == ([VIDEO], [])


def test_a_unit_is_its_own_accounts_and_those_below(ask: Ask) -> None:
    accounts, _ = ask().accounts(organizational_units=[PRODUCTION])

    assert accounts == [Account(id=VIDEO, name="video", organizational_unit="Root/Media/Production")]


def test_a_unit_that_is_named_in_two_ways_is_asked_once(ask: Ask) -> None:
    asked = ask()

    assert asked.ids(organizational_units=[PRODUCTION, MEDIA, PRODUCTION]) == [NEWS, VIDEO]
    assert asked.sim.calls["organizations:ListAccountsForParent"] == 2


def test_tags_choose_among_the_accounts_of_units_and_not_among_those_named(ask: Ask) -> None:
    asked = ask()
    tags = {"Stage": "live", "Team": "news"}

    assert asked.ids(organizational_units=[ROOT], tags={"Stage": "live"}) == [NEWS, VIDEO]
    assert asked.ids(organizational_units=[ROOT], tags=tags) == [NEWS]
    assert asked.ids(organizational_units=[ROOT], tags=tags, accounts=[LAB]) == [NEWS, LAB]
    assert asked.ids(organizational_units=[ROOT], tags={"Stage": "nowhere"}) == []


def test_tags_are_asked_where_they_matter_only(ask: Ask) -> None:
    asked = ask()
    asked.accounts(organizational_units=[MEDIA])
    assert "organizations:ListTagsForResource" not in asked.sim.calls

    asked.accounts(organizational_units=[MEDIA], tags={"Stage": "live"}, accounts=[VIDEO], except_accounts=[OWN])
    assert asked.sim.calls["organizations:ListTagsForResource"] == 1


def test_accounts_by_their_ids_need_no_organization(ask: Ask) -> None:
    asked = ask(None)

    accounts, note = asked.accounts(accounts=[VIDEO, NEWS, NEWS, LAB], except_accounts=[LAB])

    assert (accounts, note) == ([Account(id=NEWS, name=NEWS), Account(id=VIDEO, name=VIDEO)], [])
    assert asked.sim.calls == {}


def test_beside_units_they_get_their_names_and_those_of_nobody_keep_their_ids(ask: Ask) -> None:
    accounts, note = ask().accounts(organizational_units=[OTHERS], accounts=[VIDEO, "999999999999", GONE, NEWS])

    assert [(one.id, one.name, one.organizational_unit) for one in accounts] == [
        (NEWS, "news", "Root/Media"),
        (VIDEO, "video", "Root/Media/Production"),
        (LAB, "lab", "Root/Others"),
        ("999999999999", "999999999999", ""),
    ]
    assert "1 account is left out: SUSPENDED in AWS Organizations" in note


def test_all_pages_are_read(ask: Ask) -> None:
    numbers = [f"{200_000_000_000 + place}" for place in range(45)]
    tree = Simulated(
        management=OWN, members=[Member(id=each, name=each, parent=MEDIA) for each in numbers], units=UNITS
    )
    asked = ask(tree)

    assert asked.ids(organizational_units=[MEDIA]) == numbers
    assert asked.sim.calls["organizations:ListAccountsForParent"] == 4  # three for Media, one for Production


def test_a_delegated_administrator_may_ask(ask: Ask) -> None:
    tree = Simulated(management=OWN, members=MEMBERS, units=UNITS, delegates=frozenset({NEWS}))

    assert ask(tree, NEWS).ids(organizational_units=[PRODUCTION]) == [VIDEO]


@pytest.mark.parametrize(
    ("tree", "code"), [(TREE, "AccessDeniedException"), (None, "AWSOrganizationsNotInUseException")]
)
def test_a_caller_without_permission_learns_where_to_ask_and_what_to_do_instead(
    ask: Ask, tree: Simulated | None, code: str
) -> None:
    with pytest.raises(AccessDeniedError, match=rf"management account or a delegated administrator.*accounts.*{code}"):
        ask(tree, NEWS).accounts(organizational_units=[ROOT])


@pytest.mark.parametrize(
    "denied",
    [
        "ListRoots",
        "ListAccountsForParent",
        "ListOrganizationalUnitsForParent",
        "ListTagsForResource",
        "DescribeAccount",
    ],
)
def test_a_part_that_is_denied_is_no_shorter_list(ask: Ask, denied: str) -> None:
    asked = ask()
    asked.sim.faults.deny(f"organizations:{denied}")

    with pytest.raises(AccessDeniedError, match=denied):
        asked.accounts(organizational_units=[ROOT], tags={"Stage": "live"}, accounts=["999999999999"])


@pytest.mark.parametrize("unit", ["ou-sim0-nowhere0", "r-nowhere"])
def test_a_unit_that_is_not_there_is_named_with_the_policys_key(ask: Ask, unit: str) -> None:
    with pytest.raises(AwsError, match=rf"\[organization\] organizational_units: there is no {unit}"):
        ask().accounts(organizational_units=[MEDIA, unit])


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_session, "QUICK_ATTEMPTS", {"organizations": 1})


@pytest.mark.usefixtures("once")
def test_throttled_to_the_end_it_is_busy_and_no_shorter_list(ask: Ask) -> None:
    asked = ask()
    asked.sim.faults.error("organizations:ListOrganizationalUnitsForParent", "TooManyRequestsException", 400)

    with pytest.raises(BusyError, match="TooManyRequestsException"):
        asked.accounts(organizational_units=[ROOT])


class Stub:
    """An AWS Organizations client with fixed answers."""

    home = "us-east-1"

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = list(pages)

    def client(self, service: str, region: str) -> Any:
        return self

    def list_roots(self) -> dict[str, Any]:
        return {"Roots": [{"Id": ROOT, "Name": "Root"}]}

    def list_accounts_for_parent(self, **_: str) -> dict[str, Any]:
        return self.pages.pop(0)

    def list_organizational_units_for_parent(self, **_: str) -> dict[str, Any]:
        return {"OrganizationalUnits": []}

    def list_tags_for_resource(self, ResourceId: str) -> dict[str, Any]:
        return {"Tags": [{"Key": "Stage", "Value": "live"}] if ResourceId == NEWS else []}

    def list_parents(self, **_: str) -> dict[str, Any]:
        return {"Parents": [{"Id": ROOT}]}

    def describe_account(self, **_: str) -> dict[str, Any]:
        return {"Account": self.pages.pop(0)}


def selected(*pages: dict[str, Any], **section: Any) -> SelectedAccounts:
    stub: Any = Stub(*pages)
    return Organization(stub).accounts(OrganizationSection(organizational_units=[ROOT], **section))


def in_root(*pages: dict[str, Any]) -> list[str]:
    return [one.id for one in selected(*pages).accounts]


def test_an_empty_page_is_not_the_end() -> None:
    last = {"Accounts": [{"Id": NEWS, "Name": "news", "State": "ACTIVE"}]}

    assert in_root({"Accounts": [], "NextToken": "1"}, last) == [NEWS]


def test_the_state_counts_and_the_status_where_there_is_no_state() -> None:
    accounts = [
        {"Id": NEWS, "Name": "news", "State": "CLOSED", "Status": "ACTIVE"},
        {"Id": VIDEO, "Name": "video", "Status": "ACTIVE"},
        {"Id": LAB, "Name": "lab", "Status": "SUSPENDED"},
    ]

    assert in_root({"Accounts": accounts}) == [VIDEO]


def test_an_account_without_state_and_status_is_unknown_with_a_gap() -> None:
    accounts = [{"Id": NEWS, "Name": "news"}, {"Id": VIDEO, "Name": "video", "State": "ACTIVE"}]
    found = selected({"Accounts": accounts})

    assert [one.id for one in found.accounts] == [NEWS, VIDEO]
    assert found.gaps == (Gap(NEWS, "us-east-1", "organizations:ListAccountsForParent", NO_STATE),)
    assert not found.gaps[0].optional
    assert found.left_out == ()


def test_a_named_account_without_state_and_status_is_unknown_with_a_gap() -> None:
    found = selected({"Accounts": []}, {"Id": LAB, "Name": "lab"}, accounts=[LAB])

    assert found.gaps == (Gap(LAB, "us-east-1", "organizations:DescribeAccount", NO_STATE),)


def test_tags_choose_among_accounts_of_unknown_state_too() -> None:
    found = selected(
        {"Accounts": [{"Id": NEWS, "Name": "news"}, {"Id": VIDEO, "Name": "video"}]}, tags={"Stage": "live"}
    )

    assert ([one.id for one in found.accounts], [gap.account for gap in found.gaps]) == ([NEWS], [NEWS])


@pytest.mark.parametrize("page", [{}, {"Accounts": [{"Name": "news", "State": "ACTIVE"}]}])
def test_an_answer_that_lacks_what_it_must_hold_is_broken(page: dict[str, Any]) -> None:
    with pytest.raises(AwsError):
        in_root(page)


def test_a_second_authority_on_the_shapes_gives_the_same_tree(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        theirs: Any = boto3.client("organizations", region_name="us-east-1")
        theirs.create_organization(FeatureSet="ALL")
        ids = {ROOT: theirs.list_roots()["Roots"][0]["Id"]}
        for unit in UNITS:
            made = theirs.create_organizational_unit(ParentId=ids[unit.parent], Name=unit.name)
            ids[unit.id] = made["OrganizationalUnit"]["Id"]
        for member in MEMBERS[1:4]:
            tags = [{"Key": key, "Value": value} for key, value in member.tags.items()]
            made = theirs.create_account(AccountName=member.name, Email=f"{member.name}@example.com", Tags=tags)
            ids[member.id] = made["CreateAccountStatus"]["AccountId"]
            theirs.move_account(
                AccountId=ids[member.id], SourceParentId=ids[ROOT], DestinationParentId=ids[member.parent]
            )

        def named(organization: Organization, name: Callable[[str], str]) -> set[tuple[str, str]]:
            section = OrganizationSection(
                organizational_units=[name(MEDIA), name(OTHERS)], tags={"Stage": "live"}, accounts=[name(LAB)]
            )
            return {(one.name, one.organizational_unit) for one in organization.accounts(section).accounts}

        of_moto = named(Organization(AwsSession(meter=CallMeter(), home="us-east-1")), ids.__getitem__)

    assert of_moto == named(ask().organization, str)
    assert of_moto == {("news", "Root/Media"), ("video", "Root/Media/Production"), ("lab", "Root/Others")}


@pytest.mark.parametrize(
    ("home", "host"),
    [
        ("ap-northeast-1", "organizations.us-east-1.amazonaws.com"),
        ("cn-north-1", "organizations.cn-northwest-1.amazonaws.com.cn"),
        ("us-gov-east-1", "organizations.us-gov-west-1.amazonaws.com"),
    ],
)
def test_it_is_asked_where_the_partition_has_it(monkeypatch: pytest.MonkeyPatch, home: str, host: str) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    session = AwsSession(meter=CallMeter(), home=home)

    assert session.client("organizations", session.home).meta.endpoint_url == f"https://{host}"


def test_the_documented_delegation_allows_just_what_is_asked() -> None:
    page = (Path(__file__).parents[4] / "docs" / "organization.md").read_text()
    (policy,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (statement,) = json.loads(policy)["Statement"]

    assert statement["Action"] == sorted(ACTIONS)


def test_all_that_may_be_asked_is_asked(ask: Ask) -> None:
    asked = ask()
    asked.accounts(organizational_units=[ROOT, PRODUCTION], tags={"Stage": "live"}, accounts=["999999999999"])
    asked.accounts(organizational_units=[OTHERS], accounts=[NEWS])

    assert set(asked.sim.calls) == ACTIONS
