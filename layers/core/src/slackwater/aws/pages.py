"""Reads an API page by page, and trusts no page that is not whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slackwater.aws.errors import BrokenAnswerError


def pages(
    call: Callable[..., Mapping[str, Any]],
    key: str,
    *,
    next_in: str = "NextToken",
    next_out: str = "NextToken",
    **parameters: Any,
) -> Iterator[Any]:
    """Every item under `key`, over all pages.

    Raises:
        BrokenAnswerError: a page lacks its list (botocore reads a truncated body so), or repeats a token.
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
        if token in seen:
            raise BrokenAnswerError(f"the answer repeats its {next_out}")
        seen.add(token)
        parameters[next_in] = token
