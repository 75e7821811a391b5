"""Misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

NEAR: Final = 0.6
"""Less alike, a name is no slip of the hand."""
FEW: Final = 12
"""Names that fit on a line."""


def unknown(noun: str, named: Iterable[str], valid: Iterable[str], listed_by: str) -> list[str]:
    """What to say of each name that is not valid; `noun` is what it should be the name of."""
    there_are = {*valid}
    return [f"no {noun} {name!r}; {did_you_mean(name, there_are, listed_by)}" for name in named if name not in there_are]


def did_you_mean(name: str, valid: Iterable[str], listed_by: str) -> str:
    """The nearest valid name, as a question; where none is near, the names there are, or what lists them if they are many."""
    names = sorted(valid)
    if not names:
        return "there are none"
    nearest = max(names, key=lambda other: _likeness(name, other))
    if _likeness(name, nearest) >= NEAR:
        return f"did you mean {nearest}?"
    return f"there are {', '.join(names)}" if len(names) <= FEW else f"{listed_by} lists them"


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()
