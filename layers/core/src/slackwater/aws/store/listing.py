"""Lists of the table's items, page by page, with cursors that are good for one question only."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.aws.store.table import INDEXES, Table, item, key_of
from slackwater.model.listing import BadCursorError, Page

MAX_READS: Final = 20
"""Pages of the index behind one page of a list: enough for 20,000 entries that a filter leaves out."""

FILTERED: Final = 1_000
"""Entries that are read at once where a filter may leave most of them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list: the part of an index under one `listing`, span after span of its sort key (from, to), narrowed down.

    `equal` and `least` are attributes with the value, or the least value, that they must have.
    """

    index: str
    listing: str
    spans: tuple[tuple[str, str], ...]
    descending: bool
    equal: Mapping[str, str] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """Behind an entry, or (both texts empty) before the first one of a span."""

    span: int
    pk: str = ""
    sort: str = ""


def page[T](
    table: Table, listed: Listed, limit: int, cursor: str | None, load: Callable[[Iterable[str]], dict[str, T]]
) -> Page[T]:
    """A page of what `load` gives for the entries' `pk`; it leaves out what does not fit any more.

    A page may be short, where a filter leaves out nearly everything, and still have a cursor.

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
    """The entries that come next, and where it goes on; None is the end."""
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
