"""What the oracle says, and what it remembers."""

from dataclasses import dataclass
from typing import Any, Final

DAY: Final = 86_400
COMPLETE: Final = frozenset({"completed", "COMPLETED", "AVAILABLE"})
REMOVES: Final = frozenset({"DeleteVolume", "DeleteFileSystem", "DeleteAccessPoint", "DeleteMountTarget"})
CHANGES: Final = frozenset({"ModifyVolume", "UpdateFileSystem", "PutLifecycleConfiguration"})
SWEEPS: Final = frozenset({"DeleteSnapshot", "DeleteRecoveryPoint", "DeleteBackup"})
KEYS: Final = "kms-disabled"
"""A table of the account: the keys that are disabled."""
METRICS_LATE_S: Final = 180
"""CloudWatch shows a use some minutes after it (AWS: "metrics are available within a few minutes")."""
EVENTS_LATE_S: Final = 300
"""CloudTrail shows an event about five minutes after it (AWS CloudTrail User Guide)."""
COMING: Final = frozenset({"creating", "CREATING"})
"""States of what AWS is making, and may still give up."""
CLEANUP_TAGS: Final = ("slackwater:marked", "slackwater:act-after")


@dataclass(frozen=True)
class Violation:
    """What does not hold, where in the code of the invariant (`check`), and what was seen."""

    invariant: str
    check: str
    detail: str


@dataclass(frozen=True)
class Owed:
    """What was in a resource when Slackwater deleted it: to be kept until then (epoch seconds), by whom."""

    contents: str
    of: str
    until: float
    ours: bool = True


@dataclass(frozen=True)
class Facts:
    """What the oracle remembers: part of a world's state."""

    owed: tuple[Owed, ...] = ()
    acted: tuple[str, ...] = ()
    """What Slackwater removed or changed of clients' resources, in their order."""
    made: tuple[tuple[str, str], ...] = ()
    """Backups by whom (`ours`, `theirs`, `before`) asked for them."""
    named: tuple[str, ...] = ()
    """Backups that a record of ours named, by id."""
    asked: tuple[tuple[str, float], ...] = ()
    """When each backup was first on record, by its token."""
    was: Any = None
    """The main resource right before its first removal, and the file systems' policies right before its last one."""
    restored: tuple[str, ...] = ()
    """What Slackwater had AWS make."""
    against: str | None = None
    """What spoke against acting when the last look could begin: at the beginning of a step, or after the last act."""
    disturbed: bool = False
    """Whether others did something since then: it may have come after the look, in the moment before the act."""
    removed_by_others: tuple[str, ...] = ()
    """What was in resources that others removed."""
    changed_again: bool = False
    """Whether others changed something after an undo's last look: its record says what was true when it looked."""
