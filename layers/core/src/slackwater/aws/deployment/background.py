"""Defers work to asynchronous invocations of a Lambda function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"lambda:InvokeFunction"})

TAKEN: Final = 202


class Background:
    """One function, which Lambda invokes asynchronously, at least once per event."""

    def __init__(self, session: AwsSession, function_name: str) -> None:
        """Make no call."""
        self._session = session
        self._function_name = function_name

    def hand_over(self, event: str) -> None:
        """Invoke the function asynchronously with an event in JSON.

        Raises:
            AwsError: Lambda did not accept it, or it is unknown whether it did.
        """
        client = self._session.client("lambda", self._session.home)
        with remedies():
            answer = client.invoke(FunctionName=self._function_name, InvocationType="Event", Payload=event.encode())
        if answer.get("StatusCode") != TAKEN:
            raise BrokenAnswerError(f"Lambda answered {answer.get('StatusCode')} where it takes an event with {TAKEN}")
