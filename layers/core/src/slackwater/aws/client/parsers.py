"""Response parsers that read the big answers for what we use of them, and leave the rest, and every error, to botocore.

Botocore builds all of an answer: an instance is some 150 XML elements, of which the inventory reads ten, and a fleet's
metrics are millions of time stamps. The factory is registered on our own session only.

A value that is not of its type fails where it is read, not where it is parsed: so it costs its own record, and not its
page.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast
from xml.etree.ElementTree import Element, ParseError, fromstring

from botocore.parsers import EC2QueryParser, JSONParser, ResponseParserError, ResponseParserFactory, RestJSONParser
from botocore.utils import parse_timestamp

from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from botocore.model import ListShape, Shape, StructureShape

type Wanted = Mapping[str, Wanted]
"""Members of a shape to read, and what of each; nothing below means all of a scalar."""

type Reader = Callable[[Element], Any]

UNREADABLE: Final = (ValueError, TypeError, AttributeError, KeyError, OverflowError)
"""What botocore's parsers raise where a value is not of its type."""

POINTS: Final = ("Timestamps", "Values")
TIMES: Final = b'"Timestamps":['

ONE_AT_A_TIME: Final = threading.Lock()
"""Several threads that take a JSON document apart are no faster than one, and hold several documents in pieces."""


def _all(*names: str, **nested: Wanted) -> Wanted:
    return {**{name: {} for name in names}, **nested}


_TAGS: Final = _all("Key", "Value")

WANTED: Final[Mapping[str, Wanted]] = {
    "DescribeVolumesResult": _all(
        "NextToken",
        Volumes=_all(
            *("VolumeId", "VolumeType", "Size", "Iops", "Throughput", "State", "CreateTime", "AvailabilityZone"),
            *("MultiAttachEnabled", "Encrypted", "KmsKeyId", "OutpostArn", "SnapshotId"),
            Operator=_all("Managed", "Principal"),
            Attachments=_all("InstanceId", "Device", "AttachTime", "State"),
            Tags=_TAGS,
        ),
    ),
    "DescribeInstancesResult": _all(
        "NextToken",
        Reservations=_all(
            Instances=_all(
                *(
                    "InstanceId",
                    "InstanceType",
                    "LaunchTime",
                    "StateTransitionReason",
                    "RootDeviceName",
                    "InstanceLifecycle",
                ),
                State=_all("Name"),
                Operator=_all("Managed", "Principal"),
                Monitoring=_all("State"),
                NetworkPerformanceOptions=_all("BandwidthWeighting"),
                Tags=_TAGS,
            )
        ),
    ),
}
"""What the inventory and the clean-up read, by output shape.

A field that is not here is not there: add it here first.
"""


def timestamp(value: str | float) -> datetime:
    """A time in any form that AWS writes, in UTC, and fast for the usual two (epoch seconds and ISO 8601)."""
    if not isinstance(value, str):
        return datetime.fromtimestamp(value, UTC)
    try:
        parsed = datetime.fromisoformat(value) if "T" in value else parse_timestamp(value)
    except ValueError:
        parsed = parse_timestamp(value)
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)


class Incomplete(dict[str, Any]):
    """A structure of which some members are not of their type: whoever reads one of those is told."""

    def __init__(self, members: Mapping[str, Any], unreadable: Mapping[str, str]) -> None:
        """`unreadable` has the text of each such member."""
        super().__init__(members)
        self._unreadable = unreadable

    def __missing__(self, name: str) -> Any:
        if name in self._unreadable:
            raise BrokenAnswerError(f"{name} is {self._unreadable[name]!r:.60}")
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._unreadable

    def get(self, name: str, default: Any = None) -> Any:
        """As of any mapping, but for a member that is not of its type.

        Raises:
            BrokenAnswerError: it is not.
        """
        return self[name] if name in self else default  # noqa: SIM401 -- this is what get does here


