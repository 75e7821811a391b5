"""Build an organization: a management account and many others, most of them empty and a few large."""

from dataclasses import replace
from functools import cache

from slackwater_simulator.ec2_query import ENABLED
from slackwater_simulator.organizations import Member, Organization, State, Unit
from slackwater_simulator.resources import ACCOUNT, Fleet, Role, instant

from .demo_parts import NOW
from .hard import hard_fleet
from .mixed import mixed_fleet

MEMBER_ROLE, MEMBER_EXTERNAL_ID = "SlackwaterMember", "simulated-tide-table"
"""The role in every account, and the external id that it requires."""

_UNITS = (
    Unit(id="ou-sim0-workloads", name="Workloads", parent="r-sim0"),
    Unit(id="ou-sim0-production", name="Production", parent="ou-sim0-workloads"),
    Unit(id="ou-sim0-staging0", name="Staging", parent="ou-sim0-workloads"),
    Unit(id="ou-sim0-sandbox0", name="Sandbox", parent="r-sim0"),
    Unit(id="ou-sim0-suspended", name="Suspended", parent="r-sim0"),
)
_ENVIRONMENTS = {"ou-sim0-production": "production", "ou-sim0-staging0": "staging", "ou-sim0-sandbox0": "sandbox"}
_NOT_ACTIVE: tuple[State, ...] = ("SUSPENDED", "CLOSED", "PENDING_CLOSURE")
_SMALL_KINDS = 5
"""The number of different small accounts. Others reuse them, with the same ids, to save memory."""


def organization(
    accounts: int = 1_000,
    regions: tuple[str, ...] = ENABLED,
    *,
    large: int = 3,
    resources: int = 5_000,
    small_resources: int = 40,
    denied: int = 2,
    closed: int = 5,
    seed: int = 7,
    now: str = NOW,
    hard: bool = False,
) -> tuple[Fleet, Organization]:
    """Return the management account's empty fleet, and its organization of `accounts` accounts that can be audited.

    The first `large` of them, in Production, have `resources` each, in two Regions. Every fifth after them has
    `small_resources` in one Region, and the others have none. The last `denied` accounts have no role to assume.
    `closed` accounts come on top. Each has just these Regions enabled. An account is created on first use, from the
    mixed fleet or, with `hard`, from the hard one.
    """
    numbers = [f"{300_000_000_000 + place}" for place in range(accounts + closed)]
    places = {number: place for place, number in enumerate(numbers)}
    units, drawn = list(_ENVIRONMENTS), hard_fleet if hard else mixed_fleet

    def member(place: int) -> Member:
        number = numbers[place]
        if place >= accounts:
            state = _NOT_ACTIVE[place % len(_NOT_ACTIVE)]
            return Member(id=number, name=f"gone-{place:04}", parent="ou-sim0-suspended", state=state)
        unit = units[0] if place < large else units[place % len(units)]
        environment = _ENVIRONMENTS[unit]
        return Member(id=number, name=f"{environment}-{place:04}", parent=unit, tags={"Environment": environment})

    @cache
    def some(kind: int) -> Fleet:
        return drawn(small_resources, seed + 1_000 + kind, now, (regions[kind % len(regions)],))

    def held(place: int) -> Fleet:
        if place < large:
            return drawn(resources, seed + place, now, regions[:2])
        if (place - large) % 5 == 0:
            return some((place - large) // 5 % _SMALL_KINDS)
        return Fleet(now=instant(now))

    def fleet_of(number: str) -> Fleet | None:
        place = places.get(number, accounts)
        if place >= accounts:
            return None
        role = Role(name=MEMBER_ROLE, external_id=MEMBER_EXTERNAL_ID, trusts=(ACCOUNT,))
        roles = () if place >= accounts - denied else (role,)
        return replace(held(place), account=number, regions=regions, enabled=regions, roles=roles)

    management = Member(id=ACCOUNT, name="management", parent="r-sim0")
    members = (management, *(member(place) for place in range(len(numbers))))
    own = Fleet(now=instant(now), account=ACCOUNT, regions=regions, enabled=regions)
    return own, Organization(management=ACCOUNT, members=members, units=_UNITS, fleet_of=fleet_of)
