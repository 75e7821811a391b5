"""The DynamoDB table: its keys, indexes and attributes, and reads and writes that report each failure as an error.

Every item has its model's JSON in `document` and its format number in `format`. The other attributes serve the keys,
indexes and conditions.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import batched
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter, ValidationError

from slackwater.aws.client.errors import remedies
from slackwater.model.audits import AuditRecord, RunningAudits
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.formats import FORMAT, current, refusal
from slackwater.model.tracking import LedgerEntry, TrackedFinding
from slackwater.ports.errors import BrokenAnswerError, BusyError, FormatError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

READ: Final = frozenset({"dynamodb:BatchGetItem", "dynamodb:Query"})
WRITE: Final = frozenset({"dynamodb:PutItem"})
"""Transactions need no other action."""
ACTIONS: Final = READ | WRITE

BY_TARGET: Final = "by_target"
BY_SAVING: Final = "by_saving"
BY_AGE: Final = "by_age"
INDEXES: Final[Mapping[str, tuple[str, str]]] = {
    BY_TARGET: ("target", "pk"),
    BY_SAVING: ("listing", "saving_key"),
    BY_AGE: ("listing", "age_key"),
}
"""The indexes and their keys. `listing` is a finding's status, AUDITS, CLEANUPS, or POSTS for posts that wait."""

AUDITS: Final = "audit"
CLEANUPS: Final = "cleanup"
POSTS: Final = "post-waiting"

PROJECTED: Final = ("detector", "account", "region", "severity", "saving_cents")
"""The attributes that BY_SAVING and BY_AGE have besides their keys, for filters."""

EXPIRES_AT: Final = "expires_at"
"""The time-to-live attribute, in epoch seconds."""

FINDING: Final = TypeAdapter(TrackedFinding)
LEDGER: Final = TypeAdapter(LedgerEntry)
AUDIT: Final = TypeAdapter(AuditRecord)
RUNNING: Final = TypeAdapter(RunningAudits)
CLEANUP: Final = TypeAdapter(Cleanup)
CONTROL: Final = TypeAdapter(Control)

A_BATCH: Final = 100
"""Maximum number of keys of BatchGetItem."""

ATTEMPTS: Final = 5
PAUSE_S: Final = 0.1
"""Seconds before the first retry, doubled each time. Only for errors that botocore does not retry itself."""

