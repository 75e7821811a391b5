"""Reads AWS's responses record by record, so that one unreadable record does not affect the others.

EC2 is eventually consistent (Amazon EC2 API Reference, "Eventual consistency"). For example, a volume may be `in-use`
before its attachment is listed. So an unreadable record is read once more by its id. Only then is it reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from slackwater.aws.client.errors import code_of, reason
from slackwater.aws.inventory.validate import sound
from slackwater.model.fleet import UnreadableRecord
from slackwater.model.resources import Record
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

BROKEN: Final = (AwsError, ResponseParserError, LookupError, TypeError, AttributeError, ValueError, StopIteration)
"""Errors of a record whose format is not as AWS documents it."""

SETTLING_S: Final = 2.0
"""Seconds to wait for EC2 to become consistent before a record is read again."""

MOST_AGAIN: Final = 100
"""Maximum number of records of a kind to read again. If more are unreadable, AWS's format has changed, and a retry does
not help.
"""

FILTER_VALUES: Final = 200
"""Maximum number of values in an EC2 filter ("Filtering your resources", Amazon EC2 User Guide)."""

type ReadRecord[R: Record] = R | UnreadableRecord
type Again = Callable[[Sequence[str]], Iterable[Any]]
"""Reads items by their ids. The result omits items that no longer exist."""


def records[R: Record](  # noqa: PLR0913 -- keywords say how to read an item, and most readers need one or two
    kind: type[R],
    items: Iterable[Any],
    read: Callable[[Any], R | None],
    *,
    id_of: Callable[[Any], str],
    owners_of: Callable[[Any], tuple[str, ...] | None] = lambda _: (),
    again: Again | None = None,
    says_gone: bool = False,
) -> Iterator[ReadRecord[R]]:
    """Read each item independently.

    Args:
        kind: The kind of the records.
        items: One of AWS's lists. If it raises an error, the items before it are yielded first.
        read: Returns the record of an item; None for one that is being deleted.
        id_of: Returns an item's id, or an empty string.
        owners_of: Returns the ids of the resources that an item belongs to, or None if the item does not name them.
        again: Reads items again by their ids; None means that nothing is read again.
        says_gone: Whether AWS reports ids that do not exist. Otherwise an item that the second response omits stays
            unreadable, because EC2's filters are eventually consistent, too.

    Yields:
        The validated records, and then those that could not be read.
    """

    def read_one(item: Any) -> ReadRecord[R] | None:
        return _one(kind, item, read, id_of, owners_of)

    broken = list[UnreadableRecord]()
    failure: Exception | None = None
    try:
        yield from _readable(map(read_one, items), broken)
    except Exception as error:  # noqa: BLE001 -- raised below, after what was read
        failure = error
    if again and (ids := list(dict.fromkeys(one.id for one in broken if one.id))[:MOST_AGAIN]):
        try:
            second = {id_of(item): read_one(item) for item in again(ids)}
        except Exception:  # noqa: BLE001 -- the first error is reported
            second = None
        if second is not None:
            answered = ids if says_gone else second
            broken = [one for one in broken if one.id not in answered]
            yield from _readable(second.values(), broken)
    yield from broken
    if failure:
        raise failure


def _readable[R: Record](ones: Iterable[ReadRecord[R] | None], broken: list[UnreadableRecord]) -> Iterator[R]:
    """Yield the records, and append unreadable ones to `broken`."""
    for one in ones:
        if isinstance(one, UnreadableRecord):
            broken.append(one)
        elif one is not None:
            yield one


def _one[R: Record](
    kind: type[R],
    item: Any,
    read: Callable[[Any], R | None],
    id_of: Callable[[Any], str],
    owners_of: Callable[[Any], tuple[str, ...] | None],
) -> ReadRecord[R] | None:
    try:
        record = read(item)
        return record if record is None else sound(record)
    except BROKEN as error:
        return UnreadableRecord(kind, _known(id_of, item) or "", reason(error), _known(owners_of, item))


def _known[T](of: Callable[[Any], T], item: Any) -> T | None:
    """Return what an unreadable item says; None if it does not even say that."""
    try:
        return of(item)
    except BROKEN:
        return None


def named(name: str) -> Callable[[Any], str]:
    """Return a function that returns an item's id under this key, or an empty string."""

    def of(item: Any) -> str:
        found = item.get(name)
        return found if isinstance(found, str) else ""

    return of


def after_pause(session: AwsSession, again: Again) -> Again:
    """Return the same function with a pause in which AWS becomes consistent. A simulated account needs no pause."""

    def after_a_pause(ids: Sequence[str]) -> Iterable[Any]:
        if not session.simulated:
            time.sleep(SETTLING_S)
        return again(ids)

    return after_a_pause


def one_by_one(ask: Callable[[str], Iterable[Any]], not_found: str) -> Again:
    """Read items with an API that takes one id, and returns the error `not_found` for an id that does not exist."""

    def again(ids: Sequence[str]) -> Iterator[Any]:
        for id_ in ids:
            try:
                yield from ask(id_)
            except ClientError as error:
                if code_of(error) != not_found:
                    raise

    return again


def by_filter(ask: Callable[[list[dict[str, Any]]], Iterable[Any]], name: str) -> Again:
    """Read items with an EC2 filter, for which an id that does not exist is not an error."""

    def again(ids: Sequence[str]) -> Iterator[Any]:
        for some in batched(ids, FILTER_VALUES):
            yield from ask([{"Name": name, "Values": [*some]}])

    return again
