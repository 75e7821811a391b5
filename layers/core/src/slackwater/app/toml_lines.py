"""On which line of a TOML text a key is: tomllib does not say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

type KeyPath = tuple[str, ...]
"""`("detectors", "efs-idle", "quiet_days")`."""


class KeyLines:
    """The line of each section and key of a valid TOML text, however it is written (dotted, quoted, inline)."""

    def __init__(self, text: str) -> None:
        """Cut `text` into statements: the fewest lines that tomllib accepts by themselves."""
        self._lines: dict[KeyPath, int] = {}
        section: KeyPath = ()
        start, statement = 1, ""
        for number, line in enumerate(text.split("\n"), start=1):
            start, statement = (start, f"{statement}\n{line}") if statement else (number, line)
            try:
                parsed = tomllib.loads(statement)
            except tomllib.TOMLDecodeError:
                continue
            paths = list(_paths(parsed))
            is_header = statement.lstrip().startswith("[")
            for path in paths:
                self._lines.setdefault(path if is_header else (*section, *path), start)
            section = paths[-1] if is_header else section
            statement = ""

    def __getitem__(self, path: KeyPath) -> int | None:
        """The line of the key, or of the nearest section around it."""
        return next((self._lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._lines), None)


def _paths(parsed: Mapping[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    for key, value in parsed.items():
        yield (*above, key)
        inner = value[-1] if isinstance(value, list) and value else value
        if isinstance(inner, Mapping):
            yield from _paths(inner, (*above, key))
