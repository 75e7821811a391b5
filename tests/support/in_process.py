"""Answers botocore's requests to a running simulator in this process, without a socket.

botocore still signs each request and parses each response. Only the transport is skipped: it takes half of the CPU time of a test that
makes thousands of calls. `make test-all` uses the transport everywhere (`--over-http`), and tests marked `over_http` always do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from botocore import useragent
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError
from botocore.httpsession import URLLib3Session

from slackwater_simulator import Simulator
from slackwater_simulator.server import Request

_running: dict[str, Simulator] = {}
"""Simulators that listen, by host and port."""

transport = {"sockets": False}
"""Whether requests go through sockets for now."""

_start, _stop, _send = Simulator.start, Simulator.stop, URLLib3Session.send


class _Body:
    """As much of a urllib3 response as botocore reads."""

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
        return _send(session, request)  # an answer that comes late must meet botocore's time-outs
    headers = {
        str(name).lower(): value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for name, value in request.headers.items()
    }
    body = request.body or b""
    target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    reply = simulator.answer(Request(request.method, target, headers, body.encode() if isinstance(body, str) else body))
    if reply is None:
        raise ConnectionClosedError(endpoint_url=request.url)
    told = {"Content-Type": reply.content_type, "Content-Length": str(len(reply.body)), **reply.headers}
    return AWSResponse(request.url, reply.status, told, _Body(reply.body))


@contextmanager
def answered_in_process() -> Iterator[None]:
    """Until the end of the context, requests to a simulator of this process do not leave it."""
    with (
        patch.object(Simulator, "start", _listen),
        patch.object(Simulator, "stop", _hang_up),
        patch.object(URLLib3Session, "send", _answer),
        # The same few words are cleaned again for each request.
        patch.object(
            useragent,
            "sanitize_user_agent_string_component",
            lru_cache(1_000)(useragent.sanitize_user_agent_string_component),
        ),
    ):
        yield
