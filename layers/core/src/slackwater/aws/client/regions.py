"""The regions of an account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.aws.client.pages import pages

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"ec2:DescribeRegions"})


def enabled_regions(session: AwsSession) -> list[str]:
    """Return the regions that the account has enabled, sorted. Makes one EC2 call.

    Raises:
        AwsError: As in `identity`.
    """
    with remedies():
        client = session.client("ec2", session.home)
        return sorted(region["RegionName"] for region in pages(client.describe_regions, "Regions"))


def known_regions(session: AwsSession) -> list[str]:
    """Return the regions of all partitions that this version of botocore has, sorted. Makes no call."""
    return session.regions_of("ec2")


def default_region(session: AwsSession) -> str | None:
    """Return the region from AWS_REGION, AWS_DEFAULT_REGION or the profile, or None."""
    return session.region
