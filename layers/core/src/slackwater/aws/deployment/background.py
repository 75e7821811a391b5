"""Work for later: asynchronous invocations of a Lambda function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"lambda:InvokeFunction"})

TAKEN: Final = 202


class Background:
    """One function, which is called when Lambda finds the time: at least once."""

    def __init__(self, session: AwsSession, function_name: str) -> None:
        """Makes no call."""
        self._session = session
        self._function_name = function_name

    def hand_over(self, event: str) -> None:
        """Have the function called with an event, in JSON.

        Raises:
            AwsError: Lambda did not take it, or did not say.
        """
        client = self._session.client("lambda", self._session.home)
        with remedies():
            answer = client.invoke(FunctionName=self._function_name, InvocationType="Event", Payload=event.encode())
        if answer.get("StatusCode") != TAKEN:
            raise BrokenAnswerError(f"Lambda answered {answer.get('StatusCode')} where it takes an event with {TAKEN}")
