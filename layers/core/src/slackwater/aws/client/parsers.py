"""Response parsers that read only the fields that Slackwater uses from large responses.

Botocore parses all other responses, and errors. It parses a response completely: an instance is some 150 XML elements,
of which the inventory uses ten, and a fleet's metrics have millions of timestamps. The factory is registered on
Slackwater's own session only.

A value of the wrong type raises an error when it is used, not when it is parsed. So only its own record is lost, and
not its page.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast
from xml.etree.ElementTree import Element, ParseError, fromstring

from botocore.parsers import EC2QueryParser, JSONParser, ResponseParserError, ResponseParserFactory, RestJSONParser
from botocore.utils import parse_timestamp

from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from botocore.model import ListShape, Shape, StructureShape

type Wanted = Mapping[str, Wanted]
"""Members of a shape to read, and recursively which of their members. An empty mapping means a scalar."""

type Reader = Callable[[Element], Any]

UNREADABLE: Final = (ValueError, TypeError, AttributeError, KeyError, OverflowError)
"""What botocore's parsers raise for a value of the wrong type."""

POINTS: Final = ("Timestamps", "Values")
TIMES: Final = b'"Timestamps":['

ONE_AT_A_TIME: Final = threading.Lock()
"""Parsing JSON in several threads is no faster than in one, and needs memory for several documents."""


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
"""The fields that the inventory and clean-ups read, by output shape.

The parser drops every other field, so add a field here before you read it.
"""


def timestamp(value: str | float) -> datetime:
    """Return a time in UTC from any format that AWS uses. The two most common, epoch seconds and ISO 8601, are fast."""
    if not isinstance(value, str):
        return datetime.fromtimestamp(value, UTC)
    try:
        parsed = datetime.fromisoformat(value) if "T" in value else parse_timestamp(value)
    except ValueError:
        parsed = parse_timestamp(value)
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)


class Incomplete(dict[str, Any]):
    """A structure with members of the wrong type. Reading such a member raises BrokenAnswerError."""

    def __init__(self, members: Mapping[str, Any], unreadable: Mapping[str, str]) -> None:
        """`unreadable` has the text of each member of the wrong type."""
        super().__init__(members)
        self._unreadable = unreadable

    def __missing__(self, name: str) -> Any:
        if name in self._unreadable:
            raise BrokenAnswerError(f"{name} is {self._unreadable[name]!r:.60}")
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._unreadable

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member, or the default.

        Raises:
            BrokenAnswerError: The member has the wrong type.
        """
        return self[name] if name in self else default  # noqa: SIM401 -- this is what get does here


class LenientJson:
    """Makes botocore's JSON parsers reject only a member of the wrong type, not the whole response."""

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
    """Does the same for the parser of EC2's protocol."""

    def _handle_structure(self, shape: Any, node: Any) -> Any:
        try:
            return super()._handle_structure(shape, node)  # type: ignore[misc]
        except UNREADABLE:
            parser: Any = self
            nodes = parser._build_name_to_xml_node(node)  # noqa: SLF001 -- botocore has no public method
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
    """EFS's parser, which rejects only members of the wrong type."""


class LeanEc2Parser(LenientXml, EC2QueryParser):
    """EC2's parser. For the shapes in WANTED it reads only the listed fields."""

    def parse(self, response: Any, shape: Any) -> Any:
        """Return the response as botocore does, but only with the fields in WANTED."""
        wanted = WANTED.get(shape.name) if shape is not None else None
        if wanted is None or response["status_code"] != HTTPStatus.OK:
            return super().parse(response, shape)
        try:
            root = fromstring(response["body"])  # noqa: S314 -- as botocore does: TLS authenticates EC2
        except ParseError as error:
            raise ResponseParserError(f"The answer is not XML: {error}") from error
        namespace, brace, _ = root.tag.rpartition("}")
        found = _reader(shape, wanted, namespace + brace, {})(root)
        return {**found, "ResponseMetadata": {"HTTPStatusCode": HTTPStatus.OK}}


