"""What does not hold yet: one line for each violation, grouped by cause. Delete the lines of a cause when you fix it.

The explorer fails on whatever is not here, and on a line whose violation it does not find any more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from explorer.facts import Violation


@dataclass(frozen=True)
class Known:
    """A violation of a cause: its invariant and check, in these kinds. A `rare` one takes a pair, which may not be drawn."""

    cause: str
    invariant: str
    check: str
    kinds: tuple[str, ...]
    rare: bool = False


FSX: Final = ("openzfs",)
EFS: Final = ("efs", "efs-orphaned", "efs-abandoned")
DELETED: Final = ("ebs", *EFS, *FSX)

KNOWN: Final[tuple[Known, ...]] = ()


def cause(kind: str, violation: Violation) -> str | None:
    """The cause of a violation; None where it is a new one."""
    for one in KNOWN:
        if (one.invariant, one.check) == (violation.invariant, violation.check) and kind in one.kinds:
            return one.cause
    return None


def stale(found: Collection[tuple[str, Violation]], explored: Collection[str]) -> list[str]:
    """Lines of the table that were not found, of the kinds that were explored."""
    seen = {(kind, one.invariant, one.check) for kind, one in found}
    return [
        f"cause {one.cause}: {one.invariant} {one.check} of {kind} is not found any more: delete it from known.py"
        for one in KNOWN
        for kind in one.kinds
        if not one.rare and kind in explored and (kind, one.invariant, one.check) not in seen
    ]
