"""Counts the strings in a recording, so that its owner can check that it names nobody."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from slackwater.app.recording.file import lines

if TYPE_CHECKING:
    from pathlib import Path

PLACEHOLDER: Final = re.compile(r"(?:[a-z]{1,8}-[0-9a-f]{12}|policy-(?:key|value)-\d+|[1-9]{12})", re.IGNORECASE)


@dataclass(slots=True)
class Remaining:
    """The strings of a recording, and how often each occurs. Placeholders are counted separately."""

    size_bytes: int
    lines: int = 0
    points: int = 0
    words: Counter[str] = field(default_factory=Counter)
    placeholders: Counter[str] = field(default_factory=Counter)


def remaining(path: Path) -> Remaining:
    """Return every string in a recording.

    Raises:
        RecordingError: The file is not a recording.
    """
    found = Remaining(0)
    for line in lines(path):
        found.lines += 1
        found.points += len(line["values"]) if isinstance(line.get("values"), list) else 0
        for text in _strings({name: value for name, value in line.items() if name != "values"}):
            (found.placeholders if PLACEHOLDER.search(text) else found.words)[text] += 1
    found.size_bytes = path.stat().st_size
    return found


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, and every member's name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield name
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
