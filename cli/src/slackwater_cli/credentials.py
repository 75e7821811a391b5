"""Looks for AWS credentials before anything else is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession


def check_credentials(session: AwsSession) -> None:
    """Fail if there are no credentials.

    Without credentials botocore asks the metadata service of EC2, for seconds, each time it makes a client and again
    for each call. Here it asks once.

    Raises:
        NoCredentialsError: There are none.
        AwsError: What is configured is broken.
    """
    from botocore.exceptions import NoCredentialsError

    from slackwater.aws.client.errors import translated

    if not session.has_credentials():
        raise translated(NoCredentialsError())
