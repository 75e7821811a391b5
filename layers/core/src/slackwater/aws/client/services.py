"""The AWS services that Slackwater calls, by botocore's names.

The Lambda layer includes botocore's data for these services only. A function cannot create a client of another service.
"""

from typing import Final, Literal, get_args

type Service = Literal[
    "backup",
    "cloudformation",
    "cloudtrail",
    "cloudwatch",
    "compute-optimizer",
    "dynamodb",
    "ec2",
    "efs",
    "events",
    "fsx",
    "iam",
    "kms",
    "lambda",
    "organizations",
    "pricing",
    "s3",
    "secretsmanager",
    "stepfunctions",
    "sts",
]

SERVICES: Final[frozenset[str]] = frozenset(get_args(Service.__value__))
