"""A clean-up: what it does to one resource, its progress, and the data that an undo needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal

from slackwater.model.resources import AttachmentEvent
from slackwater.model.settings import Setting
from slackwater.model.tracking import TrackedResource

CLEANUP_TAG: Final = "slackwater:marked"
"""The tag of a resource that a clean-up is about to delete or change. Its value is the finding's id. Slackwater's roles
may not touch a resource without this tag.
"""
ACT_AFTER: Final = "slackwater:act-after"
"""The tag that tells the owner when the clean-up acts (RFC 3339)."""

BACKUP_OF: Final = "slackwater:backup-of"
"""The tag of each backup that Slackwater makes. Its value is the ARN of the resource."""
EXPIRES_AT: Final = "slackwater:expires-at"
"""The tag of a backup with the time (RFC 3339) after which the sweeper deletes it. To keep the backup longer, change
the tag.

AWS Backup also deletes a recovery point by its lifecycle, which you change in AWS Backup.
"""
TOKEN: Final = "slackwater:token"  # noqa: S105 -- a name
"""The tag of a backup by which its clean-up finds it."""
RESTORE: Final = "slackwater:restore"
"""The tag of a backup that says how to restore it."""
INSTALLATION: Final = "slackwater:installation"
"""The tag of a backup with the id of the installation that made it."""
OWNER: Final = "slackwater:owner"
"""The tag of a backup with the owner of its resource, if known."""

RESTORED_FROM: Final = "slackwater:restored-from"
"""The tag of a resource that an undo created. Its value is the id of the original.

If the answer to a create call was lost, the undo finds the new resource by this tag. Slackwater deletes no resource
that has this tag.
"""

type Stage = Literal["starting", "waiting", "working", "done", "called-off", "failed", "undoing", "undone"]
STAGES: Final[tuple[Stage, ...]] = (
    "starting",
    "waiting",
    "working",
    "done",
    "called-off",
    "failed",
    "undoing",
    "undone",
)
ENDED: Final[tuple[Stage, ...]] = ("done", "called-off", "failed", "undone")
"""Stages in which nothing more happens unless a person requests it."""

ONTAP_STAYS: Final = "Slackwater does not delete FSx for ONTAP file systems"
"""Why ONTAP is never deleted: no backup has its shares, LUNs and quotas, and FSx may not list every volume."""

NAMED: Final = 10
"""How many backups a reason names. The clean-up's record has all of them."""

NOT_RESTORED: Final = "not restored"
"""The start of the reason if a clean-up ended with sub-resources missing from a resource that was not deleted."""
NOT_RESTORED_STARTS: Final = (NOT_RESTORED, "not put back")
"""That start, now and in records of older versions."""

