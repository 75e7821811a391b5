"""A clean-up: what is to be done to one resource, how far it is, and what it takes to undo it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal

from slackwater.model.resources import AttachmentEvent
from slackwater.model.settings import Setting
from slackwater.model.tracking import TrackedResource

CLEANUP_TAG: Final = "slackwater:marked"
"""The tag of what a clean-up is about to delete or change: the finding's id. Without it no role of ours may."""
ACT_AFTER: Final = "slackwater:act-after"
"""The tag that tells the owner from when on (RFC 3339)."""

BACKUP_OF: Final = "slackwater:backup-of"
"""The tag of a backup of ours; its value is the ARN of what it was made of."""
EXPIRES_AT: Final = "slackwater:expires-at"
"""The tag of a backup of ours: from then on (RFC 3339) the sweeper deletes it. To keep it for longer, change it.

AWS Backup deletes a recovery point by its lifecycle as well, which has to be changed in AWS Backup.
"""
TOKEN: Final = "slackwater:token"  # noqa: S105 -- a name
"""The tag of a backup of ours by which the clean-up that asked for it knows it again."""
RESTORE: Final = "slackwater:restore"
"""The tag of a backup of ours that says how to restore it."""
INSTALLATION: Final = "slackwater:installation"
"""The tag of a backup of ours with the id of the installation that made it."""
OWNER: Final = "slackwater:owner"
"""The tag of a backup of ours with its resource's owner, where one is known."""

RESTORED_FROM: Final = "slackwater:restored-from"
"""The tag of what an undo made: the id of what it was made of. What was made without an answer is found by it, and nothing that
carries it is deleted."""

type Stage = Literal["starting", "waiting", "working", "done", "called-off", "failed", "undoing", "undone"]
STAGES: Final[tuple[Stage, ...]] = ("starting", "waiting", "working", "done", "called-off", "failed", "undoing", "undone")
ENDED: Final[tuple[Stage, ...]] = ("done", "called-off", "failed", "undone")
"""Stages after which nothing more happens unless a person asks for it."""

ONTAP_STAYS: Final = "Slackwater does not delete FSx for ONTAP file systems"
"""Shares, LUNs and quotas are in no backup, and FSx may not list every volume."""

NAMED: Final = 10
"""The most backups that a reason names. A clean-up's record has all of them."""

NOT_PUT_BACK: Final = "not put back"
"""How the reason begins of a clean-up that left parts missing on a resource that stays."""

