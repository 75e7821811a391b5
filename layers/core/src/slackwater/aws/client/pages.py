"""Reads the pages of a list operation, and rejects incomplete or repeated pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from slackwater.ports.errors import AwsError, BrokenAnswerError

MAX_EMPTY: Final = 100
"""Empty pages in a row after which a list counts as endless. AWS returns a few in searches and with filters."""


type PageNews = Literal["new", "nothing", "repeated"]
"""Whether a page has new items. `nothing` is allowed for fewer than MAX_EMPTY pages in a row."""


class TokenNames(NamedTuple):
    """The names of the next-page token in a service's response and in the next request."""

    answer: str
    request: str


NEXT_TOKEN: Final = TokenNames("NextToken", "NextToken")
MARKER: Final = TokenNames("NextMarker", "Marker")
"""The names that EFS uses."""


class TooManyPagesError(AwsError):
    """A list has more pages than the caller allows."""


def pages(
    call: Callable[..., Mapping[str, Any]],
    key: str,
    *,
    tokens: TokenNames = NEXT_TOKEN,
    max_pages: int | None = None,
    watch: Callable[[Sequence[Any]], PageNews] | None = None,
    **parameters: Any,
) -> Iterator[Any]:
    """Yield every item under `key` of all pages.

    `watch` reports whether a page that has items is new. By default, two pages with the same length, first item and
    last item count as the same page.

    An empty last page is requested a second time. EC2 returns one if the page before it was full, and a lost page looks
    the same. Items that a service omits every time cannot be detected here.

    Raises:
        BrokenAnswerError: A page has no list (botocore parses a truncated body so), a page or token is repeated, or
            MAX_EMPTY pages in a row are empty.
        TooManyPagesError: There are more than `max_pages`. The items of those pages were yielded.
    """
    seen, empty = set[str](), 0
    watch = watch or _Looks()
    asked_again = False
    while True:
        page = call(**parameters)
        items, token = page.get(key), page.get(tokens.answer)
        if not isinstance(items, list):
            raise BrokenAnswerError(f"the answer holds no {key}")
        if token is not None and not isinstance(token, str):
            raise BrokenAnswerError(f"its {tokens.answer} is no text")
        if not (items or token or asked_again) and seen:
            asked_again = True
            continue
        news: PageNews = watch(items) if items and (seen or token) else "new"
        if news == "repeated":
            raise BrokenAnswerError(f"the answer repeats a page of {key}")
        yield from items
        if not token:
            return
        if len(seen) + 1 == max_pages:
            raise TooManyPagesError(f"there are more than {max_pages} pages of {key}: the rest was not read")
        if token in seen:
            raise BrokenAnswerError(f"the answer repeats its {tokens.answer}")
        empty = 0 if items and news == "new" else empty + 1
        if empty == MAX_EMPTY:
            raise BrokenAnswerError(f"the last {MAX_EMPTY} pages hold no {key}, and there is a {tokens.answer} still")
        seen.add(token)
        parameters[tokens.request] = token


class _Looks:
    """Recognizes repeated pages by a hash of each page."""

    def __init__(self) -> None:
        self._seen = set[int]()

    def __call__(self, items: Sequence[Any]) -> PageNews:
        look = _look(items)
        if look in self._seen:
            return "repeated"
        self._seen.add(look)
        return "new"


def _look(items: Sequence[Any]) -> int:
    """Return a hash of the number of items, the first item and the last item. Different pages have different hashes."""
    return hash((len(items), repr(items[0]), repr(items[-1])))