class LenientJson:
    """Botocore's parser of a JSON protocol, but a member that is not of its type costs itself alone."""

    def _handle_structure(self, shape: Any, value: Any) -> Any:
        try:
            return super()._handle_structure(shape, value)  # type: ignore[misc]
        except UNREADABLE:
            if not isinstance(value, dict):
                raise
            named = {member.serialization.get("name", name): (name, member) for name, member in shape.members.items()}
            raw = ((*named[key], value[key]) for key in named.keys() & value.keys() if value[key] is not None)
            return _incomplete_of(self, raw)


class LenientXml:
    """The same of EC2's protocol."""

    def _handle_structure(self, shape: Any, node: Any) -> Any:
        try:
            return super()._handle_structure(shape, node)  # type: ignore[misc]
        except UNREADABLE:
            parser: Any = self
            nodes = parser._build_name_to_xml_node(node)  # noqa: SLF001 -- botocore has no other way to read one member
            key_of = parser._member_key_name  # noqa: SLF001
            named = ((name, member, key_of(member, name)) for name, member in shape.members.items())
            return _incomplete_of(self, ((name, member, nodes[key]) for name, member, key in named if key in nodes))


def _incomplete_of(parser: Any, raw: Iterable[tuple[str, Any, Any]]) -> Incomplete:
    members, unreadable = dict[str, Any](), dict[str, str]()
    for name, shape, value in raw:
        try:
            members[name] = parser._parse_shape(shape, value)  # noqa: SLF001
        except UNREADABLE:
            unreadable[name] = str(getattr(value, "text", value) or "")
    return Incomplete(members, unreadable)


class LeanRestJsonParser(LenientJson, RestJSONParser):
    """EFS's parser, which reads the members that are of their type."""


class LeanEc2Parser(LenientXml, EC2QueryParser):
    """EC2's parser, but for the shapes in WANTED it walks only what is wanted."""

    def parse(self, response: Any, shape: Any) -> Any:
        """The answer as botocore gives it, without what is not wanted."""
        wanted = WANTED.get(shape.name) if shape is not None else None
        if wanted is None or response["status_code"] != HTTPStatus.OK:
            return super().parse(response, shape)
        try:
            root = fromstring(response["body"])  # noqa: S314 -- as botocore does: what TLS says is EC2
        except ParseError as error:
            raise ResponseParserError(f"The answer is not XML: {error}") from error
        namespace, brace, _ = root.tag.rpartition("}")
        found = _reader(shape, wanted, namespace + brace, {})(root)
        return {**found, "ResponseMetadata": {"HTTPStatusCode": HTTPStatus.OK}}


class LeanJsonParser(LenientJson, JSONParser):
    """The JSON parser, but GetMetricData's points stay the numbers they are: time stamps in epoch seconds."""

    def parse(self, response: Any, shape: Any) -> Any:
        """The answer as botocore gives it, but for those time stamps."""
        if shape is None or shape.name != "GetMetricDataOutput" or response["status_code"] != HTTPStatus.OK:
            return super().parse(response, shape)
        body = response["body"]
        # An array would take them for numbers. Looking for them at every point costs as much as reading the points.
        try:
            with ONE_AT_A_TIME:
                if b"true" in body or b"false" in body:
                    parsed = json.loads(body, object_hook=_packed_numbers, parse_constant=_no_number)
                else:
                    body, runs = _without_times(body)
                    parsed = json.loads(body, object_hook=partial(_packed, runs=runs), parse_constant=_no_number)
        except (TypeError, ValueError) as error:
            raise ResponseParserError(f"The answer cannot be read: {error}") from error
        if not isinstance(parsed, dict):
            raise ResponseParserError("The answer is not a JSON object")
        return {**parsed, "ResponseMetadata": {"HTTPStatusCode": HTTPStatus.OK}}


