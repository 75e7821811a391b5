"""Reads the trust policies of roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.errors import remedies

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"iam:GetRole"})


def trust_policy(session: AwsSession, role: str) -> Mapping[str, Any]:
    """Return the trust policy of a role of the session's account.

    Args:
        session: The session.
        role: The role's name, without a path.

    Raises:
        AwsError: The IAM call failed, or the role does not exist.
    """
    with remedies():
        found: Any = session.client("iam", session.home).get_role(RoleName=role)
    document: Mapping[str, Any] = found["Role"]["AssumeRolePolicyDocument"]
    return document