REFUSED: Final = frozenset({"ConditionalCheckFailedException", "ConditionalCheckFailed"})
BUSY: Final = frozenset(
    {"TransactionConflictException", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
"""Errors to retry that botocore does not: another write of the same item, or throttling of a part of a transaction."""

NEW: Final = "attribute_not_exists(pk)"

LEDGER_OF: Final = "LEDGER#"

type Item = dict[str, dict[str, str]]
"""An item in DynamoDB's JSON. It has only strings and integers."""


def item(**attributes: str | int | None) -> Item:
    """Return an item with these attributes, without those that are None."""
    return {
        name: {"S": value} if isinstance(value, str) else {"N": str(value)}
        for name, value in attributes.items()
        if value is not None
    }


def key(kind: str, id: str) -> Item:
    """Return the key of the record of this kind with this id."""
    return item(pk=f"{kind}#{id}", sk=kind)


def key_of(pk: str) -> Item:
    """Return the same key, from its partition key."""
    return item(pk=pk, sk=pk.partition("#")[0])


def ledger_key(id: str, revision: int) -> Item:
    """Return the key of an entry of a finding's ledger. The entries are under the finding, in order."""
    return item(pk=f"FINDING#{id}", sk=f"{LEDGER_OF}{revision:010d}")


def parsed[T](image: Mapping[str, Any], adapter: TypeAdapter[T]) -> T:
    """Return the document of an item, or of its image in the table's stream.

    Raises:
        FormatError: This version of Slackwater does not read its format.
        BrokenAnswerError: It cannot be read.
    """
    _check_format(image)
    try:
        return adapter.validate_json(image["document"]["S"])
    except (KeyError, ValidationError) as error:
        raise BrokenAnswerError(f"the item {image.get('pk')} cannot be read: {error}") from error


def _kind(image: Mapping[str, Any]) -> str:
    """Return the kind of document that an item has. `sk` is the kind, or begins with it."""
    return str(image["sk"]["S"]).partition("#")[0]


def _check_format(image: Mapping[str, Any]) -> None:
    number = image.get(FORMAT)
    if "sk" in image and (
        why := refusal(_kind(image), f"the item {image['pk']['S']}", number["N"] if number else None)
    ):
        raise FormatError(why)


def sortable(at: datetime) -> str:
    """Return the time in RFC 3339 with a fixed width, so that texts sort as times do."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Put:
    """An item to store if a condition is true.

    In the condition, `#name` is an attribute, and `:name` is one of the values.
    """

    item: Item
    condition: str = NEW
    values: Mapping[str, str | int] = field(default_factory=dict)


class Table:
    """The table, in the session's home region. Thread-safe."""

    def __init__(self, session: AwsSession, name: str, pause: Callable[[float], None] = time.sleep) -> None:
        """Make no call. `pause` waits for a number of seconds."""
        self._session = session
        self._name = name
        self._pause = pause

    def read(self, keys: Iterable[Item]) -> dict[str, Item]:
        """Return the items that exist, as they are now, by `pk`. At most one item per `pk`.

        Raises:
            FormatError: This version of Slackwater does not read the format of an item.
            AwsError: DynamoDB did not return all items.
        """
        found: dict[str, Item] = {}
        for batch in batched({key["pk"]["S"]: key for key in keys}.values(), A_BATCH):
            left: Any = {self._name: {"Keys": batch, "ConsistentRead": True}}
            for _ in self._attempts():
                with remedies():
                    answer: Any = self._client.batch_get_item(RequestItems=left)
                    left = answer["UnprocessedKeys"]
                    found |= {one["pk"]["S"]: one for one in answer["Responses"][self._name]}
                if not left:
                    break
            else:
                raise BusyError(f"DynamoDB left items of the table {self._name} unread, {ATTEMPTS} times")
        for one in found.values():
            _check_format(one)
        return found

    def query(self, **parameters: Any) -> Mapping[str, Any]:
        """Return one page: its `Items`, and a `LastEvaluatedKey` if there may be more.

        Raises:
            AwsError: The DynamoDB call failed.
        """
        with remedies():
            page: Mapping[str, Any] = self._client.query(TableName=self._name, **parameters)
        if page.get("Items") is None:
            raise BrokenAnswerError("the answer holds no Items")
        return page

    def query_all(self, **parameters: Any) -> Iterator[Item]:
        """Yield every item of all pages."""
        while True:
            page = self.query(**parameters)
            yield from page["Items"]
            if not page.get("LastEvaluatedKey"):
                return
            parameters["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def put(self, *puts: Put) -> bool:
        """Store all items; return False and store none if a condition is false.

        Raises:
            AwsError: They are not stored, or it is unknown whether they are.
        """
        requests = [self._request(put) for put in puts]
        for _ in self._attempts():
            with remedies():
                try:
                    if len(requests) == 1:
                        self._client.put_item(**requests[0])
                    else:
                        self._client.transact_write_items(TransactItems=[{"Put": request} for request in requests])
                except ClientError as error:
                    codes = _codes(error)
                    if codes <= REFUSED:
                        return False
                    if not codes <= REFUSED | BUSY:
                        raise
                else:
                    return True
        raise BusyError(f"DynamoDB was too busy to write to the table {self._name}, {ATTEMPTS} times")

    def _request(self, put: Put) -> dict[str, Any]:
        names = set(re.findall(r"#(\w+)", put.condition))
        return {
            "TableName": self._name,
            "Item": put.item | item(**{FORMAT: current(_kind(put.item))}),
            "ConditionExpression": put.condition,
            **({"ExpressionAttributeNames": {f"#{name}": name for name in names}} if names else {}),
            **(
                {"ExpressionAttributeValues": {f":{name}": v for name, v in item(**put.values).items()}}
                if put.values
                else {}
            ),
        }

    def _attempts(self) -> Iterator[int]:
        for attempt in range(ATTEMPTS):
            if attempt:
                self._pause(PAUSE_S * 2 ** (attempt - 1))
            yield attempt

    @property
    def _client(self) -> Any:
        return self._session.client("dynamodb", self._session.home)


def _codes(error: ClientError) -> set[str]:
    """Return the error codes of a write. A cancelled transaction has one for each item."""
    details: Any = error.response
    code = details["Error"]["Code"]
    if code != "TransactionCanceledException":
        return {code}
    return {reason["Code"] for reason in details.get("CancellationReasons", ())} - {"None"} or {code}
