"""Protocols that back up, delete, change and restore resources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from slackwater.model.cleanup import Backup, Cleanup, Copy, CurrentState, Restored, Subject, SubResource
    from slackwater.model.settings import Setting
    from slackwater.model.tracking import TrackedResource


class Watcher(Protocol):
    """Looks at resources of one kind, and marks them. Deletes and changes nothing."""

    def look(self, resource: TrackedResource) -> CurrentState | None:
        """The resource as it is now; None where AWS says that there is none of this id.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def mark(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        """Put tags on it, and on those of its parts that can carry them. Done again, it comes to the same.

        Raises:
            AwsError: not on all, or AWS did not say.
        """
        ...

    def unmark(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Take tags off it and its parts; what is gone, or carries none, is fine.

        Raises:
            AwsError: not off all, or AWS did not say.
        """
        ...

    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """All that `Restorer` needs to make it again beside its data, as JSON holds it.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        """IAM's names of what it takes to remove it and its parts, by the ARN that it is asked for."""
        ...


class PartWatcher(Protocol):
    """Looks at single parts of resources of one kind."""

    def part_tags(self, resource: TrackedResource, part: SubResource) -> Mapping[str, str] | None:
        """The tags of a part as they are now, by one call; None if the part is gone, or going.

        Raises:
            AwsError: AWS did not say.
        """
        ...


class BackupTaker(Protocol):
    """Backs up resources of one kind. Deletes nothing."""

    def subject(self, resource: TrackedResource) -> Subject:
        """What the backup has to hold.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Ask for a backup that carries these tags, its token among them. It is asked for once: no retries.

        Raises:
            AwsError: it was refused, or nobody knows whether it was begun.
        """
        ...

    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Every backup that carries the token, and the one of the recorded id. One begun a moment ago may be missing.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Have a backup kept at least until then, by its tag and by AWS itself. What is kept for longer stays so.

        Raises:
            AwsError: it was refused, or not all of it was done.
        """
        ...


class Keys(Protocol):
    """Knows whether encrypted backups can be read."""

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        """Why nobody can be sure that what this key encrypts can be read until then; None where it can.

        Raises:
            AwsError: AWS did not say, and may a moment later.
        """
        ...


class Remover(Protocol):
    """Deletes resources of one kind, part by part."""

    def remove(self, resource: TrackedResource, part: SubResource, final_tags: Mapping[str, str] | None = None) -> str | None:
        """Ask AWS once to delete one part; what is gone or going is fine.

        With `final_tags` FSx takes a final backup that carries them. Returns its id, None where FSx does not name it.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...


class Changer(Protocol):
    """Changes settings of resources in place."""

    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """The present setting of the same kind as `like`, and whether a change of it is under way.

        Raises:
            AwsError: AWS did not say, or there is no such resource.
        """
        ...

    def refusal(self, resource: TrackedResource, to: Setting) -> str | None:
        """Why AWS would not change it now (too soon after the last change, say); None where nothing is known against it."""
        ...

    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask AWS once.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...

    def left_behind(self, resource: TrackedResource, changed: Setting, was: Setting) -> Sequence[str]:
        """What putting the old setting back does not bring back, and what it costs, for people.

        Raises:
            AwsError: AWS did not say, or there is no such resource.
        """
        ...


class Restorer(Protocol):
    """Brings resources of one kind back."""

    def restore(self, cleanup: Cleanup) -> Restored:
        """One step of an undo, and how far it is; called again until it is done or failed. `cleanup.restored` is what is known.

        Where the resource is still there, what was taken off it is put back; otherwise it is made again from the verified
        backups, and then what hung on it. Done again, or after dying at any point, it makes nothing twice.

        Raises:
            AwsError: AWS did not say; nothing is known to be lost.
        """
        ...


class Sweeper(Protocol):
    """Lists and deletes backups of ours, of one kind. Nothing else."""

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Every backup there that carries `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def look(self, account: str, region: str, copy: Copy) -> Copy | None:
        """A backup as it is now; None where it is gone.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def born_at(self, resource: TrackedResource) -> datetime | None:
        """When what is backed up was created; None where it is gone, or going.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def delete(self, account: str, region: str, copy: Copy) -> None:
        """Delete one; one that is gone is fine.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...


class BackupLister(Protocol):
    """Lists backups of ours, of one kind, and says what a `Restorer` needs to restore one that is on no record.

    `needs_place` says what a person has to name, where the backup does not say it; None where nothing.
    """

    @property
    def needs_place(self) -> str | None:
        """What a person has to name; None where nothing."""
        ...

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Every backup there that carries `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def not_restorable(self, copy: Copy) -> str | None:
        """Why Slackwater cannot restore from it; None where it can."""
        ...

    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:
        """As much as the backup says of what `Watcher.record` records.

        Raises:
            AwsError: AWS did not say.
        """
        ...
