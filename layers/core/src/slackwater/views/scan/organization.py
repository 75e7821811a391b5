"""Totals of an audit of several accounts by organizational unit, account and owner, and the incomplete accounts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from slackwater.views.scan.document import AccountDocument, ScanDocument, SomeTotals
from slackwater.views.text.words import count, is_held_back

ENTRY: Final = "sts:AssumeRole"
"""The call that gives access to an account. If it fails, Slackwater reads nothing in the account."""

NAMED: Final = 2
"""Regions of an account that are named. If there are more, they are counted instead."""

NOTHING: Final[SomeTotals] = {"findings": 0, "monthly_savings_usd": "0.00", "unpriced": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Totals of an organizational unit with all units below it, of an account, or of an owner.

    `key` is the unit's path of names, the account's id, or the owner; empty if unknown. `usd` is US dollars a month and
    counts each resource once. `below` counts the accounts of a unit. `targets`, `incomplete` (targets that could not be
    read completely) and `gaps` are zero for an owner.
    """

    key: str
    findings: int
    usd: Decimal
    unpriced: int
    below: int = 0
    targets: int = 0
    incomplete: int = 0
    gaps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """An account that could not be read completely.

    `extent` has its incomplete regions, or their number, as in `3 of 17 regions`. `why` is the first reason. A failed
    call comes before a call that the ceiling on metrics held back.
    """

    account: str
    extent: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """Several accounts that were audited together.

    Shares are ordered by savings, the highest first. `unseen` is ordered by account id.

    `names` maps account ids to `name (id)`, or to the id alone if the account has no name. `units` maps account ids to
    the paths of their organizational units; a path is empty if unknown.
    """

    names: Mapping[str, str]
    units: Mapping[str, str]
    by_unit: tuple[Share, ...]
    by_account: tuple[Share, ...]
    by_owner: tuple[Share, ...]
    unseen: tuple[Unseen, ...]

    @property
    def found_in(self) -> int:
        """Number of accounts with a finding."""
        return sum(share.findings > 0 for share in self.by_account)

    def most_expensive(self, most: int) -> list[tuple[str, Decimal]]:
        """Return the `most` units with the highest savings, with US dollars a month.

        A unit counts only the accounts directly in it. If all accounts are in one unit, or one is in none, accounts
        are returned instead.
        """
        usd: defaultdict[str, Decimal] = defaultdict(Decimal)
        for share in self.by_account:
            usd[self.units[share.key]] += share.usd
        if "" in usd or len(usd) < 2:
            usd = defaultdict(Decimal, {self.names[share.key]: share.usd for share in self.by_account})
        return sorted(((name, of) for name, of in usd.items() if of), key=lambda each: (-each[1], each[0]))[:most]


def organized(doc: ScanDocument) -> Organization | None:
    """Return the accounts of an audit, from its head and totals.

    None if the audit is of one account, or if the document is older and has no totals by account.
    """
    head, totals = doc["scan"], doc["totals"]
    targets = Counter(target["account"] for target in head["targets"])
    if len(targets) < 2 or "by_account" not in totals:
        return None
    known = {account["id"]: account for account in head.get("accounts", ()) if account["id"] in targets}
    names = {id_: _named(known[id_]) if id_ in known else id_ for id_ in sorted(targets)}
    units = {id_: known[id_]["organizational_unit"] if id_ in known else "" for id_ in names}
    incomplete = Counter(target["account"] for target in head["targets"] if not target["complete"])
    gaps = Counter(gap["account"] for gap in head["gaps"])
    accounts = [
        replace(
            _share(id_, totals["by_account"].get(id_, NOTHING)),
            targets=targets[id_],
            incomplete=incomplete[id_],
            gaps=gaps[id_],
        )
        for id_ in names
    ]
    return Organization(
        names=names,
        units=units,
        by_unit=_ranked(_units(accounts, units)) if any(units.values()) else (),
        by_account=_ranked(accounts),
        by_owner=_ranked(_share(owner, of) for owner, of in totals.get("by_owner", {}).items()),
        unseen=tuple(_unseen(doc, targets)),
    )


def within(path: str) -> list[str]:
    """Return a unit's path and the paths of all units above it, the outermost first."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]


def _named(account: AccountDocument) -> str:
    id_, name = account["id"], account["name"]
    return id_ if name == id_ else f"{name} ({id_})"


def _share(key: str, of: SomeTotals) -> Share:
    return Share(key=key, findings=of["findings"], usd=Decimal(of["monthly_savings_usd"]), unpriced=of["unpriced"])


def _units(accounts: Iterable[Share], units: Mapping[str, str]) -> Iterator[Share]:
    inside: defaultdict[str, list[Share]] = defaultdict(list)
    for account in accounts:
        for path in within(units[account.key]):
            inside[path].append(account)
    for path, some in inside.items():
        yield Share(
            key=path,
            findings=sum(one.findings for one in some),
            usd=sum((one.usd for one in some), Decimal(0)),
            unpriced=sum(one.unpriced for one in some),
            below=len(some),
            targets=sum(one.targets for one in some),
            incomplete=sum(one.incomplete for one in some),
            gaps=sum(one.gaps for one in some),
        )


def _unseen(doc: ScanDocument, targets: Mapping[str, int]) -> Iterator[Unseen]:
    required: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for gap in doc["scan"]["gaps"]:
        if not gap["optional"]:
            required[gap["account"]].append((gap["what"], gap["reason"]))
    regions: defaultdict[str, list[str]] = defaultdict(list)
    for target in doc["scan"]["targets"]:
        if not target["complete"]:
            regions[target["account"]].append(target["region"])
    for id_, some in sorted(regions.items()):
        whys = required[id_]
        extent = ", ".join(some) if len(some) <= NAMED else f"{len(some):,} of {count(targets[id_], 'region')}"
        if any(what == ENTRY for what, _ in whys):
            extent = "all of it"  # the whole account is missing, not only the region where entry was tried
        what, reason = min(whys, key=lambda one: is_held_back(one[1]), default=("", ""))
        yield Unseen(account=id_, extent=extent, why=f"{what}: {reason}" if what else "the reason is unknown")


def _ranked(shares: Iterable[Share]) -> tuple[Share, ...]:
    return tuple(sorted(shares, key=lambda share: (-share.usd, -share.findings, share.key)))
