"""Reads and writes the file of a recording: compressed JSON lines, one for each item that was read.

Only its owner can read the file. The first line has the schema, and the last has the number of lines, so that a file
that was cut off is refused.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from decimal import Decimal
from functools import cache
from math import isnan, nan
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from slackwater.model import resources
from slackwater.model.resources import Record

if TYPE_CHECKING:
    from slackwater.model.metrics import Series

SCHEMA: Final = "slackwater.recording/1"
OWNER_ONLY: Final = 0o600
LEVEL: Final = 6

KINDS: Final[Mapping[str, type[Record]]] = {
    kind.KIND: kind
    for kind in vars(resources).values()
    if isinstance(kind, type) and issubclass(kind, Record) and "KIND" in vars(kind)
}


class RecordingError(Exception):
    """A file is not a recording, or this version cannot read it. The message names the file, and says what to do."""


@cache
def adapter(kind: str) -> TypeAdapter[Any]:
    """Return the adapter that converts records of a kind to JSON and back."""
    return TypeAdapter(KINDS[kind])


class RecordingWriter:
    """Writes a recording, line by line, under a temporary name until it is complete. A context manager. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Create the temporary file, readable by its owner only.

        Raises:
            OSError: The file cannot be created.
        """
        self.path = path.resolve()
        self._draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        self._raw = os.fdopen(os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb")
        self._gzip = gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=self._raw, mtime=0)
        self._lock = Lock()
        self._lines = 0

    def __enter__(self) -> Self:
        """Return the writer, which is open already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Complete the file, and give it its final name. After an error, delete the temporary file instead.

        Raises:
            RecordingError: The end of the file cannot be written.
        """
        with self._lock:
            try:
                if kind is None:
                    self._put({"end": self._lines + 1})
                    with self._writable():
                        self._gzip.close()
                        self._raw.close()
                        self._draft.replace(self.path)
            finally:
                for file in (self._gzip, self._raw):
                    with suppress(OSError):  # on a full disk, the buffers cannot be written
                        file.close()
                self._draft.unlink(missing_ok=True)

    def write(self, line: Mapping[str, Any]) -> None:
        """Write one line.

        Raises:
            RecordingError: The line cannot be written.
        """
        with self._lock:
            self._put(line)

    def _put(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=_plain, allow_nan=False)
        with self._writable():
            self._gzip.write(text.encode() + b"\n")
        self._lines += 1

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Convert an error of the disk to one that names the file."""
        try:
            yield
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror or error}") from error


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a recording, with the first line, but without the last.

    Raises:
        RecordingError: The file is not a recording, has another version, is damaged, or was cut off.
    """
    ended = False
    try:
        with gzip.open(path, "rb") as file:
            for count, text in enumerate(file, start=1):
                line = json.loads(text)
                if count == 1 and (not isinstance(line, dict) or line.get("schema") != SCHEMA):
                    raise RecordingError(
                        f"{path} is not a {SCHEMA}: record it again, with the version that you replay it with"
                    )
                if ended or not isinstance(line, dict):
                    raise RecordingError(f"{path} is damaged at line {count}: record it again")
                if "end" in line:
                    ended = line["end"] == count
                    if not ended:
                        break
                else:
                    yield line
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise RecordingError(f"{path} cannot be read as a recording: {error}") from error
    if not ended:
        raise RecordingError(f"{path} was cut off: record it again")


def values_of(series: Series) -> list[float | int | None]:
    """Return the points of a series for JSON: whole numbers as integers, and None for a missing point."""
    return [None if isnan(one) else int(one) if one.is_integer() else one for one in series.values]


def points_of(values: list[float | int | None]) -> array[float]:
    """Return the points from `values_of`, with NaN for a missing point."""
    return array("d", [nan if one is None else one for one in values])


def record_of(kind: str, value: Any) -> Record:
    """Return a record from its JSON.

    Raises:
        RecordingError: This version does not have the kind or its fields.
    """
    try:
        found = adapter(kind).validate_python(value, strict=False)
    except (KeyError, ValidationError) as error:
        raise RecordingError(f"{kind} is not recorded as this version has it") from error
    if not isinstance(found, Record):
        raise RecordingError(f"{kind} is no record")
    return found


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not recorded")
