"""The format numbers of stored documents: items of the table and objects of the bucket.

A document without a number has format 1: nothing had a number before. Readers accept the current format of a kind and the
previous one. A kind gets the next number when a reader of the previous format could take a new document for something else. A
new field with a default that means what its absence meant needs no new number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMAT: Final = "format"
"""The name of an item's attribute, or of an object's metadata, that has the number."""

FIRST: Final = 1

CURRENT: Final[Mapping[str, int]] = {"CLEANUP": 2}
"""By kind: the first part of an item's sort key, or of an object's key. Kinds that are not here have format 1.

Clean-ups, 2: lists that a record has no room for are cut short in it, and kept whole in objects of the bucket.
"""


def current(kind: str) -> int:
    """The format in which documents of a kind are written."""
    return CURRENT.get(kind, FIRST)


def refusal(kind: str, name: str, found: str | None) -> str | None:
    """Why a document must not be read, and the remedy; None if it may be. `found` is its number, None if it has none."""
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
