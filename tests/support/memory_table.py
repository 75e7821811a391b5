"""A DynamoDB table in memory for the real adapters. It enforces DynamoDB's conditions and limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.store import cleanups as cleanup_store
from slackwater.aws.store import findings as finding_store
from slackwater.aws.store.table import NEW, Table

MOST_BYTES: Final = 400 * 1024
"""Maximum size of one item, names included (Amazon DynamoDB Developer Guide, "Service, account, and table quotas")."""
MOST_ITEMS: Final = 100
MOST_TRANSACTION_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of one transaction in bytes. `MOST_ITEMS` is its maximum number of items."""

type Attributes = Mapping[str, Mapping[str, str]]

CONDITIONS: Final[Mapping[str, Callable[[Attributes, Attributes], bool]]] = {
    NEW: lambda stored, _: not stored,
    cleanup_store.UNCHANGED: lambda stored, values: stored.get("revision") == values[":revision"],
    cleanup_store.FREE_OR_MINE: lambda stored, values: stored.get("holder") in (None, values[":holder"]),
    cleanup_store.MINE: lambda stored, values: stored.get("holder") == values[":holder"],
    finding_store.UNCHANGED: lambda stored, values: (
        stored.get("revision") == values[":revision"]
        and stored["last_seen_at"]["S"] <= values[":last_seen_at"]["S"]
    ),
}  # fmt: skip
"""The conditions that the adapters use, as Python functions."""


def size_of(item: Attributes) -> int:
    """Return the bytes of an item about as DynamoDB counts them: names and values in UTF-8, a byte for each digit."""
    return sum(len(name.encode()) + len(next(iter(value.values())).encode()) for name, value in item.items())


@dataclass
class MemoryTable:
    """A `Table`'s session and its DynamoDB client. `largest` is the size of the largest item so far, in bytes."""

    items: dict[tuple[str, str], Attributes] = field(default_factory=dict)
    largest: int = 0
    home: str = "eu-west-1"
    before_write: Callable[[], None] = lambda: None
    after_write: Callable[[], None] = lambda: None

    @property
    def table(self) -> Table:
        """Return the adapter for this table."""
        return Table(self, "memory", lambda _: None)  # type: ignore[arg-type]

    def client(self, service: str, region: str) -> "MemoryTable":
        assert (service, region) == ("dynamodb", self.home)
        return self

    def put_item(self, **request: Any) -> None:
        self._write([request])

    def transact_write_items(self, TransactItems: list[dict[str, Any]]) -> None:
        self._write([one["Put"] for one in TransactItems], transaction=True)

    def batch_get_item(self, RequestItems: Mapping[str, Any]) -> Any:
        ((name, asked),) = RequestItems.items()
        keys = [_key(key) for key in asked["Keys"]]
        assert asked["ConsistentRead"]
        return {
            "Responses": {name: [dict(self.items[key]) for key in keys if key in self.items]},
            "UnprocessedKeys": {},
        }

    def query(self, **request: Any) -> Any:
        """Return the ledger entries of a finding."""
        assert request["KeyConditionExpression"] == "pk = :pk AND begins_with(sk, :sk)"
        values = request["ExpressionAttributeValues"]
        pk, sk = values[":pk"]["S"], values[":sk"]["S"]
        return {"Items": [self.items[key] for key in sorted(self.items) if key[0] == pk and key[1].startswith(sk)]}

    def _write(self, puts: list[dict[str, Any]], *, transaction: bool = False) -> None:
        self.before_write()
        sizes = [size_of(put["Item"]) for put in puts]
        if max(sizes) > MOST_BYTES:
            raise _refused("ValidationException", "Item size has exceeded the maximum allowed size")
        if len(puts) > MOST_ITEMS or sum(sizes) > MOST_TRANSACTION_BYTES:
            raise _refused("ValidationException", "Member must have length less than or equal to 100")
        met = [
            CONDITIONS[put["ConditionExpression"]](
                self.items.get(_key(put["Item"]), {}), put.get("ExpressionAttributeValues", {})
            )
            for put in puts
        ]
        if not all(met):
            raise (
                _cancelled(met) if transaction else _refused("ConditionalCheckFailedException", "The condition failed")
            )
        self.largest = max(self.largest, *sizes)
        self.items |= {_key(put["Item"]): put["Item"] for put in puts}
        self.after_write()


def _key(item: Attributes) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _refused(code: str, message: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutItem")


def _cancelled(met: list[bool]) -> ClientError:
    reasons = [{"Code": "None" if one else "ConditionalCheckFailed"} for one in met]
    error: Any = {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons}
    return ClientError(error, "TransactWriteItems")
