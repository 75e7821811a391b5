"""AWS responses made from botocore's shapes: complete ones, and ones with members missing, empty or unknown.

They pass through the real client. Only the connection is replaced, so Slackwater's parsers read what AWS would send.
"""

import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from io import BytesIO
from typing import Any, Final
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSResponse
from botocore.model import OperationModel, Shape
from botocore.session import Session

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint

MADE: Final = datetime(2026, 9, 1, 10, 20, 30, tzinfo=UTC)
UNHEARD_OF: Final = "unheard-of"
DEEPEST: Final = 6


class Empty(Enum):
    """A scalar that is present but has no value: null in JSON, an element without text in XML."""

    EMPTY = 0


EMPTY: Final = Empty.EMPTY

WAYS: Final = ("absent", "empty", "unheard of")


@cache
def operation(service: str, name: str) -> OperationModel:
    return _service(service).operation_model(name)


@cache
def _service(service: str) -> Any:
    return Session().get_service_model(service)


def whole(shape: Shape, own: Any = None, name: str = "x", depth: int = 0) -> Any:
    """Return a value that has every member of a shape. `own` sets the values of some members."""
    if own is not None and shape.type_name != "structure":
        return own
    match shape.type_name:
        case "structure":
            own = own or {}
            made = {
                key: whole(member, own.get(key), key, depth + 1)
                for key, member in shape.members.items()  # type: ignore[attr-defined]
                if depth < DEEPEST or key in own
            }
            return {key: value for key, value in made.items() if own.get(key, ...) is not None and value is not None}
        case "list":
            one = whole(shape.member, None, name, depth + 1)  # type: ignore[attr-defined]
            return [] if one is None else [one]
        case "map":
            return {}
        case "string":
            return shape.enum[0] if shape.enum else f"a {name}"  # type: ignore[attr-defined]
        case "timestamp":
            return MADE
        case "boolean":
            return False
        case "double" | "float":
            return 1.5
        case "integer" | "long":
            return 8
        case _:
            return None


def broken(shape: Shape, value: Any, chance: random.Random, odds: float) -> Any:
    """Return the value with some members, at any depth, missing, empty or unknown. `odds` is their share, 0 to 1."""
    match shape.type_name:
        case "structure":
            made = {}
            for key, member in value.items():
                how = chance.choice(WAYS) if chance.random() < odds else ""
                if how != "absent":
                    of = shape.members[key]  # type: ignore[attr-defined]
                    made[key] = broken(of, member, chance, odds) if not how else _instead(of, member, how, chance)
            return made
        case "list":
            return [broken(shape.member, one, chance, odds) for one in value]  # type: ignore[attr-defined]
        case _:
            return value


def _instead(shape: Shape, value: Any, how: str, chance: random.Random) -> Any:
    kind = shape.type_name
    if how == "empty":
        return {"structure": {}, "list": [], "map": {}, "string": ""}.get(kind, EMPTY)
    match kind:
        case "structure" | "list" | "map" | "boolean":
            return value
        case "string":
            return UNHEARD_OF
        case "timestamp":
            return chance.choice((datetime(1970, 1, 1, tzinfo=UTC), datetime(2199, 1, 1, tzinfo=UTC)))
        case _:
            return chance.choice((0, -1, 2**40))


def _json(shape: Shape, value: Any) -> Any:
    if value is EMPTY:
        return None
    match shape.type_name:
        case "structure":
            members = shape.members  # type: ignore[attr-defined]
            return {members[k].serialization.get("name", k): _json(members[k], v) for k, v in value.items()}
        case "list":
            return [_json(shape.member, one) for one in value]  # type: ignore[attr-defined]
        case "timestamp":
            return value.timestamp()
        case _:
            return value


def _xml(tag: str, shape: Shape, value: Any) -> str:
    if value is EMPTY:
        return f"<{tag}/>"
    match shape.type_name:
        case "structure":
            members = shape.members  # type: ignore[attr-defined]
            inner = "".join(_xml(members[k].serialization.get("name", k), members[k], v) for k, v in value.items())
        case "list":
            item = shape.member.serialization.get("name", "member")  # type: ignore[attr-defined]
            inner = "".join(_xml(item, shape.member, one) for one in value)  # type: ignore[attr-defined]
        case "timestamp":
            inner = f"{value:%Y-%m-%dT%H:%M:%S.000Z}"
        case "boolean":
            inner = str(value).lower()
        case _:
            inner = escape(str(value))
    return f"<{tag}>{inner}</{tag}>"


def body(model: OperationModel, value: Any) -> bytes:
    """Return the response body that the service would send for a value."""
    shape, protocol = model.output_shape, model.service_model.resolved_protocol
    assert shape
    if protocol in ("ec2", "query"):
        xml_body = _xml(f"{model.name}Response", shape, value)
        if wrapper := shape.serialization.get("resultWrapper"):
            xml_body = f"<{model.name}Response>{_xml(wrapper, shape, value)}</{model.name}Response>"
        return xml_body.encode()
    return json.dumps(_json(shape, value)).encode()


type Answer = Callable[[OperationModel, Mapping[str, Any]], Any]
"""Takes an operation and its parameters, and returns the structure of the response."""


class AnsweringSession(AwsSession):
    """A session that answers each request with `answer`. It sends nothing."""

    def __init__(self) -> None:
        super().__init__(meter=CallMeter(), endpoint=Endpoint("http://127.0.0.1:9", "AKIADUMMY", "dummy"))
        self.answer: Answer = lambda *_: {}
        self._asked = threading.local()

    def client(self, service: Any, region: str) -> Any:  # type: ignore[override]
        new = (service, region) not in self._clients
        client: Any = super().client(service, region)
        if new:
            client.meta.events.register("provide-client-params.*.*", self._remember)
            client.meta.events.register("before-send.*.*", self._respond)
        return client

    def _remember(self, params: Any, model: OperationModel, **_: Any) -> None:
        self._asked.of = (model, params)

    def _respond(self, request: Any, **_: Any) -> AWSResponse:
        model, params = self._asked.of
        content = body(model, self.answer(model, params))
        raw = BytesIO(content)
        raw.stream = lambda *_, **__: iter([content])  # type: ignore[attr-defined]
        kind = "text/xml" if content.startswith(b"<") else "application/json"
        return AWSResponse(request.url, 200, {"content-type": kind}, raw)  # type: ignore[arg-type]


def texts(value: Any) -> Iterator[str]:
    """Yield every string in a structure."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def placed(path: str, items: list[Any]) -> dict[str, Any]:
    """Return a response with these items at a path. `Reservations.Instances` is a list inside a list."""
    outer, _, inner = path.partition(".")
    return {outer: [{inner: [one]} for one in items] if inner else deepcopy(items)}


def item_shape(model: OperationModel, path: str) -> Shape:
    """Return the shape of one item of the list at a path."""
    shape: Any = model.output_shape
    for name in path.split("."):
        shape = shape.members[name].member
    return shape  # type: ignore[no-any-return]
