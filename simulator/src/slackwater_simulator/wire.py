"""Define requests, replies and errors, and how each protocol writes them."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from inspect import isfunction
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, get_type_hints
from urllib.parse import parse_qs, unquote

from .account import Account
from .resources import Backup

if TYPE_CHECKING:
    from .server import Simulator

type Json = dict[str, Any]
REQUEST_ID: Final = "7a62c49f-347e-4fc4-9331-6e8e00000000"
_NAMESPACES: Final = {
    "cloudwatch": "http://monitoring.amazonaws.com/doc/2010-08-01/",
    "ec2": "http://ec2.amazonaws.com/doc/2016-11-15/",
    "iam": "https://iam.amazonaws.com/doc/2010-05-08/",
    "sts": "https://sts.amazonaws.com/doc/2011-06-15/",
}
REST: Final = {"backup": "backup", "elasticfilesystem": "efs"}
"""Services that use rest-json, with botocore's names for them."""
_CONTENT_TYPES: Final = {
    "json-1.0": "application/x-amz-json-1.0",
    "json-1.1": "application/x-amz-json-1.1",
    "rest-json": "application/json",
    "query": "text/xml",
    "ec2": "text/xml;charset=UTF-8",
}
_XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_READING: Final = ("Describe", "Get", "List", "Lookup", "Simulate", "Assume")


@dataclass(frozen=True, slots=True)
class Call:
    """One signed request: the operation of a service, the Region and the input."""

    service: str
    operation: str
    region: str
    account: Account
    input: Json
    protocol: str
    simulator: "Simulator"

    @property
    def action(self) -> str:
        """The action in IAM's format: `ec2:DescribeVolumes`."""
        return f"{self.service}:{self.operation}"

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, judged by its verb."""
        return self.operation.startswith(_READING)

    def find[T](self, kind: type[T], resource_id: object) -> T | None:
        """Return a resource of this kind in the Region, or None."""
        found: Any = self.account.find(str(resource_id))
        if found is None or found.region != self.region:
            return None
        return found if isinstance(found, kind) else None

    def all[T](self, kind: type[T]) -> list[T]:
        """Return the resources of one type in the Region."""
        return self.account.all(kind, self.region)

    def backups(self, kind: str) -> list[Backup]:
        """Return the backups of a kind in the Region, oldest first."""
        return [each for each in self.account.backups() if each.kind == kind and each.region == self.region]

    def backup(self, kind: str, backup_id: object) -> Backup | None:
        """Return a backup of this kind in the Region, or None."""
        found = self.account.backup(str(backup_id))
        return found if found and found.kind == kind and found.region == self.region else None


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer."""

    body: bytes
    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


type Operation = Callable[[Call], Reply]


