"""Lists the accounts of an organization, by its organizational units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import DENIED, code_of, reason, remedies
from slackwater.aws.client.pages import pages
from slackwater.model.findings import Gap
from slackwater.model.organization import Account, SelectedAccounts
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.policy import OrganizationSection

ACTIONS: Final = frozenset(
    {
        "organizations:DescribeAccount",
        "organizations:DescribeOrganizationalUnit",
        "organizations:ListAccountsForParent",
        "organizations:ListOrganizationalUnitsForParent",
        "organizations:ListParents",
        "organizations:ListRoots",
        "organizations:ListTagsForResource",
    }
)

LIST: Final = "organizations:ListAccountsForParent"
DESCRIBE: Final = "organizations:DescribeAccount"

ACTIVE: Final = "ACTIVE"
UNKNOWN: Final = ""
"""The state of an account for which AWS Organizations returns neither State nor Status."""
NO_STATE: Final = "AWS Organizations returned no State for this account: it is unknown whether the account is active"

AT_ONCE: Final = 4
"""Parallel calls about single accounts. More would be throttled: an organization shares a few calls a second."""

NO_UNIT: Final = frozenset({"ChildNotFoundException", "OrganizationalUnitNotFoundException", "ParentNotFoundException"})
NOT_ALLOWED: Final = DENIED | {"AWSOrganizationsNotInUseException"}


@dataclass(frozen=True, slots=True)
class _Entry:
    """An account as AWS Organizations describes it, and the action that was called."""

    account: Account
    state: str
    action: str

    @classmethod
    def of(cls, answer: Mapping[str, Any], unit: str, action: str) -> _Entry:
        """Return the entry of an account in a unit. AWS is replacing Status with State."""
        account = Account(id=answer["Id"], name=answer.get("Name") or answer["Id"], organizational_unit=unit)
        return cls(account, answer.get("State") or answer.get("Status") or UNKNOWN, action)

    @property
    def may_be_active(self) -> bool:
        """False if AWS Organizations says that the account is not active."""
        return self.state in (ACTIVE, UNKNOWN)


class Organization:
    """The organization of a session's account. Use a new object to see later changes.

    Calls wait for the service's low rate limit.
    """

    def __init__(self, session: AwsSession) -> None:
        """Use the credentials of the management account or of a delegated administrator."""
        self._session = session
        self._paths: dict[str, str] = {}

    def accounts(self, section: OrganizationSection) -> SelectedAccounts:
        """Return the accounts that a policy selects.

        If the policy names no organizational unit, no call is made, and the name of each account is its id.

        Raises:
            AwsError: A call failed. The message names an organizational unit that does not exist.
        """
        spared = {*section.except_accounts}
        named = {*section.accounts} - spared
        if not section.organizational_units:
            return SelectedAccounts(accounts=tuple(Account(id=number, name=number) for number in sorted(named)))
        below = {
            entry.account.id: entry
            for entry in self._below(section.organizational_units)
            if entry.account.id not in spared
        }
        with ThreadPoolExecutor(AT_ONCE) as pool:
            if section.tags:
                asked = sorted(number for number, entry in below.items() if entry.may_be_active and number not in named)
                carried = zip(asked, pool.map(self._tags, asked), strict=True)
                for number in [number for number, tags in carried if not section.tags.items() <= tags.items()]:
                    del below[number]
            meant = below | {entry.account.id: entry for entry in pool.map(self._alone, sorted(named - below.keys()))}
        entries = [entry for _, entry in sorted(meant.items())]
        inactive = Counter(entry.state for entry in entries if not entry.may_be_active)
        return SelectedAccounts(
            accounts=tuple(entry.account for entry in entries if entry.may_be_active),
            gaps=tuple(
                Gap(entry.account.id, self._session.home, entry.action, NO_STATE)
                for entry in entries
                if entry.state == UNKNOWN
            ),
            left_out=tuple(
                f"{count} {'account is' if count == 1 else 'accounts are'} left out: {state} in AWS Organizations"
                for state, count in sorted(inactive.items())
            ),
        )

    def _below(self, units: Iterable[str]) -> Iterator[_Entry]:
        """Yield every account below these units. Each unit is read once, even if it is named twice."""
        waiting = [(unit, self._path(unit)) for unit in units]
        seen = set[str]()
        while waiting:
            unit, path = waiting.pop()
            if unit in seen:
                continue
            seen.add(unit)
            self._paths[unit] = path
            with _explained(unit):
                accounts = pages(self._client.list_accounts_for_parent, "Accounts", ParentId=unit)
                entries = [_Entry.of(answer, path, LIST) for answer in accounts]
                units_below = pages(
                    self._client.list_organizational_units_for_parent, "OrganizationalUnits", ParentId=unit
                )
                waiting += [(answer["Id"], f"{path}/{answer.get('Name') or answer['Id']}") for answer in units_below]
            yield from entries

    def _alone(self, number: str) -> _Entry:
        """Return an account that the policy names by its id. It may be in no organization, or in another one."""
        with _explained(number):
            try:
                answer = self._client.describe_account(AccountId=number)["Account"]
            except ClientError as error:
                if code_of(error) != "AccountNotFoundException":
                    raise
                return _Entry(Account(id=number, name=number), ACTIVE, DESCRIBE)
            return _Entry.of(answer, self._path(self._parent(number)), DESCRIBE)

    def _tags(self, number: str) -> dict[str, str]:
        with _explained(number):
            tags = pages(self._client.list_tags_for_resource, "Tags", ResourceId=number)
            return {tag["Key"]: tag.get("Value", "") for tag in tags}

    def _path(self, unit: str) -> str:
        """Return the names from the root down to a unit, separated by slashes."""
        if unit not in self._paths:
            with _explained(unit):
                if unit.startswith("r-"):
                    roots = {root["Id"]: root["Name"] for root in pages(self._client.list_roots, "Roots")}
                    if unit not in roots:
                        raise AwsError(_missing(unit))
                    self._paths[unit] = roots[unit]
                else:
                    answer = self._client.describe_organizational_unit(OrganizationalUnitId=unit)
                    self._paths[unit] = f"{self._path(self._parent(unit))}/{answer['OrganizationalUnit']['Name']}"
        return self._paths[unit]

    def _parent(self, child: str) -> str:
        for parent in pages(self._client.list_parents, "Parents", ChildId=child):
            return str(parent["Id"])
        raise BrokenAnswerError(f"AWS Organizations names no parent of {child}")

    @property
    def _client(self) -> Any:
        """A client of the partition's only endpoint, which is the same for each region."""
        return self._session.client("organizations", self._session.home)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Do as `remedies` for a call about a unit or an account. Errors name the policy's key and what to do instead."""
    try:
        with remedies():
            yield
    except AwsError as error:
        cause = error.__cause__
        code = code_of(cause) if isinstance(cause, ClientError) else ""
        if code in NOT_ALLOWED:
            raise AccessDeniedError(
                "AWS Organizations refuses this caller. Audit from the organization's management account or a "
                "delegated administrator, with a policy that allows it, or name accounts by their ids instead "
                "([organization] accounts, "
                f"without organizational_units) ({reason(cause) if cause else error})"
            ) from cause
        if code in NO_UNIT:
            raise AwsError(_missing(what)) from cause
        raise


def _missing(unit: str) -> str:
    return f"[organization] organizational_units: there is no {unit} in this organization"
