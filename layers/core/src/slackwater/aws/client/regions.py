"""Where an account can have things."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import remedies
from slackwater.aws.client.pages import pages

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"ec2:DescribeRegions"})


def enabled_regions(session: AwsSession) -> list[str]:
    """Regions that the account has enabled, sorted. One EC2 call.

    Raises:
        AwsError: as `identity`.
    """
    with remedies():
        client = session.client("ec2", session.home)
        return sorted(region["RegionName"] for region in pages(client.describe_regions, "Regions"))


def known_regions(session: AwsSession) -> list[str]:
    """Regions that this version of botocore knows, of all partitions, sorted. Makes no call."""
    return session.regions_of("ec2")


def default_region(session: AwsSession) -> str | None:
    """The region that AWS_REGION, AWS_DEFAULT_REGION or the profile names."""
    return session.region
