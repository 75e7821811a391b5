"""Lists every backup in the account with Slackwater's tags, and adopts one so that it can be restored."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Final

from slackwater.app.cleanup.cleanups import check_approver
from slackwater.app.findings.findings import BadDecisionError, ConflictError, NotFoundError, reason_given
from slackwater.model.backups import ListedBackup, Whose
from slackwater.model.cleanup import BACKUP_OF, OWNER, ActorNote, Backup, Cleanup, Copy, Subject
from slackwater.model.listing import MAX_PAGE
from slackwater.model.policy import Policy
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
from slackwater.model.tracking import FindingRecord, LedgerEntry, TrackedFinding, TrackedResource, Write
from slackwater.ports.cleanup import BackupLister
from slackwater.ports.errors import AwsError
from slackwater.ports.store import CleanupStore

AT_ONCE: Final = 8
FOR_EVER: Final = datetime.max.replace(tzinfo=UTC)
DETECTORS: Final[Mapping[str, str]] = {
    Volume.KIND: "ebs-unattached",
    EfsFileSystem.KIND: "efs-idle",
    FsxFileSystem.KIND: "fsx-idle",
}
"""The usual detector for a deleted resource of each kind, because a backup does not name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """Backups with Slackwater's tags, the oldest first. With `gaps`, there may be more."""

    backups: tuple[ListedBackup, ...]
    installation: str | None
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backups:
    """The use cases and their dependencies.

    Attributes:
        regions: Returns the Regions that the account has enabled.
        price: Returns the monthly price of a backup in USD, by kind, Region and bytes; None if unknown.
    """

    store: CleanupStore
    listers: Mapping[str, BackupLister]
    regions: Callable[[], Collection[str]]
    account: str
    installation: Callable[[], str | None]
    price: Callable[[str, str, int], Decimal | None]
    policy: Callable[[], Policy]

    def listed(self, regions: Collection[str] = ()) -> BackupList:
        """Return the backups in these Regions; empty means all Regions of the account.

        Raises:
            AwsError: The account, its Regions or the records cannot be read.
        """
        own, recorded = self.installation(), self._recorded()
        places = [(kind, region) for region in sorted(regions or self.regions()) for kind in self.listers]
        found, gaps = list[ListedBackup](), list[str]()

        def there(place: tuple[str, str]) -> list[Copy] | AwsError:
            kind, region = place
            try:
                return list(self.listers[kind].copies(self.account, region))
            except AwsError as error:
                return error

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for (kind, region), answer in zip(places, pool.map(there, places), strict=True):
                if isinstance(answer, AwsError):
                    gaps.append(f"{kind} in {region}: {answer}")
                else:
                    found += [self._listed_backup(copy, kind, region, own, recorded) for copy in answer]
        found.sort(key=lambda one: (one.copy.made_at, one.copy.id or ""))
        return BackupList(backups=tuple(found), installation=own, gaps=tuple(gaps))

    def adopt(
        self,
        backup_id: str,
        note: ActorNote,
        *,
        places: Sequence[str] = (),
        regions: Collection[str] = (),
    ) -> Cleanup:
        """Record a backup that has no record here, so that a person can restore it. Restores nothing.

        The backup still belongs to the installation that made it: this installation's sweeper does not delete it.
        Adopting a backup again changes nothing.

        Args:
            backup_id: The id of the backup.
            note: The person, the reason (required) and the current time.
            places: The zone for a volume, or the subnets for an FSx file system, because a backup does not name them.
            regions: The Regions to search; empty means all Regions.

        Raises:
            BadDecisionError: The reason is missing or cannot be stored, or a place is missing.
            ConflictError: The backup is already on record, is not complete, or cannot be restored.
            NotAllowedError: The policy does not let this person approve.
            NotFoundError: No backup with this id has Slackwater's tags.
            PolicyError: The policy is invalid or unreadable.
        """
        check_approver(note.who, self.policy().cleanup)
        note = replace(note, why=reason_given(note.why))
        if not note.why:
            raise BadDecisionError("why", "is needed")
        if (before := self.store.get(_id(backup_id))) is not None:
            return before
        one = self._found(backup_id, regions)
        if one.cleanup:
            raise ConflictError(
                f"{backup_id} is already on record: see `slackwater cleanup status {one.cleanup.finding_id}`"
            )
        if one.copy.state != "complete":
            raise ConflictError(f"{backup_id} is {one.copy.state}")
        lister = self.listers[one.kind]
        if problem := lister.not_restorable(one.copy):
            raise ConflictError(f"{backup_id} cannot be adopted: {problem}")
        if lister.needs_place and not places:
            raise BadDecisionError("places", f"is needed: {lister.needs_place}")
        recorded = lister.recorded(one.region, one.copy, places)
        finding, cleanup = _adopted(one, recorded, note)
        entry = LedgerEntry(
            happening="adopted",
            at=note.at,
            who=note.who,
            was=None,
            now=finding.status,
            why=note.why,
            revision=1,
            audit_id="",
            evidence=finding.sighting,
        )
        if not self.store.write(cleanup, Write(finding=finding, entry=entry, expects=0)):
            if (before := self.store.get(cleanup.finding_id)) is not None:
                return before
            raise ConflictError("another request changes it at the same time. Try again")
        return cleanup

    def _found(self, backup_id: str, regions: Collection[str]) -> ListedBackup:
        listed = self.listed(regions)
        found = next((one for one in listed.backups if one.copy.id == backup_id), None)
        if found is None:
            more = f" ({'; '.join(listed.gaps)})" if listed.gaps else ""
            raise NotFoundError(
                f"no backup {backup_id} has Slackwater's tags{more}. To list backups: `slackwater cleanup backups`"
            )
        return found

    def _listed_backup(
        self, copy: Copy, kind: str, region: str, own: str | None, recorded: Mapping[str, Cleanup]
    ) -> ListedBackup:
        cleanup = recorded.get(copy.id or "")
        whose: Whose = "other" if copy.installation else "older"
        if (cleanup and not cleanup.adopted) or (copy.installation and copy.installation == own):
            whose = "own"
        size = copy.stored_bytes if copy.stored_bytes is not None else copy.size_bytes
        return ListedBackup(
            copy=copy,
            kind=kind,
            account=self.account,
            region=region,
            resource_arn=copy.tags.get(BACKUP_OF, copy.of),
            whose=whose,
            cleanup=cleanup,
            monthly_usd=None if size is None else self.price(kind, region, size),
        )

    def _recorded(self) -> dict[str, Cleanup]:
        """Return the clean-ups by the ids of their backups."""
        return {id_: one for one in self._cleanups() for id_ in _ids(one)}

    def _cleanups(self) -> Iterator[Cleanup]:
        cursor = None
        while True:
            page = self.store.list(MAX_PAGE, cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return


def _ids(cleanup: Cleanup) -> Iterator[str]:
    for backup in (*cleanup.backups, *cleanup.earlier):
        yield from backup.ids


def _id(backup_id: str) -> str:
    """Return the finding id for an adopted backup. An execution's name begins with it, up to the first dash."""
    return f"adopted{sha256(backup_id.encode()).hexdigest()[:16]}"


def _adopted(one: ListedBackup, recorded: Mapping[str, object], note: ActorNote) -> tuple[TrackedFinding, Cleanup]:
    """Return the records for an adopted backup: a resolved finding, and the clean-up of another installation."""
    copy, id_, of = one.copy, _id(one.copy.id or ""), one.resource_arn.rpartition("/")[2]
    name = copy.tags.get("Name", "").removesuffix(" before it was deleted") or of
    resource = TrackedResource(
        arn=one.resource_arn, id=of, type=one.kind, name=name, account=one.account, region=one.region
    )
    record = FindingRecord(
        id=id_,
        detector=DETECTORS[one.kind],
        kind="waste",
        severity="info",
        confidence="high",
        resource=resource,
        owner=copy.tags.get(OWNER),
        summary=f"{of} was deleted by another installation; {note.who} adopted its backup {copy.id}",
        monthly_savings_usd=None,
        fingerprint=id_,
        deletes=True,
    )
    finding = TrackedFinding(
        sighting=record,
        status="resolved",
        decision=None,
        opened_at=note.at,
        last_seen_at=note.at,
        resolved_at=note.at,
        audit_id="",
        revision=1,
    )
    backup = Backup(
        subject=Subject(id=of, size_bytes=copy.size_bytes or 0),
        token=copy.token or "",
        asked_at=copy.made_at,
        expires_at=copy.kept_until or FOR_EVER,
        state="verified",
        id=copy.id,
        size_bytes=copy.size_bytes,
        installation=copy.installation,
        started_at=copy.made_at,
        vault=copy.vault,
    )
    cleanup = Cleanup(
        finding_id=id_,
        attempt=1,
        execution=f"{id_}-1",
        detector=record.detector,
        resource=resource,
        owner=record.owner,
        fingerprint=id_,
        setting=None,
        requested_by=note.who,
        started_at=note.at,
        promised_monthly_usd=None,
        stage="done",
        recorded=recorded,
        backups=(backup,),
        ended_at=note.at,
        why=f"{note.who} adopted {copy.id}: {note.why}",
        adopted=note,
        revision=1,
    )
    return finding, cleanup
