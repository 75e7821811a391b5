"""The inventory snapshot of a target: in memory while it is small, otherwise in a file that is read in chunks.

A chunk has whole resource groups. A resource group is everything that a detector reads to evaluate one resource: an
instance and its volumes, or a file system and its volumes. Instances that share a volume are in one group. Records that
describe a type or the account belong to every chunk.
"""

import io
import json
import pickle
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol, Self
from zlib import crc32

from slackwater.model import resources
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, Rest, UnreadableRecord
from slackwater.model.resources import (
    RESOURCE_KINDS,
    AgentMetric,
    AttachmentEvent,
    EfsLifecycle,
    EfsMountTarget,
    EfsReplication,
    IdleRecommendation,
    InstanceType,
    OptimizerEnrollment,
    Record,
    Resource,
    Volume,
    VolumeRecommendation,
)
from slackwater.model.snapshot import WholeSnapshot
from slackwater.ports.inventory import InventorySnapshot

PART_RECORDS: Final = 25_000
"""Approximate number of records in a chunk. A resource group is never split."""

BATCH: Final = 500
"""Records read from or written to a file at a time."""

SCHEMA: Final = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE records (place INTEGER PRIMARY KEY, kind TEXT, id TEXT, home TEXT, record BLOB);
    CREATE UNIQUE INDEX known ON records (kind, id);
    CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT);
"""
"""`home` is the resource group. A record without one belongs to every chunk.

The file is not protected against a crash: a lost file is only listed again.
"""

DIVIDE: Final = """
    CREATE INDEX homes_of ON records (home);
    CREATE TABLE homes (home TEXT PRIMARY KEY, part INTEGER) WITHOUT ROWID;
    CREATE INDEX parts ON homes (part);
"""
TO_THE_VOLUMES: Final = """
    UPDATE records SET home = coalesce(
        (SELECT volume.home FROM records AS volume WHERE volume.kind = ? AND volume.id = records.home), home
    ) WHERE kind = ?
"""
RESOURCE_GROUPS: Final = """
    SELECT home, count(*) FROM records WHERE home IS NOT NULL GROUP BY home ORDER BY scattered(home), home
"""
"""Sorted by a hash, so that the order is independent of the content and every chunk takes about the same time."""
OF_A_PART: Final = """
    SELECT place FROM records WHERE home IS NULL OR home IN (SELECT home FROM homes WHERE part = ?) ORDER BY place
