"""Serve AWS Organizations over JSON 1.1, for the management account and delegated administrators."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .partitions import global_arn
from .resources import Fleet, Tags
from .wire import AwsError, Call, Json, Reply, json_reply, page_of, page_size, tag_list

type State = Literal["ACTIVE", "SUSPENDED", "PENDING_CLOSURE", "PENDING_ACTIVATION", "CLOSED"]

PAGE = 20
"""The maximum number of entries a page."""


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
    """A tree. `fleet_of` creates a member's fleet on first use. It returns None if there is no account to ask."""

    management: str
    members: Sequence[Member]
    units: Sequence[Unit] = ()
    id: str = "o-simulated00"
    root: str = "r-sim0"
    delegates: frozenset[str] = frozenset()
    fleet_of: Callable[[str], Fleet | None] = lambda _: None

    @cached_property
    def named(self) -> dict[str, Unit | Member]:
        """Units and accounts by id."""
        return {unit.id: unit for unit in self.units} | {member.id: member for member in self.members}

    @cached_property
    def children(self) -> dict[str, list[Unit | Member]]:
        """The direct children of the root and of each unit."""
        found: dict[str, list[Unit | Member]] = {self.root: [], **{unit.id: [] for unit in self.units}}
        for each in self.named.values():
            found[each.parent].append(each)
        return found


def _organization(call: Call) -> Organization:
    """Return the organization that a call asks about, if the caller may see it."""
    org, caller = call.simulator.organization, call.account.id
    if org is None or (caller != org.management and caller not in org.named):
        raise AwsError("AWSOrganizationsNotInUseException", "Your account is not a member of an organization.")
    if caller not in {org.management, *org.delegates}:
        raise AwsError("AccessDeniedException", "You don't have permissions to access this resource.")
    return org


def _named[T: (Unit, Member)](call: Call, parameter: str, kind: type[T], code: str, what: str) -> T:
    found = _organization(call).named.get(call.input[parameter])
    if not isinstance(found, kind):
        raise AwsError(code, f"You specified {what} that doesn't exist.")
    return found


def describe_account(call: Call) -> Reply:
    """Describe an account of the organization."""
    member = _named(call, "AccountId", Member, "AccountNotFoundException", "an account")
    return json_reply(call, {"Account": _account(call, member)})


def describe_organizational_unit(call: Call) -> Reply:
    """Describe a unit of the organization."""
    code = "OrganizationalUnitNotFoundException"
    unit = _named(call, "OrganizationalUnitId", Unit, code, "an organizational unit")
    return json_reply(call, {"OrganizationalUnit": _unit(call, unit)})


def list_roots(call: Call) -> Reply:
    """List the only root."""
    org = _organization(call)
    root = {"Id": org.root, "Arn": _arn(call, f"root/{org.id}/{org.root}"), "Name": "Root", "PolicyTypes": []}
    return _page(call, "Roots", [root], dict)


def list_parents(call: Call) -> Reply:
    """List the unit or root that contains an account or a unit."""
    org = _organization(call)
    child = org.named.get(call.input["ChildId"])
    if child is None:
        raise AwsError("ChildNotFoundException", "You specified a child that doesn't exist.")
    kind = "ROOT" if child.parent == org.root else "ORGANIZATIONAL_UNIT"
    return _page(call, "Parents", [{"Id": child.parent, "Type": kind}], dict)


def list_accounts_for_parent(call: Call) -> Reply:
    """List the accounts directly below a unit or the root."""
    return _page(call, "Accounts", _children(call, Member), lambda member: _account(call, member))


def list_organizational_units_for_parent(call: Call) -> Reply:
    """List the units directly below a unit or the root."""
    return _page(call, "OrganizationalUnits", _children(call, Unit), lambda unit: _unit(call, unit))


def list_tags_for_resource(call: Call) -> Reply:
    """List the tags of an account."""
    member = _named(call, "ResourceId", Member, "TargetNotFoundException", "a target")
    return _page(call, "Tags", tag_list(member.tags), dict)


def _children[T: (Unit, Member)](call: Call, kind: type[T]) -> list[T]:
    children = _organization(call).children.get(call.input["ParentId"])
    if children is None:
        raise AwsError("ParentNotFoundException", "You specified a parent that doesn't exist.")
    return [each for each in children if isinstance(each, kind)]


def _page[T](call: Call, key: str, items: Sequence[T], render: Callable[[T], object]) -> Reply:
    return json_reply(call, page_of(call, key, items, render, page_size(call, PAGE)))


def _account(call: Call, member: Member) -> Json:
    """Render an account without Status, which AWS removed in September 2026."""
    return {
        "Id": member.id,
        "Arn": _arn(call, f"account/{_organization(call).id}/{member.id}"),
        "Email": f"aws+{member.id}@example.com",
        "Name": member.name,
        "State": member.state,
        "JoinedMethod": "CREATED",
        "JoinedTimestamp": 1_700_000_000.0,
    }


def _unit(call: Call, unit: Unit) -> Json:
    return {"Id": unit.id, "Arn": _arn(call, f"ou/{_organization(call).id}/{unit.id}"), "Name": unit.name}


def _arn(call: Call, rest: str) -> str:
    return global_arn("organizations", call.region, _organization(call).management, rest)
