"""AWS services: their names, and how fast Slackwater calls each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IAM_PREFIXES: Final = {"efs": "elasticfilesystem", "eventbridge": "events", "sfn": "states"}
"""Botocore's name of a service where it is not the one that IAM uses."""

CALLS_PER_SECOND: Final[Mapping[str, float]] = {
    "cloudtrail": 1.5,
    "cloudwatch": 20,
    "compute-optimizer": 5,
    "ec2": 10,
    "elasticfilesystem": 20,
    "fsx": 10,
}
"""By IAM's name of the service, in one account and Region. What AWS says of its limits:

CloudTrail answers two LookupEvents a second. CloudWatch answers 500 GetMetricData and 25 ListMetrics a second. EC2 refills a
bucket for each API, most Describe by 20 a second, and by 10 where neither pages nor filters are named. EFS, FSx and Compute
Optimizer do not say; a Region has 1,000 EFS file systems at most, unless somebody asked for more, and what must be asked of
each takes two minutes at this rate.
"""