"""

KINDS: Final[Mapping[str, type[Record]]] = {
    kind.KIND: kind
    for kind in vars(resources).values()
    if isinstance(kind, type) and issubclass(kind, Record) and "KIND" in vars(kind)
}
LOADABLE: Final = frozenset(
    {
        *((resources.__name__, name) for name, kind in vars(resources).items() if is_dataclass(kind)),
        *(("datetime", name) for name in ("datetime", "timedelta", "timezone")),
        ("decimal", "Decimal"),
    }
)
"""All types that a record contains. A file can come from a bucket, so no other type is unpickled."""


class SnapshotError(Exception):
    """A file cannot be read or written, is not a snapshot, or was written by another version."""


class Earlier(Protocol):
    """The records of kinds that were read earlier. A `Fleet` is one."""

    @property
    def unreadable(self) -> Mapping[type[Record], str]:
        """The kinds among these that could not be read completely, and why."""
        ...

    def all[R: Record](self, kind: type[R]) -> Iterable[R]:
        """Return all records of a kind, in the order in which they were read; one by one if the inventory is large."""
        ...

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """Return the record with this id, or None."""
        ...


def is_any(before: Earlier, kind: type[Record]) -> bool:
    """Return whether there is any record of a kind."""
    return next(iter(before.all(kind)), None) is not None


class SnapshotWriter:
    """Collects the records of a target while it is listed. Thread-safe if no kind is read before it is complete."""

    def __init__(self, part_records: int = PART_RECORDS) -> None:
        """Move the records to a file when there are more than `part_records`."""
        self._part_records = part_records
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        self._count = 0
        self._file: _File | None = None
        self._lock = Lock()

    def add(self, records: Sequence[Record]) -> None:
        """Add records. A record replaces an earlier one of the same kind and id."""
        with self._lock:
            if self._file is not None:
                self._file.add(records)
                return
            for record in records:
                of_kind = self._by_kind.setdefault(type(record), {})
                self._count += record.id not in of_kind
                of_kind[record.id] = record
            if self._count > self._part_records:
                self._file = _File.new()
                for of_kind in self._by_kind.values():
                    self._file.add(of_kind.values())
                self._by_kind = {}

    def earlier(self, failures: Mapping[type[Record], str]) -> Earlier:
        """Return the records added so far. The kinds in `failures` could not be read completely."""
        return _EarlierRecords(self, failures)

    def all(self, kind: type[Record]) -> Iterable[Record]:
        """Return the records of a kind."""
        with self._lock:
            if self._file is None:
                return list(self._by_kind.get(kind, {}).values())
        return self._file.all(kind)

    def get(self, kind: type[Record], id: str) -> Record | None:
        """Return one record, or None."""
        with self._lock:
            if self._file is None:
                return self._by_kind.get(kind, {}).get(id)
        return self._file.get(kind, id)

    def snapshot(
        self,
        unreadable: Mapping[type[Record], str],
        gaps: Sequence[Gap],
        rest: Rest | None = None,
        on_demand: Rest | None = None,
        broken: Sequence[UnreadableRecord] = (),
    ) -> InventorySnapshot:
        """Return a snapshot of all records added and of the `rest`. Call it once.

        If the records are in a file, it waits for the rest, and `on_demand` reads what is then still missing.
        """
        if self._file is None:
            records = (record for of_kind in self._by_kind.values() for record in of_kind.values())
            return WholeSnapshot(Fleet(records, unreadable, rest, broken), gaps)
        if rest:
            late = rest.wait()
            self._file.add(late.records)
            unreadable, gaps, broken = {**unreadable, **late.unreadable}, [*gaps, *late.gaps], [*broken, *late.broken]
        self._file.divide(self._part_records)
        self._file.note(
            unreadable={kind.KIND: why for kind, why in unreadable.items()}, gaps=[astuple(gap) for gap in gaps]
        )
        self._file.note(broken=[(one.kind.KIND, one.id, one.reason, one.owners) for one in broken])
        return FileSnapshot(self._file, on_demand)

    def close(self) -> None:
        """Close the file, if there is one, and delete it."""
        if self._file is not None:
            self._file.close()


class _EarlierRecords:
    def __init__(self, writer: SnapshotWriter, unreadable: Mapping[type[Record], str]) -> None:
        self._writer = writer
        self.unreadable = unreadable

    def all[R: Record](self, kind: type[R]) -> Iterable[R]:
        return self._writer.all(kind)  # type: ignore[return-value]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        return self._writer.get(kind, id)  # type: ignore[return-value]


class FileSnapshot:
    """An `InventorySnapshot` in a file, of which at most one chunk is in memory."""

    def __init__(self, file: "_File", on_demand: Rest | None = None) -> None:
        """Take ownership of the file. It lacks the kinds that are read on demand."""
        self._file, self._on_demand = file, on_demand
        notes = file.notes()
        self._known_errors = [Gap(*gap) for gap in notes["gaps"]]
        self.parts: int = notes["parts"]
        self.file: Path | None = file.path
        self._unreadable = {KINDS[kind]: why for kind, why in notes["unreadable"].items()}
        self._broken = [
            UnreadableRecord(KINDS[kind], id_, why, None if owners is None else tuple(owners))
            for kind, id_, why, owners in notes.get("broken", ())  # a file of an older version has none
        ]

    @property
    def gaps(self) -> Sequence[Gap]:
        """All failed calls. Reading it waits for what is being read on demand."""
        return [*self._known_errors, *(self._on_demand.wait().gaps if self._on_demand else ())]

    @property
    def resources(self) -> Mapping[str, int]:
        """The number of resources by kind."""
        counts = self._file.counts()
        return {kind.KIND: counts[kind.KIND] for kind in RESOURCE_KINDS if counts[kind.KIND]}

    def fleet(self, part: int) -> Fleet:
        """Return the records of a chunk, counted from 1.

        Raises:
            ValueError: There is no such chunk.
        """
        if not 1 <= part <= self.parts:
            raise ValueError(f"there is no part {part} of {self.parts}")
        return Fleet(self._file.part(part), self._unreadable, self._on_demand, self._broken)

    def __enter__(self) -> Self:
        """Return the snapshot. The file exists already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file. Delete it if this process created it."""
        self._file.close()


def open_snapshot(path: Path, on_demand: Rest | None = None) -> InventorySnapshot:
    """Open the snapshot that another process stored in a file. Closing it does not delete the file.

    `on_demand` reads the kinds that are not in the file.

    Raises:
        SnapshotError: The file is not a snapshot, or a version with other record types wrote it.
    """
    file = _File(path)
    with ExitStack() as unless_good:
        unless_good.callback(file.close)
        if file.notes().get("records") != _records_version():
            raise SnapshotError(f"{path} was written by another version")
        snapshot = FileSnapshot(file, on_demand)
        unless_good.pop_all()
    return snapshot


def discard_left_behind() -> None:
    """Delete the snapshot files of processes that were killed.

    Call it only where no other process can have a snapshot, because its file is deleted too.
    """
    for file in [*Path(tempfile.gettempdir()).glob("slackwater-*/stock.sqlite")]:
        shutil.rmtree(file.parent, ignore_errors=True)  # a file that stays takes up space; a full disk is reported


class _File:
    """Records in an SQLite file. Thread-safe.

    Raises:
        SnapshotError: The file cannot be read or written. Every method raises it.
    """

    def __init__(self, path: Path, folder: tempfile.TemporaryDirectory[str] | None = None) -> None:
        """Open an existing file. With its `folder`, closing the file deletes it."""
        self.path = path
        self._folder = folder
        self._lock = Lock()
        self._merged_groups = _MergedGroups()
        with self._alone():
            where = f"{path.absolute().as_uri()}?mode=rw"
            self._db = sqlite3.connect(where, uri=True, check_same_thread=False, isolation_level=None)
            self._db.create_function("scattered", 1, lambda home: crc32(home.encode()), deterministic=True)

    @classmethod
    def new(cls) -> "_File":
        """Create an empty file in a temporary folder."""
        with ExitStack() as unless_good:
            folder = tempfile.TemporaryDirectory(prefix="slackwater-")
            unless_good.callback(folder.cleanup)
            path = Path(folder.name) / "stock.sqlite"
            path.touch()
            file = cls(path, folder)
            unless_good.callback(file._db.close)
            with file._alone():
                file._db.executescript(SCHEMA)
            file.note(records=_records_version())
            unless_good.pop_all()
        return file

    def add(self, records: Iterable[Record]) -> None:
        """Add records. A record replaces an earlier one of the same kind and id."""
        rows = []
        for record in records:
            if isinstance(record, Volume):
                self._merged_groups.join([attachment.instance_id for attachment in record.attachments])
            rows.append((record.KIND, record.id, _home(record), pickle.dumps(record, pickle.HIGHEST_PROTOCOL)))
        self._write(
            "INSERT INTO records (kind, id, home, record) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (kind, id) DO UPDATE SET home = excluded.home, record = excluded.record",
            rows,
        )

    def all(self, kind: type[Record]) -> Iterator[Record]:
        """Yield the records of a kind, in the order in which they were added. Reads `BATCH` of them at a time."""
        last, some = 0, "SELECT place, record FROM records WHERE kind = ? AND place > ? ORDER BY place LIMIT ?"
        while rows := self._read(some, kind.KIND, last, BATCH):
            yield from (_load(record) for _, record in rows)
            last = rows[-1][0]

    def get(self, kind: type[Record], id: str) -> Record | None:
        """Return one record, or None."""
        rows = self._read("SELECT record FROM records WHERE kind = ? AND id = ?", kind.KIND, id)
        return _load(rows[0][0]) if rows else None

    def counts(self) -> Counter[str]:
        """Return the number of records by kind."""
        return Counter(dict(self._read("SELECT kind, count(*) FROM records GROUP BY kind")))

    def divide(self, part_records: int) -> None:
        """Assign each resource group to a chunk. The chunks have about the same size, and none is empty."""
        with self._alone():
            self._db.executescript(DIVIDE)
        describe_others = (AttachmentEvent, IdleRecommendation, VolumeRecommendation)
        self._write(TO_THE_VOLUMES, [(Volume.KIND, kind.KIND) for kind in describe_others])
        self._write("UPDATE records SET home = ? WHERE home = ?", self._merged_groups.moves())
        ((total,),) = self._read("SELECT count(*) FROM records WHERE home IS NOT NULL")
        parts = -(-total // part_records)
        part, before, due = 0, 0, 0
        for homes in self._some(RESOURCE_GROUPS):
            rows = []
            for home, count in homes:
                if before >= due:
                    part += 1
                    due = -(-(before * parts // total + 1) * total // parts)
                rows.append((home, part))
                before += count
            self._write("INSERT INTO homes VALUES (?, ?)", rows)
        self.note(parts=max(part, 1))

    def part(self, part: int) -> Iterator[Record]:
        """Yield the records of a chunk, in the order in which they were added."""
        for (place,) in self._read(OF_A_PART, part):
            yield _load(self._read("SELECT record FROM records WHERE place = ?", place)[0][0])

    def note(self, **values: object) -> None:
        """Store facts about the snapshot, by name."""
        self._write("INSERT INTO notes VALUES (?, ?)", [(name, json.dumps(value)) for name, value in values.items()])

    def notes(self) -> dict[str, Any]:
        """Return all stored facts about the snapshot."""
        return {name: json.loads(value) for name, value in self._read("SELECT name, value FROM notes")}

    def close(self) -> None:
        """Close the file, and delete its temporary folder if there is one."""
        with self._lock:
            self._db.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._alone():
            return self._db.execute(query, values).fetchall()

    def _some(self, query: str) -> Iterator[list[Any]]:
        with self._alone():
            cursor = self._db.execute(query)
        while True:
            with self._alone():
                rows = cursor.fetchmany(BATCH)
            if not rows:
                return
            yield rows

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._alone():
            self._db.execute("BEGIN")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            raise SnapshotError(f"the inventory cannot be kept in {self.path}: {error}") from error


class _MergedGroups:
    """Resource groups that are merged because they share a volume."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def join(self, homes: Sequence[str]) -> None:
        """Merge these groups."""
        for home in homes[1:]:
            one, other = sorted((self._first(homes[0]), self._first(home)))
            if one != other:
                self._of[other] = one

    def moves(self) -> Iterator[tuple[str, str]]:
        """Yield (new group, old group) for each group that was merged into another."""
        return ((self._first(home), home) for home in [*self._of])

    def _first(self, home: str) -> str:
        while home in self._of:
            home = self._of[home]
        return home


