"""The identity of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.model.identity import Identity

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"sts:GetCallerIdentity"})


def identity(session: AwsSession) -> Identity:
    """Return the identity of the session's credentials. Makes one STS call.

    Raises:
        AwsError: Credentials are missing, expired or rejected, the role cannot be assumed, or the endpoint does not
            respond.
    """
    with remedies():
        answer = session.client("sts", session.home).get_caller_identity()
    return Identity(answer["Account"], answer["Arn"], answer["Arn"].split(":")[1])
