"""The DynamoDB table: what its keys, indexes and attributes are called; reads and writes that take no failure for
absence.

Every item has its model's JSON in `document` and its format number in `format`; other attributes are there for the
keys, the indexes and the conditions.
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
"""Transactions, too: they have no action of their own."""
ACTIONS: Final = READ | WRITE

BY_TARGET: Final = "by_target"
BY_SAVING: Final = "by_saving"
BY_AGE: Final = "by_age"
INDEXES: Final[Mapping[str, tuple[str, str]]] = {
    BY_TARGET: ("target", "pk"),
    BY_SAVING: ("listing", "saving_key"),
    BY_AGE: ("listing", "age_key"),
}
"""The indexes, with their keys. `listing` is a finding's status, AUDITS, CLEANUPS, or POSTS while they wait."""

AUDITS: Final = "audit"
CLEANUPS: Final = "cleanup"
POSTS: Final = "post-waiting"

PROJECTED: Final = ("detector", "account", "region", "severity", "saving_cents")
"""What BY_SAVING and BY_AGE hold besides keys: the attributes that a list is narrowed down by."""

EXPIRES_AT: Final = "expires_at"
"""Time to live, epoch seconds."""

FINDING: Final = TypeAdapter(TrackedFinding)
LEDGER: Final = TypeAdapter(LedgerEntry)
AUDIT: Final = TypeAdapter(AuditRecord)
RUNNING: Final = TypeAdapter(RunningAudits)
CLEANUP: Final = TypeAdapter(Cleanup)
CONTROL: Final = TypeAdapter(Control)

A_BATCH: Final = 100
"""Keys that BatchGetItem takes."""

ATTEMPTS: Final = 5
PAUSE_S: Final = 0.1
"""Before asking again, doubled each time; only for what botocore does not ask for again itself."""

REFUSED: Final = frozenset({"ConditionalCheckFailedException", "ConditionalCheckFailed"})
BUSY: Final = frozenset(
    {"TransactionConflictException", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
"""Reasons to ask again that botocore does not know: somebody else writes the item, or a part of a transaction was
throttled.
"""

NEW: Final = "attribute_not_exists(pk)"

LEDGER_OF: Final = "LEDGER#"

type Item = dict[str, dict[str, str]]
"""An item in DynamoDB's JSON; it has strings and whole numbers only."""


def item(**attributes: str | int | None) -> Item:
    """An item; None is left out."""
    return {
        name: {"S": value} if isinstance(value, str) else {"N": str(value)}
        for name, value in attributes.items()
        if value is not None
    }


def key(kind: str, id: str) -> Item:
    """Where the finding, the audit or the occasion of this id is."""
    return item(pk=f"{kind}#{id}", sk=kind)


def key_of(pk: str) -> Item:
    """The same, by its first half."""
    return item(pk=pk, sk=pk.partition("#")[0])


def ledger_key(id: str, revision: int) -> Item:
    """Where an entry of a finding's ledger is: under the finding, in order."""
    return item(pk=f"FINDING#{id}", sk=f"{LEDGER_OF}{revision:010d}")


def parsed[T](image: Mapping[str, Any], adapter: TypeAdapter[T]) -> T:
    """What an item, or an image of it in the table's stream, holds.

    Raises:
        FormatError: it has a format that this version does not read.
        BrokenAnswerError: it cannot be read.
    """
    _check_format(image)
    try:
        return adapter.validate_json(image["document"]["S"])
    except (KeyError, ValidationError) as error:
        raise BrokenAnswerError(f"the item {image.get('pk')} cannot be read: {error}") from error


def _kind(image: Mapping[str, Any]) -> str:
    """What kind of document an item is: `sk` is the kind, or begins with it."""
    return str(image["sk"]["S"]).partition("#")[0]


def _check_format(image: Mapping[str, Any]) -> None:
    number = image.get(FORMAT)
    if "sk" in image and (
        why := refusal(_kind(image), f"the item {image['pk']['S']}", number["N"] if number else None)
    ):
        raise FormatError(why)


def sortable(at: datetime) -> str:
    """RFC 3339 of one width, so that texts sort as times do."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Put:
    """An item to store where a condition holds: `#name` in it is an attribute, `:name` one of the values."""

    item: Item
    condition: str = NEW
    values: Mapping[str, str | int] = field(default_factory=dict)


class Table:
    """The table, in the session's home region. Thread-safe."""

    def __init__(self, session: AwsSession, name: str, pause: Callable[[float], None] = time.sleep) -> None:
        """Makes no call; `pause` waits for seconds."""
        self._session = session
        self._name = name
        self._pause = pause

    def read(self, keys: Iterable[Item]) -> dict[str, Item]:
        """The items that are there, as they are now, by `pk`; one of each.

        Raises:
            FormatError: one has a format that this version does not read.
            AwsError: DynamoDB did not say, or not of all.
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
        """A page: its `Items`, and a `LastEvaluatedKey` where there may be more.

        Raises:
            AwsError: DynamoDB did not say.
        """
        with remedies():
            page: Mapping[str, Any] = self._client.query(TableName=self._name, **parameters)
        if page.get("Items") is None:
            raise BrokenAnswerError("the answer holds no Items")
        return page

    def query_all(self, **parameters: Any) -> Iterator[Item]:
        """Every item, over all pages."""
        while True:
            page = self.query(**parameters)
            yield from page["Items"]
            if not page.get("LastEvaluatedKey"):
                return
            parameters["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def put(self, *puts: Put) -> bool:
        """Store all of them, or none and False where a condition does not hold.

        Raises:
            AwsError: DynamoDB did not, or did not say.
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
    """What was wrong with a write: a cancelled transaction says it of each item."""
    details: Any = error.response
    code = details["Error"]["Code"]
    if code != "TransactionCanceledException":
        return {code}
    return {reason["Code"] for reason in details.get("CancellationReasons", ())} - {"None"} or {code}
