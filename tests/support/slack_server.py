"""A local server that behaves as Slack does, with optional faults of Slack and of the network.

It answers `chat.postMessage`, `chat.update`, `chat.postEphemeral`, `conversations.history`, `conversations.replies`,
`conversations.info`, `auth.test`, `views.open`, incoming webhooks and response URLs. It enforces Slack's limits
(docs.slack.dev/reference/block-kit/blocks, docs.slack.dev/reference/methods) and keeps the messages that people would
see.

    with SlackServer() as slack:
        BotChannel(slack.bot_token, base_url=slack.url).send(post, None)
        slack.channels["C0DEFAULT"].seen()          # as people see it, the oldest first
        slack.faults = [Fault("reset", after=True)]  # for the next calls; or any callable, method -> Fault | None

It serves one request at a time, in order of arrival: it completes an earlier request before it answers a later one.
"""

import contextlib
import hashlib
import hmac
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Final, Literal, Self
from urllib.parse import parse_qs, urlsplit

BOT_TOKEN: Final = "xoxb-1-test"
SIGNING_SECRET: Final = "5157e7-test"
BOT_USER: Final = "U0SLACKWATER"
BOT: Final = "B0SLACKWATER"
TEAM: Final = "T0TEAM"

SCOPES: Final = frozenset(
    {"chat:write", "commands", "channels:history", "groups:history", "channels:read", "groups:read"}
)

type FaultKind = Literal["busy", "refused", "500", "reset", "hang", "garbled", "cut"]
FAULTS: Final[tuple[FaultKind, ...]] = ("busy", "refused", "500", "reset", "hang", "garbled", "cut")


@dataclass(frozen=True)
class Fault:
    """A fault of one call. With `after`, it happens after the call takes effect; otherwise before.

    "busy" is a 429. "refused" is an `ok: false` with `error`. "500" is an HTML page. "reset" breaks the connection.
    "hang" never answers. "garbled" is an answer that is not JSON. "cut" is an answer that ends too soon.
    """

    kind: FaultKind
    after: bool = False
    retry_after_s: int = 1
    error: str = "internal_error"


class SeededFaults:
    """Draws a fault from `faults` for a share of the calls; the same seed draws the same ones. `drawn` counts them."""

    def __init__(self, seed: int, share: float, faults: Sequence[Fault]) -> None:
        self._random, self._share, self._faults = random.Random(seed), share, faults
        self.calls = 0
        self.drawn: Counter[tuple[str, bool]] = Counter()

    def __call__(self, method: str) -> Fault | None:
        self.calls += 1
        if self._random.random() >= self._share:
            return None
        fault = self._random.choice(self._faults)
        self.drawn[fault.kind, fault.after] += 1
        return fault


@dataclass
class Posted:
    """A message. `metadata` comes from the sender, and people do not see it."""

    ts: str
    text: str
    blocks: list[Any]
    thread_ts: str | None = None
    metadata: dict[str, Any] | None = None
    edited: int = 0
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass
class SlackChannel:
    """A channel and its messages, the oldest first."""

    id: str
    name: str = "channel"
    member: bool = True
    archived: bool = False
    private: bool = False
    messages: list[Posted] = field(default_factory=list)

    def seen(self, thread_ts: str | None = None) -> list[Posted]:
        """Return what people see in the channel, or in the thread of one of its messages."""
        return [one for one in self.messages if one.thread_ts == thread_ts]

    def find(self, ts: str | None) -> Posted | None:
        return next((one for one in self.messages if one.ts == ts), None)


