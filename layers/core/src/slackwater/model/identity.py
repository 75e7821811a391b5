"""An AWS caller."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """An AWS caller: the account it acts in, its ARN, and the partition (`aws`, `aws-cn`, `aws-us-gov`, …)."""

    account: str
    arn: str
    partition: str
