"""Assume the role in each account of an organization, and report where that fails."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

from slackwater.aws.client import members
from slackwater.aws.client import session as aws_session
from slackwater.aws.client.errors import reason
from slackwater.aws.client.identity import identity
from slackwater.aws.client.members import Members
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.organization import Organization
from slackwater.model.policy import OrganizationSection
from slackwater.ports.errors import AccessDeniedError, AwsError, BusyError
from slackwater_simulator import (
    MEMBER_EXTERNAL_ID,
    MEMBER_ROLE,
    Fleet,
    Role,
    Simulator,
    instant,
    organization,
)

NOW = instant("2026-11-16T09:07:00Z")
OWN, NEWS, VIDEO, STRANGER = "123456789012", "1" * 12, "2" * 12, "9" * 12
ROLE = Role(name="SlackwaterMember", external_id="tide", trusts=(OWN,))
FLEETS = (
    Fleet(now=NOW),
    Fleet(now=NOW, account=NEWS, roles=[ROLE], enabled=("eu-west-1", "us-east-1")),
    Fleet(now=NOW, account=VIDEO, roles=[ROLE]),
    Fleet(now=NOW, account=STRANGER, roles=[replace(ROLE, trusts=(NEWS,))]),
)


@dataclass(frozen=True)
class Entering:
    """Simulated accounts, the session of one of them, and the members of its organization."""

    sim: Simulator
    own: AwsSession
    meter: CallMeter
    members: Members

    @property
    def entered(self) -> int:
        return self.sim.calls.get("sts:AssumeRole", 0)


type Enter = Callable[..., Entering]


@pytest.fixture
def enter() -> Iterator[Enter]:
    with ExitStack() as stack:

        def start(
            *,
            own: str = OWN,
            role_name: str | None = "SlackwaterMember",
            external_id: str | None = "tide",
            fleets: Any = FLEETS,
        ) -> Entering:
            sim = stack.enter_context(Simulator(*fleets))
            meter = CallMeter()
            session = AwsSession(meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
            return Entering(sim, session, meter, Members(session, own, "aws", role_name, external_id))

        yield start


def test_the_own_account_is_not_entered(enter: Enter) -> None:
    entering = enter()

    assert entering.members.session(OWN) is entering.own
    assert len(entering.members.regions(OWN)) == 17
    assert entering.entered == 0


def test_another_account_is_entered_by_its_role_and_only_once(enter: Enter) -> None:
    entering = enter()

    session = entering.members.session(NEWS)

    assert identity(session).account == NEWS
    assert entering.members.session(NEWS) is session
    assert identity(entering.members.session(VIDEO)).account == VIDEO
    assert identity(entering.own).account == OWN
    assert entering.entered == 2


def test_regions_are_those_that_each_account_has_enabled(enter: Enter) -> None:
    entering = enter()

    assert entering.members.regions(NEWS) == ["eu-west-1", "us-east-1"]
    assert len(entering.members.regions(VIDEO)) == 17


def test_all_is_counted_where_the_own_calls_are(enter: Enter) -> None:
    entering = enter()
    entering.members.regions(NEWS)
    entering.members.regions(OWN)

    assert entering.meter.api_calls() == entering.sim.calls == {"ec2:DescribeRegions": 2, "sts:AssumeRole": 1}


def test_many_threads_enter_an_account_once(enter: Enter) -> None:
    entering = enter()
    together = threading.Barrier(8)

    def one(_: int) -> AwsSession:
        together.wait()
        return entering.members.session(NEWS)

    with ThreadPoolExecutor(8) as pool:
        assert len({id(session) for session in pool.map(one, range(8))}) == 1
    assert entering.entered == 1


@pytest.mark.parametrize(
    ("account", "options"),
    [
        ("3" * 12, {}),
        (STRANGER, {}),
        (NEWS, {"external_id": "ebb"}),
        (NEWS, {"external_id": None}),
        (NEWS, {"role_name": "Elsewhere"}),
    ],
)
def test_what_may_not_be_assumed_is_named_with_what_to_do(enter: Enter, account: str, options: dict[str, Any]) -> None:
    entering = enter(**options)
    role = f"arn:aws:iam::{account}:role/{options.get('role_name', 'SlackwaterMember')}"

    with pytest.raises(AccessDeniedError) as raised:
        entering.members.session(account)

    shown = reason(raised.value)  # as an access error shows it: shortened
    for needed in (account, role, "deploy template-member.yaml", "external id"):
        assert needed in shown
    assert "AccessDenied:" in str(raised.value)


def test_an_account_that_lets_nobody_in_is_tried_again_when_asked_again(enter: Enter) -> None:
    entering = enter()
    entering.sim.faults.deny("sts:AssumeRole")
    with pytest.raises(AccessDeniedError):
        entering.members.session(NEWS)
    entering.sim.faults.allow("sts:AssumeRole")

    assert identity(entering.members.session(NEWS)).account == NEWS


def test_one_account_that_lets_nobody_in_is_not_in_the_way_of_others(enter: Enter) -> None:
    entering = enter()
    with pytest.raises(AccessDeniedError):
        entering.members.regions(STRANGER)

    assert entering.members.regions(NEWS) == ["eu-west-1", "us-east-1"]


def test_a_throttled_door_is_busy_and_says_whose(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_session, "QUICK_ATTEMPTS", {"sts": 1})
    entering = enter()
    entering.sim.faults.throttle("sts:AssumeRole", per_second=0, burst=0)

    with pytest.raises(BusyError, match=f"account {NEWS} cannot be entered by .*role/SlackwaterMember"):
        entering.members.session(NEWS)


def test_regions_that_may_not_be_asked_are_whose(enter: Enter) -> None:
    entering = enter()
    entering.sim.faults.deny("ec2:DescribeRegions")

    with pytest.raises(AccessDeniedError, match=f"account {NEWS}: .*ec2:DescribeRegions"):
        entering.members.regions(NEWS)


def test_without_a_roles_name_only_the_own_account_is_entered(enter: Enter) -> None:
    entering = enter(role_name=None)

    assert entering.members.session(OWN) is entering.own
    with pytest.raises(AwsError, match=rf"{NEWS} cannot be entered.*MemberRoleName"):
        entering.members.session(NEWS)
    assert entering.entered == 0


def test_sessions_are_kept_for_those_that_were_used_last(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "KEPT", 2)
    others = [Fleet(now=NOW, account=f"{digit}" * 12, roles=[ROLE]) for digit in (1, 2, 3)]
    entering = enter(fleets=(Fleet(now=NOW), *others))
    first = entering.members.session("1" * 12)
    entering.members.session("2" * 12)
    assert entering.members.session("1" * 12) is first

    entering.members.session("3" * 12)

    assert entering.members.session("1" * 12) is first
    assert entering.entered == 3
    entering.members.session("2" * 12)
    assert entering.entered == 4


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
def test_the_role_is_one_of_the_partition(partition: str) -> None:
    asked = []

    class Own:
        def assuming(self, *role: str) -> None:
            asked.append(role)

    own: Any = Own()
    Members(own, OWN, partition, "SlackwaterMember", "tide").session(NEWS)

    assert asked == [(f"arn:{partition}:iam::{NEWS}:role/SlackwaterMember", "tide")]


def test_a_session_of_a_role_may_enter_members_too(enter: Enter) -> None:
    """The next role can be assumed from a role that a person has already assumed."""
    entering = enter()
    role = replace(ROLE, trusts=(NEWS,))
    sim = entering.sim
    endpoint = Endpoint(sim.url, "AKIADUMMY", "dummy")
    of_news = AwsSession(
        role_arn=f"arn:aws:iam::{NEWS}:role/{role.name}", external_id="tide", meter=CallMeter(), endpoint=endpoint
    )

    session = Members(of_news, NEWS, "aws", "SlackwaterMember", "tide").session(STRANGER)

    assert identity(session).account == STRANGER


def test_an_organization_is_walked_account_by_account_and_who_is_shut_is_named() -> None:
    own, around = organization(
        accounts=8, regions=("eu-west-1", "us-east-1"), large=0, small_resources=20, denied=2, closed=3
    )
    with Simulator(own, organization=around) as sim:
        session = AwsSession(meter=CallMeter(), endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
        entering = Members(session, own.account, "aws", MEMBER_ROLE, MEMBER_EXTERNAL_ID)
        selected = Organization(session).accounts(OrganizationSection(organizational_units=[around.root]))
        shut = []
        for account in selected.accounts:
            try:
                assert entering.regions(account.id) == ["eu-west-1", "us-east-1"]
            except AccessDeniedError as error:
                shut.append((account.id, str(error)[: len("account 123456789012 cannot be entered")]))

    assert len(selected.accounts) == 9  # including the management account
    assert len(selected.left_out) == 3
    assert shut == [(each.id, f"account {each.id} cannot be entered") for each in selected.accounts[-2:]]
