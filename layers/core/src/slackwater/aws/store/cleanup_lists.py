"""Stores the long lists of a clean-up in the bucket when they do not fit into its record.

An EFS file system has up to 10,000 access points, but a DynamoDB item is limited to 400 KB. If one list is longer than
`MOST_BYTES`, all lists are truncated in the record. Their complete texts are stored as objects, each under the hash of
its text. The objects are stored before the record that names them. An object that no record names is harmless.

The version that writes format 1 can read such a record, but cannot act on it. It sees sub-resources that the record
does not list, and cancels the clean-up. An undo does not find the data that it needs, so it fails before it creates
anything.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from slackwater.model import object_keys
from slackwater.model.cleanup import Cleanup, Kept, Removal, SubResource
from slackwater.ports.errors import AwsError, BrokenAnswerError

MOST_BYTES: Final = 32 * 1024
"""Maximum size of one list in a record. Five lists of this size are far below the 400 KB of an item."""
SHOWN: Final = 10
"""Number of entries in a truncated list: the first ones, and the last, which is the resource itself in the list of
sub-resources. A list with no more entries is not truncated.
"""

KEPT: Final = "slackwater:kept"
"""The key under which a record names the objects. It is in `recorded`, which an older version keeps unchanged."""


@dataclass(frozen=True, slots=True)
class _List:
    """How to read one list of a clean-up, replace it, and truncate it."""

    adapter: TypeAdapter[Any]
    get: Callable[[Cleanup], Any]
    put: Callable[[Cleanup, Any], Cleanup]
    cut: Callable[[Any, Kept], Any]


def _ends(entries: tuple[Any, ...], _: Kept) -> tuple[Any, ...]:
    return (*entries[: SHOWN - 1], entries[-1])


def _kind(recorded: Mapping[str, Any], _: Kept) -> Mapping[str, Any] | None:
    """Return the type of the FSx file system, which decides whether an undo is possible; None for other resources."""
    kind = recorded.get("system", {}).get("FileSystemType")
    return {"system": {"FileSystemType": kind}} if kind else None


def _shortened(differences: tuple[str, ...], kept: Kept) -> tuple[str, ...]:
    return (*differences[:SHOWN], f"{len(differences) - SHOWN:,} more: the bucket has all of them at {kept.key}")


def _with_differences(cleanup: Cleanup, differences: tuple[str, ...]) -> Cleanup:
    return (
        replace(cleanup, restored=replace(cleanup.restored, differences=differences)) if cleanup.restored else cleanup
    )


LISTS: Final[Mapping[str, _List]] = {
    "parts": _List(
        TypeAdapter(tuple[SubResource, ...]), lambda one: one.parts, lambda one, parts: replace(one, parts=parts), _ends
    ),
    "children": _List(
        TypeAdapter(tuple[str, ...]), lambda one: one.children, lambda one, ids: replace(one, children=ids), _ends
    ),
    "recorded": _List(
        TypeAdapter(Mapping[str, Any]),
        lambda one: one.recorded or {},
        lambda one, recorded: replace(one, recorded=recorded),
        _kind,
    ),
    "removals": _List(
        TypeAdapter(tuple[Removal, ...]), lambda one: one.removals, lambda one, all_: replace(one, removals=all_), _ends
    ),
    "differences": _List(
        TypeAdapter(tuple[str, ...]),
        lambda one: one.restored.differences if one.restored else (),
        _with_differences,
        _shortened,
    ),
}
"""The lists, by name. To store another list outside the record, add an entry here. Nothing else is needed."""

_ALL_KEPT: Final = TypeAdapter(dict[str, Kept])


def shortened(cleanup: Cleanup) -> tuple[Cleanup, dict[str, str]]:
    """Return the clean-up with lists that fit into its record, and the texts of the objects to store first, by key."""
    if cleanup.kept:
        return cleanup, {}
    texts = {name: one.adapter.dump_json(one.get(cleanup)).decode() for name, one in LISTS.items()}
    if all(len(text.encode()) <= MOST_BYTES for text in texts.values()):
        return cleanup, {}
    short, objects = cleanup, dict[str, str]()
    for name in LISTS:
        entries = LISTS[name].get(cleanup)
        if len(entries) <= SHOWN and name != "recorded":  # `recorded` also names the objects
            continue
        kept = Kept(key=object_keys.cleanup_list(cleanup.finding_id, name, _hash(texts[name])), entries=len(entries))
        objects[kept.key] = texts[name]
        short = LISTS[name].put(short, LISTS[name].cut(entries, kept))
        short = replace(short, kept={**short.kept, name: kept})
    return short, objects


def lengthened(cleanup: Cleanup, read: Callable[[str], str | None]) -> Cleanup:
    """Return the clean-up with complete lists, from its record and the objects that the record names.

    Raises:
        AwsError: An object is missing, or is not what was stored.
    """
    whole = cleanup
    for name, kept in cleanup.kept.items():
        text = read(kept.key)
        if text is None:
            raise AwsError(
                f"the {name} of the clean-up of finding {cleanup.finding_id} are missing: restore the object "
                f"{kept.key} of the"
                " bucket from its versions"
            )
        try:
            if _hash(text) not in kept.key:
                raise BrokenAnswerError(f"the object {kept.key} is not as it was stored: restore its first version")
            whole = LISTS[name].put(whole, LISTS[name].adapter.validate_json(text))
        except (KeyError, ValidationError) as error:
            raise BrokenAnswerError(f"the object {kept.key} cannot be read: {error}") from error
    return replace(whole, kept={})


def packed(cleanup: Cleanup) -> Cleanup:
    """Return a truncated clean-up as its record stores it, with `kept` inside `recorded`."""
    if not cleanup.kept:
        return cleanup
    return replace(
        cleanup, recorded={**(cleanup.recorded or {}), KEPT: _ALL_KEPT.dump_python(dict(cleanup.kept))}, kept={}
    )


def unpacked(cleanup: Cleanup) -> Cleanup:
    """Return the clean-up with `kept` taken from `recorded`: the reverse of `packed`.

    Raises:
        BrokenAnswerError: The names of the objects cannot be read.
    """
    if not cleanup.recorded or KEPT not in cleanup.recorded:
        return cleanup
    try:
        kept = _ALL_KEPT.validate_python(cleanup.recorded[KEPT])
    except ValidationError as error:
        raise BrokenAnswerError(f"the clean-up of finding {cleanup.finding_id} cannot be read: {error}") from error
    recorded = {name: value for name, value in cleanup.recorded.items() if name != KEPT}
    return replace(cleanup, recorded=recorded or None, kept=kept)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
