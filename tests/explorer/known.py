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

KNOWN: Final[tuple[Known, ...]] = (
    # A stale backup is taken for the new one.
    Known("1", "I4", "took-an-older-backup", ("ebs", *FSX)),
    # Another installation's sweeper, or a redeployed one's, takes the backup.
    Known("2", "I1", "lost/swept-by-theirs", DELETED),
    Known("2", "I3", "swept/ours-by-theirs", DELETED),
    Known("2", "I3", "swept/before-by-ours", DELETED),
    Known("2", "I3", "swept/before-by-theirs", DELETED, rare=True),
    Known("2", "I3", "swept/not-recorded", DELETED),
    # The owner deletes the resource after the backup: the clean-up is called off, and the sweeper takes the only copy.
    Known("3", "I1", "lost/swept-by-ours", DELETED),
    # The sweeper does not look at the expiry tag, and takes copies that others made.
    Known("4", "I3", "swept/not-expired", DELETED),
    Known("4", "I3", "swept/others-by-ours", DELETED),
    # Use since the backup is not seen.
    Known("5", "I1", "deleted/written-since-its-backup", (*EFS, *FSX)),
    # Retention counts from the backup, not from the deletion.
    Known("6", "I1", "deleted/expires-too-soon", DELETED),
    # What is restored is what was recorded at first.
    Known("9", "I4", "restored-stale/tags", DELETED),
    Known("9", "I4", "restored-stale/security-groups", ("efs", "efs-abandoned")),
    Known("9", "I4", "restored-stale/policy", EFS),
    # Undo of a lifecycle change does not say that data stays in Infrequent Access.
    Known("10", "I4", "undone/says-nothing-of-moved-data", ("efs-lifecycle",)),
    # A restored file system carries no tag of Slackwater's.
    Known("12", "I2", "restored-untagged", EFS),
    # Found here: where AWS denies a look from the middle of the removals on, the record is "failed", nobody puts back what was taken
    # off, and the record does not say that it is missing.
    Known("new", "I4", "not-whole", EFS),
    # "Also": undoable stays true without a backup; a key that is disabled counts as usable.
    Known("also", "I4", "undoable-without-a-backup", DELETED),
    Known("also", "I1", "deleted/key-not-usable", ("ebs",)),
)


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