def _home(record: Record) -> str | None:
    """Return the resource group that the record itself names; None if the record belongs to every chunk.

    A record that describes a volume gets the volume's group later, in `_File.divide`.

    Raises:
        TypeError: The kind is not handled here.
    """
    match record:
        case InstanceType() | OptimizerEnrollment():
            return None
        case Resource():
            return record.resource_group
        case AgentMetric():
            return record.instance_id
        case EfsMountTarget():
            return record.file_system_id
        case AttachmentEvent() | EfsLifecycle() | EfsReplication() | IdleRecommendation() | VolumeRecommendation():
            return record.id  # the id of the resource that it describes
        case _:
            raise TypeError(f"{type(record).__name__} has no household: see aws/inventory/snapshot.py")


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in LOADABLE:
            raise SnapshotError(f"{module}.{name} is no part of a record")
        return super().find_class(module, name)


def _load(record: bytes) -> Record:
    loaded = _Unpickler(io.BytesIO(record)).load()
    if not isinstance(loaded, Record):
        raise SnapshotError(f"{type(loaded).__name__} is no record")
    return loaded


@cache
def _records_version() -> str:
    """Return a hash of all record types with their fields and the fields' types.

    Records are unpickled field by field and nothing validates them, so another version must not read them.
    """
    named = sorted(
        (name, [(one.name, str(one.type)) for one in fields(kind)])
        for name, kind in vars(resources).items()
        if is_dataclass(kind)
    )
    return sha256(json.dumps(named).encode()).hexdigest()
