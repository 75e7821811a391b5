"""Change pages: shorter ones than requested, as AWS may return, and tokens that lead to a wrong page."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Final

from .wire import AwsError, Call, Operation, Reply, as_json, paging_of, token

_BEHIND: Final = 1 << 50
"""An offset after the end of every list."""
_XML_TOKEN: Final = re.compile(rb"<nextToken>([^<]*)</nextToken>")
_FRESH: Final = count()


def has_token(call: Call) -> bool:
    """Return whether a call asks for a page after the first."""
    return bool(call.input.get(paging_of(call).page))


def shortened(call: Call, items: int, points: int) -> Call:
    """Return the call with a smaller page size, in items or GetMetricData points. Keep EC2 calls without a size."""
    size = paging_of(call).size
    most = points if size == "MaxDatapoints" else items
    if call.service == "ec2" and size not in call.input:
        return call
    return replace(call, input={**call.input, size: min(most, int(call.input.get(size, most)))})


def astray(operation: Operation, call: Call, how: str) -> Reply:
    """Return the answer to a call whose token leads to a wrong page, in one of `WAYS`."""
    return WAYS[how](operation, call)


def _again(operation: Operation, call: Call) -> Reply:
    """Return the first page again, with the token that led here."""
    return operation(_asking(call, None))


def _instead(operation: Operation, call: Call) -> Reply:
    """Return the first page instead of this one, which is lost, with the token of the next page."""
    following = _token(operation(call), call)
    return _with_token(operation(_asking(call, None)), call, following)


def _refused(_: Operation, call: Call) -> Reply:
    raise AwsError("InvalidNextToken", f"The token of {call.action} has expired.", 400)


def _nowhere(operation: Operation, call: Call) -> Reply:
    """Return an empty page without a token."""
    return operation(_asking(call, token(_BEHIND)))


def _endless(operation: Operation, call: Call) -> Reply:
    """After the last page, return empty pages without end, each with a new token."""
    reply = operation(call)
    following = _token(reply, call)
    return reply if following else _with_token(reply, call, token(_BEHIND + next(_FRESH)))


def _circle(operation: Operation, call: Call) -> Reply:
    """After the last page, return the first one again, each time with a new token."""
    reply = operation(call)
    following = _token(reply, call)
    return reply if following else _with_token(reply, call, _zero(next(_FRESH)))


WAYS: Final[Mapping[str, Callable[[Operation, Call], Reply]]] = {
    "again": _again,
    "instead": _instead,
    "refused": _refused,
    "nowhere": _nowhere,
    "endless": _endless,
    "circle": _circle,
}
FROM_THE_SECOND: Final = frozenset({"again", "instead", "refused", "nowhere"})
"""Ways that affect only calls with a token."""


def _asking(call: Call, asked: str | None) -> Call:
    """Return the call with this token, or without one."""
    name = paging_of(call).page
    others = {key: value for key, value in call.input.items() if key != name}
    return replace(call, input=others | ({name: asked} if asked else {}))


def _token(reply: Reply, call: Call) -> str | None:
    """Return the token of an answer, if it has one."""
    if "json" in reply.content_type:
        found: str | None = json.loads(reply.body).get(paging_of(call).next_page)
        return found
    match = _XML_TOKEN.search(reply.body)
    return match[1].decode() if match else None


def _with_token(reply: Reply, call: Call, following: str | None) -> Reply:
    """Return the answer with this token, or without one."""
    if "json" in reply.content_type:
        name = paging_of(call).next_page
        answer = {key: value for key, value in json.loads(reply.body).items() if key != name}
        return replace(reply, body=as_json(answer | ({name: following} if following else {})))
    body, end, tail = _XML_TOKEN.sub(b"", reply.body).rpartition(b"</")
    put = f"<nextToken>{following}</nextToken>" if following else ""
    return replace(reply, body=body + put.encode() + end + tail)


def _zero(length: int) -> str:
    """Return a token of the first page, different for each length."""
    return base64.urlsafe_b64encode(f"page:{'0' * (2 + length)}".encode()).decode()
