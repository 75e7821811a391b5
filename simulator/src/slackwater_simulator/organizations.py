"""AWS Organizations over JSON 1.1: a tree of units and accounts, as its management account and its delegates see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .partitions import global_arn
from .resources import Fleet, Tags
from .wire import AwsError, Call, Json, Operation, Reply, json_reply, page_of, page_size, tag_list

type State = Literal["ACTIVE", "SUSPENDED", "PENDING_CLOSURE", "PENDING_ACTIVATION", "CLOSED"]

PAGE = 20
"""Entries a page, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """An organizational unit below the root or another one."""

    id: str
    name: str
    parent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An account in a unit, or in the root."""

    id: str
    name: str
    parent: str
    state: State = "ACTIVE"
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Organization:
    """A tree. `fleet_of` makes what is in a member's account when somebody first asks; None is nothing to be asked."""

    management: str
    members: Sequence[Member]
    units: Sequence[Unit] = ()
    id: str = "o-simulated00"
    root: str = "r-sim0"
    delegates: frozenset[str] = frozenset()
    fleet_of: Callable[[str], Fleet | None] = lambda _: None

    @cached_property
    def named(self) -> dict[str, Unit | Member]:
        """Units and accounts by their ids."""
        return {unit.id: unit for unit in self.units} | {member.id: member for member in self.members}

    @cached_property
    def children(self) -> dict[str, list[Unit | Member]]:
        """What is right below the root and each unit."""
        found: dict[str, list[Unit | Member]] = {self.root: [], **{unit.id: [] for unit in self.units}}
        for each in self.named.values():
            found[each.parent].append(each)
        return found


def operations(organization: Organization | None) -> dict[str, Operation]:
    """The operations on an organization; without one, that there is none."""

    def guarded(answer: Callable[[Organization, Call], Json]) -> Operation:
        def operation(call: Call) -> Reply:
            if organization is None or call.account.id not in {organization.management, *organization.named}:
                raise AwsError("AWSOrganizationsNotInUseException", "Your account is not a member of an organization.")
            delegated = call.account.id in {organization.management, *organization.delegates}
            if not delegated and call.operation != "DescribeOrganization":
                raise AwsError("AccessDeniedException", "You don't have permissions to access this resource.")
            return json_reply(call, answer(organization, call))

        return operation

    answers = (_describe_organization, _describe_account, _describe_organizational_unit, _list_roots, _list_parents)
    lists = (_list_accounts, _list_accounts_for_parent, _list_organizational_units_for_parent, _list_tags_for_resource)
    return {each.__name__.replace("_", ""): guarded(each) for each in (*answers, *lists)}


def _describe_organization(org: Organization, call: Call) -> Json:
    about = {
        "Id": org.id,
        "Arn": _arn(org, call, f"organization/{org.id}"),
        "FeatureSet": "ALL",
        "MasterAccountArn": _arn(org, call, f"account/{org.id}/{org.management}"),
        "MasterAccountId": org.management,
        "MasterAccountEmail": f"aws+{org.management}@example.com",
        "AvailablePolicyTypes": [],
    }
    return {"Organization": about}


def _describe_account(org: Organization, call: Call) -> Json:
    member = org.named.get(call.input["AccountId"])
    if not isinstance(member, Member):
        raise AwsError("AccountNotFoundException", "You specified an account that doesn't exist.")
    return {"Account": _account(org, call, member)}


def _describe_organizational_unit(org: Organization, call: Call) -> Json:
    unit = org.named.get(call.input["OrganizationalUnitId"])
    if not isinstance(unit, Unit):
        why = "You specified an organizational unit that doesn't exist."
        raise AwsError("OrganizationalUnitNotFoundException", why)
    return {"OrganizationalUnit": _unit(org, call, unit)}


def _list_roots(org: Organization, call: Call) -> Json:
    root = {"Id": org.root, "Arn": _arn(org, call, f"root/{org.id}/{org.root}"), "Name": "Root", "PolicyTypes": []}
    return _page(call, "Roots", [org.root], lambda _: root)


def _list_parents(org: Organization, call: Call) -> Json:
    child = org.named.get(call.input["ChildId"])
    if child is None:
        raise AwsError("ChildNotFoundException", "You specified a child that doesn't exist.")
    kind = "ROOT" if child.parent == org.root else "ORGANIZATIONAL_UNIT"
    return _page(call, "Parents", [child.parent], lambda parent: {"Id": parent, "Type": kind})


def _list_accounts(org: Organization, call: Call) -> Json:
    return _page(call, "Accounts", org.members, lambda member: _account(org, call, member))


def _list_accounts_for_parent(org: Organization, call: Call) -> Json:
    members = [each for each in _children(org, call) if isinstance(each, Member)]
    return _page(call, "Accounts", members, lambda member: _account(org, call, member))


def _list_organizational_units_for_parent(org: Organization, call: Call) -> Json:
    units = [each for each in _children(org, call) if isinstance(each, Unit)]
    return _page(call, "OrganizationalUnits", units, lambda unit: _unit(org, call, unit))


def _list_tags_for_resource(org: Organization, call: Call) -> Json:
    member = org.named.get(call.input["ResourceId"])
    if not isinstance(member, Member):
        raise AwsError("TargetNotFoundException", "You specified a target that doesn't exist.")
    return _page(call, "Tags", tag_list(member.tags), dict)


def _children(org: Organization, call: Call) -> Sequence[Unit | Member]:
    parent = call.input["ParentId"]
    if parent not in org.children:
        raise AwsError("ParentNotFoundException", "You specified a parent that doesn't exist.")
    return org.children[parent]


def _page[T](call: Call, key: str, items: Sequence[T], render: Callable[[T], object]) -> Json:
    return page_of(call, key, items, render, page_size(call, PAGE))


def _account(org: Organization, call: Call, member: Member) -> Json:
    """Without Status, which AWS took away in September 2026."""
    return {
        "Id": member.id,
        "Arn": _arn(org, call, f"account/{org.id}/{member.id}"),
        "Email": f"aws+{member.id}@example.com",
        "Name": member.name,
        "State": member.state,
        "JoinedMethod": "CREATED",
        "JoinedTimestamp": 1_700_000_000.0,
    }


def _unit(org: Organization, call: Call, unit: Unit) -> Json:
    return {"Id": unit.id, "Arn": _arn(org, call, f"ou/{org.id}/{unit.id}"), "Name": unit.name}


def _arn(org: Organization, call: Call, rest: str) -> str:
    return global_arn("organizations", call.region, org.management, rest)
