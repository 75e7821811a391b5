"""Reads lists of the table's items page by page. A cursor is valid only for the list that returned it."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.aws.store.table import INDEXES, Table, item, key_of
from slackwater.model.listing import BadCursorError, Page

MAX_READS: Final = 20
"""Maximum number of index pages to read for one page of a list: enough to skip 20,000 filtered entries."""

FILTERED_READ_SIZE: Final = 1_000
"""How many entries to read at once from a list with a filter, which may exclude most of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexQuery:
    """A list: the entries of an index with one `listing`, in inclusive ranges of the sort key (from, to), filtered.

    `equal` maps attributes to the value that they must have, and `least` to the minimum.
    """

    index: str
    listing: str
    spans: tuple[tuple[str, str], ...]
    descending: bool
    equal: Mapping[str, str] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Position:
    """A position after an entry or, if `pk` and `sort` are empty, before the first entry of a span."""

    span: int
    pk: str = ""
    sort: str = ""


def page[T](
    table: Table, listed: IndexQuery, limit: int, cursor: str | None, load: Callable[[Iterable[str]], dict[str, T]]
) -> Page[T]:
    """Return a page of what `load` returns for each entry's `pk`. `load` omits items that no longer match.

    If a filter excludes nearly everything, a page can be short and still have a cursor.

    Raises:
        BadCursorError: The cursor is not valid for this list.
    """
    position: _Position | None = _position(listed, cursor) if cursor is not None else _Position(0)
    found: list[tuple[_Position, T]] = []
    for _ in range(MAX_READS):
        if position is None or len(found) > limit:
            break
        positions, position = _read(table, listed, position, limit + 1 - len(found))
        loaded = load(one.pk for one in positions)
        found += [(one, loaded.pop(one.pk)) for one in positions if one.pk in loaded]
    if len(found) > limit:  # one more than asked for: there is another page
        position = found[limit - 1][0]
    return Page(items=tuple(one for _, one in found[:limit]), cursor=_cursor(listed, position) if position else None)


def _read(
    table: Table, listed: IndexQuery, position: _Position, limit: int
) -> tuple[list[_Position], _Position | None]:
    """Return the next entries, and the position to continue from (None at the end)."""
    _, sort = INDEXES[listed.index]
    answer = table.query(**_query_arguments(listed, position, limit))
    positions = [_Position(position.span, entry["pk"]["S"], entry[sort]["S"]) for entry in answer["Items"]]
    last = answer.get("LastEvaluatedKey")
    if len(positions) > limit:
        return positions[:limit], positions[limit - 1]
    if last:
        return positions, _Position(position.span, last["pk"]["S"], last[sort]["S"])
    return positions, _Position(position.span + 1) if position.span + 1 < len(listed.spans) else None


def _query_arguments(listed: IndexQuery, position: _Position, limit: int) -> dict[str, Any]:
    hash_, sort = INDEXES[listed.index]
    low, high = listed.spans[position.span]
    filters = [f"#{name} = :{name}" for name in listed.equal] + [f"#{name} >= :{name}" for name in listed.least]
    values = item(listing=listed.listing, low=low, high=high, **listed.equal, **listed.least)
    arguments: dict[str, Any] = {
        "IndexName": listed.index,
        "KeyConditionExpression": f"#{hash_} = :listing AND #{sort} BETWEEN :low AND :high",
        "ExpressionAttributeNames": {f"#{name}": name for name in (hash_, sort, *listed.equal, *listed.least)},
        "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
        "ScanIndexForward": not listed.descending,
        "Limit": FILTERED_READ_SIZE if filters else limit,
    }
    if filters:
        arguments["FilterExpression"] = " AND ".join(filters)
    if position.pk:
        arguments["ExclusiveStartKey"] = key_of(position.pk) | item(**{hash_: listed.listing, sort: position.sort})
    return arguments


def _cursor(listed: IndexQuery, position: _Position) -> str:
    position_text = f"{position.span}\n{position.pk}\n{position.sort}"
    of_list = f"Listed{str(listed).removeprefix(type(listed).__name__)}"  # an old name: keeps old cursors valid
    checksum = hashlib.sha256(f"{of_list}\n{position_text}".encode()).hexdigest()[:16]
    return urlsafe_b64encode(f"{checksum}\n{position_text}".encode()).decode().rstrip("=")


def _position(listed: IndexQuery, cursor: str) -> _Position:
    try:
        _, span, pk, sort = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("\n")
        position = _Position(int(span), pk, sort)
        low, high = dict(enumerate(listed.spans))[position.span]
    except (ValueError, KeyError) as error:
        raise BadCursorError from error
    if cursor != _cursor(listed, position) or not (low <= sort <= high if pk else sort == ""):
        raise BadCursorError
    return position
