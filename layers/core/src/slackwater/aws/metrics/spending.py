"""How many metrics an audit may ask for: a ceiling on what CloudWatch bills for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any, Final, Self

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of, remedies
from slackwater.model.findings import CEILING
from slackwater.model.money import USD_PER_METRIC
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"dynamodb:UpdateItem"})

KIND: Final = "SPEND"

BLOCK: Final = 5_000
"""Metrics, 0.05 USD, that a scan takes at once at most: it writes once for ten full calls."""

KEPT: Final = timedelta(days=2)
"""Longer than any audit, with its retries, goes on."""


class LocalSpending:
    """The ceiling of what one process asks. Thread-safe."""

    def __init__(self, most_usd: float) -> None:
        """Nothing is spent yet."""
        self._most_usd = most_usd
        self._spent = 0
        self._lock = threading.Lock()
        self._refusal: str | None = None

    def take(self, metrics: int) -> str | None:
        """Count metrics that are about to be asked for; why not, and nothing counted, where they would cost too much."""
        with self._lock:
            if self._spent + metrics <= _most(self._most_usd):
                self._spent += metrics
                return None
            self._refusal = self._refusal or refusal(self._most_usd, self._spent)
            return self._refusal


class DynamoSpending:
    """The ceiling of an audit, over all its scans, in the table: a context, for one scan. Thread-safe.

    A scan takes blocks, as large as what it has asked so far, and gives back at its end what it did not ask. Where the table
    does not answer, nothing is asked. A scan that dies gives nothing back, and one that is tried again counts again; an answer
    that is lost on the way may count a block twice, taken or given back.
    """

    def __init__(
        self,
        session: AwsSession,
        table_name: str,
        audit_id: str,
        most_usd: float,
        *,
        clock: Callable[[], datetime],
        warn: Callable[[str], None],
    ) -> None:
        """Makes no call, and no client. `warn` hears where what was not asked could not be given back."""
        self._session, self._table_name, self._audit_id = session, table_name, audit_id
        self._most_usd, self._clock, self._warn = most_usd, clock, warn
        self._lock = threading.Lock()
        self._asked = self._left = 0
        self._refusal: str | None = None
        self._refused_from = 0
        """What is refused, and more than that with it: in one wording, and without asking the table again."""

    def take(self, metrics: int) -> str | None:
        """As `LocalSpending.take`."""
        with self._lock:
            if metrics > self._left:
                if self._refusal and metrics >= self._refused_from:
                    return self._refusal
                try:
                    spent = self._reserve(metrics - self._left)
                    why, from_ = (refusal(self._most_usd, spent), metrics) if spent is not None else (None, 0)
                except AwsError as error:
                    why, from_ = f"not asked: what the audit has spent on metrics could not be counted ({error})", 0
                if why:
                    self._refusal, self._refused_from = self._refusal or why, from_
                    return self._refusal
            self._left -= metrics
            self._asked += metrics
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            left, self._left = self._left, 0
        try:
            if left:
                self._add(-left)
        except AwsError as error:
            self._warn(f"{left} metrics that were not asked stay counted for the audit {self._audit_id}: {error}")

    def _reserve(self, missing: int) -> int | None:
        """Take what is missing, and more if it fits; where it does not, how many metrics the audit has asked for."""
        spent = self._asked + self._left
        for count in dict.fromkeys((max(missing, min(self._asked, BLOCK)), missing)):
            if (beside := _most(self._most_usd) - count) >= 0:
                counted = self._add(count, beside)
                if counted is None:
                    self._left += count
                    return None
                spent = counted
        return spent

    def _add(self, count: int, beside: int | None = None) -> int | None:
        """Count metrics, where no more than `beside` are counted; how many are, and nothing changed, where there are more."""
        condition: dict[str, Any] = (
            {} if beside is None else {"ConditionExpression": "attribute_not_exists(#metrics) OR #metrics <= :beside"}
        )
        expires_at = int((self._clock() + KEPT).timestamp())
        values = {":count": count, ":expires_at": expires_at} | ({} if beside is None else {":beside": beside})
        with remedies():
            try:
                self._session.client("dynamodb", self._session.home).update_item(
                    TableName=self._table_name,
                    Key={"pk": {"S": f"{KIND}#{self._audit_id}"}, "sk": {"S": KIND}},
                    UpdateExpression="ADD #metrics :count SET expires_at = :expires_at",
                    ExpressionAttributeNames={"#metrics": "metrics"},
                    ExpressionAttributeValues={name: {"N": str(value)} for name, value in values.items()},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **condition,
                )
            except ClientError as error:
                if code_of(error) != "ConditionalCheckFailedException":
                    raise
                answer: Any = error.response
                return int(answer["Item"]["metrics"]["N"])
        return None


def refusal(most_usd: float, spent: int) -> str:
    """Why metrics are not asked for, once so many were: in USD, rounded down to a hundredth of the ceiling or to a cent."""
    most = Decimal(str(most_usd)).normalize()
    places = max(2, 2 - most.adjusted())
    usd = (spent * USD_PER_METRIC).quantize(Decimal(1).scaleb(-places), ROUND_DOWN).normalize()
    return f"{CEILING}: {usd:f} of {most:f} USD were spent"


def _most(most_usd: float) -> int:
    return int(Decimal(str(most_usd)) / USD_PER_METRIC)
