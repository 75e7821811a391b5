"""Format numbers of stored documents: items of the table and objects of the bucket.

A document without a number has format 1, because the first documents had none. Readers accept the current format of a
kind and the previous one. A kind gets the next number if a reader of the previous format could misread a new document.
A new field needs no new number if a missing field means the same as its default.
"""

from collections.abc import Mapping
from typing import Final

FORMAT: Final = "format"
"""The name of the item attribute or object metadata that has the format number."""

FIRST: Final = 1

CURRENT: Final[Mapping[str, int]] = {"CLEANUP": 2}
"""The current format by kind. A kind is the first part of an item's sort key or of an object's key. Other kinds have
format 1.

Format 2 of clean-ups: lists that do not fit into a record are truncated there, and complete in objects of the bucket.
"""


def current(kind: str) -> int:
    """Return the format in which documents of a kind are written."""
    return CURRENT.get(kind, FIRST)


def refusal(kind: str, name: str, found: str | None) -> str | None:
    """Return why a document must not be read and what to do; None if it may be read.

    Args:
        kind: The kind of document.
        name: What to call the document in the message.
        found: Its format number; None if it has none.
    """
    newest = current(kind)
    if found is None:
        found = str(FIRST)
    if found in {str(newest), str(max(newest - 1, FIRST))}:
        return None
    reads = f"{newest - 1} and {newest}" if newest > FIRST else f"{FIRST}"
    if found.isdecimal() and int(found) < newest:
        remedy = "an older version wrote it: deploy the version before this one, which reads it"
    else:
        remedy = "a newer version wrote it: deploy that version, or a later one"
    return f"{name} has format {found}, and this version of Slackwater reads {reads}; {remedy}"
