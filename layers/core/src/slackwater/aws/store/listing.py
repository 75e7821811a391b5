"""Reads lists of the table's items page by page. A cursor is valid only for the list that returned it."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.aws.store.table import INDEXES, Table, item, key_of
from slackwater.model.listing import BadCursorError, Page

MAX_READS: Final = 20
"""The most index pages to read for one page of a list: enough to skip 20,000 filtered entries."""

FILTERED: Final = 1_000
"""How many entries to read at once from a list with a filter, which may exclude most of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
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
class _Place:
    """A position after an entry or, if `pk` and `sort` are empty, before the first entry of a span."""

    span: int
    pk: str = ""
    sort: str = ""


def page[T](
    table: Table, listed: Listed, limit: int, cursor: str | None, load: Callable[[Iterable[str]], dict[str, T]]
) -> Page[T]:
    """Return a page of what `load` returns for each entry's `pk`. `load` omits items that no longer match.

    If a filter excludes nearly everything, a page can be short and still have a cursor.

    Raises:
        BadCursorError: the cursor is not one for this list.
    """
    place: _Place | None = _place(listed, cursor) if cursor is not None else _Place(0)
    found: list[tuple[_Place, T]] = []
    for _ in range(MAX_READS):
        if place is None or len(found) > limit:
            break
        places, place = _read(table, listed, place, limit + 1 - len(found))
        loaded = load(one.pk for one in places)
        found += [(one, loaded.pop(one.pk)) for one in places if one.pk in loaded]
    if len(found) > limit:  # one more than asked for: there is another page
        place = found[limit - 1][0]
    return Page(items=tuple(one for _, one in found[:limit]), cursor=_cursor(listed, place) if place else None)


def _read(table: Table, listed: Listed, place: _Place, most: int) -> tuple[list[_Place], _Place | None]:
    """Return the next entries, and the position to continue from (None at the end)."""
    _, sort = INDEXES[listed.index]
    answer = table.query(**_question(listed, place, most))
    places = [_Place(place.span, entry["pk"]["S"], entry[sort]["S"]) for entry in answer["Items"]]
    last = answer.get("LastEvaluatedKey")
    if len(places) > most:
        return places[:most], places[most - 1]
    if last:
        return places, _Place(place.span, last["pk"]["S"], last[sort]["S"])
    return places, _Place(place.span + 1) if place.span + 1 < len(listed.spans) else None


def _question(listed: Listed, place: _Place, most: int) -> dict[str, Any]:
    hash_, sort = INDEXES[listed.index]
    low, high = listed.spans[place.span]
    filters = [f"#{name} = :{name}" for name in listed.equal] + [f"#{name} >= :{name}" for name in listed.least]
    values = item(listing=listed.listing, low=low, high=high, **listed.equal, **listed.least)
    question: dict[str, Any] = {
        "IndexName": listed.index,
        "KeyConditionExpression": f"#{hash_} = :listing AND #{sort} BETWEEN :low AND :high",
        "ExpressionAttributeNames": {f"#{name}": name for name in (hash_, sort, *listed.equal, *listed.least)},
        "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
        "ScanIndexForward": not listed.descending,
        "Limit": FILTERED if filters else most,
    }
    if filters:
        question["FilterExpression"] = " AND ".join(filters)
    if place.pk:
        question["ExclusiveStartKey"] = key_of(place.pk) | item(**{hash_: listed.listing, sort: place.sort})
    return question


def _cursor(listed: Listed, place: _Place) -> str:
    where = f"{place.span}\n{place.pk}\n{place.sort}"
    seal = hashlib.sha256(f"{listed}\n{where}".encode()).hexdigest()[:16]
    return urlsafe_b64encode(f"{seal}\n{where}".encode()).decode().rstrip("=")


def _place(listed: Listed, cursor: str) -> _Place:
    try:
        _, span, pk, sort = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("\n")
        place = _Place(int(span), pk, sort)
        low, high = dict(enumerate(listed.spans))[place.span]
    except (ValueError, KeyError) as error:
        raise BadCursorError from error
    if cursor != _cursor(listed, place) or not (low <= sort <= high if pk else sort == ""):
        raise BadCursorError
    return place
