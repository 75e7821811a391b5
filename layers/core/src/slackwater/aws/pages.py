"""Reads an API page by page, and trusts no page that is not whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slackwater.aws.errors import AwsError, BrokenAnswerError


class TooManyPagesError(AwsError):
    """A list that is longer than it is worth reading."""


def pages(
    call: Callable[..., Mapping[str, Any]],
    key: str,
    *,
    next_in: str = "NextToken",
    next_out: str = "NextToken",
    max_pages: int | None = None,
    **parameters: Any,
) -> Iterator[Any]:
    """Every item under `key`, over all pages.

    Raises:
        BrokenAnswerError: a page lacks its list (botocore reads a truncated body so), or repeats a token.
        TooManyPagesError: there are more than `max_pages`; those were read.
    """
    seen = set[str]()
    while True:
        page = call(**parameters)
        if page.get(key) is None:
            raise BrokenAnswerError(f"the answer holds no {key}")
        yield from page[key]
        token = page.get(next_out)
        if not token:
            return
        if len(seen) + 1 == max_pages:
            raise TooManyPagesError(f"there are more than {max_pages} pages of {key}: the rest was not read")
        if token in seen:
            raise BrokenAnswerError(f"the answer repeats its {next_out}")
        seen.add(token)
        parameters[next_in] = token
