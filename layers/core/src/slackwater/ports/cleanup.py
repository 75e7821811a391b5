"""Protocols that back up, delete, change and restore resources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from slackwater.model.cleanup import Backup, Cleanup, Copy, CurrentState, Restored, Subject, SubResource
    from slackwater.model.settings import Setting
    from slackwater.model.tracking import TrackedResource


class Watcher(Protocol):
    """Reads the state of resources of one kind, and tags them. Deletes and changes nothing else."""

    def look(self, resource: TrackedResource) -> CurrentState | None:
        """Return the resource as it is now; None if AWS says that it does not exist.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def add_tags(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        """Set tags on the resource and its sub-resources that can have tags. Idempotent.

        Raises:
            AwsError: Some tags are not set, or AWS did not answer.
        """
        ...

    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Remove tags from the resource and its sub-resources. Ignores those that do not exist, or have no such tag.

        Raises:
            AwsError: Some tags are not removed, or AWS did not answer.
        """
        ...

    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """Return everything that `Restorer` needs, besides the data, to create the resource again, as JSON values.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        """Return the IAM actions that delete the resource and its sub-resources, by the ARN that they need."""
        ...


class PartWatcher(Protocol):
    """Reads single sub-resources of resources of one kind."""

    def part_tags(self, resource: TrackedResource, part: SubResource) -> Mapping[str, str] | None:
        """Return the tags of a sub-resource as they are now, with one call; None if it is deleted, or being deleted.

        Raises:
            AwsError: AWS did not answer.
        """
        ...


class BackupTaker(Protocol):
    """Backs up resources of one kind. Deletes nothing."""

    def subject(self, resource: TrackedResource) -> Subject:
        """Return what the backup must contain.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Request a backup with these tags, one of which is its token. Does not retry.

        Raises:
            AwsError: AWS refused it, or it is unknown whether it began.
        """
        ...

    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Return every backup with the token, and the one with the recorded id. A very recent one may be missing.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Keep a backup at least until then, by its tag and its lifecycle. Never shortens the time.

        Raises:
            AwsError: AWS refused it, or only a part was done.
        """
        ...


class Keys(Protocol):
    """Checks whether encrypted backups can be decrypted."""

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        """Return why this key may be unable to decrypt until then; None if it can.

        Raises:
            AwsError: AWS did not answer; another attempt may work.
        """
        ...


class Remover(Protocol):
    """Deletes resources of one kind, one sub-resource at a time."""

    def remove(
        self, resource: TrackedResource, part: SubResource, final_tags: Mapping[str, str] | None = None
    ) -> str | None:
        """Ask AWS once to delete one sub-resource. Ignores one that is deleted, or being deleted.

        Args:
            resource: The resource.
            part: The sub-resource; may be the resource itself.
            final_tags: FSx takes a final backup with these tags; None means no backup.

        Returns:
            The id of the final backup; None if there is none, or FSx does not name it.

        Raises:
            AwsError: AWS refused it, or it is unknown whether the request arrived.
        """
        ...


class Changer(Protocol):
    """Changes settings of resources in place."""

    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """Return the current setting of the same kind as `like`, and whether it is being changed.

        Raises:
            AwsError: AWS did not answer, or the resource does not exist.
        """
        ...

    def refusal(self, resource: TrackedResource, to: Setting) -> str | None:
        """Return why AWS would refuse this change now, such as too soon after the last; None if no reason is known."""
        ...

    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask AWS once to change the setting.

        Raises:
            AwsError: AWS refused it, or it is unknown whether the request arrived.
        """
        ...

    def left_behind(self, resource: TrackedResource, changed: Setting, was: Setting) -> Sequence[str]:
        """Return what remains different after the old setting is set again, and what it costs, as text.

        Args:
            resource: The resource.
            changed: The setting after the change.
            was: The setting before.

        Raises:
            AwsError: AWS did not answer, or the resource does not exist.
        """
        ...


class Restorer(Protocol):
    """Restores resources of one kind."""

    def restore(self, cleanup: Cleanup) -> Restored:
        """Do one step of an undo, and return its progress. The caller repeats this until it is done or failed.

        If the resource still exists, its deleted sub-resources are created again. Otherwise the resource is created
        from the verified backups, and then its sub-resources. A repeated step creates nothing twice, even after a
        crash.

        Args:
            cleanup: The clean-up. Its `restored` has the progress so far.

        Raises:
            AwsError: AWS did not answer. Nothing is lost.
        """
        ...


class Sweeper(Protocol):
    """Lists and deletes Slackwater's own backups of one kind, and nothing else."""

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Yield every backup there with the tag `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def look(self, account: str, region: str, copy: Copy) -> Copy | None:
        """Return a backup as it is now; None if it does not exist.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def born_at(self, resource: TrackedResource) -> datetime | None:
        """Return when the resource of a backup was created; None if it is deleted, or being deleted.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def delete(self, account: str, region: str, copy: Copy) -> None:
        """Delete one backup. Ignores one that does not exist.

        Raises:
            AwsError: AWS refused it, or it is unknown whether the request arrived.
        """
        ...


class BackupLister(Protocol):
    """Lists Slackwater's own backups of one kind, and what `Restorer` needs to restore one that is on no record."""

    @property
    def needs_place(self) -> str | None:
        """What a person must specify because no backup has it; None if nothing is needed."""
        ...

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Yield every backup there with the tag `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def not_restorable(self, copy: Copy) -> str | None:
        """Return why Slackwater cannot restore from it; None if it can."""
        ...

    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:
        """Return as much of `Watcher.record` as the backup has.

        Raises:
            AwsError: AWS did not answer.
        """
        ...
