"""AWS services: their names, and how often Slackwater calls each."""

from collections.abc import Mapping
from typing import Final

IAM_PREFIXES: Final = {"efs": "elasticfilesystem", "eventbridge": "events", "sfn": "states"}
"""The names of services in IAM, where they differ from botocore's."""

CALLS_PER_SECOND: Final[Mapping[str, float]] = {
    "cloudtrail": 1.5,
    "cloudwatch": 20,
    "compute-optimizer": 5,
    "ec2": 10,
    "elasticfilesystem": 20,
    "fsx": 10,
}
"""Calls a second by the service's name in IAM, in one account and Region. AWS's limits:

CloudTrail allows two LookupEvents a second. CloudWatch allows 500 GetMetricData and 25 ListMetrics a second. EC2
refills a bucket for each API: most Describe calls by 20 a second, and by 10 without pages and filters. EFS, FSx and
Compute Optimizer publish no limit. A Region has at most 1,000 EFS file systems unless the quota is raised; the calls
for each of them take two minutes at this rate.
"""
