"""The first of a list that comes in pages."""

from collections.abc import Callable

from slackwater.model.listing import MAX_PAGE, Page


def first_items[T](limit: int, page_of: Callable[[int, str | None], Page[T]]) -> Page[T]:
    """As many items as `limit` says (0: all), over as many pages as it takes; the cursor leads to what is left."""
    items = list[T]()
    cursor: str | None = None
    while True:
        page = page_of(min(limit - len(items), MAX_PAGE) if limit else MAX_PAGE, cursor)
        items += page.items
        cursor = page.cursor
        if cursor is None or (limit and len(items) >= limit):
            return Page(items=tuple(items), cursor=cursor)
