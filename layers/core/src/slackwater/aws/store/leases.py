"""Counts the scans of the same account and Region, so that they share one rate limit.

Each scan has an item in the table, a lease, and renews it while it runs. The lease of a scan that crashed expires.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from slackwater.aws.client.errors import remedies
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"dynamodb:PutItem", "dynamodb:Query"})

KIND: Final = "LEASE"

LASTS: Final = timedelta(minutes=2)
RENEWED_AFTER: Final = timedelta(seconds=30)
"""After another scan begins, this one may use the full rate for up to this time."""

UNSEEN: Final = 0.5
"""The share of a scan that cannot read whether there are others. It leaves room for one other scan."""


class DynamoLeases:
    """The leases in the table. Thread-safe."""

    def __init__(
        self, session: AwsSession, table_name: str, clock: Callable[[], datetime], warn: Callable[[str], None]
    ) -> None:
        """Make no call. `warn` logs failed calls that the scan can do without."""
        self._session = session
        self._table_name = table_name
        self._clock = clock
        self._warn = warn

    @contextmanager
    def hold(self, target: Target, holder: str) -> Iterator[Callable[[], float]]:
        """Register this scan under a unique name, and yield a function that returns its share of the rate limit.

        The share is in (0, 1]. It is read from the table now, and again when the function is called at least 30 seconds
        later. It raises no error. If the table cannot be read, the share is at most one half.
        """
        client = self._session.client("dynamodb", self._session.home)
        key = _Key(f"{KIND}#{target.account}/{target.region}", holder)
        lease = _Lease(client, self._table_name, key, self._clock, self._warn)
        lease.share()
        try:
            yield lease.share
        finally:
            lease.end()


class _Key(NamedTuple):
    """The key of a lease in the table: the target, and the holder's name."""

    pk: str
    sk: str


class _Lease:
    def __init__(
        self, client: Any, table_name: str, key: _Key, clock: Callable[[], datetime], warn: Callable[[str], None]
    ) -> None:
        self._client, self._table_name, self._clock, self._warn = client, table_name, clock, warn
        self._pk, self._holder = key
        self._lock = threading.Lock()
        self._share = 1.0
        self._renew_at: datetime | None = clock()

    def share(self) -> float:
        """Return this scan's share of the rate limit.

        If a renewal is due, one thread renews the lease. The others use the last share.
        """
        now = self._clock()
        with self._lock:
            due = self._renew_at is not None and now >= self._renew_at
            if due:
                self._renew_at = now + RENEWED_AFTER
        if due:
            self._renew(now)
        return self._share

    def end(self) -> None:
        """End the lease.

        An expired item counts as none, and DynamoDB deletes it. So no role needs permission to delete items.
        """
        with self._lock:
            self._renew_at = None
        try:
            self._put(self._clock())
        except AwsError as error:
            self._warn(f"other scans of {self._pk} make room for this one for two minutes more: {error}")

    def _renew(self, now: datetime) -> None:
        try:
            self._put(now + LASTS)
            self._share = 1 / max(1, self._alive(now))
        except AwsError as error:
            self._share = min(self._share, UNSEEN)
            self._warn(
                f"{self._share:.0%} of the calls a second, as other scans of {self._pk} are not to be seen: {error}"
            )

    def _put(self, until: datetime) -> None:
        item = {"pk": {"S": self._pk}, "sk": {"S": self._holder}, "expires_at": {"N": str(int(until.timestamp()))}}
        with remedies():
            self._client.put_item(TableName=self._table_name, Item=item)

    def _alive(self, now: datetime) -> int:
        with remedies():
            answer = self._client.query(
                TableName=self._table_name,
                Select="COUNT",
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk",
                FilterExpression="expires_at > :now",  # DynamoDB deletes expired items with a delay
                ExpressionAttributeValues={":pk": {"S": self._pk}, ":now": {"N": str(int(now.timestamp()))}},
            )
            return int(answer["Count"])