type BackupState = Literal["asked", "running", "complete", "verified", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubResource:
    """Something that has to go: the resource itself (`kind` is its own), or what hangs on it.

    `kind` is "volume", "access-point", "mount-target" or "file-system"; in records of older versions also "fsx-volume" or
    "storage-virtual-machine". `going` says that AWS is at it already. `arn` is None where AWS gives it none (mount targets).
    """

    kind: str
    id: str
    arn: str | None
    going: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentState:
    """A resource as it is now.

    `parts` are in the order in which they have to go, the resource itself last. `held` says why it must not be touched: it is
    attached, replicates, or is being changed; None where nothing holds it. `size_bytes` is what AWS meters of its data, or its
    provisioned size where that is what a backup is measured by. `tags` is None when they could not be read. `children` is all
    that hangs on it, whether it goes by itself or with it, with the tags that each has.
    """

    born_at: datetime
    tags: Mapping[str, str] | None
    parts: tuple[SubResource, ...]
    held: str | None
    size_bytes: int
    children: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A backup as AWS tells of it. `of` is the id of what it was made of, `job` AWS Backup's, `made_at` when it began.

    `expires_at` is what its tag says, None where nobody can read one; `deletes_at` is when AWS Backup deletes it by itself, if
    it does. `copied` says that somebody copied it from another backup. `key` is the KMS key with which it is encrypted: None
    where it is not, or with one of AWS's own, and empty where AWS does not name it. `vault` is AWS Backup's. `stored_bytes` is
    what it holds, where that is not `size_bytes`: there may be less in it than what was provisioned. `incremental` says that
    `size_bytes` may count only what has changed since an earlier backup; a restore brings back everything.
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
        """When the sweeper or AWS Backup may delete it, whichever is first; None where neither does."""
        return min((at for at in (self.expires_at, self.deletes_at) if at), default=None)

    @property
    def installation(self) -> str | None:
        """The installation that made it; None where its tags do not say."""
        return self.tags.get(INSTALLATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What one backup has to hold: the resource, and how many bytes that is.

    In records of older versions it may be one volume of an ONTAP file system.
    """

    id: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that a clean-up asked for. `token` is random, its alone, and the same each time it is asked for again.

    It is recorded before it is asked for: while it is "asked" nobody knows whether AWS heard it, `asked` times. `id` is the
    snapshot's, the recovery point's ARN, or the FSx backup's. `asked_at` is when it was asked for first, `started_at` when AWS
    began it. `installation` is the one that asked for it; None where an older version did, whose tokens were not random.
    `spares` are ids of others that AWS made of the same request, `vault` is AWS Backup's. `gone_at` is when the sweeper saw
    that it is gone. FSx takes a `final` one by itself when it deletes the file system: that holds what was written since the
    others, and is verified afterwards.
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
        """All that AWS made of the request, by what is on record."""
        return (*((self.id,) if self.id else ()), *self.spares)

    @property
    def is_there(self) -> bool:
        """Whether any of these may still be there."""
        return bool(self.spares) or (self.id is not None and self.gone_at is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A warning that Slack has not taken yet, as far as is known, and since when it waits for that.

    `days` is how many days ahead of the deletion it warns; None where it announces the date.
    """

    since: datetime
    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """When it was marked, from when on it may be acted upon, and for how many days ahead its owner was warned.

    It is recorded before the tags are put on; `tagged` once they are. `looked_at` is when it was looked at last while it waits
    for an approval. `delivered_at` is when Slack took the first warning, and `notice` the one that it has not taken yet; `late`
    is how much later than due warnings came in all, and `repeats` counts announcements after the first. `unwarned` says that
    nobody can be warned, and that the policy deletes all the same.
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
    """A part whose removal was asked for: recorded before it is asked."""

    part: SubResource
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """How far an undo is. `id` and `arn` are of what came back: new ones, where it had been deleted. `job` is AWS Backup's.

    `of` is the backup that it is made from, where there may be several and it is known. `differences` say what is not as it
    was; `why` what went wrong.
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
    """Something that a person said about it: to stop it, to undo it."""

    who: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the newest whole audit after it saw: what the same finding would still save there, zero where it is gone."""

    audit_id: str
    at: datetime
    left_monthly_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a list is kept whole that is cut short in a clean-up's record: an object's key, and the number of entries."""

    key: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """A clean-up of one finding; the `attempt`th. `setting` is what it changes to, None where it deletes.

    Only the execution of this name may work on it, and only the one of `undo_execution` may undo it. `was` is the setting
    before a change, `born_at` and `size_bytes` what the resource was when it was marked, `detached` when CloudTrail last saw
    a volume come off, `parts` and `children` what there was of it then, `recorded` whatever an undo needs to make it again.
    `backups` has one backup. Only records of older versions have more, one for each volume of an ONTAP file system.
    `unattended` says that the policy lets it go on without an approval, `scratch` that it says that the data need no backup.
    `backup_monthly_usd` is what its backups cost as long as they are kept; None where the price is unknown. `why` says how it
    ended. `revision` counts the writes. `earlier` are backups of earlier attempts that may still be there. `lost_at`
    is when the sweeper saw neither the resource nor a backup of it. `adopted` is who adopted its backup, which somebody else's
    clean-up made. `waits_since` is since when it waits for its turn to be
    taken apart; it `has_turn` from before the first removal until it is gone, or whole again. It began to work at `begun_at`,
    when its detector was asked for the last time about all that had been before. Its backups were verified at `backed_up_at`.
    Since `fenced_at` nothing can mount the EFS file system.

    Some resources have more parts than a record has room for. `kept` then names the lists that are cut short here, and where
    they are kept whole; it is empty in a clean-up that has all of them. A short clean-up can be stopped, cancelled and put on
    record as failed.
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
        """Whether it deletes, rather than changes a setting."""
        return self.setting is None

    @property
    def ended(self) -> bool:
        """Whether nothing more happens unless a person asks for it."""
        return self.stage in ENDED

    @property
    def removed(self) -> int:
        """The number of parts whose removal was asked for, also if not all of them are here."""
        return self.kept["removals"].entries if "removals" in self.kept else len(self.removals)

    @property
    def not_restored(self) -> str | None:
        """Why Slackwater does not restore what it deleted, and what a person can do; None where it does.

        Older versions deleted FSx for ONTAP.
        """
        system = (self.recorded or {}).get("system")
        if not isinstance(system, Mapping) or system.get("FileSystemType") != "ONTAP":
            return None
        kept = [f"{one.id} of {one.subject.id} until {one.expires_at:%Y-%m-%d}" for one in self.backups if one.id]
        more = [f"and {len(kept) - NAMED} more"] if len(kept) > NAMED else []
        how = f"; aws fsx create-volume-from-backup restores a volume from {', '.join([*kept[:NAMED], *more])}" if kept else ""
        return f"Slackwater does not restore FSx for ONTAP file systems{how}"

    @property
    def prior_backups(self) -> tuple[Backup, ...]:
        """The backups that have to be verified before anything is removed."""
        return tuple(backup for backup in self.backups if not backup.final)

    @property
    def promised(self) -> bool:
        """Whether people were told that the deletion can be undone, whatever has become of an undo since.

        That is so once the clean-up has ended done, even where somebody else had deleted the resource, and once AWS was asked
        to delete the resource itself.
        """
        asked = any(one.part.id == self.resource.id for one in self.removals)
        return self.stage == "done" or self.undone is not None or asked

    @property
    def turn(self) -> str | None:
        """What it takes to be taken apart, one of a type in an account and region at a time; None where it is one piece."""
        where = self.resource
        return f"{where.type}/{where.account}/{where.region}" if len(self.parts) > 1 else None

    @property
    def holds(self) -> tuple[str, ...]:
        """What no other clean-up may have now: the resource, by its ARN, until it ends; and the turn, while it has that."""
        return (*(() if self.ended else (self.resource.arn,)), *((self.turn,) if self.turn and self.has_turn else ()))

    @property
    def held(self) -> tuple[str, ...]:
        """What it may have had, and has not any more."""
        places = (self.resource.arn, self.turn) if self.turn else (self.resource.arn,)
        return tuple(place for place in places if place not in self.holds)


def left_by(last: Cleanup | None) -> tuple[Backup, ...]:
    """Backups that a clean-up leaves to the next attempt, whose record takes the place of its own."""
    return tuple(one for one in (*last.earlier, *last.backups) if one.is_there) if last else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A clean-up that a run began, and what it promised to save: what the cap counts."""

    finding_id: str
    at: datetime
    monthly_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What holds for all clean-ups together: whether somebody stopped them, and what was begun of late. `revision` counts."""

    stopped: ActorNote | None = None
    begun: tuple[Begun, ...] = ()
    revision: int = 0


def timestamp(at: datetime) -> str:
    """A time in UTC as our tags have it: RFC 3339, to the second."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def expiry(tags: Mapping[str, str]) -> datetime | None:
    """When a backup's tag lets it go; None where the tag is missing, or is no time with an offset: such a one is kept."""
    try:
        at = datetime.fromisoformat(tags.get(EXPIRES_AT, ""))
    except ValueError:
        return None
    return at if at.tzinfo else None
