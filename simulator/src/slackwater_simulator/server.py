"""Serve every simulated service on one local endpoint, chosen by the scope of each request's signature."""

import contextlib
import json
import re
import socket
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from http.client import responses
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

from . import (
    backup,
    backup_jobs,
    cloudtrail,
    cloudwatch,
    compute_optimizer,
    ec2_instances,
    ec2_query,
    ec2_snapshots,
    ec2_volumes,
    efs,
    fsx,
    iam,
    kms,
    organizations,
    pricing,
    sts,
    writes_efs,
    writes_fsx,
)
from .account import Account
from .clock import Clock
from .faults import Faults
from .malformed import malform
from .paging import astray
from .partitions import REGIONS, partition
from .resources import Fleet, rfc3339
from .truth import truth
from .wire import REQUEST_ID, REST, AwsError, Call, Json, Operation, Reply, as_json, failure, operations, routed

_SERVICES = {"monitoring": "cloudwatch"}
_SCOPE = re.compile(r"Credential=([^/\s,]+)/\d{8}/([^/\s,]+)/([^/\s,]+)/aws4_request")
_OPERATIONS = {
    "backup": operations(backup, backup_jobs),
    "cloudtrail": operations(cloudtrail),
    "cloudwatch": operations(cloudwatch),
    "compute-optimizer": operations(compute_optimizer),
    "ec2": operations(ec2_query, ec2_instances, ec2_snapshots, ec2_volumes),
    "elasticfilesystem": operations(efs, writes_efs),
    "fsx": operations(fsx, writes_fsx),
    "iam": operations(iam),
    "kms": operations(kms),
    "organizations": operations(organizations),
    "pricing": operations(pricing),
    "sts": operations(sts),
}
_SHOWN = ("id", "kind", "of", "region", "made", "state", "tags", "bytes", "contents")
"""The members of a backup that are shown. The others are its service's own."""
_DEEDS = frozenset(
    {"attach", "detach", "tag", "untag", "use", "work", "replace"}
    | {"set_key", "lock_vault", "copy_backup", "hide_backups"}
)
"""Actions of other people on an account, which callers can request over HTTP."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def _nested(params: dict[str, str]) -> Json:
    """Return query parameters such as `Filter.1.Value.1=x` as nested data, without `member`."""
    root: Json = {}
    for name, value in params.items():
        *path, last = [part for part in name.split(".") if part != "member"]
        node = root
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return cast("Json", _lists(root))


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdigit() for key in node):
        return [_lists(node[key]) for key in sorted(node, key=int)]
    return {key: _lists(value) for key, value in node.items()}


class Accounts:
    """Accounts by number. An organization's accounts are created on first use. Iteration gives the created ones."""

    def __init__(self, fleets: Iterable[Fleet], organization: organizations.Organization | None, clock: Clock) -> None:
        self._made = {each.account: Account(each, clock) for each in fleets}
        self._organization, self._clock = organization, clock
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Account]:
        return iter([*self._made.values()])

    def __getitem__(self, number: str) -> Account:
        account = self.get(number)
        if account is None:
            raise KeyError(number)
        return account

    def get(self, number: str) -> Account | None:
        """Return an account, or None if it does not exist."""
        with self._lock:
            org = self._organization
            if number not in self._made and org and (fleet := org.fleet_of(number)):
                self._made[number] = Account(fleet, self._clock)
            return self._made.get(number)


