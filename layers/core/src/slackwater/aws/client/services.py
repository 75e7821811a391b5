"""The AWS services that Slackwater calls, by botocore's names.

The layer carries botocore's data of these services and of no others: a client of any other cannot be made in a
function.
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
