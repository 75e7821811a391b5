"""Answer everything that Slackwater requests in this process, and make each request a point.

A point is one call: an AWS request, or a read or write of a store or of the policy. Between two points only
Slackwater's code runs. So a crash, a fault or an event at each point covers every moment that can make a difference.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Self
from unittest.mock import patch
from urllib.parse import urlencode, urlsplit

from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError, ConnectionClosedError

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.parsers import LeanParserFactory
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint, RetrySettings
from slackwater.ports.errors import UnreachableError
from slackwater_simulator import Simulator
from slackwater_simulator.server import Request
from support.cleanup_world import READS, REGION, Line

WRITES: Final = ("write", "record", "put", "delete", "keep")
"""Prefixes of the store methods that write."""
ASIDE: Final = ("pricing:", "iam:")
"""Requests that are not points, because their answers do not affect data."""
INLINE: Final = (
    "aws.client.parallel",
    "aws.inventory.inventory",
    "aws.pricing.price_list",
    "app.cleanup.observe",
    "app.audit.scan",
    "app.audit.target_documents",
)
"""Modules that use threads. Threads would make the order of calls random."""


class Dies(BaseException):
    """The worker died. Nothing catches this."""


class Ends(BaseException):
    """The execution ended: its stack was deleted, or a person ended it."""


@dataclass(frozen=True)
class Point:
    """One call. `ask` sends it again, in whatever state there is then."""

    name: str
    writes: bool
    ask: Callable[[], Any]
    lost: Callable[[], BaseException]
    """Returns the error that the caller gets if the answer is lost."""

    @property
    def aws(self) -> bool:
        return ":" in self.name


type Gate = Callable[[Point], Any]
"""Answers a point. It can cause any event before or after it calls `ask`."""


@dataclass
class Wire(CallMeter):
    """Answers AWS requests from a simulator, and passes every point through a gate."""

    gate: Gate = field(default=lambda point: point.ask())
    simulator: Simulator | None = None
    actor: str = "ours"
    kept: dict[Any, Any] = field(default_factory=dict)
    """Cached answers to reads of the same state. Branches repeat the same reads."""
    requests: dict[Any, Request] = field(default_factory=dict)
    """Cached requests of reads. botocore takes longer to build a request than the simulator to answer it."""
    answers: dict[Any, Any] = field(default_factory=dict)
    """Cached results of botocore's parsing, by reply."""
    last: Any = None
    """The last request and its reply."""

    def __post_init__(self) -> None:
        CallMeter.__init__(self)
        self._parsers = LeanParserFactory()

    def __hash__(self) -> int:
        return id(self)

    def watch(self, session: Any) -> None:
        super().watch(session)
        session.register("before-call", self._before_call)

    def _before_call(self, model: Any, params: Mapping[str, Any], request_signer: Any, **_: Any) -> Any:
        service, region = request_signer.signing_name, request_signer.region_name
        url = urlsplit(params["url"])
        body = params["body"]
        if isinstance(body, dict):
            body = urlencode(body)
        target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
        scope = f"AWS4-HMAC-SHA256 Credential=AKIADUMMY/20260101/{region}/{service}/aws4_request, SignedHeaders=host"
        headers = {str(name).lower(): str(value) for name, value in params["headers"].items()} | {
            "authorization": scope
        }
        request = Request(params["method"], target, headers, body.encode() if isinstance(body, str) else body or b"")
        assert self.simulator
        reply = self.simulator.answer(request)
        self.last = request, reply
        if reply is None:
            raise ConnectionClosedError(endpoint_url=params["url"])
        answers = HTTPHeaders()
        for name, value in {"x-amzn-RequestId": "request", "Content-Type": reply.content_type, **reply.headers}.items():
            answers[name] = value
        parser = self._parsers.create_parser(model.service_model.resolved_protocol)
        answer = {"status_code": reply.status, "headers": answers, "body": reply.body}
        return _Http(reply.status), parser.parse(answer, model.output_shape)

    def asked(self, client: Any, method: str, parameters: Mapping[str, Any]) -> Any:
        """Return the answer to a client's call. The call is a point, unless it is in `ASIDE`."""
        action = f"{client.meta.service_model.signing_name}:{client.meta.method_to_api_mapping[method]}"
        action = action.replace("monitoring:", "cloudwatch:")
        writes = not action.partition(":")[2].startswith(READS)

        def ask() -> Any:
            assert self.simulator
            account = self.simulator.account
            account.run_due()
            if writes or self.faulty:
                return getattr(client, method)(**parameters)
            state = 0 if action.startswith(ASIDE) else id(account._state)
            key = (state, account.now, action, client.meta.region_name, repr(parameters))
            if key not in self.kept:
                if len(self.kept) > 60_000:
                    self.kept.clear()
                answer = self._read(client, method, parameters, key[2:])
                self.kept[key] = answer, account._state  # keeps the state alive, so that its id stays unique
            answer = self.kept[key][0]
            if isinstance(answer, ClientError):
                raise ClientError(answer.response, answer.operation_name)
            return answer

        if action.startswith(ASIDE):
            return ask()
        return self.gate(Point(action, writes, ask, lambda: ConnectionClosedError(endpoint_url=action)))

    def _read(self, client: Any, method: str, parameters: Mapping[str, Any], asked: Any) -> Any:
        """Return a read's answer, or its ClientError.

        Calls botocore only for requests or replies that are not cached.
        """
        assert self.simulator
        if asked in self.requests:
            reply = self.simulator.answer(self.requests[asked])
            known = reply and self.answers.get((asked[0], reply.status, reply.body))
            if known is not None:
                return known
        if max(len(self.requests), len(self.answers)) > 20_000:
            self.requests.clear()
            self.answers.clear()
        try:
            answer = getattr(client, method)(**parameters)
        except ClientError as error:
            answer = error
        self.requests[asked], reply = self.last
        self.answers[asked[0], reply.status, reply.body] = answer
        return answer

    @property
    def faulty(self) -> bool:
        """Return whether injected faults can change the simulator's answers."""
        assert self.simulator
        faults = self.simulator.faults
        return bool(faults._denied) or any(faults._limited.values())

    def watched(self, name: str, port: Any) -> Any:
        """Wrap a store or a function so that every call of it is a point."""
        if callable(port):
            return lambda: self.gate(
                Point(name, writes=False, ask=port, lost=lambda: UnreachableError(f"{name}: no answer"))
            )
        return Watched(self, name, port)