class AwsError(Exception):
    """A service's error: its code and message, and other members that its model has."""

    def __init__(self, code: str, message: str = "", status: int = 400, **detail: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.detail = code, message, status, detail


def operations(*modules: ModuleType) -> dict[str, Operation]:
    """Return a service's operations: public functions from a call to a reply, by their lower-case names.

    A generic function is a helper. Python 3.12 does not resolve its type parameters as type hints.
    """
    return {
        name.replace("_", ""): each
        for module in modules
        for name, each in vars(module).items()
        if isfunction(each) and name[0] != "_" and not each.__type_params__
        if each.__module__ == module.__name__ and get_type_hints(each) == {"call": Call, "return": Reply}
    }


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(answer: object) -> bytes:
    """Return compact JSON."""
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()


def json_reply(call: Call, answer: object, status: int = 200) -> Reply:
    """Return a JSON answer in the call's protocol."""
    return Reply(answer if isinstance(answer, bytes) else as_json(answer), _CONTENT_TYPES[call.protocol], status)


def known(answer: Json) -> Json:
    """Return the members that have a value. Services leave out the others."""
    return {name: value for name, value in answer.items() if value is not None}


def tag_list(tags: Mapping[str, str]) -> list[Json]:
    """Return tags in the format of most services."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


@cache
def _routes(service: str) -> list[tuple[str, re.Pattern[str], str, dict[str, str]]]:
    """Return method, path, operation, and input members by their names in requests. Most specific paths come first."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    model = ServiceModel(Loader().load_service_model(REST[service], "service-2"))
    found = []
    for name in model.operation_names:
        operation = model.operation_model(name)
        members = operation.input_shape.members if operation.input_shape else {}
        path = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", operation.http["requestUri"].rstrip("/"))
        named = {shape.serialization.get("name", member): member for member, shape in members.items()}
        found.append((operation.http["method"], re.compile(path), name, named))
    return sorted(found, key=lambda route: route[1].groups)


def routed(service: str, method: str, path: str, query: str) -> tuple[str, Json]:
    """Return the operation of a rest-json path (percent-encoded, as sent), and the input in path and query."""
    for verb, pattern, operation, members in _routes(service):
        if verb == method and (match := pattern.fullmatch(path.rstrip("/"))):
            given: Json = {name: each[0] if len(each) == 1 else each for name, each in parse_qs(query).items()}
            given |= {name: unquote(value) for name, value in match.groupdict().items()}
            return operation, {members.get(name, name): value for name, value in given.items()}
    return f"{method} {path}", {}


# --- XML --------------------------------------------------------------------------------------------------------------


class Xml(str):
    """Text that is already XML."""

    __slots__ = ()


def text(value: object) -> str:
    """Return a value as XML text: escaped, booleans in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, Xml) else escape(str(value), quote=False)


def xml(value: object, member: str = "item") -> str:
    """Return a mapping as elements without None values, a list as `member` elements, and anything else as text."""
    if isinstance(value, Mapping):
        return "".join(_element(name, each, member) for name, each in value.items() if each is not None)
    if isinstance(value, list):
        return "".join(_element(member, each, member) for each in value)
    return text(value)


def _element(name: str, value: object, member: str) -> str:
    return f"<{name}>{xml(value, member)}</{name}>" if value != [] else f"<{name}/>"


def xml_reply(call: Call, answer: object) -> Reply:
    """Return an answer in the query protocol, or in EC2's."""
    start, end = f'<{call.operation}Response xmlns="{_NAMESPACES[call.service]}">', f"</{call.operation}Response>"
    if call.service == "ec2":
        document = f"{_XML}{start}<requestId>{REQUEST_ID}</requestId>{xml(answer)}{end}"
        return Reply(document.encode(), _CONTENT_TYPES["ec2"])
    result = {f"{call.operation}Result": answer, "ResponseMetadata": {"RequestId": REQUEST_ID}}
    return Reply(f"{start}{xml(result, 'member')}{end}".encode(), _CONTENT_TYPES["query"])


def failure(call: Call | None, error: AwsError) -> Reply:
    """Return an error in the call's protocol, or in the query protocol if the request named no service."""
    if call is not None and call.protocol != "query":
        detail = {"__type": error.code, "message": error.message}
        if call.protocol == "rest-json":
            detail = {"ErrorCode": error.code, "Message": error.message, **error.detail}
        type_ = _CONTENT_TYPES[call.protocol]
        return Reply(as_json(detail), type_, error.status, {"x-amzn-ErrorType": error.code})
    error_fields: Json = {"Code": error.code, "Message": error.message}
    if call is not None and call.service == "ec2":
        body = xml({"Response": {"Errors": {"Error": error_fields}, "RequestID": REQUEST_ID}})
    else:
        body = xml({"ErrorResponse": {"Error": {"Type": "Sender"} | error_fields, "RequestId": REQUEST_ID}})
    return Reply(f"{_XML}{body}".encode(), _CONTENT_TYPES["ec2"], error.status)


# --- Pages ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paging:
    """Names of a page's token in requests and answers, the name of its size, and the codes of errors in them.

    Without `bad_size`, a size that is too large is reduced to the maximum.
    """

    page: str = "NextToken"
    next_page: str = "NextToken"
    size: str = "MaxResults"
    bad_page: str = "InvalidNextToken"
    bad_size: str = ""


_INVALID: Final = "InvalidParameterValueException"
_BY_MARKER: Final = Paging("Marker", "NextMarker", "MaxItems", "BadRequest")
_PAGING: Final = {
    "backup": Paging(bad_page=_INVALID, bad_size=_INVALID),
    "cloudtrail": Paging(bad_page="InvalidNextTokenException", bad_size="InvalidMaxResultsException"),
    "cloudwatch:GetMetricData": Paging(size="MaxDatapoints"),
    "compute-optimizer": Paging("nextToken", "nextToken", "maxResults", _INVALID, _INVALID),
    "ec2": Paging(next_page="nextToken", bad_page="InvalidParameterValue"),
    "elasticfilesystem": Paging(bad_page="BadRequest"),
    "elasticfilesystem:DescribeFileSystems": _BY_MARKER,
    "elasticfilesystem:DescribeMountTargets": _BY_MARKER,
    "fsx": Paging(bad_page="BadRequest"),
    "iam": Paging("Marker", "Marker", "MaxItems", "InvalidInput", "ValidationError"),
    "organizations": Paging(bad_page="InvalidInputException", bad_size="InvalidInputException"),
    "pricing": Paging(bad_page="InvalidNextTokenException", bad_size="InvalidParameterException"),
}
"""By service, or by action if it differs from its service's others."""


def paging_of(call: Call) -> Paging:
    """Return how an operation's pages are requested."""
    return _PAGING.get(call.action) or _PAGING.get(call.service) or Paging()


def page_size(call: Call, most: int, usual: int | None = None) -> int:
    """Return the number of entries that a page can have."""
    paging = paging_of(call)
    size = int(call.input.get(paging.size, usual or most))
    if paging.bad_size and not 1 <= size <= most:
        raise AwsError(paging.bad_size, f"{paging.size} has to be between 1 and {most}.")
    return min(size, most)


def page_of[T](call: Call, key: str, items: Sequence[T], render: Callable[[T], object], size: int) -> Json:
    """Return a page of a list, with the token of the next page if there is one."""
    paging, offset = paging_of(call), page_offset(call)
    shown = {key: [render(item) for item in items[offset : offset + size]]}
    return shown | ({paging.next_page: token(offset + size)} if offset + size < len(items) else {})


def page_offset(call: Call) -> int:
    """Return the offset of the requested page."""
    paging = paging_of(call)
    if not (given := call.input.get(paging.page)):
        return 0
    try:
        kind, _, offset = base64.urlsafe_b64decode(given).decode().partition(":")
        if kind == "page":
            return int(offset)
    except (ValueError, binascii.Error):
        pass
    raise AwsError(paging.bad_page, "The token is not valid.")


def token(offset: int) -> str:
    """Return a page token."""
    return base64.urlsafe_b64encode(f"page:{offset}".encode()).decode()


def once(call: Call, token: str, code: str, there: Callable[[str], bool], make: Callable[[], str]) -> str:
    """Return the id that `make` creates. For a repeated token, return the earlier id if its resource still exists.

    `token` is the parameter's name. The same token with other parameters raises an error with this code.
    """
    given = call.input.get(token)
    if not given:
        return make()
    key = f"{call.region}/{call.action}/{given}"
    asked = json.dumps({name: value for name, value in call.input.items() if name != token}, sort_keys=True)
    before, made = call.account.table("tokens").get(key, ("", ""))
    if made and there(made):
        if before != asked:
            raise AwsError(code, f"{token} {given} was given before, with other parameters.")
        return str(made)
    made = make()
    call.account.keep("tokens", key, (asked, made))
    return str(made)
