"""Accounts of an organization in AWS Organizations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account to audit. `name` is its id, and `organizational_unit` empty, where Organizations was not asked.

    `organizational_unit` is the path of names from the root down: `Root/Media/Production`.
    """

    id: str
    name: str
    organizational_unit: str = ""
