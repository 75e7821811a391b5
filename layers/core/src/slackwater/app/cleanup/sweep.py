"""Deletes expired backups that clean-ups of this installation made, and records which backups no longer exist."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.app.cleanup.back_up import made_for
from slackwater.app.cleanup.case import LONGEST_WAIT, Cases, MovedError, UnsafeError
from slackwater.engine.cleanup import expiry_reason
from slackwater.model.cleanup import Backup, Cleanup, Copy
from slackwater.model.listing import MAX_PAGE
from slackwater.ports.cleanup import Sweeper
from slackwater.ports.errors import AwsError

LISTED_WITHIN: Final = timedelta(hours=1)
"""Within this time AWS lists a requested backup. If it does not, the backup does not exist."""

type Place = tuple[str, str, str]
"""The kind of a resource, its account and its Region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The result: deleted backups and backups that were kept although expired, with the reasons; and errors."""

    deleted: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    troubles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Held:
    """A finding, and the ids of the backups on its record: those that may exist, and those that no longer do.

    `unnamed` are the tokens of backups that were requested, but whose id is not on record. `never_made` says that AWS
    never made a backup that an earlier attempt requested.
    """

    finding_id: str
    there: tuple[str, ...]
    gone: tuple[str, ...]
    unnamed: tuple[str, ...] = ()
    never_made: bool = False

    def is_as_listed(self, listed: Mapping[str, Copy], installation: str | None, now: datetime) -> bool:
        """Return whether there is nothing to delete and nothing new to record."""
        kept = all(id_ in listed and expiry_reason(listed[id_], installation, now) is None for id_ in self.there)
        named = not any(copy.token in self.unnamed for copy in listed.values())
        return kept and named and not self.never_made and not any(id_ in listed for id_ in self.gone)


@dataclass(slots=True)
class _Found:
    """Collects the result of a sweep."""

    deleted: list[tuple[str, str]] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Sweeps backups. `installation` returns this installation's id; None if nothing has needed one yet.

    It deletes only backups whose id is on record. Copies that somebody else made and backups of other installations
    are not on record here.
    """

    cases: Cases
    sweepers: Mapping[str, Sweeper]
    installation: Callable[[], str | None]

    def sweep(self) -> Swept:
        """Sweep every place with backups. A failure in one place, or of one backup, does not stop the rest."""
        found = _Found()
        for place, findings in sorted(self._places().items()):
            kind, account, region = place
            now = self.cases.clock()
            try:
                listed = {copy.id: copy for copy in self.sweepers[kind].copies(account, region) if copy.id}
            except AwsError as error:
                found.troubles.append(f"{kind} in {account} {region}: {error}")
                continue
            own = self.installation()
            for held in findings:
                if held.is_as_listed(listed, own, now):
                    continue
                try:
                    self._sweep(held.finding_id, listed, now, found)
                except (AwsError, UnsafeError) as error:
                    found.troubles.append(f"the backups of finding {held.finding_id} in {account} {region}: {error}")
                except MovedError:
                    pass  # somebody else changed the record: the next sweep checks again
        return Swept(deleted=tuple(found.deleted), kept=tuple(found.kept), troubles=tuple(found.troubles))

    def _places(self) -> dict[Place, list[_Held]]:
        """Return the findings whose clean-ups made backups, by place."""
        places, cursor = dict[Place, list[_Held]](), None
        while True:
            page = self.cases.store.list(MAX_PAGE, cursor)
            for one in page.items:
                every = (*one.backups, *one.earlier)
                gone = tuple(backup.id for backup in every if backup.id and backup.gone_at)
                there = tuple(id_ for backup in every for id_ in backup.ids if id_ not in gone)
                ended = every if one.ended else one.earlier
                unnamed = tuple(backup.token for backup in ended if backup.is_unnamed)
                if there or gone or unnamed:
                    place = (one.resource.type, one.resource.account, one.resource.region)
                    never_made = any(_was_never_created(backup, self.cases.clock()) for backup in one.earlier)
                    places.setdefault(place, []).append(_Held(one.finding_id, there, gone, unnamed, never_made))
            cursor = page.cursor
            if cursor is None:
                return places

    def _sweep(self, finding_id: str, listed: Mapping[str, Copy], now: datetime, found: _Found) -> None:
        cleanup = self.cases.store.get(finding_id)  # the current record
        if cleanup is None:
            return
        cleanup = self._named(cleanup, listed)
        gone, ours, named = set[str](), set[str](), {backup.id for backup in cleanup.backups}
        for backup in (*(cleanup.backups if cleanup.ended else ()), *cleanup.earlier):
            for id_ in backup.ids:
                if id_ not in listed:
                    gone |= {id_} if now - backup.asked_at >= LISTED_WITHIN else set()
                    continue
                copy = self._now(cleanup, backup, listed[id_], now)
                if copy is None:
                    gone.add(id_)
                elif why := self._over(cleanup, copy, found):
                    ours.add(id_)
                    if id_ in named:  # record it first: no undo may start from a deleted backup
                        cleanup = self._recorded(cleanup, {*gone, id_}, ours, now, found)
                    gone |= {id_} if self._deleted(cleanup, copy, why, found) else set()
        self._recorded(cleanup, gone, ours, now, found)

    def _named(self, cleanup: Cleanup, listed: Mapping[str, Copy]) -> Cleanup:
        """Record the ids of backups that AWS made, but whose clean-up ended before it recorded AWS's answer."""
        of_arn = cleanup.resource.arn
        named = replace(cleanup, earlier=tuple(_found(one, listed, of_arn) for one in cleanup.earlier))
        if cleanup.ended:
            named = replace(named, backups=tuple(_found(one, listed, of_arn) for one in cleanup.backups))
        return cleanup if named == cleanup else self.cases.write(named)

    def _now(self, cleanup: Cleanup, backup: Backup, listed: Copy, now: datetime) -> Copy | None:
        """Return a listed backup; None if it is deleted.

        If it matters, this reads the backup again, because the list may be older than the record.
        """
        if backup.gone_at is None and expiry_reason(listed, self.installation(), now) is None:
            return listed
        sweeper = self.sweepers[cleanup.resource.type]
        return sweeper.look(cleanup.resource.account, cleanup.resource.region, listed)

    def _over(self, cleanup: Cleanup, copy: Copy, found: _Found) -> str | None:
        """Return why a backup has expired; None if it is kept.

        Adopted backups are always kept, because they belong to another installation.
        """
        why = None if cleanup.adopted else expiry_reason(copy, self.installation(), self.cases.clock())
        if copy.id is None or why is None:
            return None
        if self._is_the_only_copy(cleanup, self.sweepers[cleanup.resource.type]):
            undo = "restore" if cleanup.stage == "undone" else "undo"  # a restored clean-up cannot be undone again
            found.kept.append(
                (
                    copy.id,
                    f"{why}, but it may be the only copy of {cleanup.resource.id}: {undo} it, or delete it yourself",
                )
            )
            return None
        return why

    def _deleted(self, cleanup: Cleanup, copy: Copy, why: str, found: _Found) -> bool:
        """Delete a backup, and return whether it is gone; True if AWS does not answer: the next sweep checks again."""
        account, region, sweeper = (
            cleanup.resource.account,
            cleanup.resource.region,
            self.sweepers[cleanup.resource.type],
        )
        try:
            sweeper.delete(account, region, copy)
        except AwsError as error:
            found.troubles.append(f"{copy.id} in {account} {region}: {error}")
            try:
                return sweeper.look(account, region, copy) is None
            except AwsError:
                return True
        found.deleted.append((copy.id or "", why))
        return True

    def _is_the_only_copy(self, cleanup: Cleanup, sweeper: Sweeper) -> bool:
        """Return whether a backup may be the only copy of data that this clean-up did not delete, or has restored."""
        resource, restored = cleanup.resource, cleanup.restored
        if cleanup.stage == "done" and any(one.part.id == resource.id for one in cleanup.removals):
            return False
        # An undo restored it, or the cancellation of a partial deletion did.
        if restored and restored.state == "done" and restored.id and restored.arn and restored.id != resource.id:
            return sweeper.born_at(replace(resource, id=restored.id, arn=restored.arn)) is None
        born_at = sweeper.born_at(resource)
        return born_at is None or cleanup.born_at not in {None, born_at}

    def _recorded(
        self, cleanup: Cleanup, gone: Collection[str], ours: Collection[str], now: datetime, found: _Found
    ) -> Cleanup:
        """Record which backups are gone or exist again. The ledger names those that somebody else deleted early."""
        backups = tuple(_as_seen(backup, gone, now) for backup in cleanup.backups) if cleanup.ended else cleanup.backups
        earlier = tuple(
            one
            for backup in cleanup.earlier
            if (one := _as_seen(backup, gone, now)).is_there or (one.is_unnamed and not _was_never_created(one, now))
        )
        seen = replace(cleanup, backups=backups, earlier=earlier, lost_at=self._lost_at(cleanup, backups, now))
        if seen == cleanup:
            return cleanup
        lost = [
            f"{after.id} (to be kept until {after.expires_at:%Y-%m-%d})"
            for before, after in zip(cleanup.backups, backups, strict=True)
            if after.gone_at and not before.gone_at and after.id not in ours and now < after.expires_at
        ]
        if not lost or cleanup.stage != "done":
            return self.cases.write(seen)
        why = f"somebody else deleted its backup, or removed Slackwater's tags from it: {', '.join(lost)}"
        found.troubles.append(f"finding {cleanup.finding_id}: {why}")
        return self.cases.record_event(seen, "backup-gone", why)[0]

    def _lost_at(self, cleanup: Cleanup, backups: Sequence[Backup], now: datetime) -> datetime | None:
        """Return since when neither the resource nor a backup of it exists; None if one of them does."""
        if not backups or not cleanup.ended or any(backup.is_there for backup in backups):
            return None
        if cleanup.lost_at:
            return cleanup.lost_at
        born_at = self.sweepers[cleanup.resource.type].born_at(cleanup.resource)
        return now if born_at is None or cleanup.born_at not in {None, born_at} else None


def _was_never_created(backup: Backup, now: datetime) -> bool:
    """Return whether AWS would list the backup by now if it had received the request."""
    return backup.is_unnamed and now - (backup.asked_again_at or backup.asked_at) >= LONGEST_WAIT


def _found(backup: Backup, listed: Mapping[str, Copy], of_arn: str) -> Backup:
    """Return the backup with the ids that AWS gave it and its spares, if they are not on record yet."""
    if not backup.is_unnamed:
        return backup
    copies = [copy for copy in listed.values() if copy.token == backup.token]
    ids = [copy.id for copy in made_for(backup, copies, of_arn) if copy.id]
    return replace(backup, id=ids[0], spares=tuple(sorted({*backup.spares, *ids[1:]}))) if ids else backup


def _as_seen(backup: Backup, gone: Collection[str], now: datetime) -> Backup:
    """Return the record of a backup, with which of its ids are gone."""
    gone_at = (backup.gone_at or now) if backup.id in gone else None
    return replace(backup, gone_at=gone_at, spares=tuple(id_ for id_ in backup.spares if id_ not in gone))
