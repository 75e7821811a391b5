"""Records the requests that were accepted, so that none is accepted twice.

It does not use pydantic, nor the module `table`, because a user waits while this is imported.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import remedies

if TYPE_CHECKING:
    from collections.abc import Callable

    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"dynamodb:DeleteItem", "dynamodb:PutItem"})

KIND: Final = "REQUEST"

KEPT: Final = timedelta(minutes=15)
"""Longer than any signature is valid: five minutes before its timestamp to five minutes after it."""

OURS: Final = "#by = :by"


class RequestGuard:
    """Items in the table, one for each accepted request."""

    def __init__(self, session: AwsSession, table_name: str, clock: Callable[[], datetime]) -> None:
        """Make no call."""
        self._session = session
        self._table_name = table_name
        self._clock = clock

    def take(self, id: str, by: str) -> bool:
        """Record a request as accepted; return False if somebody else has recorded it.

        An item with the same `by` is this caller's own: its response was lost, and botocore retried.

        Raises:
            AwsError: It is not recorded, or it is unknown whether it is.
        """
        expires_at = int((self._clock() + KEPT).timestamp())
        mark = {**_key(id), "by": {"S": by}, "expires_at": {"N": str(expires_at)}}
        return self._done(self._client.put_item, by, f"attribute_not_exists(pk) OR {OURS}", Item=mark)

    def release(self, id: str, by: str) -> None:
        """Delete the caller's own item, so that the request can be accepted again.

        Raises:
            AwsError: It is not deleted, or it is unknown whether it is.
        """
        self._done(self._client.delete_item, by, OURS, Key=_key(id))

    def _done(self, operation: Callable[..., object], by: str, condition: str, **what: Any) -> bool:
        with remedies():
            try:
                operation(
                    TableName=self._table_name,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#by": "by"},
                    ExpressionAttributeValues={":by": {"S": by}},
                    **what,
                )
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                    return False
                raise
        return True

    @property
    def _client(self) -> Any:
        return self._session.client("dynamodb", self._session.home)


def _key(id: str) -> dict[str, dict[str, str]]:
    return {"pk": {"S": f"{KIND}#{id}"}, "sk": {"S": KIND}}