class Refused(Exception):
    """An answer of `ok: false`."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.answer = {"ok": False, "error": error, **more}


def _default_channels() -> dict[str, SlackChannel]:
    channels = (
        SlackChannel("C0DEFAULT", "storage"),
        SlackChannel("C0FALLBACK", "fallback"),
        SlackChannel("G0PRIVATE", "private", private=True),
        SlackChannel("C0ARCHIVED", "old", archived=True),
        SlackChannel("C0OUTSIDE", "elsewhere", member=False),
    )
    return {one.id: one for one in channels}


@dataclass
class SlackServer:
    """One workspace of Slack.

    `clock` returns its time in epoch seconds. Messages appear in histories `lag_s` seconds later.
    """

    bot_token: str = BOT_TOKEN
    signing_secret: str = SIGNING_SECRET
    channels: dict[str, SlackChannel] = field(default_factory=_default_channels)
    webhook_channel: str | None = "C0DEFAULT"
    scopes: frozenset[str] = SCOPES
    clock: Callable[[], float] = time.time
    page: int = 999
    lag_s: float = 0
    faults: Callable[[str], Fault | None] | list[Fault | None] = field(default_factory=list)
    expired_triggers: set[str] = field(default_factory=set)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    ephemeral: list[dict[str, Any]] = field(default_factory=list)
    responses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.slack = self
        self._number = 0
        # The poll interval is how long the server may take to notice a shutdown, in seconds.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.let_go()
        self._server.server_close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Return the URL that replaces https://slack.com/api/."""
        return f"{self.origin}/api/"

    @property
    def webhook_url(self) -> str:
        return f"{self.origin}/services/T0TEAM/B0HOOK/secret"

    def response_url(self, name: str = "one") -> str:
        """Return the response URL of an interaction. `responses[name]` keeps the answers sent to it."""
        return f"{self.origin}/response/{name}"

    def secret(self) -> str:
        """Return the secret of a bot, as Secrets Manager stores it."""
        return json.dumps({"bot_token": self.bot_token, "signing_secret": self.signing_secret})

    def webhook_secret(self) -> str:
        """Return the secret of a webhook, as Secrets Manager stores it."""
        return json.dumps({"webhook_url": self.webhook_url})

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of each call of a method, in order."""
        return [asked for name, asked in self.calls if name == method]

    # -- The methods

    def fault(self, method: str) -> Fault | None:
        if callable(self.faults):
            return self.faults(method)
        return self.faults.pop(0) if self.faults else None

    def call(self, method: str, asked: dict[str, Any], token: str | None) -> dict[str, Any]:
        """Return the answer of a method.

        Raises:
            Refused: the method fails; `answer` holds the error.
        """
        if not token:
            raise Refused("not_authed")
        if token != self.bot_token:
            raise Refused("invalid_auth")
        known: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "conversations.info": self._info,
            "views.open": self._open,
        }
        if method not in known:
            raise Refused("unknown_method")
        return {"ok": True, **known[method](asked)}

    def _auth_test(self, _: dict[str, Any]) -> dict[str, Any]:
        return {
            "url": "https://test.slack.com/", "team": "Test", "team_id": TEAM, "user": "slackwater",
            "user_id": BOT_USER, "bot_id": BOT,
        }  # fmt: skip

    def _post(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._needs("chat:write")
        channel = self._writable(asked)
        problem = message_problem(asked)
        if problem:
            raise Refused(problem[0], response_metadata={"messages": [f"[ERROR] {problem[1]}"]})
        thread = asked.get("thread_ts")
        parent = None if thread is None else channel.find(thread)
        if thread is not None and (parent is None or parent.thread_ts is not None):
            raise Refused("thread_not_found")
        posted = self.post(channel, asked)
        return {"channel": channel.id, "ts": posted.ts, "message": _shown(posted, payload=True)}

    def post(self, channel: SlackChannel, asked: Mapping[str, Any]) -> Posted:
        """Post a message that everybody can see from now on."""
        self._number += 1
        posted = Posted(
            ts=f"{int(self.clock())}.{self._number:06d}",
            text=asked.get("text") or "",
            blocks=list(asked.get("blocks") or []),
            thread_ts=asked.get("thread_ts"),
            metadata=asked.get("metadata"),
            raw=dict(asked),
        )
        channel.messages.append(posted)
        return posted

    def _post_ephemeral(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._needs("chat:write")
        self._writable(asked)
        if problem := message_problem(asked):
            raise Refused(problem[0])
        self.ephemeral.append(asked)
        return {"message_ts": f"{int(self.clock())}.000000"}

    def _update(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._needs("chat:write")
        channel = self._channel(asked)
        posted = channel.find(asked.get("ts"))
        if posted is None:
            raise Refused("message_not_found")
        if problem := message_problem(asked):
            raise Refused(problem[0])
        posted.text, posted.blocks = asked.get("text") or posted.text, list(asked.get("blocks") or [])
        posted.metadata = asked.get("metadata", posted.metadata)  # an omitted argument keeps its value
        posted.edited += 1
        return {"channel": channel.id, "ts": posted.ts, "text": posted.text}

    def _history(self, asked: dict[str, Any]) -> dict[str, Any]:
        channel = self._readable(asked)
        return self._paged(asked, [one for one in reversed(channel.messages) if one.thread_ts is None])

    def _replies(self, asked: dict[str, Any]) -> dict[str, Any]:
        channel = self._readable(asked)
        parent = channel.find(asked.get("ts"))
        if parent is None:
            raise Refused("thread_not_found")
        answer = self._paged(asked, channel.seen(parent.ts))
        return {**answer, "messages": [_shown(parent, payload=True), *answer["messages"]]}

    def _paged(self, asked: dict[str, Any], messages: list[Posted]) -> dict[str, Any]:
        oldest, latest = float(asked.get("oldest") or 0), float(asked.get("latest") or "inf")
        visible = [
            one
            for one in messages
            if oldest < float(one.ts) < latest and float(one.ts) <= self.clock() + 1 - self.lag_s
        ]
        start = int(asked.get("cursor") or 0)
        end = start + min(int(asked.get("limit") or 100), self.page)
        payload = asked.get("include_all_metadata") in {"1", "true", True}
        more = end < len(visible)
        return {
            "messages": [_shown(one, payload=payload) for one in visible[start:end]],
            "has_more": more,
            **({"response_metadata": {"next_cursor": str(end)}} if more else {}),
        }

    def _info(self, asked: dict[str, Any]) -> dict[str, Any]:
        channel = self._channel(asked)
        self._needs("groups:read" if channel.private else "channels:read")
        return {
            "channel": {
                "id": channel.id, "name": channel.name, "is_member": channel.member, "is_archived": channel.archived,
                "is_private": channel.private,
            }
        }  # fmt: skip

    def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        trigger: str | None = asked.get("trigger_id")
        view: Any = asked.get("view")
        if not trigger:
            raise Refused("invalid_arguments")
        if trigger in self.expired_triggers:
            raise Refused("expired_trigger_id")
        if isinstance(view, str):
            view = json.loads(view)
        if problem := view_problem(view):
            raise Refused("invalid_arguments", response_metadata={"messages": [f"[ERROR] {problem}"]})
        self.expired_triggers.add(trigger)
        self.views.append(view)
        return {"view": {"id": f"V{len(self.views)}", **view}}

    def hook(self, asked: dict[str, Any]) -> tuple[int, str]:
        """Return the status and answer of the webhook."""
        channel = self.channels.get(self.webhook_channel) if self.webhook_channel else None
        if channel is None:
            return 404, "channel_not_found"
        if channel.archived:
            return 410, "channel_is_archived"
        if problem := message_problem(asked):
            return 400, problem[0]
        self.post(channel, asked)
        return 200, "ok"

    def respond(self, name: str, asked: dict[str, Any]) -> tuple[int, str]:
        """Return the status and answer of a response URL, which accepts five messages."""
        kept = self.responses.setdefault(name, [])
        if len(kept) >= 5:
            return 404, json.dumps({"ok": False, "error": "used_url"})
        if problem := message_problem(asked):
            return 500, json.dumps({"ok": False, "error": problem[0]})
        kept.append(asked)
        return 200, "ok"

    # -- Checks of access

    def _needs(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))

    def _channel(self, asked: dict[str, Any]) -> SlackChannel:
        channel = self.channels.get(asked.get("channel") or "")
        if channel is None or (channel.private and not channel.member):
            raise Refused("channel_not_found")
        return channel

    def _writable(self, asked: dict[str, Any]) -> SlackChannel:
        channel = self._channel(asked)
        if channel.archived:
            raise Refused("is_archived")
        if not channel.member:
            raise Refused("not_in_channel")
        return channel

    def _readable(self, asked: dict[str, Any]) -> SlackChannel:
        channel = self._channel(asked)
        self._needs("groups:history" if channel.private else "channels:history")
        if not channel.member:
            raise Refused("not_in_channel")
        return channel


def signed(signing_secret: str, body: bytes, at: float, **more: str) -> dict[str, str]:
    """Return the headers of a request from Slack as API Gateway passes them on. `more` are additional headers."""
    base = b"v0:%d:" % int(at) + body
    return {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": str(int(at)),
        "x-slack-signature": "v0=" + hmac.new(signing_secret.encode(), base, hashlib.sha256).hexdigest(),
        **more,
    }


def _shown(posted: Posted, *, payload: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "type": "message",
        "ts": posted.ts,
        "text": posted.text,
        "blocks": posted.blocks,
        "bot_id": BOT,
        "user": BOT_USER,
    }
    if posted.thread_ts:
        shown["thread_ts"] = posted.thread_ts
    if posted.metadata:
        # Slack returns only the type of undeclared metadata, unless the request asks for all of it.
        shown["metadata"] = (
            posted.metadata if payload else {"event_type": posted.metadata["event_type"], "event_payload": {}}
        )
    return shown


# -- Slack's limits


def message_problem(asked: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the error and reason with which Slack would refuse a message; None if Slack accepts it."""
    blocks = asked.get("blocks") or []
    text = asked.get("text") or ""
    if not isinstance(blocks, list) or not isinstance(text, str):
        return "invalid_blocks_format", "blocks are a list"
    if not blocks and not text:
        return "no_text", "neither text nor blocks"
    if len(text) > 40_000:
        return "msg_too_long", f"text of {len(text)} characters"
    if len(json.dumps(asked.get("metadata"))) > 16_000:
        return "metadata_too_large", "metadata"
    return ("invalid_blocks", problem) if (problem := blocks_problem(blocks, 50)) else None


