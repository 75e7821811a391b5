"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slackwater.aws.errors import remedies

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession

ACTIONS: Final = frozenset({"sts:GetCallerIdentity"})


@dataclass(frozen=True, slots=True)
class Identity:
    """An AWS caller: the account it acts in, its ARN, and the partition (`aws`, `aws-cn`, `aws-us-gov`, …)."""

    account: str
    arn: str
    partition: str


def identity(session: AwsSession) -> Identity:
    """Who the session's credentials are. One STS call.

    Raises:
        AwsError: no credentials, expired or refused ones, a role that may not be assumed, or nothing that answers.
    """
    with remedies():
        answer = session.client("sts", session.home).get_caller_identity()
    return Identity(answer["Account"], answer["Arn"], answer["Arn"].split(":")[1])
