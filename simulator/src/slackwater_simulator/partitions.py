"""Describe AWS partitions: their Regions, ARNs and addresses. An account belongs to one partition.

Sources: AWS General Reference, "Amazon Resource Names"; Getting Started with Amazon Web Services in China, "Endpoints
and ARNs"; AWS GovCloud (US) User Guide; the Regions are those of botocore's endpoints (2026-11).
"""

from typing import Final

REGIONS: Final = {
    "aws": (
        *("ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2"),
        *("ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1"),
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2"),
    ),
    "aws-cn": ("cn-north-1", "cn-northwest-1"),
    "aws-us-gov": ("us-gov-east-1", "us-gov-west-1"),
    "aws-iso": ("us-iso-east-1", "us-iso-west-1"),
    "aws-iso-b": ("us-isob-east-1", "us-isob-west-1"),
    "aws-iso-e": ("eu-isoe-west-1",),
    "aws-iso-f": ("us-isof-east-1", "us-isof-south-1"),
    "aws-eusc": ("eusc-de-east-1",),
}
"""Regions that every account of a partition has enabled."""

_SUFFIXES: Final = {
    "aws-cn": "amazonaws.com.cn",
    "aws-iso": "c2s.ic.gov",
    "aws-iso-b": "sc2s.sgov.gov",
    "aws-iso-e": "cloud.adc-e.uk",
    "aws-iso-f": "csp.hci.ic.gov",
    "aws-eusc": "amazonaws.eu",
}


def partition(region: str) -> str:
    """Return the partition of a Region."""
    return next((name for name, regions in REGIONS.items() if region in regions), "aws")


def suffix(region: str) -> str:
    """Return the domain suffix of a Region's addresses."""
    return _SUFFIXES.get(partition(region), "amazonaws.com")


def arn(service: str, region: str, account: str, name: str) -> str:
    """Return the ARN of a resource in a Region."""
    return f"arn:{partition(region)}:{service}:{region}:{account}:{name}"


def global_arn(service: str, region: str, account: str, name: str) -> str:
    """Return the ARN of a global resource (IAM, STS), in the partition of a Region."""
    return f"arn:{partition(region)}:{service}::{account}:{name}"
