"""Reads AWS's answers record by record: one that cannot be read costs no other.

EC2 is eventually consistent (Amazon EC2 API Reference, "Eventual consistency"): a volume may be `in-use` before its
attachment shows. So what cannot be used is read once more, by its id, and only then reported as unreadable.
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
"""What a record raises that is not as AWS documents it."""

SETTLING_S: Final = 2.0
"""How long EC2 gets to become consistent before a record is read again."""

MOST_AGAIN: Final = 100
"""Records of a kind that are read again. If more cannot be read, AWS answers something new, and will again."""

FILTER_VALUES: Final = 200
"""Values that a filter of EC2 takes ("Filtering your resources", Amazon EC2 User Guide)."""

type ReadRecord[R: Record] = R | UnreadableRecord
type Again = Callable[[Sequence[str]], Iterable[Any]]
"""Reads items by their ids; an item that no longer exists is left out."""


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
    """Read each item by itself.

    Args:
        kind: What the items are records of.
        items: One of AWS's lists. If it breaks off, what came before is yielded first.
        read: Makes a record of an item; None for one that is being deleted.
        id_of: An item's id, or an empty string.
        owners_of: The ids of the resources that an item belongs to, or None if the item does not say.
        again: Reads items again by their ids; without it nothing is read again.
        says_gone: Whether AWS says of an id that it does not exist. Otherwise an item that is left out the second time
            stays unreadable: EC2's filters are eventually consistent, too.

    Yields:
        The records, each checked against its types; then those that could not be read.
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
        except Exception:  # noqa: BLE001 -- the first answer's reason is reported
            second = None
        if second is not None:
            answered = ids if says_gone else second
            broken = [one for one in broken if one.id not in answered]
            yield from _readable(second.values(), broken)
    yield from broken
    if failure:
        raise failure


def _readable[R: Record](ones: Iterable[ReadRecord[R] | None], broken: list[UnreadableRecord]) -> Iterator[R]:
    """Yield the records, and append to `broken` what could not be read."""
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
    """What an unreadable item says; None if it does not say even that."""
    try:
        return of(item)
    except BROKEN:
        return None


def named(name: str) -> Callable[[Any], str]:
    """The id of an item under one of AWS's names; an empty string where it has none."""

    def of(item: Any) -> str:
        found = item.get(name)
        return found if isinstance(found, str) else ""

    return of


def after_pause(session: AwsSession, again: Again) -> Again:
    """The same after a pause in which AWS becomes consistent. A simulated account already is."""

    def after_a_pause(ids: Sequence[str]) -> Iterable[Any]:
        if not session.simulated:
            time.sleep(SETTLING_S)
        return again(ids)

    return after_a_pause


def one_by_one(ask: Callable[[str], Iterable[Any]], not_found: str) -> Again:
    """Read items by an API that takes ids, and answers `not_found` for one that does not exist."""

    def again(ids: Sequence[str]) -> Iterator[Any]:
        for id_ in ids:
            try:
                yield from ask(id_)
            except ClientError as error:
                if code_of(error) != not_found:
                    raise

    return again


def by_filter(ask: Callable[[list[dict[str, Any]]], Iterable[Any]], name: str) -> Again:
    """Read items by a filter of EC2, where an id that does not exist is no error."""

    def again(ids: Sequence[str]) -> Iterator[Any]:
        for some in batched(ids, FILTER_VALUES):
            yield from ask([{"Name": name, "Values": [*some]}])

    return again
