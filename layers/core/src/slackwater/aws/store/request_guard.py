"""Requests that were taken, so that none is taken twice.

Without pydantic, and so without the module `table`: somebody waits while this is imported.
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
"""Longer than any signature is good for: five minutes before its time stamp and five after."""

OURS: Final = "#by = :by"


class RequestGuard:
    """Marks in the table, one for each request that was taken."""

    def __init__(self, session: AwsSession, table_name: str, clock: Callable[[], datetime]) -> None:
        """Makes no call."""
        self._session = session
        self._table_name = table_name
        self._clock = clock

    def take(self, id: str, by: str) -> bool:
        """Mark a request as taken; False where another had marked it.

        A mark of the same `by` is our own: of an attempt whose answer was lost, before botocore asked again.

        Raises:
            AwsError: DynamoDB did not mark it, or did not say.
        """
        expires_at = int((self._clock() + KEPT).timestamp())
        mark = {**_key(id), "by": {"S": by}, "expires_at": {"N": str(expires_at)}}
        return self._done(self._client.put_item, by, f"attribute_not_exists(pk) OR {OURS}", Item=mark)

    def give_back(self, id: str, by: str) -> None:
        """Take our own mark away, so that the request may come again.

        Raises:
            AwsError: DynamoDB did not, or did not say.
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