class LeanJsonParser(LenientJson, JSONParser):
    """The JSON parser. It keeps GetMetricData's points as numbers, with timestamps in epoch seconds."""

    def parse(self, response: Any, shape: Any) -> Any:
        """Return the response as botocore does, but with GetMetricData's timestamps as numbers."""
        if shape is None or shape.name != "GetMetricDataOutput" or response["status_code"] != HTTPStatus.OK:
            return super().parse(response, shape)
        try:
            with ONE_AT_A_TIME:
                parsed = _metric_data(response["body"])
        except (OverflowError, TypeError, ValueError) as error:
            raise ResponseParserError(f"The answer cannot be read: {error}") from error
        return {**parsed, "ResponseMetadata": {"HTTPStatusCode": HTTPStatus.OK}}


def _metric_data(body: bytes) -> dict[str, Any]:
    """Return GetMetricData's response, with points and timestamps as arrays of 8 bytes each.

    Objects would take four times as much, and Pydantic's parser is several times as fast as `json`.
    """
    from pydantic_core import from_json  # some functions must start fast, and read no metrics

    load = partial(from_json, allow_inf_nan=False, cache_strings="keys")
    # An array would store booleans as numbers. Checking each point for them costs as much as parsing the points.
    may_have_booleans = b"true" in body or b"false" in body
    runs = dict[str, array[float]]()
    if not may_have_booleans:
        body, runs = _without_times(body, load)
    parsed = load(body)
    if not isinstance(parsed, dict):
        raise TypeError("it is not a JSON object")
    results = parsed.get("MetricDataResults")
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            if may_have_booleans:
                _reject_booleans(result)
            _pack(result, runs)
    return parsed


def _without_times(body: bytes, load: Callable[[bytes], Any]) -> tuple[bytes, dict[str, array[float]]]:
    """Return the body with each list of timestamps replaced by a name, and the lists by name. `load` parses JSON.

    Metrics of the same period often have the same timestamps, so a list is parsed only once. That saves half of all
    numbers. A list that is not written as CloudWatch writes it stays where it is.
    """
    kept, runs = list[bytes](), dict[str, array[float]]()
    at, run, name = 0, b"", ""
    while (start := body.find(TIMES, at) + len(TIMES)) >= len(TIMES):
        if not (run and body.startswith(run, start)):
            end = body.find(b"]", start)
            if end < 0:
                break
            run, name = body[start : end + 1], f"run {len(runs)} of times"
            runs[name] = array("d", load(b"[" + run))
        kept += [body[at : start - 1], b'"%b"' % name.encode()]
        at = start + len(run)
    return b"".join([*kept, body[at:]]), runs


def _pack(result: dict[str, Any], runs: Mapping[str, array[float]]) -> None:
    """Replace a metric's points by arrays, and the name of its timestamps by those."""
    times = result.get("Timestamps")
    if isinstance(times, str):
        result["Timestamps"] = runs.get(times, times)
    for name in POINTS:
        if result.get(name) and not isinstance(result[name], array):
            result[name] = array("d", result[name])


def _reject_booleans(result: Mapping[str, Any]) -> None:
    """Raise ValueError if a point or timestamp is a boolean."""
    if any(isinstance(point, bool) for name in POINTS for point in result.get(name) or ()):
        raise ValueError("a point is not a number")


class LeanParserFactory(ResponseParserFactory):
    """Creates these parsers in place of botocore's own."""

    def __init__(self) -> None:
        """Use the fast timestamp parser for all services."""
        super().__init__()
        self.set_parser_defaults(timestamp_parser=timestamp)

    def create_parser(self, protocol_name: str) -> Any:
        """Return the parser for a protocol, by botocore's name."""
        lean = {"ec2": LeanEc2Parser, "json": LeanJsonParser, "rest-json": LeanRestJsonParser}.get(protocol_name)
        return lean(timestamp_parser=timestamp) if lean else super().create_parser(protocol_name)


def _reader(shape: Shape, wanted: Wanted, namespace: str, texts: dict[str, str]) -> Reader:
    """Return a function that converts an XML element to the value that botocore returns, but only with `wanted` fields.

    `texts` keeps one copy of each string of a page, because most are the same few states, types and tags.
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
    """Read a structure member by member, because some have the wrong type."""
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
