"""AWS services: their names, and the rate at which Slackwater calls each."""

from collections.abc import Mapping
from typing import Final

IAM_PREFIXES: Final = {"efs": "elasticfilesystem", "eventbridge": "events", "sfn": "states"}
"""The names of services in IAM, for services whose name in botocore differs."""

CALLS_PER_SECOND: Final[Mapping[str, float]] = {
    "cloudtrail": 1.5,
    "cloudwatch": 20,
    "compute-optimizer": 5,
    "ec2": 10,
    "elasticfilesystem": 20,
    "fsx": 10,
}
"""Slackwater's calls a second in one account and Region, by the service's name in IAM.

AWS's limits: CloudTrail allows two LookupEvents a second. CloudWatch allows 500 GetMetricData and 25 ListMetrics a
second. EC2 has a token bucket for each API: most Describe calls refill at 20 a second, and at 10 without pages and
filters. EFS, FSx and Compute Optimizer publish no limit. A Region has at most 1,000 EFS file systems unless AWS raises
the quota. The calls for each of them take two minutes at this rate.
"""
