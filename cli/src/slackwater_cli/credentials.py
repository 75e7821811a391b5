"""Checks for AWS credentials before the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession


def check_credentials(session: AwsSession) -> None:
    """Fail if there are no credentials.

    Without credentials, botocore asks the EC2 metadata service for each new client and for each call, which takes
    seconds each time. This function asks once.

    Raises:
        NoCredentialsError: There are no credentials.
        AwsError: The configured credentials cannot be used.
    """
    from botocore.exceptions import NoCredentialsError

    from slackwater.aws.client.errors import translated

    if not session.has_credentials():
        raise translated(NoCredentialsError())
