"""Reads the first items of a paged list."""

from collections.abc import Callable

from slackwater.model.listing import MAX_PAGE, Page


def first_items[T](limit: int, page_of: Callable[[int, str | None], Page[T]]) -> Page[T]:
    """Return the first `limit` items (0: all), from as many pages as needed. The cursor leads to the next items."""
    items = list[T]()
    cursor: str | None = None
    while True:
        page = page_of(min(limit - len(items), MAX_PAGE) if limit else MAX_PAGE, cursor)
        items += page.items
        cursor = page.cursor
        if cursor is None or (limit and len(items) >= limit):
            return Page(items=tuple(items), cursor=cursor)
