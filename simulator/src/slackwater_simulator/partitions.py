"""Partitions of AWS: their Regions, and how they write ARNs and addresses. An account belongs to one.

Sources: AWS General Reference, "Amazon Resource Names"; Getting Started with Amazon Web Services in China,
"Endpoints and ARNs"; AWS GovCloud (US) User Guide; the Regions are those of botocore's endpoints (2026-11).
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
    """The partition that a Region is in."""
    return next((name for name, regions in REGIONS.items() if region in regions), "aws")


def suffix(region: str) -> str:
    """What the addresses of a Region end in."""
    return _SUFFIXES.get(partition(region), "amazonaws.com")


def arn(service: str, region: str, account: str, name: str) -> str:
    """An ARN of something in a Region."""
    return f"arn:{partition(region)}:{service}:{region}:{account}:{name}"


def global_arn(service: str, region: str, account: str, name: str) -> str:
    """An ARN of something that is in no Region (IAM, STS), as a Region's partition writes it."""
    return f"arn:{partition(region)}:{service}::{account}:{name}"
