"""Finds the line of a key in a TOML text, because tomllib does not return it."""

import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, Final

type KeyPath = tuple[str | int, ...]
"""The path of a key, such as `("slack", "routes", 0, "channel")`. Numbers are positions in a list, from 0."""

LONGEST: Final = 32
"""How many parts a path may have to get a line of its own. A policy with a longer path is invalid."""


class KeyLines:
    """The line of each section and key of a valid TOML text, in any notation (dotted, quoted, inline)."""

    def __init__(self, text: str) -> None:
        """Split `text` into statements: the shortest runs of lines that tomllib accepts by themselves."""
        self._lines: dict[KeyPath, int] = {}
        last: dict[KeyPath, int] = {}
        section: KeyPath = ()
        start, statement = 1, ""
        for number, line in enumerate(text.split("\n"), start=1):
            start, statement = (start, f"{statement}\n{line}") if statement else (number, line)
            try:
                parsed = tomllib.loads(statement)
            except (tomllib.TOMLDecodeError, RecursionError):
                continue
            paths = list(_paths(parsed))
            if statement.lstrip().startswith("["):
                section = _section(paths[-1], last)
                paths = [section[: n + 1] for n in range(len(section))]
            else:
                paths = [(*section, *path) for path in paths]
            for path in paths:
                self._lines.setdefault(path, start)
            statement = ""

    def __getitem__(self, path: KeyPath) -> int | None:
        """Return the line of the key, or of the nearest section around it."""
        return next((self._lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._lines), None)


def _section(header: KeyPath, last: dict[KeyPath, int]) -> KeyPath:
    """Return the section that a header begins: `[[slack.routes]]` is the next entry, `[slack.routes.more]` is in the
    last one.

    `last` has the position of the last entry of each list, and is updated.
    """
    is_next = header[-1] == 0
    section: KeyPath = ()
    for name in header[:-1] if is_next else header:
        section = (*section, last[section], name) if section in last else (*section, name)
    if is_next:
        last[section] = last.get(section, -1) + 1
        section = (*section, last[section])
    return section


def _paths(parsed: object, above: KeyPath = ()) -> Iterator[KeyPath]:
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(parsed, dict):
        items = parsed.items()
    elif isinstance(parsed, list):
        items = enumerate(parsed)
    for key, value in items:
        yield (*above, key)
        if len(above) < LONGEST:
            yield from _paths(value, (*above, key))
