"""Limits how many metrics an audit can request, because CloudWatch bills each one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any, Final, Self

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.store.table import Table, item
from slackwater.model.findings import CEILING, DAY_CEILING, KEPT_FOR_OTHERS
from slackwater.model.money import USD_PER_METRIC
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"dynamodb:UpdateItem"})

KIND: Final = "SPEND"

BLOCK: Final = 5_000
"""Maximum number of metrics, 0.05 USD, that a scan reserves at once: one write for ten full calls."""

KEPT_FOR_SHARES: Final = Decimal("0.5")
"""The fraction of an audit's ceiling that is reserved for its accounts, in equal shares."""

KEPT: Final = timedelta(days=2)
"""Longer than any audit runs, including its retries."""


class LocalSpending:
    """The spending ceiling of one process. Thread-safe."""

    def __init__(self, most_usd: float) -> None:
        """Start with nothing spent."""
        self._most_usd = most_usd
        self._spent = 0
        self._lock = threading.Lock()
        self._refusal: str | None = None

    def take(self, metrics: int) -> str | None:
        """Count metrics before they are requested. If they exceed the ceiling, return the reason and count nothing."""
        with self._lock:
            if self._spent + metrics <= _most(self._most_usd):
                self._spent += metrics
                return None
            self._refusal = self._refusal or refusal(self._most_usd, self._spent)
            return self._refusal


