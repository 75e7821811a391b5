"""Reads an API page by page, and trusts no page that is not whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from slackwater.ports.errors import AwsError, BrokenAnswerError

MAX_EMPTY: Final = 100
"""Empty pages in a row after which a list has no end; AWS gives a few where it searches, or filters."""


type PageNews = Literal["new", "nothing", "repeated"]
"""What a page says that others did not; `nothing` is fine for a while."""


class TokenNames(NamedTuple):
    """What a service calls the token of the next page: in its answer, and in the next request."""

    answer: str
    request: str


NEXT_TOKEN: Final = TokenNames("NextToken", "NextToken")
MARKER: Final = TokenNames("NextMarker", "Marker")
"""EFS's names."""


class TooManyPagesError(AwsError):
    """A list that is longer than it is worth reading."""


def pages(
    call: Callable[..., Mapping[str, Any]],
    key: str,
    *,
    tokens: TokenNames = NEXT_TOKEN,
    max_pages: int | None = None,
    watch: Callable[[Sequence[Any]], PageNews] | None = None,
    **parameters: Any,
) -> Iterator[Any]:
    """Every item under `key`, over all pages.

    `watch` says what is new on a page that has items. Without one, two pages with the same look are the same page.

    An empty page at the end is asked for once more: EC2 ends so where the last page before it was full, and a page that
    got lost looks the same. What a service leaves out each time, nobody can see from here.

    Raises:
        BrokenAnswerError: a page lacks its list (botocore reads a truncated body so), or comes again; a token does, or
            there are only empty pages any more.
        TooManyPagesError: there are more than `max_pages`; those were read.
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
    """Tells a page that came before by its look."""

    def __init__(self) -> None:
        self._seen = set[int]()

    def __call__(self, items: Sequence[Any]) -> PageNews:
        look = _look(items)
        if look in self._seen:
            return "repeated"
        self._seen.add(look)
        return "new"


def _look(items: Sequence[Any]) -> int:
    """What two pages have in common only if they are the same one: how many items, the first and the last."""
    return hash((len(items), repr(items[0]), repr(items[-1])))
