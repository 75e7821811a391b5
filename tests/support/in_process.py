"""Answers botocore's requests to a running simulator in this process, without a socket.

botocore still builds each request and parses each response. Two things are skipped: the network transport, and the
signature except for the key and its scope, which are all that a simulator reads of it. Together, they take more than
half of the CPU time of a test that makes thousands of calls. `make test-all` uses both in all tests (`--over-http`).
Tests marked `over_http` always use the network transport.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from botocore import useragent
from botocore.auth import AUTH_TYPE_MAPS
from botocore.awsrequest import AWSPreparedRequest, AWSRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError
from botocore.hooks import EventAliaser
from botocore.httpsession import URLLib3Session
from botocore.loaders import JSONFileLoader

from slackwater_simulator import Simulator
from slackwater_simulator.server import Request

_running: dict[str, Simulator] = {}
"""The running simulators by host and port."""

transport = {"sockets": False}
"""Whether requests currently go through sockets."""

_start, _stop, _send = Simulator.start, Simulator.stop, URLLib3Session.send
_Signer = AUTH_TYPE_MAPS["v4"]
_add_auth, _alias_event_name = _Signer.add_auth, EventAliaser._alias_event_name  # type: ignore[attr-defined]


class _Body:
    """The part of a urllib3 response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body


def _listen(simulator: Simulator) -> None:
    _start(simulator)
    _running[urlsplit(simulator.url).netloc] = simulator


def _hang_up(simulator: Simulator) -> None:
    _running.pop(urlsplit(simulator.url).netloc, None)
    _stop(simulator)


def _answer(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
    url = urlsplit(request.url)
    simulator = _running.get(url.netloc)
    if simulator is None or simulator.faults.slows or transport["sockets"]:
        return _send(session, request)  # only a socket can trigger botocore's timeouts
    headers = {
        str(name).lower(): value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for name, value in request.headers.items()
    }
    body: Any = request.body or b""
    target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    content = body.encode() if isinstance(body, str) else body
    reply = simulator.answer(Request(request.method, target, headers, content))
    if reply is None:
        raise ConnectionClosedError(endpoint_url=request.url)
    sent_headers = {"Content-Type": reply.content_type, "Content-Length": str(len(reply.body)), **reply.headers}
    return AWSResponse(request.url, reply.status, sent_headers, _Body(reply.body))  # type: ignore[arg-type]


def _name_key(signer: Any, request: AWSRequest) -> None:
    """Add the key and the scope of a signature to a request to a simulator, without the signature itself."""
    if urlsplit(request.url).netloc not in _running or signer.credentials is None:
        _add_auth(signer, request)
        return
    key = signer.credentials.access_key
    scope = f"{key}/20260101/{signer._region_name}/{signer._service_name}/aws4_request"
    request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}"


_aliases: dict[str, str] = {}


def _alias(aliaser: EventAliaser, event_name: str) -> str:
    """Look up the alias of an event's name once for all sessions.

    botocore compares each alias with a hundred names in each session.
    """
    if event_name not in _aliases:
        _aliases[event_name] = _alias_event_name(aliaser, event_name)
    return _aliases[event_name]


_load_file = lru_cache(200)(JSONFileLoader.load_file)
"""Loads each of botocore's models once for all sessions. It also caches that a file does not exist."""
_one_loader = JSONFileLoader()


@contextmanager
def answered_in_process() -> Iterator[None]:
    """Answer requests to the simulators of this process in this process until the context ends."""
    with (
        patch.object(Simulator, "start", _listen),
        patch.object(Simulator, "stop", _hang_up),
        patch.object(URLLib3Session, "send", _answer),
        patch.object(_Signer, "add_auth", _name_key),
        patch.object(EventAliaser, "_alias_event_name", _alias),
        patch.object(JSONFileLoader, "load_file", lambda _, path: _load_file(_one_loader, path)),
        # Each request sanitizes the same few user-agent components again.
        patch.object(
            useragent,
            "sanitize_user_agent_string_component",
            lru_cache(1_000)(useragent.sanitize_user_agent_string_component),
        ),
    ):
        yield