def view_problem(view: Any) -> str | None:
    """Return what is wrong with a view; None if nothing is."""
    if not isinstance(view, dict) or view.get("type") != "modal":
        return "no modal"
    for name in ("title", "submit", "close"):
        if name in view and not 0 < len(view[name]["text"]) <= 24:
            return f"{name}: longer than 24 characters"
    if len(view.get("private_metadata", "")) > 3_000 or len(view.get("callback_id", "")) > 255:
        return "private_metadata or callback_id is too long"
    return blocks_problem(view.get("blocks") or [], 100)


def blocks_problem(blocks: Sequence[Any], most: int) -> str | None:
    """Return what is wrong with blocks; None if nothing is. `most` is the maximum number of blocks."""
    if len(blocks) > most:
        return f"{len(blocks)} blocks"
    ids = [one["block_id"] for one in blocks if isinstance(one, dict) and "block_id" in one]
    if len(ids) != len(set(ids)) or any(not 0 < len(one) <= 255 for one in ids):
        return "block_id: not unique, or too long"
    return next(filter(None, (_block_problem(one) for one in blocks)), None)


def _block_problem(block: Any) -> str | None:
    match block:
        case {"type": "divider"}:
            return None
        case {"type": "header", "text": {"type": "plain_text", "text": str(text)}}:
            return None if 0 < len(text) <= 150 else "header: 150 characters"
        case {"type": "section"}:
            return _section_problem(block)
        case {"type": "context", "elements": list(elements)}:
            if not 0 < len(elements) <= 10:
                return "context: 10 elements"
            return next(
                filter(None, (_text_problem(one, 3_000) for one in elements if one.get("type") != "image")), None
            )
        case {"type": "actions", "elements": list(elements)}:
            return _actions_problem(elements)
        case {"type": "input", "label": {"text": str(label)}, "element": dict()}:
            return None if 0 < len(label) <= 2_000 else "input: label"
        case {"type": "rich_text" | "image" | "markdown"}:
            return None
    return f"unknown block {json.dumps(block)[:200]}"


