"""Who else scans the same account in the same Region now, so that all of them together keep to one pace.

Each scan keeps an item in the table, a lease, and renews it while it goes on. What a scan that died leaves runs out by
itself.
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
"""So long may a scan go on as if it were alone, after another has begun."""

UNSEEN: Final = 0.5
"""The share of a scan that cannot see whether there are others: it leaves room for one."""


class DynamoLeases:
    """The leases in the table. Thread-safe."""

    def __init__(
        self, session: AwsSession, table_name: str, clock: Callable[[], datetime], warn: Callable[[str], None]
    ) -> None:
        """Makes no call. `warn` hears of what the scan goes on without."""
        self._session = session
        self._table_name = table_name
        self._clock = clock
        self._warn = warn

    @contextmanager
    def hold(self, target: Target, holder: str) -> Iterator[Callable[[], float]]:
        """Be one of those who scan a target, under a name that nobody else has.

        Gives what tells our share, above 0 to 1.

        It asks the table now, and again where it is called 30 seconds later. Nothing is raised: while the table does
        not answer, the share is a half at most.
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
        """Our part of the pace. Whoever comes when it is time renews it; the others go on with what is known."""
        now = self._clock()
        with self._lock:
            due = self._renew_at is not None and now >= self._renew_at
            if due:
                self._renew_at = now + RENEWED_AFTER
        if due:
            self._renew(now)
        return self._share

    def end(self) -> None:
        """Count no more.

        An item that has run out is as good as none, and DynamoDB takes it away: no role need delete it.
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
                FilterExpression="expires_at > :now",  # DynamoDB takes its time to take away what has run out
                ExpressionAttributeValues={":pk": {"S": self._pk}, ":now": {"N": str(int(now.timestamp()))}},
            )
            return int(answer["Count"])
