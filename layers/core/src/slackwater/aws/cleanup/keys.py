"""KMS keys, as far as a backup depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.errors import may_pass, remedies
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"kms:DescribeKey"})

ENABLED: Final = "Enabled"
"""The one state in which a key decrypts (AWS KMS Developer Guide, "Key states of AWS KMS keys")."""


class KmsKeys:
    """The Keys of KMS."""

    def __init__(self, session: AwsSession) -> None:
        """Makes no call."""
        self._session = session

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        """Why nobody can be sure that what this key encrypts can be read until then; None where it can.

        A key that may not be looked at, as one of another account, is not known to be usable.

        Raises:
            AwsError: KMS did not say, and may a moment later.
        """
        if not key:
            return "AWS does not name its key"
        where = key.split(":")[3] if key.startswith("arn:") else region
        try:
            with remedies():
                client: Any = self._session.client("kms", where)
                found = client.describe_key(KeyId=key)["KeyMetadata"]
                state, ends = found["KeyState"], found.get("ValidTo")
        except AwsError as error:
            if may_pass(error):
                raise
            return f"whether its key {key} can be used is not known: {error}"
        if state != ENABLED:
            return f"its key {key} cannot be used: it is {state}"
        return f"its key {key} can be used until {ends:%Y-%m-%d} only" if ends and ends < until else None