type BackupState = Literal["asked", "running", "complete", "verified", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubResource:
    """Something to delete: the resource itself, or something that belongs to it.

    Attributes:
        kind: "volume", "access-point", "mount-target" or "file-system"; in records of older versions also "fsx-volume"
            or "storage-virtual-machine".
        arn: None for mount targets, which have no ARN.
        going: Whether AWS is already deleting it.
    """

    kind: str
    id: str
    arn: str | None
    going: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentState:
    """A resource as it is now.

    Attributes:
        tags: None if they could not be read.
        parts: Its sub-resources in the order of deletion, the resource itself last.
        held: Why Slackwater must not touch it: it is attached, replicates, or is being changed. None if it may.
        size_bytes: The metered size of its data, or its provisioned size if backups are compared with that.
        children: The tags of everything that belongs to it, by id, including what AWS deletes together with it.
    """

    born_at: datetime
    tags: Mapping[str, str] | None
    parts: tuple[SubResource, ...]
    held: str | None
    size_bytes: int
    children: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A backup as AWS describes it.

    Attributes:
        of: The id of the resource.
        made_at: When AWS began it.
        job: The AWS Backup job; None if AWS Backup did not make it.
        expires_at: The time in its tag; None if the tag is missing or unreadable.
        copied: Whether somebody copied it from another backup.
        deletes_at: When AWS Backup deletes it by its lifecycle; None if it does not.
        key: The KMS key that encrypts it; None if it is not encrypted or AWS owns the key, empty if AWS does not name
            the key.
        vault: The vault in AWS Backup.
        stored_bytes: The size of its contents, if it differs from `size_bytes`, which may be the provisioned size.
        incremental: Whether `size_bytes` may only count what has changed since an earlier backup. A restore still
            brings back everything.
    """

    id: str | None
    of: str
    state: Literal["running", "complete", "failed"]
    size_bytes: int | None
    made_at: datetime
    job: str | None = None
    expires_at: datetime | None = None
    token: str | None = None
    why: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict, compare=False)
    copied: bool = False
    deletes_at: datetime | None = None
    key: str | None = None
    vault: str | None = None
    stored_bytes: int | None = None
    incremental: bool = False

    @property
    def kept_until(self) -> datetime | None:
        """The first time at which the sweeper or AWS Backup may delete it; None if neither does."""
        return min((at for at in (self.expires_at, self.deletes_at) if at), default=None)

    @property
    def installation(self) -> str | None:
        """The id of the installation that made it; None if its tags do not say."""
        return self.tags.get(INSTALLATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What one backup must contain: the resource, and its size in bytes.

    In records of older versions it may be one volume of an ONTAP file system.
    """

    id: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that a clean-up requested. It is recorded before the request.

    Attributes:
        token: Random, unique to this backup, and the same for each repeated request.
        asked_at: When it was requested first.
        state: In state "asked", it is unknown whether AWS received the request.
        asked: How many requests were sent.
        id: The id of the snapshot or FSx backup, or the ARN of the recovery point.
        final: Whether FSx takes this backup itself when it deletes the file system. Such a backup includes what clients
            wrote after the other backups, and is verified after the deletion.
        installation: The installation that requested it; None for older versions, whose tokens were not random.
        started_at: When AWS began it.
        spares: Ids of other backups that AWS made from the same request.
        vault: The vault in AWS Backup.
        gone_at: When the sweeper saw that it no longer exists.
    """

    subject: Subject
    token: str
    asked_at: datetime
    expires_at: datetime
    state: BackupState = "asked"
    asked: int = 1
    id: str | None = None
    job: str | None = None
    size_bytes: int | None = None
    why: str | None = None
    final: bool = False
    installation: str | None = None
    asked_again_at: datetime | None = None
    started_at: datetime | None = None
    spares: tuple[str, ...] = ()
    vault: str | None = None
    gone_at: datetime | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """All backups on record that AWS made from the request."""
        return (*((self.id,) if self.id else ()), *self.spares)

    @property
    def is_there(self) -> bool:
        """Whether any backup on record may still exist."""
        return bool(self.spares) or (self.id is not None and self.gone_at is None)

    @property
    def is_unnamed(self) -> bool:
        """Whether AWS may have made the backup although its id is not on record."""
        return self.id is None and self.state == "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A warning that Slack has not confirmed yet, and since when it has waited.

    Attributes:
        days: How many days ahead of the deletion it warns; None if it announces the date.
    """

    since: datetime
    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """When a clean-up tagged the resource, when it may act, and which warnings were delivered.

    Attributes:
        at: When the resource was tagged. It is recorded before the tags are set.
        act_after: When the clean-up may act.
        tagged: Whether the tags are set.
        warned_days: The delivered warnings, as days ahead of `act_after`.
        looked_at: When the resource was last checked while the clean-up waits for an approval.
        delivered_at: When Slack confirmed the first warning.
        notice: The warning that Slack has not confirmed yet.
        late: The total delay of all warnings.
        repeats: How many announcements followed the first.
        unwarned: Whether nobody can be warned and the policy allows the deletion anyway.
    """

    at: datetime
    act_after: datetime
    tagged: bool = False
    warned_days: tuple[int, ...] = ()
    looked_at: datetime | None = None
    delivered_at: datetime | None = None
    notice: Notice | None = None
    late: timedelta = timedelta(0)
    repeats: int = 0
    unwarned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A sub-resource whose deletion was requested. It is recorded before the request."""

    part: SubResource
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The progress of an undo.

    Attributes:
        id: The restored resource's id. It is a new id if the resource was deleted.
        job: The restore job in AWS Backup.
        of: The backup that the resource is restored from, if known.
        differences: How the restored resource differs from before.
        why: What went wrong.
    """

    state: Literal["running", "done", "failed"]
    id: str | None = None
    arn: str | None = None
    job: str | None = None
    of: str | None = None
    differences: tuple[str, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorNote:
    """Who requested something (a stop, an undo, an adoption), why and when."""

    who: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the newest complete audit after a clean-up saw.

    Attributes:
        left_monthly_usd: What the same finding would still save a month; zero if the finding is gone, None if unknown.
    """

    audit_id: str
    at: datetime
    left_monthly_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where the complete list is stored if the record has only its first entries: an object's key, and the number of
    entries.
    """

    key: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """A clean-up of one finding.

    Some resources have more sub-resources than a record can hold. Then `kept` names the lists that are truncated here,
    and where the complete lists are stored. A truncated clean-up can be stopped, cancelled and recorded as failed.

    Attributes:
        attempt: Counts the clean-ups of this finding.
        execution: The name of the only execution that may work on it.
        setting: The new setting; None if it deletes.
        unattended: Whether the policy lets it continue without an approval.
        scratch: Whether the policy says that the data needs no backup.
        born_at: When the resource was created, as read when it was tagged.
        size_bytes: The resource's size when it was tagged.
        detached: When the volume was last detached according to CloudTrail, as read when it was tagged.
        parts: The sub-resources when it was tagged, in the order of deletion.
        children: The ids of everything that belonged to the resource when it was tagged.
        recorded: The data that an undo needs to create the resource again.
        begun_at: When it began to work, after its detector had confirmed the finding one last time.
        was: The setting before a change.
        backups: One backup. Records of older versions may have one for each volume of an ONTAP file system.
        backed_up_at: When the backups were verified.
        earlier: Backups of earlier attempts that may still exist.
        backup_monthly_usd: What its backups cost a month while they are kept, in USD; None if the price is unknown.
        waits_since: Since when it has waited for the lock for deleting sub-resources.
        has_turn: Whether it has that lock. It keeps the lock from before the first deletion until everything is deleted
            or restored.
        fenced_at: Since when nothing has been able to mount the EFS file system.
        undo_execution: The name of the only execution that may undo it.
        why: How it ended.
        lost_at: When the sweeper found neither the resource nor a backup of it.
        adopted: Who adopted its backup, which another installation made.
        revision: The number of writes.
    """

    finding_id: str
    attempt: int
    execution: str
    detector: str
    resource: TrackedResource
    owner: str | None
    fingerprint: str
    setting: Setting | None
    requested_by: str
    started_at: datetime
    promised_monthly_usd: Decimal | None
    unattended: bool = False
    scratch: bool = False
    stage: Stage = "starting"
    born_at: datetime | None = None
    size_bytes: int | None = None
    detached: AttachmentEvent | None = None
    parts: tuple[SubResource, ...] = ()
    children: tuple[str, ...] = ()
    recorded: Mapping[str, Any] | None = None
    marked: Tagging | None = None
    approved_by: str | None = None
    begun_at: datetime | None = None
    was: Setting | None = None
    changed_at: datetime | None = None
    backups: tuple[Backup, ...] = ()
    backed_up_at: datetime | None = None
    earlier: tuple[Backup, ...] = ()
    backup_monthly_usd: Decimal | None = None
    waits_since: datetime | None = None
    has_turn: bool = False
    removals: tuple[Removal, ...] = ()
    fenced_at: datetime | None = None
    restored: Restored | None = None
    stopped: ActorNote | None = None
    undone: ActorNote | None = None
    undo_execution: str | None = None
    ended_at: datetime | None = None
    why: str = ""
    observed: Observed | None = None
    kept: Mapping[str, Kept] = field(default_factory=dict)
    lost_at: datetime | None = None
    adopted: ActorNote | None = None
    revision: int = 0

    @property
    def deletes(self) -> bool:
        """Whether it deletes the resource, rather than changing a setting."""
        return self.setting is None

    @property
    def ended(self) -> bool:
        """Whether nothing more happens unless a person requests it."""
        return self.stage in ENDED

    @property
    def removed(self) -> int:
        """The number of sub-resources whose deletion was requested, even if not all of them are in this record."""
        return self.kept["removals"].entries if "removals" in self.kept else len(self.removals)

    @property
    def not_restored(self) -> str | None:
        """Why Slackwater cannot restore what it deleted, and what a person can do; None if it can.

        Older versions deleted FSx for ONTAP.
        """
        system = (self.recorded or {}).get("system")
        if not isinstance(system, Mapping) or system.get("FileSystemType") != "ONTAP":
            return None
        kept = [f"{one.id} of {one.subject.id} until {one.expires_at:%Y-%m-%d}" for one in self.backups if one.id]
        more = [f"and {len(kept) - NAMED} more"] if len(kept) > NAMED else []
        how = (
            f"; aws fsx create-volume-from-backup restores a volume from {', '.join([*kept[:NAMED], *more])}"
            if kept
            else ""
        )
        return f"Slackwater does not restore FSx for ONTAP file systems{how}"

    @property
    def prior_backups(self) -> tuple[Backup, ...]:
        """The backups that must be verified before anything is deleted."""
        return tuple(backup for backup in self.backups if not backup.final)

    @property
    def promised(self) -> bool:
        """Whether Slackwater has told people that the deletion can be undone. A failed undo does not change that.

        It has once the clean-up is done, even if somebody else deleted the resource, and once it has asked AWS to
        delete the resource itself.
        """
        asked = any(one.part.id == self.resource.id for one in self.removals)
        return self.stage == "done" or self.undone is not None or asked

    @property
    def turn(self) -> str | None:
        """The name of the lock for deleting sub-resources; None if the resource has none.

        There is one lock for each type, account and Region.
        """
        where = self.resource
        return f"{where.type}/{where.account}/{where.region}" if len(self.parts) > 1 else None

    @property
    def holds(self) -> tuple[str, ...]:
        """What no other clean-up may hold now: the resource's ARN until this one ends, and the lock while it has it."""
        return (*(() if self.ended else (self.resource.arn,)), *((self.turn,) if self.turn and self.has_turn else ()))

    @property
    def held(self) -> tuple[str, ...]:
        """What it may have held before, but does not hold now."""
        places = (self.resource.arn, self.turn) if self.turn else (self.resource.arn,)
        return tuple(place for place in places if place not in self.holds)


def left_by(last: Cleanup | None) -> tuple[Backup, ...]:
    """Return the backups that a clean-up passes on to the next attempt, whose record replaces its own."""
    return tuple(one for one in (*last.earlier, *last.backups) if one.is_there or one.is_unnamed) if last else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A clean-up that a run started, with its promised savings. The caps count these."""

    finding_id: str
    at: datetime
    monthly_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What applies to all clean-ups: whether a person stopped them, and which ones started lately."""

    stopped: ActorNote | None = None
    begun: tuple[Begun, ...] = ()
    revision: int = 0


def timestamp(at: datetime) -> str:
    """Return a time in UTC as it is written in tags: RFC 3339, to the second."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def expiry(tags: Mapping[str, str]) -> datetime | None:
    """Return the expiry time in a backup's tag; None if it is missing or has no UTC offset. Such a backup is kept."""
    try:
        at = datetime.fromisoformat(tags.get(EXPIRES_AT, ""))
    except ValueError:
        return None
    return at if at.tzinfo else None
