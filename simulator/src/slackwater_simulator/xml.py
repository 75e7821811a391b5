"""Small helpers for the query protocols' XML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

REQUEST_ID = "7a62c49f-347e-4fc4-9331-6e8e00000000"


def text(value: object) -> str:
    """A value as XML text: escaped, booleans in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(str(value), quote=False)


def tag(name: str, value: object) -> str:
    """An element, or nothing for None."""
    return "" if value is None else f"<{name}>{text(value)}</{name}>"


def members(name: str, items: Iterable[str], member: str = "item") -> str:
    """A list element from rendered items."""
    inner = "".join(f"<{member}>{item}</{member}>" for item in items)
    return f"<{name}>{inner}</{name}>" if inner else f"<{name}/>"


def tag_set(tags: Mapping[str, str]) -> str:
    """EC2's tagSet; absent without tags."""
    return (
        members("tagSet", (f"<key>{text(key)}</key><value>{text(value)}</value>" for key, value in tags.items()))
        if tags
        else ""
    )


def ec2_document(action: str, body: str) -> bytes:
    """An EC2 answer."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>{REQUEST_ID}</requestId>{body}</{action}Response>'
    ).encode()


def query_document(action: str, namespace: str, body: str) -> bytes:
    """An answer of the query protocol."""
    return (
        f'<{action}Response xmlns="{namespace}"><{action}Result>{body}</{action}Result>'
        f"<ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></{action}Response>"
    ).encode()
