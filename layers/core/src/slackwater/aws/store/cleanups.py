"""Stores clean-ups in DynamoDB: one for each finding, the locks of resources, and the control record of all."""

from collections.abc import Iterable
from typing import Final

from slackwater.aws.store import documents, listing, table
from slackwater.aws.store import findings as finding_store
from slackwater.aws.store.cleanup_lists import lengthened, packed, shortened, unpacked
from slackwater.aws.store.listing import IndexQuery
from slackwater.aws.store.table import NEW, Item, Put, Table, item, key, key_of
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.listing import Page
from slackwater.model.tracking import Write
from slackwater.ports.store import Documents

CLEANUP_READ: Final = table.READ
CLEANUP_WRITE: Final = table.WRITE
LISTS_READ: Final = documents.READ
LISTS_WRITE: Final = documents.WRITE
"""For code that reads and writes complete clean-ups."""

KIND: Final = "CLEANUP"
HOLD: Final = "HOLD"
CONTROL: Final = "CLEANUP-CONTROL"

UNCHANGED: Final = "#revision = :revision"
FREE_OR_MINE: Final = "attribute_not_exists(#holder) OR #holder = :holder"
MINE: Final = "#holder = :holder"
"""Conditions for writing a lock. Its item names the finding that holds it, or no finding after it was released."""

NOT_STORED: Final = {"kept"}
"""Fields that the record stores elsewhere."""

NEWEST_FIRST: Final = IndexQuery(index=table.BY_AGE, listing=table.CLEANUPS, spans=(("0", ":"),), descending=True)


class DynamoCleanups:
    """The `CleanupStore` of a table, and of a bucket with the lists that do not fit into a record."""

    def __init__(self, table: Table, lists: Documents | None = None) -> None:
        """Make no call. Without `lists`, it cannot read complete clean-ups, and truncates none."""
        self._table = table
        self._lists = lists
        self._stored = set[str]()

    def get(self, finding_id: str) -> Cleanup | None:
        """Return the clean-up of a finding as it is now; None if there is none."""
        return next(iter(self._load([f"{KIND}#{finding_id}"]).values()), None)

    def whole(self, cleanup: Cleanup) -> Cleanup:
        """Return the same clean-up with complete lists.

        Raises:
            AwsError: A list is missing, or the S3 call failed.
        """
        return lengthened(cleanup, self._read) if cleanup.kept else cleanup

    def unchanged(self, cleanup: Cleanup) -> bool:
        """Return whether its record still has this revision, and nobody has stopped all clean-ups. Makes one call."""
        record = f"{KIND}#{cleanup.finding_id}"
        found = self._table.read([key_of(record), key_of(CONTROL)])
        control = table.parsed(found[CONTROL], table.CONTROL) if CONTROL in found else Control()
        return not control.stopped and found.get(record, {}).get("revision") == {"N": str(cleanup.revision)}

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        """Store a clean-up together with its finding, if its revision is one more than the stored one.

        Returns False and stores nothing if a revision has changed, or if another clean-up holds a lock that this one
        needs.
        """
        short, objects = shortened(cleanup) if self._lists else (cleanup, dict[str, str]())
        for key_, text in objects.items():
            if key_ not in self._stored:
                self._bucket.write(key_, text)
                self._stored.add(key_)
        puts = [_put(_item(short), cleanup.revision), *self._hold(cleanup)]
        return self._table.put(*puts, *(finding_store.puts(finding) if finding else ()))

    def holder(self, place: str) -> str | None:
        """Return the id of the finding whose clean-up holds a resource (by its ARN) or a lock; None if none does."""
        for hold in self._table.read([key(HOLD, place)]).values():
            if "holder" in hold:
                return hold["holder"]["S"]
        return None

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        """Return clean-ups, the newest first.

        Raises:
            BadCursorError: The cursor is not valid for this list.
        """
        return listing.page(self._table, NEWEST_FIRST, limit, cursor, self._load)

    def control(self) -> Control:
        """Return what applies to all clean-ups, as it is now."""
        for stored in self._table.read([key_of(CONTROL)]).values():
            return table.parsed(stored, table.CONTROL)
        return Control()

    def write_control(self, control: Control) -> bool:
        """Store it if its revision is one more than the stored one; else return False and store nothing."""
        document = table.CONTROL.dump_json(control).decode()
        return self._table.put(
            _put(key_of(CONTROL) | item(document=document, revision=control.revision), control.revision)
        )

    def _hold(self, cleanup: Cleanup) -> tuple[Put, ...]:
        """Return the writes that acquire or keep the clean-up's locks, and release those that it no longer needs.

        Another clean-up cannot acquire a lock between the check and the write. This clean-up can, but only with another
        revision.
        """
        mine = {"holder": cleanup.finding_id}
        taken = [Put(key(HOLD, place) | item(holder=cleanup.finding_id), FREE_OR_MINE, mine) for place in cleanup.holds]
        let_go = [
            Put(key(HOLD, place), MINE, mine) for place in cleanup.held if self.holder(place) == cleanup.finding_id
        ]
        return (*taken, *let_go)

    def _load(self, pks: Iterable[str]) -> dict[str, Cleanup]:
        found = self._table.read(key_of(pk) for pk in pks)
        return {pk: unpacked(table.parsed(one, table.CLEANUP)) for pk, one in found.items()}

    def _read(self, key: str) -> str | None:
        found = self._bucket.read(key)
        if found is None:
            return None
        self._stored.add(key)
        return found[0]

    @property
    def _bucket(self) -> Documents:
        if self._lists is None:
            raise ValueError("this store has no bucket for the lists of clean-ups")
        return self._lists


def _put(stored: Item, revision: int) -> Put:
    return Put(stored, NEW) if revision == 1 else Put(stored, UNCHANGED, {"revision": revision - 1})


def _item(cleanup: Cleanup) -> Item:
    return key(KIND, cleanup.finding_id) | item(
        document=table.CLEANUP.dump_json(packed(cleanup), exclude=NOT_STORED).decode(),
        revision=cleanup.revision,
        listing=table.CLEANUPS,
        age_key=f"{table.sortable(cleanup.started_at)}#{cleanup.finding_id}",
    )