def _without_times(body: bytes) -> tuple[bytes, dict[str, array[float]]]:
    """The body with a name in the place of each run of time stamps, and the runs: metrics of one period repeat each
    other's.

    Half of all numbers are not read twice so. A run that is written otherwise than CloudWatch does stays where it is.
    """
    kept, runs = list[bytes](), dict[str, array[float]]()
    at, run, name = 0, b"", ""
    while (start := body.find(TIMES, at) + len(TIMES)) >= len(TIMES):
        if not (run and body.startswith(run, start)):
            end = body.find(b"]", start)
            if end < 0:
                break
            run, name = body[start : end + 1], f"run {len(runs)} of times"
            runs[name] = array("d", json.loads(b"[" + run, parse_constant=_no_number))
        kept += [body[at : start - 1], b'"%b"' % name.encode()]
        at = start + len(run)
    return b"".join([*kept, body[at:]]), runs


def _packed(item: dict[str, Any], runs: Mapping[str, array[float]] = MappingProxyType({})) -> dict[str, Any]:
    """A metric's points as arrays, 8 bytes each: as objects they would take ten times that until they are laid out."""
    times = item.get("Timestamps")
    if isinstance(times, str):
        item["Timestamps"] = runs.get(times, times)
    for name in POINTS:
        if item.get(name) and not isinstance(item[name], array):
            item[name] = array("d", item[name])
    return item


def _packed_numbers(item: dict[str, Any]) -> dict[str, Any]:
    """The same, where there may be points that are true or false."""
    if any(isinstance(point, bool) for name in POINTS for point in item.get(name) or ()):
        raise ValueError("a point is not a number")
    return _packed(item)


def _no_number(name: str) -> float:
    """JSON has no NaN and no infinity, but Python reads them."""
    raise ValueError(f"{name} is not a number")


class LeanParserFactory(ResponseParserFactory):
    """Makes these parsers where botocore makes its own."""

    def __init__(self) -> None:
        """With the fast reading of time stamps for all services."""
        super().__init__()
        self.set_parser_defaults(timestamp_parser=timestamp)

    def create_parser(self, protocol_name: str) -> Any:
        """The parser for a protocol, as botocore names it."""
        lean = {"ec2": LeanEc2Parser, "json": LeanJsonParser, "rest-json": LeanRestJsonParser}.get(protocol_name)
        return lean(timestamp_parser=timestamp) if lean else super().create_parser(protocol_name)


def _reader(shape: Shape, wanted: Wanted, namespace: str, texts: dict[str, str]) -> Reader:
    """What turns an XML element into the value that botocore's parser would give, cut to what is wanted.

    `texts` keeps one copy of each string of a page: most are the same few states, types and tags.
    """
    if shape.type_name == "structure":
        members = cast("StructureShape", shape).members
        fields = {
            namespace + members[name].serialization.get("name", name): (
                name,
                _reader(members[name], below, namespace, texts),
            )
            for name, below in wanted.items()
        }

        def structure(element: Element) -> dict[str, Any]:
            try:
                return {field[0]: field[1](child) for child in element if (field := fields.get(child.tag)) is not None}
            except UNREADABLE:
                return _incomplete(element, fields)

        return structure
    if shape.type_name == "list":
        item = _reader(cast("ListShape", shape).member, wanted, namespace, texts)
        return lambda element: [item(child) for child in element]
    if shape.type_name == "string":
        return lambda element: texts.setdefault(element.text or "", element.text or "")
    return _SCALARS[shape.type_name]


def _incomplete(element: Element, fields: Mapping[str, tuple[str, Reader]]) -> Incomplete:
    """A structure, member by member: some are not of their type."""
    members, unreadable = dict[str, Any](), dict[str, str]()
    for child in element:
        if (field := fields.get(child.tag)) is not None:
            try:
                members[field[0]] = field[1](child)
            except UNREADABLE:
                unreadable[field[0]] = child.text or ""
    return Incomplete(members, unreadable)


BOOLEANS: Final = {"true": True, "false": False}

_SCALARS: Final[Mapping[str, Reader]] = {
    "integer": lambda element: int(element.text or ""),
    "boolean": lambda element: BOOLEANS[element.text or ""],
    "timestamp": lambda element: timestamp(element.text or ""),
}
