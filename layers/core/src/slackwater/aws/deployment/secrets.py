"""Reads secrets from Secrets Manager."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"secretsmanager:GetSecretValue"})

KEPT_S: Final = 300
"""Seconds until a changed secret takes effect."""


class Secret:
    """The text of one secret, read on first use and cached for five minutes."""

    def __init__(self, session: AwsSession, arn: str, seconds: Callable[[], float] = time.monotonic) -> None:
        """Make no call. `seconds` returns a time in seconds."""
        self._session = session
        self._arn = arn
        self._seconds = seconds
        self._kept: tuple[float, str] | None = None

    def __call__(self) -> str:
        """Return the text.

        Raises:
            AwsError: The secret does not exist, is not text or cannot be accessed, or the call failed.
        """
        now = self._seconds()
        if self._kept is None or now - self._kept[0] >= KEPT_S:
            self._kept = now, self._read()
        return self._kept[1]

    def _read(self) -> str:
        region = self._arn.split(":")[3] if self._arn.startswith("arn:") else self._session.home
        with remedies():
            answer = self._session.client("secretsmanager", region).get_secret_value(SecretId=self._arn)
        if "SecretString" not in answer:
            raise AwsError(f"The secret {self._arn} holds no text")
        return answer["SecretString"]
