"""Fake S3 and DynamoDB servers for benchmarks: they support one audit and count what AWS would bill.

`python bench/stand_ins.py` serves them until its standard input closes; its first output line has the URL. Data stays
in memory. The only supported write condition is that the item must not exist yet, because there is no other writer.
`GET /_counts` returns the request counts so far. `POST /_latency` sets the delay of each response in milliseconds.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from typing import Any, Final
from urllib.parse import unquote, urlsplit

type Item = dict[str, dict[str, str]]

INDEXES: Final = {
    "by_target": ("target", "pk"),
    "by_saving": ("listing", "saving_key"),
    "by_age": ("listing", "age_key"),
}
"""The indexes of the CloudFormation template, with their partition and sort keys."""
PROJECTED: Final = ("detector", "account", "region", "severity", "saving_cents")
"""The non-key attributes that `by_saving` and `by_age` also contain."""

WRITE_UNIT_BYTES, READ_UNIT_BYTES = 1_024, 4_096


def size_of(item: Mapping[str, Mapping[str, str]]) -> int:
    """Return the bytes of an item, roughly as DynamoDB counts them: names and values."""
    return sum(len(name) + len(text.encode()) for name, value in item.items() for text in value.values())


def write_units(item: Item, before: Item | None, *, in_transaction: bool = False) -> int:
    """Return the write units to replace `before` by `item`: of the table (twice in a transaction) and its indexes."""
    units = ceil(size_of(item) / WRITE_UNIT_BYTES) * (2 if in_transaction else 1)
    for name, keys in INDEXES.items():
        new, old = _entry(name, keys, item), _entry(name, keys, before or {})
        if new == old:
            continue
        moved = new and old and any(new[key] != old[key] for key in keys)
        units += 2 if moved else 1
    return units


def read_units(sizes: Iterable[int], *, consistent: bool) -> float:
    """Return the read units to read each item separately; an eventually consistent read costs half."""
    return sum(ceil(max(size, 1) / READ_UNIT_BYTES) for size in sizes) * (1.0 if consistent else 0.5)


def _entry(name: str, keys: tuple[str, str], item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the item's entry in an index; None if the item lacks one of the index keys."""
    if not all(key in item for key in keys):
        return None
    held = (*keys, "pk", "sk", *(() if name == "by_target" else PROJECTED))
    return {one: item[one] for one in held if one in item}


