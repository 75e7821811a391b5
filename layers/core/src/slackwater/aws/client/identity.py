"""Who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.model.identity import Identity

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"sts:GetCallerIdentity"})


def identity(session: AwsSession) -> Identity:
    """Who the session's credentials are. One STS call.

    Raises:
        AwsError: no credentials, expired or refused ones, a role that may not be assumed, or nothing that answers.
    """
    with remedies():
        answer = session.client("sts", session.home).get_caller_identity()
    return Identity(answer["Account"], answer["Arn"], answer["Arn"].split(":")[1])
