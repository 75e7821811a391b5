"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

NEAR: Final = 0.6
"""The least similarity (0 to 1) of a name that counts as a misspelling."""
FEW: Final = 12
"""How many valid names a message lists at most."""


def unknown(noun: str, named: Iterable[str], valid: Iterable[str], listed_by: str) -> list[str]:
    """Return a message for each name that is not valid.

    Args:
        noun: What the names should be: "detector".
        named: The names to check.
        valid: The valid names.
        listed_by: A command that lists the valid names.
    """
    there_are = {*valid}
    return [
        f"no {noun} {name!r}; {did_you_mean(name, there_are, listed_by)}" for name in named if name not in there_are
    ]


def did_you_mean(name: str, valid: Iterable[str], listed_by: str) -> str:
    """Return a question with the most similar valid name. If none is similar, return the valid names, or the command
    that lists them.
    """
    names = sorted(valid)
    if not names:
        return "there are none"
    nearest = max(names, key=lambda other: _likeness(name, other))
    if _likeness(name, nearest) >= NEAR:
        return f"did you mean {nearest}?"
    return f"there are {', '.join(names)}" if len(names) <= FEW else f"{listed_by} lists them"


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()
