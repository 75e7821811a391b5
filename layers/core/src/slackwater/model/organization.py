"""Accounts of an organization in AWS Organizations."""

from dataclasses import dataclass

from slackwater.model.findings import Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account to audit.

    Attributes:
        name: The account's name; its id if Slackwater did not read it from Organizations.
        organizational_unit: The names from the root down: `Root/Media/Production`. Empty if Slackwater did not read
            them from Organizations.
    """

    id: str
    name: str
    organizational_unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedAccounts:
    """The accounts that the policy's organization section selects, by id, and those that are left out.

    Attributes:
        gaps: One for each account whose state is unknown. Slackwater does not enter it, and the audit is incomplete.
        left_out: The number of accounts that are not active, one line for each state.
    """

    accounts: tuple[Account, ...]
    gaps: tuple[Gap, ...] = ()
    left_out: tuple[str, ...] = ()
