"""What the oracle reports, and what it remembers."""

from dataclasses import dataclass
from typing import Any, Final

DAY: Final = 86_400
COMPLETE: Final = frozenset({"completed", "COMPLETED", "AVAILABLE"})
REMOVES: Final = frozenset({"DeleteVolume", "DeleteFileSystem", "DeleteAccessPoint", "DeleteMountTarget"})
CHANGES: Final = frozenset({"ModifyVolume", "UpdateFileSystem", "PutLifecycleConfiguration"})
SWEEPS: Final = frozenset({"DeleteSnapshot", "DeleteRecoveryPoint", "DeleteBackup"})
KEYS: Final = "kms-disabled"
"""Name of the account's table of disabled keys."""
METRICS_LATE_S: Final = 180
"""How late CloudWatch shows a use, in seconds (AWS: "metrics are available within a few minutes")."""
EVENTS_LATE_S: Final = 300
"""How late CloudTrail shows an event, in seconds (about five minutes: AWS CloudTrail User Guide)."""
COMING: Final = frozenset({"creating", "CREATING"})
"""States of a resource that AWS is creating. The creation can still fail."""
CLEANUP_TAGS: Final = ("slackwater:marked", "slackwater:act-after")


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold, the code of the failed check (`check`), and the details."""

    invariant: str
    check: str
    detail: str


@dataclass(frozen=True)
class Owed:
    """Contents that a resource had when it was deleted.

    A copy must exist until `until` (epoch seconds). `ours` says whether Slackwater deleted the resource.
    """

    contents: str
    of: str
    until: float
    ours: bool = True


@dataclass(frozen=True)
class Facts:
    """What the oracle remembers. It is part of a world's state."""

    owed: tuple[Owed, ...] = ()
    acted: tuple[str, ...] = ()
    """The operations with which Slackwater removed or changed clients' resources, in order."""
    made: tuple[tuple[str, str], ...] = ()
    """Backup ids, and who requested each: `ours`, `theirs`, or `before` (ours, before it was redeployed)."""
    named: tuple[str, ...] = ()
    """Ids of the backups that a record of this installation has named."""
    asked: tuple[tuple[str, float], ...] = ()
    """When each backup was first on record, by its token, in epoch seconds."""
    was: Any = None
    """The main resource right before its first removal, and the file system policies right before its last one."""
    restored: tuple[str, ...] = ()
    """Ids of the resources that AWS created for Slackwater."""
    against: str | None = None
    """The reason against acting when the last check could begin, or None.

    A check can begin with a step or after an act.
    """
    disturbed: bool = False
    """Whether others did something since then. It can have come after the check, right before the act."""
    removed_by_others: tuple[str, ...] = ()
    """The contents of resources that others removed."""
    changed_again: bool = False
    """Whether others changed something after an undo's last check. The undo's record describes what it saw."""
