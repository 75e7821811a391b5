"""Assembles a scan document on disk, so that only a part of it is in memory, however many findings there are."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import batched, chain
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, Self, TextIO, cast, overload
from zlib import compress, decompress

from pydantic_core import from_json

from slackwater.views.scan.document import FindingDocument, ScanDocument, UnknownDocument, UnlistedDocument
from slackwater.views.scan.merge import Merger, rank
from slackwater.views.scan.to_json import dump

SCHEMA: Final = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE findings (severity INTEGER, cents INTEGER, detector TEXT, id TEXT, place INTEGER, text BLOB);
    CREATE INDEX ranked ON findings (severity, cents, detector, id, place);
    CREATE TABLE lists (list TEXT, place INTEGER, count INTEGER, text BLOB);
    CREATE INDEX placed ON lists (list, place);
"""
"""Texts are stored as in the document, but without its indentation, and compressed."""

RANKED: Final = "SELECT text FROM findings ORDER BY severity, cents, detector, id, place, rowid LIMIT ?"
PLACED: Final = "SELECT text FROM lists WHERE list = ? ORDER BY place, rowid LIMIT ?"
ALL: Final = -1

CHUNK: Final = 500
"""How many inconclusive questions or suppressed findings are stored as one text."""

LEVEL: Final = 1
"""The compression level, the lowest: it reduces texts to a fifth."""

type ListName = Literal["findings", "unknown", "unlisted"]


class ScanFileError(Exception):
    """The disk has no space for the document."""


class ScanFile:
    """Collects the chunks of a scan document, and returns the whole document. A context manager: on exit, it deletes
    the file.

    Raises:
        ScanFileError: The disk has no space. Every method may raise it.
    """

    def __init__(self) -> None:
        """Create an empty file in a temporary folder."""
        self._end = ExitStack()
        folder = self._end.enter_context(tempfile.TemporaryDirectory(prefix="slackwater-"))
        self._path = Path(folder) / "spool.sqlite"
        self._db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._end.callback(self._db.close)
        self._db.executescript(SCHEMA)
        self._lock = Lock()
        self._merger = Merger()

    def __enter__(self) -> Self:
        """Return the file, which exists already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Delete the file, even if another thread is still adding to it."""
        with self._lock:
            self._end.close()

    def add(self, part: ScanDocument, place: int = 0) -> None:
        """Add a chunk. Findings are ranked; other lists are ordered by `place`, then by arrival. Thread-safe."""
        with self._lock:
            self._merger.add(part, place)
            self._write(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)", (_row(one, place) for one in part["findings"])
            )
            questions: dict[ListName, Sequence[object]] = {"unknown": part["unknown"], "unlisted": part["unlisted"]}
            for name, some in questions.items():
                chunks = ((name, place, len(chunk), _compressed(chunk)) for chunk in batched(some, CHUNK))
                self._write("INSERT INTO lists VALUES (?, ?, ?, ?)", chunks)

    def head(self) -> ScanDocument:
        """Return the document without findings, inconclusive questions and suppressed findings. Its totals count all.

        Raises:
            ValueError: No chunk was added.
        """
        return self._merger.head()

    def findings(self, most: int | None = None) -> Iterator[FindingDocument]:
        """Yield the findings by rank, or only the first `most`."""
        return chain.from_iterable(map(_read, self._texts(RANKED, ALL if most is None else most)))

    def unknown(self) -> Iterator[UnknownDocument]:
        """Yield the inconclusive questions."""
        return chain.from_iterable(map(_read, self._texts(PLACED, "unknown", ALL)))

    def unlisted(self) -> Iterator[UnlistedDocument]:
        """Yield the suppressed findings."""
        return chain.from_iterable(map(_read, self._texts(PLACED, "unlisted", ALL)))

    def document(self, most: int | None = None) -> ScanDocument:
        """Return the document for a view, with at most `most` findings. Its totals count all.

        Its other lists are read from disk on each iteration, and so are the findings if `most` is None. So the document
        is valid only as long as the file exists.
        """
        doc = self.head()
        doc["findings"] = (
            cast("list[FindingDocument]", _OnDisk(self, "findings")) if most is None else [*self.findings(most)]
        )
        doc["unknown"] = cast("list[UnknownDocument]", _OnDisk(self, "unknown"))
        doc["unlisted"] = cast("list[UnlistedDocument]", _OnDisk(self, "unlisted"))
        return doc

    def count(self, name: ListName) -> int:
        """Return the length of a list."""
        counted = "SELECT count(*) FROM findings", "SELECT coalesce(sum(count), 0) FROM lists WHERE list = ?"
        with self._lock:
            ((count,),) = self._db.execute(counted[0]) if name == "findings" else self._db.execute(counted[1], (name,))
        return int(count)

    def chunks(self) -> Iterator[str]:
        """Yield the whole document as JSON, with the same text that `dump` returns for the merged chunks."""
        lists = {
            "findings": self._texts(RANKED, ALL),
            "unknown": self._texts(PLACED, "unknown", ALL),
            "unlisted": self._texts(PLACED, "unlisted", ALL),
        }
        before = "{"
        for key, value in self.head().items():
            yield f'{before}\n  "{key}": '
            before = ","
            if key not in lists:
                yield _indented(dump(value).rstrip("\n"), 1)
                continue
            opened = "["
            for text in lists[key]:
                yield f"{opened}\n    {_indented(text, 2)}"
                opened = ","
            yield "[]" if opened == "[" else "\n  ]"
        yield "\n}\n"

    def write(self, out: TextIO | Path) -> None:
        """Write the whole document as JSON."""
        if isinstance(out, Path):
            with out.open("w", encoding="utf-8", newline="") as file:
                file.writelines(self.chunks())
        else:
            out.writelines(self.chunks())

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._db.execute("BEGIN")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise ScanFileError(f"the scan's document cannot be kept in {self._path}: {error}") from error

    def _texts(self, query: str, *values: object) -> Iterator[str]:
        with self._lock:
            cursor = self._db.execute(query, values)
        while True:
            with self._lock:
                row = cursor.fetchone()
            if row is None:
                return
            yield decompress(row[0]).decode()


class _OnDisk(Sequence[object]):
    """A list that is read from the file on each iteration."""

    def __init__(self, scan_file: ScanFile, name: ListName) -> None:
        self._scan_file = scan_file
        self._name = name

    def __len__(self) -> int:
        return self._scan_file.count(self._name)

    def __iter__(self) -> Iterator[object]:
        every: dict[ListName, Callable[[], Iterator[object]]] = {
            "findings": self._scan_file.findings,
            "unknown": self._scan_file.unknown,
            "unlisted": self._scan_file.unlisted,
        }
        return every[self._name]()

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> list[object]: ...
    def __getitem__(self, index: int | slice) -> object:
        return [*self][index]


def _row(finding: FindingDocument, place: int) -> tuple[object, ...]:
    severity, saving, detector, id_ = rank(finding)
    return severity, int(saving.scaleb(2)), detector, id_, place, _compressed([finding])


def _compressed(values: Iterable[object]) -> bytes:
    return compress(",\n".join(dump(value).rstrip("\n") for value in values).encode(), LEVEL)


def _read(text: str) -> Any:
    return from_json(f"[{text}]")


def _indented(text: str, by: int) -> str:
    """Indent JSON by this many more levels. JSON strings contain no line breaks."""
    return text.replace("\n", f"\n{'  ' * by}")
