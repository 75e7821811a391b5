"""Cursors of lists stay valid after an update, because a client can be between two pages."""

from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.aws.store.listing import IndexQuery, page
from slackwater.aws.store.table import BY_AGE, BY_SAVING
from slackwater.model.listing import BadCursorError

OLD = "ZjUxMGY5ZWViMWFmYTk4MwowCkZJTkRJTkcjZi0xCjIwMjY"
"""A cursor of the list below, from the version in which `IndexQuery` was named `Listed`."""


def listed(index: str) -> IndexQuery:
    return IndexQuery(index=index, listing="open", spans=(("0", "9"),), descending=True)


def test_a_cursor_of_the_version_before_is_valid_for_its_list_alone() -> None:
    asked: list[dict[str, Any]] = []
    table: Any = SimpleNamespace(query=lambda **arguments: asked.append(arguments) or {"Items": []})

    assert page(table, listed(BY_AGE), 10, OLD, lambda _: {}).items == ()
    assert asked[0]["ExclusiveStartKey"]["pk"] == {"S": "FINDING#f-1"}
    with pytest.raises(BadCursorError):
        page(table, listed(BY_SAVING), 10, OLD, lambda _: {})
