"""Requests, replies and errors, free of any one protocol."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isfunction
from types import ModuleType
from typing import Any, get_type_hints
from urllib.parse import unquote

from .account import Account, cut

type Json = dict[str, Any]
type Route = tuple[str, str, re.Pattern[str]]
"""Method, operation, and the path with its parameters named: rest-json's way to name an operation."""
_READING = ("Describe", "Get", "List", "Lookup", "Simulate", "Assume")


@dataclass(frozen=True, slots=True)
class Call:
    """One signed request: which operation of which service, in which Region, with what input."""

    service: str
    operation: str
    region: str
    account: Account
    input: Json
    protocol: str
    path: str = ""

    @property
    def action(self) -> str:
        """As IAM writes it: `ec2:DescribeVolumes`."""
        return f"{self.service}:{self.operation}"

    @property
    def reads(self) -> bool:
        """Whether it changes nothing; its verb says so."""
        return self.operation.startswith(_READING)


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back."""

    body: bytes
    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


type Operation = Callable[[Call], Reply]


class AwsError(Exception):
    """An error as a service names it, and what its model says beside that."""

    def __init__(self, code: str, message: str = "", status: int = 400, **detail: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.detail = code, message, status, detail


def operations(module: ModuleType) -> dict[str, Operation]:
    """A service's operations: the public functions of a module that turn a call into a reply, by their lower-case names.

    A generic function is a helper. Python 3.12 does not resolve its type parameters as type hints.
    """
    found = {
        name.replace("_", ""): each
        for name, each in vars(module).items()
        if isfunction(each) and name[0] != "_" and not each.__type_params__
    }
    return {
        name: each
        for name, each in found.items()
        if each.__module__ == module.__name__ and get_type_hints(each) == {"call": Call, "return": Reply}
    }


def page_of[T](
    call: Call, key: str, items: Sequence[T], render: Callable[[T], object], size: int, code: str = "BadRequest"
) -> Json:
    """A page of a list, with the token of the next one; an invalid token is an error with this code."""
    name = "nextToken" if call.service == "compute-optimizer" else "NextToken"
    given = call.input.get("nextToken") if call.service in ("backup", "compute-optimizer") else call.input.get(name)
    shown, following = cut(items, offset_of(given, code), size)
    return {key: [render(item) for item in shown]} | ({name: token(following)} if following is not None else {})


def as_json(answer: object) -> bytes:
    """Compact JSON."""
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()


def json_reply(call: Call, answer: object) -> Reply:
    """A JSON answer in the caller's dialect."""
    return Reply(answer if isinstance(answer, bytes) else as_json(answer), content_type(call.protocol))


def content_type(protocol: str) -> str:
    """Content type of a protocol's answers."""
    return {
        "json-1.0": "application/x-amz-json-1.0",
        "json-1.1": "application/x-amz-json-1.1",
        "rest-json": "application/json",
    }.get(protocol, "text/xml;charset=UTF-8")


def routed(routes: Sequence[Route], method: str, path: str) -> tuple[str, Json]:
    """The operation of a path, and the parameters in it. The path is as sent, percent-encoded."""
    for verb, operation, pattern in routes:
        if verb == method and (match := pattern.fullmatch(path.rstrip("/"))):
            return operation, {name: unquote(value) for name, value in match.groupdict().items()}
    return f"{method} {path}", {}


def token(offset: int) -> str:
    """A page token."""
    return base64.urlsafe_b64encode(f"page:{offset}".encode()).decode()


def offset_of(text: str | None, code: str = "InvalidNextToken") -> int:
    """The offset in a page token."""
    if not text:
        return 0
    try:
        kind, _, offset = base64.urlsafe_b64decode(text).decode().partition(":")
        if kind == "page":
            return int(offset)
    except (ValueError, binascii.Error):
        pass
    raise AwsError(code, "The token is not valid.")
