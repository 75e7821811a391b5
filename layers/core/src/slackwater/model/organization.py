"""Accounts of an organization in AWS Organizations."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.model.findings import Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account to audit. `name` is its id, and `organizational_unit` empty, where Organizations was not asked.

    `organizational_unit` is the path of names from the root down: `Root/Media/Production`.
    """

    id: str
    name: str
    organizational_unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedAccounts:
    """The accounts that a policy's organization section selects, by id, and those that are left out.

    `gaps` has one gap for each account whose state is unknown: Slackwater does not enter it, and its audit is incomplete.
    `left_out` counts the accounts that are not active, one line for each state.
    """

    accounts: tuple[Account, ...]
    gaps: tuple[Gap, ...] = ()
    left_out: tuple[str, ...] = ()