@dataclass
class Client:
    """A botocore client. Every call of it is a point."""

    wire: Wire
    client: Any

    def __getattr__(self, name: str) -> Any:
        if name not in self.client.meta.method_to_api_mapping:
            return getattr(self.client, name)
        return lambda **parameters: self.wire.asked(self.client, name, parameters)


class WiredSession(AwsSession):
    """A session whose clients use a wire."""

    wire: Wire
    wired: dict[tuple[str, str], Client]

    def client(self, service: Any, region: str) -> Any:
        if (service, region) not in self.wired:
            self.wired[service, region] = Client(self.wire, super().client(service, region))
        return self.wired[service, region]


class _Http:
    """The part of an HTTP response that botocore reads."""

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


@dataclass
class Watched:
    """A store. Every call of it is a point."""

    wire: Wire
    name: str
    port: Any

    def __getattr__(self, method: str) -> Any:
        call = getattr(self.port, method)

        def asked(*args: Any, **more: Any) -> Any:
            def ask() -> Any:
                found = call(*args, **more)
                return list(found) if isinstance(found, Iterator) else found

            lost = lambda: UnreachableError(f"{self.name}.{method}: no answer")  # noqa: E731
            return self.wire.gate(Point(f"{self.name}.{method}", method.startswith(WRITES), ask, lost))

        return asked


def line(wire: Wire) -> Line:
    """Return sessions that use this wire."""
    endpoint = Endpoint("http://127.0.0.1:9", "AKIADUMMY", "dummy")
    sessions = []
    for retries in (RetrySettings(1, 10, retry_mode="standard"), NO_RETRIES):
        session = WiredSession(meter=wire, endpoint=endpoint, home=REGION, retries=retries)
        session.wire, session.wired = wire, {}
        sessions.append(session)
    return Line(9, wire, *sessions)  # type: ignore[arg-type]


class Inline:
    """An executor that runs each call at once, in the calling thread."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def submit(self, call: Callable[..., Any], *args: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*args, **more))
        except Exception as error:  # noqa: BLE001 -- as a real executor does; a BaseException ends the worker at once
            future.set_exception(error)
        return future

    def map(self, call: Callable[..., Any], *things: Any, **_: Any) -> Iterator[Any]:
        return iter([call(*each) for each in zip(*things, strict=False)])

    def shutdown(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


@dataclass
class Dice:
    """Replaces the system's randomness. Branches that have drawn equally often get the same values."""

    drawn: int = 0

    def bytes(self, count: int) -> bytes:
        self.drawn += 1
        return random.Random(self.drawn).randbytes(count)


@contextmanager
def determined(dice: Dice) -> Iterator[None]:
    """Run without threads and with `dice` as the only randomness. Skip user agents: botocore builds them slowly."""
    with ExitStack() as stack:
        for name in INLINE:
            stack.enter_context(patch(f"slackwater.{name}.ThreadPoolExecutor", Inline))
        stack.enter_context(patch("random._urandom", dice.bytes))
        stack.enter_context(patch("os.urandom", dice.bytes))
        stack.enter_context(patch("botocore.useragent.UserAgentString.to_string", lambda _: "explorer"))
        yield