def _section_problem(block: Any) -> str | None:
    texts, fields = [block["text"]] if "text" in block else [], block.get("fields", [])
    if not texts and not fields:
        return "section: empty"
    if len(fields) > 10:
        return "section: 10 fields"
    parts = [(one, 3_000) for one in texts] + [(one, 2_000) for one in fields]
    problem = next(filter(None, (_text_problem(one, longest) for one, longest in parts)), None)
    return problem or (_element_problem(block["accessory"]) if "accessory" in block else None)


def _actions_problem(elements: list[Any]) -> str | None:
    if not 0 < len(elements) <= 25:
        return "actions: 25 elements"
    ids = [one.get("action_id") for one in elements]
    if len(ids) != len(set(ids)):
        return "actions: action_id is not unique"
    return next(filter(None, map(_element_problem, elements)), None)


def _text_problem(text: Any, longest: int) -> str | None:
    match text:
        case {"type": "plain_text" | "mrkdwn", "text": str(problem)} if 0 < len(problem) <= longest:
            return None
    return f"text of 1 to {longest} characters: {json.dumps(text)[:200]}"


def _element_problem(element: Any) -> str | None:
    if len(element.get("action_id", "")) > 255 or len(element.get("value", "")) > 2_000:
        return "action_id or value is too long"
    if "confirm" in element:
        confirm = element["confirm"]
        for name, longest in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
            if problem := _text_problem(confirm.get(name), longest):
                return f"confirm: {name}: {problem}"
    match element:
        case {"type": "button", "text": {"type": "plain_text", "text": str(text)}}:
            return None if 0 < len(text) <= 75 else "button: 75 characters"
        case {"type": "static_select", "options": list(options)}:
            fits = all(len(one["text"]["text"]) <= 75 and len(one["value"]) <= 150 for one in options)
            return None if fits and 0 < len(options) <= 100 else "static_select: options"
    return f"unknown element {json.dumps(element)[:200]}"


