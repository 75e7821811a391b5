"""Checks whether the KMS keys of backups can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.errors import may_pass, remedies
from slackwater.ports.errors import AwsError

if TYPE_CHECKING:
    from datetime import datetime

    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"kms:DescribeKey"})

ENABLED: Final = "Enabled"
"""The only state in which a key decrypts (AWS KMS Developer Guide, "Key states of AWS KMS keys")."""


class KmsKeys:
    """The `Keys` port, for KMS."""

    def __init__(self, session: AwsSession) -> None:
        """Make no call."""
        self._session = session

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        """Return why data that this key encrypts may not be readable until then; None if it is.

        A key that Slackwater may not describe, such as one of another account, counts as unusable.

        Raises:
            AwsError: The KMS call failed, and a later call may succeed.
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