class Simulator:
    """Simulated accounts behind one local endpoint. The first fleet's account is the callers' own."""

    def __init__(
        self,
        fleet: Fleet,
        *others: Fleet,
        organization: organizations.Organization | None = None,
        latency_ms: float = 0.0,
        port: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self.fleet = fleet
        self.clock = clock or Clock()
        self.organization = organization
        self.accounts = Accounts((fleet, *others), organization, self.clock)
        self.faults = Faults(latency_ms)
        self._before: dict[str, list[Callable[[], object]]] = {}
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The endpoint's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def account(self) -> Account:
        """The callers' own account."""
        return self.accounts[self.fleet.account]

    def advance(self, seconds: float) -> None:
        """Move the simulated clock forward, and run the actions that are due by then."""
        self.clock.advance(seconds)
        for account in self.accounts:
            account.run_due()

    def before(self, action: str, callback: Callable[[], object]) -> None:
        """Run a callback before each call of an action is answered, until `reset`."""
        self._before.setdefault(action, []).append(callback)

    @property
    def calls(self) -> dict[str, int]:
        """HTTP requests received, by action."""
        with self._lock:
            return dict(sorted(self._calls.items()))

    @property
    def metrics_requested(self) -> int:
        """Metrics requested by GetMetricData and GetMetricStatistics."""
        return sum(account.usage["metrics_requested"] for account in self.accounts)

    @property
    def datapoints(self) -> int:
        """Data points served."""
        return sum(account.usage["datapoints"] for account in self.accounts)

    def reset(self) -> None:
        """Remove all counts, faults and callbacks. Changes to the accounts stay."""
        with self._lock:
            self._calls.clear()
        for account in self.accounts:
            account.usage.clear()
        self._before.clear()
        self.faults.clear()

    def start(self) -> None:
        """Serve in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, request: Request) -> Reply | None:
        """Return the reply to a request. None closes the connection."""
        if request.target.startswith("/_simulator/"):
            return self._own(request)
        scope = _SCOPE.search(request.headers.get("authorization", ""))
        if scope is None:
            missing = AwsError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
            return failure(None, missing)
        call = self._call(request, *scope.groups())
        self._begin(call)
        if self.faults.take("drop", call) is not None:
            return None
        try:
            self.faults.check(call)
            reply = self._done(call)
        except (AwsError, KeyError, TypeError, ValueError) as error:
            return failure(call, error if isinstance(error, AwsError) else AwsError("ValidationError", repr(error)))
        return None if self.faults.take("lost-answer", call) is not None else self._spoiled(call, reply)

    def _begin(self, call: Call) -> None:
        """Count a call, and run delays and callbacks before its answer."""
        with self._lock:
            self._calls[call.action] += 1
        if self.faults.latency_ms:
            time.sleep(self.faults.latency_ms / 1000)
        if slow := self.faults.take("slow", call):
            time.sleep(slow["seconds"])
        for callback in tuple(self._before.get(call.action, ())):
            callback()
        call.account.run_due()

    def _spoiled(self, call: Call, reply: Reply) -> Reply:
        """Return the reply with the faults that change it."""
        if self.faults.take("truncate", call) is not None:
            return Reply(reply.body[: len(reply.body) // 2], reply.content_type)
        if wrong := self.faults.take("malformed", call):
            return malform(reply, **wrong)
        return reply

    def _done(self, call: Call) -> Reply:
        operation = self._operation(call)
        if call.reads:
            call = self.faults.shortened(call)
            if how := self.faults.paged_astray(call):
                operation = partial(astray, operation, how=how)
            lag = self.faults.take("lagging", call)
            return operation(replace(call, account=call.account.shown(lag["seconds"] if lag else 0.0)))
        with call.account.lock:
            return operation(call)

    def _operation(self, call: Call) -> Operation:
        if call.region not in (call.account.fleet.enabled or REGIONS[partition(call.account.fleet.regions[0])]):
            code = "AuthFailure" if call.service == "ec2" else "UnrecognizedClientException"
            raise AwsError(code, "AWS was not able to validate the provided access credentials", 401)
        operation = _OPERATIONS.get(call.service, {}).get(call.operation.lower())
        if operation is None:
            raise AwsError("UnknownOperationException", f"The simulator has no {call.action}", 400)
        return operation

    def _call(self, request: Request, key: str, region: str, scope: str) -> Call:
        service = _SERVICES.get(scope, scope)
        path, query = urlsplit(request.target)[2:4]
        number = key.removeprefix(sts.KEY_PREFIX)[:12] if key.startswith(sts.KEY_PREFIX) else self.fleet.account
        account = self.accounts.get(number) or self.account
        if target := request.headers.get("x-amz-target"):
            protocol = "json-1.0" if request.headers.get("content-type", "").endswith("1.0") else "json-1.1"
            operation, given = target.rpartition(".")[2], json.loads(request.body or b"{}")
        elif service in REST:
            protocol = "rest-json"
            operation, given = routed(service, request.method, path, query)
            given = json.loads(request.body or b"{}") | given
        else:
            protocol, asked = "query", parse_qs(request.body.decode() or query, keep_blank_values=True)
            given = _nested({name: values[0] for name, values in asked.items()})
            operation = given.pop("Action", "Unknown")
        return Call(service, operation, region, account, given, protocol, self)

    def _own(self, request: Request) -> Reply:
        """Answer a request to the simulator's own endpoints."""
        path, query = urlsplit(request.target)[2:4]
        try:
            body = json.loads(request.body or b"{}")
            given = {**body, **{name: values[0] for name, values in parse_qs(query).items()}}
            answer = self._own_answer(request.method, path.removeprefix("/_simulator/"), given)
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            return Reply(as_json({"error": f"{type(error).__name__}: {error}"}), "application/json", 400)
        if answer is None:
            return Reply(b"{}", "application/json", 404)
        return Reply(as_json(answer), "application/json")

    def _own_answer(self, method: str, name: str, given: Json) -> Json | None:
        """Answer one of the simulator's own calls: GET reads, other methods change something. None: no such call."""
        account = self.accounts[given.get("account", self.fleet.account)]
        account.run_due()
        if method == "GET":
            return self._shown(account, name, given)
        match name:
            case "reset":
                self.reset()
            case "faults":
                self.faults.apply(given)
            case "advance":
                self.advance(float(given["seconds"]))
            case "before":
                self.before(given["action"], self._deed(account, given["do"], given["arguments"]))
            case deed if deed in _DEEDS:
                self._deed(account, deed, given["arguments"])()
            case _:
                return None
        return {}

    def _shown(self, account: Account, name: str, given: Json) -> Json | None:
        match name:
            case "calls":
                return {each: getattr(self, each) for each in ("calls", "metrics_requested", "datapoints")}
            case "truth":
                return truth(self.fleet)
            case "clock":
                return {"now": account.now, "text": rfc3339(account.now)}
            case "exists" | "contents":
                return {name: getattr(account, name)(given["id"])}
            case "backups":
                return {name: [{part: getattr(each, part) for part in _SHOWN} for each in account.backups()]}
        return None

    @staticmethod
    def _deed(account: Account, name: str, arguments: list[str]) -> Callable[[], object]:
        """Return an action of another person on an account."""
        if name not in _DEEDS:
            raise ValueError(f"nobody does {name}")
        return partial(getattr(account, name), *arguments)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], simulator: Simulator) -> None:
        self.simulator = simulator
        self.connections: set[socket.socket] = set()
        super().__init__(address, _Connection)

    def server_close(self) -> None:
        super().server_close()
        for connection in tuple(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Connection(socketserver.StreamRequestHandler):
    """One keep-alive HTTP/1.1 connection."""

    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        self.server.connections.add(self.connection)
        try:
            while (request := self._read()) is not None:
                reply = self.server.simulator.answer(request)
                if reply is None:
                    return
                self._write(reply)
        except (ConnectionError, BrokenPipeError):
            return
        finally:
            self.server.connections.discard(self.connection)

    def _read(self) -> Request | None:
        line = self.rfile.readline()
        if not line.strip():
            return None
        method, target, _ = line.decode("latin-1").split(" ", 2)
        headers: dict[str, str] = {}
        while (line := self.rfile.readline()) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return Request(method, target, headers, self.rfile.read(int(headers.get("content-length", 0))))

    def _write(self, reply: Reply) -> None:
        head = [
            f"HTTP/1.1 {reply.status} {responses.get(reply.status, '')}",
            f"Content-Type: {reply.content_type}",
            f"Content-Length: {len(reply.body)}",
            f"x-amzn-RequestId: {REQUEST_ID}",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        self.connection.sendall("\r\n".join([*head, "", ""]).encode("latin-1") + reply.body)