class Table:
    """An in-memory DynamoDB table that counts the consumed units."""

    def __init__(self, count: Callable[[str, float], None]) -> None:
        """`count` receives the kind of unit and the number consumed."""
        self._count = count
        self._items: dict[str, dict[str, Item]] = {}
        self._by_target: dict[str, dict[str, None]] = {}
        self._listed: dict[str, dict[str, None]] = {}
        """Partition keys by `listing`. A publisher lists only audits and clean-ups; nothing here lists findings."""
        self._lock = threading.Lock()

    def answer(self, operation: str, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the HTTP status and the response body."""
        with self._lock:
            match operation:
                case "PutItem":
                    return self._put([request], in_transaction=False)
                case "TransactWriteItems":
                    return self._put([one["Put"] for one in request["TransactItems"]], in_transaction=True)
                case "UpdateItem":
                    key = request["Key"]
                    item = self._stored_item(key) or dict(key)
                    added = int(request["ExpressionAttributeValues"][":count"]["N"])
                    item["metrics"] = {"N": str(int(item.get("metrics", {"N": "0"})["N"]) + added)}
                    self._store(item, in_transaction=False)
                    return 200, {}
                case "BatchGetItem":
                    ((name, keys),) = ((name, each["Keys"]) for name, each in request["RequestItems"].items())
                    found = [item for key in keys if (item := self._stored_item(key))]
                    sizes = [*map(size_of, found), *([0] * (len(keys) - len(found)))]
                    self._count("read_units", read_units(sizes, consistent=True))
                    return 200, {"Responses": {name: found}, "UnprocessedKeys": {}}
                case "Query":
                    found = list(self._query(request))
                    size = sum(map(size_of, found))
                    self._count("read_units", read_units([size], consistent=request.get("ConsistentRead", False)))
                    return 200, {"Items": [] if request.get("Select") == "COUNT" else found, "Count": len(found)}
                case _:
                    raise NotImplementedError(operation)

    def _stored_item(self, key: Item) -> Item | None:
        return self._items.get(key["pk"]["S"], {}).get(key["sk"]["S"])

    def _put(self, puts: list[dict[str, Any]], *, in_transaction: bool) -> tuple[int, dict[str, Any]]:
        refused = [
            put.get("ConditionExpression") == "attribute_not_exists(pk)" and self._stored_item(put["Item"]) is not None
            for put in puts
        ]
        if not any(refused):
            for put in puts:
                self._store(put["Item"], in_transaction=in_transaction)
            return 200, {}
        if not in_transaction:
            return 400, {"__type": "ConditionalCheckFailedException", "message": "item exists"}
        reasons = [{"Code": "ConditionalCheckFailed" if one else "None"} for one in refused]
        return 400, {"__type": "TransactionCanceledException", "message": "item exists", "CancellationReasons": reasons}

    def _store(self, item: Item, *, in_transaction: bool) -> None:
        pk, sk = item["pk"]["S"], item["sk"]["S"]
        before = self._stored_item(item)
        self._count("write_units", write_units(item, before, in_transaction=in_transaction))
        self._items.setdefault(pk, {})[sk] = item
        for attribute, index in (("target", self._by_target), ("listing", self._listed)):
            if before and attribute in before:
                index.get(before[attribute]["S"], {}).pop(pk, None)
            if attribute in item:
                index.setdefault(item[attribute]["S"], {})[pk] = None

    def _query(self, request: dict[str, Any]) -> Iterator[Item]:
        values = request["ExpressionAttributeValues"]
        match request.get("IndexName"):
            case "by_target":
                for pk in self._by_target.get(values[":target"]["S"], {}):
                    yield {"pk": {"S": pk}, "sk": {"S": pk.partition("#")[0]}, "target": values[":target"]}
            case None:
                begins = values.get(":sk", {"S": ""})["S"]
                for sk, item in sorted(self._items.get(values[":pk"]["S"], {}).items()):
                    alive = ":now" not in values or int(item["expires_at"]["N"]) > int(values[":now"]["N"])
                    if sk.startswith(begins) and alive:
                        yield item
            case index:
                keys = INDEXES[index]
                entries = (
                    _entry(index, keys, self._items[pk][pk.partition("#")[0]])
                    for pk in self._listed.get(values[":listing"]["S"], {})
                )
                found = sorted((one for one in entries if one), key=lambda one: str(one[keys[1]]), reverse=True)
                yield from found[: request.get("Limit", 1_000)]


class FakeAwsServer(ThreadingHTTPServer):
    """Serve the fake bucket and table at one address. Only DynamoDB requests name their operation in a header."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        """Bind to a free local port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.latency_s = 0.0
        self.objects: dict[str, bytes] = {}
        self.table = Table(self.count)
        self._counts = Counter[str]()
        self._counting = threading.Lock()

    def count(self, what: str, by: float = 1) -> None:
        """Add to a counter."""
        with self._counting:
            self._counts[what] += by  # type: ignore[assignment]

    def counts(self) -> dict[str, float]:
        """Return a copy of the counters."""
        with self._counting:
            return dict(self._counts)


class _Handler(BaseHTTPRequestHandler):
    server: FakeAwsServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def handle_expect_100(self) -> bool:
        """Send the response at once, because the client waits for it."""
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def do_GET(self) -> None:
        if self.path == "/_counts":
            return self._send(200, json.dumps(self.server.counts()).encode())
        return self._read_text(with_body=True)

    def do_HEAD(self) -> None:
        self._read_text(with_body=False)

    def do_PUT(self) -> None:
        body, key = self._body(), self._key()
        self._count_and_delay("s3:PutObject")
        if self.headers.get("If-None-Match") and key in self.server.objects:
            return self._send(412, b"<Error><Code>PreconditionFailed</Code><Message>object exists</Message></Error>")
        self.server.objects[key] = body
        self.server.count("s3 bytes put", len(body))
        return self._send(200, b"", {"ETag": '"1"', "x-amz-version-id": "1"})

    def do_POST(self) -> None:
        body = self._body()
        if self.path == "/_latency":
            self.server.latency_s = float(body) / 1_000
            return self._send(200, b"")
        operation = self.headers["X-Amz-Target"].partition(".")[2]
        self._count_and_delay(f"dynamodb:{operation}")
        status, answer = self.server.table.answer(operation, json.loads(body))
        return self._send(status, json.dumps(answer).encode(), {"Content-Type": "application/x-amz-json-1.0"})

    def log_message(self, format: str, *_: Any) -> None:
        """Log nothing."""

    def _read_text(self, *, with_body: bool) -> None:
        self._count_and_delay("s3:GetObject" if with_body else "s3:HeadObject")
        text = self.server.objects.get(self._key())
        if text is None:
            return self._send(
                404, b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>" if with_body else b""
            )
        self.server.count("s3 bytes got", len(text) if with_body else 0)
        return self._send(200, text, {"ETag": '"1"', "x-amz-version-id": "1"}, with_body=with_body)

    def _count_and_delay(self, what: str) -> None:
        self.server.count(what)
        if self.server.latency_s:
            time.sleep(self.server.latency_s)

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).lstrip("/").partition("/")[2]

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _send(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None, *, with_body: bool = True
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)
        self.wfile.flush()


if __name__ == "__main__":
    server = FakeAwsServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