@dataclass(frozen=True, slots=True)
class _Quota:
    """An item of the table that counts metrics, and the maximum that it may count."""

    id: str
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What the metrics of an audit may cost, in USD, and who shares it.

    Attributes:
        audit_id: The audit whose scans share `most_usd`.
        most_usd: The maximum cost of the audit's metrics.
        day_usd: The maximum cost of the metrics of all audits of a day; None sets no such limit.
        account: The account of this scan.
        accounts: How many accounts the audit scans.
    """

    audit_id: str
    most_usd: float
    day_usd: float | None = None
    account: str = ""
    accounts: int = 1


class DynamoSpending:
    """The ceilings of an audit and of a day over all scans, in the table. A context manager for one scan. Thread-safe.

    - A scan reserves blocks, each as large as what it has requested so far. At its end it releases what it did not
      request. A scan that crashes releases nothing.
    - If the table does not respond, no metrics are requested.
    - A call that the SDK retries counts once. A repeated scan calls AWS again, which bills it again.
    - A reserved block may count twice if a response is lost. It is released with a single request: a retry could
      release it twice, and then a ceiling could be exceeded.
    - In an audit of several accounts, half of the ceiling is reserved for them in equal shares. An account uses its own
      share first, and then the other half, which all accounts share. So one account cannot use up what the others need.
    """

    def __init__(
        self,
        session: AwsSession,
        table_name: str,
        budget: Budget,
        *,
        clock: Callable[[], datetime],
        warn: Callable[[str], None],
    ) -> None:
        """Create the ceilings. Makes no call, and creates no client.

        Args:
            session: The session with access to the table.
            table_name: The table's name.
            budget: The ceilings.
            clock: Returns the current time, in UTC.
            warn: Logs a line if reserved metrics that were not requested could not be released.
        """
        audit_id, day_usd, accounts = budget.audit_id, budget.day_usd, budget.accounts
        self._session, self._table_name, self._audit_id = session, table_name, audit_id
        self._once = session.without_retries()
        self._day_usd, self._clock, self._warn = day_usd, clock, warn
        # The day's ceiling also limits the shares of the accounts.
        self._most_usd, self._ceiling = budget.most_usd, CEILING
        if day_usd is not None and day_usd < budget.most_usd:
            self._most_usd, self._ceiling = day_usd, DAY_CEILING
        most = _most(self._most_usd)
        share = int(most * KEPT_FOR_SHARES / accounts) if accounts > 1 else 0
        common = _Quota(audit_id, most - share * accounts)
        self._quotas = (_Quota(f"{audit_id}/{budget.account}", share), common) if share else (common,)
        self._lock = threading.Lock()
        self._asked = self._left = 0
        self._from: tuple[str, ...] = ()
        """The items that counted the last block. Unused metrics are from this block."""
        self._refusal: str | None = None
        self._refused_from = 0
        """Requests of at least this many metrics get the same refusal, without another call to the table."""

    def take(self, metrics: int) -> str | None:
        """Do as `LocalSpending.take`."""
        with self._lock:
            if metrics > self._left:
                if self._refusal and metrics >= self._refused_from:
                    return self._refusal
                try:
                    why, from_ = self._reserve(metrics - self._left), metrics
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
            self._release(left, self._from if left else ())

    def _reserve(self, missing: int) -> str | None:
        """Reserve what is missing, and more if it fits. Return the reason if it does not fit."""
        why: str | None = None
        for count in dict.fromkeys((max(missing, min(self._asked, BLOCK)), missing)):
            why = self._count(count)
            if why is None:
                self._left += count
                return None
        return why

    def _count(self, count: int) -> str | None:
        """Count metrics for the day, and in the first quota into which they fit.

        If they do not fit, return the reason and count nothing.
        """
        counted: tuple[str, ...] = ()
        if self._day_usd is not None:
            day = _Quota(day_id(self._clock()), _most(self._day_usd))
            if (spent := self._add(day, count)) is not None:
                return refusal(self._day_usd, spent, DAY_CEILING)
            counted = (day.id,)
        spent_of_all = 0
        try:
            for quota in self._quotas:
                spent = self._add(quota, count)
                if spent is None:
                    self._from = (*counted, quota.id)
                    return None
                spent_of_all += spent
        except AwsError:
            self._release(count, counted)
            raise
        self._release(count, counted)
        return refusal(self._most_usd, spent_of_all, self._ceiling, kept=len(self._quotas) > 1)

    def _release(self, count: int, ids: Iterable[str]) -> None:
        for id_ in ids:
            try:
                self._update(self._once.client("dynamodb", self._session.home), id_, -count)
            except AwsError as error:
                self._warn(f"{count} metrics that were not asked stay counted for the audit {self._audit_id}: {error}")

    def _add(self, quota: _Quota, count: int) -> int | None:
        """Count metrics in a quota. If they do not fit, return how many are counted, and change nothing."""
        if count > quota.most:
            return 0 if quota.id not in self._from else min(self._asked + self._left, quota.most)
        client = self._session.client("dynamodb", self._session.home)
        return self._update(client, quota.id, count, quota.most - count)

    def _update(self, client: DynamoDBClient, id: str, count: int, beside: int | None = None) -> int | None:
        """Count metrics if at most `beside` are counted. Otherwise return how many are, and change nothing."""
        condition: dict[str, Any] = (
            {} if beside is None else {"ConditionExpression": "attribute_not_exists(#metrics) OR #metrics <= :beside"}
        )
        expires_at = int((self._clock() + KEPT).timestamp())
        values = {":count": count, ":expires_at": expires_at} | ({} if beside is None else {":beside": beside})
        with remedies():
            try:
                client.update_item(
                    TableName=self._table_name,
                    Key={"pk": {"S": f"{KIND}#{id}"}, "sk": {"S": KIND}},
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


class DynamoDays:
    """The cost of all audits of a day, in the table."""

    def __init__(self, table: Table) -> None:
        """Make no call."""
        self._table = table

    def spent_usd(self, at: datetime) -> Decimal:
        """Return the cost in USD of the metrics of all audits of the day (UTC) of a time.

        It includes what running scans have reserved.
        """
        for one in self._table.read([item(pk=f"{KIND}#{day_id(at)}", sk=KIND)]).values():
            return int(one["metrics"]["N"]) * USD_PER_METRIC
        return Decimal(0)


def day_id(at: datetime) -> str:
    """Return the id of a day (UTC) among the ids of audits, which have no slash."""
    return f"day/{at.astimezone(UTC):%Y-%m-%d}"


def refusal(most_usd: float, spent: int, ceiling: str = CEILING, *, kept: bool = False) -> str:
    """Return why no more metrics are requested.

    The cost in USD is rounded down to a hundredth of the ceiling or to a cent.

    Args:
        most_usd: The ceiling.
        spent: Metrics that were requested.
        ceiling: How the reason begins.
        kept: Whether part of the ceiling is reserved for other accounts.
    """
    most = Decimal(str(most_usd)).normalize()
    places = max(2, 2 - most.adjusted())
    usd = (spent * USD_PER_METRIC).quantize(Decimal(1).scaleb(-places), ROUND_DOWN).normalize()
    return f"{ceiling}: {usd:f} of {most:f} USD were spent{KEPT_FOR_OTHERS if kept else ''}"


def _most(most_usd: float) -> int:
    return int(Decimal(str(most_usd)) / USD_PER_METRIC)