# -- HTTP


class _Server(HTTPServer):
    slack: SlackServer
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self.hanging: set[socket.socket] = set()
        super().__init__(*arguments)

    def shutdown_request(self, request: Any) -> None:
        if request not in self.hanging:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""

    def let_go(self) -> None:
        for one in self.hanging:
            one.close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 5

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        slack = self.server.slack
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        asked = self._asked(body, address.query)
        _, first, *rest = address.path.split("/")
        method = rest[0] if first == "api" and rest else first
        slack.calls.append((method, asked))
        fault = slack.fault(method)
        if fault and not fault.after:
            self._fail(fault, method)
            return
        status, headers, answer = self._answer(slack, first, rest, asked)
        if fault:
            self._fail(fault, method, answer)
        else:
            self._send(status, answer, headers)

    def _answer(self, slack: SlackServer, first: str, rest: list[str], asked: Any) -> tuple[int, dict[str, str], str]:
        text, as_json = {"Content-Type": "text/html"}, {"Content-Type": "application/json; charset=utf-8"}
        if first == "services":
            if urlsplit(slack.webhook_url).path != self.path:
                return 404, text, "no_service"
            if not isinstance(asked, dict) or not asked:
                return 400, text, "invalid_payload"
            status, problem = slack.hook(asked)
            return status, text, problem
        if first == "response":
            status, problem = slack.respond("/".join(rest), asked)
            return status, text, problem
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or asked.get("token")
        scopes = {"x-oauth-scopes": ",".join(sorted(slack.scopes))}
        try:
            return 200, as_json | scopes, json.dumps(slack.call(rest[0] if rest else "", asked, token))
        except Refused as refused:
            return 200, as_json | scopes, json.dumps(refused.answer)

    def _asked(self, body: bytes, query: str) -> Any:
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        if "json" in (self.headers.get("Content-Type") or "") and body.lstrip()[:1] in {b"{", b"["}:
            with contextlib.suppress(ValueError):
                given = json.loads(body)
                return asked | given if isinstance(given, dict) else given
        asked |= {name: values[-1] for name, values in parse_qs(body.decode(errors="replace")).items()}
        for name in ("blocks", "metadata", "view"):
            if isinstance(asked.get(name), str):
                asked[name] = json.loads(asked[name])
        return asked

    def _fail(self, fault: Fault, method: str, answer: str = "") -> None:
        as_json = {"Content-Type": "application/json; charset=utf-8"}
        web_api = "." in method
        match fault.kind:
            case "busy":
                body = json.dumps({"ok": False, "error": "ratelimited"}) if web_api else "rate_limited"
                self._send(429, body, as_json | {"Retry-After": str(fault.retry_after_s)})
            case "refused":
                body = json.dumps({"ok": False, "error": fault.error}) if web_api else fault.error
                self._send(200 if web_api else 400, body, as_json)
            case "500":
                self._send(500, "<html>Sorry!</html>" if web_api else "rollup_error", {"Content-Type": "text/html"})
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
            case "hang":
                self.server.hanging.add(self.connection)
                self.close_connection = True
            case "garbled":
                self._send(200, answer[: len(answer) // 2] or "{", as_json)
            case "cut":
                self._send(200, answer[:-1] or "{", as_json, claimed=len(answer.encode()) + 100)

    def _send(self, status: int, body: str, headers: Mapping[str, str], claimed: int | None = None) -> None:
        data = body.encode()
        self.send_response(status, HTTPStatus(status).phrase)
        for name, value in {**headers, "Content-Length": str(claimed or len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Write no log."""


def texts(block: Any) -> Iterator[str]:
    """Yield every text in blocks, as people read them."""
    if isinstance(block, dict):
        if isinstance(block.get("text"), str):
            yield block["text"]
        for value in block.values():
            yield from texts(value)
    elif isinstance(block, list | tuple):
        for one in block:
            yield from texts(one)
